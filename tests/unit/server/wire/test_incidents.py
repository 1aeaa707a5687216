"""Cases of one kind take one line, and one more per minute while they last."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from coordinator_server.server.wire.episodes import EPISODE_MS, Episodes
from coordinator_server.server.wire.incidents import NAMES, Incidents
from tests.support.clock import ManualClock


def test_many_cases_are_counted_and_take_one_line_a_minute() -> None:
    clock = ManualClock()
    incidents = Incidents(Episodes(clock.now_ms))
    with capture_logs() as lines:
        for n in range(1000):
            incidents.report("refused", peer=n)
        incidents.episodes.review()
        clock.advance(EPISODE_MS)
        incidents.episodes.review()
        incidents.episodes.review()

    assert [(line["event"], line["peer"], line.get("more"), line.get("in_all")) for line in lines] == [
        ("refused", 0, None, None),
        ("refused", 999, 999, 1000),
    ]
    assert incidents.counts == {"refused": 1000}


def test_an_episode_ends_with_a_minute_without_a_case() -> None:
    clock = ManualClock()
    incidents = Incidents(Episodes(clock.now_ms))
    with capture_logs() as lines:
        incidents.report("refused")
        was_open = bool(incidents.episodes)
        clock.advance(EPISODE_MS)
        incidents.episodes.review()
        is_open = bool(incidents.episodes)
        incidents.report("refused")

    assert (was_open, is_open, len(lines)) == (True, False, 2)


def test_names_have_episodes_of_their_own_and_normal_cases_have_none() -> None:
    incidents = Incidents(Episodes(ManualClock().now_ms))
    with capture_logs() as lines:
        incidents.report("refused")
        incidents.report("shed")
        incidents.count("idle")

    assert [line["event"] for line in lines] == ["refused", "shed"]
    assert incidents.counts == {"refused": 1, "shed": 1, "idle": 1}


@pytest.mark.interpreted  # It reads the sources.
def test_every_case_in_the_sources_has_its_name_in_the_table() -> None:
    """And no other: metrics begin with these."""
    sources = Path(__file__).parents[4] / "coordinator_server"
    text = "".join(
        path.read_text() for part in ("server", "group", "catalog", "share") for path in (sources / part).rglob("*.py")
    )

    assert set(re.findall(r'(?:\breport|_report|incidents\.count)\(\s*"([a-z-]+)"', text)) == set(NAMES)
    assert list(NAMES) == sorted(NAMES)
