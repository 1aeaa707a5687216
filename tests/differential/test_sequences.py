"""Random sequences, the same requests to both servers. ``--differential-sequences N`` plays N of them, ``--seed N`` the one of that seed."""

from __future__ import annotations

import pytest

from tests.differential.lockstep import LEADER_CHOSEN, Difference, Lockstep
from tests.differential.scripts import Servers
from tests.differential.sequences import sequence

FIRST_SEED = 1


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    only, count = metafunc.config.getoption("--seed"), metafunc.config.getoption("--differential-sequences")
    seeds = [only] if only is not None else range(FIRST_SEED, FIRST_SEED + count)
    metafunc.parametrize("seed", seeds)


def test_sequence(seed: int, servers: Servers) -> None:
    """Both say the same to the end, or until Kafka draws another leader; only requests that it never answers are passed over."""
    lockstep = Lockstep(*servers, f"sequence{seed}-")
    try:
        outcome = lockstep.play(sequence(seed))
        if not outcome.ended:
            lockstep.compare_logs()
    except Difference as found:
        command = f"make test ARGS='tests/differential/test_sequences.py --seed {seed}'"
        raise AssertionError(f"{found}\n{command}") from None
    finally:
        lockstep.close()

    assert outcome.ended in {"", LEADER_CHOSEN}
