"""Codecs of protocol/messages/create_topics.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import ZERO_UUID, Message
from protocol.generated.layouts import (
    unpack_h,
    unpack_hB,
    unpack_hh,
    unpack_i,
    unpack_iB,
    unpack_ihB,
    unpack_ihi,
    unpack_ii,
    unpack_iz,
    unpack_izB,
    unpack_uhB,
    unpack_zbzB,
)
from protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from protocol.refusal import BadField, decode_failure, encode_failure, verify
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

SHAPE_1 = Shape("", 0, Field("", 0, 2, False, ""), Field("", 0, 2, True, ""))
SHAPE_2 = Shape("x", 1, Field("", 0, 1, False, ""), Field("", 0, 1, True, ""))
SHAPE_3 = Shape("", 0, Field("", 0, 2, False, ""), Field("h", 2, 2, True, ""))
SHAPE_4 = Shape("?b?x", 4, Field("", 0, 1, False, ""), Field("", 0, 1, True, ""))
pack_uh = Struct(">16sh").pack
pack_uhB = Struct(">16shB").pack
pack_zbzx = Struct(">?b?x").pack
pack_BBBh = Struct(">BBBh").pack
pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_hh = Struct(">hh").pack
pack_i = Struct(">i").pack
pack_iz = Struct(">i?").pack
pack_izx = Struct(">i?x").pack
pack_iB = Struct(">iB").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_ihi = Struct(">ihi").pack
pack_ihx = Struct(">ihx").pack
pack_ii = Struct(">ii").pack


def decode_create_topics_request_v2(buf: bytes, pos: int, version: int = 2) -> tuple[CreateTopicsRequest, int]:
    start = pos
    n: int
    try:
        room = 45840 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        topics: list[CreatableTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 328
        if room < 0:
            room, limit = verify(CreateTopicsRequest, version, buf, start, pos + n, limit - n * 328), 0
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
            topics_num_partitions, topics_replication_factor, n = unpack_ihi(buf, pos)
            pos += 10
            topics_assignments: list[CreatableReplicaAssignment]
            if n < 0:
                raise BadField("topics.assignments")
            room -= n * 136
            if room < 0:
                room, limit = verify(CreateTopicsRequest, version, buf, start, pos + n, limit - n * 136), 0
            topics_assignments = []
            topics_assignments_count = n
            for _ in range(topics_assignments_count):
                topics_assignments_partition_index, n = unpack_ii(buf, pos)
                pos += 8
                topics_assignments_broker_ids: list[int]
                if n < 0:
                    raise BadField("topics.assignments.broker_ids")
                room -= n * 40
                if room < 0:
                    room, limit = verify(CreateTopicsRequest, version, buf, start, pos + n, limit - n * 40), 0
                topics_assignments_broker_ids = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                topics_assignments.append(CreatableReplicaAssignment(topics_assignments_partition_index, topics_assignments_broker_ids))
            (n,) = unpack_i(buf, pos)
            pos += 4
            topics_configs: list[CreatableTopicConfig]
            if n < 0:
                raise BadField("topics.configs")
            room -= n * 200
            if room < 0:
                room, limit = verify(CreateTopicsRequest, version, buf, start, pos + n, limit - n * 200), 0
            topics_configs = []
            topics_configs_left, topics_configs_step = n, 8
            while topics_configs_left:
                topics_configs_count = topics_configs_left
                if topics_configs_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_1, buf, pos, topics_configs_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topics_configs_left -= n
                        topics_configs += [CreatableTopicConfig(name.decode(), value_.decode() if value_ else absent[1]) for name, value_ in rows]
                        continue
                    if topics_configs_step < topics_configs_left:
                        topics_configs_count = topics_configs_step
                    topics_configs_step *= 2
                topics_configs_left -= topics_configs_count
                for _ in range(topics_configs_count):
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        raise BadField("topics.configs.name")
                    if n < 0x80:
                        topics_configs_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        topics_configs_name = long_text(buf, here, pos)
                    topics_configs_value: str | None
                    (n,) = unpack_h(buf, pos)
                    if n < 0:
                        topics_configs_value = None
                        pos += 2
                    elif n < 0x80:
                        topics_configs_value = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                    else:
                        here = pos + 2
                        pos = here + n
                        topics_configs_value = long_text(buf, here, pos)
                    topics_configs.append(CreatableTopicConfig(topics_configs_name, topics_configs_value))
            topics.append(CreatableTopic(topics_name, topics_num_partitions, topics_replication_factor, topics_assignments, topics_configs))
        timeout_ms, validate_only = unpack_iz(buf, pos)
        pos += 5
        return CreateTopicsRequest(topics, timeout_ms, validate_only), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, CreateTopicsRequest, version, buf, start, pos) from None


decode_create_topics_request_v3 = at_version(decode_create_topics_request_v2, 3)


decode_create_topics_request_v4 = at_version(decode_create_topics_request_v2, 4)


def decode_create_topics_request_v5(buf: bytes, pos: int, version: int = 5) -> tuple[CreateTopicsRequest, int]:
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
        topics: list[CreatableTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 352
        if room < 0:
            room, limit = verify(CreateTopicsRequest, version, buf, start, pos + n, limit - n * 352), 0
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
            topics_num_partitions, topics_replication_factor, n = unpack_ihB(buf, pos)
            pos += 7
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_assignments: list[CreatableReplicaAssignment]
            if n < 0:
                raise BadField("topics.assignments")
            room -= n * 144
            if room < 0:
                room, limit = verify(CreateTopicsRequest, version, buf, start, pos + n, limit - n * 144), 0
            topics_assignments = []
            topics_assignments_count = n
            for _ in range(topics_assignments_count):
                topics_assignments_partition_index, n = unpack_iB(buf, pos)
                pos += 5
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_assignments_broker_ids: list[int]
                if n < 0:
                    raise BadField("topics.assignments.broker_ids")
                room -= n * 40
                if room < 0:
                    room, limit = verify(CreateTopicsRequest, version, buf, start, pos + n, limit - n * 40), 0
                topics_assignments_broker_ids = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                topics_assignments.append(CreatableReplicaAssignment(topics_assignments_partition_index, topics_assignments_broker_ids))
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_configs: list[CreatableTopicConfig]
            if n < 0:
                raise BadField("topics.configs")
            room -= n * 204
            if room < 0:
                room, limit = verify(CreateTopicsRequest, version, buf, start, pos + n, limit - n * 204), 0
            topics_configs = []
            topics_configs_left, topics_configs_step = n, 8
            while topics_configs_left:
                topics_configs_count = topics_configs_left
                if topics_configs_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_2, buf, pos, topics_configs_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topics_configs_left -= n
                        topics_configs += [CreatableTopicConfig(name.decode(), value_.decode() if value_ else absent[1]) for name, value_ in rows]
                        continue
                    if topics_configs_step < topics_configs_left:
                        topics_configs_count = topics_configs_step
                    topics_configs_step *= 2
                topics_configs_left -= topics_configs_count
                for _ in range(topics_configs_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        topics_configs_name = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("topics.configs.name")
                        n -= 1
                        here = pos
                        pos = here + n
                        topics_configs_name = long_text(buf, here, pos)
                    topics_configs_value: str | None
                    n = buf[pos]
                    if not n:
                        topics_configs_value = None
                        pos += 1
                    elif n == 1:
                        topics_configs_value = ""
                        pos += 1
                    elif n < 0x80:
                        topics_configs_value = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n:
                            n -= 1
                            here = pos
                            pos = here + n
                            topics_configs_value = long_text(buf, here, pos)
                        else:
                            topics_configs_value = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_configs.append(CreatableTopicConfig(topics_configs_name, topics_configs_value))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(CreatableTopic(topics_name, topics_num_partitions, topics_replication_factor, topics_assignments, topics_configs))
        timeout_ms, validate_only, n = unpack_izB(buf, pos)
        pos += 6
        if n:
            pos = skip_tags(buf, pos - 1)
        return CreateTopicsRequest(topics, timeout_ms, validate_only), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, CreateTopicsRequest, version, buf, start, pos) from None


decode_create_topics_request_v6 = at_version(decode_create_topics_request_v5, 6)


decode_create_topics_request_v7 = at_version(decode_create_topics_request_v5, 7)


def encode_create_topics_request_v2(msg: CreateTopicsRequest, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        topics = msg.topics
        out += pack_i(len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topics_assignments = topics_item.assignments
            out += pack_ihi(topics_item.num_partitions, topics_item.replication_factor, len(topics_assignments))
            for topics_assignments_item in topics_assignments:
                topics_assignments_broker_ids = topics_assignments_item.broker_ids
                out += pack_ii(topics_assignments_item.partition_index, len(topics_assignments_broker_ids))
                out += pack_i(*topics_assignments_broker_ids) if len(topics_assignments_broker_ids) == 1 else pack(f">{len(topics_assignments_broker_ids)}i", *topics_assignments_broker_ids)
            topics_configs = topics_item.configs
            out += pack_i(len(topics_configs))
            for topics_configs_item in topics_configs:
                raw = topics_configs_item.name.encode()
                out += pack_h(len(raw))
                out += raw
                text = topics_configs_item.value
                if text is None:
                    n, raw = -1, b""
                else:
                    raw = text.encode()
                    n = len(raw)
                out += pack_h(n)
                out += raw
        out += pack_iz(msg.timeout_ms, msg.validate_only)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "CreateTopicsRequest", version) from error


encode_create_topics_request_v3 = at_version(encode_create_topics_request_v2, 3)


encode_create_topics_request_v4 = at_version(encode_create_topics_request_v2, 4)


def encode_create_topics_request_v5(msg: CreateTopicsRequest, out: bytearray, version: int = 5) -> None:
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
            n = len(topics_assignments) + 1
            if n < 0x80:
                out += pack_ihB(topics_item.num_partitions, topics_item.replication_factor, n)
            else:
                out += pack_ih(topics_item.num_partitions, topics_item.replication_factor)
                out += write_uvarint(n)
            for topics_assignments_item in topics_assignments:
                topics_assignments_broker_ids = topics_assignments_item.broker_ids
                n = len(topics_assignments_broker_ids) + 1
                if n < 0x80:
                    out += pack_iB(topics_assignments_item.partition_index, n)
                else:
                    out += pack_i(topics_assignments_item.partition_index)
                    out += write_uvarint(n)
                out += pack_i(*topics_assignments_broker_ids) if len(topics_assignments_broker_ids) == 1 else pack(f">{len(topics_assignments_broker_ids)}i", *topics_assignments_broker_ids)
                out.append(0)
            topics_configs = topics_item.configs
            n = len(topics_configs) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for topics_configs_item in topics_configs:
                raw = topics_configs_item.name.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                text = topics_configs_item.value
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
                out.append(0)
            out.append(0)
        out += pack_izx(msg.timeout_ms, msg.validate_only)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "CreateTopicsRequest", version) from error


encode_create_topics_request_v6 = at_version(encode_create_topics_request_v5, 6)


encode_create_topics_request_v7 = at_version(encode_create_topics_request_v5, 7)


def decode_create_topics_response_v2(buf: bytes, pos: int, version: int = 2) -> tuple[CreateTopicsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        topics: list[CreatableTopicResult]
        if n < 0:
            raise BadField("topics")
        room -= n * 352
        if room < 0:
            room = verify(CreateTopicsResponse, version, buf, start, pos + n)
        topics = []
        topics_left, topics_step = n, 8
        while topics_left:
            topics_count = topics_left
            if topics_left >= 8:
                run = alike(SHAPE_3, buf, pos, topics_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    topics_left -= n
                    topics += [CreatableTopicResult(name.decode(), ZERO_UUID, error_code, error_message.decode() if error_message else absent[1]) for name, error_code, error_message in rows]
                    continue
                if topics_step < topics_left:
                    topics_count = topics_step
                topics_step *= 2
            topics_left -= topics_count
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
                topics_error_message: str | None
                topics_error_code, n = unpack_hh(buf, pos)
                if n < 0:
                    topics_error_message = None
                    pos += 4
                elif n < 0x80:
                    topics_error_message = buf[pos + 4 : (pos := pos + 4 + n)].decode()
                else:
                    here = pos + 4
                    pos = here + n
                    topics_error_message = long_text(buf, here, pos)
                topics.append(CreatableTopicResult(topics_name, ZERO_UUID, topics_error_code, topics_error_message))
        if pos > len(buf):
            raise IndexError
        return CreateTopicsResponse(throttle_time_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, CreateTopicsResponse, version, buf, start, pos) from None


decode_create_topics_response_v3 = at_version(decode_create_topics_response_v2, 3)


decode_create_topics_response_v4 = at_version(decode_create_topics_response_v2, 4)


def decode_create_topics_response_v5(buf: bytes, pos: int, version: int = 5) -> tuple[CreateTopicsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[CreatableTopicResult]
        if n < 0:
            raise BadField("topics")
        room -= n * 424
        if room < 0:
            room = verify(CreateTopicsResponse, version, buf, start, pos + n)
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
            topics_error_message: str | None
            topics_error_code, n = unpack_hB(buf, pos)
            if not n:
                topics_error_message = None
                pos += 3
            elif n == 1:
                topics_error_message = ""
                pos += 3
            elif n < 0x80:
                topics_error_message = buf[pos + 3 : (pos := pos + 2 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 2)
                if n:
                    n -= 1
                    here = pos
                    pos = here + n
                    topics_error_message = long_text(buf, here, pos)
                else:
                    topics_error_message = None
            topics_num_partitions, topics_replication_factor, n = unpack_ihB(buf, pos)
            pos += 7
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_configs: list[CreatableTopicConfigs] | None
            if n < 0:
                topics_configs = None
            else:
                room -= n * 256
                if room < 0:
                    room = verify(CreateTopicsResponse, version, buf, start, pos + n)
                topics_configs = []
                topics_configs_left, topics_configs_step = n, 8
                while topics_configs_left:
                    topics_configs_count = topics_configs_left
                    if topics_configs_left >= 8 and RUNS_OF_TEXT:
                        run = alike(SHAPE_4, buf, pos, topics_configs_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            topics_configs_left -= n
                            topics_configs += [CreatableTopicConfigs(name.decode(), value_.decode() if value_ else absent[1], read_only, config_source, is_sensitive) for name, value_, read_only, config_source, is_sensitive in rows]
                            continue
                        if topics_configs_step < topics_configs_left:
                            topics_configs_count = topics_configs_step
                        topics_configs_step *= 2
                    topics_configs_left -= topics_configs_count
                    for _ in range(topics_configs_count):
                        n = buf[pos]
                        if 0 < n < 0x80:
                            topics_configs_name = buf[pos + 1 : (pos := pos + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos)
                            if n == 0:
                                raise BadField("topics.configs.name")
                            n -= 1
                            here = pos
                            pos = here + n
                            topics_configs_name = long_text(buf, here, pos)
                        topics_configs_value: str | None
                        n = buf[pos]
                        if not n:
                            topics_configs_value = None
                            pos += 1
                        elif n == 1:
                            topics_configs_value = ""
                            pos += 1
                        elif n < 0x80:
                            topics_configs_value = buf[pos + 1 : (pos := pos + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos)
                            if n:
                                n -= 1
                                here = pos
                                pos = here + n
                                topics_configs_value = long_text(buf, here, pos)
                            else:
                                topics_configs_value = None
                        topics_configs_read_only, topics_configs_config_source, topics_configs_is_sensitive, n = unpack_zbzB(buf, pos)
                        pos += 4
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        topics_configs.append(CreatableTopicConfigs(topics_configs_name, topics_configs_value, topics_configs_read_only, topics_configs_config_source, topics_configs_is_sensitive))
            n = buf[pos]
            pos += 1
            topics_topic_config_error_code: int = 0
            if n:
                n, pos = read_uvarint(buf, pos - 1)
                topics_tag_count = n
                for _ in range(topics_tag_count):
                    tag, pos = read_uvarint(buf, pos)
                    n, pos = read_uvarint(buf, pos)
                    topics_tag_end = pos + n
                    if topics_tag_end > len(buf):
                        raise IndexError
                    if tag == 0:
                        (topics_topic_config_error_code,) = unpack_h(buf, pos)
                        pos += 2
                    else:
                        pos = topics_tag_end
                    if pos != topics_tag_end:
                        raise BadField("topics.tagged fields", "a size is not that of its content")
            topics.append(CreatableTopicResult(topics_name, ZERO_UUID, topics_error_code, topics_error_message, topics_topic_config_error_code, topics_num_partitions, topics_replication_factor, topics_configs))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return CreateTopicsResponse(throttle_time_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, CreateTopicsResponse, version, buf, start, pos) from None


decode_create_topics_response_v6 = at_version(decode_create_topics_response_v5, 6)


def decode_create_topics_response_v7(buf: bytes, pos: int, version: int = 7) -> tuple[CreateTopicsResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[CreatableTopicResult]
        if n < 0:
            raise BadField("topics")
        room -= n * 424
        if room < 0:
            room = verify(CreateTopicsResponse, version, buf, start, pos + n)
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
            topics_error_message: str | None
            topics_topic_id, topics_error_code, n = unpack_uhB(buf, pos)
            if not n:
                topics_error_message = None
                pos += 19
            elif n == 1:
                topics_error_message = ""
                pos += 19
            elif n < 0x80:
                topics_error_message = buf[pos + 19 : (pos := pos + 18 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 18)
                if n:
                    n -= 1
                    here = pos
                    pos = here + n
                    topics_error_message = long_text(buf, here, pos)
                else:
                    topics_error_message = None
            topics_num_partitions, topics_replication_factor, n = unpack_ihB(buf, pos)
            pos += 7
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_configs: list[CreatableTopicConfigs] | None
            if n < 0:
                topics_configs = None
            else:
                room -= n * 256
                if room < 0:
                    room = verify(CreateTopicsResponse, version, buf, start, pos + n)
                topics_configs = []
                topics_configs_left, topics_configs_step = n, 8
                while topics_configs_left:
                    topics_configs_count = topics_configs_left
                    if topics_configs_left >= 8 and RUNS_OF_TEXT:
                        run = alike(SHAPE_4, buf, pos, topics_configs_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            topics_configs_left -= n
                            topics_configs += [CreatableTopicConfigs(name.decode(), value_.decode() if value_ else absent[1], read_only, config_source, is_sensitive) for name, value_, read_only, config_source, is_sensitive in rows]
                            continue
                        if topics_configs_step < topics_configs_left:
                            topics_configs_count = topics_configs_step
                        topics_configs_step *= 2
                    topics_configs_left -= topics_configs_count
                    for _ in range(topics_configs_count):
                        n = buf[pos]
                        if 0 < n < 0x80:
                            topics_configs_name = buf[pos + 1 : (pos := pos + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos)
                            if n == 0:
                                raise BadField("topics.configs.name")
                            n -= 1
                            here = pos
                            pos = here + n
                            topics_configs_name = long_text(buf, here, pos)
                        topics_configs_value: str | None
                        n = buf[pos]
                        if not n:
                            topics_configs_value = None
                            pos += 1
                        elif n == 1:
                            topics_configs_value = ""
                            pos += 1
                        elif n < 0x80:
                            topics_configs_value = buf[pos + 1 : (pos := pos + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos)
                            if n:
                                n -= 1
                                here = pos
                                pos = here + n
                                topics_configs_value = long_text(buf, here, pos)
                            else:
                                topics_configs_value = None
                        topics_configs_read_only, topics_configs_config_source, topics_configs_is_sensitive, n = unpack_zbzB(buf, pos)
                        pos += 4
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        topics_configs.append(CreatableTopicConfigs(topics_configs_name, topics_configs_value, topics_configs_read_only, topics_configs_config_source, topics_configs_is_sensitive))
            n = buf[pos]
            pos += 1
            topics_topic_config_error_code: int = 0
            if n:
                n, pos = read_uvarint(buf, pos - 1)
                topics_tag_count = n
                for _ in range(topics_tag_count):
                    tag, pos = read_uvarint(buf, pos)
                    n, pos = read_uvarint(buf, pos)
                    topics_tag_end = pos + n
                    if topics_tag_end > len(buf):
                        raise IndexError
                    if tag == 0:
                        (topics_topic_config_error_code,) = unpack_h(buf, pos)
                        pos += 2
                    else:
                        pos = topics_tag_end
                    if pos != topics_tag_end:
                        raise BadField("topics.tagged fields", "a size is not that of its content")
            topics.append(CreatableTopicResult(topics_name, topics_topic_id, topics_error_code, topics_error_message, topics_topic_config_error_code, topics_num_partitions, topics_replication_factor, topics_configs))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return CreateTopicsResponse(throttle_time_ms, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, CreateTopicsResponse, version, buf, start, pos) from None


def encode_create_topics_response_v2(msg: CreateTopicsResponse, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        topics = msg.topics
        out += pack_ii(msg.throttle_time_ms, len(topics))
        for topics_item in topics:
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            text = topics_item.error_message
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_hh(topics_item.error_code, n)
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "CreateTopicsResponse", version) from error


encode_create_topics_response_v3 = at_version(encode_create_topics_response_v2, 3)


encode_create_topics_response_v4 = at_version(encode_create_topics_response_v2, 4)


def encode_create_topics_response_v5(msg: CreateTopicsResponse, out: bytearray, version: int = 5) -> None:
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
            text = topics_item.error_message
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_hB(topics_item.error_code, n)
            else:
                out += pack_h(topics_item.error_code)
                out += write_string_size(n)
            out += raw
            topics_configs = topics_item.configs
            if topics_configs is None:
                out += pack_ihx(topics_item.num_partitions, topics_item.replication_factor)
            else:
                n = len(topics_configs) + 1
                if n < 0x80:
                    out += pack_ihB(topics_item.num_partitions, topics_item.replication_factor, n)
                else:
                    out += pack_ih(topics_item.num_partitions, topics_item.replication_factor)
                    out += write_uvarint(n)
                for topics_configs_item in topics_configs:
                    raw = topics_configs_item.name.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    text = topics_configs_item.value
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
                    out += pack_zbzx(topics_configs_item.read_only, topics_configs_item.config_source, topics_configs_item.is_sensitive)
            if topics_item.topic_config_error_code:
                out += pack_BBBh(1, 0, 2, topics_item.topic_config_error_code)
            else:
                out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "CreateTopicsResponse", version) from error


encode_create_topics_response_v6 = at_version(encode_create_topics_response_v5, 6)


def encode_create_topics_response_v7(msg: CreateTopicsResponse, out: bytearray, version: int = 7) -> None:
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
            if len(topics_item.topic_id) != 16:
                raise BadField("topics.topic_id", "a UUID has 16 bytes")
            text = topics_item.error_message
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_uhB(topics_item.topic_id, topics_item.error_code, n)
            else:
                out += pack_uh(topics_item.topic_id, topics_item.error_code)
                out += write_string_size(n)
            out += raw
            topics_configs = topics_item.configs
            if topics_configs is None:
                out += pack_ihx(topics_item.num_partitions, topics_item.replication_factor)
            else:
                n = len(topics_configs) + 1
                if n < 0x80:
                    out += pack_ihB(topics_item.num_partitions, topics_item.replication_factor, n)
                else:
                    out += pack_ih(topics_item.num_partitions, topics_item.replication_factor)
                    out += write_uvarint(n)
                for topics_configs_item in topics_configs:
                    raw = topics_configs_item.name.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    text = topics_configs_item.value
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
                    out += pack_zbzx(topics_configs_item.read_only, topics_configs_item.config_source, topics_configs_item.is_sensitive)
            if topics_item.topic_config_error_code:
                out += pack_BBBh(1, 0, 2, topics_item.topic_config_error_code)
            else:
                out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "CreateTopicsResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    CreateTopicsRequest: {
        2: decode_create_topics_request_v2,
        3: decode_create_topics_request_v3,
        4: decode_create_topics_request_v4,
        5: decode_create_topics_request_v5,
        6: decode_create_topics_request_v6,
        7: decode_create_topics_request_v7,
    },
    CreateTopicsResponse: {
        2: decode_create_topics_response_v2,
        3: decode_create_topics_response_v3,
        4: decode_create_topics_response_v4,
        5: decode_create_topics_response_v5,
        6: decode_create_topics_response_v6,
        7: decode_create_topics_response_v7,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    CreateTopicsRequest: {
        2: encode_create_topics_request_v2,
        3: encode_create_topics_request_v3,
        4: encode_create_topics_request_v4,
        5: encode_create_topics_request_v5,
        6: encode_create_topics_request_v6,
        7: encode_create_topics_request_v7,
    },
    CreateTopicsResponse: {
        2: encode_create_topics_response_v2,
        3: encode_create_topics_response_v3,
        4: encode_create_topics_response_v4,
        5: encode_create_topics_response_v5,
        6: encode_create_topics_response_v6,
        7: encode_create_topics_response_v7,
    },
}
