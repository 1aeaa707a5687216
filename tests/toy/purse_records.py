"""The records of a purse log: what a name has, what is on its way to other purses, what has come from them,
and what a child has added up.
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Any, Final

import msgspec

from protocol.coordinator_records import CoordinatorRecord
from protocol.errors import EncodeError, Malformed, Truncated
from protocol.fields import Int64, Message, String, record_key, record_value

_INT16: Final = Layout(">h")


class PurseKey(Message):
    kafka = record_key(0)
    name: String = ""


class PurseValue(Message):
    kafka = record_value(0, "0")
    amount: Int64 = 0


class TransferKey(Message):
    """An intent: money that has left its purse here."""

    kafka = record_key(1)
    id: String = ""


class TransferValue(Message):
    """``is_credited``: it has arrived, and the other shard is to forget its id. A tombstone closes the intent."""

    kafka = record_value(1, "0")
    payer: String = ""
    payee: String = ""
    amount: Int64 = 0
    is_credited: bool = False


class CreditKey(Message):
    """An intent of another shard that has had its effect here."""

    kafka = record_key(2)
    id: String = ""


class CreditValue(Message):
    kafka = record_value(2, "0")
    payee: String = ""


class SumKey(Message):
    kafka = record_key(3)


class SumValue(Message):
    """What all purses of the shard have after the record at ``as_of``, as a child has added it up."""

    kafka = record_value(3, "0")
    as_of: Int64 = 0
    amount: Int64 = 0


_TYPES: Final[dict[int, tuple[type[Message], type[Message]]]] = {
    0: (PurseKey, PurseValue),
    1: (TransferKey, TransferValue),
    2: (CreditKey, CreditValue),
    3: (SumKey, SumValue),
}


class PurseSerde:
    """In the framing of the coordinators' logs, with fields in MessagePack."""

    def encode_key(self, record: CoordinatorRecord, /) -> bytes:
        key = record.key
        if _TYPES.get(-1 if key.kafka.key is None else key.kafka.key, (None,))[0] is not type(key):
            raise EncodeError(f"{type(key).__name__} is not a key of this log")
        return _INT16.pack(key.kafka.key or 0) + _fields(key)

    def encode_value(self, record: CoordinatorRecord, /) -> bytes | None:
        return None if record.value is None else _INT16.pack(0) + _fields(record.value)

    def decode(self, key: bytes | None, value: bytes | None, /) -> CoordinatorRecord | None:
        if key is None or len(key) < _INT16.size:
            raise Truncated("the key is too short", message="PurseRecord", position=0)
        types = _TYPES.get(_INT16.unpack_from(key)[0])
        if types is None:
            return None
        return CoordinatorRecord(_message(types[0], key), None if value is None else _message(types[1], value))


def _fields(message: Message) -> bytes:
    return msgspec.msgpack.encode(msgspec.structs.astuple(message))


def _message(type_: type[Message], data: bytes) -> Message:
    try:
        fields: list[Any] = msgspec.msgpack.decode(data[_INT16.size :])
    except msgspec.DecodeError as error:
        raise Malformed(str(error), message=type_.__name__, position=_INT16.size) from error
    return type_(*fields)
