"""The compaction of a whole data directory: plan, compact the shards, publish all layers or none.

Steps, and what a kill after each leaves behind:

1. take the compaction lock, remove the attempts of writers that died    nothing
2. seal, plan                                                            sealed segments
3. compact every shard into an attempt directory                         attempts, which the next run removes
4. publish each attempt with one rename                                  some shards with a whole new layer; the next run does the
                                                                         rest

A shard that fails stops the run before step 4. The server deletes the layers and segments that are no longer needed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from coordinator_server.log.errors import LockedLog
from coordinator_server.log.opening import compaction_lock as lock_of
from coordinator_server.log.opening import identity_of, is_log, job_shard, job_shards, store_upkeep
from coordinator_server.log.store_paths import is_store
from coordinator_server.pipeline.compact.engine import PythonEngine, ShardResult, compact_shard
from coordinator_server.pipeline.compact.plan import ShardPlan, plan_shard
from coordinator_server.pipeline.errors import Busy, CannotRun
from coordinator_server.pipeline.job_lock import job_lock
from coordinator_server.pipeline.progress import Progress

# Runs plans, in any order and any process. Raises if one of them fails.
Runner = Callable[[Sequence[ShardPlan], int | None, Progress], Iterable[ShardResult]]


class CompactResult(Struct, frozen=True):
    """What a compaction has done: the new layers, and why shards were left alone."""

    layers: tuple[ShardResult, ...] = ()
    left_alone: tuple[str, ...] = ()


@contextlib.contextmanager
def compaction_lock(data_dir: Path) -> Iterator[None]:
    """Hold the lock that only one compaction can have, and remove the attempts of earlier ones.

    It is released when the process ends. Raises CannotRun for a directory that follows another cluster.
    """
    if is_log(data_dir) and (identity := identity_of(data_dir)).is_observed:
        raise CannotRun(
            f"{data_dir} follows the cluster {identity.cluster_id}: it keeps the cluster's history, and is not compacted"
        )
    with _alone(data_dir):
        for shard in job_shards(data_dir):
            shard.clean_attempts()
        yield


@contextlib.contextmanager
def _alone(data_dir: Path) -> Iterator[None]:
    if not is_store(data_dir):
        with job_lock(lock_of(data_dir), f"another compaction of {data_dir} is running"):
            yield
        return
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(store_upkeep(data_dir))
        except LockedLog as locked:
            raise Busy(f"{locked}; wait for it to end") from locked
        yield


def plans(data_dir: Path, sealed: Mapping[str, int]) -> list[ShardPlan]:
    """Plan every shard that has newly sealed segments. ``sealed`` is the answer of ``sealing.seal``."""
    return [plan for shard in job_shards(data_dir) if (plan := plan_shard(shard, sealed.get(shard.name))) is not None]


def run_python(todo: Sequence[ShardPlan], cutoff_ms: int | None, progress: Progress) -> list[ShardResult]:
    """Compact the shards with the plain engine, one after the other."""
    engine = PythonEngine()
    results: list[ShardResult] = []
    records = 0
    for plan in todo:
        results.append(compact_shard(plan, cutoff_ms, engine))
        records += results[-1].records_in
        progress.advance(len(results), records)
    return results


def compact(todo: Sequence[ShardPlan], cutoff_ms: int | None, run: Runner, progress: Progress) -> CompactResult:
    """Run the plans and publish all layers or none. The caller holds the compaction lock."""
    progress.start(len(todo), sum(job_shard(plan.directory).size(plan.to_offset) for plan in todo))
    try:
        results = {result.directory: result for result in run(todo, cutoff_ms, progress)}
        ordered = [results[plan.directory] for plan in todo]
        done = [result for result in ordered if result.attempt]
        for result in done:
            job_shard(result.directory).publish(result.attempt, result.to_offset)
    finally:
        progress.stop()
        # Attempts of a run that failed, and of tasks that Spark ran twice.
        for plan in todo:
            job_shard(plan.directory).clean_attempts()
    return CompactResult(tuple(done), tuple(result.left_alone for result in ordered if result.left_alone))
