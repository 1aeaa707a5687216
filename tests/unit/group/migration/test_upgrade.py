"""A classic group becomes a consumer group when the first member of the consumer protocol joins it."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.group.consumer.member import MemberState
from coordinator_server.group.modern.reconciling_group import GroupState
from coordinator_server.group.shard import GroupShard
from protocol.codec import encode
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_records import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupTargetAssignmentMetadataValue,
)
from protocol.messages.consumer_protocol import ConsumerProtocolSubscription
from protocol.messages.group_records import GroupMetadataKey
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from tests.support.classic_members import NEWEST, ClassicMember, assignment, listed, subscription
from tests.support.heartbeats import Beats, Partitions, config_of

CONVERSION = [
    "-GroupMetadata",
    "MemberMetadata",
    "Metadata",
    "TargetAssignmentMember",
    "TargetAssignmentMetadata",
    "CurrentMemberAssignment",
]
JOINED = ["MemberMetadata", "Metadata", "TargetAssignmentMember", "TargetAssignmentMember", "TargetAssignmentMetadata"]


def stable(beats: Beats, *shares: Partitions, protocol: str = "range", **fields: Any) -> list[ClassicMember]:
    """A stable classic group, whose members got these shares."""
    members = [ClassicMember(beats, **fields) for _ in shares]
    for member in members:
        member.protocols = {protocol: NEWEST}
    together(beats, members)
    leader = members[0]
    leader.sync(*((member, assignment(share)) for member, share in zip(members, shares, strict=True)))
    for member in members[1:]:
        member.sync()
    beats.taken()
    return members


def together(beats: Beats, members: list[ClassicMember], metadata: bytes | None = None) -> None:
    """All join the same generation of a classic group; the first one leads it."""
    for number, member in enumerate(members):
        member.join(metadata)
        for other in members[:number]:
            other.ask_to_join(metadata)


def stranger(beats: Beats) -> ClassicMember:
    """A new member of a cooperative group."""
    member = ClassicMember(beats)
    member.protocols = {"cooperative-sticky": NEWEST}
    return member


def claiming(owned: Partitions, generation: int) -> bytes:
    """The subscription of a member that says what it owns since which generation."""
    message = ConsumerProtocolSubscription(["t"], None, listed(owned), generation)
    return NEWEST.to_bytes(2) + encode(message, NEWEST)


def group_id_not_found(beats: Beats, reason: str) -> None:
    refused = beats.member("m").join()
    assert refused.error is ErrorCode.GROUP_ID_NOT_FOUND
    assert refused.message == f"Cannot upgrade classic group g to consumer group because {reason}."


def test_a_stable_group_is_converted() -> None:
    """Its members keep what they have; the generation is everybody's epoch, and the join is the first change after it."""
    beats = Beats(t=4)
    [first] = stable(beats, {"t": [0, 1, 2, 3]})

    reply = beats.member("m").join()

    records = list(beats.records)
    assert beats.taken() == [*CONVERSION, *JOINED, "CurrentMemberAssignment"]
    assert (reply.response.member_epoch, beats.members["m"].assigned) == (2, {})
    converted = [record.value for record in records[:6]]
    assert ConsumerGroupMetadataValue(1, beats.group.metadata_hash) in converted
    assert ConsumerGroupTargetAssignmentMetadataValue(1, 0) in converted
    member = beats.group.members[first.member_id]
    assert (member.member_epoch, member.previous_member_epoch, member.state) == (1, 1, MemberState.STABLE)
    assert dict.fromkeys(range(4), 1) == next(iter(member.assigned.values()))
    assert beats.group.state_at() == GroupState.RECONCILING
    assert beats.log.shard.groups.type_of("g").name == "consumer"


def test_what_a_member_has_sent_is_kept() -> None:
    """All its protocols, its session timeout, its rack: a classic member is answered, and goes back, with these."""
    beats = Beats(t=1)
    member = ClassicMember(beats, session_timeout_ms=7000, rebalance_timeout_ms=9000)
    metadata = subscription("u", "t", "u", rack_id="r")
    member.protocols = {"range": 3, "cooperative-sticky": 3}
    member.join(metadata)
    member.sync((member, assignment({"t": [0]})))

    beats.member("m").join()

    found = beats.group.members[member.member_id].metadata
    protocols = [ClassicProtocol("range", metadata), ClassicProtocol("cooperative-sticky", metadata)]
    assert found.classic_member_metadata == ClassicMemberMetadata(7000, protocols)
    assert (found.subscribed_topic_names, found.subscribed_topic_regex, found.server_assignor) == (["t", "u"], "", None)
    assert (found.rack_id, found.instance_id, found.rebalance_timeout_ms) == ("r", None, 9000)
    assert (found.client_id, found.client_host) == ("client", "/127.0.0.1")


