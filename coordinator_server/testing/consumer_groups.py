"""What a test sees of groups of the consumer protocol (KIP-848), and does to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator_server.group.consumer.leave import fence
from coordinator_server.group.consumer.records import RECORDS
from coordinator_server.group.modern.reasons import result_because
from coordinator_server.group.shard import GroupShard
from coordinator_server.group.why import Why
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.provenance import Reason
from coordinator_server.machine.shard import CoordinatorResult, Reply, RequestContext
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_describe import DescribedGroup, Member
from protocol.messages.consumer_protocol import CONSUMER


def group_as_object(group: DescribedGroup) -> Mapping[str, Any]:
    """Return the fields of a group. The generation is the epoch of the group, the protocol its assignor."""
    return {
        "group_id": group.group_id,
        "state": group.group_state,
        "generation_id": group.group_epoch,
        "protocol_type": CONSUMER,
        "protocol_name": group.assignor_name,
        "members": [_member_as_object(member) for member in group.members],
    }


def _member_as_object(member: Member) -> Mapping[str, Any]:
    return {
        "member_id": member.member_id,
        "group_instance_id": member.instance_id,
        "client_id": member.client_id,
        "client_host": member.client_host,
        "assignment": {each.topic_name: sorted(each.partitions) for each in member.assignment.topic_partitions},
    }


def fence_member(
    shard: GroupShard, context: RequestContext, named: tuple[str, str], reply: Reply[None]
) -> CoordinatorResult[None]:
    """Remove a member, named by group and member id, as if it had left. Raises CoordinatorError."""
    group_id, member_id = named
    group = shard.groups.consumer.by_id.get(group_id)
    member = None if group is None else group.members.get(member_id)
    if group is None or member is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID, f"member {member_id} is not in group {group_id}")
    return fence(shard.groups.consumer_context, group, [member], Why.MEMBER_LEFT, None)


def begin_epoch(shard: GroupShard, group_id: str, reason: str) -> CoordinatorResult[None]:
    """Begin a new epoch of a group, which every member has to reach. Raises CoordinatorError."""
    group = shard.groups.consumer.by_id[group_id]
    if not group.members:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID, f"group {group_id} has no members")
    record = RECORDS.epoch(group_id, group.group_epoch + 1, group.metadata_hash)
    return result_because(shard.groups.consumer_context, [Reason(Why.TOPICS_CHANGED, said=reason)], None, [record])
