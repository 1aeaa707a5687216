"""Effects between shards, over many seeds: money is neither lost nor made, whatever befalls loops, links and children."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from coordinator_server.runtime.executor import ExecutorQueue
from coordinator_server.runtime.outbox import OutboxQueue
from coordinator_server.server.cluster.link import Link
from coordinator_server.server.cluster.messages import Hello, Welcome
from coordinator_server.server.cluster.neighbours import Receiver, Sender
from protocol.error_codes import ErrorCode
from tests.simulation.__main__ import replay_command
from tests.simulation.broken_rules import must_be_seen
from tests.simulation.purses import PursePlay, run
from tests.toy.purse import CREDIT, Credit, Nothing, PurseShard, Transfer
from tests.toy.rows import plug, unplug

SEEDS = int(os.environ.get("SEEDS", "40")) // 5
PER_TEST = 25


@pytest.fixture(autouse=True)
def _toys() -> Iterator[None]:
    plug()
    yield
    unplug()


@pytest.mark.parametrize("first", range(0, SEEDS, PER_TEST))
def test_no_money_is_lost_and_none_is_made(first: int) -> None:
    for seed in range(first, min(first + PER_TEST, SEEDS)):
        wrong = run(seed)
        assert not wrong, "\n".join([f"seed {seed}: {replay_command(seed, 'effects')}", *wrong[:5]])


def test_a_seed_is_one_play() -> None:
    """To the last event."""

    def told(seed: int) -> list[tuple[int, str]]:
        play = PursePlay(seed)
        play.run()
        return play.told

    for seed in range(3):
        assert told(seed) == told(seed)


def test_the_first_message_puts_a_kind_to_use() -> None:
    """At whichever loop it is; until then it is refused, and tried again."""
    for seed in range(8):
        play = PursePlay(seed)
        outcomes = play.first_messages()
        assert outcomes == [ErrorCode.COORDINATOR_NOT_AVAILABLE, Nothing()], (seed, play.broken)


# What would be wrong without one of the rules.


def the_old_link_is_kept(patch: pytest.MonkeyPatch) -> None:
    """The new one is welcome all the same."""

    def greet(self: Receiver, hello: Hello) -> None:
        self._hello = hello
        self.link.send(Welcome())

    patch.setattr(Receiver, "_greet", greet)


def what_has_arrived_is_forgotten_at_once(patch: pytest.MonkeyPatch) -> None:
    """A message that comes twice acts twice."""
    patch.setattr(PurseShard, "_has_arrived", lambda _self, _id: False)


def nothing_is_sent_again_after_a_start(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PurseShard, "on_loaded", PurseShard._sum_anew)


def what_is_not_durable_is_sent(patch: pytest.MonkeyPatch) -> None:
    """As soon as it is asked for."""
    left_after = PurseShard._left_after

    def hasty(self: PurseShard, request: Transfer) -> int:
        left = left_after(self, request)
        credit = Credit(request.id, request.payee, request.amount)
        self._outbox.send((request.id, CREDIT.name), CREDIT, request.payee, credit, partial(self._credited, request.id))
        return left

    patch.setattr(PurseShard, "_left_after", hasty)


def a_lost_link_is_told_to_nobody(patch: pytest.MonkeyPatch) -> None:
    """What was sent over it waits for its answer, for good."""

    def lost(self: Sender, link: Link[Any]) -> None:
        if self._link is link:
            self._link, self._is_welcome = None, False
            self._waiting.clear()
            self._asked.clear()

    patch.setattr(Sender, "_lost", lost)


def what_an_answer_led_to_need_not_be_written(patch: pytest.MonkeyPatch) -> None:
    """The message is over with its answer."""
    settle = OutboxQueue._concluded
    patch.setattr(OutboxQueue, "_concluded", lambda self, message, outcome, _error: settle(self, message, outcome, None))


def a_child_that_died_is_not_missed(patch: pytest.MonkeyPatch) -> None:
    """Nor is what it was doing."""

    def lost(self: ExecutorQueue) -> None:
        self._child = self._running = None

    patch.setattr(ExecutorQueue, "_lost", lost)


# With the seed at which to begin: many do not show it.
MUTANTS: list[tuple[Callable[[pytest.MonkeyPatch], None], str, int]] = [
    (the_old_link_is_kept, "there was", 16),
    (what_has_arrived_is_forgotten_at_once, "there was", 6),
    (nothing_is_sent_again_after_a_start, "not over", 0),
    (what_is_not_durable_is_sent, "there was", 4),
    (a_lost_link_is_told_to_nobody, "not over", 3),
    (what_an_answer_led_to_need_not_be_written, "not over", 78),
    (a_child_that_died_is_not_missed, "not added up", 2),
]


@pytest.mark.parametrize(("mutate", "words", "first"), MUTANTS, ids=lambda each: getattr(each, "__name__", each))
def test_a_broken_rule_is_seen(
    monkeypatch: pytest.MonkeyPatch, mutate: Callable[[pytest.MonkeyPatch], None], words: str, first: int
) -> None:
    """Before so many seeds have been played."""
    mutate(monkeypatch)
    must_be_seen(run, words, first)
