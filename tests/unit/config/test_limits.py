"""The default of every property, and the least and the largest value of those that are numbers."""

from __future__ import annotations

import pytest

from coordinator_server.config import Config, ConfigError
from coordinator_server.config.load import load
from coordinator_server.config.properties import property_names, value_of

INT_MAX = 2**31 - 1
HOUR_MS, DAY_MS = 3_600_000, 86_400_000
KIB, MIB = 1024, 1024 * 1024

# Those of Kafka have its default; test_properties.py compares them. DIFFERENT have a default of our own.
OF_KAFKA: dict[str, object] = {
    "allow.everyone.if.no.acl.found": False,
    "authorizer.class.name": "",
    "super.users": "",
    "broker.heartbeat.interval.ms": 2000,
    "broker.session.timeout.ms": 9000,
    "log.dirs": "",
    "advertised.listeners": "",
    "auto.create.topics.enable": True,
    "connection.failed.authentication.delay.ms": 100,
    "connections.max.idle.ms": 600_000,
    "connections.max.reauth.ms": 0,
    "sasl.oauthbearer.clock.skew.seconds": 30,
    "sasl.oauthbearer.expected.audience": "",
    "sasl.oauthbearer.expected.issuer": "",
    "sasl.oauthbearer.jwks.endpoint.refresh.ms": HOUR_MS,
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": 10_000,
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": 100,
    "sasl.oauthbearer.jwks.endpoint.url": "",
    "sasl.oauthbearer.jwt.validator.class": "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
    "sasl.oauthbearer.scope.claim.name": "scope",
    "sasl.oauthbearer.sub.claim.name": "sub",
    "sasl.server.callback.handler.class": "",
    "delete.topic.enable": True,
    "group.consumer.assignment.inline.max.size": 2500,
    "group.consumer.assignment.interval.ms": 1000,
    "group.consumer.assignors": "uniform,range",
    "group.consumer.heartbeat.interval.ms": 5000,
    "group.consumer.max.assignment.interval.ms": 15_000,
    "group.consumer.max.heartbeat.interval.ms": 15_000,
    "group.consumer.max.session.timeout.ms": 60_000,
    "group.consumer.max.size": INT_MAX,
    "group.consumer.migration.policy": "bidirectional",
    "group.consumer.min.assignment.interval.ms": 0,
    "group.consumer.min.heartbeat.interval.ms": 5000,
    "group.consumer.min.session.timeout.ms": 45_000,
    "group.consumer.regex.refresh.interval.ms": 600_000,
    "group.consumer.session.timeout.ms": 45_000,
    "group.coordinator.append.linger.ms": -1,
    "group.initial.rebalance.delay.ms": 3000,
    "group.max.session.timeout.ms": 1_800_000,
    "group.max.size": INT_MAX,
    "group.min.session.timeout.ms": 6000,
    "group.share.assignment.inline.max.size": 2000,
    "group.share.assignment.interval.ms": 1000,
    "group.share.heartbeat.interval.ms": 5000,
    "group.share.max.assignment.interval.ms": 15_000,
    "group.share.max.heartbeat.interval.ms": 15_000,
    "group.share.max.session.timeout.ms": 60_000,
    "group.share.max.size": 200,
    "group.share.min.assignment.interval.ms": 0,
    "group.share.min.heartbeat.interval.ms": 5000,
    "group.share.min.session.timeout.ms": 45_000,
    "group.share.session.timeout.ms": 45_000,
    "group.share.max.record.lock.duration.ms": 60_000,
    "group.share.max.share.sessions": 2000,
    "group.share.min.record.lock.duration.ms": 15_000,
    "group.share.record.lock.duration.ms": 30_000,
    "group.streams.assignment.inline.max.size": 1000,
    "group.streams.assignment.interval.ms": 1000,
    "group.streams.heartbeat.interval.ms": 5000,
    "group.streams.initial.rebalance.delay.ms": 3000,
    "group.streams.max.assignment.interval.ms": 15_000,
    "group.streams.max.heartbeat.interval.ms": 15_000,
    "group.streams.max.session.timeout.ms": 60_000,
    "group.streams.max.size": INT_MAX,
    "group.streams.max.standby.replicas": 2,
    "group.streams.min.assignment.interval.ms": 0,
    "group.streams.min.heartbeat.interval.ms": 5000,
    "group.streams.min.session.timeout.ms": 45_000,
    "group.streams.num.standby.replicas": 0,
    "group.streams.session.timeout.ms": 45_000,
    "listener.security.protocol.map": "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
    "log.cleaner.backoff.ms": 15_000,
    "log.cleaner.delete.retention.ms": DAY_MS,
    "log.cleaner.enable": True,
    "log.cleaner.min.cleanable.ratio": 0.5,
    "log.local.retention.bytes": -2,
    "log.local.retention.ms": -2,
    "log.retention.check.interval.ms": 300_000,
    "log.roll.ms": 168 * HOUR_MS,
    "client.quotas.max": 10_000,
    "max.connection.creation.rate": INT_MAX,
    "quota.window.num": 11,
    "quota.window.size.seconds": 1,
    "max.connections": INT_MAX,
    "max.connections.per.ip": INT_MAX,
    "max.connections.per.ip.overrides": "",
    "max.request.partition.size.limit": 2000,
    "message.max.bytes": 1_048_588,
    "num.partitions": 1,
    "offset.metadata.max.bytes": 4096,
    "offsets.retention.check.interval.ms": 600_000,
    "offsets.retention.minutes": 10_080,
    "offsets.topic.num.partitions": 50,
    "offsets.topic.segment.bytes": 104_857_600,
    "producer.id.expiration.check.interval.ms": 600_000,
    "producer.id.expiration.ms": DAY_MS,
    "share.coordinator.append.linger.ms": -1,
    "share.coordinator.cold.partition.snapshot.interval.ms": 300_000,
    "share.coordinator.snapshot.update.records.per.snapshot": 500,
    "share.coordinator.state.topic.num.partitions": 50,
    "sasl.jaas.config": "",
    "ssl.cipher.suites": "",
    "ssl.client.auth": "none",
    "ssl.enabled.protocols": "TLSv1.2,TLSv1.3",
    "ssl.key.password": "",
    "ssl.keystore.certificate.chain": "",
    "ssl.keystore.key": "",
    "ssl.keystore.location": "",
    "ssl.principal.mapping.rules": "DEFAULT",
    "ssl.truststore.certificates": "",
    "ssl.truststore.location": "",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 10_000,
    "transaction.max.timeout.ms": 900_000,
    "transaction.remove.expired.transaction.cleanup.interval.ms": HOUR_MS,
    "transaction.state.log.num.partitions": 50,
    "transactional.id.expiration.ms": 7 * DAY_MS,
}
DIFFERENT: dict[str, object] = {
    "fetch.max.bytes": MIB,
    "listeners": "PLAINTEXT://127.0.0.1:9092",
    "node.id": 1,
    "queued.max.request.bytes": 64 * MIB,
    "sasl.enabled.mechanisms": "",
    "sasl.server.max.receive.size": 64 * KIB,
    "socket.request.max.bytes": 16 * MIB,
    "ssl.keystore.type": "PEM",
    "ssl.truststore.type": "PEM",
}
OURS: dict[str, object] = {
    "acls.max": 100_000,
    "metrics.allowed.hosts": "",
    "metrics.commit.age.groups.max": 100,
    "inter.node.listener.name": "",
    "store": "",
    "store.needs.standby": False,
    "store.objects": "",
    "store.password": "",
    "metrics.listener": "",
    "page.allowed.hosts": "",
    "page.listener": "",
    "auto.create.topics.max": 10_000,
    "group.configs.max": 10_000,
    "group.max.bytes": 16 * MIB,
    "group.member.max.protocols": 100,
    "log.cleaner.engine": "auto",
    "log.cleaner.max.memory.bytes": 1024 * MIB,
    "log.cleaner.min.bytes": 32 * MIB,
    "log.cleaner.timeout.ms": HOUR_MS,
    "log.flush": "always",
    "log.history.retention.bytes": -1,
    "log.history.retention.ms": 30 * DAY_MS,
    "log.journal.bytes": 16 * MIB,
    "log.provenance": True,
    "log.rebalances": True,
    "log.silences.retention.days": 30,
    "loops": 1,
    "loops.hung.after.ms": 5_000,
    "max.pending.requests.per.connection": 1000,
    "members.max.bytes": 512 * MIB,
    "offsets.commit.coalesce": False,
    "offsets.commit.timeout.ms": 5000,
    "sasl.login.timeout.ms": 10_000,
    "sasl.oauthbearer.algorithms": "RS256,RS384,RS512,PS256,PS384,PS512,ES256,ES384,ES512,EdDSA",
    "scram.credentials.max": 100_000,
    "scram.unknown.user.iterations": "4096",
    "socket.request.stalled.after.ms": 30_000,
    "stop.timeout.ms": 5000,
    "share.sessions.max.partitions": 1_000_000,
    "topics": "",
    "topics.max": 100_000,
    "topics.max.partitions": 1_000_000,
    "transaction.max.partitions": 10_000,
}

