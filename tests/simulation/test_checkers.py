"""Each checker on a history made by hand: one that is right, and ones that differ from it by what it has to see."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.log.shards import ShardId
from coordinator_server.machine.provenance import Provenance
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from protocol.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from tests.simulation.checkers import assignments, ending, fencing, generations, offsets, sessions
from tests.simulation.checkers.offsets import NEVER, NONE, Step, is_linearizable
from tests.simulation.checkers.reading import FULL, Reading
from tests.simulation.history import History, Incident, Life, Op
from tests.simulation.mirror import LogRecord
from tests.simulation.world import SECOND

UNKNOWN_MEMBER_ID = 25
ILLEGAL_GENERATION = 22
FENCED = 82


class Tale:
    """A history as it is told: every answer comes a second after its request, unless it is said when."""

    def __init__(self) -> None:
        self.history = History(incidents=[Incident(0, "start"), Incident(0, "serving")], calm_us=0)
        self.written: list[LogRecord] = []

    @property
    def reading(self) -> Reading:
        return Reading(self.history, self.written)

    def op(self, at_s: float, request: Any, response: Any, *, takes_s: float = 1, client: str = "c", version: int = 9) -> Op:
        op = Op(len(self.history.ops), client, 1, version, request, int(at_s * SECOND))
        if response is not None:
            op.response, op.answered_us = response, int((at_s + takes_s) * SECOND)
        self.history.ops.append(op)
        return op

    def befalls(self, at_s: float, what: str) -> None:
        self.history.incidents.append(Incident(int(at_s * SECOND), what))

    def join(
        self, at_s: float, member: str, generation: int, leader: str, *, instance: str | None = None, session_ms: int = 6000
    ) -> Op:
        request = JoinGroupRequest("g", session_ms, 6000, "", instance, "consumer")
        return self.op(at_s, request, JoinGroupResponse(0, 0, generation, "consumer", "range", leader, False, member))

    def sync(
        self, at_s: float, member: str, generation: int, gets: bytes | None, gives: dict[str, bytes] | None = None, **more: Any
    ) -> Op:
        given = [SyncGroupRequestAssignment(*each) for each in (gives or {}).items()]
        request = SyncGroupRequest("g", generation, member, more.pop("instance", None), None, None, given)
        return self.op(at_s, request, None if gets is None else SyncGroupResponse(assignment=gets), **more)

    def beat(self, at_s: float, member: str, generation: int, error: int = 0, **more: Any) -> Op:
        request = HeartbeatRequest("g", generation, member, more.pop("instance", None))
        return self.op(at_s, request, HeartbeatResponse(error_code=error), **more)

    def commit(self, at_s: float, value: int, error: int | None = 0, *, generation: int = -1, **more: Any) -> Op:
        asked = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, value)])]
        told = [OffsetCommitResponseTopic("t", partitions=[OffsetCommitResponsePartition(0, error or 0)])]
        response = None if error is None else OffsetCommitResponse(topics=told)
        return self.op(at_s, OffsetCommitRequest("g", generation, "a", topics=asked), response, **more)

    def fetch(self, at_s: float, value: int) -> Op:
        found = [OffsetFetchResponseTopics("t", partitions=[OffsetFetchResponsePartitions(0, value)])] if value >= 0 else []
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)])
        return self.op(at_s, request, OffsetFetchResponse(groups=[OffsetFetchResponseGroup("g", found)]))

    def delete(self, at_s: float) -> Op:
        return self.op(at_s, DeleteGroupsRequest(["g"]), DeleteGroupsResponse(results=[DeletableGroupResult("g")]))

    def look(self, at_s: float, state: str, *members: str, shares: tuple[bytes, ...] = ()) -> Op:
        described = [DescribedGroupMember(member) for member in members]
        for member, share in zip(described, shares, strict=False):
            member.member_assignment = share
        group = DescribedGroup(group_id="g", group_state=state, members=described)
        return self.op(at_s, DescribeGroupsRequest(["g"]), DescribeGroupsResponse(groups=[group]))

    def writes_group(self, generation: int, **shares: bytes) -> None:
        members = [MemberMetadata(member_id=member, assignment=share) for member, share in shares.items()]
        self._writes(
            CoordinatorRecord(GroupMetadataKey("g"), GroupMetadataValue("consumer", generation, "range", "a", -1, members))
        )

    def writes_tombstone(self, provenance: Provenance | None = None) -> None:
        self._writes(CoordinatorRecord(GroupMetadataKey("g"), None), provenance)

    def writes_offset(self, value: int, client: str = "") -> None:
        record = CoordinatorRecord(OffsetCommitKey("g", "t", 0), OffsetCommitValue(value))
        self._writes(record, Provenance("0", client_id=client))

    def _writes(self, record: CoordinatorRecord, provenance: Provenance | None = None) -> None:
        self.written.append(LogRecord(ShardId("log", 0), len(self.written), record, provenance))


@pytest.fixture
def tale() -> Tale:
    return Tale()


class TestGenerations:
    """At most one leader each, rising, used once."""

    def test_one_leader(self, tale: Tale) -> None:
        tale.join(1, "a", 1, "a")
        tale.join(1, "b", 1, "a")

        assert not [*generations.check_leaders(tale.reading), *generations.check_rising(tale.reading)]

    def test_two_leaders(self, tale: Tale) -> None:
        tale.join(1, "a", 1, "a")
        tale.join(1, "b", 1, "b")

        assert [*generations.check_leaders(tale.reading)]

    def test_another_life_may_begin_a_generation_again_that_nobody_synced(self, tale: Tale) -> None:
        tale.join(1, "a", 1, "a")
        tale.befalls(3, "start")
        tale.join(4, "b", 1, "b")

        assert not [*generations.check_leaders(tale.reading)]
        assert not [*generations.check_rising(tale.reading)]

    def test_so_may_a_group_that_the_log_refused(self, tale: Tale) -> None:
        tale.join(1, "a", 1, "a")
        tale.befalls(3, f"{FULL} pwrite: ENOSPC")
        tale.join(4, "b", 1, "b")

        assert not [*generations.check_leaders(tale.reading)]

    def test_a_generation_that_was_synced_is_not_used_again_after_a_restart(self, tale: Tale) -> None:
        tale.join(1, "a", 1, "a")
        tale.sync(2, "a", 1, b"x", {"a": b"x"})
        tale.befalls(4, "start")
        tale.join(5, "b", 1, "b")

        assert [*generations.check_used_once(tale.reading)]

    def test_a_deleted_group_begins_again(self, tale: Tale) -> None:
        tale.join(1, "a", 1, "a")
        tale.sync(2, "a", 1, b"x", {"a": b"x"})
        tale.delete(4)
        tale.join(6, "b", 1, "b")

        for check in (generations.check_leaders, generations.check_rising, generations.check_used_once):
            assert not [*check(tale.reading)]

    def test_a_sync_before_the_deletion_binds_no_life_after_it(self, tale: Tale) -> None:
        tale.join(1, "a", 1, "a")
        tale.sync(2, "a", 1, b"x", {"a": b"x"})
        tale.delete(4)
        tale.join(6, "b", 1, "b")
        tale.befalls(8, "start")
        tale.join(9, "c", 1, "c")

        assert not [*generations.check_leaders(tale.reading)]

    def test_a_sync_after_the_deletion_does(self, tale: Tale) -> None:
        tale.join(1, "a", 1, "a")
        tale.delete(3)
        tale.sync(6, "b", 1, b"x", {"b": b"x"})
        tale.join(8, "b", 1, "b")
        tale.befalls(10, "start")
        tale.join(11, "c", 1, "c")

        assert [*generations.check_leaders(tale.reading)]

    def test_so_does_one_that_the_retention_took(self, tale: Tale) -> None:
        tale.join(1, "a", 1, "a")
        tale.sync(2, "a", 1, b"x", {"a": b"x"})
        tale.writes_tombstone(Provenance("timer"))
        tale.join(6, "b", 1, "b")

        for check in (generations.check_leaders, generations.check_rising, generations.check_used_once):
            assert not [*check(tale.reading)]

    def test_a_static_leader_is_the_same_under_a_new_id(self, tale: Tale) -> None:
        tale.join(1, "a", 1, "a", instance="i")
        tale.join(3, "a2", 1, "a2", instance="i")

        assert not [*generations.check_leaders(tale.reading)]

    def test_going_back(self, tale: Tale) -> None:
        tale.sync(1, "a", 2, b"x")
        tale.befalls(3, "start")
        tale.join(4, "a", 1, "a")

        assert [*generations.check_rising(tale.reading)]

    def test_the_log_goes_back(self, tale: Tale) -> None:
        tale.writes_group(2)
        tale.writes_group(1)

        assert [*generations.check_records(tale.reading)]

    def test_the_log_begins_again_after_a_tombstone(self, tale: Tale) -> None:
        tale.writes_group(2)
        tale.writes_tombstone()
        tale.writes_group(0)

        assert not [*generations.check_records(tale.reading)]

    def test_a_generation_is_written_twice_and_differs(self, tale: Tale) -> None:
        tale.writes_group(2, a=b"x")
        tale.writes_group(2, a=b"y")

        assert [*generations.check_records(tale.reading)]


class TestAssignments:
    """Exactly the leader's bytes."""

    def test_assignments_of_one_sync_are_accepted(self, tale: Tale) -> None:
        tale.join(1, "a", 1, "a")
        tale.sync(2, "a", 1, b"x", {"a": b"x", "b": b"y"})
        tale.sync(2, "b", 1, b"y")
        tale.sync(4, "c", 1, b"")

        assert not [*assignments.check_assignments(tale.reading)]

    @pytest.mark.parametrize("gets", [b"x", b"", b"yy"])
    def test_an_assignment_that_is_not_the_leaders(self, tale: Tale, gets: bytes) -> None:
        tale.join(1, "a", 1, "a")
        tale.sync(2, "a", 1, b"x", {"a": b"x", "b": b"y"})
        tale.sync(2, "b", 1, gets)

        assert [*assignments.check_assignments(tale.reading)]

    def test_assignments_of_two_syncs_are_seen(self, tale: Tale) -> None:
        tale.join(1, "a", 1, "a")
        tale.sync(2, "a", 1, None, {"a": b"x", "b": b"y"})
        tale.sync(3, "a", 1, b"z", {"a": b"z", "b": b"w"})
        tale.sync(3, "b", 1, b"y")

        assert [*assignments.check_assignments(tale.reading)]

    def test_assignments_of_a_member_that_does_not_lead_are_seen(self, tale: Tale) -> None:
        tale.join(1, "a", 1, "a")
        tale.sync(2, "b", 1, b"y", {"b": b"y"})

        assert [*assignments.check_assignments(tale.reading)]

    def test_a_static_member_goes_on_with_what_its_old_id_had(self, tale: Tale) -> None:
        tale.join(1, "a", 1, "a")
        tale.join(1, "b", 1, "a", instance="i")
        tale.sync(2, "a", 1, b"x", {"a": b"x", "b": b"y"})
        tale.join(4, "b2", 1, "a", instance="i")
        tale.sync(6, "b2", 1, b"y", instance="i")

        assert not [*assignments.check_assignments(tale.reading)]


