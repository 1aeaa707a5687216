"""The records of the coordinators' logs as values, and their encoding in a log record's key and value.

A coordinator record's key is an int16 record type followed by the key's message. Its value is an int16 version followed by the
value's message in that version; a null value makes it a tombstone. The cluster's metadata log has Kafka's other framing: no key,
and in the value three varints (frame version 1, record type, version) before the message. CoordinatorRecord then has the message
as its key.
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Any, Final, Protocol

from msgspec import Struct

from protocol.codec import Decoder, Encoder, decoders, encoders
from protocol.errors import EncodeError, Malformed, Truncated
from protocol.fields import Message
from protocol.messages import consumer_group_records as consumer
from protocol.messages import share_group_records as share
from protocol.messages import streams_group_records as streams
from protocol.messages.cluster_metadata import (
    AccessControlEntryRecord,
    ClientQuotaRecord,
    ConfigRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RemoveAccessControlEntryRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UserScramCredentialRecord,
)
from protocol.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from protocol.messages.share_records import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue
from protocol.messages.transaction_records import TransactionLogKey, TransactionLogValue
from protocol.wire import read_uvarint, write_uvarint

_INT16 = Layout(">h")
_FRAME_VERSION: Final = 1
OFFSET_COMMIT_TYPE: Final = b"\0\1"
"""The record type at the start of an OffsetCommit record's key."""
LEGACY_OFFSET_COMMIT_TYPE: Final = b"\0\0"
"""The record type at the start of the key of an OffsetCommit record from before Kafka 0.9."""


class CoordinatorRecord(Struct, gc=False):
    """One change of a coordinator's hard state. A value of None makes it a tombstone."""

    key: Message
    value: Message | None
    value_version: int = 0


class RecordSerde(Protocol):
    """The encoding and decoding of one log's records."""

    def encode_key(self, record: CoordinatorRecord, /) -> bytes | None: ...

    def encode_value(self, record: CoordinatorRecord, /) -> bytes | None: ...

    def decode(self, key: bytes | None, value: bytes | None, /) -> CoordinatorRecord | None:
        """Decode a record. Return None for an unknown record type. Raises DecodeError for invalid bytes."""


class KeyedSerde:
    """The framing of the coordinators' logs: a pair of messages per record type. Codecs are loaded on first use."""

    def __init__(self, *types: tuple[type[Message], type[Message]]) -> None:
        self._declared: dict[int, tuple[type[Message], type[Message]]] = {}
        # Filled by ``_find``. Encoding needs one lookup by message type, decoding one by the first bytes of key and value.
        self._keys: dict[type[Message], tuple[bytes, Encoder[Any]]] = {}
        self._values: dict[tuple[type[Message], int], tuple[bytes, Encoder[Any]]] = {}
        self._types: dict[bytes, tuple[Decoder[Any], dict[bytes, tuple[int, Decoder[Any]]]]] = {}
        for key, value in types:
            record_type = key.kafka.key
            assert record_type is not None
            assert record_type == value.kafka.key
            self._declared[record_type] = (key, value)

    @property
    def types(self) -> dict[int, tuple[type[Message], type[Message]]]:
        """The key and value messages by record type."""
        return dict(self._declared)

    def _find(self, record_type: int | None, message: type[Message] | None = None) -> None:
        """Load the codecs of a record type if this log has it and, if a message is given, if it belongs to the type."""
        pair = self._declared.get(-1 if record_type is None else record_type)
        if record_type is None or pair is None or (message is not None and message not in pair):
            return
        key, value = pair
        prefix = _INT16.pack(record_type)
        self._keys[key] = (prefix, encoders(key)[0])
        self._values |= {(value, version): (_INT16.pack(version), encode) for version, encode in encoders(value).items()}
        versions = {_INT16.pack(version): (version, decode) for version, decode in decoders(value).items()}
        self._types[prefix] = (decoders(key)[0], versions)

    def encode_key(self, record: CoordinatorRecord) -> bytes:
        key = record.key
        row = self._keys.get(type(key))
        if row is None:
            self._find(key.kafka.key, type(key))
            row = self._keys.get(type(key))
        if row is None:
            raise EncodeError(f"{type(key).__name__} is not a key of this log")
        out = bytearray(row[0])
        row[1](key, out)
        return bytes(out)

    def encode_value(self, record: CoordinatorRecord) -> bytes | None:
        value = record.value
        if value is None:
            return None
        row = self._values.get((type(value), record.value_version))
        if row is None:
            self._find(value.kafka.key, type(value))
            row = self._values.get((type(value), record.value_version))
        if row is None:
            raise EncodeError(f"{type(value).__name__} v{record.value_version} is not a value of this log")
        out = bytearray(row[0])
        row[1](value, out)
        return bytes(out)

    def decode(self, key: bytes | None, value: bytes | None) -> CoordinatorRecord | None:
        """Decode a record. As in Kafka, bytes after a message are ignored. Raises DecodeError."""
        if key is None:
            raise Truncated("the key is too short", message="CoordinatorRecord", position=0)
        row = self._types.get(key[:2])
        if row is None:
            self._find(_read_int16(key, "key"))
            row = self._types.get(key[:2])
            if row is None:
                return None
        message, _ = row[0](key, 2)
        if value is None:
            return CoordinatorRecord(message, None)
        found = row[1].get(value[:2])
        if found is None:
            version = _read_int16(value, "value")
            raise Malformed("the value has an unknown version", message=type(message).__name__, version=version)
        return CoordinatorRecord(message, found[1](value, 2)[0], found[0])


