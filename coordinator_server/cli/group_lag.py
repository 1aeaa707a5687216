"""``groups lag``: how far groups are behind, and what their commits say of them, from a directory that follows a cluster."""

from __future__ import annotations

import argparse
import time

from msgspec.structs import asdict

from coordinator_server.cli.answers import Answer, Row, print_answer
from coordinator_server.cli.engines import retries_of
from coordinator_server.cli.observed_directory import is_observed
from coordinator_server.cli.output import complain
from coordinator_server.cli.times import shown
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.data_dir import check_data_dir, durable
from coordinator_server.pipeline.lag.end_offsets import EndOffsets, read_samples
from coordinator_server.pipeline.lag.lags import WINDOW_MS, GroupLag, Lag, group_lags, lags
from coordinator_server.pipeline.locations import local_copy


def run(options: argparse.Namespace) -> int:
    """Print the answer and return the exit code. Raises LogError."""
    form = "json" if options.json else options.output
    try:
        with local_copy(options.data_dir) as data_dir:
            check_data_dir(data_dir)
            if not is_observed(data_dir):
                raise CannotRun(f"{data_dir} is a server's directory, whose topics have no messages: there is no lag")
            upto = durable(data_dir, retries_of(options))
            ends = EndOffsets(read_samples(data_dir, time.time_ns() // 1_000_000 - WINDOW_MS))
            found = lags(data_dir, upto, ends, options.group)
            rows = [_row(each) for each in (found if options.group else group_lags(found))]
    except CannotRun as error:
        return complain(error, 2)
    except (PipelineError, OSError) as error:
        return complain(error, 1)
    as_of = f"as of {shown(ends.last_ms)}" if ends.last_ms >= 0 else "no end offset was sampled yet: observe does, while it runs"
    missing = [each for each in options.group if each not in {row["group"] for row in rows}]
    notes = [as_of, *(f"group {each} has committed nothing" for each in missing)]
    rows.sort(key=lambda row: str(row["group"]))
    return print_answer(form, Answer(rows, empty="no group has committed an offset", notes=notes, failed=bool(missing)))


def _row(lag: Lag | GroupLag) -> Row:
    return asdict(lag) | {"verdict": str(lag.verdict)}
