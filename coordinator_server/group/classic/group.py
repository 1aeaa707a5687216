"""A classic group: its members, their generation, and the protocol that they have in common (Kafka's ``ClassicGroup``).

Soft state: it is built from the group's last GroupMetadata record and changed by requests and timers. Invariants:

- a group with members has a leader, which is a member
- ``awaiting_join_count`` is the number of members whose JoinGroup waits
- a member id is never both a member and pending (KIP-394)
- ``static_members`` maps the group instance id of every static member to its member id
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TypeVar

from coordinator_server.group.classic.member import ClassicGroupMember, member_size, pending_size
from coordinator_server.group.classic.state import (
    COMPLETING_REBALANCE,
    EMPTY,
    PREPARING_REBALANCE,
    VALID_PREVIOUS_STATES,
    ClassicGroupState,
)
from coordinator_server.group.classic.subscription import subscribed_topics
from coordinator_server.group.member_memory import MemberMemory
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.java import hash_map_order
from coordinator_server.machine.provenance import Reason
from coordinator_server.machine.shard import Reply
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_protocol import CONSUMER
from protocol.messages.join_group import JoinGroupRequestProtocol, JoinGroupResponse, JoinGroupResponseMember
from protocol.messages.sync_group import SyncGroupResponse

T = TypeVar("T")

NO_TIMESTAMP = -1
NO_GENERATION = -1
MAX_REASONS = 16


class ClassicGroup:
    """One classic group. Times of state changes are wall-clock times, for people to read."""

    __slots__ = (
        "_noted",
        "_reasons",
        "_total",
        "awaiting_join_count",
        "current_state_timestamp",
        "generation_id",
        "group_id",
        "has_new_member",
        "join_key",
        "leader_id",
        "members",
        "memory_bytes",
        "pending_bytes",
        "pending_joins",
        "pending_syncs",
        "previous_state",
        "protocol_name",
        "protocol_type",
        "rebalancing_since_ms",
        "record_bytes",
        "state",
        "static_members",
        "storing_generation",
        "subscribed_topics",
        "supported_protocols",
        "sync_key",
    )

    def __init__(self, group_id: str, state: ClassicGroupState, wall_ms: int) -> None:
        self.group_id = group_id
        self.state = state
        self.previous_state = ClassicGroupState.DEAD
        self.current_state_timestamp = wall_ms
        # When the rebalance in progress began, on the monotonic clock.
        self.rebalancing_since_ms: int | None = None
        self.generation_id = 0
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.leader_id: str | None = None
        self.members: dict[str, ClassicGroupMember] = {}
        self.static_members: dict[str, str] = {}
        # Member ids sent with MEMBER_ID_REQUIRED whose clients have not joined with them yet (KIP-394), the oldest first.
        self.pending_joins: dict[str, None] = {}
        # What members and pending ids take in memory, what of that pending ids take, and what members take in the group's record.
        self.memory_bytes = 0
        self._total = MemberMemory()
        self.pending_bytes = 0
        self.record_bytes = 0
        # Members of this generation that have not sent their SyncGroup yet, in order of joining.
        self.pending_syncs: dict[str, None] = {}
        self.awaiting_join_count = 0
        # The number of members that support each protocol, if there are any.
        self.supported_protocols: Counter[str] = Counter()
        # A member joined during the initial rebalance delay, so the delay may be extended.
        self.has_new_member = False
        # The topics that the members of this generation consume; None if unknown.
        self.subscribed_topics: frozenset[str] | None = None
        # The generation whose assignments are being written to the log.
        self.storing_generation = NO_GENERATION
        # The reasons for the next generation, in order: why the rebalance started, then the members that left since.
        self._reasons: dict[int, Reason] = {}
        self._noted = 0
        self.join_key: Hashable = ("join", group_id)
        self.sync_key: Hashable = ("sync", group_id)

    # --- members

    def session_key(self, member_id: str) -> Hashable:
        """Return the key of the session timer of a member or a pending member."""
        return ("session", self.group_id, member_id)

    def add(self, member: ClassicGroupMember) -> None:
        """Add a member. The first member sets the protocol type and becomes the leader."""
        instance_id = member.group_instance_id
        if instance_id is not None:
            assert instance_id not in self.static_members
            self.static_members[instance_id] = member.member_id
        if not self.members:
            self.protocol_type = member.protocol_type
        assert self.protocol_type == member.protocol_type
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.members[member.member_id] = member
        self._count(member, 1)
        self._forget_pending(member.member_id)

    def add_pending(self, member_id: str) -> None:
        """Add a member id with which a client must join."""
        self.pending_joins[member_id] = None
        self.pending_bytes += pending_size(member_id)
        self._use_memory(pending_size(member_id))

    def _forget_pending(self, member_id: str) -> None:
        if member_id in self.pending_joins:
            del self.pending_joins[member_id]
            self.pending_bytes -= pending_size(member_id)
            self._use_memory(-pending_size(member_id))

    def remove(self, member_id: str) -> None:
        """Remove a member or a pending member. Its waiting requests are answered with UNKNOWN_MEMBER_ID."""
        self._forget_pending(member_id)
        self.pending_syncs.pop(member_id, None)
        member = self.members.get(member_id)
        if member is None:
            return
        self.complete_join(member, JoinGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID))
        self.complete_sync(member, SyncGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID))
        del self.members[member_id]
        self._count(member, -1)
        if member.group_instance_id is not None:
            del self.static_members[member.group_instance_id]
        if self.leader_id == member_id:
            self.leader_id = next(iter(self.members), None)

    def update(
        self,
        member: ClassicGroupMember,
        protocols: list[JoinGroupRequestProtocol],
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
    ) -> None:
        """Set the protocols and timeouts of a member that has joined again."""
        self._count(member, -1)
        member.protocols = protocols
        self._count(member, 1)
        member.rebalance_timeout_ms = rebalance_timeout_ms
        member.session_timeout_ms = session_timeout_ms

    def replace_static_member(self, old: ClassicGroupMember, new_member_id: str) -> ClassicGroupMember:
        """Replace a static member by its new instance with a new member id (KIP-345). The old member is fenced."""
        instance_id = old.group_instance_id
        assert instance_id is not None
        assert self.members[old.member_id] is old
        fenced = ErrorCode.FENCED_INSTANCE_ID
        self.complete_join(old, JoinGroupResponse(error_code=fenced, member_id=old.member_id, protocol_name=None))
        self.complete_sync(old, SyncGroupResponse(error_code=fenced))
        new = ClassicGroupMember(new_member_id, instance_id, old.client_id, old.client_host)
        new.session_key = self.session_key(new_member_id)
        new.rebalance_timeout_ms = old.rebalance_timeout_ms
        new.session_timeout_ms = old.session_timeout_ms
        new.protocol_type = old.protocol_type
        new.protocols = old.protocols
        new.size = old.size
        new.assignment = old.assignment
        new.held = old.held
        self.members = _renamed(self.members, old.member_id, new_member_id)
        self.members[new_member_id] = new
        self.pending_syncs = _renamed(self.pending_syncs, old.member_id, new_member_id)
        self.static_members[instance_id] = new_member_id
        if self.leader_id == old.member_id:
            self.leader_id = new_member_id
        return new

    def validate_member(self, member_id: str, group_instance_id: str | None) -> ClassicGroupMember:
        """Return the member of a request. Raises UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID for a replaced static member."""
        if group_instance_id is not None:
            current_id = self.static_members.get(group_instance_id)
            if current_id is None:
                raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
            if current_id != member_id:
                raise CoordinatorError(ErrorCode.FENCED_INSTANCE_ID)
        member = self.members.get(member_id)
        if member is None:
            raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
        return member

    def described_members(self) -> list[JoinGroupResponseMember]:
        """Return the members for the leader's JoinGroup answer, with their metadata for the selected protocol."""
        return [
            JoinGroupResponseMember(member.member_id, member.group_instance_id, member.metadata(self.protocol_name))
            for member in self.members.values()
        ]

    # --- requests that wait

    def await_join(self, member: ClassicGroupMember, reply: Reply[JoinGroupResponse]) -> None:
        """Store a waiting JoinGroup. Answer an earlier one of the member, which its client has abandoned."""
        superseded = JoinGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS, member_id=member.member_id)
        self.complete_join(member, superseded)
        member.awaiting_join = reply
        self.awaiting_join_count += 1

    def take_join(self, member: ClassicGroupMember) -> Reply[JoinGroupResponse] | None:
        """Return the waiting JoinGroup of ``member``, to be answered. It does not wait any longer."""
        reply = member.awaiting_join
        if reply is not None:
            member.awaiting_join = None
            self.awaiting_join_count -= 1
        return reply

    def complete_join(self, member: ClassicGroupMember, response: JoinGroupResponse) -> bool:
        """Answer the waiting JoinGroup of ``member``. Return whether there was one."""
        reply = self.take_join(member)
        if reply is not None:
            reply.complete(response)
        return reply is not None

    def await_sync(self, member: ClassicGroupMember, reply: Reply[SyncGroupResponse]) -> None:
        """Store a waiting SyncGroup; see ``await_join``."""
        self.complete_sync(member, SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS))
        member.awaiting_sync = reply

    def take_sync(self, member: ClassicGroupMember) -> Reply[SyncGroupResponse] | None:
        """Return the waiting SyncGroup of ``member``; see ``take_join``."""
        reply, member.awaiting_sync = member.awaiting_sync, None
        return reply

    def complete_sync(self, member: ClassicGroupMember, response: SyncGroupResponse) -> bool:
        """Answer the waiting SyncGroup of ``member``. Return whether there was one."""
        reply = self.take_sync(member)
        if reply is not None:
            reply.complete(response)
        return reply is not None

    @property
    def has_all_members_joined(self) -> bool:
        return self.awaiting_join_count == len(self.members) and not self.pending_joins

    # --- generations

    @property
    def can_rebalance(self) -> bool:
        return self.state in VALID_PREVIOUS_STATES[PREPARING_REBALANCE]

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of all members."""
        return max([member.rebalance_timeout_ms for member in self.members.values()], default=0)

    def note(self, reason: Reason) -> None:
        """Store a reason for the provenance of the next generation's record. Only the first MAX_REASONS are kept."""
        if len(self._reasons) < MAX_REASONS:
            self._noted += 1
            self._reasons[self._noted] = reason

    def take_reasons(self) -> dict[int, Reason]:
        """Remove and return the reasons for a generation's record. If it is not written, give them to ``take_back``."""
        taken, self._reasons = self._reasons, {}
        return taken

    def take_back(self, reasons: dict[int, Reason]) -> None:
        """Store the reasons of a record that was not written, before all later reasons."""
        self._reasons = dict(sorted((reasons | self._reasons).items()))

    def transition_to(self, state: ClassicGroupState, wall_ms: int) -> None:
        """Change the state. Only the transitions of ``state.py`` are allowed."""
        assert self.state in VALID_PREVIOUS_STATES[state], f"group {self.group_id}: {self.state} to {state}"
        self.previous_state = self.state
        self.state = state
        self.current_state_timestamp = wall_ms

    def elect_joined_leader(self) -> bool:
        """Make a member that has joined the leader, if the leader has not. Return False if no member has joined."""
        leader = None if self.leader_id is None else self.members[self.leader_id]
        if leader is not None and leader.awaiting_join is None:
            joined = next((member for member in self.members.values() if member.awaiting_join is not None), None)
            if joined is not None:
                self.leader_id = joined.member_id
            return joined is not None
        return leader is not None

    def start_next_generation(self, wall_ms: int) -> None:
        """End the join phase and start a generation with the present members, or as an empty group."""
        self.generation_id += 1
        self.pending_syncs.clear()
        if self.members:
            self.protocol_name = self.select_protocol()
            self.transition_to(COMPLETING_REBALANCE, wall_ms)
        else:
            self.protocol_name = None
            self.transition_to(EMPTY, wall_ms)
        self.learn_subscription()

    # --- subscriptions

    def learn_subscription(self) -> None:
        """Set the topics that the members of a new generation consume."""
        if self.protocol_type != CONSUMER or (self.members and self.protocol_name is None):
            self.subscribed_topics = None
        else:
            self.subscribed_topics = subscribed_topics(member.metadata(self.protocol_name) for member in self.members.values())

    def is_subscribed_to(self, topic: str) -> bool:
        """Return whether an offset of this topic is in use. Consumers with unknown subscriptions may consume any topic."""
        if self.subscribed_topics is None:
            return self.protocol_type == CONSUMER
        return topic in self.subscribed_topics

    # --- protocols

    def supports_protocols(self, protocol_type: str, protocols: list[JoinGroupRequestProtocol]) -> bool:
        """Return whether a member with these protocols has one in common with all present members."""
        if self.state is EMPTY:
            return bool(protocol_type and protocols)
        everybody = len(self.members)
        return self.protocol_type == protocol_type and any(
            self.supported_protocols[protocol.name] == everybody for protocol in protocols
        )

    def select_protocol(self) -> str:
        """Return the protocol with the most votes among those that all members support. Ties are resolved as in Kafka."""
        everybody = len(self.members)
        candidates = {name for name, count in self.supported_protocols.items() if count == everybody}
        votes = Counter([member.vote(candidates) for member in self.members.values()])
        return max(hash_map_order(votes), key=votes.__getitem__)

    def count_in(self, total: MemberMemory) -> None:
        """Count the group's memory in a different sum. A new group has one of its own."""
        self._total.used_bytes -= self.memory_bytes
        self._total = total
        total.used_bytes += self.memory_bytes

    def _use_memory(self, change: int) -> None:
        self.memory_bytes += change
        self._total.used_bytes += change

    def _count(self, member: ClassicGroupMember, change: int) -> None:
        """Add a member's protocols and size to those of the group, or subtract what was added."""
        if change > 0:
            member.size = member_size(
                member.member_id, member.group_instance_id, member.client_id, member.client_host, member.protocols
            )
        self._use_memory(change * member.size.memory_bytes)
        self.record_bytes += change * member.size.record_bytes
        # Count each name once: a duplicate would count as two members, and no count would equal the number of members.
        counts, names = self.supported_protocols, [protocol.name for protocol in member.protocols]
        for name in names if len(names) == 1 else set(names):
            count = counts.get(name, 0) + change
            if count:
                counts[name] = count
            else:
                del counts[name]


def _renamed(entries: dict[str, T], old: str, new: str) -> dict[str, T]:
    return {new if key == old else key: value for key, value in entries.items()}
