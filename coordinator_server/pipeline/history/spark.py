"""Hands of the history, spread by Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
from pyspark.sql import SparkSession

from coordinator_server.pipeline.compact import Progress
from coordinator_server.pipeline.history.output import Written
from coordinator_server.pipeline.history.run import Hand, Runner, work
from coordinator_server.pipeline.spark import spread

TASKS_PER_CORE: Final = 2


def runner_on(spark: SparkSession) -> Runner:
    """Hands become tasks of a session."""

    def run(hands: Sequence[Hand], progress: Progress) -> list[tuple[Written, ...]]:
        found = spread(spark, [[hand] for hand in hands], work, progress)
        return [msgspec.json.decode(each, type=tuple[Written, ...]) for each in found]

    return run


def tasks_on(spark: SparkSession) -> int:
    """How many hands keep a session busy."""
    return TASKS_PER_CORE * spark.sparkContext.defaultParallelism
