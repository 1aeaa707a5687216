"""Sequences of requests to a streams group drawn from a seed, as lines of a script: two to five members of one topology.

Members bring their ids and processes, and subtopologies have fewer ids than a hash table has buckets: what Kafka gives whom
depends on nothing that a broker makes up.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

LENGTH: Final = 40
PATIENCE_MS: Final = 1_800_000
RESTART: Final = "restart"
_MEMBERS: Final = "ABCDE"
_OWN: Final = "own-a"
# Topologies, and the numbers of partitions that their own topics begin with: those of a changelog cannot follow what grows.
_TOPOLOGIES: Final = (
    "0:t",
    "0:t;1:u;2:t+u",
    f"0:{_OWN}",
    f"0:{_OWN};1:t",
    "0:t!own-log",
    "0:t>own-r;1:<own-r!own-log",
    "0:t!own-log;1:u!own-log2;2:u",
    "0:t>own-r;1:u+<own-r*2&u+own-r",
)


class Drawn:
    """One sequence in the making. Nothing that a server says has a part in it, so both are asked the same."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._members = _MEMBERS[: random.randint(2, 5)]
        self._topology = random.choice(_TOPOLOGIES)
        processes = random.choice(("pq", "pqr", "pqrst"))
        self._processes = {name: random.choice(processes) for name in self._members}
        self._endpoints = {name: f"host:{place}" for place, name in enumerate(self._members) if self._chance(0.3)}
        self._partitions = 0

    def first(self) -> list[str]:
        """The topic that grows, and how many replicas there are."""
        lines = self.grow() if _OWN in self._topology else []
        if self._chance(0.6):
            lines.append(f"alter group:g set:streams.num.standby.replicas:{self._random.randint(1, 2)}")
        return [*lines, *self.join()]

    def lines(self) -> list[str]:
        """What may come next."""
        draws, weights = zip(*_DRAWS, strict=True)
        return list(self._random.choices(draws, weights)[0](self))

    def last(self) -> list[str]:
        """Everybody gives up what it is to give up, twice, and all is described."""
        said = [f"{name} holds g" for name in self._members]
        return [*said, *said, "streamers g", "list"]

    def join(self) -> list[str]:
        name = self._member()
        words = [name, "streams g", f"topology={self._topology}", "epoch=0", f"process={self._processes[name]}"]
        if name in self._endpoints:
            words.append(f"endpoint={self._endpoints[name]}")
        return [" ".join(words)]

    def beat(self) -> list[str]:
        return [f"{self._member()} streams g"]

    def hold(self) -> list[str]:
        return [f"{self._member()} holds g"]

    def hold_all(self) -> list[str]:
        """Two rounds, in which tasks may change hands."""
        return [f"{name} {verb} g" for verb in ("streams", "holds") for name in self._members]

    def hold_some(self) -> list[str]:
        tasks = [f"{subtopology}:{partition}" for subtopology in (0, 1) for partition in range(2)]
        active = "+".join(self._random.sample(tasks, self._random.randint(0, 3)))
        return [f"{self._member()} streams g active={active} standby= warmup="]

    def say_more(self) -> list[str]:
        words = ("tags=a:1", "tags=a:2+b:1", "rack=r", "rebalance=30000", f"process={self._random.choice('pq')}", "endpoints=0")
        return [f"{self._member()} streams g {self._random.choice(words)}"]

    def be_wrong(self) -> list[str]:
        wrong = (
            f"epoch={self._random.randint(-3, 12)}",
            f"epoch={self._random.randint(1, 8)} active= standby= warmup=",
            f"epoch={self._random.randint(1, 8)} active=0:0 standby= warmup=",
            f"active=0:{self._random.randint(0, 9)} standby= warmup=",
            "active=7:0 standby= warmup=",
            "active=0:0",
            "topology=0:t",
            "epoch=0 topology=0:u",
            "instance=i",
            f"member={self._random.choice((*self._members, 'somebody'))}",
        )
        return [f"{self._member()} streams g {self._random.choice(wrong)}"]

    def quit(self) -> list[str]:
        return [f"{self._member()} unstreams g"]

    def commit(self) -> list[str]:
        epoch = f" gen={self._random.randint(0, 9)}" if self._chance(0.4) else ""
        positions = self._random.sample(("t:0:1", "t:1:2", "u:0:3", "t:2:4"), self._random.randint(1, 3))
        return [f"{self._member()} commit g {' '.join(positions)}{epoch}"]

    def fetch(self) -> list[str]:
        name = self._member()
        return [f"{name} fetch g t:0 u:0 member={name} epoch={self._random.randint(1, 9)}"]

    def grow(self) -> list[str]:
        if _OWN not in self._topology:
            return self.hold()
        if not self._partitions:
            self._partitions = self._random.randint(1, 4)
            return [f"create {_OWN}:{self._partitions}"]
        self._partitions += self._random.randint(1, 3)
        return [f"grow {_OWN}:{self._partitions}"]

    def administer(self) -> list[str]:
        replicas = self._random.randint(0, 2)
        return [
            self._random.choice(
                ("X delete g", "list", "describe g", "streamers g", f"alter group:g set:streams.num.standby.replicas:{replicas}")
            )
        ]

    def _member(self) -> str:
        return self._random.choice(self._members)

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability


_DRAWS: Final[tuple[tuple[Callable[[Drawn], list[str]], int], ...]] = (
    (Drawn.join, 16),
    (Drawn.beat, 16),
    (Drawn.hold, 24),
    (Drawn.hold_all, 3),
    (Drawn.hold_some, 6),
    (Drawn.say_more, 5),
    (Drawn.be_wrong, 8),
    (Drawn.quit, 6),
    (Drawn.commit, 6),
    (Drawn.fetch, 3),
    (Drawn.grow, 3),
    (Drawn.administer, 5),
)


def streams_sequence(seed: int) -> list[str]:
    """The lines of a seed."""
    drawn = Drawn(Random(seed))
    return [*drawn.first(), *_middle(drawn, LENGTH), *drawn.last()]


def restarted_streams_sequence(seed: int) -> list[str]:
    """The lines of a seed, with a restart in the middle.

    The group keeps an offset: one without any is deleted by the retention check as soon as it is empty,
    and checks are frequent after the restart. No member is removed meanwhile because it has tasks to give up.
    """
    drawn = Drawn(Random(seed))
    half = LENGTH // 2
    lines = [*drawn.first(), *_middle(drawn, half), RESTART, *_middle(drawn, half), *drawn.last()]
    return ["X commit g t:2:1 member=simple", *(_patient(line) for line in lines if line != "X delete g")]


def _patient(line: str) -> str:
    """Return the line with a longer rebalance timeout, if it has one or joins."""
    if " process=" in line and " epoch=0 " in line:
        return f"{line} rebalance={PATIENCE_MS}"
    return line.replace("rebalance=30000", f"rebalance={PATIENCE_MS + 1}")


def _middle(drawn: Drawn, length: int) -> list[str]:
    lines: list[str] = []
    while len(lines) < length:
        lines += drawn.lines()
    return lines
