"""What groups of the newer protocols have in common: their singleton records, members and targets (``ModernGroup``).

A group is hard state, all of it: the values of its records by key, and what follows from them. Only ``replay`` changes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Generic

from coordinator_server.group.modern.groups_by_topic import GroupServices
from coordinator_server.group.modern.member import M
from coordinator_server.group.modern.records import GroupRecords
from coordinator_server.group.modern.target_assignment import T, TargetAssignment
from coordinator_server.machine.block import EncodedRecord
from coordinator_server.machine.timeline import LATEST, TimelineDict, TimelineValue
from protocol.fields import Message


class ModernGroup(Generic[M, T]):
    """One group, of its members and targets. All containers are timeline containers; ``compared_epoch`` is soft state.

    A subclass says which record types it has, and how a member without records is made, from its id. It keeps what follows from
    the records of members: ``_metadata_put`` and ``_current_put`` get a member before the record (None if it is new) and after it.
    """

    records: ClassVar[GroupRecords]
    new_member: ClassVar[type[Any]]

    __slots__ = (
        "_compared",
        "_services",
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
        # The epoch that was compared, and how many times hard state had been reverted by then.
        self._compared: tuple[int, int] | None = None
        # The singleton records, by type of the key: a group has at most one of each.
        self.head: TimelineDict[type[Message], Any] = TimelineDict(registry)
        self.members: TimelineDict[str, M] = TimelineDict(registry)
        # The largest number of members so far. The order in which Kafka iterates over members depends on it. Not timeline state:
        # it is as it was when the change that raised it is reverted, as in Kafka.
        self.most_members = 0
        self.targets: TimelineDict[str, TargetAssignment[T]] = TimelineDict(registry)
        # Derived: about what the members take in memory, without their assignments; the shard has the sum over its groups.
        self.member_bytes = TimelineValue(registry, 0)

    @property
    def compared_epoch(self) -> int | None:
        """The epoch whose hash was compared with the present topics. None if they may have changed since.

        Changes of topics are passed to the groups of the latest state. So a revert forgets it: a group that is back may have been
        absent from that state, or without these topics.
        """
        compared = self._compared
        return compared[0] if compared is not None and compared[1] == self._services.registry.reverts else None

    @compared_epoch.setter
    def compared_epoch(self, epoch: int | None) -> None:
        self._compared = None if epoch is None else (epoch, self._services.registry.reverts)

    @property
    def is_in_log(self) -> bool:
        """Whether the group has a record."""
        return bool(self.members or self.head or self.targets)

    # --- singleton records

    @property
    def group_epoch(self) -> int:
        """The epoch; 1 before the first record."""
        epoch: int = self.head.get(self.records.epoch_key, self.records.no_epoch).epoch
        return epoch

    @property
    def consumed_topics(self) -> Iterable[str]:
        """The names of the topics whose hash is in the record of the group's epoch."""
        raise NotImplementedError

    @property
    def metadata_hash(self) -> int:
        """The hash of the subscribed topics, as of the group's epoch."""
        found: int = self.head.get(self.records.epoch_key, self.records.no_epoch).metadata_hash
        return found

    @property
    def assignment_epoch(self) -> int:
        """The epoch of the target assignment; 1 before the first record."""
        epoch: int = self.head.get(self.records.target_epoch_key, self.records.no_target_epoch).assignment_epoch
        return epoch

    @property
    def assignment_timestamp(self) -> int:
        """The wall-clock time of the target assignment in milliseconds; 0 if unknown."""
        timestamp: int = self.head.get(self.records.target_epoch_key, self.records.no_target_epoch).assignment_timestamp
        return timestamp

    # --- reads

    def target(self, member_id: str) -> T:
        """Return the target assignment of a member; empty if it has none."""
        assignment = self.targets.get(member_id)
        target: T = self.records.target_form.empty if assignment is None else assignment.target
        return target

    def epochs_at(self, committed_offset: int) -> tuple[int, int]:
        """Return the group's epoch and that of its target assignment as of ``committed_offset``."""
        records = self.records
        epoch: Any = self.head.get_at(records.epoch_key, committed_offset, records.no_epoch)
        target_epoch: Any = self.head.get_at(records.target_epoch_key, committed_offset, records.no_target_epoch)
        return epoch.epoch, target_epoch.assignment_epoch

    def members_at(self, committed_offset: int) -> int:
        """Return the number of members as of ``committed_offset``."""
        members = self.members
        # Usually the members are as they were.
        return len(members) if members.is_as_of(committed_offset) else sum(1 for _ in members.items_at(committed_offset))

    @property
    def record_containers(self) -> tuple[object, ...]:
        """The containers that ``records_at`` reads."""
        return self.head, self.members, self.targets

    def state_at(self, committed_offset: int = LATEST) -> str:
        """Return the state as of ``committed_offset``, as ListGroups names it."""
        raise NotImplementedError

    def other_keys(self) -> Sequence[Message]:
        """Return the keys of records that only this group type has, in the order of their tombstones."""
        raise NotImplementedError

    def records_at(self, committed_offset: int) -> Iterator[tuple[Message, Message]]:
        """Yield the group's records as of ``committed_offset``, with exactly the values that were replayed."""
        records, group_id = self.records, self.group_id
        for key_type, value in self.head.items_at(committed_offset):
            yield key_type(group_id), value
        for member_id, member in self.members.items_at(committed_offset):
            if member.metadata is not records.no_metadata:
                yield records.member_key(group_id, member_id), member.metadata
            if member.current is not records.no_current:
                yield records.current_key(group_id, member_id), member.current
        for member_id, target in self.targets.items_at(committed_offset):
            yield records.target_key(group_id, member_id), target.value

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

    def put_metadata(self, member_id: str, value: Any) -> None:
        """Set or remove a member's subscription."""
        old: Any = self.members.get(member_id)
        if old is None and value is None:
            return
        records = self.records
        member = (old or self.new_member(member_id)).with_metadata(value or records.no_metadata)
        self._put_member(old, member)
        self._count_bytes(records.bytes_of(member.metadata) - (0 if old is None else records.bytes_of(old.metadata)))
        self._metadata_put(old, member)

    def put_current(self, member_id: str, value: Any) -> None:
        """Set or remove a member's assignment."""
        old: Any = self.members.get(member_id)
        if old is None and value is None:
            return
        member = (old or self.new_member(member_id)).with_current(value or self.records.no_current)
        self._put_member(old, member)
        self._current_put(old, member)

    def put_target(self, member_id: str, value: Any) -> None:
        """Set or remove a member's target assignment."""
        if value is not None:
            self.targets[member_id] = TargetAssignment(self.records.target_form.read, value)
        else:
            self.targets.pop(member_id, None)

    def put_encoded_targets(self, end_offset: int, targets: Iterable[tuple[str, EncodedRecord]]) -> None:
        """Do the same with records of the group that stay encoded until they are read, by member id. They end before the offset."""
        self.end_offset.set(end_offset)
        read = self.records.target_form.read
        self.targets.put_all({member_id: TargetAssignment(read, None, record) for member_id, record in targets})

    def _metadata_put(self, old: M | None, member: M) -> None:
        raise NotImplementedError

    def _current_put(self, old: M | None, member: M) -> None:
        """Do nothing, unless something follows from the assignments of members."""

    def _put_member(self, old: M | None, member: M) -> None:
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
