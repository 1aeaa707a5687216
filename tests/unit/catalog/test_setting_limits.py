"""The least and the largest value of every number among the settings of topics and groups: Kafka 4.3.1's."""

from __future__ import annotations

import pytest

from coordinator_server.catalog.alter_configs import Operation, ResourceType
from coordinator_server.catalog.setting_tables import GROUP_SETTINGS, TOPIC_SETTINGS
from coordinator_server.catalog.settings import Setting, SettingType, parse
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.config import Config
from coordinator_server.config.load import load
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from tests.support.catalog import Catalog

INT_MIN, INT_MAX, LONG_MIN, LONG_MAX = -(2**31), 2**31 - 1, -(2**63), 2**63 - 1
OK, WRONG = ErrorCode.NONE, ErrorCode.INVALID_CONFIG
NUMBERS = {SettingType.INT: INT_MAX, SettingType.LONG: LONG_MAX}

# LogConfig and GroupConfig. Where a table has one number, the other limit is that of the type.
LIMITS = {
    "compression.lz4.level": (1, 17),
    "compression.zstd.level": (-131072, 22),
    "delete.retention.ms": (0, LONG_MAX),
    "file.delete.delay.ms": (0, LONG_MAX),
    "flush.messages": (1, LONG_MAX),
    "flush.ms": (0, LONG_MAX),
    "index.interval.bytes": (0, INT_MAX),
    "local.retention.bytes": (-2, LONG_MAX),
    "local.retention.ms": (-2, LONG_MAX),
    "max.compaction.lag.ms": (1, LONG_MAX),
    "max.message.bytes": (0, INT_MAX),
    "message.timestamp.after.max.ms": (0, LONG_MAX),
    "message.timestamp.before.max.ms": (0, LONG_MAX),
    "min.compaction.lag.ms": (0, LONG_MAX),
    "min.insync.replicas": (1, INT_MAX),
    "retention.bytes": (LONG_MIN, LONG_MAX),
    "retention.ms": (-1, LONG_MAX),
    "segment.bytes": (1 << 20, INT_MAX),
    "segment.index.bytes": (4, INT_MAX),
    "segment.jitter.ms": (0, LONG_MAX),
    "segment.ms": (1, LONG_MAX),
    "consumer.assignment.interval.ms": (0, INT_MAX),
    "consumer.heartbeat.interval.ms": (1, INT_MAX),
    "consumer.session.timeout.ms": (1, INT_MAX),
    "share.assignment.interval.ms": (0, INT_MAX),
    "share.delivery.count.limit": (2, INT_MAX),
    "share.heartbeat.interval.ms": (1, INT_MAX),
    "share.partition.max.record.locks": (100, INT_MAX),
    "share.record.lock.duration.ms": (1000, INT_MAX),
    "share.session.timeout.ms": (1, INT_MAX),
    "streams.assignment.interval.ms": (0, INT_MAX),
    "streams.heartbeat.interval.ms": (1, INT_MAX),
    "streams.initial.rebalance.delay.ms": (0, INT_MAX),
    "streams.num.standby.replicas": (0, INT_MAX),
    "streams.session.timeout.ms": (1, INT_MAX),
}

# What the broker's properties allow a group, by default: group.consumer.min.session.timeout.ms and so on.
OF_GROUPS = {
    "consumer.assignment.interval.ms": (0, 15_000),
    "consumer.heartbeat.interval.ms": (5_000, 15_000),
    "consumer.session.timeout.ms": (45_000, 60_000),
    "share.assignment.interval.ms": (0, 15_000),
    "share.delivery.count.limit": (2, 10),
    "share.heartbeat.interval.ms": (5_000, 15_000),
    "share.partition.max.record.locks": (100, 4_000),
    "share.record.lock.duration.ms": (15_000, 60_000),
    "share.session.timeout.ms": (45_000, 60_000),
    "streams.assignment.interval.ms": (0, 15_000),
    "streams.heartbeat.interval.ms": (5_000, 15_000),
    "streams.num.standby.replicas": (0, 2),
    "streams.session.timeout.ms": (45_000, 60_000),
}


def setting_of(name: str) -> Setting:
    return TOPIC_SETTINGS.get(name) or GROUP_SETTINGS[name]


