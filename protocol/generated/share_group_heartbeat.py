"""Codecs of protocol/messages/share_group_heartbeat.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_iB, unpack_ihB, unpack_iib, unpack_uB
from protocol.messages.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)
from protocol.refusal import BadField, decode_failure, encode_failure, verify
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

pack_u = Struct(">16s").pack
pack_uB = Struct(">16sB").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_iib = Struct(">iib").pack
pack_iibB = Struct(">iibB").pack


def decode_share_group_heartbeat_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[ShareGroupHeartbeatRequest, int]:
    start = pos
    n: int
    try:
        room = 45584 - 2 * len(buf)
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
        if 0 < n < 0x80:
            member_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("member_id")
            n -= 1
            here = pos
            pos = here + n
            member_id = long_text(buf, here, pos)
        rack_id: str | None
        member_epoch, n = unpack_iB(buf, pos)
        if not n:
            rack_id = None
            pos += 5
        elif n == 1:
            rack_id = ""
            pos += 5
        elif n < 0x80:
            rack_id = buf[pos + 5 : (pos := pos + 4 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 4)
            if n:
                n -= 1
                here = pos
                pos = here + n
                rack_id = long_text(buf, here, pos)
            else:
                rack_id = None
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        subscribed_topic_names: list[str] | None
        if n < 0:
            subscribed_topic_names = None
        else:
            room -= n * 100
            if room < 0:
                room, limit = verify(ShareGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 100), 0
            subscribed_topic_names = []
            subscribed_topic_names_count = n
            for _ in range(subscribed_topic_names_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    subscribed_topic_names_item = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("subscribed_topic_names.item")
                    n -= 1
                    here = pos
                    pos = here + n
                    subscribed_topic_names_item = long_text(buf, here, pos)
                subscribed_topic_names.append(subscribed_topic_names_item)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ShareGroupHeartbeatRequest(group_id, member_id, member_epoch, rack_id, subscribed_topic_names), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareGroupHeartbeatRequest, version, buf, start, pos) from None


def encode_share_group_heartbeat_request_v1(msg: ShareGroupHeartbeatRequest, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        raw = msg.member_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        text = msg.rack_id
        if text is None:
            n, raw = 0, b""
        else:
            raw = text.encode()
            n = len(raw) + 1
        if n < 0x80:
            out += pack_iB(msg.member_epoch, n)
        else:
            out += pack_i(msg.member_epoch)
            out += write_string_size(n)
        out += raw
        subscribed_topic_names = msg.subscribed_topic_names
        if subscribed_topic_names is None:
            out.append(0)
        else:
            n = len(subscribed_topic_names) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for subscribed_topic_names_item in subscribed_topic_names:
                raw = subscribed_topic_names_item.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareGroupHeartbeatRequest", version) from error


def decode_share_group_heartbeat_response_v1(buf: bytes, pos: int, version: int = 1) -> tuple[ShareGroupHeartbeatResponse, int]:
    start = pos
    n: int
    try:
        room = 45520 - 2 * len(buf)
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
        member_epoch, heartbeat_interval_ms, n = unpack_iib(buf, pos)
        pos += 9
        assignment: Assignment | None = None
        if n >= 0:
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            assignment_topic_partitions: list[TopicPartitions]
            if n < 0:
                raise BadField("assignment.topic_partitions")
            room -= n * 128
            if room < 0:
                room = verify(ShareGroupHeartbeatResponse, version, buf, start, pos + n)
            assignment_topic_partitions = []
            assignment_topic_partitions_count = n
            for _ in range(assignment_topic_partitions_count):
                assignment_topic_partitions_topic_id, n = unpack_uB(buf, pos)
                pos += 17
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                assignment_topic_partitions_partitions: list[int]
                if n < 0:
                    raise BadField("assignment.topic_partitions.partitions")
                room -= n * 40
                if room < 0:
                    room = verify(ShareGroupHeartbeatResponse, version, buf, start, pos + n)
                assignment_topic_partitions_partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                assignment_topic_partitions.append(TopicPartitions(assignment_topic_partitions_topic_id, assignment_topic_partitions_partitions))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            assignment = Assignment(assignment_topic_partitions)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ShareGroupHeartbeatResponse(throttle_time_ms, error_code, error_message, member_id, member_epoch, heartbeat_interval_ms, assignment), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareGroupHeartbeatResponse, version, buf, start, pos) from None


def encode_share_group_heartbeat_response_v1(msg: ShareGroupHeartbeatResponse, out: bytearray, version: int = 1) -> None:
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
        assignment = msg.assignment
        if assignment is None:
            out += pack_iib(msg.member_epoch, msg.heartbeat_interval_ms, -1)
        else:
            assignment_topic_partitions = assignment.topic_partitions
            n = len(assignment_topic_partitions) + 1
            if n < 0x80:
                out += pack_iibB(msg.member_epoch, msg.heartbeat_interval_ms, 1, n)
            else:
                out += pack_iib(msg.member_epoch, msg.heartbeat_interval_ms, 1)
                out += write_uvarint(n)
            for assignment_topic_partitions_item in assignment_topic_partitions:
                if len(assignment_topic_partitions_item.topic_id) != 16:
                    raise BadField("assignment.topic_partitions.topic_id", "a UUID has 16 bytes")
                assignment_topic_partitions_partitions = assignment_topic_partitions_item.partitions
                n = len(assignment_topic_partitions_partitions) + 1
                if n < 0x80:
                    out += pack_uB(assignment_topic_partitions_item.topic_id, n)
                else:
                    out += pack_u(assignment_topic_partitions_item.topic_id)
                    out += write_uvarint(n)
                out += pack_i(*assignment_topic_partitions_partitions) if len(assignment_topic_partitions_partitions) == 1 else pack(f">{len(assignment_topic_partitions_partitions)}i", *assignment_topic_partitions_partitions)
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareGroupHeartbeatResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    ShareGroupHeartbeatRequest: {
        1: decode_share_group_heartbeat_request_v1,
    },
    ShareGroupHeartbeatResponse: {
        1: decode_share_group_heartbeat_response_v1,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    ShareGroupHeartbeatRequest: {
        1: encode_share_group_heartbeat_request_v1,
    },
    ShareGroupHeartbeatResponse: {
        1: encode_share_group_heartbeat_response_v1,
    },
}
