"""``python -m protocol.check SCHEMAS.jsonl``: prints the differences between our declarations and Kafka's schemas.

The file has one of Kafka's message schemas per line, without comments. The meaning of schemas at the valid versions is compared,
because a range can be written in several ways. It prints one line per difference, and exits with 1 if there are any.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from protocol.fields import Item, Message, Primitive, Versions
from protocol.schema import FieldSpec, all_messages, fields_of, snake_case

Schema = dict[str, Any]


class Facts(Struct, frozen=True):
    """The properties of a field at the versions of its parent."""

    type: str
    versions: frozenset[int]
    nullable: frozenset[int]
    tag: int | None
    tagged: frozenset[int]
    never_compact: bool
    ignorable: bool
    default: object


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m protocol.check", description="Where our declarations differ from Kafka's schemas."
    )
    parser.add_argument("schemas", type=Path, help="a file with one message schema a line")
    path = parser.parse_args(arguments).schemas
    try:
        schemas = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{path}: {error}\n")
        return 2
    found = list(differences(schemas))
    for line in found:
        sys.stdout.write(line + "\n")
    return 1 if found else 0


def differences(schemas: list[Schema]) -> Iterator[str]:
    """Yield a sentence for each difference, by message in the order of the file. Kinds that the file lacks are ignored."""
    declared = {message.__name__: message for message in all_messages()}
    for schema in schemas:
        message = declared.pop(schema["name"], None)
        if message is None:
            yield f"{schema['name']}: is not declared"
        else:
            yield from _of_message(message, schema)
    kinds = {schema["type"] for schema in schemas}
    for name, message in declared.items():
        if message.kafka.kind.value in kinds:
            yield f"{name}: is declared, and is not in the schemas"


def _of_message(message: type[Message], schema: Schema) -> Iterator[str]:
    name, kafka, valid = schema["name"], message.kafka, Versions.parse(schema["validVersions"])
    yield from _differ(name, "kind", kafka.kind.value, schema["type"])
    yield from _differ(name, "key", kafka.key, schema.get("apiKey"))
    yield from _differ(name, "versions", _ranges(kafka.versions), _ranges(valid))
    flexible = Versions.parse(schema["flexibleVersions"]) & valid
    yield from _differ(name, "flexible versions", _ranges(kafka.flexible & valid), _ranges(flexible))
    here = frozenset(kafka.versions & valid)
    commons = {common["name"]: common["fields"] for common in schema.get("commonStructs", ())}
    ours = dict(_declared(message, here, name))
    theirs = dict(_in_schema(schema["fields"], commons, here, name))
    for path in sorted(theirs.keys() - ours.keys()):
        yield f"{path}: is missing"
    for path in sorted(ours.keys() - theirs.keys()):
        yield f"{path}: is not in the schema"
    both = [path for path in ours if path in theirs]
    if both != [path for path in theirs if path in ours]:
        yield f"{name}: its fields have another order than in the schema"
    for path in both:
        yield from _of_field(path, ours[path], theirs[path])


def _of_field(path: str, ours: Facts, theirs: Facts) -> Iterator[str]:
    for what in structs.fields(Facts):
        mine, schema = getattr(ours, what.name), getattr(theirs, what.name)
        if isinstance(mine, frozenset):
            mine, schema = _ranges(mine), _ranges(schema)
        yield from _differ(path, what.name.replace("_", " "), mine, schema)


def _differ(path: str, what: str, ours: object, schema: object) -> Iterator[str]:
    if ours != schema:
        yield f"{path}: {what} {ours!r}, the schema has {schema!r}"


def _declared(struct: type[Message | Item], here: frozenset[int], path: str) -> Iterator[tuple[str, Facts]]:
    for field in fields_of(struct):
        versions = _within(field.versions, here)
        where = f"{path}.{field.name}"
        is_struct = not isinstance(field.type, Primitive)
        yield (
            where,
            Facts(
                type=("[]" if field.is_array else "") + ("struct" if is_struct else field.type.value),  # type: ignore[union-attr]
                versions=versions,
                nullable=_within(field.nullable, versions),
                tag=field.tag,
                tagged=_within(field.tagged, versions),
                never_compact=field.flexible is not None,
                ignorable=field.ignorable and versions != here,
                default=_default(field),
            ),
        )
        if not isinstance(field.type, Primitive):
            yield from _declared(field.type, versions, where)


def _default(field: FieldSpec) -> object:
    return "a struct" if isinstance(field.default, Item) else field.default


def _in_schema(
    fields: list[Schema], commons: dict[str, list[Schema]], here: frozenset[int], path: str
) -> Iterator[tuple[str, Facts]]:
    for field in fields:
        versions = _within(Versions.parse(field.get("versions") or field["taggedVersions"]), here)
        where = f"{path}.{snake_case(field['name'])}"
        element = field["type"].removeprefix("[]")
        nested = field.get("fields") or commons.get(element)
        kind = field["type"].replace(element, "struct") if nested else field["type"]
        yield (
            where,
            Facts(
                type=kind,
                versions=versions,
                nullable=_within(Versions.parse(field.get("nullableVersions", "none")), versions),
                tag=field.get("tag"),
                tagged=_within(Versions.parse(field.get("taggedVersions", "none")), versions),
                never_compact="flexibleVersions" in field,
                ignorable=field.get("ignorable", False) and versions != here,
                default=_schema_default(kind, field.get("default")),
            ),
        )
        if nested:
            yield from _in_schema(nested, commons, versions, where)


def _schema_default(kind: str, text: Any) -> object:
    """Return the default of a field. For Kafka's generator a bare JSON null is not a default."""
    if text == "null":
        return None
    empty = {"bool": False, "string": "", "bytes": b"", "records": b"", "uuid": bytes(16), "float64": 0.0, "struct": "a struct"}
    if kind.startswith("[]"):
        return []
    if text is None or text == "":
        return empty.get(kind, 0)
    if kind == "bool":
        return text in (True, "true")
    if kind == "float64":
        return float(text)
    return int(text, 0) if kind not in empty and isinstance(text, str) else text


def _within(versions: Versions, here: frozenset[int]) -> frozenset[int]:
    return frozenset(version for version in here if version in versions)


def _ranges(versions: Versions | frozenset[int]) -> str:
    """Return versions as text, for example "0-2, 4", or "none"."""
    ranges: list[list[int]] = []
    for version in sorted(versions):
        if ranges and version == ranges[-1][-1] + 1:
            ranges[-1][1:] = [version]
        else:
            ranges.append([version])
    return ", ".join("-".join(map(str, ends)) for ends in ranges) or "none"


if __name__ == "__main__":
    sys.exit(main())
