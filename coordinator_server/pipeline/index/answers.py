"""What a group's log says of it: its events, and its state at a moment.

Where an index is, it answers for all that it has read, and the log for the rest, so that an index may be behind: the answer is that
of the whole log. Without one, and where the log lacks records that were lost, the whole log is read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TypeVar

from coordinator_server.log.jobs import JobShard
from coordinator_server.log.opening import identity_of
from coordinator_server.pipeline.index.chunk import batches_of
from coordinator_server.pipeline.index.database import NoIndex, open_to_read
from coordinator_server.pipeline.index.feed import DIRECTORY, LogDiffers, batches_after
from coordinator_server.pipeline.index.period import Found, Period, PeriodReader, newest_events
from coordinator_server.pipeline.index.reader import IndexedGroup, IndexedShard, indexed_shard, replay_upto
from coordinator_server.pipeline.input.files import batches_before, first_after
from coordinator_server.pipeline.replay.group_ledger import GroupLedger
from coordinator_server.pipeline.replay.group_owners import Ownership, owners_of
from coordinator_server.pipeline.replay.group_timeline import (
    GroupAt,
    GroupState,
    before_history,
    check_written,
    events,
    group_at,
    shard_of,
    unreadable,
)
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from protocol.errors import DecodeError
from protocol.record_batch import BatchHeader

T = TypeVar("T")
Batches = Iterator[tuple[bytes, int, BatchHeader]]


class GroupHistory:
    """The history of one group, up to an offset of its shard. ``tell`` receives the reason why an existing index is not used."""

    def __init__(self, data_dir: Path, group_id: str, tell: Callable[[str], None]) -> None:
        self._data_dir = data_dir
        self._id = group_id
        self._tell = tell
        self.shard: JobShard = shard_of(data_dir, group_id)

    def events(self, period: Period, upto: int, names: NamesOfTopics) -> Found:
        """Return the newest events of a period. Raises DamagedLog, PipelineError."""
        check_written(self.shard, self._id)

        def of_index(group: IndexedGroup, _: IndexedShard, tail: Batches) -> Found:
            return PeriodReader(group, self._id, names, tail).read(period)

        found = self._from_index(of_index, upto)
        if found is None:
            ledger = GroupLedger(self._id, names)
            found = newest_events(events(self.shard, ledger, upto), ledger, period)
        return found

    def owners(self, upto: int, names: NamesOfTopics) -> list[Ownership]:
        """Return the owners of all partitions over time, those of a partition in order. Raises DamagedLog, PipelineError."""
        check_written(self.shard, self._id)

        def of_index(group: IndexedGroup, _: IndexedShard, tail: Batches) -> list[Ownership]:
            return PeriodReader(group, self._id, names, tail).owners()

        found = self._from_index(of_index, upto)
        return owners_of(self.shard, self._id, names, upto) if found is None else found

    def read(self, take: Callable[[Batches, int], T], upto: int) -> T:
        """Return what ``take`` makes of the batches that mention the group, and of the offset at which the history begins.

        There may be other batches among them, and the last one may go on after ``upto``. Raises DamagedLog, PipelineError.
        """
        check_written(self.shard, self._id)

        def of_index(group: IndexedGroup, shard: IndexedShard, tail: Batches) -> tuple[T]:
            stored = [group.base(group.chunks[0]), *map(group.records, group.chunks)] if group.chunks else []
            return (take(chain(*map(batches_of, stored), tail), shard.begins_at),)

        found = self._from_index(of_index, upto)
        if found is not None:
            return found[0]
        layer, files = self.shard.whole(upto)
        try:
            return take(batches_before(files, upto), 0 if layer is None else layer.to_offset)
        except DecodeError as error:
            raise unreadable(self.shard.name, error) from error

    def at(self, at_ms: int, upto: int, names: NamesOfTopics) -> GroupAt:
        """Return the group after all records before the first one that was appended after ``at_ms``.

        Raises CannotRun for a time before the history, DamagedLog, PipelineError.
        """
        check_written(self.shard, self._id)

        def of_index(group: IndexedGroup, shard: IndexedShard, tail: Batches) -> GroupAt | None:
            return None if shard.lost_to else self._at(group, shard, tail, at_ms, upto, names)

        found = self._from_index(of_index, upto)
        return group_at(self.shard, self._id, at_ms, upto, names) if found is None else found

    def _at(
        self, group: IndexedGroup, shard: IndexedShard, tail: Batches, at_ms: int, upto: int, names: NamesOfTopics
    ) -> GroupAt | None:
        offset = group.offset_after(at_ms)
        if offset is not None and offset < shard.begins_at:
            raise before_history(self.shard.name, shard.begins_at)
        state = GroupState(self.shard.name, self._id, names)
        end = upto if offset is None else offset
        replay_upto(group, state, end)
        for batch in tail if offset is None else ():
            if batch[2].is_lost:
                return None
            offset = first_after(*batch, at_ms)
            end = upto if offset is None else offset
            state.add(batch, end)
            if offset is not None:
                break
        return GroupAt(state.group(), self.shard.name, end)

    def _from_index(self, read: Callable[[IndexedGroup, IndexedShard, Batches], T | None], upto: int) -> T | None:
        """Let an index answer, with the batches that follow it. None if there is none that can."""
        try:
            with closing(open_to_read(self._data_dir / DIRECTORY, identity_of(self._data_dir).cluster_id)) as database:
                shard = indexed_shard(database, self.shard.name)
                if shard is None or shard.position.next_offset > upto:
                    return None
                tail = (each.batch for each in batches_after(self.shard, upto, shard.position))
                return read(IndexedGroup(database, shard, self._id), shard, tail)
        except NoIndex as why:
            if str(why):
                self._tell(str(why))
        except LogDiffers as why:
            self._tell(f"the index is not used: {why}; `coordinator-server index` makes it again")
        except sqlite3.Error as error:
            self._tell(f"the index is not used: {error}; if it is damaged, remove {self._data_dir / DIRECTORY}")
        except DecodeError as error:
            raise unreadable(self.shard.name, error) from error
        return None