class TestFencing:
    """What is stale is refused, and changes nothing."""

    def test_a_heartbeat_of_an_old_generation_is_refused(self, tale: Tale) -> None:
        tale.sync(1, "a", 2, b"x")
        tale.beat(3, "a", 1, ILLEGAL_GENERATION)

        assert not [*fencing.check_stale(tale.reading)]

    def test_a_heartbeat_of_an_old_generation_is_taken(self, tale: Tale) -> None:
        tale.sync(1, "a", 2, b"x")
        tale.beat(3, "a", 1)

        assert [*fencing.check_stale(tale.reading)]

    def test_a_commit_of_an_old_generation_is_taken(self, tale: Tale) -> None:
        tale.sync(1, "a", 2, b"x")
        tale.commit(3, 7, generation=1)

        assert [*fencing.check_stale(tale.reading)]

    def test_a_heartbeat_sent_before_the_next_generation(self, tale: Tale) -> None:
        tale.beat(1, "a", 1, takes_s=5)
        tale.sync(2, "a", 2, b"x")

        assert not [*fencing.check_stale(tale.reading)]

    def test_a_heartbeat_during_a_load(self, tale: Tale) -> None:
        tale.sync(1, "a", 2, b"x")
        tale.befalls(3, "start")
        tale.beat(3.5, "a", 1)
        tale.befalls(4, "serving")

        assert not [*fencing.check_stale(tale.reading)]

    def test_a_static_member_that_was_replaced(self, tale: Tale) -> None:
        tale.join(1, "a", 1, "a", instance="i")
        tale.join(3, "a2", 1, "a2", instance="i")
        tale.sync(5, "a2", 1, b"", instance="i")
        refused = tale.beat(7, "a", 1, FENCED, instance="i")
        assert not [*fencing.check_stale(tale.reading)]
        refused.response.error_code = 0

        assert [*fencing.check_stale(tale.reading)]

    def test_a_commit_is_refused_and_its_record_written(self, tale: Tale) -> None:
        tale.commit(1, 7, ILLEGAL_GENERATION, client="stranger")
        tale.writes_offset(6, client="somebody")
        assert not [*fencing.check_nothing_written(tale.reading)]
        tale.writes_offset(7, client="stranger")

        assert [*fencing.check_nothing_written(tale.reading)]


