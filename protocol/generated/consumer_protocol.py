"""Codecs of protocol/messages/consumer_protocol.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_i, unpack_ih
from protocol.messages.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription, TopicPartition
from protocol.refusal import BadField, decode_failure, encode_failure, verify
from protocol.wire import DECODE_ERRORS, ENCODE_ERRORS, at_version, long_text

pack_h = Struct(">h").pack
pack_i = Struct(">i").pack
pack_ih = Struct(">ih").pack


def decode_consumer_protocol_subscription_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConsumerProtocolSubscription, int]:
    start = pos
    n: int
    try:
        room = 45744 - 2 * len(buf)
        (n,) = unpack_i(buf, pos)
        pos += 4
        topics: list[str]
        if n < 0:
            raise BadField("topics")
        room -= n * 96
        if room < 0:
            room = verify(ConsumerProtocolSubscription, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topics.item")
            if n < 0x80:
                topics_item = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topics_item = long_text(buf, here, pos)
            topics.append(topics_item)
        user_data: bytes | None
        (n,) = unpack_i(buf, pos)
        if n < 0:
            user_data = None
            pos += 4
        else:
            user_data = buf[pos + 4 : (pos := pos + 4 + n)]
        if pos > len(buf):
            raise IndexError
        return ConsumerProtocolSubscription(topics, user_data), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerProtocolSubscription, version, buf, start, pos) from None


def decode_consumer_protocol_subscription_v1(buf: bytes, pos: int, version: int = 1) -> tuple[ConsumerProtocolSubscription, int]:
    start = pos
    n: int
    try:
        room = 45744 - 2 * len(buf)
        (n,) = unpack_i(buf, pos)
        pos += 4
        topics: list[str]
        if n < 0:
            raise BadField("topics")
        room -= n * 96
        if room < 0:
            room = verify(ConsumerProtocolSubscription, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topics.item")
            if n < 0x80:
                topics_item = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topics_item = long_text(buf, here, pos)
            topics.append(topics_item)
        user_data: bytes | None
        (n,) = unpack_i(buf, pos)
        if n < 0:
            user_data = None
            pos += 4
        else:
            user_data = buf[pos + 4 : (pos := pos + 4 + n)]
        (n,) = unpack_i(buf, pos)
        pos += 4
        owned_partitions: list[TopicPartition]
        if n < 0:
            raise BadField("owned_partitions")
        room -= n * 192
        if room < 0:
            room = verify(ConsumerProtocolSubscription, version, buf, start, pos + n)
        owned_partitions = []
        owned_partitions_count = n
        for _ in range(owned_partitions_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("owned_partitions.topic")
            if n < 0x80:
                owned_partitions_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                owned_partitions_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            owned_partitions_partitions: list[int]
            if n < 0:
                raise BadField("owned_partitions.partitions")
            room -= n * 40
            if room < 0:
                room = verify(ConsumerProtocolSubscription, version, buf, start, pos + n)
            owned_partitions_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            owned_partitions.append(TopicPartition(owned_partitions_topic, owned_partitions_partitions))
        if pos > len(buf):
            raise IndexError
        return ConsumerProtocolSubscription(topics, user_data, owned_partitions), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerProtocolSubscription, version, buf, start, pos) from None


def decode_consumer_protocol_subscription_v2(buf: bytes, pos: int, version: int = 2) -> tuple[ConsumerProtocolSubscription, int]:
    start = pos
    n: int
    try:
        room = 45712 - 2 * len(buf)
        (n,) = unpack_i(buf, pos)
        pos += 4
        topics: list[str]
        if n < 0:
            raise BadField("topics")
        room -= n * 96
        if room < 0:
            room = verify(ConsumerProtocolSubscription, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topics.item")
            if n < 0x80:
                topics_item = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topics_item = long_text(buf, here, pos)
            topics.append(topics_item)
        user_data: bytes | None
        (n,) = unpack_i(buf, pos)
        if n < 0:
            user_data = None
            pos += 4
        else:
            user_data = buf[pos + 4 : (pos := pos + 4 + n)]
        (n,) = unpack_i(buf, pos)
        pos += 4
        owned_partitions: list[TopicPartition]
        if n < 0:
            raise BadField("owned_partitions")
        room -= n * 192
        if room < 0:
            room = verify(ConsumerProtocolSubscription, version, buf, start, pos + n)
        owned_partitions = []
        owned_partitions_count = n
        for _ in range(owned_partitions_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("owned_partitions.topic")
            if n < 0x80:
                owned_partitions_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                owned_partitions_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            owned_partitions_partitions: list[int]
            if n < 0:
                raise BadField("owned_partitions.partitions")
            room -= n * 40
            if room < 0:
                room = verify(ConsumerProtocolSubscription, version, buf, start, pos + n)
            owned_partitions_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            owned_partitions.append(TopicPartition(owned_partitions_topic, owned_partitions_partitions))
        (generation_id,) = unpack_i(buf, pos)
        pos += 4
        return ConsumerProtocolSubscription(topics, user_data, owned_partitions, generation_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerProtocolSubscription, version, buf, start, pos) from None


def decode_consumer_protocol_subscription_v3(buf: bytes, pos: int, version: int = 3) -> tuple[ConsumerProtocolSubscription, int]:
    start = pos
    n: int
    try:
        room = 45632 - 2 * len(buf)
        (n,) = unpack_i(buf, pos)
        pos += 4
        topics: list[str]
        if n < 0:
            raise BadField("topics")
        room -= n * 96
        if room < 0:
            room = verify(ConsumerProtocolSubscription, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("topics.item")
            if n < 0x80:
                topics_item = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                topics_item = long_text(buf, here, pos)
            topics.append(topics_item)
        user_data: bytes | None
        (n,) = unpack_i(buf, pos)
        if n < 0:
            user_data = None
            pos += 4
        else:
            user_data = buf[pos + 4 : (pos := pos + 4 + n)]
        (n,) = unpack_i(buf, pos)
        pos += 4
        owned_partitions: list[TopicPartition]
        if n < 0:
            raise BadField("owned_partitions")
        room -= n * 192
        if room < 0:
            room = verify(ConsumerProtocolSubscription, version, buf, start, pos + n)
        owned_partitions = []
        owned_partitions_count = n
        for _ in range(owned_partitions_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("owned_partitions.topic")
            if n < 0x80:
                owned_partitions_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                owned_partitions_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            owned_partitions_partitions: list[int]
            if n < 0:
                raise BadField("owned_partitions.partitions")
            room -= n * 40
            if room < 0:
                room = verify(ConsumerProtocolSubscription, version, buf, start, pos + n)
            owned_partitions_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            owned_partitions.append(TopicPartition(owned_partitions_topic, owned_partitions_partitions))
        rack_id: str | None
        generation_id, n = unpack_ih(buf, pos)
        if n < 0:
            rack_id = None
            pos += 6
        elif n < 0x80:
            rack_id = buf[pos + 6 : (pos := pos + 6 + n)].decode()
        else:
            here = pos + 6
            pos = here + n
            rack_id = long_text(buf, here, pos)
        if pos > len(buf):
            raise IndexError
        return ConsumerProtocolSubscription(topics, user_data, owned_partitions, generation_id, rack_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerProtocolSubscription, version, buf, start, pos) from None


def encode_consumer_protocol_subscription_v0(msg: ConsumerProtocolSubscription, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        topics = msg.topics
        out += pack_i(len(topics))
        for topics_item in topics:
            raw = topics_item.encode()
            out += pack_h(len(raw))
            out += raw
        data = msg.user_data
        if data is None:
            n, raw = -1, b""
        else:
            raw = data
            n = len(raw)
        out += pack_i(n)
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ConsumerProtocolSubscription", version) from error


def encode_consumer_protocol_subscription_v1(msg: ConsumerProtocolSubscription, out: bytearray, version: int = 1) -> None:
    start = len(out)
    try:
        topics = msg.topics
        out += pack_i(len(topics))
        for topics_item in topics:
            raw = topics_item.encode()
            out += pack_h(len(raw))
            out += raw
        data = msg.user_data
        if data is None:
            n, raw = -1, b""
        else:
            raw = data
            n = len(raw)
        out += pack_i(n)
        out += raw
        owned_partitions = msg.owned_partitions
        out += pack_i(len(owned_partitions))
        for owned_partitions_item in owned_partitions:
            raw = owned_partitions_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            owned_partitions_partitions = owned_partitions_item.partitions
            out += pack_i(len(owned_partitions_partitions))
            out += pack_i(*owned_partitions_partitions) if len(owned_partitions_partitions) == 1 else pack(f">{len(owned_partitions_partitions)}i", *owned_partitions_partitions)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ConsumerProtocolSubscription", version) from error


def encode_consumer_protocol_subscription_v2(msg: ConsumerProtocolSubscription, out: bytearray, version: int = 2) -> None:
    start = len(out)
    try:
        topics = msg.topics
        out += pack_i(len(topics))
        for topics_item in topics:
            raw = topics_item.encode()
            out += pack_h(len(raw))
            out += raw
        data = msg.user_data
        if data is None:
            n, raw = -1, b""
        else:
            raw = data
            n = len(raw)
        out += pack_i(n)
        out += raw
        owned_partitions = msg.owned_partitions
        out += pack_i(len(owned_partitions))
        for owned_partitions_item in owned_partitions:
            raw = owned_partitions_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            owned_partitions_partitions = owned_partitions_item.partitions
            out += pack_i(len(owned_partitions_partitions))
            out += pack_i(*owned_partitions_partitions) if len(owned_partitions_partitions) == 1 else pack(f">{len(owned_partitions_partitions)}i", *owned_partitions_partitions)
        out += pack_i(msg.generation_id)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ConsumerProtocolSubscription", version) from error


def encode_consumer_protocol_subscription_v3(msg: ConsumerProtocolSubscription, out: bytearray, version: int = 3) -> None:
    start = len(out)
    try:
        topics = msg.topics
        out += pack_i(len(topics))
        for topics_item in topics:
            raw = topics_item.encode()
            out += pack_h(len(raw))
            out += raw
        data = msg.user_data
        if data is None:
            n, raw = -1, b""
        else:
            raw = data
            n = len(raw)
        out += pack_i(n)
        out += raw
        owned_partitions = msg.owned_partitions
        out += pack_i(len(owned_partitions))
        for owned_partitions_item in owned_partitions:
            raw = owned_partitions_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            owned_partitions_partitions = owned_partitions_item.partitions
            out += pack_i(len(owned_partitions_partitions))
            out += pack_i(*owned_partitions_partitions) if len(owned_partitions_partitions) == 1 else pack(f">{len(owned_partitions_partitions)}i", *owned_partitions_partitions)
        text = msg.rack_id
        if text is None:
            n, raw = -1, b""
        else:
            raw = text.encode()
            n = len(raw)
        out += pack_ih(msg.generation_id, n)
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ConsumerProtocolSubscription", version) from error


def decode_consumer_protocol_assignment_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConsumerProtocolAssignment, int]:
    start = pos
    n: int
    try:
        room = 45840 - 2 * len(buf)
        (n,) = unpack_i(buf, pos)
        pos += 4
        assigned_partitions: list[TopicPartition]
        if n < 0:
            raise BadField("assigned_partitions")
        room -= n * 192
        if room < 0:
            room = verify(ConsumerProtocolAssignment, version, buf, start, pos + n)
        assigned_partitions = []
        assigned_partitions_count = n
        for _ in range(assigned_partitions_count):
            (n,) = unpack_h(buf, pos)
            if n < 0:
                raise BadField("assigned_partitions.topic")
            if n < 0x80:
                assigned_partitions_topic = buf[pos + 2 : (pos := pos + 2 + n)].decode()
            else:
                here = pos + 2
                pos = here + n
                assigned_partitions_topic = long_text(buf, here, pos)
            (n,) = unpack_i(buf, pos)
            pos += 4
            assigned_partitions_partitions: list[int]
            if n < 0:
                raise BadField("assigned_partitions.partitions")
            room -= n * 40
            if room < 0:
                room = verify(ConsumerProtocolAssignment, version, buf, start, pos + n)
            assigned_partitions_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            assigned_partitions.append(TopicPartition(assigned_partitions_topic, assigned_partitions_partitions))
        user_data: bytes | None
        (n,) = unpack_i(buf, pos)
        if n < 0:
            user_data = None
            pos += 4
        else:
            user_data = buf[pos + 4 : (pos := pos + 4 + n)]
        if pos > len(buf):
            raise IndexError
        return ConsumerProtocolAssignment(assigned_partitions, user_data), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerProtocolAssignment, version, buf, start, pos) from None


decode_consumer_protocol_assignment_v1 = at_version(decode_consumer_protocol_assignment_v0, 1)


decode_consumer_protocol_assignment_v2 = at_version(decode_consumer_protocol_assignment_v0, 2)


decode_consumer_protocol_assignment_v3 = at_version(decode_consumer_protocol_assignment_v0, 3)


def encode_consumer_protocol_assignment_v0(msg: ConsumerProtocolAssignment, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        assigned_partitions = msg.assigned_partitions
        out += pack_i(len(assigned_partitions))
        for assigned_partitions_item in assigned_partitions:
            raw = assigned_partitions_item.topic.encode()
            out += pack_h(len(raw))
            out += raw
            assigned_partitions_partitions = assigned_partitions_item.partitions
            out += pack_i(len(assigned_partitions_partitions))
            out += pack_i(*assigned_partitions_partitions) if len(assigned_partitions_partitions) == 1 else pack(f">{len(assigned_partitions_partitions)}i", *assigned_partitions_partitions)
        data = msg.user_data
        if data is None:
            n, raw = -1, b""
        else:
            raw = data
            n = len(raw)
        out += pack_i(n)
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ConsumerProtocolAssignment", version) from error


encode_consumer_protocol_assignment_v1 = at_version(encode_consumer_protocol_assignment_v0, 1)


encode_consumer_protocol_assignment_v2 = at_version(encode_consumer_protocol_assignment_v0, 2)


encode_consumer_protocol_assignment_v3 = at_version(encode_consumer_protocol_assignment_v0, 3)


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    ConsumerProtocolSubscription: {
        0: decode_consumer_protocol_subscription_v0,
        1: decode_consumer_protocol_subscription_v1,
        2: decode_consumer_protocol_subscription_v2,
        3: decode_consumer_protocol_subscription_v3,
    },
    ConsumerProtocolAssignment: {
        0: decode_consumer_protocol_assignment_v0,
        1: decode_consumer_protocol_assignment_v1,
        2: decode_consumer_protocol_assignment_v2,
        3: decode_consumer_protocol_assignment_v3,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    ConsumerProtocolSubscription: {
        0: encode_consumer_protocol_subscription_v0,
        1: encode_consumer_protocol_subscription_v1,
        2: encode_consumer_protocol_subscription_v2,
        3: encode_consumer_protocol_subscription_v3,
    },
    ConsumerProtocolAssignment: {
        0: encode_consumer_protocol_assignment_v0,
        1: encode_consumer_protocol_assignment_v1,
        2: encode_consumer_protocol_assignment_v2,
        3: encode_consumer_protocol_assignment_v3,
    },
}
