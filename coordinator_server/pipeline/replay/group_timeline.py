"""One group over time, read from the log of its shard: the events of its life, and its state at a given time.

Only batches that contain the group's id are decoded. All segments that are left are read, and the layer before them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec import Struct

from coordinator_server.kinds import GROUPS
from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.meta import read_meta
from coordinator_server.log.storage import LocalStorage
from coordinator_server.machine.provenance import attributed
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.files import batches_before, first_after, full_input
from coordinator_server.pipeline.states.changes import Change, change_of
from coordinator_server.pipeline.states.groups import Group, empty_shard, groups_of
from coordinator_server.runtime.loader import BatchReplay
from coordinator_server.runtime.partitioner import partition_for
from protocol.coordinator_records import CLASSIC_GROUP_SERDE, GROUP_SERDE
from protocol.errors import DecodeError
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, OffsetCommitKey
from protocol.record_batch import BatchHeader, iter_records

CREATED: Final = "created"
GENERATION: Final = "generation"
EMPTY: Final = "empty"
DELETED: Final = "deleted"
OFFSETS_DELETED: Final = "offsets deleted"


class Event(Struct, omit_defaults=True):
    """Something that happened to a group."""

    at_ms: int
    what: str
    generation: int | None = None
    members: int | None = None
    offsets: int = 0
    by: Change | None = None


class GroupAt(Struct):
    """A group after the records of its shard before ``offset``; ``group`` is None if it did not exist."""

    group: Group | None
    shard: str
    offset: int


def shard_of(data_dir: Path, group_id: str) -> Path:
    """Return the directory of the shard that owns a group."""
    partitions = read_meta(LocalStorage(), str(data_dir)).partition_count(GROUPS.topic)
    return data_dir / f"{GROUPS.topic}-{partition_for(group_id, partitions)}"


def events(shard_dir: Path, group_id: str, upto: int) -> list[Event]:
    """Return the generations and deletions of a group, with who made them and why. Raises DamagedLog, PipelineError."""
    _check_dir(shard_dir, group_id)
    found: list[Event] = []
    for data, position, header in batches_before(full_input(shard_dir, upto)[1], upto):
        if header.is_control or not _mentions(group_id.encode(), data, position, header):
            continue
        for record, provenance in attributed(iter_records(data, position, header)):
            decoded = CLASSIC_GROUP_SERDE.decode(record.key, record.value)
            if decoded is None or getattr(decoded.key, "group", None) != group_id:
                continue
            by = None if provenance is None else change_of(record.offset, record.timestamp, provenance)
            _add_event(found, record.timestamp, decoded.key, decoded.value, by)
    return found


def group_at(shard_dir: Path, group_id: str, at_ms: int, upto: int) -> GroupAt:
    """Return the group after all records before the first one that was appended after ``at_ms``.

    Raises CannotRun for a time before the history.
    """
    _check_dir(shard_dir, group_id)
    layer, files = full_input(shard_dir, upto)
    shard = empty_shard()
    replay = BatchReplay(GROUP_SERDE, shard).replay
    offset: int | None = None
    try:
        for data, position, header in batches_before(files, upto):
            offset = first_after(data, position, header, at_ms)
            if _mentions(group_id.encode(), data, position, header):
                replay(data[position : position + header.size], upto if offset is None else offset)
            if offset is not None:
                break
    except DecodeError as error:
        raise DamagedLog(str(shard_dir), 0, f"a record that cannot be read: {error}") from error
    if layer is not None and offset is not None and offset < layer.to_offset:
        raise CannotRun(
            f"the history of {shard_dir.name} begins at offset {layer.to_offset}: what was before is kept compacted only"
            " (log.history.retention.ms says how long segments are kept)"
        )
    found = [group for group in groups_of(shard) if group.group_id == group_id]
    return GroupAt(found[0] if found else None, shard_dir.name, upto if offset is None else offset)


def _check_dir(shard_dir: Path, group_id: str) -> None:
    if not shard_dir.is_dir():
        raise PipelineError(f"the history of {shard_dir.name} does not mention group {group_id}: nothing was ever written there")


def _add_event(found: list[Event], at_ms: int, key: object, value: object, by: Change | None) -> None:
    match key, value:
        case GroupMetadataKey(), GroupMetadataValue(generation=generation, members=members):
            what = CREATED if generation == 0 else GENERATION if members else EMPTY
            found.append(Event(at_ms, what, generation, len(members), by=by))
        case GroupMetadataKey(), None:
            found.append(Event(at_ms, DELETED, by=by))
        case OffsetCommitKey(), None:
            last = found[-1] if found else None
            if last is not None and last.what == OFFSETS_DELETED and (last.at_ms, last.by) == (at_ms, by):
                last.offsets += 1
            else:
                found.append(Event(at_ms, OFFSETS_DELETED, offsets=1, by=by))


def _mentions(group_id: bytes, data: bytes, position: int, header: BatchHeader) -> bool:
    """Return whether the batch contains the group's id, or may: it is compressed, or the end of a transaction."""
    return bool(header.is_control or header.compression) or data.find(group_id, position, position + header.size) >= 0
