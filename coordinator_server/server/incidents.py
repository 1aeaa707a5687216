"""Counts what the server refuses, delays or closes, and logs it without a line for each case.

The first case of a name is logged at once. Those that follow are counted, and logged as one line per minute while they last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import structlog

log = structlog.get_logger(__name__)

EPISODE_MS: Final = 60_000


class Incidents:
    """The counters of one loop. ``counts`` has them by name, since the start."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self.counts: dict[str, int] = {}
        self._now_ms = now_ms
        self._episodes: dict[str, _Episode] = {}

    @property
    def has_open(self) -> bool:
        """Whether ``review`` must be called later."""
        return bool(self._episodes)

    def count(self, name: str) -> None:
        """Count a case that is normal, without a line."""
        self.counts[name] = self.counts.get(name, 0) + 1

    def report(self, name: str, **fields: Any) -> None:
        """Count a case, and log it if it is the first one of an episode. ``fields`` say why, and what to do."""
        self.count(name)
        episode = self._episodes.get(name)
        if episode is None:
            self._episodes[name] = _Episode(self._now_ms(), fields)
            log.warning(name, **fields)
        else:
            episode.more += 1
            episode.fields = fields

    def review(self) -> None:
        """Log what was counted in the last minute. An episode ends with a minute without a case."""
        now = self._now_ms()
        for name, episode in list(self._episodes.items()):
            if now - episode.logged_ms < EPISODE_MS:
                continue
            if not episode.more:
                del self._episodes[name]
                continue
            log.warning(name, more=episode.more, in_all=self.counts[name], **episode.fields)
            episode.more, episode.logged_ms = 0, now


class _Episode:
    """Cases of one name that follow each other. ``fields`` are those of the last one."""

    __slots__ = ("fields", "logged_ms", "more")

    def __init__(self, now_ms: int, fields: dict[str, Any]) -> None:
        self.logged_ms = now_ms
        self.fields = fields
        self.more = 0
