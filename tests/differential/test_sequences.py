"""Random sequences, the same requests to both servers.

``--differential-sequences N`` plays N of them, ``--seed N`` the one of that seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest

from tests.differential.lockstep import CHECKED_TOGETHER, LEADER_CHOSEN, Difference, Outcome
from tests.differential.playing import Stage, play_sequence
from tests.differential.scripts import (
    OF_CONSUMERS,
    OF_GROUPS,
    OF_PRODUCERS,
    OF_SHARE_STATES,
    OF_SHARES,
    OF_STREAMS,
    RESTARTED_CONSUMERS,
    RESTARTED_PRODUCERS,
    RESTARTED_SHARE_STATES,
    RESTARTED_SHARES,
    RESTARTED_STREAMS,
    SHARE_SNAPSHOTS,
    TIMED,
    Script,
    Sequences,
)
from tests.differential.servers import PATIENT

if TYPE_CHECKING:
    from tests.differential.conftest import Halves, Played

# Sequences wait for each other before the restart: no session ends meanwhile.
PROPERTIES: Final = PATIENT
# A group has lost its offsets, and a transaction was aborted that had others:
# the servers are apart by row 49 of docs/differences.md.
ONLY_ABORTED: Final = "difference 49"
# A static member has taken another instance id, a classic member has come back to an empty consumer group, a group has become
# a consumer group again in the middle of a rebalance, a member that subscribes to nothing has computed a target, and a group
# that rebalances has refused a member.
APART: Final = {"difference 58", "difference 65", "difference 68", "difference 87", "difference 127"}
# A streams group is described after a restart, before a record of it.
UNDECIDED: Final = "difference 119"
# By test: the kind of sequence, and the number of sequences for which one of it is played.
_KINDS: Final[dict[str, tuple[Sequences, int]]] = {
    "test_sequence": (OF_GROUPS, 1),
    "test_producers": (OF_PRODUCERS, 1),
    "test_restarted_producers": (RESTARTED_PRODUCERS, 5),
    "test_timed_producers": (TIMED, 20),
    "test_consumers": (OF_CONSUMERS, 1),
    "test_restarted_consumers": (RESTARTED_CONSUMERS, 5),
    "test_share_states": (OF_SHARE_STATES, 5),
    "test_restarted_share_states": (RESTARTED_SHARE_STATES, 20),
    "test_share_snapshots": (SHARE_SNAPSHOTS, 20),
    "test_shares": (OF_SHARES, 5),
    "test_restarted_shares": (RESTARTED_SHARES, 20),
    "test_streams": (OF_STREAMS, 5),
    "test_restarted_streams": (RESTARTED_STREAMS, 50),
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "script" in metafunc.fixturenames:
        only, count = metafunc.config.getoption("--seed"), metafunc.config.getoption("--differential-sequences")
        kind, portion = _KINDS[metafunc.function.__name__]
        first = kind.seeds.start
        seeds = [only] if only is not None else kind.seeds if count is None else range(first, first + -(-count // portion))
        metafunc.parametrize("script", [pytest.param(kind.of(seed), id=str(seed)) for seed in seeds])


@contextmanager
def again(script: Script, test: str) -> Iterator[None]:
    """Say how to play a sequence again that shows a difference."""
    try:
        yield
    except Difference as found:
        seed = script.title.split()[-1]
        words = f"tests/differential/test_sequences.py -k {test} --seed {seed} --live"
        raise AssertionError(f"{found}\nmake test ARGS='{words}'") from None


def test_sequence(script: Script, stage: Stage) -> None:
    """Both say the same to the end, or until Kafka draws another leader; only requests that it never answers are passed over."""
    with again(script, "test_sequence"):
        outcome = play_sequence(script, stage)

    assert outcome.ended in {"", LEADER_CHOSEN}


def test_producers(script: Script, stage: Stage) -> None:
    """The same of producers and transactions: all answers, and all records and markers of both logs."""
    with again(script, "test_producers"):
        outcome = play_sequence(script, stage)

    assert outcome.ended in {"", CHECKED_TOGETHER, ONLY_ABORTED}


def test_timed_producers(script: Script, timed: Played) -> None:
    """The same where transactions reach their timeout."""
    with again(script, "test_timed_producers"):
        timed.result(script)


def test_restarted_producers(script: Script, halves: Halves) -> None:
    """The same over a restart of both servers."""
    with again(script, "test_restarted_producers"):
        halves.finish(script)


def test_consumers(script: Script, stage: Stage) -> None:
    """The same of members of consumer groups, with members of the classic protocol among them."""
    with again(script, "test_consumers"):
        outcome = play_sequence(script, stage)

    assert_known(script, outcome)


def test_restarted_consumers(script: Script, halves: Halves) -> None:
    """The same over a restart of both servers."""
    with again(script, "test_restarted_consumers"):
        halves.finish(script, assert_known)


def test_share_states(script: Script, stage: Stage) -> None:
    """The same of share coordinators: all answers, and all records of each share partition."""
    with again(script, "test_share_states"):
        assert play_sequence(script, stage).ended == ""


def test_restarted_share_states(script: Script, halves: Halves) -> None:
    """The same over a restart of both servers, after which one update goes between two snapshots."""
    with again(script, "test_restarted_share_states"):
        halves.finish(script)


def test_share_snapshots(script: Script, expiring: Played) -> None:
    """The same where each write is a snapshot."""
    with again(script, "test_share_snapshots"):
        expiring.result(script)


def test_shares(script: Script, stage: Stage) -> None:
    """The same of members of share groups and those who administer them: all answers, and all records."""
    with again(script, "test_shares"):
        assert play_sequence(script, stage).ended == ""


def test_restarted_shares(script: Script, halves: Halves) -> None:
    """The same over a restart of both servers, after which groups have two members at most."""
    with again(script, "test_restarted_shares"):
        halves.finish(script)


def test_streams(script: Script, stage: Stage) -> None:
    """The same of members of streams groups: all answers, and all records."""
    with again(script, "test_streams"):
        assert play_sequence(script, stage).ended == ""


def test_restarted_streams(script: Script, halves: Halves) -> None:
    """The same over a restart of both servers, after which groups have two members at most."""
    with again(script, "test_restarted_streams"):
        halves.finish(script, assert_described)


def assert_described(_: Script, outcome: Outcome) -> None:
    """A sequence has come to its end, or to a description that Kafka makes without the configured topology."""
    assert outcome.ended in {"", UNDECIDED}


def assert_known(_: Script, outcome: Outcome) -> None:
    """A sequence of consumer groups has come to its end, or to where the servers part for a reason that is known."""
    assert outcome.ended in {"", LEADER_CHOSEN, *APART}
