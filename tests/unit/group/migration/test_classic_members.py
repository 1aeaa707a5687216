"""Members of the classic protocol in a consumer group: JoinGroup, SyncGroup, Heartbeat, LeaveGroup and commits."""

from __future__ import annotations

import pytest

from coordinator_server.group.consumer.member import MemberState
from coordinator_server.group.modern.limits import MAX_TOPICS
from coordinator_server.group.shard import GroupShard
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_records import ConsumerGroupMemberMetadataKey
from protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from tests.support.classic_members import ClassicMember, leave_together, subscription
from tests.support.heartbeats import Beats, Partitions, config_of

REMOVED = ["-CurrentMemberAssignment", "-TargetAssignmentMember", "-MemberMetadata"]


def native(beats: Beats, name: str = "m") -> None:
    """A member of the consumer protocol, with all partitions that are free."""
    assert beats.member(name).join().error is None
    beats.taken()


def mixed(beats: Beats, **fields: object) -> ClassicMember:
    """A classic member of a group with a native member."""
    native(beats)
    member = ClassicMember(beats, **fields)  # type: ignore[arg-type]
    assert member.join().response.error_code == ErrorCode.NONE
    return member


def settle(beats: Beats, *members: ClassicMember) -> list[Partitions]:
    """All members do what clients do until nothing changes; what the classic ones then have."""
    for _ in range(20):
        beats.records.clear()
        for name in beats.members.values():
            if name.epoch >= 0:
                name.beat(owned=True)
        moved = [member.follow() for member in members]
        if not beats.records and not any(moved):
            return [member.assigned for member in members]
    raise AssertionError("not settled")


def error_of(reply: object) -> ErrorCode:
    error = getattr(reply, "error", None)
    return error if error is not None else ErrorCode(getattr(reply, "response").error_code)  # noqa: B009


# --- JoinGroup


def test_a_dynamic_member_gets_an_id_first() -> None:
    """It is not kept: nothing is written, and no timer runs."""
    beats = Beats(t=2)
    native(beats)
    timers = beats.log.timer.keys

    answer = ClassicMember(beats).ask_to_join().response

    assert (answer.error_code, bool(answer.member_id)) == (ErrorCode.MEMBER_ID_REQUIRED, True)
    assert (beats.taken(), beats.log.timer.keys) == ([], timers)


def test_an_unknown_id_is_accepted() -> None:
    """As in Kafka: the coordinator of a consumer group keeps no list of the ids that it gave."""
    beats = Beats(t=2)
    native(beats)
    member = ClassicMember(beats)
    member.member_id = "of somebody else"

    answer = member.join().response

    assert (answer.error_code, answer.member_id, answer.leader) == (ErrorCode.NONE, "of somebody else", "")
    assert (answer.generation_id, answer.protocol_type, answer.protocol_name) == (3, "consumer", "range")
    assert answer.members == []


def test_a_join_is_a_change_of_the_group() -> None:
    """Its records are those of a heartbeat that joins."""
    beats = Beats(t=2)
    native(beats)
    member = ClassicMember(beats)
    member.version = 3

    answer = member.join().response

    assert (answer.error_code, answer.generation_id) == (ErrorCode.NONE, 3)
    written = ["MemberMetadata", "Metadata", "TargetAssignmentMember", "TargetAssignmentMember", "TargetAssignmentMetadata"]
    assert beats.taken() == [*written, "CurrentMemberAssignment"]


def test_the_subscription_is_read() -> None:
    beats = Beats(t=1, u=1)
    native(beats)
    member = ClassicMember(beats, session_timeout_ms=7000, rebalance_timeout_ms=8000)
    member.join(subscription("u", "t", rack_id="r"))

    found = beats.group.members[member.member_id].metadata

    assert (found.subscribed_topic_names, found.subscribed_topic_regex, found.rack_id) == (["t", "u"], "", "r")
    assert (found.rebalance_timeout_ms, found.client_id, found.client_host) == (8000, "client", "/127.0.0.1")
    assert found.classic_member_metadata is not None
    assert found.classic_member_metadata.session_timeout_ms == 7000


@pytest.mark.parametrize("metadata", [b"m", b"assign"])
def test_an_unreadable_subscription_is_refused(metadata: bytes) -> None:
    """With the error of what nobody expects, as in Kafka 4.3.1."""
    beats = Beats(t=1)
    native(beats)

    assert error_of(ClassicMember(beats).join(metadata)) is ErrorCode.UNKNOWN_SERVER_ERROR
    assert beats.taken() == []


