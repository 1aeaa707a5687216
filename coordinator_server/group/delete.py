"""DeleteGroups and OffsetDelete: the deletion of groups and offsets by an administrator (KIP-229, KIP-496)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from coordinator_server.group.registry import Groups
from coordinator_server.group.why import Why
from coordinator_server.machine.errors import CoordinatorError, operation_error
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.offsets.delete import LEAST_TOMBSTONE_BYTES, delete_all, delete_offsets
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.delete_groups import DeletableGroupResult
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse


def delete_groups(
    groups: Groups, group_ids: Iterable[str], max_batch_bytes: int
) -> CoordinatorResult[list[DeletableGroupResult]]:
    """Delete groups without members together with their offsets, in one operation. Each group has its own answer.

    A group whose tombstones cannot fit into a batch is refused before they are made.
    """
    results: list[DeletableGroupResult] = []
    records: list[CoordinatorRecord] = []
    deleted: list[str] = []
    for group_id in group_ids:
        group_type = groups.type_of(group_id)
        try:
            group_type.admit_delete(group_id)
            if groups.offsets_of(group_id) * LEAST_TOMBSTONE_BYTES > max_batch_bytes:
                raise CoordinatorError(operation_error(ErrorCode.MESSAGE_TOO_LARGE))
        except CoordinatorError as refused:
            results.append(DeletableGroupResult(group_id, refused.error))
            continue
        results.append(DeletableGroupResult(group_id, ErrorCode.NONE))
        records += [*delete_all(groups.offsets, groups.pending, group_id), *group_type.tombstones(group_id)]
        deleted.append(group_id)
    return CoordinatorResult(results, records, groups.ending(deleted), attribution=because(Reason(Why.GROUP_DELETED)))


def delete_group_offsets(groups: Groups, request: OffsetDeleteRequest) -> CoordinatorResult[OffsetDeleteResponse]:
    """Delete offsets of topics to which no member of the group is subscribed.

    Raises GROUP_ID_NOT_FOUND, and NON_EMPTY_GROUP if the members' subscriptions are unknown.
    """
    group_id = request.group_id
    group_type = groups.type_of(group_id)
    group_type.admit_offset_delete(group_id)
    is_subscribed = partial(group_type.is_subscribed_to, group_id)
    response, records = delete_offsets(groups.offsets, groups.pending, request, is_subscribed)
    if records and len(records) == groups.offsets_of(group_id):
        records += group_type.outliving_records(group_id)
    return CoordinatorResult(response, records, attribution=because(Reason(Why.OFFSETS_DELETED)))
