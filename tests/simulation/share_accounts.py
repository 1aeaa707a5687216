"""What is known of the states of share partitions, as far as their leaders and administrators have been answered.

No state is lost: a leader that reads finds at least what was acknowledged before it asked, record by record, and nothing that
nobody has written. A leader that a newer one has fenced writes nothing. An administrator may begin a state anew: as long as it is
not known whether that has happened, nothing is. A leader of before a deletion may read and write what the group begins next, as in
Kafka, before the group has it for certain and gives it to a member: until then the group begins it anew with each attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from protocol.messages.read_share_group_state import PartitionResult
from tests.simulation.ownership import Position
from tests.simulation.world import SECOND

NO_OFFSET: Final = -1
OF_BEFORE: Final = -1
"""Stands for the life of a state in which a leader of before a deletion finds itself."""
# A request without an answer may act as long as somebody has it: a process that is paused, or a record that is an open intent.
LATE_US: Final = 20 * SECOND

Delivery = tuple[int, int]
"""The delivery count and the delivery state of a record. The larger one wins."""
Batch = tuple[int, int, Delivery]
"""A first and a last offset."""


class Asked(NamedTuple):
    """What was known of a share partition when a request was sent."""

    sent_us: int
    lives: int
    start_offset: int
    records: dict[int, Delivery]
    is_fenced: bool
    is_there: bool
    """Whether somebody had read or written the state."""


class Account:
    """One share partition. ``wrong`` is told of what never should be."""

    def __init__(self, group_id: str, position: Position, now_us: Callable[[], int], wrong: Callable[[str], None]) -> None:
        self.group_id = group_id
        self.position = position
        self.reads = self.writes = 0
        self._now_us = now_us
        self._wrong = wrong
        # Whatever anybody has sent.
        self._said: dict[int, set[Delivery]] = {}
        self._starts = {NO_OFFSET}
        # What was acknowledged since the state began.
        self._records: dict[int, Delivery] = {}
        self._start_offset = NO_OFFSET
        self._fence = 0
        self._is_there = False
        # How often somebody may have begun the state anew, and until when that may happen yet.
        self._lives = 0
        self._beginnings = 0
        # How often it may have been deleted: leaders note that when they begin.
        self.deletions = 0
        self._doubted_until_us = 0
        self._last_epoch = 0

    def __repr__(self) -> str:
        return f"{self.group_id} {self.position[0].hex()[-4:]}-{self.position[1]}"

    # Leaders.

    def next_epoch(self) -> int:
        """Return the epoch of a new leader."""
        self._last_epoch += 1
        return self._last_epoch

    def asked(self, leader_epoch: int, deletions: int = 0) -> Asked:
        """A leader is about to ask, which began after so many deletions."""
        lives = self._lives if deletions == self.deletions else OF_BEFORE
        return Asked(self._now_us(), lives, self._start_offset, dict(self._records), leader_epoch < self._fence, self._is_there)

    def writes_of(self, start_offset: int, batches: Iterable[Batch]) -> None:
        """A write is on its way."""
        self._starts.add(start_offset)
        for first, last, delivery in batches:
            for offset in range(first, last + 1):
                self._said.setdefault(offset, set()).add(delivery)

    def written(self, asked: Asked, leader_epoch: int, start_offset: int, batches: Iterable[Batch]) -> None:
        """A write was acknowledged."""
        self.writes += 1
        if not self._is_certain(asked):
            return
        if asked.is_fenced:
            self._wrong(f"{self}: a leader of epoch {leader_epoch} has written, and a newer one had read before")
        self._is_there = True
        self._start_offset = max(self._start_offset, start_offset)
        for first, last, delivery in batches:
            for offset in range(max(first, start_offset), last + 1):
                self._records[offset] = max(self._records.get(offset, (0, 0)), delivery)

    def read(self, asked: Asked, leader_epoch: int, found: PartitionResult) -> None:
        """A leader has read the state."""
        self.reads += 1
        records = {
            offset: (each.delivery_count, each.delivery_state)
            for each in found.state_batches
            for offset in range(each.first_offset, each.last_offset + 1)
        }
        invented = {offset: each for offset, each in records.items() if each not in self._said.get(offset, ())}
        if invented or found.start_offset not in self._starts:
            self._wrong(f"{self}: nobody has written {invented}, start offset {found.start_offset}")
        if records and min(records) < found.start_offset:
            self._wrong(f"{self}: starts at {found.start_offset}, and has records below that: {found.state_batches}")
        if not self._is_certain(asked):
            return
        if found.start_offset < asked.start_offset:
            self._wrong(f"{self}: starts at {found.start_offset}, and {asked.start_offset} was acknowledged")
        lost = {
            offset: each
            for offset, each in asked.records.items()
            if offset >= found.start_offset and records.get(offset, (0, 0)) < each
        }
        if lost:
            self._wrong(f"{self}: was acknowledged, and is lost: {lost}")
        if asked.is_fenced:
            self._wrong(f"{self}: a leader of epoch {leader_epoch} has read, and a newer one had before")
        self._is_there = True
        self._fence = max(self._fence, leader_epoch)
        self._start_offset = max(self._start_offset, found.start_offset)
        for offset, each in records.items():
            self._records[offset] = max(self._records.get(offset, (0, 0)), each)

    def refused_for_its_epoch(self, leader_epoch: int) -> None:
        """A leader was answered that there is a newer one."""
        if leader_epoch >= self._last_epoch:
            self._wrong(f"{self}: the leader of epoch {leader_epoch} is fenced, and there is no newer one")

    def not_found(self, asked: Asked, error: str) -> None:
        """A leader was answered that there is no such state, or a newer one."""
        if asked.is_there and self._is_certain(asked):
            self._wrong(f"{self}: {error}, and nobody has deleted the state or begun it anew")

    # Administrators.

    def begins_anew(self, start_offset: int = NO_OFFSET) -> None:
        """Somebody asks to begin the state anew, or to delete it."""
        self._beginnings += 1
        self._starts.add(start_offset)

    def began_anew(self, has_happened: bool | None, *, is_deleted: bool = False) -> None:
        """Whether that has happened, and whether the state was deleted for that. None: nobody knows."""
        self._beginnings -= 1
        if has_happened is False:
            return
        self.deletions += is_deleted
        self._lives += 1
        self._records.clear()
        self._start_offset, self._fence, self._is_there = NO_OFFSET, 0, False
        self._doubted_until_us = max(self._doubted_until_us, self._now_us() + (0 if has_happened else LATE_US))

    def _is_certain(self, asked: Asked) -> bool:
        """Return whether the state that a request was sent to is the state now."""
        return not self._beginnings and asked.lives == self._lives and asked.sent_us >= self._doubted_until_us