class TestSessions:
    """Who is heard of stays, who is silent goes."""

    def start(self, tale: Tale) -> None:
        tale.join(0, "a", 1, "a", session_ms=6000)
        tale.sync(1, "a", 1, b"x", takes_s=0.1)
        tale.beat(2, "a", 1, takes_s=0.1)

    def test_a_member_is_removed_after_its_session(self, tale: Tale) -> None:
        self.start(tale)
        tale.beat(8.2, "a", 1, UNKNOWN_MEMBER_ID, takes_s=0.1)

        assert not [*sessions.check_living(tale.reading)]

    def test_a_member_is_removed_before_its_session_ends(self, tale: Tale) -> None:
        self.start(tale)
        tale.beat(7, "a", 1, UNKNOWN_MEMBER_ID, takes_s=0.1)

        assert [*sessions.check_living(tale.reading)]

    @pytest.mark.parametrize(("what", "then"), [("paused for 60000 ms", None), ("start", "serving")])
    def test_a_member_is_removed_after_a_standstill(self, tale: Tale, what: str, then: str | None) -> None:
        self.start(tale)
        tale.befalls(3, what)
        if then is not None:
            tale.befalls(63, then)
        tale.beat(63.5, "a", 1, UNKNOWN_MEMBER_ID, takes_s=0.1)

        assert [*sessions.check_living(tale.reading)]

    def test_its_session_was_over_before_the_standstill(self, tale: Tale) -> None:
        self.start(tale)
        tale.befalls(8.5, "paused for 60000 ms")
        tale.beat(69, "a", 1, UNKNOWN_MEMBER_ID, takes_s=0.1)

        assert not [*sessions.check_living(tale.reading)]

    def test_a_standstill_ends_with_its_process(self, tale: Tale) -> None:
        self.start(tale)
        tale.befalls(3, "paused for 60000 ms")
        tale.befalls(4, "start")
        tale.befalls(5, "serving")
        tale.beat(12, "a", 1, UNKNOWN_MEMBER_ID, takes_s=0.1)

        assert not [*sessions.check_living(tale.reading)]

    def test_a_silent_member_is_removed_in_time(self, tale: Tale) -> None:
        self.start(tale)
        tale.look(9, "Stable", "a")

        assert not [*sessions.check_dead(tale.reading)]

    def test_a_silent_member_stays_too_long(self, tale: Tale) -> None:
        self.start(tale)
        tale.look(60, "Stable", "a")

        assert [*sessions.check_dead(tale.reading)]

    def test_a_standstill_gives_everybody_a_whole_session(self, tale: Tale) -> None:
        self.start(tale)
        tale.befalls(3, "paused for 55000 ms")
        tale.look(62, "Stable", "a")

        assert not [*sessions.check_dead(tale.reading)]


