"""Runs work on shards as Spark tasks. No record passes through the JVM.

    driver   spark.range(tasks).mapInArrow(task) ─────────────────────► collect
    task     the items of the task, by number ─ work ─ one row per item: its result, or its error

A task costs tens of milliseconds before it does anything, as much as the compaction of 100,000 records. So where there are many
more items than cores, a task gets several: ``divide`` makes TASKS_PER_CORE tasks per core.
Spark retries tasks, and may run one twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, Final, TypeVar

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession

from coordinator_server.log.errors import DamagedLog, LogError
from coordinator_server.pipeline.errors import GateClosed, PipelineError, ShardDamaged, ShardFailed
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.spark.session import ERRORS, gist

T = TypeVar("T")

SCHEMA: Final = "result binary, error string, is_damage boolean"
"""The rows that tasks return."""
TASKS_PER_CORE: Final = 4
POLL_S: Final = 0.2
# A connection to a JVM that has ended is refused.
_ERRORS: Final = (*ERRORS, OSError)


def divide(spark: SparkSession, items: Sequence[T], size: Callable[[T], int]) -> list[Sequence[T]]:
    """Divide items into tasks of about the same size, enough to keep every core busy."""
    ordered = sorted(items, key=size, reverse=True)
    tasks = min(len(ordered), TASKS_PER_CORE * spark.sparkContext.defaultParallelism)
    return [ordered[number::tasks] for number in range(tasks)]


def run_tasks(
    spark: SparkSession, tasks: Sequence[Sequence[T]], work: Callable[[T], tuple[bytes, int]], progress: Progress
) -> list[bytes]:
    """Run ``work`` on every item of every task. It returns a result, and the number of records. Raises ShardFailed."""
    if not tasks:
        return []
    context = spark.sparkContext

    def count(found: int) -> None:
        done.add(1)
        records.add(found)

    try:
        done, records = context.accumulator(0), context.accumulator(0)
        rows = spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(partial(_task, tasks, work, count), SCHEMA)
    except _ERRORS as error:
        raise ShardFailed(f"Spark gave up: {gist(error)}") from error
    return collect_results(context, rows, lambda: progress.advance(done.value, records.value))


def collect_results(context: SparkContext, rows: DataFrame, report: Callable[[], None]) -> list[bytes]:
    """Return the results in rows of SCHEMA. Call ``report`` while Spark is working. Raises ShardFailed."""
    found = _collect(context, rows, report)
    failed = [row["error"] for row in found if row["error"]]
    if failed:
        kind = ShardDamaged if any(row["is_damage"] for row in found) else ShardFailed
        raise kind("; ".join(failed))
    return [bytes(row["result"]) for row in found]


def run_at_once(spark: SparkSession, jobs: Sequence[Callable[[], T]]) -> Iterator[T]:
    """Run jobs of Spark, as many at a time as there are cores, and return their results as they come.

    A job may have steps of one task, during which the others use the other cores. Raises what a job raises, and ends the rest.
    """
    with ThreadPoolExecutor(max(1, spark.sparkContext.defaultParallelism)) as pool:
        running = [pool.submit(job) for job in jobs]
        try:
            for done in as_completed(running):
                yield done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            _cancel(spark.sparkContext)
            raise


def result_row(work: Callable[[], bytes]) -> pa.RecordBatch:
    """Return a row of SCHEMA with the result of ``work`` or its error. Raising would make Spark try again and hide the reason."""
    result, error, is_damage = None, None, False
    try:
        result = work()
    except (PipelineError, LogError, OSError) as failure:
        error, is_damage = str(failure), isinstance(failure, DamagedLog | GateClosed)
    columns = [pa.array([result], pa.binary()), pa.array([error], pa.string()), pa.array([is_damage], pa.bool_())]
    return pa.RecordBatch.from_arrays(columns, ["result", "error", "is_damage"])


def _cancel(context: SparkContext) -> None:
    # A JVM that has died cannot, and that must not take the place of the interruption.
    with suppress(Py4JError, OSError):
        context.cancelAllJobs()


def _task(
    tasks: Sequence[Sequence[T]],
    work: Callable[[T], tuple[bytes, int]],
    count: Callable[[int], None],
    numbers: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Do the tasks with the given numbers, in a Python worker."""
    for batch in numbers:
        for item in chain.from_iterable(tasks[number] for number in batch.column(0).to_pylist()):
            yield result_row(partial(_counted, work, count, item))


def _counted(work: Callable[[T], tuple[bytes, int]], count: Callable[[int], None], item: T) -> bytes:
    result, records = work(item)
    count(records)
    return result


def _collect(context: SparkContext, rows: DataFrame, report: Callable[[], None]) -> list[Any]:
    """Collect in a thread, so that this thread can report progress and be interrupted."""
    with ThreadPoolExecutor(1) as pool:
        collecting = pool.submit(rows.collect)
        try:
            while wait([collecting], POLL_S).not_done:
                report()
        except BaseException:
            _cancel(context)
            raise
    report()
    try:
        collected: list[Any] = collecting.result()
    except _ERRORS as error:
        raise ShardFailed(f"Spark gave up: {gist(error)}") from error
    return collected
