"""Compaction on Spark: the shards of a data directory, divided into tasks.

Each task runs the vectorised engine on its shards, in attempt directories of its own, and returns their ``ShardResult`` rows. A
task that Spark runs again or twice writes other attempts; only those whose rows the driver gets are published. A shard with more
keys than one task may hold is compacted with a shuffle of its keys (``shuffle.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

import msgspec
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its name everywhere

from coordinator_server.log.jobs import InputFile
from coordinator_server.log.opening import job_shard
from coordinator_server.pipeline.compact.engine import ShardResult, compact_shard
from coordinator_server.pipeline.compact.plan import ShardPlan
from coordinator_server.pipeline.compact.shuffle import ShuffledEngine, last_offsets
from coordinator_server.pipeline.compact.vector_engine import KEY_BYTES, TooManyKeys, VectorEngine, file_groups
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.rules import Keyed, rule_of
from coordinator_server.pipeline.spark.tasks import SCHEMA, collect_results, divide, result_row, run_at_once, run_tasks

# The memory for the keys of a shard in one task. A task takes about 200 MB beside it.
TASK_BYTES: Final = 256 << 20


def run_spark(
    spark: SparkSession, todo: Sequence[ShardPlan], cutoff_ms: int | None, progress: Progress, task_bytes: int = TASK_BYTES
) -> list[ShardResult]:
    """Compact the shards, the largest first. Those whose keys need more than ``task_bytes`` come last, each by many tasks."""
    sizes = {plan.directory: job_shard(plan.directory).size(plan.to_offset) for plan in todo}
    tasks = divide(spark, todo, lambda plan: sizes[plan.directory])
    found = run_tasks(spark, tasks, partial(_compact, cutoff_ms, task_bytes // KEY_BYTES), progress)
    results = [msgspec.json.decode(result, type=ShardResult) for result in found]
    large = {result.directory for result in results if result.has_too_many_keys}
    done = [result for result in results if result.directory not in large]
    shuffles = [partial(compact_by_shuffle, spark, plan, cutoff_ms) for plan in todo if plan.directory in large]
    for result in run_at_once(spark, shuffles):
        done.append(result)
        progress.advance(len(done), sum(each.records_in for each in done))
    return done


def compact_by_shuffle(spark: SparkSession, plan: ShardPlan, cutoff_ms: int | None) -> ShardResult:
    """Compact one keyed shard by many tasks, to the same bytes as by one (``shuffle.py``). Raises ShardFailed, LogError."""
    keyed = rule_of(plan.shard).compaction
    assert isinstance(keyed, Keyed)
    groups = file_groups(job_shard(plan.directory).compacted(plan.to_offset)[1])
    found = spark.range(0, len(groups), 1, len(groups)).mapInArrow(partial(_find, groups, keyed), "key binary, offset long")
    last = found.groupBy("key").agg(F.max("offset").alias("offset")).select("offset")
    written = last.repartition(1).sortWithinPartitions("offset").mapInArrow(partial(_write, plan, cutoff_ms), SCHEMA)
    [result] = collect_results(spark.sparkContext, written, lambda: None)
    return msgspec.json.decode(result, type=ShardResult)


def _compact(cutoff_ms: int | None, most_keys: int, plan: ShardPlan) -> tuple[bytes, int]:
    try:
        found = compact_shard(plan, cutoff_ms, VectorEngine(most_keys))
    except TooManyKeys:
        found = ShardResult(plan.directory, plan.to_offset, has_too_many_keys=True)
    return msgspec.json.encode(found), found.records_in


def _find(groups: Sequence[Sequence[InputFile]], keyed: Keyed, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Find the last offsets of the groups with the given numbers, in a Python worker."""
    for batch in numbers:
        for number in batch.column(0).to_pylist():
            yield from last_offsets(groups[number], keyed)


def _write(plan: ShardPlan, cutoff_ms: int | None, offsets: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Write the layer, in a Python worker."""
    engine = ShuffledEngine(batch.column(0).to_numpy() for batch in offsets)
    yield result_row(lambda: msgspec.json.encode(compact_shard(plan, cutoff_ms, engine)))
