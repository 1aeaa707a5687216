"""ApiVersions (18), FindCoordinator (10), Metadata (3), DescribeCluster (60): the nodes and topics that exist."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from coordinator_server.catalog.topics import Topic
from coordinator_server.kinds import SHARE_STATE
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.server.apis import topic_access
from coordinator_server.server.apis.features import EPOCH, finalized_features, supported_features
from coordinator_server.server.apis.lists import answer_list
from coordinator_server.server.apis.refusals import error_only
from coordinator_server.server.cluster.nodes import Endpoint, loop_of
from coordinator_server.server.cluster.operations import AUTO_CREATE_TOPICS, CREATE_INTERNAL_TOPIC
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.guard.access import OPEN, cluster
from coordinator_server.server.guard.audit import resources_of
from coordinator_server.server.guard.audited_apis import error_codes
from coordinator_server.server.guard.authorized_operations import CLUSTER_OPERATIONS, TOPIC_OPERATIONS
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from coordinator_server.topic_names import name_problem
from protocol.acl_codes import Operation
from protocol.api import APIS
from protocol.error_codes import ErrorCode
from protocol.fields import ZERO_UUID
from protocol.first_versions import COORDINATOR_KEYS, COORDINATORS_OF_SHARE_PARTITIONS
from protocol.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from protocol.messages.cluster_metadata import TopicRecord
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from protocol.messages.describe_cluster import DescribeClusterBroker, DescribeClusterRequest, DescribeClusterResponse
from protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse
from protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from protocol.share_partition_names import coordinator_key, parse_coordinator_key

LEADER_EPOCH = 0
# As in Kafka: old clients refuse a server without version 0 of Produce, and then use a newer version (KAFKA-18659).
TOLD_FROM = {0: 0}
BROKERS, CONTROLLERS = 1, 2
_NO_SHARE_PARTITION = "the key is not a share partition's, or the version of the request has none"
# The work of FindCoordinator.
UNITS_PER_KEY = 2
CHARACTERS_PER_UNIT = 500
# The work of Metadata, besides the partitions.
UNITS_PER_TOPIC = 2

# The characters that KIP-511 allows in the name and version of a client's software.
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?")


def api_versions(node: Node, context: RequestContext, request: ApiVersionsRequest, reply: Exchange[ApiVersionsResponse]) -> None:
    if context.api_version >= 3 and not (
        _SOFTWARE.fullmatch(request.client_software_name) and _SOFTWARE.fullmatch(request.client_software_version)
    ):
        raise CoordinatorError(ErrorCode.INVALID_REQUEST)
    reply.complete(
        ApiVersionsResponse(
            api_keys=_served(),
            supported_features=supported_features(context.api_version),
            finalized_features_epoch=EPOCH,
            finalized_features=finalized_features(),
        )
    )


def refuse_api_versions(
    context: RequestContext, request: ApiVersionsRequest, error: ErrorCode, message: str | None
) -> ApiVersionsResponse:
    # The answer has the supported versions, for a client that used an unknown version (KIP-511).
    return ApiVersionsResponse(error, [api for api in _served() if api.api_key == context.api_key])


API_VERSIONS_API = ApiRow(
    ApiVersionsRequest,
    ApiVersionsResponse,
    api_versions,
    refuse_api_versions,
    Order.FREE,
    access=OPEN,
)


def _served() -> list[ApiVersion]:
    return [ApiVersion(api.key, TOLD_FROM.get(api.key, api.min_version), api.max_version) for api in APIS.values()]


def find_coordinator(
    node: Node, context: RequestContext, request: FindCoordinatorRequest, reply: Exchange[FindCoordinatorResponse]
) -> None:
    """Answer at once, or, on the first use of a kind of shard, when its topic is durable, known to all loops, and loaded here."""
    topic = node.internal.of_key_type(request.key_type)
    if topic is None:
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, f"no coordinator is served here for key type {request.key_type}")
    if request.key_type == SHARE_STATE.key_type and not _has_share_partition(context, request):
        _coordinators(node, topic, context, request, reply)
        return
    if node.internal.named(topic.name) is not None or node.catalog.topic(topic.name) is not None:
        _coordinators(node, topic, context, request, reply)
        return
    created = CallbackReply(
        lambda _: node.runtimes[topic.name].after_loads(lambda: _coordinators(node, topic, context, request, reply)),
        # Clients retry only this error.
        lambda _error, message: reply.fail(ErrorCode.COORDINATOR_NOT_AVAILABLE, message),
    )
    node.catalog.write(CREATE_INTERNAL_TOPIC, context, TopicRecord(topic.name, topic.topic_id), created)


def _has_share_partition(context: RequestContext, request: FindCoordinatorRequest) -> bool:
    """Return whether any of the keys is a share partition's: only that is a use of the coordinator."""
    keys = request.coordinator_keys if context.api_version >= COORDINATOR_KEYS else [request.key]
    return any(_owned_key(SHARE_STATE.topic, context, key) is not None for key in keys)


