"""FindCoordinator (10): the node of a group, a transactional id or a share partition."""

from __future__ import annotations

from typing import Any, Final

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.catalog.topics import Topic
from coordinator_server.kinds import GROUPS, SHARE_STATE, TRANSACTIONS
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.server.apis.lists import answer_list
from coordinator_server.server.cluster.operations import CREATE_INTERNAL_TOPIC
from coordinator_server.server.cluster.view import NO_NODE
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work
from coordinator_server.server.guard.access import MESSAGES, ApiAccess, Asked, Need, on_cluster
from coordinator_server.server.guard.parts import EMPTY_MESSAGES, Each
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.order import Order
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.first_versions import COORDINATOR_KEYS, COORDINATORS_OF_SHARE_PARTITIONS
from protocol.messages.cluster_metadata import TopicRecord
from protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from protocol.share_partition_names import coordinator_key, parse_coordinator_key

_NO_SHARE_PARTITION = "the key is not a share partition's, or the version of the request has none"
# The work of a key.
UNITS_PER_KEY = 2
CHARACTERS_PER_UNIT = 500


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
    if node.internal.named(topic.name) is not None or node.catalog.read(CatalogShard.topic, topic.name) is not None:
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
        if found.error_code:
            raise CoordinatorError(ErrorCode(found.error_code), found.error_message)
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
    owner = node.nodes.asked_for(ShardId(topic.name, partition_for(owned, topic.partitions)))
    if owner == NO_NODE:
        return Coordinator(key, -1, "", -1, ErrorCode.COORDINATOR_NOT_AVAILABLE, "the shard has no owner now; try again")
    there = node.endpoint(reply, owner)
    return Coordinator(key, owner, there.host, there.port)


def refuse_find_coordinator(
    context: RequestContext, request: FindCoordinatorRequest, error: ErrorCode, message: str | None
) -> FindCoordinatorResponse:
    if context.api_version < COORDINATOR_KEYS:
        return FindCoordinatorResponse(error_code=error, error_message=message, node_id=-1, host="", port=-1)
    refused = [Coordinator(key, -1, "", -1, error, message) for key in request.coordinator_keys]
    return FindCoordinatorResponse(coordinators=refused)


class _Coordinators:
    """The keys of a FindCoordinator request: groups, transactional ids, or share partitions, for which only brokers look."""

    _keys: Final = {
        key_type: Each("coordinator_keys", Operation.DESCRIBE, kind, lambda _, key: key, "coordinators", EMPTY_MESSAGES)
        for key_type, kind in (
            (GROUPS.key_type, ResourceType.GROUP),
            (TRANSACTIONS.key_type, ResourceType.TRANSACTIONAL_ID),
        )
    }

    def allows_all(self, asked: Asked, request: Any) -> bool:
        """Return whether all keys are allowed."""
        keys = self._keys.get(request.key_type)
        return keys is not None and asked.context.api_version >= COORDINATOR_KEYS and keys.allows_all(asked, request)

    def divide(self, asked: Asked, request: Any, reply: Exchange[Any]) -> Work[Any]:
        """Take the denied keys out of a request."""
        version, keys = asked.context.api_version, self._keys.get(request.key_type)
        if keys is not None and version >= COORDINATOR_KEYS:
            return (yield from keys.divide(asked, request, reply))
        need = None
        if keys is not None:
            need = Need(Operation.DESCRIBE, keys.resource_type, lambda _: request.key)
        elif (
            request.key_type == SHARE_STATE.key_type and version >= COORDINATORS_OF_SHARE_PARTITIONS and request.coordinator_keys
        ):
            need = on_cluster(Operation.CLUSTER_ACTION)
        if need is None or need.is_met(asked, request):
            return request
        reply.fail(need.error, MESSAGES[need.error])
        return None


# READ, although the first request of a key type creates a topic: only its own answer waits for that, as in Kafka.
FIND_COORDINATOR_API = ApiRow(
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    find_coordinator,
    refuse_find_coordinator,
    Order.READ,
    access=ApiAccess(parts=_Coordinators()),
)
