"""What the last commits of a group for a partition say of it, without a threshold.

The rules and their order are those of Burrow's evaluator (github.com/linkedin/Burrow, core/internal/evaluator/caching.go, 1.9.5):

    OK       nothing is unread
    STOP     the last commit is longer ago than the window is long, and something was unread since the tenth sample before
    REWIND   a commit was behind the one before, and none has reached that again
    OK       nothing was unread at some commit of the window
    STALL    it commits the same offset again and again
    WARN     it gets on, and its lag never went down in the window
    OK       its lag went down

The verdict of a group is OK, WARN if one of its partitions is, or ERR if one is STOP, STALL or REWIND.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

WINDOW: Final = 10
"""The number of commits of a window: Burrow's ``intervals``."""
SAMPLES: Final = WINDOW
"""The number of samples of a partition's end that are looked at for a stop: Burrow's ``intervals``, too."""
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
    """A commit: when (ms since 1970), which offset, and how many records were unread then at least; None if that is unknown.

    At least: as of the last sample before it. What came since may have come after it, and an idle consumer has not stalled.
    """

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


def judge(window: Sequence[Commit], lag: int | None, now_ms: int, earlier_end: int | None = None) -> Judged:
    """Return the verdict of a partition with its present lag. ``earlier_end``: its end ``SAMPLES`` ago. None is unknown."""
    if not window:
        return Judged(Verdict.OK, "it has committed nothing yet")
    if lag is None:
        return Judged(Verdict.OK, "the end of the partition is unknown")
    if lag <= 0:
        return Judged(Verdict.OK, "nothing is unread")
    silent_ms, length_ms = now_ms - window[-1].at_ms, window[-1].at_ms - window[0].at_ms
    if silent_ms > length_ms and (earlier_end is None or earlier_end > window[-1].offset):
        return Judged(
            Verdict.STOP,
            f"{lag} records are unread, and the last commit was {silent_ms / 1000:.0f} s ago, after {length_ms / 1000:.0f} s of "
            "commits",
        )
    if rewind := _lasting_rewind(window):
        before, after = rewind
        return Judged(Verdict.REWIND, f"it went back from offset {before.offset} to {after.offset}")
    if any(each.lag is not None and each.lag <= 0 for each in window):
        return Judged(Verdict.OK, "nothing was unread at a commit of the window")
    if all(each.offset == window[0].offset for each in window):
        return Judged(Verdict.STALL, f"{len(window)} commits of the same offset {window[0].offset}, and {lag} records are unread")
    lags = [each.lag for each in window if each.lag is not None]
    if not lags:
        return Judged(Verdict.OK, "the lag was unknown at the commits of the window")
    if all(after >= before for before, after in pairwise(lags)):
        return Judged(Verdict.WARN, f"the lag went from {lags[0]} to {lags[-1]}, and never down, in {len(lags)} commits")
    return Judged(Verdict.OK, "its lag went down in the window")


def _lasting_rewind(window: Sequence[Commit]) -> tuple[Commit, Commit] | None:
    """Return the first commit that was behind the one before, with that, unless a later one has reached it."""
    for number, (before, after) in enumerate(pairwise(window)):
        if after.offset < before.offset:
            is_recovered = any(each.offset >= before.offset for each in window[number + 1 :])
            return None if is_recovered else (before, after)
    return None


def of_group(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict of a group from those of its partitions."""
    found = set(verdicts)
    if found & {Verdict.STOP, Verdict.STALL, Verdict.REWIND, Verdict.ERR}:
        return Verdict.ERR
    return Verdict.WARN if Verdict.WARN in found else Verdict.OK
