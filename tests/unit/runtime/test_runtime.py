"""The rules of CoordinatorRuntime, one test a rule, on a toy state machine."""

from __future__ import annotations

from typing import Any, cast

import pytest

from coordinator_server.log.errors import DamagedLog, OutcomeUnknown, Unavailable
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult
from coordinator_server.runtime.context import ShardState
from coordinator_server.runtime.runtime import Refused
from protocol.error_codes import ErrorCode
from tests.support.runtime import MemoryStore, Outcome, ToyRuntime, ToyShard, toy_record


@pytest.fixture
def toy() -> ToyRuntime:
    toy = ToyRuntime()
    toy.load()
    return toy


def test_a_response_is_parked_until_its_records_are_durable(toy: ToyRuntime) -> None:
    outcome = toy.put("a")
    toy.turn()
    assert not outcome.is_answered

    toy.store.finish()
    assert outcome.response == "a"
    assert toy.store.names() == ["a"]


def test_a_write_sees_uncommitted_state_and_a_read_does_not(toy: ToyRuntime) -> None:
    toy.put("a", 7)
    seen = toy.write(lambda shard, reply: CoordinatorResult(dict(shard.numbers), depends_on=0))

    assert seen.response == {"a": 7}
    assert toy.number("a") is None
    toy.flush()
    assert toy.number("a") == 7


def test_a_write_without_records_waits_for_all_that_is_pending(toy: ToyRuntime) -> None:
    toy.put("a")
    outcome = toy.write(lambda shard, reply: CoordinatorResult("seen"))
    assert not outcome.is_answered

    toy.flush()
    assert outcome.response == "seen"


def test_a_write_without_records_completes_at_once_when_nothing_is_pending(toy: ToyRuntime) -> None:
    assert toy.write(lambda shard, reply: CoordinatorResult("seen")).response == "seen"


def test_an_answer_waits_for_no_more_than_it_depends_on(toy: ToyRuntime) -> None:
    toy.put("a")
    toy.turn()
    toy.put("b")
    outcome = toy.write(lambda shard, reply: CoordinatorResult("after a", depends_on=1))
    assert not outcome.is_answered

    toy.store.finish()
    assert outcome.response == "after a"


def test_the_records_of_a_turn_are_one_submit(toy: ToyRuntime) -> None:
    toy.load(partition=1)
    toy.put("a")
    toy.put("b", partition=1)
    toy.put("c")
    toy.flush()

    assert [[shard.partition for shard in submit] for submit in toy.store.submits] == [[0, 1]]
    assert (toy.store.names(0), toy.store.names(1)) == (["a", "c"], ["b"])


def test_what_arrives_during_a_flush_is_the_next_one(toy: ToyRuntime) -> None:
    first = toy.put("a")
    toy.turn()
    second, third = toy.put("b"), toy.put("c")
    toy.turn()
    assert len(toy.store.submits) == 1

    toy.store.finish()
    assert [outcome.answers for outcome in (first, second, third)] == [1, 0, 0]
    toy.store.finish()
    assert [outcome.answers for outcome in (first, second, third)] == [1, 1, 1]
    assert toy.store.names() == ["a", "b", "c"]


def test_a_disk_that_is_done_at_once_changes_no_order(toy: ToyRuntime) -> None:
    heard: list[str] = []

    def put(name: str) -> Outcome:
        return toy.write(lambda shard, reply: CoordinatorResult(name, [toy_record(name, 1)], lambda error: heard.append(name)))

    outcomes = [put("a")]
    toy.turn()
    outcomes += [put("b"), put("c")]
    toy.store.is_instant = True
    toy.store.finish()

    assert heard == ["a", "b", "c"]
    assert [outcome.answers for outcome in outcomes] == [1, 1, 1]
    assert toy.flusher.is_idle


def test_an_operation_that_refuses_leaves_no_trace(toy: ToyRuntime) -> None:
    def refuse(shard: ToyShard, reply: Any) -> CoordinatorResult[Any]:
        raise CoordinatorError(ErrorCode.ILLEGAL_GENERATION)

    outcome = toy.write(refuse)

    assert outcome.error == ErrorCode.ILLEGAL_GENERATION
    assert toy.flusher.is_idle


