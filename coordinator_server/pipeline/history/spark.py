"""Hands of the history, spread by Spark."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from pyspark.sql import SparkSession

from coordinator_server.pipeline.compact import Progress
from coordinator_server.pipeline.history.output import Written
from coordinator_server.pipeline.history.run import Hand, Runner, work
from coordinator_server.pipeline.spark import session, spread

TASKS_PER_CORE: Final = 2


def runner_on(spark: SparkSession) -> Runner:
    """Hands become tasks of a session."""

    def run(hands: Sequence[Hand], progress: Progress) -> list[tuple[Written, ...]]:
        found = spread(spark, [[hand] for hand in hands], work, progress)
        return [msgspec.json.decode(each, type=tuple[Written, ...]) for each in found]

    return run


@contextlib.contextmanager
def on_spark(master: str) -> Iterator[tuple[Runner, int]]:
    """A runner on a session of its own, and how many tasks keep it busy."""
    with session(master) as spark:
        yield runner_on(spark), TASKS_PER_CORE * spark.sparkContext.defaultParallelism
