"""The committed offsets of one group, stored as single offsets and as rows.

A commit of many partitions is stored as received: one entry for a topic and the partitions committed together, with the rows of
the request. The next commit of the same partitions replaces this entry, however many partitions it has. Reads return single
offsets: the first read of the latest state after a commit converts rows into single offsets. Both are timeline containers. At any
epoch, past ones included, the state is

    rows, where later records override earlier ones, over single offsets

so a past state does not depend on conversions made since. Most groups only ever have rows: the container of single offsets is made
with the first of them. Open snapshots note every change of either in the container of rows.

A group that was *resting* (``resting_groups.py``) may have single offsets that are not read yet. They precede everything else at
any epoch. Commits do not need them; reads and deletions read the rest of them before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final, Protocol

from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict
from coordinator_server.offsets.resting_block import (
    ExpiryBounds,
    RestingGroup,
    Row,
    bounds_of,
    decode_kept,
    encode_group,
    encode_rows,
    has_positions_of,
)
from coordinator_server.offsets.values import NO_TIMESTAMP, CommittedRows, OffsetAndMetadata, TopicPartition
from protocol.commit_rows import Partitions, offsets_of

# Limit of row entries: this number plus an eighth of the number of single offsets. Without it, commits of different partitions
# each time would take more memory than single offsets.
_FEW: Final = 8

_LATEST_MS: Final = 2**63 - 1

RowsKey = tuple[str, Partitions]

# So many lists of positions are shared, of at most 1,024 each.
_SHARED: Final = 128

# What groups without single offsets have of them. It is never changed.
_NO_SINGLE: Final[TimelineDict[TopicPartition, OffsetAndMetadata]] = TimelineDict(SnapshotRegistry())

Unread = bytes | Iterator[Row]
"""Single offsets that are not read yet: a kept block (``resting_block.py``), or what yields them."""


class Readable(Protocol):
    """Offsets at one epoch, by topic and partition."""

    def get(self, position: TopicPartition, /) -> OffsetAndMetadata | None: ...


class GroupOffsets:
    """The committed offsets of one group.

    Reads of the container itself (``offsets[position]``, ``in``, ``items()``) see the latest state; ``as_of`` and ``items_at``
    see an earlier epoch.
    """

    __slots__ = ("_rows", "_single", "_unread", "_unread_count", "changes")

    def __init__(self, registry: SnapshotRegistry, unread: Unread | None = None, count: int = 0) -> None:
        """Take the single offsets that are read when they are needed, if there are any, and about how many they are."""
        # Rises with each change, committed or not, the removal of the last offset included:
        # what was read is the same while this is.
        self.changes = 0
        self._single = _NO_SINGLE
        self._rows: TimelineDict[RowsKey, CommittedRows] = TimelineDict(registry)
        self._unread = unread
        self._unread_count = count

    @property
    def container(self) -> object:
        """The timeline container in which snapshots note every change of this object."""
        return self._rows

    # The latest state

    def single(self) -> TimelineDict[TopicPartition, OffsetAndMetadata]:
        """Return all offsets as single offsets, for changes at once."""
        self.latest()
        return self.to_set()

    def to_set(self) -> TimelineDict[TopicPartition, OffsetAndMetadata]:
        """Return the container of single offsets, to set some of them at once. It may not have all of the others."""
        self.changes += 1
        if self._rows:
            self._spell_out()
        self._rows.note()
        return self._own_single()

    def latest(self) -> TimelineDict[TopicPartition, OffsetAndMetadata]:
        """Return all offsets as single offsets, for reads until the next ``put_rows``."""
        if self._rows:
            self._spell_out()
        if self._unread is not None:
            self._read_rest()
        return self._single

    def rows_of(self, topic: str) -> list[tuple[Partitions, CommittedRows]]:
        """Return the rows of a topic, newest first. Each overrides the later ones, and all of them override ``below_rows``."""
        found = [(partitions, committed) for (name, partitions), committed in self._rows.items() if name == topic]
        if len(found) > 1:
            found.sort(key=_by_record_offset, reverse=True)
        return found

    def below_rows(self) -> TimelineDict[TopicPartition, OffsetAndMetadata]:
        """Return the single offsets as they are, for reads of positions that have no rows."""
        if self._unread is not None:
            self._read_rest()
        return self._single

    def __getitem__(self, position: TopicPartition) -> OffsetAndMetadata:
        return self.latest()[position]

    def get(self, position: TopicPartition) -> OffsetAndMetadata | None:
        return self.latest().get(position)

    def __contains__(self, position: TopicPartition) -> bool:
        return position in self.latest()

    def __iter__(self) -> Iterator[TopicPartition]:
        return iter(self.latest())

    def __len__(self) -> int:
        return len(self.latest())

    def __bool__(self) -> bool:
        return bool(self._rows) or bool(self._single) or self._unread is not None

    def keys(self) -> Iterable[TopicPartition]:
        return self.latest().keys()

    def items(self) -> Iterable[tuple[TopicPartition, OffsetAndMetadata]]:
        return self.latest().items()

    def lay_over(self, newer: GroupOffsets) -> None:
        """Set what another container has, as if it had been here before the oldest open snapshot. Nothing was set here before."""
        self.changes += 1
        single = newer.below_rows()
        if single:
            self._own_single().fill(single.items())
        self._rows.fill(newer._rows.items())

    # Past states

    def items_at(self, epoch: int) -> Iterable[tuple[TopicPartition, OffsetAndMetadata]]:
        """Return the offsets in the state of ``epoch``, in no particular order."""
        return {**dict(self.below_rows().items_at(epoch)), **_spelled_in_order(self._rows.items_at(epoch))}.items()

    def copy_at(self, epoch: int) -> dict[TopicPartition, OffsetAndMetadata]:
        """Return a copy of the offsets in the state of ``epoch``."""
        copy = self.below_rows().copy_at(epoch)
        copy.update(_spelled_in_order(self._rows.items_at(epoch)))
        return copy

    def is_as_of(self, epoch: int) -> bool:
        """Return whether nothing has changed since ``epoch``."""
        return self._rows.is_as_of(epoch)

    def as_of(self, epoch: int) -> Readable:
        """Return the offsets in the state of ``epoch`` for lookups. It is valid until the next change."""
        if self.is_as_of(epoch):
            return self.latest()
        return _Past(self.below_rows(), _spelled_in_order(self._rows.items_at(epoch)), epoch)

    # Changes

    def put_rows(self, key: RowsKey, committed: CommittedRows) -> None:
        """Store rows committed together. Their records follow all records stored so far."""
        self.changes += 1
        rows = self._rows
        if len(rows) >= _FEW and key not in rows and len(rows) >= _FEW + len(self._single) // 8:
            self._spell_out()
        rows[key] = committed

    def count(self) -> int:
        """Return the number of single offsets and of rows, an upper bound of the number of offsets."""
        return len(self._single) + self.unprepared()

    def unprepared(self) -> int:
        """Return the number of offsets that a read has to convert before: rows, and those that are not read yet."""
        return sum([partitions.count for _, partitions in self._rows]) + self._unread_count

    def prepare(self, most: int) -> bool:
        """Do a part of the work of reading all offsets, about ``most`` of them.

        Return whether the rest can be read at once: nothing is left, or at most a part of which nothing was read now.
        """
        if self.unprepared() <= most:
            return True
        if self._unread is not None:
            self._read_next(most)
        else:
            self._spell_out_oldest()
        return self.unprepared() == 0

    def _read_next(self, most: int) -> None:
        """Read the next offsets of those that are not read yet, at most ``most``. There must be some."""
        self._unread = unread = self._reading()
        items = list(islice(unread, most))
        self._own_single().fill_below(items)
        self._unread_count = max(self._unread_count - most, 1)
        if len(items) < most:
            self._unread, self._unread_count = None, 0

    def _read_rest(self) -> None:
        self._own_single().fill_below(self._reading())
        self._unread, self._unread_count = None, 0

    def _reading(self) -> Iterator[Row]:
        unread = self._unread
        assert unread is not None
        return decode_kept(unread) if isinstance(unread, bytes) else unread

    # Rest

    def newest_commit_ms(self) -> int | None:
        """Return the time of the latest commit in the latest state, or None if there are no offsets.

        Offsets are read only if nothing was committed after them.
        """
        single = self._single if self._rows or self._single else self.below_rows()
        times = [committed.timestamp_ms for _, committed in self._rows.items()]
        times += [each.commit_timestamp_ms for _, each in single.items()]
        return max(times, default=None)

    def bounds(self) -> ExpiryBounds | None:
        """Return the expiry bounds in the latest state, which may be too early; None if single offsets have to be read for it."""
        unread = self._unread
        if self._single or not (unread is None or isinstance(unread, bytes)):
            return None
        oldest_ms, least_ms = (_LATEST_MS, NO_TIMESTAMP) if unread is None else bounds_of(unread)
        return ExpiryBounds(min([oldest_ms, *[committed.timestamp_ms for _, committed in self._rows.items()]]), least_ms)

    def at_rest(self) -> tuple[RestingGroup, bool]:
        """Encode the latest state, at least one offset. Return also whether it was done without reading single offsets."""
        unread = self._unread
        if self._rows and not self._single and (unread is None or isinstance(unread, bytes)):
            found = encode_rows([(name, committed) for (name, _), committed in self._rows.items()])
            if found is not None and (unread is None or has_positions_of(unread, found.block)):
                return found, True
        return encode_group(self.items(), is_kept=True), False

    def _spell_out_oldest(self) -> None:
        oldest = min(self._rows.items(), key=_by_record_offset)
        self._own_single().put_all(_spelled(*oldest))
        del self._rows[oldest[0]]

    def _spell_out(self) -> None:
        rows = self._rows
        self._own_single().put_all(_spelled_in_order(rows.items()))
        for key in list(rows):
            del rows[key]

    def _own_single(self) -> TimelineDict[TopicPartition, OffsetAndMetadata]:
        if self._single is _NO_SINGLE:
            self._single = self._rows.another()
        return self._single


class _Past:
    """Offsets as of an earlier epoch: rows override single offsets."""

    __slots__ = ("_epoch", "_rows", "_single")

    def __init__(
        self,
        single: TimelineDict[TopicPartition, OffsetAndMetadata],
        rows: dict[TopicPartition, OffsetAndMetadata],
        epoch: int,
    ) -> None:
        self._single = single
        self._rows = rows
        self._epoch = epoch

    def get(self, position: TopicPartition) -> OffsetAndMetadata | None:
        return self._rows.get(position) or self._single.get_at(position, self._epoch)


def _spelled_in_order(rows: Iterable[tuple[RowsKey, CommittedRows]]) -> dict[TopicPartition, OffsetAndMetadata]:
    spelled: dict[TopicPartition, OffsetAndMetadata] = {}
    for key, committed in sorted(rows, key=_by_record_offset):
        spelled.update(_spelled(key, committed))
    return spelled


def _by_record_offset(item: tuple[object, CommittedRows]) -> int:
    return item[1].record_offset


def _spelled(key: RowsKey, committed: CommittedRows) -> dict[TopicPartition, OffsetAndMetadata]:
    timestamp_ms, topic_id = committed.timestamp_ms, committed.topic_id
    offsets = [
        OffsetAndMetadata(offset, epoch, "", timestamp_ms, written_at, NO_TIMESTAMP, topic_id)
        for written_at, (_, offset, epoch) in enumerate(offsets_of(committed.rows), committed.record_offset)
    ]
    # Compiled, a loop over the positions would make new ones of them.
    return dict(zip(_positions(*key), offsets, strict=True))


@lru_cache(maxsize=_SHARED)
def _positions(topic: str, partitions: Partitions) -> list[TopicPartition]:
    """Return the positions of rows. Groups that commit the same partitions share them: each is as large as its offset."""
    return [(topic, partition) for partition in partitions.indexes()]
