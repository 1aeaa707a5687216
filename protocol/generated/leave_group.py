"""Codecs of protocol/messages/leave_group.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_hB, unpack_i, unpack_ih, unpack_ihB, unpack_ihi
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity, MemberResponse
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

SHAPE_1 = Shape("", 0, Field("", 0, 2, False, ""), Field("", 0, 2, True, ""))
SHAPE_2 = Shape("x", 1, Field("", 0, 1, False, ""), Field("", 0, 1, True, ""))
SHAPE_3 = Shape("x", 1, Field("", 0, 1, False, ""), Field("", 0, 1, True, ""), Field("", 0, 1, True, ""))
SHAPE_4 = Shape("h", 2, Field("", 0, 2, False, ""), Field("", 0, 2, True, ""))
SHAPE_5 = Shape("hx", 3, Field("", 0, 1, False, ""), Field("", 0, 1, True, ""))
pack_h = Struct(">h").pack
pack_hx = Struct(">hx").pack
pack_i = Struct(">i").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_ihi = Struct(">ihi").pack


def decode_leave_group_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[LeaveGroupRequest, int]:
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
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("member_id")
        if n < 0x80:
            member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            member_id = long_text(buf, here, pos)
        if pos > len(buf):
            raise IndexError
        return LeaveGroupRequest(group_id, member_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, LeaveGroupRequest, version, buf, start, pos) from None


decode_leave_group_request_v1 = at_version(decode_leave_group_request_v0, 1)


decode_leave_group_request_v2 = at_version(decode_leave_group_request_v0, 2)


def decode_leave_group_request_v3(buf: bytes, pos: int, version: int = 3) -> tuple[LeaveGroupRequest, int]:
    start = pos
    n: int
    try:
        room = 45792 - 2 * len(buf)
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
        (n,) = unpack_i(buf, pos)
        pos += 4
        members: list[MemberIdentity]
        if n < 0:
            raise BadField("members")
        room -= n * 216
        if room < 0:
            room, limit = verify(LeaveGroupRequest, version, buf, start, pos + n, limit - n * 216), 0
        members = []
        members_left, members_step = n, 8
        while members_left:
            members_count = members_left
            if members_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, members_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    members_left -= n
                    members += [MemberIdentity(member_id.decode(), group_instance_id.decode() if group_instance_id else absent[1]) for member_id, group_instance_id in rows]
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
                members.append(MemberIdentity(members_member_id, members_group_instance_id))
        if pos > len(buf):
            raise IndexError
        return LeaveGroupRequest(group_id, "", members), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, LeaveGroupRequest, version, buf, start, pos) from None


def decode_leave_group_request_v4(buf: bytes, pos: int, version: int = 4) -> tuple[LeaveGroupRequest, int]:
    start = pos
    n: int
    try:
        room = 45792 - 2 * len(buf)
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
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        members: list[MemberIdentity]
        if n < 0:
            raise BadField("members")
        room -= n * 220
        if room < 0:
            room, limit = verify(LeaveGroupRequest, version, buf, start, pos + n, limit - n * 220), 0
        members = []
        members_left, members_step = n, 8
        while members_left:
            members_count = members_left
            if members_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_2, buf, pos, members_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    members_left -= n
                    members += [MemberIdentity(member_id.decode(), group_instance_id.decode() if group_instance_id else absent[1]) for member_id, group_instance_id in rows]
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
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                members.append(MemberIdentity(members_member_id, members_group_instance_id))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return LeaveGroupRequest(group_id, "", members), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, LeaveGroupRequest, version, buf, start, pos) from None


def decode_leave_group_request_v5(buf: bytes, pos: int, version: int = 5) -> tuple[LeaveGroupRequest, int]:
    start = pos
    n: int
    try:
        room = 45792 - 2 * len(buf)
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
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        members: list[MemberIdentity]
        if n < 0:
            raise BadField("members")
        room -= n * 296
        if room < 0:
            room, limit = verify(LeaveGroupRequest, version, buf, start, pos + n, limit - n * 296), 0
        members = []
        members_left, members_step = n, 8
        while members_left:
            members_count = members_left
            if members_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_3, buf, pos, members_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    members_left -= n
                    members += [MemberIdentity(member_id.decode(), group_instance_id.decode() if group_instance_id else absent[1], reason.decode() if reason else absent[2]) for member_id, group_instance_id, reason in rows]
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
                members_reason: str | None
                n = buf[pos]
                if not n:
                    members_reason = None
                    pos += 1
                elif n == 1:
                    members_reason = ""
                    pos += 1
                elif n < 0x80:
                    members_reason = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        members_reason = long_text(buf, here, pos)
                    else:
                        members_reason = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                members.append(MemberIdentity(members_member_id, members_group_instance_id, members_reason))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return LeaveGroupRequest(group_id, "", members), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, LeaveGroupRequest, version, buf, start, pos) from None


def encode_leave_group_request_v0(msg: LeaveGroupRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.members:
            raise not_in_version("members")
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.member_id.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "LeaveGroupRequest", version) from error


encode_leave_group_request_v1 = at_version(encode_leave_group_request_v0, 1)


encode_leave_group_request_v2 = at_version(encode_leave_group_request_v0, 2)


def encode_leave_group_request_v3(msg: LeaveGroupRequest, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        if msg.member_id:
            raise not_in_version("member_id")
        raw = msg.group_id.encode()
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
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "LeaveGroupRequest", version) from error


def encode_leave_group_request_v4(msg: LeaveGroupRequest, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        if msg.member_id:
            raise not_in_version("member_id")
        raw = msg.group_id.encode()
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
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "LeaveGroupRequest", version) from error


def encode_leave_group_request_v5(msg: LeaveGroupRequest, out: bytearray, version: int = 5) -> None:
    start = len(out)
    try:
        if msg.member_id:
            raise not_in_version("member_id")
        raw = msg.group_id.encode()
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
            text = members_item.reason
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
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "LeaveGroupRequest", version) from error


def decode_leave_group_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[LeaveGroupResponse, int]:
    start = pos
    n: int
    try:
        (error_code,) = unpack_h(buf, pos)
        pos += 2
        return LeaveGroupResponse(0, error_code), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, LeaveGroupResponse, version, buf, start, pos) from None


def decode_leave_group_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[LeaveGroupResponse, int]:
    start = pos
    n: int
    try:
        throttle_time_ms, error_code = unpack_ih(buf, pos)
        pos += 6
        return LeaveGroupResponse(throttle_time_ms, error_code), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, LeaveGroupResponse, version, buf, start, pos) from None


decode_leave_group_response_v2 = at_version(decode_leave_group_response_v1, 2)


def decode_leave_group_response_v3(buf: bytes, pos: int, version: int = 3) -> tuple[LeaveGroupResponse, int]:
    start = pos
    n: int
    try:
        room = 45808 - 2 * len(buf)
        throttle_time_ms, error_code, n = unpack_ihi(buf, pos)
        pos += 10
        members: list[MemberResponse]
        if n < 0:
            raise BadField("members")
        room -= n * 240
        if room < 0:
            room = verify(LeaveGroupResponse, version, buf, start, pos + n)
        members = []
        members_left, members_step = n, 8
        while members_left:
            members_count = members_left
            if members_left >= 8:
                run = alike(SHAPE_4, buf, pos, members_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    members_left -= n
                    members += [MemberResponse(member_id.decode(), group_instance_id.decode() if group_instance_id else absent[1], error_code) for member_id, group_instance_id, error_code in rows]
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
                (members_error_code,) = unpack_h(buf, pos)
                pos += 2
                members.append(MemberResponse(members_member_id, members_group_instance_id, members_error_code))
        if pos > len(buf):
            raise IndexError
        return LeaveGroupResponse(throttle_time_ms, error_code, members), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, LeaveGroupResponse, version, buf, start, pos) from None


def decode_leave_group_response_v4(buf: bytes, pos: int, version: int = 4) -> tuple[LeaveGroupResponse, int]:
    start = pos
    n: int
    try:
        room = 45808 - 2 * len(buf)
        throttle_time_ms, error_code, n = unpack_ihB(buf, pos)
        pos += 7
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        members: list[MemberResponse]
        if n < 0:
            raise BadField("members")
        room -= n * 244
        if room < 0:
            room = verify(LeaveGroupResponse, version, buf, start, pos + n)
        members = []
        members_left, members_step = n, 8
        while members_left:
            members_count = members_left
            if members_left >= 8:
                run = alike(SHAPE_5, buf, pos, members_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    members_left -= n
                    members += [MemberResponse(member_id.decode(), group_instance_id.decode() if group_instance_id else absent[1], error_code) for member_id, group_instance_id, error_code in rows]
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
                members_error_code, n = unpack_hB(buf, pos)
                pos += 3
                if n:
                    pos = skip_tags(buf, pos - 1)
                members.append(MemberResponse(members_member_id, members_group_instance_id, members_error_code))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return LeaveGroupResponse(throttle_time_ms, error_code, members), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, LeaveGroupResponse, version, buf, start, pos) from None


decode_leave_group_response_v5 = at_version(decode_leave_group_response_v4, 5)


def encode_leave_group_response_v0(msg: LeaveGroupResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.members:
            raise not_in_version("members")
        out += pack_h(msg.error_code)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "LeaveGroupResponse", version) from error


def encode_leave_group_response_v1(msg: LeaveGroupResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        if msg.members:
            raise not_in_version("members")
        out += pack_ih(msg.throttle_time_ms, msg.error_code)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "LeaveGroupResponse", version) from error


encode_leave_group_response_v2 = at_version(encode_leave_group_response_v1, 2)


def encode_leave_group_response_v3(msg: LeaveGroupResponse, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        members = msg.members
        out += pack_ihi(msg.throttle_time_ms, msg.error_code, len(members))
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
            out += pack_h(members_item.error_code)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "LeaveGroupResponse", version) from error


def encode_leave_group_response_v4(msg: LeaveGroupResponse, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        members = msg.members
        n = len(members) + 1
        if n < 0x80:
            out += pack_ihB(msg.throttle_time_ms, msg.error_code, n)
        else:
            out += pack_ih(msg.throttle_time_ms, msg.error_code)
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
            out += pack_hx(members_item.error_code)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "LeaveGroupResponse", version) from error


encode_leave_group_response_v5 = at_version(encode_leave_group_response_v4, 5)


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    LeaveGroupRequest: {
        0: decode_leave_group_request_v0,
        1: decode_leave_group_request_v1,
        2: decode_leave_group_request_v2,
        3: decode_leave_group_request_v3,
        4: decode_leave_group_request_v4,
        5: decode_leave_group_request_v5,
    },
    LeaveGroupResponse: {
        0: decode_leave_group_response_v0,
        1: decode_leave_group_response_v1,
        2: decode_leave_group_response_v2,
        3: decode_leave_group_response_v3,
        4: decode_leave_group_response_v4,
        5: decode_leave_group_response_v5,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    LeaveGroupRequest: {
        0: encode_leave_group_request_v0,
        1: encode_leave_group_request_v1,
        2: encode_leave_group_request_v2,
        3: encode_leave_group_request_v3,
        4: encode_leave_group_request_v4,
        5: encode_leave_group_request_v5,
    },
    LeaveGroupResponse: {
        0: encode_leave_group_response_v0,
        1: encode_leave_group_response_v1,
        2: encode_leave_group_response_v2,
        3: encode_leave_group_response_v3,
        4: encode_leave_group_response_v4,
        5: encode_leave_group_response_v5,
    },
}
