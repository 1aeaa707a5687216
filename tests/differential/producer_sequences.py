"""Sequences of transactions drawn from a seed, as lines of a script: two to four producers over three groups, sensible and wrong.

After each line that may end a transaction both servers are waited for: while markers are written, an answer depends on time. In a
timed sequence transactions reach their timeout, one after the other;
in a restarted one both servers are started again in the middle.
"""

from __future__ import annotations

from random import Random
from typing import Final

LENGTH: Final = 30
TIMED_BLOCKS: Final = 2
# Longer than the few lines of a transaction that is to reach it take, on a busy machine too.
TIMEOUT_MS: Final = 3_000
RESTART: Final = "restart"
_GROUPS: Final = ("g", "h", "i")
_PARTITIONS: Final = ("t:0", "t:1", "t:2", "u:0", "u:1")
_FIRST_WITH_OWN: Final = 3
_ABORTABLE: Final = 4


class Drawn:
    """One sequence in the making. Nothing that a server says has a part in it, so both are asked the same."""

    def __init__(self, random: Random, *, with_deletions: bool = False, is_beside_others: bool = False) -> None:
        self._random = random
        self._draws = (*_DRAWS, (Drawn.delete, 4)) if with_deletions else _DRAWS
        # Kafka may check a TxnOffsetCommit of version 4 together with an older one of another sequence, and has its error then.
        self._is_beside_others = is_beside_others
        self.producers = "PQRS"[: random.randint(2, 4)]
        # A producer keeps to one version of transactions, as clients do, or does not.
        self._newer = {name: random.choice((True, False, None)) for name in self.producers}
        self._offset = 0

    def lines(self) -> list[str]:
        """What may come next, of one producer."""
        draw, weights = zip(*self._draws, strict=True)
        name = self._random.choice(self.producers)
        return list(self._random.choices(draw, weights)[0](self, name))

    def init(self, name: str) -> list[str]:
        words = ["init", name]
        version = self._random.randint(0, 5)
        if version >= _FIRST_WITH_OWN and self._chance(0.4):
            words.append(f"own={self._random.choice((name, name, *self.producers, 'other'))}:{self._random.randint(0, 4)}")
        return [" ".join((*words, f"v={version}")), f"until transaction:{name} rest"]

    def add(self, name: str) -> list[str]:
        partitions = self._random.sample(_PARTITIONS, self._random.randint(0, 3))
        if self._chance(0.1):
            partitions.append(self._random.choice(("nothing:0", "t:9", "__consumer_offsets:0")))
        version = self._version(name, 3, 5)
        check = ["check=1"] if version > 3 and self._chance(0.3) else []
        if version > 3 and self._chance(0.2):
            other = self._random.choice(self.producers.replace(name, ""))
            partitions += [other, *self._random.sample(_PARTITIONS, self._random.randint(1, 2))]
        return [" ".join(("add", name, *partitions, *check, *self._wrong(), f"v={version}"))]

    def offsets(self, name: str) -> list[str]:
        return [" ".join(("offsets", name, self._random.choice(_GROUPS), *self._wrong(), f"v={self._random.randint(0, 4)}"))]

    def commit(self, name: str) -> list[str]:
        self._offset += 1
        positions = [f"{each}:{self._offset}" for each in self._random.sample(_PARTITIONS, self._random.randint(1, 2))]
        version = self._version(name, 4, 5)
        if version == _ABORTABLE and self._is_beside_others:
            version -= 1
        return [" ".join(("txncommit", name, self._random.choice(_GROUPS), *positions, *self._wrong(), f"v={version}"))]

    def end(self, name: str) -> list[str]:
        words = ("end", name, self._random.choice(("commit", "commit", "abort")), *self._wrong())
        return [" ".join((*words, f"v={self._version(name, 4, 5)}")), f"until transaction:{name} rest"]

    def mark(self, name: str) -> list[str]:
        """What an administrator writes.

        A newer epoch would keep the coordinator's own marker out of the log: row 50 of docs/differences.md.
        """
        result, group = self._random.choice(("commit", "abort")), self._random.choice(_GROUPS)
        epoch, version = self._random.choice(("+0", "+0", "-1")), self._random.randint(0, 2)
        return [f"mark {name} {result} of:{group} epoch={epoch} version={version} v={self._random.randint(1, 2)}"]

    def delete(self, name: str) -> list[str]:
        """What takes offsets away, those of open transactions too."""
        group = self._random.choice(_GROUPS)
        return [self._random.choice((f"A delete {group}", f"A forget {group} t:0 u:0"))]

    def look(self, name: str) -> list[str]:
        group = self._random.choice(_GROUPS)
        self._offset += 1
        return [
            self._random.choice(
                (
                    f"described {' '.join(self.producers)}",
                    f"A fetch {group} t:0 t:1 u:0 stable=1 v=9",
                    f"A fetch {group} t:0 t:1 u:0 v=9",
                    f"A commit {group} t:0:{self._offset} member=simple",
                    "transactions states=Ongoing",
                    f"producers {' '.join(f'of:{group}' for group in _GROUPS)}",
                )
            )
        ]

    def overdue(self) -> list[str]:
        """One producer begins a transaction, commits to some groups, and does not end it in time; what it says then is late."""
        name = self._random.choice(self.producers)
        begin = [f"init {name}", f"until transaction:{name} rest", f"init {name} timeout={TIMEOUT_MS}"]
        for _ in range(self._random.randint(1, 3)):
            begin += self._random.choice((self.commit, self.add, self.offsets))(name)
        late = [line for _ in range(2) for line in self._random.choice((self.end, self.commit, self.init))(name)]
        return [
            *begin,
            f"until transaction:{name} over",
            f"described {name}",
            *late,
            f"init {name}",
            f"until transaction:{name} rest",
        ]

    def _version(self, name: str, last_of_first: int, last: int) -> int:
        """One of the first version of transactions, or of the second."""
        is_newer = self._newer[name]
        if is_newer is None:
            is_newer = self._chance(0.5)
        return self._random.randint(last_of_first + 1, last) if is_newer else self._random.randint(0, last_of_first)

    def _wrong(self) -> list[str]:
        """Sometimes another epoch, or another producer's id."""
        if self._chance(0.85):
            return []
        return [self._random.choice(("epoch=-1", "epoch=-1", "epoch=+1", "epoch=0", f"id={self._random.choice(self.producers)}"))]

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability


