"""Messages from shard to shard, as a loop keeps, sends and answers them."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from coordinator_server.log.errors import Unavailable
from coordinator_server.log.shards import Ownership, ShardId
from coordinator_server.machine.outbox import UNDELIVERED, Effect
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.runtime.outbox import LEAST_BACKOFF_MS, MOST_BACKOFF_MS, PER_TURN, WINDOW
from protocol.error_codes import ErrorCode
from protocol.record_batch import iter_batches, iter_records
from tests.support.purses import PurseLoop
from tests.toy.purse import CREDIT, FORGET, TOPIC, Credit, Forget, Nothing

FULL = Unavailable("disk full")


@pytest.fixture
def loop() -> PurseLoop:
    """Three shards; purse a has money. Sums are not computed."""
    loop = PurseLoop()
    loop.cannot_start = OSError("no child here")
    loop.load(0, 1, 2)
    loop.fill("a", 100)
    return loop


def sent(loop: PurseLoop) -> list[tuple[str, int, str]]:
    """Effect, partition and transfer of what is on its way."""
    return [(each.effect.name, each.shard.partition, each.request.id) for each in loop.carried]


def test_a_transfer_arrives_once_and_nothing_is_left_of_it(loop: PurseLoop) -> None:
    loop.transfer("t", "a", "b", 30)
    loop.run()

    assert loop.purses() == {"a": 70, "b": 30}
    assert (loop.under_way(), loop.arrived(1), len(loop.outbox)) == (set(), set(), 0)


def test_nothing_is_sent_before_the_intent_is_durable(loop: PurseLoop) -> None:
    """And never, when it is not written."""
    outcome = loop.transfer("t", "a", "b", 30)
    assert (outcome.is_answered, sent(loop)) == (False, [])
    loop.flush(FULL)
    assert (outcome.error, sent(loop)) == (ErrorCode.KAFKA_STORAGE_ERROR, [])

    loop.transfer("u", "a", "b", 30)
    loop.flush()
    assert sent(loop) == [("credit", 1, "u")]


def test_a_message_is_an_operation_of_its_own(loop: PurseLoop) -> None:
    """Not even one for the same shard is delivered within the operation, or the settling of a batch, that it comes from."""
    loop.transfer("t", "a", "aa", 30)
    loop.turn()
    loop.store.finish()
    assert (loop.carried, len(loop.outbox)) == ([], 1)
    loop.run()
    assert loop.purses() == {"a": 70, "aa": 30}


def test_the_answer_counts_when_what_it_leads_to_is_durable(loop: PurseLoop) -> None:
    """Else it leads to the same again, after a while. The other shard is not asked again: it may have gone on since."""
    loop.transfer("t", "a", "b", 30)
    loop.flush()
    loop.deliver()
    loop.flush()
    loop.flush(FULL)
    assert sent(loop) == []

    loop.pass_time(MOST_BACKOFF_MS)
    assert sent(loop) == []
    loop.run()
    assert (loop.purses(), loop.under_way()) == ({"a": 70, "b": 30}, set())


def test_a_refusal_is_an_outcome(loop: PurseLoop) -> None:
    """The payer has its money back."""
    loop.transfer("t", "a", "sealed-b", 30)
    loop.run()

    assert loop.purses() == {"a": 100}
    assert (loop.under_way(), len(loop.outbox)) == (set(), 0)


@pytest.mark.parametrize("error", sorted(UNDELIVERED))
def test_what_was_not_delivered_is_sent_again(loop: PurseLoop, error: ErrorCode) -> None:
    loop.transfer("t", "a", "b", 30)
    loop.flush()
    loop.refuse(error)
    assert sent(loop) == []

    loop.pass_time(LEAST_BACKOFF_MS)
    assert sent(loop) == [("credit", 1, "t")]


def test_a_shard_that_loads_refuses(loop: PurseLoop) -> None:
    """Nothing waits there for it."""
    loop.transfer("t", "a", "d", 30)
    loop.flush()
    loop.runtime.load(3, 1)
    loop.deliver()
    assert loop.carried == []
    loop.turn()
    assert (sent(loop), loop.purses()) == ([], {"a": 70})

    loop.pass_time(LEAST_BACKOFF_MS)
    loop.run()
    assert loop.purses() == {"a": 70, "d": 30}


def test_a_destination_that_refuses_is_asked_less_and_less(loop: PurseLoop) -> None:
    """With all that is for it; others are not held back. What it takes ends that."""
    loop.transfer("t", "a", "b", 1)
    loop.flush()
    waits = []
    for _ in range(8):
        loop.refuse(ErrorCode.NETWORK_EXCEPTION)
        waits.append(0)
        while not loop.carried:
            loop.pass_time(LEAST_BACKOFF_MS)
            waits[-1] += LEAST_BACKOFF_MS
    assert waits == [20, 40, 80, 160, 320, 640, 1000, 1000]

    loop.refuse(ErrorCode.NETWORK_EXCEPTION)
    loop.transfer("u", "a", "b", 1)
    loop.transfer("v", "a", "c", 1)
    loop.flush()
    assert sent(loop) == [("credit", 2, "v")]
    loop.pass_time(MOST_BACKOFF_MS)
    assert sent(loop) == [("credit", 2, "v"), ("credit", 1, "t"), ("credit", 1, "u")]
    loop.run()
    loop.transfer("w", "a", "b", 1)
    loop.flush()
    loop.refuse(ErrorCode.NETWORK_EXCEPTION)
    loop.pass_time(LEAST_BACKOFF_MS)
    assert sent(loop) == [("credit", 1, "w")]


def test_a_destination_that_refuses_for_long_is_told_once(loop: PurseLoop) -> None:
    """And that it takes messages again; and when it refuses for long another time."""
    loop.transfer("t", "a", "b", 1)
    loop.flush()
    with capture_logs() as lines:
        for _ in range(2):
            for _ in range(12):
                loop.refuse(ErrorCode.NETWORK_EXCEPTION)
                loop.pass_time(MOST_BACKOFF_MS)
            loop.run()
            loop.transfer("u", "a", "b", 1)
            loop.flush()

    told = [(line["event"], line.get("why"), line.get("messages")) for line in lines]
    assert told == [("messages-held-back", "NETWORK_EXCEPTION", 1), ("messages-delivered-again", None, None)] * 2


def test_an_answer_for_a_shard_that_was_given_up_is_dropped(loop: PurseLoop) -> None:
    """The message is forgotten with it: nothing waits for it any more."""
    loop.transfer("t", "a", "b", 30)
    loop.flush()
    loop.runtime.unload(0)
    assert len(loop.outbox) == 1
    loop.deliver()
    loop.flush()

    assert len(loop.outbox) == 0


def test_an_accepted_message_ends_the_back_off_of_its_destination(loop: PurseLoop) -> None:
    """They were on their way together."""
    loop.transfer("t", "a", "b", 1)
    loop.transfer("u", "a", "b", 1)
    loop.flush()
    loop.refuse(ErrorCode.NETWORK_EXCEPTION)
    loop.deliver()
    loop.flush()

    assert sent(loop) == [("credit", 1, "t")]


def test_an_intent_has_one_unanswered_message(loop: PurseLoop) -> None:
    """However often its shard says it, and when the shard is loaded again meanwhile: the answer is for whoever has it then."""
    loop.transfer("t", "a", "b", 30)
    loop.flush()
    shard = loop.runtime._contexts[0].shard
    shard.on_loaded()
    loop.runtime.load(0, 2, ours_since=1)
    loop.runtime.unload(0)
    loop.load(0)
    assert sent(loop) == [("credit", 1, "t")]

    loop.run()
    assert loop.purses() == {"a": 70, "b": 30}
    assert (loop.under_way(), len(loop.outbox)) == (set(), 0)


def test_an_owner_discards_what_earlier_owners_have_sent(loop: PurseLoop) -> None:
    """Others may have owned the shard between: the intent is sent anew, at the epoch of now, and only that answer counts."""
    loop.transfer("t", "a", "b", 30)
    loop.flush()
    loop.load(0, epoch=3)
    assert [(each.request.id, each.sender) for each in loop.carried] == [
        ("t", Ownership(ShardId(TOPIC, 0), epoch)) for epoch in (1, 3)
    ]
    early, again = loop.carried
    loop.carried.clear()

    early.reply.complete(Nothing())
    loop.turn()
    assert (loop.under_way(), len(loop.outbox)) == ({"t"}, 1)
    loop.deliver(again)
    loop.run()

    assert loop.purses() == {"a": 70, "b": 30}
    assert (loop.under_way(), len(loop.outbox)) == (set(), 0)


def test_a_message_is_sent_again_with_the_epoch_of_now(loop: PurseLoop) -> None:
    """The shard may have got it without a reload."""
    loop.transfer("t", "a", "b", 30)
    loop.flush()
    loop.runtime.load(0, 2, ours_since=1)
    loop.refuse(ErrorCode.NOT_COORDINATOR)
    loop.pass_time(LEAST_BACKOFF_MS)

    assert [each.sender for each in loop.carried] == [Ownership(ShardId(TOPIC, 0), 2)]


def test_a_shard_that_is_given_up_hears_nothing(loop: PurseLoop) -> None:
    """What was on its way may have its effect, what was not is not sent; the next owner of the intent sends it again."""
    for number in range(3):
        loop.transfer(f"t{number}", "a", "b", 10)
    loop.flush()
    loop.refuse(ErrorCode.NETWORK_EXCEPTION)
    loop.runtime.unload(0)
    assert len(loop.outbox) == 3
    loop.deliver()
    loop.refuse(ErrorCode.KAFKA_STORAGE_ERROR)
    loop.flush()
    loop.pass_time(MOST_BACKOFF_MS)
    assert (sent(loop), len(loop.outbox)) == ([], 0)

    loop.load(0, epoch=2)
    assert {each.request.id for each in loop.carried} == {"t0", "t1", "t2"}
    loop.run()
    assert loop.purses() == {"a": 70, "b": 30}


def test_what_is_open_is_sent_when_the_shard_is_loaded(loop: PurseLoop) -> None:
    """In another process, which knows nothing but the log."""
    loop.transfer("t", "a", "b", 30)
    loop.transfer("u", "a", "b", 30)
    loop.flush()
    loop.deliver()
    loop.flush()
    assert sent(loop) == [("credit", 1, "u")]

    again = PurseLoop(loop.store)
    again.store.open = None
    again.load(0, 1, 2)
    assert sorted(sent(again)) == [("credit", 1, "t"), ("credit", 1, "u")]
    again.run()
    assert (again.purses(), again.under_way(), again.arrived(1)) == ({"a": 40, "b": 60}, set(), set())


def test_messages_in_flight_to_a_destination_are_bounded(loop: PurseLoop) -> None:
    """Of one destination; the next goes with the answer."""
    loop.fill("a", 1000)
    for number in range(WINDOW + 10):
        loop.transfer(f"t{number}", "a", "b", 1)
    loop.flush()
    assert len(loop.carried) == WINDOW

    loop.deliver()
    loop.flush()
    assert len(loop.carried) == WINDOW
    loop.run()
    assert loop.purses()["b"] == WINDOW + 10


def test_a_turn_of_the_loop_deals_with_so_many(loop: PurseLoop) -> None:
    """However many there are, of however many shards."""
    loop.fill("a", 1000)
    for number in range(3 * PER_TURN):
        loop.transfer(f"t{number}", "a", "abc"[number % 3], 1)
    while loop.store.open is None:
        loop.turn()
    loop.store.finish()
    seen = []
    while loop._soon:
        before, soon = len(loop.carried), loop._soon[:]
        loop._soon.clear()
        for callback in soon:
            callback()
        seen.append(len(loop.carried) - before)

    assert [number for number in seen if number] == [PER_TURN] * 3


def test_a_carrier_that_breaks_is_a_refusal(loop: PurseLoop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others are carried all the same."""

    def carry(sender: object, shard: object, effect: object, request: object, reply: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(loop, "carry", carry)
    loop.transfer("t", "a", "b", 30)
    loop.flush()
    loop.flush()

    assert loop.purses() == {"a": 100}


def test_what_an_answer_leads_to_may_be_refused_or_break(loop: PurseLoop, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is done again, with the same answer."""
    loop.transfer("t", "a", "b", 30)
    loop.flush()
    shard = loop.runtime._contexts[0].shard
    monkeypatch.setattr(shard, "_open", {})
    loop.deliver()
    loop.flush()
    monkeypatch.undo()
    loop.pass_time(MOST_BACKOFF_MS)
    loop.run()

    assert (loop.purses(), loop.under_way()) == ({"a": 70, "b": 30}, set())


def test_one_intent_is_one_message(loop: PurseLoop) -> None:
    """A shard that says another thing under the same id has a bug, which is told where it is."""
    outbox = loop.runtime._contexts[0].shard._outbox
    outbox.send("t", CREDIT, "b", Credit("t", "b", 1), _ignore)
    with pytest.raises(AssertionError, match="is credit, and forget as well"):
        outbox.send("t", FORGET, "b", Forget("t"), _ignore)


def _ignore(outcome: object) -> CoordinatorResult[None]:
    return CoordinatorResult(None)


def test_the_log_says_where_the_records_come_from(loop: PurseLoop) -> None:
    """What a message wrote, and what its answer did."""
    loop.transfer("t", "a", "b", 30)
    loop.run()

    found = [
        record.headers[0][1]
        for partition in (0, 1)
        for batch in loop.store.logs[loop.locate(TOPIC, partition)]
        for position, header in iter_batches(batch)
        for record in iter_records(batch, position, header)
        if record.headers
    ]
    # Fill and transfer are the test's own; then the answers at a, and the messages at b.
    assert found == [b"shard"] * 6


def test_both_types_of_an_effect_are_values() -> None:
    """Anything that msgspec encodes."""
    effect: Effect[Credit, Nothing] = CREDIT

    assert (effect.request, effect.response) == (Credit, Nothing)