# Where a property has one number, it may be as large as a number of 64 bits.
LIMITS: dict[str, tuple[int, int | None]] = {
    "acls.max": (1, 2**31 - 1),
    "auto.create.topics.max": (0, None),
    "connection.failed.authentication.delay.ms": (0, INT_MAX),
    "connections.max.idle.ms": (-1, None),
    "connections.max.reauth.ms": (0, None),
    "sasl.login.timeout.ms": (1, INT_MAX),
    "sasl.oauthbearer.clock.skew.seconds": (0, None),
    "sasl.oauthbearer.jwks.endpoint.refresh.ms": (1, INT_MAX),
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": (1, INT_MAX),
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": (1, INT_MAX),
    "sasl.server.max.receive.size": (1024, None),
    "scram.credentials.max": (1, INT_MAX),
    "fetch.max.bytes": (1024, None),
    "group.configs.max": (0, None),
    "metrics.commit.age.groups.max": (0, None),
    "group.consumer.assignment.inline.max.size": (0, None),
    "group.consumer.assignment.interval.ms": (0, INT_MAX),
    "group.consumer.heartbeat.interval.ms": (1, INT_MAX),
    "group.consumer.max.assignment.interval.ms": (0, INT_MAX),
    "group.consumer.max.heartbeat.interval.ms": (1, INT_MAX),
    "group.consumer.max.session.timeout.ms": (1, INT_MAX),
    "group.consumer.max.size": (1, INT_MAX),
    "group.consumer.min.assignment.interval.ms": (0, INT_MAX),
    "group.consumer.min.heartbeat.interval.ms": (1, INT_MAX),
    "group.consumer.min.session.timeout.ms": (1, INT_MAX),
    "group.consumer.regex.refresh.interval.ms": (10_000, INT_MAX),
    "group.consumer.session.timeout.ms": (1, INT_MAX),
    "group.coordinator.append.linger.ms": (-1, None),
    "group.initial.rebalance.delay.ms": (0, INT_MAX),
    "group.max.bytes": (64 * KIB, None),
    "group.max.session.timeout.ms": (0, INT_MAX),
    "group.max.size": (1, INT_MAX),
    "group.member.max.protocols": (1, INT_MAX),
    "group.min.session.timeout.ms": (0, INT_MAX),
    "group.share.assignment.inline.max.size": (0, None),
    "group.share.assignment.interval.ms": (0, INT_MAX),
    "group.share.heartbeat.interval.ms": (1, INT_MAX),
    "group.share.max.assignment.interval.ms": (0, INT_MAX),
    "group.share.max.heartbeat.interval.ms": (1, INT_MAX),
    "group.share.max.session.timeout.ms": (1, INT_MAX),
    "group.share.max.size": (1, 1000),
    "group.share.min.assignment.interval.ms": (0, INT_MAX),
    "group.share.min.heartbeat.interval.ms": (1, INT_MAX),
    "group.share.min.session.timeout.ms": (1, INT_MAX),
    "group.share.session.timeout.ms": (1, INT_MAX),
    "group.share.max.record.lock.duration.ms": (30_000, HOUR_MS),
    "group.share.max.share.sessions": (1, INT_MAX),
    "group.share.min.record.lock.duration.ms": (1000, 30_000),
    "group.share.record.lock.duration.ms": (1000, HOUR_MS),
    "group.streams.assignment.inline.max.size": (0, None),
    "group.streams.assignment.interval.ms": (0, INT_MAX),
    "group.streams.heartbeat.interval.ms": (1, INT_MAX),
    "group.streams.initial.rebalance.delay.ms": (0, INT_MAX),
    "group.streams.max.assignment.interval.ms": (0, INT_MAX),
    "group.streams.max.heartbeat.interval.ms": (1, INT_MAX),
    "group.streams.max.session.timeout.ms": (1, INT_MAX),
    "group.streams.max.size": (1, INT_MAX),
    "group.streams.max.standby.replicas": (0, None),
    "group.streams.min.assignment.interval.ms": (0, INT_MAX),
    "group.streams.min.heartbeat.interval.ms": (1, INT_MAX),
    "group.streams.min.session.timeout.ms": (1, INT_MAX),
    "group.streams.num.standby.replicas": (0, None),
    "group.streams.session.timeout.ms": (1, INT_MAX),
    "log.cleaner.backoff.ms": (1, None),
    "log.cleaner.delete.retention.ms": (0, None),
    "log.cleaner.max.memory.bytes": (64 * MIB, None),
    "log.cleaner.min.bytes": (0, None),
    "log.cleaner.timeout.ms": (1, None),
    "log.history.retention.bytes": (-1, None),
    "log.history.retention.ms": (-1, None),
    "log.journal.bytes": (64 * KIB, None),
    "log.local.retention.bytes": (-2, None),
    "log.local.retention.ms": (-2, None),
    "log.retention.check.interval.ms": (1, None),
    "log.roll.ms": (1, None),
    "log.silences.retention.days": (0, 36_500),
    "loops": (1, 50),  # the shards of __consumer_offsets
    "broker.heartbeat.interval.ms": (50, None),
    "broker.session.timeout.ms": (500, None),
    "loops.hung.after.ms": (500, None),
    "client.quotas.max": (1, INT_MAX),
    "max.connection.creation.rate": (1, INT_MAX),
    "quota.window.num": (1, INT_MAX),
    "quota.window.size.seconds": (1, INT_MAX),
    "max.connections": (1, INT_MAX),
    "max.connections.per.ip": (0, INT_MAX),
    "max.pending.requests.per.connection": (1, INT_MAX),
    "max.request.partition.size.limit": (1, INT_MAX),
    "members.max.bytes": (64 * KIB, None),
    "message.max.bytes": (1024, None),
    "node.id": (0, None),
    "num.partitions": (1, INT_MAX),
    "offset.metadata.max.bytes": (0, None),
    "offsets.commit.timeout.ms": (1, INT_MAX),
    "offsets.retention.check.interval.ms": (1, INT_MAX),
    "offsets.retention.minutes": (1, INT_MAX),
    "offsets.topic.num.partitions": (1, INT_MAX),
    "offsets.topic.segment.bytes": (1024, None),
    "producer.id.expiration.check.interval.ms": (1, INT_MAX),
    "producer.id.expiration.ms": (1, INT_MAX),
    "queued.max.request.bytes": (-1, None),
    "share.sessions.max.partitions": (1, INT_MAX),
    "share.coordinator.append.linger.ms": (-1, None),
    "share.coordinator.cold.partition.snapshot.interval.ms": (1, INT_MAX),
    "share.coordinator.snapshot.update.records.per.snapshot": (0, 500),
    "share.coordinator.state.topic.num.partitions": (1, INT_MAX),
    "socket.request.max.bytes": (1, INT_MAX),
    "socket.request.stalled.after.ms": (1000, None),
    "stop.timeout.ms": (500, None),
    "topics.max": (1, INT_MAX),
    "topics.max.partitions": (1, INT_MAX),
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": (1, INT_MAX),
    "transaction.max.partitions": (1, INT_MAX),
    "transaction.max.timeout.ms": (1, INT_MAX),
    "transaction.remove.expired.transaction.cleanup.interval.ms": (1, INT_MAX),
    "transaction.state.log.num.partitions": (1, INT_MAX),
    "transactional.id.expiration.ms": (1, INT_MAX),
}


