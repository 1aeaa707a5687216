"""Settings over the wire: described, altered, listed, kept over a restart, and the same at all loops."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocol.error_codes import ErrorCode
from protocol.messages.alter_configs import AlterableConfig as Replacement
from protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from protocol.messages.alter_configs import AlterConfigsResource as ReplacedResource
from protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
)
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from protocol.messages.list_config_resources import ListConfigResourcesRequest, ListConfigResourcesResponse
from tests.support.client import Client
from tests.support.server import Server

TOPIC, BROKER, BROKER_LOGGER, GROUP = 2, 4, 8, 32
SET = 0
OWN_TOPIC, STATIC, DEFAULT, OWN_GROUP = 1, 4, 5, 8
SESSION = "consumer.session.timeout.ms"


def describe(
    client: Client, kind: int, name: str, *keys: str, version: int = 4, has_documentation: bool = False
) -> tuple[int, dict[str, DescribeConfigsResourceResult]]:
    asked = DescribeConfigsResource(kind, name, list(keys) or None)
    request = DescribeConfigsRequest([asked], include_synonyms=True, include_documentation=has_documentation)
    [result] = client.ask(request, version, DescribeConfigsResponse).results
    assert (result.resource_type, result.resource_name) == (kind, name)
    return result.error_code, {config.name: config for config in result.configs}


def alter(client: Client, *resources: tuple[int, str, str, str | None], version: int = 1) -> list[tuple[int, str | None]]:
    asked = [AlterConfigsResource(kind, name, [AlterableConfig(key, SET, value)]) for kind, name, key, value in resources]
    answer = client.ask(IncrementalAlterConfigsRequest(asked), version, IncrementalAlterConfigsResponse)
    assert [(one.resource_type, one.resource_name) for one in answer.responses] == [(kind, name) for kind, name, *_ in resources]
    return [(one.error_code, one.error_message) for one in answer.responses]


@pytest.mark.parametrize("version", range(1, 5))
def test_settings_given_to_a_new_topic_are_described(client: Client, fresh_name: str, version: int) -> None:
    """All of them, or those that were asked for; a topic that is not there is an error."""
    made = CreatableTopic(fresh_name, 1, 1, configs=[CreatableTopicConfig("retention.ms", "1000")])
    client.ask(CreateTopicsRequest([made]), 7, CreateTopicsResponse)

    error, every = describe(client, TOPIC, fresh_name, version=version)
    _, some = describe(client, TOPIC, fresh_name, "retention.ms", "nope", version=version)

    assert (error, len(every), list(some)) == (ErrorCode.NONE, 33, ["retention.ms"])
    assert (some["retention.ms"].value, some["retention.ms"].config_source) == ("1000", OWN_TOPIC)
    assert (every["cleanup.policy"].value, every["cleanup.policy"].config_source) == ("delete", DEFAULT)
    assert describe(client, TOPIC, f"{fresh_name}-not", version=version) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, {})


def test_internal_topics_and_brokers_are_described(client: Client) -> None:
    """With the properties that this server was started with; other brokers are not to be asked for here."""
    _, internal = describe(client, TOPIC, "__consumer_offsets")
    _, broker = describe(client, BROKER, "1", has_documentation=True)

    assert (internal["cleanup.policy"].value, internal["cleanup.policy"].config_source) == ("compact", OWN_TOPIC)
    assert (broker["offsets.retention.minutes"].value, broker["offsets.retention.minutes"].read_only) == ("10080", True)
    assert all(config.documentation for config in broker.values())
    assert describe(client, BROKER, "7") == (ErrorCode.INVALID_REQUEST, {})
    assert describe(client, BROKER, "1" * 5000) == (ErrorCode.INVALID_REQUEST, {})
    assert describe(client, BROKER, "+01")[0] == ErrorCode.NONE
    assert describe(client, BROKER, "") == (ErrorCode.NONE, {})
    assert describe(client, BROKER_LOGGER, "1") == (ErrorCode.INVALID_REQUEST, {})


@pytest.mark.parametrize("version", range(2))
def test_each_resource_has_its_own_answer(client: Client, fresh_name: str, version: int) -> None:
    """In the order of the request, whether the broker refuses it or the controller."""
    told = alter(
        client,
        (GROUP, fresh_name, SESSION, "50000"),
        (BROKER, "1", "group.max.size", "7"),
        (GROUP, f"{fresh_name}-2", SESSION, "1"),
        (GROUP, f"{fresh_name}-3", SESSION, None),
        (TOPIC, f"{fresh_name}-not", "retention.ms", "1"),
        (99, "x", "y", "z"),
        version=version,
    )

    assert told == [
        (ErrorCode.NONE, None),
        (ErrorCode.INVALID_REQUEST, "Cannot update these configs dynamically: [group.max.size]"),
        (ErrorCode.INVALID_CONFIG, f"{SESSION} must be greater than or equal to group.consumer.min.session.timeout.ms"),
        (ErrorCode.INVALID_REQUEST, f"Null value not supported for : {SESSION}"),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{fresh_name}-not' does not exist."),
        (ErrorCode.INVALID_REQUEST, "Unknown resource type 99"),
    ]
    _, settings = describe(client, GROUP, fresh_name, SESSION)
    assert (settings[SESSION].value, settings[SESSION].config_source) == ("50000", OWN_GROUP)


def test_a_resource_that_is_named_twice_is_refused_twice(client: Client, fresh_name: str) -> None:
    told = alter(client, (GROUP, fresh_name, SESSION, "50000"), (GROUP, fresh_name, SESSION, "51000"))

    assert told == [(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")] * 2


@pytest.mark.parametrize("version", range(3))
def test_settings_are_replaced(client: Client, fresh_name: str, version: int) -> None:
    """AlterConfigs, which older admin clients know."""
    alter(client, (GROUP, fresh_name, SESSION, "50000"))
    replaced = ReplacedResource(GROUP, fresh_name, [Replacement("share.delivery.count.limit", "7")])

    [told] = client.ask(AlterConfigsRequest([replaced]), version, AlterConfigsResponse).responses

    _, settings = describe(client, GROUP, fresh_name)
    assert told.error_code == ErrorCode.NONE
    assert {name for name, config in settings.items() if config.config_source == OWN_GROUP} == {"share.delivery.count.limit"}


def test_what_has_settings_is_listed(client: Client, fresh_name: str) -> None:
    """All topics and brokers, and the groups that have some of their own."""
    alter(client, (GROUP, fresh_name, SESSION, "50000"))

    def listed(*kinds: int, version: int = 1) -> tuple[int, set[tuple[int, str]]]:
        answer = client.ask(ListConfigResourcesRequest(list(kinds)), version, ListConfigResourcesResponse)
        return answer.error_code, {(each.resource_type, each.resource_name) for each in answer.config_resources}

    assert {(GROUP, fresh_name), (BROKER, "1"), (TOPIC, "__consumer_offsets")} <= listed()[1]
    assert {kind for kind, _ in listed(GROUP)[1]} == {GROUP}
    assert listed(99) == (ErrorCode.UNSUPPORTED_VERSION, set())
    assert listed(version=0) == (ErrorCode.NONE, set())


def test_settings_are_the_same_at_all_loops_and_after_a_crash(tmp_path: Path) -> None:
    """The answer waits until all loops know; each describes itself as a broker."""
    with Server(tmp_path, {"topics": "orders:1", "group.max.size": "77"}, loops=2) as server:
        for asked in range(2):
            with Client(server.addresses[asked]) as here, Client(server.addresses[1 - asked]) as there:
                value = str(50_000 + asked)
                assert alter(here, (GROUP, "g", SESSION, value), (TOPIC, "orders", "retention.ms", value)) == [(0, None)] * 2
                for kind, name, key in ((GROUP, "g", SESSION), (TOPIC, "orders", "retention.ms")):
                    assert describe(there, kind, name, key)[1][key].value == value
                _, broker = describe(here, BROKER, str(1 + asked), "group.max.size", "node.id")
                assert (broker["group.max.size"].value, broker["group.max.size"].config_source) == ("77", STATIC)
                assert broker["node.id"].value == str(1 + asked)
        server.kill()
        server.start()
        with Client(server.addresses[1]) as client:
            assert describe(client, GROUP, "g", SESSION)[1][SESSION].value == "50001"
