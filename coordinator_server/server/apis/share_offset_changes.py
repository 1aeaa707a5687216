"""AlterShareGroupOffsets (91) and DeleteShareGroupOffsets (92): operations of the group (``group/share/offsets.py``)."""

from __future__ import annotations

from typing import Final

from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import OPERATION_ERRORS, CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.apis.refusals import error_only
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.guard.access import ApiAccess
from coordinator_server.server.guard.needs import DELETE_GROUP, READ_GROUP
from coordinator_server.server.guard.parts import Each
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
)
from protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
)

ALTER_OFFSETS: Final = WriteOperation("alter-share-group-offsets", GroupShard.alter_share_group_offsets)
DELETE_OFFSETS: Final = WriteOperation("delete-share-group-offsets", GroupShard.delete_share_group_offsets)

MAX_PARTITIONS: Final = 10_000
"""The maximum number of partitions or topics that a request alters or deletes: the group's record has all of them."""
TOO_MANY: Final = f"a request may name up to {MAX_PARTITIONS} partitions"
INVALID_ID: Final = "The group id is invalid."


def alter_share_group_offsets(
    node: Node,
    context: RequestContext,
    request: AlterShareGroupOffsetsRequest,
    reply: Exchange[AlterShareGroupOffsetsResponse],
) -> None:
    """Set start offsets: an operation of the group's shard."""
    named = sum([len(topic.partitions) for topic in request.topics]) + len(request.topics)
    node.groups.write(_shard_of(node, request.group_id, named), ALTER_OFFSETS, context, request, reply)


def _shard_of(node: Node, group_id: str, named: int) -> int:
    """Return the partition of a group's shard. Raises CoordinatorError without an id, or if the request names too much."""
    if not group_id:
        raise CoordinatorError(ErrorCode.INVALID_GROUP_ID, INVALID_ID)
    if named > MAX_PARTITIONS:
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, TOO_MANY)
    return node.partition_of(group_id)


def _unaltered(
    topic: AlterShareGroupOffsetsRequestTopic, error: ErrorCode, message: str | None
) -> AlterShareGroupOffsetsResponseTopic:
    partitions = [AlterShareGroupOffsetsResponsePartition(one.partition_index, error, message) for one in topic.partitions]
    return AlterShareGroupOffsetsResponseTopic(topic.topic_name, partitions=partitions)


ALTER_SHARE_GROUP_OFFSETS_API = ApiRow(
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
    alter_share_group_offsets,
    error_only(AlterShareGroupOffsetsResponse, OPERATION_ERRORS),
    Order.ALONE,
    access=ApiAccess(
        (READ_GROUP,),
        Each("topics", Operation.READ, ResourceType.TOPIC, lambda _, topic: topic.topic_name, "responses", refused=_unaltered),
    ),
)


def delete_share_group_offsets(
    node: Node,
    context: RequestContext,
    request: DeleteShareGroupOffsetsRequest,
    reply: Exchange[DeleteShareGroupOffsetsResponse],
) -> None:
    """Delete the offsets of topics: an operation of the group's shard."""
    node.groups.write(_shard_of(node, request.group_id, len(request.topics)), DELETE_OFFSETS, context, request, reply)


def _undeleted(
    topic: DeleteShareGroupOffsetsRequestTopic, error: ErrorCode, message: str | None
) -> DeleteShareGroupOffsetsResponseTopic:
    return DeleteShareGroupOffsetsResponseTopic(topic.topic_name, error_code=error, error_message=message)


DELETE_SHARE_GROUP_OFFSETS_API = ApiRow(
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    delete_share_group_offsets,
    error_only(DeleteShareGroupOffsetsResponse, OPERATION_ERRORS),
    Order.ALONE,
    access=ApiAccess(
        (DELETE_GROUP,),
        Each("topics", Operation.READ, ResourceType.TOPIC, lambda _, topic: topic.topic_name, "responses", refused=_undeleted),
    ),
)
