"""What the last commits of a group for a partition say of it, without a threshold.

The rules and their order are those of Burrow (github.com/linkedin/Burrow, wiki "Consumer Lag Evaluation Rules", and its evaluator):

    OK       nothing is unread; or nothing was at some commit of the window; or the lag went down in it
    STOP     unread, and the last commit is longer ago than the window is long
    REWIND   a commit was behind the one before
    STALL    it commits the same offset again and again
    WARN     it gets on, and its lag never went down in the window

The verdict of a group is OK, WARN if one of its partitions is, or ERR if one is STOP, STALL or REWIND.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

WINDOW: Final = 10
"""The number of commits of a window: Burrow's ``intervals``."""
MIN_DISTANCE_MS: Final = 1000
"""Commits that come faster than this are one: Burrow's ``min-distance``."""


class Verdict(StrEnum):
    """What is said of a partition, or of a group."""

    OK = "OK"
    WARN = "WARN"
    STOP = "STOP"
    STALL = "STALL"
    REWIND = "REWIND"
    ERR = "ERR"


class Commit(NamedTuple):
    """A commit: when (ms since 1970), which offset, and how many records were unread then; None if that is unknown."""

    at_ms: int
    offset: int
    lag: int | None


class Made(NamedTuple):
    """A commit of which the lag is not known yet: the time that it has in its window, the offset, and when it was made."""

    at_ms: int
    offset: int
    made_ms: int


C = TypeVar("C", Commit, Made)


class Judged(NamedTuple):
    """A verdict and its reason."""

    verdict: Verdict
    reason: str


def add_commit(window: list[C], commit: C) -> None:
    """Add a commit to a window. One that comes fast replaces the one before, and has its time: otherwise no window would fill."""
    if window and commit.at_ms - window[-1].at_ms < MIN_DISTANCE_MS:
        window[-1] = commit._replace(at_ms=window[-1].at_ms)
        return
    window.append(commit)
    del window[:-WINDOW]


def judge(window: Sequence[Commit], lag: int | None, now_ms: int) -> Judged:
    """Return the verdict of a partition with its present lag; None is an unknown one."""
    if not window:
        return Judged(Verdict.OK, "it has committed nothing yet")
    if lag is None:
        return Judged(Verdict.OK, "the end of the partition is unknown")
    if lag <= 0:
        return Judged(Verdict.OK, "nothing is unread")
    silent_ms, length_ms = now_ms - window[-1].at_ms, window[-1].at_ms - window[0].at_ms
    if silent_ms > length_ms:
        return Judged(
            Verdict.STOP,
            f"{lag} records are unread, and the last commit was {silent_ms / 1000:.0f} s ago, after {length_ms / 1000:.0f} s of "
            "commits",
        )
    if any(each.lag is not None and each.lag <= 0 for each in window):
        return Judged(Verdict.OK, "nothing was unread at a commit of the window")
    for before, after in pairwise(window):
        if after.offset < before.offset:
            return Judged(Verdict.REWIND, f"it went back from offset {before.offset} to {after.offset}")
    if len(window) > 1 and window[0].offset == window[-1].offset:
        return Judged(Verdict.STALL, f"{len(window)} commits of the same offset {window[0].offset}, and {lag} records are unread")
    lags = [each.lag for each in window if each.lag is not None]
    if len(lags) > 1 and all(after >= before for before, after in pairwise(lags)):
        return Judged(Verdict.WARN, f"the lag went from {lags[0]} to {lags[-1]}, and never down, in {len(lags)} commits")
    return Judged(Verdict.OK, "its lag went down in the window")


def of_group(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict of a group from those of its partitions."""
    found = set(verdicts)
    if found & {Verdict.STOP, Verdict.STALL, Verdict.REWIND, Verdict.ERR}:
        return Verdict.ERR
    return Verdict.WARN if Verdict.WARN in found else Verdict.OK
