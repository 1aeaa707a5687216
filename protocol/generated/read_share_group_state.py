"""Codecs of protocol/messages/read_share_group_state.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_ihB, unpack_iiB, unpack_iqB, unpack_qqbhB, unpack_uB
from protocol.messages.read_share_group_state import (
    PartitionData,
    PartitionResult,
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
    ReadStateData,
    ReadStateResult,
    StateBatch,
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

pack_u = Struct(">16s").pack
pack_uB = Struct(">16sB").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_iix = Struct(">iix").pack
pack_iq = Struct(">iq").pack
pack_iqB = Struct(">iqB").pack
pack_qqbhx = Struct(">qqbhx").pack
rows_iix = Struct(">iix").iter_unpack
rows_qqbhx = Struct(">qqbhx").iter_unpack


def decode_read_share_group_state_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ReadShareGroupStateRequest, int]:
    start = pos
    n: int
    try:
        room = 45808 - 2 * len(buf)
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
        topics: list[ReadStateData]
        if n < 0:
            raise BadField("topics")
        room -= n * 128
        if room < 0:
            room, limit = verify(ReadShareGroupStateRequest, version, buf, start, pos + n, limit - n * 128), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[PartitionData]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 84
            if room < 0:
                room, limit = verify(ReadShareGroupStateRequest, version, buf, start, pos + n, limit - n * 84), 0
            end = pos + n * 9
            if buf[pos + 8 : end : 9].count(0) == n:
                topics_partitions = list(starmap(PartitionData, rows_iix(buf[pos:end])))
                pos = end
            else:
                topics_partitions = []
                topics_partitions_count = n
                for _ in range(topics_partitions_count):
                    topics_partitions_partition, topics_partitions_leader_epoch, n = unpack_iiB(buf, pos)
                    pos += 9
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(PartitionData(topics_partitions_partition, topics_partitions_leader_epoch))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(ReadStateData(topics_topic_id, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ReadShareGroupStateRequest(group_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ReadShareGroupStateRequest, version, buf, start, pos) from None


def encode_read_share_group_state_request_v0(msg: ReadShareGroupStateRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
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
            out += b"".join([pack_iix(topics_partitions_item.partition, topics_partitions_item.leader_epoch) for topics_partitions_item in topics_partitions])
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ReadShareGroupStateRequest", version) from error


def decode_read_share_group_state_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ReadShareGroupStateResponse, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        results: list[ReadStateResult]
        if n < 0:
            raise BadField("results")
        room -= n * 128
        if room < 0:
            room = verify(ReadShareGroupStateResponse, version, buf, start, pos + n)
        results = []
        results_count = n
        for _ in range(results_count):
            results_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            results_partitions: list[PartitionResult]
            if n < 0:
                raise BadField("results.partitions")
            room -= n * 308
            if room < 0:
                room = verify(ReadShareGroupStateResponse, version, buf, start, pos + n)
            results_partitions = []
            results_partitions_count = n
            for _ in range(results_partitions_count):
                results_partitions_error_message: str | None
                results_partitions_partition, results_partitions_error_code, n = unpack_ihB(buf, pos)
                if not n:
                    results_partitions_error_message = None
                    pos += 7
                elif n == 1:
                    results_partitions_error_message = ""
                    pos += 7
                elif n < 0x80:
                    results_partitions_error_message = buf[pos + 7 : (pos := pos + 6 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 6)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        results_partitions_error_message = long_text(buf, here, pos)
                    else:
                        results_partitions_error_message = None
                results_partitions_state_epoch, results_partitions_start_offset, n = unpack_iqB(buf, pos)
                pos += 13
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                results_partitions_state_batches: list[StateBatch]
                if n < 0:
                    raise BadField("results.partitions.state_batches")
                room -= n * 136
                if room < 0:
                    room = verify(ReadShareGroupStateResponse, version, buf, start, pos + n)
                end = pos + n * 20
                if buf[pos + 19 : end : 20].count(0) == n:
                    results_partitions_state_batches = list(starmap(StateBatch, rows_qqbhx(buf[pos:end])))
                    pos = end
                else:
                    results_partitions_state_batches = []
                    results_partitions_state_batches_count = n
                    for _ in range(results_partitions_state_batches_count):
                        results_partitions_state_batches_first_offset, results_partitions_state_batches_last_offset, results_partitions_state_batches_delivery_state, results_partitions_state_batches_delivery_count, n = unpack_qqbhB(buf, pos)
                        pos += 20
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        results_partitions_state_batches.append(StateBatch(results_partitions_state_batches_first_offset, results_partitions_state_batches_last_offset, results_partitions_state_batches_delivery_state, results_partitions_state_batches_delivery_count))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                results_partitions.append(PartitionResult(results_partitions_partition, results_partitions_error_code, results_partitions_error_message, results_partitions_state_epoch, results_partitions_start_offset, results_partitions_state_batches))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            results.append(ReadStateResult(results_topic_id, results_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ReadShareGroupStateResponse(results), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ReadShareGroupStateResponse, version, buf, start, pos) from None


def encode_read_share_group_state_response_v0(msg: ReadShareGroupStateResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        results = msg.results
        n = len(results) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for results_item in results:
            if len(results_item.topic_id) != 16:
                raise BadField("results.topic_id", "a UUID has 16 bytes")
            results_partitions = results_item.partitions
            n = len(results_partitions) + 1
            if n < 0x80:
                out += pack_uB(results_item.topic_id, n)
            else:
                out += pack_u(results_item.topic_id)
                out += write_uvarint(n)
            for results_partitions_item in results_partitions:
                text = results_partitions_item.error_message
                if text is None:
                    n, raw = 0, b""
                else:
                    raw = text.encode()
                    n = len(raw) + 1
                if n < 0x80:
                    out += pack_ihB(results_partitions_item.partition, results_partitions_item.error_code, n)
                else:
                    out += pack_ih(results_partitions_item.partition, results_partitions_item.error_code)
                    out += write_string_size(n)
                out += raw
                results_partitions_state_batches = results_partitions_item.state_batches
                n = len(results_partitions_state_batches) + 1
                if n < 0x80:
                    out += pack_iqB(results_partitions_item.state_epoch, results_partitions_item.start_offset, n)
                else:
                    out += pack_iq(results_partitions_item.state_epoch, results_partitions_item.start_offset)
                    out += write_uvarint(n)
                out += b"".join([pack_qqbhx(results_partitions_state_batches_item.first_offset, results_partitions_state_batches_item.last_offset, results_partitions_state_batches_item.delivery_state, results_partitions_state_batches_item.delivery_count) for results_partitions_state_batches_item in results_partitions_state_batches])
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ReadShareGroupStateResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    ReadShareGroupStateRequest: {
        0: decode_read_share_group_state_request_v0,
    },
    ReadShareGroupStateResponse: {
        0: decode_read_share_group_state_response_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    ReadShareGroupStateRequest: {
        0: encode_read_share_group_state_request_v0,
    },
    ReadShareGroupStateResponse: {
        0: encode_read_share_group_state_response_v0,
    },
}
