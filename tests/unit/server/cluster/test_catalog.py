"""One catalog for all loops: what is forwarded, what is known when, and who waits for whom."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.log.errors import Unavailable
from coordinator_server.server.cluster.catalog import Notices, OwnCatalog
from coordinator_server.server.cluster.catalog_replica import ANSWER_S, CatalogReplica
from coordinator_server.server.cluster.operations import CREATE_INTERNAL_TOPIC
from protocol.error_codes import ErrorCode
from protocol.messages.cluster_metadata import TopicRecord
from tests.support.loops import CONTEXT, Loops
from tests.support.runtime import Outcome


@pytest.fixture
def loops() -> Loops:
    return Loops()


def is_current(loops: Loops, loop: int) -> bool:
    return loops.followers[loop].is_current


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_change_is_answered_when_all_loops_know_it(loops: Loops, at: int) -> None:
    """Wherever it was asked for; the slowest loop decides."""
    loops.attach(1, 2)
    outcome = loops.create(at, "orders")

    loops.deliver(3 - at if at else 2)
    assert outcome.answers == 0
    loops.deliver()

    assert [result.error_code for result in outcome.response.topics] == [ErrorCode.NONE]
    made = loops.owner.read(CatalogShard.topic, "orders")
    assert made is not None
    assert [follower.read(CatalogShard.topic, "orders") for follower in loops.followers.values()] == [made, made]


def test_changes_are_answered_in_their_order(loops: Loops) -> None:
    """Each when it is known, although a later one is not."""
    loops.attach(1)
    first, second = loops.create(0, "orders"), loops.create(0, "bills")
    wire = loops.wires[1]

    while not first.answers:
        loops.followers[1].received(wire.to_follower.popleft())
        loops.sessions[1].received(wire.to_owner.popleft())

    assert (first.answers, second.answers) == (1, 0)
    loops.deliver()
    assert second.is_answered


def test_a_server_with_one_loop_answers_a_change_when_it_is_durable(loops: Loops) -> None:
    """One loop answers when its log is durable."""
    assert loops.create(0, "orders").is_answered


def test_a_loop_that_dies_is_not_waited_for(loops: Loops) -> None:
    """Its process has ended, as the supervisor says, and the answer leaves."""
    loops.attach(1, 2)
    outcome = loops.create(1, "orders")
    loops.deliver(2)
    assert outcome.answers == 0

    loops.end(2)
    loops.deliver()

    assert outcome.is_answered


def test_a_loop_is_current_when_it_has_caught_up(loops: Loops) -> None:
    """Not when it has connected: it may serve once it knows all that was answered before."""
    for number in range(3):
        loops.create(0, f"topic-{number}")
    follower = loops.connect(1)
    assert not is_current(loops, 1)

    loops.deliver()

    assert is_current(loops, 1)
    assert [topic.name for topic in follower.read(CatalogShard.all_topics)] == ["topic-0", "topic-1", "topic-2"]


def test_a_loop_that_comes_back_gets_what_it_missed_and_no_more(loops: Loops) -> None:
    """It goes on where it was."""
    loops.attach(1)
    loops.create(0, "before")
    loops.deliver()
    loops.cut(1)
    loops.create(0, "missed")

    loops.connect(1)
    loops.sessions[1].received(loops.wires[1].to_owner.popleft())

    assert loops.batches_under_way(1) == 1
    loops.deliver()
    assert [topic.name for topic in loops.followers[1].read(CatalogShard.all_topics)] == ["before", "missed"]


def test_what_was_made_while_a_loop_attaches_reaches_it_once(loops: Loops) -> None:
    """Between its request and its first acknowledgement."""
    loops.create(0, "before")
    loops.connect(1)
    loops.sessions[1].received(loops.wires[1].to_owner.popleft())
    outcome = loops.create(0, "meanwhile")
    assert outcome.answers == 0

    loops.deliver()

    assert outcome.is_answered
    assert [topic.name for topic in loops.followers[1].read(CatalogShard.all_topics)] == ["before", "meanwhile"]


def test_without_loop_0_a_change_is_refused_at_once(loops: Loops) -> None:
    """NOT_CONTROLLER: clients look for the controller and ask again. What is known stays known."""
    loops.create(0, "orders")
    [follower] = loops.attach(1)
    loops.cut(1)

    outcome = loops.create(1, "bills")

    assert outcome.error == ErrorCode.NOT_CONTROLLER
    assert follower.read(CatalogShard.topic, "orders") is not None
    assert not is_current(loops, 1)


def test_what_loop_0_took_with_it_may_be_done(loops: Loops) -> None:
    """REQUEST_TIMED_OUT, once: the change was under way when it died."""
    loops.attach(1)
    outcome = loops.create(1, "orders")

    loops.cut(1)

    assert (outcome.error, outcome.answers) == (ErrorCode.REQUEST_TIMED_OUT, 1)


def test_a_silent_loop_0_is_not_waited_for_longer_than_clients_wait(loops: Loops) -> None:
    """It may be stopped; its late answer goes nowhere."""
    loops.attach(1)
    outcome = loops.create(1, "orders")

    loops.pass_time(ANSWER_S)
    loops.deliver()

    assert (outcome.error, outcome.answers) == (ErrorCode.REQUEST_TIMED_OUT, 1)
    assert loops.followers[1].read(CatalogShard.topic, "orders") is not None


def test_a_new_loop_0_waits_for_those_that_serve(loops: Loops) -> None:
    """They have not found it yet, and must not deny what it answers for."""
    loops.attach(1, 2)
    loops.cut(1)
    loops.cut(2)
    loops.restart(expected=(1, 2))
    outcome = loops.create(0, "orders")
    loops.attach(1)
    assert outcome.answers == 0

    loops.attach(2)

    assert outcome.is_answered


def test_a_change_after_a_restart_of_the_owner_does_not_wait_for_loops_that_ended(loops: Loops) -> None:
    """It may have happened before the new loop 0 has heard of any."""
    loops.restart(expected=(1,))
    outcome = loops.create(0, "orders")
    assert outcome.answers == 0

    loops.owner.loop_ended(1, 1)

    assert outcome.is_answered
    assert loops.create(0, "bills").is_answered


def test_a_loop_that_knows_more_than_loop_0_must_not_go_on(loops: Loops) -> None:
    """Only what was durable is published: so one of the two has the wrong log."""
    loops.create(0, "orders")
    loops.attach(1)
    loops.cut(1)
    loops.store.logs.clear()
    loops.store.ends.clear()
    loops.restart()

    loops.attach(1)

    assert len(loops.diverged) == 1
    assert not is_current(loops, 1)


def test_errors_come_back_as_they_are(loops: Loops) -> None:
    """Per topic, with their words."""
    loops.attach(1)
    loops.create(0, "orders")
    loops.deliver()

    here, there = loops.create(0, "orders"), loops.create(1, "orders", "not/legal")
    loops.deliver()

    assert [result.error_code for result in there.response.topics] == [
        ErrorCode.TOPIC_ALREADY_EXISTS,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
    ]
    assert there.response.topics[0].error_message == here.response.topics[0].error_message


def test_a_log_that_cannot_be_read_back_keeps_nobody_waiting(loops: Loops) -> None:
    """The change is durable, and nobody can be told what it is: the others know that they are behind,
    and the client that it may be done.
    """
    loops.attach(1)
    loops.store.damage = Unavailable("the disk")

    outcome = loops.create(0, "orders")

    assert (outcome.error, outcome.answers) == (ErrorCode.REQUEST_TIMED_OUT, 1)
    loops.deliver()
    loops.store.damage = None
    assert not is_current(loops, 1)
    loops.attach(1)
    assert loops.followers[1].read(CatalogShard.topic, "orders") is not None


def names_at(loops: Loops, loop: int) -> list[str]:
    return [topic.name for topic in loops.followers[loop].read(CatalogShard.all_topics)]


def compacted_apart(loops: Loops) -> list[DeletedTopic]:
    """A loop was apart while a topic went and the log was compacted; what it is told of topics that are gone."""
    for name in ("goes", "stays"):
        loops.create(0, name)
    [follower] = loops.attach(1)
    told: list[DeletedTopic] = []
    follower.notify(Notices(deleted=told.extend))
    loops.cut(1)
    loops.delete("goes")
    loops.create(0, "new")
    loops.store.compact()
    return told


def test_a_loop_that_compaction_has_overtaken_begins_anew(loops: Loops) -> None:
    """The record that removed the topic is not in the log any more; what was committed for the topic goes all the same."""
    told = compacted_apart(loops)
    gone = loops.followers[1].read(CatalogShard.topic, "goes")
    assert gone is not None

    loops.attach(1)

    assert is_current(loops, 1)
    assert names_at(loops, 1) == ["new", "stays"]
    assert told == [DeletedTopic("goes", gone.topic_id)]


def test_a_loop_that_begins_anew_goes_on_with_what_it_knew_until_it_has_all(loops: Loops) -> None:
    """Nobody is told that a topic does not exist which was there before."""
    told = compacted_apart(loops)
    loops.connect(1)
    wire = loops.wires[1]
    loops.sessions[1].received(wire.to_owner.popleft())
    while len(wire.to_follower) > 1:
        loops.followers[1].received(wire.to_follower.popleft())
        assert names_at(loops, 1) == ["goes", "stays"]
        assert (is_current(loops, 1), told) == (False, [])

    loops.deliver()

    assert (is_current(loops, 1), names_at(loops, 1)) == (True, ["new", "stays"])


def test_a_loop_that_is_cut_off_while_it_begins_anew_begins_once_more(loops: Loops) -> None:
    """Half of a log is worth nothing."""
    told = compacted_apart(loops)
    loops.connect(1)
    loops.sessions[1].received(loops.wires[1].to_owner.popleft())
    for _ in range(2):
        loops.followers[1].received(loops.wires[1].to_follower.popleft())
    loops.cut(1)
    assert names_at(loops, 1) == ["goes", "stays"]

    loops.attach(1)

    assert (is_current(loops, 1), names_at(loops, 1), len(told)) == (True, ["new", "stays"], 1)


def test_a_new_loop_is_not_told_of_topics_that_were_gone_before_it_began(loops: Loops) -> None:
    compacted_apart(loops)
    told: list[DeletedTopic] = []
    loops.follower(2).notify(Notices(deleted=told.extend))

    loops.attach(2)

    assert (is_current(loops, 2), names_at(loops, 2), told) == (True, ["new", "stays"], [])


def test_a_loop_hears_of_the_deletions_since_it_began(loops: Loops) -> None:
    """Each once, and of no other changes."""
    for name in ("gone", "orders"):
        loops.create(0, name)
    loops.delete("gone")
    told: list[Sequence[DeletedTopic]] = []
    loops.follower(1).notify(Notices(deleted=told.append))

    loops.attach(1)
    loops.create(0, "bills")
    loops.deliver()
    assert told == []
    loops.delete("orders")
    loops.deliver()

    assert [[topic.name for topic in topics] for topics in told] == [["orders"]]


def test_a_log_that_ends_in_a_hole_does_not_keep_a_loop_waiting(loops: Loops) -> None:
    """Its last records were those of a topic that is gone."""
    loops.create(0, "goes")
    loops.delete("goes")
    loops.store.compact()

    loops.attach(1)

    assert (is_current(loops, 1), names_at(loops, 1)) == (True, [])
    outcome = loops.create(1, "orders")
    loops.deliver()
    assert outcome.is_answered
    assert names_at(loops, 1) == ["orders"]


def test_a_loop_that_compaction_has_not_overtaken_goes_on_where_it_was(loops: Loops) -> None:
    loops.create(0, "before")
    loops.store.compact()
    loops.attach(1)
    loops.cut(1)
    loops.create(0, "after")

    loops.connect(1)
    loops.sessions[1].received(loops.wires[1].to_owner.popleft())

    assert loops.batches_under_way(1) == 1
    loops.deliver()
    assert names_at(loops, 1) == ["after", "before"]


def test_loops_that_compaction_overtakes_while_a_change_is_made_are_dropped(loops: Loops) -> None:
    """Between the disk and the followers: they come back, and begin anew."""
    loops.create(0, "goes")
    loops.attach(1)
    loops.store.is_compacted_at_once = True

    outcome = loops.delete("goes")
    loops.deliver()

    assert (outcome.answers, is_current(loops, 1)) == (0, False)
    loops.attach(1)
    assert outcome.is_answered
    assert (is_current(loops, 1), names_at(loops, 1)) == (True, [])


@pytest.mark.parametrize("at", [0, 1])
def test_every_loop_hears_of_a_change_before_it_is_answered(loops: Loops, at: int) -> None:
    """The topic of a kind that is used for the first time, say: its shards begin to load."""
    loops.attach(1, 2)
    catalogs: dict[int, OwnCatalog | CatalogReplica] = {0: loops.owner, **loops.followers}
    heard: list[int] = []

    def hear(loop: int) -> None:
        if catalogs[loop].read(CatalogShard.topic, "__transaction_state") is not None:
            heard.append(loop)

    for loop, catalog in catalogs.items():
        catalog.notify(Notices(partial(hear, loop)))
    outcome = Outcome()
    catalogs[at].write(CREATE_INTERNAL_TOPIC, CONTEXT, TopicRecord("__transaction_state", b"t" * 16), outcome)
    loops.deliver(2)
    assert (outcome.answers, set(heard)) == (0, {0, 1})

    loops.deliver()

    assert (outcome.answers, set(heard)) == (1, {0, 1, 2})
