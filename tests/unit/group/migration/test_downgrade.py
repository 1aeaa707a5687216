"""A consumer group becomes a classic group again when its last member of the consumer protocol is gone."""

from __future__ import annotations

from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.shard import GroupShard
from protocol.error_codes import ErrorCode
from protocol.messages.group_records import GroupMetadataValue
from protocol.messages.leave_group import MemberIdentity
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from tests.support.classic_members import ClassicMember, assigned, assignment, leave_together
from tests.support.heartbeats import Beats, Partitions, config_of

TOMBSTONES_OF_TWO = [
    "-CurrentMemberAssignment",
    "-CurrentMemberAssignment",
    "-TargetAssignmentMember",
    "-TargetAssignmentMember",
    "-TargetAssignmentMetadata",
    "-MemberMetadata",
    "-MemberMetadata",
    "-PartitionMetadata",
    "-Metadata",
]
REPLACED = ["-CurrentMemberAssignment", "-TargetAssignmentMember", "-MemberMetadata"]
REPLACING = ["MemberMetadata", "TargetAssignmentMember", "CurrentMemberAssignment"]


def mixed(beats: Beats, *members: ClassicMember, name: str = "m", **fields: str) -> None:
    """A consumer group of a native member and these classic ones, in which each has its share."""
    assert beats.member(name, **fields).join().error is None
    for member in members:
        assert member.join().response.error_code == ErrorCode.NONE
        member.sync()
    for _ in range(10):
        beats.members[name].beat(owned=True)
        for member in members:
            member.follow()
    beats.taken()


def classic(beats: Beats) -> ClassicGroup:
    group = beats.log.shard.groups.classic.find("g")
    assert group is not None
    return group


def written(beats: Beats) -> GroupMetadataValue:
    value = beats.records[-1].value
    assert isinstance(value, GroupMetadataValue)
    return value


def shares(value: GroupMetadataValue) -> dict[str, Partitions]:
    return {member.member_id: assigned(member.assignment) for member in value.members}


def test_the_last_native_member_leaves() -> None:
    """All of the consumer group's records go, and one of the classic group comes: with the target, in the epoch of the group."""
    beats = Beats(t=4)
    member = ClassicMember(beats)
    mixed(beats, member)
    epoch, share = beats.group.group_epoch, member.assigned

    answer = beats.members["m"].leave().response

    value = written(beats)
    assert beats.taken() == [*TOMBSTONES_OF_TWO, "GroupMetadata"]
    assert (answer.member_id, answer.member_epoch) == ("m", -1)
    assert (value.protocol_type, value.generation, value.protocol) == ("consumer", epoch, "range")
    assert (value.leader, shares(value)) == (member.member_id, {member.member_id: share})
    assert beats.log.shard.groups.type_of("g").name == "classic"


def test_classic_members_rejoin_after_a_downgrade() -> None:
    """A heartbeat tells them; then the group is a classic group like any other."""
    beats = Beats(t=4)
    one, two = ClassicMember(beats), ClassicMember(beats)
    mixed(beats, one, two)
    beats.members["m"].leave()

    assert one.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS
    parked = one.ask_to_join()
    assert not parked.is_answered
    assert two.ask_to_join().response.error_code == ErrorCode.NONE
    assert one.generation == two.generation == parked.response.generation_id
    leader, other = (one, two) if classic(beats).leader_id == one.member_id else (two, one)
    leader.sync((leader, assignment({"t": [0, 1]})), (other, assignment({"t": [2, 3]})))
    other.sync()
    assert (leader.assigned, other.assigned, leader.heartbeat()) == ({"t": [0, 1]}, {"t": [2, 3]}, ErrorCode.NONE)


def test_all_that_a_member_sent_is_back() -> None:
    """Its protocols and timeouts: those of its join to the consumer group, or to the classic group before that."""
    beats = Beats(t=1)
    member = ClassicMember(beats, session_timeout_ms=7000, rebalance_timeout_ms=9000)
    member.protocols = {"range": 1, "sticky": 1}
    member.join()
    member.sync((member, assignment({"t": [0]})))
    before = classic(beats).members[member.member_id]
    protocols = list(before.protocols)
    beats.member("m").join()
    beats.members["m"].leave()

    found = classic(beats).members[member.member_id]

    assert (found.protocols, found.session_timeout_ms, found.rebalance_timeout_ms) == (protocols, 7000, 9000)
    assert (found.client_id, found.client_host) == (before.client_id, before.client_host)


def test_the_session_of_the_last_native_member_ends() -> None:
    beats = Beats(t=4)
    member = ClassicMember(beats, session_timeout_ms=100_000)
    mixed(beats, member)

    beats.log.advance(45_000)

    assert beats.taken()[-1] == "GroupMetadata"
    assert member.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS


