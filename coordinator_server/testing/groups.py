"""What a test sees of groups, and does to them, inside the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from coordinator_server.group.classic.rebalance import prepare_rebalance
from coordinator_server.group.classic.state import PREPARING_REBALANCE
from coordinator_server.group.consumer.type import ConsumerType
from coordinator_server.group.shard import GroupShard
from coordinator_server.group.why import Why
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.provenance import Reason
from coordinator_server.machine.shard import CoordinatorResult, Reply, RequestContext
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.apis.groups import LEAVE
from coordinator_server.server.control.durable_write import written
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.local_operation import Refusal
from coordinator_server.testing.consumer_groups import begin_epoch, fence_member, group_as_object
from protocol.codec import decode
from protocol.error_codes import ErrorCode
from protocol.errors import ProtocolError
from protocol.messages.consumer_protocol import CONSUMER, ConsumerProtocolAssignment
from protocol.messages.describe_groups import DescribedGroup
from protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from protocol.messages.offset_fetch import OffsetFetchRequestGroup

_LEAVE_GROUP: Final = 13
_LEAVE_GROUP_VERSION: Final = 5
_REASON: Final = "requested by a test"
_VERSION_BYTES: Final = 2


class Fenced(NamedTuple):
    """A member that was removed."""

    group_id: str
    member_id: str
    group_instance_id: str | None
    is_of_consumer_group: bool = False


def describe_groups(node: Node) -> list[Mapping[str, Any]]:
    """Return all groups with their members, by id."""
    found = []
    for partition in range(node.partitions):
        for listed in node.groups.read(partition, GroupShard.list_groups):
            if listed.group_type == ConsumerType.name:
                of_consumers = node.groups.read(partition, GroupShard.modern_group_at, ("consumer", listed.group_id))
                found.append(group_as_object(of_consumers.described()))
                continue
            described = node.groups.read(partition, GroupShard.describe_group, listed.group_id)
            generation_id = node.groups.read(partition, _generation_of, listed.group_id)
            found.append(_as_object(described, generation_id))
    return sorted(found, key=lambda group: str(group["group_id"]))


def committed_offsets(node: Node, group_id: str) -> list[Mapping[str, Any]]:
    """Return the committed offsets of a group; none if it does not exist."""
    request = OffsetFetchRequestGroup(group_id, topics=None)
    answer = node.groups.read(node.partition_of(group_id), GroupShard.fetch_offsets, request).answer()
    return [
        {
            "topic": topic.name,
            "partition": each.partition_index,
            "offset": each.committed_offset,
            "metadata": each.metadata or "",
        }
        for topic in answer.topics
        for each in topic.partitions
    ]


async def fence(node: Node, member: str) -> Fenced:
    """Remove a member, named by its member id or its group instance id, from its group. Raises Refusal."""
    fenced = _find_member(node, member)
    if fenced.is_of_consumer_group:
        named = (fenced.group_id, fenced.member_id)
        await written(node.groups, node.partition_of(fenced.group_id), _FENCE, node.ourselves, named)
        return fenced
    context = RequestContext("", "", _LEAVE_GROUP, _LEAVE_GROUP_VERSION, origin=node.ourselves.origin)
    identity = MemberIdentity(fenced.member_id, fenced.group_instance_id, _REASON)
    request = LeaveGroupRequest(fenced.group_id, members=[identity])
    answer = await written(node.groups, node.partition_of(fenced.group_id), LEAVE, context, request)
    if answer.members[0].error_code != ErrorCode.NONE:
        raise Refusal(f"{member} is leaving its group by itself: {ErrorCode(answer.members[0].error_code).name}")
    return fenced


async def rebalance(node: Node, group_id: str) -> None:
    """Make all members of a group join again. Raises Refusal."""
    await written(node.groups, node.partition_of(group_id), REBALANCE, node.ourselves, group_id)


def _rebalance(shard: GroupShard, context: RequestContext, group_id: str, reply: Reply[None]) -> CoordinatorResult[None]:
    if group_id in shard.groups.consumer.by_id:
        return begin_epoch(shard, group_id, _REASON)
    classic = shard.groups.classic_context
    group = classic.groups.find(group_id)
    if group is None:
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"there is no group {group_id}")
    if not group.members:
        raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID, f"group {group_id} has no members")
    if group.state is PREPARING_REBALANCE:
        return CoordinatorResult(None)
    # As if the leader had asked for it.
    group.note(Reason(Why.MEMBER_REJOINED, group.leader_id or "", _REASON))
    result = prepare_rebalance(classic, group)
    return CoordinatorResult(None, result.records, result.on_append, attribution=result.attribution)


_FENCE: Final = WriteOperation("test-fence", fence_member)
REBALANCE: Final = WriteOperation("test-rebalance", _rebalance)


def _generation_of(shard: GroupShard, committed_offset: int, group_id: str) -> int:
    group = shard.groups.classic_context.groups.find(group_id)
    return -1 if group is None else group.generation_id


def _find_member(node: Node, member: str) -> Fenced:
    known = []
    for group in describe_groups(node):
        group_id: str = group["group_id"]
        for each in group["members"]:
            if member in (each["member_id"], each["group_instance_id"]):
                is_of_consumer_group = _is_consumer_group(node, group_id)
                return Fenced(group_id, each["member_id"], each["group_instance_id"], is_of_consumer_group)
            known.append(each["group_instance_id"] or each["member_id"])
    raise Refusal(f"no member is named {member!r}; there are: {', '.join(known) or 'none'}")


def _is_consumer_group(node: Node, group_id: str) -> bool:
    return node.groups.read(node.partition_of(group_id), _is_in_consumer_groups, group_id)


def _is_in_consumer_groups(shard: GroupShard, committed_offset: int, group_id: str) -> bool:
    return group_id in shard.groups.consumer.by_id


def _as_object(group: DescribedGroup, generation_id: int) -> Mapping[str, Any]:
    return {
        "group_id": group.group_id,
        "state": group.group_state,
        "generation_id": generation_id,
        "protocol_type": group.protocol_type,
        "protocol_name": group.protocol_data,
        "members": [
            {
                "member_id": member.member_id,
                "group_instance_id": member.group_instance_id,
                "client_id": member.client_id,
                "client_host": member.client_host,
                "assignment": _assigned(group.protocol_type, member.member_assignment),
            }
            for member in group.members
        ],
    }


def _assigned(protocol_type: str, assignment: bytes) -> Mapping[str, list[int]]:
    """Return the partitions of a consumer by topic. What members of other protocols are assigned only they can read."""
    if protocol_type != CONSUMER or not assignment:
        return {}
    version = int.from_bytes(assignment[:_VERSION_BYTES], "big")
    newest = ConsumerProtocolAssignment.kafka.versions.high
    try:
        found = decode(ConsumerProtocolAssignment, min(version, newest), assignment[_VERSION_BYTES:])
    except ProtocolError:
        return {}
    return {each.topic: sorted(each.partitions) for each in found.assigned_partitions}
