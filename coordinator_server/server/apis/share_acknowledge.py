"""ShareAcknowledge (79): acknowledgements without a fetch, as a request of a share session (KIP-932, KIP-1222)."""

from __future__ import annotations

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.acknowledgements import Rules, acknowledge
from coordinator_server.server.apis.lists import StepBudget
from coordinator_server.server.apis.share_fetch import session_key, touched_session
from coordinator_server.server.exchange.api_row import ApiRow, Touched
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work, at_once
from coordinator_server.server.guard.access import ApiAccess, verdicts_for
from coordinator_server.server.guard.needs import READ_GROUP
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.hosting.share_sessions import FINAL_EPOCH, INITIAL_EPOCH, SessionKey, ShareSession
from coordinator_server.server.wire.order import Order
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.share_acknowledge import (
    PartitionData,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)


def share_acknowledge(
    node: Node, context: RequestContext, request: ShareAcknowledgeRequest, reply: Exchange[ShareAcknowledgeResponse]
) -> None:
    """Take the session to its next epoch, or end it, and answer the acknowledgements."""
    key = session_key(request.group_id, request.member_id)
    session = _session(node, key, request.share_session_epoch)
    work = _acknowledged(node, context, request, session)
    if reply.is_large:
        reply.connection.use_up()
        node.steps.run(reply, work)
    else:
        reply.complete(at_once(work))


def _session(node: Node, key: SessionKey, epoch: int) -> ShareSession:
    if epoch == INITIAL_EPOCH:
        raise CoordinatorError(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
    sessions = node.share_sessions
    return sessions.existing(key) if epoch == FINAL_EPOCH else sessions.go_on(key, epoch)


def _acknowledged(
    node: Node, context: RequestContext, request: ShareAcknowledgeRequest, session: ShareSession
) -> Work[ShareAcknowledgeResponse]:
    rules = Rules(context.api_version, request.is_renew_ack)
    readable = verdicts_for(node, context, Operation.READ, ResourceType.TOPIC)
    try:
        outcomes = yield from acknowledge(node, session, request.topics, rules, readable)
    finally:
        if request.share_session_epoch == FINAL_EPOCH:
            node.share_sessions.end(session)
    topics: list[ShareAcknowledgeTopicResponse] = []
    budget = StepBudget()
    for topic_id, of_topic in outcomes.items():
        partitions: list[PartitionData] = []
        for index, outcome in of_topic.items():
            partitions.append(PartitionData(index, outcome.error, outcome.message))
            if budget.spend(1):
                yield
        topics.append(ShareAcknowledgeTopicResponse(topic_id, partitions))
    lock_ms = node.share_lock_ms(session.key.group_id)
    return ShareAcknowledgeResponse(acquisition_lock_timeout_ms=lock_ms, responses=topics)


def refuse_share_acknowledge(
    context: RequestContext, request: ShareAcknowledgeRequest, error: ErrorCode, message: str | None
) -> ShareAcknowledgeResponse:
    """Refuse the request. The answer has no message, as in Kafka."""
    return ShareAcknowledgeResponse(error_code=error)


def _touches(request: ShareAcknowledgeRequest) -> Touched:
    return touched_session(request.group_id, request.member_id)


SHARE_ACKNOWLEDGE_API = ApiRow(
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    share_acknowledge,
    refuse_share_acknowledge,
    Order.ALONE,
    touches=_touches,
    access=ApiAccess((READ_GROUP,), in_handler=((Operation.READ, ResourceType.TOPIC),)),
)
