"""The order of a Java HashSet of numbers. The expected orders are those that Java 17 prints."""

from __future__ import annotations

import pytest

from coordinator_server.group.assign.hash_table import order_numbers

CASES: dict[str, tuple[int, list[int], list[int]]] = {
    "a full bucket makes a small table grow": (
        16,
        list(range(0, 177, 16)),
        [0, 32, 64, 96, 128, 160, 16, 48, 80, 112, 144, 176],
    ),
    "numbers of more than 16 bits": (16, [65536, 1, 131072, 70000, 4, 65537, ~1], [65537, 65536, 70000, 131072, 4]),
    "additions after removals": (
        16,
        [*range(12), ~0, ~5, 16, 32, 0, 48],
        [32, 0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 16, 48],
    ),
    "a list of few": (4, [5, 1, 9, 13, ~5, ~13, 17], [1, 9, 17]),
    "a full bucket of a large table becomes a tree": (
        64,
        [*range(0, 1217, 64), ~64, ~640, ~0, ~704, 1280],
        [448, 192, 128, 256, 320, 384, 512, 576, 768, 832, 896, 960, 1024, 1088, 1152, 1216, 1280],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_numbers_come_in_javas_order(name: str) -> None:
    buckets, changes, order = CASES[name]

    assert order_numbers(buckets, changes) == order


@pytest.mark.parametrize("stride", [1, 7, 64, 1024])
def test_what_was_added_and_not_removed_is_there(stride: int) -> None:
    added = [stride * i for i in range(40)]
    removed = added[::3]

    found = order_numbers(1, [*added, *(~each for each in removed)])

    assert sorted(found) == sorted(set(added) - set(removed))