class TestOffsets:
    """Linearizable, and nothing from nowhere."""

    def test_a_fetch_returns_the_committed_offset(self, tale: Tale) -> None:
        tale.fetch(0, NONE)
        tale.commit(2, 7)
        tale.fetch(4, 7)
        tale.delete(6)
        tale.fetch(8, NONE)

        assert not [*offsets.check_linearizable(tale.reading)]

    def test_a_fetch_returns_an_older_offset(self, tale: Tale) -> None:
        tale.commit(1, 7)
        tale.commit(3, 8)
        tale.fetch(5, 7)

        assert [*offsets.check_linearizable(tale.reading)]

    def test_a_committed_offset_is_lost(self, tale: Tale) -> None:
        tale.commit(1, 7)
        tale.fetch(3, NONE)

        assert [*offsets.check_linearizable(tale.reading)]

    def test_a_fetch_returns_an_offset_that_no_client_committed(self, tale: Tale) -> None:
        tale.commit(1, 7)
        tale.fetch(3, 9)

        assert ["nobody committed" in wrong for wrong in offsets.check_linearizable(tale.reading)] == [True]

    def test_a_refused_commit_is_fetched(self, tale: Tale) -> None:
        tale.commit(1, 7, ILLEGAL_GENERATION)
        tale.fetch(3, 7)

        assert [*offsets.check_linearizable(tale.reading)]

    def test_an_unanswered_commit_may_come_to_be_later_and_stays_then(self, tale: Tale) -> None:
        tale.commit(1, 7, None)
        tale.fetch(2, NONE)
        tale.fetch(4, 7)
        assert not [*offsets.check_linearizable(tale.reading)]
        tale.fetch(6, NONE)

        assert [*offsets.check_linearizable(tale.reading)]

    def test_the_log_holds_what_was_committed(self, tale: Tale) -> None:
        tale.commit(1, 7)
        tale.writes_offset(7)
        assert not [*offsets.check_committed(tale.reading)]
        tale.writes_offset(8)

        assert [*offsets.check_committed(tale.reading)]

    def test_the_log_holds_what_was_refused(self, tale: Tale) -> None:
        tale.commit(1, 7, ILLEGAL_GENERATION)
        tale.writes_offset(7)

        assert ["was refused" in wrong for wrong in offsets.check_committed(tale.reading)] == [True]

    def test_two_at_once_in_either_order(self) -> None:
        nobody = Op(0, "", 0, 0, None, 0)
        writes = [Step(0, 9, False, 1, nobody), Step(1, 8, False, 2, nobody)]

        assert is_linearizable([*writes, Step(10, 11, True, 1, nobody)])
        assert is_linearizable([*writes, Step(10, 11, True, 2, nobody)])
        assert not is_linearizable([*writes, Step(10, 11, True, 1, nobody), Step(12, 13, True, 2, nobody)])
        assert not is_linearizable([*writes, Step(20, NEVER, False, 3, nobody), Step(10, 11, True, 3, nobody)])

    def test_requests_of_one_connection_happen_in_their_order(self) -> None:
        def op(number: int, connection: int) -> Op:
            return Op(number, "", connection, 0, None, 0)

        old, new = Step(0, 1, False, 1, op(0, 1)), Step(2, 9, False, 2, op(1, 1))

        assert not is_linearizable([old, new, Step(2, 9, True, 1, op(2, 1))])
        assert is_linearizable([old, new, Step(2, 9, True, 2, op(2, 1))])
        assert is_linearizable([old, new, Step(2, 9, True, 1, op(2, 2))])
        # An answer that never came says nothing of the order.
        assert is_linearizable([old, Step(2, NEVER, False, 2, op(1, 1)), Step(2, 9, True, 1, op(2, 1))])


