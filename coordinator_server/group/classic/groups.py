"""The classic groups of one shard: their hard state, and the living ClassicGroup objects (Kafka's ``GroupMetadataManager``).

The hard state is ``stored``, the last GroupMetadata record of each group, and the offsets. A group exists if it has either. A
group that only has offsets, committed or in an open transaction, is *simple*: its clients do not use group membership. A living
group is built from its hard state on first use. After that, replaying its own records does not change it, because it made them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from coordinator_server.group.classic.group import NO_TIMESTAMP, ClassicGroup
from coordinator_server.group.classic.likeness import are_alike
from coordinator_server.group.classic.member import ClassicGroupMember
from coordinator_server.group.classic.state import DEAD, EMPTY, STABLE
from coordinator_server.group.group_type import GroupContext, SharedTables
from coordinator_server.group.member_memory import MemberMemory
from coordinator_server.machine.timeline import TimelineDict
from protocol.error_codes import ErrorCode
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from protocol.messages.join_group import JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.sync_group import SyncGroupResponse


class StoredGroup(Struct, frozen=True, gc=False):
    """A group's last GroupMetadata record. Answers that depend on it wait until the log is durable up to ``end_offset``."""

    value: GroupMetadataValue
    end_offset: int


class ClassicGroups:
    """The table of classic groups, by id."""

    __slots__ = ("_clock", "_living", "_memory", "_timer", "offsets", "on_restored", "others", "pending", "stored")

    def __init__(self, tables: SharedTables, context: GroupContext) -> None:
        self._clock = context.clock
        self._timer = context.timer
        self._memory = context.member_memory
        self.offsets = tables.offsets
        self.pending = tables.pending
        # Groups of other types. They are not classic, even if they have offsets.
        self.others = tables.others
        self.stored: TimelineDict[str, StoredGroup] = TimelineDict(tables.registry)
        # Called with each group built from hard state, to start its members' sessions.
        self.on_restored: Callable[[ClassicGroup], None] = lambda _group: None
        self._living: dict[str, ClassicGroup] = {}

    def find(self, group_id: str) -> ClassicGroup | None:
        """Return the group in its latest state, committed or not, or None."""
        group = self._living.get(group_id)
        return group if group is not None else self._restore(group_id)

    def create(self, group_id: str) -> ClassicGroup:
        """Create and return a new, empty group."""
        group = self._living[group_id] = ClassicGroup(group_id, EMPTY, self._clock.wall_ms())
        group.count_in(self._memory)
        return group

    def adopt(self, group: ClassicGroup) -> None:
        """Add a group whose record is about to be written, and which knows more than that."""
        assert group.group_id not in self._living
        self._living[group.group_id] = group
        group.count_in(self._memory)

    def exists(self, group_id: str) -> bool:
        """Return whether the group has records, committed or not."""
        return group_id in self.stored or group_id in self.offsets or group_id in self.pending

    def existed_at(self, group_id: str, committed_offset: int) -> bool:
        """Return whether the group existed as of ``committed_offset``."""
        return (
            self.stored.get_at(group_id, committed_offset) is not None
            or self.offsets.has_group_at(group_id, committed_offset)
            or self.pending.by_group.get_at(group_id, committed_offset) is not None
        )

    def depends_on(self, group_id: str) -> int:
        """Return the offset up to which the log must be durable before answers about the group's membership are sent."""
        stored = self.stored.get(group_id)
        return 0 if stored is None else stored.end_offset

    def replay(self, offset: int, key: GroupMetadataKey, value: GroupMetadataValue | None) -> None:
        """Apply one GroupMetadata record."""
        if value is not None:
            self.stored[key.group] = StoredGroup(value, offset + 1)
            return
        self.stored.pop(key.group, None)
        # Only groups without members are deleted. If the tombstone is not written, ``put_back`` restores the group.
        group = self._living.pop(key.group, None)
        if group is not None:
            group.count_in(MemberMemory())

    def restore_members(self) -> None:
        """Build every group with members, so that the sessions of all members run."""
        for group_id, stored in self.stored.items():
            if stored.value.members:
                self.find(group_id)

    def living(self, group_id: str) -> ClassicGroup | None:
        """Return the living group, or None if it was not used since the shard was loaded."""
        return self._living.get(group_id)

    def is_at_rest(self, group_id: str) -> bool:
        """Return whether the group has only committed offsets and was not used since the shard was loaded."""
        return self.is_bare(group_id) and group_id not in self.pending

    def is_bare(self, group_id: str) -> bool:
        """Return whether the group has no record of its own, and was not used since it came to rest: it can have no members."""
        return group_id not in self._living and group_id not in self.stored

    def let_rest(self, group_id: str) -> None:
        """Discard a living group that would be built from its hard state as it is: it has no members, and waits for nothing."""
        group = self._living.get(group_id)
        if group is None or group.members or self.stored.is_noted(group_id):
            return
        if self._timer.is_scheduled(group.join_key) or self._timer.is_scheduled(group.sync_key):
            return
        built = self.restored(group_id)
        if built is not None and are_alike(group, built):
            del self._living[group_id]
            group.count_in(MemberMemory())

    def put_back(self, deleted: Sequence[ClassicGroup], error: ErrorCode | None) -> None:
        """Restore living groups whose tombstones were not written. Called with the outcome; no record is needed."""
        for group in deleted if error is not None else ():
            if self._living.setdefault(group.group_id, group) is group:
                group.count_in(self._memory)

    def drop(self, group: ClassicGroup, failure: ErrorCode) -> None:
        """Remove a living group, and answer its waiting requests with ``failure``. Do nothing if that was done before."""
        if group.state is DEAD:
            return
        if self._living.get(group.group_id) is group:
            del self._living[group.group_id]
        group.transition_to(DEAD, self._clock.wall_ms())
        group.count_in(MemberMemory())
        self._timer.cancel(group.join_key)
        self._timer.cancel(group.sync_key)
        for member_id in (*group.members, *group.pending_joins):
            self._timer.cancel(group.session_key(member_id))
        for member in group.members.values():
            group.complete_join(member, JoinGroupResponse(error_code=failure, member_id=member.member_id))
            group.complete_sync(member, SyncGroupResponse(error_code=failure))

    def drop_all(self, failure: ErrorCode) -> None:
        """Remove every living group, and answer all waiting requests with ``failure``."""
        for group in list(self._living.values()):
            self.drop(group, failure)

    def restored(self, group_id: str) -> ClassicGroup | None:
        """Build a classic group from hard state, without adding it to the table. Return None if there is none."""
        stored = self.stored.get(group_id)
        if stored is not None:
            return restored_group(group_id, stored.value)
        is_simple = self.exists(group_id) and group_id not in self.others
        return ClassicGroup(group_id, EMPTY, self._clock.wall_ms()) if is_simple else None

    def _restore(self, group_id: str) -> ClassicGroup | None:
        group = self.restored(group_id)
        if group is None:
            return None
        self._living[group_id] = group
        group.count_in(self._memory)
        self.on_restored(group)
        return group


