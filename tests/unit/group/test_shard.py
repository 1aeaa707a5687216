"""GroupShard as the runtime sees it."""

from __future__ import annotations

from coordinator_server.group.shard import GroupShard
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.group_records import LegacyOffsetCommitKey, LegacyOffsetCommitValue
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.support.group import GroupLog

JOIN = JoinGroupRequest("g", 10_000, 30_000, protocol_type="consumer", protocols=[JoinGroupRequestProtocol("range", b"x")])


def stable_log() -> tuple[GroupLog, str]:
    """A group of one member at rest."""
    log = GroupLog()
    join = log.run(GroupShard.join_group, JOIN, version=3)
    log.advance(0)
    member_id = join.response.member_id
    sync = SyncGroupRequest("g", 1, member_id, assignments=[SyncGroupRequestAssignment(member_id, b"p")])
    log.run(GroupShard.sync_group, sync, version=0)
    return log, member_id


def test_member_ids_begin_with_the_client_id() -> None:
    """Or, for a static member, with its instance id."""
    log = GroupLog()
    dynamic = log.run(GroupShard.join_group, JOIN, version=9, client_id="app")
    log.run(GroupShard.join_group, JOIN, version=9, client_id="app")

    assert dynamic.response.member_id == "app-1"


def test_a_heartbeat_reuses_its_timer_operation() -> None:
    """The hot path builds nothing per heartbeat but its result: the operation that it arms is the member's own."""
    log, member_id = stable_log()
    group = log.shard.groups.classic.find("g")
    assert group is not None
    member = group.members[member_id]
    armed = []
    log.timer.schedule = lambda *args: armed.append(args)  # type: ignore[method-assign]

    log.run(GroupShard.heartbeat, HeartbeatRequest("g", 1, member_id), version=4)

    assert armed == [(member.session_key, 10_000, member.expire)]


def test_a_refused_operation_leaves_no_trace() -> None:
    """No record, no timer, no member."""
    log, member_id = stable_log()
    before = (log.hard_state(), log.timer.keys, log.end_offset)

    refused = log.run(GroupShard.sync_group, SyncGroupRequest("g", 7, member_id), version=4)

    assert refused.error is ErrorCode.ILLEGAL_GENERATION
    assert (log.hard_state(), log.timer.keys, log.end_offset) == before


def test_legacy_offsets_are_read() -> None:
    """Records of clusters before 0.9 are offsets like any other."""
    log = GroupLog()
    key = LegacyOffsetCommitKey("g", "t", 0)
    log.shard.replay(0, CoordinatorRecord(key, LegacyOffsetCommitValue(5, "note", 99)))

    def fetched() -> list[int]:
        answer = log.shard.fetch_offsets(1, OffsetFetchRequestGroup("g", topics=None)).answer()
        return [partition.committed_offset for topic in answer.topics for partition in topic.partitions]

    assert fetched() == [5]
    log.shard.replay(1, CoordinatorRecord(key, None))
    assert fetched() == []