def test_a_replay_comes_to_the_same_group() -> None:
    """After a restart too; offsets stay."""
    beats = Beats(t=4)
    [first] = stable(beats, {"t": [0, 1, 2, 3]})
    topic = OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(1, 42)])
    beats.log.run(GroupShard.commit_offsets, OffsetCommitRequest("g", 1, first.member_id, topics=[topic]), version=9)
    beats.member("m").join()
    before = beats.log.shard.digest(beats.log.end_offset, 10_000)

    beats.log.restart()

    assert beats.log.shard.digest(beats.log.end_offset, 10_000) == before
    assert list(beats.group.members) == [first.member_id, "m"]
    assert beats.log.hard_state()["g"][1]


def test_waiting_members_join_again_in_the_consumer_group() -> None:
    """A group in its join phase: who waits gets REBALANCE_IN_PROGRESS, and its join then is one of the consumer group."""
    beats = Beats(t=4)
    first, second = stable(beats, {"t": [0, 1]}, {"t": [2, 3]})
    waiting = second.ask_to_join(subscription("t", "u"))
    assert not waiting.is_answered

    beats.member("m").join()

    assert (waiting.response.error_code, waiting.response.member_id) == (ErrorCode.REBALANCE_IN_PROGRESS, second.member_id)
    assert second.join().response.error_code == ErrorCode.NONE
    assert first.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS


def test_members_that_wait_for_their_assignment_do_too() -> None:
    """A group in its sync phase: nobody has an assignment."""
    beats = Beats(t=4)
    members = [ClassicMember(beats), ClassicMember(beats)]
    together(beats, members)
    waiting = members[1].sync()
    assert not waiting.is_answered

    beats.member("m").join()

    assert waiting.response.error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert all(not beats.group.members[member.member_id].assigned for member in members)


def test_a_group_without_a_generation_is_not_converted() -> None:
    """As in Kafka, which does not expect it. Its members are not disturbed."""
    beats = Beats(config_of(group_initial_rebalance_delay_ms="3000"), t=1)
    member = ClassicMember(beats)
    waiting = member.join()

    refused = beats.member("m").join()

    assert refused.error is ErrorCode.UNKNOWN_SERVER_ERROR
    assert not waiting.is_answered
    beats.log.advance(3000)
    assert waiting.response.error_code == ErrorCode.NONE


def test_an_empty_classic_group_is_replaced() -> None:
    """Whatever the policy: its tombstone comes first, and the group begins anew."""
    beats = Beats(config_of(group_consumer_migration_policy="disabled"), t=1)
    [member] = stable(beats, {"t": [0]})
    member.leave()
    beats.taken()

    assert beats.member("m").join().response.member_epoch == 2
    assert beats.taken()[:2] == ["-GroupMetadata", "MemberMetadata"]


@pytest.mark.parametrize("policy", ["disabled", "downgrade"])
def test_the_policy_may_forbid_it(policy: str) -> None:
    beats = Beats(config_of(group_consumer_migration_policy=policy), t=1)
    [member] = stable(beats, {"t": [0]})

    group_id_not_found(beats, "online upgrade is disabled")
    assert (beats.taken(), member.heartbeat()) == ([], ErrorCode.NONE)


def test_only_consumers_are_converted() -> None:
    beats = Beats(t=1)
    connect = ClassicMember(beats, protocol_type="connect")
    connect.join()
    connect.sync((connect, b"x"), protocol_type="connect")

    group_id_not_found(beats, "the group does not use the consumer embedded protocol")


def test_a_large_group_is_not_converted() -> None:
    beats = Beats(config_of(group_consumer_max_size="1"), t=2)
    stable(beats, {"t": [0]}, {"t": [1]})

    group_id_not_found(beats, "the group size exceeds the consumer group maximum size")


def test_a_group_whose_records_would_not_fit_into_a_batch_is_not_converted() -> None:
    """That is known before they are made. Its members are not disturbed."""
    beats = Beats(config_of(message_max_bytes="2000"), t=1)
    members = [ClassicMember(beats) for _ in range(2)]
    for member in members:
        member.protocols = {"range": 3, "sticky": 3, "roundrobin": 3}
    together(beats, members, subscription("t", *(f"topic-{number:030}" for number in range(10))))
    waiting = members[1].sync()

    refused = beats.member("m").join()

    assert refused.error is ErrorCode.UNKNOWN_SERVER_ERROR
    assert refused.message == "Cannot upgrade classic group g: its records would be larger than message.max.bytes."
    assert not waiting.is_answered


def test_a_heartbeat_of_an_epoch_converts_nothing() -> None:
    """Only a join does."""
    beats = Beats(t=1)
    stable(beats, {"t": [0]})

    refused = beats.member("m").beat(epoch=3)

    assert (refused.error, refused.message) == (ErrorCode.GROUP_ID_NOT_FOUND, "Group g is not a consumer group.")


