"""Compact the log: write one new layer per shard, with the records that still count.

A compacted log is small and loads fast. The server may run (the command asks it to seal its open
segments) or not. All layers are published by renames, or none: an interrupted run loses only its
own work. Run it again at any time.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from functools import partial

from coordinator_server.cli.answers import add_json_arguments
from coordinator_server.cli.engines import add_engine_arguments, add_no_wait_argument, extra_needed, retries_of, spark_session
from coordinator_server.cli.jobs import JobDone, run_job
from coordinator_server.cli.local_dir import location
from coordinator_server.cli.log_source import add_log_source
from coordinator_server.cli.output import counted
from coordinator_server.cli.unread_directories import warn_of_unread
from coordinator_server.pipeline.compact.engine import ShardResult
from coordinator_server.pipeline.compact.plan import ShardPlan
from coordinator_server.pipeline.compact.run import CompactResult, compact, compaction_lock, plans, run_python
from coordinator_server.pipeline.input.data_dir import check_data_dir
from coordinator_server.pipeline.input.sealing import seal
from coordinator_server.pipeline.locations import local_directory
from coordinator_server.pipeline.progress import Progress, progress_on
from coordinator_server.pipeline.report import Counts

EPILOG = """\
examples:
  coordinator-server compact --data-dir ./data
  coordinator-server compact --data-dir ./data --engine python          # no Spark, no Java; the same bytes
  coordinator-server compact --data-dir /shared/data --master spark://head:7077      # docs/spark.md
  coordinator-server compact --store postgresql://coordinator@db.example/coordinator          # the log that nodes share
  coordinator-server compact --data-dir ./data --tombstone-cutoff-ms 1764000000000 -o json

The spark engine needs the extra: pip install 'coordinator-server[spark]'. The extra includes Java.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_log_source(parser, location, "the server's data directory")
    add_no_wait_argument(parser)
    add_engine_arguments(parser, python="slower, and needs no Spark and no Java", workers_see="DIR")
    add_own_arguments(parser)
    add_json_arguments(parser)


def add_own_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options that only compaction has."""
    parser.add_argument(
        "--tombstone-cutoff-ms",
        type=int,
        metavar="N",
        help="remove tombstones older than this time, in ms since 1970 (default: keep all)",
    )
    parser.add_argument(
        "--task-bytes",
        type=int,
        default=1 << 28,
        metavar="N",
        help="on Spark, the memory of a task for the keys of a shard; one with more is divided over many (%(default)s)",
    )


def run(options: argparse.Namespace) -> int:
    """Compact and return the exit code."""
    return run_job(job, options)


def job(options: argparse.Namespace) -> JobDone:
    """Compact. Raises PipelineError, LogError and OSError."""
    data_dir = local_directory(options.data_dir, "a layer is published by renaming it, and stores have no rename").absolute()
    check_data_dir(data_dir)
    warn_of_unread(data_dir)
    started_s = time.monotonic()
    with compaction_lock(data_dir):
        todo = plans(data_dir, seal(data_dir, retries_of(options)))
        result = _run(options, todo, progress_on(sys.stderr))
    without = [f"{layer.shard}: {layer.no_checkpoint}" for layer in result.layers if layer.no_checkpoint]
    text = _as_text(result, time.monotonic() - started_s)
    return JobDone(0, [text], _as_json(options, result), _counts(result), [*result.left_alone, *without])


def _run(options: argparse.Namespace, todo: Sequence[ShardPlan], progress: Progress) -> CompactResult:
    if options.engine == "python":
        return compact(todo, options.tombstone_cutoff_ms, run_python, progress)
    with extra_needed("spark engine", ", or use --engine python"):
        from coordinator_server.pipeline.compact.spark import run_spark
    if not todo:
        return CompactResult()

    with spark_session(options) as spark:
        return compact(todo, options.tombstone_cutoff_ms, partial(run_spark, spark, task_bytes=options.task_bytes), progress)


def _as_text(result: CompactResult, seconds: float) -> str:
    if not result.layers:
        return "nothing to do: no records were sealed since the newest layers"
    sums = _counts(result)
    before, after = f"{counted(sums.records_in, 'record')} ({sums.bytes_in:,} bytes)", f"{sums.records:,} ({sums.bytes:,} bytes)"
    return f"{counted(sums.shards, 'shard')}: {before} became {after} in {seconds:.1f} s"


def _counts(result: CompactResult) -> Counts:
    layers = result.layers
    return Counts(
        shards=len(layers),
        records_in=sum(layer.records_in for layer in layers),
        bytes_in=sum(layer.bytes_in for layer in layers),
        records=sum(layer.records for layer in layers),
        bytes=sum(layer.bytes_out for layer in layers),
        files=len(layers),
    )


def _as_json(options: argparse.Namespace, result: CompactResult) -> dict[str, object]:
    layers = [_layer(layer) for layer in result.layers]
    return {"engine": options.engine, "layers": layers, "left_alone": result.left_alone}


def _layer(result: ShardResult) -> dict[str, object]:
    names = ("shard", "to_offset", "records_in", "bytes_in", "records", "tombstones", "bytes_out", "digest")
    return {name: getattr(result, name) for name in names}
