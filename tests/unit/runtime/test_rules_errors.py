"""What fails, what it takes with it, and what it is called."""

from __future__ import annotations

from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from coordinator_server.log.errors import Fenced, LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.runtime.context import ShardState
from protocol.error_codes import ErrorCode
from protocol.errors import EncodeError
from tests.support.runtime import TOPIC, ToyRuntime, ToySerde, ToyShard, toy_record


def test_an_append_that_fails_reverts_to_before_the_batch_and_fails_all_that_is_parked_on_it(toy: ToyRuntime) -> None:
    toy.put("kept", 1)
    toy.flush()
    first = toy.put("kept", 2)
    toy.turn()
    second = toy.put("built on it", 3)
    third = toy.write(lambda shard, reply: CoordinatorResult("saw it"))

    toy.store.finish(Unavailable("disk full"))

    assert {first.error, second.error, third.error} == {ErrorCode.KAFKA_STORAGE_ERROR}
    assert dict(toy.shards[0].numbers) == {"kept": 1}


def test_nobody_is_refused_for_a_change_that_is_not_written(toy: ToyRuntime) -> None:
    """A member that has left is one still, if its leave fails: it is to ask again."""
    toy.put("member", 1)
    toy.flush()

    def heartbeat(shard: ToyShard, reply: Any) -> CoordinatorResult[Any]:
        if "member" not in shard.numbers:
            raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
        return CoordinatorResult("alive")

    toy.write(lambda shard, reply: CoordinatorResult("left", [toy_record("member", None)]))
    toy.turn()
    outcome = toy.write(heartbeat)
    toy.store.finish(Unavailable("a deadlock"))

    assert outcome.error == ErrorCode.KAFKA_STORAGE_ERROR
    assert toy.write(heartbeat).response == "alive"


def test_no_earlier_state_is_kept_of_what_is_durable_or_failed(toy: ToyRuntime) -> None:
    """Nothing reads it any more, and it would take memory for each write."""
    registry = toy.runtime._contexts[0].registry
    for failure in (None, Unavailable("disk full"), None):
        toy.put("a")
        assert len(registry.epochs) == 1
        toy.flush(failure)
        assert registry.epochs == []


def test_the_operator_is_told_once_when_the_log_refuses_and_once_when_it_accepts_again(toy: ToyRuntime) -> None:
    """And nothing while all goes well."""
    with capture_logs() as lines:
        for failure in (None, None, Unavailable("disk full"), Unavailable("disk full"), None, None):
            toy.put("name")
            toy.flush(failure)

    assert [(line["event"], line["log_level"], line.get("why")) for line in lines] == [
        ("log-refuses", "error", "disk full"),
        ("log-accepts-again", "info", None),
    ]


def test_after_an_append_that_failed_the_shard_goes_on_at_the_same_offset(toy: ToyRuntime) -> None:
    toy.put("kept")
    toy.flush()
    for _attempt in range(3):
        toy.put("lost")
        toy.flush(Unavailable("disk full"))
    after = toy.put("after")
    toy.flush()

    assert after.response == "after"
    assert [(header.base_offset, header.count) for header in toy.store.headers()] == [(0, 1), (1, 1)]
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


