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

from coordinator_server.cli.engines import add_engine_arguments, add_no_wait_argument, extra_needed, retries_of, spark_session
from coordinator_server.cli.output import complain, counted, note, say, say_json
from coordinator_server.cli.unknown import tell_unknown
from coordinator_server.pipeline.compact.engine import ShardResult
from coordinator_server.pipeline.compact.plan import ShardPlan
from coordinator_server.pipeline.compact.run import CompactResult, compact, compaction_lock, plans, run_python
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.sealing import check_data_dir, seal
from coordinator_server.pipeline.locations import local_directory, parse_location
from coordinator_server.pipeline.progress import Progress, progress_on

EPILOG = """\
examples:
  coordinator-server compact --data-dir ./data
  coordinator-server compact --data-dir ./data --engine python          # no Spark, no Java; the same bytes
  coordinator-server compact --data-dir /shared/data --master spark://head:7077      # docs/spark.md
  coordinator-server compact --data-dir ./data --tombstone-cutoff-ms 1764000000000 --json

The spark engine needs the extra: pip install 'coordinator-server[spark]'. The extra includes Java.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--data-dir", type=parse_location, required=True, metavar="DIR", help="the server's data directory")
    add_no_wait_argument(parser)
    add_engine_arguments(parser, python="slower, and needs no Spark and no Java", workers_see="DIR")
    add_own_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


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
        default=1 << 30,
        metavar="N",
        help="on Spark, divide a shard with more bytes than this over many tasks (%(default)s)",
    )


def run(options: argparse.Namespace) -> int:
    """Compact and return the exit code."""
    try:
        options.data_dir = local_directory(options.data_dir, "a layer is published by renaming it, and stores have no rename")
        check_data_dir(options.data_dir)
        tell_unknown(options.data_dir)
        started_s = time.monotonic()
        with compaction_lock(options.data_dir):
            todo = plans(options.data_dir, seal(options.data_dir, retries_of(options)))
            result = _run(options, todo, progress_on(sys.stderr))
    except CannotRun as error:
        return complain(error, 2)
    except (PipelineError, OSError) as error:
        return complain(error, 1)
    for reason in result.left_alone:
        note(reason)
    for layer in result.layers:
        if layer.no_checkpoint:
            note(f"{layer.shard}: {layer.no_checkpoint}")
    if options.json:
        say_json(_as_json(options, result))
    else:
        say([_as_text(result, time.monotonic() - started_s)])
    return 0


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
    read, kept = (sum(getattr(layer, name) for layer in result.layers) for name in ("records_in", "records"))
    before, after = (sum(getattr(layer, name) for layer in result.layers) for name in ("bytes_in", "bytes_out"))
    return f"{counted(len(result.layers), 'shard')}: {counted(read, 'record')} ({before:,} bytes) became {kept:,} ({after:,} bytes) in {seconds:.1f} s"


def _as_json(options: argparse.Namespace, result: CompactResult) -> dict[str, object]:
    layers = [_layer(layer) for layer in result.layers]
    return {"engine": options.engine, "layers": layers, "left_alone": result.left_alone}


def _layer(result: ShardResult) -> dict[str, object]:
    names = ("shard", "to_offset", "records_in", "bytes_in", "records", "tombstones", "bytes_out", "digest")
    return {name: getattr(result, name) for name in names}
