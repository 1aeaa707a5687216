"""Settings of topics and groups: what Kafka 4.3.1 answered to the same, with its words."""

from __future__ import annotations

import pytest

from coordinator_server.catalog.alter_configs import Operation, ResourceType
from coordinator_server.catalog.describe_configs import ConfigSource, described
from coordinator_server.catalog.setting_tables import GROUP_SETTINGS, TOPIC_SETTINGS
from coordinator_server.catalog.settings import parse, text_of
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.machine.timeline import LATEST
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.alter_configs import AlterableConfig as Replacement
from protocol.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from protocol.messages.alter_configs import AlterConfigsResource as ReplacedResource
from protocol.messages.cluster_metadata import ConfigRecord
from protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from tests.support.catalog import Catalog

TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP
SET, DELETE, APPEND, SUBTRACT = Operation

Told = tuple[ErrorCode, str | None]


@pytest.fixture
def catalog() -> Catalog:
    """With a topic ``t``."""
    catalog = Catalog()
    catalog.create(CreatableTopic("t", 1, 1))
    return catalog


def alter(catalog: Catalog, kind: int, name: str, *changes: tuple[str, int, str | None], validate_only: bool = False) -> Told:
    resource = AlterConfigsResource(kind, name, [AlterableConfig(*change) for change in changes])
    request = IncrementalAlterConfigsRequest([resource], validate_only)
    [told] = catalog.run(CatalogShard.alter_configs, request, IncrementalAlterConfigsResponse).responses
    assert (told.resource_type, told.resource_name) == (kind, name)
    return ErrorCode(told.error_code), told.error_message


def own(catalog: Catalog, kind: int, name: str) -> dict[str, str]:
    return dict(catalog.shard.settings(LATEST, (kind, name)))


def test_every_default_is_a_value() -> None:
    """In the form in which it is told."""
    for setting in (*TOPIC_SETTINGS.values(), *GROUP_SETTINGS.values()):
        assert text_of(parse(setting, setting.default)) == setting.default


def test_a_group_gets_settings_and_loses_them(catalog: Catalog) -> None:
    """Each change is a ConfigRecord; what is so already is none, and a group that never was is as good as any."""
    assert (
        alter(catalog, GROUP, "g", ("consumer.session.timeout.ms", SET, "46000"), ("share.delivery.count.limit", SET, "7"))[0]
        == 0
    )
    assert own(catalog, GROUP, "g") == {"consumer.session.timeout.ms": "46000", "share.delivery.count.limit": "7"}
    assert catalog.shard.with_settings(LATEST, GROUP) == ["g"]
    count = len(catalog.records)
    assert alter(catalog, GROUP, "g", ("consumer.session.timeout.ms", SET, "46000"), ("nope", DELETE, None))[0] == 0
    assert len(catalog.records) == count
    assert alter(catalog, GROUP, "g", ("consumer.session.timeout.ms", DELETE, None))[0] == 0
    assert catalog.records[-1].key == ConfigRecord(GROUP, "g", "consumer.session.timeout.ms", None)
    assert alter(catalog, GROUP, "g", ("share.delivery.count.limit", DELETE, None))[0] == 0
    assert catalog.shard.with_settings(LATEST, GROUP) == []


def test_a_validation_changes_nothing(catalog: Catalog) -> None:
    assert alter(catalog, GROUP, "g", ("consumer.session.timeout.ms", SET, "46000"), validate_only=True) == (ErrorCode.NONE, None)
    assert own(catalog, GROUP, "g") == {}


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        (
            "consumer.session.timeout.ms",
            "0",
            "Invalid value 0 for configuration consumer.session.timeout.ms: Value must be at least 1",
        ),
        (
            "consumer.session.timeout.ms",
            "x",
            "Invalid value x for configuration consumer.session.timeout.ms: Not a number of type INT",
        ),
        (
            "consumer.session.timeout.ms",
            "44999",
            "consumer.session.timeout.ms must be greater than or equal to group.consumer.min.session.timeout.ms",
        ),
        (
            "consumer.heartbeat.interval.ms",
            "15001",
            "consumer.heartbeat.interval.ms must be less than or equal to group.consumer.max.heartbeat.interval.ms",
        ),
        (
            "streams.num.standby.replicas",
            "3",
            "streams.num.standby.replicas must be less than or equal to group.streams.max.standby.replicas",
        ),
        (
            "share.isolation.level",
            "x",
            "Invalid value x for configuration share.isolation.level: String must be one of: read_committed, read_uncommitted",
        ),
        (
            "share.auto.offset.reset",
            "by_duration:P",
            (
                "Invalid value by_duration:P for configuration share.auto.offset.reset: Invalid value `by_duration:P` for "
                "configuration share.auto.offset.reset. The value must be either 'earliest', 'latest' or of the format "
                "'by_duration:<PnDTnHnMn.nS>'."
            ),
        ),
        (
            "share.renew.acknowledge.enable",
            "x",
            "Invalid value x for configuration share.renew.acknowledge.enable: Expected value to be either true or false",
        ),
        ("nope", "1", "Unknown group config name: nope"),
    ],
)
def test_settings_of_groups_that_are_refused(catalog: Catalog, name: str, value: str, problem: str) -> None:
    """INVALID_CONFIG, and nothing is kept of the resource's other changes either."""
    assert alter(catalog, GROUP, "g", ("share.delivery.count.limit", SET, "7"), (name, SET, value)) == (
        ErrorCode.INVALID_CONFIG,
        problem,
    )
    assert own(catalog, GROUP, "g") == {}


