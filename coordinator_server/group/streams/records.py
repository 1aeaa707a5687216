"""The record types of streams groups, and records that other groups do not have (``StreamsCoordinatorRecordHelpers``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from coordinator_server.group.assign.tasks import NO_TASKS, TaskAssignment, Tasks
from coordinator_server.group.modern.limits import texts_bytes
from coordinator_server.group.modern.records import GroupRecords, TargetForm
from coordinator_server.group.streams.member import NO_ASSIGNMENT, NO_METADATA, read_tasks
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages import streams_group_records as streams


def _read_target(value: streams.StreamsGroupTargetAssignmentMemberValue) -> TaskAssignment:
    return TaskAssignment(read_tasks(value.active_tasks), read_tasks(value.standby_tasks), read_tasks(value.warmup_tasks))


def _target(target: TaskAssignment) -> streams.StreamsGroupTargetAssignmentMemberValue:
    kinds = (_task_ids(target.active), _task_ids(target.standby), _task_ids(target.warmup))
    return streams.StreamsGroupTargetAssignmentMemberValue(*kinds)


def _task_ids(tasks: Tasks) -> list[streams.StreamsGroupTargetAssignmentMemberTaskIds]:
    return [streams.StreamsGroupTargetAssignmentMemberTaskIds(*each) for each in tasks.items()]


def _metadata_bytes(metadata: streams.StreamsGroupMemberMetadataValue) -> int:
    texts = [metadata.rack_id, metadata.client_id, metadata.client_host, metadata.process_id]
    if metadata.user_endpoint is not None:
        texts.append(metadata.user_endpoint.host)
    return texts_bytes(texts, [each.key + each.value for each in metadata.client_tags])


RECORDS: Final = GroupRecords(
    type_name="streams",
    epoch_key=streams.StreamsGroupMetadataKey,
    epoch_value=streams.StreamsGroupMetadataValue,
    target_epoch_key=streams.StreamsGroupTargetAssignmentMetadataKey,
    target_epoch_value=streams.StreamsGroupTargetAssignmentMetadataValue,
    member_key=streams.StreamsGroupMemberMetadataKey,
    current_key=streams.StreamsGroupCurrentMemberAssignmentKey,
    target_key=streams.StreamsGroupTargetAssignmentMemberKey,
    target_form=TargetForm(_read_target, _target, NO_TASKS),
    no_epoch=streams.StreamsGroupMetadataValue(epoch=1, validated_topology_epoch=0),
    no_target_epoch=streams.StreamsGroupTargetAssignmentMetadataValue(assignment_epoch=1),
    no_metadata=NO_METADATA,
    no_current=NO_ASSIGNMENT,
    metadata_bytes=_metadata_bytes,
)


def epoch_record(
    group_id: str, epoch: int, metadata_hash: int, validated_topology_epoch: int, assignment_configs: Mapping[str, str]
) -> CoordinatorRecord:
    """Return the record of a group's epoch. ``validated_topology_epoch`` is -1 if the topology is not ready."""
    configs = [streams.LastAssignmentConfig(*each) for each in sorted(assignment_configs.items())]
    value = streams.StreamsGroupMetadataValue(epoch, metadata_hash, validated_topology_epoch, configs)
    return CoordinatorRecord(streams.StreamsGroupMetadataKey(group_id), value)


def next_epoch_record(group_id: str, value: streams.StreamsGroupMetadataValue) -> CoordinatorRecord:
    """Return the record of the epoch after ``value``, with nothing else changed."""
    return CoordinatorRecord(streams.StreamsGroupMetadataKey(group_id), replace(value, epoch=value.epoch + 1))


def topology_record(group_id: str, value: streams.StreamsGroupTopologyValue) -> CoordinatorRecord:
    """Return the record of a group's topology."""
    return CoordinatorRecord(streams.StreamsGroupTopologyKey(group_id), value)
