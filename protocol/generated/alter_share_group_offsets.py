"""Codecs of protocol/messages/alter_share_group_offsets.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_ihB, unpack_iqB, unpack_uB
from protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
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
pack_iqx = Struct(">iqx").pack
rows_iqx = Struct(">iqx").iter_unpack


def decode_alter_share_group_offsets_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[AlterShareGroupOffsetsRequest, int]:
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
        topics: list[AlterShareGroupOffsetsRequestTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 204
        if room < 0:
            room, limit = verify(AlterShareGroupOffsetsRequest, version, buf, start, pos + n, limit - n * 204), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            n = buf[pos]
            if 0 < n < 0x80:
                topics_topic_name = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("topics.topic_name")
                n -= 1
                here = pos
                pos = here + n
                topics_topic_name = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[AlterShareGroupOffsetsRequestPartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 84
            if room < 0:
                room, limit = verify(AlterShareGroupOffsetsRequest, version, buf, start, pos + n, limit - n * 84), 0
            end = pos + n * 13
            if buf[pos + 12 : end : 13].count(0) == n:
                topics_partitions = list(starmap(AlterShareGroupOffsetsRequestPartition, rows_iqx(buf[pos:end])))
                pos = end
            else:
                topics_partitions = []
                topics_partitions_count = n
                for _ in range(topics_partitions_count):
                    topics_partitions_partition_index, topics_partitions_start_offset, n = unpack_iqB(buf, pos)
                    pos += 13
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions.append(AlterShareGroupOffsetsRequestPartition(topics_partitions_partition_index, topics_partitions_start_offset))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(AlterShareGroupOffsetsRequestTopic(topics_topic_name, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return AlterShareGroupOffsetsRequest(group_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AlterShareGroupOffsetsRequest, version, buf, start, pos) from None


def encode_alter_share_group_offsets_request_v0(msg: AlterShareGroupOffsetsRequest, out: bytearray, version: int = 0) -> None:
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
            raw = topics_item.topic_name.encode()
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
            out += b"".join([pack_iqx(topics_partitions_item.partition_index, topics_partitions_item.start_offset) for topics_partitions_item in topics_partitions])
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AlterShareGroupOffsetsRequest", version) from error


def decode_alter_share_group_offsets_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[AlterShareGroupOffsetsResponse, int]:
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
        responses: list[AlterShareGroupOffsetsResponseTopic]
        if n < 0:
            raise BadField("responses")
        room -= n * 204
        if room < 0:
            room = verify(AlterShareGroupOffsetsResponse, version, buf, start, pos + n)
        responses = []
        responses_count = n
        for _ in range(responses_count):
            n = buf[pos]
            if 0 < n < 0x80:
                responses_topic_name = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("responses.topic_name")
                n -= 1
                here = pos
                pos = here + n
                responses_topic_name = long_text(buf, here, pos)
            responses_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            responses_partitions: list[AlterShareGroupOffsetsResponsePartition]
            if n < 0:
                raise BadField("responses.partitions")
            room -= n * 184
            if room < 0:
                room = verify(AlterShareGroupOffsetsResponse, version, buf, start, pos + n)
            responses_partitions = []
            responses_partitions_left, responses_partitions_step = n, 8
            while responses_partitions_left:
                responses_partitions_count = responses_partitions_left
                if responses_partitions_left >= 8:
                    run = alike(SHAPE_1, buf, pos, responses_partitions_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        responses_partitions_left -= n
                        if is_same and absent == None:
                            responses_partitions += starmap(AlterShareGroupOffsetsResponsePartition, rows)
                            continue
                        if is_same:
                            responses_partitions += [AlterShareGroupOffsetsResponsePartition(partition_index, error_code, absent) for partition_index, error_code in rows]
                        else:
                            responses_partitions += [AlterShareGroupOffsetsResponsePartition(partition_index, error_code, error_message.decode()) for partition_index, error_code, error_message in rows]
                        continue
                    if responses_partitions_step < responses_partitions_left:
                        responses_partitions_count = responses_partitions_step
                    responses_partitions_step *= 2
                responses_partitions_left -= responses_partitions_count
                for _ in range(responses_partitions_count):
                    responses_partitions_error_message: str | None
                    responses_partitions_partition_index, responses_partitions_error_code, n = unpack_ihB(buf, pos)
                    if not n:
                        responses_partitions_error_message = None
                        pos += 7
                    elif n == 1:
                        responses_partitions_error_message = ""
                        pos += 7
                    elif n < 0x80:
                        responses_partitions_error_message = buf[pos + 7 : (pos := pos + 6 + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos + 6)
                        if n:
                            n -= 1
                            here = pos
                            pos = here + n
                            responses_partitions_error_message = long_text(buf, here, pos)
                        else:
                            responses_partitions_error_message = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    responses_partitions.append(AlterShareGroupOffsetsResponsePartition(responses_partitions_partition_index, responses_partitions_error_code, responses_partitions_error_message))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            responses.append(AlterShareGroupOffsetsResponseTopic(responses_topic_name, responses_topic_id, responses_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return AlterShareGroupOffsetsResponse(throttle_time_ms, error_code, error_message, responses), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, AlterShareGroupOffsetsResponse, version, buf, start, pos) from None


def encode_alter_share_group_offsets_response_v0(msg: AlterShareGroupOffsetsResponse, out: bytearray, version: int = 0) -> None:
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
        responses = msg.responses
        n = len(responses) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for responses_item in responses:
            raw = responses_item.topic_name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            if len(responses_item.topic_id) != 16:
                raise BadField("responses.topic_id", "a UUID has 16 bytes")
            responses_partitions = responses_item.partitions
            n = len(responses_partitions) + 1
            if n < 0x80:
                out += pack_uB(responses_item.topic_id, n)
            else:
                out += pack_u(responses_item.topic_id)
                out += write_uvarint(n)
            for responses_partitions_item in responses_partitions:
                text = responses_partitions_item.error_message
                if not text:
                    out += pack_ihBx(responses_partitions_item.partition_index, responses_partitions_item.error_code, 0 if text is None else 1)
                    continue
                text = responses_partitions_item.error_message
                if text is None:
                    n, raw = 0, b""
                else:
                    raw = text.encode()
                    n = len(raw) + 1
                if n < 0x80:
                    out += pack_ihB(responses_partitions_item.partition_index, responses_partitions_item.error_code, n)
                else:
                    out += pack_ih(responses_partitions_item.partition_index, responses_partitions_item.error_code)
                    out += write_string_size(n)
                out += raw
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "AlterShareGroupOffsetsResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    AlterShareGroupOffsetsRequest: {
        0: decode_alter_share_group_offsets_request_v0,
    },
    AlterShareGroupOffsetsResponse: {
        0: decode_alter_share_group_offsets_response_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    AlterShareGroupOffsetsRequest: {
        0: encode_alter_share_group_offsets_request_v0,
    },
    AlterShareGroupOffsetsResponse: {
        0: encode_alter_share_group_offsets_response_v0,
    },
}
