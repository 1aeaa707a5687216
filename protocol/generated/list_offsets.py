"""Codecs of protocol/messages/list_offsets.py, generated from it by ``python -m protocol.generate``."""

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
    unpack_ibB,
    unpack_ibi,
    unpack_ihqqiB,
    unpack_ii,
    unpack_iiqB,
)
from protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
    ListOffsetsTopicResponse,
)
from protocol.refusal import BadField, decode_failure, encode_failure, not_in_version, verify
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
pack_ib = Struct(">ib").pack
pack_ibB = Struct(">ibB").pack
pack_ibi = Struct(">ibi").pack
pack_ihqq = Struct(">ihqq").pack
pack_ihqqi = Struct(">ihqqi").pack
pack_ihqqix = Struct(">ihqqix").pack
pack_ii = Struct(">ii").pack
pack_iiq = Struct(">iiq").pack
pack_iiqx = Struct(">iiqx").pack
pack_iq = Struct(">iq").pack
pack_ix = Struct(">ix").pack
rows_ihqq = Struct(">ihqq").iter_unpack
rows_ihqqi = Struct(">ihqqi").iter_unpack
rows_ihqqix = Struct(">ihqqix").iter_unpack
rows_iiq = Struct(">iiq").iter_unpack
rows_iiqx = Struct(">iiqx").iter_unpack
rows_iq = Struct(">iq").iter_unpack


