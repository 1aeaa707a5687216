"""Groups whose offsets *rest* in a checkpoint: they are not in memory, because they have not changed since the last compaction.

A group's offsets are a block of bytes in the checkpoint (``resting_block.py``). A read request decodes the block and caches the
offsets for a while. Newer commits that a start finds in the log after the checkpoint are kept beside the block. The first change
after the start removes the group from the resting groups for good, so deleted offsets stay deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from coordinator_server.machine.shard import CheckpointState
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.offsets.group_offsets import GroupOffsets
from coordinator_server.offsets.resting_block import ExpiryBounds, Row, decode_offsets

# Maximum number of cached offsets of groups that were read.
READ_ROWS = 2_000
# Maximum number of groups that are partly read. It exceeds the number of readers that read in steps at the same time.
_MOST_BEGUN: Final = 8

ReadRecords = Callable[[CheckpointState, str], Iterable[Row]]


class _Begun(NamedTuple):
    """A group that is read in steps: its offsets so far, and the others."""

    offsets: GroupOffsets
    rows: Iterator[Row]


class RestingGroups:
    """The groups of one checkpoint that have not changed since the load."""

    __slots__ = ("_begun", "_checkpoint", "_newer", "_read", "_read_records", "_read_rows", "_registry", "_taken")

    def __init__(self, registry: SnapshotRegistry, checkpoint: CheckpointState, read_records: ReadRecords) -> None:
        """Take the function that reads a group's offsets from records if its block is damaged."""
        self._registry = registry
        self._checkpoint = checkpoint
        self._read_records = read_records
        # Groups of the checkpoint that no longer rest.
        self._taken: set[str] = set()
        # The offsets of resting groups that the log has after the checkpoint.
        self._newer: dict[str, GroupOffsets] = {}
        # Cache of read groups: the members of a group start at the same time, and each reads its own partitions.
        self._read: dict[str, GroupOffsets] = {}
        self._read_rows = 0
        # Groups that are read in steps.
        self._begun: dict[str, _Begun] = {}

    def __contains__(self, group_id: str) -> bool:
        return group_id in self._newer or (group_id not in self._taken and group_id in self._checkpoint)

    def __iter__(self) -> Iterator[str]:
        return (group_id for group_id in self._checkpoint if group_id not in self._taken)

    def __len__(self) -> int:
        """Return the number of groups in the checkpoint, whether they still rest or not."""
        return len(self._checkpoint)

    def ever(self) -> Iterator[str]:
        """Yield the groups in the checkpoint, whether they still rest or not. Groups may change meanwhile."""
        return iter(self._checkpoint)

    def bounds(self, group_id: str) -> ExpiryBounds | None:
        """Return the expiry bounds of a resting group, or None if it has newer commits."""
        return None if group_id in self._newer else ExpiryBounds(*self._checkpoint.bounds(group_id))

    def count(self, group_id: str) -> int:
        """Return an upper bound of the number of offsets of a resting group, without reading them."""
        newer = self._newer.get(group_id)
        return self._checkpoint.rows(group_id) + (0 if newer is None else newer.count())

    def unread(self, group_id: str) -> int:
        """Return the number of offsets that ``read`` has to read for a resting group."""
        return 0 if group_id in self._read else self._checkpoint.rows(group_id)

    def prepare(self, group_id: str, most: int) -> bool:
        """Read the next offsets of a resting group, at most ``most``. Return whether ``read`` has at most as many left to read."""
        if group_id in self._read or self._checkpoint.rows(group_id) <= most:
            return True
        begun = self._begun.get(group_id)
        if begun is None:
            if len(self._begun) == _MOST_BEGUN:
                del self._begun[next(iter(self._begun))]
            begun = self._begun[group_id] = self._begin(group_id)
        before = len(begun.offsets)
        begun.offsets.single().fill(islice(begun.rows, most))
        return len(begun.offsets) - before < most

    def _begin(self, group_id: str) -> _Begun:
        block = self._checkpoint.block(group_id)
        rows = decode_offsets(block) if block is not None else iter(self._read_records(self._checkpoint, group_id))
        return _Begun(GroupOffsets(self._registry), rows)

    def read(self, group_id: str) -> GroupOffsets:
        """Return the offsets of a resting group. The caller must not change them."""
        found = self._read.get(group_id)
        if found is not None:
            return found
        begun = self._begun.pop(group_id, None)
        found, rows = self._begin(group_id) if begun is None else begun
        found.single().fill(rows)
        newer = self._newer.get(group_id)
        if newer is not None:
            found.single().fill(newer.items())
        if self._read_rows + len(found) > READ_ROWS:
            self._read.clear()
            self._read_rows = 0
        self._read[group_id] = found
        self._read_rows += len(found)
        return found

    def newer(self, group_id: str) -> GroupOffsets:
        """Return the container for a resting group's newer offsets.

        Only for use while no snapshot is open, because these changes cannot be reverted.
        """
        self._forget_read(group_id)
        offsets = self._newer.get(group_id)
        if offsets is None:
            offsets = self._newer[group_id] = GroupOffsets(self._registry)
        return offsets

    def take(self, group_id: str) -> GroupOffsets:
        """Remove a group from the resting groups and return its offsets, which the caller may change."""
        offsets = self.read(group_id)
        self._forget_read(group_id)
        self._newer.pop(group_id, None)
        self._taken.add(group_id)
        return offsets

    def close(self) -> None:
        """Close the checkpoint."""
        self._checkpoint.close()

    def _forget_read(self, group_id: str) -> None:
        found = self._read.pop(group_id, None)
        if found is not None:
            self._read_rows -= len(found)
