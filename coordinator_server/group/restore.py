"""The restore operation: an administrator sets all committed offsets of a group to earlier values."""

from __future__ import annotations

from msgspec import Struct

from coordinator_server.group.registry import Groups
from coordinator_server.group.why import Why
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.machine.timeline import LATEST
from coordinator_server.offsets.delete import tombstone
from protocol.commit_records import VALUE_VERSION
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.fields import ZERO_UUID
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue


class RestoredOffset(Struct):
    """An offset that the group gets."""

    topic: str
    partition: int
    offset: int
    leader_epoch: int = -1
    metadata: str = ""
    topic_id: bytes = ZERO_UUID


class Restore(Struct):
    """The request: all offsets that the group gets. Its other offsets are deleted. ``as_of`` is logged as the given reason."""

    group_id: str
    offsets: list[RestoredOffset]
    as_of: str = ""


class Restored(Struct):
    """The numbers of offsets written and deleted."""

    written: int
    deleted: int


def restore_offsets(groups: Groups, request: Restore, now_ms: int) -> CoordinatorResult[Restored]:
    """Write the offsets that differ, and delete the others.

    Raises the refusals of the group's type, and UNSTABLE_OFFSET_COMMIT while an open transaction has offsets of the group.
    """
    group_id = request.group_id
    groups.type_of(group_id).admit_restore(group_id)
    if group_id in groups.pending:
        raise CoordinatorError(ErrorCode.UNSTABLE_OFFSET_COMMIT, f"group {group_id} has transactions that have not ended")
    found = groups.offsets.of_group_at(group_id, LATEST)
    present = {} if found is None else dict(found.items())
    records: list[CoordinatorRecord] = []
    wanted = set()
    for each in request.offsets:
        wanted.add((each.topic, each.partition))
        known = present.get((each.topic, each.partition))
        if known is None or (known.committed_offset, known.leader_epoch, known.metadata) != (
            each.offset,
            each.leader_epoch,
            each.metadata,
        ):
            value = OffsetCommitValue(each.offset, each.leader_epoch, each.metadata, now_ms, -1, each.topic_id)
            records.append(CoordinatorRecord(OffsetCommitKey(group_id, each.topic, each.partition), value, VALUE_VERSION))
    written = len(records)
    records += [tombstone(group_id, *position) for position in present if position not in wanted]
    reason = Reason(Why.OFFSETS_RESTORED, said=request.as_of)
    return CoordinatorResult(Restored(written, len(records) - written), records, attribution=because(reason))
