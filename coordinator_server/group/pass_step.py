"""One step of a pass over the groups of a shard, which deletes offsets: its limits, and its result so far.

A step takes about two milliseconds of the loop. The pass goes on after other work, possibly in the middle of a group. The group
may have changed by then, so a step decides by what it reads itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Final

from coordinator_server.machine.timeline import LATEST
from coordinator_server.offsets.cursor import OffsetCursor
from coordinator_server.offsets.delete import tombstone
from coordinator_server.offsets.store import OffsetStore, TopicPartition
from protocol.coordinator_records import CoordinatorRecord

OFFSETS_PER_STEP: Final = 2_000
RECORDS_PER_STEP: Final = 200
# The cost of a look at a group, even if it neither comes to rest nor has anything due, and that of entering one besides, as numbers
# of offsets, and the number of its positions that are copied at the cost of one offset.
OFFSETS_PER_LOOK: Final = 5
OFFSETS_PER_GROUP: Final = 10
COPIES_PER_OFFSET: Final = 50


class PassStep:
    """The records of a step, the groups that it deletes, and how many offsets it may still check."""

    __slots__ = ("ended", "looks", "records")

    def __init__(self) -> None:
        self.looks = OFFSETS_PER_STEP
        self.records: list[CoordinatorRecord] = []
        self.ended: list[str] = []

    @property
    def room(self) -> int:
        """The number of offsets that the step may check, even if it deletes all of them. At most 0 if it is over."""
        return min(self.looks, RECORDS_PER_STEP - len(self.records))

    def is_ready(self, cursor: OffsetCursor, store: OffsetStore, pending: Collection[TopicPartition] = ()) -> bool:
        """Return whether the offsets of a group can be visited. A large group must be read from the checkpoint before, in steps."""
        if not store.prepare(cursor.group_id, OFFSETS_PER_STEP):
            self.looks = 0
            return False
        if not cursor.has_begun:
            cursor.begin(store.of_group_at(cursor.group_id, LATEST) or (), pending)
            self.looks -= OFFSETS_PER_GROUP + len(cursor) // COPIES_PER_OFFSET
        return True

    def positions(self, cursor: OffsetCursor) -> Iterator[TopicPartition]:
        """Yield the next positions of a group, until the step is over or all are visited."""
        while cursor and self.room > 0:
            positions = cursor.take(self.room)
            self.looks -= len(positions)
            yield from positions

    def delete(self, cursor: OffsetCursor, is_doomed: Callable[[TopicPartition], bool]) -> int:
        """Delete the offsets of a group that a condition selects, until the step is over. Return their number."""
        before = len(self.records)
        group_id = cursor.group_id
        for position in self.positions(cursor):
            if is_doomed(position):
                self.records.append(tombstone(group_id, *position))
        return len(self.records) - before
