"""What the members of a group may take: one that is too much is refused, and the others of its group never know."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.member_memory import MemberMemory
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.shard import RequestContext
from protocol.error_codes import ErrorCode
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from tests.support.classic_group import join, leader, sync
from tests.support.configs import config_with
from tests.support.group import FakeReply, GroupLog

FULL, INVALID, OK = ErrorCode.GROUP_MAX_SIZE_REACHED, ErrorCode.INVALID_REQUEST, ErrorCode.NONE
MANY = 10_000


def log_with(**limits: int) -> GroupLog:
    return GroupLog(config_with(group_initial_rebalance_delay_ms=0, **limits))  # type: ignore[arg-type]


def error_of(reply: FakeReply) -> ErrorCode:
    assert isinstance(reply.response, JoinGroupResponse)
    return ErrorCode(reply.response.error_code)


def group_of(log: GroupLog) -> ClassicGroup:
    group = log.shard.groups.classic.find("group")
    assert group is not None
    return group


@pytest.mark.parametrize("version", [0, 3, 4, 9])
def test_a_member_that_is_too_much_for_any_group(version: int) -> None:
    """It is refused before its group exists: by its metadata, or by the number of its protocols."""
    log = log_with(message_max_bytes=100_000, group_member_max_protocols=5)

    assert error_of(join(log, size=90_000, version=version)) is INVALID
    assert error_of(join(log, protocols=6, version=version)) is INVALID
    assert log.shard.groups.classic.find("group") is None
    assert log.committed == []
    assert log.reports == ["member-refused"] * 2


def test_a_group_whose_record_could_not_be_written_gets_no_more_members() -> None:
    """Else every member would get an error in every generation."""
    log = log_with(message_max_bytes=100_000)
    first = leader(log, size=50_000)

    assert error_of(join(log, size=40_000)) is FULL
    assert set(group_of(log).members) == {first}
    again = join(log, first, size=50_000)
    assert error_of(again) is OK
    assert sync(log, first, again.response.generation_id).response.error_code == OK
    assert log.reports == ["group-full"]


def test_a_member_that_grows_keeps_what_it_had() -> None:
    """It is refused, and the group goes on."""
    log = log_with(message_max_bytes=100_000)
    first = leader(log, size=30_000)
    second = join(log, size=30_000)
    rejoined = join(log, first, size=30_000)
    assert (error_of(second), error_of(rejoined)) == (OK, OK)

    assert error_of(join(log, first, size=60_000)) is FULL
    assert len(group_of(log).members) == 2
    assert len(group_of(log).members[first].protocols[0].metadata) == 30_000
    assert not join(log, first, size=20_000).is_answered


def test_members_and_all_their_metadata_are_limited() -> None:
    """Also that of protocols which no record has. What leaves makes room."""
    log = log_with(group_max_bytes=1 << 16)
    first = leader(log, size=1000, protocols=40)

    assert error_of(join(log, size=1000, protocols=40)) is FULL
    group_of(log).remove(first)
    assert error_of(join(log, size=1000, protocols=40, instance_id="i", version=5)) is not FULL
    assert group_of(log).memory_bytes <= 1 << 16


def test_the_return_of_a_static_member_takes_no_more_room() -> None:
    """It replaces the one that was there."""
    log = log_with(group_max_bytes=1 << 16)
    for _ in range(5):
        reply = join(log, size=1000, protocols=40, instance_id="i", version=5)
        log.advance(0)
        assert error_of(reply) is OK
    before = group_of(log).memory_bytes

    assert error_of(join(log, size=1000, protocols=60, instance_id="i", version=5)) is FULL
    assert group_of(log).memory_bytes == before


def test_pending_member_ids_are_limited() -> None:
    """The oldest give way: a client that joins with its id does so at once."""
    log = log_with(group_max_bytes=1 << 16)
    first = leader(log)
    ids = [join(log, version=4).response.member_id for _ in range(MANY)]
    group = group_of(log)

    assert group.memory_bytes <= 1 << 16
    assert 50 < len(group.pending_joins) < 200
    assert list(group.pending_joins) == ids[-len(group.pending_joins) :]
    assert len(log.timer.keys) < 250
    assert error_of(join(log, ids[0], version=4)) is ErrorCode.UNKNOWN_MEMBER_ID
    join(log, ids[-1], version=4)
    assert set(group.members) == {first, ids[-1]}
    assert log.reports == []


def test_a_refused_member_costs_no_pending_id() -> None:
    """Pending ids are dropped only if that helps."""
    log = log_with(group_max_bytes=1 << 16)
    leader(log, size=1000, protocols=40)
    pending = join(log, version=4).response.member_id

    assert error_of(join(log, size=1000, protocols=40)) is FULL
    assert list(group_of(log).pending_joins) == [pending]


def test_names_of_protocols_that_nobody_has_are_forgotten() -> None:
    """However many there have been."""
    log = log_with()
    member_id = leader(log)
    for number in range(50):
        protocols = [JoinGroupRequestProtocol(name, b"") for name in (f"p{number}", "p0")]
        log.run(
            GroupShard.join_group, JoinGroupRequest("group", 10_000, 60_000, member_id, None, "consumer", protocols), version=3
        )

    assert dict(group_of(log).supported_protocols) == {"p49": 1, "p0": 1}


def test_a_record_that_is_too_large_by_its_assignments_is_reported() -> None:
    """The members get Kafka's error."""
    log = log_with()
    log.is_holding = True
    first = join(log)
    log.advance(0)
    log.flush()
    reply = sync(log, first.response.member_id, first.response.generation_id)
    log.fail(ErrorCode.MESSAGE_TOO_LARGE)

    assert reply.response.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert log.reports == ["group-record-too-large"]


def test_the_members_of_all_groups_are_limited() -> None:
    """Clients retry; members that leave, and groups that are unloaded, make room."""
    log = log_with(members_max_bytes=1 << 16)
    memory = MemberMemory()
    log.shard = GroupShard(replace(log.context, member_memory=memory), log.registry)
    other = GroupShard(replace(log.context, member_memory=memory), log.registry)
    first = leader(log, size=1000, protocols=40)
    reply = FakeReply(3)
    request = JoinGroupRequest("else", 10_000, 60_000, "", None, "consumer", [JoinGroupRequestProtocol("p", bytes(30_000))])
    other.join_group(RequestContext("client", "host", 11, 3), request, reply)
    assert error_of(reply) is ErrorCode.COORDINATOR_NOT_AVAILABLE

    group_of(log).remove(first)
    reply = FakeReply(3)
    other.join_group(RequestContext("client", "host", 11, 3), request, reply)
    assert not reply.is_answered or error_of(reply) is OK
    assert 30_000 < memory.used_bytes < 33_000
    other.on_unloaded()
    assert memory.used_bytes == 0


def test_what_is_restored_counts_once() -> None:
    """However often its description is made of its record."""
    log = log_with()
    leader(log, size=1000)
    used = group_of(log).memory_bytes
    log.restart()
    memory = log.shard.groups.classic_context.member_memory
    for _ in range(3):
        log.shard.describe_group(log.committed_offset, "group")
        log.shard.groups.classic.restored("group")

    assert memory.used_bytes == used
