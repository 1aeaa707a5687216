"""The declarations say what Kafka's schemas say, version by version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from protocol.fields import Item, Kind, Message, Primitive
from protocol.schema import FieldSpec, all_messages, fields_of, snake_case
from tests.support.batches import in_batches
from tests.support.oracle import default_of, raw_schemas, within

MESSAGES = all_messages()
each_declaration = in_batches("message", MESSAGES, tests=2)


@each_declaration
def test_message_has_kafkas_key_and_versions(message: type[Message]) -> None:
    """Key, kind, valid and flexible versions are the schema's."""
    raw = raw_schemas()[message.__name__]

    declared = message.kafka

    assert declared.key == raw.get("apiKey")
    assert declared.kind == Kind(raw["type"])
    assert list(declared.versions) == [version for version in range(100) if within(raw["validVersions"], version)]
    for version in declared.versions:
        assert (version in declared.flexible) == within(raw["flexibleVersions"], version)


@each_declaration
def test_fields_are_kafkas_at_every_version(message: type[Message]) -> None:
    """Names, order, types, nullability, tags and defaults at each version, and what may be dropped where it does not exist."""
    raw = raw_schemas()[message.__name__]
    commons = {common["name"]: common["fields"] for common in raw.get("commonStructs", ())}

    for version in message.kafka.versions:
        assert list(_declared(message, version)) == list(_in_schema(raw["fields"], version, commons)), f"v{version}"


@each_declaration
def test_no_field_is_missing_or_made_up(message: type[Message]) -> None:
    """Fields that no valid version has are fields all the same, in Kafka and here."""
    raw = raw_schemas()[message.__name__]

    assert message.__struct_fields__ == tuple(snake_case(field["name"]) for field in raw["fields"])


def test_every_schema_is_declared_in_one_place() -> None:
    """Every request, response, record, header and embedded message that the schemas have, each in one place."""
    assert sorted(message.__name__ for message in MESSAGES) == sorted(raw_schemas())


def _declared(struct: type[Message | Item], version: int, path: str = "") -> Iterator[tuple[Any, ...]]:
    for field in fields_of(struct):
        name = f"{path}.{field.name}"
        if version not in field.versions:
            yield (name, "ignorable" if field.ignorable else "refused")
            continue
        yield (
            name,
            ("[]" if field.is_array else "") + ("struct" if isinstance(field.type, type) else field.type.value),
            version in field.nullable,
            field.tag if version in field.tagged else None,
            field.flexible is None or version in field.flexible,
            _default(field),
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
            raw["type"] if not nested else ("[]" if raw["type"].startswith("[]") else "") + "struct",
            within(raw.get("nullableVersions"), version),
            raw["tag"] if within(raw.get("taggedVersions"), version) else None,
            raw.get("flexibleVersions") is None or within(raw["flexibleVersions"], version),
            _schema_default(raw, is_struct=bool(nested)),
        )
        if nested:
            yield from _in_schema(nested, version, commons, name)


def _default(field: FieldSpec) -> Any:
    return "struct" if isinstance(field.default, Item) else field.default


def _schema_default(raw: dict[str, Any], *, is_struct: bool) -> Any:
    if is_struct and not raw["type"].startswith("[]") and raw.get("default") != "null":
        return "struct"
    return default_of(raw, ())


@each_declaration
def test_structs_have_kafkas_names(message: type[Message]) -> None:
    """Only where two messages of one module mean different things by a name, the message's kind or name comes before it."""
    names = set(_struct_names(raw_schemas()[message.__name__]))

    for struct in _structs(message):
        assert any(
            struct.__name__ in (name, f"{message.kafka.kind.value.title()}{name}", f"{_family(message)}{name}") for name in names
        )


def _struct_names(raw: dict[str, Any]) -> Iterator[str]:
    for field in [*raw.get("fields", ()), *raw.get("commonStructs", ())]:
        yield field.get("type", field["name"]).removeprefix("[]")
        yield from _struct_names(field)


def _structs(struct: type[Message | Item]) -> Iterator[type[Item]]:
    for field in fields_of(struct):
        if isinstance(field.type, type):
            yield field.type
            yield from _structs(field.type)


def _family(message: type[Message]) -> str:
    return message.__name__.removesuffix("Key").removesuffix("Value")


def test_a_nullable_struct_field_says_so() -> None:
    """``X | None`` without a range is nullable wherever the field exists."""
    spec = _spec("OffsetCommitRequest", "group_instance_id")

    assert spec.nullable == spec.versions


def _spec(message: str, field: str) -> FieldSpec:
    (found,) = (message_type for message_type in MESSAGES if message_type.__name__ == message)
    return next(spec for spec in fields_of(found) if spec.name == field)
