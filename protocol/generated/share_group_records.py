"""Codecs of protocol/messages/share_group_records.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_iB, unpack_iibB, unpack_iqB, unpack_q, unpack_uB
from protocol.messages.share_group_records import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupCurrentMemberAssignmentValue,
    ShareGroupMemberMetadataKey,
    ShareGroupMemberMetadataValue,
    ShareGroupMetadataKey,
    ShareGroupMetadataValue,
    ShareGroupStatePartitionMetadataKey,
    ShareGroupStatePartitionMetadataValue,
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMemberValue,
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
    TopicInfo,
    TopicPartition,
    TopicPartitions,
    TopicPartitionsInfo,
)
from protocol.refusal import BadField, decode_failure, encode_failure, verify
from protocol.runs import RUNS_OF_TEXT, Field, Shape, alike
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

SHAPE_1 = Shape("x", 1, Field("16s", 16, 1, False, ""))
pack_u = Struct(">16s").pack
pack_uB = Struct(">16sB").pack
pack_BBBq = Struct(">BBBq").pack
pack_h = Struct(">h").pack
pack_i = Struct(">i").pack
pack_iib = Struct(">iib").pack
pack_iibB = Struct(">iibB").pack
pack_iqx = Struct(">iqx").pack


def decode_share_group_member_metadata_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ShareGroupMemberMetadataKey, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("group_id")
        if n < 0x80:
            group_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group_id = long_text(buf, here, pos)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("member_id")
        if n < 0x80:
            member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            member_id = long_text(buf, here, pos)
        if pos > len(buf):
            raise IndexError
        return ShareGroupMemberMetadataKey(group_id, member_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareGroupMemberMetadataKey, version, buf, start, pos) from None


def encode_share_group_member_metadata_key_v0(msg: ShareGroupMemberMetadataKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.member_id.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareGroupMemberMetadataKey", version) from error


def decode_share_group_member_metadata_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ShareGroupMemberMetadataValue, int]:
    start = pos
    n: int
    try:
        room = 45632 - 2 * len(buf)
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
        n = buf[pos]
        if 0 < n < 0x80:
            client_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("client_id")
            n -= 1
            here = pos
            pos = here + n
            client_id = long_text(buf, here, pos)
        n = buf[pos]
        if 0 < n < 0x80:
            client_host = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n == 0:
                raise BadField("client_host")
            n -= 1
            here = pos
            pos = here + n
            client_host = long_text(buf, here, pos)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        subscribed_topic_names: list[str]
        if n < 0:
            raise BadField("subscribed_topic_names")
        room -= n * 100
        if room < 0:
            room = verify(ShareGroupMemberMetadataValue, version, buf, start, pos + n)
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
        return ShareGroupMemberMetadataValue(rack_id, client_id, client_host, subscribed_topic_names), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareGroupMemberMetadataValue, version, buf, start, pos) from None


def encode_share_group_member_metadata_value_v0(msg: ShareGroupMemberMetadataValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
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
        raw = msg.client_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        raw = msg.client_host.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        subscribed_topic_names = msg.subscribed_topic_names
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
        raise encode_failure(error, "ShareGroupMemberMetadataValue", version) from error


def decode_share_group_metadata_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ShareGroupMetadataKey, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("group_id")
        if n < 0x80:
            group_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group_id = long_text(buf, here, pos)
        if pos > len(buf):
            raise IndexError
        return ShareGroupMetadataKey(group_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareGroupMetadataKey, version, buf, start, pos) from None


def encode_share_group_metadata_key_v0(msg: ShareGroupMetadataKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareGroupMetadataKey", version) from error


def decode_share_group_metadata_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ShareGroupMetadataValue, int]:
    start = pos
    n: int
    try:
        epoch, metadata_hash, n = unpack_iqB(buf, pos)
        pos += 13
        if n:
            pos = skip_tags(buf, pos - 1)
        return ShareGroupMetadataValue(epoch, metadata_hash), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareGroupMetadataValue, version, buf, start, pos) from None


def encode_share_group_metadata_value_v0(msg: ShareGroupMetadataValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        out += pack_iqx(msg.epoch, msg.metadata_hash)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareGroupMetadataValue", version) from error


def decode_share_group_target_assignment_metadata_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ShareGroupTargetAssignmentMetadataKey, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("group_id")
        if n < 0x80:
            group_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group_id = long_text(buf, here, pos)
        if pos > len(buf):
            raise IndexError
        return ShareGroupTargetAssignmentMetadataKey(group_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareGroupTargetAssignmentMetadataKey, version, buf, start, pos) from None


def encode_share_group_target_assignment_metadata_key_v0(msg: ShareGroupTargetAssignmentMetadataKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareGroupTargetAssignmentMetadataKey", version) from error


def decode_share_group_target_assignment_metadata_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ShareGroupTargetAssignmentMetadataValue, int]:
    start = pos
    n: int
    try:
        assignment_epoch, n = unpack_iB(buf, pos)
        pos += 5
        assignment_timestamp: int = 0
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
                    (assignment_timestamp,) = unpack_q(buf, pos)
                    pos += 8
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return ShareGroupTargetAssignmentMetadataValue(assignment_epoch, assignment_timestamp), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareGroupTargetAssignmentMetadataValue, version, buf, start, pos) from None


def encode_share_group_target_assignment_metadata_value_v0(msg: ShareGroupTargetAssignmentMetadataValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        out += pack_i(msg.assignment_epoch)
        if msg.assignment_timestamp:
            out += pack_BBBq(1, 0, 8, msg.assignment_timestamp)
        else:
            out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareGroupTargetAssignmentMetadataValue", version) from error


def decode_share_group_target_assignment_member_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ShareGroupTargetAssignmentMemberKey, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("group_id")
        if n < 0x80:
            group_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group_id = long_text(buf, here, pos)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("member_id")
        if n < 0x80:
            member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            member_id = long_text(buf, here, pos)
        if pos > len(buf):
            raise IndexError
        return ShareGroupTargetAssignmentMemberKey(group_id, member_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareGroupTargetAssignmentMemberKey, version, buf, start, pos) from None


def encode_share_group_target_assignment_member_key_v0(msg: ShareGroupTargetAssignmentMemberKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.member_id.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareGroupTargetAssignmentMemberKey", version) from error


def decode_share_group_target_assignment_member_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ShareGroupTargetAssignmentMemberValue, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topic_partitions: list[TopicPartition]
        if n < 0:
            raise BadField("topic_partitions")
        room -= n * 128
        if room < 0:
            room = verify(ShareGroupTargetAssignmentMemberValue, version, buf, start, pos + n)
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
                room = verify(ShareGroupTargetAssignmentMemberValue, version, buf, start, pos + n)
            topic_partitions_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topic_partitions.append(TopicPartition(topic_partitions_topic_id, topic_partitions_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ShareGroupTargetAssignmentMemberValue(topic_partitions), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareGroupTargetAssignmentMemberValue, version, buf, start, pos) from None


def encode_share_group_target_assignment_member_value_v0(msg: ShareGroupTargetAssignmentMemberValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        topic_partitions = msg.topic_partitions
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
        raise encode_failure(error, "ShareGroupTargetAssignmentMemberValue", version) from error


def decode_share_group_current_member_assignment_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ShareGroupCurrentMemberAssignmentKey, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("group_id")
        if n < 0x80:
            group_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group_id = long_text(buf, here, pos)
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("member_id")
        if n < 0x80:
            member_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            member_id = long_text(buf, here, pos)
        if pos > len(buf):
            raise IndexError
        return ShareGroupCurrentMemberAssignmentKey(group_id, member_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareGroupCurrentMemberAssignmentKey, version, buf, start, pos) from None


def encode_share_group_current_member_assignment_key_v0(msg: ShareGroupCurrentMemberAssignmentKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.member_id.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareGroupCurrentMemberAssignmentKey", version) from error


def decode_share_group_current_member_assignment_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ShareGroupCurrentMemberAssignmentValue, int]:
    start = pos
    n: int
    try:
        room = 45776 - 2 * len(buf)
        member_epoch, previous_member_epoch, state, n = unpack_iibB(buf, pos)
        pos += 10
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        assigned_partitions: list[TopicPartitions]
        if n < 0:
            raise BadField("assigned_partitions")
        room -= n * 128
        if room < 0:
            room = verify(ShareGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
        assigned_partitions = []
        assigned_partitions_count = n
        for _ in range(assigned_partitions_count):
            assigned_partitions_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            assigned_partitions_partitions: list[int]
            if n < 0:
                raise BadField("assigned_partitions.partitions")
            room -= n * 40
            if room < 0:
                room = verify(ShareGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
            assigned_partitions_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            assigned_partitions.append(TopicPartitions(assigned_partitions_topic_id, assigned_partitions_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ShareGroupCurrentMemberAssignmentValue(member_epoch, previous_member_epoch, state, assigned_partitions), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareGroupCurrentMemberAssignmentValue, version, buf, start, pos) from None


def encode_share_group_current_member_assignment_value_v0(msg: ShareGroupCurrentMemberAssignmentValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        assigned_partitions = msg.assigned_partitions
        n = len(assigned_partitions) + 1
        if n < 0x80:
            out += pack_iibB(msg.member_epoch, msg.previous_member_epoch, msg.state, n)
        else:
            out += pack_iib(msg.member_epoch, msg.previous_member_epoch, msg.state)
            out += write_uvarint(n)
        for assigned_partitions_item in assigned_partitions:
            if len(assigned_partitions_item.topic_id) != 16:
                raise BadField("assigned_partitions.topic_id", "a UUID has 16 bytes")
            assigned_partitions_partitions = assigned_partitions_item.partitions
            n = len(assigned_partitions_partitions) + 1
            if n < 0x80:
                out += pack_uB(assigned_partitions_item.topic_id, n)
            else:
                out += pack_u(assigned_partitions_item.topic_id)
                out += write_uvarint(n)
            out += pack_i(*assigned_partitions_partitions) if len(assigned_partitions_partitions) == 1 else pack(f">{len(assigned_partitions_partitions)}i", *assigned_partitions_partitions)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareGroupCurrentMemberAssignmentValue", version) from error


def decode_share_group_state_partition_metadata_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ShareGroupStatePartitionMetadataKey, int]:
    start = pos
    n: int
    try:
        (n,) = unpack_h(buf, pos)
        if n < 0:
            raise BadField("group_id")
        if n < 0x80:
            group_id = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            group_id = long_text(buf, here, pos)
        if pos > len(buf):
            raise IndexError
        return ShareGroupStatePartitionMetadataKey(group_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareGroupStatePartitionMetadataKey, version, buf, start, pos) from None


def encode_share_group_state_partition_metadata_key_v0(msg: ShareGroupStatePartitionMetadataKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareGroupStatePartitionMetadataKey", version) from error


def decode_share_group_state_partition_metadata_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ShareGroupStatePartitionMetadataValue, int]:
    start = pos
    n: int
    try:
        room = 45712 - 2 * len(buf)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        initializing_topics: list[TopicPartitionsInfo]
        if n < 0:
            raise BadField("initializing_topics")
        room -= n * 204
        if room < 0:
            room = verify(ShareGroupStatePartitionMetadataValue, version, buf, start, pos + n)
        initializing_topics = []
        initializing_topics_count = n
        for _ in range(initializing_topics_count):
            initializing_topics_topic_id, n = unpack_uB(buf, pos)
            if 0 < n < 0x80:
                initializing_topics_topic_name = buf[pos + 17 : (pos := pos + 16 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 16)
                if n == 0:
                    raise BadField("initializing_topics.topic_name")
                n -= 1
                here = pos
                pos = here + n
                initializing_topics_topic_name = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            initializing_topics_partitions: list[int]
            if n < 0:
                raise BadField("initializing_topics.partitions")
            room -= n * 40
            if room < 0:
                room = verify(ShareGroupStatePartitionMetadataValue, version, buf, start, pos + n)
            initializing_topics_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            initializing_topics.append(TopicPartitionsInfo(initializing_topics_topic_id, initializing_topics_topic_name, initializing_topics_partitions))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        initialized_topics: list[TopicPartitionsInfo]
        if n < 0:
            raise BadField("initialized_topics")
        room -= n * 204
        if room < 0:
            room = verify(ShareGroupStatePartitionMetadataValue, version, buf, start, pos + n)
        initialized_topics = []
        initialized_topics_count = n
        for _ in range(initialized_topics_count):
            initialized_topics_topic_id, n = unpack_uB(buf, pos)
            if 0 < n < 0x80:
                initialized_topics_topic_name = buf[pos + 17 : (pos := pos + 16 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 16)
                if n == 0:
                    raise BadField("initialized_topics.topic_name")
                n -= 1
                here = pos
                pos = here + n
                initialized_topics_topic_name = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            initialized_topics_partitions: list[int]
            if n < 0:
                raise BadField("initialized_topics.partitions")
            room -= n * 40
            if room < 0:
                room = verify(ShareGroupStatePartitionMetadataValue, version, buf, start, pos + n)
            initialized_topics_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            initialized_topics.append(TopicPartitionsInfo(initialized_topics_topic_id, initialized_topics_topic_name, initialized_topics_partitions))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        deleting_topics: list[TopicInfo]
        if n < 0:
            raise BadField("deleting_topics")
        room -= n * 128
        if room < 0:
            room = verify(ShareGroupStatePartitionMetadataValue, version, buf, start, pos + n)
        deleting_topics = []
        deleting_topics_left, deleting_topics_step = n, 8
        while deleting_topics_left:
            deleting_topics_count = deleting_topics_left
            if deleting_topics_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, deleting_topics_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    deleting_topics_left -= n
                    if is_same and absent == "":
                        deleting_topics += starmap(TopicInfo, rows)
                        continue
                    if is_same:
                        deleting_topics += [TopicInfo(topic_id, absent) for topic_id, in rows]
                    else:
                        deleting_topics += [TopicInfo(topic_id, topic_name.decode()) for topic_id, topic_name in rows]
                    continue
                if deleting_topics_step < deleting_topics_left:
                    deleting_topics_count = deleting_topics_step
                deleting_topics_step *= 2
            deleting_topics_left -= deleting_topics_count
            for _ in range(deleting_topics_count):
                deleting_topics_topic_id, n = unpack_uB(buf, pos)
                if 0 < n < 0x80:
                    deleting_topics_topic_name = buf[pos + 17 : (pos := pos + 16 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 16)
                    if n == 0:
                        raise BadField("deleting_topics.topic_name")
                    n -= 1
                    here = pos
                    pos = here + n
                    deleting_topics_topic_name = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                deleting_topics.append(TopicInfo(deleting_topics_topic_id, deleting_topics_topic_name))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ShareGroupStatePartitionMetadataValue(initializing_topics, initialized_topics, deleting_topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ShareGroupStatePartitionMetadataValue, version, buf, start, pos) from None


def encode_share_group_state_partition_metadata_value_v0(msg: ShareGroupStatePartitionMetadataValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        initializing_topics = msg.initializing_topics
        n = len(initializing_topics) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for initializing_topics_item in initializing_topics:
            if len(initializing_topics_item.topic_id) != 16:
                raise BadField("initializing_topics.topic_id", "a UUID has 16 bytes")
            raw = initializing_topics_item.topic_name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_uB(initializing_topics_item.topic_id, n)
            else:
                out += pack_u(initializing_topics_item.topic_id)
                out += write_string_size(n)
            out += raw
            initializing_topics_partitions = initializing_topics_item.partitions
            n = len(initializing_topics_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += pack_i(*initializing_topics_partitions) if len(initializing_topics_partitions) == 1 else pack(f">{len(initializing_topics_partitions)}i", *initializing_topics_partitions)
            out.append(0)
        initialized_topics = msg.initialized_topics
        n = len(initialized_topics) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for initialized_topics_item in initialized_topics:
            if len(initialized_topics_item.topic_id) != 16:
                raise BadField("initialized_topics.topic_id", "a UUID has 16 bytes")
            raw = initialized_topics_item.topic_name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_uB(initialized_topics_item.topic_id, n)
            else:
                out += pack_u(initialized_topics_item.topic_id)
                out += write_string_size(n)
            out += raw
            initialized_topics_partitions = initialized_topics_item.partitions
            n = len(initialized_topics_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += pack_i(*initialized_topics_partitions) if len(initialized_topics_partitions) == 1 else pack(f">{len(initialized_topics_partitions)}i", *initialized_topics_partitions)
            out.append(0)
        deleting_topics = msg.deleting_topics
        n = len(deleting_topics) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for deleting_topics_item in deleting_topics:
            if len(deleting_topics_item.topic_id) != 16:
                raise BadField("deleting_topics.topic_id", "a UUID has 16 bytes")
            raw = deleting_topics_item.topic_name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_uB(deleting_topics_item.topic_id, n)
            else:
                out += pack_u(deleting_topics_item.topic_id)
                out += write_string_size(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ShareGroupStatePartitionMetadataValue", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    ShareGroupMemberMetadataKey: {
        0: decode_share_group_member_metadata_key_v0,
    },
    ShareGroupMemberMetadataValue: {
        0: decode_share_group_member_metadata_value_v0,
    },
    ShareGroupMetadataKey: {
        0: decode_share_group_metadata_key_v0,
    },
    ShareGroupMetadataValue: {
        0: decode_share_group_metadata_value_v0,
    },
    ShareGroupTargetAssignmentMetadataKey: {
        0: decode_share_group_target_assignment_metadata_key_v0,
    },
    ShareGroupTargetAssignmentMetadataValue: {
        0: decode_share_group_target_assignment_metadata_value_v0,
    },
    ShareGroupTargetAssignmentMemberKey: {
        0: decode_share_group_target_assignment_member_key_v0,
    },
    ShareGroupTargetAssignmentMemberValue: {
        0: decode_share_group_target_assignment_member_value_v0,
    },
    ShareGroupCurrentMemberAssignmentKey: {
        0: decode_share_group_current_member_assignment_key_v0,
    },
    ShareGroupCurrentMemberAssignmentValue: {
        0: decode_share_group_current_member_assignment_value_v0,
    },
    ShareGroupStatePartitionMetadataKey: {
        0: decode_share_group_state_partition_metadata_key_v0,
    },
    ShareGroupStatePartitionMetadataValue: {
        0: decode_share_group_state_partition_metadata_value_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    ShareGroupMemberMetadataKey: {
        0: encode_share_group_member_metadata_key_v0,
    },
    ShareGroupMemberMetadataValue: {
        0: encode_share_group_member_metadata_value_v0,
    },
    ShareGroupMetadataKey: {
        0: encode_share_group_metadata_key_v0,
    },
    ShareGroupMetadataValue: {
        0: encode_share_group_metadata_value_v0,
    },
    ShareGroupTargetAssignmentMetadataKey: {
        0: encode_share_group_target_assignment_metadata_key_v0,
    },
    ShareGroupTargetAssignmentMetadataValue: {
        0: encode_share_group_target_assignment_metadata_value_v0,
    },
    ShareGroupTargetAssignmentMemberKey: {
        0: encode_share_group_target_assignment_member_key_v0,
    },
    ShareGroupTargetAssignmentMemberValue: {
        0: encode_share_group_target_assignment_member_value_v0,
    },
    ShareGroupCurrentMemberAssignmentKey: {
        0: encode_share_group_current_member_assignment_key_v0,
    },
    ShareGroupCurrentMemberAssignmentValue: {
        0: encode_share_group_current_member_assignment_value_v0,
    },
    ShareGroupStatePartitionMetadataKey: {
        0: encode_share_group_state_partition_metadata_key_v0,
    },
    ShareGroupStatePartitionMetadataValue: {
        0: encode_share_group_state_partition_metadata_value_v0,
    },
}
