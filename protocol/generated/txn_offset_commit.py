"""Codecs of protocol/messages/txn_offset_commit.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import (
    unpack_h,
    unpack_i,
    unpack_iB,
    unpack_ihB,
    unpack_ii,
    unpack_iqh,
    unpack_iqiB,
    unpack_iqih,
    unpack_qhi,
    unpack_qhiB,
)
from protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
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
pack_qhi = Struct(">qhi").pack
pack_qhiB = Struct(">qhiB").pack
rows_ih = Struct(">ih").iter_unpack
rows_ihx = Struct(">ihx").iter_unpack


def decode_txn_offset_commit_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[TxnOffsetCommitRequest, int]:
    start = pos
    n: int
    try:
        room = 45600 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("transactional_id")
        if n < 0x80:
            transactional_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            transactional_id = long_text(buf, here, pos)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("group_id")
        if n < 0x80:
            group_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group_id = long_text(buf, here, pos)
        producer_id, producer_epoch, n = unpack_qhi(buf, pos)
        pos += 14
        topics: list[TxnOffsetCommitRequestTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room, limit = verify(TxnOffsetCommitRequest, version, buf, start, pos + n, limit - n * 192), 0
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
            topics_partitions: list[TxnOffsetCommitRequestPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 176
            if room < 0:
                room, limit = verify(TxnOffsetCommitRequest, version, buf, start, pos + n, limit - n * 176), 0
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
                            topics_partitions += starmap(TxnOffsetCommitRequestPartition, rows)
                            continue
                        if is_same:
                            topics_partitions += [TxnOffsetCommitRequestPartition(partition_index, committed_offset, -1, absent) for partition_index, committed_offset in rows]
                        else:
                            topics_partitions += [TxnOffsetCommitRequestPartition(partition_index, committed_offset, -1, committed_metadata.decode()) for partition_index, committed_offset, committed_metadata in rows]
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
                    topics_partitions.append(TxnOffsetCommitRequestPartition(topics_partitions_partition_index, topics_partitions_committed_offset, -1, topics_partitions_committed_metadata))
            topics.append(TxnOffsetCommitRequestTopic(topics_name, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return TxnOffsetCommitRequest(transactional_id, group_id, producer_id, producer_epoch, -1, "", None, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, TxnOffsetCommitRequest, version, buf, start, pos) from None


decode_txn_offset_commit_request_v1 = at_version(decode_txn_offset_commit_request_v0, 1)


def decode_txn_offset_commit_request_v2(buf: bytes, pos: int, version: int = 2) -> tuple[TxnOffsetCommitRequest, int]:
    start = pos
    n: int
    try:
        room = 45600 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("transactional_id")
        if n < 0x80:
            transactional_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            transactional_id = long_text(buf, here, pos)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("group_id")
        if n < 0x80:
            group_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group_id = long_text(buf, here, pos)
        producer_id, producer_epoch, n = unpack_qhi(buf, pos)
        pos += 14
        topics: list[TxnOffsetCommitRequestTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room, limit = verify(TxnOffsetCommitRequest, version, buf, start, pos + n, limit - n * 192), 0
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
            topics_partitions: list[TxnOffsetCommitRequestPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 192
            if room < 0:
                room, limit = verify(TxnOffsetCommitRequest, version, buf, start, pos + n, limit - n * 192), 0
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
                            topics_partitions += starmap(TxnOffsetCommitRequestPartition, rows)
                            continue
                        if is_same:
                            topics_partitions += [TxnOffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, absent) for partition_index, committed_offset, committed_leader_epoch in rows]
                        else:
                            topics_partitions += [TxnOffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, committed_metadata.decode()) for partition_index, committed_offset, committed_leader_epoch, committed_metadata in rows]
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
                    topics_partitions.append(TxnOffsetCommitRequestPartition(topics_partitions_partition_index, topics_partitions_committed_offset, topics_partitions_committed_leader_epoch, topics_partitions_committed_metadata))
            topics.append(TxnOffsetCommitRequestTopic(topics_name, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return TxnOffsetCommitRequest(transactional_id, group_id, producer_id, producer_epoch, -1, "", None, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, TxnOffsetCommitRequest, version, buf, start, pos) from None


def decode_txn_offset_commit_request_v3(buf: bytes, pos: int, version: int = 3) -> tuple[TxnOffsetCommitRequest, int]:
    start = pos
    n: int
    try:
        room = 45408 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        if 0 < n < 0x80:
            transactional_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("transactional_id")
            n -= 1
            here = pos
            pos = here + n
            transactional_id = long_text(buf, here, pos)
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
        producer_id, producer_epoch, generation_id, n = unpack_qhiB(buf, pos)
        if 0 < n < 0x80:
            member_id = buf[pos + 15 : (pos := pos + 14 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 14)
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
        topics: list[TxnOffsetCommitRequestTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 204
        if room < 0:
            room, limit = verify(TxnOffsetCommitRequest, version, buf, start, pos + n, limit - n * 204), 0
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
            topics_partitions: list[TxnOffsetCommitRequestPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 192
            if room < 0:
                room, limit = verify(TxnOffsetCommitRequest, version, buf, start, pos + n, limit - n * 192), 0
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
                            topics_partitions += starmap(TxnOffsetCommitRequestPartition, rows)
                            continue
                        if is_same:
                            topics_partitions += [TxnOffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, absent) for partition_index, committed_offset, committed_leader_epoch in rows]
                        else:
                            topics_partitions += [TxnOffsetCommitRequestPartition(partition_index, committed_offset, committed_leader_epoch, committed_metadata.decode()) for partition_index, committed_offset, committed_leader_epoch, committed_metadata in rows]
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
                    topics_partitions.append(TxnOffsetCommitRequestPartition(topics_partitions_partition_index, topics_partitions_committed_offset, topics_partitions_committed_leader_epoch, topics_partitions_committed_metadata))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(TxnOffsetCommitRequestTopic(topics_name, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return TxnOffsetCommitRequest(transactional_id, group_id, producer_id, producer_epoch, generation_id, member_id, group_instance_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, TxnOffsetCommitRequest, version, buf, start, pos) from None


decode_txn_offset_commit_request_v4 = at_version(decode_txn_offset_commit_request_v3, 4)


decode_txn_offset_commit_request_v5 = at_version(decode_txn_offset_commit_request_v3, 5)


def encode_txn_offset_commit_request_v0(msg: TxnOffsetCommitRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.generation_id != -1:
            raise not_in_version("generation_id")
        if msg.member_id:
            raise not_in_version("member_id")
        if msg.group_instance_id is not None:
            raise not_in_version("group_instance_id")
        raw = msg.transactional_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        topics = msg.topics
        out += pack_qhi(msg.producer_id, msg.producer_epoch, len(topics))
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
        raise encode_failure(error, "TxnOffsetCommitRequest", version) from error


encode_txn_offset_commit_request_v1 = at_version(encode_txn_offset_commit_request_v0, 1)


def encode_txn_offset_commit_request_v2(msg: TxnOffsetCommitRequest, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        if msg.generation_id != -1:
            raise not_in_version("generation_id")
        if msg.member_id:
            raise not_in_version("member_id")
        if msg.group_instance_id is not None:
            raise not_in_version("group_instance_id")
        raw = msg.transactional_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        topics = msg.topics
        out += pack_qhi(msg.producer_id, msg.producer_epoch, len(topics))
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
        raise encode_failure(error, "TxnOffsetCommitRequest", version) from error


def encode_txn_offset_commit_request_v3(msg: TxnOffsetCommitRequest, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        raw = msg.transactional_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
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
            out += pack_qhiB(msg.producer_id, msg.producer_epoch, msg.generation_id, n)
        else:
            out += pack_qhi(msg.producer_id, msg.producer_epoch, msg.generation_id)
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
        raise encode_failure(error, "TxnOffsetCommitRequest", version) from error


encode_txn_offset_commit_request_v4 = at_version(encode_txn_offset_commit_request_v3, 4)


encode_txn_offset_commit_request_v5 = at_version(encode_txn_offset_commit_request_v3, 5)


def decode_txn_offset_commit_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[TxnOffsetCommitResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        topics: list[TxnOffsetCommitResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room = verify(TxnOffsetCommitResponse, version, buf, start, pos + n)
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
            topics_partitions: list[TxnOffsetCommitResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 96
            if room < 0:
                room = verify(TxnOffsetCommitResponse, version, buf, start, pos + n)
            end = pos + n * 6
            topics_partitions = list(starmap(TxnOffsetCommitResponsePartition, rows_ih(buf[pos:end])))
            pos = end
            topics.append(TxnOffsetCommitResponseTopic(topics_name, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return TxnOffsetCommitResponse(throttle_time_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, TxnOffsetCommitResponse, version, buf, start, pos) from None


decode_txn_offset_commit_response_v1 = at_version(decode_txn_offset_commit_response_v0, 1)


decode_txn_offset_commit_response_v2 = at_version(decode_txn_offset_commit_response_v0, 2)


def decode_txn_offset_commit_response_v3(buf: bytes, pos: int, version: int = 3) -> tuple[TxnOffsetCommitResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[TxnOffsetCommitResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 204
        if room < 0:
            room = verify(TxnOffsetCommitResponse, version, buf, start, pos + n)
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
            topics_partitions: list[TxnOffsetCommitResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 92
            if room < 0:
                room = verify(TxnOffsetCommitResponse, version, buf, start, pos + n)
            end = pos + n * 7
            if buf[pos + 6 : end : 7].count(0) == n:
                topics_partitions = list(starmap(TxnOffsetCommitResponsePartition, rows_ihx(buf[pos:end])))
                pos = end
            else:
                topics_partitions = []
                topics_partitions_count = n
                for _ in range(topics_partitions_count):
                    topics_partitions_partition_index, topics_partitions_error_code, n = unpack_ihB(buf, pos)
                    pos += 7
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(TxnOffsetCommitResponsePartition(topics_partitions_partition_index, topics_partitions_error_code))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(TxnOffsetCommitResponseTopic(topics_name, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return TxnOffsetCommitResponse(throttle_time_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, TxnOffsetCommitResponse, version, buf, start, pos) from None


decode_txn_offset_commit_response_v4 = at_version(decode_txn_offset_commit_response_v3, 4)


decode_txn_offset_commit_response_v5 = at_version(decode_txn_offset_commit_response_v3, 5)


def encode_txn_offset_commit_response_v0(msg: TxnOffsetCommitResponse, out: bytearray, version: int = 0) -> None:
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
        raise encode_failure(error, "TxnOffsetCommitResponse", version) from error


encode_txn_offset_commit_response_v1 = at_version(encode_txn_offset_commit_response_v0, 1)


encode_txn_offset_commit_response_v2 = at_version(encode_txn_offset_commit_response_v0, 2)


def encode_txn_offset_commit_response_v3(msg: TxnOffsetCommitResponse, out: bytearray, version: int = 3) -> None:
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
        raise encode_failure(error, "TxnOffsetCommitResponse", version) from error


encode_txn_offset_commit_response_v4 = at_version(encode_txn_offset_commit_response_v3, 4)


encode_txn_offset_commit_response_v5 = at_version(encode_txn_offset_commit_response_v3, 5)


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    TxnOffsetCommitRequest: {
        0: decode_txn_offset_commit_request_v0,
        1: decode_txn_offset_commit_request_v1,
        2: decode_txn_offset_commit_request_v2,
        3: decode_txn_offset_commit_request_v3,
        4: decode_txn_offset_commit_request_v4,
        5: decode_txn_offset_commit_request_v5,
    },
    TxnOffsetCommitResponse: {
        0: decode_txn_offset_commit_response_v0,
        1: decode_txn_offset_commit_response_v1,
        2: decode_txn_offset_commit_response_v2,
        3: decode_txn_offset_commit_response_v3,
        4: decode_txn_offset_commit_response_v4,
        5: decode_txn_offset_commit_response_v5,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    TxnOffsetCommitRequest: {
        0: encode_txn_offset_commit_request_v0,
        1: encode_txn_offset_commit_request_v1,
        2: encode_txn_offset_commit_request_v2,
        3: encode_txn_offset_commit_request_v3,
        4: encode_txn_offset_commit_request_v4,
        5: encode_txn_offset_commit_request_v5,
    },
    TxnOffsetCommitResponse: {
        0: encode_txn_offset_commit_response_v0,
        1: encode_txn_offset_commit_response_v1,
        2: encode_txn_offset_commit_response_v2,
        3: encode_txn_offset_commit_response_v3,
        4: encode_txn_offset_commit_response_v4,
        5: encode_txn_offset_commit_response_v5,
    },
}
