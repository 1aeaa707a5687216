"""The row of consumer groups in the table of group types. ``group_type.py`` documents the methods."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from coordinator_server.config.values import consumer_assignors
from coordinator_server.group.consumer import offsets
from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.describe import UndescribedGroup, group_at
from coordinator_server.group.consumer.group import consumer_groups
from coordinator_server.group.consumer.leave import expire_revocation, fence
from coordinator_server.group.consumer.records import group_tombstones
from coordinator_server.group.consumer.revocation import await_revocation
from coordinator_server.group.consumer.state import group_state
from coordinator_server.group.consumer.target import target_rules
from coordinator_server.group.group_type import CheckPartition, ExpiryRule, GroupContext, Replay, SharedTables
from coordinator_server.group.modern.background_target import BackgroundTargets
from coordinator_server.group.modern.digest import digest_items
from coordinator_server.group.modern.freshness import topics_changed
from coordinator_server.group.modern.leave import expire_session
from coordinator_server.group.modern.sessions import end_all_sessions, start_all_sessions
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.timeline import TimelineDict
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.consumer_protocol import CONSUMER
from protocol.messages.describe_groups import DescribedGroup
from protocol.messages.list_groups import ListedGroup
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from protocol.plain_commits import CommitShape


class ConsumerType:
    """The consumer groups of one shard."""

    name = "consumer"

    def __init__(self, context: GroupContext, tables: SharedTables) -> None:
        self.groups = consumer_groups(tables.registry)
        self._topics = context.topics
        self._default_assignor = consumer_assignors(context.config)[0]
        self.context = ConsumerContext(self.groups, context)
        self.context.background = BackgroundTargets(self.groups, self.context, target_rules(self.context))
        self.context.on_session_end = partial(expire_session, self.context, fence)
        self.context.on_restart = partial(await_revocation, self.context)
        self.context.on_revocation_end = partial(expire_revocation, self.context)
        self.replay: dict[type[Message], Replay] = self.groups.replay
        self.tables: tuple[TimelineDict[str, Any], ...] = (self.groups.by_id,)

    def __contains__(self, group_id: str, /) -> bool:
        return group_id in self.groups.by_id

    def admit_commit(
        self, request: OffsetCommitRequest | CommitShape, api_version: int, *, is_transactional: bool
    ) -> CheckPartition | None:
        group = self.groups.by_id[request.group_id]
        return offsets.admit_commit(group, request, api_version, is_transactional=is_transactional)

    def admit_fetch(self, request: OffsetFetchRequestGroup, committed_offset: int) -> None:
        group = self.groups.by_id.get_at(request.group_id, committed_offset)
        if group is not None:
            offsets.admit_fetch(group, request, committed_offset)

    def admit_delete(self, group_id: str) -> None:
        if self._has_members(group_id):
            raise CoordinatorError(ErrorCode.NON_EMPTY_GROUP)

    def admit_offset_delete(self, group_id: str) -> None:
        """Accept: the subscriptions of all members are known."""

    def admit_classic_member(self, group_id: str) -> list[CoordinatorRecord]:
        """Return the tombstones of an empty group, which a classic group of this id replaces."""
        if self._has_members(group_id):
            raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        return self.tombstones(group_id)

    def admit_restore(self, group_id: str) -> None:
        if self._has_members(group_id):
            raise CoordinatorError(ErrorCode.NON_EMPTY_GROUP, f"group {group_id} has members: stop them first")

    def tombstones(self, group_id: str) -> list[CoordinatorRecord]:
        group = self.groups.by_id.get(group_id)
        return [] if group is None else group_tombstones(group_id, group.members, group.targets, group.regexes)

    def outliving_records(self, group_id: str) -> list[CoordinatorRecord]:
        """Return none: the group's own records keep it."""
        return []

    def is_subscribed_to(self, group_id: str, topic: str) -> bool:
        return topic in self.groups.by_id[group_id].subscribed_topics

    def expiry_rule(self, group_id: str) -> ExpiryRule | None:
        """Return the rule. Members or not, an offset that no subscription covers expires by its own commit."""
        group = self.groups.by_id.get(group_id)
        if group is None:
            return None
        return ExpiryRule(group.subscribed_topics.__contains__, None, is_ending=not group.members)

    def listed(self, group_id: str, committed_offset: int) -> ListedGroup | None:
        group = self.groups.by_id.get_at(group_id, committed_offset)
        if group is None:
            return None
        return ListedGroup(group_id, CONSUMER, group_state(group, committed_offset).value, self.name)

    def described(self, group_id: str, committed_offset: int) -> DescribedGroup:
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a classic group.")

    def group_at(self, group_id: str, committed_offset: int) -> UndescribedGroup:
        """Return what the ConsumerGroupDescribe answer for a group is made of."""
        group = self.groups.by_id.get_at(group_id, committed_offset)
        assert group is not None
        return group_at(group, committed_offset, self._topics, self._default_assignor)

    def digest_items(self, group_id: str, committed_offset: int) -> Mapping[str, int]:
        group = self.groups.by_id.get_at(group_id, committed_offset)
        return {} if group is None else digest_items(group, committed_offset)

    def digest_containers(self, group_id: str, committed_offset: int) -> Sequence[object]:
        group = self.groups.by_id.get_at(group_id, committed_offset)
        return () if group is None else group.record_containers

    def topics_changed(self, names: Collection[str]) -> None:
        topics_changed(self.groups, names)

    def on_loaded(self) -> None:
        start_all_sessions(self.context)

    def on_unloaded(self) -> None:
        """Stop the sessions. No requests wait."""
        self.context.background.stop()
        end_all_sessions(self.context)

    def _has_members(self, group_id: str) -> bool:
        group = self.groups.by_id.get(group_id)
        return group is not None and bool(group.members)
