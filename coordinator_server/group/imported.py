"""Groups of the protocols that are not served yet: streams (KIP-1071).

Their records come from an imported log and stay in it. The state kept here is enough to preserve them and to prove that nothing
was lost: a group exists while one of its records does, has members while a member record exists, and its digest has an item for
each record. As in Kafka, a classic member may take over an *empty* streams group: the first join writes the
tombstones of the group's records. All other joins, and commits by members of these groups, are refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from coordinator_server.group.common.record_digest import item_name, record_digest
from coordinator_server.group.group_type import ExpiryRule, GroupContext, Replay, SharedTables
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.timeline import TimelineDict
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages import streams_group_records as streams
from protocol.messages.describe_groups import DescribedGroup
from protocol.messages.list_groups import ListedGroup
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from protocol.plain_commits import CommitShape

_EMPTY: Final = "Empty"
# The state depends on the members, which this server does not serve.
_UNKNOWN: Final = "Unknown"

# A record's type, and the part of its key after the group id: a member id or a regular expression.
RecordName = tuple[type[Message], str]


class ImportedRecords(Struct, frozen=True):
    """The record types of one group type."""

    name: str
    member: type[Message]
    others: tuple[type[Message], ...]


STREAMS_RECORDS: Final = ImportedRecords(
    "streams",
    streams.StreamsGroupMemberMetadataKey,
    (
        streams.StreamsGroupMetadataKey,
        streams.StreamsGroupTargetAssignmentMetadataKey,
        streams.StreamsGroupTargetAssignmentMemberKey,
        streams.StreamsGroupCurrentMemberAssignmentKey,
        streams.StreamsGroupTopologyKey,
    ),
)


class ImportedType:
    """The groups of one of these types in one shard. ``by_id`` has the hash of each of their records, by RecordName."""

    def __init__(self, records: ImportedRecords, _context: GroupContext, tables: SharedTables) -> None:
        self.name = records.name
        self._records = records
        self._registry = tables.registry
        self.by_id: TimelineDict[str, TimelineDict[RecordName, int]] = TimelineDict(tables.registry)
        self.tables: tuple[TimelineDict[str, Any], ...] = (self.by_id,)
        self.replay: dict[type[Message], Replay] = dict.fromkeys((records.member, *records.others), self._replay)

    def __contains__(self, group_id: str, /) -> bool:
        return group_id in self.by_id

    def admit_commit(self, request: OffsetCommitRequest | CommitShape, api_version: int, *, is_transactional: bool) -> None:
        """Accept commits of administrators while the group is empty, and transactional commits without a member.

        Refuse commits of members, which cannot be verified.
        """
        generation_id = request.generation_id_or_member_epoch
        if generation_id < 0 and not self._has_members(request.group_id):
            return
        is_anonymous = generation_id < 0 and not request.member_id and request.group_instance_id is None
        if not (is_transactional and is_anonymous):
            raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)

    def admit_fetch(self, request: OffsetFetchRequestGroup, committed_offset: int) -> None:
        """Accept every request, because members cannot be verified."""

    def admit_delete(self, group_id: str) -> None:
        if self._has_members(group_id):
            raise CoordinatorError(ErrorCode.NON_EMPTY_GROUP)

    def admit_offset_delete(self, group_id: str) -> None:
        """Refuse if the group has members, because their subscriptions are unknown."""
        self.admit_delete(group_id)

    def admit_classic_member(self, group_id: str) -> list[CoordinatorRecord]:
        """Return the tombstones of an empty group, which a classic group of this id replaces."""
        if self._has_members(group_id):
            raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        return self.tombstones(group_id)

    def admit_restore(self, group_id: str) -> None:
        if self._has_members(group_id):
            raise CoordinatorError(
                ErrorCode.NON_EMPTY_GROUP,
                f"group {group_id} is a {self.name} group that was imported with members: stop them in the cluster that serves it, "
                "and import again",
            )

    def tombstones(self, group_id: str) -> list[CoordinatorRecord]:
        return [CoordinatorRecord(_key(record_type, group_id, rest), None) for record_type, rest in self.by_id.get(group_id, ())]

    def outliving_records(self, group_id: str) -> list[CoordinatorRecord]:
        """Return none: the group's own records keep it."""
        return []

    def is_subscribed_to(self, group_id: str, topic: str) -> bool:
        """Return False: it is called only for groups without members."""
        return False

    def expiry_rule(self, group_id: str) -> ExpiryRule | None:
        """Return None: the offsets never expire, because their use is unknown."""
        return None

    def listed(self, group_id: str, committed_offset: int) -> ListedGroup | None:
        """Return the entry. The state of a group with members is unknown."""
        records = self.by_id.get_at(group_id, committed_offset)
        if records is None:
            return None
        has_members = any(record_type is self._records.member for (record_type, _), _ in records.items_at(committed_offset))
        return ListedGroup(group_id, self.name, _UNKNOWN if has_members else _EMPTY, self.name)

    def described(self, group_id: str, committed_offset: int) -> DescribedGroup:
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a classic group.")

    def digest_items(self, group_id: str, committed_offset: int) -> Mapping[str, int]:
        records = self.by_id.get_at(group_id, committed_offset)
        items = () if records is None else records.items_at(committed_offset)
        return {item_name(*name): digest for name, digest in items}

    def digest_containers(self, group_id: str, committed_offset: int) -> Sequence[object]:
        records = self.by_id.get_at(group_id, committed_offset)
        return () if records is None else (records,)

    def topics_changed(self, names: Collection[str]) -> None:
        """Do nothing: nothing here follows topics."""

    def on_loaded(self) -> None:
        """Do nothing: there is no soft state."""

    def on_unloaded(self) -> None:
        """Do nothing: no requests wait."""

    def _replay(self, offset: int, key: Message, value: Message | None) -> None:
        group_id, *rest = (getattr(key, name) for name in key.__struct_fields__)
        name: RecordName = (type(key), "".join(rest))
        records = self.by_id.get(group_id)
        if value is not None:
            if records is None:
                records = self.by_id[group_id] = TimelineDict(self._registry)
            records[name] = record_digest(key, value)
        elif records is not None and name in records:
            del records[name]
            if not records:
                del self.by_id[group_id]

    def _has_members(self, group_id: str) -> bool:
        return any(record_type is self._records.member for record_type, _ in self.by_id.get(group_id, ()))


def _key(record_type: type[Message], group_id: str, rest: str) -> Message:
    return record_type(group_id, rest) if len(record_type.__struct_fields__) > 1 else record_type(group_id)