class MetadataSerde:
    """The framing of the cluster's metadata log: ``record.key`` is the message, ``record.value_version`` its version."""

    def __init__(self, *types: type[Message]) -> None:
        self._types = {message.kafka.key: message for message in types}

    @property
    def types(self) -> dict[int | None, type[Message]]:
        """The messages by record type."""
        return dict(self._types)

    def encode_key(self, record: CoordinatorRecord) -> bytes | None:
        return None

    def encode_value(self, record: CoordinatorRecord) -> bytes:
        message, version = record.key, record.value_version
        record_type = message.kafka.key
        if record_type is None or self._types.get(record_type) is not type(message):
            raise EncodeError(f"{type(message).__name__} is not a record of this log")
        encode = encoders(type(message)).get(version)
        if encode is None:
            raise EncodeError(f"{type(message).__name__} has no version {version}")
        out = bytearray((_FRAME_VERSION,)) + write_uvarint(record_type) + write_uvarint(version)
        encode(message, out)
        return bytes(out)

    def decode(self, key: bytes | None, value: bytes | None) -> CoordinatorRecord | None:
        if value is None:
            raise Malformed("a record without a value", message="MetadataRecord")
        frame_version, pos = _read_frame_part(value, 0)
        if frame_version != _FRAME_VERSION:
            raise Malformed(f"frame version {frame_version} is not {_FRAME_VERSION}", message="MetadataRecord", position=0)
        record_type, pos = _read_frame_part(value, pos)
        version, pos = _read_frame_part(value, pos)
        message_type = self._types.get(record_type)
        if message_type is None:
            return None
        decode = decoders(message_type).get(version)
        if decode is None:
            raise Malformed("unknown version", message=message_type.__name__, version=version, position=pos)
        message, end = decode(value, pos)
        if end != len(value):
            reason = f"{len(value) - end} bytes are left over"
            raise Malformed(reason, message=message_type.__name__, version=version, position=end)
        return CoordinatorRecord(message, None, version)


def _read_int16(data: bytes, part: str) -> int:
    if len(data) < 2:
        raise Truncated(f"the {part} is too short", message="CoordinatorRecord", position=0)
    number: int = _INT16.unpack_from(data)[0]
    return number


def _read_frame_part(data: bytes, pos: int) -> tuple[int, int]:
    try:
        return read_uvarint(data, pos)
    except IndexError:
        raise Truncated("the frame is too short", message="MetadataRecord", position=pos) from None
    except ValueError as error:
        raise Malformed(str(error), message="MetadataRecord", position=pos) from None


_CLASSIC_GROUPS: Final = (
    (LegacyOffsetCommitKey, LegacyOffsetCommitValue),
    (OffsetCommitKey, OffsetCommitValue),
    (GroupMetadataKey, GroupMetadataValue),
)
CLASSIC_GROUP_SERDE: Final = KeyedSerde(*_CLASSIC_GROUPS)
"""The record types of classic groups. All other types of the group coordinator's log are unknown to it."""
GROUP_SERDE: Final = KeyedSerde(
    *_CLASSIC_GROUPS,
    (consumer.ConsumerGroupMetadataKey, consumer.ConsumerGroupMetadataValue),
    (consumer.ConsumerGroupPartitionMetadataKey, consumer.ConsumerGroupPartitionMetadataValue),
    (consumer.ConsumerGroupMemberMetadataKey, consumer.ConsumerGroupMemberMetadataValue),
    (consumer.ConsumerGroupTargetAssignmentMetadataKey, consumer.ConsumerGroupTargetAssignmentMetadataValue),
    (consumer.ConsumerGroupTargetAssignmentMemberKey, consumer.ConsumerGroupTargetAssignmentMemberValue),
    (consumer.ConsumerGroupCurrentMemberAssignmentKey, consumer.ConsumerGroupCurrentMemberAssignmentValue),
    (consumer.ConsumerGroupRegularExpressionKey, consumer.ConsumerGroupRegularExpressionValue),
    (share.ShareGroupMemberMetadataKey, share.ShareGroupMemberMetadataValue),
    (share.ShareGroupMetadataKey, share.ShareGroupMetadataValue),
    (share.ShareGroupTargetAssignmentMetadataKey, share.ShareGroupTargetAssignmentMetadataValue),
    (share.ShareGroupTargetAssignmentMemberKey, share.ShareGroupTargetAssignmentMemberValue),
    (share.ShareGroupCurrentMemberAssignmentKey, share.ShareGroupCurrentMemberAssignmentValue),
    (share.ShareGroupStatePartitionMetadataKey, share.ShareGroupStatePartitionMetadataValue),
    (streams.StreamsGroupMetadataKey, streams.StreamsGroupMetadataValue),
    (streams.StreamsGroupMemberMetadataKey, streams.StreamsGroupMemberMetadataValue),
    (streams.StreamsGroupTargetAssignmentMetadataKey, streams.StreamsGroupTargetAssignmentMetadataValue),
    (streams.StreamsGroupTargetAssignmentMemberKey, streams.StreamsGroupTargetAssignmentMemberValue),
    (streams.StreamsGroupCurrentMemberAssignmentKey, streams.StreamsGroupCurrentMemberAssignmentValue),
    (streams.StreamsGroupTopologyKey, streams.StreamsGroupTopologyValue),
)
SHARE_SERDE: Final = KeyedSerde((ShareSnapshotKey, ShareSnapshotValue), (ShareUpdateKey, ShareUpdateValue))
TRANSACTION_SERDE: Final = KeyedSerde((TransactionLogKey, TransactionLogValue))
CLUSTER_METADATA_SERDE: Final = MetadataSerde(
    TopicRecord,
    PartitionRecord,
    RemoveTopicRecord,
    ConfigRecord,
    ProducerIdsRecord,
    UserScramCredentialRecord,
    RemoveUserScramCredentialRecord,
    AccessControlEntryRecord,
    RemoveAccessControlEntryRecord,
    ClientQuotaRecord,
)
