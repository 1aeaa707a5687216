"""OffsetFetch: the offsets of one group at one moment, which is the high watermark or the latest state.

``fetch_plain`` has a short way to the answer about some partitions of a group in the usual state: its latest offsets are
committed.
"""

from __future__ import annotations

from functools import partial
from typing import Final, NamedTuple

from coordinator_server.group.registry import Groups
from coordinator_server.machine.shard import Answered
from coordinator_server.machine.timeline import LATEST
from coordinator_server.offsets.fetch import OffsetsMoment, moment_of
from coordinator_server.offsets.fetch_rows import fetch_rows
from coordinator_server.offsets.group_offsets import GroupOffsets
from protocol.fetch_rows import FetchedOffsets
from protocol.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics

MANY_UNPREPARED: Final = 5_000
"""The number of offsets that a read may convert in one step: 4 ms."""


class PlainFetch(NamedTuple):
    """A request for some partitions of one group. Its topics have names, whatever the version is."""

    api_version: int
    group: OffsetFetchRequestGroup
    topics: list[OffsetFetchRequestTopics]
    require_stable: bool


class LatestFetch(NamedTuple):
    """A request for the latest offsets of one group."""

    group: OffsetFetchRequestGroup
    require_stable: bool = False


def read_offsets(groups: Groups, moment: int, asked: OffsetFetchRequestGroup, *, require_stable: bool = False) -> OffsetsMoment:
    """Return a copy of the requested offsets as of ``moment``, which is a committed offset or LATEST. Raises CoordinatorError.

    With ``require_stable`` (KIP-447), which reads at LATEST, offsets with a pending change in an open transaction are refused.
    """
    group_id = asked.group_id
    if groups.others:
        groups.type_at(group_id, moment).admit_fetch(asked, moment)
    unstable = groups.pending.open_at(group_id, moment) if require_stable else ()
    return moment_of(groups.offsets.of_group_at(group_id, moment), moment, asked, unstable)


def reading_work(groups: Groups, asked: OffsetFetchRequestGroup) -> int:
    """Return the work of ``read_offsets`` besides that for each requested partition, in offsets."""
    work = 0 if asked.topics is not None else groups.offsets.count(asked.group_id)
    unprepared = groups.offsets.unprepared(asked.group_id)
    return work if unprepared <= MANY_UNPREPARED else work + unprepared


def fetch_plain(groups: Groups, committed_offset: int, request: PlainFetch) -> Answered[FetchedOffsets] | None:
    """Return the answer to a plain fetch. Raises CoordinatorError.

    Return None if the group's latest offsets are not committed yet, if a transaction is open that ``require_stable`` waits for,
    or if the read takes longer than a step. Otherwise the latest state and the committed one are the
    same, so a request with ``require_stable`` does not wait for the records of other groups.
    """
    version, group, topics, require_stable = request
    store, group_id = groups.offsets, group.group_id
    if groups.others:
        groups.type_at(group_id, committed_offset).admit_fetch(group, committed_offset)
    if require_stable and not groups.pending.has_none_since(group_id, committed_offset):
        return None
    offsets = store.by_group.get(group_id)
    if offsets is None:
        # The group has no offsets, or they rest.
        if not store.is_as_of(group_id, committed_offset) or store.unprepared(group_id) > MANY_UNPREPARED:
            return None
        return Answered(fetch_rows(store.of_group_at(group_id, LATEST), group_id, topics, version), None)
    if not offsets.is_as_of(committed_offset) or offsets.unprepared() > MANY_UNPREPARED:
        return None
    answer = fetch_rows(offsets, group_id, topics, version)
    return Answered(answer, partial(_is_same, groups, request, offsets, offsets.changes))


def _is_same(groups: Groups, request: PlainFetch, offsets: GroupOffsets, changes: int, durable: int) -> bool:
    """Return whether nothing has changed that the answer depends on."""
    group = request.group
    if groups.others:
        groups.type_at(group.group_id, durable).admit_fetch(group, durable)
    return offsets.changes == changes and not (request.require_stable and group.group_id in groups.pending)
