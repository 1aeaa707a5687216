"""Who owned each partition over time: of classic groups by generations, of share groups several at once."""

from __future__ import annotations

from collections.abc import Iterable

from coordinator_server.pipeline.input.topic_names import NO_NAMES
from coordinator_server.pipeline.replay.group_owners import Owners, Ownership
from protocol.fields import Message
from protocol.messages.consumer_protocol import CONSUMER
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from protocol.messages.share_group_records import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from tests.support.classic_members import assignment


def owned(*records: tuple[int, Message, Message | None]) -> list[tuple[int, tuple[str, ...], int, int | None]]:
    owners = Owners(NO_NAMES)
    found: list[Ownership] = [each for at_ms, key, value in records for each in owners.add(key, value, at_ms)]
    return [
        (each.partition, each.members, each.since_ms, each.until_ms) for each in sorted_by_partition([*found, *owners.open()])
    ]


def sorted_by_partition(found: Iterable[Ownership]) -> list[Ownership]:
    return sorted(found, key=lambda each: (each.partition, each.since_ms))


def generation(at_ms: int, protocol_type: str = CONSUMER, **shares: list[int]) -> tuple[int, Message, Message | None]:
    members = [MemberMetadata(name, assignment=assignment({"t": numbers})) for name, numbers in shares.items()]
    return at_ms, GroupMetadataKey("g"), GroupMetadataValue(protocol_type, 1, members=members)


def test_a_generation_moves_partitions() -> None:
    """One that stays with its member goes on; those of members that are gone have no owner, until they have one again."""
    assert owned(generation(0, a=[0, 1]), generation(5, a=[0], b=[1]), generation(9, b=[1]), generation(12, b=[0, 1])) == [
        (0, ("a",), 0, 9),
        (0, (), 9, 12),
        (0, ("b",), 12, None),
        (1, ("a",), 0, 5),
        (1, ("b",), 5, None),
    ]


def test_the_end_of_a_group_leaves_its_partitions() -> None:
    assert owned(generation(0, a=[0]), (7, GroupMetadataKey("g"), None)) == [(0, ("a",), 0, 7), (0, (), 7, None)]


def test_assignments_of_other_protocols_are_no_partitions() -> None:
    assert owned(generation(0, "connect", a=[0])) == []


def test_members_of_a_share_group_own_a_partition_together() -> None:
    def share(at_ms: int, name: str, partitions: list[int]) -> tuple[int, Message, Message | None]:
        topics = [TopicPartitions(b"t" * 16, partitions)]
        return at_ms, ShareGroupCurrentMemberAssignmentKey("g", name), ShareGroupCurrentMemberAssignmentValue(1, 0, 0, topics)

    assert owned(share(0, "a", [0]), share(3, "b", [0]), share(8, "a", [])) == [
        (0, ("a",), 0, 3),
        (0, ("a", "b"), 3, 8),
        (0, ("b",), 8, None),
    ]
