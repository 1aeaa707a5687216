"""Which requests reach their handler whole where an authorizer is configured, without being divided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from types import SimpleNamespace
from typing import Any

import pytest

from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.apis.groups import LIST_GROUPS_API
from coordinator_server.server.apis.metadata import METADATA_API
from coordinator_server.server.apis.records import FETCH_API
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.guard.access import ApiAccess, Asked
from protocol.acl_codes import Operation, ResourceType
from protocol.messages.fetch import FetchRequest, FetchTopic, ReplicaState
from protocol.messages.list_groups import ListGroupsRequest
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic

pytestmark = pytest.mark.interpreted


class Access:
    """It allows operations of the cluster, and of the topic ``orders``."""

    def __init__(self, of_cluster: Collection[Operation] = (), of_orders: Collection[Operation] = ()) -> None:
        self._of_cluster, self._of_orders = of_cluster, of_orders

    def allows(self, operation: Operation, resource_type: ResourceType, name: str = "kafka-cluster") -> bool:
        assert resource_type is ResourceType.CLUSTER
        return operation in self._of_cluster

    def verdicts(self, operation: Operation, resource_type: ResourceType) -> dict[str, bool]:
        return defaultdict(bool, orders=operation in self._of_orders)


def is_whole(row: ApiRow[Any, Any], request: Any, version: int, access: Access) -> bool:
    node: Any = SimpleNamespace(image=SimpleNamespace(topic=lambda name: SimpleNamespace(name=name)))
    asked = Asked(node, RequestContext("c", "h", row.request.kafka.key, version), access, lambda *_: None)  # type: ignore[arg-type]
    assert isinstance(row.access, ApiAccess)
    assert row.access.parts is not None
    return row.access.parts.allows_all(asked, request)


@pytest.mark.parametrize("is_broker", [False, True])
@pytest.mark.parametrize("version", [12, 15])
def test_a_fetch_of_a_consumer_needs_its_topics_and_that_of_a_broker_the_cluster(version: int, is_broker: bool) -> None:
    """The id of the replica moved in version 15."""
    replica_id = 5 if is_broker else -1
    request = FetchRequest(topics=[FetchTopic(topic="orders")])
    if version >= 15:
        request.replica_state = ReplicaState(replica_id)
        request.topics = []
    else:
        request.replica_id = replica_id
    broker, consumer = Access(of_cluster=[Operation.CLUSTER_ACTION]), Access(of_orders=[Operation.READ])

    assert is_whole(FETCH_API, request, version, broker) is (is_broker or version >= 15)
    assert is_whole(FETCH_API, request, version, consumer) is not is_broker


@pytest.mark.parametrize(("of_topics", "of_cluster"), [(True, False), (False, True), (True, True), (False, False)])
def test_metadata_with_authorized_operations_is_not_whole(of_topics: bool, of_cluster: bool) -> None:
    """They are filled in when the answer is encoded."""
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name="orders")],
        include_topic_authorized_operations=of_topics,
        include_cluster_authorized_operations=of_cluster,
    )

    assert is_whole(METADATA_API, request, 8, Access(of_orders=[Operation.DESCRIBE])) is not (of_topics or of_cluster)
    assert not is_whole(METADATA_API, request, 8, Access())


def test_who_may_describe_the_cluster_sees_all_groups() -> None:
    assert is_whole(LIST_GROUPS_API, ListGroupsRequest(), 4, Access(of_cluster=[Operation.DESCRIBE]))
    assert not is_whole(LIST_GROUPS_API, ListGroupsRequest(), 4, Access())
