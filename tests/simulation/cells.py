"""A model of cells (decision 127), which nobody has built: clusters with a database each, and a directory of the cells of groups.

It is a model, not the server: a cell is the rows of its database and the rules by which its nodes answer. Messages and answers
take time and get lost, cells know the directory as it was a while ago, and movers of slots die between any two statements, or go
on late.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import Final, NamedTuple
from zlib import crc32

from tests.simulation.world import MS, World

SLOTS: Final = 8
ASK_AGAIN_US: Final = 20 * MS
COPY_EVERY_US: Final = 100 * MS
NOT_COORDINATOR: Final = -1

Slot = int
Rows = tuple[dict[str, int], dict[tuple[str, str], int]]
"""The offsets of groups, and those that wait for the end of a transaction, by group and transactional id."""


def slot_of(name: str) -> Slot:
    """Return the slot of a group, or of a transactional id: it never changes."""
    return crc32(name.encode()) % SLOTS


class Place(NamedTuple):
    """Where a slot is, since which of its moves."""

    cell: int
    version: int


class Directory:
    """A small database of its own. Each method is one statement."""

    def __init__(self, cells: int) -> None:
        self.places = [Place(slot % cells, 0) for slot in range(SLOTS)]

    def move(self, slot: Slot, seen: Place, to: int) -> bool:
        """Say that a slot is elsewhere, unless it was moved since it was seen."""
        if self.places[slot] != seen:
            return False
        self.places[slot] = Place(to, seen.version + 1)
        return True


class Markers(Enum):
    """What a cell does for transactions with groups of other cells."""

    STAY = auto()  # as now: a message goes to an owner in the view, and the view is of one database
    CROSS = auto()  # messages are sent to the cell that the directory names, until they are acknowledged
    REFUSED = auto()  # such a group is not added to a transaction


class Cell:
    """What is in the database of a cell, and how its nodes answer. Each method is one statement there."""

    def __init__(self, number: int, directory: Directory, markers: Markers) -> None:
        self.number = number
        self._directory = directory
        self._markers = markers
        self.copy = list(directory.places)
        # The version at which a slot may be answered for, up to which it may not any more, and of the rows that were copied here.
        self.opened = {slot: at.version for slot, at in enumerate(directory.places) if at.cell == number}
        self.sealed: dict[Slot, int] = {}
        self.received: dict[Slot, int] = {}
        self.offsets: dict[str, int] = {}
        # Offsets of a transaction that has not ended, by group and transactional id.
        self.pending: dict[tuple[str, str], int] = {}
        # Groups of transactions: open ones, and committed ones that wait for the acknowledgement of a marker.
        self.transactions: dict[str, set[str]] = {}
        self.intents: dict[str, set[str]] = {}

    def answers(self, slot: Slot) -> bool:
        return slot in self.opened and self.sealed.get(slot, -1) < self.opened[slot]

    def find(self, name: str) -> int:
        """FindCoordinator, at any cell: by its copy of the directory."""
        return self.copy[slot_of(name)].cell

    def commit(self, group: str, offset: int) -> int:
        if not self.answers(slot_of(group)):
            return NOT_COORDINATOR
        self.offsets[group] = max(offset, self.offsets.get(group, 0))
        return offset

    def fetch(self, group: str) -> int:
        return self.offsets.get(group, 0) if self.answers(slot_of(group)) else NOT_COORDINATOR

    # A slot that moves.

    def seal(self, slot: Slot, version: int) -> None:
        self.sealed[slot] = max(version, self.sealed.get(slot, -1))

    def rows(self, slot: Slot) -> Rows:
        offsets = {group: offset for group, offset in self.offsets.items() if slot_of(group) == slot}
        return offsets, {key: offset for key, offset in self.pending.items() if slot_of(key[0]) == slot}

    def is_late(self, slot: Slot, version: int) -> bool:
        """Return whether rows as of a version come after newer ones, or after the slot was opened with them."""
        return version <= self.received.get(slot, -1) or self.opened.get(slot, -1) > version

    def receive(self, slot: Slot, version: int, rows: Rows) -> None:
        """Take the rows of a slot, in the place of those of an earlier move."""
        if self.is_late(slot, version):
            return
        self.received[slot] = version
        self.offsets = {group: at for group, at in self.offsets.items() if slot_of(group) != slot} | rows[0]
        self.pending = {key: at for key, at in self.pending.items() if slot_of(key[0]) != slot} | rows[1]

    def open(self, slot: Slot) -> None:
        """Answer for a slot from now on, if the directory itself says so."""
        cell, version = self._directory.places[slot]
        if cell == self.number:
            self.opened[slot] = version

    # Transactions.

    def add_group(self, transactional_id: str, group: str) -> bool:
        """AddOffsetsToTxn, at the cell of the transactional id."""
        if self._markers is Markers.REFUSED and not self.answers(slot_of(group)):
            return False
        self.transactions.setdefault(transactional_id, set()).add(group)
        return True

    def commit_pending(self, transactional_id: str, group: str, offset: int) -> bool:
        """TxnOffsetCommit, at the cell of the group."""
        if not self.answers(slot_of(group)):
            return False
        self.pending[group, transactional_id] = offset
        return True

    def end(self, transactional_id: str) -> None:
        """EndTxn: that it is committed is durable here, and with it which markers are to be sent."""
        self.intents[transactional_id] = self.transactions.pop(transactional_id)

    def mark(self, transactional_id: str, group: str) -> bool:
        """Apply a marker, at the cell of the group."""
        if not self.answers(slot_of(group)):
            return False
        offset = self.pending.pop((group, transactional_id), None)
        if offset is not None:
            self.offsets[group] = offset
        return True

    def deliver(self, cells: list[Cell]) -> None:
        """Send the markers that are not acknowledged."""
        for transactional_id, groups in self.intents.items():
            for group in sorted(groups):
                to = self.number if self._markers is Markers.STAY else self._directory.places[slot_of(group)].cell
                if cells[to].mark(transactional_id, group):
                    groups.discard(group)


class Cells:
    """Some cells in a world."""

    def __init__(self, world: World, count: int = 3, markers: Markers = Markers.STAY) -> None:
        self.world = world
        self.directory = Directory(count)
        self.cells = [Cell(number, self.directory, markers) for number in range(count)]
        self._look()

    def _look(self) -> None:
        for cell in self.cells:
            if self.world.rng.random() < 0.3:
                cell.copy = list(self.directory.places)
        self.world.after(COPY_EVERY_US, self._look)

    def ask(self, cell: int, question: Callable[[Cell], int], then: Callable[[int | None], None]) -> None:
        """Ask a cell, and do something with the answer; with None if there is none in time."""
        world, rng = self.world, self.world.rng
        fate = rng.random()

        def arrive() -> None:
            answer = question(self.cells[cell])
            if fate >= 0.1:
                world.after(world.between(MS, 20 * MS), lambda: then(answer))

        if fate >= 0.05:
            world.after(world.between(MS, 50 * MS), arrive)
        if fate < 0.1:
            world.after(100 * MS, lambda: then(None))

    def mover(self, slot: Slot, to: int) -> Iterator[None]:
        """The statements of a move, one at a time. Whoever continues it begins at the first one."""
        seen = self.directory.places[slot]
        yield
        if seen.cell != to:
            source = self.cells[seen.cell]
            source.seal(slot, seen.version)
            yield
            rows = source.rows(slot)
            yield
            self.cells[to].receive(slot, seen.version, rows)
            yield
            self.directory.move(slot, seen, to)
            yield
        self.cells[self.directory.places[slot].cell].open(slot)

    def move(self, slot: Slot, to: int) -> None:
        """Have movers do it. One may die, or wait for long before it goes on, beside the next one."""
        self._step(self.mover(slot, to), slot, to)

    def _step(self, mover: Iterator[None], slot: Slot, to: int) -> None:
        rng = self.world.rng
        is_over = next(mover, True)
        if is_over:
            return
        if rng.random() < 0.15:
            self.world.after(rng.randint(50, 300) * MS, lambda: self.move(slot, to))
            if rng.random() < 0.5:
                return
            self.world.after(rng.randint(100, 2000) * MS, lambda: self._step(mover, slot, to))
        else:
            self.world.after(self.world.between(MS, 30 * MS), lambda: self._step(mover, slot, to))


class Consumer:
    """The one client that commits for its group: 1, 2, 3, … It looks for the cell of the group, as Kafka's clients do."""

    def __init__(self, cells: Cells, group: str) -> None:
        self._cells = cells
        self.group = group
        self._at: int | None = None
        self.acknowledged = 0
        self.looked = 0
        self.wrong: list[str] = []
        self._go_on()

    def _go_on(self) -> None:
        if self._at is None:
            self.looked += 1
            anyone = self._cells.world.rng.randrange(len(self._cells.cells))
            self._cells.ask(anyone, lambda cell: cell.find(self.group), self._found)
        else:
            next_one = self.acknowledged + 1
            self._cells.ask(self._at, lambda cell: cell.commit(self.group, next_one), self._committed)

    def _found(self, cell: int | None) -> None:
        self._at = cell
        self._go_on()

    def _committed(self, offset: int | None) -> None:
        if offset is None or offset == NOT_COORDINATOR:
            self._look_again()
            return
        self.acknowledged = offset
        assert self._at is not None
        self._cells.ask(self._at, lambda cell: cell.fetch(self.group), self._fetched)

    def _fetched(self, offset: int | None) -> None:
        if offset is None or offset == NOT_COORDINATOR:
            self._look_again()
            return
        if offset < self.acknowledged:
            self.wrong.append(f"{self.group} is at {offset}, and {self.acknowledged} was acknowledged")
        self._go_on()

    def _look_again(self) -> None:
        self._at = None
        self._cells.world.after(ASK_AGAIN_US, self._go_on)