def test_an_operation_that_breaks_answers_unknown_server_error_and_the_shard_goes_on(toy: ToyRuntime) -> None:
    outcome = toy.write(lambda shard, reply: 1 // 0)  # type: ignore[arg-type, return-value]

    assert outcome.error == ErrorCode.UNKNOWN_SERVER_ERROR
    assert toy.write(lambda shard, reply: CoordinatorResult("on")).response == "on"


def test_an_append_that_fails_reverts_and_fails_all_that_is_parked(toy: ToyRuntime) -> None:
    toy.put("kept", 1)
    toy.flush()
    first = toy.put("kept", 2)
    toy.turn()
    second = toy.put("built on it", 3)
    third = toy.write(lambda shard, reply: CoordinatorResult("saw it"))

    toy.store.finish(Unavailable("disk full"))

    assert {first.error, second.error, third.error} == {ErrorCode.NOT_COORDINATOR}
    assert dict(toy.shards[0].numbers) == {"kept": 1}
    after = toy.put("after", 4)
    toy.flush()
    assert after.response == "after"
    assert toy.store.names() == ["kept", "after"]


def test_an_append_that_fails_touches_no_shard_that_was_not_in_it(toy: ToyRuntime) -> None:
    toy.load(partition=1)
    toy.put("a")
    toy.turn()
    other = toy.put("b", partition=1)
    toy.store.finish(Unavailable("disk full"))
    toy.store.finish()

    assert other.response == "b"
    assert toy.number("b", partition=1) == 1


def test_soft_state_hears_of_the_outcome_before_the_response_leaves(toy: ToyRuntime) -> None:
    heard: list[Any] = []
    outcome = toy.write(lambda shard, reply: CoordinatorResult("ok", [toy_record("a", 1)], heard.append))
    failed = toy.write(lambda shard, reply: CoordinatorResult("no", [toy_record("b", 1)], heard.append))
    toy.flush()
    toy.write(lambda shard, reply: CoordinatorResult("no", [toy_record("c", 1)], heard.append))
    toy.flush(Unavailable("disk full"))

    assert heard == [None, None, ErrorCode.NOT_COORDINATOR]
    assert (outcome.response, failed.response) == ("ok", "no")


def test_a_deferred_response_is_the_operations_own_to_give(toy: ToyRuntime) -> None:
    outcome = Outcome()

    def answer_on_append(shard: ToyShard, reply: Any) -> CoordinatorResult[Any]:
        return CoordinatorResult(DEFERRED, [toy_record("a", 1)], outcome.complete)

    given = toy.write(answer_on_append)
    toy.flush()

    assert outcome.answers == 1
    assert not given.is_answered


def test_a_failed_sync_answers_nobody_and_is_fatal(toy: ToyRuntime) -> None:
    outcome = toy.put("a")
    toy.flush(OutcomeUnknown("EIO"))

    assert not outcome.is_answered
    assert [type(failure) for failure in toy.fatal] == [OutcomeUnknown]


def test_records_too_large_for_any_batch_are_refused_and_nothing_is_kept() -> None:
    toy = ToyRuntime(max_batch_bytes=1000)
    toy.load()
    outcome = toy.put_all(["x" * 100] * 10)

    assert outcome.error == ErrorCode.UNKNOWN_SERVER_ERROR
    assert dict(toy.shards[0].numbers) == {}
    assert toy.flusher.is_idle


def test_an_operation_is_never_split_over_two_batches() -> None:
    toy = ToyRuntime(max_batch_bytes=1000)
    toy.load()
    for turn in range(4):
        toy.put_all([f"{turn}{n}" + "x" * 100 for n in range(4)])
    toy.flush()

    batches = toy.store.logs[next(iter(toy.store.logs))]
    assert len(batches) == 4
    assert len(toy.store.names()) == 16


def test_a_replay_that_breaks_takes_back_its_batch_and_no_more(toy: ToyRuntime) -> None:
    written = toy.put("written")
    toy.turn()
    sibling = toy.put("sibling")
    outcome = toy.write(lambda shard, reply: CoordinatorResult("ok", [toy_record("half", 1), toy_record("poison", 1)]))
    assert (sibling.error, outcome.error) == (ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.UNKNOWN_SERVER_ERROR)

    toy.store.finish()
    assert written.response == "written"
    assert dict(toy.shards[0].numbers) == {"written": 1}
    toy.put("next")
    toy.flush()
    assert toy.store.names() == ["written", "next"]


def test_a_record_that_breaks_the_codec_harms_nothing_that_is_being_written(toy: ToyRuntime) -> None:
    written = toy.put("written")
    toy.turn()
    broken = toy.put(cast(str, None))
    toy.store.finish()

    assert broken.error == ErrorCode.UNKNOWN_SERVER_ERROR
    assert written.response == "written"
    assert toy.number("written") == 1
    toy.put("next")
    toy.flush()
    assert toy.store.names() == ["written", "next"]


def test_a_timers_expiry_is_a_write_operation(toy: ToyRuntime) -> None:
    toy.shards[0].timer.schedule("t", 100, lambda: CoordinatorResult(None, [toy_record("expired", 1)]))
    toy.clock.advance(100)
    toy.timers.run(toy.clock.now_ms())
    assert toy.number("expired") is None

    toy.flush()
    assert toy.number("expired") == 1


def test_a_timer_that_breaks_harms_nobody(toy: ToyRuntime) -> None:
    toy.shards[0].timer.schedule("t", 100, lambda: 1 // 0)  # type: ignore[arg-type, return-value]
    toy.clock.advance(100)
    toy.timers.run(toy.clock.now_ms())

    assert toy.write(lambda shard, reply: CoordinatorResult("on")).response == "on"


def test_read_all_gathers_every_shard_and_one_that_fails_hides_no_other(toy: ToyRuntime) -> None:
    toy.load(partition=1)
    toy.put("a", 5, partition=1)
    toy.flush()
    toy.runtime.load(2, 1)

    assert toy.runtime.read_all("toy", ToyShard.number, "a") == [None, 5, Refused(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)]
    assert toy.runtime.read_all("toy", ToyShard.number, "broken")[0] == Refused(ErrorCode.UNKNOWN_SERVER_ERROR)
    assert toy.runtime.read_all("toy", ToyShard.number, "refused")[0] == Refused(ErrorCode.GROUP_ID_NOT_FOUND)


class TestLife:
    def test_a_partition_that_is_not_here_is_not_coordinated(self) -> None:
        toy = ToyRuntime()

        assert toy.put("a").error == ErrorCode.NOT_COORDINATOR
        with pytest.raises(CoordinatorError, match="NOT_COORDINATOR"):
            toy.number("a")

    def test_a_loading_shard_says_so(self) -> None:
        toy = ToyRuntime()
        toy.runtime.load(0, 1)

        assert toy.put("a").error == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    def test_load_replays_the_log_and_goes_on_at_its_end(self) -> None:
        store = MemoryStore()
        before = ToyRuntime(store=store)
        before.load()
        before.put("a", 1)
        before.put("a", 2)
        before.put("?of a later version", 3)
        before.flush()

        toy = ToyRuntime(store=store)
        shard = toy.load()

        assert dict(shard.numbers) == {"a": 2}
        assert shard.life == ["loaded"]
        assert toy.number("a") == 2
        toy.put("b")
        toy.flush()
        assert store.names() == ["a", "a", "?of a later version", "b"]

    def test_a_long_log_is_loaded_between_other_work(self) -> None:
        store = MemoryStore()
        before = ToyRuntime(store=store)
        before.load()
        for number in range(50):
            before.put_all([f"{number}-{n}" for n in range(100)])
            before.flush()

        toy = ToyRuntime(store=store)
        toy.runtime.load(0, 1)
        turns = 0
        while dict(toy.runtime.states).popitem()[1] is ShardState.LOADING:
            toy.turn()
            turns += 1

        assert turns > 2
        assert len(toy.shards[0].numbers) == 5000

    def test_load_during_load_is_one_load(self) -> None:
        toy = ToyRuntime()
        toy.runtime.load(0, 1)
        toy.runtime.load(0, 1)

        assert len(toy.shards) == 1

    def test_an_older_epoch_is_ignored(self, toy: ToyRuntime) -> None:
        toy.runtime.load(0, 0)
        toy.runtime.unload(0, 0)

        assert len(toy.shards) == 1
        assert not toy.put("a").is_answered

    def test_unload_during_load_wins(self) -> None:
        toy = ToyRuntime()
        toy.runtime.load(0, 1)
        toy.runtime.unload(0, 1)
        toy.turn()

        assert toy.put("a").error == ErrorCode.NOT_COORDINATOR
        assert toy.shards[0].life == []

    def test_unload_refuses_everything_parked_and_cancels_timers(self, toy: ToyRuntime) -> None:
        toy.shards[0].timer.schedule("t", 10, lambda: CoordinatorResult(None, [toy_record("fired", 1)]))
        in_flight = toy.put("a")
        toy.turn()
        open_batch = toy.put("b")
        toy.runtime.unload(0, 2)
        toy.clock.advance(100)
        toy.timers.run(toy.clock.now_ms())
        toy.store.finish()

        assert (in_flight.error, open_batch.error) == (ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_COORDINATOR)
        assert (in_flight.answers, open_batch.answers) == (1, 1)
        assert toy.store.names() == ["a"]
        assert toy.shards[0].life == ["loaded", "unloaded"]
        assert toy.flusher.is_idle

    def test_a_failed_load_answers_and_a_later_epoch_starts_afresh(self) -> None:
        toy = ToyRuntime()
        told: list[ErrorCode] = []
        toy.store.damage = DamagedLog("x.log", 7, "crc")
        toy.runtime.load(0, 1, told.append)
        toy.turn()
        assert told == [ErrorCode.NOT_COORDINATOR]
        assert toy.put("a").error == ErrorCode.NOT_COORDINATOR

        toy.store.damage = None
        toy.load(epoch=2)
        toy.put("a")
        toy.flush()
        assert toy.number("a") == 1

    def test_close_is_idempotent_and_answers_everything(self, toy: ToyRuntime) -> None:
        outcome = toy.put("a")
        toy.runtime.close()
        toy.runtime.close()

        assert (outcome.error, outcome.answers) == (ErrorCode.NOT_COORDINATOR, 1)
