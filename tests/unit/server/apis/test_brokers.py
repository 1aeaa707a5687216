"""FindCoordinator and Metadata: who owns what, and which topics come to be by being asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from coordinator_server.catalog.topics import Topic
from coordinator_server.config import Config
from coordinator_server.log.shards import ShardId
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.server.apis.brokers import API_VERSIONS_API
from coordinator_server.server.apis.find_coordinator import FIND_COORDINATOR_API
from coordinator_server.server.apis.metadata import METADATA_API
from coordinator_server.server.cluster.view import CATALOG_SHARD, NO_NODE, Endpoint, Owner
from coordinator_server.server.guard.audit import Audit
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.wire.episodes import Episodes
from protocol.error_codes import ErrorCode
from protocol.fields import ZERO_UUID
from protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from protocol.messages.create_topics import CreatableTopicResult, CreateTopicsResponse
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataResponseTopic
from tests.support.api_peer import ApiPeer
from tests.support.clock import ManualClock
from tests.support.configs import config_with
from tests.support.read_by_name import ReadByName
from tests.support.views import loops_nodes

GROUPS, STATES = 0, 2
SHARE_PARTITION = "g:AAAAAAAAAAAAAAAAAAAAAQ:0"
OFFSETS = Topic("__consumer_offsets", b"c" * 16, 50)
SHARE = Topic("__share_group_state", b"s" * 16, 50)
ORDERS = Topic("orders", b"o" * 16, 3)
# READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS: AclOperation's numbers as bits.
ON_TOPICS = sum(1 << number for number in (3, 4, 5, 6, 7, 8, 10, 11))
# CREATE, ALTER, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE.
ON_CLUSTER = sum(1 << number for number in (5, 7, 8, 9, 10, 11, 12))
UNKNOWN, UNKNOWN_ID = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID


class Site:
    """Two loops, nodes 7 and 8, with a topic. Groups have their internal topic, share groups will when they are first used."""

    def __init__(self) -> None:
        self.config = Config()
        self.cluster_id = "cluster"
        self.catalog, self.image, self.internal = ReadByName(self), self, self
        self.nodes = loops_nodes(2, first_id=7)
        self.topics = {"orders": ORDERS}
        self.created: list[str] = []
        self.error: ErrorCode | None = None
        self.is_current = True
        self.runtimes = {SHARE.name: self}
        # Those that wait for the loads of a kind, if they take time.
        self.loading: list[Callable[[], None]] | None = None

    def endpoints(self, reply: Any) -> list[tuple[int, Endpoint]]:
        node: Any = self
        return Node.endpoints(node, reply)

    def endpoint(self, reply: Any, node_id: int) -> Endpoint:
        return self.nodes.endpoint(node_id, ("host", 0))

    def topic(self, name: str) -> Topic | None:
        """Of the node and of the catalog."""
        return self.topics.get(name)

    def topic_by_id(self, topic_id: bytes) -> Topic | None:
        return next((topic for topic in self.topics.values() if topic.topic_id == topic_id), None)

    audit = Audit(ManualClock().now_ms, Episodes(ManualClock().now_ms))

    def all_topics(self) -> list[Topic]:
        return list(self.topics.values())

    def of_key_type(self, key_type: int) -> Topic | None:
        return {GROUPS: OFFSETS, STATES: SHARE}.get(key_type)

    def named(self, name: str) -> Topic | None:
        return OFFSETS if name == OFFSETS.name else None

    def __contains__(self, name: str) -> bool:
        """As the internal topics."""
        return name in (OFFSETS.name, SHARE.name)

    def write(self, operation: Any, context: object, request: Any, reply: Any) -> None:
        """As the catalog, which creates what it is asked to, or fails with ``error``."""
        names = [each.name for each in getattr(request, "topics", [request])]
        self.created += names
        if self.error is not None:
            reply.fail(self.error)
            return
        self.topics |= {name: Topic(name, name.encode().ljust(16, b".")[:16], 1) for name in names}
        reply.complete(CreateTopicsResponse(topics=[CreatableTopicResult(name) for name in names]))

    def after_loads(self, call: Callable[[], None]) -> None:
        """As a runtime."""
        if self.loading is None:
            call()
        else:
            self.loading.append(call)


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.mark.parametrize("version", [0, 2, 3, 4])
@pytest.mark.parametrize(("name", "software_version"), [("", "1.0"), ("a client", "1.0"), ("client", ""), ("client", "1 0")])
def test_the_name_of_a_client_is_checked_from_the_version_that_has_it(
    site: Site, version: int, name: str, software_version: str
) -> None:
    """Name and version of its software; a client that is refused learns which versions of this API there are."""
    request = ApiVersionsRequest(name, software_version) if version >= 3 else ApiVersionsRequest()

    answer = ApiPeer(API_VERSIONS_API, site).ask(request, version)

    assert isinstance(answer, ApiVersionsResponse)
    assert answer.error_code == (ErrorCode.INVALID_REQUEST if version >= 3 else ErrorCode.NONE)
    assert (len(answer.api_keys) == 1) is (version >= 3)
    accepted = ApiPeer(API_VERSIONS_API, site).ask(ApiVersionsRequest("a-client", "1.0"), version)
    assert isinstance(accepted, ApiVersionsResponse)
    assert accepted.error_code == ErrorCode.NONE


def move(site: Site, owners: dict[ShardId, Owner]) -> None:
    """Replace the node's view."""
    site.nodes.replace(msgspec.structs.replace(site.nodes.view, version=2, owners=owners))


