"""Codecs of protocol/messages/read_share_group_state_summary.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_ihB, unpack_iiB, unpack_iiqB, unpack_iiqiB, unpack_uB
from protocol.messages.read_share_group_state_summary import (
    PartitionData,
    PartitionResult,
    ReadShareGroupStateSummaryRequest,
    ReadShareGroupStateSummaryResponse,
    ReadStateSummaryData,
    ReadStateSummaryResult,
)
from protocol.refusal import BadField, decode_failure, encode_failure, verify
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

SHAPE_1 = Shape("iiqx", 17, Field("ih", 6, 1, True, ""))
SHAPE_2 = Shape("iiqix", 21, Field("ih", 6, 1, True, ""))
pack_u = Struct(">16s").pack
pack_uB = Struct(">16sB").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_ihBiiqix = Struct(">ihBiiqix").pack
pack_ihBiiqx = Struct(">ihBiiqx").pack
pack_iiqix = Struct(">iiqix").pack
pack_iiqx = Struct(">iiqx").pack
pack_iix = Struct(">iix").pack
rows_iix = Struct(">iix").iter_unpack


def decode_read_share_group_state_summary_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ReadShareGroupStateSummaryRequest, int]:
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
        topics: list[ReadStateSummaryData]
        if n < 0:
            raise BadField("topics")
        room -= n * 128
        if room < 0:
            room, limit = verify(ReadShareGroupStateSummaryRequest, version, buf, start, pos + n, limit - n * 128), 0
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
                room, limit = verify(ReadShareGroupStateSummaryRequest, version, buf, start, pos + n, limit - n * 84), 0
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
            topics.append(ReadStateSummaryData(topics_topic_id, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ReadShareGroupStateSummaryRequest(group_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ReadShareGroupStateSummaryRequest, version, buf, start, pos) from None


decode_read_share_group_state_summary_request_v1 = at_version(decode_read_share_group_state_summary_request_v0, 1)


def encode_read_share_group_state_summary_request_v0(msg: ReadShareGroupStateSummaryRequest, out: bytearray, version: int = 0) -> None:
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
        raise encode_failure(error, "ReadShareGroupStateSummaryRequest", version) from error


encode_read_share_group_state_summary_request_v1 = at_version(encode_read_share_group_state_summary_request_v0, 1)


def decode_read_share_group_state_summary_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ReadShareGroupStateSummaryResponse, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        results: list[ReadStateSummaryResult]
        if n < 0:
            raise BadField("results")
        room -= n * 128
        if room < 0:
            room = verify(ReadShareGroupStateSummaryResponse, version, buf, start, pos + n)
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
            room -= n * 248
            if room < 0:
                room = verify(ReadShareGroupStateSummaryResponse, version, buf, start, pos + n)
            results_partitions = []
            results_partitions_left, results_partitions_step = n, 8
            while results_partitions_left:
                results_partitions_count = results_partitions_left
                if results_partitions_left >= 8:
                    run = alike(SHAPE_1, buf, pos, results_partitions_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        results_partitions_left -= n
                        if is_same:
                            results_partitions += [PartitionResult(partition, error_code, absent, state_epoch, leader_epoch, start_offset) for partition, error_code, state_epoch, leader_epoch, start_offset in rows]
                        else:
                            results_partitions += [PartitionResult(partition, error_code, error_message.decode(), state_epoch, leader_epoch, start_offset) for partition, error_code, error_message, state_epoch, leader_epoch, start_offset in rows]
                        continue
                    if results_partitions_step < results_partitions_left:
                        results_partitions_count = results_partitions_step
                    results_partitions_step *= 2
                results_partitions_left -= results_partitions_count
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
                    results_partitions_state_epoch, results_partitions_leader_epoch, results_partitions_start_offset, n = unpack_iiqB(buf, pos)
                    pos += 17
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    results_partitions.append(PartitionResult(results_partitions_partition, results_partitions_error_code, results_partitions_error_message, results_partitions_state_epoch, results_partitions_leader_epoch, results_partitions_start_offset))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            results.append(ReadStateSummaryResult(results_topic_id, results_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ReadShareGroupStateSummaryResponse(results), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ReadShareGroupStateSummaryResponse, version, buf, start, pos) from None


def decode_read_share_group_state_summary_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[ReadShareGroupStateSummaryResponse, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        results: list[ReadStateSummaryResult]
        if n < 0:
            raise BadField("results")
        room -= n * 128
        if room < 0:
            room = verify(ReadShareGroupStateSummaryResponse, version, buf, start, pos + n)
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
            room -= n * 264
            if room < 0:
                room = verify(ReadShareGroupStateSummaryResponse, version, buf, start, pos + n)
            results_partitions = []
            results_partitions_left, results_partitions_step = n, 8
            while results_partitions_left:
                results_partitions_count = results_partitions_left
                if results_partitions_left >= 8:
                    run = alike(SHAPE_2, buf, pos, results_partitions_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        results_partitions_left -= n
                        if is_same:
                            results_partitions += [PartitionResult(partition, error_code, absent, state_epoch, leader_epoch, start_offset, delivery_complete_count) for partition, error_code, state_epoch, leader_epoch, start_offset, delivery_complete_count in rows]
                        else:
                            results_partitions += [PartitionResult(partition, error_code, error_message.decode(), state_epoch, leader_epoch, start_offset, delivery_complete_count) for partition, error_code, error_message, state_epoch, leader_epoch, start_offset, delivery_complete_count in rows]
                        continue
                    if results_partitions_step < results_partitions_left:
                        results_partitions_count = results_partitions_step
                    results_partitions_step *= 2
                results_partitions_left -= results_partitions_count
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
                    results_partitions_state_epoch, results_partitions_leader_epoch, results_partitions_start_offset, results_partitions_delivery_complete_count, n = unpack_iiqiB(buf, pos)
                    pos += 21
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    results_partitions.append(PartitionResult(results_partitions_partition, results_partitions_error_code, results_partitions_error_message, results_partitions_state_epoch, results_partitions_leader_epoch, results_partitions_start_offset, results_partitions_delivery_complete_count))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            results.append(ReadStateSummaryResult(results_topic_id, results_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ReadShareGroupStateSummaryResponse(results), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ReadShareGroupStateSummaryResponse, version, buf, start, pos) from None


def encode_read_share_group_state_summary_response_v0(msg: ReadShareGroupStateSummaryResponse, out: bytearray, version: int = 0) -> None:
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
                if not text:
                    out += pack_ihBiiqx(results_partitions_item.partition, results_partitions_item.error_code, 0 if text is None else 1, results_partitions_item.state_epoch, results_partitions_item.leader_epoch, results_partitions_item.start_offset)
                    continue
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
                out += pack_iiqx(results_partitions_item.state_epoch, results_partitions_item.leader_epoch, results_partitions_item.start_offset)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ReadShareGroupStateSummaryResponse", version) from error


def encode_read_share_group_state_summary_response_v1(msg: ReadShareGroupStateSummaryResponse, out: bytearray, version: int = 1) -> None:
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
                if not text:
                    out += pack_ihBiiqix(results_partitions_item.partition, results_partitions_item.error_code, 0 if text is None else 1, results_partitions_item.state_epoch, results_partitions_item.leader_epoch, results_partitions_item.start_offset, results_partitions_item.delivery_complete_count)
                    continue
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
                out += pack_iiqix(results_partitions_item.state_epoch, results_partitions_item.leader_epoch, results_partitions_item.start_offset, results_partitions_item.delivery_complete_count)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ReadShareGroupStateSummaryResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    ReadShareGroupStateSummaryRequest: {
        0: decode_read_share_group_state_summary_request_v0,
        1: decode_read_share_group_state_summary_request_v1,
    },
    ReadShareGroupStateSummaryResponse: {
        0: decode_read_share_group_state_summary_response_v0,
        1: decode_read_share_group_state_summary_response_v1,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    ReadShareGroupStateSummaryRequest: {
        0: encode_read_share_group_state_summary_request_v0,
        1: encode_read_share_group_state_summary_request_v1,
    },
    ReadShareGroupStateSummaryResponse: {
        0: encode_read_share_group_state_summary_response_v0,
        1: encode_read_share_group_state_summary_response_v1,
    },
}
