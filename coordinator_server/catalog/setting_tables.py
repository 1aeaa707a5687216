"""The settings of topics and groups: Kafka's names, types, defaults and limits (``LogConfig``, ``GroupConfig``).

Settings are validated, stored and described as in Kafka. Those of topics have no effect, because topics store no records here;
nor have those of share groups about records. ``group/common/settings.py`` reads the others of groups.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from coordinator_server.catalog.settings import (
    Check,
    Setting,
    SettingType,
    Value,
    at_least,
    between,
    defaults_of,
    invalid,
    one_of,
    parse,
    parse_all,
    text_of,
)
from coordinator_server.config import Config
from coordinator_server.config.properties import is_property, value_of

# A non-negative ISO 8601 duration in the format of java.time.Duration.
_DURATION: Final = re.compile(r"by_duration:\+?(?i:P(?=.)(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d{0,9})?S)?)?)", re.ASCII)


def _gzip_level(value: Value) -> str | None:
    return None if value == -1 or between(1, 9)(value) is None else "Value must be between 1 and 9 or equal to -1"


def _throttled_replicas(name: str) -> Check:
    form = "the literal '*' or a list of replicas in the following format: [partitionId]:[brokerId],[partitionId]:[brokerId],..."

    def check(value: Value) -> str | None:
        each = value if isinstance(value, list) else []
        is_well_formed = each == ["*"] or all(re.fullmatch(r"[0-9]+:[0-9]+", one) for one in each)
        return None if is_well_formed else f"{name} must be {form}"

    return check


def _offset_reset(value: Value) -> str | None:
    if value in ("earliest", "latest") or _DURATION.fullmatch(str(value)):
        return None
    forms = "The value must be either 'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'."
    return f"Invalid value `{value}` for configuration share.auto.offset.reset. {forms}"


_T = SettingType
_LONG_MAX: Final = str(2**63 - 1)
_LEADER_THROTTLE, _FOLLOWER_THROTTLE = "leader.replication.throttled.replicas", "follower.replication.throttled.replicas"


def _table(*settings: Setting) -> dict[str, Setting]:
    return {setting.name: setting for setting in sorted(settings)}


TOPIC_SETTINGS: Final = _table(
    Setting("cleanup.policy", _T.LIST, "delete", None, "log.cleanup.policy", one_of("compact", "delete")),
    Setting("compression.gzip.level", _T.INT, "-1", _gzip_level, "compression.gzip.level"),
    Setting("compression.lz4.level", _T.INT, "9", between(1, 17), "compression.lz4.level"),
    Setting(
        "compression.type",
        _T.STRING,
        "producer",
        one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        "compression.type",
    ),
    Setting("compression.zstd.level", _T.INT, "3", between(-131072, 22), "compression.zstd.level"),
    Setting("delete.retention.ms", _T.LONG, "86400000", at_least(0), "log.cleaner.delete.retention.ms"),
    Setting("file.delete.delay.ms", _T.LONG, "60000", at_least(0), "log.segment.delete.delay.ms"),
    Setting("flush.messages", _T.LONG, _LONG_MAX, at_least(1), "log.flush.interval.messages"),
    Setting("flush.ms", _T.LONG, _LONG_MAX, at_least(0)),
    Setting(_FOLLOWER_THROTTLE, _T.LIST, "", _throttled_replicas(_FOLLOWER_THROTTLE)),
    Setting("index.interval.bytes", _T.INT, "4096", at_least(0), "log.index.interval.bytes"),
    Setting(_LEADER_THROTTLE, _T.LIST, "", _throttled_replicas(_LEADER_THROTTLE)),
    Setting("local.retention.bytes", _T.LONG, "-2", at_least(-2), "log.local.retention.bytes"),
    Setting("local.retention.ms", _T.LONG, "-2", at_least(-2), "log.local.retention.ms"),
    Setting("max.compaction.lag.ms", _T.LONG, _LONG_MAX, at_least(1), "log.cleaner.max.compaction.lag.ms"),
    Setting("max.message.bytes", _T.INT, "1048588", at_least(0), "message.max.bytes"),
    Setting("message.timestamp.after.max.ms", _T.LONG, "3600000", at_least(0), "log.message.timestamp.after.max.ms"),
    Setting("message.timestamp.before.max.ms", _T.LONG, _LONG_MAX, at_least(0), "log.message.timestamp.before.max.ms"),
    Setting(
        "message.timestamp.type", _T.STRING, "CreateTime", one_of("CreateTime", "LogAppendTime"), "log.message.timestamp.type"
    ),
    Setting("min.cleanable.dirty.ratio", _T.DOUBLE, "0.5", between(0, 1), "log.cleaner.min.cleanable.ratio"),
    Setting("min.compaction.lag.ms", _T.LONG, "0", at_least(0), "log.cleaner.min.compaction.lag.ms"),
    Setting("min.insync.replicas", _T.INT, "1", at_least(1), "min.insync.replicas"),
    Setting("preallocate", _T.BOOLEAN, "false", None, "log.preallocate"),
    Setting("remote.log.copy.disable", _T.BOOLEAN, "false"),
    Setting("remote.log.delete.on.disable", _T.BOOLEAN, "false"),
    Setting("remote.storage.enable", _T.BOOLEAN, "false"),
    Setting("retention.bytes", _T.LONG, "-1", None, "log.retention.bytes"),
    Setting("retention.ms", _T.LONG, "604800000", at_least(-1)),
    Setting("segment.bytes", _T.INT, "1073741824", at_least(1048576), "log.segment.bytes"),
    Setting("segment.index.bytes", _T.INT, "10485760", at_least(4), "log.index.size.max.bytes"),
    Setting("segment.jitter.ms", _T.LONG, "0", at_least(0)),
    Setting("segment.ms", _T.LONG, "604800000", at_least(1)),
    Setting("unclean.leader.election.enable", _T.BOOLEAN, "false", None, "unclean.leader.election.enable"),
)


def _group_setting(name: str, default: int, least: int) -> Setting:
    return Setting(name, _T.INT, str(default), at_least(least), f"group.{name}")


GROUP_SETTINGS: Final = _table(
    _group_setting("consumer.assignment.interval.ms", 1000, 0),
    _group_setting("consumer.heartbeat.interval.ms", 5000, 1),
    _group_setting("consumer.session.timeout.ms", 45000, 1),
    _group_setting("share.assignment.interval.ms", 1000, 0),
    Setting("share.auto.offset.reset", _T.STRING, "latest", _offset_reset, "share.auto.offset.reset"),
    _group_setting("share.delivery.count.limit", 5, 2),
    _group_setting("share.heartbeat.interval.ms", 5000, 1),
    Setting(
        "share.isolation.level",
        _T.STRING,
        "read_uncommitted",
        one_of("read_committed", "read_uncommitted"),
        "share.isolation.level",
    ),
    _group_setting("share.partition.max.record.locks", 2000, 100),
    _group_setting("share.record.lock.duration.ms", 30000, 1000),
    Setting("share.renew.acknowledge.enable", _T.BOOLEAN, "true", None, "share.renew.acknowledge.enable"),
    _group_setting("share.session.timeout.ms", 45000, 1),
    _group_setting("streams.assignment.interval.ms", 1000, 0),
    _group_setting("streams.heartbeat.interval.ms", 5000, 1),
    _group_setting("streams.initial.rebalance.delay.ms", 3000, 0),
    _group_setting("streams.num.standby.replicas", 0, 0),
    _group_setting("streams.session.timeout.ms", 45000, 1),
)


# The minimum and maximum values of settings that have no effect here, from the defaults of the broker's properties.
_BOUNDS: Final = {
    "share.delivery.count.limit": (2, 10),
    "share.partition.max.record.locks": (100, 4_000),
}


# The settings that have bounds, in the order of Kafka's checks.
_BOUNDED: Final = (
    "consumer.heartbeat.interval.ms",
    "consumer.session.timeout.ms",
    "consumer.assignment.interval.ms",
    "share.heartbeat.interval.ms",
    "share.session.timeout.ms",
    "share.record.lock.duration.ms",
    "share.delivery.count.limit",
    "share.partition.max.record.locks",
    "share.assignment.interval.ms",
    "streams.heartbeat.interval.ms",
    "streams.session.timeout.ms",
    "streams.num.standby.replicas",
    "streams.assignment.interval.ms",
)
_TOPIC_DEFAULTS: Final = defaults_of(TOPIC_SETTINGS)


def check_topic_settings(given: Mapping[str, str]) -> None:
    """Validate all settings of a topic together. Raises CoordinatorError with INVALID_CONFIG."""
    values = parse_all(TOPIC_SETTINGS, given, "topic", _TOPIC_DEFAULTS)
    least, most = _int(values, "min.compaction.lag.ms"), _int(values, "max.compaction.lag.ms")
    if least > most:
        raise invalid(f"conflict topic config setting min.compaction.lag.ms ({least}) > max.compaction.lag.ms ({most})")
    if values["remote.storage.enable"]:
        raise invalid(
            "Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage."
        )


def check_group_settings(given: Mapping[str, str], config: Config) -> None:
    """Validate all settings of a group together. Raises CoordinatorError with INVALID_CONFIG."""
    values = parse_all(GROUP_SETTINGS, given, "group", _group_defaults(config))
    for name, (least, most) in bounds_of_groups(config).items():
        kind, _, rest = name.partition(".")
        if _int(values, name) < least:
            raise invalid(f"{name} must be greater than or equal to group.{kind}.min.{rest}")
        if _int(values, name) > most:
            raise invalid(f"{name} must be less than or equal to group.{kind}.max.{rest.removeprefix('num.')}")
    for kind in ("consumer", "share", "streams"):
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        if _int(values, session) <= _int(values, heartbeat):
            raise invalid(f"{session} must be greater than {heartbeat}")


def bounds_of_groups(config: Config) -> dict[str, tuple[int, int]]:
    """Return the least and the greatest value that a group may set, by the setting's name, in the order of Kafka's checks."""
    own = {
        "consumer.heartbeat.interval.ms": (
            config.consumer.group_consumer_min_heartbeat_interval_ms,
            config.consumer.group_consumer_max_heartbeat_interval_ms,
        ),
        "consumer.session.timeout.ms": (
            config.consumer.group_consumer_min_session_timeout_ms,
            config.consumer.group_consumer_max_session_timeout_ms,
        ),
        "consumer.assignment.interval.ms": (
            config.consumer.group_consumer_min_assignment_interval_ms,
            config.consumer.group_consumer_max_assignment_interval_ms,
        ),
        "share.heartbeat.interval.ms": (
            config.share.group_share_min_heartbeat_interval_ms,
            config.share.group_share_max_heartbeat_interval_ms,
        ),
        "share.session.timeout.ms": (
            config.share.group_share_min_session_timeout_ms,
            config.share.group_share_max_session_timeout_ms,
        ),
        "share.assignment.interval.ms": (
            config.share.group_share_min_assignment_interval_ms,
            config.share.group_share_max_assignment_interval_ms,
        ),
        "share.record.lock.duration.ms": (
            config.share.group_share_min_record_lock_duration_ms,
            config.share.group_share_max_record_lock_duration_ms,
        ),
        "streams.heartbeat.interval.ms": (
            config.streams.group_streams_min_heartbeat_interval_ms,
            config.streams.group_streams_max_heartbeat_interval_ms,
        ),
        "streams.session.timeout.ms": (
            config.streams.group_streams_min_session_timeout_ms,
            config.streams.group_streams_max_session_timeout_ms,
        ),
        "streams.assignment.interval.ms": (
            config.streams.group_streams_min_assignment_interval_ms,
            config.streams.group_streams_max_assignment_interval_ms,
        ),
        "streams.num.standby.replicas": (0, config.streams.group_streams_max_standby_replicas),
    }
    return {name: own.get(name) or _BOUNDS[name] for name in _BOUNDED}


def group_synonyms(config: Config) -> dict[str, str]:
    """Return the texts of the server's properties that are the defaults of settings of groups, by the property's name."""
    synonyms = [setting.synonym for setting in GROUP_SETTINGS.values() if setting.synonym is not None]
    return {name: text_of(value_of(config, name)) for name in synonyms if is_property(name)}


def _group_defaults(config: Config) -> dict[str, Value]:
    of_server = group_synonyms(config)
    texts = {name: of_server.get(setting.synonym or "", setting.default) for name, setting in GROUP_SETTINGS.items()}
    return {name: parse(setting, texts[name]) for name, setting in GROUP_SETTINGS.items()}


def _int(values: Mapping[str, Value], name: str) -> int:
    value = values[name]
    assert isinstance(value, int)
    return value
