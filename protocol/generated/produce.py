"""Codecs of protocol/messages/produce.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import ZERO_UUID, Message
from protocol.generated.layouts import (
    unpack_h,
    unpack_hiB,
    unpack_hii,
    unpack_i,
    unpack_iB,
    unpack_ih,
    unpack_ihqqqB,
    unpack_ihqqqi,
    unpack_ii,
    unpack_iiB,
    unpack_uB,
)
from protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from protocol.refusal import BadField, decode_failure, encode_failure, not_in_version, verify
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

SHAPE_1 = Shape("", 0, Field("i", 4, 4, True, b""))
SHAPE_2 = Shape("x", 1, Field("i", 4, 1, True, b""))
SHAPE_3 = Shape("", 0, Field("i", 4, 2, True, ""))
SHAPE_4 = Shape("x", 1, Field("i", 4, 1, True, ""))
SHAPE_5 = Shape("x", 1, Field("i", 4, 1, False, ""), Field("i", 4, 1, True, ""))
pack_u = Struct(">16s").pack
pack_uB = Struct(">16sB").pack
pack_BB = Struct(">BB").pack
pack_h = Struct(">h").pack
pack_hi = Struct(">hi").pack
pack_hiB = Struct(">hiB").pack
pack_hii = Struct(">hii").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_iBx = Struct(">iBx").pack
pack_ih = Struct(">ih").pack
pack_ihqq = Struct(">ihqq").pack
pack_ihqqq = Struct(">ihqqq").pack
pack_ihqqqB = Struct(">ihqqqB").pack
pack_ihqqqi = Struct(">ihqqqi").pack
pack_ii = Struct(">ii").pack
pack_iix = Struct(">iix").pack
pack_ix = Struct(">ix").pack
rows_ihqq = Struct(">ihqq").iter_unpack
rows_ihqqq = Struct(">ihqqq").iter_unpack


def decode_produce_request_v3(buf: bytes, pos: int, version: int = 3) -> tuple[ProduceRequest, int]:
    start = pos
    n: int
    try:
        room = 45728 - 2 * len(buf)
        limit = 16777216
        transactional_id: str | None
        (n,) = unpack_h(buf, pos)
        if n < 0:
            transactional_id = None
            pos += 2
        elif n < 0x80:
            transactional_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            transactional_id = long_text(buf, here, pos)
        acks, timeout_ms, n = unpack_hii(buf, pos)
        pos += 10
        topic_data: list[TopicProduceData]
        if n < 0:
            raise BadField("topic_data")
        room -= n * 208
        if room < 0:
            room, limit = verify(ProduceRequest, version, buf, start, pos + n, limit - n * 208), 0
        topic_data = []
        topic_data_count = n
        for _ in range(topic_data_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topic_data.name")
            if n < 0x80:
                topic_data_name = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topic_data_name = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            topic_data_partition_data: list[PartitionProduceData]
            if n < 0:
                raise BadField("topic_data.partition_data")
            room -= n * 104
            if room < 0:
                room, limit = verify(ProduceRequest, version, buf, start, pos + n, limit - n * 104), 0
            topic_data_partition_data = []
            topic_data_partition_data_left, topic_data_partition_data_step = n, 8
            while topic_data_partition_data_left:
                topic_data_partition_data_count = topic_data_partition_data_left
                if topic_data_partition_data_left >= 8:
                    run = alike(SHAPE_1, buf, pos, topic_data_partition_data_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topic_data_partition_data_left -= n
                        if is_same and absent == b"":
                            topic_data_partition_data += starmap(PartitionProduceData, rows)
                            continue
                        if is_same:
                            topic_data_partition_data += [PartitionProduceData(index, absent) for index, in rows]
                        else:
                            topic_data_partition_data += [PartitionProduceData(index, records) for index, records in rows]
                        continue
                    if topic_data_partition_data_step < topic_data_partition_data_left:
                        topic_data_partition_data_count = topic_data_partition_data_step
                    topic_data_partition_data_step *= 2
                topic_data_partition_data_left -= topic_data_partition_data_count
                for _ in range(topic_data_partition_data_count):
                    topic_data_partition_data_records: bytes | None
                    topic_data_partition_data_index, n = unpack_ii(buf, pos)
                    if n < 0:
                        topic_data_partition_data_records = None
                        pos += 8
                    else:
                        topic_data_partition_data_records = buf[pos + 8 : (pos := pos + 8 + n)]
                    topic_data_partition_data.append(PartitionProduceData(topic_data_partition_data_index, topic_data_partition_data_records))
            topic_data.append(TopicProduceData(topic_data_name, ZERO_UUID, topic_data_partition_data))
        if pos > len(buf):
            raise IndexError
        return ProduceRequest(transactional_id, acks, timeout_ms, topic_data), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ProduceRequest, version, buf, start, pos) from None


decode_produce_request_v4 = at_version(decode_produce_request_v3, 4)


decode_produce_request_v5 = at_version(decode_produce_request_v3, 5)


decode_produce_request_v6 = at_version(decode_produce_request_v3, 6)


decode_produce_request_v7 = at_version(decode_produce_request_v3, 7)


decode_produce_request_v8 = at_version(decode_produce_request_v3, 8)


def decode_produce_request_v9(buf: bytes, pos: int, version: int = 9) -> tuple[ProduceRequest, int]:
    start = pos
    n: int
    try:
        room = 45728 - 2 * len(buf)
        limit = 16777216
        transactional_id: str | None
        n = buf[pos]
        if not n:
            transactional_id = None
            pos += 1
        elif n == 1:
            transactional_id = ""
            pos += 1
        elif n < 0x80:
            transactional_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                transactional_id = long_text(buf, here, pos)
            else:
                transactional_id = None
        acks, timeout_ms, n = unpack_hiB(buf, pos)
        pos += 7
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topic_data: list[TopicProduceData]
        if n < 0:
            raise BadField("topic_data")
        room -= n * 220
        if room < 0:
            room, limit = verify(ProduceRequest, version, buf, start, pos + n, limit - n * 220), 0
        topic_data = []
        topic_data_count = n
        for _ in range(topic_data_count):
            n = buf[pos]
            if 0 < n < 0x80:
                topic_data_name = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("topic_data.name")
                n -= 1
                here = pos
                pos = here + n
                topic_data_name = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topic_data_partition_data: list[PartitionProduceData]
            if n < 0:
                raise BadField("topic_data.partition_data")
            room -= n * 112
            if room < 0:
                room, limit = verify(ProduceRequest, version, buf, start, pos + n, limit - n * 112), 0
            topic_data_partition_data = []
            topic_data_partition_data_left, topic_data_partition_data_step = n, 8
            while topic_data_partition_data_left:
                topic_data_partition_data_count = topic_data_partition_data_left
                if topic_data_partition_data_left >= 8:
                    run = alike(SHAPE_2, buf, pos, topic_data_partition_data_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topic_data_partition_data_left -= n
                        if is_same and absent == b"":
                            topic_data_partition_data += starmap(PartitionProduceData, rows)
                            continue
                        if is_same:
                            topic_data_partition_data += [PartitionProduceData(index, absent) for index, in rows]
                        else:
                            topic_data_partition_data += [PartitionProduceData(index, records) for index, records in rows]
                        continue
                    if topic_data_partition_data_step < topic_data_partition_data_left:
                        topic_data_partition_data_count = topic_data_partition_data_step
                    topic_data_partition_data_step *= 2
                topic_data_partition_data_left -= topic_data_partition_data_count
                for _ in range(topic_data_partition_data_count):
                    topic_data_partition_data_records: bytes | None
                    topic_data_partition_data_index, n = unpack_iB(buf, pos)
                    if not n:
                        topic_data_partition_data_records = None
                        pos += 5
                    elif n == 1:
                        topic_data_partition_data_records = b""
                        pos += 5
                    elif n < 0x80:
                        topic_data_partition_data_records = buf[pos + 5 : (pos := pos + 4 + n)]
                    else:
                        n, pos = read_uvarint(buf, pos + 4)
                        if n:
                            n -= 1
                            here = pos
                            pos = here + n
                            topic_data_partition_data_records = buf[here:pos]
                        else:
                            topic_data_partition_data_records = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topic_data_partition_data.append(PartitionProduceData(topic_data_partition_data_index, topic_data_partition_data_records))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topic_data.append(TopicProduceData(topic_data_name, ZERO_UUID, topic_data_partition_data))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ProduceRequest(transactional_id, acks, timeout_ms, topic_data), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ProduceRequest, version, buf, start, pos) from None


decode_produce_request_v10 = at_version(decode_produce_request_v9, 10)


decode_produce_request_v11 = at_version(decode_produce_request_v9, 11)


decode_produce_request_v12 = at_version(decode_produce_request_v9, 12)


def decode_produce_request_v13(buf: bytes, pos: int, version: int = 13) -> tuple[ProduceRequest, int]:
    start = pos
    n: int
    try:
        room = 45728 - 2 * len(buf)
        limit = 16777216
        transactional_id: str | None
        n = buf[pos]
        if not n:
            transactional_id = None
            pos += 1
        elif n == 1:
            transactional_id = ""
            pos += 1
        elif n < 0x80:
            transactional_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                transactional_id = long_text(buf, here, pos)
            else:
                transactional_id = None
        acks, timeout_ms, n = unpack_hiB(buf, pos)
        pos += 7
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topic_data: list[TopicProduceData]
        if n < 0:
            raise BadField("topic_data")
        room -= n * 128
        if room < 0:
            room, limit = verify(ProduceRequest, version, buf, start, pos + n, limit - n * 128), 0
        topic_data = []
        topic_data_count = n
        for _ in range(topic_data_count):
            topic_data_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topic_data_partition_data: list[PartitionProduceData]
            if n < 0:
                raise BadField("topic_data.partition_data")
            room -= n * 112
            if room < 0:
                room, limit = verify(ProduceRequest, version, buf, start, pos + n, limit - n * 112), 0
            topic_data_partition_data = []
            topic_data_partition_data_left, topic_data_partition_data_step = n, 8
            while topic_data_partition_data_left:
                topic_data_partition_data_count = topic_data_partition_data_left
                if topic_data_partition_data_left >= 8:
                    run = alike(SHAPE_2, buf, pos, topic_data_partition_data_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        topic_data_partition_data_left -= n
                        if is_same and absent == b"":
                            topic_data_partition_data += starmap(PartitionProduceData, rows)
                            continue
                        if is_same:
                            topic_data_partition_data += [PartitionProduceData(index, absent) for index, in rows]
                        else:
                            topic_data_partition_data += [PartitionProduceData(index, records) for index, records in rows]
                        continue
                    if topic_data_partition_data_step < topic_data_partition_data_left:
                        topic_data_partition_data_count = topic_data_partition_data_step
                    topic_data_partition_data_step *= 2
                topic_data_partition_data_left -= topic_data_partition_data_count
                for _ in range(topic_data_partition_data_count):
                    topic_data_partition_data_records: bytes | None
                    topic_data_partition_data_index, n = unpack_iB(buf, pos)
                    if not n:
                        topic_data_partition_data_records = None
                        pos += 5
                    elif n == 1:
                        topic_data_partition_data_records = b""
                        pos += 5
                    elif n < 0x80:
                        topic_data_partition_data_records = buf[pos + 5 : (pos := pos + 4 + n)]
                    else:
                        n, pos = read_uvarint(buf, pos + 4)
                        if n:
                            n -= 1
                            here = pos
                            pos = here + n
                            topic_data_partition_data_records = buf[here:pos]
                        else:
                            topic_data_partition_data_records = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topic_data_partition_data.append(PartitionProduceData(topic_data_partition_data_index, topic_data_partition_data_records))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topic_data.append(TopicProduceData("", topic_data_topic_id, topic_data_partition_data))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ProduceRequest(transactional_id, acks, timeout_ms, topic_data), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ProduceRequest, version, buf, start, pos) from None


def encode_produce_request_v3(msg: ProduceRequest, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        text = msg.transactional_id
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_h(n)
        out += raw
        topic_data = msg.topic_data
        out += pack_hii(msg.acks, msg.timeout_ms, len(topic_data))
        for topic_data_item in topic_data:
            raw = topic_data_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            topic_data_partition_data = topic_data_item.partition_data
            out += pack_i(len(topic_data_partition_data))
            for topic_data_partition_data_item in topic_data_partition_data:
                data = topic_data_partition_data_item.records
                if data is None:
                    n, raw = -1, b""
                else:
                    raw = data
                    n = len(raw)
                out += pack_ii(topic_data_partition_data_item.index, n)
                out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ProduceRequest", version) from error


encode_produce_request_v4 = at_version(encode_produce_request_v3, 4)


encode_produce_request_v5 = at_version(encode_produce_request_v3, 5)


encode_produce_request_v6 = at_version(encode_produce_request_v3, 6)


encode_produce_request_v7 = at_version(encode_produce_request_v3, 7)


encode_produce_request_v8 = at_version(encode_produce_request_v3, 8)


def encode_produce_request_v9(msg: ProduceRequest, out: bytearray, version: int = 9) -> None:
    start = len(out)
    try:
        text = msg.transactional_id
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
        topic_data = msg.topic_data
        n = len(topic_data) + 1
        if n < 0x80:
            out += pack_hiB(msg.acks, msg.timeout_ms, n)
        else:
            out += pack_hi(msg.acks, msg.timeout_ms)
            out += write_uvarint(n)
        for topic_data_item in topic_data:
            raw = topic_data_item.name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            topic_data_partition_data = topic_data_item.partition_data
            n = len(topic_data_partition_data) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for topic_data_partition_data_item in topic_data_partition_data:
                data = topic_data_partition_data_item.records
                if data is None:
                    n, raw = 0, b""
                else:
                    raw = data
                    n = len(raw) + 1
                if n < 0x80:
                    out += pack_iB(topic_data_partition_data_item.index, n)
                else:
                    out += pack_i(topic_data_partition_data_item.index)
                    out += write_uvarint(n)
                out += raw
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ProduceRequest", version) from error


encode_produce_request_v10 = at_version(encode_produce_request_v9, 10)


encode_produce_request_v11 = at_version(encode_produce_request_v9, 11)


encode_produce_request_v12 = at_version(encode_produce_request_v9, 12)


def encode_produce_request_v13(msg: ProduceRequest, out: bytearray, version: int = 13) -> None:
    start = len(out)
    try:
        text = msg.transactional_id
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
        topic_data = msg.topic_data
        n = len(topic_data) + 1
        if n < 0x80:
            out += pack_hiB(msg.acks, msg.timeout_ms, n)
        else:
            out += pack_hi(msg.acks, msg.timeout_ms)
            out += write_uvarint(n)
        for topic_data_item in topic_data:
            if len(topic_data_item.topic_id) != 16:
                raise BadField("topic_data.topic_id", "a UUID has 16 bytes")
            topic_data_partition_data = topic_data_item.partition_data
            n = len(topic_data_partition_data) + 1
            if n < 0x80:
                out += pack_uB(topic_data_item.topic_id, n)
            else:
                out += pack_u(topic_data_item.topic_id)
                out += write_uvarint(n)
            for topic_data_partition_data_item in topic_data_partition_data:
                data = topic_data_partition_data_item.records
                if data is None:
                    n, raw = 0, b""
                else:
                    raw = data
                    n = len(raw) + 1
                if n < 0x80:
                    out += pack_iB(topic_data_partition_data_item.index, n)
                else:
                    out += pack_i(topic_data_partition_data_item.index)
                    out += write_uvarint(n)
                out += raw
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ProduceRequest", version) from error


def decode_produce_response_v3(buf: bytes, pos: int, version: int = 3) -> tuple[ProduceResponse, int]:
    start = pos
    n: int
    try:
        room = 45760 - 2 * len(buf)
        (n,) = unpack_i(buf, pos)
        pos += 4
        responses: list[TopicProduceResponse]
        if n < 0:
            raise BadField("responses")
        room -= n * 208
        if room < 0:
            room = verify(ProduceResponse, version, buf, start, pos + n)
        responses = []
        responses_count = n
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
            (n,) = unpack_i(buf, pos)
            pos += 4
            responses_partition_responses: list[PartitionProduceResponse]
            if n < 0:
                raise BadField("responses.partition_responses")
            room -= n * 240
            if room < 0:
                room = verify(ProduceResponse, version, buf, start, pos + n)
            end = pos + n * 22
            responses_partition_responses = list(starmap(PartitionProduceResponse, rows_ihqq(buf[pos:end])))
            pos = end
            responses.append(TopicProduceResponse(responses_name, ZERO_UUID, responses_partition_responses))
        (throttle_time_ms,) = unpack_i(buf, pos)
        pos += 4
        return ProduceResponse(responses, throttle_time_ms), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ProduceResponse, version, buf, start, pos) from None


decode_produce_response_v4 = at_version(decode_produce_response_v3, 4)


def decode_produce_response_v5(buf: bytes, pos: int, version: int = 5) -> tuple[ProduceResponse, int]:
    start = pos
    n: int
    try:
        room = 45760 - 2 * len(buf)
        (n,) = unpack_i(buf, pos)
        pos += 4
        responses: list[TopicProduceResponse]
        if n < 0:
            raise BadField("responses")
        room -= n * 208
        if room < 0:
            room = verify(ProduceResponse, version, buf, start, pos + n)
        responses = []
        responses_count = n
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
            (n,) = unpack_i(buf, pos)
            pos += 4
            responses_partition_responses: list[PartitionProduceResponse]
            if n < 0:
                raise BadField("responses.partition_responses")
            room -= n * 256
            if room < 0:
                room = verify(ProduceResponse, version, buf, start, pos + n)
            end = pos + n * 30
            responses_partition_responses = list(starmap(PartitionProduceResponse, rows_ihqqq(buf[pos:end])))
            pos = end
            responses.append(TopicProduceResponse(responses_name, ZERO_UUID, responses_partition_responses))
        (throttle_time_ms,) = unpack_i(buf, pos)
        pos += 4
        return ProduceResponse(responses, throttle_time_ms), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ProduceResponse, version, buf, start, pos) from None


decode_produce_response_v6 = at_version(decode_produce_response_v5, 6)


decode_produce_response_v7 = at_version(decode_produce_response_v5, 7)


def decode_produce_response_v8(buf: bytes, pos: int, version: int = 8) -> tuple[ProduceResponse, int]:
    start = pos
    n: int
    try:
        room = 45760 - 2 * len(buf)
        (n,) = unpack_i(buf, pos)
        pos += 4
        responses: list[TopicProduceResponse]
        if n < 0:
            raise BadField("responses")
        room -= n * 208
        if room < 0:
            room = verify(ProduceResponse, version, buf, start, pos + n)
        responses = []
        responses_count = n
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
            (n,) = unpack_i(buf, pos)
            pos += 4
            responses_partition_responses: list[PartitionProduceResponse]
            if n < 0:
                raise BadField("responses.partition_responses")
            room -= n * 312
            if room < 0:
                room = verify(ProduceResponse, version, buf, start, pos + n)
            responses_partition_responses = []
            responses_partition_responses_count = n
            for _ in range(responses_partition_responses_count):
                responses_partition_responses_index, responses_partition_responses_error_code, responses_partition_responses_base_offset, responses_partition_responses_log_append_time_ms, responses_partition_responses_log_start_offset, n = unpack_ihqqqi(buf, pos)
                pos += 34
                responses_partition_responses_record_errors: list[BatchIndexAndErrorMessage]
                if n < 0:
                    raise BadField("responses.partition_responses.record_errors")
                room -= n * 144
                if room < 0:
                    room = verify(ProduceResponse, version, buf, start, pos + n)
                responses_partition_responses_record_errors = []
                responses_partition_responses_record_errors_left, responses_partition_responses_record_errors_step = n, 8
                while responses_partition_responses_record_errors_left:
                    responses_partition_responses_record_errors_count = responses_partition_responses_record_errors_left
                    if responses_partition_responses_record_errors_left >= 8:
                        run = alike(SHAPE_3, buf, pos, responses_partition_responses_record_errors_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            responses_partition_responses_record_errors_left -= n
                            if is_same and absent == None:
                                responses_partition_responses_record_errors += starmap(BatchIndexAndErrorMessage, rows)
                                continue
                            if is_same:
                                responses_partition_responses_record_errors += [BatchIndexAndErrorMessage(batch_index, absent) for batch_index, in rows]
                            else:
                                responses_partition_responses_record_errors += [BatchIndexAndErrorMessage(batch_index, batch_index_error_message.decode()) for batch_index, batch_index_error_message in rows]
                            continue
                        if responses_partition_responses_record_errors_step < responses_partition_responses_record_errors_left:
                            responses_partition_responses_record_errors_count = responses_partition_responses_record_errors_step
                        responses_partition_responses_record_errors_step *= 2
                    responses_partition_responses_record_errors_left -= responses_partition_responses_record_errors_count
                    for _ in range(responses_partition_responses_record_errors_count):
                        responses_partition_responses_record_errors_batch_index_error_message: str | None
                        responses_partition_responses_record_errors_batch_index, n = unpack_ih(buf, pos)
                        if n < 0:
                            responses_partition_responses_record_errors_batch_index_error_message = None
                            pos += 6
                        elif n < 0x80:
                            responses_partition_responses_record_errors_batch_index_error_message = buf[pos + 6 : (pos := pos + 6 + n)].decode()
                        else:
                            here = pos + 6
                            pos = here + n
                            responses_partition_responses_record_errors_batch_index_error_message = long_text(buf, here, pos)
                        responses_partition_responses_record_errors.append(BatchIndexAndErrorMessage(responses_partition_responses_record_errors_batch_index, responses_partition_responses_record_errors_batch_index_error_message))
                responses_partition_responses_error_message: str | None
                (n,) = unpack_h(buf, pos)
                if n < 0:
                    responses_partition_responses_error_message = None
                    pos += 2
                elif n < 0x80:
                    responses_partition_responses_error_message = buf[pos + 2 : (pos := pos + 2 + n)].decode()
                else:
                    here = pos + 2
                    pos = here + n
                    responses_partition_responses_error_message = long_text(buf, here, pos)
                responses_partition_responses.append(PartitionProduceResponse(responses_partition_responses_index, responses_partition_responses_error_code, responses_partition_responses_base_offset, responses_partition_responses_log_append_time_ms, responses_partition_responses_log_start_offset, responses_partition_responses_record_errors, responses_partition_responses_error_message))
            responses.append(TopicProduceResponse(responses_name, ZERO_UUID, responses_partition_responses))
        (throttle_time_ms,) = unpack_i(buf, pos)
        pos += 4
        return ProduceResponse(responses, throttle_time_ms), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ProduceResponse, version, buf, start, pos) from None


def decode_produce_response_v9(buf: bytes, pos: int, version: int = 9) -> tuple[ProduceResponse, int]:
    start = pos
    n: int
    try:
        room = 45760 - 2 * len(buf)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        responses: list[TopicProduceResponse]
        if n < 0:
            raise BadField("responses")
        room -= n * 220
        if room < 0:
            room = verify(ProduceResponse, version, buf, start, pos + n)
        responses = []
        responses_count = n
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
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            responses_partition_responses: list[PartitionProduceResponse]
            if n < 0:
                raise BadField("responses.partition_responses")
            room -= n * 324
            if room < 0:
                room = verify(ProduceResponse, version, buf, start, pos + n)
            responses_partition_responses = []
            responses_partition_responses_count = n
            for _ in range(responses_partition_responses_count):
                responses_partition_responses_index, responses_partition_responses_error_code, responses_partition_responses_base_offset, responses_partition_responses_log_append_time_ms, responses_partition_responses_log_start_offset, n = unpack_ihqqqB(buf, pos)
                pos += 31
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                responses_partition_responses_record_errors: list[BatchIndexAndErrorMessage]
                if n < 0:
                    raise BadField("responses.partition_responses.record_errors")
                room -= n * 144
                if room < 0:
                    room = verify(ProduceResponse, version, buf, start, pos + n)
                responses_partition_responses_record_errors = []
                responses_partition_responses_record_errors_left, responses_partition_responses_record_errors_step = n, 8
                while responses_partition_responses_record_errors_left:
                    responses_partition_responses_record_errors_count = responses_partition_responses_record_errors_left
                    if responses_partition_responses_record_errors_left >= 8:
                        run = alike(SHAPE_4, buf, pos, responses_partition_responses_record_errors_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            responses_partition_responses_record_errors_left -= n
                            if is_same and absent == None:
                                responses_partition_responses_record_errors += starmap(BatchIndexAndErrorMessage, rows)
                                continue
                            if is_same:
                                responses_partition_responses_record_errors += [BatchIndexAndErrorMessage(batch_index, absent) for batch_index, in rows]
                            else:
                                responses_partition_responses_record_errors += [BatchIndexAndErrorMessage(batch_index, batch_index_error_message.decode()) for batch_index, batch_index_error_message in rows]
                            continue
                        if responses_partition_responses_record_errors_step < responses_partition_responses_record_errors_left:
                            responses_partition_responses_record_errors_count = responses_partition_responses_record_errors_step
                        responses_partition_responses_record_errors_step *= 2
                    responses_partition_responses_record_errors_left -= responses_partition_responses_record_errors_count
                    for _ in range(responses_partition_responses_record_errors_count):
                        responses_partition_responses_record_errors_batch_index_error_message: str | None
                        responses_partition_responses_record_errors_batch_index, n = unpack_iB(buf, pos)
                        if not n:
                            responses_partition_responses_record_errors_batch_index_error_message = None
                            pos += 5
                        elif n == 1:
                            responses_partition_responses_record_errors_batch_index_error_message = ""
                            pos += 5
                        elif n < 0x80:
                            responses_partition_responses_record_errors_batch_index_error_message = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos + 4)
                            if n:
                                n -= 1
                                here = pos
                                pos = here + n
                                responses_partition_responses_record_errors_batch_index_error_message = long_text(buf, here, pos)
                            else:
                                responses_partition_responses_record_errors_batch_index_error_message = None
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        responses_partition_responses_record_errors.append(BatchIndexAndErrorMessage(responses_partition_responses_record_errors_batch_index, responses_partition_responses_record_errors_batch_index_error_message))
                responses_partition_responses_error_message: str | None
                n = buf[pos]
                if not n:
                    responses_partition_responses_error_message = None
                    pos += 1
                elif n == 1:
                    responses_partition_responses_error_message = ""
                    pos += 1
                elif n < 0x80:
                    responses_partition_responses_error_message = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        responses_partition_responses_error_message = long_text(buf, here, pos)
                    else:
                        responses_partition_responses_error_message = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                responses_partition_responses.append(PartitionProduceResponse(responses_partition_responses_index, responses_partition_responses_error_code, responses_partition_responses_base_offset, responses_partition_responses_log_append_time_ms, responses_partition_responses_log_start_offset, responses_partition_responses_record_errors, responses_partition_responses_error_message))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            responses.append(TopicProduceResponse(responses_name, ZERO_UUID, responses_partition_responses))
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n:
            pos = skip_tags(buf, pos - 1)
        return ProduceResponse(responses, throttle_time_ms), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ProduceResponse, version, buf, start, pos) from None


def decode_produce_response_v10(buf: bytes, pos: int, version: int = 10) -> tuple[ProduceResponse, int]:
    start = pos
    n: int
    try:
        room = 45760 - 2 * len(buf)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        responses: list[TopicProduceResponse]
        if n < 0:
            raise BadField("responses")
        room -= n * 220
        if room < 0:
            room = verify(ProduceResponse, version, buf, start, pos + n)
        responses = []
        responses_count = n
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
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            responses_partition_responses: list[PartitionProduceResponse]
            if n < 0:
                raise BadField("responses.partition_responses")
            room -= n * 420
            if room < 0:
                room = verify(ProduceResponse, version, buf, start, pos + n)
            responses_partition_responses = []
            responses_partition_responses_count = n
            for _ in range(responses_partition_responses_count):
                responses_partition_responses_index, responses_partition_responses_error_code, responses_partition_responses_base_offset, responses_partition_responses_log_append_time_ms, responses_partition_responses_log_start_offset, n = unpack_ihqqqB(buf, pos)
                pos += 31
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                responses_partition_responses_record_errors: list[BatchIndexAndErrorMessage]
                if n < 0:
                    raise BadField("responses.partition_responses.record_errors")
                room -= n * 144
                if room < 0:
                    room = verify(ProduceResponse, version, buf, start, pos + n)
                responses_partition_responses_record_errors = []
                responses_partition_responses_record_errors_left, responses_partition_responses_record_errors_step = n, 8
                while responses_partition_responses_record_errors_left:
                    responses_partition_responses_record_errors_count = responses_partition_responses_record_errors_left
                    if responses_partition_responses_record_errors_left >= 8:
                        run = alike(SHAPE_4, buf, pos, responses_partition_responses_record_errors_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            responses_partition_responses_record_errors_left -= n
                            if is_same and absent == None:
                                responses_partition_responses_record_errors += starmap(BatchIndexAndErrorMessage, rows)
                                continue
                            if is_same:
                                responses_partition_responses_record_errors += [BatchIndexAndErrorMessage(batch_index, absent) for batch_index, in rows]
                            else:
                                responses_partition_responses_record_errors += [BatchIndexAndErrorMessage(batch_index, batch_index_error_message.decode()) for batch_index, batch_index_error_message in rows]
                            continue
                        if responses_partition_responses_record_errors_step < responses_partition_responses_record_errors_left:
                            responses_partition_responses_record_errors_count = responses_partition_responses_record_errors_step
                        responses_partition_responses_record_errors_step *= 2
                    responses_partition_responses_record_errors_left -= responses_partition_responses_record_errors_count
                    for _ in range(responses_partition_responses_record_errors_count):
                        responses_partition_responses_record_errors_batch_index_error_message: str | None
                        responses_partition_responses_record_errors_batch_index, n = unpack_iB(buf, pos)
                        if not n:
                            responses_partition_responses_record_errors_batch_index_error_message = None
                            pos += 5
                        elif n == 1:
                            responses_partition_responses_record_errors_batch_index_error_message = ""
                            pos += 5
                        elif n < 0x80:
                            responses_partition_responses_record_errors_batch_index_error_message = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos + 4)
                            if n:
                                n -= 1
                                here = pos
                                pos = here + n
                                responses_partition_responses_record_errors_batch_index_error_message = long_text(buf, here, pos)
                            else:
                                responses_partition_responses_record_errors_batch_index_error_message = None
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        responses_partition_responses_record_errors.append(BatchIndexAndErrorMessage(responses_partition_responses_record_errors_batch_index, responses_partition_responses_record_errors_batch_index_error_message))
                responses_partition_responses_error_message: str | None
                n = buf[pos]
                if not n:
                    responses_partition_responses_error_message = None
                    pos += 1
                elif n == 1:
                    responses_partition_responses_error_message = ""
                    pos += 1
                elif n < 0x80:
                    responses_partition_responses_error_message = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        responses_partition_responses_error_message = long_text(buf, here, pos)
                    else:
                        responses_partition_responses_error_message = None
                n = buf[pos]
                pos += 1
                responses_partition_responses_current_leader: LeaderIdAndEpoch = LeaderIdAndEpoch()
                if n:
                    n, pos = read_uvarint(buf, pos - 1)
                    responses_partition_responses_tag_count = n
                    for _ in range(responses_partition_responses_tag_count):
                        tag, pos = read_uvarint(buf, pos)
                        n, pos = read_uvarint(buf, pos)
                        responses_partition_responses_tag_end = pos + n
                        if responses_partition_responses_tag_end > len(buf):
                            raise IndexError
                        if tag == 0:
                            responses_partition_responses_current_leader_leader_id, responses_partition_responses_current_leader_leader_epoch, n = unpack_iiB(buf, pos)
                            pos += 9
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            responses_partition_responses_current_leader = LeaderIdAndEpoch(responses_partition_responses_current_leader_leader_id, responses_partition_responses_current_leader_leader_epoch)
                        else:
                            pos = responses_partition_responses_tag_end
                        if pos != responses_partition_responses_tag_end:
                            raise BadField("responses.partition_responses.tagged fields", "a size is not that of its content")
                responses_partition_responses.append(PartitionProduceResponse(responses_partition_responses_index, responses_partition_responses_error_code, responses_partition_responses_base_offset, responses_partition_responses_log_append_time_ms, responses_partition_responses_log_start_offset, responses_partition_responses_record_errors, responses_partition_responses_error_message, responses_partition_responses_current_leader))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            responses.append(TopicProduceResponse(responses_name, ZERO_UUID, responses_partition_responses))
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        node_endpoints: list[NodeEndpoint] = []
        if n:
            n, pos = read_uvarint(buf, pos - 1)
            tag_count = n
            for _ in range(tag_count):
                tag, pos = read_uvarint(buf, pos)
                n, pos = read_uvarint(buf, pos)
                tag_end = pos + n
                if tag_end > len(buf):
                    raise IndexError
                if tag == 0:
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    if n < 0:
                        raise BadField("node_endpoints")
                    room -= n * 252
                    if room < 0:
                        room = verify(ProduceResponse, version, buf, start, pos + n)
                    node_endpoints = []
                    node_endpoints_left, node_endpoints_step = n, 8
                    while node_endpoints_left:
                        node_endpoints_count = node_endpoints_left
                        if node_endpoints_left >= 8:
                            run = alike(SHAPE_5, buf, pos, node_endpoints_left)
                            if run is not None:
                                pos, n, rows, absent, is_same = run
                                node_endpoints_left -= n
                                node_endpoints += [NodeEndpoint(node_id, host.decode(), port, rack.decode() if rack else absent[1]) for node_id, host, port, rack in rows]
                                continue
                            if node_endpoints_step < node_endpoints_left:
                                node_endpoints_count = node_endpoints_step
                            node_endpoints_step *= 2
                        node_endpoints_left -= node_endpoints_count
                        for _ in range(node_endpoints_count):
                            node_endpoints_node_id, n = unpack_iB(buf, pos)
                            if 0 < n < 0x80:
                                node_endpoints_host = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                            else:
                                n, pos = read_string_size(buf, pos + 4)
                                if n == 0:
                                    raise BadField("node_endpoints.host")
                                n -= 1
                                here = pos
                                pos = here + n
                                node_endpoints_host = long_text(buf, here, pos)
                            node_endpoints_rack: str | None
                            node_endpoints_port, n = unpack_iB(buf, pos)
                            if not n:
                                node_endpoints_rack = None
                                pos += 5
                            elif n == 1:
                                node_endpoints_rack = ""
                                pos += 5
                            elif n < 0x80:
                                node_endpoints_rack = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                            else:
                                n, pos = read_string_size(buf, pos + 4)
                                if n:
                                    n -= 1
                                    here = pos
                                    pos = here + n
                                    node_endpoints_rack = long_text(buf, here, pos)
                                else:
                                    node_endpoints_rack = None
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            node_endpoints.append(NodeEndpoint(node_endpoints_node_id, node_endpoints_host, node_endpoints_port, node_endpoints_rack))
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return ProduceResponse(responses, throttle_time_ms, node_endpoints), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ProduceResponse, version, buf, start, pos) from None


decode_produce_response_v11 = at_version(decode_produce_response_v10, 11)


decode_produce_response_v12 = at_version(decode_produce_response_v10, 12)


def decode_produce_response_v13(buf: bytes, pos: int, version: int = 13) -> tuple[ProduceResponse, int]:
    start = pos
    n: int
    try:
        room = 45760 - 2 * len(buf)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        responses: list[TopicProduceResponse]
        if n < 0:
            raise BadField("responses")
        room -= n * 128
        if room < 0:
            room = verify(ProduceResponse, version, buf, start, pos + n)
        responses = []
        responses_count = n
        for _ in range(responses_count):
            responses_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            responses_partition_responses: list[PartitionProduceResponse]
            if n < 0:
                raise BadField("responses.partition_responses")
            room -= n * 420
            if room < 0:
                room = verify(ProduceResponse, version, buf, start, pos + n)
            responses_partition_responses = []
            responses_partition_responses_count = n
            for _ in range(responses_partition_responses_count):
                responses_partition_responses_index, responses_partition_responses_error_code, responses_partition_responses_base_offset, responses_partition_responses_log_append_time_ms, responses_partition_responses_log_start_offset, n = unpack_ihqqqB(buf, pos)
                pos += 31
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                responses_partition_responses_record_errors: list[BatchIndexAndErrorMessage]
                if n < 0:
                    raise BadField("responses.partition_responses.record_errors")
                room -= n * 144
                if room < 0:
                    room = verify(ProduceResponse, version, buf, start, pos + n)
                responses_partition_responses_record_errors = []
                responses_partition_responses_record_errors_left, responses_partition_responses_record_errors_step = n, 8
                while responses_partition_responses_record_errors_left:
                    responses_partition_responses_record_errors_count = responses_partition_responses_record_errors_left
                    if responses_partition_responses_record_errors_left >= 8:
                        run = alike(SHAPE_4, buf, pos, responses_partition_responses_record_errors_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            responses_partition_responses_record_errors_left -= n
                            if is_same and absent == None:
                                responses_partition_responses_record_errors += starmap(BatchIndexAndErrorMessage, rows)
                                continue
                            if is_same:
                                responses_partition_responses_record_errors += [BatchIndexAndErrorMessage(batch_index, absent) for batch_index, in rows]
                            else:
                                responses_partition_responses_record_errors += [BatchIndexAndErrorMessage(batch_index, batch_index_error_message.decode()) for batch_index, batch_index_error_message in rows]
                            continue
                        if responses_partition_responses_record_errors_step < responses_partition_responses_record_errors_left:
                            responses_partition_responses_record_errors_count = responses_partition_responses_record_errors_step
                        responses_partition_responses_record_errors_step *= 2
                    responses_partition_responses_record_errors_left -= responses_partition_responses_record_errors_count
                    for _ in range(responses_partition_responses_record_errors_count):
                        responses_partition_responses_record_errors_batch_index_error_message: str | None
                        responses_partition_responses_record_errors_batch_index, n = unpack_iB(buf, pos)
                        if not n:
                            responses_partition_responses_record_errors_batch_index_error_message = None
                            pos += 5
                        elif n == 1:
                            responses_partition_responses_record_errors_batch_index_error_message = ""
                            pos += 5
                        elif n < 0x80:
                            responses_partition_responses_record_errors_batch_index_error_message = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos + 4)
                            if n:
                                n -= 1
                                here = pos
                                pos = here + n
                                responses_partition_responses_record_errors_batch_index_error_message = long_text(buf, here, pos)
                            else:
                                responses_partition_responses_record_errors_batch_index_error_message = None
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        responses_partition_responses_record_errors.append(BatchIndexAndErrorMessage(responses_partition_responses_record_errors_batch_index, responses_partition_responses_record_errors_batch_index_error_message))
                responses_partition_responses_error_message: str | None
                n = buf[pos]
                if not n:
                    responses_partition_responses_error_message = None
                    pos += 1
                elif n == 1:
                    responses_partition_responses_error_message = ""
                    pos += 1
                elif n < 0x80:
                    responses_partition_responses_error_message = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        responses_partition_responses_error_message = long_text(buf, here, pos)
                    else:
                        responses_partition_responses_error_message = None
                n = buf[pos]
                pos += 1
                responses_partition_responses_current_leader: LeaderIdAndEpoch = LeaderIdAndEpoch()
                if n:
                    n, pos = read_uvarint(buf, pos - 1)
                    responses_partition_responses_tag_count = n
                    for _ in range(responses_partition_responses_tag_count):
                        tag, pos = read_uvarint(buf, pos)
                        n, pos = read_uvarint(buf, pos)
                        responses_partition_responses_tag_end = pos + n
                        if responses_partition_responses_tag_end > len(buf):
                            raise IndexError
                        if tag == 0:
                            responses_partition_responses_current_leader_leader_id, responses_partition_responses_current_leader_leader_epoch, n = unpack_iiB(buf, pos)
                            pos += 9
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            responses_partition_responses_current_leader = LeaderIdAndEpoch(responses_partition_responses_current_leader_leader_id, responses_partition_responses_current_leader_leader_epoch)
                        else:
                            pos = responses_partition_responses_tag_end
                        if pos != responses_partition_responses_tag_end:
                            raise BadField("responses.partition_responses.tagged fields", "a size is not that of its content")
                responses_partition_responses.append(PartitionProduceResponse(responses_partition_responses_index, responses_partition_responses_error_code, responses_partition_responses_base_offset, responses_partition_responses_log_append_time_ms, responses_partition_responses_log_start_offset, responses_partition_responses_record_errors, responses_partition_responses_error_message, responses_partition_responses_current_leader))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            responses.append(TopicProduceResponse("", responses_topic_id, responses_partition_responses))
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        node_endpoints: list[NodeEndpoint] = []
        if n:
            n, pos = read_uvarint(buf, pos - 1)
            tag_count = n
            for _ in range(tag_count):
                tag, pos = read_uvarint(buf, pos)
                n, pos = read_uvarint(buf, pos)
                tag_end = pos + n
                if tag_end > len(buf):
                    raise IndexError
                if tag == 0:
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    if n < 0:
                        raise BadField("node_endpoints")
                    room -= n * 252
                    if room < 0:
                        room = verify(ProduceResponse, version, buf, start, pos + n)
                    node_endpoints = []
                    node_endpoints_left, node_endpoints_step = n, 8
                    while node_endpoints_left:
                        node_endpoints_count = node_endpoints_left
                        if node_endpoints_left >= 8:
                            run = alike(SHAPE_5, buf, pos, node_endpoints_left)
                            if run is not None:
                                pos, n, rows, absent, is_same = run
                                node_endpoints_left -= n
                                node_endpoints += [NodeEndpoint(node_id, host.decode(), port, rack.decode() if rack else absent[1]) for node_id, host, port, rack in rows]
                                continue
                            if node_endpoints_step < node_endpoints_left:
                                node_endpoints_count = node_endpoints_step
                            node_endpoints_step *= 2
                        node_endpoints_left -= node_endpoints_count
                        for _ in range(node_endpoints_count):
                            node_endpoints_node_id, n = unpack_iB(buf, pos)
                            if 0 < n < 0x80:
                                node_endpoints_host = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                            else:
                                n, pos = read_string_size(buf, pos + 4)
                                if n == 0:
                                    raise BadField("node_endpoints.host")
                                n -= 1
                                here = pos
                                pos = here + n
                                node_endpoints_host = long_text(buf, here, pos)
                            node_endpoints_rack: str | None
                            node_endpoints_port, n = unpack_iB(buf, pos)
                            if not n:
                                node_endpoints_rack = None
                                pos += 5
                            elif n == 1:
                                node_endpoints_rack = ""
                                pos += 5
                            elif n < 0x80:
                                node_endpoints_rack = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                            else:
                                n, pos = read_string_size(buf, pos + 4)
                                if n:
                                    n -= 1
                                    here = pos
                                    pos = here + n
                                    node_endpoints_rack = long_text(buf, here, pos)
                                else:
                                    node_endpoints_rack = None
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            node_endpoints.append(NodeEndpoint(node_endpoints_node_id, node_endpoints_host, node_endpoints_port, node_endpoints_rack))
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return ProduceResponse(responses, throttle_time_ms, node_endpoints), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ProduceResponse, version, buf, start, pos) from None


def encode_produce_response_v3(msg: ProduceResponse, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        if msg.node_endpoints:
            raise not_in_version("node_endpoints")
        responses = msg.responses
        out += pack_i(len(responses))
        for responses_item in responses:
            raw = responses_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            responses_partition_responses = responses_item.partition_responses
            out += pack_i(len(responses_partition_responses))
            for responses_partition_responses_item in responses_partition_responses:
                if responses_partition_responses_item.current_leader != LeaderIdAndEpoch():
                    raise not_in_version("responses.partition_responses.current_leader")
                out += pack_ihqq(responses_partition_responses_item.index, responses_partition_responses_item.error_code, responses_partition_responses_item.base_offset, responses_partition_responses_item.log_append_time_ms)
        out += pack_i(msg.throttle_time_ms)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ProduceResponse", version) from error


encode_produce_response_v4 = at_version(encode_produce_response_v3, 4)


def encode_produce_response_v5(msg: ProduceResponse, out: bytearray, version: int = 5) -> None:
    start = len(out)
    try:
        if msg.node_endpoints:
            raise not_in_version("node_endpoints")
        responses = msg.responses
        out += pack_i(len(responses))
        for responses_item in responses:
            raw = responses_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            responses_partition_responses = responses_item.partition_responses
            out += pack_i(len(responses_partition_responses))
            for responses_partition_responses_item in responses_partition_responses:
                if responses_partition_responses_item.current_leader != LeaderIdAndEpoch():
                    raise not_in_version("responses.partition_responses.current_leader")
                out += pack_ihqqq(responses_partition_responses_item.index, responses_partition_responses_item.error_code, responses_partition_responses_item.base_offset, responses_partition_responses_item.log_append_time_ms, responses_partition_responses_item.log_start_offset)
        out += pack_i(msg.throttle_time_ms)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ProduceResponse", version) from error


encode_produce_response_v6 = at_version(encode_produce_response_v5, 6)


encode_produce_response_v7 = at_version(encode_produce_response_v5, 7)


def encode_produce_response_v8(msg: ProduceResponse, out: bytearray, version: int = 8) -> None:
    start = len(out)
    try:
        if msg.node_endpoints:
            raise not_in_version("node_endpoints")
        responses = msg.responses
        out += pack_i(len(responses))
        for responses_item in responses:
            raw = responses_item.name.encode()
            out += pack_h(len(raw))
            out += raw
            responses_partition_responses = responses_item.partition_responses
            out += pack_i(len(responses_partition_responses))
            for responses_partition_responses_item in responses_partition_responses:
                if responses_partition_responses_item.current_leader != LeaderIdAndEpoch():
                    raise not_in_version("responses.partition_responses.current_leader")
                responses_partition_responses_record_errors = responses_partition_responses_item.record_errors
                out += pack_ihqqqi(responses_partition_responses_item.index, responses_partition_responses_item.error_code, responses_partition_responses_item.base_offset, responses_partition_responses_item.log_append_time_ms, responses_partition_responses_item.log_start_offset, len(responses_partition_responses_record_errors))
                for responses_partition_responses_record_errors_item in responses_partition_responses_record_errors:
                    text = responses_partition_responses_record_errors_item.batch_index_error_message
                    if not text:
                        out += pack_ih(responses_partition_responses_record_errors_item.batch_index, -1 if text is None else 0)
                        continue
                    text = responses_partition_responses_record_errors_item.batch_index_error_message
                    if text is None:
                        n, raw = -1, b""
                    else:
                        raw = text.encode()
                        n = len(raw)
                    out += pack_ih(responses_partition_responses_record_errors_item.batch_index, n)
                    out += raw
                text = responses_partition_responses_item.error_message
                if text is None:
                    n, raw = -1, b""
                else:
                    raw = text.encode()
                    n = len(raw)
                out += pack_h(n)
                out += raw
        out += pack_i(msg.throttle_time_ms)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ProduceResponse", version) from error


def encode_produce_response_v9(msg: ProduceResponse, out: bytearray, version: int = 9) -> None:
    start = len(out)
    try:
        if msg.node_endpoints:
            raise not_in_version("node_endpoints")
        responses = msg.responses
        n = len(responses) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for responses_item in responses:
            raw = responses_item.name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            responses_partition_responses = responses_item.partition_responses
            n = len(responses_partition_responses) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for responses_partition_responses_item in responses_partition_responses:
                if responses_partition_responses_item.current_leader != LeaderIdAndEpoch():
                    raise not_in_version("responses.partition_responses.current_leader")
                responses_partition_responses_record_errors = responses_partition_responses_item.record_errors
                n = len(responses_partition_responses_record_errors) + 1
                if n < 0x80:
                    out += pack_ihqqqB(responses_partition_responses_item.index, responses_partition_responses_item.error_code, responses_partition_responses_item.base_offset, responses_partition_responses_item.log_append_time_ms, responses_partition_responses_item.log_start_offset, n)
                else:
                    out += pack_ihqqq(responses_partition_responses_item.index, responses_partition_responses_item.error_code, responses_partition_responses_item.base_offset, responses_partition_responses_item.log_append_time_ms, responses_partition_responses_item.log_start_offset)
                    out += write_uvarint(n)
                for responses_partition_responses_record_errors_item in responses_partition_responses_record_errors:
                    text = responses_partition_responses_record_errors_item.batch_index_error_message
                    if not text:
                        out += pack_iBx(responses_partition_responses_record_errors_item.batch_index, 0 if text is None else 1)
                        continue
                    text = responses_partition_responses_record_errors_item.batch_index_error_message
                    if text is None:
                        n, raw = 0, b""
                    else:
                        raw = text.encode()
                        n = len(raw) + 1
                    if n < 0x80:
                        out += pack_iB(responses_partition_responses_record_errors_item.batch_index, n)
                    else:
                        out += pack_i(responses_partition_responses_record_errors_item.batch_index)
                        out += write_string_size(n)
                    out += raw
                    out.append(0)
                text = responses_partition_responses_item.error_message
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
        out += pack_ix(msg.throttle_time_ms)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ProduceResponse", version) from error


def encode_produce_response_v10(msg: ProduceResponse, out: bytearray, version: int = 10) -> None:
    start = len(out)
    try:
        responses = msg.responses
        n = len(responses) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for responses_item in responses:
            raw = responses_item.name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            responses_partition_responses = responses_item.partition_responses
            n = len(responses_partition_responses) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for responses_partition_responses_item in responses_partition_responses:
                responses_partition_responses_record_errors = responses_partition_responses_item.record_errors
                n = len(responses_partition_responses_record_errors) + 1
                if n < 0x80:
                    out += pack_ihqqqB(responses_partition_responses_item.index, responses_partition_responses_item.error_code, responses_partition_responses_item.base_offset, responses_partition_responses_item.log_append_time_ms, responses_partition_responses_item.log_start_offset, n)
                else:
                    out += pack_ihqqq(responses_partition_responses_item.index, responses_partition_responses_item.error_code, responses_partition_responses_item.base_offset, responses_partition_responses_item.log_append_time_ms, responses_partition_responses_item.log_start_offset)
                    out += write_uvarint(n)
                for responses_partition_responses_record_errors_item in responses_partition_responses_record_errors:
                    text = responses_partition_responses_record_errors_item.batch_index_error_message
                    if not text:
                        out += pack_iBx(responses_partition_responses_record_errors_item.batch_index, 0 if text is None else 1)
                        continue
                    text = responses_partition_responses_record_errors_item.batch_index_error_message
                    if text is None:
                        n, raw = 0, b""
                    else:
                        raw = text.encode()
                        n = len(raw) + 1
                    if n < 0x80:
                        out += pack_iB(responses_partition_responses_record_errors_item.batch_index, n)
                    else:
                        out += pack_i(responses_partition_responses_record_errors_item.batch_index)
                        out += write_string_size(n)
                    out += raw
                    out.append(0)
                text = responses_partition_responses_item.error_message
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
                if responses_partition_responses_item.current_leader != LeaderIdAndEpoch():
                    out += pack_BB(1, 0)
                    responses_partition_responses_current_leader_content = bytearray()
                    responses_partition_responses_current_leader = responses_partition_responses_item.current_leader
                    responses_partition_responses_current_leader_content += pack_iix(responses_partition_responses_current_leader.leader_id, responses_partition_responses_current_leader.leader_epoch)
                    n = len(responses_partition_responses_current_leader_content)
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += responses_partition_responses_current_leader_content
                else:
                    out.append(0)
            out.append(0)
        out += pack_i(msg.throttle_time_ms)
        if msg.node_endpoints:
            out += pack_BB(1, 0)
            node_endpoints_content = bytearray()
            node_endpoints = msg.node_endpoints
            n = len(node_endpoints) + 1
            if n < 0x80:
                node_endpoints_content.append(n)
            else:
                node_endpoints_content += write_uvarint(n)
            for node_endpoints_item in node_endpoints:
                raw = node_endpoints_item.host.encode()
                n = len(raw) + 1
                if n < 0x80:
                    node_endpoints_content += pack_iB(node_endpoints_item.node_id, n)
                else:
                    node_endpoints_content += pack_i(node_endpoints_item.node_id)
                    node_endpoints_content += write_string_size(n)
                node_endpoints_content += raw
                text = node_endpoints_item.rack
                if text is None:
                    n, raw = 0, b""
                else:
                    raw = text.encode()
                    n = len(raw) + 1
                if n < 0x80:
                    node_endpoints_content += pack_iB(node_endpoints_item.port, n)
                else:
                    node_endpoints_content += pack_i(node_endpoints_item.port)
                    node_endpoints_content += write_string_size(n)
                node_endpoints_content += raw
                node_endpoints_content.append(0)
            n = len(node_endpoints_content)
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += node_endpoints_content
        else:
            out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ProduceResponse", version) from error


encode_produce_response_v11 = at_version(encode_produce_response_v10, 11)


encode_produce_response_v12 = at_version(encode_produce_response_v10, 12)


def encode_produce_response_v13(msg: ProduceResponse, out: bytearray, version: int = 13) -> None:
    start = len(out)
    try:
        responses = msg.responses
        n = len(responses) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for responses_item in responses:
            if len(responses_item.topic_id) != 16:
                raise BadField("responses.topic_id", "a UUID has 16 bytes")
            responses_partition_responses = responses_item.partition_responses
            n = len(responses_partition_responses) + 1
            if n < 0x80:
                out += pack_uB(responses_item.topic_id, n)
            else:
                out += pack_u(responses_item.topic_id)
                out += write_uvarint(n)
            for responses_partition_responses_item in responses_partition_responses:
                responses_partition_responses_record_errors = responses_partition_responses_item.record_errors
                n = len(responses_partition_responses_record_errors) + 1
                if n < 0x80:
                    out += pack_ihqqqB(responses_partition_responses_item.index, responses_partition_responses_item.error_code, responses_partition_responses_item.base_offset, responses_partition_responses_item.log_append_time_ms, responses_partition_responses_item.log_start_offset, n)
                else:
                    out += pack_ihqqq(responses_partition_responses_item.index, responses_partition_responses_item.error_code, responses_partition_responses_item.base_offset, responses_partition_responses_item.log_append_time_ms, responses_partition_responses_item.log_start_offset)
                    out += write_uvarint(n)
                for responses_partition_responses_record_errors_item in responses_partition_responses_record_errors:
                    text = responses_partition_responses_record_errors_item.batch_index_error_message
                    if not text:
                        out += pack_iBx(responses_partition_responses_record_errors_item.batch_index, 0 if text is None else 1)
                        continue
                    text = responses_partition_responses_record_errors_item.batch_index_error_message
                    if text is None:
                        n, raw = 0, b""
                    else:
                        raw = text.encode()
                        n = len(raw) + 1
                    if n < 0x80:
                        out += pack_iB(responses_partition_responses_record_errors_item.batch_index, n)
                    else:
                        out += pack_i(responses_partition_responses_record_errors_item.batch_index)
                        out += write_string_size(n)
                    out += raw
                    out.append(0)
                text = responses_partition_responses_item.error_message
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
                if responses_partition_responses_item.current_leader != LeaderIdAndEpoch():
                    out += pack_BB(1, 0)
                    responses_partition_responses_current_leader_content = bytearray()
                    responses_partition_responses_current_leader = responses_partition_responses_item.current_leader
                    responses_partition_responses_current_leader_content += pack_iix(responses_partition_responses_current_leader.leader_id, responses_partition_responses_current_leader.leader_epoch)
                    n = len(responses_partition_responses_current_leader_content)
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += responses_partition_responses_current_leader_content
                else:
                    out.append(0)
            out.append(0)
        out += pack_i(msg.throttle_time_ms)
        if msg.node_endpoints:
            out += pack_BB(1, 0)
            node_endpoints_content = bytearray()
            node_endpoints = msg.node_endpoints
            n = len(node_endpoints) + 1
            if n < 0x80:
                node_endpoints_content.append(n)
            else:
                node_endpoints_content += write_uvarint(n)
            for node_endpoints_item in node_endpoints:
                raw = node_endpoints_item.host.encode()
                n = len(raw) + 1
                if n < 0x80:
                    node_endpoints_content += pack_iB(node_endpoints_item.node_id, n)
                else:
                    node_endpoints_content += pack_i(node_endpoints_item.node_id)
                    node_endpoints_content += write_string_size(n)
                node_endpoints_content += raw
                text = node_endpoints_item.rack
                if text is None:
                    n, raw = 0, b""
                else:
                    raw = text.encode()
                    n = len(raw) + 1
                if n < 0x80:
                    node_endpoints_content += pack_iB(node_endpoints_item.port, n)
                else:
                    node_endpoints_content += pack_i(node_endpoints_item.port)
                    node_endpoints_content += write_string_size(n)
                node_endpoints_content += raw
                node_endpoints_content.append(0)
            n = len(node_endpoints_content)
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += node_endpoints_content
        else:
            out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ProduceResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    ProduceRequest: {
        3: decode_produce_request_v3,
        4: decode_produce_request_v4,
        5: decode_produce_request_v5,
        6: decode_produce_request_v6,
        7: decode_produce_request_v7,
        8: decode_produce_request_v8,
        9: decode_produce_request_v9,
        10: decode_produce_request_v10,
        11: decode_produce_request_v11,
        12: decode_produce_request_v12,
        13: decode_produce_request_v13,
    },
    ProduceResponse: {
        3: decode_produce_response_v3,
        4: decode_produce_response_v4,
        5: decode_produce_response_v5,
        6: decode_produce_response_v6,
        7: decode_produce_response_v7,
        8: decode_produce_response_v8,
        9: decode_produce_response_v9,
        10: decode_produce_response_v10,
        11: decode_produce_response_v11,
        12: decode_produce_response_v12,
        13: decode_produce_response_v13,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    ProduceRequest: {
        3: encode_produce_request_v3,
        4: encode_produce_request_v4,
        5: encode_produce_request_v5,
        6: encode_produce_request_v6,
        7: encode_produce_request_v7,
        8: encode_produce_request_v8,
        9: encode_produce_request_v9,
        10: encode_produce_request_v10,
        11: encode_produce_request_v11,
        12: encode_produce_request_v12,
        13: encode_produce_request_v13,
    },
    ProduceResponse: {
        3: encode_produce_response_v3,
        4: encode_produce_response_v4,
        5: encode_produce_response_v5,
        6: encode_produce_response_v6,
        7: encode_produce_response_v7,
        8: encode_produce_response_v8,
        9: encode_produce_response_v9,
        10: encode_produce_response_v10,
        11: encode_produce_response_v11,
        12: encode_produce_response_v12,
        13: encode_produce_response_v13,
    },
}