def _owned_key(topic: str, context: RequestContext, key: str) -> str | None:
    """Return the form of a key that selects its partition, or None if no coordinator can own it."""
    if topic != SHARE_STATE.topic:
        return key
    if context.api_version < COORDINATORS_OF_SHARE_PARTITIONS:
        return None
    try:
        return coordinator_key(parse_coordinator_key(key))
    except ValueError:
        return None


def _coordinators(
    node: Node,
    topic: Topic,
    context: RequestContext,
    request: FindCoordinatorRequest,
    reply: Exchange[FindCoordinatorResponse],
) -> None:
    if context.api_version < COORDINATOR_KEYS:
        if topic.name == SHARE_STATE.topic:
            raise CoordinatorError(ErrorCode.INVALID_REQUEST, _NO_SHARE_PARTITION)
        found = _coordinator(node, topic, reply, request.key, request.key)
        reply.complete(FindCoordinatorResponse(node_id=found.node_id, host=found.host, port=found.port, error_message="NONE"))
        return

    def find(key: str) -> tuple[Coordinator, int]:
        owned = _owned_key(topic.name, context, key)
        if owned is None:
            # As in Kafka, without a message.
            found = Coordinator(key, -1, "", -1, ErrorCode.INVALID_REQUEST, "")
        else:
            found = _coordinator(node, topic, reply, key, owned)
        return found, UNITS_PER_KEY + len(key) // CHARACTERS_PER_UNIT

    answer_list(node.steps, reply, request.coordinator_keys, find, lambda found: FindCoordinatorResponse(coordinators=found))


def _coordinator(node: Node, topic: Topic, reply: Exchange[Any], key: str, owned: str) -> Coordinator:
    loop = loop_of(ShardId(topic.name, partition_for(owned, topic.partitions)), node.nodes.loops)
    there = node.endpoint(reply, loop)
    return Coordinator(key, node.nodes.first_id + loop, there.host, there.port)


def refuse_find_coordinator(
    context: RequestContext, request: FindCoordinatorRequest, error: ErrorCode, message: str | None
) -> FindCoordinatorResponse:
    if context.api_version < COORDINATOR_KEYS:
        return FindCoordinatorResponse(error_code=error, error_message=message, node_id=-1, host="", port=-1)
    refused = [Coordinator(key, -1, "", -1, error, message) for key in request.coordinator_keys]
    return FindCoordinatorResponse(coordinators=refused)


# READ, although the first request of a key type creates a topic: only its own answer waits for that, as in Kafka.
FIND_COORDINATOR_API = ApiRow(
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    find_coordinator,
    refuse_find_coordinator,
    Order.READ,
    access=topic_access.FIND_COORDINATOR,
)


