"""Codecs of protocol/messages/headers.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_hhih, unpack_i, unpack_iB
from protocol.messages.headers import RequestHeader, ResponseHeader
from protocol.refusal import decode_failure, encode_failure
from protocol.wire import DECODE_ERRORS, ENCODE_ERRORS, long_text, skip_tags

pack_hhih = Struct(">hhih").pack
pack_i = Struct(">i").pack
pack_ix = Struct(">ix").pack


def decode_request_header_v1(buf: bytes, pos: int, version: int = 1) -> tuple[RequestHeader, int]:
    start = pos
    n: int
    try:
        client_id: str | None
        request_api_key, request_api_version, correlation_id, n = unpack_hhih(buf, pos)
        if n < 0:
            client_id = None
            pos += 10
        elif n < 0x80:
            client_id = buf[pos + 10 : (pos := pos + 10 + n)].decode()
        else:
            here = pos + 10
            pos = here + n
            client_id = long_text(buf, here, pos)
        if pos > len(buf):
            raise IndexError
        return RequestHeader(request_api_key, request_api_version, correlation_id, client_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, RequestHeader, version, buf, start, pos) from None


def decode_request_header_v2(buf: bytes, pos: int, version: int = 2) -> tuple[RequestHeader, int]:
    start = pos
    n: int
    try:
        client_id: str | None
        request_api_key, request_api_version, correlation_id, n = unpack_hhih(buf, pos)
        if n < 0:
            client_id = None
            pos += 10
        elif n < 0x80:
            client_id = buf[pos + 10 : (pos := pos + 10 + n)].decode()
        else:
            here = pos + 10
            pos = here + n
            client_id = long_text(buf, here, pos)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return RequestHeader(request_api_key, request_api_version, correlation_id, client_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, RequestHeader, version, buf, start, pos) from None


def encode_request_header_v1(msg: RequestHeader, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        text = msg.client_id
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_hhih(msg.request_api_key, msg.request_api_version, msg.correlation_id, n)
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "RequestHeader", version) from error


def encode_request_header_v2(msg: RequestHeader, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        text = msg.client_id
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_hhih(msg.request_api_key, msg.request_api_version, msg.correlation_id, n)
        out += raw
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "RequestHeader", version) from error


def decode_response_header_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ResponseHeader, int]:
    start = pos
    n: int
    try:
        (correlation_id,) = unpack_i(buf, pos)
        pos += 4
        return ResponseHeader(correlation_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ResponseHeader, version, buf, start, pos) from None


def decode_response_header_v1(buf: bytes, pos: int, version: int = 1) -> tuple[ResponseHeader, int]:
    start = pos
    n: int
    try:
        correlation_id, n = unpack_iB(buf, pos)
        pos += 5
        if n:
            pos = skip_tags(buf, pos - 1)
        return ResponseHeader(correlation_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ResponseHeader, version, buf, start, pos) from None


def encode_response_header_v0(msg: ResponseHeader, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        out += pack_i(msg.correlation_id)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ResponseHeader", version) from error


def encode_response_header_v1(msg: ResponseHeader, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        out += pack_ix(msg.correlation_id)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ResponseHeader", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    RequestHeader: {
        1: decode_request_header_v1,
        2: decode_request_header_v2,
    },
    ResponseHeader: {
        0: decode_response_header_v0,
        1: decode_response_header_v1,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    RequestHeader: {
        1: encode_request_header_v1,
        2: encode_request_header_v2,
    },
    ResponseHeader: {
        0: encode_response_header_v0,
        1: encode_response_header_v1,
    },
}
