"""OffsetCommit (8). Shards know topics by name; requests and responses of newer versions have topic ids."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from operator import attrgetter
from typing import Any, Final

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import operation_error
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.apis.commit_shapes import ServedShape, commit_reader
from coordinator_server.server.apis.lists import portions_in_steps
from coordinator_server.server.apis.merged import merged
from coordinator_server.server.exchange.api_row import ApiRow, ShortWay, Unread
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work
from coordinator_server.server.guard.access import ApiAccess, Asked
from coordinator_server.server.guard.needs import READ_GROUP
from coordinator_server.server.guard.parts import Each
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from coordinator_server.server.wire.quantum import UNITS_PER_US
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.first_versions import OFFSETS_BY_TOPIC_ID
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from protocol.plain_commits import AcceptedCommit, PlainCommit, commit_response_encoder
from protocol.refused_commits import read_names, refusal_encoder, refuse_unread

_TOPIC = attrgetter("name", "topic_id")
COMMIT = WriteOperation("commit-offset", GroupShard.commit_offsets)
COMMIT_PLAIN = WriteOperation("commit-offset", GroupShard.commit_plain)
US_PER_REFUSED_TOPIC = 10
TOPICS_PER_STEP = 2_000


def offset_commit(
    node: Node,
    context: RequestContext,
    request: OffsetCommitRequest | PlainCommit[ServedShape],
    reply: Exchange[OffsetCommitResponse | AcceptedCommit],
) -> None:
    """Refuse partitions that do not exist; the group's shard handles the rest."""
    if isinstance(request, PlainCommit):
        shape = request.shape
        if shape.is_served(node):
            node.groups.write(shape.partition, COMMIT_PLAIN, context, request, reply)
            return
        request = request.spelled_out()
    if reply.is_large:
        node.steps.run_on(reply, _commit_in_steps(node, context, request, reply))
        return
    refused = refuse_unknown(node, context, request.topics)
    if refused:
        reply.connection.use_up(US_PER_REFUSED_TOPIC * UNITS_PER_US * len(refused))
    _commit_rest(node, context, request, refused, reply)


def _commit_in_steps(
    node: Node, context: RequestContext, request: OffsetCommitRequest, reply: Exchange[OffsetCommitResponse | AcceptedCommit]
) -> Work[None]:
    """Check the topics of a large request in steps; the commit is one."""
    refused = yield from portions_in_steps(request.topics, TOPICS_PER_STEP, partial(refuse_unknown, node, context))
    _commit_rest(node, context, request, refused, reply)


def _commit_rest(
    node: Node,
    context: RequestContext,
    request: OffsetCommitRequest,
    refused: list[OffsetCommitResponseTopic],
    reply: Exchange[OffsetCommitResponse | AcceptedCommit],
) -> None:
    """Commit what was not refused."""
    if refused:
        request.topics = [topic for topic in request.topics if topic.partitions]
    for topic in request.topics:
        if topic.partitions:
            break
    else:
        reply.complete(OffsetCommitResponse(topics=refused))
        return
    if not refused:
        node.groups.write(node.partition_of(request.group_id), COMMIT, context, request, reply)
        return

    def merge(response: OffsetCommitResponse) -> None:
        reply.complete(OffsetCommitResponse(topics=merged(refused, response.topics, _TOPIC)))

    def fail(error: ErrorCode, message: str | None) -> None:
        answered = refuse_offset_commit(context, request, error, message)
        reply.complete(OffsetCommitResponse(topics=merged(refused, answered.topics, _TOPIC)))

    node.groups.write(node.partition_of(request.group_id), COMMIT, context, request, CallbackReply(merge, fail))


def refuse_offset_commit(
    context: RequestContext, request: OffsetCommitRequest | PlainCommit[ServedShape], error: ErrorCode, message: str | None
) -> OffsetCommitResponse:
    if isinstance(request, PlainCommit):
        request = request.spelled_out()
    code = operation_error(error)
    return OffsetCommitResponse(topics=[refused_topic(topic, code) for topic in request.topics])