def metadata(node: Node, context: RequestContext, request: MetadataRequest, reply: Exchange[MetadataResponse]) -> None:
    """Answer at once, or, if the request creates topics, when they are durable."""
    _check_topic_ids(context, request)
    missing = _missing_topics(node, context, request)
    if not missing:
        _describe_topics(node, context, request, reply)
        return
    creation = CreateTopicsRequest(topics=[CreatableTopic(name, -1, -1) for name in missing])

    # Whether the creation succeeds or not, the answer describes the topics that exist afterwards.
    def answer(codes: Iterable[int]) -> None:
        if node.audit is not None:
            node.audit.administered(context, resources_of(missing, lambda name: f"Topic:{name}"), codes)
        _describe_topics(node, context, request, reply)

    done = CallbackReply(lambda created: answer(error_codes(created)), lambda error, _message: answer([error]))
    node.catalog.write(AUTO_CREATE_TOPICS, context, creation, done)


def refuse_metadata(context: RequestContext, request: MetadataRequest, error: ErrorCode, message: str | None) -> MetadataResponse:
    topics = [
        MetadataResponseTopic(error, _name_for(context, topic.name), topic.topic_id, topic_authorized_operations=-(1 << 31))
        for topic in request.topics or []
    ]
    return MetadataResponse(topics=topics, error_code=error)


def _check_topic_ids(context: RequestContext, request: MetadataRequest) -> None:
    """Raise CoordinatorError for topic ids in versions 10 and 11, which have the field but do not support it."""
    if context.api_version in (10, 11):
        for topic in request.topics or []:
            if topic.name is None or topic.topic_id != ZERO_UUID:
                raise CoordinatorError(ErrorCode.INVALID_REQUEST, "topics can be asked for by id from version 12 on")


def _wants_all(context: RequestContext, request: MetadataRequest) -> bool:
    return request.topics is None or (context.api_version == 0 and not request.topics)


def _asked_ids(request: MetadataRequest) -> list[bytes]:
    """Return the requested topic ids, each once. If there are any, the requested names are ignored, as in Kafka."""
    return list(dict.fromkeys(topic.topic_id for topic in request.topics or [] if topic.topic_id != ZERO_UUID))


def _asked_names(request: MetadataRequest) -> list[str]:
    """Return the requested names, each once."""
    return list(dict.fromkeys(topic.name or "" for topic in request.topics or []))


def _missing_topics(node: Node, context: RequestContext, request: MetadataRequest) -> list[str]:
    if not (node.config.live.auto_create_topics_enable and request.allow_auto_topic_creation) or _wants_all(context, request):
        return []
    if _asked_ids(request):
        return []
    return sorted(name for name in _asked_names(request) if name and name_problem(name) is None and node.topic(name) is None)


def _describe_topics(node: Node, context: RequestContext, request: MetadataRequest, reply: Exchange[MetadataResponse]) -> None:
    def respond(topics: list[MetadataResponseTopic]) -> MetadataResponse:
        return _metadata(node, request, reply, topics)

    def describe(topic: Topic) -> tuple[MetadataResponseTopic, int]:
        return _sized(_describe(node, topic))

    def describe_id(topic_id: bytes) -> tuple[MetadataResponseTopic, int]:
        known = node.topic_by_id(topic_id)
        return _sized(_describe(node, known) if known else MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_ID, None, topic_id))

    def describe_name(name: str) -> tuple[MetadataResponseTopic, int]:
        known = node.topic(name)
        return _sized(_describe(node, known) if known else MetadataResponseTopic(_absent(node, name), name))

    if _wants_all(context, request):
        answer_list(node.steps, reply, node.all_topics(), describe, respond)
    elif ids := _asked_ids(request):
        answer_list(node.steps, reply, ids, describe_id, respond)
    else:
        answer_list(node.steps, reply, _asked_names(request), describe_name, respond)


