"""Codecs of protocol/messages/heartbeat.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_iB, unpack_ih, unpack_ihB
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.refusal import BadField, decode_failure, encode_failure, not_in_version
from protocol.wire import DECODE_ERRORS, ENCODE_ERRORS, at_version, long_text, read_string_size, skip_tags, write_string_size

pack_h = Struct(">h").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ih = Struct(">ih").pack
pack_ihx = Struct(">ihx").pack


def decode_heartbeat_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[HeartbeatRequest, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("group_id")
        if n < 0x80:
            group_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group_id = long_text(buf, here, pos)
        generation_id, n = unpack_ih(buf, pos)
        if n < 0:
            raise BadField("member_id")
        if n < 0x80:
            member_id = buf[pos + 6 : (pos := pos + 6 + n)].decode()
        else:
            here = pos + 6
            pos = here + n
            member_id = long_text(buf, here, pos)
        if pos > len(buf):
            raise IndexError
        return HeartbeatRequest(group_id, generation_id, member_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, HeartbeatRequest, version, buf, start, pos) from None


decode_heartbeat_request_v1 = at_version(decode_heartbeat_request_v0, 1)


decode_heartbeat_request_v2 = at_version(decode_heartbeat_request_v0, 2)


def decode_heartbeat_request_v3(buf: bytes, pos: int, version: int = 3) -> tuple[HeartbeatRequest, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("group_id")
        if n < 0x80:
            group_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group_id = long_text(buf, here, pos)
        generation_id, n = unpack_ih(buf, pos)
        if n < 0:
            raise BadField("member_id")
        if n < 0x80:
            member_id = buf[pos + 6 : (pos := pos + 6 + n)].decode()
        else:
            here = pos + 6
            pos = here + n
            member_id = long_text(buf, here, pos)
        group_instance_id: str | None
        (n,) = unpack_h(buf, pos)
        if n < 0:
            group_instance_id = None
            pos += 2
        elif n < 0x80:
            group_instance_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group_instance_id = long_text(buf, here, pos)
        if pos > len(buf):
            raise IndexError
        return HeartbeatRequest(group_id, generation_id, member_id, group_instance_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, HeartbeatRequest, version, buf, start, pos) from None


def decode_heartbeat_request_v4(buf: bytes, pos: int, version: int = 4) -> tuple[HeartbeatRequest, int]:
    start = pos
    n: int
    try:
        n = buf[pos]
        if 0 < n < 0x80:
            group_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("group_id")
            n -= 1
            here = pos
            pos = here + n
            group_id = long_text(buf, here, pos)
        generation_id, n = unpack_iB(buf, pos)
        if 0 < n < 0x80:
            member_id = buf[pos + 5 : (pos := pos + 4 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 4)
            if n == 0:
                raise BadField("member_id")
            n -= 1
            here = pos
            pos = here + n
            member_id = long_text(buf, here, pos)
        group_instance_id: str | None
        n = buf[pos]
        if not n:
            group_instance_id = None
            pos += 1
        elif n == 1:
            group_instance_id = ""
            pos += 1
        elif n < 0x80:
            group_instance_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                group_instance_id = long_text(buf, here, pos)
            else:
                group_instance_id = None
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return HeartbeatRequest(group_id, generation_id, member_id, group_instance_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, HeartbeatRequest, version, buf, start, pos) from None


def encode_heartbeat_request_v0(msg: HeartbeatRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.group_instance_id is not None:
            raise not_in_version("group_instance_id")
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.member_id.encode()
        out += pack_ih(msg.generation_id, len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "HeartbeatRequest", version) from error


encode_heartbeat_request_v1 = at_version(encode_heartbeat_request_v0, 1)


encode_heartbeat_request_v2 = at_version(encode_heartbeat_request_v0, 2)


def encode_heartbeat_request_v3(msg: HeartbeatRequest, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.member_id.encode()
        out += pack_ih(msg.generation_id, len(raw))
        out += raw
        text = msg.group_instance_id
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_h(n)
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "HeartbeatRequest", version) from error


def encode_heartbeat_request_v4(msg: HeartbeatRequest, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        raw = msg.member_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out += pack_iB(msg.generation_id, n)
        else:
            out += pack_i(msg.generation_id)
            out += write_string_size(n)
        out += raw
        text = msg.group_instance_id
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
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "HeartbeatRequest", version) from error


def decode_heartbeat_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[HeartbeatResponse, int]:
    start = pos
    n: int
    try:
        (error_code,) = unpack_h(buf, pos)
        pos += 2
        return HeartbeatResponse(0, error_code), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, HeartbeatResponse, version, buf, start, pos) from None


def decode_heartbeat_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[HeartbeatResponse, int]:
    start = pos
    n: int
    try:
        throttle_time_ms, error_code = unpack_ih(buf, pos)
        pos += 6
        return HeartbeatResponse(throttle_time_ms, error_code), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, HeartbeatResponse, version, buf, start, pos) from None


decode_heartbeat_response_v2 = at_version(decode_heartbeat_response_v1, 2)


decode_heartbeat_response_v3 = at_version(decode_heartbeat_response_v1, 3)


def decode_heartbeat_response_v4(buf: bytes, pos: int, version: int = 4) -> tuple[HeartbeatResponse, int]:
    start = pos
    n: int
    try:
        throttle_time_ms, error_code, n = unpack_ihB(buf, pos)
        pos += 7
        if n:
            pos = skip_tags(buf, pos - 1)
        return HeartbeatResponse(throttle_time_ms, error_code), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, HeartbeatResponse, version, buf, start, pos) from None


def encode_heartbeat_response_v0(msg: HeartbeatResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        out += pack_h(msg.error_code)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "HeartbeatResponse", version) from error


def encode_heartbeat_response_v1(msg: HeartbeatResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        out += pack_ih(msg.throttle_time_ms, msg.error_code)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "HeartbeatResponse", version) from error


encode_heartbeat_response_v2 = at_version(encode_heartbeat_response_v1, 2)


encode_heartbeat_response_v3 = at_version(encode_heartbeat_response_v1, 3)


def encode_heartbeat_response_v4(msg: HeartbeatResponse, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        out += pack_ihx(msg.throttle_time_ms, msg.error_code)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "HeartbeatResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    HeartbeatRequest: {
        0: decode_heartbeat_request_v0,
        1: decode_heartbeat_request_v1,
        2: decode_heartbeat_request_v2,
        3: decode_heartbeat_request_v3,
        4: decode_heartbeat_request_v4,
    },
    HeartbeatResponse: {
        0: decode_heartbeat_response_v0,
        1: decode_heartbeat_response_v1,
        2: decode_heartbeat_response_v2,
        3: decode_heartbeat_response_v3,
        4: decode_heartbeat_response_v4,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    HeartbeatRequest: {
        0: encode_heartbeat_request_v0,
        1: encode_heartbeat_request_v1,
        2: encode_heartbeat_request_v2,
        3: encode_heartbeat_request_v3,
        4: encode_heartbeat_request_v4,
    },
    HeartbeatResponse: {
        0: encode_heartbeat_response_v0,
        1: encode_heartbeat_response_v1,
        2: encode_heartbeat_response_v2,
        3: encode_heartbeat_response_v3,
        4: encode_heartbeat_response_v4,
    },
}
