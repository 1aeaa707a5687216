"""Codecs of protocol/messages/describe_groups.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_hB, unpack_hh, unpack_i, unpack_iB, unpack_ii, unpack_z, unpack_zB
from protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse, DescribedGroup, DescribedGroupMember
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

SHAPE_1 = Shape("", 0, Field("", 0, 2, False, ""), Field("", 0, 2, False, ""), Field("", 0, 2, False, ""), Field("", 0, 4, False, b""), Field("", 0, 4, False, b""))
SHAPE_2 = Shape("", 0, Field("", 0, 2, False, ""), Field("", 0, 2, True, ""), Field("", 0, 2, False, ""), Field("", 0, 2, False, ""), Field("", 0, 4, False, b""), Field("", 0, 4, False, b""))
SHAPE_3 = Shape("x", 1, Field("", 0, 1, False, ""), Field("", 0, 1, True, ""), Field("", 0, 1, False, ""), Field("", 0, 1, False, ""), Field("", 0, 1, False, b""), Field("", 0, 1, False, b""))
pack_z = Struct(">?").pack
pack_zx = Struct(">?x").pack
pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_hh = Struct(">hh").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ii = Struct(">ii").pack
pack_ix = Struct(">ix").pack


def decode_describe_groups_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DescribeGroupsRequest, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        groups: list[str]
        if n < 0:
            raise BadField("groups")
        room -= n * 96
        if room < 0:
            room, limit = verify(DescribeGroupsRequest, version, buf, start, pos + n, limit - n * 96), 0
        groups = []
        groups_count = n
        for _ in range(groups_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("groups.item")
            if n < 0x80:
                groups_item = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                groups_item = long_text(buf, here, pos)
            groups.append(groups_item)
        if pos > len(buf):
            raise IndexError
        return DescribeGroupsRequest(groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeGroupsRequest, version, buf, start, pos) from None


decode_describe_groups_request_v1 = at_version(decode_describe_groups_request_v0, 1)


decode_describe_groups_request_v2 = at_version(decode_describe_groups_request_v0, 2)


def decode_describe_groups_request_v3(buf: bytes, pos: int, version: int = 3) -> tuple[DescribeGroupsRequest, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        groups: list[str]
        if n < 0:
            raise BadField("groups")
        room -= n * 96
        if room < 0:
            room, limit = verify(DescribeGroupsRequest, version, buf, start, pos + n, limit - n * 96), 0
        groups = []
        groups_count = n
        for _ in range(groups_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("groups.item")
            if n < 0x80:
                groups_item = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                groups_item = long_text(buf, here, pos)
            groups.append(groups_item)
        (include_authorized_operations,) = unpack_z(buf, pos)
        pos += 1
        return DescribeGroupsRequest(groups, include_authorized_operations), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeGroupsRequest, version, buf, start, pos) from None


decode_describe_groups_request_v4 = at_version(decode_describe_groups_request_v3, 4)


def decode_describe_groups_request_v5(buf: bytes, pos: int, version: int = 5) -> tuple[DescribeGroupsRequest, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        groups: list[str]
        if n < 0:
            raise BadField("groups")
        room -= n * 100
        if room < 0:
            room, limit = verify(DescribeGroupsRequest, version, buf, start, pos + n, limit - n * 100), 0
        groups = []
        groups_count = n
        for _ in range(groups_count):
            n = buf[pos]
            if 0 < n < 0x80:
                groups_item = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("groups.item")
                n -= 1
                here = pos
                pos = here + n
                groups_item = long_text(buf, here, pos)
            groups.append(groups_item)
        include_authorized_operations, n = unpack_zB(buf, pos)
        pos += 2
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeGroupsRequest(groups, include_authorized_operations), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeGroupsRequest, version, buf, start, pos) from None


decode_describe_groups_request_v6 = at_version(decode_describe_groups_request_v5, 6)


def encode_describe_groups_request_v0(msg: DescribeGroupsRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.include_authorized_operations:
            raise not_in_version("include_authorized_operations")
        groups = msg.groups
        out += pack_i(len(groups))
        for groups_item in groups:
            raw = groups_item.encode()
            out += pack_h(len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeGroupsRequest", version) from error


encode_describe_groups_request_v1 = at_version(encode_describe_groups_request_v0, 1)


encode_describe_groups_request_v2 = at_version(encode_describe_groups_request_v0, 2)


def encode_describe_groups_request_v3(msg: DescribeGroupsRequest, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        groups = msg.groups
        out += pack_i(len(groups))
        for groups_item in groups:
            raw = groups_item.encode()
            out += pack_h(len(raw))
            out += raw
        out += pack_z(msg.include_authorized_operations)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeGroupsRequest", version) from error


encode_describe_groups_request_v4 = at_version(encode_describe_groups_request_v3, 4)


def encode_describe_groups_request_v5(msg: DescribeGroupsRequest, out: bytearray, version: int = 5) -> None:
    start = len(out)
    try:
        groups = msg.groups
        n = len(groups) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for groups_item in groups:
            raw = groups_item.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
        out += pack_zx(msg.include_authorized_operations)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeGroupsRequest", version) from error


encode_describe_groups_request_v6 = at_version(encode_describe_groups_request_v5, 6)


def decode_describe_groups_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DescribeGroupsResponse, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        (n,) = unpack_i(buf, pos)
        pos += 4
        groups: list[DescribedGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 480
        if room < 0:
            room = verify(DescribeGroupsResponse, version, buf, start, pos + n)
        groups = []
        groups_count = n
        for _ in range(groups_count):
            groups_error_code, n = unpack_hh(buf, pos)
            if n < 0:
                raise BadField("groups.group_id")
            if n < 0x80:
                groups_group_id = buf[pos + 4 : (pos := pos + 4 + n)].decode()
            else:
                here = pos + 4
                pos = here + n
                groups_group_id = long_text(buf, here, pos)
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("groups.group_state")
            if n < 0x80:
                groups_group_state = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                groups_group_state = long_text(buf, here, pos)
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("groups.protocol_type")
            if n < 0x80:
                groups_protocol_type = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                groups_protocol_type = long_text(buf, here, pos)
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("groups.protocol_data")
            if n < 0x80:
                groups_protocol_data = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                groups_protocol_data = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            groups_members: list[DescribedGroupMember]
            if n < 0:
                raise BadField("groups.members")
            room -= n * 352
            if room < 0:
                room = verify(DescribeGroupsResponse, version, buf, start, pos + n)
            groups_members = []
            groups_members_left, groups_members_step = n, 8
            while groups_members_left:
                groups_members_count = groups_members_left
                if groups_members_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_1, buf, pos, groups_members_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        groups_members_left -= n
                        groups_members += [DescribedGroupMember(member_id.decode(), None, client_id.decode(), client_host.decode(), member_metadata, member_assignment) for member_id, client_id, client_host, member_metadata, member_assignment in rows]
                        continue
                    if groups_members_step < groups_members_left:
                        groups_members_count = groups_members_step
                    groups_members_step *= 2
                groups_members_left -= groups_members_count
                for _ in range(groups_members_count):
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.member_id")
                    if n < 0x80:
                        groups_members_member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        groups_members_member_id = long_text(buf, here, pos)
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.client_id")
                    if n < 0x80:
                        groups_members_client_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        groups_members_client_id = long_text(buf, here, pos)
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.client_host")
                    if n < 0x80:
                        groups_members_client_host = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        groups_members_client_host = long_text(buf, here, pos)
                    (n,) = unpack_i(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.member_metadata")
                    groups_members_member_metadata = buf[pos + 4 : (pos := pos + 4 + n)]
                    (n,) = unpack_i(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.member_assignment")
                    groups_members_member_assignment = buf[pos + 4 : (pos := pos + 4 + n)]
                    groups_members.append(DescribedGroupMember(groups_members_member_id, None, groups_members_client_id, groups_members_client_host, groups_members_member_metadata, groups_members_member_assignment))
            groups.append(DescribedGroup(groups_error_code, None, groups_group_id, groups_group_state, groups_protocol_type, groups_protocol_data, groups_members))
        if pos > len(buf):
            raise IndexError
        return DescribeGroupsResponse(0, groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeGroupsResponse, version, buf, start, pos) from None


def decode_describe_groups_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[DescribeGroupsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        groups: list[DescribedGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 480
        if room < 0:
            room = verify(DescribeGroupsResponse, version, buf, start, pos + n)
        groups = []
        groups_count = n
        for _ in range(groups_count):
            groups_error_code, n = unpack_hh(buf, pos)
            if n < 0:
                raise BadField("groups.group_id")
            if n < 0x80:
                groups_group_id = buf[pos + 4 : (pos := pos + 4 + n)].decode()
            else:
                here = pos + 4
                pos = here + n
                groups_group_id = long_text(buf, here, pos)
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("groups.group_state")
            if n < 0x80:
                groups_group_state = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                groups_group_state = long_text(buf, here, pos)
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("groups.protocol_type")
            if n < 0x80:
                groups_protocol_type = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                groups_protocol_type = long_text(buf, here, pos)
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("groups.protocol_data")
            if n < 0x80:
                groups_protocol_data = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                groups_protocol_data = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            groups_members: list[DescribedGroupMember]
            if n < 0:
                raise BadField("groups.members")
            room -= n * 352
            if room < 0:
                room = verify(DescribeGroupsResponse, version, buf, start, pos + n)
            groups_members = []
            groups_members_left, groups_members_step = n, 8
            while groups_members_left:
                groups_members_count = groups_members_left
                if groups_members_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_1, buf, pos, groups_members_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        groups_members_left -= n
                        groups_members += [DescribedGroupMember(member_id.decode(), None, client_id.decode(), client_host.decode(), member_metadata, member_assignment) for member_id, client_id, client_host, member_metadata, member_assignment in rows]
                        continue
                    if groups_members_step < groups_members_left:
                        groups_members_count = groups_members_step
                    groups_members_step *= 2
                groups_members_left -= groups_members_count
                for _ in range(groups_members_count):
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.member_id")
                    if n < 0x80:
                        groups_members_member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        groups_members_member_id = long_text(buf, here, pos)
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.client_id")
                    if n < 0x80:
                        groups_members_client_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        groups_members_client_id = long_text(buf, here, pos)
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.client_host")
                    if n < 0x80:
                        groups_members_client_host = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        groups_members_client_host = long_text(buf, here, pos)
                    (n,) = unpack_i(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.member_metadata")
                    groups_members_member_metadata = buf[pos + 4 : (pos := pos + 4 + n)]
                    (n,) = unpack_i(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.member_assignment")
                    groups_members_member_assignment = buf[pos + 4 : (pos := pos + 4 + n)]
                    groups_members.append(DescribedGroupMember(groups_members_member_id, None, groups_members_client_id, groups_members_client_host, groups_members_member_metadata, groups_members_member_assignment))
            groups.append(DescribedGroup(groups_error_code, None, groups_group_id, groups_group_state, groups_protocol_type, groups_protocol_data, groups_members))
        if pos > len(buf):
            raise IndexError
        return DescribeGroupsResponse(throttle_time_ms, groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeGroupsResponse, version, buf, start, pos) from None


decode_describe_groups_response_v2 = at_version(decode_describe_groups_response_v1, 2)


def decode_describe_groups_response_v3(buf: bytes, pos: int, version: int = 3) -> tuple[DescribeGroupsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        groups: list[DescribedGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 496
        if room < 0:
            room = verify(DescribeGroupsResponse, version, buf, start, pos + n)
        groups = []
        groups_count = n
        for _ in range(groups_count):
            groups_error_code, n = unpack_hh(buf, pos)
            if n < 0:
                raise BadField("groups.group_id")
            if n < 0x80:
                groups_group_id = buf[pos + 4 : (pos := pos + 4 + n)].decode()
            else:
                here = pos + 4
                pos = here + n
                groups_group_id = long_text(buf, here, pos)
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("groups.group_state")
            if n < 0x80:
                groups_group_state = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                groups_group_state = long_text(buf, here, pos)
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("groups.protocol_type")
            if n < 0x80:
                groups_protocol_type = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                groups_protocol_type = long_text(buf, here, pos)
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("groups.protocol_data")
            if n < 0x80:
                groups_protocol_data = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                groups_protocol_data = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            groups_members: list[DescribedGroupMember]
            if n < 0:
                raise BadField("groups.members")
            room -= n * 352
            if room < 0:
                room = verify(DescribeGroupsResponse, version, buf, start, pos + n)
            groups_members = []
            groups_members_left, groups_members_step = n, 8
            while groups_members_left:
                groups_members_count = groups_members_left
                if groups_members_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_1, buf, pos, groups_members_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        groups_members_left -= n
                        groups_members += [DescribedGroupMember(member_id.decode(), None, client_id.decode(), client_host.decode(), member_metadata, member_assignment) for member_id, client_id, client_host, member_metadata, member_assignment in rows]
                        continue
                    if groups_members_step < groups_members_left:
                        groups_members_count = groups_members_step
                    groups_members_step *= 2
                groups_members_left -= groups_members_count
                for _ in range(groups_members_count):
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.member_id")
                    if n < 0x80:
                        groups_members_member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        groups_members_member_id = long_text(buf, here, pos)
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.client_id")
                    if n < 0x80:
                        groups_members_client_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        groups_members_client_id = long_text(buf, here, pos)
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.client_host")
                    if n < 0x80:
                        groups_members_client_host = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        groups_members_client_host = long_text(buf, here, pos)
                    (n,) = unpack_i(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.member_metadata")
                    groups_members_member_metadata = buf[pos + 4 : (pos := pos + 4 + n)]
                    (n,) = unpack_i(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.member_assignment")
                    groups_members_member_assignment = buf[pos + 4 : (pos := pos + 4 + n)]
                    groups_members.append(DescribedGroupMember(groups_members_member_id, None, groups_members_client_id, groups_members_client_host, groups_members_member_metadata, groups_members_member_assignment))
            (groups_authorized_operations,) = unpack_i(buf, pos)
            pos += 4
            groups.append(DescribedGroup(groups_error_code, None, groups_group_id, groups_group_state, groups_protocol_type, groups_protocol_data, groups_members, groups_authorized_operations))
        if pos > len(buf):
            raise IndexError
        return DescribeGroupsResponse(throttle_time_ms, groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeGroupsResponse, version, buf, start, pos) from None


def decode_describe_groups_response_v4(buf: bytes, pos: int, version: int = 4) -> tuple[DescribeGroupsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        groups: list[DescribedGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 496
        if room < 0:
            room = verify(DescribeGroupsResponse, version, buf, start, pos + n)
        groups = []
        groups_count = n
        for _ in range(groups_count):
            groups_error_code, n = unpack_hh(buf, pos)
            if n < 0:
                raise BadField("groups.group_id")
            if n < 0x80:
                groups_group_id = buf[pos + 4 : (pos := pos + 4 + n)].decode()
            else:
                here = pos + 4
                pos = here + n
                groups_group_id = long_text(buf, here, pos)
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("groups.group_state")
            if n < 0x80:
                groups_group_state = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                groups_group_state = long_text(buf, here, pos)
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("groups.protocol_type")
            if n < 0x80:
                groups_protocol_type = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                groups_protocol_type = long_text(buf, here, pos)
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("groups.protocol_data")
            if n < 0x80:
                groups_protocol_data = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                groups_protocol_data = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            groups_members: list[DescribedGroupMember]
            if n < 0:
                raise BadField("groups.members")
            room -= n * 424
            if room < 0:
                room = verify(DescribeGroupsResponse, version, buf, start, pos + n)
            groups_members = []
            groups_members_left, groups_members_step = n, 8
            while groups_members_left:
                groups_members_count = groups_members_left
                if groups_members_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_2, buf, pos, groups_members_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        groups_members_left -= n
                        groups_members += [DescribedGroupMember(member_id.decode(), group_instance_id.decode() if group_instance_id else absent[1], client_id.decode(), client_host.decode(), member_metadata, member_assignment) for member_id, group_instance_id, client_id, client_host, member_metadata, member_assignment in rows]
                        continue
                    if groups_members_step < groups_members_left:
                        groups_members_count = groups_members_step
                    groups_members_step *= 2
                groups_members_left -= groups_members_count
                for _ in range(groups_members_count):
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.member_id")
                    if n < 0x80:
                        groups_members_member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        groups_members_member_id = long_text(buf, here, pos)
                    groups_members_group_instance_id: str | None
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        groups_members_group_instance_id = None
                        pos += 2
                    elif n < 0x80:
                        groups_members_group_instance_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        groups_members_group_instance_id = long_text(buf, here, pos)
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.client_id")
                    if n < 0x80:
                        groups_members_client_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        groups_members_client_id = long_text(buf, here, pos)
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.client_host")
                    if n < 0x80:
                        groups_members_client_host = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        groups_members_client_host = long_text(buf, here, pos)
                    (n,) = unpack_i(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.member_metadata")
                    groups_members_member_metadata = buf[pos + 4 : (pos := pos + 4 + n)]
                    (n,) = unpack_i(buf, pos)
                    if n < 0:
                        raise BadField("groups.members.member_assignment")
                    groups_members_member_assignment = buf[pos + 4 : (pos := pos + 4 + n)]
                    groups_members.append(DescribedGroupMember(groups_members_member_id, groups_members_group_instance_id, groups_members_client_id, groups_members_client_host, groups_members_member_metadata, groups_members_member_assignment))
            (groups_authorized_operations,) = unpack_i(buf, pos)
            pos += 4
            groups.append(DescribedGroup(groups_error_code, None, groups_group_id, groups_group_state, groups_protocol_type, groups_protocol_data, groups_members, groups_authorized_operations))
        if pos > len(buf):
            raise IndexError
        return DescribeGroupsResponse(throttle_time_ms, groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeGroupsResponse, version, buf, start, pos) from None


def decode_describe_groups_response_v5(buf: bytes, pos: int, version: int = 5) -> tuple[DescribeGroupsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        groups: list[DescribedGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 520
        if room < 0:
            room = verify(DescribeGroupsResponse, version, buf, start, pos + n)
        groups = []
        groups_count = n
        for _ in range(groups_count):
            groups_error_code, n = unpack_hB(buf, pos)
            if 0 < n < 0x80:
                groups_group_id = buf[pos + 3 : (pos := pos + 2 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 2)
                if n == 0:
                    raise BadField("groups.group_id")
                n -= 1
                here = pos
                pos = here + n
                groups_group_id = long_text(buf, here, pos)
            n = buf[pos]
            if 0 < n < 0x80:
                groups_group_state = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("groups.group_state")
                n -= 1
                here = pos
                pos = here + n
                groups_group_state = long_text(buf, here, pos)
            n = buf[pos]
            if 0 < n < 0x80:
                groups_protocol_type = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("groups.protocol_type")
                n -= 1
                here = pos
                pos = here + n
                groups_protocol_type = long_text(buf, here, pos)
            n = buf[pos]
            if 0 < n < 0x80:
                groups_protocol_data = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("groups.protocol_data")
                n -= 1
                here = pos
                pos = here + n
                groups_protocol_data = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            groups_members: list[DescribedGroupMember]
            if n < 0:
                raise BadField("groups.members")
            room -= n * 460
            if room < 0:
                room = verify(DescribeGroupsResponse, version, buf, start, pos + n)
            groups_members = []
            groups_members_left, groups_members_step = n, 8
            while groups_members_left:
                groups_members_count = groups_members_left
                if groups_members_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_3, buf, pos, groups_members_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        groups_members_left -= n
                        groups_members += [DescribedGroupMember(member_id.decode(), group_instance_id.decode() if group_instance_id else absent[1], client_id.decode(), client_host.decode(), member_metadata, member_assignment) for member_id, group_instance_id, client_id, client_host, member_metadata, member_assignment in rows]
                        continue
                    if groups_members_step < groups_members_left:
                        groups_members_count = groups_members_step
                    groups_members_step *= 2
                groups_members_left -= groups_members_count
                for _ in range(groups_members_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_members_member_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("groups.members.member_id")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_member_id = long_text(buf, here, pos)
                    groups_members_group_instance_id: str | None
                    n = buf[pos]
                    if not n:
                        groups_members_group_instance_id = None
                        pos += 1
                    elif n == 1:
                        groups_members_group_instance_id = ""
                        pos += 1
                    elif n < 0x80:
                        groups_members_group_instance_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n:
                            n -= 1
                            here = pos
                            pos = here + n
                            groups_members_group_instance_id = long_text(buf, here, pos)
                        else:
                            groups_members_group_instance_id = None
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_members_client_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("groups.members.client_id")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_client_id = long_text(buf, here, pos)
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_members_client_host = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("groups.members.client_host")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_client_host = long_text(buf, here, pos)
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_members_member_metadata = buf[pos + 1 : (pos := pos + n)]
                    else:
                        n, pos = read_uvarint(buf, pos)
                        if n == 0:
                            raise BadField("groups.members.member_metadata")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_member_metadata = buf[here:pos]
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_members_member_assignment = buf[pos + 1 : (pos := pos + n)]
                    else:
                        n, pos = read_uvarint(buf, pos)
                        if n == 0:
                            raise BadField("groups.members.member_assignment")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_member_assignment = buf[here:pos]
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    groups_members.append(DescribedGroupMember(groups_members_member_id, groups_members_group_instance_id, groups_members_client_id, groups_members_client_host, groups_members_member_metadata, groups_members_member_assignment))
            groups_authorized_operations, n = unpack_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos - 1)
            groups.append(DescribedGroup(groups_error_code, None, groups_group_id, groups_group_state, groups_protocol_type, groups_protocol_data, groups_members, groups_authorized_operations))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeGroupsResponse(throttle_time_ms, groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeGroupsResponse, version, buf, start, pos) from None


def decode_describe_groups_response_v6(buf: bytes, pos: int, version: int = 6) -> tuple[DescribeGroupsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        groups: list[DescribedGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 596
        if room < 0:
            room = verify(DescribeGroupsResponse, version, buf, start, pos + n)
        groups = []
        groups_count = n
        for _ in range(groups_count):
            groups_error_message: str | None
            groups_error_code, n = unpack_hB(buf, pos)
            if not n:
                groups_error_message = None
                pos += 3
            elif n == 1:
                groups_error_message = ""
                pos += 3
            elif n < 0x80:
                groups_error_message = buf[pos + 3 : (pos := pos + 2 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 2)
                if n:
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_error_message = long_text(buf, here, pos)
                else:
                    groups_error_message = None
            n = buf[pos]
            if 0 < n < 0x80:
                groups_group_id = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("groups.group_id")
                n -= 1
                here = pos
                pos = here + n
                groups_group_id = long_text(buf, here, pos)
            n = buf[pos]
            if 0 < n < 0x80:
                groups_group_state = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("groups.group_state")
                n -= 1
                here = pos
                pos = here + n
                groups_group_state = long_text(buf, here, pos)
            n = buf[pos]
            if 0 < n < 0x80:
                groups_protocol_type = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("groups.protocol_type")
                n -= 1
                here = pos
                pos = here + n
                groups_protocol_type = long_text(buf, here, pos)
            n = buf[pos]
            if 0 < n < 0x80:
                groups_protocol_data = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("groups.protocol_data")
                n -= 1
                here = pos
                pos = here + n
                groups_protocol_data = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            groups_members: list[DescribedGroupMember]
            if n < 0:
                raise BadField("groups.members")
            room -= n * 460
            if room < 0:
                room = verify(DescribeGroupsResponse, version, buf, start, pos + n)
            groups_members = []
            groups_members_left, groups_members_step = n, 8
            while groups_members_left:
                groups_members_count = groups_members_left
                if groups_members_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_3, buf, pos, groups_members_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        groups_members_left -= n
                        groups_members += [DescribedGroupMember(member_id.decode(), group_instance_id.decode() if group_instance_id else absent[1], client_id.decode(), client_host.decode(), member_metadata, member_assignment) for member_id, group_instance_id, client_id, client_host, member_metadata, member_assignment in rows]
                        continue
                    if groups_members_step < groups_members_left:
                        groups_members_count = groups_members_step
                    groups_members_step *= 2
                groups_members_left -= groups_members_count
                for _ in range(groups_members_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_members_member_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("groups.members.member_id")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_member_id = long_text(buf, here, pos)
                    groups_members_group_instance_id: str | None
                    n = buf[pos]
                    if not n:
                        groups_members_group_instance_id = None
                        pos += 1
                    elif n == 1:
                        groups_members_group_instance_id = ""
                        pos += 1
                    elif n < 0x80:
                        groups_members_group_instance_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n:
                            n -= 1
                            here = pos
                            pos = here + n
                            groups_members_group_instance_id = long_text(buf, here, pos)
                        else:
                            groups_members_group_instance_id = None
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_members_client_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("groups.members.client_id")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_client_id = long_text(buf, here, pos)
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_members_client_host = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("groups.members.client_host")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_client_host = long_text(buf, here, pos)
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_members_member_metadata = buf[pos + 1 : (pos := pos + n)]
                    else:
                        n, pos = read_uvarint(buf, pos)
                        if n == 0:
                            raise BadField("groups.members.member_metadata")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_member_metadata = buf[here:pos]
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_members_member_assignment = buf[pos + 1 : (pos := pos + n)]
                    else:
                        n, pos = read_uvarint(buf, pos)
                        if n == 0:
                            raise BadField("groups.members.member_assignment")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_member_assignment = buf[here:pos]
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    groups_members.append(DescribedGroupMember(groups_members_member_id, groups_members_group_instance_id, groups_members_client_id, groups_members_client_host, groups_members_member_metadata, groups_members_member_assignment))
            groups_authorized_operations, n = unpack_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos - 1)
            groups.append(DescribedGroup(groups_error_code, groups_error_message, groups_group_id, groups_group_state, groups_protocol_type, groups_protocol_data, groups_members, groups_authorized_operations))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeGroupsResponse(throttle_time_ms, groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeGroupsResponse, version, buf, start, pos) from None


def encode_describe_groups_response_v0(msg: DescribeGroupsResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        groups = msg.groups
        out += pack_i(len(groups))
        for groups_item in groups:
            if groups_item.error_message is not None:
                raise not_in_version("groups.error_message")
            if groups_item.authorized_operations != -2147483648:
                raise not_in_version("groups.authorized_operations")
            raw = groups_item.group_id.encode()
            out += pack_hh(groups_item.error_code, len(raw))
            out += raw
            raw = groups_item.group_state.encode()
            out += pack_h(len(raw))
            out += raw
            raw = groups_item.protocol_type.encode()
            out += pack_h(len(raw))
            out += raw
            raw = groups_item.protocol_data.encode()
            out += pack_h(len(raw))
            out += raw
            groups_members = groups_item.members
            out += pack_i(len(groups_members))
            for groups_members_item in groups_members:
                raw = groups_members_item.member_id.encode()
                out += pack_h(len(raw))
                out += raw
                raw = groups_members_item.client_id.encode()
                out += pack_h(len(raw))
                out += raw
                raw = groups_members_item.client_host.encode()
                out += pack_h(len(raw))
                out += raw
                raw = groups_members_item.member_metadata
                out += pack_i(len(raw))
                out += raw
                raw = groups_members_item.member_assignment
                out += pack_i(len(raw))
                out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeGroupsResponse", version) from error


def encode_describe_groups_response_v1(msg: DescribeGroupsResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        groups = msg.groups
        out += pack_ii(msg.throttle_time_ms, len(groups))
        for groups_item in groups:
            if groups_item.error_message is not None:
                raise not_in_version("groups.error_message")
            if groups_item.authorized_operations != -2147483648:
                raise not_in_version("groups.authorized_operations")
            raw = groups_item.group_id.encode()
            out += pack_hh(groups_item.error_code, len(raw))
            out += raw
            raw = groups_item.group_state.encode()
            out += pack_h(len(raw))
            out += raw
            raw = groups_item.protocol_type.encode()
            out += pack_h(len(raw))
            out += raw
            raw = groups_item.protocol_data.encode()
            out += pack_h(len(raw))
            out += raw
            groups_members = groups_item.members
            out += pack_i(len(groups_members))
            for groups_members_item in groups_members:
                raw = groups_members_item.member_id.encode()
                out += pack_h(len(raw))
                out += raw
                raw = groups_members_item.client_id.encode()
                out += pack_h(len(raw))
                out += raw
                raw = groups_members_item.client_host.encode()
                out += pack_h(len(raw))
                out += raw
                raw = groups_members_item.member_metadata
                out += pack_i(len(raw))
                out += raw
                raw = groups_members_item.member_assignment
                out += pack_i(len(raw))
                out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeGroupsResponse", version) from error


encode_describe_groups_response_v2 = at_version(encode_describe_groups_response_v1, 2)


def encode_describe_groups_response_v3(msg: DescribeGroupsResponse, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        groups = msg.groups
        out += pack_ii(msg.throttle_time_ms, len(groups))
        for groups_item in groups:
            if groups_item.error_message is not None:
                raise not_in_version("groups.error_message")
            raw = groups_item.group_id.encode()
            out += pack_hh(groups_item.error_code, len(raw))
            out += raw
            raw = groups_item.group_state.encode()
            out += pack_h(len(raw))
            out += raw
            raw = groups_item.protocol_type.encode()
            out += pack_h(len(raw))
            out += raw
            raw = groups_item.protocol_data.encode()
            out += pack_h(len(raw))
            out += raw
            groups_members = groups_item.members
            out += pack_i(len(groups_members))
            for groups_members_item in groups_members:
                raw = groups_members_item.member_id.encode()
                out += pack_h(len(raw))
                out += raw
                raw = groups_members_item.client_id.encode()
                out += pack_h(len(raw))
                out += raw
                raw = groups_members_item.client_host.encode()
                out += pack_h(len(raw))
                out += raw
                raw = groups_members_item.member_metadata
                out += pack_i(len(raw))
                out += raw
                raw = groups_members_item.member_assignment
                out += pack_i(len(raw))
                out += raw
            out += pack_i(groups_item.authorized_operations)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeGroupsResponse", version) from error


def encode_describe_groups_response_v4(msg: DescribeGroupsResponse, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        groups = msg.groups
        out += pack_ii(msg.throttle_time_ms, len(groups))
        for groups_item in groups:
            if groups_item.error_message is not None:
                raise not_in_version("groups.error_message")
            raw = groups_item.group_id.encode()
            out += pack_hh(groups_item.error_code, len(raw))
            out += raw
            raw = groups_item.group_state.encode()
            out += pack_h(len(raw))
            out += raw
            raw = groups_item.protocol_type.encode()
            out += pack_h(len(raw))
            out += raw
            raw = groups_item.protocol_data.encode()
            out += pack_h(len(raw))
            out += raw
            groups_members = groups_item.members
            out += pack_i(len(groups_members))
            for groups_members_item in groups_members:
                raw = groups_members_item.member_id.encode()
                out += pack_h(len(raw))
                out += raw
                text = groups_members_item.group_instance_id
                if text is None:
                    n, raw = -1, b""
                else:
                    raw = text.encode()
                    n = len(raw)
                out += pack_h(n)
                out += raw
                raw = groups_members_item.client_id.encode()
                out += pack_h(len(raw))
                out += raw
                raw = groups_members_item.client_host.encode()
                out += pack_h(len(raw))
                out += raw
                raw = groups_members_item.member_metadata
                out += pack_i(len(raw))
                out += raw
                raw = groups_members_item.member_assignment
                out += pack_i(len(raw))
                out += raw
            out += pack_i(groups_item.authorized_operations)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeGroupsResponse", version) from error


def encode_describe_groups_response_v5(msg: DescribeGroupsResponse, out: bytearray, version: int = 5) -> None:
    start = len(out)
    try:
        groups = msg.groups
        n = len(groups) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for groups_item in groups:
            if groups_item.error_message is not None:
                raise not_in_version("groups.error_message")
            raw = groups_item.group_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_hB(groups_item.error_code, n)
            else:
                out += pack_h(groups_item.error_code)
                out += write_string_size(n)
            out += raw
            raw = groups_item.group_state.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = groups_item.protocol_type.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = groups_item.protocol_data.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            groups_members = groups_item.members
            n = len(groups_members) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for groups_members_item in groups_members:
                raw = groups_members_item.member_id.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                text = groups_members_item.group_instance_id
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
                raw = groups_members_item.client_id.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                raw = groups_members_item.client_host.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                raw = groups_members_item.member_metadata
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += raw
                raw = groups_members_item.member_assignment
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += raw
                out.append(0)
            out += pack_ix(groups_item.authorized_operations)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeGroupsResponse", version) from error


def encode_describe_groups_response_v6(msg: DescribeGroupsResponse, out: bytearray, version: int = 6) -> None:
    start = len(out)
    try:
        groups = msg.groups
        n = len(groups) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for groups_item in groups:
            text = groups_item.error_message
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_hB(groups_item.error_code, n)
            else:
                out += pack_h(groups_item.error_code)
                out += write_string_size(n)
            out += raw
            raw = groups_item.group_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = groups_item.group_state.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = groups_item.protocol_type.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = groups_item.protocol_data.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            groups_members = groups_item.members
            n = len(groups_members) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for groups_members_item in groups_members:
                raw = groups_members_item.member_id.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                text = groups_members_item.group_instance_id
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
                raw = groups_members_item.client_id.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                raw = groups_members_item.client_host.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                raw = groups_members_item.member_metadata
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += raw
                raw = groups_members_item.member_assignment
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += raw
                out.append(0)
            out += pack_ix(groups_item.authorized_operations)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeGroupsResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    DescribeGroupsRequest: {
        0: decode_describe_groups_request_v0,
        1: decode_describe_groups_request_v1,
        2: decode_describe_groups_request_v2,
        3: decode_describe_groups_request_v3,
        4: decode_describe_groups_request_v4,
        5: decode_describe_groups_request_v5,
        6: decode_describe_groups_request_v6,
    },
    DescribeGroupsResponse: {
        0: decode_describe_groups_response_v0,
        1: decode_describe_groups_response_v1,
        2: decode_describe_groups_response_v2,
        3: decode_describe_groups_response_v3,
        4: decode_describe_groups_response_v4,
        5: decode_describe_groups_response_v5,
        6: decode_describe_groups_response_v6,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    DescribeGroupsRequest: {
        0: encode_describe_groups_request_v0,
        1: encode_describe_groups_request_v1,
        2: encode_describe_groups_request_v2,
        3: encode_describe_groups_request_v3,
        4: encode_describe_groups_request_v4,
        5: encode_describe_groups_request_v5,
        6: encode_describe_groups_request_v6,
    },
    DescribeGroupsResponse: {
        0: encode_describe_groups_response_v0,
        1: encode_describe_groups_response_v1,
        2: encode_describe_groups_response_v2,
        3: encode_describe_groups_response_v3,
        4: encode_describe_groups_response_v4,
        5: encode_describe_groups_response_v5,
        6: encode_describe_groups_response_v6,
    },
}
