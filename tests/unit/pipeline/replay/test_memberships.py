"""When which clients were members of a group."""

from __future__ import annotations

from collections.abc import Sequence

from coordinator_server.pipeline.replay.memberships import Memberships
from protocol.fields import Message
from protocol.messages.consumer_group_records import ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue
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
