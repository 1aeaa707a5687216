"""Work on shards, spread by Spark: no record through the JVM. For compaction:

    driver   spark.range(tasks).mapInArrow(task) ───────────────────────────────► collect ─ publish by rename
    task     its shards' plans by number ─ vectorised engine ─ attempt-private directories ─ a row each: the ShardResult, or what went wrong

A task costs Spark and its worker tens of milliseconds before it has done anything, as much as a shard of 100,000 records: where there are many
more shards than cores they are dealt out, by size, to TASKS_PER_CORE tasks per core.

Spark plans, spreads and retries; a retried or doubled task writes another attempt, and only the attempts whose rows
the driver got are published. The session is session.py's. A shard that one task should not hold is compacted with a shuffle of its keys (giant.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its name everywhere

from coordinator_server.log.errors import LogError
from coordinator_server.pipeline.compact import Progress
from coordinator_server.pipeline.engine import ShardResult, compact_shard
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.giant import GivenOffsets, last_offsets
from coordinator_server.pipeline.plan import ShardPlan, Source, input_bytes, sources
from coordinator_server.pipeline.rules import Keyed, rule_of
from coordinator_server.pipeline.session import gist
from coordinator_server.pipeline.vectors import VectorEngine, neighbours

T = TypeVar("T")

SCHEMA: Final = "result binary, error string"
TASKS_PER_CORE: Final = 4
# A shard of more is not for one task: a record per 460 bytes, each of another key, comes to some 1.5 GB of memory.
TASK_BYTES: Final = 1 << 30
POLL_S: Final = 0.2


class ShardFailed(PipelineError):
    """A task could not do its shard."""


def run_spark(
    spark: SparkSession, todo: Sequence[ShardPlan], cutoff_ms: int | None, progress: Progress, task_bytes: int = TASK_BYTES
) -> list[ShardResult]:
    """All shards, the largest first; those of more than ``task_bytes`` behind the others, each by many tasks."""
    sizes = {plan.directory: input_bytes(plan) for plan in todo}
    giants = {plan: keyed for plan in todo if sizes[plan.directory] > task_bytes and (keyed := _keyed(plan)) is not None}
    others = [plan for plan in todo if plan not in giants]
    found = spread(spark, deal(spark, others, lambda plan: sizes[plan.directory]), partial(_compact, cutoff_ms), progress)
    results = [msgspec.json.decode(result, type=ShardResult) for result in found]
    for plan, keyed in giants.items():
        results.append(compact_giant(spark, plan, keyed, cutoff_ms))
        progress.advance(len(results), sum(result.records_in for result in results))
    return results


def _keyed(plan: ShardPlan) -> Keyed | None:
    """The rule of a shard that many tasks can do; None for one that is folded."""
    compaction = rule_of(plan.shard).compaction
    return compaction if isinstance(compaction, Keyed) else None


def compact_giant(spark: SparkSession, plan: ShardPlan, keyed: Keyed, cutoff_ms: int | None) -> ShardResult:
    """One shard by many tasks, the same bytes as by one: see giant.py. Raises ShardFailed, LogError."""
    groups = list(neighbours(sources(Path(plan.directory), plan.to_offset)[1]))
    found = spark.range(0, len(groups), 1, len(groups)).mapInArrow(partial(_find, groups, keyed), "key binary, offset long")
    last = found.groupBy("key").agg(F.max("offset").alias("offset")).select("offset")
    written = last.repartition(1).sortWithinPartitions("offset").mapInArrow(partial(_write, plan, cutoff_ms), SCHEMA)
    [result] = _results(_collect(spark.sparkContext, written, lambda: None))
    return msgspec.json.decode(result, type=ShardResult)


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
    return _results(_collect(context, rows, lambda: progress.advance(done.value, records.value)))


def _results(rows: Sequence[Any]) -> list[bytes]:
    failed = [row["error"] for row in rows if row["error"]]
    if failed:
        raise ShardFailed("; ".join(failed))
    return [bytes(row["result"]) for row in rows]


def _find(groups: Sequence[Sequence[Source]], keyed: Keyed, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Runs in a Python worker."""
    for batch in numbers:
        for number in batch.column(0).to_pylist():
            yield from last_offsets(groups[number], keyed)


def _write(plan: ShardPlan, cutoff_ms: int | None, offsets: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Runs in a Python worker."""
    engine = GivenOffsets(batch.column(0).to_numpy() for batch in offsets)
    yield _attempt(lambda: msgspec.json.encode(compact_shard(plan, cutoff_ms, engine)))


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
            yield _attempt(partial(_counted, work, count, thing))


def _counted(work: Callable[[T], tuple[bytes, int]], count: Callable[[int], None], thing: T) -> bytes:
    result, records = work(thing)
    count(records)
    return result


def _attempt(work: Callable[[], bytes]) -> pa.RecordBatch:
    """What came of it, or what is wrong: raising would make Spark try again and bury the reason in a stack trace."""
    result, error = None, None
    try:
        result = work()
    except (PipelineError, LogError, OSError) as failure:
        error = str(failure)
    return pa.RecordBatch.from_arrays([pa.array([result], pa.binary()), pa.array([error], pa.string())], ["result", "error"])


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