@pytest.mark.parametrize(
    "value", ["by_duration:PT1H", "by_duration:pt1h", "by_duration:P1DT1.5S", "by_duration:+P2D", "earliest"]
)
def test_durations_are_read_as_java_does(catalog: Catalog, value: str) -> None:
    assert alter(catalog, GROUP, "g", ("share.auto.offset.reset", SET, value))[0] == ErrorCode.NONE


@pytest.mark.parametrize(
    "value", ["by_duration:PT", "by_duration:P1DT", "by_duration:PT-1H", "BY_DURATION:PT1H", "Latest", "none"]
)
def test_durations_that_java_does_not_read(catalog: Catalog, value: str) -> None:
    assert alter(catalog, GROUP, "g", ("share.auto.offset.reset", SET, value))[0] == ErrorCode.INVALID_CONFIG


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ([("nope", SET, "1")], "Unknown topic config name: nope"),
        ([("retention.ms", SET, "-2")], "Invalid value -2 for configuration retention.ms: Value must be at least -1"),
        (
            [("retention.ms", SET, str(1 << 63))],
            f"Invalid value {1 << 63} for configuration retention.ms: Not a number of type LONG",
        ),
        (
            [("min.cleanable.dirty.ratio", SET, "2")],
            "Invalid value 2.0 for configuration min.cleanable.dirty.ratio: Value must be no more than 1",
        ),
        (
            [("cleanup.policy", SET, "x")],
            "Invalid value x for configuration cleanup.policy: String must be one of: compact, delete",
        ),
        ([("cleanup.policy", SET, "compact,,delete")], "Configuration 'cleanup.policy' values must not be empty."),
        (
            [("compression.gzip.level", SET, "0")],
            "Invalid value 0 for configuration compression.gzip.level: Value must be between 1 and 9 or equal to -1",
        ),
        (
            [("leader.replication.throttled.replicas", SET, "x")],
            (
                "Invalid value [x] for configuration leader.replication.throttled.replicas: leader.replication.throttled.replicas "
                "must be the literal '*' or a list of replicas in the following format: "
                "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
            ),
        ),
        (
            [("min.compaction.lag.ms", SET, "20"), ("max.compaction.lag.ms", SET, "10")],
            "conflict topic config setting min.compaction.lag.ms (20) > max.compaction.lag.ms (10)",
        ),
        (
            [("remote.storage.enable", SET, "true")],
            "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.",
        ),
        ([("retention.ms", APPEND, "5")], "Can't APPEND to key retention.ms because its type is not LIST."),
    ],
)
def test_settings_of_topics_that_are_refused(catalog: Catalog, changes: list[tuple[str, int, str]], problem: str) -> None:
    assert alter(catalog, TOPIC, "t", *changes) == (ErrorCode.INVALID_CONFIG, problem)
    assert own(catalog, TOPIC, "t") == {}


