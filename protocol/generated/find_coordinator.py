"""Codecs of protocol/messages/find_coordinator.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import (
    unpack_b,
    unpack_bB,
    unpack_h,
    unpack_hih,
    unpack_i,
    unpack_iB,
    unpack_ih,
    unpack_ihB,
    unpack_ihh,
)
from protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from protocol.refusal import BadField, decode_failure, encode_failure, not_in_version, verify
from protocol.runs import Field, Shape, alike
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

SHAPE_1 = Shape("x", 1, Field("", 0, 1, False, ""), Field("i", 4, 1, False, ""), Field("ih", 6, 1, True, ""))
pack_b = Struct(">b").pack
pack_bB = Struct(">bB").pack
pack_bx = Struct(">bx").pack
pack_h = Struct(">h").pack
pack_hih = Struct(">hih").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_ihh = Struct(">ihh").pack
pack_ix = Struct(">ix").pack


def decode_find_coordinator_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[FindCoordinatorRequest, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("key")
        if n < 0x80:
            key = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            key = long_text(buf, here, pos)
        if pos > len(buf):
            raise IndexError
        return FindCoordinatorRequest(key), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FindCoordinatorRequest, version, buf, start, pos) from None


def decode_find_coordinator_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[FindCoordinatorRequest, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("key")
        if n < 0x80:
            key = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            key = long_text(buf, here, pos)
        (key_type,) = unpack_b(buf, pos)
        pos += 1
        return FindCoordinatorRequest(key, key_type), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FindCoordinatorRequest, version, buf, start, pos) from None


decode_find_coordinator_request_v2 = at_version(decode_find_coordinator_request_v1, 2)


def decode_find_coordinator_request_v3(buf: bytes, pos: int, version: int = 3) -> tuple[FindCoordinatorRequest, int]:
    start = pos
    n: int
    try:
        n = buf[pos]
        if 0 < n < 0x80:
            key = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("key")
            n -= 1
            here = pos
            pos = here + n
            key = long_text(buf, here, pos)
        key_type, n = unpack_bB(buf, pos)
        pos += 2
        if n:
            pos = skip_tags(buf, pos - 1)
        return FindCoordinatorRequest(key, key_type), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FindCoordinatorRequest, version, buf, start, pos) from None


def decode_find_coordinator_request_v4(buf: bytes, pos: int, version: int = 4) -> tuple[FindCoordinatorRequest, int]:
    start = pos
    n: int
    try:
        room = 45840 - 2 * len(buf)
        limit = 16777216
        key_type, n = unpack_bB(buf, pos)
        pos += 2
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        coordinator_keys: list[str]
        if n < 0:
            raise BadField("coordinator_keys")
        room -= n * 100
        if room < 0:
            room, limit = verify(FindCoordinatorRequest, version, buf, start, pos + n, limit - n * 100), 0
        coordinator_keys = []
        coordinator_keys_count = n
        for _ in range(coordinator_keys_count):
            n = buf[pos]
            if 0 < n < 0x80:
                coordinator_keys_item = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("coordinator_keys.item")
                n -= 1
                here = pos
                pos = here + n
                coordinator_keys_item = long_text(buf, here, pos)
            coordinator_keys.append(coordinator_keys_item)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return FindCoordinatorRequest("", key_type, coordinator_keys), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FindCoordinatorRequest, version, buf, start, pos) from None


decode_find_coordinator_request_v5 = at_version(decode_find_coordinator_request_v4, 5)


decode_find_coordinator_request_v6 = at_version(decode_find_coordinator_request_v4, 6)


def encode_find_coordinator_request_v0(msg: FindCoordinatorRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.key_type:
            raise not_in_version("key_type")
        if msg.coordinator_keys:
            raise not_in_version("coordinator_keys")
        raw = msg.key.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FindCoordinatorRequest", version) from error


def encode_find_coordinator_request_v1(msg: FindCoordinatorRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        if msg.coordinator_keys:
            raise not_in_version("coordinator_keys")
        raw = msg.key.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_b(msg.key_type)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FindCoordinatorRequest", version) from error


encode_find_coordinator_request_v2 = at_version(encode_find_coordinator_request_v1, 2)


def encode_find_coordinator_request_v3(msg: FindCoordinatorRequest, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        if msg.coordinator_keys:
            raise not_in_version("coordinator_keys")
        raw = msg.key.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        out += pack_bx(msg.key_type)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FindCoordinatorRequest", version) from error


def encode_find_coordinator_request_v4(msg: FindCoordinatorRequest, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        if msg.key:
            raise not_in_version("key")
        coordinator_keys = msg.coordinator_keys
        n = len(coordinator_keys) + 1
        if n < 0x80:
            out += pack_bB(msg.key_type, n)
        else:
            out += pack_b(msg.key_type)
            out += write_uvarint(n)
        for coordinator_keys_item in coordinator_keys:
            raw = coordinator_keys_item.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FindCoordinatorRequest", version) from error


encode_find_coordinator_request_v5 = at_version(encode_find_coordinator_request_v4, 5)


encode_find_coordinator_request_v6 = at_version(encode_find_coordinator_request_v4, 6)


def decode_find_coordinator_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[FindCoordinatorResponse, int]:
    start = pos
    n: int
    try:
        error_code, node_id, n = unpack_hih(buf, pos)
        if n < 0:
            raise BadField("host")
        if n < 0x80:
            host = buf[pos + 8 : (pos := pos + 8 + n)].decode()
        else:
            here = pos + 8
            pos = here + n
            host = long_text(buf, here, pos)
        (port,) = unpack_i(buf, pos)
        pos += 4
        return FindCoordinatorResponse(0, error_code, "", node_id, host, port), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FindCoordinatorResponse, version, buf, start, pos) from None


def decode_find_coordinator_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[FindCoordinatorResponse, int]:
    start = pos
    n: int
    try:
        error_message: str | None
        throttle_time_ms, error_code, n = unpack_ihh(buf, pos)
        if n < 0:
            error_message = None
            pos += 8
        elif n < 0x80:
            error_message = buf[pos + 8 : (pos := pos + 8 + n)].decode()
        else:
            here = pos + 8
            pos = here + n
            error_message = long_text(buf, here, pos)
        node_id, n = unpack_ih(buf, pos)
        if n < 0:
            raise BadField("host")
        if n < 0x80:
            host = buf[pos + 6 : (pos := pos + 6 + n)].decode()
        else:
            here = pos + 6
            pos = here + n
            host = long_text(buf, here, pos)
        (port,) = unpack_i(buf, pos)
        pos += 4
        return FindCoordinatorResponse(throttle_time_ms, error_code, error_message, node_id, host, port), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FindCoordinatorResponse, version, buf, start, pos) from None


decode_find_coordinator_response_v2 = at_version(decode_find_coordinator_response_v1, 2)


def decode_find_coordinator_response_v3(buf: bytes, pos: int, version: int = 3) -> tuple[FindCoordinatorResponse, int]:
    start = pos
    n: int
    try:
        error_message: str | None
        throttle_time_ms, error_code, n = unpack_ihB(buf, pos)
        if not n:
            error_message = None
            pos += 7
        elif n == 1:
            error_message = ""
            pos += 7
        elif n < 0x80:
            error_message = buf[pos + 7 : (pos := pos + 6 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 6)
            if n:
                n -= 1
                here = pos
                pos = here + n
                error_message = long_text(buf, here, pos)
            else:
                error_message = None
        node_id, n = unpack_iB(buf, pos)
        if 0 < n < 0x80:
            host = buf[pos + 5 : (pos := pos + 4 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 4)
            if n == 0:
                raise BadField("host")
            n -= 1
            here = pos
            pos = here + n
            host = long_text(buf, here, pos)
        port, n = unpack_iB(buf, pos)
        pos += 5
        if n:
            pos = skip_tags(buf, pos - 1)
        return FindCoordinatorResponse(throttle_time_ms, error_code, error_message, node_id, host, port), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FindCoordinatorResponse, version, buf, start, pos) from None


def decode_find_coordinator_response_v4(buf: bytes, pos: int, version: int = 4) -> tuple[FindCoordinatorResponse, int]:
    start = pos
    n: int
    try:
        room = 45808 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        coordinators: list[Coordinator]
        if n < 0:
            raise BadField("coordinators")
        room -= n * 368
        if room < 0:
            room = verify(FindCoordinatorResponse, version, buf, start, pos + n)
        coordinators = []
        coordinators_left, coordinators_step = n, 8
        while coordinators_left:
            coordinators_count = coordinators_left
            if coordinators_left >= 8:
                run = alike(SHAPE_1, buf, pos, coordinators_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    coordinators_left -= n
                    coordinators += [Coordinator(key.decode(), node_id, host.decode(), port, error_code, error_message.decode() if error_message else absent[2]) for key, node_id, host, port, error_code, error_message in rows]
                    continue
                if coordinators_step < coordinators_left:
                    coordinators_count = coordinators_step
                coordinators_step *= 2
            coordinators_left -= coordinators_count
            for _ in range(coordinators_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    coordinators_key = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("coordinators.key")
                    n -= 1
                    here = pos
                    pos = here + n
                    coordinators_key = long_text(buf, here, pos)
                coordinators_node_id, n = unpack_iB(buf, pos)
                if 0 < n < 0x80:
                    coordinators_host = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n == 0:
                        raise BadField("coordinators.host")
                    n -= 1
                    here = pos
                    pos = here + n
                    coordinators_host = long_text(buf, here, pos)
                coordinators_error_message: str | None
                coordinators_port, coordinators_error_code, n = unpack_ihB(buf, pos)
                if not n:
                    coordinators_error_message = None
                    pos += 7
                elif n == 1:
                    coordinators_error_message = ""
                    pos += 7
                elif n < 0x80:
                    coordinators_error_message = buf[pos + 7 : (pos := pos + 6 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 6)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        coordinators_error_message = long_text(buf, here, pos)
                    else:
                        coordinators_error_message = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                coordinators.append(Coordinator(coordinators_key, coordinators_node_id, coordinators_host, coordinators_port, coordinators_error_code, coordinators_error_message))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return FindCoordinatorResponse(throttle_time_ms, 0, "", 0, "", 0, coordinators), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, FindCoordinatorResponse, version, buf, start, pos) from None


decode_find_coordinator_response_v5 = at_version(decode_find_coordinator_response_v4, 5)


decode_find_coordinator_response_v6 = at_version(decode_find_coordinator_response_v4, 6)


def encode_find_coordinator_response_v0(msg: FindCoordinatorResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.coordinators:
            raise not_in_version("coordinators")
        raw = msg.host.encode()
        out += pack_hih(msg.error_code, msg.node_id, len(raw))
        out += raw
        out += pack_i(msg.port)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FindCoordinatorResponse", version) from error


def encode_find_coordinator_response_v1(msg: FindCoordinatorResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        if msg.coordinators:
            raise not_in_version("coordinators")
        text = msg.error_message
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_ihh(msg.throttle_time_ms, msg.error_code, n)
        out += raw
        raw = msg.host.encode()
        out += pack_ih(msg.node_id, len(raw))
        out += raw
        out += pack_i(msg.port)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FindCoordinatorResponse", version) from error


encode_find_coordinator_response_v2 = at_version(encode_find_coordinator_response_v1, 2)


def encode_find_coordinator_response_v3(msg: FindCoordinatorResponse, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        if msg.coordinators:
            raise not_in_version("coordinators")
        text = msg.error_message
        if text is None:
            n, raw = 0, b""
        else:
            raw = text.encode()
            n = len(raw) + 1
        if n < 0x80:
            out += pack_ihB(msg.throttle_time_ms, msg.error_code, n)
        else:
            out += pack_ih(msg.throttle_time_ms, msg.error_code)
            out += write_string_size(n)
        out += raw
        raw = msg.host.encode()
        n = len(raw) + 1
        if n < 0x80:
            out += pack_iB(msg.node_id, n)
        else:
            out += pack_i(msg.node_id)
            out += write_string_size(n)
        out += raw
        out += pack_ix(msg.port)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FindCoordinatorResponse", version) from error


def encode_find_coordinator_response_v4(msg: FindCoordinatorResponse, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        if msg.error_code:
            raise not_in_version("error_code")
        if msg.node_id:
            raise not_in_version("node_id")
        if msg.host:
            raise not_in_version("host")
        if msg.port:
            raise not_in_version("port")
        coordinators = msg.coordinators
        n = len(coordinators) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for coordinators_item in coordinators:
            raw = coordinators_item.key.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = coordinators_item.host.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(coordinators_item.node_id, n)
            else:
                out += pack_i(coordinators_item.node_id)
                out += write_string_size(n)
            out += raw
            text = coordinators_item.error_message
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_ihB(coordinators_item.port, coordinators_item.error_code, n)
            else:
                out += pack_ih(coordinators_item.port, coordinators_item.error_code)
                out += write_string_size(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "FindCoordinatorResponse", version) from error


encode_find_coordinator_response_v5 = at_version(encode_find_coordinator_response_v4, 5)


encode_find_coordinator_response_v6 = at_version(encode_find_coordinator_response_v4, 6)


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    FindCoordinatorRequest: {
        0: decode_find_coordinator_request_v0,
        1: decode_find_coordinator_request_v1,
        2: decode_find_coordinator_request_v2,
        3: decode_find_coordinator_request_v3,
        4: decode_find_coordinator_request_v4,
        5: decode_find_coordinator_request_v5,
        6: decode_find_coordinator_request_v6,
    },
    FindCoordinatorResponse: {
        0: decode_find_coordinator_response_v0,
        1: decode_find_coordinator_response_v1,
        2: decode_find_coordinator_response_v2,
        3: decode_find_coordinator_response_v3,
        4: decode_find_coordinator_response_v4,
        5: decode_find_coordinator_response_v5,
        6: decode_find_coordinator_response_v6,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    FindCoordinatorRequest: {
        0: encode_find_coordinator_request_v0,
        1: encode_find_coordinator_request_v1,
        2: encode_find_coordinator_request_v2,
        3: encode_find_coordinator_request_v3,
        4: encode_find_coordinator_request_v4,
        5: encode_find_coordinator_request_v5,
        6: encode_find_coordinator_request_v6,
    },
    FindCoordinatorResponse: {
        0: encode_find_coordinator_response_v0,
        1: encode_find_coordinator_response_v1,
        2: encode_find_coordinator_response_v2,
        3: encode_find_coordinator_response_v3,
        4: encode_find_coordinator_response_v4,
        5: encode_find_coordinator_response_v5,
        6: encode_find_coordinator_response_v6,
    },
}
