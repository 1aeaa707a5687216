"""GroupShard: one partition of ``__consumer_offsets`` as a state machine. Each request is implemented in its own module.

``replay`` selects a function by record type. The loader skips records of unknown types.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from coordinator_server.catalog.topics import DeletedTopic
from coordinator_server.group import (
    consumer_heartbeat,
    delete,
    describe,
    restore,
    share_heartbeat,
    share_offsets,
    streams_heartbeat,
)
from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.classic import heartbeat, join, leave, sync
from coordinator_server.group.classic.attempt import JoinAttempt
from coordinator_server.group.commit import admit, check_partitions, check_plain, tell_refused
from coordinator_server.group.describe import EVERY_GROUP, GroupFilter
from coordinator_server.group.digest import GroupDigests
from coordinator_server.group.expiry import Due, OffsetExpiry
from coordinator_server.group.fetch import LatestFetch, PlainFetch, fetch_plain, read_offsets, reading_work
from coordinator_server.group.group_type import GroupContext
from coordinator_server.group.holdup import Holdup
from coordinator_server.group.holdups import holdups
from coordinator_server.group.migration import members as classic_members
from coordinator_server.group.migration.exit import downgrade_without
from coordinator_server.group.migration.join import join_group as join_consumer_group
from coordinator_server.group.migration.preparation import Conversions
from coordinator_server.group.modern.describe import UndescribedGroup
from coordinator_server.group.registry import Groups
from coordinator_server.group.restore import Restore, Restored
from coordinator_server.group.streams.answer import WithMissingTopics
from coordinator_server.group.topic_deletion import TopicDeletion
from coordinator_server.group.transactional_commit import commit_in_transaction
from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import (
    DEFERRED,
    Answered,
    CheckpointState,
    CoordinatorResult,
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
from coordinator_server.offsets.fetch import OFFSETS_PER_STEP, OffsetsMoment
from coordinator_server.offsets.logged_shape import LoggedShape
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.fetch_rows import FetchedOffsets
from protocol.messages.alter_share_group_offsets import AlterShareGroupOffsetsRequest, AlterShareGroupOffsetsResponse
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from protocol.messages.delete_groups import DeletableGroupResult
from protocol.messages.delete_share_group_offsets import DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsResponse
from protocol.messages.describe_groups import DescribedGroup
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from protocol.messages.list_groups import ListedGroup
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from protocol.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from protocol.plain_commits import AcceptedCommit, PlainCommit

T = TypeVar("T")


class GroupShard:
    """The state machine of one partition.

    Write operations take (context, request, reply); read operations take the committed offset first. Both may raise
    CoordinatorError.
    """

    def __init__(self, context: GroupContext, registry: SnapshotRegistry) -> None:
        self._context = context
        self.groups = Groups(context, registry)
        self._classic = self.groups.classic_context
        self.groups.consumer_context.downgrade = partial(downgrade_without, self.groups)
        self.expiry = OffsetExpiry(self.groups, context)
        self._topic_deletion = TopicDeletion(self.groups, context)
        self._conversions = Conversions(self.groups)
        self._digests = GroupDigests(self.groups, registry)
        self._replay = self.groups.replays

    # --- write operations

    def join_group(
        self, context: RequestContext, request: JoinGroupRequest, reply: Reply[JoinGroupResponse]
    ) -> CoordinatorResult[JoinGroupResponse]:
        """Join a group. The reply is answered at the end of the join phase, or at once."""
        attempt = JoinAttempt(context, request, reply)
        group = self.groups.consumer.by_id.get(request.group_id)
        if group is None or not group.members:
            return _spoken_for(request, join.join_group(self._classic, attempt))
        refused = join.refusal(self._classic, attempt)
        if refused is not ErrorCode.NONE:
            attempt.refuse(refused, request.member_id)
            return CoordinatorResult(DEFERRED)
        return _spoken_for(request, join_consumer_group(self.groups, group, attempt))

    def sync_group(
        self, context: RequestContext, request: SyncGroupRequest, reply: Reply[SyncGroupResponse]
    ) -> CoordinatorResult[SyncGroupResponse]:
        """Return a member's assignment. The reply is answered when the leader's assignments are durable, or at once."""
        group = self.groups.consumer.by_id.get(request.group_id)
        if group is not None:
            return classic_members.sync_group(self.groups.consumer_context, group, context, request)
        return _spoken_for(request, sync.sync_group(self._classic, context, request, reply))

    def heartbeat(
        self, context: RequestContext, request: HeartbeatRequest, reply: Reply[HeartbeatResponse]
    ) -> CoordinatorResult[HeartbeatResponse]:
        """Refresh a member's session. The answer never waits for records of other groups, nor for offsets."""
        group = self.groups.consumer.by_id.get(request.group_id)
        if group is not None:
            return classic_members.heartbeat(self.groups.consumer_context, group, request)
        return heartbeat.heartbeat(self._classic, request)

    def consumer_group_heartbeat(
        self, context: RequestContext, request: ConsumerGroupHeartbeatRequest, reply: Reply[ConsumerGroupHeartbeatResponse]
    ) -> CoordinatorResult[ConsumerGroupHeartbeatResponse]:
        """Join a consumer group, stay in it, or leave it. Answered when the records of the group are durable."""
        return consumer_heartbeat.heartbeat(self.groups, self._conversions, context, request, reply)

    def share_group_heartbeat(
        self, context: RequestContext, request: ShareGroupHeartbeatRequest, reply: Reply[ShareGroupHeartbeatResponse]
    ) -> CoordinatorResult[ShareGroupHeartbeatResponse]:
        """Join a share group, stay in it, or leave it. Answered when the records of the group are durable."""
        return share_heartbeat.heartbeat(self.groups, context, request)

    def streams_group_heartbeat(
        self,
        context: RequestContext,
        request: StreamsGroupHeartbeatRequest,
        reply: Reply[StreamsGroupHeartbeatResponse | WithMissingTopics],
    ) -> CoordinatorResult[StreamsGroupHeartbeatResponse | WithMissingTopics]:
        """Join a streams group, stay in it, or leave it. The answer says which internal topics the caller has to create."""
        return streams_heartbeat.heartbeat(self.groups, context, request)

    def alter_share_group_offsets(
        self, context: RequestContext, request: AlterShareGroupOffsetsRequest, reply: Reply[AlterShareGroupOffsetsResponse]
    ) -> CoordinatorResult[AlterShareGroupOffsetsResponse]:
        """Set start offsets of a share group without members. Answered when its share partitions have them."""
        return share_offsets.alter_offsets(self.groups, request, reply)

    def delete_share_group_offsets(
        self, context: RequestContext, request: DeleteShareGroupOffsetsRequest, reply: Reply[DeleteShareGroupOffsetsResponse]
    ) -> CoordinatorResult[DeleteShareGroupOffsetsResponse]:
        """Delete the offsets of a share group without members. Answered when its share partitions have none."""
        return share_offsets.delete_offsets(self.groups, request, reply)

    def leave_group(
        self, context: RequestContext, request: LeaveGroupRequest, reply: Reply[LeaveGroupResponse]
    ) -> CoordinatorResult[LeaveGroupResponse]:
        """Remove members, in any version of request and response."""
        group = self.groups.consumer.by_id.get(request.group_id)
        if group is not None:
            return classic_members.leave_group(self.groups.consumer_context, group, context, request)
        return leave.leave_group(self._classic, context, request)

    def commit_offsets(
        self, context: RequestContext, request: OffsetCommitRequest, reply: Reply[OffsetCommitResponse]
    ) -> CoordinatorResult[OffsetCommitResponse]:
        """Commit offsets. Requests have topic names here; an existing topic id is stored with the offset."""
        groups = self.groups
        if request.retention_time_ms != NO_RETENTION_TIME:
            self.expiry.forget_bound(request.group_id)
        own = self._context
        try:
            check = admit(groups, request, context.api_version)
            if check is not None:
                check_partitions(request, check, own.config.offset_metadata_max_bytes)
        except CoordinatorError as refused:
            tell_refused(own.tell, context, request, refused.error)
            raise
        return commit_records(groups.offsets, request, own.clock.wall_ms(), own.config.offset_metadata_max_bytes)

    def commit_plain(
        self, context: RequestContext, request: PlainCommit[LoggedShape], reply: Reply[AcceptedCommit]
    ) -> CoordinatorResult[AcceptedCommit]:
        """Commit the offsets of a plain request, whose topics are known."""
        groups = self.groups
        try:
            check = admit(groups, request.shape, context.api_version)
            if check is not None:
                check_plain(request.shape, check)
        except CoordinatorError as refused:
            tell_refused(self._context.tell, context, request.shape, refused.error)
            raise
        return plain_commit_records(groups.offsets, request, self._context.clock.wall_ms())

    def commit_in_transaction(
        self, context: RequestContext, request: OffsetCommitRequest, reply: Reply[OffsetCommitResponse]
    ) -> CoordinatorResult[OffsetCommitResponse]:
        """Commit offsets that count when the transaction of a producer commits: the runtime gets its claim."""
        own = self._context
        try:
            return commit_in_transaction(self.groups, request, own.clock.wall_ms(), own.config.offset_metadata_max_bytes)
        except CoordinatorError as refused:
            tell_refused(own.tell, context, request, refused.error)
            raise

    def fetch_latest_offsets(
        self, context: RequestContext, request: LatestFetch, reply: Reply[OffsetsMoment]
    ) -> CoordinatorResult[OffsetsMoment]:
        """Read the latest offsets, answered when they are durable: behind commits of the same connection,
        and if they must be stable.
        """
        return CoordinatorResult(read_offsets(self.groups, LATEST, request.group, require_stable=request.require_stable))

    def delete_groups(
        self, context: RequestContext, group_ids: list[str], reply: Reply[list[DeletableGroupResult]]
    ) -> CoordinatorResult[list[DeletableGroupResult]]:
        """Delete groups of this shard. Each has its own answer."""
        return delete.delete_groups(self.groups, group_ids, self._context.config.log.message_max_bytes, reply)

    def delete_offsets(
        self, context: RequestContext, request: OffsetDeleteRequest, reply: Reply[OffsetDeleteResponse]
    ) -> CoordinatorResult[OffsetDeleteResponse]:
        """Delete offsets of a group. Each partition has its own answer."""
        return delete.delete_group_offsets(self.groups, request)

    def delete_topics(
        self, context: RequestContext, topics: Sequence[DeletedTopic], reply: Reply[None]
    ) -> CoordinatorResult[None]:
        """Delete the offsets of deleted topics, and forget their share partitions.

        Answered after the first step; the others follow by timer.
        """
        self.groups.share_topics.begin()
        return self._topic_deletion.begin(topics)

    def restore_offsets(self, context: RequestContext, request: Restore, reply: Reply[Restored]) -> CoordinatorResult[Restored]:
        """Set a group's offsets to exactly those of the request, in one operation."""
        return restore.restore_offsets(self.groups, request, self._context.clock.wall_ms())

    # --- read operations

    def has_group(self, committed_offset: int, group_id: str) -> bool:
        """Return whether there is a group: with members, offsets, or only a record of it."""
        return self.groups.exists_at(group_id, committed_offset)

    def expiring(self, committed_offset: int, group_id: str) -> list[Due]:
        """Return when the offsets of a group expire in the present state. Offsets that do not expire are omitted."""
        return self.expiry.due(group_id)

    def fetch_offsets(self, committed_offset: int, request: OffsetFetchRequestGroup) -> OffsetsMoment:
        """Return the requested offsets of a group."""
        return read_offsets(self.groups, committed_offset, request)

    def fetch_plain(self, committed_offset: int, request: PlainFetch) -> Answered[FetchedOffsets] | None:
        """Return the answer for some partitions of a group, or None if it is not in the usual state."""
        return fetch_plain(self.groups, committed_offset, request)

    def fetching_work(self, committed_offset: int, request: OffsetFetchRequestGroup) -> int:
        """Return the work of ``fetch_offsets`` besides that for each requested partition, in offsets."""
        return reading_work(self.groups, request)

    def prepare_offsets(self, committed_offset: int, group_id: str) -> bool:
        """Do a part of the work of ``fetch_offsets``. Return whether little is left."""
        return self.groups.offsets.prepare(group_id, OFFSETS_PER_STEP)

    def describe_group(self, committed_offset: int, group_id: str) -> DescribedGroup:
        """Return the description of a group. Raises GROUP_ID_NOT_FOUND."""
        return describe.describe_group(self.groups, committed_offset, group_id)

    def modern_group_at(self, committed_offset: int, wanted: tuple[str, str]) -> UndescribedGroup:
        """Return what the description of a group of a newer protocol is made of, by type and id. Raises GROUP_ID_NOT_FOUND."""
        return describe.modern_group_at(self.groups, committed_offset, *wanted)

    def initialized_share_partitions(self, committed_offset: int, group_id: str) -> Partitions:
        """Return the share partitions of a group that have a state, by topic id; none if there is no such group."""
        return describe.initialized_share_partitions(self.groups, committed_offset, group_id)

    def list_groups(
        self, committed_offset: int, wanted: GroupFilter = EVERY_GROUP, group_ids: Iterable[str] | None = None
    ) -> list[ListedGroup]:
        """Return the groups that match the filters: of this shard, or of some ``candidates``."""
        if group_ids is None:
            group_ids = self.groups.candidates_at(committed_offset)
        return describe.list_groups(self.groups, committed_offset, group_ids, wanted)

    def generation(self, committed_offset: int, group_id: str) -> tuple[int, int]:
        """Return the generation of a group, or its epoch, and the number of its members; zeros if it has none."""
        return describe.generation(self.groups, group_id)

    def holdups(self, committed_offset: int, group_ids: Iterable[str]) -> list[Holdup]:
        """Return what groups wait for in their present state; nothing for those that are settled."""
        return [each for group_id in group_ids for each in holdups(self.groups, group_id)]

    def newest_commit(self, committed_offset: int, group_id: str) -> int | None:
        """Return the time of the last commit of a group, in ms since 1970, or None if it has no offsets."""
        offsets = self.groups.offsets.of_group_at(group_id, LATEST)
        return None if offsets is None else offsets.newest_commit_ms()

    def counts(self, committed_offset: int) -> dict[str, int]:
        """Return the number of groups of each type, without those that have offsets only."""
        return self.groups.counts()

    def candidates(self, committed_offset: int) -> Iterator[str]:
        """Return, each once, the ids to list the groups of, for a list in steps. Groups may change meanwhile."""
        return self.groups.candidates_at(committed_offset)

    def deletion_size(self, committed_offset: int, group_ids: Iterable[str]) -> int:
        """Return about how many records the deletion of the groups writes in the present state."""
        return sum(1 + self.groups.offsets_of(group_id) for group_id in group_ids)

    def group_count(self, committed_offset: int) -> int:
        """Return an upper bound of the number of groups."""
        return self.groups.count()

    def digest(self, committed_offset: int, max_items: int, with_parts: bool = True) -> StateDigest | None:
        """Return the digest of all groups, or None if more than about ``max_items`` items are left to hash: call again."""
        return self._digests.ask(committed_offset, max_items, with_parts)

    # --- notices

    def topics_changed(self, committed_offset: int, names: Collection[str]) -> None:
        """Take note that these topics were created, deleted or extended, without answering anybody."""
        self._context.topic_hashes.forget(names)
        for group_type in self.groups.types.values():
            group_type.topics_changed(names)

    # --- replay and lifecycle

    def replay(self, offset: int, record: CoordinatorRecord, /) -> None:
        """Apply one record to hard state."""
        self._replay[type(record.key)](offset, record.key, record.value)

    def replay_in_transaction(self, producer: Producer, offset: int, record: CoordinatorRecord, /) -> None:
        """Keep offsets until the end of their transaction. Apply other records at once, as Kafka does; transactions have none."""
        if isinstance(record.key, OffsetCommitKey):
            assert record.value is None or isinstance(record.value, OffsetCommitValue)
            self.groups.pending.replay(producer, offset, record.key, record.value)
        else:
            self.replay(offset, record)

    def replay_end_transaction_marker(self, producer: Producer, result: TransactionResult, /) -> None:
        """Commit or discard the offsets of a transaction."""
        self.groups.pending.end(producer, result)

    def use_checkpoint(self, checkpoint: CheckpointState, /) -> bool:
        """Adopt the checkpoint: a group's offsets stay in it until their first use."""
        self.groups.offsets.use_checkpoint(checkpoint)
        return True

    def plain_records(self) -> PlainRecords:
        """Return the fast replay of offset commits, the most frequent records."""
        return BulkReplay(self.groups.offsets)

    def on_loaded(self) -> None:
        """Restart the sessions of all members, and schedule what looks through the offsets."""
        for group_type in self.groups.types.values():
            group_type.on_loaded()
        self.expiry.start()
        self._topic_deletion.start()

    def on_unloaded(self) -> None:
        """Answer all waiting requests with NOT_COORDINATOR, and drop soft state."""
        self.expiry.stop()
        self._conversions.stop()
        for group_type in self.groups.types.values():
            group_type.on_unloaded()
        self.groups.offsets.close()


def _spoken_for(request: JoinGroupRequest | SyncGroupRequest, result: CoordinatorResult[T]) -> CoordinatorResult[T]:
    """Attribute the records to the member of the request."""
    member = speaking_for(request.member_id, request.group_instance_id) if result.records else None
    if member is None:
        return result
    return replace(result, attribution=member if result.attribution is None else member.followed_by(result.attribution))
