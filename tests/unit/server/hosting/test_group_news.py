"""Lines about groups: what happened, and not too often."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from coordinator_server.server.hosting import group_news
from coordinator_server.server.hosting.group_news import LINES, WINDOW_MS, GroupNews


class Clock:
    now_ms = 0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def news(clock: Clock) -> GroupNews:
    return GroupNews(lambda: clock.now_ms)


def told(news: GroupNews, group_id: str, times: int = 1) -> list[dict[str, Any]]:
    with capture_logs() as lines:
        for number in range(times):
            news.tell("rebalanced", group_id=group_id, generation=number)
    return [dict(line) for line in lines]


def test_a_case_has_a_line_with_its_fields(news: GroupNews) -> None:
    assert told(news, "readers") == [{"event": "rebalanced", "log_level": "info", "group_id": "readers", "generation": 0}]


def test_a_group_has_so_many_lines_and_the_next_says_what_was_left_out(news: GroupNews, clock: Clock) -> None:
    """Other groups have theirs."""
    first, other = told(news, "readers", LINES + 3), told(news, "writers")
    clock.now_ms += WINDOW_MS
    later = told(news, "readers", 2)

    assert (len(first), len(other)) == (LINES, 1)
    assert [line.get("left_out") for line in later] == [3, None]


def test_groups_that_had_a_line_long_ago_are_forgotten_first(news: GroupNews, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many groups cost no more memory than this."""
    monkeypatch.setattr(group_news, "GROUPS", 2)
    for group_id in ("a", "b", "a", "c"):
        told(news, group_id)

    assert len(told(news, "a", LINES)) == LINES - 2
    assert len(told(news, "b", LINES)) == LINES
