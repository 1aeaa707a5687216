"""How many topics, partitions and groups with settings there may be: who asks for more gets POLICY_VIOLATION,
as for too large a request.
"""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.timeline import LATEST
from protocol.error_codes import ErrorCode
from protocol.messages.alter_configs import AlterableConfig as ReplacedConfig
from protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from protocol.messages.alter_configs import AlterConfigsResource as ReplacedResource
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from tests.support.catalog import Catalog
from tests.support.configs import config_with

OK, FULL = ErrorCode.NONE, ErrorCode.POLICY_VIOLATION


def catalog_with(**limits: Any) -> Catalog:
    return Catalog(config_with(num_partitions=3, **limits))


def create(catalog: Catalog, *names: str, partitions: int = -1, operation: Any = CatalogShard.create_topics) -> list[int]:
    request = CreateTopicsRequest([CreatableTopic(name, partitions, -1) for name in names])
    return [topic.error_code for topic in catalog.run(operation, request, CreateTopicsResponse).topics]


def delete(catalog: Catalog, name: str) -> None:
    catalog.run(CatalogShard.delete_topics, DeleteTopicsRequest([DeleteTopicState(name)]), DeleteTopicsResponse)


def grow(catalog: Catalog, name: str, count: int) -> int:
    request = CreatePartitionsRequest([CreatePartitionsTopic(name, count, None)])
    [result] = catalog.run(CatalogShard.create_partitions, request, CreatePartitionsResponse).results
    return result.error_code


def configure(catalog: Catalog, *groups: str, value: str | None = "50000", kind: int = 32) -> list[int]:
    name = "consumer.session.timeout.ms" if kind == 32 else "retention.ms"
    setting = AlterableConfig(name, 1 if value is None else 0, value)
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(kind, group, [setting]) for group in groups])
    answer = catalog.run(CatalogShard.alter_configs, request, IncrementalAlterConfigsResponse)
    return [each.error_code for each in answer.responses]


def test_topics_are_limited() -> None:
    """Also within one request; a deletion makes room."""
    catalog = catalog_with(topics_max=3)

    assert create(catalog, "a", "b") == [OK, OK]
    assert create(catalog, "c", "d", "a") == [OK, FULL, ErrorCode.TOPIC_ALREADY_EXISTS]
    delete(catalog, "a")
    assert create(catalog, "d", "e") == [OK, FULL]
    assert catalog.reports == ["catalog-full"] * 2


def test_topics_that_any_client_creates_are_limited_earlier() -> None:
    """An administrator can still create some."""
    catalog = catalog_with(auto_create_topics_max=2)
    auto = CatalogShard.auto_create_topics

    assert create(catalog, "a", "b", "c", operation=auto) == [OK, OK, FULL]
    assert create(catalog, "c") == [OK]
    assert create(catalog, "d", operation=auto) == [FULL]


def test_automatic_creation_has_the_limit_of_a_request() -> None:
    """Kafka's 10,000 partitions, of all topics that a Metadata names."""
    catalog = catalog_with()
    result = catalog.shard.auto_create_topics
    request = CreateTopicsRequest([CreatableTopic(f"t{number}", -1, -1) for number in range(3334)])
    with pytest.raises(CoordinatorError, match="POLICY_VIOLATION"):
        result(None, request, None)  # type: ignore[arg-type]


def test_a_request_makes_up_to_10000_partitions() -> None:
    """As in Kafka: one more, and the whole request is refused."""
    catalog = catalog_with(topics_max_partitions=20_000)
    assert create(catalog, "a", "b", partitions=5000) == [OK, OK]
    with pytest.raises(CoordinatorError, match="at most 10000 partitions can be made by one request"):
        create(catalog, "c", "d", "e", partitions=3334)


def test_partitions_are_limited() -> None:
    """By new topics and by topics that grow."""
    catalog = catalog_with(topics_max_partitions=10)

    assert create(catalog, "a", partitions=6) == [OK]
    assert create(catalog, "b", "c", partitions=4) == [OK, FULL]
    assert grow(catalog, "a", 7) == FULL
    delete(catalog, "b")
    assert grow(catalog, "a", 10) == OK
    assert create(catalog, "d", partitions=1) == [FULL]


def test_a_topic_grows_where_no_other_may_be_made() -> None:
    """It is there already."""
    catalog = catalog_with(topics_max=1, topics_max_partitions=10)
    assert create(catalog, "a", "b") == [OK, FULL]

    assert grow(catalog, "a", 10) == OK


def test_groups_with_settings_are_limited() -> None:
    """They need not exist. Settings of those that have some can change, and settings of topics do not count."""
    catalog = catalog_with(group_configs_max=2)
    create(catalog, "t")

    assert configure(catalog, "a", "b", "c") == [OK, OK, FULL]
    assert configure(catalog, "a", value="55000") == [OK]
    assert configure(catalog, "t", kind=2, value="5") == [OK]
    assert configure(catalog, "a", value=None) == [OK]
    assert configure(catalog, "c", "a") == [OK, FULL]
    replacing = AlterConfigsRequest([ReplacedResource(32, "d", [ReplacedConfig("consumer.session.timeout.ms", "50000")])])
    assert catalog.run(CatalogShard.replace_configs, replacing, AlterConfigsResponse).responses[0].error_code == FULL
    assert catalog.shard.with_settings(LATEST, 32) == ["b", "c"]
    assert catalog.reports == ["catalog-full"] * 3


def test_reverted_topics_do_not_count_towards_the_limit() -> None:
    """Records that could not be written give their room back."""
    catalog = catalog_with(topics_max_partitions=3, group_configs_max=1)
    catalog.registry.snapshot(0)
    assert (create(catalog, "a"), configure(catalog, "g")) == ([OK], [OK])
    catalog.registry.revert_to(0)

    assert (create(catalog, "b"), configure(catalog, "h")) == ([OK], [OK])
