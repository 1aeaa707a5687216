"""Prove that full history, compacted log and running server have the same state.

Replays every shard twice, from all segments and from its newest layer, and compares the digests
with each other and, if a server runs, with its digest at the same offset. Prints each difference
with its shard, group, key and both values; the exit code is then 1.

With --bootstrap a directory that follows a cluster (observe) is compared with what the cluster says of
its groups: their offsets, members and epochs, as they are before and after a moment of the directory.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from coordinator_server.cli.answers import add_json_arguments
from coordinator_server.cli.beside_cluster import ask_cluster
from coordinator_server.cli.cluster_command import add_server_arguments
from coordinator_server.cli.engines import add_engine_arguments, add_log_argument, extra_needed, retries_of, spark_session
from coordinator_server.cli.jobs import JobDone, run_job
from coordinator_server.cli.observed_directory import is_observed
from coordinator_server.cli.output import counted
from coordinator_server.cli.unread_directories import warn_of_unread
from coordinator_server.log.opening import job_shard
from coordinator_server.pipeline.input.data_dir import ask_server_if_any, check_data_dir, durable
from coordinator_server.pipeline.locations import local_copy
from coordinator_server.pipeline.progress import Progress, progress_on
from coordinator_server.pipeline.replay.verify import Check, Verdict, checks, digests_of_server, run_here, work
from coordinator_server.pipeline.report import Counts

EPILOG = """\
examples:
  coordinator-server verify --data-dir ./data
  coordinator-server verify --data-dir ./data --engine python -o json
  coordinator-server verify --data-dir ./observed --bootstrap broker:9092      # beside the cluster that observe follows
  coordinator-server verify --store postgresql://coordinator@db.example/coordinator --engine python
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_log_argument(parser)
    add_server_arguments(parser, "the servers of the cluster that the directory follows", default="it is not asked")
    add_engine_arguments(parser, python="one process, and needs no Spark and no Java", workers_see="DIR")
    add_json_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Verify and return the exit code. Raises ConfigError."""
    is_beside = options.bootstrap is not None or options.command_config is not None
    return run_job(partial(job, is_beside=is_beside), options)


def job(options: argparse.Namespace, *, is_beside: bool = False) -> JobDone:
    """Verify, beside a cluster if so wanted. Raises PipelineError, LogError, ConfigError and OSError."""
    started_s = time.monotonic()
    with local_copy(options.data_dir) as data_dir:
        check_data_dir(data_dir)
        warn_of_unread(data_dir)
        # The server's digests come first: what is durable after that reaches at least as far.
        retries = retries_of(options)
        live = None
        if is_beside:
            todo = checks(data_dir.absolute(), None, *ask_cluster(options, data_dir))
        else:
            # Whoever follows a cluster has no state of its own.
            live = (
                None
                if is_observed(data_dir)
                else digests_of_server(ask_server_if_any(data_dir, {"op": "digest", "parts": True}, retries))
            )
            todo = checks(data_dir.absolute(), live, durable(data_dir, retries))
        size = sum(job_shard(check.directory).size(check.upto) for check in todo)
        verdicts = _verify(options, todo, size, progress_on(sys.stderr))
    is_proven = all(verdict.is_proven for verdict in verdicts)
    records = sum(verdict.records for verdict in verdicts)
    counts = Counts(shards=len(verdicts), records_in=records, bytes_in=size, is_equal=is_proven)
    beside = "the cluster" if is_beside else "the server" if live is not None else None
    lines = _as_text(verdicts, beside, time.monotonic() - started_s)
    return JobDone(0 if is_proven else 1, lines, verdicts, counts)


def _verify(options: argparse.Namespace, todo: Sequence[Check], size: int, progress: Progress) -> list[Verdict]:
    progress.start(len(todo), size)
    try:
        if options.engine == "python" or not todo:
            return list(run_here(todo, progress))
        with extra_needed("spark engine", ", or use --engine python"):
            from coordinator_server.pipeline.spark.tasks import divide, run_tasks
        with spark_session(options) as spark:
            found = run_tasks(spark, divide(spark, todo, lambda check: check.upto), work, progress)
            order = {Path(check.directory).name: number for number, check in enumerate(todo)}
            return sorted((msgspec.json.decode(each, type=Verdict) for each in found), key=lambda each: order[each.shard])
    finally:
        progress.stop()


def _as_text(verdicts: Sequence[Verdict], beside: str | None, seconds: float) -> list[str]:
    lines = []
    for verdict in verdicts:
        lines += [f"{verdict.shard} at offset {verdict.offset}: {difference}" for difference in verdict.differences]
    wrong = sum(not verdict.is_proven for verdict in verdicts)
    records = sum(each.records for each in verdicts)
    log = "the full history{} the compacted log"
    against = log.format(" and") if beside is None else f"{log.format(',')} and {beside}"
    shortened = sum(bool(each.history_from) for each in verdicts)
    shards = counted(len(verdicts), "shard")
    if wrong:
        lines.append(f"not proven: {wrong} of {shards}")
    else:
        lines.append(f"{against} agree on {_counted(verdicts)} in {shards} ({counted(records, 'record')}, {seconds:.1f} s)")
    if asked := [each.compared for each in verdicts if each.compared is not None]:
        lines.append(f"{counted(sum(asked), 'answer')} of the cluster compared: offsets, members and epochs")
    if shortened:
        lines.append(f"the history of {counted(shortened, 'shard')} begins with a layer: the segments before it were removed")
    return lines


def _counted(verdicts: Sequence[Verdict]) -> str:
    """Return the counts by noun: "5 groups and 3 topics"."""
    counts: Counter[str] = Counter()
    for verdict in verdicts:
        counts[verdict.noun] += verdict.count
    return " and ".join(counted(count, noun.removesuffix("s")) for noun, count in sorted(counts.items())) or "nothing"
