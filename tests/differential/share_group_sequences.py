"""Sequences of requests to share groups, drawn from a seed, as lines of a script.

The simple assignor of a broker orders partitions by topic ids that the broker makes up, so there is one topic with one partition:
all members have it.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

LENGTH: Final = 40
RESTART: Final = "restart"
_OWN: Final = "own-a"


class DrawnShares:
    """One sequence of members and administrators in the making. Nothing that a server says has a part in it."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._members = "ABCDEF"[: random.randint(2, 6)]
        self._subscriptions = random.choice(((_OWN,), (_OWN, _OWN, "own-none", f"{_OWN}+own-none")))
        self._has_topic = False

    def first(self) -> list[str]:
        return self.change_topic()

    def lines(self) -> list[str]:
        """What may come next."""
        draws, weights = zip(*_DRAWS, strict=True)
        return list(self._random.choices(draws, weights)[0](self))

    def last(self) -> list[str]:
        return [*(f"{name} shares g" for name in self._members * 2), "sharers g", "starts g", "list"]

    def join(self) -> list[str]:
        return [f"{self._member()} shares g topics={self._random.choice(self._subscriptions)} epoch=0"]

    def beat(self) -> list[str]:
        return [f"{self._member()} shares g"]

    def beat_all(self) -> list[str]:
        return [f"{name} shares g" for name in self._members]

    def subscribe(self) -> list[str]:
        rack = f" rack={self._random.choice('rs')}" if self._random.random() < 0.2 else ""
        return [f"{self._member()} shares g topics={self._random.choice((*self._subscriptions, ''))}{rack}"]

    def be_wrong(self) -> list[str]:
        return [f"{self._member()} shares g epoch={self._random.randint(-3, 12)}"]

    def quit(self) -> list[str]:
        return [f"{self._member()} unshares g"]

    def change_topic(self) -> list[str]:
        """It is made, or deleted."""
        self._has_topic = not self._has_topic
        return [f"create {_OWN}:1"] if self._has_topic else [f"remove {_OWN}", "until g shared=0", "until g kept=0"]

    def administer(self) -> list[str]:
        index, start = self._random.randint(0, 3), self._random.randint(-1, 50)
        return [
            self._random.choice(
                (
                    "X delete g",
                    f"move g {_OWN}:{index}:{start}",
                    f"move g {_OWN}:{index}:{start} {_OWN}:{index + 1}:{start}",
                    f"drop g {_OWN}",
                    "starts g",
                    f"summary g {_OWN}:{index}",
                    "sharers g",
                )
            )
        ]

    def empty(self) -> list[str]:
        """Everybody leaves, and an administrator comes."""
        return [*(f"{name} unshares g" for name in self._members), *self.administer(), *self.administer()]

    def _member(self) -> str:
        return self._random.choice(self._members)


_DRAWS: Final[tuple[tuple[Callable[[DrawnShares], list[str]], int], ...]] = (
    (DrawnShares.join, 16),
    (DrawnShares.beat, 24),
    (DrawnShares.beat_all, 5),
    (DrawnShares.subscribe, 6),
    (DrawnShares.be_wrong, 6),
    (DrawnShares.quit, 8),
    (DrawnShares.change_topic, 4),
    (DrawnShares.administer, 6),
    (DrawnShares.empty, 3),
)


def share_sequence(seed: int) -> list[str]:
    """The lines of a seed."""
    drawn = DrawnShares(Random(seed))
    return [*drawn.first(), *_middle(drawn, LENGTH), *drawn.last()]


def restarted_share_sequence(seed: int) -> list[str]:
    """The lines of a seed, with a restart in the middle."""
    drawn = DrawnShares(Random(seed))
    return [*drawn.first(), *_middle(drawn, LENGTH // 2), RESTART, *_middle(drawn, LENGTH // 2), *drawn.last()]


def _middle(drawn: DrawnShares, length: int) -> list[str]:
    lines: list[str] = []
    while len(lines) < length:
        lines += drawn.lines()
    return lines
