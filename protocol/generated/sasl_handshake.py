"""Codecs of protocol/messages/sasl_handshake.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_hi
from protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from protocol.refusal import BadField, decode_failure, encode_failure, verify
from protocol.wire import DECODE_ERRORS, ENCODE_ERRORS, at_version, long_text

pack_h = Struct(">h").pack
pack_hi = Struct(">hi").pack


def decode_sasl_handshake_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[SaslHandshakeRequest, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("mechanism")
        if n < 0x80:
            mechanism = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            mechanism = long_text(buf, here, pos)
        if pos > len(buf):
            raise IndexError
        return SaslHandshakeRequest(mechanism), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, SaslHandshakeRequest, version, buf, start, pos) from None


decode_sasl_handshake_request_v1 = at_version(decode_sasl_handshake_request_v0, 1)


def encode_sasl_handshake_request_v0(msg: SaslHandshakeRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.mechanism.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "SaslHandshakeRequest", version) from error


encode_sasl_handshake_request_v1 = at_version(encode_sasl_handshake_request_v0, 1)


def decode_sasl_handshake_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[SaslHandshakeResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        error_code, n = unpack_hi(buf, pos)
        pos += 6
        mechanisms: list[str]
        if n < 0:
            raise BadField("mechanisms")
        room -= n * 96
        if room < 0:
            room = verify(SaslHandshakeResponse, version, buf, start, pos + n)
        mechanisms = []
        mechanisms_count = n
        for _ in range(mechanisms_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("mechanisms.item")
            if n < 0x80:
                mechanisms_item = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                mechanisms_item = long_text(buf, here, pos)
            mechanisms.append(mechanisms_item)
        if pos > len(buf):
            raise IndexError
        return SaslHandshakeResponse(error_code, mechanisms), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, SaslHandshakeResponse, version, buf, start, pos) from None


decode_sasl_handshake_response_v1 = at_version(decode_sasl_handshake_response_v0, 1)


def encode_sasl_handshake_response_v0(msg: SaslHandshakeResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        mechanisms = msg.mechanisms
        out += pack_hi(msg.error_code, len(mechanisms))
        for mechanisms_item in mechanisms:
            raw = mechanisms_item.encode()
            out += pack_h(len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "SaslHandshakeResponse", version) from error


encode_sasl_handshake_response_v1 = at_version(encode_sasl_handshake_response_v0, 1)


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    SaslHandshakeRequest: {
        0: decode_sasl_handshake_request_v0,
        1: decode_sasl_handshake_request_v1,
    },
    SaslHandshakeResponse: {
        0: decode_sasl_handshake_response_v0,
        1: decode_sasl_handshake_response_v1,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    SaslHandshakeRequest: {
        0: encode_sasl_handshake_request_v0,
        1: encode_sasl_handshake_request_v1,
    },
    SaslHandshakeResponse: {
        0: encode_sasl_handshake_response_v0,
        1: encode_sasl_handshake_response_v1,
    },
}
