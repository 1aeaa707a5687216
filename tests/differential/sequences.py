"""Sequences of requests drawn from a seed, as lines of a script: sensible ones, and wrong ones at every version."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from protocol.api import APIS

LENGTH: Final = 30
_GROUPS: Final = ("g", "g", "g", "g", "g", "h")
_PROTOCOLS: Final = (
    "range:a",
    "range:b",
    "range:a,rr:a",
    "rr:a,range:a",
    "rr:c",
    "range:x,rr:y,sticky:z",
    "sticky:a,rr:b",
    "",
    "range:",
)
_EXISTING: Final = ("t:0", "t:1", "u:0")
_METADATA: Final = ("/long", "", "", "/m", "/-")
_VERSIONS: Final = {
    "join": "JoinGroup",
    "sync": "SyncGroup",
    "heartbeat": "Heartbeat",
    "leave": "LeaveGroup",
    "commit": "OffsetCommit",
    "fetch": "OffsetFetch",
    "delete": "DeleteGroups",
    "forget": "OffsetDelete",
    "describe": "DescribeGroups",
    "list": "ListGroups",
    "find": "FindCoordinator",
}


class Drawn:
    """One sequence in the making. Nothing that a server says has a part in it, so both are asked the same."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._clients = "ABCD"[: random.randint(1, 4)]
        # A few clients are static members; two may claim one instance.
        self._instances = {name: random.choice(("i", "j", name.lower())) for name in self._clients if random.random() < 0.35}
        self._is_other_type = random.random() < 0.2

    def line(self) -> str:
        """One request."""
        draw, weight = zip(*_DRAWS, strict=True)
        return str(self._random.choices(draw, weight)[0](self))

    def join(self) -> str:
        client = self._client()
        words = [client, "enter" if self._chance(0.6) else "join", self._group()]
        if self._chance(0.25):
            words.append(f"protocols={self._random.choice(_PROTOCOLS)}")
        if client in self._instances and self._chance(0.8):
            words.append(f"instance={self._instances[client]}")
        if self._chance(0.12):
            words.append(f"member={self._member()}")
        if self._chance(0.04):
            words.append(f"session={self._random.choice((0, 10, 400_000))}")
        if self._is_other_type and self._chance(0.15):
            words.append(f"type={self._random.choice(('connect', 'consumer', ''))}")
        if self._chance(0.1):
            words.append("reason=because")
        return self._at_version("join", words)

    def sync(self) -> str:
        words = [self._client(), "sync", self._group()]
        if self._chance(0.6):
            words.append("assign=" + ",".join(f"{name}:{self._random.randint(0, 9)}" for name in self._clients))
        self._be_wrong(words, ("type=connect", "type=-", "protocol=rr", "protocol=-", "protocol=none"))
        return self._at_version("sync", words)

    def heartbeat(self) -> str:
        words = [self._client(), "heartbeat", self._group()]
        self._be_wrong(words)
        return self._at_version("heartbeat", words)

    def leave(self) -> str:
        words = [self._client(), "leave", self._group()]
        if self._chance(0.3):
            words.append("members=" + ",".join(self._identity() for _ in range(self._random.randint(1, 3))))
        if self._chance(0.2):
            words.append("reason=done")
        return self._at_version("leave", words)

    def commit(self) -> str:
        words = [self._client(), "commit", self._group(), *self._positions(is_commit=True)]
        if self._chance(0.3):
            words.append("member=simple")
        else:
            self._be_wrong(words)
        if self._chance(0.2):
            words.append(f"epoch={self._random.randint(0, 5)}")
        return self._at_version("commit", words)

    def fetch(self) -> str:
        words = [self._client(), "fetch", self._group(), *(self._positions() if self._chance(0.6) else ())]
        if self._chance(0.4):
            words.append("stable=1")
        if self._chance(0.3):
            words.append("also=h,unknown")
        return self._at_version("fetch", words)

    def delete(self) -> str:
        return self._at_version(
            "delete", [self._client(), "delete", *self._random.sample(("g", "h", "unknown"), self._random.randint(1, 2))]
        )

    def forget(self) -> str:
        return self._at_version("forget", [self._client(), "forget", self._group(), *self._positions()])

    def list_groups(self) -> str:
        words = ["list"]
        if self._chance(0.5):
            words.append(
                "states="
                + self._random.choice(("Stable", "Empty", "stable,empty", "Dead", "PreparingRebalance,CompletingRebalance"))
            )
        if self._chance(0.5):
            words.append("types=" + self._random.choice(("classic", "consumer", "Classic", "nothing")))
        return self._at_version("list", words)

    def describe(self) -> str:
        return self._at_version("describe", ["describe", "g", "h", *(["ops"] if self._chance(0.2) else [])])

    def find(self) -> str:
        return self._at_version("find", ["find", "g", *(["h"] if self._chance(0.5) else [])])

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _client(self) -> str:
        return self._random.choice(self._clients)

    def _group(self) -> str:
        return "''" if self._chance(0.01) else self._random.choice(_GROUPS)

    def _member(self) -> str:
        return self._random.choice((*self._clients, "new", "somebody"))

    def _identity(self) -> str:
        member = "" if self._chance(0.2) else self._member()
        return f"{member}/{self._random.choice('ijab')}" if self._chance(0.4) else member

    def _positions(self, is_commit: bool = False) -> Sequence[str]:
        partitions = self._random.sample(("t:0", "t:1", "u:0", "t:7", "unknown:0"), self._random.randint(1, 3))
        if not is_commit:
            return partitions
        # Too much metadata in all that exist would be difference 6, and little could be compared after it.
        kept = next((each for each in partitions if each in _EXISTING), "")
        return [f"{each}:{self._random.randint(0, 99)}{self._random.choice(_METADATA[each == kept :])}" for each in partitions]

    def _be_wrong(self, words: list[str], also: Sequence[str] = ()) -> None:
        """Sometimes one thing about the request is not as it should be."""
        if self._chance(0.2):
            wrong = (
                f"gen={self._random.choice((-1, 0, 1, 2, 99))}",
                f"member={self._member()}",
                "instance=i",
                "instance=nobody",
                *also,
            )
            words.append(self._random.choice(wrong))

    def _at_version(self, api: str, words: list[str]) -> str:
        if self._chance(0.6):
            words.append(f"v={self._random.choice(APIS_BY_NAME[_VERSIONS[api]].versions)}")
        return " ".join(words)


APIS_BY_NAME: Final = {api.name: api for api in APIS.values()}
_DRAWS: Final[tuple[tuple[Callable[[Drawn], str], int], ...]] = (
    (Drawn.join, 32),
    (Drawn.sync, 26),
    (Drawn.heartbeat, 9),
    (Drawn.leave, 8),
    (Drawn.commit, 9),
    (Drawn.fetch, 6),
    (Drawn.delete, 2),
    (Drawn.forget, 2),
    (Drawn.list_groups, 2),
    (Drawn.describe, 2),
    (Drawn.find, 1),
)


def sequence(seed: int) -> list[str]:
    """The lines of this seed."""
    drawn = Drawn(Random(seed))
    return [drawn.line() for _ in range(LENGTH)]
