"""Codecs of protocol/messages/sync_group.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_hi, unpack_i, unpack_iB, unpack_ih, unpack_ihB, unpack_ihi
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
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
pack_h = Struct(">h").pack
pack_hi = Struct(">hi").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_ihi = Struct(">ihi").pack


def decode_sync_group_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[SyncGroupRequest, int]:
    start = pos
    n: int
    try:
        room = 45648 - 2 * len(buf)
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
        generation_id, n = unpack_ih(buf, pos)
        if n < 0:
            raise BadField("member_id")
        if n < 0x80:
            member_id = buf[pos + 6 : (pos := pos + 6 + n)].decode()
        else:
            here = pos + 6
            pos = here + n
            member_id = long_text(buf, here, pos)
        (n,) = unpack_i(buf, pos)
        pos += 4
        assignments: list[SyncGroupRequestAssignment]
        if n < 0:
            raise BadField("assignments")
        room -= n * 160
        if room < 0:
            room, limit = verify(SyncGroupRequest, version, buf, start, pos + n, limit - n * 160), 0
        assignments = []
        assignments_left, assignments_step = n, 8
        while assignments_left:
            assignments_count = assignments_left
            if assignments_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, assignments_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    assignments_left -= n
                    assignments += [SyncGroupRequestAssignment(member_id.decode(), assignment) for member_id, assignment in rows]
                    continue
                if assignments_step < assignments_left:
                    assignments_count = assignments_step
                assignments_step *= 2
            assignments_left -= assignments_count
            for _ in range(assignments_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("assignments.member_id")
                if n < 0x80:
                    assignments_member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    assignments_member_id = long_text(buf, here, pos)
                (n,) = unpack_i(buf, pos)
                if n < 0:
                    raise BadField("assignments.assignment")
                assignments_assignment = buf[pos + 4 : (pos := pos + 4 + n)]
                assignments.append(SyncGroupRequestAssignment(assignments_member_id, assignments_assignment))
        if pos > len(buf):
            raise IndexError
        return SyncGroupRequest(group_id, generation_id, member_id, None, None, None, assignments), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, SyncGroupRequest, version, buf, start, pos) from None


decode_sync_group_request_v1 = at_version(decode_sync_group_request_v0, 1)


decode_sync_group_request_v2 = at_version(decode_sync_group_request_v0, 2)


def decode_sync_group_request_v3(buf: bytes, pos: int, version: int = 3) -> tuple[SyncGroupRequest, int]:
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
        (n,) = unpack_i(buf, pos)
        pos += 4
        assignments: list[SyncGroupRequestAssignment]
        if n < 0:
            raise BadField("assignments")
        room -= n * 160
        if room < 0:
            room, limit = verify(SyncGroupRequest, version, buf, start, pos + n, limit - n * 160), 0
        assignments = []
        assignments_left, assignments_step = n, 8
        while assignments_left:
            assignments_count = assignments_left
            if assignments_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, assignments_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    assignments_left -= n
                    assignments += [SyncGroupRequestAssignment(member_id.decode(), assignment) for member_id, assignment in rows]
                    continue
                if assignments_step < assignments_left:
                    assignments_count = assignments_step
                assignments_step *= 2
            assignments_left -= assignments_count
            for _ in range(assignments_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("assignments.member_id")
                if n < 0x80:
                    assignments_member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    assignments_member_id = long_text(buf, here, pos)
                (n,) = unpack_i(buf, pos)
                if n < 0:
                    raise BadField("assignments.assignment")
                assignments_assignment = buf[pos + 4 : (pos := pos + 4 + n)]
                assignments.append(SyncGroupRequestAssignment(assignments_member_id, assignments_assignment))
        if pos > len(buf):
            raise IndexError
        return SyncGroupRequest(group_id, generation_id, member_id, group_instance_id, None, None, assignments), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, SyncGroupRequest, version, buf, start, pos) from None


def decode_sync_group_request_v4(buf: bytes, pos: int, version: int = 4) -> tuple[SyncGroupRequest, int]:
    start = pos
    n: int
    try:
        room = 45568 - 2 * len(buf)
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
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        assignments: list[SyncGroupRequestAssignment]
        if n < 0:
            raise BadField("assignments")
        room -= n * 172
        if room < 0:
            room, limit = verify(SyncGroupRequest, version, buf, start, pos + n, limit - n * 172), 0
        assignments = []
        assignments_left, assignments_step = n, 8
        while assignments_left:
            assignments_count = assignments_left
            if assignments_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_2, buf, pos, assignments_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    assignments_left -= n
                    assignments += [SyncGroupRequestAssignment(member_id.decode(), assignment) for member_id, assignment in rows]
                    continue
                if assignments_step < assignments_left:
                    assignments_count = assignments_step
                assignments_step *= 2
            assignments_left -= assignments_count
            for _ in range(assignments_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    assignments_member_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("assignments.member_id")
                    n -= 1
                    here = pos
                    pos = here + n
                    assignments_member_id = long_text(buf, here, pos)
                n = buf[pos]
                if 0 < n < 0x80:
                    assignments_assignment = buf[pos + 1 : (pos := pos + n)]
                else:
                    n, pos = read_uvarint(buf, pos)
                    if n == 0:
                        raise BadField("assignments.assignment")
                    n -= 1
                    here = pos
                    pos = here + n
                    assignments_assignment = buf[here:pos]
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                assignments.append(SyncGroupRequestAssignment(assignments_member_id, assignments_assignment))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return SyncGroupRequest(group_id, generation_id, member_id, group_instance_id, None, None, assignments), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, SyncGroupRequest, version, buf, start, pos) from None


def decode_sync_group_request_v5(buf: bytes, pos: int, version: int = 5) -> tuple[SyncGroupRequest, int]:
    start = pos
    n: int
    try:
        room = 45408 - 2 * len(buf)
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
        protocol_type: str | None
        n = buf[pos]
        if not n:
            protocol_type = None
            pos += 1
        elif n == 1:
            protocol_type = ""
            pos += 1
        elif n < 0x80:
            protocol_type = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
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
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        assignments: list[SyncGroupRequestAssignment]
        if n < 0:
            raise BadField("assignments")
        room -= n * 172
        if room < 0:
            room, limit = verify(SyncGroupRequest, version, buf, start, pos + n, limit - n * 172), 0
        assignments = []
        assignments_left, assignments_step = n, 8
        while assignments_left:
            assignments_count = assignments_left
            if assignments_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_2, buf, pos, assignments_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    assignments_left -= n
                    assignments += [SyncGroupRequestAssignment(member_id.decode(), assignment) for member_id, assignment in rows]
                    continue
                if assignments_step < assignments_left:
                    assignments_count = assignments_step
                assignments_step *= 2
            assignments_left -= assignments_count
            for _ in range(assignments_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    assignments_member_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("assignments.member_id")
                    n -= 1
                    here = pos
                    pos = here + n
                    assignments_member_id = long_text(buf, here, pos)
                n = buf[pos]
                if 0 < n < 0x80:
                    assignments_assignment = buf[pos + 1 : (pos := pos + n)]
                else:
                    n, pos = read_uvarint(buf, pos)
                    if n == 0:
                        raise BadField("assignments.assignment")
                    n -= 1
                    here = pos
                    pos = here + n
                    assignments_assignment = buf[here:pos]
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                assignments.append(SyncGroupRequestAssignment(assignments_member_id, assignments_assignment))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return SyncGroupRequest(group_id, generation_id, member_id, group_instance_id, protocol_type, protocol_name, assignments), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, SyncGroupRequest, version, buf, start, pos) from None


def encode_sync_group_request_v0(msg: SyncGroupRequest, out: bytearray, version: int = 0) -> None:
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
        assignments = msg.assignments
        out += pack_i(len(assignments))
        for assignments_item in assignments:
            raw = assignments_item.member_id.encode()
            out += pack_h(len(raw))
            out += raw
            raw = assignments_item.assignment
            out += pack_i(len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "SyncGroupRequest", version) from error


encode_sync_group_request_v1 = at_version(encode_sync_group_request_v0, 1)


encode_sync_group_request_v2 = at_version(encode_sync_group_request_v0, 2)


def encode_sync_group_request_v3(msg: SyncGroupRequest, out: bytearray, version: int = 3) -> None:
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
        assignments = msg.assignments
        out += pack_i(len(assignments))
        for assignments_item in assignments:
            raw = assignments_item.member_id.encode()
            out += pack_h(len(raw))
            out += raw
            raw = assignments_item.assignment
            out += pack_i(len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "SyncGroupRequest", version) from error


def encode_sync_group_request_v4(msg: SyncGroupRequest, out: bytearray, version: int = 4) -> None:
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
        assignments = msg.assignments
        n = len(assignments) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for assignments_item in assignments:
            raw = assignments_item.member_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = assignments_item.assignment
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
        raise encode_failure(error, "SyncGroupRequest", version) from error


def encode_sync_group_request_v5(msg: SyncGroupRequest, out: bytearray, version: int = 5) -> None:
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
        text = msg.protocol_type
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
        assignments = msg.assignments
        n = len(assignments) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for assignments_item in assignments:
            raw = assignments_item.member_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = assignments_item.assignment
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
        raise encode_failure(error, "SyncGroupRequest", version) from error


def decode_sync_group_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[SyncGroupResponse, int]:
    start = pos
    n: int
    try:
        error_code, n = unpack_hi(buf, pos)
        if n < 0:
            raise BadField("assignment")
        assignment = buf[pos + 6 : (pos := pos + 6 + n)]
        if pos > len(buf):
            raise IndexError
        return SyncGroupResponse(0, error_code, None, None, assignment), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, SyncGroupResponse, version, buf, start, pos) from None


def decode_sync_group_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[SyncGroupResponse, int]:
    start = pos
    n: int
    try:
        throttle_time_ms, error_code, n = unpack_ihi(buf, pos)
        if n < 0:
            raise BadField("assignment")
        assignment = buf[pos + 10 : (pos := pos + 10 + n)]
        if pos > len(buf):
            raise IndexError
        return SyncGroupResponse(throttle_time_ms, error_code, None, None, assignment), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, SyncGroupResponse, version, buf, start, pos) from None


decode_sync_group_response_v2 = at_version(decode_sync_group_response_v1, 2)


decode_sync_group_response_v3 = at_version(decode_sync_group_response_v1, 3)


def decode_sync_group_response_v4(buf: bytes, pos: int, version: int = 4) -> tuple[SyncGroupResponse, int]:
    start = pos
    n: int
    try:
        throttle_time_ms, error_code, n = unpack_ihB(buf, pos)
        if 0 < n < 0x80:
            assignment = buf[pos + 7 : (pos := pos + 6 + n)]
        else:
            n, pos = read_uvarint(buf, pos + 6)
            if n == 0:
                raise BadField("assignment")
            n -= 1
            here = pos
            pos = here + n
            assignment = buf[here:pos]
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return SyncGroupResponse(throttle_time_ms, error_code, None, None, assignment), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, SyncGroupResponse, version, buf, start, pos) from None


def decode_sync_group_response_v5(buf: bytes, pos: int, version: int = 5) -> tuple[SyncGroupResponse, int]:
    start = pos
    n: int
    try:
        protocol_type: str | None
        throttle_time_ms, error_code, n = unpack_ihB(buf, pos)
        if not n:
            protocol_type = None
            pos += 7
        elif n == 1:
            protocol_type = ""
            pos += 7
        elif n < 0x80:
            protocol_type = buf[pos + 7 : (pos := pos + 6 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 6)
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
            assignment = buf[pos + 1 : (pos := pos + n)]
        else:
            n, pos = read_uvarint(buf, pos)
            if n == 0:
                raise BadField("assignment")
            n -= 1
            here = pos
            pos = here + n
            assignment = buf[here:pos]
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return SyncGroupResponse(throttle_time_ms, error_code, protocol_type, protocol_name, assignment), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, SyncGroupResponse, version, buf, start, pos) from None


def encode_sync_group_response_v0(msg: SyncGroupResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.assignment
        out += pack_hi(msg.error_code, len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "SyncGroupResponse", version) from error


def encode_sync_group_response_v1(msg: SyncGroupResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        raw = msg.assignment
        out += pack_ihi(msg.throttle_time_ms, msg.error_code, len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "SyncGroupResponse", version) from error


encode_sync_group_response_v2 = at_version(encode_sync_group_response_v1, 2)


encode_sync_group_response_v3 = at_version(encode_sync_group_response_v1, 3)


def encode_sync_group_response_v4(msg: SyncGroupResponse, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        raw = msg.assignment
        n = len(raw) + 1
        if n < 0x80:
            out += pack_ihB(msg.throttle_time_ms, msg.error_code, n)
        else:
            out += pack_ih(msg.throttle_time_ms, msg.error_code)
            out += write_uvarint(n)
        out += raw
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "SyncGroupResponse", version) from error


def encode_sync_group_response_v5(msg: SyncGroupResponse, out: bytearray, version: int = 5) -> None:
    start = len(out)
    try:
        text = msg.protocol_type
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
        raw = msg.assignment
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        out += raw
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "SyncGroupResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    SyncGroupRequest: {
        0: decode_sync_group_request_v0,
        1: decode_sync_group_request_v1,
        2: decode_sync_group_request_v2,
        3: decode_sync_group_request_v3,
        4: decode_sync_group_request_v4,
        5: decode_sync_group_request_v5,
    },
    SyncGroupResponse: {
        0: decode_sync_group_response_v0,
        1: decode_sync_group_response_v1,
        2: decode_sync_group_response_v2,
        3: decode_sync_group_response_v3,
        4: decode_sync_group_response_v4,
        5: decode_sync_group_response_v5,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    SyncGroupRequest: {
        0: encode_sync_group_request_v0,
        1: encode_sync_group_request_v1,
        2: encode_sync_group_request_v2,
        3: encode_sync_group_request_v3,
        4: encode_sync_group_request_v4,
        5: encode_sync_group_request_v5,
    },
    SyncGroupResponse: {
        0: encode_sync_group_response_v0,
        1: encode_sync_group_response_v1,
        2: encode_sync_group_response_v2,
        3: encode_sync_group_response_v3,
        4: encode_sync_group_response_v4,
        5: encode_sync_group_response_v5,
    },
}
