"""Groups whose offsets *rest* in a checkpoint: they are not in memory, because nothing has changed them since the last compaction.

A group's offsets are a block of bytes there (``resting_block.py``). It is read, and kept for a while, when somebody asks for them. When something changes
them, the group is taken out, for good: what is deleted afterwards stays deleted. What a start replays from the log's tail for a resting group
is kept beside its block until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from coordinator_server.machine.shard import CheckpointState
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.offsets.group_offsets import GroupOffsets
from coordinator_server.offsets.resting_block import ExpiryBounds, Row, wake

# So many offsets of groups that were read are remembered.
READ_ROWS = 2_000

ReadRecords = Callable[[CheckpointState, str], Iterable[Row]]


class RestingGroups:
    """The groups of one checkpoint that nothing has changed yet."""

    __slots__ = ("_checkpoint", "_read", "_read_records", "_read_rows", "_registry", "_tail", "_taken")

    def __init__(self, registry: SnapshotRegistry, checkpoint: CheckpointState, read_records: ReadRecords) -> None:
        """``read_records`` finds the offsets of a group whose block is damaged."""
        self._registry = registry
        self._checkpoint = checkpoint
        self._read_records = read_records
        # Groups of the checkpoint that rest no more.
        self._taken: set[str] = set()
        # What the log's tail says of groups that rest.
        self._tail: dict[str, GroupOffsets] = {}
        # Groups that were read lately: the members of a group start at the same time, and each asks for its own.
        self._read: dict[str, GroupOffsets] = {}
        self._read_rows = 0

    def __contains__(self, group_id: str) -> bool:
        return group_id in self._tail or (group_id not in self._taken and group_id in self._checkpoint)

    def __iter__(self) -> Iterator[str]:
        return (group_id for group_id in self._checkpoint if group_id not in self._taken)

    def bounds(self, group_id: str) -> ExpiryBounds | None:
        """Return what bounds the expiry of a group that rests; None where the log's tail says more of it."""
        return None if group_id in self._tail else ExpiryBounds(*self._checkpoint.bounds(group_id))

    def read(self, group_id: str) -> GroupOffsets:
        """Return the offsets of a group that rests. They are not to be changed."""
        found = self._read.get(group_id)
        if found is not None:
            return found
        block = self._checkpoint.block(group_id)
        found = GroupOffsets(self._registry)
        found.single().fill(wake(block) if block is not None else self._read_records(self._checkpoint, group_id))
        tail = self._tail.get(group_id)
        if tail is not None:
            found.single().fill(tail.items())
        if self._read_rows + len(found) > READ_ROWS:
            self._read.clear()
            self._read_rows = 0
        self._read[group_id] = found
        self._read_rows += len(found)
        return found

    def tail(self, group_id: str) -> GroupOffsets:
        """Return where to put what the log's tail says of a group that rests. Only while nothing can be reverted: what is put is final."""
        self._forget_read(group_id)
        offsets = self._tail.get(group_id)
        if offsets is None:
            offsets = self._tail[group_id] = GroupOffsets(self._registry)
        return offsets

    def take(self, group_id: str) -> GroupOffsets:
        """Return the offsets of a group that rests, to be changed: it rests no more."""
        offsets = self.read(group_id)
        self._forget_read(group_id)
        self._tail.pop(group_id, None)
        self._taken.add(group_id)
        return offsets

    def close(self) -> None:
        """Let go of the checkpoint."""
        self._checkpoint.close()

    def _forget_read(self, group_id: str) -> None:
        found = self._read.pop(group_id, None)
        if found is not None:
            self._read_rows -= len(found)
