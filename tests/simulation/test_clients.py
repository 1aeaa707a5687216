"""Programs with the client library over many seeds: one leader, one owner, callbacks in order,
whatever befalls them and the server.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from coordinator_server.client.coordinator import Coordinator
from coordinator_server.client.election import Election
from coordinator_server.client.heartbeats import Heartbeats
from coordinator_server.client.member import Member
from coordinator_server.client.term import Term
from tests.simulation.__main__ import replay_command
from tests.simulation.broken_rules import must_be_seen
from tests.simulation.clients import ClientsPlay, run
from tests.simulation.program import Program

SEEDS = max(6, int(os.environ.get("SEEDS", "500")) // 80)
MOST_SEEDS = 100


def test_programs_agree() -> None:
    """And they do something: terms begin, texts and checkpoints are acknowledged."""
    terms = saves = checkpoints = 0
    for seed in range(SEEDS):
        play = ClientsPlay(seed)
        wrong = play.run()
        assert not wrong, "\n".join([f"seed {seed}: {replay_command(seed, 'clients')}", *wrong[:5]])
        terms += play.ledger.terms
        saves += play.ledger.saves
        checkpoints += play.ledger.checkpoints

    assert (terms > SEEDS, saves > 5 * SEEDS, checkpoints > 20 * SEEDS) == (True, True, True)


def test_a_seed_is_one_play() -> None:
    """To the last callback."""

    def told(seed: int) -> list[object]:
        play = ClientsPlay(seed)
        play.run()
        return [play.told, play.ledger.highest_token, [each.events for each in play.ledger.participants]]

    assert told(1) == told(1)


# What would be wrong without one of the rules.


def a_term_lasts_until_somebody_ends_it(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Term, "remaining_s", property(lambda self: 0.0 if self._over.is_set() else 1.0))


def a_token_is_the_next_number(patch: pytest.MonkeyPatch) -> None:
    """The offset is gone with its group."""
    patch.setattr(Program, "_wall_ms", lambda _self: 0)


def a_successor_forgets_what_was_saved(patch: pytest.MonkeyPatch) -> None:
    committed = Election._begin

    async def begin(self: Election) -> None:
        await committed(self)
        if (term := self._terms.value) is not None:
            term.saved = ""

    patch.setattr(Election, "_begin", begin)


def an_assignment_is_given_twice(patch: pytest.MonkeyPatch) -> None:
    complete = Coordinator._complete

    async def twice(self: Coordinator, assignment: bytes) -> None:
        await complete(self, assignment)
        if self.generation_if_stable is not None:
            await complete(self, assignment)

    patch.setattr(Coordinator, "_complete", twice)


def a_loss_is_not_told(patch: pytest.MonkeyPatch) -> None:
    async def nothing(_self: Coordinator) -> None:
        return

    patch.setattr(Coordinator, "_notify_loss", nothing)


def heartbeats_go_on(patch: pytest.MonkeyPatch) -> None:
    async def nothing(_self: Heartbeats) -> None:
        return

    patch.setattr(Heartbeats, "cancel", lambda _self: None)
    patch.setattr(Heartbeats, "ended", nothing)


def a_rebalance_is_not_joined(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Member, "request_rejoin", lambda _self, _reason: None)


# With the seed at which to begin: many do not show it.
MUTANTS: list[tuple[Callable[[pytest.MonkeyPatch], None], str, int]] = [
    (a_term_lasts_until_somebody_ends_it, "two terms overlap", 17),
    (a_token_is_the_next_number, "a token has fallen", 5),
    (a_successor_forgets_what_was_saved, "a saved text is lost", 0),
    (an_assignment_is_given_twice, "out of order", 0),
    (a_loss_is_not_told, "a checkpoint went back", 1),
    (heartbeats_go_on, "tasks of", 0),
    (a_rebalance_is_not_joined, "not settled", 0),
]


@pytest.mark.parametrize(("mutate", "words", "first"), MUTANTS, ids=lambda each: getattr(each, "__name__", each))
def test_a_broken_rule_is_seen(
    monkeypatch: pytest.MonkeyPatch, mutate: Callable[[pytest.MonkeyPatch], None], words: str, first: int
) -> None:
    """Before so many seeds have been played."""
    mutate(monkeypatch)
    must_be_seen(run, words, first, MOST_SEEDS)
