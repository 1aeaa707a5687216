"""Codecs of protocol/messages/describe_producers.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_iB, unpack_ihB, unpack_qiiqiqB
from protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicRequest,
    TopicResponse,
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
pack_qiiqiqx = Struct(">qiiqiqx").pack
rows_qiiqiqx = Struct(">qiiqiqx").iter_unpack


def decode_describe_producers_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DescribeProducersRequest, int]:
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
        topics: list[TopicRequest]
        if n < 0:
            raise BadField("topics")
        room -= n * 204
        if room < 0:
            room, limit = verify(DescribeProducersRequest, version, buf, start, pos + n, limit - n * 204), 0
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
                room, limit = verify(DescribeProducersRequest, version, buf, start, pos + n, limit - n * 40), 0
            topics_partition_indexes = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(TopicRequest(topics_name, topics_partition_indexes))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeProducersRequest(topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeProducersRequest, version, buf, start, pos) from None


def encode_describe_producers_request_v0(msg: DescribeProducersRequest, out: bytearray, version: int = 0) -> None:
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
        raise encode_failure(error, "DescribeProducersRequest", version) from error


def decode_describe_producers_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DescribeProducersResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[TopicResponse]
        if n < 0:
            raise BadField("topics")
        room -= n * 204
        if room < 0:
            room = verify(DescribeProducersResponse, version, buf, start, pos + n)
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
            topics_partitions: list[PartitionResponse]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 260
            if room < 0:
                room = verify(DescribeProducersResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_error_message: str | None
                topics_partitions_partition_index, topics_partitions_error_code, n = unpack_ihB(buf, pos)
                if not n:
                    topics_partitions_error_message = None
                    pos += 7
                elif n == 1:
                    topics_partitions_error_message = ""
                    pos += 7
                elif n < 0x80:
                    topics_partitions_error_message = buf[pos + 7 : (pos := pos + 6 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 6)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        topics_partitions_error_message = long_text(buf, here, pos)
                    else:
                        topics_partitions_error_message = None
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_active_producers: list[ProducerState]
                if n < 0:
                    raise BadField("topics.partitions.active_producers")
                room -= n * 164
                if room < 0:
                    room = verify(DescribeProducersResponse, version, buf, start, pos + n)
                end = pos + n * 37
                if buf[pos + 36 : end : 37].count(0) == n:
                    topics_partitions_active_producers = list(starmap(ProducerState, rows_qiiqiqx(buf[pos:end])))
                    pos = end
                else:
                    topics_partitions_active_producers = []
                    topics_partitions_active_producers_count = n
                    for _ in range(topics_partitions_active_producers_count):
                        topics_partitions_active_producers_producer_id, topics_partitions_active_producers_producer_epoch, topics_partitions_active_producers_last_sequence, topics_partitions_active_producers_last_timestamp, topics_partitions_active_producers_coordinator_epoch, topics_partitions_active_producers_current_txn_start_offset, n = unpack_qiiqiqB(buf, pos)
                        pos += 37
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        topics_partitions_active_producers.append(ProducerState(topics_partitions_active_producers_producer_id, topics_partitions_active_producers_producer_epoch, topics_partitions_active_producers_last_sequence, topics_partitions_active_producers_last_timestamp, topics_partitions_active_producers_coordinator_epoch, topics_partitions_active_producers_current_txn_start_offset))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                topics_partitions.append(PartitionResponse(topics_partitions_partition_index, topics_partitions_error_code, topics_partitions_error_message, topics_partitions_active_producers))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(TopicResponse(topics_name, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DescribeProducersResponse(throttle_time_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DescribeProducersResponse, version, buf, start, pos) from None


def encode_describe_producers_response_v0(msg: DescribeProducersResponse, out: bytearray, version: int = 0) -> None:
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
            for topics_partitions_item in topics_partitions:
                text = topics_partitions_item.error_message
                if text is None:
                    n, raw = 0, b""
                else:
                    raw = text.encode()
                    n = len(raw) + 1
                if n < 0x80:
                    out += pack_ihB(topics_partitions_item.partition_index, topics_partitions_item.error_code, n)
                else:
                    out += pack_ih(topics_partitions_item.partition_index, topics_partitions_item.error_code)
                    out += write_string_size(n)
                out += raw
                topics_partitions_active_producers = topics_partitions_item.active_producers
                n = len(topics_partitions_active_producers) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += b"".join([pack_qiiqiqx(topics_partitions_active_producers_item.producer_id, topics_partitions_active_producers_item.producer_epoch, topics_partitions_active_producers_item.last_sequence, topics_partitions_active_producers_item.last_timestamp, topics_partitions_active_producers_item.coordinator_epoch, topics_partitions_active_producers_item.current_txn_start_offset) for topics_partitions_active_producers_item in topics_partitions_active_producers])
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DescribeProducersResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    DescribeProducersRequest: {
        0: decode_describe_producers_request_v0,
    },
    DescribeProducersResponse: {
        0: decode_describe_producers_response_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    DescribeProducersRequest: {
        0: encode_describe_producers_request_v0,
    },
    DescribeProducersResponse: {
        0: encode_describe_producers_response_v0,
    },
}
