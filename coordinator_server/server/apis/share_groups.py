"""ShareGroupHeartbeat (76) and ShareGroupDescribe (77): groups whose members share partitions (KIP-932)."""

from __future__ import annotations

from typing import Final

from coordinator_server.group.shard import GroupShard
from coordinator_server.group.types import SHARE
from coordinator_server.machine.errors import OPERATION_ERRORS
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.repeat import Repeat
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.apis.described_groups import DESCRIBES_MEMBERS, GroupDescription, describing, refusing
from coordinator_server.server.apis.refusals import error_only
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.guard.access import ApiAccess
from coordinator_server.server.guard.needs import READ_GROUP
from coordinator_server.server.guard.subscribed_topics import SubscribedTopics
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from coordinator_server.server.wire.quantum import HEARTBEAT_UNITS
from protocol.messages.share_group_describe import DescribedGroup, ShareGroupDescribeRequest, ShareGroupDescribeResponse
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse

SHARE_HEARTBEAT: Final = WriteOperation("share-group-heartbeat", GroupShard.share_group_heartbeat)
_DESCRIPTION: Final = GroupDescription(ShareGroupDescribeResponse, DescribedGroup, SHARE)


def share_group_heartbeat(
    node: Node,
    context: RequestContext,
    request: ShareGroupHeartbeatRequest,
    reply: Exchange[ShareGroupHeartbeatResponse],
) -> Repeat | None:
    repeat = node.groups.write(node.partition_of(request.group_id), SHARE_HEARTBEAT, context, request, reply)
    if repeat is None:
        reply.connection.use_up(HEARTBEAT_UNITS)
    return repeat


SHARE_GROUP_HEARTBEAT_API = ApiRow(
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    share_group_heartbeat,
    error_only(ShareGroupHeartbeatResponse, OPERATION_ERRORS),
    Order.WRITE,
    access=ApiAccess((READ_GROUP,), SubscribedTopics(), has_message=False),
)
SHARE_GROUP_DESCRIBE_API = ApiRow(
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
    describing(_DESCRIPTION),
    refusing(_DESCRIPTION),
    Order.READ,
    access=DESCRIBES_MEMBERS,
)
