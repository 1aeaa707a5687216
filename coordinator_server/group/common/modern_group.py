"""What groups of the newer protocols have in common: their singleton records, members and targets (``ModernGroup``).

A group is hard state, all of it: the values of its records by key, and what follows from them. Only ``replay`` changes it.
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Protocol, TypeVar

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.common.group_table import GroupServices
from coordinator_server.group.common.target_assignment import NO_PARTITIONS, TargetAssignment, TargetValue
from coordinator_server.machine.block import EncodedRecord
from coordinator_server.machine.timeline import TimelineDict, TimelineValue
from protocol.fields import Message


class RecordedMember(Protocol):
    """A member that exists while one of its records does."""

    @property
    def member_id(self) -> str: ...

    @property
    def is_in_log(self) -> bool: ...


M = TypeVar("M", bound=RecordedMember)
V = TypeVar("V", bound=TargetValue)


class ModernGroup(Generic[M, V]):
    """One group. All containers are timeline containers; ``compared_epoch`` is soft state.

    A subclass says which keys the records of the group's epoch and of its target have, and their values before the first record.
    """

    epoch_key: ClassVar[type[Message]]
    no_epoch: ClassVar[Any]
    target_key: ClassVar[type[Message]]
    no_target: ClassVar[Any]

    __slots__ = (
        "_services",
        "compared_epoch",
        "end_offset",
        "group_id",
        "head",
        "member_bytes",
        "members",
        "most_members",
        "targets",
    )

    def __init__(self, group_id: str, services: GroupServices) -> None:
        self.group_id = group_id
        self._services = services
        registry = services.registry
        # The offset after the group's last record: answers about the group wait until the log is durable up to it.
        self.end_offset = TimelineValue(registry, 0)
        # Soft state: the epoch whose hash was compared with the present topics; None if they may have changed since.
        self.compared_epoch: int | None = None
        # The singleton records, by type of the key: a group has at most one of each.
        self.head: TimelineDict[type[Message], Any] = TimelineDict(registry)
        self.members: TimelineDict[str, M] = TimelineDict(registry)
        # The largest number of members so far. The order in which Kafka iterates over members depends on it. Not timeline state:
        # it is as it was when the change that raised it is reverted, as in Kafka.
        self.most_members = 0
        self.targets: TimelineDict[str, TargetAssignment[V]] = TimelineDict(registry)
        # Derived: about what the members take in memory, without their assignments; the shard has the sum over its groups.
        self.member_bytes = TimelineValue(registry, 0)

    @property
    def is_in_log(self) -> bool:
        """Whether the group has a record."""
        return bool(self.members or self.head or self.targets)

    # --- singleton records

    @property
    def group_epoch(self) -> int:
        """The epoch; 1 before the first record."""
        epoch: int = self.head.get(self.epoch_key, self.no_epoch).epoch
        return epoch

    @property
    def metadata_hash(self) -> int:
        """The hash of the subscribed topics, as of the group's epoch."""
        found: int = self.head.get(self.epoch_key, self.no_epoch).metadata_hash
        return found

    @property
    def assignment_epoch(self) -> int:
        """The epoch of the target assignment; 1 before the first record."""
        epoch: int = self.head.get(self.target_key, self.no_target).assignment_epoch
        return epoch

    @property
    def assignment_timestamp(self) -> int:
        """The wall-clock time of the target assignment in milliseconds; 0 if unknown."""
        timestamp: int = self.head.get(self.target_key, self.no_target).assignment_timestamp
        return timestamp

    # --- reads

    def target(self, member_id: str) -> Partitions:
        """Return the target assignment of a member; empty if it has none."""
        target = self.targets.get(member_id)
        return NO_PARTITIONS if target is None else target.partitions

    def is_target_due(self, interval_ms: int, now_ms: int) -> bool:
        """Return whether the assignment interval since the last target has passed, by the wall clock. No timer applies it.

        A wall clock that was set back counts as passed; Kafka would wait until it reaches the time of the last target.
        """
        last = self.assignment_timestamp
        return last == 0 or interval_ms == 0 or not last <= now_ms < last + interval_ms

    # --- replay

    def put_head(self, key_type: type[Message], value: Any) -> None:
        """Set or remove a singleton record."""
        if value is not None:
            self.head[key_type] = value
        else:
            self.head.pop(key_type, None)

    def put_target(self, member_id: str, value: V | None) -> None:
        """Set or remove a member's target assignment."""
        if value is not None:
            self.targets[member_id] = TargetAssignment(value)
        else:
            self.targets.pop(member_id, None)

    def put_encoded_target(self, offset: int, member_id: str, record: EncodedRecord) -> None:
        """Do the same with a record of the group that stays encoded until it is read."""
        self.end_offset.set(offset + 1)
        self.targets[member_id] = TargetAssignment(None, record)

    def _put_member(self, member: M) -> None:
        """Set a member, or remove one without a record."""
        if member.is_in_log:
            self.members[member.member_id] = member
            self.most_members = max(self.most_members, len(self.members))
        else:
            del self.members[member.member_id]

    def _count_bytes(self, more: int) -> None:
        """Add to what the members take in memory."""
        if more:
            self.member_bytes.set(self.member_bytes.value + more)
            self._services.member_bytes.set(self._services.member_bytes.value + more)


def put_head(group: ModernGroup[Any, Any], key: Message, value: Message | None) -> None:
    """Set or remove a singleton record (for ``GroupTable.replaying``)."""
    group.put_head(type(key), value)
