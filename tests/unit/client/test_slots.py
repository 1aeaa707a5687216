"""Which partition has the checkpoint of which item."""

from __future__ import annotations

import random

import pytest

from coordinator_server.client.work_sharing import divide_slots


def test_an_item_keeps_its_slot() -> None:
    """That of its owner before that of an old checkpoint; new ones get free slots."""
    assert divide_slots(["a", "b", "c"], [("a", 2), ("a", 0), ("b", 0)], 4, {0}) == {"a": 2, "b": 0, "c": 1}


def test_a_slot_is_of_one_item() -> None:
    """The first claim counts: an item that comes back finds a different slot than the one that was taken meanwhile."""
    assert divide_slots(["a", "b"], [("a", 3), ("b", 3)], 4, {3}) == {"a": 3, "b": 0}


def test_checkpoints_of_items_that_are_gone_are_kept_while_there_is_room() -> None:
    assert divide_slots(["new"], [("gone", 0)], 2, {0}) == {"new": 1}
    assert divide_slots(["new", "newer"], [("gone", 0)], 2, {0}) == {"new": 1, "newer": 0}


@pytest.mark.parametrize("seed", range(50))
def test_every_item_has_a_slot_of_its_own(seed: int) -> None:
    rng = random.Random(seed)
    items = [f"i{i}" for i in range(rng.randint(0, 10))]
    count = len(items) + rng.randint(0, 3)
    claims = [(rng.choice([*items, "gone"]), rng.randint(0, count)) for _ in range(12)]
    slots = divide_slots(items, claims, count, {slot for _, slot in claims})

    assert slots.keys() == set(items)
    assert len(set(slots.values())) == len(items)
    assert all(slot < count for slot in slots.values())
