"""DeleteGroups and OffsetDelete: what an administrator may take away, and from which groups (KIP-229, KIP-496)."""

from __future__ import annotations

from functools import partial

from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.records import new_group_record
from coordinator_server.group.classic.state import EMPTY
from coordinator_server.group.classic.subscription import CONSUMER
from coordinator_server.group.groups import Groups
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.provenance import Reason, Why
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.offsets.delete import delete_all, delete_offsets
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.delete_groups import DeletableGroupResult
from protocol.messages.group_records import GroupMetadataKey
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse


def group_tombstone(group_id: str) -> CoordinatorRecord:
    """The record that ends a group."""
    return CoordinatorRecord(GroupMetadataKey(group_id), None)


def delete_groups(groups: Groups, group_ids: list[str]) -> CoordinatorResult[list[DeletableGroupResult]]:
    """Groups without members go, with all their offsets; each has its own answer, and all that can go do so in one operation."""
    results: list[DeletableGroupResult] = []
    records: list[CoordinatorRecord] = []
    deleted: list[ClassicGroup] = []
    for group_id in group_ids:
        error = _refusal(groups, group_id)
        results.append(DeletableGroupResult(group_id, error))
        if error == ErrorCode.NONE:
            own = groups.unserved.tombstones(group_id) or [group_tombstone(group_id)]
            records += [*delete_all(groups.offsets, groups.pending, group_id), *own]
            living = groups.living(group_id)
            if living is not None:
                deleted.append(living)
    return CoordinatorResult(results, records, partial(groups.put_back, deleted), reasons=[Reason(Why.GROUP_DELETED)])


def delete_group_offsets(groups: Groups, request: OffsetDeleteRequest) -> CoordinatorResult[OffsetDeleteResponse]:
    """Offsets of topics that nobody in the group consumes. Raises GROUP_ID_NOT_FOUND, and NON_EMPTY_GROUP where that cannot be told."""
    if groups.unserved.admit_offset_delete(request.group_id):
        response, records = delete_offsets(groups.offsets, groups.pending, request, lambda _topic: False)
        return CoordinatorResult(response, records, reasons=[Reason(Why.OFFSETS_DELETED)])
    group = groups.find(request.group_id)
    if group is None:
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND)
    if group.state is not EMPTY and group.protocol_type != CONSUMER:
        raise CoordinatorError(ErrorCode.NON_EMPTY_GROUP)
    response, records = delete_offsets(groups.offsets, groups.pending, request, group.is_subscribed_to)
    if records and len(records) == groups.offsets_of(request.group_id):
        records += outliving_record(groups, request.group_id)
    return CoordinatorResult(response, records, reasons=[Reason(Why.OFFSETS_DELETED)])


def outliving_record(groups: Groups, group_id: str) -> list[CoordinatorRecord]:
    """For a group whose last offset goes, and of which the log knows nothing else: it stays until the next retention check, as in Kafka.

    There it stays in memory; here a group is what the log knows of it. It may have members by now, who have not synced yet.
    """
    if group_id in groups.stored or group_id in groups.unserved.by_id:
        return []
    group = groups.find(group_id)
    return [] if group is None else [new_group_record(group)]


def _refusal(groups: Groups, group_id: str) -> ErrorCode:
    if group_id in groups.unserved.by_id:
        return ErrorCode.NON_EMPTY_GROUP if groups.unserved.by_id[group_id].has_members() else ErrorCode.NONE
    group = groups.find(group_id)
    if group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND
    return ErrorCode.NONE if group.state is EMPTY else ErrorCode.NON_EMPTY_GROUP
