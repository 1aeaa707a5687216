"""When which clients were members of a group."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from coordinator_server.client.consumer.subscription import encode_assignment
from coordinator_server.client.offsets import TopicPartition
from coordinator_server.pipeline.replay.memberships import Memberships
from protocol.fields import Message
from protocol.messages.consumer_group_records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    TopicPartitions,
)
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, MemberMetadata

Record = tuple[Message, Message | None]


def followed(*batches: Sequence[Record]) -> list[tuple[str, int, int | None, int]]:
    """The memberships after batches that are at 0, 10, 20, … ms: client, since, until, most at once."""
    found = Memberships()
    ended = [each for number, batch in enumerate(batches) for each in found.add(batch, number, 10 * number)]
    return [(each.client_id, each.since_ms, each.until_ms, each.most) for each in (*ended, *found.open())]


def generation(*members: str) -> Record:
    """A client is the letters of a member's name."""
    named = [MemberMetadata(each, client_id=each.rstrip("0123456789"), client_host="/10.0.0.1") for each in members]
    return GroupMetadataKey("g"), GroupMetadataValue("consumer", 1, members=named)


def joins(member: str) -> Record:
    client = member.rstrip("0123456789")
    value = ConsumerGroupMemberMetadataValue(client_id=client, client_host="/10.0.0.1")
    return ConsumerGroupMemberMetadataKey("g", member), value


def leaves(member: str) -> Record:
    return ConsumerGroupMemberMetadataKey("g", member), None


def test_a_client_stays_while_its_members_change() -> None:
    assert followed([generation("a1", "b1")], [generation("a2", "a3")], [generation("a4")], [(GroupMetadataKey("g"), None)]) == [
        ("b", 0, 10, 1),
        ("a", 0, 30, 2),
    ]


def test_members_of_the_newer_protocol_come_and_go_one_by_one() -> None:
    """One that is back in the same batch has not left."""
    assert followed([joins("a1")], [joins("a2"), joins("b1")], [leaves("a1")], [leaves("a2"), joins("a5")], [leaves("b1")]) == [
        ("b", 10, 40, 1),
        ("a", 0, None, 2),
    ]


def test_a_group_that_is_converted_keeps_its_clients() -> None:
    """Its classic record goes, and records of members come, in one batch."""
    assert followed([generation("a1")], [(GroupMetadataKey("g"), None), joins("a1")], [leaves("a1")]) == [("a", 0, 20, 1)]


def assigned(*batches: Sequence[Record]) -> dict[str, dict[str, int]]:
    """What members have after batches."""
    found = Memberships()
    for number, batch in enumerate(batches):
        found.add(batch, number, number)
    return found.state.assigned


def with_assignments(protocol_type: str, **assignments: bytes) -> Record:
    members = [MemberMetadata(each, assignment=found) for each, found in assignments.items()]
    return GroupMetadataKey("g"), GroupMetadataValue(protocol_type, 1, members=members)


def test_a_member_of_a_generation_has_what_its_leader_gave_it() -> None:
    """An assignment of another protocol than the consumers' is of no topic, but it is one, as for kminion."""
    given = {"a": encode_assignment([TopicPartition("t", 0), TopicPartition("t", 2)]), "b": encode_assignment([]), "c": b""}

    assert assigned([with_assignments("consumer", **given)]) == {"a": {"t": 2}}
    assert assigned([with_assignments("connect", a=b"\0\1", b=b"")]) == {"a": {}}
    assert assigned([with_assignments("consumer", a=b"\xff")]) == {"a": {}}
    assert assigned([with_assignments("consumer", **given)], [(GroupMetadataKey("g"), None)]) == {}


@pytest.mark.parametrize("newer", [joins("b1"), (ConsumerGroupMetadataKey("g"), ConsumerGroupMetadataValue(epoch=2))])
def test_a_generation_ends_with_the_first_record_of_another_type(newer: Record) -> None:
    """Not all logs have a record that deletes the generation, and its topics have names where the others have ids."""
    classic = with_assignments("consumer", a1=encode_assignment([TopicPartition("orders", 0)]))

    assert assigned([classic], [newer]) == {}
    assert followed([generation("a1")], [newer])[0] == ("a", 0, 10, 1)


def test_a_member_of_the_newer_protocol_has_what_its_last_step_says() -> None:
    topic_id = bytes(range(16))
    key = ConsumerGroupCurrentMemberAssignmentKey("g", "a1")
    some, none = (ConsumerGroupCurrentMemberAssignmentValue(1, 0, 0, each) for each in ([TopicPartitions(topic_id, [0, 1])], []))

    assert assigned([joins("a1"), (key, some)]) == {"a1": {topic_id.hex(): 2}}
    assert assigned([joins("a1"), (key, some)], [(key, none)]) == {}
    assert assigned([joins("a1"), (key, some)], [(key, None)]) == {}


def test_the_state_has_changed_when_what_a_member_has_is_another() -> None:
    """Although the members are the same: the index writes it then, and at no other time."""
    found = Memberships()
    found.add([with_assignments("consumer", a=encode_assignment([TopicPartition("t", 0)]))], 0, 0)
    found.is_changed = False
    found.add([(ConsumerGroupTargetAssignmentMemberKey("g", "a"), ConsumerGroupTargetAssignmentMemberValue())], 1, 1)
    target_only = found.is_changed
    found.add([(ConsumerGroupCurrentMemberAssignmentKey("g", "a"), ConsumerGroupCurrentMemberAssignmentValue(1, 0, 0))], 2, 2)

    assert (target_only, found.is_changed) == (False, True)
