"""Codecs of protocol/messages/streams_group_records.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import (
    unpack_HB,
    unpack_b,
    unpack_h,
    unpack_i,
    unpack_iB,
    unpack_ihB,
    unpack_iiB,
    unpack_iibB,
    unpack_iqB,
    unpack_q,
)
from protocol.messages.streams_group_records import (
    CopartitionGroup,
    Endpoint,
    KeyValue,
    LastAssignmentConfig,
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupCurrentMemberAssignmentTaskIds,
    StreamsGroupCurrentMemberAssignmentValue,
    StreamsGroupMemberMetadataKey,
    StreamsGroupMemberMetadataValue,
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
    StreamsGroupTargetAssignmentMemberKey,
    StreamsGroupTargetAssignmentMemberTaskIds,
    StreamsGroupTargetAssignmentMemberValue,
    StreamsGroupTargetAssignmentMetadataKey,
    StreamsGroupTargetAssignmentMetadataValue,
    StreamsGroupTopologyKey,
    StreamsGroupTopologyValue,
    Subtopology,
    TopicConfig,
    TopicInfo,
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

SHAPE_1 = Shape("x", 1, Field("", 0, 1, False, ""), Field("", 0, 1, False, ""))
pack_BB = Struct(">BB").pack
pack_BBBB = Struct(">BBBB").pack
pack_BBBq = Struct(">BBBq").pack
pack_BBi = Struct(">BBi").pack
pack_Hx = Struct(">Hx").pack
pack_b = Struct(">b").pack
pack_bB = Struct(">bB").pack
pack_h = Struct(">h").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_ii = Struct(">ii").pack
pack_iiB = Struct(">iiB").pack
pack_iib = Struct(">iib").pack
pack_iibB = Struct(">iibB").pack
pack_iq = Struct(">iq").pack


def decode_streams_group_metadata_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[StreamsGroupMetadataKey, int]:
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
        return StreamsGroupMetadataKey(group_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, StreamsGroupMetadataKey, version, buf, start, pos) from None


def encode_streams_group_metadata_key_v0(msg: StreamsGroupMetadataKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "StreamsGroupMetadataKey", version) from error


def decode_streams_group_metadata_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[StreamsGroupMetadataValue, int]:
    start = pos
    n: int
    try:
        room = 45760 - 2 * len(buf)
        epoch, metadata_hash, n = unpack_iqB(buf, pos)
        pos += 13
        validated_topology_epoch: int = -1
        last_assignment_configs: list[LastAssignmentConfig] | None = []
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
                    (validated_topology_epoch,) = unpack_i(buf, pos)
                    pos += 4
                elif tag == 1:
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    if n < 0:
                        last_assignment_configs = None
                    else:
                        room -= n * 204
                        if room < 0:
                            room = verify(StreamsGroupMetadataValue, version, buf, start, pos + n)
                        last_assignment_configs = []
                        last_assignment_configs_left, last_assignment_configs_step = n, 8
                        while last_assignment_configs_left:
                            last_assignment_configs_count = last_assignment_configs_left
                            if last_assignment_configs_left >= 8 and RUNS_OF_TEXT:
                                run = alike(SHAPE_1, buf, pos, last_assignment_configs_left)
                                if run is not None:
                                    pos, n, rows, absent, is_same = run
                                    last_assignment_configs_left -= n
                                    last_assignment_configs += [LastAssignmentConfig(key.decode(), value_.decode()) for key, value_ in rows]
                                    continue
                                if last_assignment_configs_step < last_assignment_configs_left:
                                    last_assignment_configs_count = last_assignment_configs_step
                                last_assignment_configs_step *= 2
                            last_assignment_configs_left -= last_assignment_configs_count
                            for _ in range(last_assignment_configs_count):
                                n = buf[pos]
                                if 0 < n < 0x80:
                                    last_assignment_configs_key = buf[pos + 1 : (pos := pos + n)].decode()
                                else:
                                    n, pos = read_string_size(buf, pos)
                                    if n == 0:
                                        raise BadField("last_assignment_configs.key")
                                    n -= 1
                                    here = pos
                                    pos = here + n
                                    last_assignment_configs_key = long_text(buf, here, pos)
                                n = buf[pos]
                                if 0 < n < 0x80:
                                    last_assignment_configs_value = buf[pos + 1 : (pos := pos + n)].decode()
                                else:
                                    n, pos = read_string_size(buf, pos)
                                    if n == 0:
                                        raise BadField("last_assignment_configs.value")
                                    n -= 1
                                    here = pos
                                    pos = here + n
                                    last_assignment_configs_value = long_text(buf, here, pos)
                                n = buf[pos]
                                pos += 1
                                if n:
                                    pos = skip_tags(buf, pos - 1)
                                last_assignment_configs.append(LastAssignmentConfig(last_assignment_configs_key, last_assignment_configs_value))
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise BadField("tagged fields", "a size is not that of its content")
        return StreamsGroupMetadataValue(epoch, metadata_hash, validated_topology_epoch, last_assignment_configs), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, StreamsGroupMetadataValue, version, buf, start, pos) from None


def encode_streams_group_metadata_value_v0(msg: StreamsGroupMetadataValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        out += pack_iq(msg.epoch, msg.metadata_hash)
        tag_count = 0
        tagged = bytearray()
        if msg.validated_topology_epoch != -1:
            tag_count += 1
            tagged += pack_BBi(0, 4, msg.validated_topology_epoch)
        if msg.last_assignment_configs is None or msg.last_assignment_configs:
            tag_count += 1
            tagged.append(1)
            last_assignment_configs_content = bytearray()
            last_assignment_configs = msg.last_assignment_configs
            if last_assignment_configs is None:
                last_assignment_configs_content.append(0)
            else:
                n = len(last_assignment_configs) + 1
                if n < 0x80:
                    last_assignment_configs_content.append(n)
                else:
                    last_assignment_configs_content += write_uvarint(n)
                for last_assignment_configs_item in last_assignment_configs:
                    raw = last_assignment_configs_item.key.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        last_assignment_configs_content.append(n)
                    else:
                        last_assignment_configs_content += write_string_size(n)
                    last_assignment_configs_content += raw
                    raw = last_assignment_configs_item.value.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        last_assignment_configs_content.append(n)
                    else:
                        last_assignment_configs_content += write_string_size(n)
                    last_assignment_configs_content += raw
                    last_assignment_configs_content.append(0)
            n = len(last_assignment_configs_content)
            if n < 0x80:
                tagged.append(n)
            else:
                tagged += write_uvarint(n)
            tagged += last_assignment_configs_content
        out.append(tag_count)
        out += tagged
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "StreamsGroupMetadataValue", version) from error


def decode_streams_group_member_metadata_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[StreamsGroupMemberMetadataKey, int]:
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
        return StreamsGroupMemberMetadataKey(group_id, member_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, StreamsGroupMemberMetadataKey, version, buf, start, pos) from None


def encode_streams_group_member_metadata_key_v0(msg: StreamsGroupMemberMetadataKey, out: bytearray, version: int = 0) -> None:
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
        raise encode_failure(error, "StreamsGroupMemberMetadataKey", version) from error


def decode_streams_group_member_metadata_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[StreamsGroupMemberMetadataValue, int]:
    start = pos
    n: int
    try:
        room = 45216 - 2 * len(buf)
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
        rebalance_timeout_ms, topology_epoch, n = unpack_iiB(buf, pos)
        if 0 < n < 0x80:
            process_id = buf[pos + 9 : (pos := pos + 8 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 8)
            if n == 0:
                raise BadField("process_id")
            n -= 1
            here = pos
            pos = here + n
            process_id = long_text(buf, here, pos)
        (n,) = unpack_b(buf, pos)
        pos += 1
        user_endpoint: Endpoint | None = None
        if n >= 0:
            n = buf[pos]
            if 0 < n < 0x80:
                user_endpoint_host = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("user_endpoint.host")
                n -= 1
                here = pos
                pos = here + n
                user_endpoint_host = long_text(buf, here, pos)
            user_endpoint_port, n = unpack_HB(buf, pos)
            pos += 3
            if n:
                pos = skip_tags(buf, pos - 1)
            user_endpoint = Endpoint(user_endpoint_host, user_endpoint_port)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        client_tags: list[KeyValue]
        if n < 0:
            raise BadField("client_tags")
        room -= n * 204
        if room < 0:
            room = verify(StreamsGroupMemberMetadataValue, version, buf, start, pos + n)
        client_tags = []
        client_tags_left, client_tags_step = n, 8
        while client_tags_left:
            client_tags_count = client_tags_left
            if client_tags_left >= 8 and RUNS_OF_TEXT:
                run = alike(SHAPE_1, buf, pos, client_tags_left)
                if run is not None:
                    pos, n, rows, absent, is_same = run
                    client_tags_left -= n
                    client_tags += [KeyValue(key.decode(), value_.decode()) for key, value_ in rows]
                    continue
                if client_tags_step < client_tags_left:
                    client_tags_count = client_tags_step
                client_tags_step *= 2
            client_tags_left -= client_tags_count
            for _ in range(client_tags_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    client_tags_key = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("client_tags.key")
                    n -= 1
                    here = pos
                    pos = here + n
                    client_tags_key = long_text(buf, here, pos)
                n = buf[pos]
                if 0 < n < 0x80:
                    client_tags_value = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("client_tags.value")
                    n -= 1
                    here = pos
                    pos = here + n
                    client_tags_value = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                client_tags.append(KeyValue(client_tags_key, client_tags_value))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return StreamsGroupMemberMetadataValue(instance_id, rack_id, client_id, client_host, rebalance_timeout_ms, topology_epoch, process_id, user_endpoint, client_tags), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, StreamsGroupMemberMetadataValue, version, buf, start, pos) from None


def encode_streams_group_member_metadata_value_v0(msg: StreamsGroupMemberMetadataValue, out: bytearray, version: int = 0) -> None:
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
        raw = msg.process_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out += pack_iiB(msg.rebalance_timeout_ms, msg.topology_epoch, n)
        else:
            out += pack_ii(msg.rebalance_timeout_ms, msg.topology_epoch)
            out += write_string_size(n)
        out += raw
        user_endpoint = msg.user_endpoint
        if user_endpoint is None:
            out += pack_b(-1)
        else:
            raw = user_endpoint.host.encode()
            n = len(raw) + 1
            if n < 0x80:
                out += pack_bB(1, n)
            else:
                out += pack_b(1)
                out += write_string_size(n)
            out += raw
            out += pack_Hx(user_endpoint.port)
        client_tags = msg.client_tags
        n = len(client_tags) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for client_tags_item in client_tags:
            raw = client_tags_item.key.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = client_tags_item.value.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "StreamsGroupMemberMetadataValue", version) from error


def decode_streams_group_target_assignment_metadata_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[StreamsGroupTargetAssignmentMetadataKey, int]:
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
        return StreamsGroupTargetAssignmentMetadataKey(group_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, StreamsGroupTargetAssignmentMetadataKey, version, buf, start, pos) from None


def encode_streams_group_target_assignment_metadata_key_v0(msg: StreamsGroupTargetAssignmentMetadataKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "StreamsGroupTargetAssignmentMetadataKey", version) from error


def decode_streams_group_target_assignment_metadata_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[StreamsGroupTargetAssignmentMetadataValue, int]:
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
        return StreamsGroupTargetAssignmentMetadataValue(assignment_epoch, assignment_timestamp), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, StreamsGroupTargetAssignmentMetadataValue, version, buf, start, pos) from None


def encode_streams_group_target_assignment_metadata_value_v0(msg: StreamsGroupTargetAssignmentMetadataValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        out += pack_i(msg.assignment_epoch)
        if msg.assignment_timestamp:
            out += pack_BBBq(1, 0, 8, msg.assignment_timestamp)
        else:
            out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "StreamsGroupTargetAssignmentMetadataValue", version) from error


def decode_streams_group_target_assignment_member_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[StreamsGroupTargetAssignmentMemberKey, int]:
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
        return StreamsGroupTargetAssignmentMemberKey(group_id, member_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, StreamsGroupTargetAssignmentMemberKey, version, buf, start, pos) from None


def encode_streams_group_target_assignment_member_key_v0(msg: StreamsGroupTargetAssignmentMemberKey, out: bytearray, version: int = 0) -> None:
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
        raise encode_failure(error, "StreamsGroupTargetAssignmentMemberKey", version) from error


def decode_streams_group_target_assignment_member_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[StreamsGroupTargetAssignmentMemberValue, int]:
    start = pos
    n: int
    try:
        room = 45712 - 2 * len(buf)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        active_tasks: list[StreamsGroupTargetAssignmentMemberTaskIds]
        if n < 0:
            raise BadField("active_tasks")
        room -= n * 204
        if room < 0:
            room = verify(StreamsGroupTargetAssignmentMemberValue, version, buf, start, pos + n)
        active_tasks = []
        active_tasks_count = n
        for _ in range(active_tasks_count):
            n = buf[pos]
            if 0 < n < 0x80:
                active_tasks_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("active_tasks.subtopology_id")
                n -= 1
                here = pos
                pos = here + n
                active_tasks_subtopology_id = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            active_tasks_partitions: list[int]
            if n < 0:
                raise BadField("active_tasks.partitions")
            room -= n * 40
            if room < 0:
                room = verify(StreamsGroupTargetAssignmentMemberValue, version, buf, start, pos + n)
            active_tasks_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            active_tasks.append(StreamsGroupTargetAssignmentMemberTaskIds(active_tasks_subtopology_id, active_tasks_partitions))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        standby_tasks: list[StreamsGroupTargetAssignmentMemberTaskIds]
        if n < 0:
            raise BadField("standby_tasks")
        room -= n * 204
        if room < 0:
            room = verify(StreamsGroupTargetAssignmentMemberValue, version, buf, start, pos + n)
        standby_tasks = []
        standby_tasks_count = n
        for _ in range(standby_tasks_count):
            n = buf[pos]
            if 0 < n < 0x80:
                standby_tasks_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("standby_tasks.subtopology_id")
                n -= 1
                here = pos
                pos = here + n
                standby_tasks_subtopology_id = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            standby_tasks_partitions: list[int]
            if n < 0:
                raise BadField("standby_tasks.partitions")
            room -= n * 40
            if room < 0:
                room = verify(StreamsGroupTargetAssignmentMemberValue, version, buf, start, pos + n)
            standby_tasks_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            standby_tasks.append(StreamsGroupTargetAssignmentMemberTaskIds(standby_tasks_subtopology_id, standby_tasks_partitions))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        warmup_tasks: list[StreamsGroupTargetAssignmentMemberTaskIds]
        if n < 0:
            raise BadField("warmup_tasks")
        room -= n * 204
        if room < 0:
            room = verify(StreamsGroupTargetAssignmentMemberValue, version, buf, start, pos + n)
        warmup_tasks = []
        warmup_tasks_count = n
        for _ in range(warmup_tasks_count):
            n = buf[pos]
            if 0 < n < 0x80:
                warmup_tasks_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("warmup_tasks.subtopology_id")
                n -= 1
                here = pos
                pos = here + n
                warmup_tasks_subtopology_id = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            warmup_tasks_partitions: list[int]
            if n < 0:
                raise BadField("warmup_tasks.partitions")
            room -= n * 40
            if room < 0:
                room = verify(StreamsGroupTargetAssignmentMemberValue, version, buf, start, pos + n)
            warmup_tasks_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            warmup_tasks.append(StreamsGroupTargetAssignmentMemberTaskIds(warmup_tasks_subtopology_id, warmup_tasks_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return StreamsGroupTargetAssignmentMemberValue(active_tasks, standby_tasks, warmup_tasks), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, StreamsGroupTargetAssignmentMemberValue, version, buf, start, pos) from None


def encode_streams_group_target_assignment_member_value_v0(msg: StreamsGroupTargetAssignmentMemberValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        active_tasks = msg.active_tasks
        n = len(active_tasks) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for active_tasks_item in active_tasks:
            raw = active_tasks_item.subtopology_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            active_tasks_partitions = active_tasks_item.partitions
            n = len(active_tasks_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += pack_i(*active_tasks_partitions) if len(active_tasks_partitions) == 1 else pack(f">{len(active_tasks_partitions)}i", *active_tasks_partitions)
            out.append(0)
        standby_tasks = msg.standby_tasks
        n = len(standby_tasks) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for standby_tasks_item in standby_tasks:
            raw = standby_tasks_item.subtopology_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            standby_tasks_partitions = standby_tasks_item.partitions
            n = len(standby_tasks_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += pack_i(*standby_tasks_partitions) if len(standby_tasks_partitions) == 1 else pack(f">{len(standby_tasks_partitions)}i", *standby_tasks_partitions)
            out.append(0)
        warmup_tasks = msg.warmup_tasks
        n = len(warmup_tasks) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for warmup_tasks_item in warmup_tasks:
            raw = warmup_tasks_item.subtopology_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            warmup_tasks_partitions = warmup_tasks_item.partitions
            n = len(warmup_tasks_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += pack_i(*warmup_tasks_partitions) if len(warmup_tasks_partitions) == 1 else pack(f">{len(warmup_tasks_partitions)}i", *warmup_tasks_partitions)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "StreamsGroupTargetAssignmentMemberValue", version) from error


def decode_streams_group_current_member_assignment_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[StreamsGroupCurrentMemberAssignmentKey, int]:
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
        return StreamsGroupCurrentMemberAssignmentKey(group_id, member_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, StreamsGroupCurrentMemberAssignmentKey, version, buf, start, pos) from None


def encode_streams_group_current_member_assignment_key_v0(msg: StreamsGroupCurrentMemberAssignmentKey, out: bytearray, version: int = 0) -> None:
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
        raise encode_failure(error, "StreamsGroupCurrentMemberAssignmentKey", version) from error


def decode_streams_group_current_member_assignment_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[StreamsGroupCurrentMemberAssignmentValue, int]:
    start = pos
    n: int
    try:
        room = 45328 - 2 * len(buf)
        member_epoch, previous_member_epoch, state, n = unpack_iibB(buf, pos)
        pos += 10
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        active_tasks: list[StreamsGroupCurrentMemberAssignmentTaskIds]
        if n < 0:
            raise BadField("active_tasks")
        room -= n * 300
        if room < 0:
            room = verify(StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
        active_tasks = []
        active_tasks_count = n
        for _ in range(active_tasks_count):
            n = buf[pos]
            if 0 < n < 0x80:
                active_tasks_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("active_tasks.subtopology_id")
                n -= 1
                here = pos
                pos = here + n
                active_tasks_subtopology_id = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            active_tasks_partitions: list[int]
            if n < 0:
                raise BadField("active_tasks.partitions")
            room -= n * 40
            if room < 0:
                room = verify(StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
            active_tasks_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            active_tasks_assignment_epochs: list[int] | None = []
            if n:
                n, pos = read_uvarint(buf, pos - 1)
                active_tasks_tag_count = n
                for _ in range(active_tasks_tag_count):
                    tag, pos = read_uvarint(buf, pos)
                    n, pos = read_uvarint(buf, pos)
                    active_tasks_tag_end = pos + n
                    if active_tasks_tag_end > len(buf):
                        raise IndexError
                    if tag == 0:
                        n = buf[pos]
                        pos += 1
                        if n >= 0x80:
                            n, pos = read_uvarint(buf, pos - 1)
                        n -= 1
                        if n < 0:
                            active_tasks_assignment_epochs = None
                        else:
                            room -= n * 40
                            if room < 0:
                                room = verify(StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
                            active_tasks_assignment_epochs = list(unpack_from(f">{n}i", buf, pos))
                            pos += n * 4
                    else:
                        pos = active_tasks_tag_end
                    if pos != active_tasks_tag_end:
                        raise BadField("active_tasks.tagged fields", "a size is not that of its content")
            active_tasks.append(StreamsGroupCurrentMemberAssignmentTaskIds(active_tasks_subtopology_id, active_tasks_partitions, active_tasks_assignment_epochs))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        standby_tasks: list[StreamsGroupCurrentMemberAssignmentTaskIds]
        if n < 0:
            raise BadField("standby_tasks")
        room -= n * 300
        if room < 0:
            room = verify(StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
        standby_tasks = []
        standby_tasks_count = n
        for _ in range(standby_tasks_count):
            n = buf[pos]
            if 0 < n < 0x80:
                standby_tasks_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("standby_tasks.subtopology_id")
                n -= 1
                here = pos
                pos = here + n
                standby_tasks_subtopology_id = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            standby_tasks_partitions: list[int]
            if n < 0:
                raise BadField("standby_tasks.partitions")
            room -= n * 40
            if room < 0:
                room = verify(StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
            standby_tasks_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            standby_tasks_assignment_epochs: list[int] | None = []
            if n:
                n, pos = read_uvarint(buf, pos - 1)
                standby_tasks_tag_count = n
                for _ in range(standby_tasks_tag_count):
                    tag, pos = read_uvarint(buf, pos)
                    n, pos = read_uvarint(buf, pos)
                    standby_tasks_tag_end = pos + n
                    if standby_tasks_tag_end > len(buf):
                        raise IndexError
                    if tag == 0:
                        n = buf[pos]
                        pos += 1
                        if n >= 0x80:
                            n, pos = read_uvarint(buf, pos - 1)
                        n -= 1
                        if n < 0:
                            standby_tasks_assignment_epochs = None
                        else:
                            room -= n * 40
                            if room < 0:
                                room = verify(StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
                            standby_tasks_assignment_epochs = list(unpack_from(f">{n}i", buf, pos))
                            pos += n * 4
                    else:
                        pos = standby_tasks_tag_end
                    if pos != standby_tasks_tag_end:
                        raise BadField("standby_tasks.tagged fields", "a size is not that of its content")
            standby_tasks.append(StreamsGroupCurrentMemberAssignmentTaskIds(standby_tasks_subtopology_id, standby_tasks_partitions, standby_tasks_assignment_epochs))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        warmup_tasks: list[StreamsGroupCurrentMemberAssignmentTaskIds]
        if n < 0:
            raise BadField("warmup_tasks")
        room -= n * 300
        if room < 0:
            room = verify(StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
        warmup_tasks = []
        warmup_tasks_count = n
        for _ in range(warmup_tasks_count):
            n = buf[pos]
            if 0 < n < 0x80:
                warmup_tasks_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("warmup_tasks.subtopology_id")
                n -= 1
                here = pos
                pos = here + n
                warmup_tasks_subtopology_id = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            warmup_tasks_partitions: list[int]
            if n < 0:
                raise BadField("warmup_tasks.partitions")
            room -= n * 40
            if room < 0:
                room = verify(StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
            warmup_tasks_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            warmup_tasks_assignment_epochs: list[int] | None = []
            if n:
                n, pos = read_uvarint(buf, pos - 1)
                warmup_tasks_tag_count = n
                for _ in range(warmup_tasks_tag_count):
                    tag, pos = read_uvarint(buf, pos)
                    n, pos = read_uvarint(buf, pos)
                    warmup_tasks_tag_end = pos + n
                    if warmup_tasks_tag_end > len(buf):
                        raise IndexError
                    if tag == 0:
                        n = buf[pos]
                        pos += 1
                        if n >= 0x80:
                            n, pos = read_uvarint(buf, pos - 1)
                        n -= 1
                        if n < 0:
                            warmup_tasks_assignment_epochs = None
                        else:
                            room -= n * 40
                            if room < 0:
                                room = verify(StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
                            warmup_tasks_assignment_epochs = list(unpack_from(f">{n}i", buf, pos))
                            pos += n * 4
                    else:
                        pos = warmup_tasks_tag_end
                    if pos != warmup_tasks_tag_end:
                        raise BadField("warmup_tasks.tagged fields", "a size is not that of its content")
            warmup_tasks.append(StreamsGroupCurrentMemberAssignmentTaskIds(warmup_tasks_subtopology_id, warmup_tasks_partitions, warmup_tasks_assignment_epochs))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        active_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentTaskIds]
        if n < 0:
            raise BadField("active_tasks_pending_revocation")
        room -= n * 300
        if room < 0:
            room = verify(StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
        active_tasks_pending_revocation = []
        active_tasks_pending_revocation_count = n
        for _ in range(active_tasks_pending_revocation_count):
            n = buf[pos]
            if 0 < n < 0x80:
                active_tasks_pending_revocation_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("active_tasks_pending_revocation.subtopology_id")
                n -= 1
                here = pos
                pos = here + n
                active_tasks_pending_revocation_subtopology_id = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            active_tasks_pending_revocation_partitions: list[int]
            if n < 0:
                raise BadField("active_tasks_pending_revocation.partitions")
            room -= n * 40
            if room < 0:
                room = verify(StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
            active_tasks_pending_revocation_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            active_tasks_pending_revocation_assignment_epochs: list[int] | None = []
            if n:
                n, pos = read_uvarint(buf, pos - 1)
                active_tasks_pending_revocation_tag_count = n
                for _ in range(active_tasks_pending_revocation_tag_count):
                    tag, pos = read_uvarint(buf, pos)
                    n, pos = read_uvarint(buf, pos)
                    active_tasks_pending_revocation_tag_end = pos + n
                    if active_tasks_pending_revocation_tag_end > len(buf):
                        raise IndexError
                    if tag == 0:
                        n = buf[pos]
                        pos += 1
                        if n >= 0x80:
                            n, pos = read_uvarint(buf, pos - 1)
                        n -= 1
                        if n < 0:
                            active_tasks_pending_revocation_assignment_epochs = None
                        else:
                            room -= n * 40
                            if room < 0:
                                room = verify(StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
                            active_tasks_pending_revocation_assignment_epochs = list(unpack_from(f">{n}i", buf, pos))
                            pos += n * 4
                    else:
                        pos = active_tasks_pending_revocation_tag_end
                    if pos != active_tasks_pending_revocation_tag_end:
                        raise BadField("active_tasks_pending_revocation.tagged fields", "a size is not that of its content")
            active_tasks_pending_revocation.append(StreamsGroupCurrentMemberAssignmentTaskIds(active_tasks_pending_revocation_subtopology_id, active_tasks_pending_revocation_partitions, active_tasks_pending_revocation_assignment_epochs))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        standby_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentTaskIds]
        if n < 0:
            raise BadField("standby_tasks_pending_revocation")
        room -= n * 300
        if room < 0:
            room = verify(StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
        standby_tasks_pending_revocation = []
        standby_tasks_pending_revocation_count = n
        for _ in range(standby_tasks_pending_revocation_count):
            n = buf[pos]
            if 0 < n < 0x80:
                standby_tasks_pending_revocation_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("standby_tasks_pending_revocation.subtopology_id")
                n -= 1
                here = pos
                pos = here + n
                standby_tasks_pending_revocation_subtopology_id = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            standby_tasks_pending_revocation_partitions: list[int]
            if n < 0:
                raise BadField("standby_tasks_pending_revocation.partitions")
            room -= n * 40
            if room < 0:
                room = verify(StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
            standby_tasks_pending_revocation_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            standby_tasks_pending_revocation_assignment_epochs: list[int] | None = []
            if n:
                n, pos = read_uvarint(buf, pos - 1)
                standby_tasks_pending_revocation_tag_count = n
                for _ in range(standby_tasks_pending_revocation_tag_count):
                    tag, pos = read_uvarint(buf, pos)
                    n, pos = read_uvarint(buf, pos)
                    standby_tasks_pending_revocation_tag_end = pos + n
                    if standby_tasks_pending_revocation_tag_end > len(buf):
                        raise IndexError
                    if tag == 0:
                        n = buf[pos]
                        pos += 1
                        if n >= 0x80:
                            n, pos = read_uvarint(buf, pos - 1)
                        n -= 1
                        if n < 0:
                            standby_tasks_pending_revocation_assignment_epochs = None
                        else:
                            room -= n * 40
                            if room < 0:
                                room = verify(StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
                            standby_tasks_pending_revocation_assignment_epochs = list(unpack_from(f">{n}i", buf, pos))
                            pos += n * 4
                    else:
                        pos = standby_tasks_pending_revocation_tag_end
                    if pos != standby_tasks_pending_revocation_tag_end:
                        raise BadField("standby_tasks_pending_revocation.tagged fields", "a size is not that of its content")
            standby_tasks_pending_revocation.append(StreamsGroupCurrentMemberAssignmentTaskIds(standby_tasks_pending_revocation_subtopology_id, standby_tasks_pending_revocation_partitions, standby_tasks_pending_revocation_assignment_epochs))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        warmup_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentTaskIds]
        if n < 0:
            raise BadField("warmup_tasks_pending_revocation")
        room -= n * 300
        if room < 0:
            room = verify(StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
        warmup_tasks_pending_revocation = []
        warmup_tasks_pending_revocation_count = n
        for _ in range(warmup_tasks_pending_revocation_count):
            n = buf[pos]
            if 0 < n < 0x80:
                warmup_tasks_pending_revocation_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("warmup_tasks_pending_revocation.subtopology_id")
                n -= 1
                here = pos
                pos = here + n
                warmup_tasks_pending_revocation_subtopology_id = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            warmup_tasks_pending_revocation_partitions: list[int]
            if n < 0:
                raise BadField("warmup_tasks_pending_revocation.partitions")
            room -= n * 40
            if room < 0:
                room = verify(StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
            warmup_tasks_pending_revocation_partitions = list(unpack_from(f">{n}i", buf, pos))
            pos += n * 4
            n = buf[pos]
            pos += 1
            warmup_tasks_pending_revocation_assignment_epochs: list[int] | None = []
            if n:
                n, pos = read_uvarint(buf, pos - 1)
                warmup_tasks_pending_revocation_tag_count = n
                for _ in range(warmup_tasks_pending_revocation_tag_count):
                    tag, pos = read_uvarint(buf, pos)
                    n, pos = read_uvarint(buf, pos)
                    warmup_tasks_pending_revocation_tag_end = pos + n
                    if warmup_tasks_pending_revocation_tag_end > len(buf):
                        raise IndexError
                    if tag == 0:
                        n = buf[pos]
                        pos += 1
                        if n >= 0x80:
                            n, pos = read_uvarint(buf, pos - 1)
                        n -= 1
                        if n < 0:
                            warmup_tasks_pending_revocation_assignment_epochs = None
                        else:
                            room -= n * 40
                            if room < 0:
                                room = verify(StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos + n)
                            warmup_tasks_pending_revocation_assignment_epochs = list(unpack_from(f">{n}i", buf, pos))
                            pos += n * 4
                    else:
                        pos = warmup_tasks_pending_revocation_tag_end
                    if pos != warmup_tasks_pending_revocation_tag_end:
                        raise BadField("warmup_tasks_pending_revocation.tagged fields", "a size is not that of its content")
            warmup_tasks_pending_revocation.append(StreamsGroupCurrentMemberAssignmentTaskIds(warmup_tasks_pending_revocation_subtopology_id, warmup_tasks_pending_revocation_partitions, warmup_tasks_pending_revocation_assignment_epochs))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return StreamsGroupCurrentMemberAssignmentValue(member_epoch, previous_member_epoch, state, active_tasks, standby_tasks, warmup_tasks, active_tasks_pending_revocation, standby_tasks_pending_revocation, warmup_tasks_pending_revocation), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, StreamsGroupCurrentMemberAssignmentValue, version, buf, start, pos) from None


def encode_streams_group_current_member_assignment_value_v0(msg: StreamsGroupCurrentMemberAssignmentValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        active_tasks = msg.active_tasks
        n = len(active_tasks) + 1
        if n < 0x80:
            out += pack_iibB(msg.member_epoch, msg.previous_member_epoch, msg.state, n)
        else:
            out += pack_iib(msg.member_epoch, msg.previous_member_epoch, msg.state)
            out += write_uvarint(n)
        for active_tasks_item in active_tasks:
            raw = active_tasks_item.subtopology_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            active_tasks_partitions = active_tasks_item.partitions
            n = len(active_tasks_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += pack_i(*active_tasks_partitions) if len(active_tasks_partitions) == 1 else pack(f">{len(active_tasks_partitions)}i", *active_tasks_partitions)
            if active_tasks_item.assignment_epochs is None or active_tasks_item.assignment_epochs:
                active_tasks_assignment_epochs = active_tasks_item.assignment_epochs
                if active_tasks_assignment_epochs is None:
                    out += pack_BBBB(1, 0, 1, 0)
                else:
                    n = len(active_tasks_assignment_epochs) + 1
                    if n <= 32:
                        out += pack_BBBB(1, 0, 4 * n - 3, n)
                    else:
                        out += pack_BB(1, 0)
                        raw = write_uvarint(n)
                        out += write_uvarint(len(raw) + (n - 1) * 4)
                        out += raw
                    out += pack_i(*active_tasks_assignment_epochs) if len(active_tasks_assignment_epochs) == 1 else pack(f">{len(active_tasks_assignment_epochs)}i", *active_tasks_assignment_epochs)
            else:
                out.append(0)
        standby_tasks = msg.standby_tasks
        n = len(standby_tasks) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for standby_tasks_item in standby_tasks:
            raw = standby_tasks_item.subtopology_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            standby_tasks_partitions = standby_tasks_item.partitions
            n = len(standby_tasks_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += pack_i(*standby_tasks_partitions) if len(standby_tasks_partitions) == 1 else pack(f">{len(standby_tasks_partitions)}i", *standby_tasks_partitions)
            if standby_tasks_item.assignment_epochs is None or standby_tasks_item.assignment_epochs:
                standby_tasks_assignment_epochs = standby_tasks_item.assignment_epochs
                if standby_tasks_assignment_epochs is None:
                    out += pack_BBBB(1, 0, 1, 0)
                else:
                    n = len(standby_tasks_assignment_epochs) + 1
                    if n <= 32:
                        out += pack_BBBB(1, 0, 4 * n - 3, n)
                    else:
                        out += pack_BB(1, 0)
                        raw = write_uvarint(n)
                        out += write_uvarint(len(raw) + (n - 1) * 4)
                        out += raw
                    out += pack_i(*standby_tasks_assignment_epochs) if len(standby_tasks_assignment_epochs) == 1 else pack(f">{len(standby_tasks_assignment_epochs)}i", *standby_tasks_assignment_epochs)
            else:
                out.append(0)
        warmup_tasks = msg.warmup_tasks
        n = len(warmup_tasks) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for warmup_tasks_item in warmup_tasks:
            raw = warmup_tasks_item.subtopology_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            warmup_tasks_partitions = warmup_tasks_item.partitions
            n = len(warmup_tasks_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += pack_i(*warmup_tasks_partitions) if len(warmup_tasks_partitions) == 1 else pack(f">{len(warmup_tasks_partitions)}i", *warmup_tasks_partitions)
            if warmup_tasks_item.assignment_epochs is None or warmup_tasks_item.assignment_epochs:
                warmup_tasks_assignment_epochs = warmup_tasks_item.assignment_epochs
                if warmup_tasks_assignment_epochs is None:
                    out += pack_BBBB(1, 0, 1, 0)
                else:
                    n = len(warmup_tasks_assignment_epochs) + 1
                    if n <= 32:
                        out += pack_BBBB(1, 0, 4 * n - 3, n)
                    else:
                        out += pack_BB(1, 0)
                        raw = write_uvarint(n)
                        out += write_uvarint(len(raw) + (n - 1) * 4)
                        out += raw
                    out += pack_i(*warmup_tasks_assignment_epochs) if len(warmup_tasks_assignment_epochs) == 1 else pack(f">{len(warmup_tasks_assignment_epochs)}i", *warmup_tasks_assignment_epochs)
            else:
                out.append(0)
        active_tasks_pending_revocation = msg.active_tasks_pending_revocation
        n = len(active_tasks_pending_revocation) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for active_tasks_pending_revocation_item in active_tasks_pending_revocation:
            raw = active_tasks_pending_revocation_item.subtopology_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            active_tasks_pending_revocation_partitions = active_tasks_pending_revocation_item.partitions
            n = len(active_tasks_pending_revocation_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += pack_i(*active_tasks_pending_revocation_partitions) if len(active_tasks_pending_revocation_partitions) == 1 else pack(f">{len(active_tasks_pending_revocation_partitions)}i", *active_tasks_pending_revocation_partitions)
            if active_tasks_pending_revocation_item.assignment_epochs is None or active_tasks_pending_revocation_item.assignment_epochs:
                active_tasks_pending_revocation_assignment_epochs = active_tasks_pending_revocation_item.assignment_epochs
                if active_tasks_pending_revocation_assignment_epochs is None:
                    out += pack_BBBB(1, 0, 1, 0)
                else:
                    n = len(active_tasks_pending_revocation_assignment_epochs) + 1
                    if n <= 32:
                        out += pack_BBBB(1, 0, 4 * n - 3, n)
                    else:
                        out += pack_BB(1, 0)
                        raw = write_uvarint(n)
                        out += write_uvarint(len(raw) + (n - 1) * 4)
                        out += raw
                    out += pack_i(*active_tasks_pending_revocation_assignment_epochs) if len(active_tasks_pending_revocation_assignment_epochs) == 1 else pack(f">{len(active_tasks_pending_revocation_assignment_epochs)}i", *active_tasks_pending_revocation_assignment_epochs)
            else:
                out.append(0)
        standby_tasks_pending_revocation = msg.standby_tasks_pending_revocation
        n = len(standby_tasks_pending_revocation) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for standby_tasks_pending_revocation_item in standby_tasks_pending_revocation:
            raw = standby_tasks_pending_revocation_item.subtopology_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            standby_tasks_pending_revocation_partitions = standby_tasks_pending_revocation_item.partitions
            n = len(standby_tasks_pending_revocation_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += pack_i(*standby_tasks_pending_revocation_partitions) if len(standby_tasks_pending_revocation_partitions) == 1 else pack(f">{len(standby_tasks_pending_revocation_partitions)}i", *standby_tasks_pending_revocation_partitions)
            if standby_tasks_pending_revocation_item.assignment_epochs is None or standby_tasks_pending_revocation_item.assignment_epochs:
                standby_tasks_pending_revocation_assignment_epochs = standby_tasks_pending_revocation_item.assignment_epochs
                if standby_tasks_pending_revocation_assignment_epochs is None:
                    out += pack_BBBB(1, 0, 1, 0)
                else:
                    n = len(standby_tasks_pending_revocation_assignment_epochs) + 1
                    if n <= 32:
                        out += pack_BBBB(1, 0, 4 * n - 3, n)
                    else:
                        out += pack_BB(1, 0)
                        raw = write_uvarint(n)
                        out += write_uvarint(len(raw) + (n - 1) * 4)
                        out += raw
                    out += pack_i(*standby_tasks_pending_revocation_assignment_epochs) if len(standby_tasks_pending_revocation_assignment_epochs) == 1 else pack(f">{len(standby_tasks_pending_revocation_assignment_epochs)}i", *standby_tasks_pending_revocation_assignment_epochs)
            else:
                out.append(0)
        warmup_tasks_pending_revocation = msg.warmup_tasks_pending_revocation
        n = len(warmup_tasks_pending_revocation) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for warmup_tasks_pending_revocation_item in warmup_tasks_pending_revocation:
            raw = warmup_tasks_pending_revocation_item.subtopology_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            warmup_tasks_pending_revocation_partitions = warmup_tasks_pending_revocation_item.partitions
            n = len(warmup_tasks_pending_revocation_partitions) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            out += pack_i(*warmup_tasks_pending_revocation_partitions) if len(warmup_tasks_pending_revocation_partitions) == 1 else pack(f">{len(warmup_tasks_pending_revocation_partitions)}i", *warmup_tasks_pending_revocation_partitions)
            if warmup_tasks_pending_revocation_item.assignment_epochs is None or warmup_tasks_pending_revocation_item.assignment_epochs:
                warmup_tasks_pending_revocation_assignment_epochs = warmup_tasks_pending_revocation_item.assignment_epochs
                if warmup_tasks_pending_revocation_assignment_epochs is None:
                    out += pack_BBBB(1, 0, 1, 0)
                else:
                    n = len(warmup_tasks_pending_revocation_assignment_epochs) + 1
                    if n <= 32:
                        out += pack_BBBB(1, 0, 4 * n - 3, n)
                    else:
                        out += pack_BB(1, 0)
                        raw = write_uvarint(n)
                        out += write_uvarint(len(raw) + (n - 1) * 4)
                        out += raw
                    out += pack_i(*warmup_tasks_pending_revocation_assignment_epochs) if len(warmup_tasks_pending_revocation_assignment_epochs) == 1 else pack(f">{len(warmup_tasks_pending_revocation_assignment_epochs)}i", *warmup_tasks_pending_revocation_assignment_epochs)
            else:
                out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "StreamsGroupCurrentMemberAssignmentValue", version) from error


def decode_streams_group_topology_key_v0(buf: bytes, pos: int, version: int = 0) -> tuple[StreamsGroupTopologyKey, int]:
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
        return StreamsGroupTopologyKey(group_id), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, StreamsGroupTopologyKey, version, buf, start, pos) from None


def encode_streams_group_topology_key_v0(msg: StreamsGroupTopologyKey, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        raw = msg.group_id.encode()
        out += pack_h(len(raw))
        out += raw
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "StreamsGroupTopologyKey", version) from error


def decode_streams_group_topology_value_v0(buf: bytes, pos: int, version: int = 0) -> tuple[StreamsGroupTopologyValue, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        epoch, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        subtopologies: list[Subtopology]
        if n < 0:
            raise BadField("subtopologies")
        room -= n * 632
        if room < 0:
            room = verify(StreamsGroupTopologyValue, version, buf, start, pos + n)
        subtopologies = []
        subtopologies_count = n
        for _ in range(subtopologies_count):
            n = buf[pos]
            if 0 < n < 0x80:
                subtopologies_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("subtopologies.subtopology_id")
                n -= 1
                here = pos
                pos = here + n
                subtopologies_subtopology_id = long_text(buf, here, pos)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            subtopologies_source_topics: list[str]
            if n < 0:
                raise BadField("subtopologies.source_topics")
            room -= n * 100
            if room < 0:
                room = verify(StreamsGroupTopologyValue, version, buf, start, pos + n)
            subtopologies_source_topics = []
            subtopologies_source_topics_count = n
            for _ in range(subtopologies_source_topics_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    subtopologies_source_topics_item = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("subtopologies.source_topics.item")
                    n -= 1
                    here = pos
                    pos = here + n
                    subtopologies_source_topics_item = long_text(buf, here, pos)
                subtopologies_source_topics.append(subtopologies_source_topics_item)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            subtopologies_source_topic_regex: list[str]
            if n < 0:
                raise BadField("subtopologies.source_topic_regex")
            room -= n * 100
            if room < 0:
                room = verify(StreamsGroupTopologyValue, version, buf, start, pos + n)
            subtopologies_source_topic_regex = []
            subtopologies_source_topic_regex_count = n
            for _ in range(subtopologies_source_topic_regex_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    subtopologies_source_topic_regex_item = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("subtopologies.source_topic_regex.item")
                    n -= 1
                    here = pos
                    pos = here + n
                    subtopologies_source_topic_regex_item = long_text(buf, here, pos)
                subtopologies_source_topic_regex.append(subtopologies_source_topic_regex_item)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            subtopologies_state_changelog_topics: list[TopicInfo]
            if n < 0:
                raise BadField("subtopologies.state_changelog_topics")
            room -= n * 260
            if room < 0:
                room = verify(StreamsGroupTopologyValue, version, buf, start, pos + n)
            subtopologies_state_changelog_topics = []
            subtopologies_state_changelog_topics_count = n
            for _ in range(subtopologies_state_changelog_topics_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    subtopologies_state_changelog_topics_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("subtopologies.state_changelog_topics.name")
                    n -= 1
                    here = pos
                    pos = here + n
                    subtopologies_state_changelog_topics_name = long_text(buf, here, pos)
                subtopologies_state_changelog_topics_partitions, subtopologies_state_changelog_topics_replication_factor, n = unpack_ihB(buf, pos)
                pos += 7
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                subtopologies_state_changelog_topics_topic_configs: list[TopicConfig]
                if n < 0:
                    raise BadField("subtopologies.state_changelog_topics.topic_configs")
                room -= n * 204
                if room < 0:
                    room = verify(StreamsGroupTopologyValue, version, buf, start, pos + n)
                subtopologies_state_changelog_topics_topic_configs = []
                subtopologies_state_changelog_topics_topic_configs_left, subtopologies_state_changelog_topics_topic_configs_step = n, 8
                while subtopologies_state_changelog_topics_topic_configs_left:
                    subtopologies_state_changelog_topics_topic_configs_count = subtopologies_state_changelog_topics_topic_configs_left
                    if subtopologies_state_changelog_topics_topic_configs_left >= 8 and RUNS_OF_TEXT:
                        run = alike(SHAPE_1, buf, pos, subtopologies_state_changelog_topics_topic_configs_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            subtopologies_state_changelog_topics_topic_configs_left -= n
                            subtopologies_state_changelog_topics_topic_configs += [TopicConfig(key.decode(), value_.decode()) for key, value_ in rows]
                            continue
                        if subtopologies_state_changelog_topics_topic_configs_step < subtopologies_state_changelog_topics_topic_configs_left:
                            subtopologies_state_changelog_topics_topic_configs_count = subtopologies_state_changelog_topics_topic_configs_step
                        subtopologies_state_changelog_topics_topic_configs_step *= 2
                    subtopologies_state_changelog_topics_topic_configs_left -= subtopologies_state_changelog_topics_topic_configs_count
                    for _ in range(subtopologies_state_changelog_topics_topic_configs_count):
                        n = buf[pos]
                        if 0 < n < 0x80:
                            subtopologies_state_changelog_topics_topic_configs_key = buf[pos + 1 : (pos := pos + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos)
                            if n == 0:
                                raise BadField("subtopologies.state_changelog_topics.topic_configs.key")
                            n -= 1
                            here = pos
                            pos = here + n
                            subtopologies_state_changelog_topics_topic_configs_key = long_text(buf, here, pos)
                        n = buf[pos]
                        if 0 < n < 0x80:
                            subtopologies_state_changelog_topics_topic_configs_value = buf[pos + 1 : (pos := pos + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos)
                            if n == 0:
                                raise BadField("subtopologies.state_changelog_topics.topic_configs.value")
                            n -= 1
                            here = pos
                            pos = here + n
                            subtopologies_state_changelog_topics_topic_configs_value = long_text(buf, here, pos)
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        subtopologies_state_changelog_topics_topic_configs.append(TopicConfig(subtopologies_state_changelog_topics_topic_configs_key, subtopologies_state_changelog_topics_topic_configs_value))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                subtopologies_state_changelog_topics.append(TopicInfo(subtopologies_state_changelog_topics_name, subtopologies_state_changelog_topics_partitions, subtopologies_state_changelog_topics_replication_factor, subtopologies_state_changelog_topics_topic_configs))
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            subtopologies_repartition_sink_topics: list[str]
            if n < 0:
                raise BadField("subtopologies.repartition_sink_topics")
            room -= n * 100
            if room < 0:
                room = verify(StreamsGroupTopologyValue, version, buf, start, pos + n)
            subtopologies_repartition_sink_topics = []
            subtopologies_repartition_sink_topics_count = n
            for _ in range(subtopologies_repartition_sink_topics_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    subtopologies_repartition_sink_topics_item = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("subtopologies.repartition_sink_topics.item")
                    n -= 1
                    here = pos
                    pos = here + n
                    subtopologies_repartition_sink_topics_item = long_text(buf, here, pos)
                subtopologies_repartition_sink_topics.append(subtopologies_repartition_sink_topics_item)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            subtopologies_repartition_source_topics: list[TopicInfo]
            if n < 0:
                raise BadField("subtopologies.repartition_source_topics")
            room -= n * 260
            if room < 0:
                room = verify(StreamsGroupTopologyValue, version, buf, start, pos + n)
            subtopologies_repartition_source_topics = []
            subtopologies_repartition_source_topics_count = n
            for _ in range(subtopologies_repartition_source_topics_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    subtopologies_repartition_source_topics_name = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("subtopologies.repartition_source_topics.name")
                    n -= 1
                    here = pos
                    pos = here + n
                    subtopologies_repartition_source_topics_name = long_text(buf, here, pos)
                subtopologies_repartition_source_topics_partitions, subtopologies_repartition_source_topics_replication_factor, n = unpack_ihB(buf, pos)
                pos += 7
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                subtopologies_repartition_source_topics_topic_configs: list[TopicConfig]
                if n < 0:
                    raise BadField("subtopologies.repartition_source_topics.topic_configs")
                room -= n * 204
                if room < 0:
                    room = verify(StreamsGroupTopologyValue, version, buf, start, pos + n)
                subtopologies_repartition_source_topics_topic_configs = []
                subtopologies_repartition_source_topics_topic_configs_left, subtopologies_repartition_source_topics_topic_configs_step = n, 8
                while subtopologies_repartition_source_topics_topic_configs_left:
                    subtopologies_repartition_source_topics_topic_configs_count = subtopologies_repartition_source_topics_topic_configs_left
                    if subtopologies_repartition_source_topics_topic_configs_left >= 8 and RUNS_OF_TEXT:
                        run = alike(SHAPE_1, buf, pos, subtopologies_repartition_source_topics_topic_configs_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            subtopologies_repartition_source_topics_topic_configs_left -= n
                            subtopologies_repartition_source_topics_topic_configs += [TopicConfig(key.decode(), value_.decode()) for key, value_ in rows]
                            continue
                        if subtopologies_repartition_source_topics_topic_configs_step < subtopologies_repartition_source_topics_topic_configs_left:
                            subtopologies_repartition_source_topics_topic_configs_count = subtopologies_repartition_source_topics_topic_configs_step
                        subtopologies_repartition_source_topics_topic_configs_step *= 2
                    subtopologies_repartition_source_topics_topic_configs_left -= subtopologies_repartition_source_topics_topic_configs_count
                    for _ in range(subtopologies_repartition_source_topics_topic_configs_count):
                        n = buf[pos]
                        if 0 < n < 0x80:
                            subtopologies_repartition_source_topics_topic_configs_key = buf[pos + 1 : (pos := pos + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos)
                            if n == 0:
                                raise BadField("subtopologies.repartition_source_topics.topic_configs.key")
                            n -= 1
                            here = pos
                            pos = here + n
                            subtopologies_repartition_source_topics_topic_configs_key = long_text(buf, here, pos)
                        n = buf[pos]
                        if 0 < n < 0x80:
                            subtopologies_repartition_source_topics_topic_configs_value = buf[pos + 1 : (pos := pos + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos)
                            if n == 0:
                                raise BadField("subtopologies.repartition_source_topics.topic_configs.value")
                            n -= 1
                            here = pos
                            pos = here + n
                            subtopologies_repartition_source_topics_topic_configs_value = long_text(buf, here, pos)
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        subtopologies_repartition_source_topics_topic_configs.append(TopicConfig(subtopologies_repartition_source_topics_topic_configs_key, subtopologies_repartition_source_topics_topic_configs_value))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                subtopologies_repartition_source_topics.append(TopicInfo(subtopologies_repartition_source_topics_name, subtopologies_repartition_source_topics_partitions, subtopologies_repartition_source_topics_replication_factor, subtopologies_repartition_source_topics_topic_configs))
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            subtopologies_copartition_groups: list[CopartitionGroup]
            if n < 0:
                raise BadField("subtopologies.copartition_groups")
            room -= n * 296
            if room < 0:
                room = verify(StreamsGroupTopologyValue, version, buf, start, pos + n)
            subtopologies_copartition_groups = []
            subtopologies_copartition_groups_count = n
            for _ in range(subtopologies_copartition_groups_count):
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                subtopologies_copartition_groups_source_topics: list[int]
                if n < 0:
                    raise BadField("subtopologies.copartition_groups.source_topics")
                room -= n * 48
                if room < 0:
                    room = verify(StreamsGroupTopologyValue, version, buf, start, pos + n)
                subtopologies_copartition_groups_source_topics = list(unpack_from(f">{n}h", buf, pos))
                pos += n * 2
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                subtopologies_copartition_groups_source_topic_regex: list[int]
                if n < 0:
                    raise BadField("subtopologies.copartition_groups.source_topic_regex")
                room -= n * 48
                if room < 0:
                    room = verify(StreamsGroupTopologyValue, version, buf, start, pos + n)
                subtopologies_copartition_groups_source_topic_regex = list(unpack_from(f">{n}h", buf, pos))
                pos += n * 2
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                subtopologies_copartition_groups_repartition_source_topics: list[int]
                if n < 0:
                    raise BadField("subtopologies.copartition_groups.repartition_source_topics")
                room -= n * 48
                if room < 0:
                    room = verify(StreamsGroupTopologyValue, version, buf, start, pos + n)
                subtopologies_copartition_groups_repartition_source_topics = list(unpack_from(f">{n}h", buf, pos))
                pos += n * 2
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                subtopologies_copartition_groups.append(CopartitionGroup(subtopologies_copartition_groups_source_topics, subtopologies_copartition_groups_source_topic_regex, subtopologies_copartition_groups_repartition_source_topics))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            subtopologies.append(Subtopology(subtopologies_subtopology_id, subtopologies_source_topics, subtopologies_source_topic_regex, subtopologies_state_changelog_topics, subtopologies_repartition_sink_topics, subtopologies_repartition_source_topics, subtopologies_copartition_groups))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return StreamsGroupTopologyValue(epoch, subtopologies), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, StreamsGroupTopologyValue, version, buf, start, pos) from None


def encode_streams_group_topology_value_v0(msg: StreamsGroupTopologyValue, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        subtopologies = msg.subtopologies
        n = len(subtopologies) + 1
        if n < 0x80:
            out += pack_iB(msg.epoch, n)
        else:
            out += pack_i(msg.epoch)
            out += write_uvarint(n)
        for subtopologies_item in subtopologies:
            raw = subtopologies_item.subtopology_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            subtopologies_source_topics = subtopologies_item.source_topics
            n = len(subtopologies_source_topics) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for subtopologies_source_topics_item in subtopologies_source_topics:
                raw = subtopologies_source_topics_item.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
            subtopologies_source_topic_regex = subtopologies_item.source_topic_regex
            n = len(subtopologies_source_topic_regex) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for subtopologies_source_topic_regex_item in subtopologies_source_topic_regex:
                raw = subtopologies_source_topic_regex_item.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
            subtopologies_state_changelog_topics = subtopologies_item.state_changelog_topics
            n = len(subtopologies_state_changelog_topics) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for subtopologies_state_changelog_topics_item in subtopologies_state_changelog_topics:
                raw = subtopologies_state_changelog_topics_item.name.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                subtopologies_state_changelog_topics_topic_configs = subtopologies_state_changelog_topics_item.topic_configs
                n = len(subtopologies_state_changelog_topics_topic_configs) + 1
                if n < 0x80:
                    out += pack_ihB(subtopologies_state_changelog_topics_item.partitions, subtopologies_state_changelog_topics_item.replication_factor, n)
                else:
                    out += pack_ih(subtopologies_state_changelog_topics_item.partitions, subtopologies_state_changelog_topics_item.replication_factor)
                    out += write_uvarint(n)
                for subtopologies_state_changelog_topics_topic_configs_item in subtopologies_state_changelog_topics_topic_configs:
                    raw = subtopologies_state_changelog_topics_topic_configs_item.key.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    raw = subtopologies_state_changelog_topics_topic_configs_item.value.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    out.append(0)
                out.append(0)
            subtopologies_repartition_sink_topics = subtopologies_item.repartition_sink_topics
            n = len(subtopologies_repartition_sink_topics) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for subtopologies_repartition_sink_topics_item in subtopologies_repartition_sink_topics:
                raw = subtopologies_repartition_sink_topics_item.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
            subtopologies_repartition_source_topics = subtopologies_item.repartition_source_topics
            n = len(subtopologies_repartition_source_topics) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for subtopologies_repartition_source_topics_item in subtopologies_repartition_source_topics:
                raw = subtopologies_repartition_source_topics_item.name.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                subtopologies_repartition_source_topics_topic_configs = subtopologies_repartition_source_topics_item.topic_configs
                n = len(subtopologies_repartition_source_topics_topic_configs) + 1
                if n < 0x80:
                    out += pack_ihB(subtopologies_repartition_source_topics_item.partitions, subtopologies_repartition_source_topics_item.replication_factor, n)
                else:
                    out += pack_ih(subtopologies_repartition_source_topics_item.partitions, subtopologies_repartition_source_topics_item.replication_factor)
                    out += write_uvarint(n)
                for subtopologies_repartition_source_topics_topic_configs_item in subtopologies_repartition_source_topics_topic_configs:
                    raw = subtopologies_repartition_source_topics_topic_configs_item.key.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    raw = subtopologies_repartition_source_topics_topic_configs_item.value.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    out.append(0)
                out.append(0)
            subtopologies_copartition_groups = subtopologies_item.copartition_groups
            n = len(subtopologies_copartition_groups) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for subtopologies_copartition_groups_item in subtopologies_copartition_groups:
                subtopologies_copartition_groups_source_topics = subtopologies_copartition_groups_item.source_topics
                n = len(subtopologies_copartition_groups_source_topics) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_h(*subtopologies_copartition_groups_source_topics) if len(subtopologies_copartition_groups_source_topics) == 1 else pack(f">{len(subtopologies_copartition_groups_source_topics)}h", *subtopologies_copartition_groups_source_topics)
                subtopologies_copartition_groups_source_topic_regex = subtopologies_copartition_groups_item.source_topic_regex
                n = len(subtopologies_copartition_groups_source_topic_regex) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_h(*subtopologies_copartition_groups_source_topic_regex) if len(subtopologies_copartition_groups_source_topic_regex) == 1 else pack(f">{len(subtopologies_copartition_groups_source_topic_regex)}h", *subtopologies_copartition_groups_source_topic_regex)
                subtopologies_copartition_groups_repartition_source_topics = subtopologies_copartition_groups_item.repartition_source_topics
                n = len(subtopologies_copartition_groups_repartition_source_topics) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                out += pack_h(*subtopologies_copartition_groups_repartition_source_topics) if len(subtopologies_copartition_groups_repartition_source_topics) == 1 else pack(f">{len(subtopologies_copartition_groups_repartition_source_topics)}h", *subtopologies_copartition_groups_repartition_source_topics)
                out.append(0)
            out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "StreamsGroupTopologyValue", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    StreamsGroupMetadataKey: {
        0: decode_streams_group_metadata_key_v0,
    },
    StreamsGroupMetadataValue: {
        0: decode_streams_group_metadata_value_v0,
    },
    StreamsGroupMemberMetadataKey: {
        0: decode_streams_group_member_metadata_key_v0,
    },
    StreamsGroupMemberMetadataValue: {
        0: decode_streams_group_member_metadata_value_v0,
    },
    StreamsGroupTargetAssignmentMetadataKey: {
        0: decode_streams_group_target_assignment_metadata_key_v0,
    },
    StreamsGroupTargetAssignmentMetadataValue: {
        0: decode_streams_group_target_assignment_metadata_value_v0,
    },
    StreamsGroupTargetAssignmentMemberKey: {
        0: decode_streams_group_target_assignment_member_key_v0,
    },
    StreamsGroupTargetAssignmentMemberValue: {
        0: decode_streams_group_target_assignment_member_value_v0,
    },
    StreamsGroupCurrentMemberAssignmentKey: {
        0: decode_streams_group_current_member_assignment_key_v0,
    },
    StreamsGroupCurrentMemberAssignmentValue: {
        0: decode_streams_group_current_member_assignment_value_v0,
    },
    StreamsGroupTopologyKey: {
        0: decode_streams_group_topology_key_v0,
    },
    StreamsGroupTopologyValue: {
        0: decode_streams_group_topology_value_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    StreamsGroupMetadataKey: {
        0: encode_streams_group_metadata_key_v0,
    },
    StreamsGroupMetadataValue: {
        0: encode_streams_group_metadata_value_v0,
    },
    StreamsGroupMemberMetadataKey: {
        0: encode_streams_group_member_metadata_key_v0,
    },
    StreamsGroupMemberMetadataValue: {
        0: encode_streams_group_member_metadata_value_v0,
    },
    StreamsGroupTargetAssignmentMetadataKey: {
        0: encode_streams_group_target_assignment_metadata_key_v0,
    },
    StreamsGroupTargetAssignmentMetadataValue: {
        0: encode_streams_group_target_assignment_metadata_value_v0,
    },
    StreamsGroupTargetAssignmentMemberKey: {
        0: encode_streams_group_target_assignment_member_key_v0,
    },
    StreamsGroupTargetAssignmentMemberValue: {
        0: encode_streams_group_target_assignment_member_value_v0,
    },
    StreamsGroupCurrentMemberAssignmentKey: {
        0: encode_streams_group_current_member_assignment_key_v0,
    },
    StreamsGroupCurrentMemberAssignmentValue: {
        0: encode_streams_group_current_member_assignment_value_v0,
    },
    StreamsGroupTopologyKey: {
        0: encode_streams_group_topology_key_v0,
    },
    StreamsGroupTopologyValue: {
        0: encode_streams_group_topology_value_v0,
    },
}
