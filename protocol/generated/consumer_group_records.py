"""Codecs of protocol/messages/consumer_group_records.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_h, unpack_iB, unpack_iibB, unpack_q, unpack_qqB, unpack_uB
from protocol.messages.consumer_group_records import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
    PartitionMetadata,
    TopicMetadata,
    TopicPartition,
    TopicPartitions,
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

SHAPE_1 = Shape("x", 1, Field("", 0, 1, False, ""), Field("", 0, 1, False, b""))
pack_u = Struct(">16s").pack
pack_uB = Struct(">16sB").pack
pack_BB = Struct(">BB").pack
pack_BBBB = Struct(">BBBB").pack
pack_BBBq = Struct(">BBBq").pack
pack_Bi = Struct(">Bi").pack
pack_BiB = Struct(">BiB").pack
pack_h = Struct(">h").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_iib = Struct(">iib").pack
pack_iibB = Struct(">iibB").pack
pack_qqx = Struct(">qqx").pack


def decode_consumer_group_metadata_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConsumerGroupMetadataKey, int]:
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
        return ConsumerGroupMetadataKey(group_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerGroupMetadataKey, version, buf, start, pos) from None


def encode_consumer_group_metadata_key_v0(msg: ConsumerGroupMetadataKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ConsumerGroupMetadataKey", version) from error


def decode_consumer_group_metadata_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConsumerGroupMetadataValue, int]:
    start = pos
    n: int
    try:
        epoch, n = unpack_iB(buf, pos)
        pos += 5
        metadata_hash: int = 0
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
                    (metadata_hash,) = unpack_q(buf, pos)
                    pos += 8
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return ConsumerGroupMetadataValue(epoch, metadata_hash), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerGroupMetadataValue, version, buf, start, pos) from None


def encode_consumer_group_metadata_value_v0(msg: ConsumerGroupMetadataValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        out += pack_i(msg.epoch)
        if msg.metadata_hash:
            out += pack_BBBq(1, 0, 8, msg.metadata_hash)
        else:
            out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ConsumerGroupMetadataValue", version) from error


def decode_consumer_group_partition_metadata_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConsumerGroupPartitionMetadataKey, int]:
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
        return ConsumerGroupPartitionMetadataKey(group_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerGroupPartitionMetadataKey, version, buf, start, pos) from None


def encode_consumer_group_partition_metadata_key_v0(msg: ConsumerGroupPartitionMetadataKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ConsumerGroupPartitionMetadataKey", version) from error


def decode_consumer_group_partition_metadata_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConsumerGroupPartitionMetadataValue, int]:
    start = pos
    n: int
    try:
        room = 45888 - 2 * len(buf)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[TopicMetadata]
        if n < 0:
            raise BadField("topics")
        room -= n * 236
        if room < 0:
            room = verify(ConsumerGroupPartitionMetadataValue, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            topics_topic_id, n = unpack_uB(buf, pos)
            if 0 < n < 0x80:
                topics_topic_name = buf[pos + 17 : (pos := pos + 16 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 16)
                if n == 0:
                    raise BadField("topics.topic_name")
                n -= 1
                here = pos
                pos = here + n
                topics_topic_name = long_text(buf, here, pos)
            topics_num_partitions, n = unpack_iB(buf, pos)
            pos += 5
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topics_partition_metadata: list[PartitionMetadata]
            if n < 0:
                raise BadField("topics.partition_metadata")
            room -= n * 144
            if room < 0:
                room = verify(ConsumerGroupPartitionMetadataValue, version, buf, start, pos + n)
            topics_partition_metadata = []
            topics_partition_metadata_count = n
            for _ in range(topics_partition_metadata_count):
                topics_partition_metadata_partition, n = unpack_iB(buf, pos)
                pos += 5
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topics_partition_metadata_racks: list[str]
                if n < 0:
                    raise BadField("topics.partition_metadata.racks")
                room -= n * 100
                if room < 0:
                    room = verify(ConsumerGroupPartitionMetadataValue, version, buf, start, pos + n)
                topics_partition_metadata_racks = []
                topics_partition_metadata_racks_count = n
                for _ in range(topics_partition_metadata_racks_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        topics_partition_metadata_racks_item = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("topics.partition_metadata.racks.item")
                        n -= 1
                        here = pos
                        pos = here + n
                        topics_partition_metadata_racks_item = long_text(buf, here, pos)
                    topics_partition_metadata_racks.append(topics_partition_metadata_racks_item)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                topics_partition_metadata.append(PartitionMetadata(topics_partition_metadata_partition, topics_partition_metadata_racks))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topics.append(TopicMetadata(topics_topic_id, topics_topic_name, topics_num_partitions, topics_partition_metadata))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ConsumerGroupPartitionMetadataValue(topics), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerGroupPartitionMetadataValue, version, buf, start, pos) from None


def encode_consumer_group_partition_metadata_value_v0(msg: ConsumerGroupPartitionMetadataValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for topics_item in topics:
            if len(topics_item.topic_id) != 16:
                raise BadField("topics.topic_id", "a UUID has 16 bytes")
            raw = topics_item.topic_name.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_uB(topics_item.topic_id, n)
            else:
                out += pack_u(topics_item.topic_id)
                out += write_string_size(n)
            out += raw
            topics_partition_metadata = topics_item.partition_metadata
            n = len(topics_partition_metadata) + 1
            if n < 0x80:
                out += pack_iB(topics_item.num_partitions, n)
            else:
                out += pack_i(topics_item.num_partitions)
                out += write_uvarint(n)
            for topics_partition_metadata_item in topics_partition_metadata:
                topics_partition_metadata_racks = topics_partition_metadata_item.racks
                n = len(topics_partition_metadata_racks) + 1
                if n < 0x80:
                    out += pack_iB(topics_partition_metadata_item.partition, n)
                else:
                    out += pack_i(topics_partition_metadata_item.partition)
                    out += write_uvarint(n)
                for topics_partition_metadata_racks_item in topics_partition_metadata_racks:
                    raw = topics_partition_metadata_racks_item.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ConsumerGroupPartitionMetadataValue", version) from error


def decode_consumer_group_member_metadata_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConsumerGroupMemberMetadataKey, int]:
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
        return ConsumerGroupMemberMetadataKey(group_id, member_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerGroupMemberMetadataKey, version, buf, start, pos) from None


def encode_consumer_group_member_metadata_key_v0(msg: ConsumerGroupMemberMetadataKey, out: bytearray, version: int = 0) -> None:
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
        raise encode_failure(error, "ConsumerGroupMemberMetadataKey", version) from error


def decode_consumer_group_member_metadata_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConsumerGroupMemberMetadataValue, int]:
    start = pos
    n: int
    try:
        room = 45168 - 2 * len(buf)
        instance_id: str | None
        n = buf[pos]
        if not n:
            instance_id = None
            pos += 1
        elif n == 1:
            instance_id = ""
            pos += 1
        elif n < 0x80:
            instance_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
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
            room = verify(ConsumerGroupMemberMetadataValue, version, buf, start, pos + n)
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
        rebalance_timeout_ms, n = unpack_iB(buf, pos)
        if not n:
            server_assignor = None
            pos += 5
        elif n == 1:
            server_assignor = ""
            pos += 5
        elif n < 0x80:
            server_assignor = buf[pos + 5 : (pos := pos + 4 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 4)
            if n:
                n -= 1
                here = pos
                pos = here + n
                server_assignor = long_text(buf, here, pos)
            else:
                server_assignor = None
        n = buf[pos]
        pos += 1
        classic_member_metadata: ClassicMemberMetadata | None = ClassicMemberMetadata()
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
                    n, pos = read_uvarint(buf, pos)
                    classic_member_metadata = None
                    if n > 0:
                        classic_member_metadata_session_timeout_ms, n = unpack_iB(buf, pos)
                        pos += 5
                        if n >= 0x80:
                            n, pos = read_uvarint(buf, pos - 1)
                        n -= 1
                        classic_member_metadata_supported_protocols: list[ClassicProtocol]
                        if n < 0:
                            raise BadField("classic_member_metadata.supported_protocols")
                        room -= n * 172
                        if room < 0:
                            room = verify(ConsumerGroupMemberMetadataValue, version, buf, start, pos + n)
                        classic_member_metadata_supported_protocols = []
                        classic_member_metadata_supported_protocols_left, classic_member_metadata_supported_protocols_step = n, 8
                        while classic_member_metadata_supported_protocols_left:
                            classic_member_metadata_supported_protocols_count = classic_member_metadata_supported_protocols_left
                            if classic_member_metadata_supported_protocols_left >= 8 and RUNS_OF_TEXT:
                                run = alike(SHAPE_1, buf, pos, classic_member_metadata_supported_protocols_left)
                                if run is not None:
                                    pos, n, rows, absent, is_same = run
                                    classic_member_metadata_supported_protocols_left -= n
                                    classic_member_metadata_supported_protocols += [ClassicProtocol(name.decode(), metadata) for name, metadata in rows]
                                    continue
                                if classic_member_metadata_supported_protocols_step < classic_member_metadata_supported_protocols_left:
                                    classic_member_metadata_supported_protocols_count = classic_member_metadata_supported_protocols_step
                                classic_member_metadata_supported_protocols_step *= 2
                            classic_member_metadata_supported_protocols_left -= classic_member_metadata_supported_protocols_count
                            for _ in range(classic_member_metadata_supported_protocols_count):
                                n = buf[pos]
                                if 0 < n < 0x80:
                                    classic_member_metadata_supported_protocols_name = buf[pos + 1 : (pos := pos + n)].decode()
                                else:
                                    n, pos = read_string_size(buf, pos)
                                    if n == 0:
                                        raise BadField("classic_member_metadata.supported_protocols.name")
                                    n -= 1
                                    here = pos
                                    pos = here + n
                                    classic_member_metadata_supported_protocols_name = long_text(buf, here, pos)
                                n = buf[pos]
                                if 0 < n < 0x80:
                                    classic_member_metadata_supported_protocols_metadata = buf[pos + 1 : (pos := pos + n)]
                                else:
                                    n, pos = read_uvarint(buf, pos)
                                    if n == 0:
                                        raise BadField("classic_member_metadata.supported_protocols.metadata")
                                    n -= 1
                                    here = pos
                                    pos = here + n
                                    classic_member_metadata_supported_protocols_metadata = buf[here:pos]
                                n = buf[pos]
                                pos += 1
                                if n:
                                    pos = skip_tags(buf, pos - 1)
                                classic_member_metadata_supported_protocols.append(ClassicProtocol(classic_member_metadata_supported_protocols_name, classic_member_metadata_supported_protocols_metadata))
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        classic_member_metadata = ClassicMemberMetadata(classic_member_metadata_session_timeout_ms, classic_member_metadata_supported_protocols)
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return ConsumerGroupMemberMetadataValue(instance_id, rack_id, client_id, client_host, subscribed_topic_names, subscribed_topic_regex, rebalance_timeout_ms, server_assignor, classic_member_metadata), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerGroupMemberMetadataValue, version, buf, start, pos) from None


def encode_consumer_group_member_metadata_value_v0(msg: ConsumerGroupMemberMetadataValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        text = msg.instance_id
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
            out += pack_iB(msg.rebalance_timeout_ms, n)
        else:
            out += pack_i(msg.rebalance_timeout_ms)
            out += write_string_size(n)
        out += raw
        if msg.classic_member_metadata != ClassicMemberMetadata():
            out += pack_BB(1, 0)
            classic_member_metadata_content = bytearray()
            classic_member_metadata = msg.classic_member_metadata
            if classic_member_metadata is None:
                classic_member_metadata_content.append(0)
            else:
                classic_member_metadata_supported_protocols = classic_member_metadata.supported_protocols
                n = len(classic_member_metadata_supported_protocols) + 1
                if n < 0x80:
                    classic_member_metadata_content += pack_BiB(1, classic_member_metadata.session_timeout_ms, n)
                else:
                    classic_member_metadata_content += pack_Bi(1, classic_member_metadata.session_timeout_ms)
                    classic_member_metadata_content += write_uvarint(n)
                for classic_member_metadata_supported_protocols_item in classic_member_metadata_supported_protocols:
                    raw = classic_member_metadata_supported_protocols_item.name.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        classic_member_metadata_content.append(n)
                    else:
                        classic_member_metadata_content += write_string_size(n)
                    classic_member_metadata_content += raw
                    raw = classic_member_metadata_supported_protocols_item.metadata
                    n = len(raw) + 1
                    if n < 0x80:
                        classic_member_metadata_content.append(n)
                    else:
                        classic_member_metadata_content += write_uvarint(n)
                    classic_member_metadata_content += raw
                    classic_member_metadata_content.append(0)
                classic_member_metadata_content.append(0)
            n = len(classic_member_metadata_content)
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += classic_member_metadata_content
        else:
            out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ConsumerGroupMemberMetadataValue", version) from error


def decode_consumer_group_target_assignment_metadata_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConsumerGroupTargetAssignmentMetadataKey, int]:
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
        return ConsumerGroupTargetAssignmentMetadataKey(group_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerGroupTargetAssignmentMetadataKey, version, buf, start, pos) from None


def encode_consumer_group_target_assignment_metadata_key_v0(msg: ConsumerGroupTargetAssignmentMetadataKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ConsumerGroupTargetAssignmentMetadataKey", version) from error


def decode_consumer_group_target_assignment_metadata_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConsumerGroupTargetAssignmentMetadataValue, int]:
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
        return ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch, assignment_timestamp), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerGroupTargetAssignmentMetadataValue, version, buf, start, pos) from None


def encode_consumer_group_target_assignment_metadata_value_v0(msg: ConsumerGroupTargetAssignmentMetadataValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        out += pack_i(msg.assignment_epoch)
        if msg.assignment_timestamp:
            out += pack_BBBq(1, 0, 8, msg.assignment_timestamp)
        else:
            out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ConsumerGroupTargetAssignmentMetadataValue", version) from error


def decode_consumer_group_target_assignment_member_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConsumerGroupTargetAssignmentMemberKey, int]:
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
        return ConsumerGroupTargetAssignmentMemberKey(group_id, member_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerGroupTargetAssignmentMemberKey, version, buf, start, pos) from None


def encode_consumer_group_target_assignment_member_key_v0(msg: ConsumerGroupTargetAssignmentMemberKey, out: bytearray, version: int = 0) -> None:
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
        raise encode_failure(error, "ConsumerGroupTargetAssignmentMemberKey", version) from error


def decode_consumer_group_target_assignment_member_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConsumerGroupTargetAssignmentMemberValue, int]:
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
            room = verify(ConsumerGroupTargetAssignmentMemberValue, version, buf, start, pos + n)
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
                room = verify(ConsumerGroupTargetAssignmentMemberValue, version, buf, start, pos + n)
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
        return ConsumerGroupTargetAssignmentMemberValue(topic_partitions), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerGroupTargetAssignmentMemberValue, version, buf, start, pos) from None


def encode_consumer_group_target_assignment_member_value_v0(msg: ConsumerGroupTargetAssignmentMemberValue, out: bytearray, version: int = 0) -> None:
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
        raise encode_failure(error, "ConsumerGroupTargetAssignmentMemberValue", version) from error


def decode_consumer_group_current_member_assignment_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConsumerGroupCurrentMemberAssignmentKey, int]:
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
        return ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerGroupCurrentMemberAssignmentKey, version, buf, start, pos) from None


def encode_consumer_group_current_member_assignment_key_v0(msg: ConsumerGroupCurrentMemberAssignmentKey, out: bytearray, version: int = 0) -> None:
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
        raise encode_failure(error, "ConsumerGroupCurrentMemberAssignmentKey", version) from error


def decode_consumer_group_current_member_assignment_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConsumerGroupCurrentMemberAssignmentValue, int]:
    start = pos
    n: int
    try:
        room = 45680 - 2 * len(buf)
        member_epoch, previous_member_epoch, state, n = unpack_iibB(buf, pos)
        pos += 10
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        assigned_partitions: list[TopicPartitions]
        if n < 0:
            raise BadField("assigned_partitions")
        room -= n * 208
        if room < 0:
            room = verify(ConsumerGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
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
                room = verify(ConsumerGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
            assigned_partitions_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            assigned_partitions_assignment_epochs: list[int] | None = []
            if n:
                n, pos = read_uvarint(buf, pos - 1)
                assigned_partitions_tag_count = n
                for _ in range(assigned_partitions_tag_count):
                    tag, pos = read_uvarint(buf, pos)
                    n, pos = read_uvarint(buf, pos)
                    assigned_partitions_tag_end = pos + n
                    if assigned_partitions_tag_end > len(buf):
                        raise IndexError
                    if tag == 0:
                        n = buf[pos]
                        pos += 1
                        if n >= 0x80:
                            n, pos = read_uvarint(buf, pos - 1)
                        n -= 1
                        if n < 0:
                            assigned_partitions_assignment_epochs = None
                        else:
                            room -= n * 40
                            if room < 0:
                                room = verify(ConsumerGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
                            assigned_partitions_assignment_epochs = list(unpack_from(f">{n}i", buf, pos))
                            pos += n * 4
                    else:
                        pos = assigned_partitions_tag_end
                    if pos != assigned_partitions_tag_end:
                        raise BadField("assigned_partitions.tagged fields", "a size is not that of its content")
            assigned_partitions.append(TopicPartitions(assigned_partitions_topic_id, assigned_partitions_partitions, assigned_partitions_assignment_epochs))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        partitions_pending_revocation: list[TopicPartitions]
        if n < 0:
            raise BadField("partitions_pending_revocation")
        room -= n * 208
        if room < 0:
            room = verify(ConsumerGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
        partitions_pending_revocation = []
        partitions_pending_revocation_count = n
        for _ in range(partitions_pending_revocation_count):
            partitions_pending_revocation_topic_id, n = unpack_uB(buf, pos)
            pos += 17
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            partitions_pending_revocation_partitions: list[int]
            if n < 0:
                raise BadField("partitions_pending_revocation.partitions")
            room -= n * 40
            if room < 0:
                room = verify(ConsumerGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
            partitions_pending_revocation_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            partitions_pending_revocation_assignment_epochs: list[int] | None = []
            if n:
                n, pos = read_uvarint(buf, pos - 1)
                partitions_pending_revocation_tag_count = n
                for _ in range(partitions_pending_revocation_tag_count):
                    tag, pos = read_uvarint(buf, pos)
                    n, pos = read_uvarint(buf, pos)
                    partitions_pending_revocation_tag_end = pos + n
                    if partitions_pending_revocation_tag_end > len(buf):
                        raise IndexError
                    if tag == 0:
                        n = buf[pos]
                        pos += 1
                        if n >= 0x80:
                            n, pos = read_uvarint(buf, pos - 1)
                        n -= 1
                        if n < 0:
                            partitions_pending_revocation_assignment_epochs = None
                        else:
                            room -= n * 40
                            if room < 0:
                                room = verify(ConsumerGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
                            partitions_pending_revocation_assignment_epochs = list(unpack_from(f">{n}i", buf, pos))
                            pos += n * 4
                    else:
                        pos = partitions_pending_revocation_tag_end
                    if pos != partitions_pending_revocation_tag_end:
                        raise BadField("partitions_pending_revocation.tagged fields", "a size is not that of its content")
            partitions_pending_revocation.append(TopicPartitions(partitions_pending_revocation_topic_id, partitions_pending_revocation_partitions, partitions_pending_revocation_assignment_epochs))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return ConsumerGroupCurrentMemberAssignmentValue(member_epoch, previous_member_epoch, state, assigned_partitions, partitions_pending_revocation), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerGroupCurrentMemberAssignmentValue, version, buf, start, pos) from None


def encode_consumer_group_current_member_assignment_value_v0(msg: ConsumerGroupCurrentMemberAssignmentValue, out: bytearray, version: int = 0) -> None:
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
            if assigned_partitions_item.assignment_epochs is None or assigned_partitions_item.assignment_epochs:
                assigned_partitions_assignment_epochs = assigned_partitions_item.assignment_epochs
                if assigned_partitions_assignment_epochs is None:
                    out += pack_BBBB(1, 0, 1, 0)
                else:
                    n = len(assigned_partitions_assignment_epochs) + 1
                    if n <= 32:
                        out += pack_BBBB(1, 0, 4 * n - 3, n)
                    else:
                        out += pack_BB(1, 0)
                        raw = write_uvarint(n)
                        out += write_uvarint(len(raw) + (n - 1) * 4)
                        out += raw
                    out += pack_i(*assigned_partitions_assignment_epochs) if len(assigned_partitions_assignment_epochs) == 1 else pack(f">{len(assigned_partitions_assignment_epochs)}i", *assigned_partitions_assignment_epochs)
            else:
                out.append(0)
        partitions_pending_revocation = msg.partitions_pending_revocation
        n = len(partitions_pending_revocation) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for partitions_pending_revocation_item in partitions_pending_revocation:
            if len(partitions_pending_revocation_item.topic_id) != 16:
                raise BadField("partitions_pending_revocation.topic_id", "a UUID has 16 bytes")
            partitions_pending_revocation_partitions = partitions_pending_revocation_item.partitions
            n = len(partitions_pending_revocation_partitions) + 1
            if n < 0x80:
                out += pack_uB(partitions_pending_revocation_item.topic_id, n)
            else:
                out += pack_u(partitions_pending_revocation_item.topic_id)
                out += write_uvarint(n)
            out += pack_i(*partitions_pending_revocation_partitions) if len(partitions_pending_revocation_partitions) == 1 else pack(f">{len(partitions_pending_revocation_partitions)}i", *partitions_pending_revocation_partitions)
            if partitions_pending_revocation_item.assignment_epochs is None or partitions_pending_revocation_item.assignment_epochs:
                partitions_pending_revocation_assignment_epochs = partitions_pending_revocation_item.assignment_epochs
                if partitions_pending_revocation_assignment_epochs is None:
                    out += pack_BBBB(1, 0, 1, 0)
                else:
                    n = len(partitions_pending_revocation_assignment_epochs) + 1
                    if n <= 32:
                        out += pack_BBBB(1, 0, 4 * n - 3, n)
                    else:
                        out += pack_BB(1, 0)
                        raw = write_uvarint(n)
                        out += write_uvarint(len(raw) + (n - 1) * 4)
                        out += raw
                    out += pack_i(*partitions_pending_revocation_assignment_epochs) if len(partitions_pending_revocation_assignment_epochs) == 1 else pack(f">{len(partitions_pending_revocation_assignment_epochs)}i", *partitions_pending_revocation_assignment_epochs)
            else:
                out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ConsumerGroupCurrentMemberAssignmentValue", version) from error


def decode_consumer_group_regular_expression_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConsumerGroupRegularExpressionKey, int]:
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
            raise BadField("regular_expression")
        if n < 0x80:
            regular_expression = buf[pos + 2 : (pos := pos + 2 + n)].decode()
        else:
            here = pos + 2
            pos = here + n
            regular_expression = long_text(buf, here, pos)
        if pos > len(buf):
            raise IndexError
        return ConsumerGroupRegularExpressionKey(group_id, regular_expression), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerGroupRegularExpressionKey, version, buf, start, pos) from None


def encode_consumer_group_regular_expression_key_v0(msg: ConsumerGroupRegularExpressionKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
        raw = msg.regular_expression.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ConsumerGroupRegularExpressionKey", version) from error


def decode_consumer_group_regular_expression_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[ConsumerGroupRegularExpressionValue, int]:
    start = pos
    n: int
    try:
        room = 45792 - 2 * len(buf)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        topics: list[str]
        if n < 0:
            raise BadField("topics")
        room -= n * 100
        if room < 0:
            room = verify(ConsumerGroupRegularExpressionValue, version, buf, start, pos + n)
        topics = []
        topics_count = n
        for _ in range(topics_count):
            n = buf[pos]
            if 0 < n < 0x80:
                topics_item = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("topics.item")
                n -= 1
                here = pos
                pos = here + n
                topics_item = long_text(buf, here, pos)
            topics.append(topics_item)
        version_, timestamp, n = unpack_qqB(buf, pos)
        pos += 17
        if n:
            pos = skip_tags(buf, pos - 1)
        return ConsumerGroupRegularExpressionValue(topics, version_, timestamp), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, ConsumerGroupRegularExpressionValue, version, buf, start, pos) from None


def encode_consumer_group_regular_expression_value_v0(msg: ConsumerGroupRegularExpressionValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        topics = msg.topics
        n = len(topics) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for topics_item in topics:
            raw = topics_item.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
        out += pack_qqx(msg.version, msg.timestamp)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "ConsumerGroupRegularExpressionValue", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    ConsumerGroupMetadataKey: {
        0: decode_consumer_group_metadata_key_v0,
    },
    ConsumerGroupMetadataValue: {
        0: decode_consumer_group_metadata_value_v0,
    },
    ConsumerGroupPartitionMetadataKey: {
        0: decode_consumer_group_partition_metadata_key_v0,
    },
    ConsumerGroupPartitionMetadataValue: {
        0: decode_consumer_group_partition_metadata_value_v0,
    },
    ConsumerGroupMemberMetadataKey: {
        0: decode_consumer_group_member_metadata_key_v0,
    },
    ConsumerGroupMemberMetadataValue: {
        0: decode_consumer_group_member_metadata_value_v0,
    },
    ConsumerGroupTargetAssignmentMetadataKey: {
        0: decode_consumer_group_target_assignment_metadata_key_v0,
    },
    ConsumerGroupTargetAssignmentMetadataValue: {
        0: decode_consumer_group_target_assignment_metadata_value_v0,
    },
    ConsumerGroupTargetAssignmentMemberKey: {
        0: decode_consumer_group_target_assignment_member_key_v0,
    },
    ConsumerGroupTargetAssignmentMemberValue: {
        0: decode_consumer_group_target_assignment_member_value_v0,
    },
    ConsumerGroupCurrentMemberAssignmentKey: {
        0: decode_consumer_group_current_member_assignment_key_v0,
    },
    ConsumerGroupCurrentMemberAssignmentValue: {
        0: decode_consumer_group_current_member_assignment_value_v0,
    },
    ConsumerGroupRegularExpressionKey: {
        0: decode_consumer_group_regular_expression_key_v0,
    },
    ConsumerGroupRegularExpressionValue: {
        0: decode_consumer_group_regular_expression_value_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    ConsumerGroupMetadataKey: {
        0: encode_consumer_group_metadata_key_v0,
    },
    ConsumerGroupMetadataValue: {
        0: encode_consumer_group_metadata_value_v0,
    },
    ConsumerGroupPartitionMetadataKey: {
        0: encode_consumer_group_partition_metadata_key_v0,
    },
    ConsumerGroupPartitionMetadataValue: {
        0: encode_consumer_group_partition_metadata_value_v0,
    },
    ConsumerGroupMemberMetadataKey: {
        0: encode_consumer_group_member_metadata_key_v0,
    },
    ConsumerGroupMemberMetadataValue: {
        0: encode_consumer_group_member_metadata_value_v0,
    },
    ConsumerGroupTargetAssignmentMetadataKey: {
        0: encode_consumer_group_target_assignment_metadata_key_v0,
    },
    ConsumerGroupTargetAssignmentMetadataValue: {
        0: encode_consumer_group_target_assignment_metadata_value_v0,
    },
    ConsumerGroupTargetAssignmentMemberKey: {
        0: encode_consumer_group_target_assignment_member_key_v0,
    },
    ConsumerGroupTargetAssignmentMemberValue: {
        0: encode_consumer_group_target_assignment_member_value_v0,
    },
    ConsumerGroupCurrentMemberAssignmentKey: {
        0: encode_consumer_group_current_member_assignment_key_v0,
    },
    ConsumerGroupCurrentMemberAssignmentValue: {
        0: encode_consumer_group_current_member_assignment_value_v0,
    },
    ConsumerGroupRegularExpressionKey: {
        0: encode_consumer_group_regular_expression_key_v0,
    },
    ConsumerGroupRegularExpressionValue: {
        0: encode_consumer_group_regular_expression_value_v0,
    },
}
