"""The supervisor's decisions, without processes: when to restart a loop, which loops hang, and how answers are merged."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

from coordinator_server.log.shards import ShardId
from coordinator_server.server.cluster.view import View

# Delays before the restarts within the window. The next death after the last delay is final.
DELAYS_S: Final = (0.0, 0.5, 1.0, 2.0, 4.0)
WINDOW_S: Final = 60.0

# Exit codes after which a restart would fail again (failing disk, damaged log). The process has logged the reason.
FINAL_CODES: Final = frozenset({1, 2})

# Number of checks of a loop within its time limit for an answer.
_LOOKS: Final = 5


class Restarts:
    """The restart policy of one loop. Times are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self._deaths: list[float] = []

    def after_death(self, exit_code: int, now_s: float) -> float | None:
        """Return the delay before the next start, or None if the loop is not restarted and the server ends."""
        if exit_code in FINAL_CODES:
            return None
        self._deaths = [death for death in self._deaths if death > now_s - WINDOW_S]
        self._deaths.append(now_s)
        return DELAYS_S[len(self._deaths) - 1] if len(self._deaths) <= len(DELAYS_S) else None


P = TypeVar("P", bound=Hashable)


class Look(NamedTuple, Generic[P]):
    """The result of one check: processes that hang, and processes to ping now."""

    hung: list[P]
    to_ask: list[P]


class Watch(Generic[P]):
    """Detects hanging loops: the process of each loop is pinged periodically and answers in its next turn.

    A late check means that the supervisor itself was stopped, probably together with the whole machine or container. Every process
    then gets its whole time limit again. Times are seconds of a monotonic clock.
    """

    def __init__(self, limit_s: float) -> None:
        self.every_s = limit_s / _LOOKS
        self._limit_s = limit_s
        self._expected_s: float | None = None
        self._unanswered: dict[P, float] = {}

    def answered(self, process: P) -> None:
        """Reset the time of a process that has answered."""
        self._unanswered.pop(process, None)

    def look(self, now_s: float, processes: Collection[P]) -> Look[P]:
        """Check the processes that can answer. Call it every ``every_s`` seconds."""
        if self._expected_s is not None and now_s - self._expected_s > self.every_s:
            self._unanswered = dict.fromkeys(self._unanswered, now_s)
        self._expected_s = now_s + self.every_s
        asked = {process: since for process, since in self._unanswered.items() if process in processes}
        hung = [process for process, since in asked.items() if now_s - since >= self._limit_s]
        to_ask = [process for process in processes if process not in asked]
        self._unanswered = {process: asked[process] for process in asked if process not in hung} | dict.fromkeys(to_ask, now_s)
        return Look(hung, to_ask)


def dealt(request: Mapping[str, Any], view: View) -> dict[int, dict[str, Any]]:
    """Return the request for each loop: the same for all, or, if it names ``shards``,
    only for their owners with their own shards.
    """
    names = request.get("shards")
    if not isinstance(names, list) or not names:
        return {node.loop: dict(request) for node in view.nodes}
    by_loop: dict[int, list[Any]] = {}
    for name in names:
        topic, _, partition = str(name).rpartition("-")
        # The controller refuses invalid shard names.
        owner = view.loop_of(ShardId(topic, int(partition))) if partition.isdecimal() else view.controller
        by_loop.setdefault(owner, []).append(name)
    return {loop: {**request, "shards": mine} for loop, mine in by_loop.items()}


def merged(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Merge the answers of the loops into one. Objects are merged recursively, lists are joined, other values must be equal.

    If an answer is not ``ok``, return it alone. Raises ValueError if other values differ.
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
