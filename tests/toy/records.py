"""The records of a toy log: what a name's total is from now on, and what is added to it."""

from __future__ import annotations

from struct import Struct as Layout
from typing import Final

from protocol.coordinator_records import CoordinatorRecord
from protocol.errors import EncodeError, Malformed, Truncated
from protocol.fields import Int64, Message, String, record_key, record_value

_INT16: Final = Layout(">h")
_VALUE: Final = Layout(">hq")


class TotalKey(Message):
    kafka = record_key(0)
    name: String = ""


class TotalValue(Message):
    kafka = record_value(0, "0")
    total: Int64 = 0


class AddedKey(Message):
    kafka = record_key(1)
    name: String = ""


class AddedValue(Message):
    kafka = record_value(1, "0")
    amount: Int64 = 0


def total_record(name: str, total: int | None) -> CoordinatorRecord:
    """The name has this total, or is gone."""
    return CoordinatorRecord(TotalKey(name), None if total is None else TotalValue(total))


def added_record(name: str, amount: int) -> CoordinatorRecord:
    """The name's total has grown."""
    return CoordinatorRecord(AddedKey(name), AddedValue(amount))


class ToySerde:
    """In the framing of the coordinators' logs: the record type before the key, a version before the value."""

    def encode_key(self, record: CoordinatorRecord, /) -> bytes:
        match record.key:
            case TotalKey(name=name) | AddedKey(name=name):
                return _INT16.pack(record.key.kafka.key or 0) + name.encode()
        raise EncodeError(f"{type(record.key).__name__} is not a key of this log")

    def encode_value(self, record: CoordinatorRecord, /) -> bytes | None:
        match record.value:
            case TotalValue(total=number) | AddedValue(amount=number):
                return _VALUE.pack(0, number)
            case None:
                return None
        raise EncodeError(f"{type(record.value).__name__} is not a value of this log")

    def decode(self, key: bytes | None, value: bytes | None, /) -> CoordinatorRecord | None:
        if key is None or len(key) < _INT16.size:
            raise Truncated("the key is too short", message="ToyRecord", position=0)
        if value is not None and len(value) != _VALUE.size:
            raise Malformed("the value has another size", message="ToyRecord", position=0)
        record_type, name = _INT16.unpack_from(key)[0], key[_INT16.size :].decode()
        number = None if value is None else int(_VALUE.unpack(value)[1])
        if record_type == TotalKey.kafka.key:
            return total_record(name, number)
        if record_type == AddedKey.kafka.key and number is not None:
            return added_record(name, number)
        return None
