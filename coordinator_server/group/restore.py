"""The restore operation: an administrator sets all committed offsets of a group to earlier values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from coordinator_server.group.delete import tombstones
from coordinator_server.group.registry import Groups
from coordinator_server.group.why import Why
from coordinator_server.machine.block import BlockSequence, RecordBlock
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.machine.timeline import LATEST
from coordinator_server.offsets.block import CommitBlock
from coordinator_server.offsets.commit_topic import DecodedTopic
from protocol.error_codes import ErrorCode
from protocol.fields import ZERO_UUID
from protocol.messages.offset_commit import OffsetCommitRequestPartition


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
    changed: list[RestoredOffset] = []
    wanted = set()
    for each in request.offsets:
        wanted.add((each.topic, each.partition))
        known = present.get((each.topic, each.partition))
        if known is None or (known.committed_offset, known.leader_epoch, known.metadata) != (
            each.offset,
            each.leader_epoch,
            each.metadata,
        ):
            changed.append(each)
    doomed = [position for position in present if position not in wanted]
    blocks = [*_commits(groups, group_id, changed, now_ms), *tombstones(groups, group_id, doomed)]
    reason = Reason(Why.OFFSETS_RESTORED, said=request.as_of)
    records = BlockSequence(blocks) if blocks else ()
    return CoordinatorResult(Restored(len(changed), len(doomed)), records, attribution=because(reason))


def _commits(groups: Groups, group_id: str, offsets: Sequence[RestoredOffset], now_ms: int) -> list[RecordBlock]:
    """Return the records of these offsets, in order, or nothing if there are none."""
    topics: list[DecodedTopic] = []
    rows: list[list[OffsetCommitRequestPartition]] = []
    for (name, topic_id), run in groupby(offsets, key=lambda each: (each.topic, each.topic_id)):
        partitions = [OffsetCommitRequestPartition(each.partition, each.offset, each.leader_epoch, each.metadata) for each in run]
        topic = DecodedTopic(group_id, name, topic_id, len(partitions))
        if any(each.committed_metadata for each in partitions):
            topic.add_metadata(partitions)
        topics.append(topic)
        rows.append(partitions)
    return [CommitBlock(groups.offsets, group_id, now_ms, topics, rows)] if topics else []
