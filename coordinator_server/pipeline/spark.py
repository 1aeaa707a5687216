"""Work on shards, spread by Spark: no shuffle, no record through the JVM. For compaction:

    driver   spark.range(tasks).mapInArrow(task) ───────────────────────────────► collect ─ publish by rename
    task     its shards' plans by number ─ vectorised engine ─ attempt-private directories ─ a row each: the ShardResult, or what went wrong

A task costs Spark and its worker tens of milliseconds before it has done anything, as much as a shard of 100,000 records: where there are many
more shards than cores they are dealt out, by size, to TASKS_PER_CORE tasks per core.

Spark plans, spreads and retries; a retried or doubled task writes another attempt, and only the attempts whose rows
the driver got are published. The session is session.py's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from itertools import chain
from typing import Any, Final, TypeVar

import msgspec
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from coordinator_server.log.errors import LogError
from coordinator_server.pipeline.compact import Progress
from coordinator_server.pipeline.engine import ShardResult, compact_shard
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.plan import ShardPlan, input_bytes
from coordinator_server.pipeline.session import gist
from coordinator_server.pipeline.vectors import VectorEngine

T = TypeVar("T")

SCHEMA: Final = "result binary, error string"
TASKS_PER_CORE: Final = 4
POLL_S: Final = 0.2


class ShardFailed(PipelineError):
    """A task could not do its shard."""


def run_spark(spark: SparkSession, todo: Sequence[ShardPlan], cutoff_ms: int | None, progress: Progress) -> list[ShardResult]:
    """All shards, the largest first."""
    found = spread(spark, deal(spark, todo, input_bytes), partial(_compact, cutoff_ms), progress)
    return [msgspec.json.decode(result, type=ShardResult) for result in found]


def deal(spark: SparkSession, things: Sequence[T], size: Callable[[T], int]) -> list[Sequence[T]]:
    """Hands of about the same size, as many as keep every core busy."""
    ordered = sorted(things, key=size, reverse=True)
    tasks = min(len(ordered), TASKS_PER_CORE * spark.sparkContext.defaultParallelism)
    return [ordered[number::tasks] for number in range(tasks)]


def spread(
    spark: SparkSession, hands: Sequence[Sequence[T]], work: Callable[[T], tuple[bytes, int]], progress: Progress
) -> list[bytes]:
    """One task per hand, which does ``work`` on each thing in it: a result, and how many records that were. Raises ShardFailed."""
    if not hands:
        return []
    context = spark.sparkContext
    done, records = context.accumulator(0), context.accumulator(0)

    def count(found: int) -> None:
        done.add(1)
        records.add(found)

    rows = spark.range(0, len(hands), 1, len(hands)).mapInArrow(partial(_task, hands, work, count), SCHEMA)
    collected = _collect(context, rows, lambda: progress.advance(done.value, records.value))
    failed = [row["error"] for row in collected if row["error"]]
    if failed:
        raise ShardFailed("; ".join(failed))
    return [bytes(row["result"]) for row in collected]


def _compact(cutoff_ms: int | None, plan: ShardPlan) -> tuple[bytes, int]:
    found = compact_shard(plan, cutoff_ms, VectorEngine())
    return msgspec.json.encode(found), found.records_in


def _task(
    hands: Sequence[Sequence[T]],
    work: Callable[[T], tuple[bytes, int]],
    count: Callable[[int], None],
    numbers: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Runs in a Python worker."""
    for batch in numbers:
        for thing in chain.from_iterable(hands[number] for number in batch.column(0).to_pylist()):
            result, error = None, None
            # What is wrong with a shard is told in a row: raising would make Spark try again and bury the reason in a stack trace.
            try:
                result, records = work(thing)
                count(records)
            except (PipelineError, LogError, OSError) as failure:
                error = str(failure)
            yield pa.RecordBatch.from_arrays(
                [pa.array([result], pa.binary()), pa.array([error], pa.string())], ["result", "error"]
            )


def _collect(context: SparkContext, rows: Any, tell: Callable[[], None]) -> list[Any]:
    """Collect in a thread, so that this one can tell how it gets on, and be interrupted."""
    with ThreadPoolExecutor(1) as pool:
        collecting = pool.submit(rows.collect)
        try:
            while wait([collecting], POLL_S).not_done:
                tell()
        except BaseException:
            context.cancelAllJobs()
            raise
    tell()
    try:
        collected: list[Any] = collecting.result()
    except (PySparkException, Py4JError) as error:
        raise ShardFailed(f"Spark gave up: {gist(error)}") from error
    return collected
