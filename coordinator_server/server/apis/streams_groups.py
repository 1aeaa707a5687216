"""StreamsGroupHeartbeat (88) and StreamsGroupDescribe (89): groups of Kafka Streams, whose members get tasks (KIP-1071).

The heartbeat of a member creates the internal topics of its topology that are missing, with the rights of its client. Its answer
does not wait for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from coordinator_server.group.shard import GroupShard
from coordinator_server.group.streams.answer import WithMissingTopics
from coordinator_server.group.streams.configured_topology import InternalTopic
from coordinator_server.group.streams.status import MISSING_INTERNAL_TOPICS
from coordinator_server.group.streams.validation import topics_of, validate_names
from coordinator_server.group.types import STREAMS
from coordinator_server.machine.errors import OPERATION_ERRORS, CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.repeat import Repeat
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.apis.described_groups import GroupDescription, describes_members, describing, refusing
from coordinator_server.server.apis.refusals import error_only
from coordinator_server.server.cluster.operations import CREATE_TOPICS
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work
from coordinator_server.server.guard.access import ApiAccess, Asked
from coordinator_server.server.guard.audit import resources_of
from coordinator_server.server.guard.audited_apis import error_codes
from coordinator_server.server.guard.needs import READ_GROUP
from coordinator_server.server.guard.subscribed_topics import SubscribedTopics
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from coordinator_server.server.wire.quantum import HEARTBEAT_UNITS
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from protocol.messages.streams_group_describe import (
    DescribedGroup,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)
from protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse

STREAMS_HEARTBEAT: Final = WriteOperation("streams-group-heartbeat", GroupShard.streams_group_heartbeat)
_DESCRIPTION: Final = GroupDescription(StreamsGroupDescribeResponse, DescribedGroup, STREAMS)
_HIDDEN: Final = "The described group uses topics that the client is not authorized to describe."
# The number of topics of which an answer says why they could not be created.
_MOST_LISTED: Final = 3


def streams_group_heartbeat(
    node: Node,
    context: RequestContext,
    request: StreamsGroupHeartbeatRequest,
    reply: Exchange[StreamsGroupHeartbeatResponse],
) -> Repeat | None:
    answer = _Answer(node, context, request.group_id, reply)
    repeat = node.groups.write(node.partition_of(request.group_id), STREAMS_HEARTBEAT, context, request, answer)
    if repeat is None:
        reply.connection.use_up(HEARTBEAT_UNITS)
    return repeat


class _Answer:
    """A Reply that creates the missing topics of an answer."""

    __slots__ = ("_context", "_group_id", "_node", "_reply")

    def __init__(
        self, node: Node, context: RequestContext, group_id: str, reply: Exchange[StreamsGroupHeartbeatResponse]
    ) -> None:
        self._node = node
        self._context = context
        self._group_id = group_id
        self._reply = reply

    def complete(self, answer: StreamsGroupHeartbeatResponse | WithMissingTopics, /) -> None:
        """Send the answer."""
        if isinstance(answer, WithMissingTopics):
            answer = _create_missing(self._node, self._context, self._group_id, answer)
        self._reply.complete(answer)

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None:
        """Send the refusal."""
        self._reply.fail(error, message)


def _create_missing(
    node: Node, context: RequestContext, group_id: str, answer: WithMissingTopics
) -> StreamsGroupHeartbeatResponse:
    """Begin to create the topics, if the client may. Return the answer, which says what is in their way."""
    names = list(answer.topics)
    denied = _uncreatable(node, context, names)
    if denied:
        return _with_detail(answer.response, f"Unauthorized to CREATE on topics {', '.join(denied)}.")
    failures = node.streams_topics.failures(names)
    wanted = node.streams_topics.begin(names)
    if wanted:
        delay_ms = 2 * node.group_settings(group_id).streams.heartbeat_interval_ms
        creation = CreateTopicsRequest(topics=[_creatable(answer.topics[name]) for name in wanted])
        ended = partial(_end_creation, node, context, wanted, delay_ms)
        done = CallbackReply(ended, lambda error, message: ended(_refused(wanted, error, message)))
        node.catalog.write(CREATE_TOPICS, context, creation, done)
    if not failures:
        return answer.response
    failed = [f"{name} ({message})" for name, message in failures.items()]
    listed = ", ".join(failed[:_MOST_LISTED])
    more = f" and {len(failed) - _MOST_LISTED} more" if len(failed) > _MOST_LISTED else ""
    return _with_detail(answer.response, f"Creation failed: {listed}{more}.")


def _uncreatable(node: Node, context: RequestContext, names: Iterable[str]) -> list[str]:
    """Return the topics that the client may not create, which are reported."""
    if node.authorizer is None:
        return []
    asked = Asked.of(node, context, node.authorizer)
    if asked.access.allows(Operation.CREATE, ResourceType.CLUSTER):
        return []
    verdicts = asked.access.verdicts(Operation.CREATE, ResourceType.TOPIC)
    denied = [name for name in names if not verdicts[name]]
    if denied:
        asked.report(context, Operation.CREATE, ResourceType.TOPIC, denied)
    return denied


def _creatable(topic: InternalTopic) -> CreatableTopic:
    configs = [CreatableTopicConfig(*each) for each in topic.configs.items()]
    return CreatableTopic(topic.name, topic.partitions, topic.replication_factor or -1, [], configs)


def _refused(names: Iterable[str], error: ErrorCode, message: str | None) -> CreateTopicsResponse:
    """Return the answer of a creation that failed as a whole."""
    return CreateTopicsResponse(topics=[CreatableTopicResult(name, error_code=error, error_message=message) for name in names])


def _end_creation(node: Node, context: RequestContext, names: list[str], delay_ms: int, created: CreateTopicsResponse) -> None:
    failed = {each.name: each.error_message or ErrorCode(each.error_code).name for each in created.topics if each.error_code}
    node.streams_topics.end(names, failed, delay_ms)
    if node.audit is not None:
        node.audit.administered(context, resources_of(names, lambda name: f"Topic:{name}"), error_codes(created))


def _with_detail(response: StreamsGroupHeartbeatResponse, detail: str) -> StreamsGroupHeartbeatResponse:
    """Return the answer with more detail in the status of missing topics."""
    status = [
        replace(each, status_detail=f"{each.status_detail}; {detail}") if each.status_code == MISSING_INTERNAL_TOPICS else each
        for each in response.status or ()
    ]
    return replace(response, status=status)


class _TopologyTopics(SubscribedTopics):
    """The topics of a topology. Whether their names are valid comes before rights, as in Kafka."""

    def names(self, request: StreamsGroupHeartbeatRequest) -> list[str]:
        return topics_of(request.topology)

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Refuse a request with invalid names, or for any denied topic."""
        try:
            validate_names(request.topology)
        except CoordinatorError as refused:
            reply.fail(refused.error, refused.message)
            return None
        return (yield from super().divide(asked, request, reply))


STREAMS_GROUP_HEARTBEAT_API = ApiRow(
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    streams_group_heartbeat,
    error_only(StreamsGroupHeartbeatResponse, OPERATION_ERRORS),
    Order.WRITE,
    access=ApiAccess((READ_GROUP,), _TopologyTopics(), has_message=False),
)


def _topics_of(group: Any) -> Iterator[str]:
    for each in (group.topology.subtopologies or ()) if group.topology is not None else ():
        yield from each.source_topics
        yield from each.repartition_sink_topics
        yield from (topic.name for topic in each.repartition_source_topics)
        yield from (topic.name for topic in each.state_changelog_topics)


STREAMS_GROUP_DESCRIBE_API = ApiRow(
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
    describing(_DESCRIPTION),
    refusing(_DESCRIPTION),
    Order.READ,
    access=describes_members(_topics_of, _HIDDEN),
)
