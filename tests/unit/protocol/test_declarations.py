"""The declarations say what Kafka's schemas say, version by version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from protocol.fields import Item, Kind, Message, Primitive
from protocol.schema import FieldSpec, all_messages, fields_of, snake_case
from tests.support.oracle import default_of, facts, raw_schemas, within

MESSAGES = all_messages()


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
def test_message_has_kafkas_key_and_versions(message: type[Message]) -> None:
    """Key, kind, valid and flexible versions are the schema's."""
    raw = raw_schemas()[message.__name__]

    declared = message.kafka

    assert declared.key == raw.get("apiKey")
    assert declared.kind == Kind(raw["type"])
    assert list(declared.versions) == [version for version in range(100) if within(raw["validVersions"], version)]
    for version in declared.versions:
        assert (version in declared.flexible) == within(raw["flexibleVersions"], version)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
def test_fields_are_kafkas_at_every_version(message: type[Message]) -> None:
    """Names, order, types, nullability, tags and defaults at each version, and what may be dropped where it does not exist."""
    raw = raw_schemas()[message.__name__]
    commons = {common["name"]: common["fields"] for common in raw.get("commonStructs", ())}

    for version in message.kafka.versions:
        assert list(_declared(message, version)) == list(_in_schema(raw["fields"], version, commons)), f"v{version}"


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
def test_no_field_is_missing_or_made_up(message: type[Message]) -> None:
    """Fields that no valid version has are fields all the same, in Kafka and here."""
    raw = raw_schemas()[message.__name__]

    assert message.__struct_fields__ == tuple(snake_case(field["name"]) for field in raw["fields"])


def test_every_record_of_the_classic_groups_is_declared() -> None:
    """Types 0, 1 and 2 of the group coordinator's log, keys and values."""
    declared = {message.__name__ for message in MESSAGES}
    wanted = {
        raw["name"]
        for raw in facts("messages.jsonl")
        if raw["type"].startswith("coordinator-") and raw["apiKey"] <= 2 and raw["name"].startswith(("Group", "Offset", "Legacy"))
    }

    assert len(wanted) == 6
    assert wanted <= declared


def _declared(struct: type[Message | Item], version: int, path: str = "") -> Iterator[tuple[Any, ...]]:
    for field in fields_of(struct):
        name = f"{path}.{field.name}"
        if version not in field.versions:
            yield (name, "ignorable" if field.ignorable else "refused")
            continue
        is_struct = not isinstance(field.type, Primitive)
        yield (
            name,
            ("[]" if field.is_array else "") + (field.type.__name__ if is_struct else field.type.value),  # type: ignore[union-attr]
            version in field.nullable,
            field.tag if version in field.tagged else None,
            field.flexible is None or version in field.flexible,
            "struct" if is_struct and not field.is_array else field.default,
        )
        if not isinstance(field.type, Primitive):
            yield from _declared(field.type, version, name)


def _in_schema(raws: list[dict[str, Any]], version: int, commons: dict[str, Any], path: str = "") -> Iterator[tuple[Any, ...]]:
    for raw in raws:
        name = f"{path}.{snake_case(raw['name'])}"
        if not within(raw["versions"], version):
            yield (name, "ignorable" if raw.get("ignorable") else "refused")
            continue
        nested = raw.get("fields") or commons.get(raw["type"].removeprefix("[]"))
        yield (
            name,
            raw["type"],
            within(raw.get("nullableVersions"), version),
            raw["tag"] if within(raw.get("taggedVersions"), version) else None,
            raw.get("flexibleVersions") is None or within(raw["flexibleVersions"], version),
            "struct" if nested and not raw["type"].startswith("[]") else default_of(raw, ()),
        )
        if nested:
            yield from _in_schema(nested, version, commons, name)


def test_a_nullable_struct_field_says_so() -> None:
    """``X | None`` without a range is nullable wherever the field exists."""
    spec = _spec("OffsetCommitRequest", "group_instance_id")

    assert spec.nullable == spec.versions


def _spec(message: str, field: str) -> FieldSpec:
    (found,) = (message_type for message_type in MESSAGES if message_type.__name__ == message)
    return next(spec for spec in fields_of(found) if spec.name == field)
