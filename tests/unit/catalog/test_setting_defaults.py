"""The defaults of all settings of topics and groups, and the broker's properties that have them: Kafka 4.3.1's."""

from __future__ import annotations

from coordinator_server.catalog.alter_configs import Operation, ResourceType
from coordinator_server.catalog.setting_tables import GROUP_SETTINGS, TOPIC_SETTINGS
from coordinator_server.catalog.settings import SettingType

# LogConfig and GroupConfig, as DescribeConfigs tells them.
DEFAULTS: dict[str, tuple[str, str | None]] = {
    "cleanup.policy": ("delete", "log.cleanup.policy"),
    "compression.gzip.level": ("-1", "compression.gzip.level"),
    "compression.lz4.level": ("9", "compression.lz4.level"),
    "compression.type": ("producer", "compression.type"),
    "compression.zstd.level": ("3", "compression.zstd.level"),
    "delete.retention.ms": ("86400000", "log.cleaner.delete.retention.ms"),
    "file.delete.delay.ms": ("60000", "log.segment.delete.delay.ms"),
    "flush.messages": ("9223372036854775807", "log.flush.interval.messages"),
    "flush.ms": ("9223372036854775807", None),
    "follower.replication.throttled.replicas": ("", None),
    "index.interval.bytes": ("4096", "log.index.interval.bytes"),
    "leader.replication.throttled.replicas": ("", None),
    "local.retention.bytes": ("-2", "log.local.retention.bytes"),
    "local.retention.ms": ("-2", "log.local.retention.ms"),
    "max.compaction.lag.ms": ("9223372036854775807", "log.cleaner.max.compaction.lag.ms"),
    "max.message.bytes": ("1048588", "message.max.bytes"),
    "message.timestamp.after.max.ms": ("3600000", "log.message.timestamp.after.max.ms"),
    "message.timestamp.before.max.ms": ("9223372036854775807", "log.message.timestamp.before.max.ms"),
    "message.timestamp.type": ("CreateTime", "log.message.timestamp.type"),
    "min.cleanable.dirty.ratio": ("0.5", "log.cleaner.min.cleanable.ratio"),
    "min.compaction.lag.ms": ("0", "log.cleaner.min.compaction.lag.ms"),
    "min.insync.replicas": ("1", "min.insync.replicas"),
    "preallocate": ("false", "log.preallocate"),
    "remote.log.copy.disable": ("false", None),
    "remote.log.delete.on.disable": ("false", None),
    "remote.storage.enable": ("false", None),
    "retention.bytes": ("-1", "log.retention.bytes"),
    "retention.ms": ("604800000", None),
    "segment.bytes": ("1073741824", "log.segment.bytes"),
    "segment.index.bytes": ("10485760", "log.index.size.max.bytes"),
    "segment.jitter.ms": ("0", None),
    "segment.ms": ("604800000", None),
    "unclean.leader.election.enable": ("false", "unclean.leader.election.enable"),
    "consumer.assignment.interval.ms": ("1000", "group.consumer.assignment.interval.ms"),
    "consumer.heartbeat.interval.ms": ("5000", "group.consumer.heartbeat.interval.ms"),
    "consumer.session.timeout.ms": ("45000", "group.consumer.session.timeout.ms"),
    "share.assignment.interval.ms": ("1000", "group.share.assignment.interval.ms"),
    "share.auto.offset.reset": ("latest", "share.auto.offset.reset"),
    "share.delivery.count.limit": ("5", "group.share.delivery.count.limit"),
    "share.heartbeat.interval.ms": ("5000", "group.share.heartbeat.interval.ms"),
    "share.isolation.level": ("read_uncommitted", "share.isolation.level"),
    "share.partition.max.record.locks": ("2000", "group.share.partition.max.record.locks"),
    "share.record.lock.duration.ms": ("30000", "group.share.record.lock.duration.ms"),
    "share.renew.acknowledge.enable": ("true", "share.renew.acknowledge.enable"),
    "share.session.timeout.ms": ("45000", "group.share.session.timeout.ms"),
    "streams.assignment.interval.ms": ("1000", "group.streams.assignment.interval.ms"),
    "streams.heartbeat.interval.ms": ("5000", "group.streams.heartbeat.interval.ms"),
    "streams.initial.rebalance.delay.ms": ("3000", "group.streams.initial.rebalance.delay.ms"),
    "streams.num.standby.replicas": ("0", "group.streams.num.standby.replicas"),
    "streams.session.timeout.ms": ("45000", "group.streams.session.timeout.ms"),
}


def test_defaults_are_kafkas() -> None:
    found = {each.name: (each.default, each.synonym) for each in (*TOPIC_SETTINGS.values(), *GROUP_SETTINGS.values())}

    assert found == DEFAULTS


def test_types_and_operations_have_kafkas_codes() -> None:
    """ConfigType of DescribeConfigs, ConfigResource.Type, and AlterConfigOp.OpType."""
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
    assert {each.name: each.value for each in ResourceType} == {
        "TOPIC": 2,
        "BROKER": 4,
        "BROKER_LOGGER": 8,
        "CLIENT_METRICS": 16,
        "GROUP": 32,
    }
    assert {each.name: each.value for each in Operation} == {"SET": 0, "DELETE": 1, "APPEND": 2, "SUBTRACT": 3}