def test_an_append_that_fails_fails_every_shard_that_was_in_it(toy: ToyRuntime) -> None:
    toy.load(partition=1)
    outcomes = [toy.put("a"), toy.put("b", partition=1)]
    toy.flush(Unavailable("disk full"))

    assert [outcome.error for outcome in outcomes] == [ErrorCode.KAFKA_STORAGE_ERROR] * 2
    assert [dict(shard.numbers) for shard in toy.shards] == [{}, {}]


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (Unavailable("disk full"), ErrorCode.KAFKA_STORAGE_ERROR),
        (Fenced("epoch 2"), ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (LogError("of a kind that is not known"), ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
    ids=["unavailable", "fenced", "unknown"],
)
def test_each_failure_of_the_log_has_the_error_that_kafkas_log_has_for_it(
    toy: ToyRuntime, failure: LogError, error: ErrorCode
) -> None:
    outcome = toy.put("a")
    toy.flush(failure)

    assert outcome.error == error


def test_a_shard_that_is_fenced_is_given_up_at_once(toy: ToyRuntime) -> None:
    """Its reads, too, are refused from then on; the shard that was written together with it goes on."""
    toy.load(partition=1)
    outcomes = [toy.put("a"), toy.put("b", partition=1)]
    toy.flush({ShardId(TOPIC, 0): Fenced("epoch 2")})

    assert [outcome.error for outcome in outcomes] == [ErrorCode.NOT_LEADER_OR_FOLLOWER, None]
    assert outcomes[1].response == "b"
    assert (toy.state(0), toy.state(1)) == (None, ShardState.ACTIVE)
    assert toy.shards[0].life == ["loaded", "unloaded"]
    with pytest.raises(CoordinatorError, match="NOT_COORDINATOR"):
        toy.number("a")
    again = toy.put("b", partition=1)
    toy.flush()
    assert again.error is None


def test_a_shard_that_is_fenced_writes_nothing_that_came_meanwhile(toy: ToyRuntime) -> None:
    """What was run while the refused submit was under way fails with it, and is not tried alone."""
    first = toy.put("a")
    toy.turn()
    second = toy.put("b")
    toy.store.finish(Fenced("epoch 2"))
    toy.turn()

    assert [first.error, second.error] == [ErrorCode.NOT_LEADER_OR_FOLLOWER] * 2
    assert len(toy.store.submits) == 1
    # The partition may come back, at a newer epoch.
    toy.load(epoch=2)
    third = toy.put("c")
    toy.flush()
    assert third.error is None


def test_a_failed_sync_answers_nobody_and_is_fatal(toy: ToyRuntime) -> None:
    """The store is asked, and says that nobody knows. Nothing is written any more, to other shards neither."""
    toy.load(partition=1)
    outcome = toy.put("a")
    toy.turn()
    other = toy.put("b", partition=1)
    toy.store.resolves_at_once = OutcomeUnknown("EIO")
    toy.store.finish(OutcomeUnknown("EIO"))
    toy.turn()

    assert not outcome.is_answered
    assert not other.is_answered
    assert [type(failure) for failure in toy.fatal] == [OutcomeUnknown]
    assert len(toy.store.submits) == 1


def test_a_log_that_breaks_answers_nobody_and_is_fatal(toy: ToyRuntime) -> None:
    """It has not told by ``done``: nobody knows what it has written."""
    outcome = toy.put("a")
    toy.store.breaks = RuntimeError("a bug")
    toy.turn()

    assert not outcome.is_answered
    assert [type(failure) for failure in toy.fatal] == [OutcomeUnknown]


def test_an_operation_that_breaks_answers_unknown_server_error_and_the_shard_goes_on(toy: ToyRuntime) -> None:
    outcome = toy.write(lambda shard, reply: 1 // 0)  # type: ignore[arg-type, return-value]

    assert outcome.error == ErrorCode.UNKNOWN_SERVER_ERROR
    assert toy.write(lambda shard, reply: CoordinatorResult("on")).response == "on"


def test_a_replay_that_breaks_takes_back_its_batch_and_no_more(toy: ToyRuntime) -> None:
    written = toy.put("written")
    toy.turn()
    sibling = toy.put("sibling")
    waiting = toy.write(lambda shard, reply: CoordinatorResult("saw the sibling"))
    outcome = toy.write(lambda shard, reply: CoordinatorResult("ok", [toy_record("half", 1), toy_record("poison", 1)]))
    assert {sibling.error, waiting.error, outcome.error} == {ErrorCode.UNKNOWN_SERVER_ERROR}

    toy.store.finish()
    assert written.response == "written"
    assert dict(toy.shards[0].numbers) == {"written": 1}
    toy.put("next")
    toy.flush()
    assert toy.store.names() == ["written", "next"]
    assert [header.base_offset for header in toy.store.headers()] == [0, 1]


def test_a_replay_that_breaks_in_a_second_batch_of_the_turn_leaves_the_full_one() -> None:
    toy = ToyRuntime(max_batch_bytes=1000)
    toy.load()
    full = toy.put("f" * 800)
    sibling = toy.put("s" * 300)
    broken = toy.put("poison")
    toy.flush()

    assert full.response == "f" * 800
    assert {sibling.error, broken.error} == {ErrorCode.UNKNOWN_SERVER_ERROR}
    assert toy.store.names() == ["f" * 800]


def test_a_record_that_breaks_the_codec_leaves_alone_what_is_being_written(toy: ToyRuntime) -> None:
    """Nothing waits behind it that could be taken back."""
    written = toy.put("written")
    toy.turn()
    broken = toy.put(cast(str, None))
    toy.store.finish()

    assert (broken.error, written.response) == (ErrorCode.UNKNOWN_SERVER_ERROR, "written")
    assert toy.number("written") == 1


def test_a_record_that_cannot_be_encoded_is_refused_alone(toy: ToyRuntime, monkeypatch: pytest.MonkeyPatch) -> None:
    """The codec says so before anything has changed: what waits for the same write is written."""
    sibling = toy.put("sibling")

    def refuse(_self: ToySerde, _record: object) -> bytes:
        raise EncodeError("too long")

    with monkeypatch.context() as patch, capture_logs() as lines:
        patch.setattr(ToySerde, "encode_key", refuse)
        broken = toy.put("other")
    toy.flush()

    assert (broken.error, sibling.response) == (ErrorCode.UNKNOWN_SERVER_ERROR, "sibling")
    assert [(line["event"], line["why"]) for line in lines] == [("records-refused", "too long")]
    assert toy.store.names() == ["sibling"]


def test_a_record_that_breaks_the_codec_harms_nothing_that_is_being_written(toy: ToyRuntime) -> None:
    written = toy.put("written")
    toy.turn()
    sibling = toy.put("sibling")
    broken = toy.put(cast(str, None))
    toy.store.finish()

    assert broken.error == ErrorCode.UNKNOWN_SERVER_ERROR
    assert (written.response, sibling.error) == ("written", ErrorCode.UNKNOWN_SERVER_ERROR)
    assert toy.number("written") == 1
    toy.put("next")
    toy.flush()
    assert toy.store.names() == ["written", "next"]
