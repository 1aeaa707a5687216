"""A group at a moment, and the difference between two: members, who has what, and committed offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from coordinator_server.page.summary import state_name
from coordinator_server.pipeline.index.snapshot import SnapshotGroup
from coordinator_server.pipeline.replay.group_timeline import GroupAt
from coordinator_server.pipeline.states.shown_group import Group, Member, Offset

MOST_MEMBERS: Final = 500
MOST_OFFSETS: Final = 500
MOST_CHANGES: Final = 500

Partition = tuple[str, int]


class Moment(Struct):
    """A group before the first record after ``at_ms``. Without a state it did not exist.

    Members and offsets are some of all, whose numbers are there; ``lost_to``: records before that offset were lost, and what they
    changed is not known.
    """

    at_ms: int
    shard: str
    offset: int
    state: str | None = None
    type: str | None = None
    epoch: int | None = None
    protocol: str | None = None
    leader: str | None = None
    members: list[Member] = []
    member_count: int = 0
    offsets: list[Offset] = []
    offset_count: int = 0
    share_partitions: dict[str, dict[str, list[int]]] = {}
    lost_to: int = 0


class MovedPartition(Struct):
    """A partition whose owners differ."""

    topic: str
    partition: int
    before: list[str]
    after: list[str]


class MovedOffset(Struct):
    """A committed offset that differs; None if there is none."""

    topic: str
    partition: int
    before: int | None
    after: int | None


class Difference(Struct):
    """What differs between two moments: some of all, whose numbers are there."""

    before_ms: int
    after_ms: int
    states: tuple[str | None, str | None]
    epochs: tuple[int | None, int | None]
    joined: list[Member]
    gone: list[Member]
    partitions: list[MovedPartition]
    partition_count: int
    offsets: list[MovedOffset]
    offset_count: int
    progress: int
    """The sum of all offsets that have moved, forward or back, of partitions that have one at both moments."""


def moment(group: SnapshotGroup, at_ms: int, first_offset: int = 0) -> Moment:
    """Return the group at a moment. Raises CannotRun for a time before its history, DamagedLog."""
    at = group.at(at_ms)
    found = Moment(at_ms, at.shard, at.offset, lost_to=at.lost_to)
    state = at.group
    if state is not None:
        found.state, found.type, found.protocol, found.leader = state_name(state), state.type, state.protocol, state.leader
        found.epoch = epoch_of(state)
        found.members, found.member_count = state.members[:MOST_MEMBERS], len(state.members)
        found.offsets, found.offset_count = state.offsets[first_offset : first_offset + MOST_OFFSETS], len(state.offsets)
        found.share_partitions = state.share_partitions
    return found


def epoch_of(group: Group) -> int | None:
    """Return the generation of a classic group, or the epoch of another one."""
    return group.epoch if group.generation is None else group.generation


def difference(group: SnapshotGroup, before_ms: int, after_ms: int) -> Difference:
    """Return what has changed from one moment to another. Raises CannotRun, DamagedLog."""
    before, after = group.at(before_ms), group.at(after_ms)
    was, is_now = _members(before), _members(after)
    partitions = _moved_partitions(_holders(was), _holders(is_now))
    offsets = _moved_offsets(_offsets(before), _offsets(after))
    return Difference(
        before_ms,
        after_ms,
        (_state(before), _state(after)),
        (None if before.group is None else epoch_of(before.group), None if after.group is None else epoch_of(after.group)),
        [is_now[each] for each in is_now.keys() - was.keys()][:MOST_MEMBERS],
        [was[each] for each in was.keys() - is_now.keys()][:MOST_MEMBERS],
        partitions[:MOST_CHANGES],
        len(partitions),
        offsets[:MOST_CHANGES],
        len(offsets),
        sum(each.after - each.before for each in offsets if each.before is not None and each.after is not None),
    )


def _state(at: GroupAt) -> str | None:
    return None if at.group is None else state_name(at.group)


def _members(at: GroupAt) -> dict[str, Member]:
    return {} if at.group is None else {each.member_id: each for each in at.group.members}


def _offsets(at: GroupAt) -> dict[Partition, int]:
    offsets: Sequence[Offset] = () if at.group is None else at.group.offsets
    return {(each.topic, each.partition): each.offset for each in offsets}


def _holders(members: Mapping[str, Member]) -> dict[Partition, list[str]]:
    found: dict[Partition, list[str]] = {}
    for member_id, member in sorted(members.items()):
        for topic, numbers in (member.assignment or {}).items():
            for number in numbers:
                found.setdefault((topic, number), []).append(member_id)
    return found


def _moved_partitions(before: Mapping[Partition, list[str]], after: Mapping[Partition, list[str]]) -> list[MovedPartition]:
    return [
        MovedPartition(*each, before.get(each, []), after.get(each, []))
        for each in sorted(before.keys() | after.keys())
        if before.get(each) != after.get(each)
    ]


def _moved_offsets(before: Mapping[Partition, int], after: Mapping[Partition, int]) -> list[MovedOffset]:
    return [
        MovedOffset(*each, before.get(each), after.get(each))
        for each in sorted(before.keys() | after.keys())
        if before.get(each) != after.get(each)
    ]
