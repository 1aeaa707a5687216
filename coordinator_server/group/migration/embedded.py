"""What consumers of the classic protocol put into JoinGroup and SyncGroup:
read, and written for them (Kafka's ``ConsumerProtocol``).

To the classic protocol these bytes are opaque. A consumer group has to know what is in them.
"""

from __future__ import annotations

from typing import Final, NoReturn, TypeVar

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.common.topics import TopicImage
from coordinator_server.machine.errors import CoordinatorError
from protocol.codec import decoder, encode
from protocol.error_codes import ErrorCode
from protocol.errors import DecodeError
from protocol.fields import Message
from protocol.messages.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription, TopicPartition

M = TypeVar("M", bound=Message)

COOPERATIVE: Final = "cooperative-sticky"
"""Kafka's protocol whose members go on owning partitions while they join (KIP-429)."""
NEWEST: Final = 3
_VERSION_BYTES: Final = 2


class Unreadable(Exception):
    """The error that bytes are not of this protocol. ``is_short``: they end within a number or a length."""

    def __init__(self, *, is_short: bool) -> None:
        super().__init__(is_short)
        self.is_short = is_short


def read_subscription(metadata: bytes) -> ConsumerProtocolSubscription:
    """Return a subscription. Raises Unreadable."""
    return _read(ConsumerProtocolSubscription, metadata)


def read_assignment(assignment: bytes) -> ConsumerProtocolAssignment:
    """Return an assignment. Raises Unreadable."""
    return _read(ConsumerProtocolAssignment, assignment)


def read_version(data: bytes) -> int:
    """Return the version in which to answer a member that sent ``data``. Raises Unreadable.

    A version that is not known yet counts as the newest known one, whose fields it begins with.
    """
    if len(data) < _VERSION_BYTES:
        raise Unreadable(is_short=True)
    version = int.from_bytes(data[:_VERSION_BYTES], signed=True)
    if version < 0:
        # Kafka's exception for it is that of bytes that are too short.
        raise Unreadable(is_short=True)
    return min(version, NEWEST)


def write_assignment(partitions: Partitions, topics: TopicImage, version: int) -> bytes:
    """Return the assignment of a member, without topics that do not exist any more."""
    assigned = [
        TopicPartition(topic.name, list(numbers))
        for topic_id, numbers in partitions.items()
        if (topic := topics.topic_by_id(topic_id)) is not None
    ]
    return version.to_bytes(_VERSION_BYTES) + encode(ConsumerProtocolAssignment(assigned), version)


def partitions_by_id(topics: TopicImage, named: list[TopicPartition]) -> Partitions:
    """Return partitions by topic id, without topics that do not exist. Of a topic that is named twice, the last entry counts."""
    found: Partitions = {}
    for each in named:
        topic = topics.topic(each.topic)
        if topic is not None:
            found[topic.topic_id] = sorted(set(each.partitions))
    return found


def refuse(unreadable: Unreadable, error: ErrorCode, message: str) -> NoReturn:
    """Refuse a request because of such bytes:
    with ``error``, or as Kafka does where its reader has an error that it does not expect.
    """
    if unreadable.is_short:
        raise CoordinatorError(error, message) from unreadable
    raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR) from unreadable


def _read(message: type[M], data: bytes) -> M:
    version = read_version(data)
    try:
        return decoder(message, version)(data, _VERSION_BYTES)[0]
    except DecodeError as error:
        raise Unreadable(is_short="too early" in error.reason) from error
