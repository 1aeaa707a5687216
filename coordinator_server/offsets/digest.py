"""The items of a group's digest for its committed offsets.

An item's key is the key of the OffsetCommit record. Its value is that record's value in version 4, followed by the expiry time
(int64), which version 4 lacks. The record's offset in the log is not included, so a copied or imported log has the same digest.
The key of an offset in an open transaction is followed by the producer id (int64).
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct as Layout
from typing import Final

from coordinator_server.machine.digest import item_digest
from coordinator_server.offsets.store import OffsetAndMetadata, TopicPartition
from protocol.codec import encoder
from protocol.coordinator_records import OFFSET_COMMIT_TYPE
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue

_VALUE_VERSION: Final = 4
_PARTITION: Final = Layout(">i")
_EXPIRY: Final = Layout(">q")
_PRODUCER: Final = Layout(">q")


def offsets_digest(
    group_id: str, offsets: Iterable[tuple[TopicPartition, OffsetAndMetadata]], producer_id: int | None = None
) -> tuple[int, int]:
    """Return the sum over the offsets of a group and their number.

    With a producer id, the offsets are those of that producer's open transaction.
    """
    behind_key = b"" if producer_id is None else _PRODUCER.pack(producer_id)
    encode_value = encoder(OffsetCommitValue, _VALUE_VERSION)
    before_partition: dict[str, bytes] = {}
    total = count = 0
    for (topic, partition), found in offsets:
        prefix = before_partition.get(topic)
        if prefix is None:
            prefix = before_partition[topic] = _key(group_id, topic)
        value = bytearray()
        encode_value(
            OffsetCommitValue(
                found.committed_offset, found.leader_epoch, found.metadata, found.commit_timestamp_ms, topic_id=found.topic_id
            ),
            value,
        )
        value += _EXPIRY.pack(found.expire_timestamp_ms)
        total += item_digest(prefix + _PARTITION.pack(partition) + behind_key, bytes(value))
        count += 1
    return total, count


def _key(group_id: str, topic: str) -> bytes:
    """Return the bytes of a key before the partition."""
    key = bytearray(OFFSET_COMMIT_TYPE)
    encoder(OffsetCommitKey, 0)(OffsetCommitKey(group_id, topic), key)
    return bytes(key[: -_PARTITION.size])
