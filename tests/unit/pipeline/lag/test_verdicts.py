"""Verdicts as Burrow gives them, on sequences of commits: one row a second unless it says otherwise."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from coordinator_server.pipeline.lag.verdicts import WINDOW, Commit, Verdict, add_commit, judge, of_group

OK, WARN, STOP, STALL, REWIND, ERR = (Verdict(each) for each in ("OK", "WARN", "STOP", "STALL", "REWIND", "ERR"))


def window(offsets: Sequence[int], lags: Sequence[int | None]) -> list[Commit]:
    return [Commit(1000 * number, offset, lag) for number, (offset, lag) in enumerate(zip(offsets, lags, strict=True))]


@pytest.mark.parametrize(
    ("offsets", "lags", "lag", "silent_s", "verdict", "reason"),
    [
        # It gets on, and its lag goes up and down: it is alive, and catches up at times.
        ([10, 20, 30, 40, 50], [5, 9, 4, 8, 6], 6, 1, OK, "went down"),
        # As Burrow's wiki has it: one commit with nothing unread makes the window well.
        ([10, 20, 30, 40, 50], [5, 0, 6, 7, 8], 8, 1, OK, "nothing was unread at a commit"),
        ([10, 20, 30, 40, 50], [1, 3, 5, 5, 9], 9, 1, WARN, "from 1 to 9"),
        ([10, 20, 30, 40, 50], [5, 5, 5, 5, 5], 5, 1, WARN, "never down"),
        ([10, 10, 10, 10, 10], [1, 2, 3, 4, 5], 5, 1, STALL, "the same offset 10"),
        ([10, 10, 10, 10, 10], [5, 5, 5, 5, 5], 5, 1, STALL, "5 records are unread"),
        ([10, 20, 30, 15, 25], [5, 5, 5, 40, 40], 40, 1, REWIND, "from offset 30 to 15"),
        # Also if nothing was unread before: a group that begins again has everything unread, and was well until then.
        ([10, 20, 30, 0, 5], [0, 0, 0, 30, 25], 25, 1, REWIND, "from offset 30 to 0"),
        # A member that gives its partition up may commit an old offset: it is where it was before.
        ([10, 20, 30, 15, 30], [5, 5, 5, 40, 25], 25, 1, OK, "went down"),
        ([10, 20, 30, 15, 35], [5, 5, 5, 40, 40], 40, 1, WARN, "from 5 to 40"),
        # A rewind is worse than a stall, and both come after a stop.
        ([10, 20, 30, 15, 15], [5, 5, 5, 40, 40], 40, 5, STOP, "5 s ago, after 4 s"),
        # It stopped, although nothing was unread at a commit: what has come since is.
        ([10, 20, 30, 40, 50], [0, 0, 0, 0, 0], 7, 5, STOP, "7 records are unread"),
        ([10, 20, 30, 40, 50], [1, 3, 5, 5, 9], 9, 4, WARN, "as long as the window is no stop"),
        # Nothing is unread: an idle group is well, however long it is silent.
        ([10, 20, 30, 40, 50], [5, 5, 5, 5, 5], 0, 9_999, OK, "nothing is unread"),
        # The group was set back on purpose, and nothing is unread.
        ([50, 10], [0, 0], 0, 1, OK, "nothing is unread"),
        ([10, 20], [None, None], 5, 1, OK, "unknown at the commits"),
        ([10, 20], [None, 5], 5, 1, WARN, "from 5 to 5"),
        ([10, 20], [3, 4], None, 1, OK, "unknown"),
        ([10], [3], 3, 1, STOP, "after 0 s"),
        ([], [], 3, 1, OK, "committed nothing"),
    ],
)
def test_a_sequence_of_commits(
    offsets: list[int], lags: list[int | None], lag: int | None, silent_s: int, verdict: Verdict, reason: str
) -> None:
    commits = window(offsets, lags)
    now_ms = (commits[-1].at_ms if commits else 0) + 1000 * silent_s

    found = judge(commits, lag, now_ms)

    assert found.verdict is verdict, found
    assert reason in found.reason or reason.startswith("as long")


@pytest.mark.parametrize(("earlier_end", "verdict"), [(None, STOP), (51, STOP), (50, OK), (49, OK)])
def test_a_group_that_had_nothing_unread_a_short_while_ago_has_not_stopped(earlier_end: int | None, verdict: Verdict) -> None:
    """It has committed nothing since the first records came that it has not read: it may be reading them."""
    commits = window([10, 20, 30, 40, 50], [0, 0, 0, 0, 0])

    assert judge(commits, 7, commits[-1].at_ms + 5000, earlier_end).verdict is verdict


def test_fast_commits_are_one_with_the_time_of_the_first() -> None:
    """With the time of the last, commits every half second would be one for ever."""
    found: list[Commit] = []
    for number in range(6):
        add_commit(found, Commit(500 * number, number, number))

    assert found == [Commit(0, 1, 1), Commit(1000, 3, 3), Commit(2000, 5, 5)]


def test_a_window_has_the_last_commits() -> None:
    found: list[Commit] = []
    for number in range(3 * WINDOW):
        add_commit(found, Commit(1000 * number, number, 0))

    assert [each.offset for each in found] == list(range(2 * WINDOW, 3 * WINDOW))


@pytest.mark.parametrize(
    ("partitions", "verdict"),
    [([], OK), ([OK, OK], OK), ([OK, WARN], WARN), ([WARN, STOP], ERR), ([STALL], ERR), ([OK, REWIND], ERR)],
)
def test_a_group_is_as_bad_as_its_worst_partition(partitions: list[Verdict], verdict: Verdict) -> None:
    assert of_group(partitions) is verdict
