"""Sequences of requests to share groups, and of brokers to share coordinators, drawn from a seed, as lines of a script.

The simple assignor of a broker orders topics by ids that the broker makes up, so a share group of a sequence has one topic that exists.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

LENGTH: Final = 40
RESTART: Final = "restart"
_OWN: Final = "own-a"
_POSITIONS: Final = ("t:0", "t:1", "u:0")
_STATES: Final = (0, 0, 0, 2, 4, 2, 1, 3)


class DrawnStates:
    """One sequence of a broker in the making: a few share partitions of two groups."""

    def __init__(self, random: Random) -> None:
        self._random = random
        # Batches of one sequence meet often, or seldom.
        self._reach = random.choice((12, 40, 200))
        self._start = 0

    def first(self) -> list[str]:
        return ["initialize g t:0 state=0", *self.initialize()]

    def lines(self) -> list[str]:
        """What may come next."""
        return _drawn(self, self._random, _STATE_DRAWS)

    def last(self) -> list[str]:
        positions = " ".join(_POSITIONS)
        return [f"{verb} {group} {positions}" for verb in ("read", "summary") for group in "gh"]

    def initialize(self) -> list[str]:
        self._start = self._random.choice((0, 0, -1, self._random.randint(0, 10)))
        return [f"initialize {self._group()} {self._position()}:{self._start} state={self._random.randint(-1, 4)}"]

    def write(self) -> list[str]:
        words = [f"write {self._group()}"]
        for _ in range(self._random.choice((1, 1, 1, 1, 2))):
            words.append(self._position() + self._new_start())
            words += [self._batch() for _ in range(self._random.choice((0, 1, 1, 1, 2, 3, 6)))]
        words += self._epochs("leader", "state")
        if self._chance(0.5):
            words.append(f"complete={self._random.randint(0, 20)}")
        if self._chance(0.1):
            words.append("v=0")
        return [" ".join(words)]

    def read(self) -> list[str]:
        return [" ".join([f"read {self._group()} {self._position()}", *self._epochs("leader")])]

    def sum_up(self) -> list[str]:
        return [f"summary {self._group()} {self._position()} {self._position()} v={self._random.randint(0, 1)}"]

    def erase(self) -> list[str]:
        return [f"erase {self._group()} {self._position()}"]

    def be_wrong(self) -> list[str]:
        verb = self._random.choice(("initialize", "read", "write", "erase", "summary"))
        wrong = self._random.choice(("none:0", "t:9", "t:-1", "zero:0", "u:"))
        return [f"{verb} {self._group()} {self._position()} {wrong}"]

    def _new_start(self) -> str:
        """Most writes keep the start offset, or move it on; some move it back."""
        if self._chance(0.6):
            return ""
        self._start = max(-1, self._start + self._random.choice((0, 1, 2, 5, 5, -3)))
        return f":{self._start}"

    def _batch(self) -> str:
        # The last offset is never below the first: a broker that combines such batches hangs (docs/differences.md).
        first = self._random.randint(0, self._reach)
        last = first + self._random.choice((0, 0, 1, 4, 9, 20))
        return f"{first}..{last}:{self._random.choice(_STATES)}:{self._random.choice((1, 1, 1, 2, 2, 3))}"

    def _epochs(self, *names: str) -> list[str]:
        return [f"{name}={self._random.choice((-1, 0, 0, 1, 1, 2, 3))}" for name in names if self._chance(0.6)]

    def _group(self) -> str:
        return self._random.choice("gggh")

    def _position(self) -> str:
        return self._random.choice(_POSITIONS)

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability


class DrawnShares:
    """One sequence of members and administrators in the making. Nothing that a server says has a part in it."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._members = "ABCDEF"[: random.randint(2, 6)]
        self._subscriptions = random.choice(((_OWN,), (_OWN, _OWN, "own-none", f"{_OWN}+own-none")))
        self._partitions = 0

    def first(self) -> list[str]:
        return self.change_topic()

    def lines(self) -> list[str]:
        """What may come next."""
        return _drawn(self, self._random, _SHARE_DRAWS)

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
        """It is made, enlarged, or deleted."""
        if not self._partitions:
            self._partitions = self._random.randint(1, 6)
            return [f"create {_OWN}:{self._partitions}"]
        if self._random.random() < 0.3:
            self._partitions = 0
            return [f"remove {_OWN}", "until g shared=0", "until g kept=0"]
        self._partitions += self._random.randint(1, 3)
        return [f"grow {_OWN}:{self._partitions}"]

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


_STATE_DRAWS: Final[tuple[tuple[Callable[[Any], list[str]], int], ...]] = (
    (DrawnStates.initialize, 10),
    (DrawnStates.write, 50),
    (DrawnStates.read, 15),
    (DrawnStates.sum_up, 5),
    (DrawnStates.erase, 4),
    (DrawnStates.be_wrong, 3),
)
_SHARE_DRAWS: Final[tuple[tuple[Callable[[Any], list[str]], int], ...]] = (
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


def share_state_sequence(seed: int) -> list[str]:
    """The lines of a seed."""
    drawn = DrawnStates(Random(seed))
    return [*drawn.first(), *_middle(drawn, LENGTH), *drawn.last()]


def restarted_share_state_sequence(seed: int) -> list[str]:
    """The lines of a seed, with a restart in the middle."""
    drawn = DrawnStates(Random(seed))
    return [*drawn.first(), *_middle(drawn, LENGTH), RESTART, *_middle(drawn, LENGTH), *drawn.last()]


def share_sequence(seed: int) -> list[str]:
    """The lines of a seed."""
    drawn = DrawnShares(Random(seed))
    return [*drawn.first(), *_middle(drawn, LENGTH), *drawn.last()]


def restarted_share_sequence(seed: int) -> list[str]:
    """The lines of a seed, with a restart in the middle."""
    drawn = DrawnShares(Random(seed))
    return [*drawn.first(), *_middle(drawn, LENGTH // 2), RESTART, *_middle(drawn, LENGTH // 2), *drawn.last()]


def _middle(drawn: DrawnStates | DrawnShares, length: int) -> list[str]:
    lines: list[str] = []
    while len(lines) < length:
        lines += drawn.lines()
    return lines


def _drawn(drawn: Any, random: Random, draws: tuple[tuple[Callable[[Any], list[str]], int], ...]) -> list[str]:
    methods, weights = zip(*draws, strict=True)
    return list(random.choices(methods, weights)[0](drawn))