def decode_list_offsets_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[ListOffsetsRequest, int]:
    start = pos
    n: int
    try:
        room = 45840 - 2 * len(buf)
        limit = 16777216
        replica_id, n = unpack_ii(buf, pos)
        pos += 8
        topics: list[ListOffsetsTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room, limit = verify(ListOffsetsRequest, version, buf, start, pos + n, limit - n * 192), 0
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
            topics_partitions: list[ListOffsetsPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 88
            if room < 0:
                room, limit = verify(ListOffsetsRequest, version, buf, start, pos + n, limit - n * 88), 0
            end = pos + n * 12
            topics_partitions = [ListOffsetsPartition(partition_index, -1, timestamp) for partition_index, timestamp in rows_iq(buf[pos:end])]
            pos = end
            topics.append(ListOffsetsTopic(topics_name, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return ListOffsetsRequest(replica_id, 0, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListOffsetsRequest, version, buf, start, pos) from None


def decode_list_offsets_request_v2(buf: bytes, pos: int, version: int = 2) -> tuple[ListOffsetsRequest, int]:
    start = pos
    n: int
    try:
        room = 45808 - 2 * len(buf)
        limit = 16777216
        replica_id, isolation_level, n = unpack_ibi(buf, pos)
        pos += 9
        topics: list[ListOffsetsTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room, limit = verify(ListOffsetsRequest, version, buf, start, pos + n, limit - n * 192), 0
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
            topics_partitions: list[ListOffsetsPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 88
            if room < 0:
                room, limit = verify(ListOffsetsRequest, version, buf, start, pos + n, limit - n * 88), 0
            end = pos + n * 12
            topics_partitions = [ListOffsetsPartition(partition_index, -1, timestamp) for partition_index, timestamp in rows_iq(buf[pos:end])]
            pos = end
            topics.append(ListOffsetsTopic(topics_name, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return ListOffsetsRequest(replica_id, isolation_level, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListOffsetsRequest, version, buf, start, pos) from None


decode_list_offsets_request_v3 = at_version(decode_list_offsets_request_v2, 3)


def decode_list_offsets_request_v4(buf: bytes, pos: int, version: int = 4) -> tuple[ListOffsetsRequest, int]:
    start = pos
    n: int
    try:
        room = 45808 - 2 * len(buf)
        limit = 16777216
        replica_id, isolation_level, n = unpack_ibi(buf, pos)
        pos += 9
        topics: list[ListOffsetsTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room, limit = verify(ListOffsetsRequest, version, buf, start, pos + n, limit - n * 192), 0
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
            topics_partitions: list[ListOffsetsPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 104
            if room < 0:
                room, limit = verify(ListOffsetsRequest, version, buf, start, pos + n, limit - n * 104), 0
            end = pos + n * 16
            topics_partitions = list(starmap(ListOffsetsPartition, rows_iiq(buf[pos:end])))
            pos = end
            topics.append(ListOffsetsTopic(topics_name, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return ListOffsetsRequest(replica_id, isolation_level, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListOffsetsRequest, version, buf, start, pos) from None


decode_list_offsets_request_v5 = at_version(decode_list_offsets_request_v4, 5)


def decode_list_offsets_request_v6(buf: bytes, pos: int, version: int = 6) -> tuple[ListOffsetsRequest, int]:
    start = pos
    n: int
    try:
        room = 45808 - 2 * len(buf)
        limit = 16777216
        replica_id, isolation_level, n = unpack_ibB(buf, pos)
        pos += 6
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[ListOffsetsTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 204
        if room < 0:
            room, limit = verify(ListOffsetsRequest, version, buf, start, pos + n, limit - n * 204), 0
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
            topics_partitions: list[ListOffsetsPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 100
            if room < 0:
                room, limit = verify(ListOffsetsRequest, version, buf, start, pos + n, limit - n * 100), 0
            end = pos + n * 17
            if buf[pos + 16 : end : 17].count(0) == n:
                topics_partitions = list(starmap(ListOffsetsPartition, rows_iiqx(buf[pos:end])))
                pos = end
            else:
                topics_partitions = []
                topics_partitions_count = n
                for _ in range(topics_partitions_count):
                    topics_partitions_partition_index, topics_partitions_current_leader_epoch, topics_partitions_timestamp, n = unpack_iiqB(buf, pos)
                    pos += 17
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(ListOffsetsPartition(topics_partitions_partition_index, topics_partitions_current_leader_epoch, topics_partitions_timestamp))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(ListOffsetsTopic(topics_name, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListOffsetsRequest(replica_id, isolation_level, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListOffsetsRequest, version, buf, start, pos) from None


decode_list_offsets_request_v7 = at_version(decode_list_offsets_request_v6, 7)


decode_list_offsets_request_v8 = at_version(decode_list_offsets_request_v6, 8)


decode_list_offsets_request_v9 = at_version(decode_list_offsets_request_v6, 9)


def decode_list_offsets_request_v10(buf: bytes, pos: int, version: int = 10) -> tuple[ListOffsetsRequest, int]:
    start = pos
    n: int
    try:
        room = 45776 - 2 * len(buf)
        limit = 16777216
        replica_id, isolation_level, n = unpack_ibB(buf, pos)
        pos += 6
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[ListOffsetsTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 204
        if room < 0:
            room, limit = verify(ListOffsetsRequest, version, buf, start, pos + n, limit - n * 204), 0
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
            topics_partitions: list[ListOffsetsPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 100
            if room < 0:
                room, limit = verify(ListOffsetsRequest, version, buf, start, pos + n, limit - n * 100), 0
            end = pos + n * 17
            if buf[pos + 16 : end : 17].count(0) == n:
                topics_partitions = list(starmap(ListOffsetsPartition, rows_iiqx(buf[pos:end])))
                pos = end
            else:
                topics_partitions = []
                topics_partitions_count = n
                for _ in range(topics_partitions_count):
                    topics_partitions_partition_index, topics_partitions_current_leader_epoch, topics_partitions_timestamp, n = unpack_iiqB(buf, pos)
                    pos += 17
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(ListOffsetsPartition(topics_partitions_partition_index, topics_partitions_current_leader_epoch, topics_partitions_timestamp))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(ListOffsetsTopic(topics_name, topics_partitions))
        timeout_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListOffsetsRequest(replica_id, isolation_level, topics, timeout_ms), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListOffsetsRequest, version, buf, start, pos) from None


decode_list_offsets_request_v11 = at_version(decode_list_offsets_request_v10, 11)


def encode_list_offsets_request_v1(msg: ListOffsetsRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        if msg.isolation_level:
            raise not_in_version("isolation_level")
        topics = msg.topics
        out += pack_ii(msg.replica_id, len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            out += b"".join([pack_iq(topics_partitions_item.partition_index, topics_partitions_item.timestamp) for topics_partitions_item in topics_partitions])
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListOffsetsRequest", version) from error


def encode_list_offsets_request_v2(msg: ListOffsetsRequest, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        topics = msg.topics
        out += pack_ibi(msg.replica_id, msg.isolation_level, len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            out += b"".join([pack_iq(topics_partitions_item.partition_index, topics_partitions_item.timestamp) for topics_partitions_item in topics_partitions])
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListOffsetsRequest", version) from error


encode_list_offsets_request_v3 = at_version(encode_list_offsets_request_v2, 3)


def encode_list_offsets_request_v4(msg: ListOffsetsRequest, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        topics = msg.topics
        out += pack_ibi(msg.replica_id, msg.isolation_level, len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            out += b"".join([pack_iiq(topics_partitions_item.partition_index, topics_partitions_item.current_leader_epoch, topics_partitions_item.timestamp) for topics_partitions_item in topics_partitions])
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListOffsetsRequest", version) from error


encode_list_offsets_request_v5 = at_version(encode_list_offsets_request_v4, 5)


def encode_list_offsets_request_v6(msg: ListOffsetsRequest, out: bytearray, version: int = 6) -> None:
    start = len(out)
    try:
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out += pack_ibB(msg.replica_id, msg.isolation_level, n)
        else:
            out += pack_ib(msg.replica_id, msg.isolation_level)
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
            out += b"".join([pack_iiqx(topics_partitions_item.partition_index, topics_partitions_item.current_leader_epoch, topics_partitions_item.timestamp) for topics_partitions_item in topics_partitions])
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListOffsetsRequest", version) from error


encode_list_offsets_request_v7 = at_version(encode_list_offsets_request_v6, 7)


encode_list_offsets_request_v8 = at_version(encode_list_offsets_request_v6, 8)


encode_list_offsets_request_v9 = at_version(encode_list_offsets_request_v6, 9)


def encode_list_offsets_request_v10(msg: ListOffsetsRequest, out: bytearray, version: int = 10) -> None:
    start = len(out)
    try:
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out += pack_ibB(msg.replica_id, msg.isolation_level, n)
        else:
            out += pack_ib(msg.replica_id, msg.isolation_level)
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
            out += b"".join([pack_iiqx(topics_partitions_item.partition_index, topics_partitions_item.current_leader_epoch, topics_partitions_item.timestamp) for topics_partitions_item in topics_partitions])
            out.append(0)
        out += pack_ix(msg.timeout_ms)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListOffsetsRequest", version) from error


encode_list_offsets_request_v11 = at_version(encode_list_offsets_request_v10, 11)


def decode_list_offsets_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[ListOffsetsResponse, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        (n,) = unpack_i(buf, pos)
        pos += 4
        topics: list[ListOffsetsTopicResponse]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room = verify(ListOffsetsResponse, version, buf, start, pos + n)
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
            topics_partitions: list[ListOffsetsPartitionResponse]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 144
            if room < 0:
                room = verify(ListOffsetsResponse, version, buf, start, pos + n)
            end = pos + n * 22
            topics_partitions = list(starmap(ListOffsetsPartitionResponse, rows_ihqq(buf[pos:end])))
            pos = end
            topics.append(ListOffsetsTopicResponse(topics_name, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return ListOffsetsResponse(0, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListOffsetsResponse, version, buf, start, pos) from None


def decode_list_offsets_response_v2(buf: bytes, pos: int, version: int = 2) -> tuple[ListOffsetsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        topics: list[ListOffsetsTopicResponse]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room = verify(ListOffsetsResponse, version, buf, start, pos + n)
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
            topics_partitions: list[ListOffsetsPartitionResponse]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 144
            if room < 0:
                room = verify(ListOffsetsResponse, version, buf, start, pos + n)
            end = pos + n * 22
            topics_partitions = list(starmap(ListOffsetsPartitionResponse, rows_ihqq(buf[pos:end])))
            pos = end
            topics.append(ListOffsetsTopicResponse(topics_name, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return ListOffsetsResponse(throttle_time_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListOffsetsResponse, version, buf, start, pos) from None


decode_list_offsets_response_v3 = at_version(decode_list_offsets_response_v2, 3)


def decode_list_offsets_response_v4(buf: bytes, pos: int, version: int = 4) -> tuple[ListOffsetsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        topics: list[ListOffsetsTopicResponse]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room = verify(ListOffsetsResponse, version, buf, start, pos + n)
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
            topics_partitions: list[ListOffsetsPartitionResponse]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 160
            if room < 0:
                room = verify(ListOffsetsResponse, version, buf, start, pos + n)
            end = pos + n * 26
            topics_partitions = list(starmap(ListOffsetsPartitionResponse, rows_ihqqi(buf[pos:end])))
            pos = end
            topics.append(ListOffsetsTopicResponse(topics_name, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return ListOffsetsResponse(throttle_time_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListOffsetsResponse, version, buf, start, pos) from None


decode_list_offsets_response_v5 = at_version(decode_list_offsets_response_v4, 5)


def decode_list_offsets_response_v6(buf: bytes, pos: int, version: int = 6) -> tuple[ListOffsetsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[ListOffsetsTopicResponse]
        if n < 0:
            raise BadField("topics")
        room -= n * 204
        if room < 0:
            room = verify(ListOffsetsResponse, version, buf, start, pos + n)
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
            topics_partitions: list[ListOffsetsPartitionResponse]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 156
            if room < 0:
                room = verify(ListOffsetsResponse, version, buf, start, pos + n)
            end = pos + n * 27
            if buf[pos + 26 : end : 27].count(0) == n:
                topics_partitions = list(starmap(ListOffsetsPartitionResponse, rows_ihqqix(buf[pos:end])))
                pos = end
            else:
                topics_partitions = []
                topics_partitions_count = n
                for _ in range(topics_partitions_count):
                    topics_partitions_partition_index, topics_partitions_error_code, topics_partitions_timestamp, topics_partitions_offset, topics_partitions_leader_epoch, n = unpack_ihqqiB(buf, pos)
                    pos += 27
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(ListOffsetsPartitionResponse(topics_partitions_partition_index, topics_partitions_error_code, topics_partitions_timestamp, topics_partitions_offset, topics_partitions_leader_epoch))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(ListOffsetsTopicResponse(topics_name, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ListOffsetsResponse(throttle_time_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ListOffsetsResponse, version, buf, start, pos) from None


decode_list_offsets_response_v7 = at_version(decode_list_offsets_response_v6, 7)


decode_list_offsets_response_v8 = at_version(decode_list_offsets_response_v6, 8)


decode_list_offsets_response_v9 = at_version(decode_list_offsets_response_v6, 9)


decode_list_offsets_response_v10 = at_version(decode_list_offsets_response_v6, 10)


decode_list_offsets_response_v11 = at_version(decode_list_offsets_response_v6, 11)


def encode_list_offsets_response_v1(msg: ListOffsetsResponse, out: bytearray, version: int = 1) -> None:
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
            for topics_partitions_item in topics_partitions:
                if topics_partitions_item.leader_epoch != -1:
                    raise not_in_version("topics.partitions.leader_epoch")
                out += pack_ihqq(topics_partitions_item.partition_index, topics_partitions_item.error_code, topics_partitions_item.timestamp, topics_partitions_item.offset)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListOffsetsResponse", version) from error


def encode_list_offsets_response_v2(msg: ListOffsetsResponse, out: bytearray, version: int = 2) -> None:
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
            for topics_partitions_item in topics_partitions:
                if topics_partitions_item.leader_epoch != -1:
                    raise not_in_version("topics.partitions.leader_epoch")
                out += pack_ihqq(topics_partitions_item.partition_index, topics_partitions_item.error_code, topics_partitions_item.timestamp, topics_partitions_item.offset)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListOffsetsResponse", version) from error


encode_list_offsets_response_v3 = at_version(encode_list_offsets_response_v2, 3)


def encode_list_offsets_response_v4(msg: ListOffsetsResponse, out: bytearray, version: int = 4) -> None:
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
            out += b"".join([pack_ihqqi(topics_partitions_item.partition_index, topics_partitions_item.error_code, topics_partitions_item.timestamp, topics_partitions_item.offset, topics_partitions_item.leader_epoch) for topics_partitions_item in topics_partitions])
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListOffsetsResponse", version) from error


encode_list_offsets_response_v5 = at_version(encode_list_offsets_response_v4, 5)


def encode_list_offsets_response_v6(msg: ListOffsetsResponse, out: bytearray, version: int = 6) -> None:
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
            out += b"".join([pack_ihqqix(topics_partitions_item.partition_index, topics_partitions_item.error_code, topics_partitions_item.timestamp, topics_partitions_item.offset, topics_partitions_item.leader_epoch) for topics_partitions_item in topics_partitions])
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ListOffsetsResponse", version) from error


encode_list_offsets_response_v7 = at_version(encode_list_offsets_response_v6, 7)


encode_list_offsets_response_v8 = at_version(encode_list_offsets_response_v6, 8)


encode_list_offsets_response_v9 = at_version(encode_list_offsets_response_v6, 9)


encode_list_offsets_response_v10 = at_version(encode_list_offsets_response_v6, 10)


encode_list_offsets_response_v11 = at_version(encode_list_offsets_response_v6, 11)


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    ListOffsetsRequest: {
        1: decode_list_offsets_request_v1,
        2: decode_list_offsets_request_v2,
        3: decode_list_offsets_request_v3,
        4: decode_list_offsets_request_v4,
        5: decode_list_offsets_request_v5,
        6: decode_list_offsets_request_v6,
        7: decode_list_offsets_request_v7,
        8: decode_list_offsets_request_v8,
        9: decode_list_offsets_request_v9,
        10: decode_list_offsets_request_v10,
        11: decode_list_offsets_request_v11,
    },
    ListOffsetsResponse: {
        1: decode_list_offsets_response_v1,
        2: decode_list_offsets_response_v2,
        3: decode_list_offsets_response_v3,
        4: decode_list_offsets_response_v4,
        5: decode_list_offsets_response_v5,
        6: decode_list_offsets_response_v6,
        7: decode_list_offsets_response_v7,
        8: decode_list_offsets_response_v8,
        9: decode_list_offsets_response_v9,
        10: decode_list_offsets_response_v10,
        11: decode_list_offsets_response_v11,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    ListOffsetsRequest: {
        1: encode_list_offsets_request_v1,
        2: encode_list_offsets_request_v2,
        3: encode_list_offsets_request_v3,
        4: encode_list_offsets_request_v4,
        5: encode_list_offsets_request_v5,
        6: encode_list_offsets_request_v6,
        7: encode_list_offsets_request_v7,
        8: encode_list_offsets_request_v8,
        9: encode_list_offsets_request_v9,
        10: encode_list_offsets_request_v10,
        11: encode_list_offsets_request_v11,
    },
    ListOffsetsResponse: {
        1: encode_list_offsets_response_v1,
        2: encode_list_offsets_response_v2,
        3: encode_list_offsets_response_v3,
        4: encode_list_offsets_response_v4,
        5: encode_list_offsets_response_v5,
        6: encode_list_offsets_response_v6,
        7: encode_list_offsets_response_v7,
        8: encode_list_offsets_response_v8,
        9: encode_list_offsets_response_v9,
        10: encode_list_offsets_response_v10,
        11: encode_list_offsets_response_v11,
    },
}
