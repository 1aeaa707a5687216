"""The way past one database, as a model (``cells.py``, decision 127): what holds with cells, and what breaks."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from random import Random
from typing import Any

import pytest

from tests.simulation.cells import SLOTS, Cell, Cells, Consumer, Directory, Markers, Place, slot_of
from tests.simulation.world import SECOND, World

TRANSACTION = "payments-1"


def play(seed: int) -> tuple[Cells, list[Consumer]]:
    """Consumers commit while slots move for ten seconds, and for five more while none does."""
    world = World(Random(seed))
    cells = Cells(world)
    consumers = [Consumer(cells, f"group-{number}") for number in range(12)]
    for _ in range(40):
        move = partial(cells.move, world.rng.randrange(SLOTS), world.rng.randrange(3))
        world.after(world.rng.randrange(10 * SECOND), move)
    world.run_for(15 * SECOND)
    return cells, consumers


def wrong(cells: Cells, consumers: list[Consumer]) -> list[str]:
    """What must not be, when no slot has moved for a while."""
    found = [wrong for consumer in consumers for wrong in consumer.wrong]
    for slot, place in enumerate(cells.directory.places):
        answering = [cell.number for cell in cells.cells if cell.answers(slot)]
        if answering != [place.cell]:
            found.append(f"slot {slot} is at {place.cell}, and {answering} answer")
    for consumer in consumers:
        cell = cells.cells[cells.directory.places[slot_of(consumer.group)].cell]
        if cell.offsets.get(consumer.group, 0) < consumer.acknowledged:
            found.append(f"{consumer.group} has lost {consumer.acknowledged}")
    return found


@pytest.mark.parametrize("seed", range(20))
def test_clients_find_their_cell_and_nothing_acknowledged_is_lost(seed: int) -> None:
    """Whatever they were told before, whoever of the movers has died, or goes on late beside another one."""
    cells, consumers = play(seed)

    assert wrong(cells, consumers) == []
    assert min(consumer.acknowledged for consumer in consumers) > 20
    assert sum(place.version for place in cells.directory.places) > 10
    assert sum(consumer.looked for consumer in consumers) > 2 * len(consumers)


def moves_blindly(self: Directory, slot: int, seen: Place, to: int) -> bool:
    self.places[slot] = Place(to, seen.version + 1)
    return True


def opens_by_the_copy(self: Cell, slot: int) -> None:
    self.opened[slot] = self.copy[slot].version


@pytest.mark.parametrize(
    ("of", "rule", "broken"),
    [
        (Cell, "seal", lambda *_: None),
        (Cell, "is_late", lambda *_: False),
        (Cell, "open", opens_by_the_copy),
        (Directory, "move", moves_blindly),
    ],
)
def test_each_rule_of_a_move_is_needed(of: type, rule: str, broken: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model would see it."""
    monkeypatch.setattr(of, rule, broken)

    assert any(wrong(*play(seed)) for seed in range(20))


def groups_of(cells: Cells) -> tuple[str, str]:
    """A group of the transactional id's cell, and one of another cell."""
    home = cells.directory.places[slot_of(TRANSACTION)].cell
    names = [f"group-{number}" for number in range(100)]
    near = next(name for name in names if cells.directory.places[slot_of(name)].cell == home)
    return near, next(name for name in names if cells.directory.places[slot_of(name)].cell != home)


def cell_of(cells: Cells, name: str) -> int:
    return cells.directory.places[slot_of(name)].cell


def transact(cells: Cells, *groups: str) -> None:
    """Commit 7 to groups in one transaction, which the application is told has ended."""
    home = cells.cells[cell_of(cells, TRANSACTION)]
    for group in groups:
        assert home.add_group(TRANSACTION, group)
        assert cells.cells[cell_of(cells, group)].commit_pending(TRANSACTION, group, 7)
    home.end(TRANSACTION)


def offsets_after(cells: Cells, *groups: str) -> list[int]:
    """The offsets of groups, after all markers that can be delivered were."""
    for cell in cells.cells:
        cell.deliver(cells.cells)
    return [cells.cells[cell_of(cells, group)].fetch(group) for group in groups]


def test_a_transaction_within_a_cell_is_whole() -> None:
    cells = Cells(World(Random(1)))
    near, _ = groups_of(cells)

    transact(cells, near)

    assert offsets_after(cells, near) == [7]


def test_a_transaction_over_two_cells_is_half_committed() -> None:
    """What breaks with the messages that there are: they reach owners in the view, and the view ends at the database."""
    cells = Cells(World(Random(1)))

    transact(cells, *groups_of(cells))

    assert offsets_after(cells, *groups_of(cells)) == [7, 0]
    assert any(cell.pending for cell in cells.cells)


def test_a_slot_that_moves_takes_a_group_away_from_its_transaction() -> None:
    """Even groups of one cell are not safe: the marker finds no owner any more."""
    cells = Cells(World(Random(1)))
    near, _ = groups_of(cells)
    transact(cells, near)
    for _ in cells.mover(slot_of(near), (cell_of(cells, near) + 1) % 3):
        pass

    assert offsets_after(cells, near) == [0]


def restored(cells: Cells, number: int, rows: dict[str, Any]) -> None:
    """The database of a cell is as it was; the directory, another database, is not."""
    cells.cells[number].__dict__.update(deepcopy(rows))


def rows_of(cells: Cells, number: int) -> dict[str, Any]:
    return {name: deepcopy(each) for name, each in cells.cells[number].__dict__.items() if name != "_directory"}


def test_markers_that_cross_make_it_whole_but_not_for_a_restore() -> None:
    """With messages between cells both groups have it, moved or not. A database that is restored has the other half."""
    cells = Cells(World(Random(1)), markers=Markers.CROSS)
    near, far = groups_of(cells)
    [other] = {0, 1, 2} - {cell_of(cells, near), cell_of(cells, far)}
    before = rows_of(cells, cell_of(cells, far))
    transact(cells, near, far)
    for _ in cells.mover(slot_of(near), other):
        pass
    assert offsets_after(cells, near, far) == [7, 7]

    restored(cells, cell_of(cells, far), before)

    assert offsets_after(cells, near, far) == [7, 0]


def test_a_restore_forgets_slots_that_came_since() -> None:
    """Nobody answers for them, until somebody decides which rows count."""
    cells = Cells(World(Random(1)))
    near, far = groups_of(cells)
    to = cell_of(cells, far)
    before = rows_of(cells, to)
    for _ in cells.mover(slot_of(near), to):
        pass
    assert [cell.answers(slot_of(near)) for cell in cells.cells].count(True) == 1

    restored(cells, to, before)

    assert not any(cell.answers(slot_of(near)) for cell in cells.cells)


def test_a_group_of_another_cell_is_refused() -> None:
    """The choice: nothing is half done, and the application hears of it before it has written anything."""
    cells = Cells(World(Random(1)), markers=Markers.REFUSED)
    near, far = groups_of(cells)
    home = cells.cells[cell_of(cells, TRANSACTION)]

    assert home.add_group(TRANSACTION, near)
    assert not home.add_group(TRANSACTION, far)
