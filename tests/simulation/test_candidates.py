"""The client library itself in the simulation: at most one leader at any moment, tokens that rise,
and a leader whenever it is calm.
"""

from __future__ import annotations

import os

import pytest

from coordinator_server.client.heartbeat_timer import HeartbeatTimer
from tests.simulation.candidates import ElectionPlay
from tests.simulation.play import STORM_S
from tests.simulation.verdict import faults

SEEDS = int(os.environ.get("CANDIDATE_SEEDS", "5"))


@pytest.mark.parametrize("first", range(0, SEEDS, 5))
def test_at_most_one_candidate_leads(first: int) -> None:
    terms = 0
    for seed in range(first, first + 5):
        play = ElectionPlay(seed, STORM_S)
        # The checkers of the log know only what the play's own clients say.
        wrong = [each for each in faults(play.run()) if "'election'" not in each]
        assert not wrong + play.wrong, f"seed {seed}: {(play.wrong + wrong)[:10]}"
        terms += len(play.terms)
    assert terms >= 5


@pytest.mark.parametrize(
    "late",
    [
        property(lambda timer: timer._acknowledged_s + timer._group.session_timeout_s + 1),
        property(lambda timer: timer._undisturbed_s + 2 * timer._group.session_timeout_s),
    ],
    ids=["a second too long", "without the session"],
)
def test_terms_that_last_too_long_are_found(late: property, monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulation would see it."""
    monkeypatch.setattr(HeartbeatTimer, "surely_member_until_s", late)

    def several_lead(seed: int) -> bool:
        play = ElectionPlay(seed, STORM_S)
        play.run()
        return any("several lead" in each for each in play.wrong)

    assert any(several_lead(seed) for seed in range(12))
