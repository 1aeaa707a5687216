"""Codecs of protocol/messages/share_group_describe.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_hB, unpack_iB, unpack_iiB, unpack_uB, unpack_zB
from protocol.messages.share_group_describe import (
    Assignment,
    DescribedGroup,
    Member,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
    TopicPartitions,
)
from protocol.refusal import BadField, decode_failure, encode_failure, verify
from protocol.wire import (
    DECODE_ERRORS,
    ENCODE_ERRORS,
    long_text,
    read_string_size,
    read_uvarint,
    skip_tags,
    write_string_size,
    write_uvarint,
)

pack_u = Struct(">16s").pack
pack_uB = Struct(">16sB").pack
pack_zx = Struct(">?x").pack
pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ii = Struct(">ii").pack
pack_iiB = Struct(">iiB").pack
pack_ix = Struct(">ix").pack


def decode_share_group_describe_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[ShareGroupDescribeRequest, int]:
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
        group_ids: list[str]
        if n < 0:
            raise BadField("group_ids")
        room -= n * 100
        if room < 0:
            room, limit = verify(ShareGroupDescribeRequest, version, buf, start, pos + n, limit - n * 100), 0
        group_ids = []
        group_ids_count = n
        for _ in range(group_ids_count):
            n = buf[pos]
            if 0 < n < 0x80:
                group_ids_item = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("group_ids.item")
                n -= 1
                here = pos
                pos = here + n
                group_ids_item = long_text(buf, here, pos)
            group_ids.append(group_ids_item)
        include_authorized_operations, n = unpack_zB(buf, pos)
        pos += 2
        if n:
            pos = skip_tags(buf, pos - 1)
        return ShareGroupDescribeRequest(group_ids, include_authorized_operations), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareGroupDescribeRequest, version, buf, start, pos) from None


def encode_share_group_describe_request_v1(msg: ShareGroupDescribeRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        group_ids = msg.group_ids
        n = len(group_ids) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for group_ids_item in group_ids:
            raw = group_ids_item.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
        out += pack_zx(msg.include_authorized_operations)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareGroupDescribeRequest", version) from error


def decode_share_group_describe_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[ShareGroupDescribeResponse, int]:
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
        room -= n * 568
        if room < 0:
            room = verify(ShareGroupDescribeResponse, version, buf, start, pos + n)
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
            groups_group_epoch, groups_assignment_epoch, n = unpack_iiB(buf, pos)
            if 0 < n < 0x80:
                groups_assignor_name = buf[pos + 9 : (pos := pos + 8 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 8)
                if n == 0:
                    raise BadField("groups.assignor_name")
                n -= 1
                here = pos
                pos = here + n
                groups_assignor_name = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            groups_members: list[Member]
            if n < 0:
                raise BadField("groups.members")
            room -= n * 600
            if room < 0:
                room = verify(ShareGroupDescribeResponse, version, buf, start, pos + n)
            groups_members = []
            groups_members_count = n
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
                groups_members_rack_id: str | None
                n = buf[pos]
                if not n:
                    groups_members_rack_id = None
                    pos += 1
                elif n == 1:
                    groups_members_rack_id = ""
                    pos += 1
                elif n < 0x80:
                    groups_members_rack_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_rack_id = long_text(buf, here, pos)
                    else:
                        groups_members_rack_id = None
                groups_members_member_epoch, n = unpack_iB(buf, pos)
                if 0 < n < 0x80:
                    groups_members_client_id = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
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
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                groups_members_subscribed_topic_names: list[str]
                if n < 0:
                    raise BadField("groups.members.subscribed_topic_names")
                room -= n * 100
                if room < 0:
                    room = verify(ShareGroupDescribeResponse, version, buf, start, pos + n)
                groups_members_subscribed_topic_names = []
                groups_members_subscribed_topic_names_count = n
                for _ in range(groups_members_subscribed_topic_names_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_members_subscribed_topic_names_item = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("groups.members.subscribed_topic_names.item")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_subscribed_topic_names_item = long_text(buf, here, pos)
                    groups_members_subscribed_topic_names.append(groups_members_subscribed_topic_names_item)
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                groups_members_assignment_topic_partitions: list[TopicPartitions]
                if n < 0:
                    raise BadField("groups.members.assignment.topic_partitions")
                room -= n * 204
                if room < 0:
                    room = verify(ShareGroupDescribeResponse, version, buf, start, pos + n)
                groups_members_assignment_topic_partitions = []
                groups_members_assignment_topic_partitions_count = n
                for _ in range(groups_members_assignment_topic_partitions_count):
                    groups_members_assignment_topic_partitions_topic_id, n = unpack_uB(buf, pos)
                    if 0 < n < 0x80:
                        groups_members_assignment_topic_partitions_topic_name = buf[pos + 17 : (pos := pos + 16 + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos + 16)
                        if n == 0:
                            raise BadField("groups.members.assignment.topic_partitions.topic_name")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_assignment_topic_partitions_topic_name = long_text(buf, here, pos)
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    groups_members_assignment_topic_partitions_partitions: list[int]
                    if n < 0:
                        raise BadField("groups.members.assignment.topic_partitions.partitions")
                    room -= n * 40
                    if room < 0:
                        room = verify(ShareGroupDescribeResponse, version, buf, start, pos + n)
                    groups_members_assignment_topic_partitions_partitions = list(unpack_from(f">{n}i", buf, pos))
                    pos += n * 4
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    groups_members_assignment_topic_partitions.append(TopicPartitions(groups_members_assignment_topic_partitions_topic_id, groups_members_assignment_topic_partitions_topic_name, groups_members_assignment_topic_partitions_partitions))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                groups_members.append(Member(groups_members_member_id, groups_members_rack_id, groups_members_member_epoch, groups_members_client_id, groups_members_client_host, groups_members_subscribed_topic_names, Assignment(groups_members_assignment_topic_partitions)))
            groups_authorized_operations, n = unpack_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos - 1)
            groups.append(DescribedGroup(groups_error_code, groups_error_message, groups_group_id, groups_group_state, groups_group_epoch, groups_assignment_epoch, groups_assignor_name, groups_members, groups_authorized_operations))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ShareGroupDescribeResponse(throttle_time_ms, groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareGroupDescribeResponse, version, buf, start, pos) from None


def encode_share_group_describe_response_v1(msg: ShareGroupDescribeResponse, out: bytearray, version: int = 1) -> None:
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
            raw = groups_item.assignor_name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_iiB(groups_item.group_epoch, groups_item.assignment_epoch, n)
            else:
                out += pack_ii(groups_item.group_epoch, groups_item.assignment_epoch)
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
                text = groups_members_item.rack_id
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
                    out += pack_iB(groups_members_item.member_epoch, n)
                else:
                    out += pack_i(groups_members_item.member_epoch)
                    out += write_string_size(n)
                out += raw
                raw = groups_members_item.client_host.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                groups_members_subscribed_topic_names = groups_members_item.subscribed_topic_names
                n = len(groups_members_subscribed_topic_names) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for groups_members_subscribed_topic_names_item in groups_members_subscribed_topic_names:
                    raw = groups_members_subscribed_topic_names_item.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                groups_members_assignment = groups_members_item.assignment
                groups_members_assignment_topic_partitions = groups_members_assignment.topic_partitions
                n = len(groups_members_assignment_topic_partitions) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for groups_members_assignment_topic_partitions_item in groups_members_assignment_topic_partitions:
                    if len(groups_members_assignment_topic_partitions_item.topic_id) != 16:
                        raise BadField("groups.members.assignment.topic_partitions.topic_id", "a UUID has 16 bytes")
                    raw = groups_members_assignment_topic_partitions_item.topic_name.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out += pack_uB(groups_members_assignment_topic_partitions_item.topic_id, n)
                    else:
                        out += pack_u(groups_members_assignment_topic_partitions_item.topic_id)
                        out += write_string_size(n)
                    out += raw
                    groups_members_assignment_topic_partitions_partitions = groups_members_assignment_topic_partitions_item.partitions
                    n = len(groups_members_assignment_topic_partitions_partitions) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += pack_i(*groups_members_assignment_topic_partitions_partitions) if len(groups_members_assignment_topic_partitions_partitions) == 1 else pack(f">{len(groups_members_assignment_topic_partitions_partitions)}i", *groups_members_assignment_topic_partitions_partitions)
                    out.append(0)
                out += b"\0\0"
            out += pack_ix(groups_item.authorized_operations)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareGroupDescribeResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    ShareGroupDescribeRequest: {
        1: decode_share_group_describe_request_v1,
    },
    ShareGroupDescribeResponse: {
        1: decode_share_group_describe_response_v1,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    ShareGroupDescribeRequest: {
        1: encode_share_group_describe_request_v1,
    },
    ShareGroupDescribeResponse: {
        1: encode_share_group_describe_response_v1,
    },
}