@pytest.mark.parametrize("version", [3, 4])
def test_a_coordinator_is_where_its_shard_moved(site: Site, version: int) -> None:
    """Of a shard that nobody owns, the client asks again."""
    shard = ShardId(OFFSETS.name, partition_for("group", 50))
    other = 15 - find(site, version, "group")[0][1]
    move(site, {shard: Owner(other, 2)})

    assert find(site, version, "group") == [(0, other, "host", 9092 + other - 7)]

    site.nodes.view = msgspec.structs.replace(site.nodes.view, owners={shard: Owner(NO_NODE, 3)})
    assert find(site, version, "group") == [(ErrorCode.COORDINATOR_NOT_AVAILABLE, -1, "", -1)]


def find(site: Site, version: int, *keys: str, key_type: int = GROUPS) -> list[tuple[int, int, str, int]]:
    """Error, node and address of the coordinator of each key."""
    request = FindCoordinatorRequest(keys[0], key_type) if version < 4 else FindCoordinatorRequest("", key_type, [*keys])
    answer = ApiPeer(FIND_COORDINATOR_API, site).ask(request, version)
    assert isinstance(answer, FindCoordinatorResponse)
    found: list[Any] = [answer] if version < 4 else answer.coordinators
    if version >= 4:
        assert [each.key for each in found] == [*keys]
    return [(each.error_code, each.node_id, each.host, each.port) for each in found]


@pytest.mark.parametrize("version", [0, 3, 4, 6])
def test_a_coordinator_owns_the_partition_of_its_group(site: Site, version: int) -> None:
    for group in ("a", "b", "c", "d"):
        loop = partition_for(group, 50) % 2
        assert find(site, version, group) == [(0, 7 + loop, "host", 9092 + loop)]


def test_many_coordinators_are_found_in_their_order(site: Site) -> None:
    groups = [f"group-{number}" for number in range(3000)]

    assert [node_id for _, node_id, _, _ in find(site, 4, *groups)] == [7 + partition_for(group, 50) % 2 for group in groups]


@pytest.mark.parametrize("version", [1, 3, 4, 6])
def test_a_kind_that_is_not_served_has_no_coordinator(site: Site, version: int) -> None:
    """In the form of the version: from 4 on for each key."""
    assert find(site, version, "key", key_type=9) == [(ErrorCode.INVALID_REQUEST, -1, "", -1)]
    assert site.created == []


def test_the_first_use_of_a_kind_creates_its_topic(site: Site) -> None:
    """Once; that of groups is always there."""
    find(site, 6, "group")
    assert site.created == []

    for _ in range(2):
        assert [each[0] for each in find(site, 6, SHARE_PARTITION, key_type=STATES)] == [0]
    assert site.created == [SHARE.name]


def test_the_first_use_of_a_kind_waits_for_its_shards(site: Site) -> None:
    """A client that finds them loading would ask again half a second later."""
    site.loading = []
    peer = ApiPeer(FIND_COORDINATOR_API, site)
    peer.send(FindCoordinatorRequest("", STATES, [SHARE_PARTITION]), 6)
    assert peer.is_waiting
    [loaded] = site.loading
    loaded()

    answer = peer.receive(6)
    assert isinstance(answer, FindCoordinatorResponse)
    assert [each.error_code for each in answer.coordinators] == [0]


def test_while_a_topic_cannot_be_created_clients_ask_again(site: Site) -> None:
    site.error = ErrorCode.NOT_CONTROLLER

    assert find(site, 6, SHARE_PARTITION, key_type=STATES) == [(ErrorCode.COORDINATOR_NOT_AVAILABLE, -1, "", -1)]


def ask(site: Site, version: int, *topics: MetadataRequestTopic, **fields: Any) -> MetadataResponse:
    request = MetadataRequest(**{"topics": [*topics], **fields})
    answer = ApiPeer(METADATA_API, site).ask(request, version)
    assert isinstance(answer, MetadataResponse)
    return answer


def named(name: str) -> MetadataRequestTopic:
    return MetadataRequestTopic(name=name)


def told(topics: list[MetadataResponseTopic]) -> list[tuple[str | None, int]]:
    return [(topic.name, topic.error_code) for topic in topics]


def test_nodes_and_leaders_are_told(site: Site) -> None:
    answer = ask(site, 12, named("orders"))

    assert [(each.node_id, each.host, each.port) for each in answer.brokers] == [(7, "host", 9092), (8, "host", 9093)]
    assert (answer.cluster_id, answer.controller_id) == ("cluster", 7)
    [topic] = answer.topics
    assert (topic.name, topic.topic_id, topic.is_internal) == ("orders", ORDERS.topic_id, False)
    assert [
        (each.partition_index, each.leader_id, each.leader_epoch, each.replica_nodes, each.isr_nodes) for each in topic.partitions
    ] == [(0, 7, 0, [7], [7]), (1, 8, 0, [8], [8]), (2, 7, 0, [7], [7])]


