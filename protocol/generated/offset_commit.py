"""Codecs of protocol/messages/offset_commit.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import ZERO_UUID, Message
from protocol.generated.layouts import (
    unpack_h,
    unpack_i,
    unpack_iB,
    unpack_ih,
    unpack_ihB,
    unpack_ii,
    unpack_iqh,
    unpack_iqiB,
    unpack_iqih,
    unpack_qi,
    unpack_uB,
)
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
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

SHAPE_1 = Shape("", 0, Field("iq", 12, 2, True, ""))
SHAPE_2 = Shape("", 0, Field("iqi", 16, 2, True, ""))
SHAPE_3 = Shape("x", 1, Field("iqi", 16, 1, True, ""))
pack_u = Struct(">16s").pack
pack_uB = Struct(">16sB").pack
pack_h = Struct(">h").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ih = Struct(">ih").pack
pack_ihx = Struct(">ihx").pack
pack_ii = Struct(">ii").pack
pack_iqh = Struct(">iqh").pack
pack_iqi = Struct(">iqi").pack
pack_iqiB = Struct(">iqiB").pack
pack_iqiBx = Struct(">iqiBx").pack
pack_iqih = Struct(">iqih").pack
pack_qi = Struct(">qi").pack
rows_ih = Struct(">ih").iter_unpack
rows_ihx = Struct(">ihx").iter_unpack


def decode_offset_commit_request_v2(buf: bytes, pos: int, version: int = 2) -> tuple[OffsetCommitRequest, int]:
    start = pos
    n: int
    try:
        room = 45616 - 2 * len(buf)
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
        generation_id_or_member_epoch, n = unpack_ih(buf, pos)
        if n < 0:
            raise BadField("member_id")
        if n < 0x80:
            member_id = buf[pos + 6 : (pos := pos + 6 + n)].decode()
        else:
            here = pos + 6
            pos = here + n
            member_id = long_text(buf, here, pos)
        retention_time_ms, n = unpack_qi(buf, pos)
        pos += 12
        topics: list[OffsetCommitRequestTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 208
        if room < 0:
            room, limit = verify(OffsetCommitRequest, version, buf, start, pos + n, limit - n * 208), 0
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
            topics_partitions: list[OffsetCommitRequestPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 176
            if room < 0:
                room, limit = verify(OffsetCommitRequest, version, buf, start, pos + n, limit - n * 176), 0
            topics_partitions = []
            topics_partitions_left, topics_partitions_step = n, 8
            while topics_partitions_left:
                topics_partitions_count = topics_partitions_left
                if topics_partitions_left >= 8:
                    run = alike(SHAPE_1, buf, pos, topics_partitions_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topics_partitions_left -= n
                        if is_same and absent == "":
                            topics_partitions += starmap(OffsetCommitRequestPartition, rows)
                            continue
                        if is_same:
                            topics_partitions += [OffsetCommitRequestPartition(partition_index, committed_offset, -1, absent) for partition_index, committed_offset in rows]
                        else:
                            topics_partitions += [OffsetCommitRequestPartition(partition_index, committed_offset, -1, committed_metadata.decode()) for partition_index, committed_offset, committed_metadata in rows]
                        continue
                    if topics_partitions_step < topics_partitions_left:
                        topics_partitions_count = topics_partitions_step
                    topics_partitions_step *= 2
                topics_partitions_left -= topics_partitions_count
                for _ in range(topics_partitions_count):
                    topics_partitions_committed_metadata: str | None
                    topics_partitions_partition_index, topics_partitions_committed_offset, n = unpack_iqh(buf, pos)
                    if n < 0:
                        topics_partitions_committed_metadata = None
                        pos += 14
                    elif n < 0x80:
                        topics_partitions_committed_metadata = buf[pos + 14 : (pos := pos + 14 + n)].decode()
                    else:
                        here = pos + 14
                        pos = here + n
                        topics_partitions_committed_metadata = long_text(buf, here, pos)
                    topics_partitions.append(OffsetCommitRequestPartition(topics_partitions_partition_index, topics_partitions_committed_offset, -1, topics_partitions_committed_metadata))
            topics.append(OffsetCommitRequestTopic(topics_name, ZERO_UUID, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, None, retention_time_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetCommitRequest, version, buf, start, pos) from None


decode_offset_commit_request_v3 = at_version(decode_offset_commit_request_v2, 3)


decode_offset_commit_request_v4 = at_version(decode_offset_commit_request_v2, 4)


def decode_offset_commit_request_v5(buf: bytes, pos: int, version: int = 5) -> tuple[OffsetCommitRequest, int]:
    start = pos
    n: int
    try:
        room = 45664 - 2 * len(buf)
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
        generation_id_or_member_epoch, n = unpack_ih(buf, pos)
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
        topics: list[OffsetCommitRequestTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 208
        if room < 0:
            room, limit = verify(OffsetCommitRequest, version, buf, start, pos + n, limit - n * 208), 0
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
            topics_partitions: list[OffsetCommitRequestPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 176
            if room < 0:
                room, limit = verify(OffsetCommitRequest, version, buf, start, pos + n, limit - n * 176), 0
            topics_partitions = []
            topics_partitions_left, topics_partitions_step = n, 8
            while topics_partitions_left:
                topics_partitions_count = topics_partitions_left
                if topics_partitions_left >= 8:
                    run = alike(SHAPE_1, buf, pos, topics_partitions_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topics_partitions_left -= n
                        if is_same and absent == "":
                            topics_partitions += starmap(OffsetCommitRequestPartition, rows)
                            continue
                        if is_same:
                            topics_partitions += [OffsetCommitRequestPartition(partition_index, committed_offset, -1, absent) for partition_index, committed_offset in rows]
                        else:
                            topics_partitions += [OffsetCommitRequestPartition(partition_index, committed_offset, -1, committed_metadata.decode()) for partition_index, committed_offset, committed_metadata in rows]
                        continue
                    if topics_partitions_step < topics_partitions_left:
                        topics_partitions_count = topics_partitions_step
                    topics_partitions_step *= 2
                topics_partitions_left -= topics_partitions_count
                for _ in range(topics_partitions_count):
                    topics_partitions_committed_metadata: str | None
                    topics_partitions_partition_index, topics_partitions_committed_offset, n = unpack_iqh(buf, pos)
                    if n < 0:
                        topics_partitions_committed_metadata = None
                        pos += 14
                    elif n < 0x80:
                        topics_partitions_committed_metadata = buf[pos + 14 : (pos := pos + 14 + n)].decode()
                    else:
                        here = pos + 14
                        pos = here + n
                        topics_partitions_committed_metadata = long_text(buf, here, pos)
                    topics_partitions.append(OffsetCommitRequestPartition(topics_partitions_partition_index, topics_partitions_committed_offset, -1, topics_partitions_committed_metadata))
            topics.append(OffsetCommitRequestTopic(topics_name, ZERO_UUID, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, None, -1, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetCommitRequest, version, buf, start, pos) from None


def decode_offset_commit_request_v6(buf: bytes, pos: int, version: int = 6) -> tuple[OffsetCommitRequest, int]:
    start = pos
    n: int
    try:
        room = 45664 - 2 * len(buf)
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
        generation_id_or_member_epoch, n = unpack_ih(buf, pos)
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
        topics: list[OffsetCommitRequestTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 208
        if room < 0:
            room, limit = verify(OffsetCommitRequest, version, buf, start, pos + n, limit - n * 208), 0
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
            topics_partitions: list[OffsetCommitRequestPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 192
            if room < 0:
                room, limit = verify(OffsetCommitRequest, version, buf, start, pos + n, limit - n * 192), 0
            topics_partitions = []
            topics_partitions_left, topics_partitions_step = n, 8
            while topics_partitions_left:
                topics_partitions_count = topics_partitions_left
                if topics_partitions_left >= 8:
                    run = alike(SHAPE_2, buf, pos, topics_partitions_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topics_partitions_left -= n
                        if is_same and absent == "":
                            topics_partitions += starmap(OffsetCommitRequestPartition, rows)
                            continue
                        if is_same:
                            topics_partitions += [OffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, absent) for partition_index, committed_offset, committed_leader_epoch in rows]
                        else:
                            topics_partitions += [OffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, committed_metadata.decode()) for partition_index, committed_offset, committed_leader_epoch, committed_metadata in rows]
                        continue
                    if topics_partitions_step < topics_partitions_left:
                        topics_partitions_count = topics_partitions_step
                    topics_partitions_step *= 2
                topics_partitions_left -= topics_partitions_count
                for _ in range(topics_partitions_count):
                    topics_partitions_committed_metadata: str | None
                    topics_partitions_partition_index, topics_partitions_committed_offset, topics_partitions_committed_leader_epoch, n = unpack_iqih(buf, pos)
                    if n < 0:
                        topics_partitions_committed_metadata = None
                        pos += 18
                    elif n < 0x80:
                        topics_partitions_committed_metadata = buf[pos + 18 : (pos := pos + 18 + n)].decode()
                    else:
                        here = pos + 18
                        pos = here + n
                        topics_partitions_committed_metadata = long_text(buf, here, pos)
                    topics_partitions.append(OffsetCommitRequestPartition(topics_partitions_partition_index, topics_partitions_committed_offset, topics_partitions_committed_leader_epoch, topics_partitions_committed_metadata))
            topics.append(OffsetCommitRequestTopic(topics_name, ZERO_UUID, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, None, -1, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetCommitRequest, version, buf, start, pos) from None


def decode_offset_commit_request_v7(buf: bytes, pos: int, version: int = 7) -> tuple[OffsetCommitRequest, int]:
    start = pos
    n: int
    try:
        room = 45584 - 2 * len(buf)
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
        generation_id_or_member_epoch, n = unpack_ih(buf, pos)
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
        topics: list[OffsetCommitRequestTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 208
        if room < 0:
            room, limit = verify(OffsetCommitRequest, version, buf, start, pos + n, limit - n * 208), 0
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
            topics_partitions: list[OffsetCommitRequestPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 192
            if room < 0:
                room, limit = verify(OffsetCommitRequest, version, buf, start, pos + n, limit - n * 192), 0
            topics_partitions = []
            topics_partitions_left, topics_partitions_step = n, 8
            while topics_partitions_left:
                topics_partitions_count = topics_partitions_left
                if topics_partitions_left >= 8:
                    run = alike(SHAPE_2, buf, pos, topics_partitions_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topics_partitions_left -= n
                        if is_same and absent == "":
                            topics_partitions += starmap(OffsetCommitRequestPartition, rows)
                            continue
                        if is_same:
                            topics_partitions += [OffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, absent) for partition_index, committed_offset, committed_leader_epoch in rows]
                        else:
                            topics_partitions += [OffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, committed_metadata.decode()) for partition_index, committed_offset, committed_leader_epoch, committed_metadata in rows]
                        continue
                    if topics_partitions_step < topics_partitions_left:
                        topics_partitions_count = topics_partitions_step
                    topics_partitions_step *= 2
                topics_partitions_left -= topics_partitions_count
                for _ in range(topics_partitions_count):
                    topics_partitions_committed_metadata: str | None
                    topics_partitions_partition_index, topics_partitions_committed_offset, topics_partitions_committed_leader_epoch, n = unpack_iqih(buf, pos)
                    if n < 0:
                        topics_partitions_committed_metadata = None
                        pos += 18
                    elif n < 0x80:
                        topics_partitions_committed_metadata = buf[pos + 18 : (pos := pos + 18 + n)].decode()
                    else:
                        here = pos + 18
                        pos = here + n
                        topics_partitions_committed_metadata = long_text(buf, here, pos)
                    topics_partitions.append(OffsetCommitRequestPartition(topics_partitions_partition_index, topics_partitions_committed_offset, topics_partitions_committed_leader_epoch, topics_partitions_committed_metadata))
            topics.append(OffsetCommitRequestTopic(topics_name, ZERO_UUID, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, group_instance_id, -1, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetCommitRequest, version, buf, start, pos) from None


def decode_offset_commit_request_v8(buf: bytes, pos: int, version: int = 8) -> tuple[OffsetCommitRequest, int]:
    start = pos
    n: int
    try:
        room = 45584 - 2 * len(buf)
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
        generation_id_or_member_epoch, n = unpack_iB(buf, pos)
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
        topics: list[OffsetCommitRequestTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 220
        if room < 0:
            room, limit = verify(OffsetCommitRequest, version, buf, start, pos + n, limit - n * 220), 0
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
            topics_partitions: list[OffsetCommitRequestPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 192
            if room < 0:
                room, limit = verify(OffsetCommitRequest, version, buf, start, pos + n, limit - n * 192), 0
            topics_partitions = []
            topics_partitions_left, topics_partitions_step = n, 8
            while topics_partitions_left:
                topics_partitions_count = topics_partitions_left
                if topics_partitions_left >= 8:
                    run = alike(SHAPE_3, buf, pos, topics_partitions_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topics_partitions_left -= n
                        if is_same and absent == "":
                            topics_partitions += starmap(OffsetCommitRequestPartition, rows)
                            continue
                        if is_same:
                            topics_partitions += [OffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, absent) for partition_index, committed_offset, committed_leader_epoch in rows]
                        else:
                            topics_partitions += [OffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, committed_metadata.decode()) for partition_index, committed_offset, committed_leader_epoch, committed_metadata in rows]
                        continue
                    if topics_partitions_step < topics_partitions_left:
                        topics_partitions_count = topics_partitions_step
                    topics_partitions_step *= 2
                topics_partitions_left -= topics_partitions_count
                for _ in range(topics_partitions_count):
                    topics_partitions_committed_metadata: str | None
                    topics_partitions_partition_index, topics_partitions_committed_offset, topics_partitions_committed_leader_epoch, n = unpack_iqiB(buf, pos)
                    if not n:
                        topics_partitions_committed_metadata = None
                        pos += 17
                    elif n == 1:
                        topics_partitions_committed_metadata = ""
                        pos += 17
                    elif n < 0x80:
                        topics_partitions_committed_metadata = buf[pos + 17 : (pos := pos + 16 + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos + 16)
                        if n:
                            n -= 1
                            here = pos
                            pos = here + n
                            topics_partitions_committed_metadata = long_text(buf, here, pos)
                        else:
                            topics_partitions_committed_metadata = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(OffsetCommitRequestPartition(topics_partitions_partition_index, topics_partitions_committed_offset, topics_partitions_committed_leader_epoch, topics_partitions_committed_metadata))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(OffsetCommitRequestTopic(topics_name, ZERO_UUID, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, group_instance_id, -1, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetCommitRequest, version, buf, start, pos) from None


decode_offset_commit_request_v9 = at_version(decode_offset_commit_request_v8, 9)


def decode_offset_commit_request_v10(buf: bytes, pos: int, version: int = 10) -> tuple[OffsetCommitRequest, int]:
    start = pos
    n: int
    try:
        room = 45584 - 2 * len(buf)
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
        generation_id_or_member_epoch, n = unpack_iB(buf, pos)
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
        topics: list[OffsetCommitRequestTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 128
        if room < 0:
            room, limit = verify(OffsetCommitRequest, version, buf, start, pos + n, limit - n * 128), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[OffsetCommitRequestPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 192
            if room < 0:
                room, limit = verify(OffsetCommitRequest, version, buf, start, pos + n, limit - n * 192), 0
            topics_partitions = []
            topics_partitions_left, topics_partitions_step = n, 8
            while topics_partitions_left:
                topics_partitions_count = topics_partitions_left
                if topics_partitions_left >= 8:
                    run = alike(SHAPE_3, buf, pos, topics_partitions_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topics_partitions_left -= n
                        if is_same and absent == "":
                            topics_partitions += starmap(OffsetCommitRequestPartition, rows)
                            continue
                        if is_same:
                            topics_partitions += [OffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, absent) for partition_index, committed_offset, committed_leader_epoch in rows]
                        else:
                            topics_partitions += [OffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, committed_metadata.decode()) for partition_index, committed_offset, committed_leader_epoch, committed_metadata in rows]
                        continue
                    if topics_partitions_step < topics_partitions_left:
                        topics_partitions_count = topics_partitions_step
                    topics_partitions_step *= 2
                topics_partitions_left -= topics_partitions_count
                for _ in range(topics_partitions_count):
                    topics_partitions_committed_metadata: str | None
                    topics_partitions_partition_index, topics_partitions_committed_offset, topics_partitions_committed_leader_epoch, n = unpack_iqiB(buf, pos)
                    if not n:
                        topics_partitions_committed_metadata = None
                        pos += 17
                    elif n == 1:
                        topics_partitions_committed_metadata = ""
                        pos += 17
                    elif n < 0x80:
                        topics_partitions_committed_metadata = buf[pos + 17 : (pos := pos + 16 + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos + 16)
                        if n:
                            n -= 1
                            here = pos
                            pos = here + n
                            topics_partitions_committed_metadata = long_text(buf, here, pos)
                        else:
                            topics_partitions_committed_metadata = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(OffsetCommitRequestPartition(topics_partitions_partition_index, topics_partitions_committed_offset, topics_partitions_committed_leader_epoch, topics_partitions_committed_metadata))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(OffsetCommitRequestTopic("", topics_topic_id, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return OffsetCommitRequest(group_id, generation_id_or_member_epoch, member_id, group_instance_id, -1, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetCommitRequest, version, buf, start, pos) from None


def encode_offset_commit_request_v2(msg: OffsetCommitRequest, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        if msg.group_instance_id is not None:
            raise not_in_version("group_instance_id")
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.member_id.encode()
        out += pack_ih(msg.generation_id_or_member_epoch, len(raw))
        out += raw
        topics = msg.topics
        out += pack_qi(msg.retention_time_ms, len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                text = topics_partitions_item.committed_metadata
                if not text:
                    out += pack_iqh(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, -1 if text is None else 0)
                    continue
                text = topics_partitions_item.committed_metadata
                if text is None:
                    n, raw = -1, b""
                else:
                    raw = text.encode()
                    n = len(raw)
                out += pack_iqh(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, n)
                out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetCommitRequest", version) from error


encode_offset_commit_request_v3 = at_version(encode_offset_commit_request_v2, 3)


encode_offset_commit_request_v4 = at_version(encode_offset_commit_request_v2, 4)


def encode_offset_commit_request_v5(msg: OffsetCommitRequest, out: bytearray, version: int = 5) -> None:
    start = len(out)
    try:
        if msg.group_instance_id is not None:
            raise not_in_version("group_instance_id")
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.member_id.encode()
        out += pack_ih(msg.generation_id_or_member_epoch, len(raw))
        out += raw
        topics = msg.topics
        out += pack_i(len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                text = topics_partitions_item.committed_metadata
                if not text:
                    out += pack_iqh(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, -1 if text is None else 0)
                    continue
                text = topics_partitions_item.committed_metadata
                if text is None:
                    n, raw = -1, b""
                else:
                    raw = text.encode()
                    n = len(raw)
                out += pack_iqh(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, n)
                out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetCommitRequest", version) from error


def encode_offset_commit_request_v6(msg: OffsetCommitRequest, out: bytearray, version: int = 6) -> None:
    start = len(out)
    try:
        if msg.group_instance_id is not None:
            raise not_in_version("group_instance_id")
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.member_id.encode()
        out += pack_ih(msg.generation_id_or_member_epoch, len(raw))
        out += raw
        topics = msg.topics
        out += pack_i(len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                text = topics_partitions_item.committed_metadata
                if not text:
                    out += pack_iqih(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, topics_partitions_item.committed_leader_epoch, -1 if text is None else 0)
                    continue
                text = topics_partitions_item.committed_metadata
                if text is None:
                    n, raw = -1, b""
                else:
                    raw = text.encode()
                    n = len(raw)
                out += pack_iqih(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, topics_partitions_item.committed_leader_epoch, n)
                out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetCommitRequest", version) from error


def encode_offset_commit_request_v7(msg: OffsetCommitRequest, out: bytearray, version: int = 7) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.member_id.encode()
        out += pack_ih(msg.generation_id_or_member_epoch, len(raw))
        out += raw
        text = msg.group_instance_id
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_h(n)
        out += raw
        topics = msg.topics
        out += pack_i(len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                text = topics_partitions_item.committed_metadata
                if not text:
                    out += pack_iqih(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, topics_partitions_item.committed_leader_epoch, -1 if text is None else 0)
                    continue
                text = topics_partitions_item.committed_metadata
                if text is None:
                    n, raw = -1, b""
                else:
                    raw = text.encode()
                    n = len(raw)
                out += pack_iqih(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, topics_partitions_item.committed_leader_epoch, n)
                out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetCommitRequest", version) from error


def encode_offset_commit_request_v8(msg: OffsetCommitRequest, out: bytearray, version: int = 8) -> None:
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
            out += pack_iB(msg.generation_id_or_member_epoch, n)
        else:
            out += pack_i(msg.generation_id_or_member_epoch)
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
        topics = msg.topics
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
            topics_partitions = topics_item.partitions
            n = len(topics_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for topics_partitions_item in topics_partitions:
                text = topics_partitions_item.committed_metadata
                if not text:
                    out += pack_iqiBx(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, topics_partitions_item.committed_leader_epoch, 0 if text is None else 1)
                    continue
                text = topics_partitions_item.committed_metadata
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
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetCommitRequest", version) from error


encode_offset_commit_request_v9 = at_version(encode_offset_commit_request_v8, 9)


def encode_offset_commit_request_v10(msg: OffsetCommitRequest, out: bytearray, version: int = 10) -> None:
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
            out += pack_iB(msg.generation_id_or_member_epoch, n)
        else:
            out += pack_i(msg.generation_id_or_member_epoch)
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
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for topics_item in topics:
            if len(topics_item.topic_id) != 16:
                raise BadField("topics.topic_id", "a UUID has 16 bytes")
            topics_partitions = topics_item.partitions
            n = len(topics_partitions) + 1
            if n < 0x80:
                out += pack_uB(topics_item.topic_id, n)
            else:
                out += pack_u(topics_item.topic_id)
                out += write_uvarint(n)
            for topics_partitions_item in topics_partitions:
                text = topics_partitions_item.committed_metadata
                if not text:
                    out += pack_iqiBx(topics_partitions_item.partition_index, topics_partitions_item.committed_offset, topics_partitions_item.committed_leader_epoch, 0 if text is None else 1)
                    continue
                text = topics_partitions_item.committed_metadata
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
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetCommitRequest", version) from error


def decode_offset_commit_response_v2(buf: bytes, pos: int, version: int = 2) -> tuple[OffsetCommitResponse, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        (n,) = unpack_i(buf, pos)
        pos += 4
        topics: list[OffsetCommitResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 208
        if room < 0:
            room = verify(OffsetCommitResponse, version, buf, start, pos + n)
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
            topics_partitions: list[OffsetCommitResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 96
            if room < 0:
                room = verify(OffsetCommitResponse, version, buf, start, pos + n)
            end = pos + n * 6
            topics_partitions = list(starmap(OffsetCommitResponsePartition, rows_ih(buf[pos:end])))
            pos = end
            topics.append(OffsetCommitResponseTopic(topics_name, ZERO_UUID, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return OffsetCommitResponse(0, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetCommitResponse, version, buf, start, pos) from None


def decode_offset_commit_response_v3(buf: bytes, pos: int, version: int = 3) -> tuple[OffsetCommitResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        topics: list[OffsetCommitResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 208
        if room < 0:
            room = verify(OffsetCommitResponse, version, buf, start, pos + n)
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
            topics_partitions: list[OffsetCommitResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 96
            if room < 0:
                room = verify(OffsetCommitResponse, version, buf, start, pos + n)
            end = pos + n * 6
            topics_partitions = list(starmap(OffsetCommitResponsePartition, rows_ih(buf[pos:end])))
            pos = end
            topics.append(OffsetCommitResponseTopic(topics_name, ZERO_UUID, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return OffsetCommitResponse(throttle_time_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetCommitResponse, version, buf, start, pos) from None


decode_offset_commit_response_v4 = at_version(decode_offset_commit_response_v3, 4)


decode_offset_commit_response_v5 = at_version(decode_offset_commit_response_v3, 5)


decode_offset_commit_response_v6 = at_version(decode_offset_commit_response_v3, 6)


decode_offset_commit_response_v7 = at_version(decode_offset_commit_response_v3, 7)


def decode_offset_commit_response_v8(buf: bytes, pos: int, version: int = 8) -> tuple[OffsetCommitResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[OffsetCommitResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 220
        if room < 0:
            room = verify(OffsetCommitResponse, version, buf, start, pos + n)
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
            topics_partitions: list[OffsetCommitResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 92
            if room < 0:
                room = verify(OffsetCommitResponse, version, buf, start, pos + n)
            end = pos + n * 7
            if buf[pos + 6 : end : 7].count(0) == n:
                topics_partitions = list(starmap(OffsetCommitResponsePartition, rows_ihx(buf[pos:end])))
                pos = end
            else:
                topics_partitions = []
                topics_partitions_count = n
                for _ in range(topics_partitions_count):
                    topics_partitions_partition_index, topics_partitions_error_code, n = unpack_ihB(buf, pos)
                    pos += 7
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(OffsetCommitResponsePartition(topics_partitions_partition_index, topics_partitions_error_code))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(OffsetCommitResponseTopic(topics_name, ZERO_UUID, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return OffsetCommitResponse(throttle_time_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetCommitResponse, version, buf, start, pos) from None


decode_offset_commit_response_v9 = at_version(decode_offset_commit_response_v8, 9)


def decode_offset_commit_response_v10(buf: bytes, pos: int, version: int = 10) -> tuple[OffsetCommitResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[OffsetCommitResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 128
        if room < 0:
            room = verify(OffsetCommitResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[OffsetCommitResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 92
            if room < 0:
                room = verify(OffsetCommitResponse, version, buf, start, pos + n)
            end = pos + n * 7
            if buf[pos + 6 : end : 7].count(0) == n:
                topics_partitions = list(starmap(OffsetCommitResponsePartition, rows_ihx(buf[pos:end])))
                pos = end
            else:
                topics_partitions = []
                topics_partitions_count = n
                for _ in range(topics_partitions_count):
                    topics_partitions_partition_index, topics_partitions_error_code, n = unpack_ihB(buf, pos)
                    pos += 7
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(OffsetCommitResponsePartition(topics_partitions_partition_index, topics_partitions_error_code))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(OffsetCommitResponseTopic("", topics_topic_id, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return OffsetCommitResponse(throttle_time_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetCommitResponse, version, buf, start, pos) from None


def encode_offset_commit_response_v2(msg: OffsetCommitResponse, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        topics = msg.topics
        out += pack_i(len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            out += b"".join([pack_ih(topics_partitions_item.partition_index, topics_partitions_item.error_code) for topics_partitions_item in topics_partitions])
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetCommitResponse", version) from error


def encode_offset_commit_response_v3(msg: OffsetCommitResponse, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        topics = msg.topics
        out += pack_ii(msg.throttle_time_ms, len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            out += b"".join([pack_ih(topics_partitions_item.partition_index, topics_partitions_item.error_code) for topics_partitions_item in topics_partitions])
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetCommitResponse", version) from error


encode_offset_commit_response_v4 = at_version(encode_offset_commit_response_v3, 4)


encode_offset_commit_response_v5 = at_version(encode_offset_commit_response_v3, 5)


encode_offset_commit_response_v6 = at_version(encode_offset_commit_response_v3, 6)


encode_offset_commit_response_v7 = at_version(encode_offset_commit_response_v3, 7)


def encode_offset_commit_response_v8(msg: OffsetCommitResponse, out: bytearray, version: int = 8) -> None:
    start = len(out)
    try:
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
            out += b"".join([pack_ihx(topics_partitions_item.partition_index, topics_partitions_item.error_code) for topics_partitions_item in topics_partitions])
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetCommitResponse", version) from error


encode_offset_commit_response_v9 = at_version(encode_offset_commit_response_v8, 9)


def encode_offset_commit_response_v10(msg: OffsetCommitResponse, out: bytearray, version: int = 10) -> None:
    start = len(out)
    try:
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for topics_item in topics:
            if len(topics_item.topic_id) != 16:
                raise BadField("topics.topic_id", "a UUID has 16 bytes")
            topics_partitions = topics_item.partitions
            n = len(topics_partitions) + 1
            if n < 0x80:
                out += pack_uB(topics_item.topic_id, n)
            else:
                out += pack_u(topics_item.topic_id)
                out += write_uvarint(n)
            out += b"".join([pack_ihx(topics_partitions_item.partition_index, topics_partitions_item.error_code) for topics_partitions_item in topics_partitions])
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetCommitResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    OffsetCommitRequest: {
        2: decode_offset_commit_request_v2,
        3: decode_offset_commit_request_v3,
        4: decode_offset_commit_request_v4,
        5: decode_offset_commit_request_v5,
        6: decode_offset_commit_request_v6,
        7: decode_offset_commit_request_v7,
        8: decode_offset_commit_request_v8,
        9: decode_offset_commit_request_v9,
        10: decode_offset_commit_request_v10,
    },
    OffsetCommitResponse: {
        2: decode_offset_commit_response_v2,
        3: decode_offset_commit_response_v3,
        4: decode_offset_commit_response_v4,
        5: decode_offset_commit_response_v5,
        6: decode_offset_commit_response_v6,
        7: decode_offset_commit_response_v7,
        8: decode_offset_commit_response_v8,
        9: decode_offset_commit_response_v9,
        10: decode_offset_commit_response_v10,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    OffsetCommitRequest: {
        2: encode_offset_commit_request_v2,
        3: encode_offset_commit_request_v3,
        4: encode_offset_commit_request_v4,
        5: encode_offset_commit_request_v5,
        6: encode_offset_commit_request_v6,
        7: encode_offset_commit_request_v7,
        8: encode_offset_commit_request_v8,
        9: encode_offset_commit_request_v9,
        10: encode_offset_commit_request_v10,
    },
    OffsetCommitResponse: {
        2: encode_offset_commit_response_v2,
        3: encode_offset_commit_response_v3,
        4: encode_offset_commit_response_v4,
        5: encode_offset_commit_response_v5,
        6: encode_offset_commit_response_v6,
        7: encode_offset_commit_response_v7,
        8: encode_offset_commit_response_v8,
        9: encode_offset_commit_response_v9,
        10: encode_offset_commit_response_v10,
    },
}
