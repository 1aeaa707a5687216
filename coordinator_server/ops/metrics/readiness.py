"""Whether the server lives and whether it serves, from the answers of the operation ``health``.

live    it has answered within the last minute, or has never answered: a start may recover a long log
ready   every loop serves, and the log takes records; a node of several has joined the others, and its part of the shards
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

DEAD_AFTER_S: Final = 60.0


class Verdict(Struct, frozen=True):
    """The answer to a health check. ``why`` has the reasons of one that is not good; ``loops`` what each loop says."""

    is_good: bool
    why: Sequence[str] = ()
    loops: Sequence[Mapping[str, Any]] = ()


def readiness(loops: Sequence[Mapping[str, Any]]) -> Verdict:
    """Return whether all loops serve, given their entries of ``health``."""
    why = [f"loop {each['loop']}: {problem}" for each in loops if (problem := _problem(each)) is not None]
    return Verdict(not why and bool(loops), why, loops)


def _problem(loop: Mapping[str, Any]) -> str | None:
    if loop.get("refuses"):
        return f"the log refuses records: {loop['refuses']}"
    if loop.get("awaited"):
        return f"waits for {loop['awaited']}"
    match loop["stage"]:
        case "serving":
            return None
        case "loading":
            shards = loop.get("shards", {})
            whole = sum(shards.values())
            return (
                f"loading: {shards.get('active', 0)} of {whole} shards are there, {loop.get('records_loaded', 0)} records were "
                "read"
            )
        case "no-answer":
            return "does not answer"
        case "gone":
            return "has ended, and is started again"
        case _:
            return "is being started"


class Liveness:
    """Remembers when the server answered last. Times are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self._answered_s: float | None = None

    def answered(self, now_s: float) -> None:
        """The server has answered."""
        self._answered_s = now_s

    def verdict(self, now_s: float) -> Verdict:
        """Return whether the server lives."""
        if self._answered_s is None:
            return Verdict(is_good=True, why=["it has not answered yet: it is starting"])
        silent_s = now_s - self._answered_s
        if silent_s < DEAD_AFTER_S:
            return Verdict(is_good=True)
        return Verdict(is_good=False, why=[f"no answer for {silent_s:.0f} s"])
