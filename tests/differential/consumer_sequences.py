"""Sequences of requests to consumer groups drawn from a seed, as lines of a script: two to six members of one protocol or of both.

What Kafka gives whom may depend on ids that a broker makes up: of topics, for uniform with several of them, and of members, for
all that is in a hash map. So a sequence has one topic and members that bring their ids,
or it has the range assignor, and classic members have instances.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

LENGTH: Final = 40
RESTART: Final = "restart"
_CLASSIC: Final = "UVW"
_CONSUMERS: Final = "ABCDEF"
_OWN: Final = "own-a"


class Drawn:
    """One sequence in the making. Nothing that a server says has a part in it, so both are asked the same."""

    def __init__(self, random: Random) -> None:
        self._random = random
        count = random.randint(2, 6)
        # With members of the classic protocol, if any, at least one of the other.
        classic = random.choice((0, 0, 1, 2, 3))
        self.is_range = bool(classic) or self._chance(0.5)
        self._classic = _CLASSIC[: min(classic, count - 1)]
        self._consumers = _CONSUMERS[: count - len(self._classic)]
        self._topics = ("t", "u", _OWN, "t+u", f"t+{_OWN}") if self.is_range else (_OWN, _OWN, _OWN, "")
        # Each static member keeps to its instance, which may be that of another one.
        self._instances = {name: random.choice(("a", "b", name.lower())) for name in self._consumers if self._chance(0.3)}
        self._partitions = 0

    def first(self) -> list[str]:
        """The topic, and in some sequences classic members that are there before all others."""
        lines = self.change_topic()
        if self._classic and self._chance(0.5):
            for name in self._classic:
                lines += [self._joined(name), f"{name} sync g assign={name}:[t/0]"]
        return lines

    def lines(self) -> list[str]:
        """What may come next."""
        draws, weights = zip(*_DRAWS, strict=True)
        return list(self._random.choices(draws, weights)[0](self))

    def last(self) -> list[str]:
        """Everybody says once more what it owns, twice, and all is described."""
        said = [f"{name} owns g" for name in self._consumers]
        for name in self._classic:
            said += [f"{name} heartbeat g", f"{name} join g instance={name.lower()} owned=its", f"{name} sync g"]
        return [*said, *said, "consumers g", "list"]

    def join(self) -> list[str]:
        name = self._consumer()
        words = [name, "beat g", f"topics={self._random.choice(self._topics)}", "epoch=0"]
        if self.is_range:
            words.append("assignor=range")
        if name in self._instances:
            words.append(f"instance={self._instances[name]}")
        if self._chance(0.1):
            words.append("rack=r")
        return [" ".join(words)]

    def beat(self) -> list[str]:
        return [f"{self._consumer()} beat g"]

    def own(self) -> list[str]:
        return [f"{self._consumer()} {'owns' if self._chance(0.9) else 'repeats'} g"]

    def own_all(self) -> list[str]:
        """Two rounds, in which partitions may change hands."""
        return [f"{name} {verb} g" for verb in ("beat", "owns") for name in self._consumers]

    def subscribe(self) -> list[str]:
        assignor = " assignor=range" if self.is_range else ""
        return [f"{self._consumer()} beat g topics={self._random.choice(self._topics)}{assignor}"]

    def be_wrong(self) -> list[str]:
        wrong = (
            f"epoch={self._random.randint(-3, 12)}",
            f"epoch={self._random.randint(1, 8)} owned=",
            f"epoch={self._random.randint(1, 8)} owned=t:0+{_OWN}:1",
            f"owned=t:{self._random.randint(0, 9)}",
            "assignor=sticky",
            f"epoch={self._random.randint(1, 8)} instance=a",
            f"epoch={self._random.randint(1, 8)} instance=nobody",
            "rebalance=30000",
            f"member={self._random.choice((*self._consumers, 'somebody'))}",
        )
        return [f"{self._consumer()} beat g {self._random.choice(wrong)}"]

    def quit(self) -> list[str]:
        name = self._consumer()
        return [f"{name} quits g" + (" epoch=-2" if name in self._instances and self._chance(0.6) else "")]

    def commit(self) -> list[str]:
        name = self._random.choice(self._consumers + self._classic)
        epoch = f" gen={self._random.randint(0, 9)}" if self._chance(0.4) else ""
        positions = self._random.sample(("t:0:1", "t:1:2", "u:0:3", f"{_OWN}:0:4", f"{_OWN}:1:5"), self._random.randint(1, 3))
        return [f"{name} commit g {' '.join(positions)}{epoch}"]

    def fetch(self) -> list[str]:
        name = self._consumer()
        who = f" member={name} epoch={self._random.randint(1, 9)}" if self._chance(0.5) else ""
        return [f"{name} fetch g t:0 {_OWN}:0{who}"]

    def change_topic(self) -> list[str]:
        """It is made, enlarged, or deleted."""
        if not self._partitions:
            self._partitions = self._random.randint(1, 6)
            return [f"create {_OWN}:{self._partitions}"]
        if self._chance(0.3):
            self._partitions = 0
            # Offsets go a moment later, in the order of their own.
            return [f"remove {_OWN}", f"until g {_OWN}:0=-1", f"until g {_OWN}:1=-1"]
        self._partitions += self._random.randint(1, 3)
        return [f"grow {_OWN}:{self._partitions}"]

    def administer(self) -> list[str]:
        name = self._random.choice(self._consumers + self._classic)
        return [self._random.choice(("X delete g", f"X leave g members={name}", "X leave g members=/a,/u", "list", "describe g"))]

    def classic(self) -> list[str]:
        """What a classic member says, mostly in its right order."""
        if not self._classic:
            return self.own()
        name = self._random.choice(self._classic)
        joined = self._joined(name)
        several: tuple[list[str], ...] = (
            [joined, f"{name} sync g assign={name}:[t/0]"],
            [joined, f"{name} sync g assign={name}:[t/0]"],
            [f"{name} heartbeat g", f"{name} join g instance={name.lower()} owned=its", f"{name} sync g assign={name}:[t/1]"],
            [f"{name} heartbeat g", f"{name} join g instance={name.lower()} owned=its", f"{name} sync g"],
            [f"{name} heartbeat g"],
            [f"{name} sync g"],
            [f"{name} leave g"],
        )
        return self._random.choice(several)

    def _joined(self, name: str) -> str:
        return (
            f"{name} join g instance={name.lower()} protocols=range:[{self._random.choice(('t', 't', 'u', 't+u', _OWN))}] owned="
        )

    def _consumer(self) -> str:
        return self._random.choice(self._consumers)

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability


_DRAWS: Final[tuple[tuple[Callable[[Drawn], list[str]], int], ...]] = (
    (Drawn.join, 20),
    (Drawn.beat, 16),
    (Drawn.own, 24),
    (Drawn.own_all, 3),
    (Drawn.subscribe, 4),
    (Drawn.be_wrong, 8),
    (Drawn.quit, 6),
    (Drawn.commit, 7),
    (Drawn.fetch, 3),
    (Drawn.change_topic, 4),
    (Drawn.administer, 3),
    (Drawn.classic, 14),
)


def consumer_sequence(seed: int) -> list[str]:
    """The lines of a seed."""
    drawn = Drawn(Random(seed))
    return [*drawn.first(), *_middle(drawn, LENGTH), *drawn.last()]


def restarted_consumer_sequence(seed: int) -> list[str]:
    """The lines of a seed, with a restart in the middle.

    The group keeps an offset: one without any is deleted by the retention check as soon as it is empty,
    and checks are frequent after the restart.
    """
    drawn = Drawn(Random(seed))
    half = LENGTH // 2
    lines = [*drawn.first(), *_middle(drawn, half), RESTART, *_middle(drawn, half), *drawn.last()]
    return ["X commit g t:2:1 member=simple", *(line for line in lines if line != "X delete g")]


def _middle(drawn: Drawn, length: int) -> list[str]:
    lines: list[str] = []
    while len(lines) < length:
        lines += drawn.lines()
    return lines
