"""DeleteGroups and OffsetDelete: the deletion of groups and offsets by an administrator (KIP-229, KIP-496)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from msgspec.structs import replace

from coordinator_server.group.registry import Groups
from coordinator_server.group.share.group_deletion import StatesOfGroups, Then, has_states
from coordinator_server.group.why import Why
from coordinator_server.machine.block import BlockSequence, RecordBlock
from coordinator_server.machine.errors import CoordinatorError, operation_error
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult, Reply
from coordinator_server.offsets.block import Tombstones
from coordinator_server.offsets.delete import LEAST_TOMBSTONE_BYTES, delete_offsets, positions_of
from coordinator_server.offsets.store import TopicPartition
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.delete_groups import DeletableGroupResult
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse

DeleteReply: TypeAlias = Reply[list[DeletableGroupResult]]


def delete_groups(
    groups: Groups, group_ids: Iterable[str], max_batch_bytes: int, reply: DeleteReply
) -> CoordinatorResult[list[DeletableGroupResult]]:
    """Delete groups without members together with their offsets, in one operation. Each group has its own answer.

    If there are share groups with states, these are deleted first, and then all groups. One whose states change is refused.
    """
    names = list(group_ids)
    states = StatesOfGroups(groups.share_context, names)
    refused = dict.fromkeys(states.changing, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    if not states.records:
        return _delete(groups, names, max_batch_bytes, refused)
    groups.share_context.parked.park(reply)
    then = partial(_delete_rest, groups, names, max_batch_bytes, reply, states)
    begin = partial(_delete_states, groups, states, then, reply)
    why = because(Reason(Why.GROUP_DELETED))
    return CoordinatorResult(DEFERRED, states.records, begin, is_atomic=False, attribution=why)


def _delete_states(groups: Groups, states: StatesOfGroups, then: Then, reply: DeleteReply, error: ErrorCode | None) -> None:
    if error is not None:
        groups.share_context.parked.fail(reply, error)
    else:
        states.delete(then)


def _delete_rest(
    groups: Groups,
    names: Sequence[str],
    max_batch_bytes: int,
    reply: DeleteReply,
    states: StatesOfGroups,
    errors: Mapping[str, ErrorCode],
) -> None:
    """Delete the groups in an operation of its own. Those whose states are left, or come back, are refused."""
    share = groups.share_context

    def delete() -> CoordinatorResult[Any]:
        changing = [*states.changing, *(name for name in names if has_states(share, name))]
        refused = {**dict.fromkeys(changing, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS), **errors}
        known = states.topics()
        result = _delete(groups, names, max_batch_bytes, refused, states.closed)

        def answer(error: ErrorCode | None) -> None:
            if result.on_append is not None:
                result.on_append(error)
            if error is None:
                share.parked.complete(reply, result.response)
                return
            share.parked.fail(reply, error)
            states.close_later(known)

        return replace(result, response=DEFERRED, on_append=answer)

    share.timer.schedule(("delete-groups", id(reply)), 0, delete)


def _delete(
    groups: Groups,
    group_ids: Iterable[str],
    max_batch_bytes: int,
    refused: Mapping[str, ErrorCode],
    closed: Callable[[Iterable[str]], list[CoordinatorRecord]] = lambda _: [],
) -> CoordinatorResult[list[DeletableGroupResult]]:
    """Delete the groups that may be deleted now. ``closed`` returns what is to be written of those that stay.

    A group whose tombstones cannot fit into a batch is refused before they are made.
    """
    results: list[DeletableGroupResult] = []
    blocks: list[RecordBlock] = []
    ends: list[CoordinatorRecord] = []
    deleted: list[str] = []
    for group_id in group_ids:
        group_type = groups.type_of(group_id)
        try:
            group_type.admit_delete(group_id)
            if group_id in refused:
                raise CoordinatorError(refused[group_id])
            if groups.offsets_of(group_id) * LEAST_TOMBSTONE_BYTES > max_batch_bytes:
                raise CoordinatorError(operation_error(ErrorCode.MESSAGE_TOO_LARGE))
        except CoordinatorError as problem:
            results.append(DeletableGroupResult(group_id, problem.error))
            continue
        results.append(DeletableGroupResult(group_id, ErrorCode.NONE))
        blocks += tombstones(groups, group_id, positions_of(groups.offsets, groups.pending, group_id))
        ends += group_type.tombstones(group_id)
        deleted.append(group_id)
    ends += closed(result.group_id for result in results if result.error_code != ErrorCode.NONE)
    records = BlockSequence([*blocks, groups.block_of(ends)]) if ends else ()
    return CoordinatorResult(results, records, groups.ending(deleted), attribution=because(Reason(Why.GROUP_DELETED)))


def tombstones(groups: Groups, group_id: str, positions: Sequence[TopicPartition]) -> list[RecordBlock]:
    """Return the deletion of these offsets, or nothing if there are none."""
    return [Tombstones(groups.offsets, group_id, positions)] if positions else []


def delete_group_offsets(groups: Groups, request: OffsetDeleteRequest) -> CoordinatorResult[OffsetDeleteResponse]:
    """Delete offsets of topics to which no member of the group is subscribed.

    Raises GROUP_ID_NOT_FOUND, and NON_EMPTY_GROUP if the members' subscriptions are unknown.
    """
    group_id = request.group_id
    group_type = groups.type_of(group_id)
    group_type.admit_offset_delete(group_id)
    is_subscribed = partial(group_type.is_subscribed_to, group_id)
    response, doomed = delete_offsets(groups.offsets, groups.pending, request, is_subscribed)
    blocks = tombstones(groups, group_id, doomed)
    if doomed and len(doomed) == groups.offsets_of(group_id):
        outliving = group_type.outliving_records(group_id)
        blocks += [groups.block_of(outliving)] if outliving else []
    records = BlockSequence(blocks) if blocks else ()
    return CoordinatorResult(response, records, attribution=because(Reason(Why.OFFSETS_DELETED)))