def test_a_member_may_name_so_many_topics() -> None:
    """As a member of the consumer protocol."""
    beats = Beats(t=1)
    native(beats)

    assert error_of(ClassicMember(beats).join(subscription(*map(str, range(MAX_TOPICS + 1))))) is ErrorCode.INVALID_REQUEST
    assert error_of(ClassicMember(beats).join(subscription(*map(str, range(MAX_TOPICS))))) is ErrorCode.NONE


def test_a_member_needs_a_protocol_of_all_classic_members() -> None:
    """Members of the consumer protocol do not count."""
    beats = Beats(t=3)
    native(beats)
    other = ClassicMember(beats)
    other.protocols = {"sticky": 3}
    for protocols, error in (
        ({}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"range": 3, "roundrobin": 3}, ErrorCode.NONE),
    ):
        member = ClassicMember(beats)
        member.protocols = protocols
        assert error_of(member.join()) is error

    assert error_of(other.join()) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert error_of(ClassicMember(beats, protocol_type="connect").join()) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_the_policy_disabled_lets_no_classic_member_in() -> None:
    """With or without an id, static or not; any other policy does."""
    beats = Beats(config_of(group_consumer_migration_policy="disabled"), t=1)
    native(beats)
    known = ClassicMember(beats)
    known.member_id = "known"

    for member in (ClassicMember(beats), ClassicMember(beats, instance_id="i"), known):
        assert error_of(member.join()) is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    for policy in ("upgrade", "downgrade"):
        assert mixed(Beats(config_of(group_consumer_migration_policy=policy), t=1)).generation == 3


def test_a_session_timeout_out_of_bounds_is_refused_first() -> None:
    beats = Beats(t=1)
    native(beats)

    assert error_of(ClassicMember(beats, session_timeout_ms=1).join()) is ErrorCode.INVALID_SESSION_TIMEOUT


def test_a_full_group_refuses_new_members() -> None:
    """Those too that would replace a static member, as in Kafka 4.3.1."""
    beats = Beats(config_of(group_consumer_max_size="2"), t=2)
    static = mixed(beats, instance_id="i")

    for member in (ClassicMember(beats), ClassicMember(beats, instance_id="j"), ClassicMember(beats, instance_id="i")):
        assert error_of(member.join()) is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert error_of(static.join()) is ErrorCode.NONE


def test_a_static_member_takes_the_place_of_its_predecessor() -> None:
    """With its partitions and its target, and without a new epoch if it subscribes to the same topics."""
    beats = Beats(t=4)
    static = mixed(beats, instance_id="i")
    [before] = settle(beats, static)
    epoch = beats.group.group_epoch
    beats.taken()
    again = ClassicMember(beats, instance_id="i")

    answer = again.join().response

    written = ["MemberMetadata", "TargetAssignmentMember", "CurrentMemberAssignment"]
    # The new member is written again when it has moved to the epoch of the group.
    assert beats.taken() == [*REMOVED, *written, "CurrentMemberAssignment"]
    assert (answer.error_code, answer.generation_id, beats.group.group_epoch) == (ErrorCode.NONE, epoch, epoch)
    again.sync()
    assert again.assigned == before
    assert static.member_id not in beats.group.members


def test_a_static_member_of_the_other_protocol_is_replaced() -> None:
    """A consumer that restarts into the old protocol does not wait until its old self has left."""
    beats = Beats(t=4)
    native(beats)
    assert beats.member("s", instance_id="i").join().error is None

    answer = ClassicMember(beats, instance_id="i").join().response

    assert answer.error_code == ErrorCode.NONE
    assert list(beats.group.members) == ["m", answer.member_id]
    assert beats.members["s"].beat().error is ErrorCode.FENCED_INSTANCE_ID


def test_a_static_member_with_an_id_must_be_known() -> None:
    beats = Beats(t=2)
    mixed(beats, instance_id="i")
    unknown, other = ClassicMember(beats, instance_id="j"), ClassicMember(beats, instance_id="i")
    unknown.member_id = other.member_id = "x"

    assert error_of(unknown.join()) is ErrorCode.UNKNOWN_MEMBER_ID
    assert error_of(other.join()) is ErrorCode.FENCED_INSTANCE_ID


