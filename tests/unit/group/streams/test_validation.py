"""The checks of a StreamsGroupHeartbeat that need no state (KIP-1071)."""

from __future__ import annotations

from typing import Any

import pytest

from protocol.error_codes import ErrorCode
from protocol.messages.streams_group_heartbeat import (
    KeyValue,
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TaskIds,
    TaskOffset,
    TopicInfo,
    Topology,
)
from tests.support.streams_beats import StreamsBeats, topology

INVALID, INVALID_TOPOLOGY, UNKNOWN = ErrorCode.INVALID_REQUEST, ErrorCode.STREAMS_INVALID_TOPOLOGY, ErrorCode.UNKNOWN_SERVER_ERROR


def joining(**fields: Any) -> StreamsGroupHeartbeatRequest:
    given: dict[str, Any] = {
        "group_id": "g",
        "member_id": "m",
        "rebalance_timeout_ms": 1000,
        "topology": topology(),
        "active_tasks": [],
        "standby_tasks": [],
        "warmup_tasks": [],
        "process_id": "p",
    }
    return StreamsGroupHeartbeatRequest(**(given | fields))


def with_subtopology(**fields: Any) -> Topology:
    return Topology(0, [Subtopology("0", ["t"], **fields)])


@pytest.mark.parametrize(
    ("request_", "error", "message"),
    [
        (joining(instance_id="i"), INVALID, "Static membership is not yet supported."),
        (joining(task_offsets=[TaskOffset("0", 1, 2)]), INVALID, "TaskOffsets are not supported yet."),
        (joining(task_end_offsets=[]), INVALID, "TaskEndOffsets are not supported yet."),
        (joining(warmup_tasks=[TaskIds("0", [1])]), INVALID, "WarmupTasks are not supported yet."),
        (
            joining(topology=with_subtopology(source_topic_regex=["t.*"])),
            INVALID,
            "Regular expressions for source topics are not supported yet.",
        ),
        (joining(member_id=" "), INVALID, "MemberId can't be empty."),
        (joining(group_id=""), INVALID, "GroupId can't be empty."),
        (joining(rack_id=""), INVALID, "RackId can't be empty."),
        (joining(rebalance_timeout_ms=-1), INVALID, "RebalanceTimeoutMs must be provided in first request."),
        (joining(active_tasks=[TaskIds("0", [1])]), INVALID, "ActiveTasks must be empty when (re-)joining."),
        (joining(standby_tasks=None), INVALID, "StandbyTasks must be empty when (re-)joining."),
        (joining(warmup_tasks=None), INVALID, "WarmupTasks must be empty when (re-)joining."),
        (joining(topology=None), INVALID, "Topology must be non-null when (re-)joining."),
        (joining(member_epoch=-2), INVALID, "InstanceId can't be null."),
        (joining(member_epoch=-3), INVALID, "MemberEpoch is -3, but must be greater than or equal to -2."),
        (joining(member_epoch=1, standby_tasks=None), INVALID, "If one task-type is non-null, all must be non-null."),
        (joining(member_epoch=1), INVALID, "Topology can only be provided when (re-)joining."),
        (
            joining(topology=with_subtopology(state_changelog_topics=[TopicInfo("c", 3)])),
            INVALID_TOPOLOGY,
            "Changelog topic c must have an undefined partition count, but it is set to 3.",
        ),
        (
            joining(instance_id="i", topology=topology(0, "__consumer_offsets", "u/v")),
            INVALID_TOPOLOGY,
            "Use of Kafka internal topics __consumer_offsets in a Kafka Streams topology is prohibited.",
        ),
        (
            joining(instance_id="i", topology=with_subtopology(repartition_sink_topics=["a/b", "..", "ok"])),
            INVALID_TOPOLOGY,
            "Topic names a/b,.. are not valid topic names.",
        ),
        (joining(topology=Topology(0, [Subtopology("0", ["t"]), Subtopology("0", ["u"])])), UNKNOWN, None),
        (joining(client_tags=[KeyValue("zone", "a"), KeyValue("zone", "b")]), UNKNOWN, None),
    ],
)
def test_an_invalid_request_is_refused(request_: StreamsGroupHeartbeatRequest, error: ErrorCode, message: str | None) -> None:
    """With Kafka's messages, in its order. Nothing is written."""
    beats = StreamsBeats(t=4)

    refused = beats.member("m").send(request_)

    assert (refused.error, refused.message) == (error, message)
    assert beats.records == []
