"""Codecs of protocol/messages/describe_topic_partitions.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_b, unpack_hB, unpack_hiiiB, unpack_iB, unpack_ib, unpack_uzB
from protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    TopicRequest,
)
from protocol.refusal import BadField, decode_failure, encode_failure, verify
from protocol.runs import RUNS_OF_TEXT, Field, Shape, alike
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

SHAPE_1 = Shape("x", 1, Field("", 0, 1, False, ""))
pack_uz = Struct(">16s?").pack
pack_uzB = Struct(">16s?B").pack
pack_b = Struct(">b").pack
pack_bB = Struct(">bB").pack
pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_hiii = Struct(">hiii").pack
pack_hiiiB = Struct(">hiiiB").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ib = Struct(">ib").pack
pack_ibB = Struct(">ibB").pack
pack_ix = Struct(">ix").pack


def decode_describe_topic_partitions_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DescribeTopicPartitionsRequest, int]:
    start = pos
    n: int
    try:
        room = 45696 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[TopicRequest]
        if n < 0:
            raise BadField("topics")
        room -= n * 128
        if room < 0:
            room, limit = verify(DescribeTopicPartitionsRequest, version, buf, start, pos + n, limit - n * 128), 0
        topics = []
        topics_left, topics_step = n, 8
        while topics_left:
            topics_count = topics_left
            if topics_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, topics_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    topics_left -= n
                    if is_same and absent == "":
                        topics += starmap(TopicRequest, rows)
                        continue
                    if is_same:
                        topics += [TopicRequest(absent) for _ in rows]
                    else:
                        topics += [TopicRequest(name.decode()) for name, in rows]
                    continue
                if topics_step < topics_left:
                    topics_count = topics_step
                topics_step *= 2
            topics_left -= topics_count
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
                if n:
                    pos = skip_tags(buf, pos - 1)
                topics.append(TopicRequest(topics_name))
        response_partition_limit, n = unpack_ib(buf, pos)
        pos += 5
        cursor: Cursor | None = None
        if n >= 0:
            n = buf[pos]
            if 0 < n < 0x80:
                cursor_topic_name = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("cursor.topic_name")
                n -= 1
                here = pos
                pos = here + n
                cursor_topic_name = long_text(buf, here, pos)
            cursor_partition_index, n = unpack_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos - 1)
            cursor = Cursor(cursor_topic_name, cursor_partition_index)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeTopicPartitionsRequest(topics, response_partition_limit, cursor), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeTopicPartitionsRequest, version, buf, start, pos) from None


def encode_describe_topic_partitions_request_v0(msg: DescribeTopicPartitionsRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
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
            out.append(0)
        cursor = msg.cursor
        if cursor is None:
            out += pack_ib(msg.response_partition_limit, -1)
        else:
            raw = cursor.topic_name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_ibB(msg.response_partition_limit, 1, n)
            else:
                out += pack_ib(msg.response_partition_limit, 1)
                out += write_string_size(n)
            out += raw
            out += pack_ix(cursor.partition_index)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeTopicPartitionsRequest", version) from error


def decode_describe_topic_partitions_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DescribeTopicPartitionsResponse, int]:
    start = pos
    n: int
    try:
        room = 45696 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[DescribeTopicPartitionsResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 272
        if room < 0:
            room = verify(DescribeTopicPartitionsResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_name: str | None
            topics_error_code, n = unpack_hB(buf, pos)
            if not n:
                topics_name = None
                pos += 3
            elif n == 1:
                topics_name = ""
                pos += 3
            elif n < 0x80:
                topics_name = buf[pos + 3 : (pos := pos + 2 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 2)
                if n:
                    n -= 1
                    here = pos
                    pos = here + n
                    topics_name = long_text(buf, here, pos)
                else:
                    topics_name = None
            topics_topic_id, topics_is_internal, n = unpack_uzB(buf, pos)
            pos += 18
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[DescribeTopicPartitionsResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 568
            if room < 0:
                room = verify(DescribeTopicPartitionsResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, topics_partitions_leader_epoch, n = unpack_hiiiB(buf, pos)
                pos += 15
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_replica_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.replica_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(DescribeTopicPartitionsResponse, version, buf, start, pos + n)
                topics_partitions_replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_isr_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.isr_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(DescribeTopicPartitionsResponse, version, buf, start, pos + n)
                topics_partitions_isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_eligible_leader_replicas: list[int] | None
                if n < 0:
                    topics_partitions_eligible_leader_replicas = None
                else:
                    room -= n * 40
                    if room < 0:
                        room = verify(DescribeTopicPartitionsResponse, version, buf, start, pos + n)
                    topics_partitions_eligible_leader_replicas = list(unpack_from(f">{n}i", buf, pos))
                    pos += n * 4
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_last_known_elr: list[int] | None
                if n < 0:
                    topics_partitions_last_known_elr = None
                else:
                    room -= n * 40
                    if room < 0:
                        room = verify(DescribeTopicPartitionsResponse, version, buf, start, pos + n)
                    topics_partitions_last_known_elr = list(unpack_from(f">{n}i", buf, pos))
                    pos += n * 4
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_offline_replicas: list[int]
                if n < 0:
                    raise BadField("topics.partitions.offline_replicas")
                room -= n * 40
                if room < 0:
                    room = verify(DescribeTopicPartitionsResponse, version, buf, start, pos + n)
                topics_partitions_offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                topics_partitions.append(DescribeTopicPartitionsResponsePartition(topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, topics_partitions_leader_epoch, topics_partitions_replica_nodes, topics_partitions_isr_nodes, topics_partitions_eligible_leader_replicas, topics_partitions_last_known_elr, topics_partitions_offline_replicas))
            topics_topic_authorized_operations, n = unpack_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(DescribeTopicPartitionsResponseTopic(topics_error_code, topics_name, topics_topic_id, topics_is_internal, topics_partitions, topics_topic_authorized_operations))
        (n,) = unpack_b(buf, pos)
        pos += 1
        next_cursor: Cursor | None = None
        if n >= 0:
            n = buf[pos]
            if 0 < n < 0x80:
                next_cursor_topic_name = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("next_cursor.topic_name")
                n -= 1
                here = pos
                pos = here + n
                next_cursor_topic_name = long_text(buf, here, pos)
            next_cursor_partition_index, n = unpack_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos - 1)
            next_cursor = Cursor(next_cursor_topic_name, next_cursor_partition_index)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeTopicPartitionsResponse(throttle_time_ms, topics, next_cursor), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeTopicPartitionsResponse, version, buf, start, pos) from None


def encode_describe_topic_partitions_response_v0(msg: DescribeTopicPartitionsResponse, out: bytearray, version: int = 0) -> None:
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
            text = topics_item.name
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_hB(topics_item.error_code, n)
            else:
                out += pack_h(topics_item.error_code)
                out += write_string_size(n)
            out += raw
            if len(topics_item.topic_id) != 16:
                raise BadField("topics.topic_id", "a UUID has 16 bytes")
            topics_partitions = topics_item.partitions
            n = len(topics_partitions) + 1
            if n < 0x80:
                out += pack_uzB(topics_item.topic_id, topics_item.is_internal, n)
            else:
                out += pack_uz(topics_item.topic_id, topics_item.is_internal)
                out += write_uvarint(n)
            for topics_partitions_item in topics_partitions:
                topics_partitions_replica_nodes = topics_partitions_item.replica_nodes
                n = len(topics_partitions_replica_nodes) + 1
                if n < 0x80:
                    out += pack_hiiiB(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, topics_partitions_item.leader_epoch, n)
                else:
                    out += pack_hiii(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, topics_partitions_item.leader_epoch)
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_replica_nodes) if len(topics_partitions_replica_nodes) == 1 else pack(f">{len(topics_partitions_replica_nodes)}i", *topics_partitions_replica_nodes)
                topics_partitions_isr_nodes = topics_partitions_item.isr_nodes
                n = len(topics_partitions_isr_nodes) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_isr_nodes) if len(topics_partitions_isr_nodes) == 1 else pack(f">{len(topics_partitions_isr_nodes)}i", *topics_partitions_isr_nodes)
                topics_partitions_eligible_leader_replicas = topics_partitions_item.eligible_leader_replicas
                if topics_partitions_eligible_leader_replicas is None:
                    out.append(0)
                else:
                    n = len(topics_partitions_eligible_leader_replicas) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += pack_i(*topics_partitions_eligible_leader_replicas) if len(topics_partitions_eligible_leader_replicas) == 1 else pack(f">{len(topics_partitions_eligible_leader_replicas)}i", *topics_partitions_eligible_leader_replicas)
                topics_partitions_last_known_elr = topics_partitions_item.last_known_elr
                if topics_partitions_last_known_elr is None:
                    out.append(0)
                else:
                    n = len(topics_partitions_last_known_elr) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += pack_i(*topics_partitions_last_known_elr) if len(topics_partitions_last_known_elr) == 1 else pack(f">{len(topics_partitions_last_known_elr)}i", *topics_partitions_last_known_elr)
                topics_partitions_offline_replicas = topics_partitions_item.offline_replicas
                n = len(topics_partitions_offline_replicas) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_offline_replicas) if len(topics_partitions_offline_replicas) == 1 else pack(f">{len(topics_partitions_offline_replicas)}i", *topics_partitions_offline_replicas)
                out.append(0)
            out += pack_ix(topics_item.topic_authorized_operations)
        next_cursor = msg.next_cursor
        if next_cursor is None:
            out += pack_b(-1)
        else:
            raw = next_cursor.topic_name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_bB(1, n)
            else:
                out += pack_b(1)
                out += write_string_size(n)
            out += raw
            out += pack_ix(next_cursor.partition_index)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeTopicPartitionsResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    DescribeTopicPartitionsRequest: {
        0: decode_describe_topic_partitions_request_v0,
    },
    DescribeTopicPartitionsResponse: {
        0: decode_describe_topic_partitions_response_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    DescribeTopicPartitionsRequest: {
        0: encode_describe_topic_partitions_request_v0,
    },
    DescribeTopicPartitionsResponse: {
        0: encode_describe_topic_partitions_response_v0,
    },
}
