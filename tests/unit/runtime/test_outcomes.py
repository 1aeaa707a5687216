"""Each shard of a submit has an outcome of its own: durable, refused, fenced, or unknown until the store has found out which."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from structlog.testing import capture_logs

from coordinator_server.log.errors import Diverged, Fenced, LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.runtime import flush
from coordinator_server.runtime.context import ShardState
from protocol.error_codes import ErrorCode
from tests.support import runtime as support
from tests.support.runtime import TOPIC, Outcome, ToyRuntime

SHARDS = [ShardId(TOPIC, partition) for partition in range(4)]
UNKNOWN = OutcomeUnknown("the connection was lost")


def loaded() -> ToyRuntime:
    """A runtime with four partitions loaded."""
    toy = ToyRuntime()
    for partition in range(4):
        toy.load(partition)
    return toy


@pytest.fixture
def toy() -> ToyRuntime:
    return loaded()


def put_everywhere(toy: ToyRuntime, name: str) -> list[Outcome]:
    outcomes = [toy.put(name, partition=partition) for partition in range(4)]
    toy.turn()
    return outcomes


def test_every_shard_has_its_own_outcome(toy: ToyRuntime) -> None:
    """What happens to one is nothing to the others: the durable one answers, although others are refused, fenced and in doubt."""
    outcomes = put_everywhere(toy, "a")
    toy.store.finish({SHARDS[1]: Unavailable("a row that is too large"), SHARDS[2]: Fenced("epoch 2"), SHARDS[3]: UNKNOWN})

    assert [each.error for each in outcomes] == [None, ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_LEADER_OR_FOLLOWER, None]
    assert [each.is_answered for each in outcomes] == [True, True, True, False]
    assert [toy.state(partition) for partition in range(4)] == [ShardState.ACTIVE, ShardState.ACTIVE, None, ShardState.ACTIVE]
    assert [toy.number("a", partition) for partition in (0, 1, 3)] == [1, None, None]
    assert toy.fatal == []


def test_a_fetch_hears_of_durable_shards_alone(toy: ToyRuntime) -> None:
    """Who waits for records is not woken by a shard that has none."""
    grown: list[ShardId] = []
    toy.flusher.on_durable = grown.extend
    put_everywhere(toy, "a")
    toy.store.finish({SHARDS[1]: Unavailable("full"), SHARDS[3]: UNKNOWN})
    assert grown == [SHARDS[0], SHARDS[2]]
    toy.store.resolved()

    assert grown == [SHARDS[0], SHARDS[2], SHARDS[3]]


def test_a_fetch_hears_of_a_submit_that_is_durable_as_a_whole(toy: ToyRuntime) -> None:
    grown: list[ShardId] = []
    toy.flusher.on_durable = grown.extend
    put_everywhere(toy, "a")
    toy.store.finish()

    assert grown == SHARDS


def test_what_is_not_submitted_does_not_wait_for_the_log(toy: ToyRuntime) -> None:
    """A deadline begins with the submit."""
    toy.put("a")
    before = toy.flusher.waiting()
    toy.turn()

    assert before == []
    assert [each.id for each in toy.flusher.waiting()] == [SHARDS[0]]


@pytest.mark.parametrize(
    ("found", "error", "number"),
    [(None, None, 1), (Unavailable("it never came"), ErrorCode.KAFKA_STORAGE_ERROR, None)],
    ids=["durable", "refused"],
)
def test_an_unknown_outcome_is_resolved_by_the_store(
    toy: ToyRuntime, found: LogError | None, error: ErrorCode | None, number: int | None
) -> None:
    """Until then nothing of the shard is answered that depends on it, and nothing more of it is written. Others go on."""
    [first, *_] = put_everywhere(toy, "a")
    with capture_logs() as lines:
        toy.store.finish({SHARDS[0]: UNKNOWN})
    assert [(line["event"], line["shards"]) for line in lines] == [("log-outcome-unknown", [str(SHARDS[0])])]
    second, other = toy.put("b"), toy.put("b", partition=1)
    seen = toy.write(lambda shard, reply: CoordinatorResult("saw it"))
    toy.flush()
    assert toy.store.submits[1:] == [[SHARDS[1]]]
    assert [each.is_answered for each in (first, second, seen, other)] == [False, False, False, True]
    assert toy.number("a") is None

    toy.store.resolved(found)

    assert (first.error, toy.number("a")) == (error, number)
    if found is None:
        toy.store.finish()
    assert [each.error for each in (second, seen)] == [error, error]
    assert toy.store.names() == (["a", "b"] if found is None else [])
    again = toy.put("c")
    toy.flush()
    assert again.error is None


def test_an_unknown_outcome_may_turn_out_to_be_another_owner(toy: ToyRuntime) -> None:
    [first, *_] = put_everywhere(toy, "a")
    toy.store.finish({SHARDS[0]: UNKNOWN})
    toy.store.resolved(Fenced("epoch 2"))

    assert first.error == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert toy.state(0) is None


def test_a_partition_that_comes_back_is_loaded_after_its_outcome_is_known(toy: ToyRuntime) -> None:
    """Else records that turn up later would be missing from its state."""
    put_everywhere(toy, "a")
    toy.store.finish({SHARDS[0]: UNKNOWN})
    toy.runtime.unload(0)
    toy.runtime.load(0, 2)
    for _ in range(3):
        toy.turn()
    assert toy.state(0) is ShardState.LOADING

    toy.store.resolved()
    for _ in range(3):
        toy.turn()

    assert toy.state(0) is ShardState.ACTIVE
    assert toy.number("a") == 1


def test_a_stop_waits_for_an_unknown_outcome(toy: ToyRuntime) -> None:
    idle: list[bool] = []
    put_everywhere(toy, "a")
    toy.store.finish({SHARDS[0]: UNKNOWN})
    toy.flusher.when_idle(lambda: idle.append(True))
    assert idle == []
    toy.store.resolved()

    assert idle == [True]


@pytest.mark.parametrize("found", [UNKNOWN, Diverged("it ends at 7")], ids=["nobody knows", "diverged"])
def test_an_outcome_that_nobody_can_find_out_is_fatal(toy: ToyRuntime, found: LogError) -> None:
    outcomes = put_everywhere(toy, "a")
    toy.store.finish({SHARDS[0]: UNKNOWN, SHARDS[1]: UNKNOWN})
    toy.store.resolved({SHARDS[0]: found})

    assert toy.fatal == [found]
    assert [each.is_answered for each in outcomes] == [False, False, True, True]


def test_a_log_that_lost_what_it_acknowledged_is_fatal(toy: ToyRuntime) -> None:
    """The shard's epoch is ours, and its end is not."""
    outcomes = put_everywhere(toy, "a")
    lost = Diverged("it ends at 0, not at 1")
    toy.store.finish({SHARDS[0]: lost})
    toy.turn()

    assert toy.fatal == [lost]
    assert not outcomes[0].is_answered
    # A stop does not take it for done.
    assert not toy.flusher.is_idle