def test_a_member_with_a_pattern_becomes_one_with_names() -> None:
    """Nobody has the expression then. It counts as a new subscription, although the topics are the same."""
    beats = Beats(t=2)
    beats.member("s", instance_id="i", subscribed_topic_names=[], subscribed_topic_regex="t.*").join()
    beats.log.advance(1)
    native(beats)
    epoch = beats.group.group_epoch

    ClassicMember(beats, instance_id="i").join()

    assert "-RegularExpression" in beats.taken()
    assert beats.group.group_epoch == epoch + 1


def test_a_join_that_is_not_written_leaves_nothing() -> None:
    beats = Beats(t=1)
    native(beats)
    timers = beats.log.timer.keys
    member = ClassicMember(beats)
    member.ask_to_join()
    beats.log.is_holding = True
    member.member_id = "x"
    reply = member.ask_to_join()
    beats.log.fail(ErrorCode.NOT_COORDINATOR)

    assert reply.error is ErrorCode.NOT_COORDINATOR
    assert list(beats.group.members) == ["m"]
    assert beats.log.timer.keys == timers


# --- reconciliation


def test_an_eager_member_gives_everything_up_with_its_join() -> None:
    """It owns nothing when it joins, so that its partitions are free at once; nobody has a partition that another one has."""
    beats = Beats(t=6)
    member = mixed(beats)
    member.sync()
    assert member.assigned == {}
    beats.members["m"].beat(owned=True)
    assert member.heartbeat() is ErrorCode.NONE
    beats.members["m"].beat(owned={"t": beats.members["m"].assigned["t"]})

    [share] = settle(beats, member)

    assert sorted(share["t"] + beats.members["m"].assigned["t"]) == list(range(6))
    assert len(share["t"]) == 3


def test_a_cooperative_member_revokes_first() -> None:
    """Told to join, it keeps its partitions; its join says what it owns; it is told again until it has given up the rest."""
    beats = Beats(t=6)
    native(beats, "m")
    member = ClassicMember(beats)
    member.join()
    [share] = settle(beats, member)
    beats.member("n").join()
    assert member.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS

    assert member.join().response.error_code == ErrorCode.NONE
    found = beats.group.members[member.member_id]
    assert found.state is MemberState.UNREVOKED_PARTITIONS
    assert found.member_epoch == member.generation < beats.group.assignment_epoch
    member.sync()
    assert len(member.assigned["t"]) == 2 < len(share["t"])
    assert member.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS
    assert member.join().response.generation_id == beats.group.assignment_epoch
    settle(beats, member)
    assert [len(each) for each in (member.assigned["t"], beats.members["m"].assigned["t"], beats.members["n"].assigned["t"])] == [
        2,
        2,
        2,
    ]


def test_a_member_is_not_told_to_join_for_partitions_that_are_not_free() -> None:
    """It is told when all of them are."""
    beats = Beats(t=2)
    member = mixed(beats)
    member.sync()

    assert member.heartbeat() is ErrorCode.NONE
    beats.members["m"].beat(owned=True)
    assert member.heartbeat() is ErrorCode.NONE
    beats.members["m"].beat(owned=True)
    assert beats.group.members[member.member_id].state is MemberState.UNRELEASED_PARTITIONS
    assert member.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS


# --- SyncGroup


@pytest.mark.parametrize("version", range(4))
def test_the_assignment_has_the_version_of_the_subscription(version: int) -> None:
    beats = Beats(t=1)
    native(beats)
    member = ClassicMember(beats)
    member.protocols = {"range": version}
    member.join()
    member.sync()

    assert int.from_bytes(member.assignment[:2]) == version


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, ErrorCode.NONE),
        ({"protocol_name": "sticky"}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": "connect"}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": None}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_name": None}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_the_protocol_of_a_sync_is_checked(fields: dict[str, str | None], error: ErrorCode) -> None:
    assert error_of(mixed(Beats(t=1)).sync(**fields)) is error


def test_requests_of_the_wrong_member_are_refused() -> None:
    """By sync and heartbeat alike: unknown, native, fenced, of another generation."""
    beats = Beats(t=2)
    member = mixed(beats)
    static = ClassicMember(beats, instance_id="i")
    static.join()
    good = static.generation

    for member_id, instance_id, generation, error in (
        ("x", None, good, ErrorCode.UNKNOWN_MEMBER_ID),
        ("m", None, good, ErrorCode.UNKNOWN_MEMBER_ID),
        ("x", "i", good, ErrorCode.FENCED_INSTANCE_ID),
        (static.member_id, "j", good, ErrorCode.UNKNOWN_MEMBER_ID),
        (static.member_id, "i", good + 1, ErrorCode.ILLEGAL_GENERATION),
        (static.member_id, "i", good - 1, ErrorCode.ILLEGAL_GENERATION),
    ):
        member.member_id, member.instance_id, member.generation = member_id, instance_id, generation
        assert (error_of(member.sync()), member.heartbeat()) == (error, error)


