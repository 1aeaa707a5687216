"""Codecs of protocol/messages/consumer_group_heartbeat.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_iB, unpack_ihB, unpack_iib, unpack_uB
from protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from protocol.refusal import BadField, decode_failure, encode_failure, not_in_version, verify
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

pack_u = Struct(">16s").pack
pack_uB = Struct(">16sB").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_iib = Struct(">iib").pack
pack_iibB = Struct(">iibB").pack
pack_ix = Struct(">ix").pack


def decode_consumer_group_heartbeat_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConsumerGroupHeartbeatRequest, int]:
    start = pos
    n: int
    try:
        room = 45280 - 2 * len(buf)
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
        instance_id: str | None
        member_epoch, n = unpack_iB(buf, pos)
        if not n:
            instance_id = None
            pos += 5
        elif n == 1:
            instance_id = ""
            pos += 5
        elif n < 0x80:
            instance_id = buf[pos + 5 : (pos := pos + 4 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 4)
            if n:
                n -= 1
                here = pos
                pos = here + n
                instance_id = long_text(buf, here, pos)
            else:
                instance_id = None
        rack_id: str | None
        n = buf[pos]
        if not n:
            rack_id = None
            pos += 1
        elif n == 1:
            rack_id = ""
            pos += 1
        elif n < 0x80:
            rack_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                rack_id = long_text(buf, here, pos)
            else:
                rack_id = None
        rebalance_timeout_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        subscribed_topic_names: list[str] | None
        if n < 0:
            subscribed_topic_names = None
        else:
            room -= n * 100
            if room < 0:
                room, limit = verify(ConsumerGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 100), 0
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
        server_assignor: str | None
        n = buf[pos]
        if not n:
            server_assignor = None
            pos += 1
        elif n == 1:
            server_assignor = ""
            pos += 1
        elif n < 0x80:
            server_assignor = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                server_assignor = long_text(buf, here, pos)
            else:
                server_assignor = None
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topic_partitions: list[TopicPartitions] | None
        if n < 0:
            topic_partitions = None
        else:
            room -= n * 128
            if room < 0:
                room, limit = verify(ConsumerGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 128), 0
            topic_partitions = []
            topic_partitions_count = n
            for _ in range(topic_partitions_count):
                topic_partitions_topic_id, n = unpack_uB(buf, pos)
                pos += 17
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topic_partitions_partitions: list[int]
                if n < 0:
                    raise BadField("topic_partitions.partitions")
                room -= n * 40
                if room < 0:
                    room, limit = verify(ConsumerGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 40), 0
                topic_partitions_partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                topic_partitions.append(TopicPartitions(topic_partitions_topic_id, topic_partitions_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ConsumerGroupHeartbeatRequest(group_id, member_id, member_epoch, instance_id, rack_id, rebalance_timeout_ms, subscribed_topic_names, None, server_assignor, topic_partitions), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerGroupHeartbeatRequest, version, buf, start, pos) from None


def decode_consumer_group_heartbeat_request_v1(buf: bytes, pos: int, version: int = 1) -> tuple[ConsumerGroupHeartbeatRequest, int]:
    start = pos
    n: int
    try:
        room = 45200 - 2 * len(buf)
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
        instance_id: str | None
        member_epoch, n = unpack_iB(buf, pos)
        if not n:
            instance_id = None
            pos += 5
        elif n == 1:
            instance_id = ""
            pos += 5
        elif n < 0x80:
            instance_id = buf[pos + 5 : (pos := pos + 4 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 4)
            if n:
                n -= 1
                here = pos
                pos = here + n
                instance_id = long_text(buf, here, pos)
            else:
                instance_id = None
        rack_id: str | None
        n = buf[pos]
        if not n:
            rack_id = None
            pos += 1
        elif n == 1:
            rack_id = ""
            pos += 1
        elif n < 0x80:
            rack_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                rack_id = long_text(buf, here, pos)
            else:
                rack_id = None
        rebalance_timeout_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        subscribed_topic_names: list[str] | None
        if n < 0:
            subscribed_topic_names = None
        else:
            room -= n * 100
            if room < 0:
                room, limit = verify(ConsumerGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 100), 0
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
        subscribed_topic_regex: str | None
        n = buf[pos]
        if not n:
            subscribed_topic_regex = None
            pos += 1
        elif n == 1:
            subscribed_topic_regex = ""
            pos += 1
        elif n < 0x80:
            subscribed_topic_regex = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                subscribed_topic_regex = long_text(buf, here, pos)
            else:
                subscribed_topic_regex = None
        server_assignor: str | None
        n = buf[pos]
        if not n:
            server_assignor = None
            pos += 1
        elif n == 1:
            server_assignor = ""
            pos += 1
        elif n < 0x80:
            server_assignor = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                server_assignor = long_text(buf, here, pos)
            else:
                server_assignor = None
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topic_partitions: list[TopicPartitions] | None
        if n < 0:
            topic_partitions = None
        else:
            room -= n * 128
            if room < 0:
                room, limit = verify(ConsumerGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 128), 0
            topic_partitions = []
            topic_partitions_count = n
            for _ in range(topic_partitions_count):
                topic_partitions_topic_id, n = unpack_uB(buf, pos)
                pos += 17
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topic_partitions_partitions: list[int]
                if n < 0:
                    raise BadField("topic_partitions.partitions")
                room -= n * 40
                if room < 0:
                    room, limit = verify(ConsumerGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 40), 0
                topic_partitions_partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                topic_partitions.append(TopicPartitions(topic_partitions_topic_id, topic_partitions_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ConsumerGroupHeartbeatRequest(group_id, member_id, member_epoch, instance_id, rack_id, rebalance_timeout_ms, subscribed_topic_names, subscribed_topic_regex, server_assignor, topic_partitions), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerGroupHeartbeatRequest, version, buf, start, pos) from None


def encode_consumer_group_heartbeat_request_v0(msg: ConsumerGroupHeartbeatRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        if msg.subscribed_topic_regex is not None:
            raise not_in_version("subscribed_topic_regex")
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
        text = msg.instance_id
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
        text = msg.rack_id
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
        subscribed_topic_names = msg.subscribed_topic_names
        if subscribed_topic_names is None:
            out += pack_ix(msg.rebalance_timeout_ms)
        else:
            n = len(subscribed_topic_names) + 1
            if n < 0x80:
                out += pack_iB(msg.rebalance_timeout_ms, n)
            else:
                out += pack_i(msg.rebalance_timeout_ms)
                out += write_uvarint(n)
            for subscribed_topic_names_item in subscribed_topic_names:
                raw = subscribed_topic_names_item.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
        text = msg.server_assignor
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
        topic_partitions = msg.topic_partitions
        if topic_partitions is None:
            out.append(0)
        else:
            n = len(topic_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for topic_partitions_item in topic_partitions:
                if len(topic_partitions_item.topic_id) != 16:
                    raise BadField("topic_partitions.topic_id", "a UUID has 16 bytes")
                topic_partitions_partitions = topic_partitions_item.partitions
                n = len(topic_partitions_partitions) + 1
                if n < 0x80:
                    out += pack_uB(topic_partitions_item.topic_id, n)
                else:
                    out += pack_u(topic_partitions_item.topic_id)
                    out += write_uvarint(n)
                out += pack_i(*topic_partitions_partitions) if len(topic_partitions_partitions) == 1 else pack(f">{len(topic_partitions_partitions)}i", *topic_partitions_partitions)
                out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ConsumerGroupHeartbeatRequest", version) from error


def encode_consumer_group_heartbeat_request_v1(msg: ConsumerGroupHeartbeatRequest, out: bytearray, version: int = 1) -> None:
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
        text = msg.instance_id
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
        text = msg.rack_id
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
        subscribed_topic_names = msg.subscribed_topic_names
        if subscribed_topic_names is None:
            out += pack_ix(msg.rebalance_timeout_ms)
        else:
            n = len(subscribed_topic_names) + 1
            if n < 0x80:
                out += pack_iB(msg.rebalance_timeout_ms, n)
            else:
                out += pack_i(msg.rebalance_timeout_ms)
                out += write_uvarint(n)
            for subscribed_topic_names_item in subscribed_topic_names:
                raw = subscribed_topic_names_item.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
        text = msg.subscribed_topic_regex
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
        text = msg.server_assignor
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
        topic_partitions = msg.topic_partitions
        if topic_partitions is None:
            out.append(0)
        else:
            n = len(topic_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for topic_partitions_item in topic_partitions:
                if len(topic_partitions_item.topic_id) != 16:
                    raise BadField("topic_partitions.topic_id", "a UUID has 16 bytes")
                topic_partitions_partitions = topic_partitions_item.partitions
                n = len(topic_partitions_partitions) + 1
                if n < 0x80:
                    out += pack_uB(topic_partitions_item.topic_id, n)
                else:
                    out += pack_u(topic_partitions_item.topic_id)
                    out += write_uvarint(n)
                out += pack_i(*topic_partitions_partitions) if len(topic_partitions_partitions) == 1 else pack(f">{len(topic_partitions_partitions)}i", *topic_partitions_partitions)
                out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ConsumerGroupHeartbeatRequest", version) from error


def decode_consumer_group_heartbeat_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConsumerGroupHeartbeatResponse, int]:
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
                room = verify(ConsumerGroupHeartbeatResponse, version, buf, start, pos + n)
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
                    room = verify(ConsumerGroupHeartbeatResponse, version, buf, start, pos + n)
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
        return ConsumerGroupHeartbeatResponse(throttle_time_ms, error_code, error_message, member_id, member_epoch, heartbeat_interval_ms, assignment), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerGroupHeartbeatResponse, version, buf, start, pos) from None


decode_consumer_group_heartbeat_response_v1 = at_version(decode_consumer_group_heartbeat_response_v0, 1)


def encode_consumer_group_heartbeat_response_v0(msg: ConsumerGroupHeartbeatResponse, out: bytearray, version: int = 0) -> None:
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
        raise encode_failure(error, "ConsumerGroupHeartbeatResponse", version) from error


encode_consumer_group_heartbeat_response_v1 = at_version(encode_consumer_group_heartbeat_response_v0, 1)


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    ConsumerGroupHeartbeatRequest: {
        0: decode_consumer_group_heartbeat_request_v0,
        1: decode_consumer_group_heartbeat_request_v1,
    },
    ConsumerGroupHeartbeatResponse: {
        0: decode_consumer_group_heartbeat_response_v0,
        1: decode_consumer_group_heartbeat_response_v1,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    ConsumerGroupHeartbeatRequest: {
        0: encode_consumer_group_heartbeat_request_v0,
        1: encode_consumer_group_heartbeat_request_v1,
    },
    ConsumerGroupHeartbeatResponse: {
        0: encode_consumer_group_heartbeat_response_v0,
        1: encode_consumer_group_heartbeat_response_v1,
    },
}
