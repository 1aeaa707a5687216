"""Transactions over many seeds: groups move all together or not at all, whatever befalls loops, links and producers."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.group.shard import GroupShard
from coordinator_server.kinds import GROUPS
from coordinator_server.machine.shard import CoordinatorResult, Producer, TransactionResult
from coordinator_server.offsets.pending import PendingOffsets
from coordinator_server.pipeline.layer.replayed_records import Spool
from coordinator_server.runtime.producers import Claim, Producers
from coordinator_server.runtime.runtime import CoordinatorRuntime
from coordinator_server.server.hosting import producer_ids
from coordinator_server.transaction import transaction as steps
from coordinator_server.transaction.shard import TransactionShard
from coordinator_server.transaction.transaction import Transaction, Transition
from tests.simulation.__main__ import replay_command
from tests.simulation.broken_rules import must_be_seen
from tests.simulation.transactions import TransactionPlay, run
from tests.support.mover import Outcome

SEEDS = int(os.environ.get("SEEDS", "30")) // 5
PER_TEST = 25


@pytest.mark.parametrize("first", range(0, SEEDS, PER_TEST))
def test_all_of_a_transaction_moves_or_none(first: int) -> None:
    told: list[Outcome] = []
    for seed in range(first, min(first + PER_TEST, SEEDS)):
        play = TransactionPlay(seed)
        wrong = play.run()
        assert not wrong, "\n".join([f"seed {seed}: {replay_command(seed, 'transactions')}", *wrong[:5]])
        told += [moved.outcome for producer in play.producers for moved in producer.moved]

    assert all(told.count(outcome) > PER_TEST for outcome in Outcome)


def test_a_seed_is_one_play() -> None:
    """To the last transaction."""

    def told(seed: int) -> list[object]:
        play = TransactionPlay(seed)
        play.run()
        return [play.told, [producer.moved for producer in play.producers]]

    for seed in range(3):
        assert told(seed) == told(seed)


# What would be wrong without one of the rules.


def nothing_is_sent_again_after_a_start(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(TransactionShard, "on_loaded", lambda _self: None)


def a_transaction_is_over_before_its_markers(patch: pytest.MonkeyPatch) -> None:
    """Its producer begins the next one, and nobody sends what is left."""

    def over(self: TransactionShard, transactional_id: str) -> None:
        self._timer.schedule(transactional_id, 0, lambda: self._complete(transactional_id), 100)

    patch.setattr(TransactionShard, "_send_markers", over)


def a_marker_commits_whatever_it_says(patch: pytest.MonkeyPatch) -> None:
    end = PendingOffsets.end
    patch.setattr(PendingOffsets, "end", lambda self, producer, _: end(self, producer, TransactionResult.COMMIT))


def a_claim_holds_for_ever(patch: pytest.MonkeyPatch) -> None:
    """A commit whose transaction has ended meanwhile is written all the same."""
    patch.setattr(Producers, "check_append", lambda _self, _claim: None)
    claim = Producers.claim

    def early(self: Producers, producer: Producer, *, bumps_epoch: bool) -> Claim:
        return claim(self, producer, bumps_epoch=bumps_epoch)._replace(is_open=True)

    patch.setattr(Producers, "claim", early)


def a_new_producer_gets_the_old_epoch(patch: pytest.MonkeyPatch) -> None:
    def same(before: Transaction, last_epoch: int, expected: int | None, timeout_ms: int, now_ms: int) -> Transition:
        found = with_next_epoch(before, last_epoch, expected, timeout_ms, now_ms)
        after = found.after
        return Transition(type(after)(after.producer_id, 0, timeout_ms, after.state, now_ms), found.last_epoch)

    with_next_epoch = steps.with_next_epoch
    patch.setattr(steps, "with_next_epoch", same)


def an_overdue_transaction_stays_open(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(TransactionShard, "_abort_overdue", lambda _self, _id: CoordinatorResult(None))


def a_block_of_producer_ids_is_given_twice(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(CatalogShard, "next_producer_id", lambda _self, _offset: 0)
    patch.setattr(producer_ids, "ids_of", lambda _block: range(20))


def a_layer_forgets_open_transactions(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Spool, "add_unchanged", lambda _self, _batch: None)


def the_stable_offset_follows_the_open_offsets(patch: pytest.MonkeyPatch) -> None:
    """Those of a deleted group are gone, and its transaction is still open."""
    last_stable_offset = CoordinatorRuntime.last_stable_offset

    def stable(self: CoordinatorRuntime[GroupShard], partition: int) -> int:
        shard = self._active(partition)
        if self.topic == GROUPS.topic and not shard.shard.groups.pending.groups_at(shard.high_watermark):
            return shard.high_watermark
        return last_stable_offset(self, partition)

    patch.setattr(CoordinatorRuntime, "last_stable_offset", stable)


# With the seed at which to begin: many do not show it.
MUTANTS: list[tuple[Callable[[pytest.MonkeyPatch], None], str, int]] = [
    (nothing_is_sent_again_after_a_start, "not over", 2),
    (a_transaction_is_over_before_its_markers, "open in", 2),
    (a_marker_commits_whatever_it_says, "aborted transaction", 0),
    (a_claim_holds_for_ever, "open in", 2),
    (a_new_producer_gets_the_old_epoch, "same id and epoch", 2),
    (an_overdue_transaction_stays_open, "not over", 2),
    (a_block_of_producer_ids_is_given_twice, "is tx-", 2),
    (a_layer_forgets_open_transactions, "the last stable offset", 20),
    (the_stable_offset_follows_the_open_offsets, "the last stable offset", 20),
]


@pytest.mark.parametrize(("mutate", "words", "first"), MUTANTS, ids=lambda each: getattr(each, "__name__", each))
def test_a_broken_rule_is_seen(
    monkeypatch: pytest.MonkeyPatch, mutate: Callable[[pytest.MonkeyPatch], None], words: str, first: int
) -> None:
    """Before so many seeds have been played."""
    mutate(monkeypatch)
    must_be_seen(run, words, first)