def restored_group(group_id: str, value: GroupMetadataValue) -> ClassicGroup:
    """Build the group of a GroupMetadata record: stable if it has members, otherwise empty."""
    group = ClassicGroup(group_id, EMPTY, value.current_state_timestamp)
    group.generation_id = value.generation
    group.protocol_type = value.protocol_type or None
    group.protocol_name = value.protocol
    for metadata in value.members:
        group.add(_restored_member(group, metadata, value.protocol))
    if value.members:
        group.state = STABLE
    group.leader_id = value.leader if value.leader in group.members else next(iter(group.members), None)
    group.learn_subscription()
    return group


def _restored_member(group: ClassicGroup, metadata: MemberMetadata, protocol_name: str | None) -> ClassicGroupMember:
    member = ClassicGroupMember(metadata.member_id, metadata.group_instance_id, metadata.client_id, metadata.client_host)
    member.session_key = group.session_key(metadata.member_id)
    member.session_timeout_ms = metadata.session_timeout
    has_rebalance_timeout = metadata.rebalance_timeout != NO_TIMESTAMP
    member.rebalance_timeout_ms = metadata.rebalance_timeout if has_rebalance_timeout else metadata.session_timeout
    member.protocol_type = group.protocol_type or ""
    member.protocols = [JoinGroupRequestProtocol(protocol_name or "", metadata.subscription)]
    member.assignment = metadata.assignment
    return member
