"""The compaction of a whole data directory: plan, run the shards, publish all or nothing.

Steps, and what a kill after each leaves behind:

1. take the compaction lock, remove attempts of writers that died        nothing
2. seal, plan                                                            sealed segments
3. run every shard into an attempt-private directory                     attempts, removed by the next run
4. publish the attempts, each by one rename                              some shards with a new layer, each whole; the next run does the rest

A shard that fails stops the run before step 4. Superseded layers and covered segments are the server's to delete.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from coordinator_server.log.layers import clean_attempts, publish
from coordinator_server.pipeline.engine import PythonEngine, ShardResult, compact_shard
from coordinator_server.pipeline.joblock import job_lock
from coordinator_server.pipeline.plan import ShardPlan, input_bytes, plan_shard, shard_directories

LOCK: Final = ".compact.lock"


class Progress:
    """Told how a job gets on; this one keeps it to itself."""

    def start(self, shards: int, size: int = 0) -> None:
        """So many shards are to be done, with so many bytes to read, where that is known."""

    def advance(self, shards: int, records: int) -> None:
        """So many shards are done by now, with so many records read."""

    def stop(self) -> None:
        """The job is over, well or not."""


# Runs plans, in any order and place; any of them that fails raises.
Runner = Callable[[Sequence[ShardPlan], int | None, Progress], Iterable[ShardResult]]


class CompactResult(Struct, frozen=True):
    """What a compaction has done, shard by shard."""

    layers: tuple[ShardResult, ...] = ()
    left_alone: tuple[str, ...] = ()


@contextlib.contextmanager
def compaction_lock(data_dir: Path) -> Iterator[None]:
    """One compaction at a time; the lock goes with its process. Removes what earlier ones have left."""
    with job_lock(data_dir / LOCK, f"another compaction of {data_dir} is running"):
        for shard_dir in shard_directories(data_dir):
            clean_attempts(shard_dir)
        yield


def plans(data_dir: Path, sealed: Mapping[str, int]) -> list[ShardPlan]:
    """The shards in which something was sealed since their newest layer. ``sealed`` is what ``sealed.seal`` answered."""
    return [plan for path in shard_directories(data_dir) if (plan := plan_shard(path, sealed.get(path.name))) is not None]


def run_python(todo: Sequence[ShardPlan], cutoff_ms: int | None, progress: Progress) -> list[ShardResult]:
    """The plain engine, one shard after the other."""
    engine = PythonEngine()
    results: list[ShardResult] = []
    records = 0
    for plan in todo:
        results.append(compact_shard(plan, cutoff_ms, engine))
        records += results[-1].records_in
        progress.advance(len(results), records)
    return results


def compact(todo: Sequence[ShardPlan], cutoff_ms: int | None, run: Runner, progress: Progress) -> CompactResult:
    """Run the plans and publish all or nothing; the caller holds the compaction lock."""
    progress.start(len(todo), sum(map(input_bytes, todo)))
    try:
        results = {result.directory: result for result in run(todo, cutoff_ms, progress)}
        ordered = [results[plan.directory] for plan in todo]
        done = [result for result in ordered if result.attempt]
        for result in done:
            publish(Path(result.attempt), Path(result.directory), result.to_offset)
    finally:
        progress.stop()
        # Of a run that failed, and of tasks that Spark ran twice.
        for plan in todo:
            clean_attempts(Path(plan.directory))
    return CompactResult(tuple(done), tuple(result.left_alone for result in ordered if result.left_alone))