_DRAWS: Final = (
    (Drawn.init, 12),
    (Drawn.add, 12),
    (Drawn.offsets, 14),
    (Drawn.commit, 30),
    (Drawn.end, 22),
    (Drawn.mark, 5),
    (Drawn.look, 12),
)


def producer_sequence(seed: int) -> list[str]:
    """The lines of a seed: each producer has an epoch at first, and in the end everything is told.

    Each group has an offset at first, and in one sequence of four it may lose it:
    row 49 of docs/differences.md is about groups that have none.
    """
    drawn = Drawn(Random(seed), with_deletions=seed % 4 == 0)
    return [*_first(drawn), *_middle(drawn, LENGTH), *_last(drawn)]


def restarted_sequence(seed: int) -> list[str]:
    """The lines of a seed, with a restart in the middle."""
    drawn = Drawn(Random(seed))
    half = LENGTH // 2
    # An administrator who does not know of a restart is fenced by Kafka, which counts them: row 53 of docs/differences.md.
    after = [line for line in _middle(drawn, half) if not line.startswith("mark ")]
    return [*_first(drawn), *_middle(drawn, half), RESTART, *after, *_last(drawn)]


def timed_sequence(seed: int) -> list[str]:
    """The lines of a seed, with transactions that nobody ends."""
    drawn = Drawn(Random(seed), is_beside_others=True)
    lines = _first(drawn)
    for _ in range(TIMED_BLOCKS):
        lines += [*_middle(drawn, LENGTH // 4), *drawn.overdue(), *_middle(drawn, LENGTH // 4)]
    return [*lines, *_last(drawn)]


def _first(drawn: Drawn) -> list[str]:
    return [f"A commit {group} t:0:0 member=simple" for group in _GROUPS] + [f"init {name}" for name in drawn.producers]


def _middle(drawn: Drawn, length: int) -> list[str]:
    lines: list[str] = []
    while len(lines) < length:
        lines += drawn.lines()
    return lines


def _last(drawn: Drawn) -> list[str]:
    fetched = [f"A fetch {group} t:0 t:1 t:2 u:0 u:1 v=9" for group in _GROUPS]
    return [f"described {' '.join(drawn.producers)}", f"producers {' '.join(f'of:{group}' for group in _GROUPS)}", *fetched]
