"""Descriptions of properties: complete, and true to Kafka."""

from __future__ import annotations

import re
from typing import Annotated

import pytest
from msgspec import Struct

from coordinator_server.config.description import FromKafka, Ours, properties_of
from coordinator_server.config.properties import property_named, property_names
from tests.support.oracle import facts

UNITS = {
    "ACLs", "bytes", "connections", "connections per second", "credentials", "days", "groups", "loops", "members", "milliseconds",
    "minutes", "partitions", "protocols", "quotas", "records", "replicas", "requests", "seconds", "share sessions", "tasks",
    "topics", "windows",
}  # fmt: skip
KAFKA_DEFAULTS: dict[str, str | None] = {fact["name"]: fact["default"] for fact in facts("configs.jsonl")}
# Kafka has no default in milliseconds; the property in hours has one.
KAFKA_DEFAULTS["log.roll.ms"] = str(int(KAFKA_DEFAULTS["log.roll.hours"] or 0) * 3_600_000)
# These are internal in Kafka: read, and not described.
KAFKA_DEFAULTS["group.consumer.regex.refresh.interval.ms"] = str(10 * 60_000)
KAFKA_DEFAULTS["share.coordinator.cold.partition.snapshot.interval.ms"] = str(5 * 60_000)
# These are properties of Kafka's authorizer, not of its brokers.
KAFKA_DEFAULTS["super.users"] = None
# The facts have the properties of a broker alone, not those of KRaft.
KAFKA_DEFAULTS["broker.session.timeout.ms"] = "9000"
KAFKA_DEFAULTS["broker.heartbeat.interval.ms"] = "2000"
KAFKA_DEFAULTS["allow.everyone.if.no.acl.found"] = "false"
# Nor those of tiered storage: https://kafka.apache.org/42/configuration/tiered-storage-configs
KAFKA_DEFAULTS["log.local.retention.ms"] = KAFKA_DEFAULTS["log.local.retention.bytes"] = "-2"


@pytest.mark.parametrize("name", property_names())
def test_every_property_is_described(name: str) -> None:
    """In sentences; a number with its unit, a text with its form."""
    described = property_named(name)

    assert re.fullmatch(r"[A-Za-z].{10,}\.", described.description)
    assert (described.unit in UNITS) == (described.type == "int" and name != "node.id")
    assert bool(described.form) == (described.type == "text")


@pytest.mark.parametrize("name", property_names())
def test_a_property_is_kafkas_if_kafka_has_it(name: str) -> None:
    """With Kafka's default, or with another one that is given beside it. An empty text is Kafka's null."""
    described = property_named(name)
    if described.origin == "ours":
        assert name not in KAFKA_DEFAULTS
        return

    default = described.kafka_default
    text = str(default).lower() if isinstance(default, bool) else str(default) if default is not None else ""
    assert text == (KAFKA_DEFAULTS[name] or "")
    assert (described.origin == "kafka") == (default == described.default)


def test_a_unit_is_the_last_word_of_the_name_or_given() -> None:
    class Properties(Struct, rename=lambda name: name.replace("_", ".")):
        delay_ms: Annotated[int, Ours("A delay.")] = 0
        size_bytes: Annotated[int, FromKafka("A size.")] = 0
        groups_max: Annotated[int, Ours("A number.", unit="groups")] = 0
        id: Annotated[int, Ours("An id.", unit="")] = 0
        is_on: Annotated[bool, Ours("A flag.")] = False

    assert [each.unit for each in properties_of(Properties).values()] == ["milliseconds", "bytes", "groups", None, None]


def test_a_property_without_a_description_is_named() -> None:
    class Properties(Struct):
        silent: int = 0

    with pytest.raises(TypeError, match="silent is not annotated with FromKafka or Ours"):
        properties_of(Properties)


def test_a_type_that_nobody_can_explain_is_refused() -> None:
    class Properties(Struct):
        names: Annotated[list[str], Ours("Names.")] = []

    with pytest.raises(TypeError, match="no property has the type ListType"):
        properties_of(Properties)
