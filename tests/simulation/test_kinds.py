"""Kinds of shard that only tests have, in the simulated server: what was answered is there, whatever befell the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.leases import rows as leases
from tests.simulation.leases import LeasePlay
from tests.simulation.play import STORM_S
from tests.simulation.toys import ToyPlay
from tests.simulation.verdict import faults
from tests.toy import rows as toys

SEEDS = int(os.environ.get("TOY_SEEDS", "4"))


@pytest.fixture(autouse=True)
def plugged() -> Iterator[None]:
    toys.plug()
    leases.plug()
    yield
    leases.unplug()
    toys.unplug()


def play(kind: type[ToyPlay], seed: int) -> tuple[ToyPlay, list[str]]:
    made = kind(seed, STORM_S)
    return made, faults(made.run())


@pytest.mark.parametrize("kind", [ToyPlay, LeasePlay])
@pytest.mark.parametrize("first", range(0, SEEDS, 10))
def test_totals_and_leases_keep_their_promises(first: int, kind: type[ToyPlay]) -> None:
    """The totals and leases hold all that was answered and nothing that was not asked for;
    the mirror replays the same state from the log.
    """
    answered = 0
    for seed in range(first, first + 10):
        made, wrong = play(kind, seed)
        assert not wrong, f"seed {seed}: {wrong[:10]}"
        answered += sum(len(adder.answered) for adder in made.adders)
    assert answered
