"""Members of consumer groups over many seeds: one owner per partition, epochs that rise, groups that settle,
whatever befalls them.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.type import ConsumerType
from coordinator_server.group.modern.sessions import refresh_session
from coordinator_server.runtime.executor import ExecutorQueue
from coordinator_server.runtime.timers import TimerQueue
from tests.simulation.__main__ import replay_command
from tests.simulation.broken_rules import a_group_begins_anew_when_a_member_leaves, must_be_seen
from tests.simulation.consumers import ConsumersPlay, run
from tests.unit.group.migration import test_upgrade

SEEDS = max(6, int(os.environ.get("SEEDS", "125")) // 10)
MOST_SEEDS = 20

# Seeds that have shown something, each with what it was.
KEPT: dict[int, str] = {
    2: "a cooperative classic member lost what it owned when its group was converted after a failed sync",
    329: "a session expired before its loop knew the topics, and the group was converted without its assignments",
    668: "a consumer group with classic members only did not rebalance when one of them left",
}


def test_groups_settle_and_partitions_have_one_owner() -> None:
    """And members do something: they get partitions, commit, and read what was committed."""
    acquired = commits = reads = 0
    for seed in sorted({*range(SEEDS), *KEPT}):
        play = ConsumersPlay(seed)
        wrong = play.run()
        assert not wrong, "\n".join([f"seed {seed}: {replay_command(seed, 'consumers')}", *wrong[:5]])
        acquired += play.ledger.acquired
        commits += play.ledger.commits
        reads += play.ledger.reads

    assert (acquired > 10 * SEEDS, commits > 10 * SEEDS, reads > 10 * SEEDS) == (True, True, True)


def test_a_seed_is_one_play() -> None:
    """To the last request."""

    def told(seed: int) -> list[object]:
        play = ConsumersPlay(seed)
        play.run()
        return [play.told, list(play.history.lines())]

    assert told(3) == told(3)


# What would be wrong without one of the rules.


def a_partition_is_free_while_it_has_an_owner(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ConsumerGroup, "owners", lambda *_: {})


def nobody_waits_until_partitions_are_given_up(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("coordinator_server.group.consumer.reconciliation._owns_any", lambda *_: False)


def sessions_are_short(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        "coordinator_server.group.consumer.heartbeat.refresh_session",
        lambda consumer, group_id, member_id: refresh_session(consumer, group_id, member_id, 450),
    )


def anybody_may_commit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ConsumerType, "admit_commit", lambda *_, **__: None)


def a_child_that_died_is_not_replaced(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ExecutorQueue, "_lost", lambda _self: None)


def a_clock_that_was_set_back_is_waited_for(patch: pytest.MonkeyPatch) -> None:
    def is_due(consumer: ConsumerContext, group: ConsumerGroup) -> bool:
        interval_ms = consumer.settings(group.group_id).consumer.assignment_interval_ms
        return consumer.clock.wall_ms() >= group.assignment_timestamp + interval_ms

    patch.setattr("coordinator_server.group.consumer.target.is_due", is_due)


def nobody_looks_after_classic_members(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("coordinator_server.group.migration.members._is_neglected", lambda *_: False)


def what_a_cooperative_member_owns_is_free(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("coordinator_server.group.migration.upgrade._free_claims", lambda *_: {})


def an_upgrade_forgets_what_members_have(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("coordinator_server.group.migration.upgrade._assignment", lambda *_: ({}, {}))


def sessions_do_not_begin_after_a_start(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("coordinator_server.group.modern.type.start_all_sessions", lambda _consumer: None)


def topics_change_unnoticed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ConsumerType, "topics_changed", lambda *_: None)


def expressions_are_resolved_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("coordinator_server.group.consumer.regexes._is_due", lambda _consumer, _group, _count, is_new: is_new)


def a_leave_that_was_not_written_stops_the_session(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("coordinator_server.group.modern.leave._take_back", lambda *_: None)


def timers_run_before_anybody_can_be_heard(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(TimerQueue, "hold", lambda _self: None)


# With the seed at which to begin: many do not show it.
MUTANTS: list[tuple[Callable[[pytest.MonkeyPatch], None], str, int]] = [
    (a_partition_is_free_while_it_has_an_owner, "own", 0),
    (nobody_waits_until_partitions_are_given_up, "both own", 10),
    (sessions_are_short, "was put out", 0),
    (anybody_may_commit, "committed as", 12),
    (a_group_begins_anew_when_a_member_leaves, "an epoch has fallen", 0),
    (a_child_that_died_is_not_replaced, "not settled", 1),
    (a_clock_that_was_set_back_is_waited_for, "not settled", 3),
    (nobody_looks_after_classic_members, "not settled", 217),
    (an_upgrade_forgets_what_members_have, "both own", 4),
    (sessions_do_not_begin_after_a_start, "not settled", 9),
    (topics_change_unnoticed, "not settled", 13),
    (expressions_are_resolved_once, "not settled", 0),
    (a_leave_that_was_not_written_stops_the_session, "not settled", 268),
    (timers_run_before_anybody_can_be_heard, "both own", 329),
]


@pytest.mark.parametrize(("mutate", "words", "first"), MUTANTS, ids=lambda each: getattr(each, "__name__", each))
def test_a_broken_rule_is_seen(
    monkeypatch: pytest.MonkeyPatch, mutate: Callable[[pytest.MonkeyPatch], None], words: str, first: int
) -> None:
    """Before so many seeds have been played."""
    mutate(monkeypatch)
    must_be_seen(run, words, first, MOST_SEEDS)


@pytest.mark.interpreted
def test_what_a_cooperative_member_owns_is_held_by_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which fails if it is free. Since refusals wait for the log, none of two thousand seeds sees it."""
    test_upgrade.test_a_cooperative_member_keeps_its_partitions_over_an_upgrade_until_it_joins()
    what_a_cooperative_member_owns_is_free(monkeypatch)

    with pytest.raises(AssertionError):
        test_upgrade.test_a_cooperative_member_keeps_its_partitions_over_an_upgrade_until_it_joins()
