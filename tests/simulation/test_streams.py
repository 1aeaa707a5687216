"""Members of streams groups over many seeds: one owner per active task, no task twice in a process, and groups that settle with all
tasks and replicas where they belong, whatever befalls them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from coordinator_server.group.modern.sessions import refresh_session
from coordinator_server.group.streams import heartbeat, target
from coordinator_server.group.streams.context import StreamsContext
from coordinator_server.group.streams.group import StreamsGroup
from coordinator_server.group.streams.type import StreamsType
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.runtime.executor import ExecutorQueue
from coordinator_server.server.apis import streams_groups
from tests.simulation.__main__ import replay_command
from tests.simulation.broken_rules import a_group_begins_anew_when_a_member_leaves, must_be_seen
from tests.simulation.streams import StreamsPlay, run

SEEDS = max(4, int(os.environ.get("SEEDS", "60")) // 15)
MOST_SEEDS = 20

# Seeds that have shown something, each with what it was.
KEPT: dict[int, str] = {
    13: "tasks that were given with a lost answer stayed idle, as in Kafka",
    99: "a member that had lost the answer that took tasks from it did not hear of that, and was removed",
}

Patch = pytest.MonkeyPatch


def test_groups_settle_and_active_tasks_have_one_owner() -> None:
    """And members do something: they get tasks, commit, and read what was committed."""
    acquired = commits = reads = 0
    for seed in sorted({*range(SEEDS), *KEPT}):
        play = StreamsPlay(seed)
        wrong = play.run()
        assert not wrong, "\n".join([f"seed {seed}: {replay_command(seed, 'streams')}", *wrong[:5]])
        acquired += play.ledger.acquired
        commits += play.ledger.commits
        reads += play.ledger.reads

    assert (acquired > 10 * SEEDS, commits > 5 * SEEDS, reads > 3 * SEEDS) == (True, True, True)


# What would be wrong without one of the rules.


def an_active_task_is_free_while_it_has_an_owner(patch: Patch) -> None:
    patch.setattr(StreamsGroup, "active_process", lambda *_: None)


def a_process_may_have_a_task_twice(patch: Patch) -> None:
    patch.setattr(StreamsGroup, "processes_on_standby", lambda *_: ())


def nobody_waits_until_tasks_are_given_up(patch: Patch) -> None:
    patch.setattr("coordinator_server.group.streams.reconciliation._owns_any", lambda *_: False)


def sessions_are_short(patch: Patch) -> None:
    def refresh(streams: StreamsContext, group_id: str, member_id: str) -> object:
        return refresh_session(streams, group_id, member_id, 450)

    patch.setattr(heartbeat, "refresh_session", refresh)


def anybody_may_commit(patch: Patch) -> None:
    patch.setattr(StreamsType, "admit_commit", lambda *_, **__: None)


def sessions_do_not_begin_after_a_start(patch: Patch) -> None:
    patch.setattr("coordinator_server.group.modern.type.start_all_sessions", lambda _streams: None)


def topics_change_unnoticed(patch: Patch) -> None:
    patch.setattr(StreamsType, "topics_changed", lambda *_: None)


def the_first_assignment_is_waited_for_for_ever(patch: Patch) -> None:
    def wait_again(streams: StreamsContext, group_id: str) -> CoordinatorResult[Any]:
        target.begin_delay(streams, group_id)
        return CoordinatorResult(None)

    patch.setattr(target, "_end_delay", wait_again)


def the_number_of_replicas_never_changes(patch: Patch) -> None:
    first: dict[str, Any] = {}
    own_settings = StreamsContext.own_settings
    patch.setattr(StreamsContext, "own_settings", lambda self, group_id: first.setdefault(group_id, own_settings(self, group_id)))


def a_stale_topology_is_not_told(patch: Patch) -> None:
    patch.setattr(heartbeat, "stale_status", lambda *_: [])


def any_topology_is_admitted(patch: Patch) -> None:
    patch.setattr("coordinator_server.group.streams.configuration.are_equal", lambda *_: True)


def internal_topics_are_not_created(patch: Patch) -> None:
    patch.setattr(streams_groups, "_create_missing", lambda _node, _context, _group_id, answer: answer.response)


def a_lost_answer_is_not_given_again(patch: Patch) -> None:
    def add_assignment(streams: Any, group: Any, request: Any, after: Any, configured: Any, response: Any) -> None:
        before = group.members.get(after.member_id)
        has_changed = before is None or before.tasks.assigned != after.tasks.assigned
        original(streams, group, request, after, configured, response)
        if request.member_epoch != 0 and not has_changed:
            response.active_tasks = response.standby_tasks = response.warmup_tasks = None

    original = heartbeat._add_assignment
    patch.setattr(heartbeat, "_add_assignment", add_assignment)


def a_child_that_died_is_not_replaced(patch: Patch) -> None:
    patch.setattr(ExecutorQueue, "_lost", lambda _self: None)


# With the seed at which to begin: many do not show it.
MUTANTS: list[tuple[Callable[[Patch], None], str, int]] = [
    (an_active_task_is_free_while_it_has_an_owner, "several members", 1),
    (a_process_may_have_a_task_twice, "has a task twice", 2),
    (nobody_waits_until_tasks_are_given_up, "both own", 2),
    (sessions_are_short, "was put out", 0),
    (anybody_may_commit, "committed as", 18),
    (a_group_begins_anew_when_a_member_leaves, "an epoch has fallen", 0),
    (sessions_do_not_begin_after_a_start, "not settled", 5),
    (topics_change_unnoticed, "not settled", 3),
    (the_first_assignment_is_waited_for_for_ever, "not settled", 4),
    (the_number_of_replicas_never_changes, "on standby are", 25),
    (a_stale_topology_is_not_told, "is told", 17),
    (any_topology_is_admitted, "these are newer", 5),
    (internal_topics_are_not_created, "internal topics are missing", 0),
    (a_lost_answer_is_not_given_again, "something else than the group gives", 13),
    (a_child_that_died_is_not_replaced, "not settled", 1),
]


@pytest.mark.parametrize(("mutate", "words", "first"), MUTANTS, ids=lambda each: getattr(each, "__name__", each))
def test_a_broken_rule_is_seen(monkeypatch: Patch, mutate: Callable[[Patch], None], words: str, first: int) -> None:
    """Before so many seeds have been played."""
    mutate(monkeypatch)
    must_be_seen(run, words, first, MOST_SEEDS)
