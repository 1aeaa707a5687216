"""Two local Spark sessions for all tests here, one in the tests' process and one for commands;
without the spark extra they are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.toy.rows import ENVIRONMENT


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name == "spark":
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session on two cores."""
    pytest.importorskip("pyspark", reason="the spark extra is not installed: make test brings it")
    from coordinator_server.pipeline.spark.session import session

    with session("local[2]") as spark:
        yield spark


@pytest.fixture(scope="session")
def jobs() -> Iterator[Any]:
    """A process with a session on two cores that runs commands (SparkDriver), and knows the kinds of the tests.

    To start a JVM takes longer than most jobs.
    """
    pytest.importorskip("pyspark", reason="the spark extra is not installed: make test brings it")
    from tests.support.spark_driver import SparkDriver

    with SparkDriver("local[2]", {}, env=os.environ | ENVIRONMENT) as driver:
        yield driver
