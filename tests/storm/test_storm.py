"""A short storm; `make storm` has the long one."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from tests.storm.weather import OVERRIDES, storm
from tests.support.server import Server

SECONDS = 6


def test_groups_settle_after_a_storm(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """While 200 members come and go at random no partition has two owners in a generation; when it is quiet every group settles."""
    given = request.config.getoption("--seed")
    seed = random.SystemRandom().randrange(1 << 31) if given is None else given
    with Server(tmp_path, OVERRIDES) as server:
        report = asyncio.run(storm(server.addresses, seed, SECONDS, settle_within_s=120))

    assert not report.broken, str(report)
    assert report.happened["assignments"] >= 200
