"""Codecs of protocol/messages/streams_group_heartbeat.py, generated from it by ``python -m protocol.generate``."""

from __future__ import annotations

from itertools import starmap
from struct import Struct, pack, unpack_from
from typing import Any

from protocol.codec import Decoder, Encoder
from protocol.fields import Message
from protocol.generated.layouts import (
    unpack_HB,
    unpack_b,
    unpack_bB,
    unpack_iB,
    unpack_ib,
    unpack_ihB,
    unpack_iiB,
    unpack_iiiiB,
    unpack_iqB,
    unpack_zB,
)
from protocol.messages.streams_group_heartbeat import (
    CopartitionGroup,
    Endpoint,
    EndpointToPartitions,
    KeyValue,
    Status,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
    TaskIds,
    TaskOffset,
    TopicInfo,
    TopicPartition,
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
SHAPE_3 = Shape("x", 1, Field("b", 1, 1, False, ""))
pack_zx = Struct(">?x").pack
pack_Biqx = Struct(">Biqx").pack
pack_Hx = Struct(">Hx").pack
pack_HxB = Struct(">HxB").pack
pack_b = Struct(">b").pack
pack_bB = Struct(">bB").pack
pack_bBx = Struct(">bBx").pack
pack_h = Struct(">h").pack
pack_i = Struct(">i").pack
pack_iB = Struct(">iB").pack
pack_ib = Struct(">ib").pack
pack_ibi = Struct(">ibi").pack
pack_ibiB = Struct(">ibiB").pack
pack_ih = Struct(">ih").pack
pack_ihB = Struct(">ihB").pack
pack_ii = Struct(">ii").pack
pack_iiB = Struct(">iiB").pack
pack_iiii = Struct(">iiii").pack
pack_iiiiB = Struct(">iiiiB").pack
pack_iiiix = Struct(">iiiix").pack
pack_iqx = Struct(">iqx").pack
pack_ix = Struct(">ix").pack


def decode_streams_group_heartbeat_request_v0(buf: bytes, pos: int, version: int = 0) -> tuple[StreamsGroupHeartbeatRequest, int]:
    start = pos
    n: int
    try:
        room = 44576 - 2 * len(buf)
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
        member_epoch, endpoint_information_epoch, n = unpack_iiB(buf, pos)
        if not n:
            instance_id = None
            pos += 9
        elif n == 1:
            instance_id = ""
            pos += 9
        elif n < 0x80:
            instance_id = buf[pos + 9 : (pos := pos + 8 + n)].decode()
        else:
            n, pos = read_string_size(buf, pos + 8)
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
        rebalance_timeout_ms, n = unpack_ib(buf, pos)
        pos += 5
        topology: Topology | None = None
        if n >= 0:
            topology_epoch, n = unpack_iB(buf, pos)
            pos += 5
            if n >= 0x80:
                n, pos = read_uvarint(buf, pos - 1)
            n -= 1
            topology_subtopologies: list[Subtopology]
            if n < 0:
                raise BadField("topology.subtopologies")
            room -= n * 632
            if room < 0:
                room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 632), 0
            topology_subtopologies = []
            topology_subtopologies_count = n
            for _ in range(topology_subtopologies_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    topology_subtopologies_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("topology.subtopologies.subtopology_id")
                    n -= 1
                    here = pos
                    pos = here + n
                    topology_subtopologies_subtopology_id = long_text(buf, here, pos)
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topology_subtopologies_source_topics: list[str]
                if n < 0:
                    raise BadField("topology.subtopologies.source_topics")
                room -= n * 100
                if room < 0:
                    room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 100), 0
                topology_subtopologies_source_topics = []
                topology_subtopologies_source_topics_count = n
                for _ in range(topology_subtopologies_source_topics_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        topology_subtopologies_source_topics_item = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("topology.subtopologies.source_topics.item")
                        n -= 1
                        here = pos
                        pos = here + n
                        topology_subtopologies_source_topics_item = long_text(buf, here, pos)
                    topology_subtopologies_source_topics.append(topology_subtopologies_source_topics_item)
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topology_subtopologies_source_topic_regex: list[str]
                if n < 0:
                    raise BadField("topology.subtopologies.source_topic_regex")
                room -= n * 100
                if room < 0:
                    room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 100), 0
                topology_subtopologies_source_topic_regex = []
                topology_subtopologies_source_topic_regex_count = n
                for _ in range(topology_subtopologies_source_topic_regex_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        topology_subtopologies_source_topic_regex_item = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("topology.subtopologies.source_topic_regex.item")
                        n -= 1
                        here = pos
                        pos = here + n
                        topology_subtopologies_source_topic_regex_item = long_text(buf, here, pos)
                    topology_subtopologies_source_topic_regex.append(topology_subtopologies_source_topic_regex_item)
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topology_subtopologies_state_changelog_topics: list[TopicInfo]
                if n < 0:
                    raise BadField("topology.subtopologies.state_changelog_topics")
                room -= n * 260
                if room < 0:
                    room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 260), 0
                topology_subtopologies_state_changelog_topics = []
                topology_subtopologies_state_changelog_topics_count = n
                for _ in range(topology_subtopologies_state_changelog_topics_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        topology_subtopologies_state_changelog_topics_name = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("topology.subtopologies.state_changelog_topics.name")
                        n -= 1
                        here = pos
                        pos = here + n
                        topology_subtopologies_state_changelog_topics_name = long_text(buf, here, pos)
                    topology_subtopologies_state_changelog_topics_partitions, topology_subtopologies_state_changelog_topics_replication_factor, n = unpack_ihB(buf, pos)
                    pos += 7
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    topology_subtopologies_state_changelog_topics_topic_configs: list[KeyValue]
                    if n < 0:
                        raise BadField("topology.subtopologies.state_changelog_topics.topic_configs")
                    room -= n * 204
                    if room < 0:
                        room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 204), 0
                    topology_subtopologies_state_changelog_topics_topic_configs = []
                    topology_subtopologies_state_changelog_topics_topic_configs_left, topology_subtopologies_state_changelog_topics_topic_configs_step = n, 8
                    while topology_subtopologies_state_changelog_topics_topic_configs_left:
                        topology_subtopologies_state_changelog_topics_topic_configs_count = topology_subtopologies_state_changelog_topics_topic_configs_left
                        if topology_subtopologies_state_changelog_topics_topic_configs_left >= 8 and RUNS_OF_TEXT:
                            run = alike(SHAPE_1, buf, pos, topology_subtopologies_state_changelog_topics_topic_configs_left)
                            if run is not None:
                                pos, n, rows, absent, is_same = run
                                topology_subtopologies_state_changelog_topics_topic_configs_left -= n
                                topology_subtopologies_state_changelog_topics_topic_configs += [KeyValue(key.decode(), value_.decode()) for key, value_ in rows]
                                continue
                            if topology_subtopologies_state_changelog_topics_topic_configs_step < topology_subtopologies_state_changelog_topics_topic_configs_left:
                                topology_subtopologies_state_changelog_topics_topic_configs_count = topology_subtopologies_state_changelog_topics_topic_configs_step
                            topology_subtopologies_state_changelog_topics_topic_configs_step *= 2
                        topology_subtopologies_state_changelog_topics_topic_configs_left -= topology_subtopologies_state_changelog_topics_topic_configs_count
                        for _ in range(topology_subtopologies_state_changelog_topics_topic_configs_count):
                            n = buf[pos]
                            if 0 < n < 0x80:
                                topology_subtopologies_state_changelog_topics_topic_configs_key = buf[pos + 1 : (pos := pos + n)].decode()
                            else:
                                n, pos = read_string_size(buf, pos)
                                if n == 0:
                                    raise BadField("topology.subtopologies.state_changelog_topics.topic_configs.key")
                                n -= 1
                                here = pos
                                pos = here + n
                                topology_subtopologies_state_changelog_topics_topic_configs_key = long_text(buf, here, pos)
                            n = buf[pos]
                            if 0 < n < 0x80:
                                topology_subtopologies_state_changelog_topics_topic_configs_value = buf[pos + 1 : (pos := pos + n)].decode()
                            else:
                                n, pos = read_string_size(buf, pos)
                                if n == 0:
                                    raise BadField("topology.subtopologies.state_changelog_topics.topic_configs.value")
                                n -= 1
                                here = pos
                                pos = here + n
                                topology_subtopologies_state_changelog_topics_topic_configs_value = long_text(buf, here, pos)
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            topology_subtopologies_state_changelog_topics_topic_configs.append(KeyValue(topology_subtopologies_state_changelog_topics_topic_configs_key, topology_subtopologies_state_changelog_topics_topic_configs_value))
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topology_subtopologies_state_changelog_topics.append(TopicInfo(topology_subtopologies_state_changelog_topics_name, topology_subtopologies_state_changelog_topics_partitions, topology_subtopologies_state_changelog_topics_replication_factor, topology_subtopologies_state_changelog_topics_topic_configs))
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topology_subtopologies_repartition_sink_topics: list[str]
                if n < 0:
                    raise BadField("topology.subtopologies.repartition_sink_topics")
                room -= n * 100
                if room < 0:
                    room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 100), 0
                topology_subtopologies_repartition_sink_topics = []
                topology_subtopologies_repartition_sink_topics_count = n
                for _ in range(topology_subtopologies_repartition_sink_topics_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        topology_subtopologies_repartition_sink_topics_item = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("topology.subtopologies.repartition_sink_topics.item")
                        n -= 1
                        here = pos
                        pos = here + n
                        topology_subtopologies_repartition_sink_topics_item = long_text(buf, here, pos)
                    topology_subtopologies_repartition_sink_topics.append(topology_subtopologies_repartition_sink_topics_item)
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topology_subtopologies_repartition_source_topics: list[TopicInfo]
                if n < 0:
                    raise BadField("topology.subtopologies.repartition_source_topics")
                room -= n * 260
                if room < 0:
                    room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 260), 0
                topology_subtopologies_repartition_source_topics = []
                topology_subtopologies_repartition_source_topics_count = n
                for _ in range(topology_subtopologies_repartition_source_topics_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        topology_subtopologies_repartition_source_topics_name = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("topology.subtopologies.repartition_source_topics.name")
                        n -= 1
                        here = pos
                        pos = here + n
                        topology_subtopologies_repartition_source_topics_name = long_text(buf, here, pos)
                    topology_subtopologies_repartition_source_topics_partitions, topology_subtopologies_repartition_source_topics_replication_factor, n = unpack_ihB(buf, pos)
                    pos += 7
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    topology_subtopologies_repartition_source_topics_topic_configs: list[KeyValue]
                    if n < 0:
                        raise BadField("topology.subtopologies.repartition_source_topics.topic_configs")
                    room -= n * 204
                    if room < 0:
                        room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 204), 0
                    topology_subtopologies_repartition_source_topics_topic_configs = []
                    topology_subtopologies_repartition_source_topics_topic_configs_left, topology_subtopologies_repartition_source_topics_topic_configs_step = n, 8
                    while topology_subtopologies_repartition_source_topics_topic_configs_left:
                        topology_subtopologies_repartition_source_topics_topic_configs_count = topology_subtopologies_repartition_source_topics_topic_configs_left
                        if topology_subtopologies_repartition_source_topics_topic_configs_left >= 8 and RUNS_OF_TEXT:
                            run = alike(SHAPE_1, buf, pos, topology_subtopologies_repartition_source_topics_topic_configs_left)
                            if run is not None:
                                pos, n, rows, absent, is_same = run
                                topology_subtopologies_repartition_source_topics_topic_configs_left -= n
                                topology_subtopologies_repartition_source_topics_topic_configs += [KeyValue(key.decode(), value_.decode()) for key, value_ in rows]
                                continue
                            if topology_subtopologies_repartition_source_topics_topic_configs_step < topology_subtopologies_repartition_source_topics_topic_configs_left:
                                topology_subtopologies_repartition_source_topics_topic_configs_count = topology_subtopologies_repartition_source_topics_topic_configs_step
                            topology_subtopologies_repartition_source_topics_topic_configs_step *= 2
                        topology_subtopologies_repartition_source_topics_topic_configs_left -= topology_subtopologies_repartition_source_topics_topic_configs_count
                        for _ in range(topology_subtopologies_repartition_source_topics_topic_configs_count):
                            n = buf[pos]
                            if 0 < n < 0x80:
                                topology_subtopologies_repartition_source_topics_topic_configs_key = buf[pos + 1 : (pos := pos + n)].decode()
                            else:
                                n, pos = read_string_size(buf, pos)
                                if n == 0:
                                    raise BadField("topology.subtopologies.repartition_source_topics.topic_configs.key")
                                n -= 1
                                here = pos
                                pos = here + n
                                topology_subtopologies_repartition_source_topics_topic_configs_key = long_text(buf, here, pos)
                            n = buf[pos]
                            if 0 < n < 0x80:
                                topology_subtopologies_repartition_source_topics_topic_configs_value = buf[pos + 1 : (pos := pos + n)].decode()
                            else:
                                n, pos = read_string_size(buf, pos)
                                if n == 0:
                                    raise BadField("topology.subtopologies.repartition_source_topics.topic_configs.value")
                                n -= 1
                                here = pos
                                pos = here + n
                                topology_subtopologies_repartition_source_topics_topic_configs_value = long_text(buf, here, pos)
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos - 1)
                            topology_subtopologies_repartition_source_topics_topic_configs.append(KeyValue(topology_subtopologies_repartition_source_topics_topic_configs_key, topology_subtopologies_repartition_source_topics_topic_configs_value))
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topology_subtopologies_repartition_source_topics.append(TopicInfo(topology_subtopologies_repartition_source_topics_name, topology_subtopologies_repartition_source_topics_partitions, topology_subtopologies_repartition_source_topics_replication_factor, topology_subtopologies_repartition_source_topics_topic_configs))
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                topology_subtopologies_copartition_groups: list[CopartitionGroup]
                if n < 0:
                    raise BadField("topology.subtopologies.copartition_groups")
                room -= n * 296
                if room < 0:
                    room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 296), 0
                topology_subtopologies_copartition_groups = []
                topology_subtopologies_copartition_groups_count = n
                for _ in range(topology_subtopologies_copartition_groups_count):
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    topology_subtopologies_copartition_groups_source_topics: list[int]
                    if n < 0:
                        raise BadField("topology.subtopologies.copartition_groups.source_topics")
                    room -= n * 48
                    if room < 0:
                        room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 48), 0
                    topology_subtopologies_copartition_groups_source_topics = list(unpack_from(f">{n}h", buf, pos))
                    pos += n * 2
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    topology_subtopologies_copartition_groups_source_topic_regex: list[int]
                    if n < 0:
                        raise BadField("topology.subtopologies.copartition_groups.source_topic_regex")
                    room -= n * 48
                    if room < 0:
                        room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 48), 0
                    topology_subtopologies_copartition_groups_source_topic_regex = list(unpack_from(f">{n}h", buf, pos))
                    pos += n * 2
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    topology_subtopologies_copartition_groups_repartition_source_topics: list[int]
                    if n < 0:
                        raise BadField("topology.subtopologies.copartition_groups.repartition_source_topics")
                    room -= n * 48
                    if room < 0:
                        room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 48), 0
                    topology_subtopologies_copartition_groups_repartition_source_topics = list(unpack_from(f">{n}h", buf, pos))
                    pos += n * 2
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    topology_subtopologies_copartition_groups.append(CopartitionGroup(topology_subtopologies_copartition_groups_source_topics, topology_subtopologies_copartition_groups_source_topic_regex, topology_subtopologies_copartition_groups_repartition_source_topics))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                topology_subtopologies.append(Subtopology(topology_subtopologies_subtopology_id, topology_subtopologies_source_topics, topology_subtopologies_source_topic_regex, topology_subtopologies_state_changelog_topics, topology_subtopologies_repartition_sink_topics, topology_subtopologies_repartition_source_topics, topology_subtopologies_copartition_groups))
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos - 1)
            topology = Topology(topology_epoch, topology_subtopologies)
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        active_tasks: list[TaskIds] | None
        if n < 0:
            active_tasks = None
        else:
            room -= n * 204
            if room < 0:
                room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 204), 0
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
                    room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 40), 0
                active_tasks_partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                active_tasks.append(TaskIds(active_tasks_subtopology_id, active_tasks_partitions))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        standby_tasks: list[TaskIds] | None
        if n < 0:
            standby_tasks = None
        else:
            room -= n * 204
            if room < 0:
                room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 204), 0
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
                    room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 40), 0
                standby_tasks_partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                standby_tasks.append(TaskIds(standby_tasks_subtopology_id, standby_tasks_partitions))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        warmup_tasks: list[TaskIds] | None
        if n < 0:
            warmup_tasks = None
        else:
            room -= n * 204
            if room < 0:
                room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 204), 0
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
                    room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 40), 0
                warmup_tasks_partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                warmup_tasks.append(TaskIds(warmup_tasks_subtopology_id, warmup_tasks_partitions))
        process_id: str | None
        n = buf[pos]
        if not n:
            process_id = None
            pos += 1
        elif n == 1:
            process_id = ""
            pos += 1
        elif n < 0x80:
            process_id = buf[pos + 1 : (pos := pos + n)].decode()
        else:
            n, pos = read_string_size(buf, pos)
            if n:
                n -= 1
                here = pos
                pos = here + n
                process_id = long_text(buf, here, pos)
            else:
                process_id = None
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
        client_tags: list[KeyValue] | None
        if n < 0:
            client_tags = None
        else:
            room -= n * 204
            if room < 0:
                room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 204), 0
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
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        task_offsets: list[TaskOffset] | None
        if n < 0:
            task_offsets = None
        else:
            room -= n * 160
            if room < 0:
                room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 160), 0
            task_offsets = []
            task_offsets_left, task_offsets_step = n, 8
            while task_offsets_left:
                task_offsets_count = task_offsets_left
                if task_offsets_left >= 8:
                    run = alike(SHAPE_2, buf, pos, task_offsets_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        task_offsets_left -= n
                        if is_same:
                            task_offsets += [TaskOffset(absent, partition, offset) for partition, offset in rows]
                        else:
                            task_offsets += [TaskOffset(subtopology_id.decode(), partition, offset) for subtopology_id, partition, offset in rows]
                        continue
                    if task_offsets_step < task_offsets_left:
                        task_offsets_count = task_offsets_step
                    task_offsets_step *= 2
                task_offsets_left -= task_offsets_count
                for _ in range(task_offsets_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        task_offsets_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("task_offsets.subtopology_id")
                        n -= 1
                        here = pos
                        pos = here + n
                        task_offsets_subtopology_id = long_text(buf, here, pos)
                    task_offsets_partition, task_offsets_offset, n = unpack_iqB(buf, pos)
                    pos += 13
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    task_offsets.append(TaskOffset(task_offsets_subtopology_id, task_offsets_partition, task_offsets_offset))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        task_end_offsets: list[TaskOffset] | None
        if n < 0:
            task_end_offsets = None
        else:
            room -= n * 160
            if room < 0:
                room, limit = verify(StreamsGroupHeartbeatRequest, version, buf, start, pos + n, limit - n * 160), 0
            task_end_offsets = []
            task_end_offsets_left, task_end_offsets_step = n, 8
            while task_end_offsets_left:
                task_end_offsets_count = task_end_offsets_left
                if task_end_offsets_left >= 8:
                    run = alike(SHAPE_2, buf, pos, task_end_offsets_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        task_end_offsets_left -= n
                        if is_same:
                            task_end_offsets += [TaskOffset(absent, partition, offset) for partition, offset in rows]
                        else:
                            task_end_offsets += [TaskOffset(subtopology_id.decode(), partition, offset) for subtopology_id, partition, offset in rows]
                        continue
                    if task_end_offsets_step < task_end_offsets_left:
                        task_end_offsets_count = task_end_offsets_step
                    task_end_offsets_step *= 2
                task_end_offsets_left -= task_end_offsets_count
                for _ in range(task_end_offsets_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        task_end_offsets_subtopology_id = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("task_end_offsets.subtopology_id")
                        n -= 1
                        here = pos
                        pos = here + n
                        task_end_offsets_subtopology_id = long_text(buf, here, pos)
                    task_end_offsets_partition, task_end_offsets_offset, n = unpack_iqB(buf, pos)
                    pos += 13
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    task_end_offsets.append(TaskOffset(task_end_offsets_subtopology_id, task_end_offsets_partition, task_end_offsets_offset))
        shutdown_application, n = unpack_zB(buf, pos)
        pos += 2
        if n:
            pos = skip_tags(buf, pos - 1)
        return StreamsGroupHeartbeatRequest(group_id, member_id, member_epoch, endpoint_information_epoch, instance_id, rack_id, rebalance_timeout_ms, topology, active_tasks, standby_tasks, warmup_tasks, process_id, user_endpoint, client_tags, task_offsets, task_end_offsets, shutdown_application), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, StreamsGroupHeartbeatRequest, version, buf, start, pos) from None


def encode_streams_group_heartbeat_request_v0(msg: StreamsGroupHeartbeatRequest, out: bytearray, version: int = 0) -> None:
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
            out += pack_iiB(msg.member_epoch, msg.endpoint_information_epoch, n)
        else:
            out += pack_ii(msg.member_epoch, msg.endpoint_information_epoch)
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
        topology = msg.topology
        if topology is None:
            out += pack_ib(msg.rebalance_timeout_ms, -1)
        else:
            topology_subtopologies = topology.subtopologies
            n = len(topology_subtopologies) + 1
            if n < 0x80:
                out += pack_ibiB(msg.rebalance_timeout_ms, 1, topology.epoch, n)
            else:
                out += pack_ibi(msg.rebalance_timeout_ms, 1, topology.epoch)
                out += write_uvarint(n)
            for topology_subtopologies_item in topology_subtopologies:
                raw = topology_subtopologies_item.subtopology_id.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                topology_subtopologies_source_topics = topology_subtopologies_item.source_topics
                n = len(topology_subtopologies_source_topics) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for topology_subtopologies_source_topics_item in topology_subtopologies_source_topics:
                    raw = topology_subtopologies_source_topics_item.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                topology_subtopologies_source_topic_regex = topology_subtopologies_item.source_topic_regex
                n = len(topology_subtopologies_source_topic_regex) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for topology_subtopologies_source_topic_regex_item in topology_subtopologies_source_topic_regex:
                    raw = topology_subtopologies_source_topic_regex_item.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                topology_subtopologies_state_changelog_topics = topology_subtopologies_item.state_changelog_topics
                n = len(topology_subtopologies_state_changelog_topics) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for topology_subtopologies_state_changelog_topics_item in topology_subtopologies_state_changelog_topics:
                    raw = topology_subtopologies_state_changelog_topics_item.name.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    topology_subtopologies_state_changelog_topics_topic_configs = topology_subtopologies_state_changelog_topics_item.topic_configs
                    n = len(topology_subtopologies_state_changelog_topics_topic_configs) + 1
                    if n < 0x80:
                        out += pack_ihB(topology_subtopologies_state_changelog_topics_item.partitions, topology_subtopologies_state_changelog_topics_item.replication_factor, n)
                    else:
                        out += pack_ih(topology_subtopologies_state_changelog_topics_item.partitions, topology_subtopologies_state_changelog_topics_item.replication_factor)
                        out += write_uvarint(n)
                    for topology_subtopologies_state_changelog_topics_topic_configs_item in topology_subtopologies_state_changelog_topics_topic_configs:
                        raw = topology_subtopologies_state_changelog_topics_topic_configs_item.key.encode()
                        n = len(raw) + 1
                        if n < 0x80:
                            out.append(n)
                        else:
                            out += write_string_size(n)
                        out += raw
                        raw = topology_subtopologies_state_changelog_topics_topic_configs_item.value.encode()
                        n = len(raw) + 1
                        if n < 0x80:
                            out.append(n)
                        else:
                            out += write_string_size(n)
                        out += raw
                        out.append(0)
                    out.append(0)
                topology_subtopologies_repartition_sink_topics = topology_subtopologies_item.repartition_sink_topics
                n = len(topology_subtopologies_repartition_sink_topics) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for topology_subtopologies_repartition_sink_topics_item in topology_subtopologies_repartition_sink_topics:
                    raw = topology_subtopologies_repartition_sink_topics_item.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                topology_subtopologies_repartition_source_topics = topology_subtopologies_item.repartition_source_topics
                n = len(topology_subtopologies_repartition_source_topics) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for topology_subtopologies_repartition_source_topics_item in topology_subtopologies_repartition_source_topics:
                    raw = topology_subtopologies_repartition_source_topics_item.name.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    topology_subtopologies_repartition_source_topics_topic_configs = topology_subtopologies_repartition_source_topics_item.topic_configs
                    n = len(topology_subtopologies_repartition_source_topics_topic_configs) + 1
                    if n < 0x80:
                        out += pack_ihB(topology_subtopologies_repartition_source_topics_item.partitions, topology_subtopologies_repartition_source_topics_item.replication_factor, n)
                    else:
                        out += pack_ih(topology_subtopologies_repartition_source_topics_item.partitions, topology_subtopologies_repartition_source_topics_item.replication_factor)
                        out += write_uvarint(n)
                    for topology_subtopologies_repartition_source_topics_topic_configs_item in topology_subtopologies_repartition_source_topics_topic_configs:
                        raw = topology_subtopologies_repartition_source_topics_topic_configs_item.key.encode()
                        n = len(raw) + 1
                        if n < 0x80:
                            out.append(n)
                        else:
                            out += write_string_size(n)
                        out += raw
                        raw = topology_subtopologies_repartition_source_topics_topic_configs_item.value.encode()
                        n = len(raw) + 1
                        if n < 0x80:
                            out.append(n)
                        else:
                            out += write_string_size(n)
                        out += raw
                        out.append(0)
                    out.append(0)
                topology_subtopologies_copartition_groups = topology_subtopologies_item.copartition_groups
                n = len(topology_subtopologies_copartition_groups) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for topology_subtopologies_copartition_groups_item in topology_subtopologies_copartition_groups:
                    topology_subtopologies_copartition_groups_source_topics = topology_subtopologies_copartition_groups_item.source_topics
                    n = len(topology_subtopologies_copartition_groups_source_topics) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += pack_h(*topology_subtopologies_copartition_groups_source_topics) if len(topology_subtopologies_copartition_groups_source_topics) == 1 else pack(f">{len(topology_subtopologies_copartition_groups_source_topics)}h", *topology_subtopologies_copartition_groups_source_topics)
                    topology_subtopologies_copartition_groups_source_topic_regex = topology_subtopologies_copartition_groups_item.source_topic_regex
                    n = len(topology_subtopologies_copartition_groups_source_topic_regex) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += pack_h(*topology_subtopologies_copartition_groups_source_topic_regex) if len(topology_subtopologies_copartition_groups_source_topic_regex) == 1 else pack(f">{len(topology_subtopologies_copartition_groups_source_topic_regex)}h", *topology_subtopologies_copartition_groups_source_topic_regex)
                    topology_subtopologies_copartition_groups_repartition_source_topics = topology_subtopologies_copartition_groups_item.repartition_source_topics
                    n = len(topology_subtopologies_copartition_groups_repartition_source_topics) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += pack_h(*topology_subtopologies_copartition_groups_repartition_source_topics) if len(topology_subtopologies_copartition_groups_repartition_source_topics) == 1 else pack(f">{len(topology_subtopologies_copartition_groups_repartition_source_topics)}h", *topology_subtopologies_copartition_groups_repartition_source_topics)
                    out.append(0)
                out.append(0)
            out.append(0)
        active_tasks = msg.active_tasks
        if active_tasks is None:
            out.append(0)
        else:
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
        if standby_tasks is None:
            out.append(0)
        else:
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
        if warmup_tasks is None:
            out.append(0)
        else:
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
        text = msg.process_id
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
        if client_tags is None:
            out.append(0)
        else:
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
        task_offsets = msg.task_offsets
        if task_offsets is None:
            out.append(0)
        else:
            n = len(task_offsets) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for task_offsets_item in task_offsets:
                if task_offsets_item.subtopology_id == "":
                    out += pack_Biqx(1, task_offsets_item.partition, task_offsets_item.offset)
                    continue
                raw = task_offsets_item.subtopology_id.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                out += pack_iqx(task_offsets_item.partition, task_offsets_item.offset)
        task_end_offsets = msg.task_end_offsets
        if task_end_offsets is None:
            out.append(0)
        else:
            n = len(task_end_offsets) + 1
            if n < 0x80:
                out.append(n)
            else:
                out += write_uvarint(n)
            for task_end_offsets_item in task_end_offsets:
                if task_end_offsets_item.subtopology_id == "":
                    out += pack_Biqx(1, task_end_offsets_item.partition, task_end_offsets_item.offset)
                    continue
                raw = task_end_offsets_item.subtopology_id.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                out += pack_iqx(task_end_offsets_item.partition, task_end_offsets_item.offset)
        out += pack_zx(msg.shutdown_application)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "StreamsGroupHeartbeatRequest", version) from error


def decode_streams_group_heartbeat_response_v0(buf: bytes, pos: int, version: int = 0) -> tuple[StreamsGroupHeartbeatResponse, int]:
    start = pos
    n: int
    try:
        room = 45088 - 2 * len(buf)
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
        member_epoch, heartbeat_interval_ms, acceptable_recovery_lag, task_offset_interval_ms, n = unpack_iiiiB(buf, pos)
        pos += 17
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        status: list[Status] | None
        if n < 0:
            status = None
        else:
            room -= n * 156
            if room < 0:
                room = verify(StreamsGroupHeartbeatResponse, version, buf, start, pos + n)
            status = []
            status_left, status_step = n, 8
            while status_left:
                status_count = status_left
                if status_left >= 8 and RUNS_OF_TEXT:
                    run = alike(SHAPE_3, buf, pos, status_left)
                    if run is not None:
                        pos, n, rows, absent, is_same = run
                        status_left -= n
                        if is_same and absent == "":
                            status += starmap(Status, rows)
                            continue
                        if is_same:
                            status += [Status(status_code, absent) for status_code, in rows]
                        else:
                            status += [Status(status_code, status_detail.decode()) for status_code, status_detail in rows]
                        continue
                    if status_step < status_left:
                        status_count = status_step
                    status_step *= 2
                status_left -= status_count
                for _ in range(status_count):
                    status_status_code, n = unpack_bB(buf, pos)
                    if 0 < n < 0x80:
                        status_status_detail = buf[pos + 2 : (pos := pos + 1 + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos + 1)
                        if n == 0:
                            raise BadField("status.status_detail")
                        n -= 1
                        here = pos
                        pos = here + n
                        status_status_detail = long_text(buf, here, pos)
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    status.append(Status(status_status_code, status_status_detail))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        active_tasks: list[TaskIds] | None
        if n < 0:
            active_tasks = None
        else:
            room -= n * 204
            if room < 0:
                room = verify(StreamsGroupHeartbeatResponse, version, buf, start, pos + n)
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
                    room = verify(StreamsGroupHeartbeatResponse, version, buf, start, pos + n)
                active_tasks_partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                active_tasks.append(TaskIds(active_tasks_subtopology_id, active_tasks_partitions))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        standby_tasks: list[TaskIds] | None
        if n < 0:
            standby_tasks = None
        else:
            room -= n * 204
            if room < 0:
                room = verify(StreamsGroupHeartbeatResponse, version, buf, start, pos + n)
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
                    room = verify(StreamsGroupHeartbeatResponse, version, buf, start, pos + n)
                standby_tasks_partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                standby_tasks.append(TaskIds(standby_tasks_subtopology_id, standby_tasks_partitions))
        n = buf[pos]
        pos += 1
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        warmup_tasks: list[TaskIds] | None
        if n < 0:
            warmup_tasks = None
        else:
            room -= n * 204
            if room < 0:
                room = verify(StreamsGroupHeartbeatResponse, version, buf, start, pos + n)
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
                    room = verify(StreamsGroupHeartbeatResponse, version, buf, start, pos + n)
                warmup_tasks_partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += n * 4
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                warmup_tasks.append(TaskIds(warmup_tasks_subtopology_id, warmup_tasks_partitions))
        endpoint_information_epoch, n = unpack_iB(buf, pos)
        pos += 5
        if n >= 0x80:
            n, pos = read_uvarint(buf, pos - 1)
        n -= 1
        partitions_by_user_endpoint: list[EndpointToPartitions] | None
        if n < 0:
            partitions_by_user_endpoint = None
        else:
            room -= n * 348
            if room < 0:
                room = verify(StreamsGroupHeartbeatResponse, version, buf, start, pos + n)
            partitions_by_user_endpoint = []
            partitions_by_user_endpoint_count = n
            for _ in range(partitions_by_user_endpoint_count):
                n = buf[pos]
                if 0 < n < 0x80:
                    partitions_by_user_endpoint_user_endpoint_host = buf[pos + 1 : (pos := pos + n)].decode()
                else:
                    n, pos = read_string_size(buf, pos)
                    if n == 0:
                        raise BadField("partitions_by_user_endpoint.user_endpoint.host")
                    n -= 1
                    here = pos
                    pos = here + n
                    partitions_by_user_endpoint_user_endpoint_host = long_text(buf, here, pos)
                partitions_by_user_endpoint_user_endpoint_port, n = unpack_HB(buf, pos)
                pos += 3
                if n:
                    pos = skip_tags(buf, pos - 1)
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                partitions_by_user_endpoint_active_partitions: list[TopicPartition]
                if n < 0:
                    raise BadField("partitions_by_user_endpoint.active_partitions")
                room -= n * 204
                if room < 0:
                    room = verify(StreamsGroupHeartbeatResponse, version, buf, start, pos + n)
                partitions_by_user_endpoint_active_partitions = []
                partitions_by_user_endpoint_active_partitions_count = n
                for _ in range(partitions_by_user_endpoint_active_partitions_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        partitions_by_user_endpoint_active_partitions_topic = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("partitions_by_user_endpoint.active_partitions.topic")
                        n -= 1
                        here = pos
                        pos = here + n
                        partitions_by_user_endpoint_active_partitions_topic = long_text(buf, here, pos)
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    partitions_by_user_endpoint_active_partitions_partitions: list[int]
                    if n < 0:
                        raise BadField("partitions_by_user_endpoint.active_partitions.partitions")
                    room -= n * 40
                    if room < 0:
                        room = verify(StreamsGroupHeartbeatResponse, version, buf, start, pos + n)
                    partitions_by_user_endpoint_active_partitions_partitions = list(unpack_from(f">{n}i", buf, pos))
                    pos += n * 4
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    partitions_by_user_endpoint_active_partitions.append(TopicPartition(partitions_by_user_endpoint_active_partitions_topic, partitions_by_user_endpoint_active_partitions_partitions))
                n = buf[pos]
                pos += 1
                if n >= 0x80:
                    n, pos = read_uvarint(buf, pos - 1)
                n -= 1
                partitions_by_user_endpoint_standby_partitions: list[TopicPartition]
                if n < 0:
                    raise BadField("partitions_by_user_endpoint.standby_partitions")
                room -= n * 204
                if room < 0:
                    room = verify(StreamsGroupHeartbeatResponse, version, buf, start, pos + n)
                partitions_by_user_endpoint_standby_partitions = []
                partitions_by_user_endpoint_standby_partitions_count = n
                for _ in range(partitions_by_user_endpoint_standby_partitions_count):
                    n = buf[pos]
                    if 0 < n < 0x80:
                        partitions_by_user_endpoint_standby_partitions_topic = buf[pos + 1 : (pos := pos + n)].decode()
                    else:
                        n, pos = read_string_size(buf, pos)
                        if n == 0:
                            raise BadField("partitions_by_user_endpoint.standby_partitions.topic")
                        n -= 1
                        here = pos
                        pos = here + n
                        partitions_by_user_endpoint_standby_partitions_topic = long_text(buf, here, pos)
                    n = buf[pos]
                    pos += 1
                    if n >= 0x80:
                        n, pos = read_uvarint(buf, pos - 1)
                    n -= 1
                    partitions_by_user_endpoint_standby_partitions_partitions: list[int]
                    if n < 0:
                        raise BadField("partitions_by_user_endpoint.standby_partitions.partitions")
                    room -= n * 40
                    if room < 0:
                        room = verify(StreamsGroupHeartbeatResponse, version, buf, start, pos + n)
                    partitions_by_user_endpoint_standby_partitions_partitions = list(unpack_from(f">{n}i", buf, pos))
                    pos += n * 4
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos - 1)
                    partitions_by_user_endpoint_standby_partitions.append(TopicPartition(partitions_by_user_endpoint_standby_partitions_topic, partitions_by_user_endpoint_standby_partitions_partitions))
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos - 1)
                partitions_by_user_endpoint.append(EndpointToPartitions(Endpoint(partitions_by_user_endpoint_user_endpoint_host, partitions_by_user_endpoint_user_endpoint_port), partitions_by_user_endpoint_active_partitions, partitions_by_user_endpoint_standby_partitions))
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos - 1)
        return StreamsGroupHeartbeatResponse(throttle_time_ms, error_code, error_message, member_id, member_epoch, heartbeat_interval_ms, acceptable_recovery_lag, task_offset_interval_ms, status, active_tasks, standby_tasks, warmup_tasks, endpoint_information_epoch, partitions_by_user_endpoint), pos
    except DECODE_ERRORS as error:
        raise decode_failure(error, StreamsGroupHeartbeatResponse, version, buf, start, pos) from None


def encode_streams_group_heartbeat_response_v0(msg: StreamsGroupHeartbeatResponse, out: bytearray, version: int = 0) -> None:
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
        raw = msg.member_id.encode()
        n = len(raw) + 1
        if n < 0x80:
            out.append(n)
        else:
            out += write_string_size(n)
        out += raw
        status = msg.status
        if status is None:
            out += pack_iiiix(msg.member_epoch, msg.heartbeat_interval_ms, msg.acceptable_recovery_lag, msg.task_offset_interval_ms)
        else:
            n = len(status) + 1
            if n < 0x80:
                out += pack_iiiiB(msg.member_epoch, msg.heartbeat_interval_ms, msg.acceptable_recovery_lag, msg.task_offset_interval_ms, n)
            else:
                out += pack_iiii(msg.member_epoch, msg.heartbeat_interval_ms, msg.acceptable_recovery_lag, msg.task_offset_interval_ms)
                out += write_uvarint(n)
            for status_item in status:
                if status_item.status_detail == "":
                    out += pack_bBx(status_item.status_code, 1)
                    continue
                raw = status_item.status_detail.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out += pack_bB(status_item.status_code, n)
                else:
                    out += pack_b(status_item.status_code)
                    out += write_string_size(n)
                out += raw
                out.append(0)
        active_tasks = msg.active_tasks
        if active_tasks is None:
            out.append(0)
        else:
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
        if standby_tasks is None:
            out.append(0)
        else:
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
        if warmup_tasks is None:
            out.append(0)
        else:
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
        partitions_by_user_endpoint = msg.partitions_by_user_endpoint
        if partitions_by_user_endpoint is None:
            out += pack_ix(msg.endpoint_information_epoch)
        else:
            n = len(partitions_by_user_endpoint) + 1
            if n < 0x80:
                out += pack_iB(msg.endpoint_information_epoch, n)
            else:
                out += pack_i(msg.endpoint_information_epoch)
                out += write_uvarint(n)
            for partitions_by_user_endpoint_item in partitions_by_user_endpoint:
                partitions_by_user_endpoint_user_endpoint = partitions_by_user_endpoint_item.user_endpoint
                raw = partitions_by_user_endpoint_user_endpoint.host.encode()
                n = len(raw) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_string_size(n)
                out += raw
                partitions_by_user_endpoint_active_partitions = partitions_by_user_endpoint_item.active_partitions
                n = len(partitions_by_user_endpoint_active_partitions) + 1
                if n < 0x80:
                    out += pack_HxB(partitions_by_user_endpoint_user_endpoint.port, n)
                else:
                    out += pack_Hx(partitions_by_user_endpoint_user_endpoint.port)
                    out += write_uvarint(n)
                for partitions_by_user_endpoint_active_partitions_item in partitions_by_user_endpoint_active_partitions:
                    raw = partitions_by_user_endpoint_active_partitions_item.topic.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    partitions_by_user_endpoint_active_partitions_partitions = partitions_by_user_endpoint_active_partitions_item.partitions
                    n = len(partitions_by_user_endpoint_active_partitions_partitions) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += pack_i(*partitions_by_user_endpoint_active_partitions_partitions) if len(partitions_by_user_endpoint_active_partitions_partitions) == 1 else pack(f">{len(partitions_by_user_endpoint_active_partitions_partitions)}i", *partitions_by_user_endpoint_active_partitions_partitions)
                    out.append(0)
                partitions_by_user_endpoint_standby_partitions = partitions_by_user_endpoint_item.standby_partitions
                n = len(partitions_by_user_endpoint_standby_partitions) + 1
                if n < 0x80:
                    out.append(n)
                else:
                    out += write_uvarint(n)
                for partitions_by_user_endpoint_standby_partitions_item in partitions_by_user_endpoint_standby_partitions:
                    raw = partitions_by_user_endpoint_standby_partitions_item.topic.encode()
                    n = len(raw) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_string_size(n)
                    out += raw
                    partitions_by_user_endpoint_standby_partitions_partitions = partitions_by_user_endpoint_standby_partitions_item.partitions
                    n = len(partitions_by_user_endpoint_standby_partitions_partitions) + 1
                    if n < 0x80:
                        out.append(n)
                    else:
                        out += write_uvarint(n)
                    out += pack_i(*partitions_by_user_endpoint_standby_partitions_partitions) if len(partitions_by_user_endpoint_standby_partitions_partitions) == 1 else pack(f">{len(partitions_by_user_endpoint_standby_partitions_partitions)}i", *partitions_by_user_endpoint_standby_partitions_partitions)
                    out.append(0)
                out.append(0)
        out.append(0)
    except ENCODE_ERRORS as error:
        del out[start:]
        raise encode_failure(error, "StreamsGroupHeartbeatResponse", version) from error


DECODERS: dict[type[Message], dict[int, Decoder[Any]]] = {
    StreamsGroupHeartbeatRequest: {
        0: decode_streams_group_heartbeat_request_v0,
    },
    StreamsGroupHeartbeatResponse: {
        0: decode_streams_group_heartbeat_response_v0,
    },
}


ENCODERS: dict[type[Message], dict[int, Encoder[Any]]] = {
    StreamsGroupHeartbeatRequest: {
        0: encode_streams_group_heartbeat_request_v0,
    },
    StreamsGroupHeartbeatResponse: {
        0: encode_streams_group_heartbeat_response_v0,
    },
}
