"""Codecs of protocol/messages/sasl_authenticate.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_hB, unpack_hh, unpack_i, unpack_q, unpack_qB
from protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from protocol.refusal import BadField, decode_failure, encode_failure
from protocol.wire import (
    DECODE_ERRORS,
    ENCODE_ERRORS,
    at_version,
    long_text,
    read_string_size,
    read_uvarint,
    skip_tags,
    write_string_size,
    write_uvarint,
)

pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_hh = Struct(">hh").pack
pack_i = Struct(">i").pack
pack_q = Struct(">q").pack
pack_qx = Struct(">qx").pack


def decode_sasl_authenticate_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[SaslAuthenticateRequest, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_i(buf, pos)
        if n < 0:
            raise BadField("auth_bytes")
        auth_bytes = buf[pos + 4 : (pos := pos + 4 + n)]
        if pos > len(buf):
            raise IndexError
        return SaslAuthenticateRequest(auth_bytes), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, SaslAuthenticateRequest, version, buf, start, pos) from None


decode_sasl_authenticate_request_v1 = at_version(decode_sasl_authenticate_request_v0, 1)


def decode_sasl_authenticate_request_v2(buf: bytes, pos: int, version: int = 2) -> tuple[SaslAuthenticateRequest, int]:
    start = pos
    n: int
    try:
        n = buf[pos]
        if 0 < n < 0x80:
            auth_bytes = buf[pos + 1 : (pos := pos + n)]
        else:
            n, pos = read_uvarint(buf, pos)
            if n == 0:
                raise BadField("auth_bytes")
            n -= 1
            here = pos
            pos = here + n
            auth_bytes = buf[here:pos]
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return SaslAuthenticateRequest(auth_bytes), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, SaslAuthenticateRequest, version, buf, start, pos) from None


def encode_sasl_authenticate_request_v0(msg: SaslAuthenticateRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.auth_bytes
        out += pack_i(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "SaslAuthenticateRequest", version) from error


encode_sasl_authenticate_request_v1 = at_version(encode_sasl_authenticate_request_v0, 1)


def encode_sasl_authenticate_request_v2(msg: SaslAuthenticateRequest, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        raw = msg.auth_bytes
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        out += raw
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "SaslAuthenticateRequest", version) from error


def decode_sasl_authenticate_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[SaslAuthenticateResponse, int]:
    start = pos
    n: int
    try:
        error_message: str | None
        error_code, n = unpack_hh(buf, pos)
        if n < 0:
            error_message = None
            pos += 4
        elif n < 0x80:
            error_message = buf[pos + 4 : (pos := pos + 4 + n)].decode()
        else:
            here = pos + 4
            pos = here + n
            error_message = long_text(buf, here, pos)
        (n,) = unpack_i(buf, pos)
        if n < 0:
            raise BadField("auth_bytes")
        auth_bytes = buf[pos + 4 : (pos := pos + 4 + n)]
        if pos > len(buf):
            raise IndexError
        return SaslAuthenticateResponse(error_code, error_message, auth_bytes), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, SaslAuthenticateResponse, version, buf, start, pos) from None


def decode_sasl_authenticate_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[SaslAuthenticateResponse, int]:
    start = pos
    n: int
    try:
        error_message: str | None
        error_code, n = unpack_hh(buf, pos)
        if n < 0:
            error_message = None
            pos += 4
        elif n < 0x80:
            error_message = buf[pos + 4 : (pos := pos + 4 + n)].decode()
        else:
            here = pos + 4
            pos = here + n
            error_message = long_text(buf, here, pos)
        (n,) = unpack_i(buf, pos)
        if n < 0:
            raise BadField("auth_bytes")
        auth_bytes = buf[pos + 4 : (pos := pos + 4 + n)]
        (session_lifetime_ms,) = unpack_q(buf, pos)
        pos += 8
        return SaslAuthenticateResponse(error_code, error_message, auth_bytes, session_lifetime_ms), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, SaslAuthenticateResponse, version, buf, start, pos) from None


def decode_sasl_authenticate_response_v2(buf: bytes, pos: int, version: int = 2) -> tuple[SaslAuthenticateResponse, int]:
    start = pos
    n: int
    try:
        error_message: str | None
        error_code, n = unpack_hB(buf, pos)
        if not n:
            error_message = None
            pos += 3
        elif n == 1:
            error_message = ""
            pos += 3
        elif n < 0x80:
            error_message = buf[pos + 3 : (pos := pos + 2 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 2)
            if n:
                n -= 1
                here = pos
                pos = here + n
                error_message = long_text(buf, here, pos)
            else:
                error_message = None
        n = buf[pos]
        if 0 < n < 0x80:
            auth_bytes = buf[pos + 1 : (pos := pos + n)]
        else:
            n, pos = read_uvarint(buf, pos)
            if n == 0:
                raise BadField("auth_bytes")
            n -= 1
            here = pos
            pos = here + n
            auth_bytes = buf[here:pos]
        session_lifetime_ms, n = unpack_qB(buf, pos)
        pos += 9
        if n:
            pos = skip_tags(buf, pos - 1)
        return SaslAuthenticateResponse(error_code, error_message, auth_bytes, session_lifetime_ms), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, SaslAuthenticateResponse, version, buf, start, pos) from None


def encode_sasl_authenticate_response_v0(msg: SaslAuthenticateResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        text = msg.error_message
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_hh(msg.error_code, n)
        out += raw
        raw = msg.auth_bytes
        out += pack_i(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "SaslAuthenticateResponse", version) from error


def encode_sasl_authenticate_response_v1(msg: SaslAuthenticateResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        text = msg.error_message
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_hh(msg.error_code, n)
        out += raw
        raw = msg.auth_bytes
        out += pack_i(len(raw))
        out += raw
        out += pack_q(msg.session_lifetime_ms)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "SaslAuthenticateResponse", version) from error


def encode_sasl_authenticate_response_v2(msg: SaslAuthenticateResponse, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        text = msg.error_message
        if text is None:
            n, raw = 0, b""
        else:
            raw = text.encode()
            n = len(raw) + 1
        if n < 0x80:
            out += pack_hB(msg.error_code, n)
        else:
            out += pack_h(msg.error_code)
            out += write_string_size(n)
        out += raw
        raw = msg.auth_bytes
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        out += raw
        out += pack_qx(msg.session_lifetime_ms)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "SaslAuthenticateResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    SaslAuthenticateRequest: {
        0: decode_sasl_authenticate_request_v0,
        1: decode_sasl_authenticate_request_v1,
        2: decode_sasl_authenticate_request_v2,
    },
    SaslAuthenticateResponse: {
        0: decode_sasl_authenticate_response_v0,
        1: decode_sasl_authenticate_response_v1,
        2: decode_sasl_authenticate_response_v2,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    SaslAuthenticateRequest: {
        0: encode_sasl_authenticate_request_v0,
        1: encode_sasl_authenticate_request_v1,
        2: encode_sasl_authenticate_request_v2,
    },
    SaslAuthenticateResponse: {
        0: encode_sasl_authenticate_response_v0,
        1: encode_sasl_authenticate_response_v1,
        2: encode_sasl_authenticate_response_v2,
    },
}
