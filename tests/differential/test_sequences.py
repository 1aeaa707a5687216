"""Random sequences, the same requests to both servers. ``--differential-sequences N`` plays N of them, ``--seed N`` the one of that seed."""

from __future__ import annotations

import pytest

from tests.differential.lockstep import LEADER_CHOSEN, Difference
from tests.differential.playing import Stage, play_sequence
from tests.differential.scripts import RECORDED_SEEDS, Script, sequence_of


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "script" in metafunc.fixturenames:
        only, count = metafunc.config.getoption("--seed"), metafunc.config.getoption("--differential-sequences")
        first = RECORDED_SEEDS.start
        seeds = [only] if only is not None else RECORDED_SEEDS if count is None else range(first, first + count)
        metafunc.parametrize("script", [pytest.param(sequence_of(seed), id=str(seed)) for seed in seeds])


def test_sequence(script: Script, stage: Stage) -> None:
    """Both say the same to the end, or until Kafka draws another leader; only requests that it never answers are passed over."""
    try:
        outcome = play_sequence(script, stage)
    except Difference as found:
        seed = script.title.split()[-1]
        raise AssertionError(f"{found}\nmake test ARGS='tests/differential/test_sequences.py --seed {seed} --live'") from None

    assert outcome.ended in {"", LEADER_CHOSEN}
