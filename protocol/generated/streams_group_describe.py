"""Codecs of protocol/messages/streams_group_describe.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import unpack_HB, unpack_b, unpack_hB, unpack_iB, unpack_ihB, unpack_iib, unpack_iqB, unpack_zB
from protocol.messages.streams_group_describe import (
    Assignment,
    DescribedGroup,
    Endpoint,
    KeyValue,
    Member,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
    Subtopology,
    TaskIds,
    TaskOffset,
    TopicInfo,
    Topology,
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
SHAPE_2 = Shape("iqx", 13, Field("", 0, 1, False, ""))
pack_zx = Struct(">?x").pack
pack_Biqx = Struct(">Biqx").pack
pack_Hx = Struct(">Hx").pack
pack_b = Struct(">b").pack
pack_bB = Struct(">bB").pack
pack_h = Struct(">h").pack
pack_hB = Struct(">hB").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_iib = Struct(">iib").pack
pack_iibi = Struct(">iibi").pack
pack_iibiB = Struct(">iibiB").pack
pack_iibix = Struct(">iibix").pack
pack_iqx = Struct(">iqx").pack
pack_ix = Struct(">ix").pack
pack_xzx = Struct(">x?x").pack
pack_xB = Struct(">xB").pack


def decode_streams_group_describe_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[StreamsGroupDescribeRequest, int]:
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
        group_ids: list[str]
        if n < 0:
            raise BadField("group_ids")
        room -= n * 100
        if room < 0:
            room, limit = verify(StreamsGroupDescribeRequest, version, buf, start, pos + n, limit - n * 100), 0
        group_ids = []
        group_ids_count = n
        for _ in range(group_ids_count):
            n = buf[pos]
            if 0 < n < 0x80:
                group_ids_item = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("group_ids.item")
                n -= 1
                here = pos
                pos = here + n
                group_ids_item = long_text(buf, here, pos)
            group_ids.append(group_ids_item)
        include_authorized_operations, n = unpack_zB(buf, pos)
        pos += 2
        if n:
            pos = skip_tags(buf, pos - 1)
        return StreamsGroupDescribeRequest(group_ids, include_authorized_operations), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, StreamsGroupDescribeRequest, version, buf, start, pos) from None


def encode_streams_group_describe_request_v0(msg: StreamsGroupDescribeRequest, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        group_ids = msg.group_ids
        n = len(group_ids) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_uvarint(n)
        for group_ids_item in group_ids:
            raw = group_ids_item.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
        out += pack_zx(msg.include_authorized_operations)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "StreamsGroupDescribeRequest", version) from error


def decode_streams_group_describe_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[StreamsGroupDescribeResponse, int]:
    start = pos
    n: int
    try:
        room = 45856 - 2 * len(buf)
        throttle_time_ms, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        groups: list[DescribedGroup]
        if n < 0:
            raise BadField("groups")
        room -= n * 632
        if room < 0:
            room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
        groups = []
        groups_count = n
        for _ in range(groups_count):
            groups_error_message: str | None
            groups_error_code, n = unpack_hB(buf, pos)
            if not n:
                groups_error_message = None
                pos += 3
            elif n == 1:
                groups_error_message = ""
                pos += 3
            elif n < 0x80:
                groups_error_message = buf[pos + 3 : (pos := pos + 2 + n)].decode()
            else:
                n, pos = read_string_size(buf, pos + 2)
                if n:
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_error_message = long_text(buf, here, pos)
                else:
                    groups_error_message = None
            n = buf[pos]
            if 0 < n < 0x80:
                groups_group_id = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("groups.group_id")
                n -= 1
                here = pos
                pos = here + n
                groups_group_id = long_text(buf, here, pos)
            n = buf[pos]
            if 0 < n < 0x80:
                groups_group_state = buf[pos + 1 : (pos := pos + n)].decode()
            else:
                n, pos = read_string_size(buf, pos)
                if n == 0:
                    raise BadField("groups.group_state")
                n -= 1
                here = pos
                pos = here + n
                groups_group_state = long_text(buf, here, pos)
            groups_group_epoch, groups_assignment_epoch, n = unpack_iib(buf, pos)
            pos += 9
            groups_topology: Topology | None = None
            if n >= 0:
                groups_topology_epoch, n = unpack_iB(buf, pos)
                pos += 5
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                groups_topology_subtopologies: list[Subtopology] | None
                if n < 0:
                    groups_topology_subtopologies = None
                else:
                    room -= n * 464
                    if room < 0:
                        room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                    groups_topology_subtopologies = []
                    groups_topology_subtopologies_count = n
                    for _ in range(groups_topology_subtopologies_count):
                        n = buf[pos]
                        if 0 < n < 0x80:
                            groups_topology_subtopologies_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos)
                            if n == 0:
                                raise BadField("groups.topology.subtopologies.subtopology_id")
                            n -= 1
                            here = pos
                            pos = here + n
                            groups_topology_subtopologies_subtopology_id = long_text(buf, here, pos)
                        n = buf[pos]
                        pos += 1
                        if n >= 0x80:
                            n, pos = read_uvarint(buf, pos - 1)
                        n -= 1
                        groups_topology_subtopologies_source_topics: list[str]
                        if n < 0:
                            raise BadField("groups.topology.subtopologies.source_topics")
                        room -= n * 100
                        if room < 0:
                            room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                        groups_topology_subtopologies_source_topics = []
                        groups_topology_subtopologies_source_topics_count = n
                        for _ in range(groups_topology_subtopologies_source_topics_count):
                            n = buf[pos]
                            if 0 < n < 0x80:
                                groups_topology_subtopologies_source_topics_item = buf[pos + 1 : (pos := pos + n)].decode()
                            else:
                                n, pos = read_string_size(buf, pos)
                                if n == 0:
                                    raise BadField("groups.topology.subtopologies.source_topics.item")
                                n -= 1
                                here = pos
                                pos = here + n
                                groups_topology_subtopologies_source_topics_item = long_text(buf, here, pos)
                            groups_topology_subtopologies_source_topics.append(groups_topology_subtopologies_source_topics_item)
                        n = buf[pos]
                        pos += 1
                        if n >= 0x80:
                            n, pos = read_uvarint(buf, pos - 1)
                        n -= 1
                        groups_topology_subtopologies_repartition_sink_topics: list[str]
                        if n < 0:
                            raise BadField("groups.topology.subtopologies.repartition_sink_topics")
                        room -= n * 100
                        if room < 0:
                            room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                        groups_topology_subtopologies_repartition_sink_topics = []
                        groups_topology_subtopologies_repartition_sink_topics_count = n
                        for _ in range(groups_topology_subtopologies_repartition_sink_topics_count):
                            n = buf[pos]
                            if 0 < n < 0x80:
                                groups_topology_subtopologies_repartition_sink_topics_item = buf[pos + 1 : (pos := pos + n)].decode()
                            else:
                                n, pos = read_string_size(buf, pos)
                                if n == 0:
                                    raise BadField("groups.topology.subtopologies.repartition_sink_topics.item")
                                n -= 1
                                here = pos
                                pos = here + n
                                groups_topology_subtopologies_repartition_sink_topics_item = long_text(buf, here, pos)
                            groups_topology_subtopologies_repartition_sink_topics.append(groups_topology_subtopologies_repartition_sink_topics_item)
                        n = buf[pos]
                        pos += 1
                        if n >= 0x80:
                            n, pos = read_uvarint(buf, pos - 1)
                        n -= 1
                        groups_topology_subtopologies_state_changelog_topics: list[TopicInfo]
                        if n < 0:
                            raise BadField("groups.topology.subtopologies.state_changelog_topics")
                        room -= n * 260
                        if room < 0:
                            room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                        groups_topology_subtopologies_state_changelog_topics = []
                        groups_topology_subtopologies_state_changelog_topics_count = n
                        for _ in range(groups_topology_subtopologies_state_changelog_topics_count):
                            n = buf[pos]
                            if 0 < n < 0x80:
                                groups_topology_subtopologies_state_changelog_topics_name = buf[pos + 1 : (pos := pos + n)].decode()
                            else:
                                n, pos = read_string_size(buf, pos)
                                if n == 0:
                                    raise BadField("groups.topology.subtopologies.state_changelog_topics.name")
                                n -= 1
                                here = pos
                                pos = here + n
                                groups_topology_subtopologies_state_changelog_topics_name = long_text(buf, here, pos)
                            groups_topology_subtopologies_state_changelog_topics_partitions, groups_topology_subtopologies_state_changelog_topics_replication_factor, n = unpack_ihB(buf, pos)
                            pos += 7
                            if n >= 0x80:
                                n, pos = read_uvarint(buf, pos - 1)
                            n -= 1
                            groups_topology_subtopologies_state_changelog_topics_topic_configs: list[KeyValue]
                            if n < 0:
                                raise BadField("groups.topology.subtopologies.state_changelog_topics.topic_configs")
                            room -= n * 204
                            if room < 0:
                                room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                            groups_topology_subtopologies_state_changelog_topics_topic_configs = []
                            groups_topology_subtopologies_state_changelog_topics_topic_configs_left, groups_topology_subtopologies_state_changelog_topics_topic_configs_step = n, 8
                            while groups_topology_subtopologies_state_changelog_topics_topic_configs_left:
                                groups_topology_subtopologies_state_changelog_topics_topic_configs_count = groups_topology_subtopologies_state_changelog_topics_topic_configs_left
                                if groups_topology_subtopologies_state_changelog_topics_topic_configs_left >= 8 and RUNS_OF_TEXT:
                                    run = alike(SHAPE_1, buf, pos, groups_topology_subtopologies_state_changelog_topics_topic_configs_left)
                                    if run is not None:
                                        pos, n, rows, absent, is_same = run
                                        groups_topology_subtopologies_state_changelog_topics_topic_configs_left -= n
                                        groups_topology_subtopologies_state_changelog_topics_topic_configs += [KeyValue(key.decode(), value_.decode()) for key, value_ in rows]
                                        continue
                                    if groups_topology_subtopologies_state_changelog_topics_topic_configs_step < groups_topology_subtopologies_state_changelog_topics_topic_configs_left:
                                        groups_topology_subtopologies_state_changelog_topics_topic_configs_count = groups_topology_subtopologies_state_changelog_topics_topic_configs_step
                                    groups_topology_subtopologies_state_changelog_topics_topic_configs_step *= 2
                                groups_topology_subtopologies_state_changelog_topics_topic_configs_left -= groups_topology_subtopologies_state_changelog_topics_topic_configs_count
                                for _ in range(groups_topology_subtopologies_state_changelog_topics_topic_configs_count):
                                    n = buf[pos]
                                    if 0 < n < 0x80:
                                        groups_topology_subtopologies_state_changelog_topics_topic_configs_key = buf[pos + 1 : (pos := pos + n)].decode()
                                    else:
                                        n, pos = read_string_size(buf, pos)
                                        if n == 0:
                                            raise BadField("groups.topology.subtopologies.state_changelog_topics.topic_configs.key")
                                        n -= 1
                                        here = pos
                                        pos = here + n
                                        groups_topology_subtopologies_state_changelog_topics_topic_configs_key = long_text(buf, here, pos)
                                    n = buf[pos]
                                    if 0 < n < 0x80:
                                        groups_topology_subtopologies_state_changelog_topics_topic_configs_value = buf[pos + 1 : (pos := pos + n)].decode()
                                    else:
                                        n, pos = read_string_size(buf, pos)
                                        if n == 0:
                                            raise BadField("groups.topology.subtopologies.state_changelog_topics.topic_configs.value")
                                        n -= 1
                                        here = pos
                                        pos = here + n
                                        groups_topology_subtopologies_state_changelog_topics_topic_configs_value = long_text(buf, here, pos)
                                    n = buf[pos]
                                    pos += 1
                                    if n:
                                        pos = skip_tags(buf, pos - 1)
                                    groups_topology_subtopologies_state_changelog_topics_topic_configs.append(KeyValue(groups_topology_subtopologies_state_changelog_topics_topic_configs_key, groups_topology_subtopologies_state_changelog_topics_topic_configs_value))
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            groups_topology_subtopologies_state_changelog_topics.append(TopicInfo(groups_topology_subtopologies_state_changelog_topics_name, groups_topology_subtopologies_state_changelog_topics_partitions, groups_topology_subtopologies_state_changelog_topics_replication_factor, groups_topology_subtopologies_state_changelog_topics_topic_configs))
                        n = buf[pos]
                        pos += 1
                        if n >= 0x80:
                            n, pos = read_uvarint(buf, pos - 1)
                        n -= 1
                        groups_topology_subtopologies_repartition_source_topics: list[TopicInfo]
                        if n < 0:
                            raise BadField("groups.topology.subtopologies.repartition_source_topics")
                        room -= n * 260
                        if room < 0:
                            room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                        groups_topology_subtopologies_repartition_source_topics = []
                        groups_topology_subtopologies_repartition_source_topics_count = n
                        for _ in range(groups_topology_subtopologies_repartition_source_topics_count):
                            n = buf[pos]
                            if 0 < n < 0x80:
                                groups_topology_subtopologies_repartition_source_topics_name = buf[pos + 1 : (pos := pos + n)].decode()
                            else:
                                n, pos = read_string_size(buf, pos)
                                if n == 0:
                                    raise BadField("groups.topology.subtopologies.repartition_source_topics.name")
                                n -= 1
                                here = pos
                                pos = here + n
                                groups_topology_subtopologies_repartition_source_topics_name = long_text(buf, here, pos)
                            groups_topology_subtopologies_repartition_source_topics_partitions, groups_topology_subtopologies_repartition_source_topics_replication_factor, n = unpack_ihB(buf, pos)
                            pos += 7
                            if n >= 0x80:
                                n, pos = read_uvarint(buf, pos - 1)
                            n -= 1
                            groups_topology_subtopologies_repartition_source_topics_topic_configs: list[KeyValue]
                            if n < 0:
                                raise BadField("groups.topology.subtopologies.repartition_source_topics.topic_configs")
                            room -= n * 204
                            if room < 0:
                                room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                            groups_topology_subtopologies_repartition_source_topics_topic_configs = []
                            groups_topology_subtopologies_repartition_source_topics_topic_configs_left, groups_topology_subtopologies_repartition_source_topics_topic_configs_step = n, 8
                            while groups_topology_subtopologies_repartition_source_topics_topic_configs_left:
                                groups_topology_subtopologies_repartition_source_topics_topic_configs_count = groups_topology_subtopologies_repartition_source_topics_topic_configs_left
                                if groups_topology_subtopologies_repartition_source_topics_topic_configs_left >= 8 and RUNS_OF_TEXT:
                                    run = alike(SHAPE_1, buf, pos, groups_topology_subtopologies_repartition_source_topics_topic_configs_left)
                                    if run is not None:
                                        pos, n, rows, absent, is_same = run
                                        groups_topology_subtopologies_repartition_source_topics_topic_configs_left -= n
                                        groups_topology_subtopologies_repartition_source_topics_topic_configs += [KeyValue(key.decode(), value_.decode()) for key, value_ in rows]
                                        continue
                                    if groups_topology_subtopologies_repartition_source_topics_topic_configs_step < groups_topology_subtopologies_repartition_source_topics_topic_configs_left:
                                        groups_topology_subtopologies_repartition_source_topics_topic_configs_count = groups_topology_subtopologies_repartition_source_topics_topic_configs_step
                                    groups_topology_subtopologies_repartition_source_topics_topic_configs_step *= 2
                                groups_topology_subtopologies_repartition_source_topics_topic_configs_left -= groups_topology_subtopologies_repartition_source_topics_topic_configs_count
                                for _ in range(groups_topology_subtopologies_repartition_source_topics_topic_configs_count):
                                    n = buf[pos]
                                    if 0 < n < 0x80:
                                        groups_topology_subtopologies_repartition_source_topics_topic_configs_key = buf[pos + 1 : (pos := pos + n)].decode()
                                    else:
                                        n, pos = read_string_size(buf, pos)
                                        if n == 0:
                                            raise BadField("groups.topology.subtopologies.repartition_source_topics.topic_configs.key")
                                        n -= 1
                                        here = pos
                                        pos = here + n
                                        groups_topology_subtopologies_repartition_source_topics_topic_configs_key = long_text(buf, here, pos)
                                    n = buf[pos]
                                    if 0 < n < 0x80:
                                        groups_topology_subtopologies_repartition_source_topics_topic_configs_value = buf[pos + 1 : (pos := pos + n)].decode()
                                    else:
                                        n, pos = read_string_size(buf, pos)
                                        if n == 0:
                                            raise BadField("groups.topology.subtopologies.repartition_source_topics.topic_configs.value")
                                        n -= 1
                                        here = pos
                                        pos = here + n
                                        groups_topology_subtopologies_repartition_source_topics_topic_configs_value = long_text(buf, here, pos)
                                    n = buf[pos]
                                    pos += 1
                                    if n:
                                        pos = skip_tags(buf, pos - 1)
                                    groups_topology_subtopologies_repartition_source_topics_topic_configs.append(KeyValue(groups_topology_subtopologies_repartition_source_topics_topic_configs_key, groups_topology_subtopologies_repartition_source_topics_topic_configs_value))
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            groups_topology_subtopologies_repartition_source_topics.append(TopicInfo(groups_topology_subtopologies_repartition_source_topics_name, groups_topology_subtopologies_repartition_source_topics_partitions, groups_topology_subtopologies_repartition_source_topics_replication_factor, groups_topology_subtopologies_repartition_source_topics_topic_configs))
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        groups_topology_subtopologies.append(Subtopology(groups_topology_subtopologies_subtopology_id, groups_topology_subtopologies_source_topics, groups_topology_subtopologies_repartition_sink_topics, groups_topology_subtopologies_state_changelog_topics, groups_topology_subtopologies_repartition_source_topics))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                groups_topology = Topology(groups_topology_epoch, groups_topology_subtopologies)
            n = buf[pos]
            pos += 1
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            groups_members: list[Member]
            if n < 0:
                raise BadField("groups.members")
            room -= n * 1560
            if room < 0:
                room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
            groups_members = []
            groups_members_count = n
            for _ in range(groups_members_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    groups_members_member_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("groups.members.member_id")
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_members_member_id = long_text(buf, here, pos)
                groups_members_instance_id: str | None
                groups_members_member_epoch, n = unpack_iB(buf, pos)
                if not n:
                    groups_members_instance_id = None
                    pos += 5
                elif n == 1:
                    groups_members_instance_id = ""
                    pos += 5
                elif n < 0x80:
                    groups_members_instance_id = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_instance_id = long_text(buf, here, pos)
                    else:
                        groups_members_instance_id = None
                groups_members_rack_id: str | None
                n = buf[pos]
                if not n:
                    groups_members_rack_id = None
                    pos += 1
                elif n == 1:
                    groups_members_rack_id = ""
                    pos += 1
                elif n < 0x80:
                    groups_members_rack_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n:
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_rack_id = long_text(buf, here, pos)
                    else:
                        groups_members_rack_id = None
                n = buf[pos]
                if 0 < n < 0x80:
                    groups_members_client_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("groups.members.client_id")
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_members_client_id = long_text(buf, here, pos)
                n = buf[pos]
                if 0 < n < 0x80:
                    groups_members_client_host = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("groups.members.client_host")
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_members_client_host = long_text(buf, here, pos)
                groups_members_topology_epoch, n = unpack_iB(buf, pos)
                if 0 < n < 0x80:
                    groups_members_process_id = buf[pos + 5 : (pos := pos + 4 + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos + 4)
                    if n == 0:
                        raise BadField("groups.members.process_id")
                    n -= 1
                    here = pos
                    pos = here + n
                    groups_members_process_id = long_text(buf, here, pos)
                (n,) = unpack_b(buf, pos)
                pos += 1
                groups_members_user_endpoint: Endpoint | None = None
                if n >= 0:
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_members_user_endpoint_host = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("groups.members.user_endpoint.host")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_user_endpoint_host = long_text(buf, here, pos)
                    groups_members_user_endpoint_port, n = unpack_HB(buf, pos)
                    pos += 3
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    groups_members_user_endpoint = Endpoint(groups_members_user_endpoint_host, groups_members_user_endpoint_port)
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                groups_members_client_tags: list[KeyValue]
                if n < 0:
                    raise BadField("groups.members.client_tags")
                room -= n * 204
                if room < 0:
                    room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                groups_members_client_tags = []
                groups_members_client_tags_left, groups_members_client_tags_step = n, 8
                while groups_members_client_tags_left:
                    groups_members_client_tags_count = groups_members_client_tags_left
                    if groups_members_client_tags_left >= 8 and RUNS_OF_TEXT:
                        run = alike(SHAPE_1, buf, pos, groups_members_client_tags_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            groups_members_client_tags_left -= n
                            groups_members_client_tags += [KeyValue(key.decode(), value_.decode()) for key, value_ in rows]
                            continue
                        if groups_members_client_tags_step < groups_members_client_tags_left:
                            groups_members_client_tags_count = groups_members_client_tags_step
                        groups_members_client_tags_step *= 2
                    groups_members_client_tags_left -= groups_members_client_tags_count
                    for _ in range(groups_members_client_tags_count):
                        n = buf[pos]
                        if 0 < n < 0x80:
                            groups_members_client_tags_key = buf[pos + 1 : (pos := pos + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos)
                            if n == 0:
                                raise BadField("groups.members.client_tags.key")
                            n -= 1
                            here = pos
                            pos = here + n
                            groups_members_client_tags_key = long_text(buf, here, pos)
                        n = buf[pos]
                        if 0 < n < 0x80:
                            groups_members_client_tags_value = buf[pos + 1 : (pos := pos + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos)
                            if n == 0:
                                raise BadField("groups.members.client_tags.value")
                            n -= 1
                            here = pos
                            pos = here + n
                            groups_members_client_tags_value = long_text(buf, here, pos)
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        groups_members_client_tags.append(KeyValue(groups_members_client_tags_key, groups_members_client_tags_value))
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                groups_members_task_offsets: list[TaskOffset]
                if n < 0:
                    raise BadField("groups.members.task_offsets")
                room -= n * 160
                if room < 0:
                    room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                groups_members_task_offsets = []
                groups_members_task_offsets_left, groups_members_task_offsets_step = n, 8
                while groups_members_task_offsets_left:
                    groups_members_task_offsets_count = groups_members_task_offsets_left
                    if groups_members_task_offsets_left >= 8:
                        run = alike(SHAPE_2, buf, pos, groups_members_task_offsets_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            groups_members_task_offsets_left -= n
                            if is_same:
                                groups_members_task_offsets += [TaskOffset(absent, partition, offset) for partition, offset in rows]
                            else:
                                groups_members_task_offsets += [TaskOffset(subtopology_id.decode(), partition, offset) for subtopology_id, partition, offset in rows]
                            continue
                        if groups_members_task_offsets_step < groups_members_task_offsets_left:
                            groups_members_task_offsets_count = groups_members_task_offsets_step
                        groups_members_task_offsets_step *= 2
                    groups_members_task_offsets_left -= groups_members_task_offsets_count
                    for _ in range(groups_members_task_offsets_count):
                        n = buf[pos]
                        if 0 < n < 0x80:
                            groups_members_task_offsets_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos)
                            if n == 0:
                                raise BadField("groups.members.task_offsets.subtopology_id")
                            n -= 1
                            here = pos
                            pos = here + n
                            groups_members_task_offsets_subtopology_id = long_text(buf, here, pos)
                        groups_members_task_offsets_partition, groups_members_task_offsets_offset, n = unpack_iqB(buf, pos)
                        pos += 13
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        groups_members_task_offsets.append(TaskOffset(groups_members_task_offsets_subtopology_id, groups_members_task_offsets_partition, groups_members_task_offsets_offset))
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                groups_members_task_end_offsets: list[TaskOffset]
                if n < 0:
                    raise BadField("groups.members.task_end_offsets")
                room -= n * 160
                if room < 0:
                    room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                groups_members_task_end_offsets = []
                groups_members_task_end_offsets_left, groups_members_task_end_offsets_step = n, 8
                while groups_members_task_end_offsets_left:
                    groups_members_task_end_offsets_count = groups_members_task_end_offsets_left
                    if groups_members_task_end_offsets_left >= 8:
                        run = alike(SHAPE_2, buf, pos, groups_members_task_end_offsets_left)
                        if run is not None:
                            pos, n, rows, absent, is_same = run
                            groups_members_task_end_offsets_left -= n
                            if is_same:
                                groups_members_task_end_offsets += [TaskOffset(absent, partition, offset) for partition, offset in rows]
                            else:
                                groups_members_task_end_offsets += [TaskOffset(subtopology_id.decode(), partition, offset) for subtopology_id, partition, offset in rows]
                            continue
                        if groups_members_task_end_offsets_step < groups_members_task_end_offsets_left:
                            groups_members_task_end_offsets_count = groups_members_task_end_offsets_step
                        groups_members_task_end_offsets_step *= 2
                    groups_members_task_end_offsets_left -= groups_members_task_end_offsets_count
                    for _ in range(groups_members_task_end_offsets_count):
                        n = buf[pos]
                        if 0 < n < 0x80:
                            groups_members_task_end_offsets_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
                        else:
                            n, pos = read_string_size(buf, pos)
                            if n == 0:
                                raise BadField("groups.members.task_end_offsets.subtopology_id")
                            n -= 1
                            here = pos
                            pos = here + n
                            groups_members_task_end_offsets_subtopology_id = long_text(buf, here, pos)
                        groups_members_task_end_offsets_partition, groups_members_task_end_offsets_offset, n = unpack_iqB(buf, pos)
                        pos += 13
                        if n:
                            pos = skip_tags(buf, pos - 1)
                        groups_members_task_end_offsets.append(TaskOffset(groups_members_task_end_offsets_subtopology_id, groups_members_task_end_offsets_partition, groups_members_task_end_offsets_offset))
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                groups_members_assignment_active_tasks: list[TaskIds]
                if n < 0:
                    raise BadField("groups.members.assignment.active_tasks")
                room -= n * 204
                if room < 0:
                    room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                groups_members_assignment_active_tasks = []
                groups_members_assignment_active_tasks_count = n
                for _ in range(groups_members_assignment_active_tasks_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_members_assignment_active_tasks_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("groups.members.assignment.active_tasks.subtopology_id")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_assignment_active_tasks_subtopology_id = long_text(buf, here, pos)
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    groups_members_assignment_active_tasks_partitions: list[int]
                    if n < 0:
                        raise BadField("groups.members.assignment.active_tasks.partitions")
                    room -= n * 40
                    if room < 0:
                        room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                    groups_members_assignment_active_tasks_partitions = list(unpack_from(f">{n}i", buf, pos))
                    pos += n * 4
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    groups_members_assignment_active_tasks.append(TaskIds(groups_members_assignment_active_tasks_subtopology_id, groups_members_assignment_active_tasks_partitions))
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                groups_members_assignment_standby_tasks: list[TaskIds]
                if n < 0:
                    raise BadField("groups.members.assignment.standby_tasks")
                room -= n * 204
                if room < 0:
                    room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                groups_members_assignment_standby_tasks = []
                groups_members_assignment_standby_tasks_count = n
                for _ in range(groups_members_assignment_standby_tasks_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_members_assignment_standby_tasks_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("groups.members.assignment.standby_tasks.subtopology_id")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_assignment_standby_tasks_subtopology_id = long_text(buf, here, pos)
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    groups_members_assignment_standby_tasks_partitions: list[int]
                    if n < 0:
                        raise BadField("groups.members.assignment.standby_tasks.partitions")
                    room -= n * 40
                    if room < 0:
                        room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                    groups_members_assignment_standby_tasks_partitions = list(unpack_from(f">{n}i", buf, pos))
                    pos += n * 4
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    groups_members_assignment_standby_tasks.append(TaskIds(groups_members_assignment_standby_tasks_subtopology_id, groups_members_assignment_standby_tasks_partitions))
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                groups_members_assignment_warmup_tasks: list[TaskIds]
                if n < 0:
                    raise BadField("groups.members.assignment.warmup_tasks")
                room -= n * 204
                if room < 0:
                    room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                groups_members_assignment_warmup_tasks = []
                groups_members_assignment_warmup_tasks_count = n
                for _ in range(groups_members_assignment_warmup_tasks_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_members_assignment_warmup_tasks_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("groups.members.assignment.warmup_tasks.subtopology_id")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_assignment_warmup_tasks_subtopology_id = long_text(buf, here, pos)
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    groups_members_assignment_warmup_tasks_partitions: list[int]
                    if n < 0:
                        raise BadField("groups.members.assignment.warmup_tasks.partitions")
                    room -= n * 40
                    if room < 0:
                        room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                    groups_members_assignment_warmup_tasks_partitions = list(unpack_from(f">{n}i", buf, pos))
                    pos += n * 4
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    groups_members_assignment_warmup_tasks.append(TaskIds(groups_members_assignment_warmup_tasks_subtopology_id, groups_members_assignment_warmup_tasks_partitions))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                groups_members_target_assignment_active_tasks: list[TaskIds]
                if n < 0:
                    raise BadField("groups.members.target_assignment.active_tasks")
                room -= n * 204
                if room < 0:
                    room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                groups_members_target_assignment_active_tasks = []
                groups_members_target_assignment_active_tasks_count = n
                for _ in range(groups_members_target_assignment_active_tasks_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_members_target_assignment_active_tasks_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("groups.members.target_assignment.active_tasks.subtopology_id")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_target_assignment_active_tasks_subtopology_id = long_text(buf, here, pos)
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    groups_members_target_assignment_active_tasks_partitions: list[int]
                    if n < 0:
                        raise BadField("groups.members.target_assignment.active_tasks.partitions")
                    room -= n * 40
                    if room < 0:
                        room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                    groups_members_target_assignment_active_tasks_partitions = list(unpack_from(f">{n}i", buf, pos))
                    pos += n * 4
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    groups_members_target_assignment_active_tasks.append(TaskIds(groups_members_target_assignment_active_tasks_subtopology_id, groups_members_target_assignment_active_tasks_partitions))
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                groups_members_target_assignment_standby_tasks: list[TaskIds]
                if n < 0:
                    raise BadField("groups.members.target_assignment.standby_tasks")
                room -= n * 204
                if room < 0:
                    room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                groups_members_target_assignment_standby_tasks = []
                groups_members_target_assignment_standby_tasks_count = n
                for _ in range(groups_members_target_assignment_standby_tasks_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_members_target_assignment_standby_tasks_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("groups.members.target_assignment.standby_tasks.subtopology_id")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_target_assignment_standby_tasks_subtopology_id = long_text(buf, here, pos)
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    groups_members_target_assignment_standby_tasks_partitions: list[int]
                    if n < 0:
                        raise BadField("groups.members.target_assignment.standby_tasks.partitions")
                    room -= n * 40
                    if room < 0:
                        room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                    groups_members_target_assignment_standby_tasks_partitions = list(unpack_from(f">{n}i", buf, pos))
                    pos += n * 4
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    groups_members_target_assignment_standby_tasks.append(TaskIds(groups_members_target_assignment_standby_tasks_subtopology_id, groups_members_target_assignment_standby_tasks_partitions))
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                groups_members_target_assignment_warmup_tasks: list[TaskIds]
                if n < 0:
                    raise BadField("groups.members.target_assignment.warmup_tasks")
                room -= n * 204
                if room < 0:
                    room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                groups_members_target_assignment_warmup_tasks = []
                groups_members_target_assignment_warmup_tasks_count = n
                for _ in range(groups_members_target_assignment_warmup_tasks_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        groups_members_target_assignment_warmup_tasks_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("groups.members.target_assignment.warmup_tasks.subtopology_id")
                        n -= 1
                        here = pos
                        pos = here + n
                        groups_members_target_assignment_warmup_tasks_subtopology_id = long_text(buf, here, pos)
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    groups_members_target_assignment_warmup_tasks_partitions: list[int]
                    if n < 0:
                        raise BadField("groups.members.target_assignment.warmup_tasks.partitions")
                    room -= n * 40
                    if room < 0:
                        room = verify(StreamsGroupDescribeResponse, version, buf, start, pos + n)
                    groups_members_target_assignment_warmup_tasks_partitions = list(unpack_from(f">{n}i", buf, pos))
                    pos += n * 4
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    groups_members_target_assignment_warmup_tasks.append(TaskIds(groups_members_target_assignment_warmup_tasks_subtopology_id, groups_members_target_assignment_warmup_tasks_partitions))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                groups_members_is_classic, n = unpack_zB(buf, pos)
                pos += 2
                if n:
                    pos = skip_tags(buf, pos - 1)
                groups_members.append(Member(groups_members_member_id, groups_members_member_epoch, groups_members_instance_id, groups_members_rack_id, groups_members_client_id, groups_members_client_host, groups_members_topology_epoch, groups_members_process_id, groups_members_user_endpoint, groups_members_client_tags, groups_members_task_offsets, groups_members_task_end_offsets, Assignment(groups_members_assignment_active_tasks, groups_members_assignment_standby_tasks, groups_members_assignment_warmup_tasks), Assignment(groups_members_target_assignment_active_tasks, groups_members_target_assignment_standby_tasks, groups_members_target_assignment_warmup_tasks), groups_members_is_classic))
            groups_authorized_operations, n = unpack_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos - 1)
            groups.append(DescribedGroup(groups_error_code, groups_error_message, groups_group_id, groups_group_state, groups_group_epoch, groups_assignment_epoch, groups_topology, groups_members, groups_authorized_operations))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return StreamsGroupDescribeResponse(throttle_time_ms, groups), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, StreamsGroupDescribeResponse, version, buf, start, pos) from None


def encode_streams_group_describe_response_v0(msg: StreamsGroupDescribeResponse, out: bytearray, version: int = 0) -> None:
    start = len(out)
    try:
        groups = msg.groups
        n = len(groups) + 1
        if n < 0x80:
            out += pack_iB(msg.throttle_time_ms, n)
        else:
            out += pack_i(msg.throttle_time_ms)
            out += write_uvarint(n)
        for groups_item in groups:
            text = groups_item.error_message
            if text is None:
                n, raw = 0, b""
            else:
                raw = text.encode()
                n = len(raw) + 1
            if n < 0x80:
                out += pack_hB(groups_item.error_code, n)
            else:
                out += pack_h(groups_item.error_code)
                out += write_string_size(n)
            out += raw
            raw = groups_item.group_id.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            raw = groups_item.group_state.encode()
            n = len(raw) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_string_size(n)
            out += raw
            groups_topology = groups_item.topology
            if groups_topology is None:
                out += pack_iib(groups_item.group_epoch, groups_item.assignment_epoch, -1)
            else:
                groups_topology_subtopologies = groups_topology.subtopologies
                if groups_topology_subtopologies is None:
                    out += pack_iibix(groups_item.group_epoch, groups_item.assignment_epoch, 1, groups_topology.epoch)
                else:
                    n = len(groups_topology_subtopologies) + 1
                    if n < 0x80:
                        out += pack_iibiB(groups_item.group_epoch, groups_item.assignment_epoch, 1, groups_topology.epoch, n)
                    else:
                        out += pack_iibi(groups_item.group_epoch, groups_item.assignment_epoch, 1, groups_topology.epoch)
                        out += write_uvarint(n)
                    for groups_topology_subtopologies_item in groups_topology_subtopologies:
                        raw = groups_topology_subtopologies_item.subtopology_id.encode()
                        n = len(raw) + 1
                        if n < 0x80:
                            out.append(n)
                        else:
                            out += write_string_size(n)
                        out += raw
                        groups_topology_subtopologies_source_topics = groups_topology_subtopologies_item.source_topics
                        n = len(groups_topology_subtopologies_source_topics) + 1
                        if n < 0x80:
                            out.append(n)
                        else:
                            out += write_uvarint(n)
                        for groups_topology_subtopologies_source_topics_item in groups_topology_subtopologies_source_topics:
                            raw = groups_topology_subtopologies_source_topics_item.encode()
                            n = len(raw) + 1
                            if n < 0x80:
                                out.append(n)
                            else:
                                out += write_string_size(n)
                            out += raw
                        groups_topology_subtopologies_repartition_sink_topics = groups_topology_subtopologies_item.repartition_sink_topics
                        n = len(groups_topology_subtopologies_repartition_sink_topics) + 1
                        if n < 0x80:
                            out.append(n)
                        else:
                            out += write_uvarint(n)
                        for groups_topology_subtopologies_repartition_sink_topics_item in groups_topology_subtopologies_repartition_sink_topics:
                            raw = groups_topology_subtopologies_repartition_sink_topics_item.encode()
                            n = len(raw) + 1
                            if n < 0x80:
                                out.append(n)
                            else:
                                out += write_string_size(n)
                            out += raw
                        groups_topology_subtopologies_state_changelog_topics = groups_topology_subtopologies_item.state_changelog_topics
                        n = len(groups_topology_subtopologies_state_changelog_topics) + 1
                        if n < 0x80:
                            out.append(n)
                        else:
                            out += write_uvarint(n)
                        for groups_topology_subtopologies_state_changelog_topics_item in groups_topology_subtopologies_state_changelog_topics:
                            raw = groups_topology_subtopologies_state_changelog_topics_item.name.encode()
                            n = len(raw) + 1
                            if n < 0x80:
                                out.append(n)
                            else:
                                out += write_string_size(n)
                            out += raw
                            groups_topology_subtopologies_state_changelog_topics_topic_configs = groups_topology_subtopologies_state_changelog_topics_item.topic_configs
                            n = len(groups_topology_subtopologies_state_changelog_topics_topic_configs) + 1
                            if n < 0x80:
                                out += pack_ihB(groups_topology_subtopologies_state_changelog_topics_item.partitions, groups_topology_subtopologies_state_changelog_topics_item.replication_factor, n)
                            else:
                                out += pack_ih(groups_topology_subtopologies_state_changelog_topics_item.partitions, groups_topology_subtopologies_state_changelog_topics_item.replication_factor)
                                out += write_uvarint(n)
                            for groups_topology_subtopologies_state_changelog_topics_topic_configs_item in groups_topology_subtopologies_state_changelog_topics_topic_configs:
                                raw = groups_topology_subtopologies_state_changelog_topics_topic_configs_item.key.encode()
                                n = len(raw) + 1
                                if n < 0x80:
                                    out.append(n)
                                else:
                                    out += write_string_size(n)
                                out += raw
                                raw = groups_topology_subtopologies_state_changelog_topics_topic_configs_item.value.encode()
                                n = len(raw) + 1
                                if n < 0x80:
                                    out.append(n)
                                else:
                                    out += write_string_size(n)
                                out += raw
                                out.append(0)
                            out.append(0)
                        groups_topology_subtopologies_repartition_source_topics = groups_topology_subtopologies_item.repartition_source_topics
                        n = len(groups_topology_subtopologies_repartition_source_topics) + 1
                        if n < 0x80:
                            out.append(n)
                        else:
                            out += write_uvarint(n)
                        for groups_topology_subtopologies_repartition_source_topics_item in groups_topology_subtopologies_repartition_source_topics:
                            raw = groups_topology_subtopologies_repartition_source_topics_item.name.encode()
                            n = len(raw) + 1
                            if n < 0x80:
                                out.append(n)
                            else:
                                out += write_string_size(n)
                            out += raw
                            groups_topology_subtopologies_repartition_source_topics_topic_configs = groups_topology_subtopologies_repartition_source_topics_item.topic_configs
                            n = len(groups_topology_subtopologies_repartition_source_topics_topic_configs) + 1
                            if n < 0x80:
                                out += pack_ihB(groups_topology_subtopologies_repartition_source_topics_item.partitions, groups_topology_subtopologies_repartition_source_topics_item.replication_factor, n)
                            else:
                                out += pack_ih(groups_topology_subtopologies_repartition_source_topics_item.partitions, groups_topology_subtopologies_repartition_source_topics_item.replication_factor)
                                out += write_uvarint(n)
                            for groups_topology_subtopologies_repartition_source_topics_topic_configs_item in groups_topology_subtopologies_repartition_source_topics_topic_configs:
                                raw = groups_topology_subtopologies_repartition_source_topics_topic_configs_item.key.encode()
                                n = len(raw) + 1
                                if n < 0x80:
                                    out.append(n)
                                else:
                                    out += write_string_size(n)
                                out += raw
                                raw = groups_topology_subtopologies_repartition_source_topics_topic_configs_item.value.encode()
                                n = len(raw) + 1
                                if n < 0x80:
                                    out.append(n)
                                else:
                                    out += write_string_size(n)
                                out += raw
                                out.append(0)
                            out.append(0)
                        out.append(0)
                out.append(0)
            groups_members = groups_item.members
            n = len(groups_members) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for groups_members_item in groups_members:
                raw = groups_members_item.member_id.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                text = groups_members_item.instance_id
                if text is None:
                    n, raw = 0, b""
                else:
                    raw = text.encode()
                    n = len(raw) + 1
                if n < 0x80:
                    out += pack_iB(groups_members_item.member_epoch, n)
                else:
                    out += pack_i(groups_members_item.member_epoch)
                    out += write_string_size(n)
                out += raw
                text = groups_members_item.rack_id
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
                raw = groups_members_item.client_id.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                raw = groups_members_item.client_host.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                raw = groups_members_item.process_id.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out += pack_iB(groups_members_item.topology_epoch, n)
                else:
                    out += pack_i(groups_members_item.topology_epoch)
                    out += write_string_size(n)
                out += raw
                groups_members_user_endpoint = groups_members_item.user_endpoint
                if groups_members_user_endpoint is None:
                    out += pack_b(-1)
                else:
                    raw = groups_members_user_endpoint.host.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out += pack_bB(1, n)
                    else:
                        out += pack_b(1)
                        out += write_string_size(n)
                    out += raw
                    out += pack_Hx(groups_members_user_endpoint.port)
                groups_members_client_tags = groups_members_item.client_tags
                n = len(groups_members_client_tags) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for groups_members_client_tags_item in groups_members_client_tags:
                    raw = groups_members_client_tags_item.key.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    raw = groups_members_client_tags_item.value.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    out.append(0)
                groups_members_task_offsets = groups_members_item.task_offsets
                n = len(groups_members_task_offsets) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for groups_members_task_offsets_item in groups_members_task_offsets:
                    if groups_members_task_offsets_item.subtopology_id == "":
                        out += pack_Biqx(1, groups_members_task_offsets_item.partition, groups_members_task_offsets_item.offset)
                        continue
                    raw = groups_members_task_offsets_item.subtopology_id.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    out += pack_iqx(groups_members_task_offsets_item.partition, groups_members_task_offsets_item.offset)
                groups_members_task_end_offsets = groups_members_item.task_end_offsets
                n = len(groups_members_task_end_offsets) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for groups_members_task_end_offsets_item in groups_members_task_end_offsets:
                    if groups_members_task_end_offsets_item.subtopology_id == "":
                        out += pack_Biqx(1, groups_members_task_end_offsets_item.partition, groups_members_task_end_offsets_item.offset)
                        continue
                    raw = groups_members_task_end_offsets_item.subtopology_id.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    out += pack_iqx(groups_members_task_end_offsets_item.partition, groups_members_task_end_offsets_item.offset)
                groups_members_assignment = groups_members_item.assignment
                groups_members_assignment_active_tasks = groups_members_assignment.active_tasks
                n = len(groups_members_assignment_active_tasks) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for groups_members_assignment_active_tasks_item in groups_members_assignment_active_tasks:
                    raw = groups_members_assignment_active_tasks_item.subtopology_id.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    groups_members_assignment_active_tasks_partitions = groups_members_assignment_active_tasks_item.partitions
                    n = len(groups_members_assignment_active_tasks_partitions) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += pack_i(*groups_members_assignment_active_tasks_partitions) if len(groups_members_assignment_active_tasks_partitions) == 1 else pack(f">{len(groups_members_assignment_active_tasks_partitions)}i", *groups_members_assignment_active_tasks_partitions)
                    out.append(0)
                groups_members_assignment_standby_tasks = groups_members_assignment.standby_tasks
                n = len(groups_members_assignment_standby_tasks) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for groups_members_assignment_standby_tasks_item in groups_members_assignment_standby_tasks:
                    raw = groups_members_assignment_standby_tasks_item.subtopology_id.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    groups_members_assignment_standby_tasks_partitions = groups_members_assignment_standby_tasks_item.partitions
                    n = len(groups_members_assignment_standby_tasks_partitions) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += pack_i(*groups_members_assignment_standby_tasks_partitions) if len(groups_members_assignment_standby_tasks_partitions) == 1 else pack(f">{len(groups_members_assignment_standby_tasks_partitions)}i", *groups_members_assignment_standby_tasks_partitions)
                    out.append(0)
                groups_members_assignment_warmup_tasks = groups_members_assignment.warmup_tasks
                n = len(groups_members_assignment_warmup_tasks) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for groups_members_assignment_warmup_tasks_item in groups_members_assignment_warmup_tasks:
                    raw = groups_members_assignment_warmup_tasks_item.subtopology_id.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    groups_members_assignment_warmup_tasks_partitions = groups_members_assignment_warmup_tasks_item.partitions
                    n = len(groups_members_assignment_warmup_tasks_partitions) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += pack_i(*groups_members_assignment_warmup_tasks_partitions) if len(groups_members_assignment_warmup_tasks_partitions) == 1 else pack(f">{len(groups_members_assignment_warmup_tasks_partitions)}i", *groups_members_assignment_warmup_tasks_partitions)
                    out.append(0)
                groups_members_target_assignment = groups_members_item.target_assignment
                groups_members_target_assignment_active_tasks = groups_members_target_assignment.active_tasks
                n = len(groups_members_target_assignment_active_tasks) + 1
                if n < 0x80:
                    out += pack_xB(n)
                else:
                    out.append(0)
                    out += write_uvarint(n)
                for groups_members_target_assignment_active_tasks_item in groups_members_target_assignment_active_tasks:
                    raw = groups_members_target_assignment_active_tasks_item.subtopology_id.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    groups_members_target_assignment_active_tasks_partitions = groups_members_target_assignment_active_tasks_item.partitions
                    n = len(groups_members_target_assignment_active_tasks_partitions) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += pack_i(*groups_members_target_assignment_active_tasks_partitions) if len(groups_members_target_assignment_active_tasks_partitions) == 1 else pack(f">{len(groups_members_target_assignment_active_tasks_partitions)}i", *groups_members_target_assignment_active_tasks_partitions)
                    out.append(0)
                groups_members_target_assignment_standby_tasks = groups_members_target_assignment.standby_tasks
                n = len(groups_members_target_assignment_standby_tasks) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for groups_members_target_assignment_standby_tasks_item in groups_members_target_assignment_standby_tasks:
                    raw = groups_members_target_assignment_standby_tasks_item.subtopology_id.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    groups_members_target_assignment_standby_tasks_partitions = groups_members_target_assignment_standby_tasks_item.partitions
                    n = len(groups_members_target_assignment_standby_tasks_partitions) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += pack_i(*groups_members_target_assignment_standby_tasks_partitions) if len(groups_members_target_assignment_standby_tasks_partitions) == 1 else pack(f">{len(groups_members_target_assignment_standby_tasks_partitions)}i", *groups_members_target_assignment_standby_tasks_partitions)
                    out.append(0)
                groups_members_target_assignment_warmup_tasks = groups_members_target_assignment.warmup_tasks
                n = len(groups_members_target_assignment_warmup_tasks) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for groups_members_target_assignment_warmup_tasks_item in groups_members_target_assignment_warmup_tasks:
                    raw = groups_members_target_assignment_warmup_tasks_item.subtopology_id.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    groups_members_target_assignment_warmup_tasks_partitions = groups_members_target_assignment_warmup_tasks_item.partitions
                    n = len(groups_members_target_assignment_warmup_tasks_partitions) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += pack_i(*groups_members_target_assignment_warmup_tasks_partitions) if len(groups_members_target_assignment_warmup_tasks_partitions) == 1 else pack(f">{len(groups_members_target_assignment_warmup_tasks_partitions)}i", *groups_members_target_assignment_warmup_tasks_partitions)
                    out.append(0)
                out += pack_xzx(groups_members_item.is_classic)
            out += pack_ix(groups_item.authorized_operations)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "StreamsGroupDescribeResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    StreamsGroupDescribeRequest: {
        0: decode_streams_group_describe_request_v0,
    },
    StreamsGroupDescribeResponse: {
        0: decode_streams_group_describe_response_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    StreamsGroupDescribeRequest: {
        0: encode_streams_group_describe_request_v0,
    },
    StreamsGroupDescribeResponse: {
        0: encode_streams_group_describe_response_v0,
    },
}
