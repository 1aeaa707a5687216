"""Values of Kafka's messages for tests: as the oracle's dicts, and the same as the Structs of ``protocol``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from itertools import count
from random import Random
from typing import Any

from protocol.explain import fields_at
from protocol.fields import Item, Message
from protocol.schema import all_messages, fields_of, snake_case
from protocol.skipper import elements_skipper, struct_skipper
from tests.support.batches import in_batches
from tests.support.oracle import Field, Schema, Value, schema, versions_of

MESSAGES: dict[str, type[Message]] = {message.__name__: message for message in all_messages()}
EVERY_VERSION = [(name, version) for name in MESSAGES for version in versions_of(name)]
# scripts/test-wheel takes some of them alone.
_WANTED = re.compile(os.environ.get("PROTOCOL_MESSAGES", ""))
each_message = in_batches("name", filter(_WANTED.search, MESSAGES), tests=12)

RANGES = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
}


def prepare_skippers(name: str, version: int) -> None:
    """Have everything compiled that a refusal of the message may need: that is done, and paid for, once."""
    is_flexible = version in MESSAGES[name].kafka.flexible
    struct_skipper(MESSAGES[name], version, is_flexible)
    for struct in structs_of(MESSAGES[name]):
        fields_at(struct, version)
        for field in fields_of(struct):
            if field.is_array and version in field.versions:
                is_compact = is_flexible and (field.flexible is None or version in field.flexible)
                elements_skipper(field.type, version, is_flexible, is_compact)


def structs_of(struct: type[Message | Item]) -> set[type[Message | Item]]:
    """The struct and all that it has inside."""
    nested = [field.type for field in fields_of(struct) if isinstance(field.type, type)]
    return {struct}.union(*map(structs_of, nested))


def as_struct(name: str, version: int, value: Value) -> Message:
    """The Struct that the oracle's value stands for."""
    return _build(MESSAGES[name], schema(name, version).fields, value)


def _build(struct: type[Message | Item], fields: tuple[Field, ...], value: Value) -> Any:
    types = {spec.name: spec.type for spec in fields_of(struct)}
    arguments = {}
    for field in fields:
        if field.name in value:
            name = snake_case(field.name)
            arguments[name] = _convert(types[name], field, value[field.name])
    return struct(**arguments)


def _convert(kind: Any, field: Field, value: Any) -> Any:
    if value is None or not (isinstance(kind, type) and issubclass(kind, Item)):
        return value
    if field.is_array:
        return [_build(kind, field.fields, item) for item in value]
    return _build(kind, field.fields, value)


def filled(schema: Schema, pick: Callable[[Field, int], Any], entries: tuple[int, ...] = (2, 2, 2)) -> Value:
    """A value with every field set by ``pick(field, index)``; ``entries`` of arrays by depth,
    the outermost first, and one where it ends.
    """
    counter = count(1)

    def fill(fields: tuple[Field, ...], entries: tuple[int, ...]) -> Value:
        return {field.name: fill_field(field, entries) for field in fields}

    def fill_field(field: Field, entries: tuple[int, ...]) -> Any:
        if field.is_array:
            return [fill_field(field.element, entries[1:]) for _ in range(entries[0] if entries else 1)]
        return fill(field.fields, entries) if field.fields else pick(field, next(counter))

    return fill(schema.fields, entries)


def distinct(field: Field, index: int) -> Any:
    """Another value for every field, none of them a default."""
    match field.type:
        case "bool":
            return field.default is False or index % 2 == 1
        case "string":
            return f"ä{index}€"
        case "bytes" | "records":
            return b"\xff\x00" + bytes([index % 256])
        case "uuid":
            return bytes([index % 255 + 1]) * 16
        case "float64":
            return index / 3
        case kind:
            return index % RANGES[kind][1] + 1 if kind != "int8" else index % 100 + 1


def emptiest(field: Field, index: int) -> Any:
    """Fixed-size fields as in ``distinct``, strings and bytes empty."""
    return {"string": "", "bytes": b"", "records": b""}.get(field.type, distinct(field, index))


def null_where_possible(field: Field, index: int) -> Any:
    """Null wherever the version allows it."""
    return None if field.nullable else emptiest(field, index)


def random_value(schema: Schema, random: Random) -> Value:
    """Any value of the message, with some of its fields left at their defaults."""
    return _random_struct(schema.fields, random)


def _random_struct(fields: tuple[Field, ...], random: Random) -> Value:
    return {field.name: _random_field(field, random) for field in fields if random.random() < 0.8}


def _random_field(field: Field, random: Random) -> Any:
    if field.nullable and random.random() < 0.3:
        return None
    if field.is_array:
        return [_random_field(field.element, random) for _ in range(random.choice((0, 1, 2, 5)))]
    match field.type:
        case "bool":
            return random.random() < 0.5
        case "string":
            return random.choice(("", "", "a", "ü" * 70, "€x" * random.randrange(100)))
        case "bytes" | "records":
            return random.choice((b"", b"x" * 200, random.randbytes(random.randrange(40))))
        case "uuid":
            return random.choice((bytes(16), random.randbytes(16)))
        case "float64":
            return random.uniform(-1e300, 1e300)
        case kind if kind in RANGES:
            low, high = RANGES[kind]
            return random.choice((low, high, 0, -1 if low else 1, random.randint(low, high)))
        case _:
            return _random_struct(field.fields, random)
