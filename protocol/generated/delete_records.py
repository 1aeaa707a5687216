"""Codecs of protocol/messages/delete_records.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_i, unpack_iB, unpack_ii, unpack_iqB, unpack_iqhB
from protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
    DeleteRecordsTopicResult,
)
from protocol.refusal import BadField, decode_failure, encode_failure, verify
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

pack_h = Struct(">h").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ii = Struct(">ii").pack
pack_iq = Struct(">iq").pack
pack_iqh = Struct(">iqh").pack
pack_iqhx = Struct(">iqhx").pack
pack_iqx = Struct(">iqx").pack
pack_ix = Struct(">ix").pack
rows_iq = Struct(">iq").iter_unpack
rows_iqh = Struct(">iqh").iter_unpack
rows_iqhx = Struct(">iqhx").iter_unpack
rows_iqx = Struct(">iqx").iter_unpack


def decode_delete_records_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DeleteRecordsRequest, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        topics: list[DeleteRecordsTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room, limit = verify(DeleteRecordsRequest, version, buf, start, pos + n, limit - n * 192), 0
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
            topics_partitions: list[DeleteRecordsPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 88
            if room < 0:
                room, limit = verify(DeleteRecordsRequest, version, buf, start, pos + n, limit - n * 88), 0
            end = pos + n * 12
            topics_partitions = list(starmap(DeleteRecordsPartition, rows_iq(buf[pos:end])))
            pos = end
            topics.append(DeleteRecordsTopic(topics_name, topics_partitions))
        (timeout_ms,) = unpack_i(buf, pos)
        pos += 4
        return DeleteRecordsRequest(topics, timeout_ms), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteRecordsRequest, version, buf, start, pos) from None


decode_delete_records_request_v1 = at_version(decode_delete_records_request_v0, 1)


def decode_delete_records_request_v2(buf: bytes, pos: int, version: int = 2) -> tuple[DeleteRecordsRequest, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[DeleteRecordsTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 204
        if room < 0:
            room, limit = verify(DeleteRecordsRequest, version, buf, start, pos + n, limit - n * 204), 0
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
            topics_partitions: list[DeleteRecordsPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 84
            if room < 0:
                room, limit = verify(DeleteRecordsRequest, version, buf, start, pos + n, limit - n * 84), 0
            end = pos + n * 13
            if buf[pos + 12 : end : 13].count(0) == n:
                topics_partitions = list(starmap(DeleteRecordsPartition, rows_iqx(buf[pos:end])))
                pos = end
            else:
                topics_partitions = []
                topics_partitions_count = n
                for _ in range(topics_partitions_count):
                    topics_partitions_partition_index, topics_partitions_offset, n = unpack_iqB(buf, pos)
                    pos += 13
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(DeleteRecordsPartition(topics_partitions_partition_index, topics_partitions_offset))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(DeleteRecordsTopic(topics_name, topics_partitions))
        timeout_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n:
            pos = skip_tags(buf, pos - 1)
        return DeleteRecordsRequest(topics, timeout_ms), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteRecordsRequest, version, buf, start, pos) from None


def encode_delete_records_request_v0(msg: DeleteRecordsRequest, out: bytearray, version: int = 0) -> None:
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
            out += b"".join([pack_iq(topics_partitions_item.partition_index, topics_partitions_item.offset) for topics_partitions_item in topics_partitions])
        out += pack_i(msg.timeout_ms)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteRecordsRequest", version) from error


encode_delete_records_request_v1 = at_version(encode_delete_records_request_v0, 1)


def encode_delete_records_request_v2(msg: DeleteRecordsRequest, out: bytearray, version: int = 2) -> None:
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
            topics_partitions = topics_item.partitions
            n = len(topics_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += b"".join([pack_iqx(topics_partitions_item.partition_index, topics_partitions_item.offset) for topics_partitions_item in topics_partitions])
            out.append(0)
        out += pack_ix(msg.timeout_ms)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteRecordsRequest", version) from error


def decode_delete_records_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DeleteRecordsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        topics: list[DeleteRecordsTopicResult]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room = verify(DeleteRecordsResponse, version, buf, start, pos + n)
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
            topics_partitions: list[DeleteRecordsPartitionResult]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 112
            if room < 0:
                room = verify(DeleteRecordsResponse, version, buf, start, pos + n)
            end = pos + n * 14
            topics_partitions = list(starmap(DeleteRecordsPartitionResult, rows_iqh(buf[pos:end])))
            pos = end
            topics.append(DeleteRecordsTopicResult(topics_name, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return DeleteRecordsResponse(throttle_time_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteRecordsResponse, version, buf, start, pos) from None


decode_delete_records_response_v1 = at_version(decode_delete_records_response_v0, 1)


def decode_delete_records_response_v2(buf: bytes, pos: int, version: int = 2) -> tuple[DeleteRecordsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[DeleteRecordsTopicResult]
        if n < 0:
            raise BadField("topics")
        room -= n * 204
        if room < 0:
            room = verify(DeleteRecordsResponse, version, buf, start, pos + n)
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
            topics_partitions: list[DeleteRecordsPartitionResult]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 108
            if room < 0:
                room = verify(DeleteRecordsResponse, version, buf, start, pos + n)
            end = pos + n * 15
            if buf[pos + 14 : end : 15].count(0) == n:
                topics_partitions = list(starmap(DeleteRecordsPartitionResult, rows_iqhx(buf[pos:end])))
                pos = end
            else:
                topics_partitions = []
                topics_partitions_count = n
                for _ in range(topics_partitions_count):
                    topics_partitions_partition_index, topics_partitions_low_watermark, topics_partitions_error_code, n = unpack_iqhB(buf, pos)
                    pos += 15
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(DeleteRecordsPartitionResult(topics_partitions_partition_index, topics_partitions_low_watermark, topics_partitions_error_code))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(DeleteRecordsTopicResult(topics_name, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DeleteRecordsResponse(throttle_time_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteRecordsResponse, version, buf, start, pos) from None


def encode_delete_records_response_v0(msg: DeleteRecordsResponse, out: bytearray, version: int = 0) -> None:
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
            out += b"".join([pack_iqh(topics_partitions_item.partition_index, topics_partitions_item.low_watermark, topics_partitions_item.error_code) for topics_partitions_item in topics_partitions])
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteRecordsResponse", version) from error


encode_delete_records_response_v1 = at_version(encode_delete_records_response_v0, 1)


def encode_delete_records_response_v2(msg: DeleteRecordsResponse, out: bytearray, version: int = 2) -> None:
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
            out += b"".join([pack_iqhx(topics_partitions_item.partition_index, topics_partitions_item.low_watermark, topics_partitions_item.error_code) for topics_partitions_item in topics_partitions])
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteRecordsResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    DeleteRecordsRequest: {
        0: decode_delete_records_request_v0,
        1: decode_delete_records_request_v1,
        2: decode_delete_records_request_v2,
    },
    DeleteRecordsResponse: {
        0: decode_delete_records_response_v0,
        1: decode_delete_records_response_v1,
        2: decode_delete_records_response_v2,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    DeleteRecordsRequest: {
        0: encode_delete_records_request_v0,
        1: encode_delete_records_request_v1,
        2: encode_delete_records_request_v2,
    },
    DeleteRecordsResponse: {
        0: encode_delete_records_response_v0,
        1: encode_delete_records_response_v1,
        2: encode_delete_records_response_v2,
    },
}
