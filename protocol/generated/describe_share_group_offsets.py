"""Codecs of protocol/messages/describe_share_group_offsets.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_hB, unpack_iB, unpack_iqihB, unpack_iqiqhB, unpack_uB
from protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)
from protocol.refusal import BadField, decode_failure, encode_failure, verify
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

SHAPE_1 = Shape("x", 1, Field("iqih", 18, 1, True, ""))
SHAPE_2 = Shape("x", 1, Field("iqiqh", 26, 1, True, ""))
pack_u = Struct(">16s").pack
pack_uB = Struct(">16sB").pack
pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_iqih = Struct(">iqih").pack
pack_iqihB = Struct(">iqihB").pack
pack_iqihBx = Struct(">iqihBx").pack
pack_iqiqh = Struct(">iqiqh").pack
pack_iqiqhB = Struct(">iqiqhB").pack
pack_iqiqhBx = Struct(">iqiqhBx").pack


def decode_describe_share_group_offsets_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DescribeShareGroupOffsetsRequest, int]:
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
        groups: list[DescribeShareGroupOffsetsRequestGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 204
        if room < 0:
            room, limit = verify(DescribeShareGroupOffsetsRequest, version, buf, start, pos + n, limit - n * 204), 0
        groups = []
        groups_count = n
        for _ in range(groups_count):
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
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            groups_topics: list[DescribeShareGroupOffsetsRequestTopic] | None
            if n < 0:
                groups_topics = None
            else:
                room -= n * 204
                if room < 0:
                    room, limit = verify(DescribeShareGroupOffsetsRequest, version, buf, start, pos + n, limit - n * 204), 0
                groups_topics = []
                groups_topics_count = n
                for _ in range(groups_topics_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_topics_topic_name = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("groups.topics.topic_name")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_topics_topic_name = long_text(buf, here, pos)
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    groups_topics_partitions: list[int]
                    if n < 0:
                        raise BadField("groups.topics.partitions")
                    room -= n * 40
                    if room < 0:
                        room, limit = verify(DescribeShareGroupOffsetsRequest, version, buf, start, pos + n, limit - n * 40), 0
                    groups_topics_partitions = list(unpack_from(f">{n}i", buf, pos))
                    pos += n * 4
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    groups_topics.append(DescribeShareGroupOffsetsRequestTopic(groups_topics_topic_name, groups_topics_partitions))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            groups.append(DescribeShareGroupOffsetsRequestGroup(groups_group_id, groups_topics))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeShareGroupOffsetsRequest(groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeShareGroupOffsetsRequest, version, buf, start, pos) from None


decode_describe_share_group_offsets_request_v1 = at_version(decode_describe_share_group_offsets_request_v0, 1)


def encode_describe_share_group_offsets_request_v0(msg: DescribeShareGroupOffsetsRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        groups = msg.groups
        n = len(groups) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for groups_item in groups:
            raw = groups_item.group_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            groups_topics = groups_item.topics
            if groups_topics is None:
                out.append(0)
            else:
                n = len(groups_topics) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for groups_topics_item in groups_topics:
                    raw = groups_topics_item.topic_name.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    groups_topics_partitions = groups_topics_item.partitions
                    n = len(groups_topics_partitions) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += pack_i(*groups_topics_partitions) if len(groups_topics_partitions) == 1 else pack(f">{len(groups_topics_partitions)}i", *groups_topics_partitions)
                    out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeShareGroupOffsetsRequest", version) from error


encode_describe_share_group_offsets_request_v1 = at_version(encode_describe_share_group_offsets_request_v0, 1)


def decode_describe_share_group_offsets_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DescribeShareGroupOffsetsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        groups: list[DescribeShareGroupOffsetsResponseGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 320
        if room < 0:
            room = verify(DescribeShareGroupOffsetsResponse, version, buf, start, pos + n)
        groups = []
        groups_count = n
        for _ in range(groups_count):
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
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            groups_topics: list[DescribeShareGroupOffsetsResponseTopic]
            if n < 0:
                raise BadField("groups.topics")
            room -= n * 204
            if room < 0:
                room = verify(DescribeShareGroupOffsetsResponse, version, buf, start, pos + n)
            groups_topics = []
            groups_topics_count = n
            for _ in range(groups_topics_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    groups_topics_topic_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("groups.topics.topic_name")
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_topics_topic_name = long_text(buf, here, pos)
                groups_topics_topic_id, n = unpack_uB(buf, pos)
                pos += 17
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                groups_topics_partitions: list[DescribeShareGroupOffsetsResponsePartition]
                if n < 0:
                    raise BadField("groups.topics.partitions")
                room -= n * 232
                if room < 0:
                    room = verify(DescribeShareGroupOffsetsResponse, version, buf, start, pos + n)
                groups_topics_partitions = []
                groups_topics_partitions_left, groups_topics_partitions_step = n, 8
                while groups_topics_partitions_left:
                    groups_topics_partitions_count = groups_topics_partitions_left
                    if groups_topics_partitions_left >= 8:
                        run = alike(SHAPE_1, buf, pos, groups_topics_partitions_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            groups_topics_partitions_left -= n
                            if is_same:
                                groups_topics_partitions += [DescribeShareGroupOffsetsResponsePartition(partition_index, start_offset, leader_epoch, -1, error_code, absent) for partition_index, start_offset, leader_epoch, error_code in rows]
                            else:
                                groups_topics_partitions += [DescribeShareGroupOffsetsResponsePartition(partition_index, start_offset, leader_epoch, -1, error_code, error_message.decode()) for partition_index, start_offset, leader_epoch, error_code, error_message in rows]
                            continue
                        if groups_topics_partitions_step < groups_topics_partitions_left:
                            groups_topics_partitions_count = groups_topics_partitions_step
                        groups_topics_partitions_step *= 2
                    groups_topics_partitions_left -= groups_topics_partitions_count
                    for _ in range(groups_topics_partitions_count):
                        groups_topics_partitions_error_message: str | None
                        groups_topics_partitions_partition_index, groups_topics_partitions_start_offset, groups_topics_partitions_leader_epoch, groups_topics_partitions_error_code, n = unpack_iqihB(buf, pos)
                        if not n:
                            groups_topics_partitions_error_message = None
                            pos += 19
                        elif n == 1:
                            groups_topics_partitions_error_message = ""
                            pos += 19
                        elif n < 0x80:
                            groups_topics_partitions_error_message = buf[pos + 19 : (pos := pos + 18 + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos + 18)
                            if n:
                                n -= 1
                                here = pos
                                pos = here + n
                                groups_topics_partitions_error_message = long_text(buf, here, pos)
                            else:
                                groups_topics_partitions_error_message = None
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        groups_topics_partitions.append(DescribeShareGroupOffsetsResponsePartition(groups_topics_partitions_partition_index, groups_topics_partitions_start_offset, groups_topics_partitions_leader_epoch, -1, groups_topics_partitions_error_code, groups_topics_partitions_error_message))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                groups_topics.append(DescribeShareGroupOffsetsResponseTopic(groups_topics_topic_name, groups_topics_topic_id, groups_topics_partitions))
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
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            groups.append(DescribeShareGroupOffsetsResponseGroup(groups_group_id, groups_topics, groups_error_code, groups_error_message))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeShareGroupOffsetsResponse(throttle_time_ms, groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeShareGroupOffsetsResponse, version, buf, start, pos) from None


def decode_describe_share_group_offsets_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[DescribeShareGroupOffsetsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        groups: list[DescribeShareGroupOffsetsResponseGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 320
        if room < 0:
            room = verify(DescribeShareGroupOffsetsResponse, version, buf, start, pos + n)
        groups = []
        groups_count = n
        for _ in range(groups_count):
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
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            groups_topics: list[DescribeShareGroupOffsetsResponseTopic]
            if n < 0:
                raise BadField("groups.topics")
            room -= n * 204
            if room < 0:
                room = verify(DescribeShareGroupOffsetsResponse, version, buf, start, pos + n)
            groups_topics = []
            groups_topics_count = n
            for _ in range(groups_topics_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    groups_topics_topic_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("groups.topics.topic_name")
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_topics_topic_name = long_text(buf, here, pos)
                groups_topics_topic_id, n = unpack_uB(buf, pos)
                pos += 17
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                groups_topics_partitions: list[DescribeShareGroupOffsetsResponsePartition]
                if n < 0:
                    raise BadField("groups.topics.partitions")
                room -= n * 232
                if room < 0:
                    room = verify(DescribeShareGroupOffsetsResponse, version, buf, start, pos + n)
                groups_topics_partitions = []
                groups_topics_partitions_left, groups_topics_partitions_step = n, 8
                while groups_topics_partitions_left:
                    groups_topics_partitions_count = groups_topics_partitions_left
                    if groups_topics_partitions_left >= 8:
                        run = alike(SHAPE_2, buf, pos, groups_topics_partitions_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            groups_topics_partitions_left -= n
                            if is_same and absent == None:
                                groups_topics_partitions += starmap(DescribeShareGroupOffsetsResponsePartition, rows)
                                continue
                            if is_same:
                                groups_topics_partitions += [DescribeShareGroupOffsetsResponsePartition(partition_index, start_offset, leader_epoch, lag, error_code, absent) for partition_index, start_offset, leader_epoch, lag, error_code in rows]
                            else:
                                groups_topics_partitions += [DescribeShareGroupOffsetsResponsePartition(partition_index, start_offset, leader_epoch, lag, error_code, error_message.decode()) for partition_index, start_offset, leader_epoch, lag, error_code, error_message in rows]
                            continue
                        if groups_topics_partitions_step < groups_topics_partitions_left:
                            groups_topics_partitions_count = groups_topics_partitions_step
                        groups_topics_partitions_step *= 2
                    groups_topics_partitions_left -= groups_topics_partitions_count
                    for _ in range(groups_topics_partitions_count):
                        groups_topics_partitions_error_message: str | None
                        groups_topics_partitions_partition_index, groups_topics_partitions_start_offset, groups_topics_partitions_leader_epoch, groups_topics_partitions_lag, groups_topics_partitions_error_code, n = unpack_iqiqhB(buf, pos)
                        if not n:
                            groups_topics_partitions_error_message = None
                            pos += 27
                        elif n == 1:
                            groups_topics_partitions_error_message = ""
                            pos += 27
                        elif n < 0x80:
                            groups_topics_partitions_error_message = buf[pos + 27 : (pos := pos + 26 + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos + 26)
                            if n:
                                n -= 1
                                here = pos
                                pos = here + n
                                groups_topics_partitions_error_message = long_text(buf, here, pos)
                            else:
                                groups_topics_partitions_error_message = None
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        groups_topics_partitions.append(DescribeShareGroupOffsetsResponsePartition(groups_topics_partitions_partition_index, groups_topics_partitions_start_offset, groups_topics_partitions_leader_epoch, groups_topics_partitions_lag, groups_topics_partitions_error_code, groups_topics_partitions_error_message))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                groups_topics.append(DescribeShareGroupOffsetsResponseTopic(groups_topics_topic_name, groups_topics_topic_id, groups_topics_partitions))
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
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            groups.append(DescribeShareGroupOffsetsResponseGroup(groups_group_id, groups_topics, groups_error_code, groups_error_message))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeShareGroupOffsetsResponse(throttle_time_ms, groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeShareGroupOffsetsResponse, version, buf, start, pos) from None


def encode_describe_share_group_offsets_response_v0(msg: DescribeShareGroupOffsetsResponse, out: bytearray, version: int = 0) -> None:
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
            raw = groups_item.group_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            groups_topics = groups_item.topics
            n = len(groups_topics) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for groups_topics_item in groups_topics:
                raw = groups_topics_item.topic_name.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                if len(groups_topics_item.topic_id) != 16:
                    raise BadField("groups.topics.topic_id", "a UUID has 16 bytes")
                groups_topics_partitions = groups_topics_item.partitions
                n = len(groups_topics_partitions) + 1
                if n < 0x80:
                    out += pack_uB(groups_topics_item.topic_id, n)
                else:
                    out += pack_u(groups_topics_item.topic_id)
                    out += write_uvarint(n)
                for groups_topics_partitions_item in groups_topics_partitions:
                    text = groups_topics_partitions_item.error_message
                    if not text:
                        out += pack_iqihBx(groups_topics_partitions_item.partition_index, groups_topics_partitions_item.start_offset, groups_topics_partitions_item.leader_epoch, groups_topics_partitions_item.error_code, 0 if text is None else 1)
                        continue
                    text = groups_topics_partitions_item.error_message
                    if text is None:
                        n, raw = 0, b""
                    else:
                        raw = text.encode()
                        n = len(raw) + 1
                    if n < 0x80:
                        out += pack_iqihB(groups_topics_partitions_item.partition_index, groups_topics_partitions_item.start_offset, groups_topics_partitions_item.leader_epoch, groups_topics_partitions_item.error_code, n)
                    else:
                        out += pack_iqih(groups_topics_partitions_item.partition_index, groups_topics_partitions_item.start_offset, groups_topics_partitions_item.leader_epoch, groups_topics_partitions_item.error_code)
                        out += write_string_size(n)
                    out += raw
                    out.append(0)
                out.append(0)
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
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeShareGroupOffsetsResponse", version) from error


def encode_describe_share_group_offsets_response_v1(msg: DescribeShareGroupOffsetsResponse, out: bytearray, version: int = 1) -> None:
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
            raw = groups_item.group_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            groups_topics = groups_item.topics
            n = len(groups_topics) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for groups_topics_item in groups_topics:
                raw = groups_topics_item.topic_name.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                if len(groups_topics_item.topic_id) != 16:
                    raise BadField("groups.topics.topic_id", "a UUID has 16 bytes")
                groups_topics_partitions = groups_topics_item.partitions
                n = len(groups_topics_partitions) + 1
                if n < 0x80:
                    out += pack_uB(groups_topics_item.topic_id, n)
                else:
                    out += pack_u(groups_topics_item.topic_id)
                    out += write_uvarint(n)
                for groups_topics_partitions_item in groups_topics_partitions:
                    text = groups_topics_partitions_item.error_message
                    if not text:
                        out += pack_iqiqhBx(groups_topics_partitions_item.partition_index, groups_topics_partitions_item.start_offset, groups_topics_partitions_item.leader_epoch, groups_topics_partitions_item.lag, groups_topics_partitions_item.error_code, 0 if text is None else 1)
                        continue
                    text = groups_topics_partitions_item.error_message
                    if text is None:
                        n, raw = 0, b""
                    else:
                        raw = text.encode()
                        n = len(raw) + 1
                    if n < 0x80:
                        out += pack_iqiqhB(groups_topics_partitions_item.partition_index, groups_topics_partitions_item.start_offset, groups_topics_partitions_item.leader_epoch, groups_topics_partitions_item.lag, groups_topics_partitions_item.error_code, n)
                    else:
                        out += pack_iqiqh(groups_topics_partitions_item.partition_index, groups_topics_partitions_item.start_offset, groups_topics_partitions_item.leader_epoch, groups_topics_partitions_item.lag, groups_topics_partitions_item.error_code)
                        out += write_string_size(n)
                    out += raw
                    out.append(0)
                out.append(0)
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
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeShareGroupOffsetsResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    DescribeShareGroupOffsetsRequest: {
        0: decode_describe_share_group_offsets_request_v0,
        1: decode_describe_share_group_offsets_request_v1,
    },
    DescribeShareGroupOffsetsResponse: {
        0: decode_describe_share_group_offsets_response_v0,
        1: decode_describe_share_group_offsets_response_v1,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    DescribeShareGroupOffsetsRequest: {
        0: encode_describe_share_group_offsets_request_v0,
        1: encode_describe_share_group_offsets_request_v1,
    },
    DescribeShareGroupOffsetsResponse: {
        0: encode_describe_share_group_offsets_response_v0,
        1: encode_describe_share_group_offsets_response_v1,
    },
}
