"""The assignors of the server agree with Kafka's, record by record and partition by partition, in its order."""

from __future__ import annotations

import json

from tests.support.assignor_sequences import compare
from tests.support.golden import STORED_SHARE_TARGETS, STORED_TARGETS, stored_lines


def test_they_agree_with_kafkas() -> None:
    """Members come, change, go and return as static members; topics are created, grow and are deleted."""
    lives = [json.loads(line) for line in stored_lines(STORED_TARGETS).splitlines()]

    assert {life["assignor"] for life in lives} == {"range", "uniform"}
    assert sum(map(compare, lives)) > 500


def test_those_of_share_groups_do_too() -> None:
    """Their partitions become ready in portions."""
    lives = [json.loads(line) for line in stored_lines(STORED_SHARE_TARGETS).splitlines()]

    assert {life["assignor"] for life in lives} == {"simple"}
    assert sum(map(compare, lives)) > 200