def is_taken(name: str, value: object) -> bool:
    """Whether a property has the value alone: others may not go with it."""
    try:
        load({name: str(value)})
    except ConfigError as refused:
        return "must" in str(refused)
    return True


@pytest.mark.parametrize("name", property_names())
def test_the_default_of_a_property(name: str) -> None:
    """An upgrade never changes one unseen."""
    defaults = OF_KAFKA | DIFFERENT | OURS

    assert value_of(Config(), name) == defaults[name]


@pytest.mark.parametrize("name", LIMITS)
def test_limits_are_inclusive(name: str) -> None:
    """A value behind them is refused."""
    least, most = LIMITS[name]
    assert [is_taken(name, value) for value in (least - 1, least)] == [False, True]
    if most is None:
        assert is_taken(name, 2**62)
        return
    assert [is_taken(name, value) for value in (most, most + 1)] == [True, False]


def test_every_number_has_limits_here() -> None:
    """A ratio is the only one that is not whole."""
    numbers = {name for name in property_names() if type(value_of(Config(), name)) is int}

    assert numbers == LIMITS.keys()


def test_a_ratio_is_between_0_and_1() -> None:
    """Inclusive, too."""
    values = ("-0.01", "0", "1", "1.01")

    assert [is_taken("log.cleaner.min.cleanable.ratio", value) for value in values] == [False, True, True, False]


