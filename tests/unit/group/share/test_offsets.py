"""The offsets of share groups: set, deleted with their topics and their groups; and a crash before every step.

After Kafka's GroupMetadataManager: alterShareGroupOffsets, sharePartitionsEligibleForOffsetDeletion, maybeCleanupShareGroupState.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from coordinator_server.group.shard import GroupShard
from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from tests.support.group import FakeReply
from tests.support.share_offsets import ShareWorld

OK, UNKNOWN = ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
NO_GROUP, NOT_EMPTY = ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.NON_EMPTY_GROUP


@pytest.fixture
def world() -> ShareWorld:
    return ShareWorld(t=2, u=1)


def altered(reply: FakeReply) -> list[tuple[str, int, int, str | None]]:
    assert (reply.response.error_code, reply.response.error_message) == (OK, None)
    return [
        (topic.topic_name, each.partition_index, each.error_code, each.error_message)
        for topic in reply.response.responses
        for each in topic.partitions
    ]


def deleted(reply: FakeReply) -> list[tuple[str, int, str | None]]:
    return [(topic.topic_name, topic.error_code, topic.error_message) for topic in reply.response.responses]


def results(reply: FakeReply) -> dict[str, int]:
    return {each.group_id: each.error_code for each in reply.response}


# Alter.


def test_offsets_are_set_before_the_answer(world: ShareWorld) -> None:
    reply = world.alter(t={0: 5, 1: 0})
    assert not reply.is_answered

    world.work()
    assert altered(reply) == [("t", 0, OK, None), ("t", 1, OK, None)]
    assert world.starts() == {"t": {0: 5, 1: 0}}
    assert world.taken() == ["StatePartitionMetadata", "StatePartitionMetadata"]
    world.assert_settled()


def test_it_creates_a_group_of_the_first_epoch(world: ShareWorld) -> None:
    world.alter("new", t={0: 5})
    [message] = world.log.outbox.messages.values()

    assert [(each.state_epoch, each.start_offset) for each in message.request.partitions] == [(1, 5)]
    world.work()
    group = world.log.shard.groups.share.by_id["new"]
    assert (group.group_epoch, dict(group.members)) == (1, {})


def test_each_partition_has_its_answer_and_unknown_topics_come_first(world: ShareWorld) -> None:
    reply = world.alter(t={0: 5, 2: 1, -1: 1}, x={0: 1})
    world.work()

    why = "This server does not host this topic-partition."
    assert altered(reply) == [("x", 0, UNKNOWN, why), ("t", 0, OK, None), ("t", 2, UNKNOWN, why), ("t", -1, UNKNOWN, why)]
    assert world.starts() == {"t": {0: 5}}


def test_what_names_no_known_topic_changes_nothing(world: ShareWorld) -> None:
    assert altered(world.alter()) == []
    assert [error for _, _, error, _ in altered(world.alter(x={0: 1}))] == [UNKNOWN]

    assert world.taken() == []
    assert "g" not in world.log.shard.groups.share.by_id


def test_a_known_topic_without_known_partitions_creates_the_group(world: ShareWorld) -> None:
    """As in Kafka."""
    assert [error for _, _, error, _ in altered(world.alter(t={7: 1}))] == [UNKNOWN]

    assert world.taken() == ["StatePartitionMetadata"]
    assert not world.log.outbox.messages
    world.log.restart()
    world.joined("m")
    world.assert_settled()


def test_offsets_are_set_again(world: ShareWorld) -> None:
    for offset in (5, 3):
        world.alter(t={0: offset})
        world.work()

    assert world.starts() == {"t": {0: 3}}
    world.assert_settled()


@pytest.mark.parametrize("ask", [lambda world: world.alter(t={0: 1}), lambda world: world.delete_offsets("t")])
def test_a_group_with_members_is_refused(world: ShareWorld, ask: Callable[[ShareWorld], FakeReply]) -> None:
    world.joined("m")
    world.taken()
    reply = ask(world)

    assert (reply.error, reply.message) == (NOT_EMPTY, "The group is not empty.")
    assert world.taken() == []


@pytest.mark.parametrize("ask", [lambda world: world.alter(t={0: 1}), lambda world: world.delete_offsets("t")])
def test_a_group_of_another_type_is_refused(world: ShareWorld, ask: Callable[[ShareWorld], FakeReply]) -> None:
    commit(world, "g")
    reply = ask(world)

    assert (reply.error, reply.message) == (NO_GROUP, "Group g is not a share group.")


def test_an_error_of_a_partition_is_its_own(world: ShareWorld) -> None:
    world.refused[1] = ErrorCode.FENCED_STATE_EPOCH
    reply = world.alter(t={0: 5, 1: 6})
    world.work()

    assert [(index, error) for _, index, error, _ in altered(reply)] == [(0, OK), (1, ErrorCode.FENCED_STATE_EPOCH)]
    assert world.starts() == {"t": {0: 5}}
    world.assert_settled()


def test_a_member_that_joins_meanwhile_gets_what_is_set(world: ShareWorld) -> None:
    reply = world.alter(t={0: 5, 1: 6})
    member = world.member("m", "t", "u")
    member.join()
    world.work()
    world.settle()

    assert reply.is_answered
    assert (world.starts()["t"], member.assigned) == ({0: 5, 1: 6}, {"t": [0, 1], "u": [0]})


def test_an_unloaded_shard_refuses_who_waits(world: ShareWorld) -> None:
    for name in "gh":
        world.alter(name, u={0: 1})
    world.work()
    replies = [world.alter("new", t={0: 5}), world.delete_offsets("u"), world.delete_groups("h")]
    world.log.shard.on_unloaded()

    assert [reply.error for reply in replies] == [ErrorCode.NOT_COORDINATOR] * 3


def test_changes_of_share_offsets_whose_write_fails_are_refused(world: ShareWorld) -> None:
    for name in "gh":
        world.alter(name, u={0: 1})
    world.work()
    world.log.is_holding = True
    replies = [world.alter("new", t={0: 5}), world.delete_offsets("u"), world.delete_groups("h")]
    world.log.fail(ErrorCode.NOT_COORDINATOR)

    assert [reply.error for reply in replies] == [ErrorCode.NOT_COORDINATOR] * 3
    assert not world.log.outbox.messages


@pytest.mark.parametrize(
    "ask", [lambda world: world.alter(t={0: 1}), lambda world: world.delete_offsets("t"), lambda world: world.delete_groups("g")]
)
@pytest.mark.parametrize("is_durable", [True, False])
def test_a_second_change_of_share_offsets_is_refused_retriably(
    world: ShareWorld, ask: Callable[[ShareWorld], FakeReply], is_durable: bool
) -> None:
    """Another one is refused with an error that clients try again."""
    world.log.is_holding = not is_durable
    first = world.alter(t={0: 5})
    world.taken()
    reply = ask(world)
    if not is_durable:
        assert world.taken() == []
        world.log.flush()

    error = reply.error if reply.response is None else reply.response[0].error_code
    assert error == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert world.taken() == []
    world.log.flush()
    world.log.is_holding = False
    world.work()
    assert (first.is_answered, world.starts()) == (True, {"t": {0: 5}})
    ask(world)
    world.work()
    world.assert_settled()


def test_messages_of_one_change_are_answered_before_those_of_the_next_are_sent(world: ShareWorld) -> None:
    """They are unordered: a state must not be deleted after it was initialized anew."""
    world.alter(t={0: 5})
    world.work()
    world.delete_offsets("t")
    world.member("m").join()
    assert {message.name for message in world.log.outbox.messages.values()} == {"delete-states"}

    world.initialize()
    assert {message.name for message in world.log.outbox.messages.values()} == {"initialize-states"}
    world.work()
    world.assert_settled()
    assert world.starts() == {"t": {0: -1, 1: -1}}


def test_after_a_load_nothing_is_set_before_the_open_intents_are_done(world: ShareWorld) -> None:
    """An older message must not take a new offset back."""
    world.alter(t={0: 5})
    world.log.restart()
    assert world.alter(t={0: 6}).error == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    world.work()
    world.alter(t={0: 6})
    world.work()
    assert world.starts() == {"t": {0: 6}}


# Delete.


def test_offsets_are_deleted_before_the_answer(world: ShareWorld) -> None:
    world.alter(t={0: 5, 1: 6}, u={0: 7})
    world.work()
    world.taken()
    reply = world.delete_offsets("t", "x")
    assert not reply.is_answered

    world.work()
    assert deleted(reply) == [("t", OK, None), ("x", UNKNOWN, "This server does not host this topic-partition.")]
    assert reply.response.responses[0].topic_id == (1).to_bytes(16, "big")
    assert world.starts() == {"u": {0: 7}}
    assert world.taken() == ["StatePartitionMetadata", "StatePartitionMetadata"]
    world.assert_settled()


def test_deleting_share_offsets_that_do_not_exist(world: ShareWorld) -> None:
    world.alter(u={0: 7})
    world.work()
    world.taken()

    assert deleted(world.delete_offsets("t")) == [("t", UNKNOWN, "There is no offset information to delete.")]
    assert world.taken() == ["StatePartitionMetadata"]
    reply = world.delete_offsets("t", group_id="none")
    assert (reply.error, reply.message) == (NO_GROUP, "Group none not found.")


def test_a_deletion_that_failed_is_tried_again(world: ShareWorld) -> None:
    """Of all partitions of the topic: which of them are left is unknown."""
    world.alter(t={0: 5})
    world.work()
    world.refused[0] = ErrorCode.UNKNOWN_SERVER_ERROR
    failed = world.delete_offsets("t")
    world.work()
    world.refused.clear()
    again = world.delete_offsets("t")
    [*messages] = world.log.outbox.messages.values()
    world.work()

    assert (deleted(failed), deleted(again)) == ([("t", ErrorCode.UNKNOWN_SERVER_ERROR, None)], [("t", OK, None)])
    assert sorted(each[1] for message in messages for each in message.request.partitions) == [0, 1]
    world.assert_settled()


def test_a_deletion_goes_on_after_a_load_when_its_topics_are_known(world: ShareWorld) -> None:
    """A loop that has just started may not know any. Until then an administrator changes nothing."""
    world.alter(t={0: 5, 1: 6}, u={0: 7})
    world.work()
    world.delete_offsets("t")
    world.log.topics.unknown, world.log.topics.is_current = {"t"}, False
    world.log.restart()
    world.log.advance(1_000)
    assert not world.log.outbox.messages
    assert results(world.delete_groups("g")) == {"g": ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}
    assert world.alter(u={1: 1}).error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    world.log.topics.unknown, world.log.topics.is_current = set(), True
    world.log.advance(100)
    world.work()
    assert world.starts() == {"u": {0: 7}}
    world.assert_settled()


@pytest.mark.parametrize("lacks", ["is_current", "has_all"])
def test_a_deletion_waits_after_a_load_for_all_partitions_of_its_topics(world: ShareWorld, lacks: str) -> None:
    """A former owner of the shard knew more of them, and the record has none."""
    world.alter(t={0: 5, 1: 6})
    world.work()
    world.delete_offsets("t")
    world.log.topics.extend("t", 1)
    setattr(world.log.topics, lacks, False)
    world.log.restart()
    world.log.advance(1_000)
    assert not world.log.outbox.messages

    world.log.topics.extend("t", 2)
    setattr(world.log.topics, lacks, True)
    world.log.advance(100)
    world.work()
    assert world.starts() == {}
    world.assert_settled()


def test_a_deletion_whose_topic_has_gone_is_over(world: ShareWorld) -> None:
    """No state of it is left: nothing is sent, and nobody waits."""
    world.alter(t={0: 5}, u={0: 7})
    world.work()
    world.delete_offsets("t")
    world.log.topics.delete("t")
    world.log.restart()

    assert not world.log.outbox.messages
    world.log.advance(2_000)
    assert world.group.state_topics.value.deleting == ()
    assert world.state_topics() == {"initializing": {}, "initialized": {"u": [0]}}


# Groups.


def commit(world: ShareWorld, group_id: str) -> None:
    """Make a group of another type."""
    topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 1)])]
    reply = world.log.run(GroupShard.commit_offsets, OffsetCommitRequest(group_id, topics=topics), version=9)
    assert reply.error is None


def test_groups_of_all_types_are_deleted_in_one_answer(world: ShareWorld) -> None:
    """Share groups lose their states first."""
    for name in ("g", "h"):
        world.alter(name, t={0: 5})
    world.alter("empty", t={7: 1})
    world.work()
    commit(world, "classic")
    world.taken()
    world.member("m").join()
    reply = world.delete_groups("h", "classic", "none", "g", "empty")
    assert not reply.is_answered

    world.work()
    assert results(reply) == {"h": OK, "classic": OK, "none": NO_GROUP, "g": NOT_EMPTY, "empty": OK}
    assert list(world.log.shard.groups.share.by_id) == ["g"]
    assert world.starts("h") == {}


# Topics.


def test_a_deleted_topic_leaves_its_groups(world: ShareWorld) -> None:
    for number in range(3):
        world.alter(f"g{number}", t={0: 5}, u={0: 1})
    world.work()
    world.log.topics.delete("t")
    world.log.run(GroupShard.delete_topics, [], version=0)
    world.log.advance(0)

    groups = world.log.shard.groups.share.by_id
    assert [[topic.name for topic in group.state_topics.value.initialized.values()] for group in groups.values()] == [["u"]] * 3


@pytest.mark.parametrize("lacks", [None, "is_current", "has_all"])
def test_a_topic_that_was_deleted_before_a_load_leaves_them_after_it(world: ShareWorld, lacks: str | None) -> None:
    """Not before it is certain that the topic does not exist: a former owner may have known of one that comes late here."""
    world.alter(t={0: 5}, u={0: 1})
    world.work()
    if lacks is not None:
        setattr(world.log.topics, lacks, False)
    world.log.topics.delete("t")
    world.log.restart()
    world.log.advance(1_000)
    assert world.state_topics()["initialized"] == {"u": [0]} | ({} if lacks is None else {"t": [0]})

    world.log.topics.is_current = world.log.topics.has_all = True
    world.log.advance(2_000)
    assert world.state_topics()["initialized"] == {"u": [0]}


def test_after_a_load_a_topic_that_is_known_may_be_one_that_was_deleted(world: ShareWorld) -> None:
    """A loop that has just started reads the catalog from its beginning, and is not told what it says before its end."""
    world.alter(t={0: 5}, u={0: 1})
    world.work()
    world.log.topics.is_current = False
    world.log.restart()
    world.log.advance(1_000)

    world.log.topics.tell = lambda _names: None
    world.log.topics.delete("t")
    world.log.topics.is_current = True
    world.log.advance(1_000)
    assert world.state_topics()["initialized"] == {"u": [0]}


def test_a_topic_that_goes_meanwhile_is_an_error_of_its_partitions(world: ShareWorld) -> None:
    reply = world.alter(t={0: 5}, u={0: 1})
    world.log.topics.delete("t")
    world.work()

    assert [(name, error) for name, _, error, _ in altered(reply)] == [("t", UNKNOWN), ("u", OK)]
    world.assert_settled()


# Crashes.

REQUESTS: dict[str, Callable[[ShareWorld], FakeReply]] = {
    "alter": lambda world: world.alter(t={0: 8, 1: 9}, u={0: 9}),
    "alter anew": lambda world: world.alter("new", t={0: 8, 1: 9}),
    "delete": lambda world: world.delete_offsets("t", "u"),
    "delete groups": lambda world: world.delete_groups("g", "h", "classic"),
    "join": lambda world: world.member("m", "t", "u").join(),
}


def settled_world() -> ShareWorld:
    world = ShareWorld(t=2, u=1)
    commit(world, "classic")
    world.alter(t={0: 5})
    world.alter("h", u={0: 7})
    world.work()
    world.assert_settled()
    return world


@pytest.mark.parametrize("what", REQUESTS)
def test_a_crash_before_any_step_leaves_nothing_half_done(what: str) -> None:
    """Whatever was durable and delivered: afterwards each group knows exactly the states that there are, and can go on."""
    for crash_at in count():
        world = settled_world()
        world.log.is_holding = True
        reply = REQUESTS[what](world)
        has_crashed = world.play(crash_at)
        world.log.is_holding = False
        world.work()

        world.assert_settled()
        if what == "alter":
            # What had an offset has the old one or the new one.
            assert world.starts()["t"][0] in (5, 8)
        again = REQUESTS[what](world)
        world.work()
        world.assert_settled()
        assert again.is_answered
        if not has_crashed:
            assert reply.is_answered
            break
    assert crash_at >= 3


def test_every_crash_of_a_deletion_keeps_a_group_or_all_of_it() -> None:
    """A classic group that is deleted beside share groups goes with them, after their states."""
    ends: set[tuple[bool, bool]] = set()
    for crash_at in count():
        world = settled_world()
        world.log.is_holding = True
        world.delete_groups("g", "classic")
        has_crashed = world.play(crash_at)
        world.log.is_holding = False
        world.work()
        groups: Any = world.log.shard.groups
        ends.add(("g" in groups.share.by_id, groups.offsets_of("classic") > 0))
        if not has_crashed:
            break

    assert ends == {(True, True), (False, False)}