def test_leaders_follow_the_view(site: Site) -> None:
    """A shard that moved has another leader in a later epoch; one that nobody owns has none, and clients ask again."""
    move(site, {ShardId("orders", 0): Owner(8, 3), ShardId("orders", 1): Owner(NO_NODE, 2), CATALOG_SHARD: Owner(8, 2)})
    answer = ask(site, 12, named("orders"))

    [topic] = answer.topics
    assert [(each.error_code, each.leader_id, each.leader_epoch, each.isr_nodes) for each in topic.partitions] == [
        (ErrorCode.NONE, 8, 2, [8]),
        (ErrorCode.LEADER_NOT_AVAILABLE, NO_NODE, 1, []),
        (ErrorCode.NONE, 7, 0, [7]),
    ]
    assert answer.controller_id == 8


def test_all_topics_are_told_if_none_is_named(site: Site) -> None:
    """In version 0 an empty list is all of them, later null is."""
    site.topics[OFFSETS.name] = OFFSETS
    everything = [("orders", 0), (OFFSETS.name, 0)]

    assert told(ask(site, 0).topics) == everything
    assert told(ask(site, 1, topics=None).topics) == told(ask(site, 12, topics=None).topics) == everything
    assert told(ask(site, 1).topics) == told(ask(site, 12).topics) == []
    assert [topic.is_internal for topic in ask(site, 12, topics=None).topics] == [False, True]


@pytest.mark.parametrize("version", [0, 3, 4, 12])
def test_a_topic_is_created_when_it_is_asked_for(site: Site, version: int) -> None:
    """Each once, and those alone that can be."""
    with capture_logs() as lines:
        found = ask(site, version, named("b"), named("orders"), named("a"), named("not a name"), named("b"))

    assert site.created == ["a", "b"]
    assert [(line["event"], line["api"], line["resources"], line["outcome"]) for line in lines] == [
        ("administrative-request", "Metadata", ["Topic:a", "Topic:b"], "done")
    ]
    assert told(found.topics) == [("b", 0), ("orders", 0), ("a", 0), ("not a name", ErrorCode.INVALID_TOPIC_EXCEPTION)]


def test_nothing_is_created_unless_both_sides_want_it(site: Site) -> None:
    assert told(ask(site, 12, named("a"), allow_auto_topic_creation=False).topics) == [("a", UNKNOWN)]
    site.config = config_with(auto_create_topics_enable=False)
    assert told(ask(site, 12, named("a")).topics) == [("a", UNKNOWN)]
    assert site.created == []


def test_what_could_not_be_created_is_unknown(site: Site) -> None:
    site.error = ErrorCode.POLICY_VIOLATION

    assert told(ask(site, 12, named("a"), named("orders")).topics) == [("a", UNKNOWN), ("orders", 0)]


def test_a_loop_that_may_not_know_all_topics_denies_none(site: Site) -> None:
    """Clients ask again."""
    site.is_current = False

    answer = ask(site, 12, named("a"), named("not a name"), allow_auto_topic_creation=False)
    assert told(answer.topics) == [("a", ErrorCode.LEADER_NOT_AVAILABLE), ("not a name", ErrorCode.INVALID_TOPIC_EXCEPTION)]


def test_topics_are_found_by_id(site: Site) -> None:
    """Names beside ids are ignored, and nothing is created."""
    topics = [MetadataRequestTopic(topic_id, None) for topic_id in (ORDERS.topic_id, b"u" * 16, ORDERS.topic_id)]

    assert told(ask(site, 12, *topics, named("a")).topics) == [("orders", 0), (None, UNKNOWN_ID)]
    assert site.created == []


@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize("topic", [MetadataRequestTopic(ORDERS.topic_id, "orders"), MetadataRequestTopic(ZERO_UUID, None)])
def test_ids_are_not_served_in_versions_that_only_have_the_field(site: Site, version: int, topic: MetadataRequestTopic) -> None:
    assert [error for _, error in told(ask(site, version, topic).topics)] == [ErrorCode.INVALID_REQUEST]


@pytest.mark.parametrize("is_asked", [False, True])
def test_operations_are_told_if_they_are_asked_for(site: Site, is_asked: bool) -> None:
    of_topics = ask(site, 10, named("orders"), include_topic_authorized_operations=is_asked)
    of_cluster = ask(site, 10, named("orders"), include_cluster_authorized_operations=is_asked)

    assert of_topics.topics[0].topic_authorized_operations == (ON_TOPICS if is_asked else -(1 << 31))
    assert of_cluster.cluster_authorized_operations == (ON_CLUSTER if is_asked else -(1 << 31))
    assert of_cluster.topics[0].topic_authorized_operations == of_topics.cluster_authorized_operations == -(1 << 31)
