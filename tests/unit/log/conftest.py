"""A log on a simulated disk, and a PostgreSQL."""

from __future__ import annotations

import pytest

from tests.support.log import OpenLog
from tests.support.postgresql import postgresql as postgresql  # noqa: PLC0414 - a fixture
from tests.support.storage import SimulatedDisk


@pytest.fixture
def disk() -> SimulatedDisk:
    return SimulatedDisk()


@pytest.fixture
def log(disk: SimulatedDisk) -> OpenLog:
    opened = OpenLog(disk)
    opened.run()
    return opened
