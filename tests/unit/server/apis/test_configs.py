"""Configs before the catalog: what is described, and which changes are refused by the request alone."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.catalog.alter_configs import Operation, ResourceType
from coordinator_server.catalog.describe_configs import ConfigSource
from coordinator_server.catalog.settings import SettingType
from coordinator_server.catalog.topics import Topic
from coordinator_server.config.properties import property_named
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.server.apis.alter_configs import ALTER_CONFIGS_API, INCREMENTAL_ALTER_CONFIGS_API
from coordinator_server.server.apis.configs import DESCRIBE_CONFIGS_API, LIST_CONFIG_RESOURCES_API
from protocol.error_codes import ErrorCode
from protocol.messages.alter_configs import AlterableConfig as Replacement
from protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from protocol.messages.alter_configs import AlterConfigsResource as ReplacedResource
from protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from protocol.messages.list_config_resources import ListConfigResourcesRequest, ListConfigResourcesResponse
from tests.support.api_peer import ApiPeer
from tests.support.configs import config_with
from tests.support.oracle import facts
from tests.support.read_by_name import ReadByName
from tests.support.views import loops_nodes

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
INVALID = ErrorCode.INVALID_REQUEST
OFFSETS = "__consumer_offsets"


class Site:
    """Loop 1 of two, which is node 8. The catalog accepts what reaches it, or fails with ``error``."""

    def __init__(self) -> None:
        self.config = config_with(node_id=7, num_partitions=3)
        self.catalog, self.image = ReadByName(self), self
        self.nodes = loops_nodes(2, 1, first_id=7)
        self.authorizer = None
        self.internal = (OFFSETS,)
        self.own: dict[tuple[int, str], dict[str, str]] = {}
        self.reached: list[tuple[int, str]] = []
        self.error: ErrorCode | None = None
        self.is_current = True

    def topic(self, name: str) -> Topic | None:
        return Topic(name, bytes(16), 1) if name in ("orders", OFFSETS) else None

    def all_topics(self) -> list[Topic]:
        return [Topic("orders", bytes(16), 1), Topic(OFFSETS, bytes(16), 50)]

    def check_current(self) -> None:
        if not self.is_current:
            raise CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)

    def settings(self, resource: tuple[int, str]) -> dict[str, str]:
        return self.own.get(resource, {})

    def with_settings(self, kind: int) -> list[str]:
        return sorted(name for each, name in self.own if each == kind)

    def write(self, operation: Any, context: object, request: Any, reply: Any) -> None:
        """As the catalog, for both ways to change settings."""
        self.reached += [(each.resource_type, each.resource_name) for each in request.resources]
        if self.error is not None:
            reply.fail(self.error)
            return
        answers = [AlterConfigsResourceResponse(0, None, each.resource_type, each.resource_name) for each in request.resources]
        reply.complete(IncrementalAlterConfigsResponse(responses=answers))


@pytest.fixture
def site() -> Site:
    return Site()


def test_numbers_are_kafkas() -> None:
    """ConfigResource.Type, AlterConfigOp.OpType, DescribeConfigsResponse.ConfigSource and ConfigType."""
    assert [kind.value for kind in ResourceType] == [TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP]
    assert [(each.name, each.value) for each in Operation] == [("SET", 0), ("DELETE", 1), ("APPEND", 2), ("SUBTRACT", 3)]
    assert {each.name: each.value for each in ConfigSource} == {
        "TOPIC": 1,
        "DYNAMIC_DEFAULT_BROKER": 3,
        "STATIC_BROKER": 4,
        "DEFAULT": 5,
        "GROUP": 8,
    }
    assert {each.name: each.value for each in SettingType} == {
        "BOOLEAN": 1,
        "STRING": 2,
        "INT": 3,
        "LONG": 5,
        "DOUBLE": 6,
        "LIST": 7,
        "CLASS": 8,
        "PASSWORD": 9,
    }


def describe(site: Site, kind: int, name: str, *keys: str, **options: bool) -> DescribeConfigsResult:
    resource = DescribeConfigsResource(kind, name, [*keys] or None)
    request = DescribeConfigsRequest([resource], options.get("synonyms", False), options.get("documentation", False))
    answer = ApiPeer(DESCRIBE_CONFIGS_API, site).ask(request, 4)
    assert isinstance(answer, DescribeConfigsResponse)
    [result] = answer.results
    assert (result.resource_type, result.resource_name) == (kind, name)
    return result


def values(result: DescribeConfigsResult) -> dict[str, tuple[str | None, int]]:
    assert result.error_code == 0
    return {each.name: (each.value, each.config_source) for each in result.configs}


def test_settings_have_their_source(site: Site) -> None:
    """Those that were asked for, or all."""
    site.own = {(TOPIC, "orders"): {"retention.ms": "5"}, (GROUP, "g"): {"consumer.session.timeout.ms": "50000"}}

    of_topic, of_group = values(describe(site, TOPIC, "orders")), values(describe(site, GROUP, "g"))
    assert (of_topic["retention.ms"], of_topic["cleanup.policy"]) == (("5", ConfigSource.TOPIC), ("delete", ConfigSource.DEFAULT))
    assert of_group["consumer.session.timeout.ms"] == ("50000", ConfigSource.GROUP)
    assert of_group["consumer.heartbeat.interval.ms"] == ("5000", ConfigSource.DEFAULT)
    assert values(describe(site, TOPIC, "orders", "retention.ms", "nope")) == {"retention.ms": ("5", ConfigSource.TOPIC)}


def test_an_internal_topic_is_compacted(site: Site) -> None:
    found = values(describe(site, TOPIC, OFFSETS))

    assert (found["cleanup.policy"], found["segment.bytes"]) == (
        ("compact", ConfigSource.TOPIC),
        ("104857600", ConfigSource.TOPIC),
    )


def test_the_properties_of_a_broker_have_kafkas_types(site: Site) -> None:
    kafkas = {fact["name"]: fact["type"].upper() for fact in facts("configs.jsonl")}
    found = {each.name: SettingType(each.config_type).name for each in describe(site, BROKER, "8").configs}

    both = kafkas.keys() & found.keys()
    assert len(both) > 50
    assert {name: found[name] for name in both} == {name: kafkas[name] for name in both}


def test_the_broker_is_described_by_its_number(site: Site) -> None:
    """As Java reads it. Nothing of it can be changed at run time, so without a number there is nothing to say."""
    for name in ("8", "+8", "008"):
        found = {each.name: each for each in describe(site, BROKER, name, synonyms=True).configs}
        told = found["num.partitions"]
        assert (told.value, told.read_only, told.config_source, told.config_type) == (
            "3",
            True,
            ConfigSource.STATIC_BROKER,
            SettingType.INT,
        )
        assert [(each.value, each.source) for each in told.synonyms] == [
            ("3", ConfigSource.STATIC_BROKER),
            ("1", ConfigSource.DEFAULT),
        ]
        assert found["node.id"].value == "8"
        assert found["log.cleaner.backoff.ms"].config_type == SettingType.LONG
        assert found["auto.create.topics.enable"].value == "true"
    assert describe(site, BROKER, "").configs == []
    assert all(not each.synonyms for each in describe(site, BROKER, "8").configs)


@pytest.mark.parametrize(
    ("kind", "name", "error"),
    [
        (TOPIC, "unknown", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "not a name", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (GROUP, "", INVALID),
        (BROKER, "7", INVALID),
        (BROKER, "-8", INVALID),
        (BROKER, "x", INVALID),
        (BROKER, str(8 + (1 << 32)), INVALID),
        (BROKER_LOGGER, "8", INVALID),
        (CLIENT_METRICS, "m", INVALID),
        (0, "", INVALID),
    ],
)
def test_other_resources_are_not_described(site: Site, kind: int, name: str, error: ErrorCode) -> None:
    result = describe(site, kind, name)

    assert (result.error_code, result.configs) == (error, [])
    assert result.error_message is not None


def test_settings_are_explained_if_asked(site: Site) -> None:
    for kind, name in ((TOPIC, "orders"), (GROUP, "g"), (BROKER, "8")):
        assert all(each.documentation for each in describe(site, kind, name, documentation=True).configs)
        assert {each.documentation for each in describe(site, kind, name).configs} == {None}


def test_a_setting_of_a_group_is_explained_by_the_property_that_is_its_default(site: Site) -> None:
    explained = {each.name: each.documentation for each in describe(site, GROUP, "g", documentation=True).configs}

    assert explained["consumer.session.timeout.ms"] == property_named("group.consumer.session.timeout.ms").description
    assert explained["share.session.timeout.ms"] == property_named("group.share.session.timeout.ms").description
    assert explained["streams.session.timeout.ms"] == property_named("group.streams.session.timeout.ms").description


def test_a_property_of_the_broker_is_explained_by_its_description(site: Site) -> None:
    explained = {each.name: each.documentation for each in describe(site, BROKER, "8", documentation=True).configs}

    assert explained["delete.topic.enable"] == "Whether clients may delete topics."
    assert len(set(explained.values())) == len(explained)


def alter(site: Site, *resources: tuple[int, str, list[tuple[str, int, str | None]]]) -> list[tuple[int, int, str, str | None]]:
    asked = [
        AlterConfigsResource(kind, name, [AlterableConfig(*change) for change in changes]) for kind, name, changes in resources
    ]
    answer = ApiPeer(INCREMENTAL_ALTER_CONFIGS_API, site).ask(IncrementalAlterConfigsRequest(asked), 1)
    assert isinstance(answer, IncrementalAlterConfigsResponse)
    return [(each.error_code, each.resource_type, each.resource_name, each.error_message) for each in answer.responses]


CHANGE: list[tuple[str, int, str | None]] = [("retention.ms", SET, "5")]


def test_answers_have_the_order_of_the_request(site: Site) -> None:
    """Those of the catalog between those of the handler."""
    found = alter(
        site, (TOPIC, "a", CHANGE), (99, "b", CHANGE), (GROUP, "c", CHANGE), (BROKER, "8", CHANGE), (TOPIC, "d", CHANGE)
    )

    assert [each[:3] for each in found] == [
        (0, TOPIC, "a"),
        (INVALID, 99, "b"),
        (0, GROUP, "c"),
        (INVALID, BROKER, "8"),
        (0, TOPIC, "d"),
    ]
    assert site.reached == [(TOPIC, "a"), (GROUP, "c"), (TOPIC, "d")]


def test_an_error_of_the_catalog_is_that_of_what_reached_it(site: Site) -> None:
    site.error = ErrorCode.NOT_COORDINATOR
    found = alter(site, (TOPIC, "a", CHANGE), (99, "b", CHANGE))

    assert [each[0] for each in found] == [ErrorCode.NOT_CONTROLLER, INVALID]


@pytest.mark.parametrize(
    ("kind", "name", "changes", "problem"),
    [
        (TOPIC, "a", [("x", SET, "1"), ("x", DELETE, None)], "Error due to duplicate config keys"),
        (TOPIC, "a", [("x", SET, None), ("y", APPEND, None), ("z", DELETE, None)], "Null value not supported for : x, y"),
        (99, "a", CHANGE, "Unknown resource type 99"),
        (BROKER, "", CHANGE, "Cannot update these configs dynamically: [retention.ms]"),
        (BROKER, "8", [("x", SET, "1"), ("y", SET, "1")], "Cannot update these configs dynamically: [x, y]"),
        (BROKER, "7", CHANGE, "Unexpected broker id, expected 8, but received 7"),
        (BROKER, "x", CHANGE, "Node id must be an integer, but it is: x"),
    ],
)
def test_what_the_request_alone_makes_wrong(
    site: Site, kind: int, name: str, changes: list[tuple[str, int, str | None]], problem: str
) -> None:
    assert alter(site, (kind, name, changes)) == [(INVALID, kind, name, problem)]
    assert site.reached == []


def test_a_resource_is_named_once(site: Site) -> None:
    found = alter(site, (TOPIC, "a", CHANGE), (GROUP, "a", CHANGE), (TOPIC, "a", CHANGE))

    assert [each[0] for each in found] == [INVALID, 0, INVALID]
    assert {each[3] for each in found if each[0]} == {"Each resource must appear at most once."}


def test_a_replacement_has_no_nulls(site: Site) -> None:
    """Whatever is not named is removed by it."""
    asked = [ReplacedResource(TOPIC, "a", [Replacement("x", None), Replacement("y", "1")])]
    answer = ApiPeer(ALTER_CONFIGS_API, site).ask(AlterConfigsRequest(asked), 2)

    assert isinstance(answer, AlterConfigsResponse)
    assert [(each.error_code, each.error_message) for each in answer.responses] == [(INVALID, "Null value not supported for : x")]
    assert site.reached == []


def listed(site: Site, version: int, *kinds: int) -> list[tuple[int, str]] | int:
    answer = ApiPeer(LIST_CONFIG_RESOURCES_API, site).ask(ListConfigResourcesRequest([*kinds]), version)
    assert isinstance(answer, ListConfigResourcesResponse)
    return answer.error_code or [(each.resource_type, each.resource_name) for each in answer.config_resources]


def test_resources_are_listed_by_their_types(site: Site) -> None:
    """Of groups those with settings; before version 1 there were only client metrics, which are not served."""
    site.own = {(GROUP, "h"): {}, (GROUP, "g"): {}, (TOPIC, "orders"): {}}
    groups, brokers = [(GROUP, "g"), (GROUP, "h")], [(BROKER, "7"), (BROKER, "8")]
    topics = [(TOPIC, "orders"), (TOPIC, OFFSETS)]

    assert listed(site, 1) == groups + brokers + topics
    assert listed(site, 1, TOPIC) == topics
    assert listed(site, 1, BROKER, GROUP) == groups + brokers
    assert listed(site, 1, CLIENT_METRICS, BROKER_LOGGER) == listed(site, 0) == []
    assert listed(site, 1, TOPIC, 3) == ErrorCode.UNSUPPORTED_VERSION
