"""A short storm over streams groups; `make storm` has the long one."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from tests.storm.streams import overrides, storm
from tests.support.server import Server

SECONDS = 2
SIZES = (8, 4, 1)


def test_streams_groups_settle_after_a_storm(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Active tasks have one owner; when it is quiet every group settles."""
    given = request.config.getoption("--seed")
    seed = random.SystemRandom().randrange(1 << 31) if given is None else given
    with Server(tmp_path, overrides(SIZES)) as server:
        report = asyncio.run(storm(server.addresses, seed, SECONDS, settle_within_s=60, sizes=SIZES))

    assert not report.broken, str(report)
    assert report.happened["tasks acquired"] >= 10
