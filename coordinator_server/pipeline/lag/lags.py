"""The lag of groups: their commits, from the log, beside the ends of the partitions, from the samples.

Offsets that were committed in a transaction count when its marker says so. Everything is as of the last sample: without newer ones
nobody knows how far the partitions are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from coordinator_server.kinds import GROUPS, topic_of
from coordinator_server.log.opening import identity_of, job_shards
from coordinator_server.pipeline.input.files import batches_before, records_of
from coordinator_server.pipeline.lag.commit_keys import Position, offset_of, position_of
from coordinator_server.pipeline.lag.end_offsets import EndOffsets
from coordinator_server.pipeline.lag.verdicts import Commit, Verdict, add_commit, judge
from coordinator_server.runtime.partitioner import partition_for
from protocol.control_records import ABORT, COMMIT, control_type
from protocol.record_batch import BatchHeader

WINDOW_MS = 3_600_000
"""Samples of so long ago are read: commits that are older have an unknown lag."""


class Lag(Struct, frozen=True):
    """The lag of a group for a partition. ``end_offset``, ``lag`` (records) and ``lag_s`` are None where they are unknown.

    ``lag_s``: how long ago the first unread record was written; 0 if nothing is unread.
    """

    group: str
    topic: str
    partition: int
    offset: int
    end_offset: int | None
    lag: int | None
    lag_s: float | None
    verdict: Verdict
    reason: str


class _Change(NamedTuple):
    """A commit, or with None the end of one. ``record`` is its offset in the log of groups."""

    record: int
    position: Position
    at_ms: int
    offset: int | None


class Commits:
    """The last commits of each position, from the batches of a shard in order. ``groups`` chooses; empty is all."""

    def __init__(self, ends: EndOffsets, groups: Collection[str] = ()) -> None:
        self.windows: dict[Position, list[Commit]] = {}
        self._ends = ends
        self._groups = groups
        self._raw = [each.encode() for each in groups]
        self._open: dict[int, list[_Change]] = {}
        self._newest: dict[Position, int] = {}

    def take(self, data: bytes, position: int, header: BatchHeader) -> None:
        """Take a verified batch. Raises DecodeError."""
        if header.is_control:
            for record in records_of(data, position, header):
                kind = control_type(record.key)
                if kind in (ABORT, COMMIT):
                    changes = self._open.pop(header.producer_id, [])
                    self._apply(changes if kind == COMMIT else ())
            return
        if self._raw and not header.compression:
            # Most batches of a shard are about other groups.
            end = position + header.size
            if all(data.find(each, position, end) < 0 for each in self._raw):
                return
        changes = list(self._changes(data, position, header))
        if header.is_transactional:
            self._open.setdefault(header.producer_id, []).extend(changes)
        else:
            self._apply(changes)

    def _changes(self, data: bytes, position: int, header: BatchHeader) -> Iterator[_Change]:
        for record in records_of(data, position, header, with_headers=False):
            where = position_of(record.key)
            if where is not None and (not self._groups or where.group in self._groups):
                offset = None if record.value is None else offset_of(record.value)
                yield _Change(record.offset, where, record.timestamp, offset)

    def _apply(self, changes: Collection[_Change] | tuple[()]) -> None:
        for record, where, at_ms, offset in changes:
            if self._newest.get(where, -1) > record:
                # Of two records the later one in the log counts, whenever its transaction ended.
                continue
            self._newest[where] = record
            if offset is None:
                self.windows.pop(where, None)
                continue
            end = self._ends.at(where.topic, where.partition, at_ms)
            lag = None if end is None else max(0, end - offset)
            add_commit(self.windows.setdefault(where, []), Commit(at_ms, offset, lag))


def lags(data_dir: Path, upto: Mapping[str, int], ends: EndOffsets, groups: Collection[str] = ()) -> Iterator[Lag]:
    """Yield the lags of groups, shard by shard, of each by group and partition. ``upto`` says how far shards can be read.

    Raises LogError, DecodeError.
    """
    partitions = identity_of(data_dir).partition_count(GROUPS.topic)
    wanted = {f"{GROUPS.topic}-{partition_for(group, partitions)}" for group in groups}
    for shard in job_shards(data_dir):
        if shard.name in wanted or (not groups and topic_of(shard.name) == GROUPS.topic):
            end = upto.get(shard.name, 0)
            commits = Commits(ends, groups)
            for batch in batches_before(shard.compacted(end)[1], end):
                commits.take(*batch)
            for where, window in sorted(commits.windows.items()):
                yield _lag(where, window, ends)


def _lag(where: Position, window: list[Commit], ends: EndOffsets) -> Lag:
    group, topic, partition = where
    offset, as_of_ms = window[-1].offset, ends.last_ms
    end = ends.at(topic, partition, as_of_ms)
    lag = None if end is None else max(0, end - offset)
    lag_s = 0.0 if lag == 0 else None
    if lag:
        written_ms = ends.written_ms(topic, partition, offset)
        lag_s = None if written_ms is None else round(max(0.0, as_of_ms - written_ms) / 1000, 1)
    judged = judge(window, lag, as_of_ms)
    return Lag(group, topic, partition, offset, end, lag, lag_s, judged.verdict, judged.reason)