def _sized(topic: MetadataResponseTopic) -> tuple[MetadataResponseTopic, int]:
    return topic, UNITS_PER_TOPIC + len(topic.partitions)


def _metadata(
    node: Node, request: MetadataRequest, reply: Exchange[Any], topics: list[MetadataResponseTopic]
) -> MetadataResponse:
    response = MetadataResponse(
        brokers=[MetadataResponseBroker(node_id, *there) for node_id, there in _brokers(node, reply)],
        cluster_id=node.cluster_id,
        controller_id=node.nodes.controller_id,
        topics=topics,
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = CLUSTER_OPERATIONS
    if request.include_topic_authorized_operations:
        for topic in topics:
            topic.topic_authorized_operations = TOPIC_OPERATIONS
    return response


METADATA_API = ApiRow(
    MetadataRequest,
    MetadataResponse,
    metadata,
    refuse_metadata,
    Order.READ,
    access=topic_access.metadata(_metadata),
)


def _absent(node: Node, name: str) -> ErrorCode:
    if name_problem(name):
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    # Clients retry LEADER_NOT_AVAILABLE; some give up on an unknown topic.
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if node.catalog.is_current else ErrorCode.LEADER_NOT_AVAILABLE


def _describe(node: Node, topic: Topic) -> MetadataResponseTopic:
    partitions = []
    for partition in range(topic.partitions):
        leader = node.nodes.leader_of(partition)
        partitions.append(MetadataResponsePartition(0, partition, leader, LEADER_EPOCH, [leader], [leader]))
    return MetadataResponseTopic(0, topic.name, topic.topic_id, topic.name in node.internal, partitions)


def _brokers(node: Node, reply: Exchange[Any]) -> list[tuple[int, Endpoint]]:
    return [(node.nodes.first_id + loop, node.endpoint(reply, loop)) for loop in range(node.nodes.loops)]


def _name_for(context: RequestContext, name: str | None) -> str | None:
    return name if name is not None or context.api_version >= 12 else ""


def list_partition_reassignments(
    node: Node,
    context: RequestContext,
    request: ListPartitionReassignmentsRequest,
    reply: Exchange[ListPartitionReassignmentsResponse],
) -> None:
    """Answer that no partition moves: a partition of a topic without records has one replica, and keeps it."""
    reply.complete(ListPartitionReassignmentsResponse(error_message=None))


LIST_PARTITION_REASSIGNMENTS_API = ApiRow(
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    list_partition_reassignments,
    error_only(ListPartitionReassignmentsResponse),
    Order.READ,
    access=cluster(Operation.DESCRIBE),
)


def describe_cluster(
    node: Node, context: RequestContext, request: DescribeClusterRequest, reply: Exchange[DescribeClusterResponse]
) -> None:
    """Answer DescribeCluster (KIP-700).

    All nodes are brokers: there are no separate controller endpoints (KIP-919) and no fenced brokers (KIP-1073).
    """
    if request.endpoint_type != BROKERS:
        raise CoordinatorError(*_not_here(request.endpoint_type))
    response = DescribeClusterResponse(
        cluster_id=node.cluster_id,
        controller_id=node.nodes.controller_id,
        brokers=[DescribeClusterBroker(node_id, *there) for node_id, there in _brokers(node, reply)],
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = CLUSTER_OPERATIONS
    reply.complete(response)


DESCRIBE_CLUSTER_API = ApiRow(
    DescribeClusterRequest,
    DescribeClusterResponse,
    describe_cluster,
    error_only(DescribeClusterResponse),
    Order.READ,
    access=topic_access.DESCRIBE_CLUSTER,
)


def _not_here(endpoint_type: int) -> tuple[ErrorCode, str]:
    if endpoint_type == CONTROLLERS:
        return ErrorCode.MISMATCHED_ENDPOINT_TYPE, "this endpoint is a broker's, and controllers were asked for"
    return ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"there is no endpoint type {endpoint_type}"
