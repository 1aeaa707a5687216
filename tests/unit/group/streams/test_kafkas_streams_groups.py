"""Tasks, members on their way to them, end points and configured topologies are those of Kafka's classes, in its order."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from tests.support.golden import STORED_STREAMS_LIVES, STORED_STREAMS_TOPOLOGIES, stored_lines
from tests.support.streams_lives import compare as compare_life
from tests.support.streams_topologies import compare as compare_topology


def test_every_step_of_a_life_is_as_with_kafka() -> None:
    """Members come, go, and give up tasks; topics grow and shrink. The steps lead to every state."""
    lives = _stored(STORED_STREAMS_LIVES)

    assert sum(map(compare_life, lives)) > 500
    steps = [step for life in lives for step in life["steps"]]
    assert Counter(step["result"]["state"] for step in steps if "result" in step).keys() == {1, 2, 3}
    assert any("error" in step for step in steps)


def test_every_topology_is_configured_as_with_kafka() -> None:
    """Most topologies fit their topics, at least in part: each status and each error is among the others."""
    outcomes = Counter(map(compare_topology, _stored(STORED_STREAMS_TOPOLOGIES)))

    assert outcomes.keys() == {"ready", "status 1", "status 2", "status 3", "error -1", "error 130"}
    assert min(outcomes.values()) > 5


def _stored(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stored_lines(path).splitlines()]
