"""Codecs of protocol/messages/add_offsets_to_txn.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_ih, unpack_ihB, unpack_qhB, unpack_qhh
from protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from protocol.refusal import BadField, decode_failure, encode_failure
from protocol.wire import DECODE_ERRORS, ENCODE_ERRORS, at_version, long_text, read_string_size, skip_tags, write_string_size

pack_h = Struct(">h").pack
pack_ih = Struct(">ih").pack
pack_ihx = Struct(">ihx").pack
pack_qh = Struct(">qh").pack
pack_qhB = Struct(">qhB").pack
pack_qhh = Struct(">qhh").pack


def decode_add_offsets_to_txn_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[AddOffsetsToTxnRequest, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("transactional_id")
        if n < 0x80:
            transactional_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            transactional_id = long_text(buf, here, pos)
        producer_id, producer_epoch, n = unpack_qhh(buf, pos)
        if n < 0:
            raise BadField("group_id")
        if n < 0x80:
            group_id = buf[pos + 12 : (pos := pos + 12 + n)].decode()
        else:
            here = pos + 12
            pos = here + n
            group_id = long_text(buf, here, pos)
        if pos > len(buf):
            raise IndexError
        return AddOffsetsToTxnRequest(transactional_id, producer_id, producer_epoch, group_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AddOffsetsToTxnRequest, version, buf, start, pos) from None


decode_add_offsets_to_txn_request_v1 = at_version(decode_add_offsets_to_txn_request_v0, 1)


decode_add_offsets_to_txn_request_v2 = at_version(decode_add_offsets_to_txn_request_v0, 2)


def decode_add_offsets_to_txn_request_v3(buf: bytes, pos: int, version: int = 3) -> tuple[AddOffsetsToTxnRequest, int]:
    start = pos
    n: int
    try:
        n = buf[pos]
        if 0 < n < 0x80:
            transactional_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("transactional_id")
            n -= 1
            here = pos
            pos = here + n
            transactional_id = long_text(buf, here, pos)
        producer_id, producer_epoch, n = unpack_qhB(buf, pos)
        if 0 < n < 0x80:
            group_id = buf[pos + 11 : (pos := pos + 10 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 10)
            if n == 0:
                raise BadField("group_id")
            n -= 1
            here = pos
            pos = here + n
            group_id = long_text(buf, here, pos)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return AddOffsetsToTxnRequest(transactional_id, producer_id, producer_epoch, group_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AddOffsetsToTxnRequest, version, buf, start, pos) from None


decode_add_offsets_to_txn_request_v4 = at_version(decode_add_offsets_to_txn_request_v3, 4)


def encode_add_offsets_to_txn_request_v0(msg: AddOffsetsToTxnRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.transactional_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.group_id.encode()
        out += pack_qhh(msg.producer_id, msg.producer_epoch, len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AddOffsetsToTxnRequest", version) from error


encode_add_offsets_to_txn_request_v1 = at_version(encode_add_offsets_to_txn_request_v0, 1)


encode_add_offsets_to_txn_request_v2 = at_version(encode_add_offsets_to_txn_request_v0, 2)


def encode_add_offsets_to_txn_request_v3(msg: AddOffsetsToTxnRequest, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        raw = msg.transactional_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        raw = msg.group_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out += pack_qhB(msg.producer_id, msg.producer_epoch, n)
        else:
            out += pack_qh(msg.producer_id, msg.producer_epoch)
            out += write_string_size(n)
        out += raw
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AddOffsetsToTxnRequest", version) from error


encode_add_offsets_to_txn_request_v4 = at_version(encode_add_offsets_to_txn_request_v3, 4)


def decode_add_offsets_to_txn_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[AddOffsetsToTxnResponse, int]:
    start = pos
    n: int
    try:
        throttle_time_ms, error_code = unpack_ih(buf, pos)
        pos += 6
        return AddOffsetsToTxnResponse(throttle_time_ms, error_code), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AddOffsetsToTxnResponse, version, buf, start, pos) from None


decode_add_offsets_to_txn_response_v1 = at_version(decode_add_offsets_to_txn_response_v0, 1)


decode_add_offsets_to_txn_response_v2 = at_version(decode_add_offsets_to_txn_response_v0, 2)


def decode_add_offsets_to_txn_response_v3(buf: bytes, pos: int, version: int = 3) -> tuple[AddOffsetsToTxnResponse, int]:
    start = pos
    n: int
    try:
        throttle_time_ms, error_code, n = unpack_ihB(buf, pos)
        pos += 7
        if n:
            pos = skip_tags(buf, pos - 1)
        return AddOffsetsToTxnResponse(throttle_time_ms, error_code), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AddOffsetsToTxnResponse, version, buf, start, pos) from None


decode_add_offsets_to_txn_response_v4 = at_version(decode_add_offsets_to_txn_response_v3, 4)


def encode_add_offsets_to_txn_response_v0(msg: AddOffsetsToTxnResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        out += pack_ih(msg.throttle_time_ms, msg.error_code)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AddOffsetsToTxnResponse", version) from error


encode_add_offsets_to_txn_response_v1 = at_version(encode_add_offsets_to_txn_response_v0, 1)


encode_add_offsets_to_txn_response_v2 = at_version(encode_add_offsets_to_txn_response_v0, 2)


def encode_add_offsets_to_txn_response_v3(msg: AddOffsetsToTxnResponse, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        out += pack_ihx(msg.throttle_time_ms, msg.error_code)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AddOffsetsToTxnResponse", version) from error


encode_add_offsets_to_txn_response_v4 = at_version(encode_add_offsets_to_txn_response_v3, 4)


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    AddOffsetsToTxnRequest: {
        0: decode_add_offsets_to_txn_request_v0,
        1: decode_add_offsets_to_txn_request_v1,
        2: decode_add_offsets_to_txn_request_v2,
        3: decode_add_offsets_to_txn_request_v3,
        4: decode_add_offsets_to_txn_request_v4,
    },
    AddOffsetsToTxnResponse: {
        0: decode_add_offsets_to_txn_response_v0,
        1: decode_add_offsets_to_txn_response_v1,
        2: decode_add_offsets_to_txn_response_v2,
        3: decode_add_offsets_to_txn_response_v3,
        4: decode_add_offsets_to_txn_response_v4,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    AddOffsetsToTxnRequest: {
        0: encode_add_offsets_to_txn_request_v0,
        1: encode_add_offsets_to_txn_request_v1,
        2: encode_add_offsets_to_txn_request_v2,
        3: encode_add_offsets_to_txn_request_v3,
        4: encode_add_offsets_to_txn_request_v4,
    },
    AddOffsetsToTxnResponse: {
        0: encode_add_offsets_to_txn_response_v0,
        1: encode_add_offsets_to_txn_response_v1,
        2: encode_add_offsets_to_txn_response_v2,
        3: encode_add_offsets_to_txn_response_v3,
        4: encode_add_offsets_to_txn_response_v4,
    },
}
