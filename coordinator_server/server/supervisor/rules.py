"""What a supervisor decides, without the processes: whether a loop that died is started again, which one hangs, and what many answers say as one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from coordinator_server.log.shards import ShardId
from coordinator_server.server.cluster.nodes import CONTROLLER, loop_of

# How long to wait before each start that follows a death. After so many deaths within the window another one is final.
DELAYS_S: Final = (0.0, 0.5, 1.0, 2.0, 4.0)
WINDOW_S: Final = 60.0

# A process that ends with one of these has said why, and another start would say it again: a disk that fails, a log that is damaged.
FINAL_CODES: Final = frozenset({1, 2})


# How often a loop is looked at within the time that it may take to answer.
_LOOKS: Final = 5


class Restarts:
    """The starts of one loop. Times are seconds of a clock that never goes back."""

    def __init__(self) -> None:
        self._deaths: list[float] = []

    def after_death(self, exit_code: int, now_s: float) -> float | None:
        """How long to wait before the next start; None when there is to be none, and the server ends."""
        if exit_code in FINAL_CODES:
            return None
        self._deaths = [death for death in self._deaths if death > now_s - WINDOW_S]
        self._deaths.append(now_s)
        return DELAYS_S[len(self._deaths) - 1] if len(self._deaths) <= len(DELAYS_S) else None


class Look(NamedTuple):
    """Loops that have not answered for too long, and those that are to be asked now."""

    hung: list[int]
    to_ask: list[int]


class Watch:
    """Which loops have stopped turning: each is asked now and then, and answers in its next turn.

    A look that comes late means that the supervisor stood still, and very likely the machine or the container with it: then every loop gets
    its whole time again. Times are seconds of a clock that never goes back.
    """

    def __init__(self, limit_s: float) -> None:
        self.every_s = limit_s / _LOOKS
        self._limit_s = limit_s
        self._expected_s: float | None = None
        self._unanswered: dict[int, float] = {}

    def answered(self, loop: int) -> None:
        """A loop turns, or is another process now."""
        self._unanswered.pop(loop, None)

    def look(self, now_s: float, loops: Collection[int]) -> Look:
        """To be called every ``every_s`` with the loops that can answer."""
        if self._expected_s is not None and now_s - self._expected_s > self.every_s:
            self._unanswered = dict.fromkeys(self._unanswered, now_s)
        self._expected_s = now_s + self.every_s
        asked = {loop: since for loop, since in self._unanswered.items() if loop in loops}
        hung = [loop for loop, since in asked.items() if now_s - since >= self._limit_s]
        to_ask = [loop for loop in loops if loop not in asked]
        self._unanswered = {loop: since for loop, since in asked.items() if loop not in hung} | dict.fromkeys(to_ask, now_s)
        return Look(hung, to_ask)


def dealt(request: Mapping[str, Any], loops: int) -> dict[int, dict[str, Any]]:
    """What each loop is asked: the same, but where a request names ``shards`` only their owners are asked, each for its own."""
    names = request.get("shards")
    if not isinstance(names, list) or not names:
        return {loop: dict(request) for loop in range(loops)}
    by_loop: dict[int, list[Any]] = {}
    for name in names:
        topic, _, partition = str(name).rpartition("-")
        # What is no shard's name is refused by whoever gets it.
        owner = loop_of(ShardId(topic, int(partition)), loops) if partition.isdecimal() else CONTROLLER
        by_loop.setdefault(owner, []).append(name)
    return {loop: {**request, "shards": mine} for loop, mine in by_loop.items()}


def merged(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One answer of a whole server, from those of its loops: objects are united and lists joined, and so on inwards; the rest is the same everywhere.

    An answer that is not ``ok`` is that of all. ValueError where the loops say different things.
    """
    for answer in answers:
        if not answer.get("ok", True):
            return dict(answer)
    whole: dict[str, Any] = {}
    for answer in answers:
        for name, value in answer.items():
            whole[name] = _together(name, whole[name], value) if name in whole else value
    return whole


def _together(name: str, one: Any, other: Any) -> Any:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return merged([one, other])
    if isinstance(one, list) and isinstance(other, list):
        return one + other
    if one != other:
        raise ValueError(
            f"the loops say {one!r} and {other!r} for {name!r}: an operation answers by shard or by loop, not in totals"
        )
    return one
