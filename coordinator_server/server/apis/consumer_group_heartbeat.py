"""ConsumerGroupHeartbeat (68)."""

from __future__ import annotations

from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import OPERATION_ERRORS
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.repeat import Repeat
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.apis.refusals import error_only
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.guard.access import ApiAccess
from coordinator_server.server.guard.needs import READ_GROUP
from coordinator_server.server.guard.subscribed_topics import SubscribedTopics
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from coordinator_server.server.wire.quantum import HEARTBEAT_UNITS
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse

CONSUMER_HEARTBEAT = WriteOperation("consumer-group-heartbeat", GroupShard.consumer_group_heartbeat)


def consumer_group_heartbeat(
    node: Node,
    context: RequestContext,
    request: ConsumerGroupHeartbeatRequest,
    reply: Exchange[ConsumerGroupHeartbeatResponse],
) -> Repeat | None:
    repeat = node.groups.write(node.partition_of(request.group_id), CONSUMER_HEARTBEAT, context, request, reply)
    if repeat is None:
        reply.connection.use_up(HEARTBEAT_UNITS)
    return repeat


CONSUMER_GROUP_HEARTBEAT_API = ApiRow(
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    consumer_group_heartbeat,
    error_only(ConsumerGroupHeartbeatResponse, OPERATION_ERRORS),
    Order.WRITE,
    access=ApiAccess((READ_GROUP,), SubscribedTopics(), has_message=False),
)