MALFORMED = "the embedded consumer protocol is malformed"


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"m", ErrorCode.GROUP_ID_NOT_FOUND),
        (b"\xff\xff", ErrorCode.GROUP_ID_NOT_FOUND),
        (b"\x00\x00\x00", ErrorCode.GROUP_ID_NOT_FOUND),
        (b"\x00\x00\x00\x00\x00\x09", ErrorCode.UNKNOWN_SERVER_ERROR),
        (b"assign", ErrorCode.UNKNOWN_SERVER_ERROR),
        (b"\x00\x00\x00\x00\x00\x01\xff\xff", ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
@pytest.mark.parametrize("what", ["subscription", "assignment"])
def test_bytes_that_cannot_be_read_prevent_it(what: str, data: bytes, error: ErrorCode) -> None:
    """Bytes that end early in a number, 69; a length that cannot be, Kafka's unexpected error. The group stays as it is."""
    beats = Beats(t=1)
    member = ClassicMember(beats)
    member.join(data if what == "subscription" else None)
    leader_sync = member.sync((member, data if what == "assignment" else assignment({"t": [0]})))
    assert leader_sync.response.assignment
    beats.taken()

    refused = beats.member("m").join()

    assert refused.error is error
    assert refused.message == (
        f"Cannot upgrade classic group g to consumer group because {MALFORMED}."
        if error is ErrorCode.GROUP_ID_NOT_FOUND
        else None
    )
    assert (beats.taken(), member.heartbeat()) == ([], ErrorCode.NONE)


def test_user_data_of_an_assignor_prevents_it() -> None:
    """It would be lost. Empty data is none."""
    beats = Beats(t=1)
    member = ClassicMember(beats)
    member.join()
    member.sync((member, assignment({"t": [0]}, user_data=b"x")))
    group_id_not_found(
        beats,
        "an unsupported custom assignor is in use. Please refer to the documentation or switch to a default assignor before "
        "re-attempting the upgrade",
    )

    member.join()
    member.sync((member, assignment({"t": [0]}, user_data=b"")))
    assert beats.member("m").join().error is None


def test_a_partition_of_two_members_prevents_it() -> None:
    """A partition has one owner. Kafka does not expect it either."""
    beats = Beats(t=2)
    stable(beats, {"t": [0, 1]}, {"t": [1]})

    assert beats.member("m").join().error is ErrorCode.UNKNOWN_SERVER_ERROR


def test_unknown_topics_of_an_assignment_are_left_out() -> None:
    beats = Beats(t=2)
    [member] = stable(beats, {"gone": [5], "t": [1]})

    beats.member("m").join()

    assert list(beats.group.members[member.member_id].assigned.values()) == [{1: 1}]


def test_a_new_version_of_a_subscription_is_read_as_the_newest_known() -> None:
    beats = Beats(t=1)
    member = ClassicMember(beats)
    member.join(b"\x00\x09" + subscription("t")[2:] + b"more")
    member.sync((member, assignment({"t": [0]})))

    assert beats.member("m").join().error is None
    assert beats.group.members[member.member_id].metadata.subscribed_topic_names == ["t"]


def test_a_conversion_that_is_not_written_leaves_the_classic_group() -> None:
    """As its last record has it: its members go on, and their sessions run."""
    beats = Beats(t=1)
    [member] = stable(beats, {"t": [0]})
    beats.log.is_holding = True
    failing = beats.member("m").join()
    beats.log.fail(ErrorCode.NOT_COORDINATOR)
    beats.log.is_holding = False

    assert failing.error is ErrorCode.NOT_COORDINATOR
    assert beats.log.shard.groups.type_of("g").name == "classic"
    assert not beats.log.shard.groups.consumer_context.sessions.get("g", {}).keys() - {"m"}
    assert member.heartbeat() is ErrorCode.NONE
    beats.log.advance(10_000)
    assert member.heartbeat() is ErrorCode.UNKNOWN_MEMBER_ID


def test_old_timers_of_the_classic_group_are_gone() -> None:
    """A classic member's session runs in the consumer group, with its own timeout."""
    beats = Beats(t=1)
    [member] = stable(beats, {"t": [0]})
    beats.member("m").join()
    beats.taken()

    beats.log.advance(9_999)
    assert beats.taken() == []
    beats.log.advance(1)
    assert beats.taken() == ["-CurrentMemberAssignment", "-TargetAssignmentMember", "-MemberMetadata", "Metadata"]
    request = HeartbeatRequest("g", 1, member.member_id)
    assert beats.log.run(GroupShard.heartbeat, request, version=4).error is ErrorCode.UNKNOWN_MEMBER_ID


def test_the_join_of_a_static_member_replaces_it_at_once() -> None:
    """A consumer that restarts into the new protocol takes the place of its old self, with its partitions and its target."""
    beats = Beats(t=2)
    [old] = stable(beats, {"t": [0, 1]}, instance_id="i")

    reply = beats.member("m", instance_id="i").join()

    assert reply.error is None
    assert list(beats.group.members) == ["m"]
    assert beats.members["m"].assigned == {"t": [0, 1]}
    assert beats.group.classic_members.value == 0
    assert old.heartbeat() is ErrorCode.FENCED_INSTANCE_ID


def test_partitions_that_the_leader_did_not_know_get_an_owner() -> None:
    """Also if the member that joins changes nothing: the group's hash is that of the present topics, so nobody would notice."""
    beats = Beats(t=2)
    stable(beats, {"t": [0]}, instance_id="i")

    assert beats.member("m", instance_id="i").join().response.member_epoch == 2

    assert beats.members["m"].assigned == {"t": [0, 1]}


def test_partitions_that_are_not_known_here_stay_with_their_member() -> None:
    """The leader has learned of them from elsewhere. They are in no target, and nobody else's before the member gives them up."""
    beats = Beats(t=2, u=1)
    [classic] = stable(beats, {"t": [0, 1, 2, 3]})

    assert beats.member("m").join(subscribed_topic_names=["t", "u"]).error is None

    member = beats.group.members[classic.member_id]
    assert [list(each) for each in member.assigned.values()] == [[0, 1, 2, 3]]
    assert [list(each) for each in beats.group.target(classic.member_id).values()] <= [[0, 1]]
    assert classic.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS


def test_a_rebalance_that_was_in_progress_is_done() -> None:
    """Also if the member that joins changes nothing: who has joined the classic group meanwhile gets its share."""
    beats = Beats(t=4)
    stable(beats, {"t": [0, 1, 2, 3]}, instance_id="i")
    newcomer = ClassicMember(beats)
    waiting = newcomer.join()
    assert not waiting.is_answered

    assert beats.member("m", instance_id="i").join().response.member_epoch == 2
    for _ in range(4):
        if newcomer.generation < 0:
            newcomer.join()
            newcomer.sync()
        beats.members["m"].beat(owned=True)
        newcomer.follow()

    assert (len(newcomer.assigned["t"]), len(beats.members["m"].assigned["t"])) == (2, 2)


def test_a_cooperative_member_keeps_its_partitions_over_an_upgrade_until_it_joins() -> None:
    """A cooperative one whose answer may not have come. The partition is nobody else's before it has joined again."""
    beats = Beats(t=2)
    first, second = stable(beats, {"t": [0, 1]}, {}, protocol="cooperative-sticky")
    first.ask_to_join()
    second.ask_to_join()
    first.sync((first, assignment({"t": [0]})), (second, assignment({})))

    native = beats.member("m")
    native.join()

    has = {member_id: [list(each) for each in member.assigned.values()] for member_id, member in beats.group.members.items()}
    assert has[first.member_id] == [[0, 1]]
    assert (native.assigned, native.beat().response.assignment) == ({}, None)
    assert first.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS


def test_a_failed_sync_takes_nothing_away() -> None:
    """The assignments of all members are empty then, and cooperative members go on with what they have."""
    beats = Beats(t=2)
    first, second = stable(beats, {"t": [0]}, {"t": [1]}, protocol="cooperative-sticky")
    first.ask_to_join()
    second.ask_to_join()
    stranger(beats).join()

    native = beats.member("m")
    native.join()

    assert native.assigned == {}
    owned = [partition for member in beats.group.members.values() for each in member.assigned.values() for partition in each]
    assert sorted(owned) == [0, 1]


def test_a_partition_that_two_members_claim_belongs_to_the_later_one() -> None:
    beats = Beats(t=2)
    first, second = stable(beats, {"t": [0]}, {"t": [1]}, protocol="cooperative-sticky")
    first.ask_to_join(claiming({"t": [0, 1]}, generation=1))
    second.ask_to_join(claiming({"t": [1]}, generation=2))
    stranger(beats).join()

    beats.member("m").join()

    has = {member_id: [list(each) for each in member.assigned.values()] for member_id, member in beats.group.members.items()}
    assert (has[first.member_id], has[second.member_id]) == ([[0]], [[1]])


def test_members_are_written_in_the_order_of_kafkas_tables() -> None:
    """Compared with the order that TimelineHashMap has, which is not that of the joins."""
    beats = Beats(t=6)
    members = stable(beats, *({"t": [number]} for number in range(6)))
    beats.member("m").join()

    written = [record.key.member_id for record in beats.records if isinstance(record.key, ConsumerGroupMemberMetadataKey)]

    assert sorted(written[:-1]) == sorted(member.member_id for member in members)
    assert isinstance(beats.records[0].key, GroupMetadataKey)
