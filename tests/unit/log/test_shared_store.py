"""The rules of log/store.py for a store that several nodes share: statements go wrong, a standby takes over,
other nodes take shards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial

import pytest

from coordinator_server.log.errors import Diverged, Fenced, LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.log.store import Done, Failures
from tests.support.log import append, values
from tests.support.log_subjects import A, B, C, Shared, kinds, resolve, submit
from tests.support.shared_runtime import SharedRuntime
from tests.support.shared_store import MAX_ROW_BYTES, Fate, SharedLog


@pytest.fixture
def shared() -> Shared:
    return Shared()


def test_one_list_of_appends_at_a_time(shared: Shared) -> None:
    """The next one comes after ``done``."""
    shared.store.submit([append(0, 0)], lambda _failures: None)
    with pytest.raises(RuntimeError, match="after the done"):
        shared.store.submit([append(1, 0)], lambda _failures: None)


@pytest.mark.parametrize(
    ("fate", "found"),
    [
        (Fate.IS_LOST, {A: Unavailable}),
        (Fate.LOSES_ITS_ANSWER, {}),
        (Fate.IS_LATE, {A: Unavailable}),
        (Fate.IS_NOT_REPLICATED, {}),
    ],
)
def test_a_resolution_says_what_became_of_a_statement(shared: Shared, fate: Fate, found: dict[ShardId, type]) -> None:
    """It is a write of its own, repeated until it has an answer; what arrives after it writes nothing."""
    assert submit(shared, append(0, 0, b"first")) == {}
    shared.database.fates.extend([fate, Fate.IS_LOST, Fate.IS_REFUSED])
    doubted = append(0, 1, b"doubted")
    assert kinds(submit(shared, doubted)) == {A: OutcomeUnknown}

    if fate is Fate.IS_LATE:
        # The resolution that is lost lets the late statement arrive behind it: keep it away until the end.
        late, shared.database._late = shared.database._late, []
        assert kinds(resolve(shared, doubted)) == found
        shared.database._late = late
        shared.database.arrive()
    else:
        assert kinds(resolve(shared, doubted)) == found

    expected = [b"first"] if found else [b"first", b"doubted"]
    assert values(shared.store.read(A, 0)) == expected
    assert submit(shared, append(0, len(expected), b"next")) == {}


def test_a_statement_that_runs_twice_writes_once(shared: Shared) -> None:
    shared.database.fates.append(Fate.RUNS_TWICE)
    assert submit(shared, append(0, 0, b"a"), append(1, 0, b"b")) == {}

    assert [values(shared.store.read(each, 0)) for each in (A, B)] == [[b"a"], [b"b"]]


def test_a_row_that_is_too_large_is_refused_alone(shared: Shared) -> None:
    """The statement fails for all, and is sent shard by shard."""
    failures = submit(shared, append(0, 0), append(1, 0, b"x" * (MAX_ROW_BYTES + 1)), append(2, 0))

    assert kinds(failures) == {B: Unavailable}
    assert [shared.store.end_offset(each) for each in (A, B, C)] == [1, 0, 1]


def test_a_failover_before_the_standby_has_it_takes_it_back(shared: Shared) -> None:
    """It was unknown, and is refused. What was acknowledged is there."""
    assert submit(shared, append(0, 0, b"acknowledged")) == {}
    shared.database.fates.append(Fate.IS_NOT_REPLICATED)
    doubted = append(0, 1, b"doubted")
    assert kinds(submit(shared, doubted)) == {A: OutcomeUnknown}
    shared.database.fail_over()

    assert kinds(resolve(shared, doubted)) == {A: Unavailable}
    assert values(shared.store.read(A, 0)) == [b"acknowledged"]


@pytest.mark.parametrize("is_in_doubt", [False, True])
def test_a_failover_that_loses_what_was_acknowledged_is_an_alarm(shared: Shared, is_in_doubt: bool) -> None:
    """The shard is ours, and ends before what clients know."""
    assert submit(shared, append(0, 0)) == {}
    before = deepcopy(shared.database.shards)
    assert submit(shared, append(0, 1)) == {}
    following = append(0, 2)
    if is_in_doubt:
        shared.database.fates.append(Fate.IS_LOST)
        assert kinds(submit(shared, following)) == {A: OutcomeUnknown}
    shared.database.shards = before

    assert kinds(resolve(shared, following) if is_in_doubt else submit(shared, following)) == {A: Diverged}


def test_a_shard_that_another_node_takes_meanwhile_is_fenced(shared: Shared) -> None:
    """Whether the outcome was known or not."""
    other = Shared()
    other.database = shared.database
    other.store = SharedLog(other.database, other.posted.append)
    assert submit(shared, append(0, 0), append(1, 0)) == {}
    shared.database.fates.append(Fate.IS_LOST)
    doubted = append(0, 1, b"doubted")
    assert kinds(submit(shared, doubted)) == {A: OutcomeUnknown}
    assert submit(other, append(0, 1, b"theirs", epoch=1), append(1, 1, b"theirs", epoch=1)) == {}

    assert kinds(resolve(shared, doubted)) == {A: Fenced}
    assert kinds(submit(shared, append(1, 1, b"late"))) == {B: Fenced}
    assert [values(other.store.read(each, 1)) for each in (A, B)] == [[b"theirs"]] * 2


@pytest.mark.parametrize("seed", range(40))
def test_a_runtime_on_a_store_with_accidents_answers_what_the_log_has(seed: int) -> None:
    """Each request is answered once; a success is in the log, in its order, and a failure is not; nobody ends the process."""
    assert SharedRuntime(seed).play() == []


Mistake = Callable[[LogError], LogError | None]


class Mistaken(SharedLog):
    """Reports other outcomes of submits than those that they have: a caller that treats one as the other does the same."""

    def __init__(self, store: SharedLog, mistake: Mistake) -> None:
        self.__dict__ = store.__dict__
        self._mistake = mistake

    def submit(self, appends: Sequence[Append], done: Done, /) -> None:
        super().submit(appends, partial(self._report, appends, done))

    def _report(self, appends: Sequence[Append], done: Done, failures: Failures | None) -> None:
        """One mistake for each shard."""
        failures = failures or {}
        told = {each.shard: self._mistake(failures.get(each.shard, DURABLE)) for each in appends}
        done({shard: failure for shard, failure in told.items() if failure is not None} or None)


DURABLE = LogError("durable")


def instead(what: type[LogError], taken_for: LogError | None) -> Mistake:
    def mistake(failure: LogError) -> LogError | None:
        return taken_for if type(failure) is what else None if failure is DURABLE else failure

    return mistake


MISTAKES = {
    "durable taken for refused": (instead(LogError, Unavailable("no")), "refused, and in the log"),
    "refused taken for durable": (instead(Unavailable, None), "acknowledged, and not in the log"),
    "fenced taken for refused": (instead(Fenced, Unavailable("no")), "is served, and another node has it"),
    "fenced taken for durable": (instead(Fenced, None), "acknowledged, and not in the log"),
    "unknown taken for refused": (instead(OutcomeUnknown, Unavailable("no")), "refused, and in the log"),
    "unknown taken for durable": (instead(OutcomeUnknown, None), "acknowledged, and not in the log"),
    "unknown taken for fenced": (instead(OutcomeUnknown, Fenced("no")), "is not served, and nobody else has it"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_an_outcome_that_is_taken_for_another_one_is_seen(name: str) -> None:
    """On one of the seeds that all pass without the mistake."""
    mistake, words = MISTAKES[name]
    for seed in range(40):
        faults = SharedRuntime(seed, lambda store: Mistaken(store, mistake)).play()
        if any(words in fault for fault in faults):
            return
    pytest.fail(f"nobody noticed: {name}")
