"""Tasks, reconciliations, end points and topologies of streams groups beside Kafka's classes, in new random cases."""

from __future__ import annotations

import random

import pytest

from tests.support import streams_lives, streams_topologies
from tests.support.golden import run_streams_groups, run_streams_topologies
from tests.support.kafka_jars import kafka_jars


@pytest.mark.live
def test_new_lives_of_streams_groups_are_kafkas(pytestconfig: pytest.Config) -> None:
    """With --differential-sequences 2000 they have some 20,000 targets."""
    count = int(pytestconfig.getoption("--differential-sequences") or 100)
    seed = random.SystemRandom().getrandbits(32)

    lives = run_streams_groups(kafka_jars(), streams_lives.random_lives(count, seed))

    assert sum(map(streams_lives.compare, lives)) > count


@pytest.mark.live
def test_new_topologies_are_configured_as_kafkas(pytestconfig: pytest.Config) -> None:
    count = 10 * int(pytestconfig.getoption("--differential-sequences") or 100)
    seed = random.SystemRandom().getrandbits(32)

    topologies = run_streams_topologies(kafka_jars(), streams_topologies.random_topologies(count, seed))

    assert len({*map(streams_topologies.compare, topologies)}) == 6
