"""Members leave: by a heartbeat with epoch -1, at the end of their session, or because they do not give up partitions.

A static member that leaves with epoch -2 returns within its session: it keeps its partitions, and the epoch of the group.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import LEAVE_GROUP_STATIC_EPOCH, ConsumerGroupMember, Epochs, current_assignment
from coordinator_server.group.consumer.membership import (
    refuse_fenced_instance,
    require_static_member,
)
from coordinator_server.group.consumer.records import RECORDS, regex_tombstone
from coordinator_server.group.consumer.subscriptions import topics_without
from coordinator_server.group.modern.epoch import next_epoch
from coordinator_server.group.modern.leave import Removal, remove_members
from coordinator_server.group.modern.membership import require_member
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse

Response = ConsumerGroupHeartbeatResponse


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
    regexes = _last_regexes(group, members)
    others = [regex_tombstone(group.group_id, regex) for regex in regexes]
    _, epoch = next_epoch(consumer, group, topics_without(group, members, regexes), is_due=True)
    return remove_members(consumer, group, Removal(members, why, [*others, *epoch]), response)


def _last_regexes(group: ConsumerGroup, members: Collection[ConsumerGroupMember]) -> list[str]:
    """Return the regular expressions that no other member has."""
    counts: dict[str, int] = {}
    for member in members:
        regex = member.subscribed_topic_regex
        if regex is not None:
            counts[regex] = counts.get(regex, 0) + 1
    return [regex for regex, count in counts.items() if group.regex_members.get(regex) == count]
