"""Codecs of protocol/messages/init_producer_id.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import (
    unpack_h,
    unpack_i,
    unpack_iB,
    unpack_ihqh,
    unpack_ihqhB,
    unpack_ihqhqhB,
    unpack_iqhB,
    unpack_iqhzzB,
)
from protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from protocol.refusal import decode_failure, encode_failure, not_in_version
from protocol.wire import DECODE_ERRORS, ENCODE_ERRORS, at_version, long_text, read_string_size, skip_tags, write_string_size

pack_h = Struct(">h").pack
pack_i = Struct(">i").pack
pack_ihqh = Struct(">ihqh").pack
pack_ihqhqhx = Struct(">ihqhqhx").pack
pack_ihqhx = Struct(">ihqhx").pack
pack_iqhzzx = Struct(">iqh??x").pack
pack_iqhx = Struct(">iqhx").pack
pack_ix = Struct(">ix").pack


def decode_init_producer_id_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[InitProducerIdRequest, int]:
    start = pos
    n: int
    try:
        transactional_id: str | None
        (n,) = unpack_h(buf, pos)
        if n < 0:
            transactional_id = None
            pos += 2
        elif n < 0x80:
            transactional_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            transactional_id = long_text(buf, here, pos)
        (transaction_timeout_ms,) = unpack_i(buf, pos)
        pos += 4
        return InitProducerIdRequest(transactional_id, transaction_timeout_ms), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, InitProducerIdRequest, version, buf, start, pos) from None


decode_init_producer_id_request_v1 = at_version(decode_init_producer_id_request_v0, 1)


def decode_init_producer_id_request_v2(buf: bytes, pos: int, version: int = 2) -> tuple[InitProducerIdRequest, int]:
    start = pos
    n: int
    try:
        transactional_id: str | None
        n = buf[pos]
        if not n:
            transactional_id = None
            pos += 1
        elif n == 1:
            transactional_id = ""
            pos += 1
        elif n < 0x80:
            transactional_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                transactional_id = long_text(buf, here, pos)
            else:
                transactional_id = None
        transaction_timeout_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n:
            pos = skip_tags(buf, pos - 1)
        return InitProducerIdRequest(transactional_id, transaction_timeout_ms), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, InitProducerIdRequest, version, buf, start, pos) from None


def decode_init_producer_id_request_v3(buf: bytes, pos: int, version: int = 3) -> tuple[InitProducerIdRequest, int]:
    start = pos
    n: int
    try:
        transactional_id: str | None
        n = buf[pos]
        if not n:
            transactional_id = None
            pos += 1
        elif n == 1:
            transactional_id = ""
            pos += 1
        elif n < 0x80:
            transactional_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                transactional_id = long_text(buf, here, pos)
            else:
                transactional_id = None
        transaction_timeout_ms, producer_id, producer_epoch, n = unpack_iqhB(buf, pos)
        pos += 15
        if n:
            pos = skip_tags(buf, pos - 1)
        return InitProducerIdRequest(transactional_id, transaction_timeout_ms, producer_id, producer_epoch), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, InitProducerIdRequest, version, buf, start, pos) from None


decode_init_producer_id_request_v4 = at_version(decode_init_producer_id_request_v3, 4)


decode_init_producer_id_request_v5 = at_version(decode_init_producer_id_request_v3, 5)


def decode_init_producer_id_request_v6(buf: bytes, pos: int, version: int = 6) -> tuple[InitProducerIdRequest, int]:
    start = pos
    n: int
    try:
        transactional_id: str | None
        n = buf[pos]
        if not n:
            transactional_id = None
            pos += 1
        elif n == 1:
            transactional_id = ""
            pos += 1
        elif n < 0x80:
            transactional_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                transactional_id = long_text(buf, here, pos)
            else:
                transactional_id = None
        transaction_timeout_ms, producer_id, producer_epoch, enable2_pc, keep_prepared_txn, n = unpack_iqhzzB(buf, pos)
        pos += 17
        if n:
            pos = skip_tags(buf, pos - 1)
        return InitProducerIdRequest(transactional_id, transaction_timeout_ms, producer_id, producer_epoch, enable2_pc, keep_prepared_txn), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, InitProducerIdRequest, version, buf, start, pos) from None


def encode_init_producer_id_request_v0(msg: InitProducerIdRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.producer_id != -1:
            raise not_in_version("producer_id")
        if msg.producer_epoch != -1:
            raise not_in_version("producer_epoch")
        if msg.enable2_pc:
            raise not_in_version("enable2_pc")
        if msg.keep_prepared_txn:
            raise not_in_version("keep_prepared_txn")
        text = msg.transactional_id
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_h(n)
        out += raw
        out += pack_i(msg.transaction_timeout_ms)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "InitProducerIdRequest", version) from error


encode_init_producer_id_request_v1 = at_version(encode_init_producer_id_request_v0, 1)


def encode_init_producer_id_request_v2(msg: InitProducerIdRequest, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        if msg.producer_id != -1:
            raise not_in_version("producer_id")
        if msg.producer_epoch != -1:
            raise not_in_version("producer_epoch")
        if msg.enable2_pc:
            raise not_in_version("enable2_pc")
        if msg.keep_prepared_txn:
            raise not_in_version("keep_prepared_txn")
        text = msg.transactional_id
        if text is None:
            n, raw = 0, b""
        else:
            raw = text.encode()
            n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        out += pack_ix(msg.transaction_timeout_ms)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "InitProducerIdRequest", version) from error


def encode_init_producer_id_request_v3(msg: InitProducerIdRequest, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        if msg.enable2_pc:
            raise not_in_version("enable2_pc")
        if msg.keep_prepared_txn:
            raise not_in_version("keep_prepared_txn")
        text = msg.transactional_id
        if text is None:
            n, raw = 0, b""
        else:
            raw = text.encode()
            n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        out += pack_iqhx(msg.transaction_timeout_ms, msg.producer_id, msg.producer_epoch)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "InitProducerIdRequest", version) from error


encode_init_producer_id_request_v4 = at_version(encode_init_producer_id_request_v3, 4)


encode_init_producer_id_request_v5 = at_version(encode_init_producer_id_request_v3, 5)


def encode_init_producer_id_request_v6(msg: InitProducerIdRequest, out: bytearray, version: int = 6) -> None:
    start = len(out)
    try:
        text = msg.transactional_id
        if text is None:
            n, raw = 0, b""
        else:
            raw = text.encode()
            n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        out += pack_iqhzzx(msg.transaction_timeout_ms, msg.producer_id, msg.producer_epoch, msg.enable2_pc, msg.keep_prepared_txn)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "InitProducerIdRequest", version) from error


def decode_init_producer_id_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[InitProducerIdResponse, int]:
    start = pos
    n: int
    try:
        throttle_time_ms, error_code, producer_id, producer_epoch = unpack_ihqh(buf, pos)
        pos += 16
        return InitProducerIdResponse(throttle_time_ms, error_code, producer_id, producer_epoch), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, InitProducerIdResponse, version, buf, start, pos) from None


decode_init_producer_id_response_v1 = at_version(decode_init_producer_id_response_v0, 1)


def decode_init_producer_id_response_v2(buf: bytes, pos: int, version: int = 2) -> tuple[InitProducerIdResponse, int]:
    start = pos
    n: int
    try:
        throttle_time_ms, error_code, producer_id, producer_epoch, n = unpack_ihqhB(buf, pos)
        pos += 17
        if n:
            pos = skip_tags(buf, pos - 1)
        return InitProducerIdResponse(throttle_time_ms, error_code, producer_id, producer_epoch), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, InitProducerIdResponse, version, buf, start, pos) from None


decode_init_producer_id_response_v3 = at_version(decode_init_producer_id_response_v2, 3)


decode_init_producer_id_response_v4 = at_version(decode_init_producer_id_response_v2, 4)


decode_init_producer_id_response_v5 = at_version(decode_init_producer_id_response_v2, 5)


def decode_init_producer_id_response_v6(buf: bytes, pos: int, version: int = 6) -> tuple[InitProducerIdResponse, int]:
    start = pos
    n: int
    try:
        throttle_time_ms, error_code, producer_id, producer_epoch, ongoing_txn_producer_id, ongoing_txn_producer_epoch, n = unpack_ihqhqhB(buf, pos)
        pos += 27
        if n:
            pos = skip_tags(buf, pos - 1)
        return InitProducerIdResponse(throttle_time_ms, error_code, producer_id, producer_epoch, ongoing_txn_producer_id, ongoing_txn_producer_epoch), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, InitProducerIdResponse, version, buf, start, pos) from None


def encode_init_producer_id_response_v0(msg: InitProducerIdResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.ongoing_txn_producer_id != -1:
            raise not_in_version("ongoing_txn_producer_id")
        if msg.ongoing_txn_producer_epoch != -1:
            raise not_in_version("ongoing_txn_producer_epoch")
        out += pack_ihqh(msg.throttle_time_ms, msg.error_code, msg.producer_id, msg.producer_epoch)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "InitProducerIdResponse", version) from error


encode_init_producer_id_response_v1 = at_version(encode_init_producer_id_response_v0, 1)


def encode_init_producer_id_response_v2(msg: InitProducerIdResponse, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        if msg.ongoing_txn_producer_id != -1:
            raise not_in_version("ongoing_txn_producer_id")
        if msg.ongoing_txn_producer_epoch != -1:
            raise not_in_version("ongoing_txn_producer_epoch")
        out += pack_ihqhx(msg.throttle_time_ms, msg.error_code, msg.producer_id, msg.producer_epoch)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "InitProducerIdResponse", version) from error


encode_init_producer_id_response_v3 = at_version(encode_init_producer_id_response_v2, 3)


encode_init_producer_id_response_v4 = at_version(encode_init_producer_id_response_v2, 4)


encode_init_producer_id_response_v5 = at_version(encode_init_producer_id_response_v2, 5)


def encode_init_producer_id_response_v6(msg: InitProducerIdResponse, out: bytearray, version: int = 6) -> None:
    start = len(out)
    try:
        out += pack_ihqhqhx(msg.throttle_time_ms, msg.error_code, msg.producer_id, msg.producer_epoch, msg.ongoing_txn_producer_id, msg.ongoing_txn_producer_epoch)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "InitProducerIdResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    InitProducerIdRequest: {
        0: decode_init_producer_id_request_v0,
        1: decode_init_producer_id_request_v1,
        2: decode_init_producer_id_request_v2,
        3: decode_init_producer_id_request_v3,
        4: decode_init_producer_id_request_v4,
        5: decode_init_producer_id_request_v5,
        6: decode_init_producer_id_request_v6,
    },
    InitProducerIdResponse: {
        0: decode_init_producer_id_response_v0,
        1: decode_init_producer_id_response_v1,
        2: decode_init_producer_id_response_v2,
        3: decode_init_producer_id_response_v3,
        4: decode_init_producer_id_response_v4,
        5: decode_init_producer_id_response_v5,
        6: decode_init_producer_id_response_v6,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    InitProducerIdRequest: {
        0: encode_init_producer_id_request_v0,
        1: encode_init_producer_id_request_v1,
        2: encode_init_producer_id_request_v2,
        3: encode_init_producer_id_request_v3,
        4: encode_init_producer_id_request_v4,
        5: encode_init_producer_id_request_v5,
        6: encode_init_producer_id_request_v6,
    },
    InitProducerIdResponse: {
        0: encode_init_producer_id_response_v0,
        1: encode_init_producer_id_response_v1,
        2: encode_init_producer_id_response_v2,
        3: encode_init_producer_id_response_v3,
        4: encode_init_producer_id_response_v4,
        5: encode_init_producer_id_response_v5,
        6: encode_init_producer_id_response_v6,
    },
}
