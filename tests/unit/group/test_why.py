"""The reasons that records tell."""

from __future__ import annotations

from pathlib import Path

from coordinator_server.catalog.shard import TOPICS_DECLARED
from coordinator_server.group.why import Why


def test_every_reason_is_documented() -> None:
    """Who reads the log finds out what it means."""
    page = (Path(__file__).parents[3] / "docs" / "log-format.md").read_text()

    assert [why for why in (*Why, TOPICS_DECLARED) if f"| `{why}` |" not in page] == []
