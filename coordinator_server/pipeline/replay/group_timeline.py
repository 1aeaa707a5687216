"""One group over time, read from the log of its shard: the events of its life, and its state at a given time.

Only batches that contain the group's id are decoded. All segments that are left are read, and the layer before them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from coordinator_server.group.why import Why
from coordinator_server.kinds import GROUPS
from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.layers.layer import Layer
from coordinator_server.log.opening import identity_of
from coordinator_server.machine.provenance import attributed
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.files import (
    InputFile,
    batches_before,
    first_after,
    full_input,
    input_after_loss,
    stands_for_lost,
)
from coordinator_server.pipeline.input.topic_names import NO_NAMES, TopicNames
from coordinator_server.pipeline.replay.consumer_events import (
    DELETED,
    EPOCH,
    ConsumerEvent,
    ConsumerEvents,
    MemberChanges,
)
from coordinator_server.pipeline.states.changes import Change, change_of
from coordinator_server.pipeline.states.groups import empty_shard, groups_of
from coordinator_server.pipeline.states.member_steps import HISTORY_SERDE
from coordinator_server.pipeline.states.shown_group import Group
from coordinator_server.runtime.loader import BatchReplay
from coordinator_server.runtime.partitioner import partition_for
from protocol.coordinator_records import GROUP_SERDE
from protocol.errors import DecodeError
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, OffsetCommitKey
from protocol.record_batch import BatchHeader, iter_records

CREATED: Final = "created"
GENERATION: Final = "generation"
EMPTY: Final = "empty"
OFFSETS_DELETED: Final = "offsets deleted"
OFFSETS_RESTORED: Final = "offsets restored"
TO_CLASSIC: Final = "converted to the classic protocol"
TO_CONSUMER: Final = "converted to the consumer protocol"
COMMITTED: Final = "offsets committed"
"""The one event of a group with offsets of which the history has no generation."""


class Event(Struct, omit_defaults=True):
    """Something that happened to a group. ``offsets`` and ``topics`` say what it was about, if it was about offsets."""

    at_ms: int
    what: str
    generation: int | None = None
    members: int | None = None
    offsets: int = 0
    topics: tuple[str, ...] = ()
    by: Change | None = None
    # Of a consumer group or share group: its epoch, what a step changes for a member, and how long the group took to settle.
    epoch: int | None = None
    member: MemberChanges | None = None
    after_ms: int | None = None
    # Of a share group: the share partitions that are being initialized, are initialized, or are being deleted.
    partitions: tuple[str, ...] = ()


class GroupAt(Struct):
    """A group after the records of its shard before ``offset``; ``group`` is None if it did not exist.

    Some records before ``lost_to`` are missing since a salvage, and no layer stands for them. 0 if none is.
    """

    group: Group | None
    shard: str
    offset: int
    lost_to: int = 0


def shard_of(data_dir: Path, group_id: str) -> Path:
    """Return the directory of the shard that owns a group."""
    partitions = identity_of(data_dir).partition_count(GROUPS.topic)
    return data_dir / f"{GROUPS.topic}-{partition_for(group_id, partitions)}"


def events(shard_dir: Path, group_id: str, upto: int, names: TopicNames = NO_NAMES) -> list[Event]:
    """Return the generations, deletions and restores of a group, with who made them and why. Raises DamagedLog, PipelineError.

    Of a consumer group or share group: its epochs, and the steps of its members. ``names`` has the names of their topics.

    A group of which there are only commits has one event, the last of them.
    """
    _check_dir(shard_dir, group_id)
    found: list[Event] = []
    of_consumers = ConsumerEvents(names)
    committed: set[tuple[str, int]] = set()
    last: tuple[int, Change | None] = 0, None
    for data, position, header in batches_before(full_input(shard_dir, upto)[1], upto):
        if header.is_control or not _mentions(group_id.encode(), data, position, header):
            continue
        for record, provenance in attributed(iter_records(data, position, header)):
            decoded = HISTORY_SERDE.decode(record.key, record.value)
            if decoded is None or group_id not in (getattr(decoded.key, "group", None), getattr(decoded.key, "group_id", None)):
                continue
            by = None if provenance is None else change_of(record.offset, record.timestamp, provenance)
            _add_event(found, record.timestamp, decoded.key, decoded.value, by)
            for event in of_consumers.add(decoded.key, decoded.value, record.offset, record.timestamp):
                _add(found, _event(event, record.timestamp, by))
            if isinstance(decoded.key, OffsetCommitKey) and decoded.value is not None:
                committed.add((decoded.key.topic, decoded.key.partition))
                last = record.timestamp, by
    if committed and all(event.generation is None and event.epoch is None for event in found):
        topics = tuple(sorted({topic for topic, _ in committed}))
        found.append(Event(last[0], COMMITTED, offsets=len(committed), topics=topics, by=last[1]))
    return found


def group_at(shard_dir: Path, group_id: str, at_ms: int, upto: int, names: TopicNames = NO_NAMES) -> GroupAt:
    """Return the group after all records before the first one that was appended after ``at_ms``.

    Raises CannotRun for a time before the history.
    """
    _check_dir(shard_dir, group_id)
    where = _Where(shard_dir.name, group_id, names)
    found = _group_at(full_input(shard_dir, upto), where, at_ms, upto)
    behind = input_after_loss(shard_dir, found.lost_to, found.offset) if found.lost_to else None
    return found if behind is None else _group_at(behind, where, at_ms, found.offset)


class _Where(NamedTuple):
    """The shard and the group that are looked for."""

    name: str
    group_id: str
    names: TopicNames


def _group_at(source: tuple[Layer | None, list[InputFile]], where: _Where, at_ms: int, upto: int) -> GroupAt:
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


def _check_dir(shard_dir: Path, group_id: str) -> None:
    if not shard_dir.is_dir():
        raise PipelineError(f"the history of {shard_dir.name} does not mention group {group_id}: nothing was ever written there")


def _add_event(found: list[Event], at_ms: int, key: object, value: object, by: Change | None) -> None:
    match key, value:
        case GroupMetadataKey(), GroupMetadataValue(generation=generation, members=members):
            what = CREATED if generation == 0 else GENERATION if members else EMPTY
            _add(found, Event(at_ms, what, generation, len(members), by=by))
        case GroupMetadataKey(), None:
            found.append(Event(at_ms, DELETED, by=by))
        case OffsetCommitKey(topic=topic), None:
            _count(found, Event(at_ms, OFFSETS_DELETED, offsets=1, topics=(topic,), by=by))
        case OffsetCommitKey(topic=topic), _ if by is not None and any(each.why == Why.OFFSETS_RESTORED for each in by.reasons):
            _count(found, Event(at_ms, OFFSETS_RESTORED, offsets=1, topics=(topic,), by=by))


def _event(event: ConsumerEvent, at_ms: int, by: Change | None) -> Event:
    what = (EPOCH if event.members else EMPTY) if event.what == EPOCH else event.what
    of_members = Event(at_ms, what, members=event.members, by=by, epoch=event.epoch, member=event.member, after_ms=event.after_ms)
    return replace(of_members, partitions=event.partitions)


def _add(found: list[Event], event: Event) -> None:
    """Add an event. If the operation has also deleted the group's records of another protocol, it has converted the group."""
    last = found[-1] if found else None
    if (
        last is not None
        and last.what == DELETED
        and event.what != DELETED
        and last.at_ms == event.at_ms
        and _is_same(last.by, event.by)
    ):
        last.what = TO_CONSUMER if event.generation is None else TO_CLASSIC
    found.append(event)


def _count(found: list[Event], event: Event) -> None:
    """Add an event of one offset, or count it in the last event if that is of the same change."""
    last = found[-1] if found else None
    if last is not None and (last.what, last.at_ms) == (event.what, event.at_ms) and _is_same(last.by, event.by):
        last.offsets += 1
        last.topics = tuple(dict.fromkeys(last.topics + event.topics))
    else:
        found.append(event)


def _is_same(one: Change | None, other: Change | None) -> bool:
    """Return whether two records are of one operation: they differ in nothing but their offsets."""
    if one is None or other is None:
        return one is other
    return replace(one, offset=other.offset) == other


def _mentions(group_id: bytes, data: bytes, position: int, header: BatchHeader) -> bool:
    """Return whether the batch contains the group's id, or may: it is compressed, or the end of a transaction."""
    return bool(header.is_control or header.compression) or data.find(group_id, position, position + header.size) >= 0
