"""The row of share groups in the table of group types. ``group_type.py`` documents the methods."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final, NoReturn

from coordinator_server.group.group_type import ExpiryRule, GroupContext, Replay, SharedTables
from coordinator_server.group.modern.background_target import BackgroundTargets
from coordinator_server.group.modern.digest import digest_items
from coordinator_server.group.modern.freshness import topics_changed
from coordinator_server.group.modern.leave import expire_session
from coordinator_server.group.modern.sessions import end_all_sessions, start_all_sessions
from coordinator_server.group.share.context import ShareContext
from coordinator_server.group.share.deletion import resume_deletions
from coordinator_server.group.share.describe import UndescribedShareGroup, group_at, group_state
from coordinator_server.group.share.group import share_groups
from coordinator_server.group.share.initialization import resume_initializations
from coordinator_server.group.share.leave import fence
from coordinator_server.group.share.records import RECORDS
from coordinator_server.group.share.target import target_rules
from coordinator_server.group.share.topic_deletion import DeletedTopics
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.timeline import TimelineDict
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.describe_groups import DescribedGroup
from protocol.messages.list_groups import ListedGroup
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from protocol.messages.share_group_records import ShareGroupStatePartitionMetadataKey
from protocol.plain_commits import CommitShape

_PROTOCOL_TYPE: Final = "share"
_INTENTS_PER_MS_BITS: Final = 20


class ShareType:
    """The share groups of one shard."""

    name = "share"

    def __init__(self, context: GroupContext, tables: SharedTables) -> None:
        self.groups = share_groups(tables.registry)
        self._topics = context.topics
        self.context = ShareContext(self.groups, context)
        self.context.background = BackgroundTargets(self.groups, self.context, target_rules(self.context))
        self.context.on_session_end = partial(expire_session, self.context, fence)
        self.deleted_topics = DeletedTopics(self.context)
        self.replay: dict[type[Message], Replay] = self.groups.replay
        self.tables: tuple[TimelineDict[str, Any], ...] = (self.groups.by_id,)

    def __contains__(self, group_id: str, /) -> bool:
        return group_id in self.groups.by_id

    def admit_commit(self, request: OffsetCommitRequest | CommitShape, api_version: int, *, is_transactional: bool) -> NoReturn:
        """Refuse: share groups commit no offsets."""
        raise _not_a_consumer_group(request.group_id)

    def admit_fetch(self, request: OffsetFetchRequestGroup, committed_offset: int) -> None:
        """Accept every request: a share group has no offsets, which is no error in Kafka
        (``OffsetMetadataManager.fetchOffsets``).
        """

    def admit_delete(self, group_id: str) -> None:
        if self.groups.by_id[group_id].members:
            raise CoordinatorError(ErrorCode.NON_EMPTY_GROUP)

    def admit_offset_delete(self, group_id: str) -> NoReturn:
        raise _not_a_consumer_group(group_id)

    def admit_classic_member(self, group_id: str) -> list[CoordinatorRecord]:
        """Refuse: a share group is never replaced by a group of another type, even if it is empty."""
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)

    def admit_restore(self, group_id: str) -> NoReturn:
        raise CoordinatorError(
            ErrorCode.GROUP_ID_NOT_FOUND, f"group {group_id} is a share group, which commits no offsets: nothing to restore"
        )

    def tombstones(self, group_id: str) -> list[CoordinatorRecord]:
        group = self.groups.by_id.get(group_id)
        return (
            []
            if group is None
            else RECORDS.group_tombstones(group_id, group.members, group.targets, [ShareGroupStatePartitionMetadataKey(group_id)])
        )

    def outliving_records(self, group_id: str) -> list[CoordinatorRecord]:
        """Return none: the group's own records keep it."""
        return []

    def is_subscribed_to(self, group_id: str, topic: str) -> bool:
        return topic in self.groups.by_id[group_id].subscribed_topics

    def expiry_rule(self, group_id: str) -> ExpiryRule | None:
        """Return None: share groups have no offsets here, and stay until they are deleted."""
        return None

    def listed(self, group_id: str, committed_offset: int) -> ListedGroup | None:
        group = self.groups.by_id.get_at(group_id, committed_offset)
        if group is None:
            return None
        return ListedGroup(group_id, _PROTOCOL_TYPE, group_state(group, committed_offset).value, self.name)

    def described(self, group_id: str, committed_offset: int) -> DescribedGroup:
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a classic group.")

    def group_at(self, group_id: str, committed_offset: int) -> UndescribedShareGroup:
        """Return what the ShareGroupDescribe answer for a group is made of."""
        group = self.groups.by_id.get_at(group_id, committed_offset)
        assert group is not None
        return group_at(group, committed_offset, self._topics)

    def digest_items(self, group_id: str, committed_offset: int) -> Mapping[str, int]:
        group = self.groups.by_id.get_at(group_id, committed_offset)
        return {} if group is None else digest_items(group, committed_offset)

    def digest_containers(self, group_id: str, committed_offset: int) -> Sequence[object]:
        group = self.groups.by_id.get_at(group_id, committed_offset)
        return () if group is None else group.record_containers

    def topics_changed(self, names: Collection[str]) -> None:
        topics_changed(self.groups, names)

    def on_loaded(self) -> None:
        """Start the sessions, and go on with what the records want done with share partitions."""
        self.context.intents = self.context.clock.now_ms() << _INTENTS_PER_MS_BITS
        start_all_sessions(self.context)
        resume_initializations(self.context)
        resume_deletions(self.context)
        self.deleted_topics.start()

    def on_unloaded(self) -> None:
        """Stop the sessions, and refuse the requests that wait."""
        self.context.background.stop()
        end_all_sessions(self.context)
        self.context.parked.fail_all()


def _not_a_consumer_group(group_id: str) -> CoordinatorError:
    return CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
