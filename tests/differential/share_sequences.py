"""Sequences of requests of brokers to share coordinators, drawn from a seed, as lines of a script."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

LENGTH: Final = 40
RESTART: Final = "restart"
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
        draws, weights = zip(*_DRAWS, strict=True)
        return list(self._random.choices(draws, weights)[0](self))

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


_DRAWS: Final[tuple[tuple[Callable[[DrawnStates], list[str]], int], ...]] = (
    (DrawnStates.initialize, 10),
    (DrawnStates.write, 50),
    (DrawnStates.read, 15),
    (DrawnStates.sum_up, 5),
    (DrawnStates.erase, 4),
    (DrawnStates.be_wrong, 3),
)


def share_state_sequence(seed: int) -> list[str]:
    """The lines of a seed."""
    drawn = DrawnStates(Random(seed))
    return [*drawn.first(), *_middle(drawn, LENGTH), *drawn.last()]


def restarted_share_state_sequence(seed: int) -> list[str]:
    """The lines of a seed, with a restart in the middle."""
    drawn = DrawnStates(Random(seed))
    return [*drawn.first(), *_middle(drawn, LENGTH), RESTART, *_middle(drawn, LENGTH), *drawn.last()]


def _middle(drawn: DrawnStates, length: int) -> list[str]:
    lines: list[str] = []
    while len(lines) < length:
        lines += drawn.lines()
    return lines
