"""The row of classic groups in the table of group types. ``group_type.py`` documents the methods."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from coordinator_server.group.classic import commit, describe
from coordinator_server.group.classic.context import ClassicContext
from coordinator_server.group.classic.digest import metadata_digest
from coordinator_server.group.classic.group import NO_TIMESTAMP, ClassicGroup
from coordinator_server.group.classic.groups import ClassicGroups
from coordinator_server.group.classic.records import group_tombstone, new_group_record
from coordinator_server.group.classic.sessions import start_restored_sessions
from coordinator_server.group.classic.state import EMPTY, STABLE
from coordinator_server.group.group_type import ExpiryRule, GroupContext, Replay, SharedTables
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.timeline import TimelineDict
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.consumer_protocol import CONSUMER
from protocol.messages.describe_groups import DescribedGroup
from protocol.messages.group_records import GroupMetadataKey
from protocol.messages.list_groups import ListedGroup
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from protocol.plain_commits import CommitShape


class ClassicType:
    """The classic groups of one shard, including simple groups."""

    name = describe.GROUP_TYPE

    def __init__(self, context: GroupContext, tables: SharedTables) -> None:
        self.groups = ClassicGroups(tables, context)
        self.context = ClassicContext(self.groups, context)
        self.groups.on_restored = partial(start_restored_sessions, self.context)
        self.replay: dict[type[Message], Replay] = {GroupMetadataKey: self.groups.replay}
        self.tables: tuple[TimelineDict[str, Any], ...] = (self.groups.stored,)

    def __contains__(self, group_id: str, /) -> bool:
        return group_id in self.groups.stored

    def admit_commit(self, request: OffsetCommitRequest | CommitShape, api_version: int, *, is_transactional: bool) -> None:
        commit.admit_to_classic(self.context, request, api_version, is_transactional)

    def admit_fetch(self, request: OffsetFetchRequestGroup, committed_offset: int) -> None:
        """Accept every request, because classic members do not send their member id."""

    def admit_delete(self, group_id: str) -> None:
        if self._group(group_id).state is not EMPTY:
            raise CoordinatorError(ErrorCode.NON_EMPTY_GROUP)

    def admit_offset_delete(self, group_id: str) -> None:
        """Refuse if the group has members of a protocol type other than consumer, whose topics are unknown."""
        group = self._group(group_id)
        if group.state is not EMPTY and group.protocol_type != CONSUMER:
            raise CoordinatorError(ErrorCode.NON_EMPTY_GROUP)

    def admit_classic_member(self, group_id: str) -> list[CoordinatorRecord]:
        """Return none: members of the classic protocol may join."""
        return []

    def admit_restore(self, group_id: str) -> None:
        group = self.groups.find(group_id)
        if group is not None and group.state is not EMPTY:
            raise CoordinatorError(ErrorCode.NON_EMPTY_GROUP, f"group {group_id} is {group.state.value}: stop its members first")

    def tombstones(self, group_id: str) -> list[CoordinatorRecord]:
        return [group_tombstone(group_id)]

    def outliving_records(self, group_id: str) -> list[CoordinatorRecord]:
        """Return a GroupMetadata record for a group that has none, so that it exists until the next retention check, as in Kafka.

        Kafka keeps such a group in memory; here a group exists only by its records. The group may already have members that have
        not synced yet.
        """
        group = None if group_id in self.groups.stored else self.groups.find(group_id)
        return [] if group is None else [new_group_record(group)]

    def is_subscribed_to(self, group_id: str, topic: str) -> bool:
        return self._group(group_id).is_subscribed_to(topic)

    def expiry_rule(self, group_id: str) -> ExpiryRule | None:
        """Return the rule. A group that was not used yet is built from hard state, without keeping the object."""
        group = self.groups.living(group_id) or self.groups.restored(group_id)
        if group is None:
            return None
        is_empty = group.state is EMPTY
        is_expiring = group.protocol_type is None or is_empty
        is_expiring = is_expiring or (group.state is STABLE and group.subscribed_topics is not None)
        is_dated = group.protocol_type and is_empty and group.current_state_timestamp != NO_TIMESTAMP
        return ExpiryRule(
            group.is_subscribed_to if is_expiring else _is_any_topic,
            group.current_state_timestamp if is_dated else None,
            is_empty,
        )

    def listed(self, group_id: str, committed_offset: int) -> ListedGroup | None:
        return describe.listed(self.groups, group_id, committed_offset)

    def described(self, group_id: str, committed_offset: int) -> DescribedGroup:
        return describe.described(self.groups, group_id, committed_offset)

    def digest_items(self, group_id: str, committed_offset: int) -> Mapping[str, int]:
        stored = self.groups.stored.get_at(group_id, committed_offset)
        return {} if stored is None else {"GroupMetadata": metadata_digest(group_id, stored.value)}

    def digest_containers(self, group_id: str, committed_offset: int) -> Sequence[object]:
        """Return none: records are replaced, never changed."""
        return ()

    def topics_changed(self, names: Collection[str]) -> None:
        """Do nothing: members of classic groups follow the topics themselves."""

    def on_loaded(self) -> None:
        self.groups.restore_members()

    def on_unloaded(self) -> None:
        self.context.answers.finish()
        self.groups.drop_all(ErrorCode.NOT_COORDINATOR)

    def _group(self, group_id: str) -> ClassicGroup:
        group = self.groups.find(group_id)
        if group is None:
            raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND)
        return group


def _is_any_topic(_topic: str) -> bool:
    return True
