"""ConsumerGroupHeartbeat (68)."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct as Layout
from typing import Any, Final

from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import OPERATION_ERRORS
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.api_row import ApiRow, ShortWay
from coordinator_server.server.apis.refusals import error_only
from coordinator_server.server.node import Node
from coordinator_server.server.order import Order
from coordinator_server.server.reply import PendingReply
from protocol.codec import decoder
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse

_LONGEST_KNOWN: Final = 256
# Throttle time, error, no message, length of the id; then epoch, interval, no assignment, no tags. The same in both versions.
_BEFORE_ID: Final = Layout(">ihBB").pack
_AFTER_ID: Final = Layout(">iibB").pack
CONSUMER_HEARTBEAT = WriteOperation("consumer-group-heartbeat", GroupShard.consumer_group_heartbeat)


def consumer_group_heartbeat(
    node: Node,
    context: RequestContext,
    request: ConsumerGroupHeartbeatRequest,
    reply: PendingReply[ConsumerGroupHeartbeatResponse],
) -> None:
    node.groups.write(node.partition_of(request.group_id), CONSUMER_HEARTBEAT, context, request, reply)


def heartbeat_reader(version: int) -> Callable[[bytes, int], tuple[ConsumerGroupHeartbeatRequest, int]]:
    """Return a decoder for one connection. A member repeats its steady heartbeat byte for byte: that is decoded once."""
    decode = decoder(ConsumerGroupHeartbeatRequest, version)
    last, known = b"", ConsumerGroupHeartbeatRequest()

    def read(frame: bytes, position: int) -> tuple[ConsumerGroupHeartbeatRequest, int]:
        nonlocal last, known
        body = frame[position:]
        if body == last:
            return known, len(frame)
        request, end = decode(frame, position)
        if end == len(frame) and len(body) <= _LONGEST_KNOWN:
            last, known = body, request
        return request, end

    return read


def heartbeat_encoder(
    encode: Callable[[Any, bytearray], None],
) -> Callable[[ConsumerGroupHeartbeatResponse, bytearray], None]:
    """Return an encoder that is fast for what almost every answer is: without an error, and without an assignment."""

    def write(response: ConsumerGroupHeartbeatResponse, out: bytearray) -> None:
        member_id = (response.member_id or "").encode()
        if (
            response.assignment is None
            and not response.error_code
            and response.error_message is None
            and 0 < len(member_id) < 127
        ):
            out += _BEFORE_ID(response.throttle_time_ms, 0, 0, len(member_id) + 1) + member_id
            out += _AFTER_ID(response.member_epoch, response.heartbeat_interval_ms, -1, 0)
        else:
            encode(response, out)

    return write


CONSUMER_GROUP_HEARTBEAT_API = ApiRow(
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    consumer_group_heartbeat,
    error_only(ConsumerGroupHeartbeatResponse, OPERATION_ERRORS),
    Order.WRITE,
    ShortWay(heartbeat_reader, heartbeat_encoder),
)