@pytest.mark.parametrize("what", ["assignment.interval.ms", "heartbeat.interval.ms", "session.timeout.ms"])
def test_what_groups_have_is_between_the_minimum_and_the_maximum(what: str) -> None:
    """Inclusive. The messages name both properties."""
    least, most = f"group.consumer.min.{what}", f"group.consumer.max.{what}"
    bounds = {least: 20_000, most: 40_000}
    if not what.startswith("session"):
        bounds |= {"group.consumer.session.timeout.ms": 50_000}

    def loaded(**values: int) -> str | None:
        try:
            load({name: str(value) for name, value in (bounds | {f"group.consumer.{what}": 30_000} | values).items()})
        except ConfigError as refused:
            return str(refused)
        return None

    assert [loaded(**{f"group.consumer.{what}": value}) for value in (20_000, 40_000)] == [None, None]
    low, high = (loaded(**{f"group.consumer.{what}": value}) for value in (19_999, 40_001))
    assert low == f"{least}=20000 must not be greater than group.consumer.{what}=19999"
    assert high == f"group.consumer.{what}=40001 must not be greater than {most}=40000"
    assert loaded(**{least: 40_001}) == f"{least}=40001 must not be greater than {most}=40000"


def test_a_session_is_longer_than_the_interval_of_its_heartbeats() -> None:
    """As in Kafka, not as long."""
    given = {"group.consumer.min.session.timeout.ms": "6000", "group.consumer.heartbeat.interval.ms": "6000"}

    assert load({**given, "group.consumer.session.timeout.ms": "6001"}).consumer.group_consumer_session_timeout_ms == 6001
    with pytest.raises(ConfigError, match=r"heartbeat\.interval\.ms=6000 must be less than .*session\.timeout\.ms=6000"):
        load({**given, "group.consumer.session.timeout.ms": "6000"})


@pytest.mark.parametrize("value", ["auto", 64])
def test_as_many_loops_as_there_are_shards(value: object) -> None:
    """Up to 64."""
    assert load({"loops": str(value), "offsets.topic.num.partitions": "100"}).loops == value
    with pytest.raises(ConfigError, match="loops takes a whole number of loops from 1 to 64"):
        load({"loops": "65", "offsets.topic.num.partitions": "100"})
