"""``groups lag``: how far groups are behind, and what their commits say of them, from a directory that follows a cluster."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter

from coordinator_server.cli.answers import Answer, Row, print_answer
from coordinator_server.cli.engines import retries_of
from coordinator_server.cli.observed_directory import is_observed
from coordinator_server.cli.output import complain
from coordinator_server.cli.times import shown
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.data_dir import check_data_dir, durable
from coordinator_server.pipeline.lag.end_offsets import EndOffsets
from coordinator_server.pipeline.lag.lags import WINDOW_MS, Lag, lags
from coordinator_server.pipeline.lag.verdicts import Verdict, of_group
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
            ends = EndOffsets(data_dir, time.time_ns() // 1_000_000 - WINDOW_MS)
            found = lags(data_dir, upto, ends, options.group)
            rows = [_row(each) for each in found] if options.group else [_group(*each) for each in _by_group(found)]
    except CannotRun as error:
        return complain(error, 2)
    except (PipelineError, OSError) as error:
        return complain(error, 1)
    as_of = f"as of {shown(ends.last_ms)}" if ends.last_ms >= 0 else "no end offset was sampled yet: observe does, while it runs"
    missing = [each for each in options.group if each not in {row["group"] for row in rows}]
    notes = [as_of, *(f"group {each} has committed nothing" for each in missing)]
    rows.sort(key=lambda row: str(row["group"]))
    return print_answer(form, Answer(rows, empty="no group has committed an offset", notes=notes, failed=bool(missing)))


def _row(lag: Lag) -> Row:
    return {
        "group": lag.group,
        "topic": lag.topic,
        "partition": lag.partition,
        "offset": lag.offset,
        "end_offset": lag.end_offset,
        "lag": lag.lag,
        "lag_s": lag.lag_s,
        "verdict": str(lag.verdict),
        "reason": lag.reason,
    }


def _by_group(found: Iterable[Lag]) -> Iterator[tuple[str, list[Lag]]]:
    """Return the lags of each group: they come together, because a group is in one shard."""
    for group, of in groupby(found, key=attrgetter("group")):
        yield group, list(of)


def _group(group: str, of: list[Lag]) -> Row:
    """Return the row of a group: its sums, and the partition that is worst."""
    known = [each.lag for each in of if each.lag is not None]
    verdict = of_group(each.verdict for each in of)
    return {
        "group": group,
        "partitions": len(of),
        "lag": sum(known) if known else None,
        "lag_s": max((each.lag_s for each in of if each.lag_s is not None), default=None),
        "verdict": str(verdict),
        "worst": worst_of(of) if verdict is not Verdict.OK else None,
    }


def worst_of(of: list[Lag]) -> str:
    """Return the partition of a group that has the worst verdict, with its reason."""
    rank = {"STOP": 3, "STALL": 3, "REWIND": 3, "WARN": 2}
    worst = max(of, key=lambda each: (rank.get(each.verdict, 0), each.lag or 0))
    return f"{worst.topic}-{worst.partition} {worst.verdict}: {worst.reason}"