def _topic_name(asked: Asked, topic: OffsetCommitRequestTopic) -> str | None:
    """Return the name of a topic of a request; None if no topic has its id."""
    return asked.topic_name(topic.topic_id) if asked.context.api_version >= OFFSETS_BY_TOPIC_ID else topic.name


_TOPICS: Final = Each("topics", Operation.READ, ResourceType.TOPIC, _topic_name, "topics")


class _Committed:
    """The topics of an OffsetCommit, whose usual form is a shape that a client repeats."""

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return whether all topics are allowed."""
        if not isinstance(request, PlainCommit):
            return _TOPICS.allows_all(asked, request)
        # An Access is of one principal, and of the entries that hold: a change of them makes new ones.
        if request.shape.allowed_to is asked.access:
            return True
        verdicts, node = asked.access.verdicts(Operation.READ, ResourceType.TOPIC), asked.node
        by_id = asked.context.api_version >= OFFSETS_BY_TOPIC_ID
        are_known = True
        for name, topic_id, _ in request.shape.topics:
            if by_id:
                topic = node.image.topic_by_id(topic_id)
                if topic is None:
                    are_known = False
                    continue
                name = topic.name
            if not verdicts[name]:
                return False
        # A topic that is not known here yet is refused by the handler, and is asked about again.
        if are_known:
            request.shape.allowed_to = asked.access
        return True

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Take the denied topics out of a request."""
        if isinstance(request, PlainCommit):
            request = reply.request = request.spelled_out()
        return (yield from _TOPICS.divide(asked, request, reply))


def unread_commit(request: type[Message]) -> Unread[Any]:
    """Return how a large OffsetCommit or TxnOffsetCommit is denied before its topics are read."""
    return Unread(partial(read_names, request), partial(refuse_unread, request))


OFFSET_COMMIT_API: ApiRow[OffsetCommitRequest | PlainCommit[ServedShape], OffsetCommitResponse | AcceptedCommit] = ApiRow(
    OffsetCommitRequest,
    OffsetCommitResponse,
    offset_commit,
    refuse_offset_commit,
    Order.WRITE,
    ShortWay(commit_reader, lambda encode: commit_response_encoder(refusal_encoder(encode))),
    units_per_byte=2,
    unread=unread_commit(OffsetCommitRequest),
    access=ApiAccess((READ_GROUP,), _Committed()),
)


def refuse_unknown(
    node: Node, context: RequestContext, topics: Iterable[OffsetCommitRequestTopic]
) -> list[OffsetCommitResponseTopic]:
    """Remove partitions that do not exist from the topics, and return the answers for them."""
    by_id = context.api_version >= OFFSETS_BY_TOPIC_ID
    refused = []
    for asked in topics:
        if by_id:
            topic = node.catalog.read(CatalogShard.topic_by_id, asked.topic_id)
        else:
            topic = node.catalog.read(CatalogShard.topic, asked.name)
        if topic is None:
            node.image.check_current()
            error = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            refused.append(refused_topic(asked, error))
            asked.partitions = []
            continue
        asked.name, asked.topic_id = topic.name, topic.topic_id
        count = topic.partitions
        for partition in asked.partitions:
            if not 0 <= partition.partition_index < count:
                refused.append(refused_topic(_take_beyond(asked, count), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
                break
    return refused


def _take_beyond(asked: OffsetCommitRequestTopic, count: int) -> OffsetCommitRequestTopic:
    """Remove the partitions that a topic with ``count`` partitions does not have from ``asked``, and return them."""
    known: list[OffsetCommitRequestPartition] = []
    beyond: list[OffsetCommitRequestPartition] = []
    for partition in asked.partitions:
        (known if 0 <= partition.partition_index < count else beyond).append(partition)
    asked.partitions = known
    return OffsetCommitRequestTopic(asked.name, asked.topic_id, beyond)


def refused_topic(topic: OffsetCommitRequestTopic, error: ErrorCode) -> OffsetCommitResponseTopic:
    partitions = [OffsetCommitResponsePartition(partition.partition_index, error) for partition in topic.partitions]
    return OffsetCommitResponseTopic(topic.name, topic.topic_id, partitions)
