"""Codecs of protocol/messages/delete_share_group_offsets.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_ihB, unpack_uhB
from protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
)
from protocol.refusal import BadField, decode_failure, encode_failure, verify
from protocol.runs import RUNS_OF_TEXT, Field, Shape, alike
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

SHAPE_1 = Shape("x", 1, Field("", 0, 1, False, ""))
SHAPE_2 = Shape("x", 1, Field("", 0, 1, False, ""), Field("16sh", 18, 1, True, ""))
pack_uh = Struct(">16sh").pack
pack_uhB = Struct(">16shB").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack


def decode_delete_share_group_offsets_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DeleteShareGroupOffsetsRequest, int]:
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
        topics: list[DeleteShareGroupOffsetsRequestTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 128
        if room < 0:
            room, limit = verify(DeleteShareGroupOffsetsRequest, version, buf, start, pos + n, limit - n * 128), 0
        topics = []
        topics_left, topics_step = n, 8
        while topics_left:
            topics_count = topics_left
            if topics_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, topics_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    topics_left -= n
                    if is_same and absent == "":
                        topics += starmap(DeleteShareGroupOffsetsRequestTopic, rows)
                        continue
                    if is_same:
                        topics += [DeleteShareGroupOffsetsRequestTopic(absent) for _ in rows]
                    else:
                        topics += [DeleteShareGroupOffsetsRequestTopic(topic_name.decode()) for topic_name, in rows]
                    continue
                if topics_step < topics_left:
                    topics_count = topics_step
                topics_step *= 2
            topics_left -= topics_count
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
                if n:
                    pos = skip_tags(buf, pos - 1)
                topics.append(DeleteShareGroupOffsetsRequestTopic(topics_topic_name))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DeleteShareGroupOffsetsRequest(group_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteShareGroupOffsetsRequest, version, buf, start, pos) from None


def encode_delete_share_group_offsets_request_v0(msg: DeleteShareGroupOffsetsRequest, out: bytearray, version: int = 0) -> None:
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
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteShareGroupOffsetsRequest", version) from error


def decode_delete_share_group_offsets_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[DeleteShareGroupOffsetsResponse, int]:
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
        responses: list[DeleteShareGroupOffsetsResponseTopic]
        if n < 0:
            raise BadField("responses")
        room -= n * 244
        if room < 0:
            room = verify(DeleteShareGroupOffsetsResponse, version, buf, start, pos + n)
        responses = []
        responses_left, responses_step = n, 8
        while responses_left:
            responses_count = responses_left
            if responses_left >= 8:
                run = alike(SHAPE_2, buf, pos, responses_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    responses_left -= n
                    responses += [DeleteShareGroupOffsetsResponseTopic(topic_name.decode(), topic_id, error_code, error_message.decode() if error_message else absent[1]) for topic_name, topic_id, error_code, error_message in rows]
                    continue
                if responses_step < responses_left:
                    responses_count = responses_step
                responses_step *= 2
            responses_left -= responses_count
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
                responses_error_message: str | None
                responses_topic_id, responses_error_code, n = unpack_uhB(buf, pos)
                if not n:
                    responses_error_message = None
                    pos += 19
                elif n == 1:
                    responses_error_message = ""
                    pos += 19
                elif n < 0x80:
                    responses_error_message = buf[pos + 19 : (pos := pos + 18 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 18)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        responses_error_message = long_text(buf, here, pos)
                    else:
                        responses_error_message = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                responses.append(DeleteShareGroupOffsetsResponseTopic(responses_topic_name, responses_topic_id, responses_error_code, responses_error_message))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DeleteShareGroupOffsetsResponse(throttle_time_ms, error_code, error_message, responses), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteShareGroupOffsetsResponse, version, buf, start, pos) from None


def encode_delete_share_group_offsets_response_v0(msg: DeleteShareGroupOffsetsResponse, out: bytearray, version: int = 0) -> None:
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
            text = responses_item.error_message
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_uhB(responses_item.topic_id, responses_item.error_code, n)
            else:
                out += pack_uh(responses_item.topic_id, responses_item.error_code)
                out += write_string_size(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteShareGroupOffsetsResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    DeleteShareGroupOffsetsRequest: {
        0: decode_delete_share_group_offsets_request_v0,
    },
    DeleteShareGroupOffsetsResponse: {
        0: decode_delete_share_group_offsets_response_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    DeleteShareGroupOffsetsRequest: {
        0: encode_delete_share_group_offsets_request_v0,
    },
    DeleteShareGroupOffsetsResponse: {
        0: encode_delete_share_group_offsets_response_v0,
    },
}
