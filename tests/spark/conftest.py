"""One local Spark session for all tests here; without the spark extra they are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


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
