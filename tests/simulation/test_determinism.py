"""A seed is all there is to a simulation."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from hashlib import sha256

from tests.simulation.play import run

SEEDS = range(3)
_TELL = "from tests.simulation.test_determinism import fingerprints; print(*fingerprints())"


@cache
def of_this_process() -> list[str]:
    return fingerprints()


def fingerprints() -> list[str]:
    """What each seed comes to: every request, answer and incident with its time, and every byte of the log."""
    found = []
    for seed in SEEDS:
        outcome = run(seed)
        told = sha256("\n".join(outcome.history.lines()).encode())
        for shard, batches in outcome.mirror.batches.items():
            told.update(str(shard).encode() + b"".join(batches))
        found.append(told.hexdigest())
    return found


def test_the_same_seed_is_the_same_history() -> None:
    """In this process and in others, whatever their hashes are seeded with."""
    here = of_this_process()

    assert fingerprints() == here
    for hash_seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        told = subprocess.run([sys.executable, "-c", _TELL], env=environment, check=True, capture_output=True, text=True).stdout
        assert told.split() == here


def test_different_seeds_play_differently() -> None:
    """Or there would be nothing to the many."""
    assert len(set(of_this_process())) == len(SEEDS)
