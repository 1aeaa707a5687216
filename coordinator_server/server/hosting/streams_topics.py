"""The internal topics of streams groups that this loop creates, for the members that need them (``AutoTopicCreationManager``).

A topic is asked for once at a time. One that could not be created is asked for again after a while; until then the answers to
members say why.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final, NamedTuple

MOST_FAILURES: Final = 1000
"""So many failures are remembered. Those that end first are forgotten first."""


class _Failure(NamedTuple):
    message: str
    until_ms: int


class StreamsTopics:
    """Which topics are being created, and which could not be."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._under_way: set[str] = set()
        self._failures: dict[str, _Failure] = {}

    def begin(self, names: Iterable[str]) -> list[str]:
        """Return those of the topics that are to be asked for now: they are under way until ``end``."""
        failures = self.failures(names)
        wanted = [name for name in names if name not in failures and name not in self._under_way]
        self._under_way.update(wanted)
        return wanted

    def end(self, names: Collection[str], failed: dict[str, str], delay_ms: int) -> None:
        """The topics are created, but for those that have failed, by name with the reason. They wait for ``delay_ms``."""
        self._under_way.difference_update(names)
        now_ms = self._now_ms()
        for name in names:
            self._failures.pop(name, None)
        self._failures.update({name: _Failure(message, now_ms + delay_ms) for name, message in failed.items()})
        self._failures = {name: each for name, each in self._failures.items() if each.until_ms > now_ms}
        if len(self._failures) > MOST_FAILURES:
            last = sorted(self._failures.items(), key=lambda item: item[1].until_ms)[-MOST_FAILURES:]
            self._failures = dict(last)

    def failures(self, names: Iterable[str]) -> dict[str, str]:
        """Return why topics could not be created a short time ago, by name."""
        now_ms = self._now_ms()
        found = ((name, self._failures.get(name)) for name in names)
        return {name: each.message for name, each in found if each is not None and each.until_ms > now_ms}
