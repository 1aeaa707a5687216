"""The share partitions of Kafka's share state (KIP-932): their keys, the forms of these in texts, and their *names*.

A name is what a record key of ``__share_group_state`` has after its type: the group id, the topic id, and the partition as int32.
State and requests are looked up by name, so that no key object is made for each.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from struct import Struct as Layout
from typing import Final, NamedTuple

from protocol.fields import uuid_text

_TRIMMED: Final = "".join(map(chr, range(33)))
"""What Java's String.trim removes."""
_LONGEST_TOPIC_ID: Final = 24
_BASE64: Final = re.compile(r"[A-Za-z0-9_-]{22}(==)?")
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,64}")
_GROUP_SIZE: Final = Layout(">h").pack
_TOPIC_PARTITION: Final = Layout(">16si")
TOPIC_ID_AT: Final = -20
"""The place of the topic id in a name."""
PARTITION_AT: Final = -4
"""The place of the partition in a name."""


class SharePartitionKey(NamedTuple):
    """The key of a share partition. ``topic_id`` has the 16 bytes of a UUID."""

    group_id: str
    topic_id: bytes
    partition: int


def coordinator_key(key: SharePartitionKey) -> str:
    """Return the key for FindCoordinator and Kafka's tools: group id, topic id and partition, separated by colons."""
    return f"{key.group_id}:{uuid_text(key.topic_id)}:{key.partition}"


def parse_coordinator_key(text: str) -> SharePartitionKey:
    """Return the key of a text as Kafka's ``SharePartitionKey.getInstance`` reads it.

    A group id may have colons. Raises ValueError.
    """
    # As Java's String.split, which drops empty texts at the end.
    parts = text.rstrip(":").split(":")
    if len(parts) < 3:
        raise ValueError("a group id, a topic id and a partition, separated by colons, are needed")
    group_id, topic_id, partition = ":".join(parts[:-2]), parts[-2], parts[-1]
    if not group_id.strip(_TRIMMED):
        raise ValueError("the group id is empty")
    if len(topic_id) > _LONGEST_TOPIC_ID or not _BASE64.fullmatch(topic_id):
        raise ValueError(f"{topic_id} is not a topic id")
    raw = urlsafe_b64decode(topic_id.rstrip("=") + "==")
    if not _INTEGER.fullmatch(partition) or not -(1 << 31) <= int(partition) < 1 << 31:
        raise ValueError(f"{partition} is not a partition")
    return SharePartitionKey(group_id, raw, int(partition))


def name_of(key: SharePartitionKey) -> bytes:
    """Return the name of a share partition."""
    group = key.group_id.encode()
    return _GROUP_SIZE(len(group)) + group + _TOPIC_PARTITION.pack(key.topic_id, key.partition)


def key_of(name: bytes) -> SharePartitionKey:
    """Return the key of a name."""
    return SharePartitionKey(name[2:TOPIC_ID_AT].decode(), *topic_and_partition_of(name))


def topic_and_partition_of(name: bytes) -> tuple[bytes, int]:
    """Return the topic id and the partition in a name."""
    topic_id, partition = _TOPIC_PARTITION.unpack(name[TOPIC_ID_AT:])
    return topic_id, partition


def topic_id_of(name: bytes) -> bytes:
    """Return the topic id in a name."""
    return name[TOPIC_ID_AT:PARTITION_AT]


def is_negative(name: bytes) -> bool:
    """Return whether the partition in a name is negative."""
    return name[PARTITION_AT] >= 0x80