def test_the_downgrade_of_a_member_that_revokes_nothing_in_its_rebalance_timeout() -> None:
    """Its rebalance timeout ends, with the same outcome."""
    beats = Beats(t=4)
    assert beats.member("m", rebalance_timeout_ms=5000).join().error is None
    member = ClassicMember(beats)
    member.join()
    member.sync()
    beats.members["m"].beat()

    beats.log.advance(5000)

    assert beats.taken()[-1] == "GroupMetadata"


def test_an_administrator_removes_it() -> None:
    """With other members: those that stay are in the classic group."""
    beats = Beats(t=6)
    stays, leaves = ClassicMember(beats), ClassicMember(beats)
    mixed(beats, stays, leaves)

    errors = leave_together(beats, MemberIdentity("m"), MemberIdentity(leaves.member_id), MemberIdentity("x"))

    assert errors == [ErrorCode.NONE, ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID]
    assert [member.member_id for member in written(beats).members] == [stays.member_id]


def test_the_last_member_of_all_leaves_an_empty_consumer_group() -> None:
    beats = Beats(t=1)
    member = ClassicMember(beats)
    mixed(beats, member)

    leave_together(beats, MemberIdentity("m"), MemberIdentity(member.member_id))

    assert beats.taken()[-1] == "Metadata"
    assert beats.log.shard.groups.type_of("g").name == "consumer"


def test_one_of_two_native_members_changes_nothing() -> None:
    beats = Beats(t=3)
    mixed(beats, ClassicMember(beats))
    beats.member("n").join()
    beats.taken()

    beats.members["m"].leave()

    assert beats.taken() == [*REPLACED, "Metadata"]


def test_a_static_member_that_is_away_is_still_there() -> None:
    """Its return decides."""
    beats = Beats(t=2)
    mixed(beats, ClassicMember(beats), instance_id="i")

    beats.members["m"].leave(-2)

    assert beats.taken() == ["CurrentMemberAssignment"]


def test_the_policy_may_forbid_it() -> None:
    """The group stays a consumer group, with classic members only."""
    beats = Beats(config_of(group_consumer_migration_policy="upgrade"), t=2)
    member = ClassicMember(beats)
    mixed(beats, member)

    beats.members["m"].leave()

    assert beats.taken() == [*REPLACED, "Metadata"]
    assert (member.follow(), member.assigned) == (True, {"t": [0, 1]})
    assert beats.log.shard.groups.type_of("g").name == "consumer"


def test_a_group_larger_than_classic_groups_may_be_stays() -> None:
    beats = Beats(config_of(group_max_size="1"), t=3)
    mixed(beats, ClassicMember(beats), ClassicMember(beats))

    beats.members["m"].leave()

    assert beats.taken() == [*REPLACED, "Metadata"]


# --- a static member comes back as a classic one


def test_a_static_member_that_comes_back_as_a_classic_one_just_goes_on() -> None:
    """With the target of its old self. Nobody joins again, because nothing has changed."""
    beats = Beats(t=4)
    member = ClassicMember(beats)
    mixed(beats, member, instance_id="i")
    epoch, share, other = beats.group.group_epoch, beats.members["m"].assigned, member.assigned
    again = ClassicMember(beats, instance_id="i")

    answer = again.join().response

    value = written(beats)
    assert beats.taken() == [
        *REPLACED,
        *REPLACING,
        "MemberMetadata",
        "CurrentMemberAssignment",
        *TOMBSTONES_OF_TWO,
        "GroupMetadata",
    ]
    assert (answer.error_code, answer.generation_id, value.generation) == (ErrorCode.NONE, epoch, epoch)
    assert shares(value) == {member.member_id: other, again.member_id: share}
    again.sync()
    assert (again.assigned, again.heartbeat(), member.heartbeat()) == (share, ErrorCode.NONE, ErrorCode.NONE)
    assert beats.log.shard.groups.type_of("g").name == "classic"


def test_if_its_subscription_is_new_all_join_again() -> None:
    """The target is not computed: the leader will do it."""
    beats = Beats(t=4, u=2)
    member = ClassicMember(beats)
    mixed(beats, member, instance_id="i")
    again = ClassicMember(beats, "t", "u", instance_id="i")

    assert again.join().response.error_code == ErrorCode.NONE

    found = beats.taken()
    assert found == [*REPLACED, *REPLACING, "MemberMetadata", "Metadata", *TOMBSTONES_OF_TWO, "GroupMetadata"]
    assert member.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS


def test_a_lone_static_member_may_come_back_too() -> None:
    beats = Beats(t=2)
    assert beats.member("m", instance_id="i").join().error is None
    again = ClassicMember(beats, instance_id="i")

    again.join()
    again.sync()

    assert beats.log.shard.groups.type_of("g").name == "classic"
    assert again.assigned == {"t": [0, 1]}


