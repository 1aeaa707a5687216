"""Kinds of shard that only tests have, in the simulated server: what was answered is there, whatever befell the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.simulation.play import STORM_S
from tests.simulation.toys import ToyPlay
from tests.simulation.verdict import faults
from tests.toy.rows import plug, unplug

SEEDS = int(os.environ.get("TOY_SEEDS", "40"))


@pytest.fixture(autouse=True)
def toys() -> Iterator[None]:
    plug()
    yield
    unplug()


def play(seed: int) -> tuple[ToyPlay, list[str]]:
    made = ToyPlay(seed, STORM_S)
    return made, faults(made.run())


@pytest.mark.parametrize("first", range(0, SEEDS, 10))
def test_nothing_is_wrong_with(first: int) -> None:
    """The totals hold all that was answered and nothing that was not asked for; the mirror replays the same state from the log."""
    answered = 0
    for seed in range(first, first + 10):
        made, wrong = play(seed)
        assert not wrong, f"seed {seed}: {wrong[:10]}"
        answered += sum(len(adder.answered) for adder in made.adders)
    assert answered
