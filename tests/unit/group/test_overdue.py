"""Clients of classic groups whose answers a record holds up wait for the deadline, and no longer. The record may still be written.

Kafka answers them so when the log takes no write in time (GroupMetadataManager.appendGroupMetadataErrorToResponseError).
"""

from __future__ import annotations

import pytest

from protocol.error_codes import ErrorCode
from tests.support.classic_group import join, leader, sync
from tests.support.group import FakeReply, GroupLog

LATE = ErrorCode.COORDINATOR_NOT_AVAILABLE


@pytest.fixture
def log() -> GroupLog:
    return GroupLog()


def two_that_sync(log: GroupLog) -> tuple[list[FakeReply], list[str], int]:
    """Both members of a new generation wait for its record."""
    first = leader(log)
    newcomer = join(log)
    again = join(log, first)
    ids, generation = [first, newcomer.response.member_id], again.response.generation_id
    log.is_holding = True
    return [sync(log, each, generation) for each in ids], ids, generation


def test_no_sync_waits_longer_than_the_deadline(log: GroupLog) -> None:
    """Neither the leader's nor the others'. They join again, as in Kafka."""
    syncs, ids, generation = two_that_sync(log)
    assert not any(each.is_answered for each in syncs)

    assert log.look_overdue() == 2
    assert [each.response.error_code for each in syncs] == [LATE, LATE]
    assert log.look_overdue() == 0
    with_old = sync(log, ids[1], generation)
    assert with_old.error == ErrorCode.REBALANCE_IN_PROGRESS


def test_the_next_generation_follows_a_record_that_is_written_after_the_deadline(log: GroupLog) -> None:
    """Nobody is answered twice, and the record of the generation before answers nobody."""
    syncs, ids, generation = two_that_sync(log)
    log.look_overdue()
    joins = [join(log, each) for each in ids]
    assert [(each.response.error_code, each.response.generation_id) for each in joins] == [(ErrorCode.NONE, generation + 1)] * 2
    follower = sync(log, ids[1], generation + 1)
    assert (log.look_overdue(), follower.is_answered) == (0, False)
    log.flush()

    assert (follower.is_answered, [each.response.error_code for each in syncs]) == (False, [LATE, LATE])
    again = sync(log, ids[0], generation + 1, assigned=5)
    log.flush()
    assert (again.response.assignment, follower.response.error_code) == (bytes(5), ErrorCode.NONE)


def test_a_static_member_that_returns_does_not_wait_longer_either(log: GroupLog) -> None:
    """Its new id is a member if the record is written."""
    leader(log, version=5, instance_id="i")
    log.is_holding = True
    returned = join(log, version=5, instance_id="i")
    assert not returned.is_answered

    assert (log.look_overdue(), returned.response.error_code) == (1, LATE)
    assert log.look_overdue() == 0
    log.flush()
    group = log.shard.groups.classic.find("group")
    assert group is not None
    [member] = group.members.values()
    assert (group.state.name, member.awaiting_join) == ("STABLE", None)


def test_a_static_member_whose_group_rebalances_meanwhile_is_answered_by_that(log: GroupLog) -> None:
    """With an old version the join of a newcomer begins the rebalance."""
    leader(log, version=5, instance_id="i")
    log.is_holding = True
    returned = join(log, version=5, instance_id="i")
    newcomer = join(log)

    assert (log.look_overdue(), newcomer.response.error_code, returned.response.error_code) == (0, ErrorCode.NONE, ErrorCode.NONE)
