"""Logs what happens to groups: a line for each rebalance and each expired session, so many for each group and no more."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

import structlog

log = structlog.get_logger(__name__)

WINDOW_MS: Final = 60_000
LINES: Final = 10
"""The most lines of a group in a window. The first line of a later window says how many were left out."""
GROUPS: Final = 10_000
"""Groups that are remembered: those that had a line last."""


class GroupNews:
    """The lines of one loop. ``now_ms`` is monotonic."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._windows: OrderedDict[str, _Window] = OrderedDict()

    def tell(self, name: str, **fields: Any) -> None:
        """Log a case of the group ``group_id``, unless that has had its lines."""
        now, group_id = self._now_ms(), fields["group_id"]
        window = self._windows.get(group_id)
        if window is None:
            window = self._windows[group_id] = _Window(now)
            if len(self._windows) > GROUPS:
                self._windows.popitem(last=False)
        left_out = 0
        if now - window.since_ms >= WINDOW_MS:
            left_out = max(window.cases - LINES, 0)
            window.since_ms, window.cases = now, 0
        window.cases += 1
        if window.cases <= LINES:
            self._windows.move_to_end(group_id)
            log.info(name, **fields, **({"left_out": left_out} if left_out else {}))


class _Window:
    """A group's cases since a moment."""

    __slots__ = ("cases", "since_ms")

    def __init__(self, since_ms: int) -> None:
        self.since_ms = since_ms
        self.cases = 0
