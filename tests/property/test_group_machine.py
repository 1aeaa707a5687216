"""Random members, requests, time and log failures against a GroupShard; what must hold after every step, in words:

- hard state is what a replay of the log gives: of all that is written, and, as of the committed offset,
  of all that is durable, digests included
- a living group is sound: its leader is a member, its counters are right, it waits for something that will come
- at most one member of a generation is told to assign, and generations go up
- an answered SyncGroup carries exactly what that generation's record says, now and later
- an acknowledged commit is durable
- a successful JoinGroup tells the present generation; nobody is kept longer than its session
- every generation says who wrote it down, and why there is one
- every request is answered in the end, and groups whose members fall silent become empty
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from coordinator_server.group import expiry
from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.member import pending_size
from coordinator_server.group.classic.state import COMPLETING_REBALANCE, EMPTY, PREPARING_REBALANCE, STABLE
from coordinator_server.group.rest import rest_if_idle
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.provenance import Provenance
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, OffsetCommitKey, OffsetCommitValue
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from tests.support.configs import config_with
from tests.support.group import FakeReply, GroupLog, Operation, hard_state

GROUPS = ["g", "h"]
PARTITIONS = 6
CALM_MS = 3_600_000

PROTOCOLS = {
    "range": [JoinGroupRequestProtocol("range", b"r")],
    "both": [JoinGroupRequestProtocol("sticky", b"s"), JoinGroupRequestProtocol("range", b"r")],
    "both, the other way": [JoinGroupRequestProtocol("range", b"r"), JoinGroupRequestProtocol("sticky", b"s")],
    "other metadata": [JoinGroupRequestProtocol("range", b"changed")],
    "none in common": [JoinGroupRequestProtocol("strange", b"")],
}


class Actor:
    """A client that does more or less what it should."""

    def __init__(self, name: str, group_id: str, instance_id: str | None) -> None:
        self.name = name
        self.group_id = group_id
        self.instance_id = instance_id
        self.member_id = ""
        self.generation_id = -1
        self.protocol = "range"
        self.to_assign: list[str] = []


actors = st.integers(0, 5)
seldom = st.sampled_from([False] * 7 + [True])


class GroupMachine(RuleBasedStateMachine):
    """Six clients, two of them static under one instance id, in two groups."""

    @initialize(delay_ms=st.sampled_from([0, 3000]), max_size=st.sampled_from([100, 3]))
    def start(self, delay_ms: int, max_size: int) -> None:
        self.log = GroupLog(config_with(group_initial_rebalance_delay_ms=delay_ms, group_max_size=max_size), self._written)
        self.log.is_holding = True
        names = enumerate("ABCDEF")
        self.actors = [Actor(name, GROUPS[i == 5], "static" if i in {3, 4} else None) for i, name in names]
        self.replies: list[FakeReply] = []
        self.life = 0
        self.assigners: dict[tuple[int, str, int], str] = {}
        self.answers: dict[tuple[str, int, str], bytes] = {}
        self.generations: dict[str, tuple[int, ClassicGroup]] = {}

    # --- what clients do

    @rule(
        who=actors,
        version=st.sampled_from([0, 3, 5, 9]),
        protocol=st.sampled_from(["range"] * 4 + list(PROTOCOLS)),
        session_ms=st.sampled_from([6000, 30_000]),
        forgets=st.sampled_from([False, False, False, True]),
    )
    def join(self, who: int, version: int, protocol: str, session_ms: int, forgets: bool) -> None:
        actor = self.actors[who]
        instance_id = actor.instance_id if version >= 5 else None
        request = JoinGroupRequest(
            actor.group_id,
            session_ms,
            20_000,
            "" if forgets else actor.member_id,
            instance_id,
            "consumer",
            PROTOCOLS[protocol],
        )

        def on_answer(reply: FakeReply) -> None:
            if reply.response is not None:
                self._joined(actor, reply.response)

        self._send(GroupShard.join_group, request, version, actor, on_answer)

    @rule(who=actors, version=st.sampled_from([0, 3, 5]), stale=seldom, turn=st.integers(0, 2))
    def sync(self, who: int, version: int, stale: bool, turn: int) -> None:
        actor = self.actors[who]
        if actor.generation_id < 0:
            return
        count = len(actor.to_assign)
        given = [
            SyncGroupRequestAssignment(
                member_id, b",".join(b"%d" % part for part in range((place + turn) % count, PARTITIONS, count))
            )
            for place, member_id in enumerate(actor.to_assign)
        ]
        generation_id = actor.generation_id - stale
        request = SyncGroupRequest(
            actor.group_id,
            generation_id,
            actor.member_id,
            actor.instance_id if version >= 3 else None,
            "consumer" if version >= 5 else None,
            actor.protocol if version >= 5 else None,
            given,
        )
        member_id = actor.member_id

        def on_answer(reply: FakeReply) -> None:
            if reply.response is not None:
                self._synced(actor.group_id, generation_id, member_id, reply.response)

        self._send(GroupShard.sync_group, request, version, actor, on_answer)

    @rule(who=actors, stale=seldom)
    def heartbeat(self, who: int, stale: bool) -> None:
        actor = self.actors[who]
        if not actor.member_id:
            return
        request = HeartbeatRequest(actor.group_id, actor.generation_id - stale, actor.member_id, actor.instance_id)
        self._send(GroupShard.heartbeat, request, 4, actor)

    @rule(who=actors, by_instance=st.booleans(), really=seldom)
    def leave(self, who: int, by_instance: bool, really: bool) -> None:
        actor = self.actors[who]
        if not really:
            return
        member_id = "" if by_instance and actor.instance_id else actor.member_id
        request = LeaveGroupRequest(actor.group_id, members=[MemberIdentity(member_id, actor.instance_id)])
        self._send(GroupShard.leave_group, request, 5, actor)

    @rule(who=actors, partition=st.integers(0, 2), offset=st.integers(0, 9), is_simple=st.booleans())
    def commit(self, who: int, partition: int, offset: int, is_simple: bool) -> None:
        actor = self.actors[who]
        request = OffsetCommitRequest(
            actor.group_id,
            -1 if is_simple else actor.generation_id,
            "" if is_simple else actor.member_id,
            None if is_simple else actor.instance_id,
            topics=[OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(partition, offset)])],
        )

        def on_answer(reply: FakeReply) -> None:
            if reply.response is not None:
                assert (OffsetCommitKey(actor.group_id, "t", partition), offset) in [
                    (record.key, record.value.offset)
                    for record in self.log.committed
                    if isinstance(record.value, OffsetCommitValue)
                ]

        self._send(GroupShard.commit_offsets, request, 9, actor, on_answer)

    @rule(
        crowd=st.sets(actors, min_size=1),
        is_leader_first=st.booleans(),
        joins=st.booleans(),
        turn=st.integers(0, 2),
        flushes=st.booleans(),
    )
    def a_crowd_does_as_expected(self, crowd: set[int], is_leader_first: bool, joins: bool, turn: int, flushes: bool) -> None:
        """Random steps alone would hardly ever bring a group to rest."""
        if joins:
            protocol = "other metadata" if turn else "range"
            for who in [*crowd, *crowd]:
                self.join(who=who, version=9, protocol=protocol, session_ms=30_000, forgets=False)
            self.log.advance(3000)
        for who in sorted(crowd, key=lambda who: bool(self.actors[who].to_assign), reverse=is_leader_first):
            self.sync(who=who, version=5, stale=False, turn=turn)
        if flushes:
            self.log.flush()
            for who in crowd:
                self.heartbeat(who=who, stale=False)

    # --- what happens to them

    @rule(ms=st.sampled_from([0, 1, 2999, 3000, 3000, 3000, 6000, 20_000]))
    def time_passes(self, ms: int) -> None:
        self.log.advance(ms)

    @rule(group_id=st.sampled_from(GROUPS))
    def a_group_comes_to_rest(self, group_id: str) -> None:
        """If it may: as if nothing had happened for an hour."""
        rest_if_idle(self.log.shard.groups, group_id, self.log.clock.wall_ms() + CALM_MS, CALM_MS)

    @rule()
    def the_log_is_done(self) -> None:
        self.log.flush()

    @rule(really=st.booleans())
    def the_log_fails(self, really: bool) -> None:
        if really:
            self.log.fail()

    @rule(really=seldom)
    def the_server_restarts(self, really: bool) -> None:
        if not really:
            return
        self.log.restart()
        self.replies.clear()
        self.life += 1
        self.generations.clear()

    # --- what must hold

    @invariant()
    def live_state_is_replayed_state(self) -> None:
        assert self.log.hard_state() == self.log.replayed_state()

    @invariant()
    def committed_state_is_replayed_state(self) -> None:
        log = self.log
        again = log.build(SnapshotRegistry())
        for offset, record in enumerate(log.committed):
            again.replay(offset, record)

        for group_id, (value, offsets) in hard_state(again).items():
            stored = log.shard.groups.classic.stored.get_at(group_id, log.committed_offset)
            assert (stored and stored.value) == value
            fetched = log.shard.fetch_offsets(log.committed_offset, OffsetFetchRequestGroup(group_id, topics=None)).answer()
            assert {
                (topic.name, each.partition_index): each.committed_offset for topic in fetched.topics for each in topic.partitions
            } == {position: each.committed_offset for position, each in offsets.items()}
        listed = {row.group_id for row in log.shard.list_groups(log.committed_offset)}
        assert listed == set(hard_state(again))
        found, expected = log.shard.digest(log.committed_offset, LATEST), again.digest(LATEST, LATEST)
        assert found is not None
        assert expected is not None
        assert found[1:] == expected[1:]

    @invariant()
    def groups_are_sound(self) -> None:
        for group_id in GROUPS:
            group = self.log.shard.groups.classic.living(group_id)
            if group is not None:
                self._check_membership(group)
                self._check_waiting(group)
                self._check_generation(group)

    def teardown(self) -> None:
        """Silence: everybody is answered, and every group becomes empty."""
        if not hasattr(self, "log"):
            return
        self.log.is_holding = False
        self.log.flush()
        self.log.advance(CALM_MS)

        assert all(reply.is_answered for reply in self.replies)
        for group_id in GROUPS:
            group = self.log.shard.groups.classic.living(group_id)
            assert group is None or (group.state is EMPTY and not group.pending_joins)
        assert self.log.timer.keys == {expiry.TIMER_KEY}
        assert self.log.hard_state() == self.log.replayed_state()

    # --- in detail

    def _send(self, operation: Operation, request: Any, version: int, actor: Actor, on_answer: Any = None) -> None:
        self.replies.append(self.log.run(operation, request, version=version, client_id=actor.name, on_answer=on_answer))

    def _written(self, offset: int, record: CoordinatorRecord, provenance: Provenance | None) -> None:
        if isinstance(record.value, GroupMetadataValue):
            assert provenance is not None
            assert provenance.reasons, "a generation that nobody asked for"

    def _joined(self, actor: Actor, response: JoinGroupResponse) -> None:
        if response.error_code in {ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED}:
            actor.member_id = response.member_id
        if response.error_code in {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID}:
            actor.member_id = ""
        if response.error_code != ErrorCode.NONE:
            return
        group = self.log.shard.groups.classic.living(actor.group_id)
        assert group is not None
        assert group.state in {COMPLETING_REBALANCE, STABLE}
        assert response.generation_id == group.generation_id
        actor.generation_id = response.generation_id
        actor.protocol = response.protocol_name or ""
        actor.to_assign = []
        if response.leader == response.member_id and not response.skip_assignment:
            actor.to_assign = [member.member_id for member in response.members]
            key = (self.life, actor.group_id, response.generation_id)
            # A group that never came to be in the log may begin again; its generations were nobody's.
            if self.assigners.setdefault(key, response.member_id) != response.member_id:
                assert not any(answer[:2] == key[1:] for answer in self.answers), "two members of a generation are to assign"
                self.assigners[key] = response.member_id

    def _synced(self, group_id: str, generation_id: int, member_id: str, response: SyncGroupResponse) -> None:
        if response.error_code != ErrorCode.NONE:
            return
        written = [
            {member.member_id: member.assignment for member in record.value.members}
            for record in self.log.committed
            if record.key == GroupMetadataKey(group_id)
            and isinstance(record.value, GroupMetadataValue)
            and record.value.generation == generation_id
        ]
        assert {each[member_id] for each in written if member_id in each} == {response.assignment}
        assert self.answers.setdefault((group_id, generation_id, member_id), response.assignment) == response.assignment
        owned = [part for part in b",".join(written[-1].values()).split(b",") if part]
        assert len(owned) == len(set(owned)), "a partition with two owners"

    def _check_membership(self, group: ClassicGroup) -> None:
        members = group.members
        assert (group.leader_id in members) == bool(members)
        assert group.awaiting_join_count == sum(member.awaiting_join is not None for member in members.values())
        assert not group.pending_joins.keys() & members.keys()
        assert set(group.pending_syncs) <= members.keys()
        assert group.static_members == {
            member.group_instance_id: member.member_id for member in members.values() if member.group_instance_id is not None
        }
        assert dict(group.supported_protocols) == Counter(
            name for member in members.values() for name in {protocol.name for protocol in member.protocols}
        )
        assert group.pending_bytes == sum(map(pending_size, group.pending_joins))
        assert group.memory_bytes == group.pending_bytes + sum(member.size.memory_bytes for member in members.values())
        assert group.record_bytes == sum(member.size.record_bytes for member in members.values())
        used_bytes = self.log.shard.groups.classic_context.member_memory.used_bytes
        assert used_bytes >= group.memory_bytes
        assert (group.state is EMPTY) <= (not members)
        assert (group.state in {COMPLETING_REBALANCE, STABLE}) <= bool(members)

    def _check_waiting(self, group: ClassicGroup) -> None:
        timer = self.log.timer
        for member in group.members.values():
            assert timer.is_scheduled(member.session_key) or member.has_satisfied_heartbeat
            if timer.is_scheduled(member.session_key) and not member.is_new:
                assert timer.due_in(member.session_key) <= max(member.session_timeout_ms, 30_000)
            assert (member.awaiting_join is not None) <= (
                group.state is PREPARING_REBALANCE or (member.is_static and group.state is STABLE)
            )
            assert (member.awaiting_sync is not None) <= (group.state is COMPLETING_REBALANCE)
        if group.state is PREPARING_REBALANCE:
            assert timer.is_scheduled(group.join_key)
        if group.state is COMPLETING_REBALANCE:
            is_storing = group.storing_generation == group.generation_id
            assert timer.is_scheduled(group.sync_key) or is_storing

    def _check_generation(self, group: ClassicGroup) -> None:
        before, same = self.generations.get(group.group_id, (0, group))
        assert group is not same or group.generation_id >= before
        self.generations[group.group_id] = (group.generation_id, group)


TestGroupMachine = GroupMachine.TestCase
TestGroupMachine.settings = settings(
    max_examples=60, stateful_step_count=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
