"""The records of consumer groups (KIP-848) as bytes of key and value, for logs that tests write by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.fields import Message
from protocol.messages.consumer_group_records import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
    TopicPartition,
    TopicPartitions,
)

Pair = tuple[bytes, bytes | None]
Assigned = Mapping[bytes, Sequence[int]]
"""Partitions by topic id."""

STABLE: Final = 0
UNREVOKED: Final = 1
UNRELEASED: Final = 2
ORDERS: Final = bytes(range(16))
PAYMENTS: Final = bytes(range(1, 17))


def pair(key: Message, value: Message | None, version: int = 0) -> Pair:
    record = CoordinatorRecord(key, value, version)
    return GROUP_SERDE.encode_key(record), GROUP_SERDE.encode_value(record)


def group_epoch(group_id: str, epoch: int | None) -> Pair:
    value = None if epoch is None else ConsumerGroupMetadataValue(epoch, 7)
    return pair(ConsumerGroupMetadataKey(group_id), value)


def target_epoch(group_id: str, epoch: int | None) -> Pair:
    value = None if epoch is None else ConsumerGroupTargetAssignmentMetadataValue(epoch, 5)
    return pair(ConsumerGroupTargetAssignmentMetadataKey(group_id), value)


def member(
    group_id: str,
    member_id: str,
    topics: Sequence[str] | None = ("orders",),
    *,
    assignor: str | None = "range",
    is_classic: bool = False,
) -> Pair:
    value = None
    if topics is not None:
        classic = ClassicMemberMetadata(30_000, [ClassicProtocol("range", b"")]) if is_classic else None
        client_id = f"client of {member_id}"
        value = ConsumerGroupMemberMetadataValue(
            None, "rack-1", client_id, "/10.0.0.7", list(topics), "", 45_000, assignor, classic
        )
    return pair(ConsumerGroupMemberMetadataKey(group_id, member_id), value)


def target(group_id: str, member_id: str, assigned: Assigned | None) -> Pair:
    value = None
    if assigned is not None:
        value = ConsumerGroupTargetAssignmentMemberValue([TopicPartition(each, list(of)) for each, of in assigned.items()])
    return pair(ConsumerGroupTargetAssignmentMemberKey(group_id, member_id), value)


def current(
    group_id: str, member_id: str, epoch: int, assigned: Assigned, state: int = STABLE, revoking: Assigned | None = None
) -> Pair:
    value = ConsumerGroupCurrentMemberAssignmentValue(
        epoch, epoch - 1, state, _with_epochs(assigned, epoch), _with_epochs(revoking or {}, epoch - 1)
    )
    return pair(ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id), value)


def left(group_id: str, member_id: str) -> Pair:
    return pair(ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id), None)


def rebalance(group_id: str) -> list[list[Pair]]:
    """A member has both partitions; a second one joins; the first gives one up; the second gets it; the first leaves.

    One list for each operation.
    """
    both, first, second = {ORDERS: [0, 1]}, {ORDERS: [0]}, {ORDERS: [1]}
    return [
        [
            member(group_id, "a"),
            group_epoch(group_id, 2),
            target(group_id, "a", both),
            target_epoch(group_id, 2),
            current(group_id, "a", 2, both),
        ],
        [
            member(group_id, "b"),
            group_epoch(group_id, 3),
            target(group_id, "a", first),
            target(group_id, "b", second),
            target_epoch(group_id, 3),
            current(group_id, "b", 3, {}, UNRELEASED),
        ],
        [current(group_id, "a", 2, first, UNREVOKED, second)],
        [current(group_id, "a", 3, first)],
        [current(group_id, "b", 3, second)],
        [left(group_id, "a"), target(group_id, "a", None), member(group_id, "a", None), group_epoch(group_id, 4)],
    ]


def random_steps(seed: int, count: int) -> list[Pair]:
    """Records of members that need not make sense together, in two groups."""
    rng = Random(seed)

    def some() -> Assigned:
        return {
            topic_id: sorted(rng.sample(range(3), rng.randint(1, 3)))
            for topic_id in rng.sample((ORDERS, PAYMENTS), rng.randint(0, 2))
        }

    def one() -> Pair:
        group_id, member_id = rng.choice("gh"), rng.choice("abc")
        match rng.randrange(6):
            case 0:
                return left(group_id, member_id)
            case 1 | 2:
                return target(group_id, member_id, some())
            case _:
                return current(
                    group_id,
                    member_id,
                    rng.randint(3, 5),
                    some(),
                    rng.choice((STABLE, UNREVOKED, UNRELEASED, UNRELEASED)),
                    some(),
                )

    return [one() for _ in range(count)]


def _with_epochs(assigned: Assigned, epoch: int) -> list[TopicPartitions]:
    return [TopicPartitions(topic_id, list(of), [epoch] * len(of)) for topic_id, of in assigned.items()]
