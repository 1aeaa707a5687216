"""The records of a log of leases: who has one and until when, and until when it was renewed."""

from __future__ import annotations

from struct import Struct as Layout
from typing import Final

from protocol.coordinator_records import CoordinatorRecord
from protocol.errors import EncodeError, Malformed, Truncated
from protocol.fields import Int64, Message, String, record_key, record_value

_INT16: Final = Layout(">h")
_LEASE: Final = Layout(">hqq")
_RENEWAL: Final = Layout(">hq")


class LeaseKey(Message):
    kafka = record_key(0)
    name: String = ""


class LeaseValue(Message):
    kafka = record_value(0, "0")
    owner: String = ""
    token: Int64 = 0
    expires_ms: Int64 = 0


class RenewalKey(Message):
    kafka = record_key(1)
    name: String = ""


class RenewalValue(Message):
    kafka = record_value(1, "0")
    expires_ms: Int64 = 0


class LeaseSerde:
    """In the framing of the coordinators' logs: the record type before the key, a version before the value."""

    def encode_key(self, record: CoordinatorRecord, /) -> bytes:
        match record.key:
            case LeaseKey(name=name) | RenewalKey(name=name):
                return _INT16.pack(record.key.kafka.key or 0) + name.encode()
        raise EncodeError(f"{type(record.key).__name__} is not a key of this log")

    def encode_value(self, record: CoordinatorRecord, /) -> bytes | None:
        match record.value:
            case LeaseValue(owner=owner, token=token, expires_ms=expires_ms):
                return _LEASE.pack(0, token, expires_ms) + owner.encode()
            case RenewalValue(expires_ms=expires_ms):
                return _RENEWAL.pack(0, expires_ms)
            case None:
                return None
        raise EncodeError(f"{type(record.value).__name__} is not a value of this log")

    def decode(self, key: bytes | None, value: bytes | None, /) -> CoordinatorRecord | None:
        if key is None or len(key) < _INT16.size:
            raise Truncated("the key is too short", message="LeaseRecord", position=0)
        record_type, name = _INT16.unpack_from(key)[0], _text(key[_INT16.size :])
        if record_type == LeaseKey.kafka.key:
            if value is None:
                return CoordinatorRecord(LeaseKey(name), None)
            if len(value) < _LEASE.size:
                raise Truncated("the value is too short", message="LeaseRecord", position=0)
            _, token, expires_ms = _LEASE.unpack_from(value)
            return CoordinatorRecord(LeaseKey(name), LeaseValue(_text(value[_LEASE.size :]), token, expires_ms))
        if record_type == RenewalKey.kafka.key and value is not None:
            if len(value) != _RENEWAL.size:
                raise Malformed("the value has another size", message="LeaseRecord", position=0)
            return CoordinatorRecord(RenewalKey(name), RenewalValue(_RENEWAL.unpack(value)[1]))
        return None


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as why:
        raise Malformed("not UTF-8", message="LeaseRecord", position=0) from why
