"""One group over time, read from the log of its shard: the events of its life, and its state at a given time.

Only batches that contain the group's id are decoded. All segments that are left are read, and the layer before them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from msgspec import Struct

from coordinator_server.kinds import GROUPS
from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import JobShard, ShardInput
from coordinator_server.log.opening import identity_of, job_shard
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.files import batches_before, first_after, stands_for_lost
from coordinator_server.pipeline.input.owners import owner_of
from coordinator_server.pipeline.input.topic_names import NO_NAMES
from coordinator_server.pipeline.replay.group_events import Event
from coordinator_server.pipeline.replay.group_ledger import GroupLedger
from coordinator_server.pipeline.states.groups import empty_shard, groups_of
from coordinator_server.pipeline.states.shown_group import Group, NamesOfTopics
from coordinator_server.runtime.loader import BatchReplay
from protocol.coordinator_records import GROUP_SERDE
from protocol.errors import DecodeError
from protocol.record_batch import BatchHeader


class GroupAt(Struct):
    """A group after the records of its shard before ``offset``; ``group`` is None if it did not exist.

    Some records before ``lost_to`` are missing since a salvage, and no layer replaces them. 0 if none is missing.
    """

    group: Group | None
    shard: str
    offset: int
    lost_to: int = 0


def shard_of(data_dir: Path, group_id: str) -> JobShard:
    """Return the shard that owns a group."""
    return job_shard(data_dir / owner_of(identity_of(data_dir), GROUPS.topic, group_id))


def events(shard: JobShard, ledger: GroupLedger, upto: int) -> Iterator[Event]:
    """Return what happened to the group of a ledger, with who did it and why: all records before ``upto``, in order.

    Raises DamagedLog, PipelineError.
    """
    check_written(shard, ledger.group_id)
    return chain.from_iterable(ledger.add(*batch) for batch in batches_before(shard.whole(upto)[1], upto))


def group_at(shard: JobShard, group_id: str, at_ms: int, upto: int, names: NamesOfTopics = NO_NAMES) -> GroupAt:
    """Return the group after all records before the first one that was appended after ``at_ms``.

    Raises CannotRun for a time before the history.
    """
    check_written(shard, group_id)
    name = shard.name
    found = _group_at(shard.whole(upto), GroupState(name, group_id, names), name, at_ms, upto)
    behind = shard.behind_loss(found.lost_to, found.offset) if found.lost_to else None
    if behind is None:
        return found
    return _group_at(behind, GroupState(name, group_id, names), name, at_ms, found.offset)


class GroupState:
    """The state of one group, from the batches of its shard. Only those that mention it are replayed."""

    def __init__(self, shard: str, group_id: str, names: NamesOfTopics) -> None:
        self._name = shard
        self._id = group_id
        self._names = names
        self._shard = empty_shard()
        self._replay = BatchReplay(GROUP_SERDE, self._shard).replay

    def add(self, batch: tuple[bytes, int, BatchHeader], upto: int) -> None:
        """Replay the records of a batch before ``upto``. Raises DamagedLog."""
        data, position, header = batch
        try:
            if _mentions(self._id.encode(), data, position, header):
                self._replay(data[position : position + header.size], upto)
        except DecodeError as error:
            raise unreadable(self._name, error) from error

    def group(self) -> Group | None:
        """Return the group; None if it does not exist."""
        return next((each for each in groups_of(self._shard, names=self._names) if each.group_id == self._id), None)


def unreadable(shard: str, error: DecodeError) -> DamagedLog:
    """Return the error for a record that was written so that it cannot be read."""
    return DamagedLog(shard, 0, f"a record that cannot be read: {error}")


def before_history(shard: str, begins_at: int) -> CannotRun:
    """Return the error for a moment before the history of a shard."""
    return CannotRun(
        f"the history of {shard} begins at offset {begins_at}: what was before is kept compacted only"
        " (log.history.retention.ms says how long segments are kept)"
    )


def _group_at(source: ShardInput, state: GroupState, shard: str, at_ms: int, upto: int) -> GroupAt:
    layer, files = source
    offset: int | None = None
    lost_to = 0
    for batch in batches_before(files, upto):
        if stands_for_lost(batch[2], layer):
            lost_to = batch[2].next_offset
        try:
            offset = first_after(*batch, at_ms)
        except DecodeError as error:
            raise unreadable(shard, error) from error
        state.add(batch, upto if offset is None else offset)
        if offset is not None:
            break
    if layer is not None and offset is not None and offset < layer.to_offset:
        raise before_history(shard, layer.to_offset)
    return GroupAt(state.group(), shard, upto if offset is None else offset, lost_to)


def check_written(shard: JobShard, group_id: str) -> None:
    """Raise PipelineError if nothing was ever written to a shard."""
    if not shard.exists():
        raise PipelineError(f"the history of {shard.name} does not mention group {group_id}: nothing was ever written there")


def _mentions(group_id: bytes, data: bytes, position: int, header: BatchHeader) -> bool:
    """Return whether the batch contains the group's id, or may: it is compressed, or the end of a transaction."""
    return bool(header.is_control or header.compression) or data.find(group_id, position, position + header.size) >= 0
