"""One group over time, read from the log of its shard: the events of its life, and its state at a given time.

Only batches that contain the group's id are decoded. All segments that are left are read, and the layer before them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from coordinator_server.kinds import GROUPS
from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import JobShard, ShardInput
from coordinator_server.log.opening import identity_of, job_shard
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.files import batches_before, first_after, stands_for_lost
from coordinator_server.pipeline.input.topic_names import NO_NAMES, TopicNames
from coordinator_server.pipeline.replay.group_events import Event
from coordinator_server.pipeline.replay.group_ledger import GroupLedger
from coordinator_server.pipeline.states.groups import empty_shard, groups_of
from coordinator_server.pipeline.states.shown_group import Group
from coordinator_server.runtime.loader import BatchReplay
from coordinator_server.runtime.partitioner import partition_for
from protocol.coordinator_records import GROUP_SERDE
from protocol.errors import DecodeError
from protocol.record_batch import BatchHeader


class GroupAt(Struct):
    """A group after the records of its shard before ``offset``; ``group`` is None if it did not exist.

    Some records before ``lost_to`` are missing since a salvage, and no layer stands for them. 0 if none is.
    """

    group: Group | None
    shard: str
    offset: int
    lost_to: int = 0


def shard_of(data_dir: Path, group_id: str) -> JobShard:
    """Return the shard that owns a group."""
    partitions = identity_of(data_dir).partition_count(GROUPS.topic)
    return job_shard(data_dir / f"{GROUPS.topic}-{partition_for(group_id, partitions)}")


def events(shard: JobShard, ledger: GroupLedger, upto: int) -> Iterator[Event]:
    """Return what happened to the group of a ledger, with who did it and why: all records before ``upto``, in order.

    Raises DamagedLog, PipelineError.
    """
    _check_written(shard, ledger.group_id)
    return chain.from_iterable(ledger.add(*batch) for batch in batches_before(shard.whole(upto)[1], upto))


def group_at(shard: JobShard, group_id: str, at_ms: int, upto: int, names: TopicNames = NO_NAMES) -> GroupAt:
    """Return the group after all records before the first one that was appended after ``at_ms``.

    Raises CannotRun for a time before the history.
    """
    _check_written(shard, group_id)
    where = _Where(shard.name, group_id, names)
    found = _group_at(shard.whole(upto), where, at_ms, upto)
    behind = shard.behind_loss(found.lost_to, found.offset) if found.lost_to else None
    return found if behind is None else _group_at(behind, where, at_ms, found.offset)


class _Where(NamedTuple):
    """The shard and the group that are looked for."""

    name: str
    group_id: str
    names: TopicNames


def _group_at(source: ShardInput, where: _Where, at_ms: int, upto: int) -> GroupAt:
    layer, files = source
    name, group_id, names = where
    shard = empty_shard()
    replay = BatchReplay(GROUP_SERDE, shard).replay
    offset: int | None = None
    lost_to = 0
    try:
        for data, position, header in batches_before(files, upto):
            if stands_for_lost(header, layer):
                lost_to = header.next_offset
            offset = first_after(data, position, header, at_ms)
            if _mentions(group_id.encode(), data, position, header):
                replay(data[position : position + header.size], upto if offset is None else offset)
            if offset is not None:
                break
    except DecodeError as error:
        raise DamagedLog(name, 0, f"a record that cannot be read: {error}") from error
    if layer is not None and offset is not None and offset < layer.to_offset:
        raise CannotRun(
            f"the history of {name} begins at offset {layer.to_offset}: what was before is kept compacted only"
            " (log.history.retention.ms says how long segments are kept)"
        )
    found = [group for group in groups_of(shard, names=names) if group.group_id == group_id]
    return GroupAt(found[0] if found else None, name, upto if offset is None else offset, lost_to)


def _check_written(shard: JobShard, group_id: str) -> None:
    if not shard.exists():
        raise PipelineError(f"the history of {shard.name} does not mention group {group_id}: nothing was ever written there")


def _mentions(group_id: bytes, data: bytes, position: int, header: BatchHeader) -> bool:
    """Return whether the batch contains the group's id, or may: it is compressed, or the end of a transaction."""
    return bool(header.is_control or header.compression) or data.find(group_id, position, position + header.size) >= 0
