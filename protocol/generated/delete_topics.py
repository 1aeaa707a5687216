"""Codecs of protocol/messages/delete_topics.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import ZERO_UUID, Message
from protocol.generated.layouts import unpack_h, unpack_hB, unpack_i, unpack_iB, unpack_ii, unpack_uB, unpack_uhB
from protocol.messages.delete_topics import DeletableTopicResult, DeleteTopicState, DeleteTopicsRequest, DeleteTopicsResponse
from protocol.refusal import BadField, decode_failure, encode_failure, not_in_version, verify
from protocol.runs import RUNS_OF_TEXT, Field, Shape, alike
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

SHAPE_1 = Shape("16sx", 17, Field("", 0, 1, True, ""))
SHAPE_2 = Shape("h", 2, Field("", 0, 2, False, ""))
SHAPE_3 = Shape("hx", 3, Field("", 0, 1, False, ""))
SHAPE_4 = Shape("x", 1, Field("", 0, 1, False, ""), Field("h", 2, 1, True, ""))
SHAPE_5 = Shape("x", 1, Field("", 0, 1, True, ""), Field("16sh", 18, 1, True, ""))
pack_uh = Struct(">16sh").pack
pack_uhB = Struct(">16shB").pack
pack_ux = Struct(">16sx").pack
pack_Bhx = Struct(">Bhx").pack
pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_hh = Struct(">hh").pack
pack_hx = Struct(">hx").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ii = Struct(">ii").pack
pack_ix = Struct(">ix").pack


def decode_delete_topics_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[DeleteTopicsRequest, int]:
    start = pos
    n: int
    try:
        room = 45760 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        topic_names: list[str]
        if n < 0:
            raise BadField("topic_names")
        room -= n * 96
        if room < 0:
            room, limit = verify(DeleteTopicsRequest, version, buf, start, pos + n, limit - n * 96), 0
        topic_names = []
        topic_names_count = n
        for _ in range(topic_names_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topic_names.item")
            if n < 0x80:
                topic_names_item = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topic_names_item = long_text(buf, here, pos)
            topic_names.append(topic_names_item)
        (timeout_ms,) = unpack_i(buf, pos)
        pos += 4
        return DeleteTopicsRequest([], topic_names, timeout_ms), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteTopicsRequest, version, buf, start, pos) from None


decode_delete_topics_request_v2 = at_version(decode_delete_topics_request_v1, 2)


decode_delete_topics_request_v3 = at_version(decode_delete_topics_request_v1, 3)


def decode_delete_topics_request_v4(buf: bytes, pos: int, version: int = 4) -> tuple[DeleteTopicsRequest, int]:
    start = pos
    n: int
    try:
        room = 45760 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topic_names: list[str]
        if n < 0:
            raise BadField("topic_names")
        room -= n * 100
        if room < 0:
            room, limit = verify(DeleteTopicsRequest, version, buf, start, pos + n, limit - n * 100), 0
        topic_names = []
        topic_names_count = n
        for _ in range(topic_names_count):
            n = buf[pos]
            if 0 < n < 0x80:
                topic_names_item = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("topic_names.item")
                n -= 1
                here = pos
                pos = here + n
                topic_names_item = long_text(buf, here, pos)
            topic_names.append(topic_names_item)
        timeout_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n:
            pos = skip_tags(buf, pos - 1)
        return DeleteTopicsRequest([], topic_names, timeout_ms), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteTopicsRequest, version, buf, start, pos) from None


decode_delete_topics_request_v5 = at_version(decode_delete_topics_request_v4, 5)


def decode_delete_topics_request_v6(buf: bytes, pos: int, version: int = 6) -> tuple[DeleteTopicsRequest, int]:
    start = pos
    n: int
    try:
        room = 45760 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[DeleteTopicState]
        if n < 0:
            raise BadField("topics")
        room -= n * 128
        if room < 0:
            room, limit = verify(DeleteTopicsRequest, version, buf, start, pos + n, limit - n * 128), 0
        topics = []
        topics_left, topics_step = n, 8
        while topics_left:
            topics_count = topics_left
            if topics_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, topics_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    topics_left -= n
                    if is_same:
                        topics += [DeleteTopicState(absent, topic_id) for topic_id, in rows]
                    else:
                        topics += [DeleteTopicState(name.decode(), topic_id) for name, topic_id in rows]
                    continue
                if topics_step < topics_left:
                    topics_count = topics_step
                topics_step *= 2
            topics_left -= topics_count
            for _ in range(topics_count):
                topics_name: str | None
                n = buf[pos]
                if not n:
                    topics_name = None
                    pos += 1
                elif n == 1:
                    topics_name = ""
                    pos += 1
                elif n < 0x80:
                    topics_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        topics_name = long_text(buf, here, pos)
                    else:
                        topics_name = None
                topics_topic_id, n = unpack_uB(buf, pos)
                pos += 17
                if n:
                    pos = skip_tags(buf, pos - 1)
                topics.append(DeleteTopicState(topics_name, topics_topic_id))
        timeout_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n:
            pos = skip_tags(buf, pos - 1)
        return DeleteTopicsRequest(topics, [], timeout_ms), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteTopicsRequest, version, buf, start, pos) from None


def encode_delete_topics_request_v1(msg: DeleteTopicsRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        if msg.topics:
            raise not_in_version("topics")
        topic_names = msg.topic_names
        out += pack_i(len(topic_names))
        for topic_names_item in topic_names:
            raw = topic_names_item.encode()
            out += pack_h(len(raw))
            out += raw
        out += pack_i(msg.timeout_ms)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteTopicsRequest", version) from error


encode_delete_topics_request_v2 = at_version(encode_delete_topics_request_v1, 2)


encode_delete_topics_request_v3 = at_version(encode_delete_topics_request_v1, 3)


def encode_delete_topics_request_v4(msg: DeleteTopicsRequest, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        if msg.topics:
            raise not_in_version("topics")
        topic_names = msg.topic_names
        n = len(topic_names) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for topic_names_item in topic_names:
            raw = topic_names_item.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
        out += pack_ix(msg.timeout_ms)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteTopicsRequest", version) from error


encode_delete_topics_request_v5 = at_version(encode_delete_topics_request_v4, 5)


def encode_delete_topics_request_v6(msg: DeleteTopicsRequest, out: bytearray, version: int = 6) -> None:
    start = len(out)
    try:
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for topics_item in topics:
            text = topics_item.name
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            if len(topics_item.topic_id) != 16:
                raise BadField("topics.topic_id", "a UUID has 16 bytes")
            out += pack_ux(topics_item.topic_id)
        out += pack_ix(msg.timeout_ms)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteTopicsRequest", version) from error


def decode_delete_topics_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[DeleteTopicsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        responses: list[DeletableTopicResult]
        if n < 0:
            raise BadField("responses")
        room -= n * 168
        if room < 0:
            room = verify(DeleteTopicsResponse, version, buf, start, pos + n)
        responses = []
        responses_left, responses_step = n, 8
        while responses_left:
            responses_count = responses_left
            if responses_left >= 8:
                run = alike(SHAPE_2, buf, pos, responses_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    responses_left -= n
                    if is_same:
                        responses += [DeletableTopicResult(absent, ZERO_UUID, error_code) for error_code, in rows]
                    else:
                        responses += [DeletableTopicResult(name.decode(), ZERO_UUID, error_code) for name, error_code in rows]
                    continue
                if responses_step < responses_left:
                    responses_count = responses_step
                responses_step *= 2
            responses_left -= responses_count
            for _ in range(responses_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("responses.name")
                if n < 0x80:
                    responses_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    responses_name = long_text(buf, here, pos)
                (responses_error_code,) = unpack_h(buf, pos)
                pos += 2
                responses.append(DeletableTopicResult(responses_name, ZERO_UUID, responses_error_code))
        if pos > len(buf):
            raise IndexError
        return DeleteTopicsResponse(throttle_time_ms, responses), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteTopicsResponse, version, buf, start, pos) from None


decode_delete_topics_response_v2 = at_version(decode_delete_topics_response_v1, 2)


decode_delete_topics_response_v3 = at_version(decode_delete_topics_response_v1, 3)


def decode_delete_topics_response_v4(buf: bytes, pos: int, version: int = 4) -> tuple[DeleteTopicsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        responses: list[DeletableTopicResult]
        if n < 0:
            raise BadField("responses")
        room -= n * 168
        if room < 0:
            room = verify(DeleteTopicsResponse, version, buf, start, pos + n)
        responses = []
        responses_left, responses_step = n, 8
        while responses_left:
            responses_count = responses_left
            if responses_left >= 8:
                run = alike(SHAPE_3, buf, pos, responses_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    responses_left -= n
                    if is_same:
                        responses += [DeletableTopicResult(absent, ZERO_UUID, error_code) for error_code, in rows]
                    else:
                        responses += [DeletableTopicResult(name.decode(), ZERO_UUID, error_code) for name, error_code in rows]
                    continue
                if responses_step < responses_left:
                    responses_count = responses_step
                responses_step *= 2
            responses_left -= responses_count
            for _ in range(responses_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    responses_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("responses.name")
                    n -= 1
                    here = pos
                    pos = here + n
                    responses_name = long_text(buf, here, pos)
                responses_error_code, n = unpack_hB(buf, pos)
                pos += 3
                if n:
                    pos = skip_tags(buf, pos - 1)
                responses.append(DeletableTopicResult(responses_name, ZERO_UUID, responses_error_code))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DeleteTopicsResponse(throttle_time_ms, responses), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteTopicsResponse, version, buf, start, pos) from None


def decode_delete_topics_response_v5(buf: bytes, pos: int, version: int = 5) -> tuple[DeleteTopicsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        responses: list[DeletableTopicResult]
        if n < 0:
            raise BadField("responses")
        room -= n * 244
        if room < 0:
            room = verify(DeleteTopicsResponse, version, buf, start, pos + n)
        responses = []
        responses_left, responses_step = n, 8
        while responses_left:
            responses_count = responses_left
            if responses_left >= 8:
                run = alike(SHAPE_4, buf, pos, responses_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    responses_left -= n
                    responses += [DeletableTopicResult(name.decode(), ZERO_UUID, error_code, error_message.decode() if error_message else absent[1]) for name, error_code, error_message in rows]
                    continue
                if responses_step < responses_left:
                    responses_count = responses_step
                responses_step *= 2
            responses_left -= responses_count
            for _ in range(responses_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    responses_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("responses.name")
                    n -= 1
                    here = pos
                    pos = here + n
                    responses_name = long_text(buf, here, pos)
                responses_error_message: str | None
                responses_error_code, n = unpack_hB(buf, pos)
                if not n:
                    responses_error_message = None
                    pos += 3
                elif n == 1:
                    responses_error_message = ""
                    pos += 3
                elif n < 0x80:
                    responses_error_message = buf[pos + 3 : (pos := pos + 2 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 2)
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
                responses.append(DeletableTopicResult(responses_name, ZERO_UUID, responses_error_code, responses_error_message))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DeleteTopicsResponse(throttle_time_ms, responses), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteTopicsResponse, version, buf, start, pos) from None


def decode_delete_topics_response_v6(buf: bytes, pos: int, version: int = 6) -> tuple[DeleteTopicsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        responses: list[DeletableTopicResult]
        if n < 0:
            raise BadField("responses")
        room -= n * 244
        if room < 0:
            room = verify(DeleteTopicsResponse, version, buf, start, pos + n)
        responses = []
        responses_left, responses_step = n, 8
        while responses_left:
            responses_count = responses_left
            if responses_left >= 8:
                run = alike(SHAPE_5, buf, pos, responses_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    responses_left -= n
                    responses += [DeletableTopicResult(name.decode() if name else absent[0], topic_id, error_code, error_message.decode() if error_message else absent[1]) for name, topic_id, error_code, error_message in rows]
                    continue
                if responses_step < responses_left:
                    responses_count = responses_step
                responses_step *= 2
            responses_left -= responses_count
            for _ in range(responses_count):
                responses_name: str | None
                n = buf[pos]
                if not n:
                    responses_name = None
                    pos += 1
                elif n == 1:
                    responses_name = ""
                    pos += 1
                elif n < 0x80:
                    responses_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        responses_name = long_text(buf, here, pos)
                    else:
                        responses_name = None
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
                responses.append(DeletableTopicResult(responses_name, responses_topic_id, responses_error_code, responses_error_message))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return DeleteTopicsResponse(throttle_time_ms, responses), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, DeleteTopicsResponse, version, buf, start, pos) from None


def encode_delete_topics_response_v1(msg: DeleteTopicsResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        responses = msg.responses
        out += pack_ii(msg.throttle_time_ms, len(responses))
        for responses_item in responses:
            if responses_item.name == "":
                out += pack_hh(0, responses_item.error_code)
                continue
            if responses_item.name is None:
                raise BadField("responses.name")
            raw = responses_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            out += pack_h(responses_item.error_code)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteTopicsResponse", version) from error


encode_delete_topics_response_v2 = at_version(encode_delete_topics_response_v1, 2)


encode_delete_topics_response_v3 = at_version(encode_delete_topics_response_v1, 3)


def encode_delete_topics_response_v4(msg: DeleteTopicsResponse, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        responses = msg.responses
        n = len(responses) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for responses_item in responses:
            if responses_item.name == "":
                out += pack_Bhx(1, responses_item.error_code)
                continue
            if responses_item.name is None:
                raise BadField("responses.name")
            raw = responses_item.name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            out += pack_hx(responses_item.error_code)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteTopicsResponse", version) from error


def encode_delete_topics_response_v5(msg: DeleteTopicsResponse, out: bytearray, version: int = 5) -> None:
    start = len(out)
    try:
        responses = msg.responses
        n = len(responses) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for responses_item in responses:
            if responses_item.name is None:
                raise BadField("responses.name")
            raw = responses_item.name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            text = responses_item.error_message
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_hB(responses_item.error_code, n)
            else:
                out += pack_h(responses_item.error_code)
                out += write_string_size(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "DeleteTopicsResponse", version) from error


def encode_delete_topics_response_v6(msg: DeleteTopicsResponse, out: bytearray, version: int = 6) -> None:
    start = len(out)
    try:
        responses = msg.responses
        n = len(responses) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for responses_item in responses:
            text = responses_item.name
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
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
        raise encode_failure(error, "DeleteTopicsResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    DeleteTopicsRequest: {
        1: decode_delete_topics_request_v1,
        2: decode_delete_topics_request_v2,
        3: decode_delete_topics_request_v3,
        4: decode_delete_topics_request_v4,
        5: decode_delete_topics_request_v5,
        6: decode_delete_topics_request_v6,
    },
    DeleteTopicsResponse: {
        1: decode_delete_topics_response_v1,
        2: decode_delete_topics_response_v2,
        3: decode_delete_topics_response_v3,
        4: decode_delete_topics_response_v4,
        5: decode_delete_topics_response_v5,
        6: decode_delete_topics_response_v6,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    DeleteTopicsRequest: {
        1: encode_delete_topics_request_v1,
        2: encode_delete_topics_request_v2,
        3: encode_delete_topics_request_v3,
        4: encode_delete_topics_request_v4,
        5: encode_delete_topics_request_v5,
        6: encode_delete_topics_request_v6,
    },
    DeleteTopicsResponse: {
        1: encode_delete_topics_response_v1,
        2: encode_delete_topics_response_v2,
        3: encode_delete_topics_response_v3,
        4: encode_delete_topics_response_v4,
        5: encode_delete_topics_response_v5,
        6: encode_delete_topics_response_v6,
    },
}
