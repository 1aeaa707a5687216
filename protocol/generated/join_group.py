"""Codecs of protocol/messages/join_group.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import (
    unpack_h,
    unpack_hih,
    unpack_i,
    unpack_ih,
    unpack_ihiB,
    unpack_ihih,
    unpack_iiB,
    unpack_iih,
    unpack_zB,
)
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse, JoinGroupResponseMember
from protocol.refusal import BadField, decode_failure, encode_failure, not_in_version, verify
from protocol.runs import RUNS_OF_TEXT, Field, Shape, alike
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

SHAPE_1 = Shape("", 0, Field("", 0, 2, False, ""), Field("", 0, 4, False, b""))
SHAPE_2 = Shape("x", 1, Field("", 0, 1, False, ""), Field("", 0, 1, False, b""))
SHAPE_3 = Shape("", 0, Field("", 0, 2, False, ""), Field("", 0, 2, True, ""), Field("", 0, 4, False, b""))
SHAPE_4 = Shape("x", 1, Field("", 0, 1, False, ""), Field("", 0, 1, True, ""), Field("", 0, 1, False, b""))
pack_z = Struct(">?").pack
pack_zB = Struct(">?B").pack
pack_h = Struct(">h").pack
pack_hih = Struct(">hih").pack
pack_i = Struct(">i").pack
pack_ih = Struct(">ih").pack
pack_ihi = Struct(">ihi").pack
pack_ihiB = Struct(">ihiB").pack
pack_ihih = Struct(">ihih").pack
pack_ii = Struct(">ii").pack
pack_iiB = Struct(">iiB").pack
pack_iih = Struct(">iih").pack


def decode_join_group_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[JoinGroupRequest, int]:
    start = pos
    n: int
    try:
        room = 45568 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("group_id")
        if n < 0x80:
            group_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group_id = long_text(buf, here, pos)
        session_timeout_ms, n = unpack_ih(buf, pos)
        if n < 0:
            raise BadField("member_id")
        if n < 0x80:
            member_id = buf[pos + 6 : (pos := pos + 6 + n)].decode()
        else:
            here = pos + 6
            pos = here + n
            member_id = long_text(buf, here, pos)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("protocol_type")
        if n < 0x80:
            protocol_type = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            protocol_type = long_text(buf, here, pos)
        (n,) = unpack_i(buf, pos)
        pos += 4
        protocols: list[JoinGroupRequestProtocol]
        if n < 0:
            raise BadField("protocols")
        room -= n * 160
        if room < 0:
            room, limit = verify(JoinGroupRequest, version, buf, start, pos + n, limit - n * 160), 0
        protocols = []
        protocols_left, protocols_step = n, 8
        while protocols_left:
            protocols_count = protocols_left
            if protocols_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, protocols_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    protocols_left -= n
                    protocols += [JoinGroupRequestProtocol(name.decode(), metadata) for name, metadata in rows]
                    continue
                if protocols_step < protocols_left:
                    protocols_count = protocols_step
                protocols_step *= 2
            protocols_left -= protocols_count
            for _ in range(protocols_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("protocols.name")
                if n < 0x80:
                    protocols_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    protocols_name = long_text(buf, here, pos)
                (n,) = unpack_i(buf, pos)
                if n < 0:
                    raise BadField("protocols.metadata")
                protocols_metadata = buf[pos + 4 : (pos := pos + 4 + n)]
                protocols.append(JoinGroupRequestProtocol(protocols_name, protocols_metadata))
        if pos > len(buf):
            raise IndexError
        return JoinGroupRequest(group_id, session_timeout_ms, -1, member_id, None, protocol_type, protocols), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, JoinGroupRequest, version, buf, start, pos) from None


def decode_join_group_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[JoinGroupRequest, int]:
    start = pos
    n: int
    try:
        room = 45536 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("group_id")
        if n < 0x80:
            group_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group_id = long_text(buf, here, pos)
        session_timeout_ms, rebalance_timeout_ms, n = unpack_iih(buf, pos)
        if n < 0:
            raise BadField("member_id")
        if n < 0x80:
            member_id = buf[pos + 10 : (pos := pos + 10 + n)].decode()
        else:
            here = pos + 10
            pos = here + n
            member_id = long_text(buf, here, pos)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("protocol_type")
        if n < 0x80:
            protocol_type = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            protocol_type = long_text(buf, here, pos)
        (n,) = unpack_i(buf, pos)
        pos += 4
        protocols: list[JoinGroupRequestProtocol]
        if n < 0:
            raise BadField("protocols")
        room -= n * 160
        if room < 0:
            room, limit = verify(JoinGroupRequest, version, buf, start, pos + n, limit - n * 160), 0
        protocols = []
        protocols_left, protocols_step = n, 8
        while protocols_left:
            protocols_count = protocols_left
            if protocols_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, protocols_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    protocols_left -= n
                    protocols += [JoinGroupRequestProtocol(name.decode(), metadata) for name, metadata in rows]
                    continue
                if protocols_step < protocols_left:
                    protocols_count = protocols_step
                protocols_step *= 2
            protocols_left -= protocols_count
            for _ in range(protocols_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("protocols.name")
                if n < 0x80:
                    protocols_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    protocols_name = long_text(buf, here, pos)
                (n,) = unpack_i(buf, pos)
                if n < 0:
                    raise BadField("protocols.metadata")
                protocols_metadata = buf[pos + 4 : (pos := pos + 4 + n)]
                protocols.append(JoinGroupRequestProtocol(protocols_name, protocols_metadata))
        if pos > len(buf):
            raise IndexError
        return JoinGroupRequest(group_id, session_timeout_ms, rebalance_timeout_ms, member_id, None, protocol_type, protocols), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, JoinGroupRequest, version, buf, start, pos) from None


decode_join_group_request_v2 = at_version(decode_join_group_request_v1, 2)


decode_join_group_request_v3 = at_version(decode_join_group_request_v1, 3)


decode_join_group_request_v4 = at_version(decode_join_group_request_v1, 4)


def decode_join_group_request_v5(buf: bytes, pos: int, version: int = 5) -> tuple[JoinGroupRequest, int]:
    start = pos
    n: int
    try:
        room = 45456 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("group_id")
        if n < 0x80:
            group_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group_id = long_text(buf, here, pos)
        session_timeout_ms, rebalance_timeout_ms, n = unpack_iih(buf, pos)
        if n < 0:
            raise BadField("member_id")
        if n < 0x80:
            member_id = buf[pos + 10 : (pos := pos + 10 + n)].decode()
        else:
            here = pos + 10
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
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("protocol_type")
        if n < 0x80:
            protocol_type = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            protocol_type = long_text(buf, here, pos)
        (n,) = unpack_i(buf, pos)
        pos += 4
        protocols: list[JoinGroupRequestProtocol]
        if n < 0:
            raise BadField("protocols")
        room -= n * 160
        if room < 0:
            room, limit = verify(JoinGroupRequest, version, buf, start, pos + n, limit - n * 160), 0
        protocols = []
        protocols_left, protocols_step = n, 8
        while protocols_left:
            protocols_count = protocols_left
            if protocols_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, protocols_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    protocols_left -= n
                    protocols += [JoinGroupRequestProtocol(name.decode(), metadata) for name, metadata in rows]
                    continue
                if protocols_step < protocols_left:
                    protocols_count = protocols_step
                protocols_step *= 2
            protocols_left -= protocols_count
            for _ in range(protocols_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("protocols.name")
                if n < 0x80:
                    protocols_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    protocols_name = long_text(buf, here, pos)
                (n,) = unpack_i(buf, pos)
                if n < 0:
                    raise BadField("protocols.metadata")
                protocols_metadata = buf[pos + 4 : (pos := pos + 4 + n)]
                protocols.append(JoinGroupRequestProtocol(protocols_name, protocols_metadata))
        if pos > len(buf):
            raise IndexError
        return JoinGroupRequest(group_id, session_timeout_ms, rebalance_timeout_ms, member_id, group_instance_id, protocol_type, protocols), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, JoinGroupRequest, version, buf, start, pos) from None


def decode_join_group_request_v6(buf: bytes, pos: int, version: int = 6) -> tuple[JoinGroupRequest, int]:
    start = pos
    n: int
    try:
        room = 45456 - 2 * len(buf)
        limit = 16777216
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
        session_timeout_ms, rebalance_timeout_ms, n = unpack_iiB(buf, pos)
        if 0 < n < 0x80:
            member_id = buf[pos + 9 : (pos := pos + 8 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 8)
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
        if 0 < n < 0x80:
            protocol_type = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("protocol_type")
            n -= 1
            here = pos
            pos = here + n
            protocol_type = long_text(buf, here, pos)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        protocols: list[JoinGroupRequestProtocol]
        if n < 0:
            raise BadField("protocols")
        room -= n * 172
        if room < 0:
            room, limit = verify(JoinGroupRequest, version, buf, start, pos + n, limit - n * 172), 0
        protocols = []
        protocols_left, protocols_step = n, 8
        while protocols_left:
            protocols_count = protocols_left
            if protocols_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_2, buf, pos, protocols_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    protocols_left -= n
                    protocols += [JoinGroupRequestProtocol(name.decode(), metadata) for name, metadata in rows]
                    continue
                if protocols_step < protocols_left:
                    protocols_count = protocols_step
                protocols_step *= 2
            protocols_left -= protocols_count
            for _ in range(protocols_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    protocols_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("protocols.name")
                    n -= 1
                    here = pos
                    pos = here + n
                    protocols_name = long_text(buf, here, pos)
                n = buf[pos]
                if 0 < n < 0x80:
                    protocols_metadata = buf[pos + 1 : (pos := pos + n)]
                else:
                    n, pos = read_uvarint(buf, pos)
                    if n == 0:
                        raise BadField("protocols.metadata")
                    n -= 1
                    here = pos
                    pos = here + n
                    protocols_metadata = buf[here:pos]
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                protocols.append(JoinGroupRequestProtocol(protocols_name, protocols_metadata))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return JoinGroupRequest(group_id, session_timeout_ms, rebalance_timeout_ms, member_id, group_instance_id, protocol_type, protocols), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, JoinGroupRequest, version, buf, start, pos) from None


decode_join_group_request_v7 = at_version(decode_join_group_request_v6, 7)


def decode_join_group_request_v8(buf: bytes, pos: int, version: int = 8) -> tuple[JoinGroupRequest, int]:
    start = pos
    n: int
    try:
        room = 45376 - 2 * len(buf)
        limit = 16777216
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
        session_timeout_ms, rebalance_timeout_ms, n = unpack_iiB(buf, pos)
        if 0 < n < 0x80:
            member_id = buf[pos + 9 : (pos := pos + 8 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 8)
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
        if 0 < n < 0x80:
            protocol_type = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("protocol_type")
            n -= 1
            here = pos
            pos = here + n
            protocol_type = long_text(buf, here, pos)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        protocols: list[JoinGroupRequestProtocol]
        if n < 0:
            raise BadField("protocols")
        room -= n * 172
        if room < 0:
            room, limit = verify(JoinGroupRequest, version, buf, start, pos + n, limit - n * 172), 0
        protocols = []
        protocols_left, protocols_step = n, 8
        while protocols_left:
            protocols_count = protocols_left
            if protocols_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_2, buf, pos, protocols_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    protocols_left -= n
                    protocols += [JoinGroupRequestProtocol(name.decode(), metadata) for name, metadata in rows]
                    continue
                if protocols_step < protocols_left:
                    protocols_count = protocols_step
                protocols_step *= 2
            protocols_left -= protocols_count
            for _ in range(protocols_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    protocols_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("protocols.name")
                    n -= 1
                    here = pos
                    pos = here + n
                    protocols_name = long_text(buf, here, pos)
                n = buf[pos]
                if 0 < n < 0x80:
                    protocols_metadata = buf[pos + 1 : (pos := pos + n)]
                else:
                    n, pos = read_uvarint(buf, pos)
                    if n == 0:
                        raise BadField("protocols.metadata")
                    n -= 1
                    here = pos
                    pos = here + n
                    protocols_metadata = buf[here:pos]
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                protocols.append(JoinGroupRequestProtocol(protocols_name, protocols_metadata))
        reason: str | None
        n = buf[pos]
        if not n:
            reason = None
            pos += 1
        elif n == 1:
            reason = ""
            pos += 1
        elif n < 0x80:
            reason = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                reason = long_text(buf, here, pos)
            else:
                reason = None
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return JoinGroupRequest(group_id, session_timeout_ms, rebalance_timeout_ms, member_id, group_instance_id, protocol_type, protocols, reason), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, JoinGroupRequest, version, buf, start, pos) from None


decode_join_group_request_v9 = at_version(decode_join_group_request_v8, 9)


def encode_join_group_request_v0(msg: JoinGroupRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.group_instance_id is not None:
            raise not_in_version("group_instance_id")
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.member_id.encode()
        out += pack_ih(msg.session_timeout_ms, len(raw))
        out += raw
        raw = msg.protocol_type.encode()
        out += pack_h(len(raw))
        out += raw
        protocols = msg.protocols
        out += pack_i(len(protocols))
        for protocols_item in protocols:
            raw = protocols_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            raw = protocols_item.metadata
            out += pack_i(len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "JoinGroupRequest", version) from error


def encode_join_group_request_v1(msg: JoinGroupRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        if msg.group_instance_id is not None:
            raise not_in_version("group_instance_id")
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.member_id.encode()
        out += pack_iih(msg.session_timeout_ms, msg.rebalance_timeout_ms, len(raw))
        out += raw
        raw = msg.protocol_type.encode()
        out += pack_h(len(raw))
        out += raw
        protocols = msg.protocols
        out += pack_i(len(protocols))
        for protocols_item in protocols:
            raw = protocols_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            raw = protocols_item.metadata
            out += pack_i(len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "JoinGroupRequest", version) from error


encode_join_group_request_v2 = at_version(encode_join_group_request_v1, 2)


encode_join_group_request_v3 = at_version(encode_join_group_request_v1, 3)


encode_join_group_request_v4 = at_version(encode_join_group_request_v1, 4)


def encode_join_group_request_v5(msg: JoinGroupRequest, out: bytearray, version: int = 5) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.member_id.encode()
        out += pack_iih(msg.session_timeout_ms, msg.rebalance_timeout_ms, len(raw))
        out += raw
        text = msg.group_instance_id
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_h(n)
        out += raw
        raw = msg.protocol_type.encode()
        out += pack_h(len(raw))
        out += raw
        protocols = msg.protocols
        out += pack_i(len(protocols))
        for protocols_item in protocols:
            raw = protocols_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            raw = protocols_item.metadata
            out += pack_i(len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "JoinGroupRequest", version) from error


def encode_join_group_request_v6(msg: JoinGroupRequest, out: bytearray, version: int = 6) -> None:
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
            out += pack_iiB(msg.session_timeout_ms, msg.rebalance_timeout_ms, n)
        else:
            out += pack_ii(msg.session_timeout_ms, msg.rebalance_timeout_ms)
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
        raw = msg.protocol_type.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        protocols = msg.protocols
        n = len(protocols) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for protocols_item in protocols:
            raw = protocols_item.name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = protocols_item.metadata
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "JoinGroupRequest", version) from error


encode_join_group_request_v7 = at_version(encode_join_group_request_v6, 7)


def encode_join_group_request_v8(msg: JoinGroupRequest, out: bytearray, version: int = 8) -> None:
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
            out += pack_iiB(msg.session_timeout_ms, msg.rebalance_timeout_ms, n)
        else:
            out += pack_ii(msg.session_timeout_ms, msg.rebalance_timeout_ms)
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
        raw = msg.protocol_type.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        protocols = msg.protocols
        n = len(protocols) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for protocols_item in protocols:
            raw = protocols_item.name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = protocols_item.metadata
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += raw
            out.append(0)
        text = msg.reason
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
        raise encode_failure(error, "JoinGroupRequest", version) from error


encode_join_group_request_v9 = at_version(encode_join_group_request_v8, 9)


def decode_join_group_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[JoinGroupResponse, int]:
    start = pos
    n: int
    try:
        room = 45520 - 2 * len(buf)
        error_code, generation_id, n = unpack_hih(buf, pos)
        if n < 0:
            raise BadField("protocol_name")
        if n < 0x80:
            protocol_name = buf[pos + 8 : (pos := pos + 8 + n)].decode()
        else:
            here = pos + 8
            pos = here + n
            protocol_name = long_text(buf, here, pos)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("leader")
        if n < 0x80:
            leader = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            leader = long_text(buf, here, pos)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("member_id")
        if n < 0x80:
            member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            member_id = long_text(buf, here, pos)
        (n,) = unpack_i(buf, pos)
        pos += 4
        members: list[JoinGroupResponseMember]
        if n < 0:
            raise BadField("members")
        room -= n * 160
        if room < 0:
            room = verify(JoinGroupResponse, version, buf, start, pos + n)
        members = []
        members_left, members_step = n, 8
        while members_left:
            members_count = members_left
            if members_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, members_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    members_left -= n
                    members += [JoinGroupResponseMember(member_id.decode(), None, metadata) for member_id, metadata in rows]
                    continue
                if members_step < members_left:
                    members_count = members_step
                members_step *= 2
            members_left -= members_count
            for _ in range(members_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("members.member_id")
                if n < 0x80:
                    members_member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    members_member_id = long_text(buf, here, pos)
                (n,) = unpack_i(buf, pos)
                if n < 0:
                    raise BadField("members.metadata")
                members_metadata = buf[pos + 4 : (pos := pos + 4 + n)]
                members.append(JoinGroupResponseMember(members_member_id, None, members_metadata))
        if pos > len(buf):
            raise IndexError
        return JoinGroupResponse(0, error_code, generation_id, None, protocol_name, leader, False, member_id, members), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, JoinGroupResponse, version, buf, start, pos) from None


decode_join_group_response_v1 = at_version(decode_join_group_response_v0, 1)


def decode_join_group_response_v2(buf: bytes, pos: int, version: int = 2) -> tuple[JoinGroupResponse, int]:
    start = pos
    n: int
    try:
        room = 45488 - 2 * len(buf)
        throttle_time_ms, error_code, generation_id, n = unpack_ihih(buf, pos)
        if n < 0:
            raise BadField("protocol_name")
        if n < 0x80:
            protocol_name = buf[pos + 12 : (pos := pos + 12 + n)].decode()
        else:
            here = pos + 12
            pos = here + n
            protocol_name = long_text(buf, here, pos)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("leader")
        if n < 0x80:
            leader = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            leader = long_text(buf, here, pos)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("member_id")
        if n < 0x80:
            member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            member_id = long_text(buf, here, pos)
        (n,) = unpack_i(buf, pos)
        pos += 4
        members: list[JoinGroupResponseMember]
        if n < 0:
            raise BadField("members")
        room -= n * 160
        if room < 0:
            room = verify(JoinGroupResponse, version, buf, start, pos + n)
        members = []
        members_left, members_step = n, 8
        while members_left:
            members_count = members_left
            if members_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, members_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    members_left -= n
                    members += [JoinGroupResponseMember(member_id.decode(), None, metadata) for member_id, metadata in rows]
                    continue
                if members_step < members_left:
                    members_count = members_step
                members_step *= 2
            members_left -= members_count
            for _ in range(members_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("members.member_id")
                if n < 0x80:
                    members_member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    members_member_id = long_text(buf, here, pos)
                (n,) = unpack_i(buf, pos)
                if n < 0:
                    raise BadField("members.metadata")
                members_metadata = buf[pos + 4 : (pos := pos + 4 + n)]
                members.append(JoinGroupResponseMember(members_member_id, None, members_metadata))
        if pos > len(buf):
            raise IndexError
        return JoinGroupResponse(throttle_time_ms, error_code, generation_id, None, protocol_name, leader, False, member_id, members), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, JoinGroupResponse, version, buf, start, pos) from None


decode_join_group_response_v3 = at_version(decode_join_group_response_v2, 3)


decode_join_group_response_v4 = at_version(decode_join_group_response_v2, 4)


def decode_join_group_response_v5(buf: bytes, pos: int, version: int = 5) -> tuple[JoinGroupResponse, int]:
    start = pos
    n: int
    try:
        room = 45488 - 2 * len(buf)
        throttle_time_ms, error_code, generation_id, n = unpack_ihih(buf, pos)
        if n < 0:
            raise BadField("protocol_name")
        if n < 0x80:
            protocol_name = buf[pos + 12 : (pos := pos + 12 + n)].decode()
        else:
            here = pos + 12
            pos = here + n
            protocol_name = long_text(buf, here, pos)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("leader")
        if n < 0x80:
            leader = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            leader = long_text(buf, here, pos)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("member_id")
        if n < 0x80:
            member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            member_id = long_text(buf, here, pos)
        (n,) = unpack_i(buf, pos)
        pos += 4
        members: list[JoinGroupResponseMember]
        if n < 0:
            raise BadField("members")
        room -= n * 232
        if room < 0:
            room = verify(JoinGroupResponse, version, buf, start, pos + n)
        members = []
        members_left, members_step = n, 8
        while members_left:
            members_count = members_left
            if members_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_3, buf, pos, members_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    members_left -= n
                    members += [JoinGroupResponseMember(member_id.decode(), group_instance_id.decode() if group_instance_id else absent[1], metadata) for member_id, group_instance_id, metadata in rows]
                    continue
                if members_step < members_left:
                    members_count = members_step
                members_step *= 2
            members_left -= members_count
            for _ in range(members_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("members.member_id")
                if n < 0x80:
                    members_member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    members_member_id = long_text(buf, here, pos)
                members_group_instance_id: str | None
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    members_group_instance_id = None
                    pos += 2
                elif n < 0x80:
                    members_group_instance_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    members_group_instance_id = long_text(buf, here, pos)
                (n,) = unpack_i(buf, pos)
                if n < 0:
                    raise BadField("members.metadata")
                members_metadata = buf[pos + 4 : (pos := pos + 4 + n)]
                members.append(JoinGroupResponseMember(members_member_id, members_group_instance_id, members_metadata))
        if pos > len(buf):
            raise IndexError
        return JoinGroupResponse(throttle_time_ms, error_code, generation_id, None, protocol_name, leader, False, member_id, members), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, JoinGroupResponse, version, buf, start, pos) from None


def decode_join_group_response_v6(buf: bytes, pos: int, version: int = 6) -> tuple[JoinGroupResponse, int]:
    start = pos
    n: int
    try:
        room = 45488 - 2 * len(buf)
        throttle_time_ms, error_code, generation_id, n = unpack_ihiB(buf, pos)
        if 0 < n < 0x80:
            protocol_name = buf[pos + 11 : (pos := pos + 10 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 10)
            if n == 0:
                raise BadField("protocol_name")
            n -= 1
            here = pos
            pos = here + n
            protocol_name = long_text(buf, here, pos)
        n = buf[pos]
        if 0 < n < 0x80:
            leader = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("leader")
            n -= 1
            here = pos
            pos = here + n
            leader = long_text(buf, here, pos)
        n = buf[pos]
        if 0 < n < 0x80:
            member_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("member_id")
            n -= 1
            here = pos
            pos = here + n
            member_id = long_text(buf, here, pos)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        members: list[JoinGroupResponseMember]
        if n < 0:
            raise BadField("members")
        room -= n * 248
        if room < 0:
            room = verify(JoinGroupResponse, version, buf, start, pos + n)
        members = []
        members_left, members_step = n, 8
        while members_left:
            members_count = members_left
            if members_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_4, buf, pos, members_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    members_left -= n
                    members += [JoinGroupResponseMember(member_id.decode(), group_instance_id.decode() if group_instance_id else absent[1], metadata) for member_id, group_instance_id, metadata in rows]
                    continue
                if members_step < members_left:
                    members_count = members_step
                members_step *= 2
            members_left -= members_count
            for _ in range(members_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    members_member_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("members.member_id")
                    n -= 1
                    here = pos
                    pos = here + n
                    members_member_id = long_text(buf, here, pos)
                members_group_instance_id: str | None
                n = buf[pos]
                if not n:
                    members_group_instance_id = None
                    pos += 1
                elif n == 1:
                    members_group_instance_id = ""
                    pos += 1
                elif n < 0x80:
                    members_group_instance_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        members_group_instance_id = long_text(buf, here, pos)
                    else:
                        members_group_instance_id = None
                n = buf[pos]
                if 0 < n < 0x80:
                    members_metadata = buf[pos + 1 : (pos := pos + n)]
                else:
                    n, pos = read_uvarint(buf, pos)
                    if n == 0:
                        raise BadField("members.metadata")
                    n -= 1
                    here = pos
                    pos = here + n
                    members_metadata = buf[here:pos]
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                members.append(JoinGroupResponseMember(members_member_id, members_group_instance_id, members_metadata))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return JoinGroupResponse(throttle_time_ms, error_code, generation_id, None, protocol_name, leader, False, member_id, members), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, JoinGroupResponse, version, buf, start, pos) from None


def decode_join_group_response_v7(buf: bytes, pos: int, version: int = 7) -> tuple[JoinGroupResponse, int]:
    start = pos
    n: int
    try:
        room = 45408 - 2 * len(buf)
        protocol_type: str | None
        throttle_time_ms, error_code, generation_id, n = unpack_ihiB(buf, pos)
        if not n:
            protocol_type = None
            pos += 11
        elif n == 1:
            protocol_type = ""
            pos += 11
        elif n < 0x80:
            protocol_type = buf[pos + 11 : (pos := pos + 10 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 10)
            if n:
                n -= 1
                here = pos
                pos = here + n
                protocol_type = long_text(buf, here, pos)
            else:
                protocol_type = None
        protocol_name: str | None
        n = buf[pos]
        if not n:
            protocol_name = None
            pos += 1
        elif n == 1:
            protocol_name = ""
            pos += 1
        elif n < 0x80:
            protocol_name = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                protocol_name = long_text(buf, here, pos)
            else:
                protocol_name = None
        n = buf[pos]
        if 0 < n < 0x80:
            leader = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("leader")
            n -= 1
            here = pos
            pos = here + n
            leader = long_text(buf, here, pos)
        n = buf[pos]
        if 0 < n < 0x80:
            member_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("member_id")
            n -= 1
            here = pos
            pos = here + n
            member_id = long_text(buf, here, pos)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        members: list[JoinGroupResponseMember]
        if n < 0:
            raise BadField("members")
        room -= n * 248
        if room < 0:
            room = verify(JoinGroupResponse, version, buf, start, pos + n)
        members = []
        members_left, members_step = n, 8
        while members_left:
            members_count = members_left
            if members_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_4, buf, pos, members_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    members_left -= n
                    members += [JoinGroupResponseMember(member_id.decode(), group_instance_id.decode() if group_instance_id else absent[1], metadata) for member_id, group_instance_id, metadata in rows]
                    continue
                if members_step < members_left:
                    members_count = members_step
                members_step *= 2
            members_left -= members_count
            for _ in range(members_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    members_member_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("members.member_id")
                    n -= 1
                    here = pos
                    pos = here + n
                    members_member_id = long_text(buf, here, pos)
                members_group_instance_id: str | None
                n = buf[pos]
                if not n:
                    members_group_instance_id = None
                    pos += 1
                elif n == 1:
                    members_group_instance_id = ""
                    pos += 1
                elif n < 0x80:
                    members_group_instance_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        members_group_instance_id = long_text(buf, here, pos)
                    else:
                        members_group_instance_id = None
                n = buf[pos]
                if 0 < n < 0x80:
                    members_metadata = buf[pos + 1 : (pos := pos + n)]
                else:
                    n, pos = read_uvarint(buf, pos)
                    if n == 0:
                        raise BadField("members.metadata")
                    n -= 1
                    here = pos
                    pos = here + n
                    members_metadata = buf[here:pos]
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                members.append(JoinGroupResponseMember(members_member_id, members_group_instance_id, members_metadata))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return JoinGroupResponse(throttle_time_ms, error_code, generation_id, protocol_type, protocol_name, leader, False, member_id, members), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, JoinGroupResponse, version, buf, start, pos) from None


decode_join_group_response_v8 = at_version(decode_join_group_response_v7, 8)


def decode_join_group_response_v9(buf: bytes, pos: int, version: int = 9) -> tuple[JoinGroupResponse, int]:
    start = pos
    n: int
    try:
        room = 45408 - 2 * len(buf)
        protocol_type: str | None
        throttle_time_ms, error_code, generation_id, n = unpack_ihiB(buf, pos)
        if not n:
            protocol_type = None
            pos += 11
        elif n == 1:
            protocol_type = ""
            pos += 11
        elif n < 0x80:
            protocol_type = buf[pos + 11 : (pos := pos + 10 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 10)
            if n:
                n -= 1
                here = pos
                pos = here + n
                protocol_type = long_text(buf, here, pos)
            else:
                protocol_type = None
        protocol_name: str | None
        n = buf[pos]
        if not n:
            protocol_name = None
            pos += 1
        elif n == 1:
            protocol_name = ""
            pos += 1
        elif n < 0x80:
            protocol_name = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                protocol_name = long_text(buf, here, pos)
            else:
                protocol_name = None
        n = buf[pos]
        if 0 < n < 0x80:
            leader = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("leader")
            n -= 1
            here = pos
            pos = here + n
            leader = long_text(buf, here, pos)
        skip_assignment, n = unpack_zB(buf, pos)
        if 0 < n < 0x80:
            member_id = buf[pos + 2 : (pos := pos + 1 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 1)
            if n == 0:
                raise BadField("member_id")
            n -= 1
            here = pos
            pos = here + n
            member_id = long_text(buf, here, pos)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        members: list[JoinGroupResponseMember]
        if n < 0:
            raise BadField("members")
        room -= n * 248
        if room < 0:
            room = verify(JoinGroupResponse, version, buf, start, pos + n)
        members = []
        members_left, members_step = n, 8
        while members_left:
            members_count = members_left
            if members_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_4, buf, pos, members_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    members_left -= n
                    members += [JoinGroupResponseMember(member_id.decode(), group_instance_id.decode() if group_instance_id else absent[1], metadata) for member_id, group_instance_id, metadata in rows]
                    continue
                if members_step < members_left:
                    members_count = members_step
                members_step *= 2
            members_left -= members_count
            for _ in range(members_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    members_member_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("members.member_id")
                    n -= 1
                    here = pos
                    pos = here + n
                    members_member_id = long_text(buf, here, pos)
                members_group_instance_id: str | None
                n = buf[pos]
                if not n:
                    members_group_instance_id = None
                    pos += 1
                elif n == 1:
                    members_group_instance_id = ""
                    pos += 1
                elif n < 0x80:
                    members_group_instance_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        members_group_instance_id = long_text(buf, here, pos)
                    else:
                        members_group_instance_id = None
                n = buf[pos]
                if 0 < n < 0x80:
                    members_metadata = buf[pos + 1 : (pos := pos + n)]
                else:
                    n, pos = read_uvarint(buf, pos)
                    if n == 0:
                        raise BadField("members.metadata")
                    n -= 1
                    here = pos
                    pos = here + n
                    members_metadata = buf[here:pos]
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                members.append(JoinGroupResponseMember(members_member_id, members_group_instance_id, members_metadata))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return JoinGroupResponse(throttle_time_ms, error_code, generation_id, protocol_type, protocol_name, leader, skip_assignment, member_id, members), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, JoinGroupResponse, version, buf, start, pos) from None


def encode_join_group_response_v0(msg: JoinGroupResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.skip_assignment:
            raise not_in_version("skip_assignment")
        if msg.protocol_name is None:
            raise BadField("protocol_name")
        raw = msg.protocol_name.encode()
        out += pack_hih(msg.error_code, msg.generation_id, len(raw))
        out += raw
        raw = msg.leader.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.member_id.encode()
        out += pack_h(len(raw))
        out += raw
        members = msg.members
        out += pack_i(len(members))
        for members_item in members:
            raw = members_item.member_id.encode()
            out += pack_h(len(raw))
            out += raw
            raw = members_item.metadata
            out += pack_i(len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "JoinGroupResponse", version) from error


encode_join_group_response_v1 = at_version(encode_join_group_response_v0, 1)


def encode_join_group_response_v2(msg: JoinGroupResponse, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        if msg.skip_assignment:
            raise not_in_version("skip_assignment")
        if msg.protocol_name is None:
            raise BadField("protocol_name")
        raw = msg.protocol_name.encode()
        out += pack_ihih(msg.throttle_time_ms, msg.error_code, msg.generation_id, len(raw))
        out += raw
        raw = msg.leader.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.member_id.encode()
        out += pack_h(len(raw))
        out += raw
        members = msg.members
        out += pack_i(len(members))
        for members_item in members:
            raw = members_item.member_id.encode()
            out += pack_h(len(raw))
            out += raw
            raw = members_item.metadata
            out += pack_i(len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "JoinGroupResponse", version) from error


encode_join_group_response_v3 = at_version(encode_join_group_response_v2, 3)


encode_join_group_response_v4 = at_version(encode_join_group_response_v2, 4)


def encode_join_group_response_v5(msg: JoinGroupResponse, out: bytearray, version: int = 5) -> None:
    start = len(out)
    try:
        if msg.skip_assignment:
            raise not_in_version("skip_assignment")
        if msg.protocol_name is None:
            raise BadField("protocol_name")
        raw = msg.protocol_name.encode()
        out += pack_ihih(msg.throttle_time_ms, msg.error_code, msg.generation_id, len(raw))
        out += raw
        raw = msg.leader.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.member_id.encode()
        out += pack_h(len(raw))
        out += raw
        members = msg.members
        out += pack_i(len(members))
        for members_item in members:
            raw = members_item.member_id.encode()
            out += pack_h(len(raw))
            out += raw
            text = members_item.group_instance_id
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_h(n)
            out += raw
            raw = members_item.metadata
            out += pack_i(len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "JoinGroupResponse", version) from error


def encode_join_group_response_v6(msg: JoinGroupResponse, out: bytearray, version: int = 6) -> None:
    start = len(out)
    try:
        if msg.skip_assignment:
            raise not_in_version("skip_assignment")
        if msg.protocol_name is None:
            raise BadField("protocol_name")
        raw = msg.protocol_name.encode()
        n = len(raw) + 1
        if n < 0x80:
            out += pack_ihiB(msg.throttle_time_ms, msg.error_code, msg.generation_id, n)
        else:
            out += pack_ihi(msg.throttle_time_ms, msg.error_code, msg.generation_id)
            out += write_string_size(n)
        out += raw
        raw = msg.leader.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        raw = msg.member_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        members = msg.members
        n = len(members) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for members_item in members:
            raw = members_item.member_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            text = members_item.group_instance_id
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
            raw = members_item.metadata
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "JoinGroupResponse", version) from error


def encode_join_group_response_v7(msg: JoinGroupResponse, out: bytearray, version: int = 7) -> None:
    start = len(out)
    try:
        if msg.skip_assignment:
            raise not_in_version("skip_assignment")
        text = msg.protocol_type
        if text is None:
            n, raw = 0, b""
        else:
            raw = text.encode()
            n = len(raw) + 1
        if n < 0x80:
            out += pack_ihiB(msg.throttle_time_ms, msg.error_code, msg.generation_id, n)
        else:
            out += pack_ihi(msg.throttle_time_ms, msg.error_code, msg.generation_id)
            out += write_string_size(n)
        out += raw
        text = msg.protocol_name
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
        raw = msg.leader.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        raw = msg.member_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        members = msg.members
        n = len(members) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for members_item in members:
            raw = members_item.member_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            text = members_item.group_instance_id
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
            raw = members_item.metadata
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "JoinGroupResponse", version) from error


encode_join_group_response_v8 = at_version(encode_join_group_response_v7, 8)


def encode_join_group_response_v9(msg: JoinGroupResponse, out: bytearray, version: int = 9) -> None:
    start = len(out)
    try:
        text = msg.protocol_type
        if text is None:
            n, raw = 0, b""
        else:
            raw = text.encode()
            n = len(raw) + 1
        if n < 0x80:
            out += pack_ihiB(msg.throttle_time_ms, msg.error_code, msg.generation_id, n)
        else:
            out += pack_ihi(msg.throttle_time_ms, msg.error_code, msg.generation_id)
            out += write_string_size(n)
        out += raw
        text = msg.protocol_name
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
        raw = msg.leader.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        raw = msg.member_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out += pack_zB(msg.skip_assignment, n)
        else:
            out += pack_z(msg.skip_assignment)
            out += write_string_size(n)
        out += raw
        members = msg.members
        n = len(members) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for members_item in members:
            raw = members_item.member_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            text = members_item.group_instance_id
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
            raw = members_item.metadata
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "JoinGroupResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    JoinGroupRequest: {
        0: decode_join_group_request_v0,
        1: decode_join_group_request_v1,
        2: decode_join_group_request_v2,
        3: decode_join_group_request_v3,
        4: decode_join_group_request_v4,
        5: decode_join_group_request_v5,
        6: decode_join_group_request_v6,
        7: decode_join_group_request_v7,
        8: decode_join_group_request_v8,
        9: decode_join_group_request_v9,
    },
    JoinGroupResponse: {
        0: decode_join_group_response_v0,
        1: decode_join_group_response_v1,
        2: decode_join_group_response_v2,
        3: decode_join_group_response_v3,
        4: decode_join_group_response_v4,
        5: decode_join_group_response_v5,
        6: decode_join_group_response_v6,
        7: decode_join_group_response_v7,
        8: decode_join_group_response_v8,
        9: decode_join_group_response_v9,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    JoinGroupRequest: {
        0: encode_join_group_request_v0,
        1: encode_join_group_request_v1,
        2: encode_join_group_request_v2,
        3: encode_join_group_request_v3,
        4: encode_join_group_request_v4,
        5: encode_join_group_request_v5,
        6: encode_join_group_request_v6,
        7: encode_join_group_request_v7,
        8: encode_join_group_request_v8,
        9: encode_join_group_request_v9,
    },
    JoinGroupResponse: {
        0: encode_join_group_response_v0,
        1: encode_join_group_response_v1,
        2: encode_join_group_response_v2,
        3: encode_join_group_response_v3,
        4: encode_join_group_response_v4,
        5: encode_join_group_response_v5,
        6: encode_join_group_response_v6,
        7: encode_join_group_response_v7,
        8: encode_join_group_response_v8,
        9: encode_join_group_response_v9,
    },
}
