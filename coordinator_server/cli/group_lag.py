"""``groups lag``: how far groups are behind, and what their commits say of them, from a directory that follows a cluster."""

from __future__ import annotations

import argparse
import time

from coordinator_server.cli.answers import Answer, Row, print_answer
from coordinator_server.cli.engines import retries_of
from coordinator_server.cli.observed_directory import is_observed
from coordinator_server.cli.output import complain
from coordinator_server.cli.times import shown
from coordinator_server.observe.lag import Lag, lags
from coordinator_server.observe.verdicts import of_group
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.data_dir import check_data_dir, durable
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
            found, ends = lags(data_dir, upto, time.time_ns() // 1_000_000, options.group)
    except CannotRun as error:
        return complain(error, 2)
    except (PipelineError, OSError) as error:
        return complain(error, 1)
    as_of = f"as of {shown(ends.last_ms)}" if ends.last_ms >= 0 else "no end offset was sampled yet: observe does, while it runs"
    missing = [each for each in options.group if each not in {lag.group for lag in found}]
    notes = [as_of, *(f"group {each} has committed nothing" for each in missing)]
    rows = [_row(each) for each in found] if options.group else _groups(found)
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


def _groups(found: list[Lag]) -> list[Row]:
    """Return a row for each group: its sums, and the partition that is worst."""
    by_group: dict[str, list[Lag]] = {}
    for each in found:
        by_group.setdefault(each.group, []).append(each)
    return [
        {
            "group": group,
            "partitions": len(of),
            "lag": sum(known) if (known := [each.lag for each in of if each.lag is not None]) else None,
            "lag_s": max((each.lag_s for each in of if each.lag_s is not None), default=None),
            "verdict": str(verdict := of_group(each.verdict for each in of)),
            "worst": worst_of(of) if verdict != "OK" else None,
        }
        for group, of in by_group.items()
    ]


def worst_of(of: list[Lag]) -> str:
    """Return the partition of a group that has the worst verdict, with its reason."""
    rank = {"STOP": 3, "STALL": 3, "REWIND": 3, "WARN": 2}
    worst = max(of, key=lambda each: (rank.get(each.verdict, 0), each.lag or 0))
    return f"{worst.topic}-{worst.partition} {worst.verdict}: {worst.reason}"
