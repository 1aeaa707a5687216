"""The whole server in one thread, from one integer: whatever befalls it, the checkers find nothing.

``SEEDS`` says how many are played (default 25), ``SIMULATION_STORM_S`` how long each one's trouble lasts. More of them, on all
cores: ``make simulate SEEDS=100000``.
"""

from __future__ import annotations

import os

import pytest

from tests.simulation.__main__ import replay_command, wrong_with
from tests.simulation.play import STORM_S

SEEDS = int(os.environ.get("SEEDS", "25"))
PER_TEST = 25
STORM = int(os.environ.get("SIMULATION_STORM_S", str(STORM_S)))

# Seeds that have shown something, each with what it was.
KEPT: dict[int, str] = {
    51: "a group whose deletion the log refused came back with members that it had let go",
    1467: "a fetch behind one that had read what was not durable read less",
    2108: "a checker took a sync of a deleted group for one of its namesake's",
    2638: "the mirror first looked at a server after compaction had removed what was recovered but never acknowledged",
    4046: "a full group with a static member that had not rejoined in time, as it may be in Kafka, was called too large",
}


def check(seeds: range | list[int]) -> None:
    for seed in seeds:
        _, wrong = wrong_with(seed, storm_s=STORM)
        assert not wrong, "\n".join([f"seed {seed}: {replay_command(seed, storm_s=STORM)}", *wrong[:10]])


@pytest.mark.parametrize("first", range(0, SEEDS, PER_TEST))
def test_checkers_find_nothing_in_seeds(first: int) -> None:
    """Every promise of the issue, over a run of seeds."""
    check(range(first, min(first + PER_TEST, SEEDS)))


def test_what_was_mended_stays_so() -> None:
    """The seeds of bugs that were found this way."""
    check(list(KEPT))