def test_a_sync_behind_the_target_is_refused() -> None:
    """The member must join again for the new target; it has its rebalance timeout for that."""
    beats = Beats(t=2)
    member = mixed(beats)
    beats.member("n").join()

    assert error_of(member.sync()) is ErrorCode.REBALANCE_IN_PROGRESS
    assert beats.log.timer.due_in(("consumer-join", "g", member.member_id)) == 20_000


def test_during_the_assignment_interval_nobody_is_told_to_join() -> None:
    """The group has a new epoch, and no target for it yet."""
    beats = Beats(config_of(group_consumer_assignment_interval_ms="5000"), t=2)
    native(beats)
    beats.log.advance(5000)
    member = ClassicMember(beats)
    member.join()
    beats.member("n").join()

    assert beats.group.group_epoch > beats.group.assignment_epoch
    assert error_of(member.sync()) is ErrorCode.NONE
    assert member.heartbeat() is ErrorCode.NONE
    beats.log.advance(5000)
    beats.members["n"].beat()
    assert member.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS


def test_without_native_members_a_classic_one_is_told_when_a_target_is_due() -> None:
    """Their heartbeats would compute it. Here somebody has left, and then a topic has grown."""
    config = config_of(group_consumer_migration_policy="upgrade", group_consumer_assignment_interval_ms="1000")
    beats = Beats(config, t=4)
    native(beats)
    first, second = ClassicMember(beats), ClassicMember(beats)
    for member in (first, second):
        member.join()
        beats.log.advance(1000)
    beats.members.pop("m").leave()
    settle(beats, first, second)

    second.leave()
    assert first.heartbeat() is ErrorCode.NONE
    beats.log.advance(1000)
    assert (first.follow(), first.assigned) == (True, {"t": [0, 1, 2, 3]})
    beats.log.topics.extend("t", 5)
    beats.log.advance(1000)
    assert (first.follow(), first.assigned) == (True, {"t": [0, 1, 2, 3, 4]})
    assert first.heartbeat() is ErrorCode.NONE


def test_nobody_is_told_while_a_child_computes_the_target() -> None:
    """It would join again and again."""
    config = config_of(group_consumer_migration_policy="upgrade", group_consumer_assignment_inline_max_size="0")
    beats = Beats(config, t=4)
    native(beats)
    member = ClassicMember(beats)
    member.join()
    beats.log.finish_tasks()
    beats.members.pop("m").leave()

    assert member.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS
    member.join()
    assert member.heartbeat() is ErrorCode.NONE
    beats.log.advance(0)
    beats.log.finish_tasks()
    assert (member.follow(), member.assigned) == (True, {"t": [0, 1, 2, 3]})


# --- timers


def test_the_session_is_the_members_own() -> None:
    """Heartbeats, syncs and joins refresh it."""
    beats = Beats(t=1)
    member = mixed(beats, session_timeout_ms=7000)
    member.sync()
    beats.log.advance(6999)
    assert member.heartbeat() is ErrorCode.NONE
    beats.log.advance(6999)
    member.sync()
    beats.log.advance(6999)
    member.join()
    beats.taken()

    beats.log.advance(6999)
    assert beats.taken() == []
    beats.log.advance(1)
    assert beats.taken() == [*REMOVED, "Metadata"]


def test_a_member_that_does_not_sync_is_removed() -> None:
    """After its rebalance timeout, although it sends heartbeats. A sync ends the time."""
    beats = Beats(t=1)
    member, other = mixed(beats, rebalance_timeout_ms=5000), ClassicMember(beats, rebalance_timeout_ms=5000)
    other.join()
    other.sync()

    beats.log.advance(4999)
    member.heartbeat()
    assert member.member_id in beats.group.members
    beats.log.advance(1)

    assert list(beats.group.members) == ["m", other.member_id]


def test_a_member_that_does_not_join_is_removed() -> None:
    """The time begins when it is told for the first time."""
    beats = Beats(t=2)
    member = mixed(beats, rebalance_timeout_ms=5000)
    member.sync()
    beats.member("n").join()
    assert member.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS
    beats.log.advance(4999)
    assert member.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS

    beats.log.advance(1)

    assert member.heartbeat() is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_join_cancels_the_rebalance_timeout_of_a_classic_member() -> None:
    beats = Beats(t=2)
    member = mixed(beats, rebalance_timeout_ms=5000)
    member.sync()
    beats.member("n").join()
    member.heartbeat()
    beats.log.advance(4999)
    member.join()
    member.sync()

    beats.log.advance(4999)

    assert member.heartbeat() in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)


