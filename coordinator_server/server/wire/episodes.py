"""Cases that follow each other take few lines of a log.

The first case of an episode has a line at once. Those that follow are counted, and have one line per minute while they last. An
episode ends with a minute without a case.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final

EPISODE_MS: Final = 60_000


class Episodes:
    """The open episodes of one loop.

    ``write`` is called with the fields of a line; ``more`` is the number of cases since the last line.
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._open: dict[Hashable, _Episode] = {}

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._open

    def add(self, key: Hashable, write: Callable[..., None], fields: Mapping[str, Any]) -> None:
        """Note a case of the episode ``key``."""
        episode = self._open.get(key)
        if episode is None:
            self._open[key] = _Episode(self._now_ms(), write, fields)
            write(**fields)
        else:
            episode.more += 1
            episode.fields = fields

    def review(self) -> None:
        """Log what was counted in the last minute, and end episodes. To be called while there are open ones."""
        now_ms = self._now_ms()
        for key, episode in list(self._open.items()):
            if now_ms - episode.logged_ms < EPISODE_MS:
                continue
            if not episode.more:
                del self._open[key]
                continue
            episode.write(more=episode.more, **episode.fields)
            episode.more, episode.logged_ms = 0, now_ms


class _Episode:
    """Cases that follow each other. ``fields`` are those of the last one."""

    __slots__ = ("fields", "logged_ms", "more", "write")

    def __init__(self, now_ms: int, write: Callable[..., None], fields: Mapping[str, Any]) -> None:
        self.logged_ms = now_ms
        self.write = write
        self.fields = fields
        self.more = 0
