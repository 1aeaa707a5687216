"""Runs the tasks of the history on Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
from pyspark.sql import SparkSession

from coordinator_server.pipeline.history.output import TableFile
from coordinator_server.pipeline.history.run import HistoryTask, Runner, work
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.spark.tasks import run_tasks

TASKS_PER_CORE: Final = 2


def runner_on(spark: SparkSession) -> Runner:
    """Return a runner for the tasks of a history, one Spark task for each."""

    def run(tasks: Sequence[HistoryTask], progress: Progress) -> list[tuple[TableFile, ...]]:
        found = run_tasks(spark, [[task] for task in tasks], work, progress)
        return [msgspec.json.decode(each, type=tuple[TableFile, ...]) for each in found]

    return run


def tasks_on(spark: SparkSession) -> int:
    """Return the number of tasks that keeps a session busy."""
    return TASKS_PER_CORE * spark.sparkContext.defaultParallelism