def test_no_timer_of_a_member_that_left_is_kept() -> None:
    beats = Beats(t=2)
    native(beats)
    timers = beats.log.timer.keys
    member = ClassicMember(beats)
    member.join()
    beats.member("n").join()
    member.heartbeat()

    assert member.leave() is ErrorCode.NONE

    assert {key for key in beats.log.timer.keys - timers if member.member_id in key} == set()  # type: ignore[operator]


# --- LeaveGroup


def test_any_member_may_be_removed() -> None:
    """Native members, too, by their ids, and static ones by their instance id alone. Each has its own answer; one epoch for all."""
    beats = Beats(t=3)
    member = mixed(beats)
    static = ClassicMember(beats, instance_id="i")
    static.join()
    native(beats, "n")
    epoch = beats.group.group_epoch

    errors = leave_together(
        beats,
        MemberIdentity("m"),
        MemberIdentity("", "i"),
        MemberIdentity("x", "i"),
        MemberIdentity("x"),
        MemberIdentity("", "j"),
        MemberIdentity("m"),
    )

    fenced, unknown = ErrorCode.FENCED_INSTANCE_ID, ErrorCode.UNKNOWN_MEMBER_ID
    assert errors == [ErrorCode.NONE, ErrorCode.NONE, fenced, unknown, unknown, ErrorCode.NONE]
    assert list(beats.group.members) == [member.member_id, "n"]
    assert beats.group.group_epoch == epoch + 1


def test_a_leave_without_members_writes_nothing() -> None:
    beats = Beats(t=1)
    native(beats)

    assert leave_together(beats, MemberIdentity("x")) == [ErrorCode.UNKNOWN_MEMBER_ID]
    assert beats.taken() == []


def test_old_versions_have_one_member() -> None:
    beats = Beats(t=1)
    member = mixed(beats)

    assert member.leave() is ErrorCode.NONE
    assert member.leave() is ErrorCode.UNKNOWN_MEMBER_ID
    assert beats.log.run(GroupShard.leave_group, LeaveGroupRequest("g", "m"), version=0).response.error_code == ErrorCode.NONE


# --- from one protocol to the other


def test_a_member_goes_on_in_the_other_protocol() -> None:
    """A static member that restarts into each protocol keeps its partitions, and the group its epoch."""
    beats = Beats(t=2)
    native(beats)
    member = ClassicMember(beats, instance_id="i")
    member.join()
    settle(beats, member)
    epoch = beats.group.group_epoch
    share = dict(beats.group.members[member.member_id].assigned)

    beats.member("s", instance_id="i").join()

    assert beats.group.classic_members.value == 0
    assert {topic: list(numbers) for topic, numbers in beats.group.members["s"].assigned.items()} == {
        topic: list(numbers) for topic, numbers in share.items()
    }
    assert beats.group.group_epoch == epoch


def test_after_a_restart_members_go_on() -> None:
    """The log has all that their requests need."""
    beats = Beats(t=4)
    member = mixed(beats)
    [share] = settle(beats, member)

    beats.log.restart()

    assert member.heartbeat() is ErrorCode.NONE
    member.sync()
    assert member.assigned == share


def test_a_classic_member_commits_with_its_generation() -> None:
    beats = Beats(t=1)
    member = mixed(beats)
    topic = OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 42)])

    def commit(generation: int) -> ErrorCode:
        request = OffsetCommitRequest("g", generation, member.member_id, topics=[topic])
        return error_of_commit(beats.log.run(GroupShard.commit_offsets, request, version=2))

    def error_of_commit(reply: object) -> ErrorCode:
        error = getattr(reply, "error", None)
        return error if error is not None else ErrorCode.NONE

    assert commit(member.generation) is ErrorCode.NONE
    assert commit(member.generation + 1) is ErrorCode.ILLEGAL_GENERATION


def test_its_record_has_the_member_as_it_joined() -> None:
    """Written again only when something changes."""
    beats = Beats(t=1)
    member = mixed(beats)
    member.sync()
    beats.taken()

    member.join()
    assert beats.taken() == []
    member.protocols = {"range": 3, "sticky": 3}
    member.join()

    assert [type(record.key) for record in beats.records] == [ConsumerGroupMemberMetadataKey]
