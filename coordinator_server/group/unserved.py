"""Groups of the protocols that are not served yet: consumer (KIP-848), share (KIP-932) and streams (KIP-1071).

Their records come from an imported log. They stay in it, and what is known of them here is just enough to leave them alone: a group exists
while one of its records does, and has members while a member's record is there. A classic member may take an *empty* consumer or streams
group over, as in Kafka: the first join writes the tombstones of its records. Nobody may join any other one, or commit as a member of it.
"""

from __future__ import annotations

from typing import Final

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages import consumer_group_records as consumer
from protocol.messages import share_group_records as share
from protocol.messages import streams_group_records as streams
from protocol.messages.list_groups import ListedGroup

CONSUMER: Final = "consumer"
SHARE: Final = "share"
STREAMS: Final = "streams"
KINDS: Final[dict[type[Message], str]] = {
    consumer.ConsumerGroupMetadataKey: CONSUMER,
    consumer.ConsumerGroupPartitionMetadataKey: CONSUMER,
    consumer.ConsumerGroupMemberMetadataKey: CONSUMER,
    consumer.ConsumerGroupTargetAssignmentMetadataKey: CONSUMER,
    consumer.ConsumerGroupTargetAssignmentMemberKey: CONSUMER,
    consumer.ConsumerGroupCurrentMemberAssignmentKey: CONSUMER,
    consumer.ConsumerGroupRegularExpressionKey: CONSUMER,
    share.ShareGroupMemberMetadataKey: SHARE,
    share.ShareGroupMetadataKey: SHARE,
    share.ShareGroupTargetAssignmentMetadataKey: SHARE,
    share.ShareGroupTargetAssignmentMemberKey: SHARE,
    share.ShareGroupCurrentMemberAssignmentKey: SHARE,
    share.ShareGroupStatePartitionMetadataKey: SHARE,
    streams.StreamsGroupMetadataKey: STREAMS,
    streams.StreamsGroupMemberMetadataKey: STREAMS,
    streams.StreamsGroupTargetAssignmentMetadataKey: STREAMS,
    streams.StreamsGroupTargetAssignmentMemberKey: STREAMS,
    streams.StreamsGroupCurrentMemberAssignmentKey: STREAMS,
    streams.StreamsGroupTopologyKey: STREAMS,
}
"""The kind of group that each record type is about."""
_MEMBERS: Final = frozenset(
    {consumer.ConsumerGroupMemberMetadataKey, share.ShareGroupMemberMetadataKey, streams.StreamsGroupMemberMetadataKey}
)
_EMPTY: Final = "Empty"
# How far its members are only they could tell, and they cannot reach us.
_UNKNOWN: Final = "Unknown"

# A record's type, and what beside the group id is in its key: a member id or a regular expression.
RecordName = tuple[type[Message], str]


class UnservedGroup:
    """The records that a group has now."""

    __slots__ = ("kind", "records")

    def __init__(self, kind: str, registry: SnapshotRegistry) -> None:
        self.kind = kind
        self.records: TimelineDict[RecordName, None] = TimelineDict(registry)

    def has_members(self) -> bool:
        """Whether somebody belongs to it, as far as the log knows."""
        return any(record_type in _MEMBERS for record_type, _ in self.records)

    def had_members(self, committed_offset: int) -> bool:
        """The same at a committed offset."""
        return any(record_type in _MEMBERS for (record_type, _), _ in self.records.items_at(committed_offset))


class UnservedGroups:
    """Table of the groups, by id."""

    __slots__ = ("_registry", "by_id")

    def __init__(self, registry: SnapshotRegistry) -> None:
        self._registry = registry
        self.by_id: TimelineDict[str, UnservedGroup] = TimelineDict(registry)

    def replay(self, offset: int, key: Message, value: Message | None) -> None:
        """Apply one record of any of the types."""
        group_id, *rest = (getattr(key, name) for name in key.__struct_fields__)
        name: RecordName = (type(key), "".join(rest))
        kind = KINDS[type(key)]
        group = self.by_id.get(group_id)
        if value is not None:
            if group is None or group.kind != kind:
                group = self.by_id[group_id] = UnservedGroup(kind, self._registry)
            group.records[name] = None
        elif group is not None and group.kind == kind and name in group.records:
            del group.records[name]
            if not group.records:
                del self.by_id[group_id]

    def admit_classic_member(self, group_id: str) -> list[CoordinatorRecord]:
        """The tombstones that make room for a classic group of this id; raises INCONSISTENT_GROUP_PROTOCOL where Kafka does."""
        group = self.by_id.get(group_id)
        if group is None:
            return []
        if group.kind == SHARE or group.has_members():
            raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        return self.tombstones(group_id)

    def tombstones(self, group_id: str) -> list[CoordinatorRecord]:
        """What ends a group; nothing where there is none."""
        group = self.by_id.get(group_id)
        records = () if group is None else group.records
        return [CoordinatorRecord(_key(record_type, group_id, rest), None) for record_type, rest in records]

    def admit_commit(self, group_id: str, generation_id: int) -> None:
        """Whether somebody may commit who does not use membership. Raises CoordinatorError as Kafka does for such groups."""
        group = self.by_id.get(group_id)
        if group is None:
            return
        if group.kind == SHARE:
            raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
        if generation_id >= 0 or group.has_members():
            raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)

    def admit_offset_delete(self, group_id: str) -> bool:
        """Whether it is such a group, and its offsets may go. Raises CoordinatorError where they may not: what members consume is not known."""
        group = self.by_id.get(group_id)
        if group is None:
            return False
        if group.kind == SHARE:
            raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
        if group.has_members():
            raise CoordinatorError(ErrorCode.NON_EMPTY_GROUP)
        return True

    def refuse_describe(self, group_id: str, committed_offset: int) -> None:
        """DescribeGroups tells of classic groups only."""
        if self.by_id.get_at(group_id, committed_offset) is not None:
            raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a classic group.")

    def listed(self, committed_offset: int) -> list[ListedGroup]:
        """One row per group. The state of one that has members is not known here."""
        return [
            ListedGroup(group_id, group.kind, _UNKNOWN if group.had_members(committed_offset) else _EMPTY, group.kind)
            for group_id, group in self.by_id.items_at(committed_offset)
        ]


def _key(record_type: type[Message], group_id: str, rest: str) -> Message:
    return record_type(group_id, rest) if len(record_type.__struct_fields__) > 1 else record_type(group_id)