class TestEnding:
    """Answered, agreed, empty."""

    def end(self, tale: Tale, *members: str) -> None:
        tale.history.silent_us, tale.history.end_us = 20 * SECOND, 40 * SECOND
        for number, member in enumerate(members):
            tale.history.lives.append(Life(number, "g", None, 6000, 6000, "consumer", 0, member_id=member))

    def test_converged_and_empty(self, tale: Tale) -> None:
        self.end(tale, "a", "b")
        tale.look(10, "Stable", "a", "b", shares=(b"1:t-0", b"1:t-1"))
        tale.look(30, "Empty")

        assert not [*ending.check_converged(tale.reading, 100), *ending.check_emptied(tale.reading)]
        assert not [*ending.check_answered(tale.reading)]

    @pytest.mark.parametrize("members", [("a",), ("a", "b", "c"), ()])
    def test_the_wrong_members(self, tale: Tale, members: tuple[str, ...]) -> None:
        self.end(tale, "a", "b")
        tale.look(10, "Stable", *members)

        assert [*ending.check_converged(tale.reading, 100)]

    @pytest.mark.parametrize(("instance_id", "is_right"), [("i", True), (None, False)])
    def test_more_members_than_the_group_may_have(self, tale: Tale, instance_id: str | None, is_right: bool) -> None:
        """A static member that did not rejoin in time stays while others fill the group up."""
        self.end(tale, "a", "b", "c")
        tale.history.lives[0].instance_id = instance_id
        tale.look(10, "Stable", "a", "b", "c")

        wrong = [*ending.check_converged(tale.reading, 2)]

        assert (wrong == []) is is_right

    def test_not_stable(self, tale: Tale) -> None:
        self.end(tale, "a")
        tale.look(10, "PreparingRebalance", "a")

        assert [*ending.check_converged(tale.reading, 100)]

    def test_a_position_with_two_owners(self, tale: Tale) -> None:
        self.end(tale, "a", "b")
        tale.look(10, "Stable", "a", "b", shares=(b"1:t-0", b"1:t-0"))

        assert [*ending.check_converged(tale.reading, 100)]

    def test_not_empty(self, tale: Tale) -> None:
        self.end(tale, "a")
        tale.look(30, "Stable", "a")

        assert [*ending.check_emptied(tale.reading)]

    def test_an_offset_expires_too_late(self, tale: Tale) -> None:
        tale.history.old_us = 50 * SECOND
        tale.look(30, "Empty")
        tale.look(60, "Dead")
        tale.fetch(60, NONE)
        assert not [*ending.check_expired(tale.reading)]
        tale.look(62, "Empty")
        tale.fetch(64, 7)

        assert len([*ending.check_expired(tale.reading)]) == 2

    def test_a_request_is_never_answered(self, tale: Tale) -> None:
        tale.sync(10, "a", 1, None)

        assert [*ending.check_answered(tale.reading)]
