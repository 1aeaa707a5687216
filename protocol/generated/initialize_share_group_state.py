"""Codecs of protocol/messages/initialize_share_group_state.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_ihB, unpack_iiqB, unpack_uB
from protocol.messages.initialize_share_group_state import (
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
    InitializeStateData,
    InitializeStateResult,
    PartitionData,
    PartitionResult,
)
from protocol.refusal import BadField, decode_failure, encode_failure, verify
from protocol.runs import Field, Shape, alike
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

SHAPE_1 = Shape("x", 1, Field("ih", 6, 1, True, ""))
pack_u = Struct(">16s").pack
pack_uB = Struct(">16sB").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_ihBx = Struct(">ihBx").pack
pack_iiqx = Struct(">iiqx").pack
rows_iiqx = Struct(">iiqx").iter_unpack


def decode_initialize_share_group_state_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[InitializeShareGroupStateRequest, int]:
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
        topics: list[InitializeStateData]
        if n < 0:
            raise BadField("topics")
        room -= n * 128
        if room < 0:
            room, limit = verify(InitializeShareGroupStateRequest, version, buf, start, pos + n, limit - n * 128), 0
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
            room -= n * 100
            if room < 0:
                room, limit = verify(InitializeShareGroupStateRequest, version, buf, start, pos + n, limit - n * 100), 0
            end = pos + n * 17
            if buf[pos + 16 : end : 17].count(0) == n:
                topics_partitions = list(starmap(PartitionData, rows_iiqx(buf[pos:end])))
                pos = end
            else:
                topics_partitions = []
                topics_partitions_count = n
                for _ in range(topics_partitions_count):
                    topics_partitions_partition, topics_partitions_state_epoch, topics_partitions_start_offset, n = unpack_iiqB(buf, pos)
                    pos += 17
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(PartitionData(topics_partitions_partition, topics_partitions_state_epoch, topics_partitions_start_offset))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(InitializeStateData(topics_topic_id, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return InitializeShareGroupStateRequest(group_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, InitializeShareGroupStateRequest, version, buf, start, pos) from None


def encode_initialize_share_group_state_request_v0(msg: InitializeShareGroupStateRequest, out: bytearray, version: int = 0) -> None:
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
            out += b"".join([pack_iiqx(topics_partitions_item.partition, topics_partitions_item.state_epoch, topics_partitions_item.start_offset) for topics_partitions_item in topics_partitions])
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "InitializeShareGroupStateRequest", version) from error


def decode_initialize_share_group_state_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[InitializeShareGroupStateResponse, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        results: list[InitializeStateResult]
        if n < 0:
            raise BadField("results")
        room -= n * 128
        if room < 0:
            room = verify(InitializeShareGroupStateResponse, version, buf, start, pos + n)
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
            room -= n * 184
            if room < 0:
                room = verify(InitializeShareGroupStateResponse, version, buf, start, pos + n)
            results_partitions = []
            results_partitions_left, results_partitions_step = n, 8
            while results_partitions_left:
                results_partitions_count = results_partitions_left
                if results_partitions_left >= 8:
                    run = alike(SHAPE_1, buf, pos, results_partitions_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        results_partitions_left -= n
                        if is_same and absent == None:
                            results_partitions += starmap(PartitionResult, rows)
                            continue
                        if is_same:
                            results_partitions += [PartitionResult(partition, error_code, absent) for partition, error_code in rows]
                        else:
                            results_partitions += [PartitionResult(partition, error_code, error_message.decode()) for partition, error_code, error_message in rows]
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
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    results_partitions.append(PartitionResult(results_partitions_partition, results_partitions_error_code, results_partitions_error_message))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            results.append(InitializeStateResult(results_topic_id, results_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return InitializeShareGroupStateResponse(results), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, InitializeShareGroupStateResponse, version, buf, start, pos) from None


def encode_initialize_share_group_state_response_v0(msg: InitializeShareGroupStateResponse, out: bytearray, version: int = 0) -> None:
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
                    out += pack_ihBx(results_partitions_item.partition, results_partitions_item.error_code, 0 if text is None else 1)
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
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "InitializeShareGroupStateResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    InitializeShareGroupStateRequest: {
        0: decode_initialize_share_group_state_request_v0,
    },
    InitializeShareGroupStateResponse: {
        0: decode_initialize_share_group_state_response_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    InitializeShareGroupStateRequest: {
        0: encode_initialize_share_group_state_request_v0,
    },
    InitializeShareGroupStateResponse: {
        0: encode_initialize_share_group_state_response_v0,
    },
}
