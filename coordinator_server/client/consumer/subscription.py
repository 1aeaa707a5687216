"""The bytes in JoinGroup and SyncGroup of the protocol type "consumer": Kafka's class ConsumerProtocol."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from struct import Struct as Layout
from typing import TypeVar

from coordinator_server.client.errors import Refused
from coordinator_server.client.offsets import TopicPartition
from protocol.codec import decode, encode
from protocol.error_codes import ErrorCode
from protocol.errors import DecodeError, Malformed, Truncated
from protocol.fields import Message
from protocol.messages.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from protocol.messages.consumer_protocol import TopicPartition as Partitions

M = TypeVar("M", bound=Message)

_INT16 = Layout(">h")
_VERSION = 3


@dataclass(frozen=True)
class Subscription:
    """What a member wants, and what it has."""

    topics: tuple[str, ...]
    owned: tuple[TopicPartition, ...] = ()
    generation_id: int = -1
    """The generation in which it has been given ``owned``; -1 if it does not say."""
    user_data: bytes | None = None
    rack_id: str | None = None
    group_instance_id: str | None = None
    """Not part of the bytes: JoinGroup has it."""


def encode_subscription(subscription: Subscription) -> bytes:
    """Return the bytes as Kafka's newest clients write them."""
    message = ConsumerProtocolSubscription(
        sorted(subscription.topics),
        subscription.user_data,
        _by_topic(sorted(subscription.owned)),
        subscription.generation_id,
        subscription.rack_id,
    )
    return _INT16.pack(_VERSION) + encode(message, _VERSION)


def decode_subscription(data: bytes, group_instance_id: str | None = None) -> Subscription:
    """Read the bytes of any client. Raises Refused if they are invalid."""
    read = _decode(ConsumerProtocolSubscription, data)
    owned = _flat(read.owned_partitions)
    return Subscription(tuple(read.topics), owned, read.generation_id, read.user_data, read.rack_id or None, group_instance_id)


def encode_assignment(partitions: Iterable[TopicPartition]) -> bytes:
    """Return the bytes of an assignment, as every client reads them."""
    return _INT16.pack(_VERSION) + encode(ConsumerProtocolAssignment(_by_topic(sorted(partitions))), _VERSION)


def decode_assignment(data: bytes) -> tuple[TopicPartition, ...]:
    """Read the bytes of any client. Raises Refused if they are invalid."""
    return _flat(_decode(ConsumerProtocolAssignment, data).assigned_partitions)


def _decode(message: type[M], data: bytes) -> M:
    """Versions that are newer than ours begin with the fields of ours."""
    try:
        if len(data) < _INT16.size:
            raise Truncated("there is no version")
        (version,) = _INT16.unpack_from(data)
        if version < 0:
            raise Malformed(f"its version is {version}")
        return decode(message, min(version, _VERSION), data[_INT16.size :], allow_leftover=True)
    except DecodeError as error:
        raise Refused(f"{message.__name__} is invalid: {error}", ErrorCode.INCONSISTENT_GROUP_PROTOCOL) from error


def _by_topic(partitions: Iterable[TopicPartition]) -> list[Partitions]:
    return [Partitions(topic, [each.partition for each in found]) for topic, found in groupby(partitions, attrgetter("topic"))]


def _flat(topics: Iterable[Partitions]) -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(each.topic, partition) for each in topics for partition in each.partitions)
