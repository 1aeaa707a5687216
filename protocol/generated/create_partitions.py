"""Codecs of protocol/messages/create_partitions.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_hB, unpack_hh, unpack_i, unpack_iB, unpack_ii, unpack_iz, unpack_izB
from protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
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

SHAPE_1 = Shape("", 0, Field("", 0, 2, False, ""), Field("h", 2, 2, True, ""))
SHAPE_2 = Shape("x", 1, Field("", 0, 1, False, ""), Field("h", 2, 1, True, ""))
pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_hh = Struct(">hh").pack
pack_i = Struct(">i").pack
pack_iz = Struct(">i?").pack
pack_izx = Struct(">i?x").pack
pack_iB = Struct(">iB").pack
pack_ii = Struct(">ii").pack
pack_ix = Struct(">ix").pack


def decode_create_partitions_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[CreatePartitionsRequest, int]:
    start = pos
    n: int
    try:
        room = 45840 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        topics: list[CreatePartitionsTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 224
        if room < 0:
            room, limit = verify(CreatePartitionsRequest, version, buf, start, pos + n, limit - n * 224), 0
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
            topics_count, n = unpack_ii(buf, pos)
            pos += 8
            topics_assignments: list[CreatePartitionsAssignment] | None
            if n < 0:
                topics_assignments = None
            else:
                room -= n * 120
                if room < 0:
                    room, limit = verify(CreatePartitionsRequest, version, buf, start, pos + n, limit - n * 120), 0
                topics_assignments = []
                topics_assignments_count = n
                for _ in range(topics_assignments_count):
                    (n,) = unpack_i(buf, pos)
                    pos += 4
                    topics_assignments_broker_ids: list[int]
                    if n < 0:
                        raise BadField("topics.assignments.broker_ids")
                    room -= n * 40
                    if room < 0:
                        room, limit = verify(CreatePartitionsRequest, version, buf, start, pos + n, limit - n * 40), 0
                    topics_assignments_broker_ids = list(unpack_from(f">{n}i", buf, pos))
                    pos += n * 4
                    topics_assignments.append(CreatePartitionsAssignment(topics_assignments_broker_ids))
            topics.append(CreatePartitionsTopic(topics_name, topics_count, topics_assignments))
        timeout_ms, validate_only = unpack_iz(buf, pos)
        pos += 5
        return CreatePartitionsRequest(topics, timeout_ms, validate_only), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, CreatePartitionsRequest, version, buf, start, pos) from None


decode_create_partitions_request_v1 = at_version(decode_create_partitions_request_v0, 1)


def decode_create_partitions_request_v2(buf: bytes, pos: int, version: int = 2) -> tuple[CreatePartitionsRequest, int]:
    start = pos
    n: int
    try:
        room = 45840 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[CreatePartitionsTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 236
        if room < 0:
            room, limit = verify(CreatePartitionsRequest, version, buf, start, pos + n, limit - n * 236), 0
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
            topics_count, n = unpack_iB(buf, pos)
            pos += 5
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_assignments: list[CreatePartitionsAssignment] | None
            if n < 0:
                topics_assignments = None
            else:
                room -= n * 128
                if room < 0:
                    room, limit = verify(CreatePartitionsRequest, version, buf, start, pos + n, limit - n * 128), 0
                topics_assignments = []
                topics_assignments_count = n
                for _ in range(topics_assignments_count):
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    topics_assignments_broker_ids: list[int]
                    if n < 0:
                        raise BadField("topics.assignments.broker_ids")
                    room -= n * 40
                    if room < 0:
                        room, limit = verify(CreatePartitionsRequest, version, buf, start, pos + n, limit - n * 40), 0
                    topics_assignments_broker_ids = list(unpack_from(f">{n}i", buf, pos))
                    pos += n * 4
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_assignments.append(CreatePartitionsAssignment(topics_assignments_broker_ids))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(CreatePartitionsTopic(topics_name, topics_count, topics_assignments))
        timeout_ms, validate_only, n = unpack_izB(buf, pos)
        pos += 6
        if n:
            pos = skip_tags(buf, pos - 1)
        return CreatePartitionsRequest(topics, timeout_ms, validate_only), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, CreatePartitionsRequest, version, buf, start, pos) from None


decode_create_partitions_request_v3 = at_version(decode_create_partitions_request_v2, 3)


def encode_create_partitions_request_v0(msg: CreatePartitionsRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        topics = msg.topics
        out += pack_i(len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topics_assignments = topics_item.assignments
            if topics_assignments is None:
                out += pack_ii(topics_item.count, -1)
            else:
                out += pack_ii(topics_item.count, len(topics_assignments))
                for topics_assignments_item in topics_assignments:
                    topics_assignments_broker_ids = topics_assignments_item.broker_ids
                    out += pack_i(len(topics_assignments_broker_ids))
                    out += pack_i(*topics_assignments_broker_ids) if len(topics_assignments_broker_ids) == 1 else pack(f">{len(topics_assignments_broker_ids)}i", *topics_assignments_broker_ids)
        out += pack_iz(msg.timeout_ms, msg.validate_only)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "CreatePartitionsRequest", version) from error


encode_create_partitions_request_v1 = at_version(encode_create_partitions_request_v0, 1)


def encode_create_partitions_request_v2(msg: CreatePartitionsRequest, out: bytearray, version: int = 2) -> None:
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
            topics_assignments = topics_item.assignments
            if topics_assignments is None:
                out += pack_ix(topics_item.count)
            else:
                n = len(topics_assignments) + 1
                if n < 0x80:
                    out += pack_iB(topics_item.count, n)
                else:
                    out += pack_i(topics_item.count)
                    out += write_uvarint(n)
                for topics_assignments_item in topics_assignments:
                    topics_assignments_broker_ids = topics_assignments_item.broker_ids
                    n = len(topics_assignments_broker_ids) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += pack_i(*topics_assignments_broker_ids) if len(topics_assignments_broker_ids) == 1 else pack(f">{len(topics_assignments_broker_ids)}i", *topics_assignments_broker_ids)
                    out.append(0)
            out.append(0)
        out += pack_izx(msg.timeout_ms, msg.validate_only)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "CreatePartitionsRequest", version) from error


encode_create_partitions_request_v3 = at_version(encode_create_partitions_request_v2, 3)


def decode_create_partitions_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[CreatePartitionsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        results: list[CreatePartitionsTopicResult]
        if n < 0:
            raise BadField("results")
        room -= n * 240
        if room < 0:
            room = verify(CreatePartitionsResponse, version, buf, start, pos + n)
        results = []
        results_left, results_step = n, 8
        while results_left:
            results_count = results_left
            if results_left >= 8:
                run = alike(SHAPE_1, buf, pos, results_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    results_left -= n
                    results += [CreatePartitionsTopicResult(name.decode(), error_code, error_message.decode() if error_message else absent[1]) for name, error_code, error_message in rows]
                    continue
                if results_step < results_left:
                    results_count = results_step
                results_step *= 2
            results_left -= results_count
            for _ in range(results_count):
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    raise BadField("results.name")
                if n < 0x80:
                    results_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    results_name = long_text(buf, here, pos)
                results_error_message: str | None
                results_error_code, n = unpack_hh(buf, pos)
                if n < 0:
                    results_error_message = None
                    pos += 4
                elif n < 0x80:
                    results_error_message = buf[pos + 4 : (pos := pos + 4 + n)].decode()
                else:
                    here = pos + 4
                    pos = here + n
                    results_error_message = long_text(buf, here, pos)
                results.append(CreatePartitionsTopicResult(results_name, results_error_code, results_error_message))
        if pos > len(buf):
            raise IndexError
        return CreatePartitionsResponse(throttle_time_ms, results), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, CreatePartitionsResponse, version, buf, start, pos) from None


decode_create_partitions_response_v1 = at_version(decode_create_partitions_response_v0, 1)


def decode_create_partitions_response_v2(buf: bytes, pos: int, version: int = 2) -> tuple[CreatePartitionsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        results: list[CreatePartitionsTopicResult]
        if n < 0:
            raise BadField("results")
        room -= n * 244
        if room < 0:
            room = verify(CreatePartitionsResponse, version, buf, start, pos + n)
        results = []
        results_left, results_step = n, 8
        while results_left:
            results_count = results_left
            if results_left >= 8:
                run = alike(SHAPE_2, buf, pos, results_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    results_left -= n
                    results += [CreatePartitionsTopicResult(name.decode(), error_code, error_message.decode() if error_message else absent[1]) for name, error_code, error_message in rows]
                    continue
                if results_step < results_left:
                    results_count = results_step
                results_step *= 2
            results_left -= results_count
            for _ in range(results_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    results_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("results.name")
                    n -= 1
                    here = pos
                    pos = here + n
                    results_name = long_text(buf, here, pos)
                results_error_message: str | None
                results_error_code, n = unpack_hB(buf, pos)
                if not n:
                    results_error_message = None
                    pos += 3
                elif n == 1:
                    results_error_message = ""
                    pos += 3
                elif n < 0x80:
                    results_error_message = buf[pos + 3 : (pos := pos + 2 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 2)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        results_error_message = long_text(buf, here, pos)
                    else:
                        results_error_message = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                results.append(CreatePartitionsTopicResult(results_name, results_error_code, results_error_message))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return CreatePartitionsResponse(throttle_time_ms, results), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, CreatePartitionsResponse, version, buf, start, pos) from None


decode_create_partitions_response_v3 = at_version(decode_create_partitions_response_v2, 3)


def encode_create_partitions_response_v0(msg: CreatePartitionsResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        results = msg.results
        out += pack_ii(msg.throttle_time_ms, len(results))
        for results_item in results:
            raw = results_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            text = results_item.error_message
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_hh(results_item.error_code, n)
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "CreatePartitionsResponse", version) from error


encode_create_partitions_response_v1 = at_version(encode_create_partitions_response_v0, 1)


def encode_create_partitions_response_v2(msg: CreatePartitionsResponse, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        results = msg.results
        n = len(results) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for results_item in results:
            raw = results_item.name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            text = results_item.error_message
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_hB(results_item.error_code, n)
            else:
                out += pack_h(results_item.error_code)
                out += write_string_size(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "CreatePartitionsResponse", version) from error


encode_create_partitions_response_v3 = at_version(encode_create_partitions_response_v2, 3)


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    CreatePartitionsRequest: {
        0: decode_create_partitions_request_v0,
        1: decode_create_partitions_request_v1,
        2: decode_create_partitions_request_v2,
        3: decode_create_partitions_request_v3,
    },
    CreatePartitionsResponse: {
        0: decode_create_partitions_response_v0,
        1: decode_create_partitions_response_v1,
        2: decode_create_partitions_response_v2,
        3: decode_create_partitions_response_v3,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    CreatePartitionsRequest: {
        0: encode_create_partitions_request_v0,
        1: encode_create_partitions_request_v1,
        2: encode_create_partitions_request_v2,
        3: encode_create_partitions_request_v3,
    },
    CreatePartitionsResponse: {
        0: encode_create_partitions_response_v0,
        1: encode_create_partitions_response_v1,
        2: encode_create_partitions_response_v2,
        3: encode_create_partitions_response_v3,
    },
}