def test_if_a_member_has_not_reached_its_target_all_join_again() -> None:
    """It waits for what the static member has. Kafka gives that the whole target, and never tells the one that waits."""
    beats = Beats(t=4)
    assert beats.member("m", instance_id="i").join().error is None
    waiting = ClassicMember(beats)
    waiting.join()
    waiting.sync()
    assert waiting.assigned == {}
    again = ClassicMember(beats, instance_id="i")

    assert again.join().response.error_code == ErrorCode.NONE

    assert waiting.heartbeat() is ErrorCode.REBALANCE_IN_PROGRESS
    reply = again.sync()
    assert (reply.error or reply.response.error_code) == ErrorCode.REBALANCE_IN_PROGRESS


def test_what_members_have_is_known_until_they_join_again() -> None:
    """If a native member joins before that: a partition that one of them has still is not given to somebody else."""
    beats = Beats(t=6)
    member = ClassicMember(beats)
    mixed(beats, member)
    share = member.assigned
    beats.member("n").join()
    beats.members["n"].beat(owned=True)
    beats.members.pop("m").leave()
    beats.members.pop("n").leave()
    assert beats.log.shard.groups.type_of("g").name == "classic"

    beats.member("o").join()

    found = beats.group.members[member.member_id]
    had = {partition for epochs in (*found.assigned.values(), *found.pending_revocation.values()) for partition in epochs}
    assert had >= set(share["t"])
    assert not set(beats.members["o"].assigned.get("t", [])) & set(share["t"])


# --- afterwards


def test_a_replay_comes_to_the_same_group() -> None:
    """Offsets stay, and members go on after a restart."""
    beats = Beats(t=4)
    member = ClassicMember(beats)
    mixed(beats, member)
    topic = OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(1, 42)])
    request = OffsetCommitRequest("g", member.generation, member.member_id, topics=[topic])
    assert beats.log.run(GroupShard.commit_offsets, request, version=9).error is None
    beats.members["m"].leave()
    before = beats.log.shard.digest(beats.log.end_offset, 10_000)

    beats.log.restart()

    assert beats.log.shard.digest(beats.log.end_offset, 10_000) == before
    assert beats.log.hard_state()["g"][1]
    assert list(classic(beats).members) == [member.member_id]
    member.generation = classic(beats).generation_id
    assert member.heartbeat() is ErrorCode.NONE


def test_sessions_go_on_in_the_classic_group() -> None:
    """And no timer of the consumer group is left."""
    beats = Beats(t=4)
    member = ClassicMember(beats, session_timeout_ms=7000)
    mixed(beats, member)
    beats.members["m"].leave()

    assert not [key for key in beats.log.timer.keys if isinstance(key, tuple) and str(key[0]).startswith("consumer")]
    assert beats.log.timer.due_in(("session", "g", member.member_id)) == 7000


def test_a_conversion_that_is_not_written_leaves_the_consumer_group() -> None:
    """Its sessions run, and who joined the classic group meanwhile gets the error."""
    beats = Beats(t=4)
    member, other = ClassicMember(beats), ClassicMember(beats)
    mixed(beats, member, other)
    beats.log.is_holding = True
    leaving = beats.members["m"].leave()
    waiting = member.ask_to_join()
    beats.log.fail(ErrorCode.NOT_COORDINATOR)
    beats.log.is_holding = False

    assert (leaving.error, waiting.response.error_code) == (ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_COORDINATOR)
    assert set(beats.group.members) == {"m", member.member_id, other.member_id}
    assert member.heartbeat() is ErrorCode.NONE
    assert beats.log.shard.groups.classic.living("g") is None
    beats.taken()
    beats.log.advance(45_000)
    assert beats.taken()


def test_ten_migrations_of_a_group_keep_epochs_and_ownership() -> None:
    """Ten times, with a member of each protocol: the epoch only rises, and everything is owned in the end."""
    beats = Beats(t=4)
    member = ClassicMember(beats)
    member.join()
    member.sync((member, assignment({"t": [0, 1, 2, 3]})))
    for number in range(10):
        generation = member.generation
        mixed(beats, name=f"m{number}")
        for _ in range(6):
            member.follow()
            beats.members[f"m{number}"].beat(owned=True)
        assert sorted(member.assigned["t"] + beats.members[f"m{number}"].assigned["t"]) == [0, 1, 2, 3]
        beats.members[f"m{number}"].leave()
        member.join()
        member.sync((member, assignment({"t": [0, 1, 2, 3]})))
        assert member.heartbeat() is ErrorCode.NONE
        assert member.generation > generation
