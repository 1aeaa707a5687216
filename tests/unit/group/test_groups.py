"""Groups: what the log knows, and the living objects built from it."""

from __future__ import annotations

from coordinator_server.group.classic.state import EMPTY, STABLE
from coordinator_server.group.expiry import TIMER_KEY
from coordinator_server.group.shard import GroupShard
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from tests.support.group import GroupLog

JOIN = JoinGroupRequest("g", 10_000, 30_000, protocol_type="consumer", protocols=[JoinGroupRequestProtocol("range", b"x")])
COMMIT = OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 5)])])


def metadata(*members: MemberMetadata, leader: str | None = "a", version: int = 3) -> CoordinatorRecord:
    value = GroupMetadataValue("consumer", 4, "range" if members else None, leader if members else None, 99, list(members))
    return CoordinatorRecord(GroupMetadataKey("g"), value, version)


def loaded(*records: CoordinatorRecord) -> GroupLog:
    log = GroupLog()
    log.committed = list(records)
    log.restart()
    return log


def test_a_group_with_members_is_restored_as_it_was() -> None:
    """Stable, in its generation, with leader, timeouts, subscription and assignment, and its sessions armed."""
    log = loaded(metadata(MemberMetadata("a", "i", "client", "host", 30_000, 10_000, b"sub", b"part")))

    group = log.shard.groups.classic.living("g")

    assert group is not None
    assert (group.state, group.generation_id, group.protocol_type, group.protocol_name) == (STABLE, 4, "consumer", "range")
    assert (group.leader_id, group.static_members, group.current_state_timestamp) == ("a", {"i": "a"}, 99)
    member = group.members["a"]
    assert (member.rebalance_timeout_ms, member.session_timeout_ms, member.client_id) == (30_000, 10_000, "client")
    assert (member.metadata("range"), member.assignment) == (b"sub", b"part")
    assert log.timer.keys == {member.session_key, TIMER_KEY}


def test_a_group_whose_tombstone_is_refused_goes_on_as_it_was() -> None:
    """Its last member left while the log refused that, too: the log still has the member, and nobody else."""
    log = loaded(metadata(MemberMetadata("a", None, "client", "host", 30_000, 10_000, b"sub", b"part")))
    log.is_holding = True
    log.run(GroupShard.leave_group, LeaveGroupRequest("g", members=[MemberIdentity("a")]), version=5)
    log.fail()
    log.run(GroupShard.delete_groups, ["g"], version=2)
    log.fail()

    group = log.shard.groups.classic.find("g")

    assert group is not None
    assert (group.state, group.generation_id, group.members) == (EMPTY, 5, {})


def test_an_expiry_that_is_refused_leaves_its_group_as_it_was() -> None:
    """The same where the tombstone is the retention's."""
    log = loaded(metadata(MemberMetadata("a", None, "client", "host", 30_000, 10_000, b"sub", b"part")))
    log.is_holding = True
    log.run(GroupShard.leave_group, LeaveGroupRequest("g", members=[MemberIdentity("a")]), version=5)
    log.fail()
    log.advance(log.config.offsets_retention_check_interval_ms)
    assert any(record.value is None for record in log.pending)
    log.fail()

    group = log.shard.groups.classic.find("g")

    assert group is not None
    assert (group.state, group.generation_id, group.members) == (EMPTY, 5, {})


def test_an_old_record_has_no_rebalance_timeout() -> None:
    """The session timeout stands in, as it did for the member."""
    log = loaded(metadata(MemberMetadata("a", None, "client", "host", -1, 10_000, b"sub", b"part"), version=0))

    group = log.shard.groups.classic.find("g")

    assert group is not None
    assert group.rebalance_timeout_ms == 10_000


def test_a_leader_that_is_no_member_does_not_lead() -> None:
    """Whatever the log says: the invariants of a group hold."""
    member = MemberMetadata("a", None, "client", "host", 30_000, 10_000, b"sub", b"part")
    log = loaded(metadata(member, leader="gone"))

    group = log.shard.groups.classic.find("g")

    assert group is not None
    assert group.leader_id == "a"


def test_a_group_without_members_is_built_when_it_is_touched() -> None:
    """Loading costs nothing for it."""
    log = loaded(metadata())

    assert log.shard.groups.classic.living("g") is None
    group = log.shard.groups.classic.find("g")
    assert group is not None
    assert (group.state, group.generation_id, group.protocol_type) == (EMPTY, 4, "consumer")


def test_a_tombstone_ends_a_group() -> None:
    """Nothing is left of it, unless the tombstone does not become durable."""
    log = loaded(metadata())
    log.shard.groups.classic.find("g")

    log.registry.snapshot(1)
    log.shard.replay(1, CoordinatorRecord(GroupMetadataKey("g"), None))
    assert log.shard.groups.classic.find("g") is None
    assert log.shard.describe_group(1, "g").group_state == "Empty"
    log.registry.revert_to(1)

    assert log.shard.groups.classic.find("g") is not None


def test_a_group_exists_as_long_as_the_log_has_something_of_it() -> None:
    """Metadata or offsets; a creation that failed leaves nothing."""
    log = GroupLog()
    log.is_holding = True
    groups = log.shard.groups

    log.run(GroupShard.join_group, JOIN, version=9)
    assert groups.classic.exists("g")
    log.fail()
    assert not groups.classic.exists("g")
    assert groups.classic.find("g") is None
    log.run(GroupShard.commit_offsets, COMMIT, version=9)
    assert groups.classic.exists("g")
    assert not groups.classic.existed_at("g", log.committed_offset)
    log.flush()
    assert groups.classic.existed_at("g", log.committed_offset)


def test_an_answer_depends_on_its_groups_last_record() -> None:
    """Of other groups, and of offsets, it does not; nor of a record that failed."""
    log = GroupLog()
    log.is_holding = True
    groups = log.shard.groups

    depends = [groups.classic.depends_on("g")]
    log.run(GroupShard.join_group, JOIN, version=9)
    depends.append(groups.classic.depends_on("g"))
    log.run(GroupShard.commit_offsets, COMMIT, version=9)
    depends.append(groups.classic.depends_on("g"))
    log.fail()
    depends.append(groups.classic.depends_on("g"))

    assert depends == [0, 1, 1, 0]


def test_a_member_that_does_not_sync_leaves_no_timer() -> None:
    """Its session was longer than the time that it had."""
    log = GroupLog()
    protocols = [JoinGroupRequestProtocol("range", b"")]
    joining = JoinGroupRequest("g", 60_000, 5_000, "", None, "consumer", protocols)
    joined = log.run(GroupShard.join_group, joining, version=3)
    log.advance(4_000)
    group = log.shard.groups.classic.living("g")
    assert group is not None
    session = group.session_key(joined.response.member_id)
    assert session in log.timer.keys

    log.advance(10_000)

    assert group.members == {}
    assert log.timer.keys == {TIMER_KEY}


def test_dropping_answers_everybody_and_disarms_everything() -> None:
    """Nothing of a dropped group happens later."""
    log = GroupLog()
    reply = log.run(GroupShard.join_group, JOIN, version=3)
    log.run(GroupShard.join_group, JOIN, version=9)

    log.shard.on_unloaded()

    assert reply.response.error_code == ErrorCode.NOT_COORDINATOR
    assert log.timer.keys == set()
    log.shard.on_unloaded()
