"""Groups of the protocols that are not served yet: consumer (KIP-848), share (KIP-932) and streams (KIP-1071).

Their records come from an imported log and stay in it. What is known of them is enough to leave them alone, and to prove that nothing of them
was lost: a group exists while one of its records does, has members while a member's record exists, and its digest has an item for each record. A
classic member may take an *empty* consumer or streams group over, as in Kafka: the first join writes the tombstones of its records. Nobody may join any
other one, or commit as a member of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from coordinator_server.group.group_type import ExpiryRule, GroupContext, Replay, SharedTables
from coordinator_server.machine.digest import item_digest
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.timeline import TimelineDict
from protocol.codec import encode
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages import consumer_group_records as consumer
from protocol.messages import share_group_records as share
from protocol.messages import streams_group_records as streams
from protocol.messages.describe_groups import DescribedGroup
from protocol.messages.list_groups import ListedGroup
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from protocol.plain_commits import CommitShape

_EMPTY: Final = "Empty"
# How far its members are only they could tell, and they cannot reach us.
_UNKNOWN: Final = "Unknown"
_KEY_VERSION: Final = 0
_TYPE_BYTES: Final = 2

# A record's type, and what beside the group id is in its key: a member id or a regular expression.
RecordName = tuple[type[Message], str]


class ImportedRecords(Struct, frozen=True):
    """The record types of one group type. With ``commits_offsets`` its groups have offsets, and a classic group may take their place."""

    name: str
    member: type[Message]
    others: tuple[type[Message], ...]
    commits_offsets: bool = True


CONSUMER_RECORDS: Final = ImportedRecords(
    "consumer",
    consumer.ConsumerGroupMemberMetadataKey,
    (
        consumer.ConsumerGroupMetadataKey,
        consumer.ConsumerGroupPartitionMetadataKey,
        consumer.ConsumerGroupTargetAssignmentMetadataKey,
        consumer.ConsumerGroupTargetAssignmentMemberKey,
        consumer.ConsumerGroupCurrentMemberAssignmentKey,
        consumer.ConsumerGroupRegularExpressionKey,
    ),
)
SHARE_RECORDS: Final = ImportedRecords(
    "share",
    share.ShareGroupMemberMetadataKey,
    (
        share.ShareGroupMetadataKey,
        share.ShareGroupTargetAssignmentMetadataKey,
        share.ShareGroupTargetAssignmentMemberKey,
        share.ShareGroupCurrentMemberAssignmentKey,
        share.ShareGroupStatePartitionMetadataKey,
    ),
    commits_offsets=False,
)
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
    """The groups of one of these types in one shard: ``by_id`` has the hash of each of their records, by its name."""

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
        """An administrator may while the group is empty; a member cannot be told from a stranger."""
        self._refuse_without_offsets(request.group_id)
        generation_id = request.generation_id_or_member_epoch
        if generation_id < 0 and not self._has_members(request.group_id):
            return
        is_anonymous = generation_id < 0 and not request.member_id and request.group_instance_id is None
        if not (is_transactional and is_anonymous):
            raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)

    def admit_fetch(self, request: OffsetFetchRequestGroup, committed_offset: int) -> None:
        """Anybody may: there is no telling who is a member."""

    def admit_delete(self, group_id: str) -> None:
        if self._has_members(group_id):
            raise CoordinatorError(ErrorCode.NON_EMPTY_GROUP)

    def admit_offset_delete(self, group_id: str) -> None:
        """What members consume is not known here."""
        self._refuse_without_offsets(group_id)
        self.admit_delete(group_id)

    def admit_classic_member(self, group_id: str) -> list[CoordinatorRecord]:
        """The tombstones that make room for a classic group of this id."""
        if not self._records.commits_offsets or self._has_members(group_id):
            raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        return self.tombstones(group_id)

    def admit_restore(self, group_id: str) -> None:
        if not self._records.commits_offsets:
            raise CoordinatorError(
                ErrorCode.GROUP_ID_NOT_FOUND,
                f"group {group_id} is a {self.name} group, which commits no offsets: nothing to restore",
            )
        if self._has_members(group_id):
            raise CoordinatorError(
                ErrorCode.NON_EMPTY_GROUP,
                f"group {group_id} is a {self.name} group that was imported with members: stop them in the cluster that serves it, "
                "and import again",
            )

    def tombstones(self, group_id: str) -> list[CoordinatorRecord]:
        return [CoordinatorRecord(_key(record_type, group_id, rest), None) for record_type, rest in self.by_id.get(group_id, ())]

    def outliving_records(self, group_id: str) -> list[CoordinatorRecord]:
        """Its own records keep it."""
        return []

    def is_subscribed_to(self, group_id: str, topic: str) -> bool:
        """Only groups without members are asked."""
        return False

    def expiry_rule(self, group_id: str) -> ExpiryRule | None:
        """Never: what keeps an offset in use is not known here."""
        return None

    def listed(self, committed_offset: int) -> Iterable[ListedGroup]:
        """The state of a group that has members is not known here."""
        for group_id, records in self.by_id.items_at(committed_offset):
            has_members = any(record_type is self._records.member for (record_type, _), _ in records.items_at(committed_offset))
            yield ListedGroup(group_id, self.name, _UNKNOWN if has_members else _EMPTY, self.name)

    def described(self, group_id: str, committed_offset: int) -> DescribedGroup:
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a classic group.")

    def digest_items(self, group_id: str, committed_offset: int) -> Mapping[str, int]:
        records = self.by_id.get_at(group_id, committed_offset)
        items = () if records is None else records.items_at(committed_offset)
        return {_shown(name): digest for name, digest in items}

    def digest_containers(self, group_id: str, committed_offset: int) -> Sequence[object]:
        records = self.by_id.get_at(group_id, committed_offset)
        return () if records is None else (records,)

    def on_loaded(self) -> None:
        """Nothing but hard state here."""

    def on_unloaded(self) -> None:
        """Nobody waits."""

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

    def _refuse_without_offsets(self, group_id: str) -> None:
        if not self._records.commits_offsets:
            raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")


def record_digest(key: Message, value: Message) -> int:
    """The hash of a record: its key with the record type, and its value at the newest version, whichever one it was written at."""
    assert key.kafka.key is not None
    return item_digest(key.kafka.key.to_bytes(_TYPE_BYTES) + encode(key, _KEY_VERSION), encode(value, value.kafka.versions.high))


def _shown(name: RecordName) -> str:
    record_type, rest = name
    shown = record_type.__name__.removesuffix("Key")
    return f"{shown} {rest}" if rest else shown


def _key(record_type: type[Message], group_id: str, rest: str) -> Message:
    return record_type(group_id, rest) if len(record_type.__struct_fields__) > 1 else record_type(group_id)
