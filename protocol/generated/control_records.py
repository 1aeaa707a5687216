"""Codecs of protocol/messages/control_records.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_i
from protocol.messages.control_records import ControlRecordTypeSchema, EndTxnMarker
from protocol.refusal import decode_failure, encode_failure
from protocol.wire import DECODE_ERRORS, ENCODE_ERRORS

pack_h = Struct(">h").pack
pack_i = Struct(">i").pack


def decode_control_record_type_schema_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ControlRecordTypeSchema, int]:
    start = pos
    n: int
    try:
        (type,) = unpack_h(buf, pos)
        pos += 2
        return ControlRecordTypeSchema(type), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ControlRecordTypeSchema, version, buf, start, pos) from None


def encode_control_record_type_schema_v0(msg: ControlRecordTypeSchema, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        out += pack_h(msg.type)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ControlRecordTypeSchema", version) from error


def decode_end_txn_marker_v0(buf: bytes, pos: int, version: int = 0) -> tuple[EndTxnMarker, int]:
    start = pos
    n: int
    try:
        (coordinator_epoch,) = unpack_i(buf, pos)
        pos += 4
        return EndTxnMarker(coordinator_epoch), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, EndTxnMarker, version, buf, start, pos) from None


def encode_end_txn_marker_v0(msg: EndTxnMarker, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        out += pack_i(msg.coordinator_epoch)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "EndTxnMarker", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    ControlRecordTypeSchema: {
        0: decode_control_record_type_schema_v0,
    },
    EndTxnMarker: {
        0: decode_end_txn_marker_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    ControlRecordTypeSchema: {
        0: encode_control_record_type_schema_v0,
    },
    EndTxnMarker: {
        0: encode_end_txn_marker_v0,
    },
}
