"""What a supervisor decides, without the processes: whether a loop that died is started again, and what many answers say as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from coordinator_server.log.store import ShardId
from coordinator_server.server.cluster.nodes import CONTROLLER, loop_of

# How long to wait before each start that follows a death. After so many deaths within the window another one is final.
DELAYS_S: Final = (0.0, 0.5, 1.0, 2.0, 4.0)
WINDOW_S: Final = 60.0

# A process that ends with one of these has said why, and another start would say it again: a disk that fails, a log that is damaged.
FINAL_CODES: Final = frozenset({1, 2})


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
