"""GroupShard: one partition of ``__consumer_offsets`` as a state machine. It composes; each message has its own module.

``replay`` is a table by record type. Records of types that are not known here are none of its business: the loader skips them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec.structs import replace

from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.config import Config
from coordinator_server.group import delete, describe, restore
from coordinator_server.group.classic import heartbeat, join, leave, sync
from coordinator_server.group.classic.attempt import JoinAttempt
from coordinator_server.group.commit import admit
from coordinator_server.group.digest import GroupDigests
from coordinator_server.group.expiry import Due, OffsetExpiry
from coordinator_server.group.group_type import GroupContext
from coordinator_server.group.registry import Groups
from coordinator_server.group.restore import Restore, Restored
from coordinator_server.group.topic_deletion import TopicDeletion
from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.shard import (
    CheckpointState,
    Clock,
    CoordinatorResult,
    CoordinatorTimer,
    PlainRecords,
    Producer,
    Reply,
    RequestContext,
    TransactionResult,
)
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.offsets.attribution import speaking_for
from coordinator_server.offsets.bulk import BulkReplay
from coordinator_server.offsets.commit import NO_RETENTION_TIME, commit_records, plain_commit_records
from coordinator_server.offsets.fetch import fetch_offsets
from coordinator_server.offsets.logged_shape import LoggedShape
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.delete_groups import DeletableGroupResult
from protocol.messages.describe_groups import DescribedGroup
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from protocol.messages.list_groups import ListedGroup
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from protocol.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchResponseGroup
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from protocol.plain_commits import AcceptedCommit, PlainCommit

T = TypeVar("T")


class GroupShard:
    """Write operations take (context, request, reply) and may raise CoordinatorError; read operations take the committed offset first."""

    def __init__(
        self,
        *,
        config: Config,
        registry: SnapshotRegistry,
        timer: CoordinatorTimer,
        clock: Clock,
        new_id: Callable[[], str],
    ) -> None:
        self._context = context = GroupContext(config, timer, clock, new_id)
        self.groups = Groups(context, registry)
        self._classic = self.groups.classic_context
        self.expiry = OffsetExpiry(self.groups, context)
        self._topic_deletion = TopicDeletion(self.groups, timer)
        self._digests = GroupDigests(self.groups, registry)
        self._replay = self.groups.replay_table()

    # --- write operations

    def join_group(
        self, context: RequestContext, request: JoinGroupRequest, reply: Reply[JoinGroupResponse]
    ) -> CoordinatorResult[JoinGroupResponse]:
        """Answered when the join phase is over, or at once."""
        return _spoken_for(request, join.join_group(self._classic, JoinAttempt(context, request, reply)))

    def sync_group(
        self, context: RequestContext, request: SyncGroupRequest, reply: Reply[SyncGroupResponse]
    ) -> CoordinatorResult[SyncGroupResponse]:
        """Answered when the leader's assignments are durable, or at once."""
        return _spoken_for(request, sync.sync_group(self._classic, context, request, reply))

    def heartbeat(
        self, context: RequestContext, request: HeartbeatRequest, reply: Reply[HeartbeatResponse]
    ) -> CoordinatorResult[HeartbeatResponse]:
        """Does not wait for records of other groups, nor for offsets."""
        return heartbeat.heartbeat(self._classic, request)

    def leave_group(
        self, context: RequestContext, request: LeaveGroupRequest, reply: Reply[LeaveGroupResponse]
    ) -> CoordinatorResult[LeaveGroupResponse]:
        """Any version's shape of request and response."""
        return leave.leave_group(self._classic, context, request)

    def commit_offsets(
        self, context: RequestContext, request: OffsetCommitRequest, reply: Reply[OffsetCommitResponse]
    ) -> CoordinatorResult[OffsetCommitResponse]:
        """Topics have names here; a topic id, where there is one, is stored with the offset."""
        groups = self.groups
        if request.retention_time_ms != NO_RETENTION_TIME:
            self.expiry.forget_bound(request.group_id)
        admit(groups, request, context.api_version)
        own = self._context
        return commit_records(groups.offsets, request, own.clock.wall_ms(), own.config.offset_metadata_max_bytes)

    def commit_plain(
        self, context: RequestContext, request: PlainCommit[LoggedShape], reply: Reply[AcceptedCommit]
    ) -> CoordinatorResult[AcceptedCommit]:
        """As ``commit_offsets``, for a plain request whose topics are known."""
        groups = self.groups
        admit(groups, request.shape, context.api_version)
        return plain_commit_records(groups.offsets, request, self._context.clock.wall_ms())

    def fetch_stable_offsets(
        self, context: RequestContext, request: OffsetFetchRequestGroup, reply: Reply[OffsetFetchResponseGroup]
    ) -> CoordinatorResult[OffsetFetchResponseGroup]:
        """``require_stable``: everything written so far, answered when it is durable (KIP-447), but for what a transaction may change."""
        if self.groups.others:
            self.groups.type_of(request.group_id).admit_fetch(request, LATEST)
        unstable = self.groups.pending.open_at(request.group_id, LATEST)
        return CoordinatorResult(fetch_offsets(self.groups.offsets, LATEST, request, unstable))

    def delete_groups(
        self, context: RequestContext, group_ids: list[str], reply: Reply[list[DeletableGroupResult]]
    ) -> CoordinatorResult[list[DeletableGroupResult]]:
        """Groups of this shard; each has its own answer."""
        return delete.delete_groups(self.groups, group_ids)

    def delete_offsets(
        self, context: RequestContext, request: OffsetDeleteRequest, reply: Reply[OffsetDeleteResponse]
    ) -> CoordinatorResult[OffsetDeleteResponse]:
        """Each partition has its own answer."""
        return delete.delete_group_offsets(self.groups, request)

    def delete_topics(
        self, context: RequestContext, topics: Sequence[DeletedTopic], reply: Reply[None]
    ) -> CoordinatorResult[None]:
        """Topics are gone, and what was committed for them goes. Answered when the first of it has gone; the rest follows."""
        return self._topic_deletion.begin(topics)

    def restore_offsets(self, context: RequestContext, request: Restore, reply: Reply[Restored]) -> CoordinatorResult[Restored]:
        """Exactly these offsets, in one operation."""
        return restore.restore_offsets(self.groups, request, self._context.clock.wall_ms())

    # --- read operations

    def last_stable_offset(self, committed_offset: int) -> int:
        """The offset of the first record that an open transaction may still take back, or the end of what is durable."""
        return self.groups.pending.first_at(committed_offset, committed_offset)

    def expiring(self, committed_offset: int, group_id: str) -> list[Due]:
        """When the offsets of a group expire as things are now; those that do not are left out."""
        return self.expiry.due(group_id)

    def fetch_offsets(self, committed_offset: int, request: OffsetFetchRequestGroup) -> OffsetFetchResponseGroup:
        """The offsets of one group; all of them when the request's topics are None."""
        if self.groups.others:
            self.groups.type_at(request.group_id, committed_offset).admit_fetch(request, committed_offset)
        return fetch_offsets(self.groups.offsets, committed_offset, request)

    def describe_group(self, committed_offset: int, group_id: str) -> DescribedGroup:
        """One group; raises GROUP_ID_NOT_FOUND."""
        return describe.describe_group(self.groups, committed_offset, group_id)

    def list_groups(self, committed_offset: int, states: list[str], types: list[str]) -> list[ListedGroup]:
        """The groups of this shard that pass both filters."""
        return describe.list_groups(self.groups, committed_offset, states, types)

    def digest(self, committed_offset: int, max_items: int, with_parts: bool = True) -> StateDigest | None:
        """What all groups come to. None when there is more to hash than ``max_items``: ask again."""
        return self._digests.ask(committed_offset, max_items, with_parts)

    # --- life

    def replay(self, offset: int, record: CoordinatorRecord, /) -> None:
        """Apply one record to hard state."""
        self._replay[type(record.key)](offset, record.key, record.value)

    def replay_in_transaction(self, producer: Producer, offset: int, record: CoordinatorRecord, /) -> None:
        """Offsets wait for the end of their transaction. Nothing else is ever part of one; Kafka applies it as it stands."""
        if isinstance(record.key, OffsetCommitKey):
            assert record.value is None or isinstance(record.value, OffsetCommitValue)
            self.groups.pending.replay(producer, offset, record.key, record.value)
        else:
            self.replay(offset, record)

    def replay_end_transaction_marker(self, producer: Producer, result: TransactionResult, /) -> None:
        """The offsets of a transaction become valid, or are forgotten."""
        self.groups.pending.end(producer, result)

    def rest_on(self, checkpoint: CheckpointState, /) -> bool:
        """Offsets of groups that nobody has asked for yet stay where they are."""
        self.groups.offsets.rest_on(checkpoint)
        return True

    def plain_records(self) -> PlainRecords:
        """Offset commits are nearly all of a log."""
        return BulkReplay(self.groups.offsets)

    def on_loaded(self) -> None:
        """Sessions of the members that the log knows begin anew."""
        for group_type in self.groups.types.values():
            group_type.on_loaded()
        self.expiry.start()

    def on_unloaded(self) -> None:
        """Whoever waits looks for the new coordinator."""
        self.expiry.stop()
        for group_type in self.groups.types.values():
            group_type.on_unloaded()
        self.groups.offsets.close()


def _spoken_for(request: JoinGroupRequest | SyncGroupRequest, result: CoordinatorResult[T]) -> CoordinatorResult[T]:
    """The records are due to the member that the request speaks for."""
    member = speaking_for(request.member_id, request.group_instance_id) if result.records else None
    if member is None:
        return result
    return replace(result, attribution=member if result.attribution is None else member.followed_by(result.attribution))
