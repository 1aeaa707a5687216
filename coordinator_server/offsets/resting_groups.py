"""Groups whose offsets *rest*: they are bytes, because they have not changed for a while.

A group's offsets are a block of bytes (``resting_block.py``): in the checkpoint, if the group has not changed since the last
compaction, or in memory, if it came to rest since. A read request decodes the block and caches the offsets for a while. Newer
commits that a start finds in the log after the checkpoint are kept beside the block. A change takes the group out of the resting
groups, and its block with it, over which the change lies; the checkpoint is never asked for the group again, so deleted offsets
stay deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

from coordinator_server.machine.shard import CheckpointState
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.offsets.group_offsets import GroupOffsets, Unread
from coordinator_server.offsets.resting_block import (
    ExpiryBounds,
    RestingGroup,
    Row,
    bounds_of,
    decode_offsets,
    keep,
    rows_of,
)

# Maximum number of cached offsets of groups that were read.
READ_ROWS = 2_000
# Maximum number of groups that are partly read. It exceeds the number of readers that read in steps at the same time.
_MOST_BEGUN: Final = 8

ReadRecords = Callable[[CheckpointState, str], Iterable[Row]]


class RestingGroups:
    """The resting groups of one shard."""

    __slots__ = (
        "_begun",
        "_blocks",
        "_checkpoint",
        "_newer",
        "_read",
        "_read_records",
        "_read_rows",
        "_registry",
        "_taken",
        "at_once",
    )

    def __init__(self, registry: SnapshotRegistry, checkpoint: CheckpointState | None, read_records: ReadRecords) -> None:
        """Take the function that reads a group's offsets from records if its block is damaged."""
        self._registry = registry
        self._checkpoint = checkpoint
        self._read_records = read_records
        # Groups of the checkpoint whose block there is out of date.
        self._taken: set[str] = set()
        # The offsets of resting groups that the log has after the checkpoint.
        self._newer: dict[str, GroupOffsets] = {}
        # The groups that came to rest since the load: their kept blocks.
        self._blocks: dict[str, bytes] = {}
        # Cache of read groups: the members of a group start at the same time, and each reads its own partitions.
        self._read: dict[str, GroupOffsets] = {}
        self._read_rows = 0
        # Groups that are read in steps.
        self._begun: dict[str, GroupOffsets] = {}
        # The block of a group with more offsets is not read from the checkpoint for a change.
        self.at_once = 1_000

    def __contains__(self, group_id: str) -> bool:
        return group_id in self._blocks or group_id in self._newer or self._is_in_checkpoint(group_id)

    def __iter__(self) -> Iterator[str]:
        return chain(list(self._blocks), self._left_in_checkpoint())

    def __len__(self) -> int:
        """Return an upper bound of the number of groups: those of the checkpoint count, whether they still rest or not."""
        return len(self._blocks) + (0 if self._checkpoint is None else len(self._checkpoint))

    def in_memory(self) -> Iterable[str]:
        """Return the groups that came to rest since the load, until the next change."""
        return self._blocks

    def of_checkpoint(self) -> Iterable[str]:
        """Return the groups of the checkpoint, whether they still rest or not. Groups may change meanwhile."""
        return self._checkpoint or ()

    def bounds(self, group_id: str) -> ExpiryBounds | None:
        """Return the expiry bounds of a resting group, or None if it has newer commits."""
        if group_id in self._newer:
            return None
        kept = self._blocks.get(group_id)
        return ExpiryBounds(*self._open_checkpoint().bounds(group_id)) if kept is None else bounds_of(kept)

    def count(self, group_id: str) -> int:
        """Return an upper bound of the number of offsets of a resting group, without reading them."""
        newer = self._newer.get(group_id)
        return self._rows(group_id) + (0 if newer is None else newer.count())

    def unread(self, group_id: str) -> int:
        """Return the number of offsets that ``read`` has to read for a resting group."""
        return 0 if group_id in self._read else self._rows(group_id)

    def prepare(self, group_id: str, most: int) -> bool:
        """Read the next offsets of a resting group, at most ``most``. Return whether ``read`` has at most as many left to read."""
        if group_id in self._read or self._rows(group_id) <= most:
            return True
        begun = self._begun.get(group_id)
        if begun is None:
            if len(self._begun) == _MOST_BEGUN:
                del self._begun[next(iter(self._begun))]
            begun = self._begun[group_id] = self._begin(group_id)
        return begun.prepare(most)

    def read(self, group_id: str) -> GroupOffsets:
        """Return the offsets of a resting group. The caller must not change them."""
        found = self._read.get(group_id)
        if found is not None:
            return found
        found = self._begun.pop(group_id, None) or self._begin(group_id)
        size = len(found)
        if self._read_rows + size > READ_ROWS:
            self._read.clear()
            self._read_rows = 0
        self._read[group_id] = found
        self._read_rows += size
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

    def whole(self, group_id: str) -> GroupOffsets:
        """Return the offsets of a resting group, newer ones included, to encode them."""
        return self._begin(group_id)

    def newest(self, group_id: str) -> GroupOffsets | None:
        """Return a resting group's newer offsets, if it has any."""
        return self._newer.get(group_id)

    def put(self, group_id: str, offsets: RestingGroup) -> None:
        """Let a group rest with these offsets, whether it rested before or not."""
        self._leave(group_id)
        self._blocks[group_id] = keep(offsets)

    def take(self, group_id: str) -> GroupOffsets:
        """Remove a group from the resting groups and return its offsets, which the caller may change.

        They are not decoded for it. What was decoded of a few for a read is forgotten: the next commit replaces it.
        """
        offsets = None
        if self._rows(group_id) > self.at_once:
            offsets = self._begun.get(group_id) or self._read.get(group_id)
        if offsets is None:
            offsets = self._begin(group_id)
        self._leave(group_id)
        return offsets

    def close(self) -> None:
        """Close the checkpoint."""
        if self._checkpoint is not None:
            self._checkpoint.close()

    def _leave(self, group_id: str) -> None:
        self._forget_read(group_id)
        self._newer.pop(group_id, None)
        self._blocks.pop(group_id, None)
        if self._checkpoint is not None and group_id in self._checkpoint:
            self._taken.add(group_id)

    def _rows(self, group_id: str) -> int:
        kept = self._blocks.get(group_id)
        return self._open_checkpoint().rows(group_id) if kept is None else rows_of(kept)

    def _begin(self, group_id: str) -> GroupOffsets:
        """Return the offsets of a group. Those of its block are not decoded yet."""
        begun = GroupOffsets(self._registry, self._unread(group_id), self._rows(group_id))
        newer = self._newer.get(group_id)
        if newer is not None:
            begun.lay_over(newer)
        return begun

    def _unread(self, group_id: str) -> Unread:
        kept = self._blocks.get(group_id)
        if kept is not None:
            return kept
        checkpoint = self._open_checkpoint()
        rows = checkpoint.rows(group_id)
        if rows > self.at_once:
            return self._of_block(group_id)
        block = checkpoint.block(group_id)
        if block is None:
            return iter(self._read_records(checkpoint, group_id))
        return keep(RestingGroup(block, rows, ExpiryBounds(*checkpoint.bounds(group_id))))

    def _of_block(self, group_id: str) -> Iterator[Row]:
        """Yield the offsets of a group in the checkpoint. Its block is read with the first of them."""
        block = self._open_checkpoint().block(group_id)
        yield from self._read_records(self._open_checkpoint(), group_id) if block is None else decode_offsets(block)

    def _left_in_checkpoint(self) -> Iterator[str]:
        # No generator expression: compiled, it would be a list of all of them.
        for group_id in self._checkpoint or ():
            if group_id not in self._taken:
                yield group_id

    def _is_in_checkpoint(self, group_id: str) -> bool:
        return self._checkpoint is not None and group_id not in self._taken and group_id in self._checkpoint

    def _open_checkpoint(self) -> CheckpointState:
        assert self._checkpoint is not None
        return self._checkpoint

    def _forget_read(self, group_id: str) -> None:
        self._begun.pop(group_id, None)
        found = self._read.pop(group_id, None)
        if found is not None:
            self._read_rows -= len(found)
