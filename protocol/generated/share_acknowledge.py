"""Codecs of protocol/messages/share_acknowledge.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_iB, unpack_ihB, unpack_iiB, unpack_izB, unpack_qqB, unpack_uB
from protocol.messages.share_acknowledge import (
    AcknowledgePartition,
    AcknowledgeTopic,
    AcknowledgementBatch,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)
from protocol.refusal import BadField, decode_failure, encode_failure, not_in_version, verify
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

SHAPE_1 = Shape("x", 1, Field("i", 4, 1, False, ""), Field("i", 4, 1, True, ""))
pack_u = Struct(">16s").pack
pack_uB = Struct(">16sB").pack
pack_b = Struct(">b").pack
pack_i = Struct(">i").pack
pack_iz = Struct(">i?").pack
pack_izB = Struct(">i?B").pack
pack_iB = Struct(">iB").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_iixx = Struct(">iixx").pack
pack_qq = Struct(">qq").pack
pack_qqB = Struct(">qqB").pack


def decode_share_acknowledge_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[ShareAcknowledgeRequest, int]:
    start = pos
    n: int
    try:
        room = 45664 - 2 * len(buf)
        limit = 16777216
        group_id: str | None
        n = buf[pos]
        if not n:
            group_id = None
            pos += 1
        elif n == 1:
            group_id = ""
            pos += 1
        elif n < 0x80:
            group_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                group_id = long_text(buf, here, pos)
            else:
                group_id = None
        member_id: str | None
        n = buf[pos]
        if not n:
            member_id = None
            pos += 1
        elif n == 1:
            member_id = ""
            pos += 1
        elif n < 0x80:
            member_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                member_id = long_text(buf, here, pos)
            else:
                member_id = None
        share_session_epoch, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[AcknowledgeTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 128
        if room < 0:
            room, limit = verify(ShareAcknowledgeRequest, version, buf, start, pos + n, limit - n * 128), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[AcknowledgePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 144
            if room < 0:
                room, limit = verify(ShareAcknowledgeRequest, version, buf, start, pos + n, limit - n * 144), 0
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_partition_index, n = unpack_iB(buf, pos)
                pos += 5
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_acknowledgement_batches: list[AcknowledgementBatch]
                if n < 0:
                    raise BadField("topics.partitions.acknowledgement_batches")
                room -= n * 160
                if room < 0:
                    room, limit = verify(ShareAcknowledgeRequest, version, buf, start, pos + n, limit - n * 160), 0
                topics_partitions_acknowledgement_batches = []
                topics_partitions_acknowledgement_batches_count = n
                for _ in range(topics_partitions_acknowledgement_batches_count):
                    topics_partitions_acknowledgement_batches_first_offset, topics_partitions_acknowledgement_batches_last_offset, n = unpack_qqB(buf, pos)
                    pos += 17
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    topics_partitions_acknowledgement_batches_acknowledge_types: list[int]
                    if n < 0:
                        raise BadField("topics.partitions.acknowledgement_batches.acknowledge_types")
                    room -= n * 52
                    if room < 0:
                        room, limit = verify(ShareAcknowledgeRequest, version, buf, start, pos + n, limit - n * 52), 0
                    topics_partitions_acknowledgement_batches_acknowledge_types = list(unpack_from(f">{n}b", buf, pos))
                    pos += n * 1
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions_acknowledgement_batches.append(AcknowledgementBatch(topics_partitions_acknowledgement_batches_first_offset, topics_partitions_acknowledgement_batches_last_offset, topics_partitions_acknowledgement_batches_acknowledge_types))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                topics_partitions.append(AcknowledgePartition(topics_partitions_partition_index, topics_partitions_acknowledgement_batches))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(AcknowledgeTopic(topics_topic_id, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ShareAcknowledgeRequest(group_id, member_id, share_session_epoch, False, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareAcknowledgeRequest, version, buf, start, pos) from None


def decode_share_acknowledge_request_v2(buf: bytes, pos: int, version: int = 2) -> tuple[ShareAcknowledgeRequest, int]:
    start = pos
    n: int
    try:
        room = 45664 - 2 * len(buf)
        limit = 16777216
        group_id: str | None
        n = buf[pos]
        if not n:
            group_id = None
            pos += 1
        elif n == 1:
            group_id = ""
            pos += 1
        elif n < 0x80:
            group_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                group_id = long_text(buf, here, pos)
            else:
                group_id = None
        member_id: str | None
        n = buf[pos]
        if not n:
            member_id = None
            pos += 1
        elif n == 1:
            member_id = ""
            pos += 1
        elif n < 0x80:
            member_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                member_id = long_text(buf, here, pos)
            else:
                member_id = None
        share_session_epoch, is_renew_ack, n = unpack_izB(buf, pos)
        pos += 6
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[AcknowledgeTopic]
        if n < 0:
            raise BadField("topics")
        room -= n * 128
        if room < 0:
            room, limit = verify(ShareAcknowledgeRequest, version, buf, start, pos + n, limit - n * 128), 0
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partitions: list[AcknowledgePartition]
            if n < 0:
                raise BadField("topics.partitions")
            room -= n * 144
            if room < 0:
                room, limit = verify(ShareAcknowledgeRequest, version, buf, start, pos + n, limit - n * 144), 0
            topics_partitions = []
            topics_partitions_count = n
            for _ in range(topics_partitions_count):
                topics_partitions_partition_index, n = unpack_iB(buf, pos)
                pos += 5
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partitions_acknowledgement_batches: list[AcknowledgementBatch]
                if n < 0:
                    raise BadField("topics.partitions.acknowledgement_batches")
                room -= n * 160
                if room < 0:
                    room, limit = verify(ShareAcknowledgeRequest, version, buf, start, pos + n, limit - n * 160), 0
                topics_partitions_acknowledgement_batches = []
                topics_partitions_acknowledgement_batches_count = n
                for _ in range(topics_partitions_acknowledgement_batches_count):
                    topics_partitions_acknowledgement_batches_first_offset, topics_partitions_acknowledgement_batches_last_offset, n = unpack_qqB(buf, pos)
                    pos += 17
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    topics_partitions_acknowledgement_batches_acknowledge_types: list[int]
                    if n < 0:
                        raise BadField("topics.partitions.acknowledgement_batches.acknowledge_types")
                    room -= n * 52
                    if room < 0:
                        room, limit = verify(ShareAcknowledgeRequest, version, buf, start, pos + n, limit - n * 52), 0
                    topics_partitions_acknowledgement_batches_acknowledge_types = list(unpack_from(f">{n}b", buf, pos))
                    pos += n * 1
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topics_partitions_acknowledgement_batches.append(AcknowledgementBatch(topics_partitions_acknowledgement_batches_first_offset, topics_partitions_acknowledgement_batches_last_offset, topics_partitions_acknowledgement_batches_acknowledge_types))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                topics_partitions.append(AcknowledgePartition(topics_partitions_partition_index, topics_partitions_acknowledgement_batches))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(AcknowledgeTopic(topics_topic_id, topics_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ShareAcknowledgeRequest(group_id, member_id, share_session_epoch, is_renew_ack, topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareAcknowledgeRequest, version, buf, start, pos) from None


def encode_share_acknowledge_request_v1(msg: ShareAcknowledgeRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        if msg.is_renew_ack:
            raise not_in_version("is_renew_ack")
        text = msg.group_id
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
        text = msg.member_id
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
            out += pack_iB(msg.share_session_epoch, n)
        else:
            out += pack_i(msg.share_session_epoch)
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
            for topics_partitions_item in topics_partitions:
                topics_partitions_acknowledgement_batches = topics_partitions_item.acknowledgement_batches
                n = len(topics_partitions_acknowledgement_batches) + 1
                if n < 0x80:
                    out += pack_iB(topics_partitions_item.partition_index, n)
                else:
                    out += pack_i(topics_partitions_item.partition_index)
                    out += write_uvarint(n)
                for topics_partitions_acknowledgement_batches_item in topics_partitions_acknowledgement_batches:
                    topics_partitions_acknowledgement_batches_acknowledge_types = topics_partitions_acknowledgement_batches_item.acknowledge_types
                    n = len(topics_partitions_acknowledgement_batches_acknowledge_types) + 1
                    if n < 0x80:
                        out += pack_qqB(topics_partitions_acknowledgement_batches_item.first_offset, topics_partitions_acknowledgement_batches_item.last_offset, n)
                    else:
                        out += pack_qq(topics_partitions_acknowledgement_batches_item.first_offset, topics_partitions_acknowledgement_batches_item.last_offset)
                        out += write_uvarint(n)
                    out += pack_b(*topics_partitions_acknowledgement_batches_acknowledge_types) if len(topics_partitions_acknowledgement_batches_acknowledge_types) == 1 else pack(f">{len(topics_partitions_acknowledgement_batches_acknowledge_types)}b", *topics_partitions_acknowledgement_batches_acknowledge_types)
                    out.append(0)
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareAcknowledgeRequest", version) from error


def encode_share_acknowledge_request_v2(msg: ShareAcknowledgeRequest, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        text = msg.group_id
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
        text = msg.member_id
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
            out += pack_izB(msg.share_session_epoch, msg.is_renew_ack, n)
        else:
            out += pack_iz(msg.share_session_epoch, msg.is_renew_ack)
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
            for topics_partitions_item in topics_partitions:
                topics_partitions_acknowledgement_batches = topics_partitions_item.acknowledgement_batches
                n = len(topics_partitions_acknowledgement_batches) + 1
                if n < 0x80:
                    out += pack_iB(topics_partitions_item.partition_index, n)
                else:
                    out += pack_i(topics_partitions_item.partition_index)
                    out += write_uvarint(n)
                for topics_partitions_acknowledgement_batches_item in topics_partitions_acknowledgement_batches:
                    topics_partitions_acknowledgement_batches_acknowledge_types = topics_partitions_acknowledgement_batches_item.acknowledge_types
                    n = len(topics_partitions_acknowledgement_batches_acknowledge_types) + 1
                    if n < 0x80:
                        out += pack_qqB(topics_partitions_acknowledgement_batches_item.first_offset, topics_partitions_acknowledgement_batches_item.last_offset, n)
                    else:
                        out += pack_qq(topics_partitions_acknowledgement_batches_item.first_offset, topics_partitions_acknowledgement_batches_item.last_offset)
                        out += write_uvarint(n)
                    out += pack_b(*topics_partitions_acknowledgement_batches_acknowledge_types) if len(topics_partitions_acknowledgement_batches_acknowledge_types) == 1 else pack(f">{len(topics_partitions_acknowledgement_batches_acknowledge_types)}b", *topics_partitions_acknowledgement_batches_acknowledge_types)
                    out.append(0)
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareAcknowledgeRequest", version) from error


def decode_share_acknowledge_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[ShareAcknowledgeResponse, int]:
    start = pos
    n: int
    try:
        room = 45632 - 2 * len(buf)
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
        responses: list[ShareAcknowledgeTopicResponse]
        if n < 0:
            raise BadField("responses")
        room -= n * 128
        if room < 0:
            room = verify(ShareAcknowledgeResponse, version, buf, start, pos + n)
        responses = []
        responses_count = n
        for _ in range(responses_count):
            responses_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            responses_partitions: list[PartitionData]
            if n < 0:
                raise BadField("responses.partitions")
            room -= n * 244
            if room < 0:
                room = verify(ShareAcknowledgeResponse, version, buf, start, pos + n)
            responses_partitions = []
            responses_partitions_count = n
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
                responses_partitions_current_leader_leader_id, responses_partitions_current_leader_leader_epoch, n = unpack_iiB(buf, pos)
                pos += 9
                if n:
                    pos = skip_tags(buf, pos - 1)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                responses_partitions.append(PartitionData(responses_partitions_partition_index, responses_partitions_error_code, responses_partitions_error_message, LeaderIdAndEpoch(responses_partitions_current_leader_leader_id, responses_partitions_current_leader_leader_epoch)))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            responses.append(ShareAcknowledgeTopicResponse(responses_topic_id, responses_partitions))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        node_endpoints: list[NodeEndpoint]
        if n < 0:
            raise BadField("node_endpoints")
        room -= n * 252
        if room < 0:
            room = verify(ShareAcknowledgeResponse, version, buf, start, pos + n)
        node_endpoints = []
        node_endpoints_left, node_endpoints_step = n, 8
        while node_endpoints_left:
            node_endpoints_count = node_endpoints_left
            if node_endpoints_left >= 8:
                run = alike(SHAPE_1, buf, pos, node_endpoints_left)
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
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ShareAcknowledgeResponse(throttle_time_ms, error_code, error_message, 0, responses, node_endpoints), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareAcknowledgeResponse, version, buf, start, pos) from None


def decode_share_acknowledge_response_v2(buf: bytes, pos: int, version: int = 2) -> tuple[ShareAcknowledgeResponse, int]:
    start = pos
    n: int
    try:
        room = 45600 - 2 * len(buf)
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
        acquisition_lock_timeout_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        responses: list[ShareAcknowledgeTopicResponse]
        if n < 0:
            raise BadField("responses")
        room -= n * 128
        if room < 0:
            room = verify(ShareAcknowledgeResponse, version, buf, start, pos + n)
        responses = []
        responses_count = n
        for _ in range(responses_count):
            responses_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            responses_partitions: list[PartitionData]
            if n < 0:
                raise BadField("responses.partitions")
            room -= n * 244
            if room < 0:
                room = verify(ShareAcknowledgeResponse, version, buf, start, pos + n)
            responses_partitions = []
            responses_partitions_count = n
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
                responses_partitions_current_leader_leader_id, responses_partitions_current_leader_leader_epoch, n = unpack_iiB(buf, pos)
                pos += 9
                if n:
                    pos = skip_tags(buf, pos - 1)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                responses_partitions.append(PartitionData(responses_partitions_partition_index, responses_partitions_error_code, responses_partitions_error_message, LeaderIdAndEpoch(responses_partitions_current_leader_leader_id, responses_partitions_current_leader_leader_epoch)))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            responses.append(ShareAcknowledgeTopicResponse(responses_topic_id, responses_partitions))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        node_endpoints: list[NodeEndpoint]
        if n < 0:
            raise BadField("node_endpoints")
        room -= n * 252
        if room < 0:
            room = verify(ShareAcknowledgeResponse, version, buf, start, pos + n)
        node_endpoints = []
        node_endpoints_left, node_endpoints_step = n, 8
        while node_endpoints_left:
            node_endpoints_count = node_endpoints_left
            if node_endpoints_left >= 8:
                run = alike(SHAPE_1, buf, pos, node_endpoints_left)
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
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ShareAcknowledgeResponse(throttle_time_ms, error_code, error_message, acquisition_lock_timeout_ms, responses, node_endpoints), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareAcknowledgeResponse, version, buf, start, pos) from None


def encode_share_acknowledge_response_v1(msg: ShareAcknowledgeResponse, out: bytearray, version: int = 1) -> None:
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
                responses_partitions_current_leader = responses_partitions_item.current_leader
                out += pack_iixx(responses_partitions_current_leader.leader_id, responses_partitions_current_leader.leader_epoch)
            out.append(0)
        node_endpoints = msg.node_endpoints
        n = len(node_endpoints) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for node_endpoints_item in node_endpoints:
            raw = node_endpoints_item.host.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(node_endpoints_item.node_id, n)
            else:
                out += pack_i(node_endpoints_item.node_id)
                out += write_string_size(n)
            out += raw
            text = node_endpoints_item.rack
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(node_endpoints_item.port, n)
            else:
                out += pack_i(node_endpoints_item.port)
                out += write_string_size(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareAcknowledgeResponse", version) from error


def encode_share_acknowledge_response_v2(msg: ShareAcknowledgeResponse, out: bytearray, version: int = 2) -> None:
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
            out += pack_iB(msg.acquisition_lock_timeout_ms, n)
        else:
            out += pack_i(msg.acquisition_lock_timeout_ms)
            out += write_uvarint(n)
        for responses_item in responses:
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
                responses_partitions_current_leader = responses_partitions_item.current_leader
                out += pack_iixx(responses_partitions_current_leader.leader_id, responses_partitions_current_leader.leader_epoch)
            out.append(0)
        node_endpoints = msg.node_endpoints
        n = len(node_endpoints) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for node_endpoints_item in node_endpoints:
            raw = node_endpoints_item.host.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(node_endpoints_item.node_id, n)
            else:
                out += pack_i(node_endpoints_item.node_id)
                out += write_string_size(n)
            out += raw
            text = node_endpoints_item.rack
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_iB(node_endpoints_item.port, n)
            else:
                out += pack_i(node_endpoints_item.port)
                out += write_string_size(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareAcknowledgeResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    ShareAcknowledgeRequest: {
        1: decode_share_acknowledge_request_v1,
        2: decode_share_acknowledge_request_v2,
    },
    ShareAcknowledgeResponse: {
        1: decode_share_acknowledge_response_v1,
        2: decode_share_acknowledge_response_v2,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    ShareAcknowledgeRequest: {
        1: encode_share_acknowledge_request_v1,
        2: encode_share_acknowledge_request_v2,
    },
    ShareAcknowledgeResponse: {
        1: encode_share_acknowledge_response_v1,
        2: encode_share_acknowledge_response_v2,
    },
}
