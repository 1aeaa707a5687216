"""Codecs of protocol/messages/metadata.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import ZERO_UUID, Message
from protocol.generated.layouts import (
    unpack_h,
    unpack_hB,
    unpack_hh,
    unpack_hiii,
    unpack_hiiiB,
    unpack_hiiii,
    unpack_i,
    unpack_iB,
    unpack_ih,
    unpack_ii,
    unpack_uB,
    unpack_uzB,
    unpack_z,
    unpack_zB,
    unpack_zi,
    unpack_zzB,
    unpack_zzz,
    unpack_zzzB,
)
from protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
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

SHAPE_1 = Shape("", 0, Field("", 0, 2, False, ""))
SHAPE_2 = Shape("x", 1, Field("", 0, 1, False, ""))
SHAPE_3 = Shape("x", 1, Field("16s", 16, 1, True, ""))
SHAPE_4 = Shape("i", 4, Field("i", 4, 2, False, ""))
SHAPE_5 = Shape("", 0, Field("i", 4, 2, False, ""), Field("i", 4, 2, True, ""))
SHAPE_6 = Shape("x", 1, Field("i", 4, 1, False, ""), Field("i", 4, 1, True, ""))
pack_u = Struct(">16s").pack
pack_uz = Struct(">16s?").pack
pack_uzB = Struct(">16s?B").pack
pack_uB = Struct(">16sB").pack
pack_z = Struct(">?").pack
pack_zzz = Struct(">???").pack
pack_zzzx = Struct(">???x").pack
pack_zzx = Struct(">??x").pack
pack_zB = Struct(">?B").pack
pack_zi = Struct(">?i").pack
pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_hh = Struct(">hh").pack
pack_hiii = Struct(">hiii").pack
pack_hiiiB = Struct(">hiiiB").pack
pack_hiiii = Struct(">hiiii").pack
pack_hx = Struct(">hx").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ih = Struct(">ih").pack
pack_ihi = Struct(">ihi").pack
pack_ii = Struct(">ii").pack
pack_ix = Struct(">ix").pack


def decode_metadata_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[MetadataRequest, int]:
    start = pos
    n: int
    try:
        room = 45872 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        topics: list[MetadataRequestTopic] | None
        if n < 0:
            raise BadField("topics")
        room -= n * 128
        if room < 0:
            room, limit = verify(MetadataRequest, version, buf, start, pos + n, limit - n * 128), 0
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
                        topics += starmap(MetadataRequestTopic, rows)
                        continue
                    if is_same:
                        topics += [MetadataRequestTopic(ZERO_UUID, absent) for _ in rows]
                    else:
                        topics += [MetadataRequestTopic(ZERO_UUID, name.decode()) for name, in rows]
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
                topics.append(MetadataRequestTopic(ZERO_UUID, topics_name))
        if pos > len(buf):
            raise IndexError
        return MetadataRequest(topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataRequest, version, buf, start, pos) from None


def decode_metadata_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[MetadataRequest, int]:
    start = pos
    n: int
    try:
        room = 45872 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        topics: list[MetadataRequestTopic] | None
        if n < 0:
            topics = None
        else:
            room -= n * 128
            if room < 0:
                room, limit = verify(MetadataRequest, version, buf, start, pos + n, limit - n * 128), 0
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
                            topics += starmap(MetadataRequestTopic, rows)
                            continue
                        if is_same:
                            topics += [MetadataRequestTopic(ZERO_UUID, absent) for _ in rows]
                        else:
                            topics += [MetadataRequestTopic(ZERO_UUID, name.decode()) for name, in rows]
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
                    topics.append(MetadataRequestTopic(ZERO_UUID, topics_name))
        if pos > len(buf):
            raise IndexError
        return MetadataRequest(topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataRequest, version, buf, start, pos) from None


decode_metadata_request_v2 = at_version(decode_metadata_request_v1, 2)


decode_metadata_request_v3 = at_version(decode_metadata_request_v1, 3)


def decode_metadata_request_v4(buf: bytes, pos: int, version: int = 4) -> tuple[MetadataRequest, int]:
    start = pos
    n: int
    try:
        room = 45872 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        topics: list[MetadataRequestTopic] | None
        if n < 0:
            topics = None
        else:
            room -= n * 128
            if room < 0:
                room, limit = verify(MetadataRequest, version, buf, start, pos + n, limit - n * 128), 0
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
                            topics += starmap(MetadataRequestTopic, rows)
                            continue
                        if is_same:
                            topics += [MetadataRequestTopic(ZERO_UUID, absent) for _ in rows]
                        else:
                            topics += [MetadataRequestTopic(ZERO_UUID, name.decode()) for name, in rows]
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
                    topics.append(MetadataRequestTopic(ZERO_UUID, topics_name))
        (allow_auto_topic_creation,) = unpack_z(buf, pos)
        pos += 1
        return MetadataRequest(topics, allow_auto_topic_creation), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataRequest, version, buf, start, pos) from None


decode_metadata_request_v5 = at_version(decode_metadata_request_v4, 5)


decode_metadata_request_v6 = at_version(decode_metadata_request_v4, 6)


decode_metadata_request_v7 = at_version(decode_metadata_request_v4, 7)


def decode_metadata_request_v8(buf: bytes, pos: int, version: int = 8) -> tuple[MetadataRequest, int]:
    start = pos
    n: int
    try:
        room = 45872 - 2 * len(buf)
        limit = 16777216
        (n,) = unpack_i(buf, pos)
        pos += 4
        topics: list[MetadataRequestTopic] | None
        if n < 0:
            topics = None
        else:
            room -= n * 128
            if room < 0:
                room, limit = verify(MetadataRequest, version, buf, start, pos + n, limit - n * 128), 0
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
                            topics += starmap(MetadataRequestTopic, rows)
                            continue
                        if is_same:
                            topics += [MetadataRequestTopic(ZERO_UUID, absent) for _ in rows]
                        else:
                            topics += [MetadataRequestTopic(ZERO_UUID, name.decode()) for name, in rows]
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
                    topics.append(MetadataRequestTopic(ZERO_UUID, topics_name))
        allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations = unpack_zzz(buf, pos)
        pos += 3
        return MetadataRequest(topics, allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataRequest, version, buf, start, pos) from None


def decode_metadata_request_v9(buf: bytes, pos: int, version: int = 9) -> tuple[MetadataRequest, int]:
    start = pos
    n: int
    try:
        room = 45872 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[MetadataRequestTopic] | None
        if n < 0:
            topics = None
        else:
            room -= n * 128
            if room < 0:
                room, limit = verify(MetadataRequest, version, buf, start, pos + n, limit - n * 128), 0
            topics = []
            topics_left, topics_step = n, 8
            while topics_left:
                topics_count = topics_left
                if topics_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_2, buf, pos, topics_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topics_left -= n
                        if is_same and absent == "":
                            topics += starmap(MetadataRequestTopic, rows)
                            continue
                        if is_same:
                            topics += [MetadataRequestTopic(ZERO_UUID, absent) for _ in rows]
                        else:
                            topics += [MetadataRequestTopic(ZERO_UUID, name.decode()) for name, in rows]
                        continue
                    if topics_step < topics_left:
                        topics_count = topics_step
                    topics_step *= 2
                topics_left -= topics_count
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
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics.append(MetadataRequestTopic(ZERO_UUID, topics_name))
        allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations, n = unpack_zzzB(buf, pos)
        pos += 4
        if n:
            pos = skip_tags(buf, pos - 1)
        return MetadataRequest(topics, allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataRequest, version, buf, start, pos) from None


def decode_metadata_request_v10(buf: bytes, pos: int, version: int = 10) -> tuple[MetadataRequest, int]:
    start = pos
    n: int
    try:
        room = 45872 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[MetadataRequestTopic] | None
        if n < 0:
            topics = None
        else:
            room -= n * 128
            if room < 0:
                room, limit = verify(MetadataRequest, version, buf, start, pos + n, limit - n * 128), 0
            topics = []
            topics_left, topics_step = n, 8
            while topics_left:
                topics_count = topics_left
                if topics_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_3, buf, pos, topics_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topics_left -= n
                        if is_same and absent == "":
                            topics += starmap(MetadataRequestTopic, rows)
                            continue
                        if is_same:
                            topics += [MetadataRequestTopic(topic_id, absent) for topic_id, in rows]
                        else:
                            topics += [MetadataRequestTopic(topic_id, name.decode()) for topic_id, name in rows]
                        continue
                    if topics_step < topics_left:
                        topics_count = topics_step
                    topics_step *= 2
                topics_left -= topics_count
                for _ in range(topics_count):
                    topics_name: str | None
                    topics_topic_id, n = unpack_uB(buf, pos)
                    if not n:
                        topics_name = None
                        pos += 17
                    elif n == 1:
                        topics_name = ""
                        pos += 17
                    elif n < 0x80:
                        topics_name = buf[pos + 17 : (pos := pos + 16 + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos + 16)
                        if n:
                            n -= 1
                            here = pos
                            pos = here + n
                            topics_name = long_text(buf, here, pos)
                        else:
                            topics_name = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics.append(MetadataRequestTopic(topics_topic_id, topics_name))
        allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations, n = unpack_zzzB(buf, pos)
        pos += 4
        if n:
            pos = skip_tags(buf, pos - 1)
        return MetadataRequest(topics, allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataRequest, version, buf, start, pos) from None


def decode_metadata_request_v11(buf: bytes, pos: int, version: int = 11) -> tuple[MetadataRequest, int]:
    start = pos
    n: int
    try:
        room = 45872 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[MetadataRequestTopic] | None
        if n < 0:
            topics = None
        else:
            room -= n * 128
            if room < 0:
                room, limit = verify(MetadataRequest, version, buf, start, pos + n, limit - n * 128), 0
            topics = []
            topics_left, topics_step = n, 8
            while topics_left:
                topics_count = topics_left
                if topics_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_3, buf, pos, topics_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topics_left -= n
                        if is_same and absent == "":
                            topics += starmap(MetadataRequestTopic, rows)
                            continue
                        if is_same:
                            topics += [MetadataRequestTopic(topic_id, absent) for topic_id, in rows]
                        else:
                            topics += [MetadataRequestTopic(topic_id, name.decode()) for topic_id, name in rows]
                        continue
                    if topics_step < topics_left:
                        topics_count = topics_step
                    topics_step *= 2
                topics_left -= topics_count
                for _ in range(topics_count):
                    topics_name: str | None
                    topics_topic_id, n = unpack_uB(buf, pos)
                    if not n:
                        topics_name = None
                        pos += 17
                    elif n == 1:
                        topics_name = ""
                        pos += 17
                    elif n < 0x80:
                        topics_name = buf[pos + 17 : (pos := pos + 16 + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos + 16)
                        if n:
                            n -= 1
                            here = pos
                            pos = here + n
                            topics_name = long_text(buf, here, pos)
                        else:
                            topics_name = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics.append(MetadataRequestTopic(topics_topic_id, topics_name))
        allow_auto_topic_creation, include_topic_authorized_operations, n = unpack_zzB(buf, pos)
        pos += 3
        if n:
            pos = skip_tags(buf, pos - 1)
        return MetadataRequest(topics, allow_auto_topic_creation, False, include_topic_authorized_operations), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataRequest, version, buf, start, pos) from None


decode_metadata_request_v12 = at_version(decode_metadata_request_v11, 12)


decode_metadata_request_v13 = at_version(decode_metadata_request_v11, 13)


def encode_metadata_request_v0(msg: MetadataRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.allow_auto_topic_creation != True:
            raise not_in_version("allow_auto_topic_creation")
        if msg.include_cluster_authorized_operations:
            raise not_in_version("include_cluster_authorized_operations")
        if msg.include_topic_authorized_operations:
            raise not_in_version("include_topic_authorized_operations")
        topics = msg.topics
        if topics is None:
            raise BadField("topics")
        out += pack_i(len(topics))
        for topics_item in topics:
            if topics_item.name is None:
                raise BadField("topics.name")
            raw = topics_item.name.encode()
            out += pack_h(len(raw))
            out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataRequest", version) from error


def encode_metadata_request_v1(msg: MetadataRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        if msg.allow_auto_topic_creation != True:
            raise not_in_version("allow_auto_topic_creation")
        if msg.include_cluster_authorized_operations:
            raise not_in_version("include_cluster_authorized_operations")
        if msg.include_topic_authorized_operations:
            raise not_in_version("include_topic_authorized_operations")
        topics = msg.topics
        if topics is None:
            out += pack_i(-1)
        else:
            out += pack_i(len(topics))
            for topics_item in topics:
                if topics_item.name is None:
                    raise BadField("topics.name")
                raw = topics_item.name.encode()
                out += pack_h(len(raw))
                out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataRequest", version) from error


encode_metadata_request_v2 = at_version(encode_metadata_request_v1, 2)


encode_metadata_request_v3 = at_version(encode_metadata_request_v1, 3)


def encode_metadata_request_v4(msg: MetadataRequest, out: bytearray, version: int = 4) -> None:
    start = len(out)
    try:
        if msg.include_cluster_authorized_operations:
            raise not_in_version("include_cluster_authorized_operations")
        if msg.include_topic_authorized_operations:
            raise not_in_version("include_topic_authorized_operations")
        topics = msg.topics
        if topics is None:
            out += pack_i(-1)
        else:
            out += pack_i(len(topics))
            for topics_item in topics:
                if topics_item.name is None:
                    raise BadField("topics.name")
                raw = topics_item.name.encode()
                out += pack_h(len(raw))
                out += raw
        out += pack_z(msg.allow_auto_topic_creation)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataRequest", version) from error


encode_metadata_request_v5 = at_version(encode_metadata_request_v4, 5)


encode_metadata_request_v6 = at_version(encode_metadata_request_v4, 6)


encode_metadata_request_v7 = at_version(encode_metadata_request_v4, 7)


def encode_metadata_request_v8(msg: MetadataRequest, out: bytearray, version: int = 8) -> None:
    start = len(out)
    try:
        topics = msg.topics
        if topics is None:
            out += pack_i(-1)
        else:
            out += pack_i(len(topics))
            for topics_item in topics:
                if topics_item.name is None:
                    raise BadField("topics.name")
                raw = topics_item.name.encode()
                out += pack_h(len(raw))
                out += raw
        out += pack_zzz(msg.allow_auto_topic_creation, msg.include_cluster_authorized_operations, msg.include_topic_authorized_operations)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataRequest", version) from error


def encode_metadata_request_v9(msg: MetadataRequest, out: bytearray, version: int = 9) -> None:
    start = len(out)
    try:
        topics = msg.topics
        if topics is None:
            out.append(0)
        else:
            n = len(topics) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for topics_item in topics:
                if topics_item.name is None:
                    raise BadField("topics.name")
                raw = topics_item.name.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                out.append(0)
        out += pack_zzzx(msg.allow_auto_topic_creation, msg.include_cluster_authorized_operations, msg.include_topic_authorized_operations)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataRequest", version) from error


def encode_metadata_request_v10(msg: MetadataRequest, out: bytearray, version: int = 10) -> None:
    start = len(out)
    try:
        topics = msg.topics
        if topics is None:
            out.append(0)
        else:
            n = len(topics) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for topics_item in topics:
                if len(topics_item.topic_id) != 16:
                    raise BadField("topics.topic_id", "a UUID has 16 bytes")
                text = topics_item.name
                if text is None:
                    n, raw = 0, b""
                else:
                    raw = text.encode()
                    n = len(raw) + 1
                if n < 0x80:
                    out += pack_uB(topics_item.topic_id, n)
                else:
                    out += pack_u(topics_item.topic_id)
                    out += write_string_size(n)
                out += raw
                out.append(0)
        out += pack_zzzx(msg.allow_auto_topic_creation, msg.include_cluster_authorized_operations, msg.include_topic_authorized_operations)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataRequest", version) from error


def encode_metadata_request_v11(msg: MetadataRequest, out: bytearray, version: int = 11) -> None:
    start = len(out)
    try:
        if msg.include_cluster_authorized_operations:
            raise not_in_version("include_cluster_authorized_operations")
        topics = msg.topics
        if topics is None:
            out.append(0)
        else:
            n = len(topics) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for topics_item in topics:
                if len(topics_item.topic_id) != 16:
                    raise BadField("topics.topic_id", "a UUID has 16 bytes")
                text = topics_item.name
                if text is None:
                    n, raw = 0, b""
                else:
                    raw = text.encode()
                    n = len(raw) + 1
                if n < 0x80:
                    out += pack_uB(topics_item.topic_id, n)
                else:
                    out += pack_u(topics_item.topic_id)
                    out += write_string_size(n)
                out += raw
                out.append(0)
        out += pack_zzx(msg.allow_auto_topic_creation, msg.include_topic_authorized_operations)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataRequest", version) from error


encode_metadata_request_v12 = at_version(encode_metadata_request_v11, 12)


encode_metadata_request_v13 = at_version(encode_metadata_request_v11, 13)


def decode_metadata_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[MetadataResponse, int]:
    start = pos
    n: int
    try:
        room = 45760 - 2 * len(buf)
        (n,) = unpack_i(buf, pos)
        pos += 4
        brokers: list[MetadataResponseBroker]
        if n < 0:
            raise BadField("brokers")
        room -= n * 176
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        brokers = []
        brokers_left, brokers_step = n, 8
        while brokers_left:
            brokers_count = brokers_left
            if brokers_left >= 8:
                run = alike(SHAPE_4, buf, pos, brokers_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    brokers_left -= n
                    if is_same:
                        brokers += [MetadataResponseBroker(node_id, absent, port) for node_id, port in rows]
                    else:
                        brokers += [MetadataResponseBroker(node_id, host.decode(), port) for node_id, host, port in rows]
                    continue
                if brokers_step < brokers_left:
                    brokers_count = brokers_step
                brokers_step *= 2
            brokers_left -= brokers_count
            for _ in range(brokers_count):
                brokers_node_id, n = unpack_ih(buf, pos)
                if n < 0:
                    raise BadField("brokers.host")
                if n < 0x80:
                    brokers_host = buf[pos + 6 : (pos := pos + 6 + n)].decode()
                else:
                    here = pos + 6
                    pos = here + n
                    brokers_host = long_text(buf, here, pos)
                (brokers_port,) = unpack_i(buf, pos)
                pos += 4
                brokers.append(MetadataResponseBroker(brokers_node_id, brokers_host, brokers_port))
        (n,) = unpack_i(buf, pos)
        pos += 4
        topics: list[MetadataResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 248
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_error_code, n = unpack_hh(buf, pos)
            if n < 0:
                raise BadField("topics.name")
            if n < 0x80:
                topics_name = buf[pos + 4 : (pos := pos + 4 + n)].decode()
            else:
                here = pos + 4
                pos = here + n
                topics_name = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            topics_partitions: list[MetadataResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 368
            if room < 0:
                room = verify(MetadataResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, n = unpack_hiii(buf, pos)
                pos += 14
                topics_partitions_replica_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.replica_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                (n,) = unpack_i(buf, pos)
                pos += 4
                topics_partitions_isr_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.isr_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                topics_partitions.append(MetadataResponsePartition(topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, -1, topics_partitions_replica_nodes, topics_partitions_isr_nodes))
            topics.append(MetadataResponseTopic(topics_error_code, topics_name, ZERO_UUID, False, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return MetadataResponse(0, brokers, None, -1, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataResponse, version, buf, start, pos) from None


def decode_metadata_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[MetadataResponse, int]:
    start = pos
    n: int
    try:
        room = 45728 - 2 * len(buf)
        (n,) = unpack_i(buf, pos)
        pos += 4
        brokers: list[MetadataResponseBroker]
        if n < 0:
            raise BadField("brokers")
        room -= n * 248
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        brokers = []
        brokers_left, brokers_step = n, 8
        while brokers_left:
            brokers_count = brokers_left
            if brokers_left >= 8:
                run = alike(SHAPE_5, buf, pos, brokers_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    brokers_left -= n
                    brokers += [MetadataResponseBroker(node_id, host.decode(), port, rack.decode() if rack else absent[1]) for node_id, host, port, rack in rows]
                    continue
                if brokers_step < brokers_left:
                    brokers_count = brokers_step
                brokers_step *= 2
            brokers_left -= brokers_count
            for _ in range(brokers_count):
                brokers_node_id, n = unpack_ih(buf, pos)
                if n < 0:
                    raise BadField("brokers.host")
                if n < 0x80:
                    brokers_host = buf[pos + 6 : (pos := pos + 6 + n)].decode()
                else:
                    here = pos + 6
                    pos = here + n
                    brokers_host = long_text(buf, here, pos)
                brokers_rack: str | None
                brokers_port, n = unpack_ih(buf, pos)
                if n < 0:
                    brokers_rack = None
                    pos += 6
                elif n < 0x80:
                    brokers_rack = buf[pos + 6 : (pos := pos + 6 + n)].decode()
                else:
                    here = pos + 6
                    pos = here + n
                    brokers_rack = long_text(buf, here, pos)
                brokers.append(MetadataResponseBroker(brokers_node_id, brokers_host, brokers_port, brokers_rack))
        controller_id, n = unpack_ii(buf, pos)
        pos += 8
        topics: list[MetadataResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 244
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_error_code, n = unpack_hh(buf, pos)
            if n < 0:
                raise BadField("topics.name")
            if n < 0x80:
                topics_name = buf[pos + 4 : (pos := pos + 4 + n)].decode()
            else:
                here = pos + 4
                pos = here + n
                topics_name = long_text(buf, here, pos)
            topics_is_internal, n = unpack_zi(buf, pos)
            pos += 5
            topics_partitions: list[MetadataResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 368
            if room < 0:
                room = verify(MetadataResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, n = unpack_hiii(buf, pos)
                pos += 14
                topics_partitions_replica_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.replica_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                (n,) = unpack_i(buf, pos)
                pos += 4
                topics_partitions_isr_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.isr_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                topics_partitions.append(MetadataResponsePartition(topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, -1, topics_partitions_replica_nodes, topics_partitions_isr_nodes))
            topics.append(MetadataResponseTopic(topics_error_code, topics_name, ZERO_UUID, topics_is_internal, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return MetadataResponse(0, brokers, None, controller_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataResponse, version, buf, start, pos) from None


def decode_metadata_response_v2(buf: bytes, pos: int, version: int = 2) -> tuple[MetadataResponse, int]:
    start = pos
    n: int
    try:
        room = 45648 - 2 * len(buf)
        (n,) = unpack_i(buf, pos)
        pos += 4
        brokers: list[MetadataResponseBroker]
        if n < 0:
            raise BadField("brokers")
        room -= n * 248
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        brokers = []
        brokers_left, brokers_step = n, 8
        while brokers_left:
            brokers_count = brokers_left
            if brokers_left >= 8:
                run = alike(SHAPE_5, buf, pos, brokers_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    brokers_left -= n
                    brokers += [MetadataResponseBroker(node_id, host.decode(), port, rack.decode() if rack else absent[1]) for node_id, host, port, rack in rows]
                    continue
                if brokers_step < brokers_left:
                    brokers_count = brokers_step
                brokers_step *= 2
            brokers_left -= brokers_count
            for _ in range(brokers_count):
                brokers_node_id, n = unpack_ih(buf, pos)
                if n < 0:
                    raise BadField("brokers.host")
                if n < 0x80:
                    brokers_host = buf[pos + 6 : (pos := pos + 6 + n)].decode()
                else:
                    here = pos + 6
                    pos = here + n
                    brokers_host = long_text(buf, here, pos)
                brokers_rack: str | None
                brokers_port, n = unpack_ih(buf, pos)
                if n < 0:
                    brokers_rack = None
                    pos += 6
                elif n < 0x80:
                    brokers_rack = buf[pos + 6 : (pos := pos + 6 + n)].decode()
                else:
                    here = pos + 6
                    pos = here + n
                    brokers_rack = long_text(buf, here, pos)
                brokers.append(MetadataResponseBroker(brokers_node_id, brokers_host, brokers_port, brokers_rack))
        cluster_id: str | None
        (n,) = unpack_h(buf, pos)
        if n < 0:
            cluster_id = None
            pos += 2
        elif n < 0x80:
            cluster_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            cluster_id = long_text(buf, here, pos)
        controller_id, n = unpack_ii(buf, pos)
        pos += 8
        topics: list[MetadataResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 244
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_error_code, n = unpack_hh(buf, pos)
            if n < 0:
                raise BadField("topics.name")
            if n < 0x80:
                topics_name = buf[pos + 4 : (pos := pos + 4 + n)].decode()
            else:
                here = pos + 4
                pos = here + n
                topics_name = long_text(buf, here, pos)
            topics_is_internal, n = unpack_zi(buf, pos)
            pos += 5
            topics_partitions: list[MetadataResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 368
            if room < 0:
                room = verify(MetadataResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, n = unpack_hiii(buf, pos)
                pos += 14
                topics_partitions_replica_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.replica_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                (n,) = unpack_i(buf, pos)
                pos += 4
                topics_partitions_isr_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.isr_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                topics_partitions.append(MetadataResponsePartition(topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, -1, topics_partitions_replica_nodes, topics_partitions_isr_nodes))
            topics.append(MetadataResponseTopic(topics_error_code, topics_name, ZERO_UUID, topics_is_internal, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return MetadataResponse(0, brokers, cluster_id, controller_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataResponse, version, buf, start, pos) from None


def decode_metadata_response_v3(buf: bytes, pos: int, version: int = 3) -> tuple[MetadataResponse, int]:
    start = pos
    n: int
    try:
        room = 45616 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        brokers: list[MetadataResponseBroker]
        if n < 0:
            raise BadField("brokers")
        room -= n * 248
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        brokers = []
        brokers_left, brokers_step = n, 8
        while brokers_left:
            brokers_count = brokers_left
            if brokers_left >= 8:
                run = alike(SHAPE_5, buf, pos, brokers_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    brokers_left -= n
                    brokers += [MetadataResponseBroker(node_id, host.decode(), port, rack.decode() if rack else absent[1]) for node_id, host, port, rack in rows]
                    continue
                if brokers_step < brokers_left:
                    brokers_count = brokers_step
                brokers_step *= 2
            brokers_left -= brokers_count
            for _ in range(brokers_count):
                brokers_node_id, n = unpack_ih(buf, pos)
                if n < 0:
                    raise BadField("brokers.host")
                if n < 0x80:
                    brokers_host = buf[pos + 6 : (pos := pos + 6 + n)].decode()
                else:
                    here = pos + 6
                    pos = here + n
                    brokers_host = long_text(buf, here, pos)
                brokers_rack: str | None
                brokers_port, n = unpack_ih(buf, pos)
                if n < 0:
                    brokers_rack = None
                    pos += 6
                elif n < 0x80:
                    brokers_rack = buf[pos + 6 : (pos := pos + 6 + n)].decode()
                else:
                    here = pos + 6
                    pos = here + n
                    brokers_rack = long_text(buf, here, pos)
                brokers.append(MetadataResponseBroker(brokers_node_id, brokers_host, brokers_port, brokers_rack))
        cluster_id: str | None
        (n,) = unpack_h(buf, pos)
        if n < 0:
            cluster_id = None
            pos += 2
        elif n < 0x80:
            cluster_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            cluster_id = long_text(buf, here, pos)
        controller_id, n = unpack_ii(buf, pos)
        pos += 8
        topics: list[MetadataResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 244
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_error_code, n = unpack_hh(buf, pos)
            if n < 0:
                raise BadField("topics.name")
            if n < 0x80:
                topics_name = buf[pos + 4 : (pos := pos + 4 + n)].decode()
            else:
                here = pos + 4
                pos = here + n
                topics_name = long_text(buf, here, pos)
            topics_is_internal, n = unpack_zi(buf, pos)
            pos += 5
            topics_partitions: list[MetadataResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 368
            if room < 0:
                room = verify(MetadataResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, n = unpack_hiii(buf, pos)
                pos += 14
                topics_partitions_replica_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.replica_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                (n,) = unpack_i(buf, pos)
                pos += 4
                topics_partitions_isr_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.isr_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                topics_partitions.append(MetadataResponsePartition(topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, -1, topics_partitions_replica_nodes, topics_partitions_isr_nodes))
            topics.append(MetadataResponseTopic(topics_error_code, topics_name, ZERO_UUID, topics_is_internal, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataResponse, version, buf, start, pos) from None


decode_metadata_response_v4 = at_version(decode_metadata_response_v3, 4)


def decode_metadata_response_v5(buf: bytes, pos: int, version: int = 5) -> tuple[MetadataResponse, int]:
    start = pos
    n: int
    try:
        room = 45616 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        brokers: list[MetadataResponseBroker]
        if n < 0:
            raise BadField("brokers")
        room -= n * 248
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        brokers = []
        brokers_left, brokers_step = n, 8
        while brokers_left:
            brokers_count = brokers_left
            if brokers_left >= 8:
                run = alike(SHAPE_5, buf, pos, brokers_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    brokers_left -= n
                    brokers += [MetadataResponseBroker(node_id, host.decode(), port, rack.decode() if rack else absent[1]) for node_id, host, port, rack in rows]
                    continue
                if brokers_step < brokers_left:
                    brokers_count = brokers_step
                brokers_step *= 2
            brokers_left -= brokers_count
            for _ in range(brokers_count):
                brokers_node_id, n = unpack_ih(buf, pos)
                if n < 0:
                    raise BadField("brokers.host")
                if n < 0x80:
                    brokers_host = buf[pos + 6 : (pos := pos + 6 + n)].decode()
                else:
                    here = pos + 6
                    pos = here + n
                    brokers_host = long_text(buf, here, pos)
                brokers_rack: str | None
                brokers_port, n = unpack_ih(buf, pos)
                if n < 0:
                    brokers_rack = None
                    pos += 6
                elif n < 0x80:
                    brokers_rack = buf[pos + 6 : (pos := pos + 6 + n)].decode()
                else:
                    here = pos + 6
                    pos = here + n
                    brokers_rack = long_text(buf, here, pos)
                brokers.append(MetadataResponseBroker(brokers_node_id, brokers_host, brokers_port, brokers_rack))
        cluster_id: str | None
        (n,) = unpack_h(buf, pos)
        if n < 0:
            cluster_id = None
            pos += 2
        elif n < 0x80:
            cluster_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            cluster_id = long_text(buf, here, pos)
        controller_id, n = unpack_ii(buf, pos)
        pos += 8
        topics: list[MetadataResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 244
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_error_code, n = unpack_hh(buf, pos)
            if n < 0:
                raise BadField("topics.name")
            if n < 0x80:
                topics_name = buf[pos + 4 : (pos := pos + 4 + n)].decode()
            else:
                here = pos + 4
                pos = here + n
                topics_name = long_text(buf, here, pos)
            topics_is_internal, n = unpack_zi(buf, pos)
            pos += 5
            topics_partitions: list[MetadataResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 352
            if room < 0:
                room = verify(MetadataResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, n = unpack_hiii(buf, pos)
                pos += 14
                topics_partitions_replica_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.replica_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                (n,) = unpack_i(buf, pos)
                pos += 4
                topics_partitions_isr_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.isr_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                (n,) = unpack_i(buf, pos)
                pos += 4
                topics_partitions_offline_replicas: list[int]
                if n < 0:
                    raise BadField("topics.partitions.offline_replicas")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                topics_partitions.append(MetadataResponsePartition(topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, -1, topics_partitions_replica_nodes, topics_partitions_isr_nodes, topics_partitions_offline_replicas))
            topics.append(MetadataResponseTopic(topics_error_code, topics_name, ZERO_UUID, topics_is_internal, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataResponse, version, buf, start, pos) from None


decode_metadata_response_v6 = at_version(decode_metadata_response_v5, 6)


def decode_metadata_response_v7(buf: bytes, pos: int, version: int = 7) -> tuple[MetadataResponse, int]:
    start = pos
    n: int
    try:
        room = 45616 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        brokers: list[MetadataResponseBroker]
        if n < 0:
            raise BadField("brokers")
        room -= n * 248
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        brokers = []
        brokers_left, brokers_step = n, 8
        while brokers_left:
            brokers_count = brokers_left
            if brokers_left >= 8:
                run = alike(SHAPE_5, buf, pos, brokers_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    brokers_left -= n
                    brokers += [MetadataResponseBroker(node_id, host.decode(), port, rack.decode() if rack else absent[1]) for node_id, host, port, rack in rows]
                    continue
                if brokers_step < brokers_left:
                    brokers_count = brokers_step
                brokers_step *= 2
            brokers_left -= brokers_count
            for _ in range(brokers_count):
                brokers_node_id, n = unpack_ih(buf, pos)
                if n < 0:
                    raise BadField("brokers.host")
                if n < 0x80:
                    brokers_host = buf[pos + 6 : (pos := pos + 6 + n)].decode()
                else:
                    here = pos + 6
                    pos = here + n
                    brokers_host = long_text(buf, here, pos)
                brokers_rack: str | None
                brokers_port, n = unpack_ih(buf, pos)
                if n < 0:
                    brokers_rack = None
                    pos += 6
                elif n < 0x80:
                    brokers_rack = buf[pos + 6 : (pos := pos + 6 + n)].decode()
                else:
                    here = pos + 6
                    pos = here + n
                    brokers_rack = long_text(buf, here, pos)
                brokers.append(MetadataResponseBroker(brokers_node_id, brokers_host, brokers_port, brokers_rack))
        cluster_id: str | None
        (n,) = unpack_h(buf, pos)
        if n < 0:
            cluster_id = None
            pos += 2
        elif n < 0x80:
            cluster_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            cluster_id = long_text(buf, here, pos)
        controller_id, n = unpack_ii(buf, pos)
        pos += 8
        topics: list[MetadataResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 244
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_error_code, n = unpack_hh(buf, pos)
            if n < 0:
                raise BadField("topics.name")
            if n < 0x80:
                topics_name = buf[pos + 4 : (pos := pos + 4 + n)].decode()
            else:
                here = pos + 4
                pos = here + n
                topics_name = long_text(buf, here, pos)
            topics_is_internal, n = unpack_zi(buf, pos)
            pos += 5
            topics_partitions: list[MetadataResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 368
            if room < 0:
                room = verify(MetadataResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, topics_partitions_leader_epoch, n = unpack_hiiii(buf, pos)
                pos += 18
                topics_partitions_replica_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.replica_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                (n,) = unpack_i(buf, pos)
                pos += 4
                topics_partitions_isr_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.isr_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                (n,) = unpack_i(buf, pos)
                pos += 4
                topics_partitions_offline_replicas: list[int]
                if n < 0:
                    raise BadField("topics.partitions.offline_replicas")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                topics_partitions.append(MetadataResponsePartition(topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, topics_partitions_leader_epoch, topics_partitions_replica_nodes, topics_partitions_isr_nodes, topics_partitions_offline_replicas))
            topics.append(MetadataResponseTopic(topics_error_code, topics_name, ZERO_UUID, topics_is_internal, topics_partitions))
        if pos > len(buf):
            raise IndexError
        return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataResponse, version, buf, start, pos) from None


def decode_metadata_response_v8(buf: bytes, pos: int, version: int = 8) -> tuple[MetadataResponse, int]:
    start = pos
    n: int
    try:
        room = 45584 - 2 * len(buf)
        throttle_time_ms, n = unpack_ii(buf, pos)
        pos += 8
        brokers: list[MetadataResponseBroker]
        if n < 0:
            raise BadField("brokers")
        room -= n * 248
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        brokers = []
        brokers_left, brokers_step = n, 8
        while brokers_left:
            brokers_count = brokers_left
            if brokers_left >= 8:
                run = alike(SHAPE_5, buf, pos, brokers_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    brokers_left -= n
                    brokers += [MetadataResponseBroker(node_id, host.decode(), port, rack.decode() if rack else absent[1]) for node_id, host, port, rack in rows]
                    continue
                if brokers_step < brokers_left:
                    brokers_count = brokers_step
                brokers_step *= 2
            brokers_left -= brokers_count
            for _ in range(brokers_count):
                brokers_node_id, n = unpack_ih(buf, pos)
                if n < 0:
                    raise BadField("brokers.host")
                if n < 0x80:
                    brokers_host = buf[pos + 6 : (pos := pos + 6 + n)].decode()
                else:
                    here = pos + 6
                    pos = here + n
                    brokers_host = long_text(buf, here, pos)
                brokers_rack: str | None
                brokers_port, n = unpack_ih(buf, pos)
                if n < 0:
                    brokers_rack = None
                    pos += 6
                elif n < 0x80:
                    brokers_rack = buf[pos + 6 : (pos := pos + 6 + n)].decode()
                else:
                    here = pos + 6
                    pos = here + n
                    brokers_rack = long_text(buf, here, pos)
                brokers.append(MetadataResponseBroker(brokers_node_id, brokers_host, brokers_port, brokers_rack))
        cluster_id: str | None
        (n,) = unpack_h(buf, pos)
        if n < 0:
            cluster_id = None
            pos += 2
        elif n < 0x80:
            cluster_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            cluster_id = long_text(buf, here, pos)
        controller_id, n = unpack_ii(buf, pos)
        pos += 8
        topics: list[MetadataResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 260
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_error_code, n = unpack_hh(buf, pos)
            if n < 0:
                raise BadField("topics.name")
            if n < 0x80:
                topics_name = buf[pos + 4 : (pos := pos + 4 + n)].decode()
            else:
                here = pos + 4
                pos = here + n
                topics_name = long_text(buf, here, pos)
            topics_is_internal, n = unpack_zi(buf, pos)
            pos += 5
            topics_partitions: list[MetadataResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 368
            if room < 0:
                room = verify(MetadataResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, topics_partitions_leader_epoch, n = unpack_hiiii(buf, pos)
                pos += 18
                topics_partitions_replica_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.replica_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                (n,) = unpack_i(buf, pos)
                pos += 4
                topics_partitions_isr_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.isr_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                (n,) = unpack_i(buf, pos)
                pos += 4
                topics_partitions_offline_replicas: list[int]
                if n < 0:
                    raise BadField("topics.partitions.offline_replicas")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                topics_partitions.append(MetadataResponsePartition(topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, topics_partitions_leader_epoch, topics_partitions_replica_nodes, topics_partitions_isr_nodes, topics_partitions_offline_replicas))
            (topics_topic_authorized_operations,) = unpack_i(buf, pos)
            pos += 4
            topics.append(MetadataResponseTopic(topics_error_code, topics_name, ZERO_UUID, topics_is_internal, topics_partitions, topics_topic_authorized_operations))
        (cluster_authorized_operations,) = unpack_i(buf, pos)
        pos += 4
        return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, cluster_authorized_operations), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataResponse, version, buf, start, pos) from None


def decode_metadata_response_v9(buf: bytes, pos: int, version: int = 9) -> tuple[MetadataResponse, int]:
    start = pos
    n: int
    try:
        room = 45584 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        brokers: list[MetadataResponseBroker]
        if n < 0:
            raise BadField("brokers")
        room -= n * 252
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        brokers = []
        brokers_left, brokers_step = n, 8
        while brokers_left:
            brokers_count = brokers_left
            if brokers_left >= 8:
                run = alike(SHAPE_6, buf, pos, brokers_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    brokers_left -= n
                    brokers += [MetadataResponseBroker(node_id, host.decode(), port, rack.decode() if rack else absent[1]) for node_id, host, port, rack in rows]
                    continue
                if brokers_step < brokers_left:
                    brokers_count = brokers_step
                brokers_step *= 2
            brokers_left -= brokers_count
            for _ in range(brokers_count):
                brokers_node_id, n = unpack_iB(buf, pos)
                if 0 < n < 0x80:
                    brokers_host = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n == 0:
                        raise BadField("brokers.host")
                    n -= 1
                    here = pos
                    pos = here + n
                    brokers_host = long_text(buf, here, pos)
                brokers_rack: str | None
                brokers_port, n = unpack_iB(buf, pos)
                if not n:
                    brokers_rack = None
                    pos += 5
                elif n == 1:
                    brokers_rack = ""
                    pos += 5
                elif n < 0x80:
                    brokers_rack = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        brokers_rack = long_text(buf, here, pos)
                    else:
                        brokers_rack = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                brokers.append(MetadataResponseBroker(brokers_node_id, brokers_host, brokers_port, brokers_rack))
        cluster_id: str | None
        n = buf[pos]
        if not n:
            cluster_id = None
            pos += 1
        elif n == 1:
            cluster_id = ""
            pos += 1
        elif n < 0x80:
            cluster_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                cluster_id = long_text(buf, here, pos)
            else:
                cluster_id = None
        controller_id, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[MetadataResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 272
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_error_code, n = unpack_hB(buf, pos)
            if 0 < n < 0x80:
                topics_name = buf[pos + 3 : (pos := pos + 2 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 2)
                if n == 0:
                    raise BadField("topics.name")
                n -= 1
                here = pos
                pos = here + n
                topics_name = long_text(buf, here, pos)
            topics_is_internal, n = unpack_zB(buf, pos)
            pos += 2
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[MetadataResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 400
            if room < 0:
                room = verify(MetadataResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, topics_partitions_leader_epoch, n = unpack_hiiiB(buf, pos)
                pos += 15
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_replica_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.replica_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_isr_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.isr_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_offline_replicas: list[int]
                if n < 0:
                    raise BadField("topics.partitions.offline_replicas")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                topics_partitions.append(MetadataResponsePartition(topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, topics_partitions_leader_epoch, topics_partitions_replica_nodes, topics_partitions_isr_nodes, topics_partitions_offline_replicas))
            topics_topic_authorized_operations, n = unpack_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(MetadataResponseTopic(topics_error_code, topics_name, ZERO_UUID, topics_is_internal, topics_partitions, topics_topic_authorized_operations))
        cluster_authorized_operations, n = unpack_iB(buf, pos)
        pos += 5
        if n:
            pos = skip_tags(buf, pos - 1)
        return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, cluster_authorized_operations), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataResponse, version, buf, start, pos) from None


def decode_metadata_response_v10(buf: bytes, pos: int, version: int = 10) -> tuple[MetadataResponse, int]:
    start = pos
    n: int
    try:
        room = 45584 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        brokers: list[MetadataResponseBroker]
        if n < 0:
            raise BadField("brokers")
        room -= n * 252
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        brokers = []
        brokers_left, brokers_step = n, 8
        while brokers_left:
            brokers_count = brokers_left
            if brokers_left >= 8:
                run = alike(SHAPE_6, buf, pos, brokers_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    brokers_left -= n
                    brokers += [MetadataResponseBroker(node_id, host.decode(), port, rack.decode() if rack else absent[1]) for node_id, host, port, rack in rows]
                    continue
                if brokers_step < brokers_left:
                    brokers_count = brokers_step
                brokers_step *= 2
            brokers_left -= brokers_count
            for _ in range(brokers_count):
                brokers_node_id, n = unpack_iB(buf, pos)
                if 0 < n < 0x80:
                    brokers_host = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n == 0:
                        raise BadField("brokers.host")
                    n -= 1
                    here = pos
                    pos = here + n
                    brokers_host = long_text(buf, here, pos)
                brokers_rack: str | None
                brokers_port, n = unpack_iB(buf, pos)
                if not n:
                    brokers_rack = None
                    pos += 5
                elif n == 1:
                    brokers_rack = ""
                    pos += 5
                elif n < 0x80:
                    brokers_rack = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        brokers_rack = long_text(buf, here, pos)
                    else:
                        brokers_rack = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                brokers.append(MetadataResponseBroker(brokers_node_id, brokers_host, brokers_port, brokers_rack))
        cluster_id: str | None
        n = buf[pos]
        if not n:
            cluster_id = None
            pos += 1
        elif n == 1:
            cluster_id = ""
            pos += 1
        elif n < 0x80:
            cluster_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                cluster_id = long_text(buf, here, pos)
            else:
                cluster_id = None
        controller_id, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[MetadataResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 272
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_error_code, n = unpack_hB(buf, pos)
            if 0 < n < 0x80:
                topics_name = buf[pos + 3 : (pos := pos + 2 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 2)
                if n == 0:
                    raise BadField("topics.name")
                n -= 1
                here = pos
                pos = here + n
                topics_name = long_text(buf, here, pos)
            topics_topic_id, topics_is_internal, n = unpack_uzB(buf, pos)
            pos += 18
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[MetadataResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 400
            if room < 0:
                room = verify(MetadataResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, topics_partitions_leader_epoch, n = unpack_hiiiB(buf, pos)
                pos += 15
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_replica_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.replica_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_isr_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.isr_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_offline_replicas: list[int]
                if n < 0:
                    raise BadField("topics.partitions.offline_replicas")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                topics_partitions.append(MetadataResponsePartition(topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, topics_partitions_leader_epoch, topics_partitions_replica_nodes, topics_partitions_isr_nodes, topics_partitions_offline_replicas))
            topics_topic_authorized_operations, n = unpack_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(MetadataResponseTopic(topics_error_code, topics_name, topics_topic_id, topics_is_internal, topics_partitions, topics_topic_authorized_operations))
        cluster_authorized_operations, n = unpack_iB(buf, pos)
        pos += 5
        if n:
            pos = skip_tags(buf, pos - 1)
        return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, cluster_authorized_operations), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataResponse, version, buf, start, pos) from None


def decode_metadata_response_v11(buf: bytes, pos: int, version: int = 11) -> tuple[MetadataResponse, int]:
    start = pos
    n: int
    try:
        room = 45616 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        brokers: list[MetadataResponseBroker]
        if n < 0:
            raise BadField("brokers")
        room -= n * 252
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        brokers = []
        brokers_left, brokers_step = n, 8
        while brokers_left:
            brokers_count = brokers_left
            if brokers_left >= 8:
                run = alike(SHAPE_6, buf, pos, brokers_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    brokers_left -= n
                    brokers += [MetadataResponseBroker(node_id, host.decode(), port, rack.decode() if rack else absent[1]) for node_id, host, port, rack in rows]
                    continue
                if brokers_step < brokers_left:
                    brokers_count = brokers_step
                brokers_step *= 2
            brokers_left -= brokers_count
            for _ in range(brokers_count):
                brokers_node_id, n = unpack_iB(buf, pos)
                if 0 < n < 0x80:
                    brokers_host = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n == 0:
                        raise BadField("brokers.host")
                    n -= 1
                    here = pos
                    pos = here + n
                    brokers_host = long_text(buf, here, pos)
                brokers_rack: str | None
                brokers_port, n = unpack_iB(buf, pos)
                if not n:
                    brokers_rack = None
                    pos += 5
                elif n == 1:
                    brokers_rack = ""
                    pos += 5
                elif n < 0x80:
                    brokers_rack = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        brokers_rack = long_text(buf, here, pos)
                    else:
                        brokers_rack = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                brokers.append(MetadataResponseBroker(brokers_node_id, brokers_host, brokers_port, brokers_rack))
        cluster_id: str | None
        n = buf[pos]
        if not n:
            cluster_id = None
            pos += 1
        elif n == 1:
            cluster_id = ""
            pos += 1
        elif n < 0x80:
            cluster_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                cluster_id = long_text(buf, here, pos)
            else:
                cluster_id = None
        controller_id, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[MetadataResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 272
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_error_code, n = unpack_hB(buf, pos)
            if 0 < n < 0x80:
                topics_name = buf[pos + 3 : (pos := pos + 2 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 2)
                if n == 0:
                    raise BadField("topics.name")
                n -= 1
                here = pos
                pos = here + n
                topics_name = long_text(buf, here, pos)
            topics_topic_id, topics_is_internal, n = unpack_uzB(buf, pos)
            pos += 18
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[MetadataResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 400
            if room < 0:
                room = verify(MetadataResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, topics_partitions_leader_epoch, n = unpack_hiiiB(buf, pos)
                pos += 15
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_replica_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.replica_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_isr_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.isr_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_offline_replicas: list[int]
                if n < 0:
                    raise BadField("topics.partitions.offline_replicas")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                topics_partitions.append(MetadataResponsePartition(topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, topics_partitions_leader_epoch, topics_partitions_replica_nodes, topics_partitions_isr_nodes, topics_partitions_offline_replicas))
            topics_topic_authorized_operations, n = unpack_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(MetadataResponseTopic(topics_error_code, topics_name, topics_topic_id, topics_is_internal, topics_partitions, topics_topic_authorized_operations))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataResponse, version, buf, start, pos) from None


def decode_metadata_response_v12(buf: bytes, pos: int, version: int = 12) -> tuple[MetadataResponse, int]:
    start = pos
    n: int
    try:
        room = 45616 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        brokers: list[MetadataResponseBroker]
        if n < 0:
            raise BadField("brokers")
        room -= n * 252
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        brokers = []
        brokers_left, brokers_step = n, 8
        while brokers_left:
            brokers_count = brokers_left
            if brokers_left >= 8:
                run = alike(SHAPE_6, buf, pos, brokers_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    brokers_left -= n
                    brokers += [MetadataResponseBroker(node_id, host.decode(), port, rack.decode() if rack else absent[1]) for node_id, host, port, rack in rows]
                    continue
                if brokers_step < brokers_left:
                    brokers_count = brokers_step
                brokers_step *= 2
            brokers_left -= brokers_count
            for _ in range(brokers_count):
                brokers_node_id, n = unpack_iB(buf, pos)
                if 0 < n < 0x80:
                    brokers_host = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n == 0:
                        raise BadField("brokers.host")
                    n -= 1
                    here = pos
                    pos = here + n
                    brokers_host = long_text(buf, here, pos)
                brokers_rack: str | None
                brokers_port, n = unpack_iB(buf, pos)
                if not n:
                    brokers_rack = None
                    pos += 5
                elif n == 1:
                    brokers_rack = ""
                    pos += 5
                elif n < 0x80:
                    brokers_rack = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        brokers_rack = long_text(buf, here, pos)
                    else:
                        brokers_rack = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                brokers.append(MetadataResponseBroker(brokers_node_id, brokers_host, brokers_port, brokers_rack))
        cluster_id: str | None
        n = buf[pos]
        if not n:
            cluster_id = None
            pos += 1
        elif n == 1:
            cluster_id = ""
            pos += 1
        elif n < 0x80:
            cluster_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                cluster_id = long_text(buf, here, pos)
            else:
                cluster_id = None
        controller_id, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[MetadataResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 272
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_name: str | None
            topics_error_code, n = unpack_hB(buf, pos)
            if not n:
                topics_name = None
                pos += 3
            elif n == 1:
                topics_name = ""
                pos += 3
            elif n < 0x80:
                topics_name = buf[pos + 3 : (pos := pos + 2 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 2)
                if n:
                    n -= 1
                    here = pos
                    pos = here + n
                    topics_name = long_text(buf, here, pos)
                else:
                    topics_name = None
            topics_topic_id, topics_is_internal, n = unpack_uzB(buf, pos)
            pos += 18
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[MetadataResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 400
            if room < 0:
                room = verify(MetadataResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, topics_partitions_leader_epoch, n = unpack_hiiiB(buf, pos)
                pos += 15
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_replica_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.replica_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_isr_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.isr_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_offline_replicas: list[int]
                if n < 0:
                    raise BadField("topics.partitions.offline_replicas")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                topics_partitions.append(MetadataResponsePartition(topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, topics_partitions_leader_epoch, topics_partitions_replica_nodes, topics_partitions_isr_nodes, topics_partitions_offline_replicas))
            topics_topic_authorized_operations, n = unpack_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(MetadataResponseTopic(topics_error_code, topics_name, topics_topic_id, topics_is_internal, topics_partitions, topics_topic_authorized_operations))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataResponse, version, buf, start, pos) from None


def decode_metadata_response_v13(buf: bytes, pos: int, version: int = 13) -> tuple[MetadataResponse, int]:
    start = pos
    n: int
    try:
        room = 45584 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        brokers: list[MetadataResponseBroker]
        if n < 0:
            raise BadField("brokers")
        room -= n * 252
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        brokers = []
        brokers_left, brokers_step = n, 8
        while brokers_left:
            brokers_count = brokers_left
            if brokers_left >= 8:
                run = alike(SHAPE_6, buf, pos, brokers_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    brokers_left -= n
                    brokers += [MetadataResponseBroker(node_id, host.decode(), port, rack.decode() if rack else absent[1]) for node_id, host, port, rack in rows]
                    continue
                if brokers_step < brokers_left:
                    brokers_count = brokers_step
                brokers_step *= 2
            brokers_left -= brokers_count
            for _ in range(brokers_count):
                brokers_node_id, n = unpack_iB(buf, pos)
                if 0 < n < 0x80:
                    brokers_host = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n == 0:
                        raise BadField("brokers.host")
                    n -= 1
                    here = pos
                    pos = here + n
                    brokers_host = long_text(buf, here, pos)
                brokers_rack: str | None
                brokers_port, n = unpack_iB(buf, pos)
                if not n:
                    brokers_rack = None
                    pos += 5
                elif n == 1:
                    brokers_rack = ""
                    pos += 5
                elif n < 0x80:
                    brokers_rack = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        brokers_rack = long_text(buf, here, pos)
                    else:
                        brokers_rack = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                brokers.append(MetadataResponseBroker(brokers_node_id, brokers_host, brokers_port, brokers_rack))
        cluster_id: str | None
        n = buf[pos]
        if not n:
            cluster_id = None
            pos += 1
        elif n == 1:
            cluster_id = ""
            pos += 1
        elif n < 0x80:
            cluster_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                cluster_id = long_text(buf, here, pos)
            else:
                cluster_id = None
        controller_id, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[MetadataResponseTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 272
        if room < 0:
            room = verify(MetadataResponse, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_name: str | None
            topics_error_code, n = unpack_hB(buf, pos)
            if not n:
                topics_name = None
                pos += 3
            elif n == 1:
                topics_name = ""
                pos += 3
            elif n < 0x80:
                topics_name = buf[pos + 3 : (pos := pos + 2 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 2)
                if n:
                    n -= 1
                    here = pos
                    pos = here + n
                    topics_name = long_text(buf, here, pos)
                else:
                    topics_name = None
            topics_topic_id, topics_is_internal, n = unpack_uzB(buf, pos)
            pos += 18
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[MetadataResponsePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 400
            if room < 0:
                room = verify(MetadataResponse, version, buf, start, pos + n)
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, topics_partitions_leader_epoch, n = unpack_hiiiB(buf, pos)
                pos += 15
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_replica_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.replica_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_isr_nodes: list[int]
                if n < 0:
                    raise BadField("topics.partitions.isr_nodes")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_offline_replicas: list[int]
                if n < 0:
                    raise BadField("topics.partitions.offline_replicas")
                room -= n * 40
                if room < 0:
                    room = verify(MetadataResponse, version, buf, start, pos + n)
                topics_partitions_offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                topics_partitions.append(MetadataResponsePartition(topics_partitions_error_code, topics_partitions_partition_index, topics_partitions_leader_id, topics_partitions_leader_epoch, topics_partitions_replica_nodes, topics_partitions_isr_nodes, topics_partitions_offline_replicas))
            topics_topic_authorized_operations, n = unpack_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(MetadataResponseTopic(topics_error_code, topics_name, topics_topic_id, topics_is_internal, topics_partitions, topics_topic_authorized_operations))
        error_code, n = unpack_hB(buf, pos)
        pos += 3
        if n:
            pos = skip_tags(buf, pos - 1)
        return MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, -2147483648, error_code), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, MetadataResponse, version, buf, start, pos) from None


def encode_metadata_response_v0(msg: MetadataResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.cluster_authorized_operations != -2147483648:
            raise not_in_version("cluster_authorized_operations")
        brokers = msg.brokers
        out += pack_i(len(brokers))
        for brokers_item in brokers:
            if brokers_item.host == "":
                out += pack_ihi(brokers_item.node_id, 0, brokers_item.port)
                continue
            raw = brokers_item.host.encode()
            out += pack_ih(brokers_item.node_id, len(raw))
            out += raw
            out += pack_i(brokers_item.port)
        topics = msg.topics
        out += pack_i(len(topics))
        for topics_item in topics:
            if topics_item.topic_authorized_operations != -2147483648:
                raise not_in_version("topics.topic_authorized_operations")
            if topics_item.name is None:
                raise BadField("topics.name")
            raw = topics_item.name.encode()
            out += pack_hh(topics_item.error_code, len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_i(len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                topics_partitions_replica_nodes = topics_partitions_item.replica_nodes
                out += pack_hiii(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, len(topics_partitions_replica_nodes))
                out += pack_i(*topics_partitions_replica_nodes) if len(topics_partitions_replica_nodes) == 1 else pack(f">{len(topics_partitions_replica_nodes)}i", *topics_partitions_replica_nodes)
                topics_partitions_isr_nodes = topics_partitions_item.isr_nodes
                out += pack_i(len(topics_partitions_isr_nodes))
                out += pack_i(*topics_partitions_isr_nodes) if len(topics_partitions_isr_nodes) == 1 else pack(f">{len(topics_partitions_isr_nodes)}i", *topics_partitions_isr_nodes)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataResponse", version) from error


def encode_metadata_response_v1(msg: MetadataResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        if msg.cluster_authorized_operations != -2147483648:
            raise not_in_version("cluster_authorized_operations")
        brokers = msg.brokers
        out += pack_i(len(brokers))
        for brokers_item in brokers:
            raw = brokers_item.host.encode()
            out += pack_ih(brokers_item.node_id, len(raw))
            out += raw
            text = brokers_item.rack
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_ih(brokers_item.port, n)
            out += raw
        topics = msg.topics
        out += pack_ii(msg.controller_id, len(topics))
        for topics_item in topics:
            if topics_item.topic_authorized_operations != -2147483648:
                raise not_in_version("topics.topic_authorized_operations")
            if topics_item.name is None:
                raise BadField("topics.name")
            raw = topics_item.name.encode()
            out += pack_hh(topics_item.error_code, len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_zi(topics_item.is_internal, len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                topics_partitions_replica_nodes = topics_partitions_item.replica_nodes
                out += pack_hiii(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, len(topics_partitions_replica_nodes))
                out += pack_i(*topics_partitions_replica_nodes) if len(topics_partitions_replica_nodes) == 1 else pack(f">{len(topics_partitions_replica_nodes)}i", *topics_partitions_replica_nodes)
                topics_partitions_isr_nodes = topics_partitions_item.isr_nodes
                out += pack_i(len(topics_partitions_isr_nodes))
                out += pack_i(*topics_partitions_isr_nodes) if len(topics_partitions_isr_nodes) == 1 else pack(f">{len(topics_partitions_isr_nodes)}i", *topics_partitions_isr_nodes)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataResponse", version) from error


def encode_metadata_response_v2(msg: MetadataResponse, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        if msg.cluster_authorized_operations != -2147483648:
            raise not_in_version("cluster_authorized_operations")
        brokers = msg.brokers
        out += pack_i(len(brokers))
        for brokers_item in brokers:
            raw = brokers_item.host.encode()
            out += pack_ih(brokers_item.node_id, len(raw))
            out += raw
            text = brokers_item.rack
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_ih(brokers_item.port, n)
            out += raw
        text = msg.cluster_id
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_h(n)
        out += raw
        topics = msg.topics
        out += pack_ii(msg.controller_id, len(topics))
        for topics_item in topics:
            if topics_item.topic_authorized_operations != -2147483648:
                raise not_in_version("topics.topic_authorized_operations")
            if topics_item.name is None:
                raise BadField("topics.name")
            raw = topics_item.name.encode()
            out += pack_hh(topics_item.error_code, len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_zi(topics_item.is_internal, len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                topics_partitions_replica_nodes = topics_partitions_item.replica_nodes
                out += pack_hiii(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, len(topics_partitions_replica_nodes))
                out += pack_i(*topics_partitions_replica_nodes) if len(topics_partitions_replica_nodes) == 1 else pack(f">{len(topics_partitions_replica_nodes)}i", *topics_partitions_replica_nodes)
                topics_partitions_isr_nodes = topics_partitions_item.isr_nodes
                out += pack_i(len(topics_partitions_isr_nodes))
                out += pack_i(*topics_partitions_isr_nodes) if len(topics_partitions_isr_nodes) == 1 else pack(f">{len(topics_partitions_isr_nodes)}i", *topics_partitions_isr_nodes)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataResponse", version) from error


def encode_metadata_response_v3(msg: MetadataResponse, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        if msg.cluster_authorized_operations != -2147483648:
            raise not_in_version("cluster_authorized_operations")
        brokers = msg.brokers
        out += pack_ii(msg.throttle_time_ms, len(brokers))
        for brokers_item in brokers:
            raw = brokers_item.host.encode()
            out += pack_ih(brokers_item.node_id, len(raw))
            out += raw
            text = brokers_item.rack
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_ih(brokers_item.port, n)
            out += raw
        text = msg.cluster_id
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_h(n)
        out += raw
        topics = msg.topics
        out += pack_ii(msg.controller_id, len(topics))
        for topics_item in topics:
            if topics_item.topic_authorized_operations != -2147483648:
                raise not_in_version("topics.topic_authorized_operations")
            if topics_item.name is None:
                raise BadField("topics.name")
            raw = topics_item.name.encode()
            out += pack_hh(topics_item.error_code, len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_zi(topics_item.is_internal, len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                topics_partitions_replica_nodes = topics_partitions_item.replica_nodes
                out += pack_hiii(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, len(topics_partitions_replica_nodes))
                out += pack_i(*topics_partitions_replica_nodes) if len(topics_partitions_replica_nodes) == 1 else pack(f">{len(topics_partitions_replica_nodes)}i", *topics_partitions_replica_nodes)
                topics_partitions_isr_nodes = topics_partitions_item.isr_nodes
                out += pack_i(len(topics_partitions_isr_nodes))
                out += pack_i(*topics_partitions_isr_nodes) if len(topics_partitions_isr_nodes) == 1 else pack(f">{len(topics_partitions_isr_nodes)}i", *topics_partitions_isr_nodes)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataResponse", version) from error


encode_metadata_response_v4 = at_version(encode_metadata_response_v3, 4)


def encode_metadata_response_v5(msg: MetadataResponse, out: bytearray, version: int = 5) -> None:
    start = len(out)
    try:
        if msg.cluster_authorized_operations != -2147483648:
            raise not_in_version("cluster_authorized_operations")
        brokers = msg.brokers
        out += pack_ii(msg.throttle_time_ms, len(brokers))
        for brokers_item in brokers:
            raw = brokers_item.host.encode()
            out += pack_ih(brokers_item.node_id, len(raw))
            out += raw
            text = brokers_item.rack
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_ih(brokers_item.port, n)
            out += raw
        text = msg.cluster_id
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_h(n)
        out += raw
        topics = msg.topics
        out += pack_ii(msg.controller_id, len(topics))
        for topics_item in topics:
            if topics_item.topic_authorized_operations != -2147483648:
                raise not_in_version("topics.topic_authorized_operations")
            if topics_item.name is None:
                raise BadField("topics.name")
            raw = topics_item.name.encode()
            out += pack_hh(topics_item.error_code, len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_zi(topics_item.is_internal, len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                topics_partitions_replica_nodes = topics_partitions_item.replica_nodes
                out += pack_hiii(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, len(topics_partitions_replica_nodes))
                out += pack_i(*topics_partitions_replica_nodes) if len(topics_partitions_replica_nodes) == 1 else pack(f">{len(topics_partitions_replica_nodes)}i", *topics_partitions_replica_nodes)
                topics_partitions_isr_nodes = topics_partitions_item.isr_nodes
                out += pack_i(len(topics_partitions_isr_nodes))
                out += pack_i(*topics_partitions_isr_nodes) if len(topics_partitions_isr_nodes) == 1 else pack(f">{len(topics_partitions_isr_nodes)}i", *topics_partitions_isr_nodes)
                topics_partitions_offline_replicas = topics_partitions_item.offline_replicas
                out += pack_i(len(topics_partitions_offline_replicas))
                out += pack_i(*topics_partitions_offline_replicas) if len(topics_partitions_offline_replicas) == 1 else pack(f">{len(topics_partitions_offline_replicas)}i", *topics_partitions_offline_replicas)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataResponse", version) from error


encode_metadata_response_v6 = at_version(encode_metadata_response_v5, 6)


def encode_metadata_response_v7(msg: MetadataResponse, out: bytearray, version: int = 7) -> None:
    start = len(out)
    try:
        if msg.cluster_authorized_operations != -2147483648:
            raise not_in_version("cluster_authorized_operations")
        brokers = msg.brokers
        out += pack_ii(msg.throttle_time_ms, len(brokers))
        for brokers_item in brokers:
            raw = brokers_item.host.encode()
            out += pack_ih(brokers_item.node_id, len(raw))
            out += raw
            text = brokers_item.rack
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_ih(brokers_item.port, n)
            out += raw
        text = msg.cluster_id
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_h(n)
        out += raw
        topics = msg.topics
        out += pack_ii(msg.controller_id, len(topics))
        for topics_item in topics:
            if topics_item.topic_authorized_operations != -2147483648:
                raise not_in_version("topics.topic_authorized_operations")
            if topics_item.name is None:
                raise BadField("topics.name")
            raw = topics_item.name.encode()
            out += pack_hh(topics_item.error_code, len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_zi(topics_item.is_internal, len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                topics_partitions_replica_nodes = topics_partitions_item.replica_nodes
                out += pack_hiiii(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, topics_partitions_item.leader_epoch, len(topics_partitions_replica_nodes))
                out += pack_i(*topics_partitions_replica_nodes) if len(topics_partitions_replica_nodes) == 1 else pack(f">{len(topics_partitions_replica_nodes)}i", *topics_partitions_replica_nodes)
                topics_partitions_isr_nodes = topics_partitions_item.isr_nodes
                out += pack_i(len(topics_partitions_isr_nodes))
                out += pack_i(*topics_partitions_isr_nodes) if len(topics_partitions_isr_nodes) == 1 else pack(f">{len(topics_partitions_isr_nodes)}i", *topics_partitions_isr_nodes)
                topics_partitions_offline_replicas = topics_partitions_item.offline_replicas
                out += pack_i(len(topics_partitions_offline_replicas))
                out += pack_i(*topics_partitions_offline_replicas) if len(topics_partitions_offline_replicas) == 1 else pack(f">{len(topics_partitions_offline_replicas)}i", *topics_partitions_offline_replicas)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataResponse", version) from error


def encode_metadata_response_v8(msg: MetadataResponse, out: bytearray, version: int = 8) -> None:
    start = len(out)
    try:
        brokers = msg.brokers
        out += pack_ii(msg.throttle_time_ms, len(brokers))
        for brokers_item in brokers:
            raw = brokers_item.host.encode()
            out += pack_ih(brokers_item.node_id, len(raw))
            out += raw
            text = brokers_item.rack
            if text is None:
                n, raw = -1, b""
            else:
                raw = text.encode()
                n = len(raw)
            out += pack_ih(brokers_item.port, n)
            out += raw
        text = msg.cluster_id
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_h(n)
        out += raw
        topics = msg.topics
        out += pack_ii(msg.controller_id, len(topics))
        for topics_item in topics:
            if topics_item.name is None:
                raise BadField("topics.name")
            raw = topics_item.name.encode()
            out += pack_hh(topics_item.error_code, len(raw))
            out += raw
            topics_partitions = topics_item.partitions
            out += pack_zi(topics_item.is_internal, len(topics_partitions))
            for topics_partitions_item in topics_partitions:
                topics_partitions_replica_nodes = topics_partitions_item.replica_nodes
                out += pack_hiiii(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, topics_partitions_item.leader_epoch, len(topics_partitions_replica_nodes))
                out += pack_i(*topics_partitions_replica_nodes) if len(topics_partitions_replica_nodes) == 1 else pack(f">{len(topics_partitions_replica_nodes)}i", *topics_partitions_replica_nodes)
                topics_partitions_isr_nodes = topics_partitions_item.isr_nodes
                out += pack_i(len(topics_partitions_isr_nodes))
                out += pack_i(*topics_partitions_isr_nodes) if len(topics_partitions_isr_nodes) == 1 else pack(f">{len(topics_partitions_isr_nodes)}i", *topics_partitions_isr_nodes)
                topics_partitions_offline_replicas = topics_partitions_item.offline_replicas
                out += pack_i(len(topics_partitions_offline_replicas))
                out += pack_i(*topics_partitions_offline_replicas) if len(topics_partitions_offline_replicas) == 1 else pack(f">{len(topics_partitions_offline_replicas)}i", *topics_partitions_offline_replicas)
            out += pack_i(topics_item.topic_authorized_operations)
        out += pack_i(msg.cluster_authorized_operations)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataResponse", version) from error


def encode_metadata_response_v9(msg: MetadataResponse, out: bytearray, version: int = 9) -> None:
    start = len(out)
    try:
        brokers = msg.brokers
        n = len(brokers) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for brokers_item in brokers:
            raw = brokers_item.host.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(brokers_item.node_id, n)
            else:
                out += pack_i(brokers_item.node_id)
                out += write_string_size(n)
            out += raw
            text = brokers_item.rack
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(brokers_item.port, n)
            else:
                out += pack_i(brokers_item.port)
                out += write_string_size(n)
            out += raw
            out.append(0)
        text = msg.cluster_id
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
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out += pack_iB(msg.controller_id, n)
        else:
            out += pack_i(msg.controller_id)
            out += write_uvarint(n)
        for topics_item in topics:
            if topics_item.name is None:
                raise BadField("topics.name")
            raw = topics_item.name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_hB(topics_item.error_code, n)
            else:
                out += pack_h(topics_item.error_code)
                out += write_string_size(n)
            out += raw
            topics_partitions = topics_item.partitions
            n = len(topics_partitions) + 1
            if n < 0x80:
                out += pack_zB(topics_item.is_internal, n)
            else:
                out += pack_z(topics_item.is_internal)
                out += write_uvarint(n)
            for topics_partitions_item in topics_partitions:
                topics_partitions_replica_nodes = topics_partitions_item.replica_nodes
                n = len(topics_partitions_replica_nodes) + 1
                if n < 0x80:
                    out += pack_hiiiB(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, topics_partitions_item.leader_epoch, n)
                else:
                    out += pack_hiii(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, topics_partitions_item.leader_epoch)
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_replica_nodes) if len(topics_partitions_replica_nodes) == 1 else pack(f">{len(topics_partitions_replica_nodes)}i", *topics_partitions_replica_nodes)
                topics_partitions_isr_nodes = topics_partitions_item.isr_nodes
                n = len(topics_partitions_isr_nodes) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_isr_nodes) if len(topics_partitions_isr_nodes) == 1 else pack(f">{len(topics_partitions_isr_nodes)}i", *topics_partitions_isr_nodes)
                topics_partitions_offline_replicas = topics_partitions_item.offline_replicas
                n = len(topics_partitions_offline_replicas) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_offline_replicas) if len(topics_partitions_offline_replicas) == 1 else pack(f">{len(topics_partitions_offline_replicas)}i", *topics_partitions_offline_replicas)
                out.append(0)
            out += pack_ix(topics_item.topic_authorized_operations)
        out += pack_ix(msg.cluster_authorized_operations)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataResponse", version) from error


def encode_metadata_response_v10(msg: MetadataResponse, out: bytearray, version: int = 10) -> None:
    start = len(out)
    try:
        brokers = msg.brokers
        n = len(brokers) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for brokers_item in brokers:
            raw = brokers_item.host.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(brokers_item.node_id, n)
            else:
                out += pack_i(brokers_item.node_id)
                out += write_string_size(n)
            out += raw
            text = brokers_item.rack
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(brokers_item.port, n)
            else:
                out += pack_i(brokers_item.port)
                out += write_string_size(n)
            out += raw
            out.append(0)
        text = msg.cluster_id
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
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out += pack_iB(msg.controller_id, n)
        else:
            out += pack_i(msg.controller_id)
            out += write_uvarint(n)
        for topics_item in topics:
            if topics_item.name is None:
                raise BadField("topics.name")
            raw = topics_item.name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_hB(topics_item.error_code, n)
            else:
                out += pack_h(topics_item.error_code)
                out += write_string_size(n)
            out += raw
            if len(topics_item.topic_id) != 16:
                raise BadField("topics.topic_id", "a UUID has 16 bytes")
            topics_partitions = topics_item.partitions
            n = len(topics_partitions) + 1
            if n < 0x80:
                out += pack_uzB(topics_item.topic_id, topics_item.is_internal, n)
            else:
                out += pack_uz(topics_item.topic_id, topics_item.is_internal)
                out += write_uvarint(n)
            for topics_partitions_item in topics_partitions:
                topics_partitions_replica_nodes = topics_partitions_item.replica_nodes
                n = len(topics_partitions_replica_nodes) + 1
                if n < 0x80:
                    out += pack_hiiiB(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, topics_partitions_item.leader_epoch, n)
                else:
                    out += pack_hiii(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, topics_partitions_item.leader_epoch)
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_replica_nodes) if len(topics_partitions_replica_nodes) == 1 else pack(f">{len(topics_partitions_replica_nodes)}i", *topics_partitions_replica_nodes)
                topics_partitions_isr_nodes = topics_partitions_item.isr_nodes
                n = len(topics_partitions_isr_nodes) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_isr_nodes) if len(topics_partitions_isr_nodes) == 1 else pack(f">{len(topics_partitions_isr_nodes)}i", *topics_partitions_isr_nodes)
                topics_partitions_offline_replicas = topics_partitions_item.offline_replicas
                n = len(topics_partitions_offline_replicas) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_offline_replicas) if len(topics_partitions_offline_replicas) == 1 else pack(f">{len(topics_partitions_offline_replicas)}i", *topics_partitions_offline_replicas)
                out.append(0)
            out += pack_ix(topics_item.topic_authorized_operations)
        out += pack_ix(msg.cluster_authorized_operations)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataResponse", version) from error


def encode_metadata_response_v11(msg: MetadataResponse, out: bytearray, version: int = 11) -> None:
    start = len(out)
    try:
        if msg.cluster_authorized_operations != -2147483648:
            raise not_in_version("cluster_authorized_operations")
        brokers = msg.brokers
        n = len(brokers) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for brokers_item in brokers:
            raw = brokers_item.host.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(brokers_item.node_id, n)
            else:
                out += pack_i(brokers_item.node_id)
                out += write_string_size(n)
            out += raw
            text = brokers_item.rack
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(brokers_item.port, n)
            else:
                out += pack_i(brokers_item.port)
                out += write_string_size(n)
            out += raw
            out.append(0)
        text = msg.cluster_id
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
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out += pack_iB(msg.controller_id, n)
        else:
            out += pack_i(msg.controller_id)
            out += write_uvarint(n)
        for topics_item in topics:
            if topics_item.name is None:
                raise BadField("topics.name")
            raw = topics_item.name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_hB(topics_item.error_code, n)
            else:
                out += pack_h(topics_item.error_code)
                out += write_string_size(n)
            out += raw
            if len(topics_item.topic_id) != 16:
                raise BadField("topics.topic_id", "a UUID has 16 bytes")
            topics_partitions = topics_item.partitions
            n = len(topics_partitions) + 1
            if n < 0x80:
                out += pack_uzB(topics_item.topic_id, topics_item.is_internal, n)
            else:
                out += pack_uz(topics_item.topic_id, topics_item.is_internal)
                out += write_uvarint(n)
            for topics_partitions_item in topics_partitions:
                topics_partitions_replica_nodes = topics_partitions_item.replica_nodes
                n = len(topics_partitions_replica_nodes) + 1
                if n < 0x80:
                    out += pack_hiiiB(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, topics_partitions_item.leader_epoch, n)
                else:
                    out += pack_hiii(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, topics_partitions_item.leader_epoch)
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_replica_nodes) if len(topics_partitions_replica_nodes) == 1 else pack(f">{len(topics_partitions_replica_nodes)}i", *topics_partitions_replica_nodes)
                topics_partitions_isr_nodes = topics_partitions_item.isr_nodes
                n = len(topics_partitions_isr_nodes) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_isr_nodes) if len(topics_partitions_isr_nodes) == 1 else pack(f">{len(topics_partitions_isr_nodes)}i", *topics_partitions_isr_nodes)
                topics_partitions_offline_replicas = topics_partitions_item.offline_replicas
                n = len(topics_partitions_offline_replicas) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_offline_replicas) if len(topics_partitions_offline_replicas) == 1 else pack(f">{len(topics_partitions_offline_replicas)}i", *topics_partitions_offline_replicas)
                out.append(0)
            out += pack_ix(topics_item.topic_authorized_operations)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataResponse", version) from error


def encode_metadata_response_v12(msg: MetadataResponse, out: bytearray, version: int = 12) -> None:
    start = len(out)
    try:
        if msg.cluster_authorized_operations != -2147483648:
            raise not_in_version("cluster_authorized_operations")
        brokers = msg.brokers
        n = len(brokers) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for brokers_item in brokers:
            raw = brokers_item.host.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(brokers_item.node_id, n)
            else:
                out += pack_i(brokers_item.node_id)
                out += write_string_size(n)
            out += raw
            text = brokers_item.rack
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(brokers_item.port, n)
            else:
                out += pack_i(brokers_item.port)
                out += write_string_size(n)
            out += raw
            out.append(0)
        text = msg.cluster_id
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
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out += pack_iB(msg.controller_id, n)
        else:
            out += pack_i(msg.controller_id)
            out += write_uvarint(n)
        for topics_item in topics:
            text = topics_item.name
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
            if len(topics_item.topic_id) != 16:
                raise BadField("topics.topic_id", "a UUID has 16 bytes")
            topics_partitions = topics_item.partitions
            n = len(topics_partitions) + 1
            if n < 0x80:
                out += pack_uzB(topics_item.topic_id, topics_item.is_internal, n)
            else:
                out += pack_uz(topics_item.topic_id, topics_item.is_internal)
                out += write_uvarint(n)
            for topics_partitions_item in topics_partitions:
                topics_partitions_replica_nodes = topics_partitions_item.replica_nodes
                n = len(topics_partitions_replica_nodes) + 1
                if n < 0x80:
                    out += pack_hiiiB(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, topics_partitions_item.leader_epoch, n)
                else:
                    out += pack_hiii(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, topics_partitions_item.leader_epoch)
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_replica_nodes) if len(topics_partitions_replica_nodes) == 1 else pack(f">{len(topics_partitions_replica_nodes)}i", *topics_partitions_replica_nodes)
                topics_partitions_isr_nodes = topics_partitions_item.isr_nodes
                n = len(topics_partitions_isr_nodes) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_isr_nodes) if len(topics_partitions_isr_nodes) == 1 else pack(f">{len(topics_partitions_isr_nodes)}i", *topics_partitions_isr_nodes)
                topics_partitions_offline_replicas = topics_partitions_item.offline_replicas
                n = len(topics_partitions_offline_replicas) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_offline_replicas) if len(topics_partitions_offline_replicas) == 1 else pack(f">{len(topics_partitions_offline_replicas)}i", *topics_partitions_offline_replicas)
                out.append(0)
            out += pack_ix(topics_item.topic_authorized_operations)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataResponse", version) from error


def encode_metadata_response_v13(msg: MetadataResponse, out: bytearray, version: int = 13) -> None:
    start = len(out)
    try:
        if msg.cluster_authorized_operations != -2147483648:
            raise not_in_version("cluster_authorized_operations")
        brokers = msg.brokers
        n = len(brokers) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for brokers_item in brokers:
            raw = brokers_item.host.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(brokers_item.node_id, n)
            else:
                out += pack_i(brokers_item.node_id)
                out += write_string_size(n)
            out += raw
            text = brokers_item.rack
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(brokers_item.port, n)
            else:
                out += pack_i(brokers_item.port)
                out += write_string_size(n)
            out += raw
            out.append(0)
        text = msg.cluster_id
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
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out += pack_iB(msg.controller_id, n)
        else:
            out += pack_i(msg.controller_id)
            out += write_uvarint(n)
        for topics_item in topics:
            text = topics_item.name
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
            if len(topics_item.topic_id) != 16:
                raise BadField("topics.topic_id", "a UUID has 16 bytes")
            topics_partitions = topics_item.partitions
            n = len(topics_partitions) + 1
            if n < 0x80:
                out += pack_uzB(topics_item.topic_id, topics_item.is_internal, n)
            else:
                out += pack_uz(topics_item.topic_id, topics_item.is_internal)
                out += write_uvarint(n)
            for topics_partitions_item in topics_partitions:
                topics_partitions_replica_nodes = topics_partitions_item.replica_nodes
                n = len(topics_partitions_replica_nodes) + 1
                if n < 0x80:
                    out += pack_hiiiB(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, topics_partitions_item.leader_epoch, n)
                else:
                    out += pack_hiii(topics_partitions_item.error_code, topics_partitions_item.partition_index, topics_partitions_item.leader_id, topics_partitions_item.leader_epoch)
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_replica_nodes) if len(topics_partitions_replica_nodes) == 1 else pack(f">{len(topics_partitions_replica_nodes)}i", *topics_partitions_replica_nodes)
                topics_partitions_isr_nodes = topics_partitions_item.isr_nodes
                n = len(topics_partitions_isr_nodes) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_isr_nodes) if len(topics_partitions_isr_nodes) == 1 else pack(f">{len(topics_partitions_isr_nodes)}i", *topics_partitions_isr_nodes)
                topics_partitions_offline_replicas = topics_partitions_item.offline_replicas
                n = len(topics_partitions_offline_replicas) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*topics_partitions_offline_replicas) if len(topics_partitions_offline_replicas) == 1 else pack(f">{len(topics_partitions_offline_replicas)}i", *topics_partitions_offline_replicas)
                out.append(0)
            out += pack_ix(topics_item.topic_authorized_operations)
        out += pack_hx(msg.error_code)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "MetadataResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    MetadataRequest: {
        0: decode_metadata_request_v0,
        1: decode_metadata_request_v1,
        2: decode_metadata_request_v2,
        3: decode_metadata_request_v3,
        4: decode_metadata_request_v4,
        5: decode_metadata_request_v5,
        6: decode_metadata_request_v6,
        7: decode_metadata_request_v7,
        8: decode_metadata_request_v8,
        9: decode_metadata_request_v9,
        10: decode_metadata_request_v10,
        11: decode_metadata_request_v11,
        12: decode_metadata_request_v12,
        13: decode_metadata_request_v13,
    },
    MetadataResponse: {
        0: decode_metadata_response_v0,
        1: decode_metadata_response_v1,
        2: decode_metadata_response_v2,
        3: decode_metadata_response_v3,
        4: decode_metadata_response_v4,
        5: decode_metadata_response_v5,
        6: decode_metadata_response_v6,
        7: decode_metadata_response_v7,
        8: decode_metadata_response_v8,
        9: decode_metadata_response_v9,
        10: decode_metadata_response_v10,
        11: decode_metadata_response_v11,
        12: decode_metadata_response_v12,
        13: decode_metadata_response_v13,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    MetadataRequest: {
        0: encode_metadata_request_v0,
        1: encode_metadata_request_v1,
        2: encode_metadata_request_v2,
        3: encode_metadata_request_v3,
        4: encode_metadata_request_v4,
        5: encode_metadata_request_v5,
        6: encode_metadata_request_v6,
        7: encode_metadata_request_v7,
        8: encode_metadata_request_v8,
        9: encode_metadata_request_v9,
        10: encode_metadata_request_v10,
        11: encode_metadata_request_v11,
        12: encode_metadata_request_v12,
        13: encode_metadata_request_v13,
    },
    MetadataResponse: {
        0: encode_metadata_response_v0,
        1: encode_metadata_response_v1,
        2: encode_metadata_response_v2,
        3: encode_metadata_response_v3,
        4: encode_metadata_response_v4,
        5: encode_metadata_response_v5,
        6: encode_metadata_response_v6,
        7: encode_metadata_response_v7,
        8: encode_metadata_response_v8,
        9: encode_metadata_response_v9,
        10: encode_metadata_response_v10,
        11: encode_metadata_response_v11,
        12: encode_metadata_response_v12,
        13: encode_metadata_response_v13,
    },
}
