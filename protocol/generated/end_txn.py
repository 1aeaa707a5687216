"""Codecs of protocol/messages/end_txn.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_ih, unpack_ihB, unpack_ihqhB, unpack_qhz, unpack_qhzB
from protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from protocol.refusal import BadField, decode_failure, encode_failure
from protocol.wire import DECODE_ERRORS, ENCODE_ERRORS, at_version, long_text, read_string_size, skip_tags, write_string_size

pack_h = Struct(">h").pack
pack_ih = Struct(">ih").pack
pack_ihqhx = Struct(">ihqhx").pack
pack_ihx = Struct(">ihx").pack
pack_qhz = Struct(">qh?").pack
pack_qhzx = Struct(">qh?x").pack


def decode_end_txn_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[EndTxnRequest, int]:
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
        producer_id, producer_epoch, committed = unpack_qhz(buf, pos)
        pos += 11
        return EndTxnRequest(transactional_id, producer_id, producer_epoch, committed), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, EndTxnRequest, version, buf, start, pos) from None


decode_end_txn_request_v1 = at_version(decode_end_txn_request_v0, 1)


decode_end_txn_request_v2 = at_version(decode_end_txn_request_v0, 2)


def decode_end_txn_request_v3(buf: bytes, pos: int, version: int = 3) -> tuple[EndTxnRequest, int]:
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
        producer_id, producer_epoch, committed, n = unpack_qhzB(buf, pos)
        pos += 12
        if n:
            pos = skip_tags(buf, pos - 1)
        return EndTxnRequest(transactional_id, producer_id, producer_epoch, committed), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, EndTxnRequest, version, buf, start, pos) from None


decode_end_txn_request_v4 = at_version(decode_end_txn_request_v3, 4)


decode_end_txn_request_v5 = at_version(decode_end_txn_request_v3, 5)


def encode_end_txn_request_v0(msg: EndTxnRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.transactional_id.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_qhz(msg.producer_id, msg.producer_epoch, msg.committed)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "EndTxnRequest", version) from error


encode_end_txn_request_v1 = at_version(encode_end_txn_request_v0, 1)


encode_end_txn_request_v2 = at_version(encode_end_txn_request_v0, 2)


def encode_end_txn_request_v3(msg: EndTxnRequest, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        raw = msg.transactional_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        out += pack_qhzx(msg.producer_id, msg.producer_epoch, msg.committed)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "EndTxnRequest", version) from error


encode_end_txn_request_v4 = at_version(encode_end_txn_request_v3, 4)


encode_end_txn_request_v5 = at_version(encode_end_txn_request_v3, 5)


def decode_end_txn_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[EndTxnResponse, int]:
    start = pos
    n: int
    try:
        throttle_time_ms, error_code = unpack_ih(buf, pos)
        pos += 6
        return EndTxnResponse(throttle_time_ms, error_code), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, EndTxnResponse, version, buf, start, pos) from None


decode_end_txn_response_v1 = at_version(decode_end_txn_response_v0, 1)


decode_end_txn_response_v2 = at_version(decode_end_txn_response_v0, 2)


def decode_end_txn_response_v3(buf: bytes, pos: int, version: int = 3) -> tuple[EndTxnResponse, int]:
    start = pos
    n: int
    try:
        throttle_time_ms, error_code, n = unpack_ihB(buf, pos)
        pos += 7
        if n:
            pos = skip_tags(buf, pos - 1)
        return EndTxnResponse(throttle_time_ms, error_code), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, EndTxnResponse, version, buf, start, pos) from None


decode_end_txn_response_v4 = at_version(decode_end_txn_response_v3, 4)


def decode_end_txn_response_v5(buf: bytes, pos: int, version: int = 5) -> tuple[EndTxnResponse, int]:
    start = pos
    n: int
    try:
        throttle_time_ms, error_code, producer_id, producer_epoch, n = unpack_ihqhB(buf, pos)
        pos += 17
        if n:
            pos = skip_tags(buf, pos - 1)
        return EndTxnResponse(throttle_time_ms, error_code, producer_id, producer_epoch), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, EndTxnResponse, version, buf, start, pos) from None


def encode_end_txn_response_v0(msg: EndTxnResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        out += pack_ih(msg.throttle_time_ms, msg.error_code)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "EndTxnResponse", version) from error


encode_end_txn_response_v1 = at_version(encode_end_txn_response_v0, 1)


encode_end_txn_response_v2 = at_version(encode_end_txn_response_v0, 2)


def encode_end_txn_response_v3(msg: EndTxnResponse, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        out += pack_ihx(msg.throttle_time_ms, msg.error_code)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "EndTxnResponse", version) from error


encode_end_txn_response_v4 = at_version(encode_end_txn_response_v3, 4)


def encode_end_txn_response_v5(msg: EndTxnResponse, out: bytearray, version: int = 5) -> None:
    start = len(out)
    try:
        out += pack_ihqhx(msg.throttle_time_ms, msg.error_code, msg.producer_id, msg.producer_epoch)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "EndTxnResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    EndTxnRequest: {
        0: decode_end_txn_request_v0,
        1: decode_end_txn_request_v1,
        2: decode_end_txn_request_v2,
        3: decode_end_txn_request_v3,
        4: decode_end_txn_request_v4,
        5: decode_end_txn_request_v5,
    },
    EndTxnResponse: {
        0: decode_end_txn_response_v0,
        1: decode_end_txn_response_v1,
        2: decode_end_txn_response_v2,
        3: decode_end_txn_response_v3,
        4: decode_end_txn_response_v4,
        5: decode_end_txn_response_v5,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    EndTxnRequest: {
        0: encode_end_txn_request_v0,
        1: encode_end_txn_request_v1,
        2: encode_end_txn_request_v2,
        3: encode_end_txn_request_v3,
        4: encode_end_txn_request_v4,
        5: encode_end_txn_request_v5,
    },
    EndTxnResponse: {
        0: encode_end_txn_response_v0,
        1: encode_end_txn_response_v1,
        2: encode_end_txn_response_v2,
        3: encode_end_txn_response_v3,
        4: encode_end_txn_response_v4,
        5: encode_end_txn_response_v5,
    },
}
