"""Share groups over many seeds: epochs rise, groups settle, what is assigned has a state,
and no state is lost, whatever befalls them.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from coordinator_server.group.modern.sessions import RETRY_MS, refresh_session
from coordinator_server.group.share import heartbeat, target
from coordinator_server.group.share.group_deletion import StatesOfGroups
from coordinator_server.share import upkeep
from coordinator_server.share.state_batches import NO_START_OFFSET
from coordinator_server.share.state_rows import combine_rows, merge_rows
from protocol.messages.read_share_group_state import PartitionResult
from tests.simulation.__main__ import replay_command
from tests.simulation.broken_rules import a_group_begins_anew_when_a_member_leaves, must_be_seen
from tests.simulation.share_accounts import Account
from tests.simulation.shares import SharesPlay, run

SEEDS = max(3, int(os.environ.get("SEEDS", "75")) // 25)
MOST_SEEDS = 20

# Seeds that have shown something, each with what it was.
KEPT: dict[int, str] = {
    4: "deletions of states did not go on after a load: a loop that has just started knows no topics",
    281: "a topic was taken for one that exists, because the loop had not read of its deletion yet",
    520: "share partitions had a state and no group, because others that were initialized with them could not have one",
}


def test_groups_settle_and_no_state_is_lost() -> None:
    """And something happens: members are in groups, leaders write, and read what was written."""
    beats = reads = writes = 0
    for seed in sorted({*range(SEEDS), *KEPT}):
        play = SharesPlay(seed)
        wrong = play.run()
        assert not wrong, "\n".join([f"seed {seed}: {replay_command(seed, 'shares')}", *wrong[:5]])
        beats += sum(seat.member.beats for seat in play.seats if seat.member is not None)
        reads += sum(account.reads for account in play.accounts.values())
        writes += sum(account.writes for account in play.accounts.values())

    assert (beats > 10 * SEEDS, reads > 20 * SEEDS, writes > 50 * SEEDS) == (True, True, True)


# What would be wrong without one of the rules.


def nobody_is_fenced(patch: pytest.MonkeyPatch) -> None:
    for module in ("read", "write"):
        patch.setattr(f"coordinator_server.share.{module}.check_epochs", lambda *_: None)


def a_snapshot_has_the_last_batches_only(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("coordinator_server.share.write.merge_rows", lambda _known, rows, start: combine_rows(rows, start))


def what_is_below_the_start_offset_comes_back(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        "coordinator_server.share.share_partition.merge_rows", lambda known, rows, _: merge_rows(known, rows, NO_START_OFFSET)
    )


def partitions_are_assigned_at_once(patch: pytest.MonkeyPatch) -> None:
    def spec(share, group, is_alike, member):  # type: ignore[no-untyped-def]
        found = group_spec(share, group, is_alike, member)
        topics = [share.topics.topic(name) for name in member.metadata.subscribed_topic_names]
        assignable = {topic.topic_id: list(range(topic.partitions)) for topic in topics if topic is not None}
        return replace(found, assignable=assignable)

    group_spec = target.group_spec
    patch.setattr(target, "group_spec", spec)


def a_load_forgets_what_is_to_be_initialized(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("coordinator_server.group.share.type.resume_initializations", lambda _share: None)


def a_load_forgets_what_is_to_be_deleted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("coordinator_server.group.share.type.resume_deletions", lambda _share: None)


def a_load_forgets_deleted_topics(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(upkeep.DeletedTopics, "start", lambda *_: None)


def groups_are_deleted_alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(StatesOfGroups, "delete", lambda _self, then: then({}))


def what_is_initialized_is_not_assigned(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(heartbeat, "has_unassigned", lambda *_: False)


def sessions_are_short(patch: pytest.MonkeyPatch) -> None:
    def refresh(share, group_id, member_id):  # type: ignore[no-untyped-def]
        session = refresh_session(share, group_id, member_id)
        share.timer.schedule(session.key, 450, session.expire, RETRY_MS)
        return session

    patch.setattr(heartbeat, "refresh_session", refresh)


def sessions_do_not_begin_after_a_start(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("coordinator_server.group.modern.type.start_all_sessions", lambda _share: None)


# With the seed at which to begin: many do not show it.
MUTANTS: list[tuple[Callable[[pytest.MonkeyPatch], None], str, int]] = [
    (nobody_is_fenced, "a newer one", 0),
    (a_snapshot_has_the_last_batches_only, "is lost", 0),
    (what_is_below_the_start_offset_comes_back, "records below", 4),
    (partitions_are_assigned_at_once, "assigned and not initialized", 0),
    (a_load_forgets_what_is_to_be_initialized, "not settled", 4),
    (a_load_forgets_what_is_to_be_deleted, "not settled", 217),
    (a_load_forgets_deleted_topics, "not settled", 33),
    (groups_are_deleted_alone, "left when all groups are deleted", 0),
    (what_is_initialized_is_not_assigned, "not settled", 0),
    (a_group_begins_anew_when_a_member_leaves, "an epoch has fallen", 0),
    (sessions_are_short, "was put out", 0),
    (sessions_do_not_begin_after_a_start, "not settled", 0),
]


@pytest.mark.parametrize(("mutate", "words", "first"), MUTANTS, ids=lambda each: getattr(each, "__name__", each))
def test_a_broken_rule_is_seen(
    monkeypatch: pytest.MonkeyPatch, mutate: Callable[[pytest.MonkeyPatch], None], words: str, first: int
) -> None:
    """Before so many seeds have been played."""
    mutate(monkeypatch)
    must_be_seen(run, words, first, MOST_SEEDS)


def test_a_leader_of_before_a_deletion_says_nothing_of_the_next_state() -> None:
    """What it writes is in a state that the group begins anew as long as it initializes it; what a later leader writes stays."""
    wrong: list[str] = []
    account = Account("s0", (b"t" * 16, 1), lambda: 0, wrong.append)
    before = account.deletions
    account.begins_anew()
    account.began_anew(True, is_deleted=True)
    batch = 3, 3, (1, 2)
    account.writes_of(0, [batch])
    nothing = PartitionResult(1, 0, None, 8, 0, [])

    account.written(account.asked(1, before), 1, 0, [batch])
    account.read(account.asked(2, account.deletions), 2, nothing)
    assert wrong == []

    account.written(account.asked(2, account.deletions), 2, 0, [batch])
    account.read(account.asked(2, account.deletions), 2, nothing)
    assert wrong == ["s0 7474-1: was acknowledged, and is lost: {3: (1, 2)}"]
