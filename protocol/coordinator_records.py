"""Records of the coordinators' logs as values, and their bytes in a log record's key and value.

A coordinator record's key is an int16 record type and the key's message; its value is an int16 version and the value's message
at that version; no value is a tombstone. The cluster's metadata log has Kafka's other framing: no key, and in the value three
varints (frame version 1, record type, version) before the message. There the message stands as the record's key, since it is
what the record is about.
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Any, Final, Protocol

from msgspec import Struct

from protocol.codec import Decoder, Encoder, decoders, encoders
from protocol.errors import EncodeError, Malformed, Truncated
from protocol.fields import Message
from protocol.messages.cluster_metadata import PartitionRecord, RemoveTopicRecord, TopicRecord
from protocol.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from protocol.wire import read_uvarint, write_uvarint

_INT16 = Layout(">h")
_FRAME_VERSION: Final = 1


class CoordinatorRecord(Struct, gc=False):
    """One change of a coordinator's hard state. Without a value it is a tombstone."""

    key: Message
    value: Message | None
    value_version: int = 0
    headers: tuple[tuple[str, bytes | None], ...] = ()


class RecordSerde(Protocol):
    """Records of one log to bytes and back. Headers are the log record's own: they pass by here."""

    def encode_key(self, record: CoordinatorRecord, /) -> bytes | None: ...

    def encode_value(self, record: CoordinatorRecord, /) -> bytes | None: ...

    def decode(self, key: bytes | None, value: bytes | None, /) -> CoordinatorRecord | None:
        """None for a record type that is unknown here; DecodeError for anything that is not a record."""


class KeyedSerde:
    """The framing of the coordinators' logs: one table row per record type."""

    def __init__(self, *types: tuple[type[Message], type[Message]]) -> None:
        self._keys: dict[type[Message], tuple[bytes, Encoder[Any]]] = {}
        self._values: dict[type[Message], dict[int, tuple[bytes, Encoder[Any]]]] = {}
        self._types: dict[int, tuple[Decoder[Any], dict[int, Decoder[Any]]]] = {}
        for key, value in types:
            record_type = key.kafka.key
            assert record_type is not None
            assert record_type == value.kafka.key
            self._keys[key] = (_INT16.pack(record_type), encoders(key)[0])
            self._values[value] = {version: (_INT16.pack(version), encode) for version, encode in encoders(value).items()}
            self._types[record_type] = (decoders(key)[0], decoders(value))

    def encode_key(self, record: CoordinatorRecord) -> bytes:
        row = self._keys.get(type(record.key))
        if row is None:
            raise EncodeError(f"{type(record.key).__name__} is not a key of this log")
        out = bytearray(row[0])
        row[1](record.key, out)
        return bytes(out)

    def encode_value(self, record: CoordinatorRecord) -> bytes | None:
        value = record.value
        if value is None:
            return None
        row = self._values.get(type(value), {}).get(record.value_version)
        if row is None:
            raise EncodeError(f"{type(value).__name__} v{record.value_version} is not a value of this log")
        out = bytearray(row[0])
        row[1](value, out)
        return bytes(out)

    def decode(self, key: bytes | None, value: bytes | None) -> CoordinatorRecord | None:
        """Bytes behind a message are ignored, as Kafka ignores them."""
        row = self._types.get(_read_int16(key, "key"))
        if row is None:
            return None
        assert key is not None
        decode_key, versions = row
        message, _ = decode_key(key, 2)
        if value is None:
            return CoordinatorRecord(message, None)
        version = _read_int16(value, "value")
        decode_value = versions.get(version)
        if decode_value is None:
            raise Malformed("the value has an unknown version", message=type(message).__name__, version=version)
        return CoordinatorRecord(message, decode_value(value, 2)[0], version)


class MetadataSerde:
    """The framing of the cluster's metadata log: ``record.key`` is the message, ``record.value_version`` its version."""

    def __init__(self, *types: type[Message]) -> None:
        self._types = {message.kafka.key: message for message in types}

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


def _read_int16(data: bytes | None, part: str) -> int:
    if data is None or len(data) < 2:
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


GROUP_SERDE: Final = KeyedSerde(
    (LegacyOffsetCommitKey, LegacyOffsetCommitValue),
    (OffsetCommitKey, OffsetCommitValue),
    (GroupMetadataKey, GroupMetadataValue),
)
CLUSTER_METADATA_SERDE: Final = MetadataSerde(TopicRecord, PartitionRecord, RemoveTopicRecord)