def parsed(setting: Setting, text: str) -> ErrorCode:
    """The error of a value."""
    try:
        parse(setting, text)
    except CoordinatorError as refused:
        return refused.error
    return OK


def configured(name: str, value: int, config: Config | None = None) -> ErrorCode:
    """What a group is told that sets it."""
    resource = AlterConfigsResource(ResourceType.GROUP, "g", [AlterableConfig(name, Operation.SET, str(value))])
    request = IncrementalAlterConfigsRequest([resource])
    [told] = Catalog(config).run(CatalogShard.alter_configs, request, IncrementalAlterConfigsResponse).responses
    return ErrorCode(told.error_code)


def test_every_number_has_its_limits_here() -> None:
    numbers = {each.name for each in (*TOPIC_SETTINGS.values(), *GROUP_SETTINGS.values()) if each.type in NUMBERS}

    assert numbers == LIMITS.keys() | {"compression.gzip.level"}


@pytest.mark.parametrize("name", LIMITS)
def test_limits_are_inclusive(name: str) -> None:
    least, most = LIMITS[name]
    values = (least - 1, least, most, most + 1)

    assert [parsed(setting_of(name), str(value)) for value in values] == [WRONG, OK, OK, WRONG]


def test_a_gzip_level_is_one_to_nine_or_minus_one() -> None:
    valid = [level for level in range(-5, 20) if parsed(TOPIC_SETTINGS["compression.gzip.level"], str(level)) == OK]

    assert valid == [-1, *range(1, 10)]


@pytest.mark.parametrize("text", ["0", "0.0", "0.5", "1", "1.0", "1e-3"])
def test_a_ratio_is_between_0_and_1(text: str) -> None:
    assert parsed(TOPIC_SETTINGS["min.cleanable.dirty.ratio"], text) == OK


@pytest.mark.parametrize("text", ["-0.001", "1.001", "-1", "2"])
def test_another_ratio_is_refused(text: str) -> None:
    assert parsed(TOPIC_SETTINGS["min.cleanable.dirty.ratio"], text) == WRONG


@pytest.mark.parametrize("name", OF_GROUPS)
def test_a_group_has_the_limits_of_the_broker(name: str) -> None:
    """They are inclusive, too."""
    least, most = OF_GROUPS[name]
    values = (least - 1, least, most, most + 1)

    assert [configured(name, value) for value in values] == [WRONG, OK, OK, WRONG]


@pytest.mark.parametrize("what", ["assignment.interval.ms", "heartbeat.interval.ms", "session.timeout.ms"])
def test_the_limits_of_a_consumer_group_are_those_of_the_properties(what: str) -> None:
    values = {f"group.consumer.{which}{what}": str(value) for which, value in (("min.", 20), ("", 30), ("max.", 40))}
    config = load({"group.consumer.heartbeat.interval.ms": "2", "group.consumer.min.heartbeat.interval.ms": "1"} | values)

    assert [configured(f"consumer.{what}", value, config) for value in (19, 20, 40, 41)] == [WRONG, OK, OK, WRONG]


@pytest.mark.parametrize(("session_ms", "expected"), [(9_000, WRONG), (9_001, OK)])
def test_a_session_is_longer_than_the_interval_of_its_heartbeats(session_ms: int, expected: ErrorCode) -> None:
    """The interval is the server's here."""
    config = load({"group.consumer.min.session.timeout.ms": "1", "group.consumer.heartbeat.interval.ms": "9000"})

    assert configured("consumer.session.timeout.ms", session_ms, config) == expected


@pytest.mark.parametrize("kind", ["share", "streams"])
def test_the_sessions_of_other_groups_are_longer_than_their_intervals(kind: str) -> None:
    """Whatever a group sets. Kafka compares them; here the limits are fixed."""
    shortest_ms, _ = OF_GROUPS[f"{kind}.session.timeout.ms"]
    _, longest_ms = OF_GROUPS[f"{kind}.heartbeat.interval.ms"]

    assert shortest_ms > longest_ms


@pytest.mark.parametrize("name", sorted({name for name in GROUP_SETTINGS if name in LIMITS} - OF_GROUPS.keys()))
def test_other_settings_of_a_group_have_no_more_limits(name: str) -> None:
    least, most = LIMITS[name]

    assert [configured(name, value) for value in (least, most)] == [OK, OK]
