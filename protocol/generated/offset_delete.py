"""Codecs of protocol/messages/offset_delete.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_hii, unpack_i
from protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from protocol.refusal import BadField, decode_failure, encode_failure, verify
from protocol.wire import DECODE_ERRORS, ENCODE_ERRORS, long_text

pack_h = Struct(">h").pack
pack_hii = Struct(">hii").pack
pack_i = Struct(">i").pack
pack_ih = Struct(">ih").pack
rows_i = Struct(">i").iter_unpack
rows_ih = Struct(">ih").iter_unpack


def decode_offset_delete_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[OffsetDeleteRequest, int]:
    start = pos
    n: int
    try:
        room = 45808 - 2 * len(buf)
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
        topics: list[OffsetDeleteRequestTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room, limit = verify(OffsetDeleteRequest, version, buf, start, pos + n, limit - n * 192), 0
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
            topics_partitions: list[OffsetDeleteRequestPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 72
            if room < 0:
                room, limit = verify(OffsetDeleteRequest, version, buf, start, pos + n, limit - n * 72), 0
            end = pos + n * 4
            topics_partitions = list(starmap(OffsetDeleteRequestPartition, rows_i(buf[pos:end])))
            pos = end
            topics.append(OffsetDeleteRequestTopic(topics_name, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return OffsetDeleteRequest(group_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetDeleteRequest, version, buf, start, pos) from None


def encode_offset_delete_request_v0(msg: OffsetDeleteRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        topics = msg.topics
        out += pack_i(len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            out += b"".join([pack_i(topics_partitions_item.partition_index) for topics_partitions_item in topics_partitions])
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetDeleteRequest", version) from error


def decode_offset_delete_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[OffsetDeleteResponse, int]:
    start = pos
    n: int
    try:
        room = 45808 - 2 * len(buf)
        error_code, throttle_time_ms, n = unpack_hii(buf, pos)
        pos += 10
        topics: list[OffsetDeleteResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 192
        if room < 0:
            room = verify(OffsetDeleteResponse, version, buf, start, pos + n)
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
            topics_partitions: list[OffsetDeleteResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 96
            if room < 0:
                room = verify(OffsetDeleteResponse, version, buf, start, pos + n)
            end = pos + n * 6
            topics_partitions = list(starmap(OffsetDeleteResponsePartition, rows_ih(buf[pos:end])))
            pos = end
            topics.append(OffsetDeleteResponseTopic(topics_name, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return OffsetDeleteResponse(error_code, throttle_time_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, OffsetDeleteResponse, version, buf, start, pos) from None


def encode_offset_delete_response_v0(msg: OffsetDeleteResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        topics = msg.topics
        out += pack_hii(msg.error_code, msg.throttle_time_ms, len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            out += b"".join([pack_ih(topics_partitions_item.partition_index, topics_partitions_item.error_code) for topics_partitions_item in topics_partitions])
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "OffsetDeleteResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    OffsetDeleteRequest: {
        0: decode_offset_delete_request_v0,
    },
    OffsetDeleteResponse: {
        0: decode_offset_delete_response_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    OffsetDeleteRequest: {
        0: encode_offset_delete_request_v0,
    },
    OffsetDeleteResponse: {
        0: encode_offset_delete_response_v0,
    },
}
