"""Codecs of protocol/messages/offset_for_leader_epoch.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_hiiqB, unpack_i, unpack_iB, unpack_ii, unpack_iiiB
from protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
    OffsetForLeaderTopicResult,
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
pack_hiiq = Struct(">hiiq").pack
pack_hiiqx = Struct(">hiiqx").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ii = Struct(">ii").pack
pack_iii = Struct(">iii").pack
pack_iiix = Struct(">iiix").pack
rows_hiiq = Struct(">hiiq").iter_unpack
rows_hiiqx = Struct(">hiiqx").iter_unpack
rows_iii = Struct(">iii").iter_unpack
rows_iiix = Struct(">iiix").iter_unpack


def decode_offset_for_leader_epoch_request_v2(buf: bytes, pos: int, version: int = 2) -> tuple[OffsetForLeaderEpochRequest, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        topics: list[OffsetForLeaderTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room, limit = verify(OffsetForLeaderEpochRequest, version, buf, start, pos + n, limit - n * 192), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topics.topic")
            if n < 0x80:
                topics_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topics_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            topics_partitions: list[OffsetForLeaderPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 120
            if room < 0:
                room, limit = verify(OffsetForLeaderEpochRequest, version, buf, start, pos + n, limit - n * 120), 0
            end = pos + n * 12
            topics_partitions = list(starmap(OffsetForLeaderPartition, rows_iii(buf[pos:end])))
            pos = end
            topics.append(OffsetForLeaderTopic(topics_topic, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return OffsetForLeaderEpochRequest(-2, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetForLeaderEpochRequest, version, buf, start, pos) from None


def decode_offset_for_leader_epoch_request_v3(buf: bytes, pos: int, version: int = 3) -> tuple[OffsetForLeaderEpochRequest, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        limit = 16777216
        replica_id, n = unpack_ii(buf, pos)
        pos += 8
        topics: list[OffsetForLeaderTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room, limit = verify(OffsetForLeaderEpochRequest, version, buf, start, pos + n, limit - n * 192), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topics.topic")
            if n < 0x80:
                topics_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topics_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            topics_partitions: list[OffsetForLeaderPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 120
            if room < 0:
                room, limit = verify(OffsetForLeaderEpochRequest, version, buf, start, pos + n, limit - n * 120), 0
            end = pos + n * 12
            topics_partitions = list(starmap(OffsetForLeaderPartition, rows_iii(buf[pos:end])))
            pos = end
            topics.append(OffsetForLeaderTopic(topics_topic, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return OffsetForLeaderEpochRequest(replica_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetForLeaderEpochRequest, version, buf, start, pos) from None


def decode_offset_for_leader_epoch_request_v4(buf: bytes, pos: int, version: int = 4) -> tuple[OffsetForLeaderEpochRequest, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        limit = 16777216
        replica_id, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[OffsetForLeaderTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 204
        if room < 0:
            room, limit = verify(OffsetForLeaderEpochRequest, version, buf, start, pos + n, limit - n * 204), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            n = buf[pos]
            if 0 < n < 0x80:
                topics_topic = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("topics.topic")
                n -= 1
                here = pos
                pos = here + n
                topics_topic = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[OffsetForLeaderPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 116
            if room < 0:
                room, limit = verify(OffsetForLeaderEpochRequest, version, buf, start, pos + n, limit - n * 116), 0
            end = pos + n * 13
            if buf[pos + 12 : end : 13].count(0) == n:
                topics_partitions = list(starmap(OffsetForLeaderPartition, rows_iiix(buf[pos:end])))
                pos = end
            else:
                topics_partitions = []
                topics_partitions_count = n
                for _ in range(topics_partitions_count):
                    topics_partitions_partition, topics_partitions_current_leader_epoch, topics_partitions_leader_epoch, n = unpack_iiiB(buf, pos)
                    pos += 13
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(OffsetForLeaderPartition(topics_partitions_partition, topics_partitions_current_leader_epoch, topics_partitions_leader_epoch))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(OffsetForLeaderTopic(topics_topic, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return OffsetForLeaderEpochRequest(replica_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetForLeaderEpochRequest, version, buf, start, pos) from None


def encode_offset_for_leader_epoch_request_v2(msg: OffsetForLeaderEpochRequest, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        topics = msg.topics
        out += pack_i(len(topics))
        for topics_item in topics:
            raw = topics_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            out += b"".join([pack_iii(topics_partitions_item.partition, topics_partitions_item.current_leader_epoch, topics_partitions_item.leader_epoch) for topics_partitions_item in topics_partitions])
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetForLeaderEpochRequest", version) from error


def encode_offset_for_leader_epoch_request_v3(msg: OffsetForLeaderEpochRequest, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        topics = msg.topics
        out += pack_ii(msg.replica_id, len(topics))
        for topics_item in topics:
            raw = topics_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            out += b"".join([pack_iii(topics_partitions_item.partition, topics_partitions_item.current_leader_epoch, topics_partitions_item.leader_epoch) for topics_partitions_item in topics_partitions])
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetForLeaderEpochRequest", version) from error


def encode_offset_for_leader_epoch_request_v4(msg: OffsetForLeaderEpochRequest, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out += pack_iB(msg.replica_id, n)
        else:
            out += pack_i(msg.replica_id)
            out += write_uvarint(n)
        for topics_item in topics:
            raw = topics_item.topic.encode()
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
            out += b"".join([pack_iiix(topics_partitions_item.partition, topics_partitions_item.current_leader_epoch, topics_partitions_item.leader_epoch) for topics_partitions_item in topics_partitions])
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetForLeaderEpochRequest", version) from error


def decode_offset_for_leader_epoch_response_v2(buf: bytes, pos: int, version: int = 2) -> tuple[OffsetForLeaderEpochResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        topics: list[OffsetForLeaderTopicResult]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room = verify(OffsetForLeaderEpochResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topics.topic")
            if n < 0x80:
                topics_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topics_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            topics_partitions: list[EpochEndOffset]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 144
            if room < 0:
                room = verify(OffsetForLeaderEpochResponse, version, buf, start, pos + n)
            end = pos + n * 18
            topics_partitions = list(starmap(EpochEndOffset, rows_hiiq(buf[pos:end])))
            pos = end
            topics.append(OffsetForLeaderTopicResult(topics_topic, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return OffsetForLeaderEpochResponse(throttle_time_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetForLeaderEpochResponse, version, buf, start, pos) from None


decode_offset_for_leader_epoch_response_v3 = at_version(decode_offset_for_leader_epoch_response_v2, 3)


def decode_offset_for_leader_epoch_response_v4(buf: bytes, pos: int, version: int = 4) -> tuple[OffsetForLeaderEpochResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[OffsetForLeaderTopicResult]
        if n < 0:
            raise BadField("topics")
        room -= n * 204
        if room < 0:
            room = verify(OffsetForLeaderEpochResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            n = buf[pos]
            if 0 < n < 0x80:
                topics_topic = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("topics.topic")
                n -= 1
                here = pos
                pos = here + n
                topics_topic = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[EpochEndOffset]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 140
            if room < 0:
                room = verify(OffsetForLeaderEpochResponse, version, buf, start, pos + n)
            end = pos + n * 19
            if buf[pos + 18 : end : 19].count(0) == n:
                topics_partitions = list(starmap(EpochEndOffset, rows_hiiqx(buf[pos:end])))
                pos = end
            else:
                topics_partitions = []
                topics_partitions_count = n
                for _ in range(topics_partitions_count):
                    topics_partitions_error_code, topics_partitions_partition, topics_partitions_leader_epoch, topics_partitions_end_offset, n = unpack_hiiqB(buf, pos)
                    pos += 19
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(EpochEndOffset(topics_partitions_error_code, topics_partitions_partition, topics_partitions_leader_epoch, topics_partitions_end_offset))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(OffsetForLeaderTopicResult(topics_topic, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return OffsetForLeaderEpochResponse(throttle_time_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetForLeaderEpochResponse, version, buf, start, pos) from None


def encode_offset_for_leader_epoch_response_v2(msg: OffsetForLeaderEpochResponse, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        topics = msg.topics
        out += pack_ii(msg.throttle_time_ms, len(topics))
        for topics_item in topics:
            raw = topics_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            out += b"".join([pack_hiiq(topics_partitions_item.error_code, topics_partitions_item.partition, topics_partitions_item.leader_epoch, topics_partitions_item.end_offset) for topics_partitions_item in topics_partitions])
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetForLeaderEpochResponse", version) from error


encode_offset_for_leader_epoch_response_v3 = at_version(encode_offset_for_leader_epoch_response_v2, 3)


def encode_offset_for_leader_epoch_response_v4(msg: OffsetForLeaderEpochResponse, out: bytearray, version: int = 4) -> None:
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
            raw = topics_item.topic.encode()
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
            out += b"".join([pack_hiiqx(topics_partitions_item.error_code, topics_partitions_item.partition, topics_partitions_item.leader_epoch, topics_partitions_item.end_offset) for topics_partitions_item in topics_partitions])
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetForLeaderEpochResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    OffsetForLeaderEpochRequest: {
        2: decode_offset_for_leader_epoch_request_v2,
        3: decode_offset_for_leader_epoch_request_v3,
        4: decode_offset_for_leader_epoch_request_v4,
    },
    OffsetForLeaderEpochResponse: {
        2: decode_offset_for_leader_epoch_response_v2,
        3: decode_offset_for_leader_epoch_response_v3,
        4: decode_offset_for_leader_epoch_response_v4,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    OffsetForLeaderEpochRequest: {
        2: encode_offset_for_leader_epoch_request_v2,
        3: encode_offset_for_leader_epoch_request_v3,
        4: encode_offset_for_leader_epoch_request_v4,
    },
    OffsetForLeaderEpochResponse: {
        2: encode_offset_for_leader_epoch_response_v2,
        3: encode_offset_for_leader_epoch_response_v3,
        4: encode_offset_for_leader_epoch_response_v4,
    },
}
