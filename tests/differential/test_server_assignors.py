"""The assignors of the server beside Kafka's classes, in new random lives of groups."""

from __future__ import annotations

import random

import pytest

from tests.support.assignor_sequences import compare, random_lives, random_share_lives
from tests.support.golden import run_server_assignors
from tests.support.kafka_jars import kafka_jars


@pytest.mark.live
def test_new_lives_have_kafkas_targets(pytestconfig: pytest.Config) -> None:
    count = int(pytestconfig.getoption("--differential-sequences") or 100)
    seed = random.SystemRandom().getrandbits(32)

    for life in run_server_assignors(kafka_jars(), *random_lives(count, seed)):
        assert compare(life), f"seed {seed}"


@pytest.mark.live
def test_new_lives_of_share_groups_have_kafkas_targets(pytestconfig: pytest.Config) -> None:
    count = int(pytestconfig.getoption("--differential-sequences") or 100)
    seed = random.SystemRandom().getrandbits(32)

    for life in run_server_assignors(kafka_jars(), *random_share_lives(count // 2, seed)):
        assert compare(life), f"seed {seed}"
