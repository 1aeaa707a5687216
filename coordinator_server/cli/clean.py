"""Compact shards in the cleaner's child process.

The order is JSON on stdin, the result is JSON on stdout. The child does not ask the server to seal,
and opens no log: the server has sealed what is to be read. It ends with the server. The plain engine
reads a log of any size in bounded memory, but for the state of a folded shard and for very large
batches. It skips a shard that needs more than allowed, and compacts the others. Spark takes what the
plain engine has skipped, or all shards, as the order says.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from coordinator_server.cli.engines import extra_needed
from coordinator_server.cli.output import complain
from coordinator_server.cli.parent import die_with_parent
from coordinator_server.cli.process_settings import run_at_low_priority
from coordinator_server.log.errors import LogError
from coordinator_server.pipeline.compact.engine import PythonEngine, ShardResult, compact_shard
from coordinator_server.pipeline.compact.last_places import MOST_BYTES
from coordinator_server.pipeline.compact.plan import ShardPlan
from coordinator_server.pipeline.compact.run import compact, compaction_lock, plans
from coordinator_server.pipeline.errors import Busy, PipelineError
from coordinator_server.pipeline.progress import Progress
from coordinator_server.server.hosting.cleaner import BUSY, Clean, Cleaned

# A task on Spark has half of the memory for the keys of a shard. The rest is for what it reads at a time.
_SPARK_PART: Final = 2
# The plain engine has a quarter for keys, if it is less than what it takes otherwise.
_KEY_PART: Final = 4


def main() -> int:
    """Run the order and return the exit code."""
    die_with_parent()
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Clean)
    if os.getppid() != order.server:
        # The server ended before die_with_parent took effect.
        return 1
    run_at_low_priority()
    _limit_memory(order.max_memory_bytes)
    try:
        sys.stdout.buffer.write(msgspec.json.encode(clean(order)))
    except Busy as busy:
        return complain(busy, BUSY)
    except (PipelineError, LogError, OSError) as failure:
        return complain(failure, 1)
    return 0


def clean(order: Clean) -> Cleaned:
    """Compact the shards of the order. If it raises PipelineError, LogError or OSError, nothing was published."""
    data_dir, engines = Path(order.data_dir), _Engines(order)
    with compaction_lock(data_dir):
        todo = [plan for plan in plans(data_dir, order.sealed) if plan.shard in order.sealed]
        result = compact(todo, order.cutoff_ms, engines.run, Progress())
    layers = result.layers
    return Cleaned(
        shards=[layer.shard for layer in layers],
        records_before=sum(layer.records_in for layer in layers),
        bytes_before=sum(layer.bytes_in for layer in layers),
        records=sum(layer.records for layer in layers),
        bytes=sum(layer.bytes_out for layer in layers),
        left_alone=[*result.left_alone, *(f"{layer.shard}: {layer.no_checkpoint}" for layer in layers if layer.no_checkpoint)],
        by_spark=engines.by_spark,
    )


class _Engines:
    """The engines that an order allows (``log.cleaner.engine``)."""

    def __init__(self, order: Clean) -> None:
        self._order = order
        self.by_spark: list[str] = []

    def run(self, todo: Sequence[ShardPlan], cutoff_ms: int | None, _progress: Progress) -> list[ShardResult]:
        """Run the plain engine on one shard after the other, each with all of the memory, and Spark on what is left."""
        if self._order.engine == "spark":
            return self._on_spark(todo, cutoff_ms)
        engine = PythonEngine(min(MOST_BYTES, self._order.max_memory_bytes // _KEY_PART))
        found = {plan: _compacted(plan, cutoff_ms, engine) for plan in todo}
        done = [result for result in found.values() if result is not None]
        too_large = [plan for plan, result in found.items() if result is None]
        if not too_large:
            return done
        if self._order.engine == "plain":
            return done + [self._left_alone(plan, "set log.cleaner.engine=auto") for plan in too_large]
        try:
            return done + self._on_spark(too_large, cutoff_ms)
        except PipelineError as error:
            return done + [self._left_alone(plan, str(error)) for plan in too_large]

    def _on_spark(self, todo: Sequence[ShardPlan], cutoff_ms: int | None) -> list[ShardResult]:
        """Run one task at a time. Raises PipelineError, CannotRun if Spark is not installed or does not start."""
        # Before the imports: numpy and a JVM map more than they use. Tasks are limited by what they read.
        _limit_memory(None)
        with extra_needed("spark engine"):
            from coordinator_server.pipeline.compact.spark import run_spark
            from coordinator_server.pipeline.spark.session import session
        task_bytes = self._order.max_memory_bytes // _SPARK_PART
        with session("local[1]") as spark:
            found = run_spark(spark, todo, cutoff_ms, Progress(), task_bytes)
        self.by_spark += [result.shard for result in found if result.attempt]
        return found

    def _left_alone(self, plan: ShardPlan, advice: str) -> ShardResult:
        limit = f"log.cleaner.max.memory.bytes={self._order.max_memory_bytes}"
        why = f"{plan.shard} takes more memory than {limit}: raise it, or run `coordinator-server compact` by hand; {advice}"
        return ShardResult(plan.directory, plan.to_offset, left_alone=why)


def _compacted(plan: ShardPlan, cutoff_ms: int | None, engine: PythonEngine) -> ShardResult | None:
    """Return the result of the plain engine; None if the memory does not suffice."""
    with contextlib.suppress(MemoryError):
        return compact_shard(plan, cutoff_ms, engine)
    return None


def _limit_memory(most_bytes: int | None) -> None:
    """Limit this process's memory, or lift the limit. RLIMIT_DATA counts writable memory, and not the mapped code."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = hard if most_bytes is None else most_bytes
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
