"""Codecs of protocol/messages/list_partition_reassignments.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_iB, unpack_ihB
from protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
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

pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_ix = Struct(">ix").pack


def decode_list_partition_reassignments_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ListPartitionReassignmentsRequest, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        limit = 16777216
        timeout_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[ListPartitionReassignmentsTopics] | None
        if n < 0:
            topics = None
        else:
            room -= n * 204
            if room < 0:
                room, limit = verify(ListPartitionReassignmentsRequest, version, buf, start, pos + n, limit - n * 204), 0
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
                    room, limit = verify(ListPartitionReassignmentsRequest, version, buf, start, pos + n, limit - n * 40), 0
                topics_partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                topics.append(ListPartitionReassignmentsTopics(topics_name, topics_partition_indexes))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListPartitionReassignmentsRequest(timeout_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListPartitionReassignmentsRequest, version, buf, start, pos) from None


def encode_list_partition_reassignments_request_v0(msg: ListPartitionReassignmentsRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        topics = msg.topics
        if topics is None:
            out += pack_ix(msg.timeout_ms)
        else:
            n = len(topics) + 1
            if n < 0x80:
                out += pack_iB(msg.timeout_ms, n)
            else:
                out += pack_i(msg.timeout_ms)
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
        raise encode_failure(error, "ListPartitionReassignmentsRequest", version) from error


def decode_list_partition_reassignments_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ListPartitionReassignmentsResponse, int]:
    start = pos
    n: int
    try:
        room = 45728 - 2 * len(buf)
        error_message: str | None
        throttle_time_ms, error_code, n = unpack_ihB(buf, pos)
        if not n:
            error_message = None
            pos += 7
        elif n == 1:
            error_message = ""
            pos += 7
        elif n < 0x80:
            error_message = buf[pos + 7 : (pos := pos + 6 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 6)
            if n:
                n -= 1
                here = pos
                pos = here + n
                error_message = long_text(buf, here, pos)
            else:
                error_message = None
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[OngoingTopicReassignment]
        if n < 0:
            raise BadField("topics")
        room -= n * 204
        if room < 0:
            room = verify(ListPartitionReassignmentsResponse, version, buf, start, pos + n)
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
            topics_partitions: list[OngoingPartitionReassignment]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 312
            if room < 0:
                room = verify(ListPartitionReassignmentsResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_partition_index, n = unpack_iB(buf, pos)
                pos += 5
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_replicas: list[int]
                if n < 0:
                    raise BadField("topics.partitions.replicas")
                room -= n * 40
                if room < 0:
                    room = verify(ListPartitionReassignmentsResponse, version, buf, start, pos + n)
                topics_partitions_replicas = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_adding_replicas: list[int]
                if n < 0:
                    raise BadField("topics.partitions.adding_replicas")
                room -= n * 40
                if room < 0:
                    room = verify(ListPartitionReassignmentsResponse, version, buf, start, pos + n)
                topics_partitions_adding_replicas = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_removing_replicas: list[int]
                if n < 0:
                    raise BadField("topics.partitions.removing_replicas")
                room -= n * 40
                if room < 0:
                    room = verify(ListPartitionReassignmentsResponse, version, buf, start, pos + n)
                topics_partitions_removing_replicas = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                topics_partitions.append(OngoingPartitionReassignment(topics_partitions_partition_index, topics_partitions_replicas, topics_partitions_adding_replicas, topics_partitions_removing_replicas))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(OngoingTopicReassignment(topics_name, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListPartitionReassignmentsResponse(throttle_time_ms, error_code, error_message, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListPartitionReassignmentsResponse, version, buf, start, pos) from None


def encode_list_partition_reassignments_response_v0(msg: ListPartitionReassignmentsResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        text = msg.error_message
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
                topics_partitions_replicas = topics_partitions_item.replicas
                n = len(topics_partitions_replicas) + 1
                if n < 0x80:
                    out += pack_iB(topics_partitions_item.partition_index, n)
                else:
                    out += pack_i(topics_partitions_item.partition_index)
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_replicas) if len(topics_partitions_replicas) == 1 else pack(f">{len(topics_partitions_replicas)}i", *topics_partitions_replicas)
                topics_partitions_adding_replicas = topics_partitions_item.adding_replicas
                n = len(topics_partitions_adding_replicas) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_adding_replicas) if len(topics_partitions_adding_replicas) == 1 else pack(f">{len(topics_partitions_adding_replicas)}i", *topics_partitions_adding_replicas)
                topics_partitions_removing_replicas = topics_partitions_item.removing_replicas
                n = len(topics_partitions_removing_replicas) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_removing_replicas) if len(topics_partitions_removing_replicas) == 1 else pack(f">{len(topics_partitions_removing_replicas)}i", *topics_partitions_removing_replicas)
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListPartitionReassignmentsResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    ListPartitionReassignmentsRequest: {
        0: decode_list_partition_reassignments_request_v0,
    },
    ListPartitionReassignmentsResponse: {
        0: decode_list_partition_reassignments_response_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    ListPartitionReassignmentsRequest: {
        0: encode_list_partition_reassignments_request_v0,
    },
    ListPartitionReassignmentsResponse: {
        0: encode_list_partition_reassignments_response_v0,
    },
}
