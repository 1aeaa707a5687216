"""Whatever clients do, and whenever: the server answers exactly what a small reference model of the protocol answers,
to whom and when.

Beside each other go the GroupShard, the model, and a replay of the log: after every step the same requests have the same answers,
and offsets, generations, members and their assignments are the same in all three. What happens while the log is busy, or fails,
is the matter of test_group_machine.py.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from coordinator_server.group.shard import GroupShard
from protocol.error_codes import ErrorCode
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from tests.support.configs import config_with
from tests.support.group import FakeReply, GroupLog, Operation
from tests.support.group_model import Answer, Answers, GroupModel, Join

GROUP = "g"
# No two of them, nor sums of few, are alike: what is due at one moment has no order that clients could rely on.
SESSIONS_MS = (6007, 30_011)
REBALANCES_MS = (20_021, 9013)
DELAYS_MS = (0, 3001)
PROTOCOLS = {
    "range": [("range", b"r")],
    "both": [("sticky", b"s"), ("range", b"r")],
    "both, the other way": [("range", b"r"), ("sticky", b"s")],
    "other metadata": [("range", b"changed")],
    "none in common": [("strange", b"")],
}

actors = st.integers(0, 5)


class Actor:
    """A client, and what it was last told."""

    def __init__(self, name: str, instance_id: str | None) -> None:
        self.name = name
        self.instance_id = instance_id
        self.member_id = ""
        self.generation = -1
        self.roster: list[str] = []


class ModelMachine(RuleBasedStateMachine):
    """Six clients, two of them static under one instance id."""

    @initialize(delay_ms=st.sampled_from(DELAYS_MS))
    def start(self, delay_ms: int) -> None:
        self.log = GroupLog(config_with(group_initial_rebalance_delay_ms=delay_ms))
        self.ids = 0
        self.model = GroupModel(self._next_id, delay_ms)
        self.began_ms = self.log.clock.now_ms()
        self.actors = [Actor(name, "static" if name in "DE" else "alone" if name == "F" else None) for name in "ABCDEF"]
        self.tickets = 0
        self.found: dict[Hashable, Answer] = {}
        self.expected: dict[Hashable, Answer] = {}
        self.asked: dict[Hashable, Actor] = {}

    # --- what clients do

    @rule(
        who=actors,
        version=st.sampled_from([0, 3, 5, 9, 9]),
        protocols=st.sampled_from(["range"] * 4 + list(PROTOCOLS)),
        session=st.sampled_from(SESSIONS_MS),
        rebalance=st.sampled_from(REBALANCES_MS),
        forgets=st.sampled_from([False, False, False, True]),
    )
    def join(self, who: int, version: int, protocols: str, session: int, rebalance: int, forgets: bool) -> None:
        actor = self.actors[who]
        instance_id = actor.instance_id if version >= 5 else None
        member_id = "" if forgets else actor.member_id
        offered = PROTOCOLS[protocols]
        request = JoinGroupRequest(
            GROUP, session, rebalance, member_id, instance_id, "consumer", [JoinGroupRequestProtocol(*each) for each in offered]
        )
        ticket = self._ask(GroupShard.join_group, request, version, actor)
        asked = Join(ticket, version, actor.name, member_id, instance_id, session, rebalance if version else session, offered)
        self._expect(self.model.join(asked))

    @rule(who=actors, stale=st.sampled_from([0, 0, 0, 0, 1]))
    def sync(self, who: int, stale: int) -> None:
        actor = self.actors[who]
        self.tickets += 1
        shares = {member_id: b"%d for %s" % (self.tickets, member_id.encode()) for member_id in actor.roster}
        given = [SyncGroupRequestAssignment(*each) for each in shares.items()]
        generation = actor.generation - stale
        request = SyncGroupRequest(GROUP, generation, actor.member_id, actor.instance_id, None, None, given)
        ticket = self._ask(GroupShard.sync_group, request, 4, actor)
        self._expect(self.model.sync(ticket, actor.member_id, actor.instance_id, generation, shares))

    @rule(who=actors, stale=st.sampled_from([0, 0, 0, 1]))
    def heartbeat(self, who: int, stale: int) -> None:
        actor = self.actors[who]
        request = HeartbeatRequest(GROUP, actor.generation - stale, actor.member_id, actor.instance_id)
        ticket = self._ask(GroupShard.heartbeat, request, 4, actor)
        self._expect(self.model.heartbeat(ticket, actor.member_id, actor.instance_id, actor.generation - stale))

    @rule(who=actors, by_instance=st.booleans(), really=st.sampled_from([False] * 4 + [True]))
    def leave(self, who: int, by_instance: bool, really: bool) -> None:
        actor = self.actors[who]
        if really:
            member_id = "" if by_instance and actor.instance_id else actor.member_id
            request = LeaveGroupRequest(GROUP, members=[MemberIdentity(member_id, actor.instance_id)])
            ticket = self._ask(GroupShard.leave_group, request, 5, actor)
            self._expect(self.model.leave(ticket, member_id, actor.instance_id))

    @rule(who=actors, partition=st.integers(0, 2), offset=st.integers(0, 9), is_simple=st.booleans())
    def commit(self, who: int, partition: int, offset: int, is_simple: bool) -> None:
        actor = self.actors[who]
        generation = -1 if is_simple else actor.generation
        member_id, instance_id = ("", None) if is_simple else (actor.member_id, actor.instance_id)
        topic = OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(partition, offset)])
        request = OffsetCommitRequest(GROUP, generation, member_id, instance_id, topics=[topic])
        ticket = self._ask(GroupShard.commit_offsets, request, 9, actor)
        self._expect(self.model.commit(ticket, member_id, instance_id, generation, partition, offset))

    @rule(really=st.sampled_from([False, False, True]))
    def delete_group(self, really: bool) -> None:
        if really:
            ticket = self._ask(GroupShard.delete_groups, [GROUP], 2, self.actors[0])
            self._expect(self.model.delete(ticket))

    @rule(partition=st.integers(0, 2))
    def delete_offset(self, partition: int) -> None:
        topic = OffsetDeleteRequestTopic("t", [OffsetDeleteRequestPartition(partition)])
        ticket = self._ask(GroupShard.delete_offsets, OffsetDeleteRequest(GROUP, [topic]), 0, self.actors[0])
        self._expect(self.model.delete_offset(ticket, partition))

    @rule(crowd=st.sets(actors, min_size=1), joins=st.booleans(), is_leader_first=st.booleans())
    def a_crowd_does_as_expected(self, crowd: set[int], joins: bool, is_leader_first: bool) -> None:
        """Random steps alone would hardly ever bring a group to rest."""
        if joins:
            for who in [*sorted(crowd), *sorted(crowd)]:
                self.join(
                    who=who, version=9, protocols="range", session=SESSIONS_MS[1], rebalance=REBALANCES_MS[0], forgets=False
                )
            self.time_passes(DELAYS_MS[1])
        for who in sorted(crowd, key=lambda who: bool(self.actors[who].roster), reverse=is_leader_first):
            self.sync(who=who, stale=0)

    # --- what happens to them

    @rule(ms=st.sampled_from([0, 1, 2999, 3001, 3001, 6007, 6007, 20_021]))
    def time_passes(self, ms: int) -> None:
        self.log.advance(ms)
        self._expect(self.model.run_until(self.log.clock.now_ms() - self.began_ms))

    @rule(really=st.sampled_from([False, False, False, True]))
    def the_server_restarts(self, really: bool) -> None:
        if really:
            self.log.restart()
            self.model.reload()
            self.asked.clear()

    # --- what must hold

    @invariant()
    def the_same_is_answered(self) -> None:
        assert self.found == self.expected, f"answered {self.found}, expected {self.expected}"
        self.found.clear()
        self.expected.clear()

    @invariant()
    def the_same_is_known(self) -> None:
        log, model = self.log, self.model
        fetched = log.shard.fetch_offsets(log.committed_offset, OffsetFetchRequestGroup(GROUP, topics=None)).answer()
        offsets = {each.partition_index: each.committed_offset for topic in fetched.topics for each in topic.partitions}
        assert offsets == model.offsets
        hard, replayed = log.hard_state(), log.replayed_state()
        assert hard == replayed
        stored, _ = hard.get(GROUP, (None, {}))
        assert (stored is None) == (model.written is None)
        if stored is not None and model.written is not None:
            members: Any = getattr(stored, "members", [])
            assert stored.generation == model.written.generation  # type: ignore[attr-defined]
            assert [(each.member_id, each.group_instance_id, each.assignment) for each in members] == [
                (each.member_id, each.instance_id, each.assignment) for each in model.written.members
            ]
        group = log.shard.groups.classic.living(GROUP)
        if group is not None:
            model._is_there()
            assert (group.state.value, group.generation_id, list(group.members)) == (
                model.state,
                model.generation,
                list(model.members),
            )

    def teardown(self) -> None:
        """Silence: everybody who waits is answered, by both."""
        if hasattr(self, "log"):
            self.time_passes(3_600_000)
            self.the_same_is_answered()
            self.the_same_is_known()
            assert not self.asked

    # --- in detail

    def _next_id(self) -> str:
        self.ids += 1
        return str(self.ids)

    def _ask(self, operation: Operation, request: Any, version: int, actor: Actor) -> Hashable:
        self.tickets += 1
        ticket = self.tickets
        self.asked[ticket] = actor

        def answered(reply: FakeReply) -> None:
            if self.asked.pop(ticket, None) is not None:
                self.found[ticket] = _plain(request, reply)
                _learn(actor, request, reply)

        self.log.run(operation, request, version=version, client_id=actor.name, on_answer=answered)
        return ticket

    def _expect(self, answers: Answers) -> None:
        for ticket, answer in answers:
            assert ticket not in self.expected, "the model answers twice"
            self.expected[ticket] = answer


def _plain(request: Any, reply: FakeReply) -> Answer:
    """An answer in the model's form."""
    match reply.response:
        case None:
            return (reply.error, b"") if isinstance(request, SyncGroupRequest) else (reply.error,)
        case JoinGroupResponse() as told:
            members = [(each.member_id, each.group_instance_id, each.metadata) for each in told.members]
            protocol = told.protocol_name or None
            error = ErrorCode(told.error_code)
            return error, told.generation_id, protocol, told.leader, told.member_id, members, told.skip_assignment
        case SyncGroupResponse() as told:
            return ErrorCode(told.error_code), told.assignment
        case LeaveGroupResponse() as told:
            return (ErrorCode(told.error_code or told.members[0].error_code),)
        case OffsetCommitResponse() | OffsetDeleteResponse() as told:
            return (ErrorCode(told.topics[0].partitions[0].error_code),)
        case [deleted]:
            return (ErrorCode(deleted.error_code),)
        case told:
            return (ErrorCode(told.error_code),)


def _learn(actor: Actor, request: Any, reply: FakeReply) -> None:
    answer = reply.response
    if isinstance(answer, JoinGroupResponse):
        if answer.error_code in {ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED}:
            actor.member_id = answer.member_id
        if answer.error_code == ErrorCode.NONE:
            actor.generation = answer.generation_id
            is_to_assign = answer.leader == answer.member_id and not answer.skip_assignment
            actor.roster = [member.member_id for member in answer.members] if is_to_assign else []


TestGroupModel = ModelMachine.TestCase
TestGroupModel.settings = settings(
    max_examples=100, stateful_step_count=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
