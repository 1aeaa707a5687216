"""Members leave: by a heartbeat with epoch -1, at the end of their session, or because they do not give up partitions.

A static member that leaves with epoch -2 comes back within its session: it keeps its partitions, and the epoch of the group.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, Final

from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.log_lines import log_expired_session, with_consumer_epoch_line
from coordinator_server.group.consumer.member import LEAVE_GROUP_STATIC_EPOCH, ConsumerGroupMember, Epochs, current_assignment
from coordinator_server.group.consumer.membership import (
    refuse_fenced_instance,
    require_member,
    require_static_member,
)
from coordinator_server.group.consumer.records import RECORDS, regex_tombstone
from coordinator_server.group.consumer.sessions import end_sessions, restart_sessions
from coordinator_server.group.consumer.subscriptions import topics_without
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse

Response = ConsumerGroupHeartbeatResponse
_NOTHING: Final[CoordinatorResult[Any]] = CoordinatorResult(DEFERRED)


def leave(
    consumer: ConsumerContext, group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest
) -> CoordinatorResult[ConsumerGroupHeartbeatResponse]:
    """Remove a member, or let a static one go for a while. Raises CoordinatorError."""
    response = Response(member_id=request.member_id, member_epoch=request.member_epoch)
    instance_id = request.instance_id
    if instance_id is None:
        member = require_member(group, request.member_id)
    else:
        member = require_static_member(group, instance_id)
        refuse_fenced_instance(member, request.member_id, instance_id)
        if request.member_epoch == LEAVE_GROUP_STATIC_EPOCH:
            return _go_away(group, member)
    return fence(consumer, group, [member], Why.MEMBER_LEFT, response)


def _go_away(group: ConsumerGroup, member: ConsumerGroupMember) -> CoordinatorResult[ConsumerGroupHeartbeatResponse]:
    """Return the record of a static member that is away. Commits with its old member id will be refused (KIP-1251)."""
    assigned: Epochs = {topic_id: dict.fromkeys(epochs, 0) for topic_id, epochs in member.assigned.items()}
    away = member.with_current(
        current_assignment(LEAVE_GROUP_STATIC_EPOCH, member.previous_member_epoch, member.state, assigned, {})
    )
    return CoordinatorResult(
        Response(member_id=member.member_id, member_epoch=LEAVE_GROUP_STATIC_EPOCH),
        [RECORDS.current(group.group_id, away)],
        attribution=because(Reason(Why.STATIC_MEMBER_AWAY, member.member_id)),
    )


def fence(
    consumer: ConsumerContext, group: ConsumerGroup, members: Sequence[ConsumerGroupMember], why: Why, response: Any = DEFERRED
) -> CoordinatorResult[Any]:
    """Remove members: the group gets a new epoch, and their partitions are free at once. Or it becomes a classic group."""
    downgraded = consumer.downgrade(group, members, why, response)
    if downgraded is not None:
        return downgraded
    group_id = group.group_id
    records: list[CoordinatorRecord] = []
    for member in members:
        records += RECORDS.member_tombstones(group_id, member.member_id)
    regexes = _last_regexes(group, members)
    records += [regex_tombstone(group_id, regex) for regex in regexes]
    epoch = group.group_epoch + 1
    records.append(RECORDS.epoch(group_id, epoch, consumer.hashes.of_group(topics_without(group, members, regexes))))
    group.compared_epoch = epoch
    for member in members:
        end_sessions(consumer, group_id, member.member_id)
    reasons = [Reason(why, member.member_id) for member in members]
    on_append = partial(_take_back, consumer, group_id, [member.member_id for member in members])
    return with_consumer_epoch_line(
        consumer, CoordinatorResult(response, records, on_append, attribution=because(*reasons)), reasons
    )


def expire_session(consumer: ConsumerContext, group_id: str, member_id: str) -> CoordinatorResult[Any]:
    """Remove a member whose session has ended."""
    group = consumer.groups.by_id.get(group_id)
    member = None if group is None else group.members.get(member_id)
    if group is None or member is None:
        end_sessions(consumer, group_id, member_id)
        return _NOTHING
    log_expired_session(consumer, group_id, member)
    return fence(consumer, group, [member], Why.SESSION_TIMEOUT)


def expire_revocation(consumer: ConsumerContext, group_id: str, member_id: str, member_epoch: int) -> CoordinatorResult[Any]:
    """Remove a member that did not give up its partitions in time, if it is still in the same epoch."""
    group = consumer.groups.by_id.get(group_id)
    member = None if group is None else group.members.get(member_id)
    if group is None or member is None or member.member_epoch != member_epoch:
        return _NOTHING
    return fence(consumer, group, [member], Why.REVOCATION_TIMEOUT)


def _last_regexes(group: ConsumerGroup, members: Collection[ConsumerGroupMember]) -> list[str]:
    """Return the regular expressions that nobody else has."""
    counts: dict[str, int] = {}
    for member in members:
        regex = member.subscribed_topic_regex
        if regex is not None:
            counts[regex] = counts.get(regex, 0) + 1
    return [regex for regex, count in counts.items() if group.regex_members.get(regex) == count]


def _take_back(consumer: ConsumerContext, group_id: str, member_ids: Sequence[str], error: ErrorCode | None) -> None:
    if error is not None:
        for member_id in member_ids:
            restart_sessions(consumer, group_id, member_id)
