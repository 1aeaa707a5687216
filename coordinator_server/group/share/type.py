"""The row of share groups in the table of group types. ``group_type.py`` documents the methods."""

from __future__ import annotations

from typing import Final, NoReturn

from coordinator_server.group.group_type import ExpiryRule, GroupContext, SharedTables
from coordinator_server.group.modern.describe import UndescribedGroup
from coordinator_server.group.modern.type import ModernType
from coordinator_server.group.share.context import ShareContext
from coordinator_server.group.share.deletion import resume_deletions
from coordinator_server.group.share.describe import group_at
from coordinator_server.group.share.group import ShareGroup, share_groups
from coordinator_server.group.share.initialization import resume_initializations
from coordinator_server.group.share.leave import fence
from coordinator_server.group.share.target import target_rules
from coordinator_server.group.share.topic_deletion import DeletedTopics
from coordinator_server.machine.errors import CoordinatorError
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from protocol.plain_commits import CommitShape

_INTENTS_PER_MS_BITS: Final = 20


class ShareType(ModernType[ShareGroup, ShareContext]):
    """The share groups of one shard."""

    name = "share"

    def __init__(self, context: GroupContext, tables: SharedTables) -> None:
        own = ShareContext(share_groups(tables.registry), context)
        super().__init__(own, target_rules(own), fence)
        self.deleted_topics = DeletedTopics(self.context)

    def admit_commit(self, request: OffsetCommitRequest | CommitShape, api_version: int, *, is_transactional: bool) -> NoReturn:
        """Refuse: share groups commit no offsets."""
        raise _not_a_consumer_group(request.group_id)

    def admit_fetch(self, request: OffsetFetchRequestGroup, committed_offset: int) -> None:
        """Accept every request: a share group has no offsets, which is no error in Kafka
        (``OffsetMetadataManager.fetchOffsets``).
        """

    def admit_offset_delete(self, group_id: str) -> NoReturn:
        raise _not_a_consumer_group(group_id)

    def admit_classic_member(self, group_id: str) -> list[CoordinatorRecord]:
        """Refuse: a share group is never replaced by a group of another type, even if it is empty."""
        raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)

    def admit_restore(self, group_id: str) -> NoReturn:
        raise CoordinatorError(
            ErrorCode.GROUP_ID_NOT_FOUND, f"group {group_id} is a share group, which commits no offsets: nothing to restore"
        )

    def expiry_rule(self, group_id: str) -> ExpiryRule | None:
        """Return None: share groups have no offsets here, and stay until they are deleted."""
        return None

    def group_at(self, group_id: str, committed_offset: int) -> UndescribedGroup:
        """Return what the ShareGroupDescribe answer for a group is made of."""
        group = self.groups.by_id.get_at(group_id, committed_offset)
        assert group is not None
        return group_at(group, committed_offset, self.context.topics)

    def on_loaded(self) -> None:
        """Start the sessions, and go on with what the records want done with share partitions."""
        self.context.intents = self.context.clock.now_ms() << _INTENTS_PER_MS_BITS
        super().on_loaded()
        resume_initializations(self.context)
        resume_deletions(self.context)
        self.deleted_topics.start()

    def on_unloaded(self) -> None:
        """Stop the sessions, and refuse the requests that wait."""
        super().on_unloaded()
        self.context.parked.fail_all()


def _not_a_consumer_group(group_id: str) -> CoordinatorError:
    return CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
