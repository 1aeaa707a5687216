"""Codecs of protocol/messages/write_txn_markers.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_iB, unpack_ibB, unpack_ihB, unpack_qB, unpack_qhzB
from protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopic,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from protocol.refusal import BadField, decode_failure, encode_failure, verify
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

pack_i = Struct(">i").pack
pack_ibx = Struct(">ibx").pack
pack_ihx = Struct(">ihx").pack
pack_ix = Struct(">ix").pack
pack_q = Struct(">q").pack
pack_qB = Struct(">qB").pack
pack_qhz = Struct(">qh?").pack
pack_qhzB = Struct(">qh?B").pack
rows_ihx = Struct(">ihx").iter_unpack


def decode_write_txn_markers_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[WriteTxnMarkersRequest, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        markers: list[WritableTxnMarker]
        if n < 0:
            raise BadField("markers")
        room -= n * 212
        if room < 0:
            room, limit = verify(WriteTxnMarkersRequest, version, buf, start, pos + n, limit - n * 212), 0
        markers = []
        markers_count = n
        for _ in range(markers_count):
            markers_producer_id, markers_producer_epoch, markers_transaction_result, n = unpack_qhzB(buf, pos)
            pos += 12
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            markers_topics: list[WritableTxnMarkerTopic]
            if n < 0:
                raise BadField("markers.topics")
            room -= n * 204
            if room < 0:
                room, limit = verify(WriteTxnMarkersRequest, version, buf, start, pos + n, limit - n * 204), 0
            markers_topics = []
            markers_topics_count = n
            for _ in range(markers_topics_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    markers_topics_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("markers.topics.name")
                    n -= 1
                    here = pos
                    pos = here + n
                    markers_topics_name = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                markers_topics_partition_indexes: list[int]
                if n < 0:
                    raise BadField("markers.topics.partition_indexes")
                room -= n * 40
                if room < 0:
                    room, limit = verify(WriteTxnMarkersRequest, version, buf, start, pos + n, limit - n * 40), 0
                markers_topics_partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                markers_topics.append(WritableTxnMarkerTopic(markers_topics_name, markers_topics_partition_indexes))
            markers_coordinator_epoch, n = unpack_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos - 1)
            markers.append(WritableTxnMarker(markers_producer_id, markers_producer_epoch, markers_transaction_result, markers_topics, markers_coordinator_epoch))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return WriteTxnMarkersRequest(markers), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, WriteTxnMarkersRequest, version, buf, start, pos) from None


def decode_write_txn_markers_request_v2(buf: bytes, pos: int, version: int = 2) -> tuple[WriteTxnMarkersRequest, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        limit = 16777216
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        markers: list[WritableTxnMarker]
        if n < 0:
            raise BadField("markers")
        room -= n * 240
        if room < 0:
            room, limit = verify(WriteTxnMarkersRequest, version, buf, start, pos + n, limit - n * 240), 0
        markers = []
        markers_count = n
        for _ in range(markers_count):
            markers_producer_id, markers_producer_epoch, markers_transaction_result, n = unpack_qhzB(buf, pos)
            pos += 12
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            markers_topics: list[WritableTxnMarkerTopic]
            if n < 0:
                raise BadField("markers.topics")
            room -= n * 204
            if room < 0:
                room, limit = verify(WriteTxnMarkersRequest, version, buf, start, pos + n, limit - n * 204), 0
            markers_topics = []
            markers_topics_count = n
            for _ in range(markers_topics_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    markers_topics_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("markers.topics.name")
                    n -= 1
                    here = pos
                    pos = here + n
                    markers_topics_name = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                markers_topics_partition_indexes: list[int]
                if n < 0:
                    raise BadField("markers.topics.partition_indexes")
                room -= n * 40
                if room < 0:
                    room, limit = verify(WriteTxnMarkersRequest, version, buf, start, pos + n, limit - n * 40), 0
                markers_topics_partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                markers_topics.append(WritableTxnMarkerTopic(markers_topics_name, markers_topics_partition_indexes))
            markers_coordinator_epoch, markers_transaction_version, n = unpack_ibB(buf, pos)
            pos += 6
            if n:
                pos = skip_tags(buf, pos - 1)
            markers.append(WritableTxnMarker(markers_producer_id, markers_producer_epoch, markers_transaction_result, markers_topics, markers_coordinator_epoch, markers_transaction_version))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return WriteTxnMarkersRequest(markers), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, WriteTxnMarkersRequest, version, buf, start, pos) from None


def encode_write_txn_markers_request_v1(msg: WriteTxnMarkersRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        markers = msg.markers
        n = len(markers) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for markers_item in markers:
            markers_topics = markers_item.topics
            n = len(markers_topics) + 1
            if n < 0x80:
                out += pack_qhzB(markers_item.producer_id, markers_item.producer_epoch, markers_item.transaction_result, n)
            else:
                out += pack_qhz(markers_item.producer_id, markers_item.producer_epoch, markers_item.transaction_result)
                out += write_uvarint(n)
            for markers_topics_item in markers_topics:
                raw = markers_topics_item.name.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                markers_topics_partition_indexes = markers_topics_item.partition_indexes
                n = len(markers_topics_partition_indexes) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*markers_topics_partition_indexes) if len(markers_topics_partition_indexes) == 1 else pack(f">{len(markers_topics_partition_indexes)}i", *markers_topics_partition_indexes)
                out.append(0)
            out += pack_ix(markers_item.coordinator_epoch)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "WriteTxnMarkersRequest", version) from error


def encode_write_txn_markers_request_v2(msg: WriteTxnMarkersRequest, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        markers = msg.markers
        n = len(markers) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for markers_item in markers:
            markers_topics = markers_item.topics
            n = len(markers_topics) + 1
            if n < 0x80:
                out += pack_qhzB(markers_item.producer_id, markers_item.producer_epoch, markers_item.transaction_result, n)
            else:
                out += pack_qhz(markers_item.producer_id, markers_item.producer_epoch, markers_item.transaction_result)
                out += write_uvarint(n)
            for markers_topics_item in markers_topics:
                raw = markers_topics_item.name.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                markers_topics_partition_indexes = markers_topics_item.partition_indexes
                n = len(markers_topics_partition_indexes) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_i(*markers_topics_partition_indexes) if len(markers_topics_partition_indexes) == 1 else pack(f">{len(markers_topics_partition_indexes)}i", *markers_topics_partition_indexes)
                out.append(0)
            out += pack_ibx(markers_item.coordinator_epoch, markers_item.transaction_version)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "WriteTxnMarkersRequest", version) from error


def decode_write_txn_markers_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[WriteTxnMarkersResponse, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        markers: list[WritableTxnMarkerResult]
        if n < 0:
            raise BadField("markers")
        room -= n * 144
        if room < 0:
            room = verify(WriteTxnMarkersResponse, version, buf, start, pos + n)
        markers = []
        markers_count = n
        for _ in range(markers_count):
            markers_producer_id, n = unpack_qB(buf, pos)
            pos += 9
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            markers_topics: list[WritableTxnMarkerTopicResult]
            if n < 0:
                raise BadField("markers.topics")
            room -= n * 204
            if room < 0:
                room = verify(WriteTxnMarkersResponse, version, buf, start, pos + n)
            markers_topics = []
            markers_topics_count = n
            for _ in range(markers_topics_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    markers_topics_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("markers.topics.name")
                    n -= 1
                    here = pos
                    pos = here + n
                    markers_topics_name = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                markers_topics_partitions: list[WritableTxnMarkerPartitionResult]
                if n < 0:
                    raise BadField("markers.topics.partitions")
                room -= n * 92
                if room < 0:
                    room = verify(WriteTxnMarkersResponse, version, buf, start, pos + n)
                end = pos + n * 7
                if buf[pos + 6 : end : 7].count(0) == n:
                    markers_topics_partitions = list(starmap(WritableTxnMarkerPartitionResult, rows_ihx(buf[pos:end])))
                    pos = end
                else:
                    markers_topics_partitions = []
                    markers_topics_partitions_count = n
                    for _ in range(markers_topics_partitions_count):
                        markers_topics_partitions_partition_index, markers_topics_partitions_error_code, n = unpack_ihB(buf, pos)
                        pos += 7
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        markers_topics_partitions.append(WritableTxnMarkerPartitionResult(markers_topics_partitions_partition_index, markers_topics_partitions_error_code))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                markers_topics.append(WritableTxnMarkerTopicResult(markers_topics_name, markers_topics_partitions))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            markers.append(WritableTxnMarkerResult(markers_producer_id, markers_topics))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return WriteTxnMarkersResponse(markers), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, WriteTxnMarkersResponse, version, buf, start, pos) from None


decode_write_txn_markers_response_v2 = at_version(decode_write_txn_markers_response_v1, 2)


def encode_write_txn_markers_response_v1(msg: WriteTxnMarkersResponse, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        markers = msg.markers
        n = len(markers) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for markers_item in markers:
            markers_topics = markers_item.topics
            n = len(markers_topics) + 1
            if n < 0x80:
                out += pack_qB(markers_item.producer_id, n)
            else:
                out += pack_q(markers_item.producer_id)
                out += write_uvarint(n)
            for markers_topics_item in markers_topics:
                raw = markers_topics_item.name.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                markers_topics_partitions = markers_topics_item.partitions
                n = len(markers_topics_partitions) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += b"".join([pack_ihx(markers_topics_partitions_item.partition_index, markers_topics_partitions_item.error_code) for markers_topics_partitions_item in markers_topics_partitions])
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "WriteTxnMarkersResponse", version) from error


encode_write_txn_markers_response_v2 = at_version(encode_write_txn_markers_response_v1, 2)


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    WriteTxnMarkersRequest: {
        1: decode_write_txn_markers_request_v1,
        2: decode_write_txn_markers_request_v2,
    },
    WriteTxnMarkersResponse: {
        1: decode_write_txn_markers_response_v1,
        2: decode_write_txn_markers_response_v2,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    WriteTxnMarkersRequest: {
        1: encode_write_txn_markers_request_v1,
        2: encode_write_txn_markers_request_v2,
    },
    WriteTxnMarkersResponse: {
        1: encode_write_txn_markers_response_v1,
        2: encode_write_txn_markers_response_v2,
    },
}
