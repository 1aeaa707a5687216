"""Produce (0): always refused, because topics here store no records.

It is served because librdkafka does not consume from a server without it.
"""

from __future__ import annotations

from typing import Any

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.lists import each_in_steps
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Beside, Exchange
from coordinator_server.server.exchange.steps import Work
from coordinator_server.server.guard.access import MESSAGES, ApiAccess, Asked
from coordinator_server.server.guard.parts import NO_MESSAGES, Each
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.first_versions import RECORDS_BY_TOPIC_ID
from protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

# In a record batch: the position of the last byte of its attributes, and the bit in it.
_ATTRIBUTES, _TRANSACTIONAL = 22, 0x10
WHY = "this server coordinates groups: it stores no records"


def produce(node: Node, context: RequestContext, request: ProduceRequest, reply: Exchange[ProduceResponse]) -> None:
    """Refuse every partition with an error that clients do not retry. With acks=0, close the connection as Kafka does."""
    if request.acks == 0:
        reply.connection.close()
        return
    has_ids = context.api_version >= RECORDS_BY_TOPIC_ID
    if reply.is_large:
        node.steps.run(reply, _refuse_in_steps(node, request, has_ids=has_ids))
        return
    errors = [_refusal(node, asked, has_ids=has_ids) for asked in request.topic_data]
    reply.complete(_all_refused(request, errors))


def _refuse_in_steps(node: Node, request: ProduceRequest, *, has_ids: bool) -> Work[Beside[ProduceResponse]]:
    errors = yield from each_in_steps(request.topic_data, lambda asked: (_refusal(node, asked, has_ids=has_ids), 1))
    return Beside(lambda: _all_refused(request, errors))


def _all_refused(request: ProduceRequest, errors: list[ErrorCode]) -> ProduceResponse:
    return ProduceResponse(
        responses=[
            _refused(asked, error, WHY if error == ErrorCode.POLICY_VIOLATION else None)
            for asked, error in zip(request.topic_data, errors, strict=True)
        ]
    )


def refuse_produce(context: RequestContext, request: ProduceRequest, error: ErrorCode, message: str | None) -> ProduceResponse:
    return ProduceResponse(responses=[_refused(asked, error, message) for asked in request.topic_data])


def _topic_name(asked: Asked, topic: TopicProduceData) -> str | None:
    """Return the name of a topic of a request; None if no topic has its id."""
    return asked.topic_name(topic.topic_id) if asked.context.api_version >= RECORDS_BY_TOPIC_ID else topic.name


class _Produced:
    """The topics of a Produce, and its transaction. With acks=0 the handler closes the connection."""

    _topics = Each("topic_data", Operation.WRITE, ResourceType.TOPIC, _topic_name, "responses", NO_MESSAGES)

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return whether there is no answer, or everything is allowed."""
        return request.acks == 0 or (not _is_transactional(request) and self._topics.allows_all(asked, request))

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Take the denied topics out of the request."""
        if request.acks == 0:
            return request
        if _is_transactional(request) and not (
            request.transactional_id is not None
            and asked.allows(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id)
        ):
            error = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
            reply.fail(error, MESSAGES[error])
            return None
        return (yield from self._topics.divide(asked, request, reply))


def _is_transactional(request: ProduceRequest) -> bool:
    """Return whether a Produce has records of a transaction: the bit is in the last byte of the attributes of each batch."""
    return any(
        records is not None and len(records) > _ATTRIBUTES and records[_ATTRIBUTES] & _TRANSACTIONAL
        for topic in request.topic_data
        for records in (partition.records for partition in topic.partition_data)
    )


# It is always refused, so it changes nothing.
PRODUCE_API = ApiRow(
    ProduceRequest,
    ProduceResponse,
    produce,
    refuse_produce,
    Order.READ,
    access=ApiAccess(parts=_Produced()),
)


def _refusal(node: Node, asked: TopicProduceData, *, has_ids: bool) -> ErrorCode:
    topic = node.image.topic_by_id(asked.topic_id) if has_ids else node.image.topic(asked.name)
    if topic is None:
        return ErrorCode.UNKNOWN_TOPIC_ID if has_ids else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.INVALID_TOPIC_EXCEPTION if topic.name in node.internal else ErrorCode.POLICY_VIOLATION


def _refused(asked: TopicProduceData, error: ErrorCode, message: str | None) -> TopicProduceResponse:
    return TopicProduceResponse(asked.name, asked.topic_id, [_partition(each, error, message) for each in asked.partition_data])


def _partition(asked: PartitionProduceData, error: ErrorCode, message: str | None) -> PartitionProduceResponse:
    return PartitionProduceResponse(asked.index, error, -1, error_message=message)
