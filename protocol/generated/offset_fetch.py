"""Codecs of protocol/messages/offset_fetch.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import ZERO_UUID, Message
from protocol.generated.layouts import (
    unpack_h,
    unpack_hB,
    unpack_i,
    unpack_iB,
    unpack_ii,
    unpack_iqh,
    unpack_iqiB,
    unpack_iqih,
    unpack_uB,
    unpack_zB,
)
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
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

SHAPE_1 = Shape("h", 2, Field("iq", 12, 2, True, ""))
SHAPE_2 = Shape("h", 2, Field("iqi", 16, 2, True, ""))
SHAPE_3 = Shape("hx", 3, Field("iqi", 16, 1, True, ""))
pack_u = Struct(">16s").pack
pack_uB = Struct(">16sB").pack
pack_zx = Struct(">?x").pack
pack_h = Struct(">h").pack
pack_hx = Struct(">hx").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ii = Struct(">ii").pack
pack_iqh = Struct(">iqh").pack
pack_iqhh = Struct(">iqhh").pack
pack_iqi = Struct(">iqi").pack
pack_iqiB = Struct(">iqiB").pack
pack_iqiBhx = Struct(">iqiBhx").pack
pack_iqih = Struct(">iqih").pack
pack_iqihh = Struct(">iqihh").pack
pack_ix = Struct(">ix").pack


def decode_offset_fetch_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[OffsetFetchRequest, int]:
    start = pos
    n: int
    try:
        room = 45712 - 2 * len(buf)
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
        topics: list[OffsetFetchRequestTopic] | None
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room, limit = verify(OffsetFetchRequest, version, buf, start, pos + n, limit - n * 192), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topics.name")
            if n < 0x80:
                topics_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topics_name = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            topics_partition_indexes: list[int]
            if n < 0:
                raise BadField("topics.partition_indexes")
            room -= n * 40
            if room < 0:
                room, limit = verify(OffsetFetchRequest, version, buf, start, pos + n, limit - n * 40), 0
            topics_partition_indexes = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            topics.append(OffsetFetchRequestTopic(topics_name, topics_partition_indexes))
        if pos > len(buf):
            raise IndexError
        return OffsetFetchRequest(group_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetFetchRequest, version, buf, start, pos) from None


def decode_offset_fetch_request_v2(buf: bytes, pos: int, version: int = 2) -> tuple[OffsetFetchRequest, int]:
    start = pos
    n: int
    try:
        room = 45712 - 2 * len(buf)
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
        topics: list[OffsetFetchRequestTopic] | None
        if n < 0:
            topics = None
        else:
            room -= n * 192
            if room < 0:
                room, limit = verify(OffsetFetchRequest, version, buf, start, pos + n, limit - n * 192), 0
            topics = []
            topics_count = n
            for _ in range(topics_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("topics.name")
                if n < 0x80:
                    topics_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    topics_name = long_text(buf, here, pos)
                (n,) = unpack_i(buf, pos)
                pos += 4
                topics_partition_indexes: list[int]
                if n < 0:
                    raise BadField("topics.partition_indexes")
                room -= n * 40
                if room < 0:
                    room, limit = verify(OffsetFetchRequest, version, buf, start, pos + n, limit - n * 40), 0
                topics_partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                topics.append(OffsetFetchRequestTopic(topics_name, topics_partition_indexes))
        if pos > len(buf):
            raise IndexError
        return OffsetFetchRequest(group_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetFetchRequest, version, buf, start, pos) from None


decode_offset_fetch_request_v3 = at_version(decode_offset_fetch_request_v2, 3)


decode_offset_fetch_request_v4 = at_version(decode_offset_fetch_request_v2, 4)


decode_offset_fetch_request_v5 = at_version(decode_offset_fetch_request_v2, 5)


def decode_offset_fetch_request_v6(buf: bytes, pos: int, version: int = 6) -> tuple[OffsetFetchRequest, int]:
    start = pos
    n: int
    try:
        room = 45712 - 2 * len(buf)
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
        topics: list[OffsetFetchRequestTopic] | None
        if n < 0:
            topics = None
        else:
            room -= n * 204
            if room < 0:
                room, limit = verify(OffsetFetchRequest, version, buf, start, pos + n, limit - n * 204), 0
            topics = []
            topics_count = n
            for _ in range(topics_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    topics_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("topics.name")
                    n -= 1
                    here = pos
                    pos = here + n
                    topics_name = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partition_indexes: list[int]
                if n < 0:
                    raise BadField("topics.partition_indexes")
                room -= n * 40
                if room < 0:
                    room, limit = verify(OffsetFetchRequest, version, buf, start, pos + n, limit - n * 40), 0
                topics_partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                topics.append(OffsetFetchRequestTopic(topics_name, topics_partition_indexes))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return OffsetFetchRequest(group_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetFetchRequest, version, buf, start, pos) from None


def decode_offset_fetch_request_v7(buf: bytes, pos: int, version: int = 7) -> tuple[OffsetFetchRequest, int]:
    start = pos
    n: int
    try:
        room = 45712 - 2 * len(buf)
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
        topics: list[OffsetFetchRequestTopic] | None
        if n < 0:
            topics = None
        else:
            room -= n * 204
            if room < 0:
                room, limit = verify(OffsetFetchRequest, version, buf, start, pos + n, limit - n * 204), 0
            topics = []
            topics_count = n
            for _ in range(topics_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    topics_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("topics.name")
                    n -= 1
                    here = pos
                    pos = here + n
                    topics_name = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partition_indexes: list[int]
                if n < 0:
                    raise BadField("topics.partition_indexes")
                room -= n * 40
                if room < 0:
                    room, limit = verify(OffsetFetchRequest, version, buf, start, pos + n, limit - n * 40), 0
                topics_partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                topics.append(OffsetFetchRequestTopic(topics_name, topics_partition_indexes))
        require_stable, n = unpack_zB(buf, pos)
        pos += 2
        if n:
            pos = skip_tags(buf, pos - 1)
        return OffsetFetchRequest(group_id, topics, [], require_stable), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetFetchRequest, version, buf, start, pos) from None


def decode_offset_fetch_request_v8(buf: bytes, pos: int, version: int = 8) -> tuple[OffsetFetchRequest, int]:
    start = pos
    n: int
    try:
        room = 45792 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        groups: list[OffsetFetchRequestGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 220
        if room < 0:
            room, limit = verify(OffsetFetchRequest, version, buf, start, pos + n, limit - n * 220), 0
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
            groups_topics: list[OffsetFetchRequestTopics] | None
            if n < 0:
                groups_topics = None
            else:
                room -= n * 220
                if room < 0:
                    room, limit = verify(OffsetFetchRequest, version, buf, start, pos + n, limit - n * 220), 0
                groups_topics = []
                groups_topics_count = n
                for _ in range(groups_topics_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_topics_name = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("groups.topics.name")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_topics_name = long_text(buf, here, pos)
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    groups_topics_partition_indexes: list[int]
                    if n < 0:
                        raise BadField("groups.topics.partition_indexes")
                    room -= n * 40
                    if room < 0:
                        room, limit = verify(OffsetFetchRequest, version, buf, start, pos + n, limit - n * 40), 0
                    groups_topics_partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                    pos += n * 4
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    groups_topics.append(OffsetFetchRequestTopics(groups_topics_name, ZERO_UUID, groups_topics_partition_indexes))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            groups.append(OffsetFetchRequestGroup(groups_group_id, None, -1, groups_topics))
        require_stable, n = unpack_zB(buf, pos)
        pos += 2
        if n:
            pos = skip_tags(buf, pos - 1)
        return OffsetFetchRequest("", [], groups, require_stable), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetFetchRequest, version, buf, start, pos) from None


def decode_offset_fetch_request_v9(buf: bytes, pos: int, version: int = 9) -> tuple[OffsetFetchRequest, int]:
    start = pos
    n: int
    try:
        room = 45792 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        groups: list[OffsetFetchRequestGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 312
        if room < 0:
            room, limit = verify(OffsetFetchRequest, version, buf, start, pos + n, limit - n * 312), 0
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
            groups_member_id: str | None
            n = buf[pos]
            if not n:
                groups_member_id = None
                pos += 1
            elif n == 1:
                groups_member_id = ""
                pos += 1
            elif n < 0x80:
                groups_member_id = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n:
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_member_id = long_text(buf, here, pos)
                else:
                    groups_member_id = None
            groups_member_epoch, n = unpack_iB(buf, pos)
            pos += 5
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            groups_topics: list[OffsetFetchRequestTopics] | None
            if n < 0:
                groups_topics = None
            else:
                room -= n * 220
                if room < 0:
                    room, limit = verify(OffsetFetchRequest, version, buf, start, pos + n, limit - n * 220), 0
                groups_topics = []
                groups_topics_count = n
                for _ in range(groups_topics_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_topics_name = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("groups.topics.name")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_topics_name = long_text(buf, here, pos)
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    groups_topics_partition_indexes: list[int]
                    if n < 0:
                        raise BadField("groups.topics.partition_indexes")
                    room -= n * 40
                    if room < 0:
                        room, limit = verify(OffsetFetchRequest, version, buf, start, pos + n, limit - n * 40), 0
                    groups_topics_partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                    pos += n * 4
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    groups_topics.append(OffsetFetchRequestTopics(groups_topics_name, ZERO_UUID, groups_topics_partition_indexes))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            groups.append(OffsetFetchRequestGroup(groups_group_id, groups_member_id, groups_member_epoch, groups_topics))
        require_stable, n = unpack_zB(buf, pos)
        pos += 2
        if n:
            pos = skip_tags(buf, pos - 1)
        return OffsetFetchRequest("", [], groups, require_stable), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetFetchRequest, version, buf, start, pos) from None


def decode_offset_fetch_request_v10(buf: bytes, pos: int, version: int = 10) -> tuple[OffsetFetchRequest, int]:
    start = pos
    n: int
    try:
        room = 45792 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        groups: list[OffsetFetchRequestGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 312
        if room < 0:
            room, limit = verify(OffsetFetchRequest, version, buf, start, pos + n, limit - n * 312), 0
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
            groups_member_id: str | None
            n = buf[pos]
            if not n:
                groups_member_id = None
                pos += 1
            elif n == 1:
                groups_member_id = ""
                pos += 1
            elif n < 0x80:
                groups_member_id = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n:
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_member_id = long_text(buf, here, pos)
                else:
                    groups_member_id = None
            groups_member_epoch, n = unpack_iB(buf, pos)
            pos += 5
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            groups_topics: list[OffsetFetchRequestTopics] | None
            if n < 0:
                groups_topics = None
            else:
                room -= n * 128
                if room < 0:
                    room, limit = verify(OffsetFetchRequest, version, buf, start, pos + n, limit - n * 128), 0
                groups_topics = []
                groups_topics_count = n
                for _ in range(groups_topics_count):
                    groups_topics_topic_id, n = unpack_uB(buf, pos)
                    pos += 17
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    groups_topics_partition_indexes: list[int]
                    if n < 0:
                        raise BadField("groups.topics.partition_indexes")
                    room -= n * 40
                    if room < 0:
                        room, limit = verify(OffsetFetchRequest, version, buf, start, pos + n, limit - n * 40), 0
                    groups_topics_partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                    pos += n * 4
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    groups_topics.append(OffsetFetchRequestTopics("", groups_topics_topic_id, groups_topics_partition_indexes))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            groups.append(OffsetFetchRequestGroup(groups_group_id, groups_member_id, groups_member_epoch, groups_topics))
        require_stable, n = unpack_zB(buf, pos)
        pos += 2
        if n:
            pos = skip_tags(buf, pos - 1)
        return OffsetFetchRequest("", [], groups, require_stable), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetFetchRequest, version, buf, start, pos) from None


def encode_offset_fetch_request_v1(msg: OffsetFetchRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        if msg.groups:
            raise not_in_version("groups")
        if msg.require_stable:
            raise not_in_version("require_stable")
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        topics = msg.topics
        if topics is None:
            raise BadField("topics")
        out += pack_i(len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partition_indexes = topics_item.partition_indexes
            out += pack_i(len(topics_partition_indexes))
            out += pack_i(*topics_partition_indexes) if len(topics_partition_indexes) == 1 else pack(f">{len(topics_partition_indexes)}i", *topics_partition_indexes)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetFetchRequest", version) from error


def encode_offset_fetch_request_v2(msg: OffsetFetchRequest, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        if msg.groups:
            raise not_in_version("groups")
        if msg.require_stable:
            raise not_in_version("require_stable")
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        topics = msg.topics
        if topics is None:
            out += pack_i(-1)
        else:
            out += pack_i(len(topics))
            for topics_item in topics:
                raw = topics_item.name.encode()
                out += pack_h(len(raw))
                out += raw
                topics_partition_indexes = topics_item.partition_indexes
                out += pack_i(len(topics_partition_indexes))
                out += pack_i(*topics_partition_indexes) if len(topics_partition_indexes) == 1 else pack(f">{len(topics_partition_indexes)}i", *topics_partition_indexes)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetFetchRequest", version) from error


encode_offset_fetch_request_v3 = at_version(encode_offset_fetch_request_v2, 3)


encode_offset_fetch_request_v4 = at_version(encode_offset_fetch_request_v2, 4)


encode_offset_fetch_request_v5 = at_version(encode_offset_fetch_request_v2, 5)


def encode_offset_fetch_request_v6(msg: OffsetFetchRequest, out: bytearray, version: int = 6) -> None:
    start = len(out)
    try:
        if msg.groups:
            raise not_in_version("groups")
        if msg.require_stable:
            raise not_in_version("require_stable")
        raw = msg.group_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        topics = msg.topics
        if topics is None:
            out.append(0)
        else:
            n = len(topics) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for topics_item in topics:
                raw = topics_item.name.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                topics_partition_indexes = topics_item.partition_indexes
                n = len(topics_partition_indexes) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*topics_partition_indexes) if len(topics_partition_indexes) == 1 else pack(f">{len(topics_partition_indexes)}i", *topics_partition_indexes)
                out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetFetchRequest", version) from error


def encode_offset_fetch_request_v7(msg: OffsetFetchRequest, out: bytearray, version: int = 7) -> None:
    start = len(out)
    try:
        if msg.groups:
            raise not_in_version("groups")
        raw = msg.group_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        topics = msg.topics
        if topics is None:
            out.append(0)
        else:
            n = len(topics) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for topics_item in topics:
                raw = topics_item.name.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                topics_partition_indexes = topics_item.partition_indexes
                n = len(topics_partition_indexes) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*topics_partition_indexes) if len(topics_partition_indexes) == 1 else pack(f">{len(topics_partition_indexes)}i", *topics_partition_indexes)
                out.append(0)
        out += pack_zx(msg.require_stable)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetFetchRequest", version) from error


def encode_offset_fetch_request_v8(msg: OffsetFetchRequest, out: bytearray, version: int = 8) -> None:
    start = len(out)
    try:
        if msg.group_id:
            raise not_in_version("group_id")
        if msg.topics is None or msg.topics:
            raise not_in_version("topics")
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
                    raw = groups_topics_item.name.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    groups_topics_partition_indexes = groups_topics_item.partition_indexes
                    n = len(groups_topics_partition_indexes) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += pack_i(*groups_topics_partition_indexes) if len(groups_topics_partition_indexes) == 1 else pack(f">{len(groups_topics_partition_indexes)}i", *groups_topics_partition_indexes)
                    out.append(0)
            out.append(0)
        out += pack_zx(msg.require_stable)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetFetchRequest", version) from error


def encode_offset_fetch_request_v9(msg: OffsetFetchRequest, out: bytearray, version: int = 9) -> None:
    start = len(out)
    try:
        if msg.group_id:
            raise not_in_version("group_id")
        if msg.topics is None or msg.topics:
            raise not_in_version("topics")
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
            text = groups_item.member_id
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
            groups_topics = groups_item.topics
            if groups_topics is None:
                out += pack_ix(groups_item.member_epoch)
            else:
                n = len(groups_topics) + 1
                if n < 0x80:
                    out += pack_iB(groups_item.member_epoch, n)
                else:
                    out += pack_i(groups_item.member_epoch)
                    out += write_uvarint(n)
                for groups_topics_item in groups_topics:
                    raw = groups_topics_item.name.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    groups_topics_partition_indexes = groups_topics_item.partition_indexes
                    n = len(groups_topics_partition_indexes) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += pack_i(*groups_topics_partition_indexes) if len(groups_topics_partition_indexes) == 1 else pack(f">{len(groups_topics_partition_indexes)}i", *groups_topics_partition_indexes)
                    out.append(0)
            out.append(0)
        out += pack_zx(msg.require_stable)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetFetchRequest", version) from error


def encode_offset_fetch_request_v10(msg: OffsetFetchRequest, out: bytearray, version: int = 10) -> None:
    start = len(out)
    try:
        if msg.group_id:
            raise not_in_version("group_id")
        if msg.topics is None or msg.topics:
            raise not_in_version("topics")
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
            text = groups_item.member_id
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
            groups_topics = groups_item.topics
            if groups_topics is None:
                out += pack_ix(groups_item.member_epoch)
            else:
                n = len(groups_topics) + 1
                if n < 0x80:
                    out += pack_iB(groups_item.member_epoch, n)
                else:
                    out += pack_i(groups_item.member_epoch)
                    out += write_uvarint(n)
                for groups_topics_item in groups_topics:
                    if len(groups_topics_item.topic_id) != 16:
                        raise BadField("groups.topics.topic_id", "a UUID has 16 bytes")
                    groups_topics_partition_indexes = groups_topics_item.partition_indexes
                    n = len(groups_topics_partition_indexes) + 1
                    if n < 0x80:
                        out += pack_uB(groups_topics_item.topic_id, n)
                    else:
                        out += pack_u(groups_topics_item.topic_id)
                        out += write_uvarint(n)
                    out += pack_i(*groups_topics_partition_indexes) if len(groups_topics_partition_indexes) == 1 else pack(f">{len(groups_topics_partition_indexes)}i", *groups_topics_partition_indexes)
                    out.append(0)
            out.append(0)
        out += pack_zx(msg.require_stable)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetFetchRequest", version) from error


def decode_offset_fetch_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[OffsetFetchResponse, int]:
    start = pos
    n: int
    try:
        room = 45792 - 2 * len(buf)
        (n,) = unpack_i(buf, pos)
        pos += 4
        topics: list[OffsetFetchResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room = verify(OffsetFetchResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topics.name")
            if n < 0x80:
                topics_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topics_name = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            topics_partitions: list[OffsetFetchResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 200
            if room < 0:
                room = verify(OffsetFetchResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_left, topics_partitions_step = n, 8
            while topics_partitions_left:
                topics_partitions_count = topics_partitions_left
                if topics_partitions_left >= 8:
                    run = alike(SHAPE_1, buf, pos, topics_partitions_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topics_partitions_left -= n
                        if is_same:
                            topics_partitions += [OffsetFetchResponsePartition(partition_index, committed_offset, -1, absent, error_code) for partition_index, committed_offset, error_code in rows]
                        else:
                            topics_partitions += [OffsetFetchResponsePartition(partition_index, committed_offset, -1, metadata.decode(), error_code) for partition_index, committed_offset, metadata, error_code in rows]
                        continue
                    if topics_partitions_step < topics_partitions_left:
                        topics_partitions_count = topics_partitions_step
                    topics_partitions_step *= 2
                topics_partitions_left -= topics_partitions_count
                for _ in range(topics_partitions_count):
                    topics_partitions_metadata: str | None
                    topics_partitions_partition_index, topics_partitions_committed_offset, n = unpack_iqh(buf, pos)
                    if n < 0:
                        topics_partitions_metadata = None
                        pos += 14
                    elif n < 0x80:
                        topics_partitions_metadata = buf[pos + 14 : (pos := pos + 14 + n)].decode()
                    else:
                        here = pos + 14
                        pos = here + n
                        topics_partitions_metadata = long_text(buf, here, pos)
                    (topics_partitions_error_code,) = unpack_h(buf, pos)
                    pos += 2
                    topics_partitions.append(OffsetFetchResponsePartition(topics_partitions_partition_index, topics_partitions_committed_offset, -1, topics_partitions_metadata, topics_partitions_error_code))
            topics.append(OffsetFetchResponseTopic(topics_name, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return OffsetFetchResponse(0, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetFetchResponse, version, buf, start, pos) from None


def decode_offset_fetch_response_v2(buf: bytes, pos: int, version: int = 2) -> tuple[OffsetFetchResponse, int]:
    start = pos
    n: int
    try:
        room = 45760 - 2 * len(buf)
        (n,) = unpack_i(buf, pos)
        pos += 4
        topics: list[OffsetFetchResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room = verify(OffsetFetchResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topics.name")
            if n < 0x80:
                topics_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topics_name = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            topics_partitions: list[OffsetFetchResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 200
            if room < 0:
                room = verify(OffsetFetchResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_left, topics_partitions_step = n, 8
            while topics_partitions_left:
                topics_partitions_count = topics_partitions_left
                if topics_partitions_left >= 8:
                    run = alike(SHAPE_1, buf, pos, topics_partitions_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topics_partitions_left -= n
                        if is_same:
                            topics_partitions += [OffsetFetchResponsePartition(partition_index, committed_offset, -1, absent, error_code) for partition_index, committed_offset, error_code in rows]
                        else:
                            topics_partitions += [OffsetFetchResponsePartition(partition_index, committed_offset, -1, metadata.decode(), error_code) for partition_index, committed_offset, metadata, error_code in rows]
                        continue
                    if topics_partitions_step < topics_partitions_left:
                        topics_partitions_count = topics_partitions_step
                    topics_partitions_step *= 2
                topics_partitions_left -= topics_partitions_count
                for _ in range(topics_partitions_count):
                    topics_partitions_metadata: str | None
                    topics_partitions_partition_index, topics_partitions_committed_offset, n = unpack_iqh(buf, pos)
                    if n < 0:
                        topics_partitions_metadata = None
                        pos += 14
                    elif n < 0x80:
                        topics_partitions_metadata = buf[pos + 14 : (pos := pos + 14 + n)].decode()
                    else:
                        here = pos + 14
                        pos = here + n
                        topics_partitions_metadata = long_text(buf, here, pos)
                    (topics_partitions_error_code,) = unpack_h(buf, pos)
                    pos += 2
                    topics_partitions.append(OffsetFetchResponsePartition(topics_partitions_partition_index, topics_partitions_committed_offset, -1, topics_partitions_metadata, topics_partitions_error_code))
            topics.append(OffsetFetchResponseTopic(topics_name, topics_partitions))
        (error_code,) = unpack_h(buf, pos)
        pos += 2
        return OffsetFetchResponse(0, topics, error_code), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetFetchResponse, version, buf, start, pos) from None


def decode_offset_fetch_response_v3(buf: bytes, pos: int, version: int = 3) -> tuple[OffsetFetchResponse, int]:
    start = pos
    n: int
    try:
        room = 45728 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        topics: list[OffsetFetchResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room = verify(OffsetFetchResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topics.name")
            if n < 0x80:
                topics_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topics_name = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            topics_partitions: list[OffsetFetchResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 200
            if room < 0:
                room = verify(OffsetFetchResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_left, topics_partitions_step = n, 8
            while topics_partitions_left:
                topics_partitions_count = topics_partitions_left
                if topics_partitions_left >= 8:
                    run = alike(SHAPE_1, buf, pos, topics_partitions_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topics_partitions_left -= n
                        if is_same:
                            topics_partitions += [OffsetFetchResponsePartition(partition_index, committed_offset, -1, absent, error_code) for partition_index, committed_offset, error_code in rows]
                        else:
                            topics_partitions += [OffsetFetchResponsePartition(partition_index, committed_offset, -1, metadata.decode(), error_code) for partition_index, committed_offset, metadata, error_code in rows]
                        continue
                    if topics_partitions_step < topics_partitions_left:
                        topics_partitions_count = topics_partitions_step
                    topics_partitions_step *= 2
                topics_partitions_left -= topics_partitions_count
                for _ in range(topics_partitions_count):
                    topics_partitions_metadata: str | None
                    topics_partitions_partition_index, topics_partitions_committed_offset, n = unpack_iqh(buf, pos)
                    if n < 0:
                        topics_partitions_metadata = None
                        pos += 14
                    elif n < 0x80:
                        topics_partitions_metadata = buf[pos + 14 : (pos := pos + 14 + n)].decode()
                    else:
                        here = pos + 14
                        pos = here + n
                        topics_partitions_metadata = long_text(buf, here, pos)
                    (topics_partitions_error_code,) = unpack_h(buf, pos)
                    pos += 2
                    topics_partitions.append(OffsetFetchResponsePartition(topics_partitions_partition_index, topics_partitions_committed_offset, -1, topics_partitions_metadata, topics_partitions_error_code))
            topics.append(OffsetFetchResponseTopic(topics_name, topics_partitions))
        (error_code,) = unpack_h(buf, pos)
        pos += 2
        return OffsetFetchResponse(throttle_time_ms, topics, error_code), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetFetchResponse, version, buf, start, pos) from None


decode_offset_fetch_response_v4 = at_version(decode_offset_fetch_response_v3, 4)


def decode_offset_fetch_response_v5(buf: bytes, pos: int, version: int = 5) -> tuple[OffsetFetchResponse, int]:
    start = pos
    n: int
    try:
        room = 45728 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        topics: list[OffsetFetchResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room = verify(OffsetFetchResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topics.name")
            if n < 0x80:
                topics_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topics_name = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            topics_partitions: list[OffsetFetchResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 216
            if room < 0:
                room = verify(OffsetFetchResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_left, topics_partitions_step = n, 8
            while topics_partitions_left:
                topics_partitions_count = topics_partitions_left
                if topics_partitions_left >= 8:
                    run = alike(SHAPE_2, buf, pos, topics_partitions_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topics_partitions_left -= n
                        if is_same:
                            topics_partitions += [OffsetFetchResponsePartition(partition_index, committed_offset, committed_leader_epoch, absent, error_code) for partition_index, committed_offset, committed_leader_epoch, error_code in rows]
                        else:
                            topics_partitions += [OffsetFetchResponsePartition(partition_index, committed_offset, committed_leader_epoch, metadata.decode(), error_code) for partition_index, committed_offset, committed_leader_epoch, metadata, error_code in rows]
                        continue
                    if topics_partitions_step < topics_partitions_left:
                        topics_partitions_count = topics_partitions_step
                    topics_partitions_step *= 2
                topics_partitions_left -= topics_partitions_count
                for _ in range(topics_partitions_count):
                    topics_partitions_metadata: str | None
                    topics_partitions_partition_index, topics_partitions_committed_offset, topics_partitions_committed_leader_epoch, n = unpack_iqih(buf, pos)
                    if n < 0:
                        topics_partitions_metadata = None
                        pos += 18
                    elif n < 0x80:
                        topics_partitions_metadata = buf[pos + 18 : (pos := pos + 18 + n)].decode()
                    else:
                        here = pos + 18
                        pos = here + n
                        topics_partitions_metadata = long_text(buf, here, pos)
                    (topics_partitions_error_code,) = unpack_h(buf, pos)
                    pos += 2
                    topics_partitions.append(OffsetFetchResponsePartition(topics_partitions_partition_index, topics_partitions_committed_offset, topics_partitions_committed_leader_epoch, topics_partitions_metadata, topics_partitions_error_code))
            topics.append(OffsetFetchResponseTopic(topics_name, topics_partitions))
        (error_code,) = unpack_h(buf, pos)
        pos += 2
        return OffsetFetchResponse(throttle_time_ms, topics, error_code), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetFetchResponse, version, buf, start, pos) from None


def decode_offset_fetch_response_v6(buf: bytes, pos: int, version: int = 6) -> tuple[OffsetFetchResponse, int]:
    start = pos
    n: int
    try:
        room = 45728 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[OffsetFetchResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 204
        if room < 0:
            room = verify(OffsetFetchResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            n = buf[pos]
            if 0 < n < 0x80:
                topics_name = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("topics.name")
                n -= 1
                here = pos
                pos = here + n
                topics_name = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[OffsetFetchResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 216
            if room < 0:
                room = verify(OffsetFetchResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_left, topics_partitions_step = n, 8
            while topics_partitions_left:
                topics_partitions_count = topics_partitions_left
                if topics_partitions_left >= 8:
                    run = alike(SHAPE_3, buf, pos, topics_partitions_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topics_partitions_left -= n
                        if is_same:
                            topics_partitions += [OffsetFetchResponsePartition(partition_index, committed_offset, committed_leader_epoch, absent, error_code) for partition_index, committed_offset, committed_leader_epoch, error_code in rows]
                        else:
                            topics_partitions += [OffsetFetchResponsePartition(partition_index, committed_offset, committed_leader_epoch, metadata.decode(), error_code) for partition_index, committed_offset, committed_leader_epoch, metadata, error_code in rows]
                        continue
                    if topics_partitions_step < topics_partitions_left:
                        topics_partitions_count = topics_partitions_step
                    topics_partitions_step *= 2
                topics_partitions_left -= topics_partitions_count
                for _ in range(topics_partitions_count):
                    topics_partitions_metadata: str | None
                    topics_partitions_partition_index, topics_partitions_committed_offset, topics_partitions_committed_leader_epoch, n = unpack_iqiB(buf, pos)
                    if not n:
                        topics_partitions_metadata = None
                        pos += 17
                    elif n == 1:
                        topics_partitions_metadata = ""
                        pos += 17
                    elif n < 0x80:
                        topics_partitions_metadata = buf[pos + 17 : (pos := pos + 16 + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos + 16)
                        if n:
                            n -= 1
                            here = pos
                            pos = here + n
                            topics_partitions_metadata = long_text(buf, here, pos)
                        else:
                            topics_partitions_metadata = None
                    topics_partitions_error_code, n = unpack_hB(buf, pos)
                    pos += 3
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(OffsetFetchResponsePartition(topics_partitions_partition_index, topics_partitions_committed_offset, topics_partitions_committed_leader_epoch, topics_partitions_metadata, topics_partitions_error_code))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(OffsetFetchResponseTopic(topics_name, topics_partitions))
        error_code, n = unpack_hB(buf, pos)
        pos += 3
        if n:
            pos = skip_tags(buf, pos - 1)
        return OffsetFetchResponse(throttle_time_ms, topics, error_code), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetFetchResponse, version, buf, start, pos) from None


decode_offset_fetch_response_v7 = at_version(decode_offset_fetch_response_v6, 7)


def decode_offset_fetch_response_v8(buf: bytes, pos: int, version: int = 8) -> tuple[OffsetFetchResponse, int]:
    start = pos
    n: int
    try:
        room = 45760 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        groups: list[OffsetFetchResponseGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 244
        if room < 0:
            room = verify(OffsetFetchResponse, version, buf, start, pos + n)
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
            groups_topics: list[OffsetFetchResponseTopics]
            if n < 0:
                raise BadField("groups.topics")
            room -= n * 220
            if room < 0:
                room = verify(OffsetFetchResponse, version, buf, start, pos + n)
            groups_topics = []
            groups_topics_count = n
            for _ in range(groups_topics_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    groups_topics_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("groups.topics.name")
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_topics_name = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                groups_topics_partitions: list[OffsetFetchResponsePartitions]
                if n < 0:
                    raise BadField("groups.topics.partitions")
                room -= n * 216
                if room < 0:
                    room = verify(OffsetFetchResponse, version, buf, start, pos + n)
                groups_topics_partitions = []
                groups_topics_partitions_left, groups_topics_partitions_step = n, 8
                while groups_topics_partitions_left:
                    groups_topics_partitions_count = groups_topics_partitions_left
                    if groups_topics_partitions_left >= 8:
                        run = alike(SHAPE_3, buf, pos, groups_topics_partitions_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            groups_topics_partitions_left -= n
                            if is_same:
                                groups_topics_partitions += [OffsetFetchResponsePartitions(partition_index, committed_offset, committed_leader_epoch, absent, error_code) for partition_index, committed_offset, committed_leader_epoch, error_code in rows]
                            else:
                                groups_topics_partitions += [OffsetFetchResponsePartitions(partition_index, committed_offset, committed_leader_epoch, metadata.decode(), error_code) for partition_index, committed_offset, committed_leader_epoch, metadata, error_code in rows]
                            continue
                        if groups_topics_partitions_step < groups_topics_partitions_left:
                            groups_topics_partitions_count = groups_topics_partitions_step
                        groups_topics_partitions_step *= 2
                    groups_topics_partitions_left -= groups_topics_partitions_count
                    for _ in range(groups_topics_partitions_count):
                        groups_topics_partitions_metadata: str | None
                        groups_topics_partitions_partition_index, groups_topics_partitions_committed_offset, groups_topics_partitions_committed_leader_epoch, n = unpack_iqiB(buf, pos)
                        if not n:
                            groups_topics_partitions_metadata = None
                            pos += 17
                        elif n == 1:
                            groups_topics_partitions_metadata = ""
                            pos += 17
                        elif n < 0x80:
                            groups_topics_partitions_metadata = buf[pos + 17 : (pos := pos + 16 + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos + 16)
                            if n:
                                n -= 1
                                here = pos
                                pos = here + n
                                groups_topics_partitions_metadata = long_text(buf, here, pos)
                            else:
                                groups_topics_partitions_metadata = None
                        groups_topics_partitions_error_code, n = unpack_hB(buf, pos)
                        pos += 3
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        groups_topics_partitions.append(OffsetFetchResponsePartitions(groups_topics_partitions_partition_index, groups_topics_partitions_committed_offset, groups_topics_partitions_committed_leader_epoch, groups_topics_partitions_metadata, groups_topics_partitions_error_code))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                groups_topics.append(OffsetFetchResponseTopics(groups_topics_name, ZERO_UUID, groups_topics_partitions))
            groups_error_code, n = unpack_hB(buf, pos)
            pos += 3
            if n:
                pos = skip_tags(buf, pos - 1)
            groups.append(OffsetFetchResponseGroup(groups_group_id, groups_topics, groups_error_code))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return OffsetFetchResponse(throttle_time_ms, [], 0, groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetFetchResponse, version, buf, start, pos) from None


decode_offset_fetch_response_v9 = at_version(decode_offset_fetch_response_v8, 9)


def decode_offset_fetch_response_v10(buf: bytes, pos: int, version: int = 10) -> tuple[OffsetFetchResponse, int]:
    start = pos
    n: int
    try:
        room = 45760 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        groups: list[OffsetFetchResponseGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 244
        if room < 0:
            room = verify(OffsetFetchResponse, version, buf, start, pos + n)
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
            groups_topics: list[OffsetFetchResponseTopics]
            if n < 0:
                raise BadField("groups.topics")
            room -= n * 128
            if room < 0:
                room = verify(OffsetFetchResponse, version, buf, start, pos + n)
            groups_topics = []
            groups_topics_count = n
            for _ in range(groups_topics_count):
                groups_topics_topic_id, n = unpack_uB(buf, pos)
                pos += 17
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                groups_topics_partitions: list[OffsetFetchResponsePartitions]
                if n < 0:
                    raise BadField("groups.topics.partitions")
                room -= n * 216
                if room < 0:
                    room = verify(OffsetFetchResponse, version, buf, start, pos + n)
                groups_topics_partitions = []
                groups_topics_partitions_left, groups_topics_partitions_step = n, 8
                while groups_topics_partitions_left:
                    groups_topics_partitions_count = groups_topics_partitions_left
                    if groups_topics_partitions_left >= 8:
                        run = alike(SHAPE_3, buf, pos, groups_topics_partitions_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            groups_topics_partitions_left -= n
                            if is_same:
                                groups_topics_partitions += [OffsetFetchResponsePartitions(partition_index, committed_offset, committed_leader_epoch, absent, error_code) for partition_index, committed_offset, committed_leader_epoch, error_code in rows]
                            else:
                                groups_topics_partitions += [OffsetFetchResponsePartitions(partition_index, committed_offset, committed_leader_epoch, metadata.decode(), error_code) for partition_index, committed_offset, committed_leader_epoch, metadata, error_code in rows]
                            continue
                        if groups_topics_partitions_step < groups_topics_partitions_left:
                            groups_topics_partitions_count = groups_topics_partitions_step
                        groups_topics_partitions_step *= 2
                    groups_topics_partitions_left -= groups_topics_partitions_count
                    for _ in range(groups_topics_partitions_count):
                        groups_topics_partitions_metadata: str | None
                        groups_topics_partitions_partition_index, groups_topics_partitions_committed_offset, groups_topics_partitions_committed_leader_epoch, n = unpack_iqiB(buf, pos)
                        if not n:
                            groups_topics_partitions_metadata = None
                            pos += 17
                        elif n == 1:
                            groups_topics_partitions_metadata = ""
                            pos += 17
                        elif n < 0x80:
                            groups_topics_partitions_metadata = buf[pos + 17 : (pos := pos + 16 + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos + 16)
                            if n:
                                n -= 1
                                here = pos
                                pos = here + n
                                groups_topics_partitions_metadata = long_text(buf, here, pos)
                            else:
                                groups_topics_partitions_metadata = None
                        groups_topics_partitions_error_code, n = unpack_hB(buf, pos)
                        pos += 3
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        groups_topics_partitions.append(OffsetFetchResponsePartitions(groups_topics_partitions_partition_index, groups_topics_partitions_committed_offset, groups_topics_partitions_committed_leader_epoch, groups_topics_partitions_metadata, groups_topics_partitions_error_code))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                groups_topics.append(OffsetFetchResponseTopics("", groups_topics_topic_id, groups_topics_partitions))
            groups_error_code, n = unpack_hB(buf, pos)
            pos += 3
            if n:
                pos = skip_tags(buf, pos - 1)
            groups.append(OffsetFetchResponseGroup(groups_group_id, groups_topics, groups_error_code))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return OffsetFetchResponse(throttle_time_ms, [], 0, groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetFetchResponse, version, buf, start, pos) from None


def encode_offset_fetch_response_v1(msg: OffsetFetchResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        if msg.groups:
            raise not_in_version("groups")
        topics = msg.topics
        out += pack_i(len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                text = topics_partitions_item.metadata
                if not text:
                    out += pack_iqhh(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, -1 if text is None else 0, topics_partitions_item.error_code)
                    continue
                text = topics_partitions_item.metadata
                if text is None:
                    n, raw = -1, b""
                else:
                    raw = text.encode()
                    n = len(raw)
                out += pack_iqh(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, n)
                out += raw
                out += pack_h(topics_partitions_item.error_code)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetFetchResponse", version) from error


def encode_offset_fetch_response_v2(msg: OffsetFetchResponse, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        if msg.groups:
            raise not_in_version("groups")
        topics = msg.topics
        out += pack_i(len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                text = topics_partitions_item.metadata
                if not text:
                    out += pack_iqhh(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, -1 if text is None else 0, topics_partitions_item.error_code)
                    continue
                text = topics_partitions_item.metadata
                if text is None:
                    n, raw = -1, b""
                else:
                    raw = text.encode()
                    n = len(raw)
                out += pack_iqh(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, n)
                out += raw
                out += pack_h(topics_partitions_item.error_code)
        out += pack_h(msg.error_code)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetFetchResponse", version) from error


def encode_offset_fetch_response_v3(msg: OffsetFetchResponse, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        if msg.groups:
            raise not_in_version("groups")
        topics = msg.topics
        out += pack_ii(msg.throttle_time_ms, len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                text = topics_partitions_item.metadata
                if not text:
                    out += pack_iqhh(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, -1 if text is None else 0, topics_partitions_item.error_code)
                    continue
                text = topics_partitions_item.metadata
                if text is None:
                    n, raw = -1, b""
                else:
                    raw = text.encode()
                    n = len(raw)
                out += pack_iqh(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, n)
                out += raw
                out += pack_h(topics_partitions_item.error_code)
        out += pack_h(msg.error_code)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetFetchResponse", version) from error


encode_offset_fetch_response_v4 = at_version(encode_offset_fetch_response_v3, 4)


def encode_offset_fetch_response_v5(msg: OffsetFetchResponse, out: bytearray, version: int = 5) -> None:
    start = len(out)
    try:
        if msg.groups:
            raise not_in_version("groups")
        topics = msg.topics
        out += pack_ii(msg.throttle_time_ms, len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                text = topics_partitions_item.metadata
                if not text:
                    out += pack_iqihh(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, topics_partitions_item.committed_leader_epoch, -1 if text is None else 0, topics_partitions_item.error_code)
                    continue
                text = topics_partitions_item.metadata
                if text is None:
                    n, raw = -1, b""
                else:
                    raw = text.encode()
                    n = len(raw)
                out += pack_iqih(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, topics_partitions_item.committed_leader_epoch, n)
                out += raw
                out += pack_h(topics_partitions_item.error_code)
        out += pack_h(msg.error_code)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetFetchResponse", version) from error


def encode_offset_fetch_response_v6(msg: OffsetFetchResponse, out: bytearray, version: int = 6) -> None:
    start = len(out)
    try:
        if msg.groups:
            raise not_in_version("groups")
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for topics_item in topics:
            raw = topics_item.name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            topics_partitions = topics_item.partitions
            n = len(topics_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for topics_partitions_item in topics_partitions:
                text = topics_partitions_item.metadata
                if not text:
                    out += pack_iqiBhx(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, topics_partitions_item.committed_leader_epoch, 0 if text is None else 1, topics_partitions_item.error_code)
                    continue
                text = topics_partitions_item.metadata
                if text is None:
                    n, raw = 0, b""
                else:
                    raw = text.encode()
                    n = len(raw) + 1
                if n < 0x80:
                    out += pack_iqiB(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, topics_partitions_item.committed_leader_epoch, n)
                else:
                    out += pack_iqi(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, topics_partitions_item.committed_leader_epoch)
                    out += write_string_size(n)
                out += raw
                out += pack_hx(topics_partitions_item.error_code)
            out.append(0)
        out += pack_hx(msg.error_code)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetFetchResponse", version) from error


encode_offset_fetch_response_v7 = at_version(encode_offset_fetch_response_v6, 7)


def encode_offset_fetch_response_v8(msg: OffsetFetchResponse, out: bytearray, version: int = 8) -> None:
    start = len(out)
    try:
        if msg.topics:
            raise not_in_version("topics")
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
                raw = groups_topics_item.name.encode()
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
                for groups_topics_partitions_item in groups_topics_partitions:
                    text = groups_topics_partitions_item.metadata
                    if not text:
                        out += pack_iqiBhx(groups_topics_partitions_item.partition_index, groups_topics_partitions_item.committed_offset, groups_topics_partitions_item.committed_leader_epoch, 0 if text is None else 1, groups_topics_partitions_item.error_code)
                        continue
                    text = groups_topics_partitions_item.metadata
                    if text is None:
                        n, raw = 0, b""
                    else:
                        raw = text.encode()
                        n = len(raw) + 1
                    if n < 0x80:
                        out += pack_iqiB(groups_topics_partitions_item.partition_index, groups_topics_partitions_item.committed_offset, groups_topics_partitions_item.committed_leader_epoch, n)
                    else:
                        out += pack_iqi(groups_topics_partitions_item.partition_index, groups_topics_partitions_item.committed_offset, groups_topics_partitions_item.committed_leader_epoch)
                        out += write_string_size(n)
                    out += raw
                    out += pack_hx(groups_topics_partitions_item.error_code)
                out.append(0)
            out += pack_hx(groups_item.error_code)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetFetchResponse", version) from error


encode_offset_fetch_response_v9 = at_version(encode_offset_fetch_response_v8, 9)


def encode_offset_fetch_response_v10(msg: OffsetFetchResponse, out: bytearray, version: int = 10) -> None:
    start = len(out)
    try:
        if msg.topics:
            raise not_in_version("topics")
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
                    text = groups_topics_partitions_item.metadata
                    if not text:
                        out += pack_iqiBhx(groups_topics_partitions_item.partition_index, groups_topics_partitions_item.committed_offset, groups_topics_partitions_item.committed_leader_epoch, 0 if text is None else 1, groups_topics_partitions_item.error_code)
                        continue
                    text = groups_topics_partitions_item.metadata
                    if text is None:
                        n, raw = 0, b""
                    else:
                        raw = text.encode()
                        n = len(raw) + 1
                    if n < 0x80:
                        out += pack_iqiB(groups_topics_partitions_item.partition_index, groups_topics_partitions_item.committed_offset, groups_topics_partitions_item.committed_leader_epoch, n)
                    else:
                        out += pack_iqi(groups_topics_partitions_item.partition_index, groups_topics_partitions_item.committed_offset, groups_topics_partitions_item.committed_leader_epoch)
                        out += write_string_size(n)
                    out += raw
                    out += pack_hx(groups_topics_partitions_item.error_code)
                out.append(0)
            out += pack_hx(groups_item.error_code)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetFetchResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    OffsetFetchRequest: {
        1: decode_offset_fetch_request_v1,
        2: decode_offset_fetch_request_v2,
        3: decode_offset_fetch_request_v3,
        4: decode_offset_fetch_request_v4,
        5: decode_offset_fetch_request_v5,
        6: decode_offset_fetch_request_v6,
        7: decode_offset_fetch_request_v7,
        8: decode_offset_fetch_request_v8,
        9: decode_offset_fetch_request_v9,
        10: decode_offset_fetch_request_v10,
    },
    OffsetFetchResponse: {
        1: decode_offset_fetch_response_v1,
        2: decode_offset_fetch_response_v2,
        3: decode_offset_fetch_response_v3,
        4: decode_offset_fetch_response_v4,
        5: decode_offset_fetch_response_v5,
        6: decode_offset_fetch_response_v6,
        7: decode_offset_fetch_response_v7,
        8: decode_offset_fetch_response_v8,
        9: decode_offset_fetch_response_v9,
        10: decode_offset_fetch_response_v10,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    OffsetFetchRequest: {
        1: encode_offset_fetch_request_v1,
        2: encode_offset_fetch_request_v2,
        3: encode_offset_fetch_request_v3,
        4: encode_offset_fetch_request_v4,
        5: encode_offset_fetch_request_v5,
        6: encode_offset_fetch_request_v6,
        7: encode_offset_fetch_request_v7,
        8: encode_offset_fetch_request_v8,
        9: encode_offset_fetch_request_v9,
        10: encode_offset_fetch_request_v10,
    },
    OffsetFetchResponse: {
        1: encode_offset_fetch_response_v1,
        2: encode_offset_fetch_response_v2,
        3: encode_offset_fetch_response_v3,
        4: encode_offset_fetch_response_v4,
        5: encode_offset_fetch_response_v5,
        6: encode_offset_fetch_response_v6,
        7: encode_offset_fetch_response_v7,
        8: encode_offset_fetch_response_v8,
        9: encode_offset_fetch_response_v9,
        10: encode_offset_fetch_response_v10,
    },
}
