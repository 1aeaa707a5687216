"""ShareGroupHeartbeat: join a share group, stay in it, leave it (KIP-932).

    metadata ──► the group's epoch ──► the target assignment ──► the member's assignment ──► partitions to initialize

Each step returns records, and the state that the next one needs. None of them changes anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.common.names import sorted_names
from coordinator_server.group.common.topics import is_among
from coordinator_server.group.modern.epoch import is_compared, next_epoch, require_topics
from coordinator_server.group.modern.limits import refuse_many_topics, refuse_too_large
from coordinator_server.group.modern.membership import refuse_if_full
from coordinator_server.group.modern.reasons import result_because, why_of
from coordinator_server.group.modern.sessions import refresh_session, settle_session
from coordinator_server.group.modern.steady_heartbeat import again
from coordinator_server.group.share.assigned import has_unassigned
from coordinator_server.group.share.context import ShareContext
from coordinator_server.group.share.group import ShareGroup, is_homogeneous, topics_after
from coordinator_server.group.share.initialization import initialize, initializing_record, uninitialized
from coordinator_server.group.share.member import ShareGroupMember, are_equal
from coordinator_server.group.share.membership import find_member
from coordinator_server.group.share.reconciliation import reconcile
from coordinator_server.group.share.records import RECORDS
from coordinator_server.group.share.target import update_target
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)
from protocol.messages.share_group_records import ShareGroupMemberMetadataValue

Result = CoordinatorResult[ShareGroupHeartbeatResponse]


class EpochUpdate(NamedTuple):
    """The group's epoch with a request, and the topics that are subscribed to then.

    ``is_alike``: all members subscribe to the same topics; None as before.
    """

    epoch: int
    topics: Sequence[str]
    is_alike: bool | None
    why: Why | None
    """Why there is a new epoch; None if there is none."""
    records: Sequence[CoordinatorRecord]


def heartbeat(share: ShareContext, context: RequestContext, request: ShareGroupHeartbeatRequest, group: ShareGroup) -> Result:
    """Run a valid heartbeat that is not a leave. The group need not exist yet. Raises CoordinatorError."""
    group_id = group.group_id
    refuse_if_full(group, request.member_id, share.config.share.group_share_max_size)
    refuse_many_topics(share, group_id, len(request.subscribed_topic_names or ()))
    before = find_member(group, request)
    require_topics(share, group)
    metadata = _metadata(before.metadata, context, request)
    records: list[CoordinatorRecord] = []
    member = before
    if metadata is not before.metadata:
        refuse_too_large(share, group, before.metadata, metadata)
        member = before.with_metadata(metadata)
        records.append(RECORDS.member(group_id, member))
    epoch = _update_epoch(share, group, before, member)
    records += epoch.records
    target, target_records = update_target(share, group, epoch.epoch, member, epoch.is_alike)
    records += target_records
    is_subscribed = partial(is_among, share.topics, frozenset(metadata.subscribed_topic_names))
    after = reconcile(member, target, epoch.why is not None, is_subscribed)
    if after is not member:
        records.append(RECORDS.current(group_id, after))
    session, interval_ms = refresh_session(share, group_id, after.member_id), share.settings_of(group_id).heartbeat_interval_ms
    response = ShareGroupHeartbeatResponse(
        member_id=after.member_id, member_epoch=after.member_epoch, heartbeat_interval_ms=interval_ms
    )
    if request.subscribed_topic_names is not None or not are_equal(after.assigned, before.assigned):
        response.assignment = assignment_of(after.assigned)
    missing = uninitialized(share, group, epoch.topics)
    # Topics that are older here than in the log may include one that was deleted: its states would begin anew.
    added = missing if missing and share.has_topics else {}
    if added:
        records.append(initializing_record(share, group, added))
    if not records:
        is_bare = request.subscribed_topic_names is None and request.rack_id is None
        is_steady = is_bare and not missing and request.member_epoch == after.member_epoch == group.group_epoch
        short_way = again(share, group, session) if is_steady else None
        return CoordinatorResult(response, depends_on=group.end_offset.value, again=short_way)
    begin = partial(initialize, share, group_id, epoch.epoch, added) if added else None
    on_append = partial(settle_session, share, group_id, after.member_id, begin)
    reason = Reason(why_of(share, before, epoch.why, bool(target_records)), after.member_id)
    return result_because(share, [reason], response, records, on_append)


def _metadata(
    old: ShareGroupMemberMetadataValue, context: RequestContext, request: ShareGroupHeartbeatRequest
) -> ShareGroupMemberMetadataValue:
    """Return the member's metadata with what the request gives; the same object if nothing changes. Order of topics is nothing."""
    names = old.subscribed_topic_names
    if request.subscribed_topic_names is not None and set(request.subscribed_topic_names) != set(names):
        names = sorted_names(request.subscribed_topic_names)
    rack_id = old.rack_id if request.rack_id is None else request.rack_id
    new = ShareGroupMemberMetadataValue(rack_id, context.client_id, f"/{context.client_host}", names)
    return old if new == old else new


def _update_epoch(share: ShareContext, group: ShareGroup, before: ShareGroupMember, member: ShareGroupMember) -> EpochUpdate:
    """Return the group's epoch: a new one if the subscription is new, a topic has changed, or partitions are not assigned yet."""
    old, new = before.metadata.subscribed_topic_names, member.metadata.subscribed_topic_names
    why: Why | None = None
    if group.assignment_epoch >= group.group_epoch and has_unassigned(group, share.topics):
        why = Why.PARTITIONS_INITIALIZED
    if old is not new and set(old) != set(new):
        why = Why.SUBSCRIPTION_CHANGED
    if why is None and is_compared(group):
        return EpochUpdate(group.group_epoch, list(group.subscribed_topics), None, None, ())
    topics = topics_after(group, old, new)
    epoch, records = next_epoch(share, group, topics, is_due=why is not None)
    if why is None and records:
        why = Why.TOPICS_CHANGED
    is_alike = is_homogeneous(topics, len(group.members) + (member.member_id not in group.members))
    return EpochUpdate(epoch, list(topics), is_alike, why, records)


def assignment_of(assigned: Partitions) -> Assignment:
    """Return partitions as in a response."""
    return Assignment([TopicPartitions(topic_id, list(partitions)) for topic_id, partitions in assigned.items()])
