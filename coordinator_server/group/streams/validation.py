"""The checks of a StreamsGroupHeartbeat that need no state, in Kafka's order and with its messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from coordinator_server.group.common.validation import require, require_text
from coordinator_server.group.streams.member import LEAVE_GROUP_STATIC_EPOCH, NOT_GIVEN
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.topic_names import name_problem
from protocol.error_codes import ErrorCode
from protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, Topology

JOIN_EPOCH: Final = 0
_INTERNAL: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


def topics_of(topology: Topology | None) -> list[str]:
    """Return the topics that a topology names, each once, in Kafka's order."""
    return [] if topology is None else list(dict.fromkeys(_names(topology)))


def _names(topology: Topology) -> Iterator[str]:
    for each in topology.subtopologies:
        yield from each.source_topics
        yield from each.repartition_sink_topics
        yield from (topic.name for topic in each.repartition_source_topics)
        yield from (topic.name for topic in each.state_changelog_topics)


def validate_names(topology: Topology | None) -> None:
    """Refuse topics that no topology may have. Kafka does it before anything else. Raises STREAMS_INVALID_TOPOLOGY."""
    names = topics_of(topology)
    internal = [name for name in names if name in _INTERNAL]
    if internal:
        raise _invalid(f"Use of Kafka internal topics {','.join(internal)} in a Kafka Streams topology is prohibited.")
    invalid = [name for name in names if name_problem(name) is not None]
    if invalid:
        raise _invalid(f"Topic names {','.join(invalid)} are not valid topic names.")


def validate(request: StreamsGroupHeartbeatRequest) -> None:
    """Refuse an invalid request. Raises INVALID_REQUEST and STREAMS_INVALID_TOPOLOGY."""
    validate_names(request.topology)
    _refuse_unsupported(request)
    require_text(request.member_id, "MemberId can't be empty.")
    require_text(request.group_id, "GroupId can't be empty.")
    require_text(request.rack_id, "RackId can't be empty.")
    topology, epoch = request.topology, request.member_epoch
    tasks: tuple[Sequence[Any] | None, ...] = (request.active_tasks, request.standby_tasks, request.warmup_tasks)
    if epoch == JOIN_EPOCH:
        require(request.rebalance_timeout_ms != NOT_GIVEN, "RebalanceTimeoutMs must be provided in first request.")
        for name, listed in zip(("ActiveTasks", "StandbyTasks", "WarmupTasks"), tasks, strict=True):
            require(listed is not None and not listed, f"{name} must be empty when (re-)joining.")
        require(topology is not None, "Topology must be non-null when (re-)joining.")
        assert topology is not None
        _refuse_counts(topology)
    elif epoch == LEAVE_GROUP_STATIC_EPOCH:
        require(request.instance_id is not None, "InstanceId can't be null.")
    else:
        require(epoch > LEAVE_GROUP_STATIC_EPOCH, f"MemberEpoch is {epoch}, but must be greater than or equal to -2.")
    is_none, is_some = any(each is None for each in tasks), any(each is not None for each in tasks)
    require(not (is_none and is_some), "If one task-type is non-null, all must be non-null.")
    if epoch != JOIN_EPOCH:
        require(topology is None, "Topology can only be provided when (re-)joining.")


def _refuse_unsupported(request: StreamsGroupHeartbeatRequest) -> None:
    """Refuse what Kafka 4.3 has in the protocol and does not support."""
    require(request.instance_id is None, "Static membership is not yet supported.")
    require(request.task_offsets is None, "TaskOffsets are not supported yet.")
    require(request.task_end_offsets is None, "TaskEndOffsets are not supported yet.")
    require(not request.warmup_tasks, "WarmupTasks are not supported yet.")
    for each in request.topology.subtopologies if request.topology is not None else ():
        require(not each.source_topic_regex, "Regular expressions for source topics are not supported yet.")


def _refuse_counts(topology: Topology) -> None:
    for each in topology.subtopologies:
        for topic in each.state_changelog_topics:
            if topic.partitions:
                raise _invalid(
                    f"Changelog topic {topic.name} must have an undefined partition count, but it is set to {topic.partitions}."
                )


def _invalid(message: str) -> CoordinatorError:
    return CoordinatorError(ErrorCode.STREAMS_INVALID_TOPOLOGY, message)