@pytest.mark.parametrize(
    ("kind", "name", "told"),
    [
        (TOPIC, "x", (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The topic 'x' does not exist.")),
        (TOPIC, "", (ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")),
        (GROUP, "", (ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")),
        (TOPIC, "__consumer_offsets", (ErrorCode.INVALID_TOPIC_EXCEPTION, "__consumer_offsets is this server's own log")),
    ],
)
def test_resources_that_have_no_settings(catalog: Catalog, kind: int, name: str, told: Told) -> None:
    assert alter(catalog, kind, name) == told


def test_lists_are_added_to_and_taken_from(catalog: Catalog) -> None:
    """Beginning with the default; a list that has become empty is one."""
    for operation, value, expected in (
        (APPEND, "compact", "delete,compact"),
        (APPEND, "delete", "delete,compact"),
        (SUBTRACT, "delete", "compact"),
        (SUBTRACT, "compact", ""),
    ):
        assert alter(catalog, TOPIC, "t", ("cleanup.policy", operation, value)) == (ErrorCode.NONE, None)
        assert own(catalog, TOPIC, "t") == {"cleanup.policy": expected}


def test_a_value_is_no_longer_than_a_string_of_the_protocol(catalog: Catalog) -> None:
    """In bytes. One that is there already, in a log of Kafka's, may stay."""
    name = "leader.replication.throttled.replicas"
    longest = "0:" + "1" * 32_765
    problem = "The configuration value cannot be added because it exceeds the maximum value size of 32767 bytes."

    assert alter(catalog, TOPIC, "t", (name, SET, longest)) == (ErrorCode.NONE, None)
    assert alter(catalog, TOPIC, "t", (name, SET, longest + "1")) == (ErrorCode.INVALID_CONFIG, problem)
    assert own(catalog, TOPIC, "t") == {name: longest}
    catalog.shard.replay(99, CoordinatorRecord(ConfigRecord(TOPIC, "t", name, longest + "1"), None))
    assert alter(catalog, TOPIC, "t", ("retention.ms", SET, "5")) == (ErrorCode.NONE, None)
    assert own(catalog, TOPIC, "t") == {name: longest + "1", "retention.ms": "5"}


@pytest.mark.parametrize("operation", [-1, 4, 127])
def test_other_operations_are_refused(catalog: Catalog, operation: int) -> None:
    """And the resource keeps what it has."""
    alter(catalog, TOPIC, "t", ("retention.ms", SET, "5"))
    changes = [("segment.ms", SET, "7"), ("retention.ms", operation, "6")]

    assert alter(catalog, TOPIC, "t", *changes) == (ErrorCode.INVALID_REQUEST, f"Unknown operations type {operation}")
    assert own(catalog, TOPIC, "t") == {"retention.ms": "5"}


@pytest.mark.parametrize("kind", [0, 4, 99])
def test_other_kinds_of_resources_have_no_settings_here(catalog: Catalog, kind: int) -> None:
    assert alter(catalog, kind, "x") == (ErrorCode.INVALID_REQUEST, f"Unknown resource type {kind}")


def test_settings_are_replaced_as_a_whole(catalog: Catalog) -> None:
    """AlterConfigs, the older way: what is not named goes."""
    alter(catalog, TOPIC, "t", ("retention.ms", SET, "5"), ("segment.ms", SET, "6"))
    request = AlterConfigsRequest([ReplacedResource(TOPIC, "t", [Replacement("segment.ms", "7"), Replacement("flush.ms", "8")])])

    [told] = catalog.run(CatalogShard.replace_configs, request, AlterConfigsResponse).responses

    assert (told.error_code, told.error_message) == (ErrorCode.NONE, None)
    assert own(catalog, TOPIC, "t") == {"segment.ms": "7", "flush.ms": "8"}


def test_a_topic_is_made_with_settings_and_takes_them_along(catalog: Catalog) -> None:
    """CreateTopics tells all of them; the next topic of that name has none."""
    [made] = catalog.create(CreatableTopic("u", 1, 1, configs=[CreatableTopicConfig("retention.ms", "+7")])).topics

    assert own(catalog, TOPIC, "u") == {"retention.ms": "+7"}
    assert made.configs is not None
    assert [(each.name, each.value, each.config_source) for each in made.configs if each.config_source == ConfigSource.TOPIC] == [
        ("retention.ms", "7", ConfigSource.TOPIC)
    ]
    assert len(made.configs) == len(TOPIC_SETTINGS)
    catalog.run(CatalogShard.delete_topics, DeleteTopicsRequest([DeleteTopicState("u")]), DeleteTopicsResponse)
    catalog.create(CreatableTopic("u", 1, 1))
    assert own(catalog, TOPIC, "u") == {}


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (CreatableTopicConfig("nope", "1"), "Unknown topic config name: nope"),
        (CreatableTopicConfig("retention.ms", None), "Null value not supported for topic configs: retention.ms"),
    ],
)
def test_a_topic_is_not_made_with_settings_that_cannot_be(catalog: Catalog, config: CreatableTopicConfig, problem: str) -> None:
    [told] = catalog.create(CreatableTopic("u", 1, 1, configs=[config])).topics

    assert (told.error_code, told.error_message) == (ErrorCode.INVALID_CONFIG, problem)
    assert catalog.shard.topic(LATEST, "u") is None


def test_a_setting_comes_from_the_resource_the_server_or_the_default() -> None:
    """The resource's own, then what this server was started with, then the default."""
    [found] = [
        each
        for each in described(TOPIC_SETTINGS, {"max.message.bytes": "5"}, ConfigSource.TOPIC, {"message.max.bytes": "7"})
        if each.name == "max.message.bytes"
    ]

    assert (found.value, found.config_source, found.read_only, found.is_sensitive, found.config_type) == (
        "5",
        ConfigSource.TOPIC,
        False,
        False,
        3,
    )
    assert [(each.name, each.value, each.source) for each in found.synonyms] == [
        ("max.message.bytes", "5", ConfigSource.TOPIC),
        ("message.max.bytes", "7", ConfigSource.STATIC_BROKER),
        ("message.max.bytes", "1048588", ConfigSource.DEFAULT),
    ]


def test_settings_count_in_the_digest(catalog: Catalog) -> None:
    """By resource, name and value."""
    digests = set()
    for value in ("46000", "47000"):
        alter(catalog, GROUP, "g", ("consumer.session.timeout.ms", SET, value))
        digests.add(catalog.shard.digest(LATEST)[1])
    alter(catalog, GROUP, "g", ("consumer.session.timeout.ms", DELETE, None))
    bare = catalog.shard.digest(LATEST)[1]

    assert len({*digests, bare}) == 3
    assert bare == with_topic().shard.digest(LATEST)[1]


def with_topic() -> Catalog:
    catalog = Catalog()
    catalog.create(CreatableTopic("t", 1, 1))
    return catalog