def test_the_operator_hears_of_a_shard_that_is_refused_and_not_of_one_that_is_fenced(toy: ToyRuntime) -> None:
    with capture_logs() as lines:
        for failures in ({SHARDS[1]: Fenced("epoch 2")}, {SHARDS[2]: Unavailable("full")}, None):
            put_everywhere(toy, "a")
            toy.store.finish(failures)

    told = [line["event"] for line in lines if line["event"].startswith("log-")]
    assert told == ["log-refuses", "log-accepts-again"]


class Mutant(NamedTuple):
    """One mistake in flush.py, and the test of this file that has to fail with it."""

    text: str
    mistake: str
    seen_by: Callable[[ToyRuntime], None]


def unknown_may_be_durable(toy: ToyRuntime) -> None:
    test_an_unknown_outcome_is_resolved_by_the_store(toy, None, None, 1)


def nobody_knows(toy: ToyRuntime) -> None:
    test_an_outcome_that_nobody_can_find_out_is_fatal(toy, UNKNOWN)


MUTANTS = {
    "durable": Mutant(
        "durable.append(context)\n                self._due.append((context.commit(offset), None))",
        "durable.append(context)\n                self._due.append((context.revert(), None))",
        test_every_shard_has_its_own_outcome,
    ),
    "refused": Mutant(
        "self._due.append((context.revert(), error_for(failure)))",
        "self._due.append((context.commit(offset), error_for(failure)))",
        test_every_shard_has_its_own_outcome,
    ),
    "refused for one, failed for all": Mutant(
        "failure = failures.get(context.id)\n",
        "failure = next(iter(failures.values()), None)\n",
        test_every_shard_has_its_own_outcome,
    ),
    "fenced": Mutant("context.on_fenced()", "context.id", test_every_shard_has_its_own_outcome),
    "fenced is no refusal": Mutant(
        "fenced.append(context)\n            else:", "refused = failure\n            else:", test_every_shard_has_its_own_outcome
    ),
    "unknown": Mutant("if unknown:", "if False:", unknown_may_be_durable),
    "unknown is written to": Mutant(
        "dirty = {context: None for context in dirty if context not in self._unresolved}",
        "dirty = dict(dirty)",
        unknown_may_be_durable,
    ),
    "unknown for good": Mutant("OutcomeUnknown | Diverged)", "Diverged)", nobody_knows),
    "diverged": Mutant("OutcomeUnknown | Diverged)", "OutcomeUnknown)", test_a_log_that_lost_what_it_acknowledged_is_fatal),
}


@pytest.mark.interpreted
@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_in_an_outcome_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests above can fail: one mistake for each outcome."""
    text, mistake, seen_by = MUTANTS[name]
    source = Path(flush.__file__).read_text()
    assert source.count(text) == 1
    broken: dict[str, Any] = {"__name__": flush.__name__}
    exec(compile(source.replace(text, mistake), flush.__file__, "exec"), broken)
    monkeypatch.setattr(support, "Flusher", broken["Flusher"])

    with pytest.raises(AssertionError):
        seen_by(loaded())
