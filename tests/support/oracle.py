"""A second implementation of Kafka's message format: slow, plain, and driven by Kafka's own schemas at run time.

It knows nothing of ``protocol``. Values are dicts by Kafka's field names; absent names stand for defaults. Encoding can add unknown
tagged fields to every flexible struct, and tells where it wrote sizes, so that tests can put wrong ones there.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

KAFKA_FACTS = Path(__file__).parent.parent / "data" / "kafka"

NUMBERS = {
    "bool": ">?",
    "int8": ">b",
    "int16": ">h",
    "int32": ">i",
    "int64": ">q",
    "uint16": ">H",
    "uint32": ">I",
    "float64": ">d",
}
Value = dict[str, Any]


def facts(name: str) -> list[dict[str, Any]]:
    """The lines of one file of facts."""
    return [json.loads(line) for line in (KAFKA_FACTS / name).read_text().splitlines()]


def within(versions: str | None, version: int) -> bool:
    """Whether a range as the schemas write it ("2", "0-3", "4+", "none") has the version."""
    if versions is None or versions == "none":
        return False
    low, dash, high = versions.partition("-")
    if dash:
        return int(low) <= version <= int(high)
    return version >= int(low[:-1]) if low.endswith("+") else version == int(low)


@dataclass(frozen=True)
class Field:
    """One field of a schema, at one version of its message."""

    name: str
    type: str
    nullable: bool
    flexible: bool
    tag: int | None
    default: Any
    fields: tuple[Field, ...]

    @property
    def is_array(self) -> bool:
        return self.type.startswith("[]")

    @property
    def element(self) -> Field:
        """The same without being an array; elements are never null."""
        return Field(self.name, self.type[2:], False, self.flexible, None, None, self.fields)


@dataclass(frozen=True)
class Schema:
    """One message at one version."""

    name: str
    version: int
    flexible: bool
    fields: tuple[Field, ...]

    def encode(self, value: Value, *, unknown_tags: dict[int, bytes] | None = None) -> bytes:
        return self.encode_marked(value, unknown_tags=unknown_tags).data

    def encode_marked(self, value: Value, *, unknown_tags: dict[int, bytes] | None = None) -> Writer:
        """The bytes, with the places of the sizes in them."""
        writer = Writer(self.flexible, unknown_tags or {})
        writer.struct(self.fields, value)
        return writer

    def decode(self, data: bytes) -> Value:
        """The value of exactly these bytes, every field present."""
        reader = Reader(data, self.flexible)
        value = reader.struct(self.fields)
        assert reader.position == len(data), f"{len(data) - reader.position} bytes left over"
        return value


@dataclass(frozen=True)
class SizeMark:
    """Where a size or count stands: ``form`` is a struct format, or "uvarint" (where the size is one more than the length)."""

    start: int
    end: int
    form: str


@dataclass
class Writer:
    flexible: bool
    unknown_tags: dict[int, bytes]
    data: bytes = b""
    marks: list[SizeMark] = field(default_factory=list)

    def number(self, form: str, value: Any) -> None:
        self.data += struct.pack(form, value)

    def uvarint(self, value: int) -> None:
        while value > 127:
            self.data += bytes([value % 128 + 128])
            value //= 128
        self.data += bytes([value])

    def size(self, form: str, compact: bool, size: int | None) -> None:
        start = len(self.data)
        if compact:
            self.uvarint(0 if size is None else size + 1)
        else:
            self.number(form, -1 if size is None else size)
        self.marks.append(SizeMark(start, len(self.data), "uvarint" if compact else form))

    def struct(self, fields: tuple[Field, ...], value: Value) -> None:
        assert set(value) <= {item.name for item in fields}, f"{set(value)} are not all of this version"
        for item in fields:
            if item.tag is None:
                self.field(item, value.get(item.name, item.default))
        if self.flexible:
            self.tags(fields, value)

    def tags(self, fields: tuple[Field, ...], value: Value) -> None:
        sections = dict(self.unknown_tags)
        for item in fields:
            if item.tag is not None and item.name in value and not is_default(item, value[item.name]):
                inner = Writer(self.flexible, self.unknown_tags)
                inner.field(item, value[item.name])
                sections[item.tag] = inner.data
        self.uvarint(len(sections))
        for tag, content in sorted(sections.items()):
            self.uvarint(tag)
            start = len(self.data)
            self.uvarint(len(content))
            self.marks.append(SizeMark(start, len(self.data), "uvarint"))
            self.data += content

    def field(self, item: Field, value: Any) -> None:
        assert value is not None or item.nullable, f"{item.name} is null"
        compact = self.flexible and item.flexible
        if item.is_array:
            self.size(">i", compact, None if value is None else len(value))
            for element in value or ():
                self.field(item.element, element)
        elif item.type in NUMBERS:
            self.number(NUMBERS[item.type], value)
        elif item.type == "uuid":
            assert len(value) == 16
            self.data += value
        elif item.type in ("string", "bytes", "records"):
            raw = value.encode() if isinstance(value, str) else value
            self.size(">h" if item.type == "string" else ">i", compact, None if raw is None else len(raw))
            self.data += raw or b""
        else:
            if item.nullable and item.tag is not None:
                self.uvarint(0 if value is None else 1)
            elif item.nullable:
                self.number(">b", -1 if value is None else 1)
            if value is not None:
                self.struct(item.fields, value)


def is_default(item: Field, value: Any) -> bool:
    """Whether the value says nothing: a tagged field like that is not written."""
    if isinstance(value, dict) and isinstance(item.default, dict):
        value = item.default | value
    return bool(value == item.default)


@dataclass
class Reader:
    data: bytes
    flexible: bool
    position: int = 0

    def take(self, size: int) -> bytes:
        assert 0 <= size <= len(self.data) - self.position
        self.position += size
        return self.data[self.position - size : self.position]

    def number(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def uvarint(self) -> int:
        value = shift = 0
        while True:
            (byte,) = self.take(1)
            value += (byte % 128) << shift
            shift += 7
            if byte < 128:
                return value

    def size(self, form: str, compact: bool) -> int | None:
        size: int = self.uvarint() - 1 if compact else self.number(form)
        return None if size < 0 else size

    def struct(self, fields: tuple[Field, ...]) -> Value:
        value = {item.name: item.default if item.tag is not None else self.field(item) for item in fields}
        if self.flexible:
            known = {item.tag: item for item in fields if item.tag is not None}
            for _ in range(self.uvarint()):
                tag = self.uvarint()
                end = self.uvarint() + self.position
                if tag in known:
                    value[known[tag].name] = self.field(known[tag])
                else:
                    self.position = end
                assert self.position == end
        return value

    def field(self, item: Field) -> Any:
        compact = self.flexible and item.flexible
        if item.is_array:
            count = self.size(">i", compact)
            return None if count is None else [self.field(item.element) for _ in range(count)]
        if item.type in NUMBERS:
            return self.number(NUMBERS[item.type])
        if item.type == "uuid":
            return self.take(16)
        if item.type in ("string", "bytes", "records"):
            size = self.size(">h" if item.type == "string" else ">i", compact)
            raw = None if size is None else self.take(size)
            return raw.decode() if raw is not None and item.type == "string" else raw
        if item.nullable and (self.uvarint() == 0 if item.tag is not None else self.number(">b") < 0):
            return None
        return self.struct(item.fields)


@cache
def raw_schemas() -> dict[str, dict[str, Any]]:
    """Kafka's schemas as they are written, by name; a field that only says where it is tagged exists there."""
    schemas = {schema["name"]: schema for schema in facts("messages.jsonl")}
    for schema in schemas.values():
        _place(schema["fields"])
        for common in schema.get("commonStructs", ()):
            _place(common["fields"])
    return schemas


def _place(fields: list[dict[str, Any]]) -> None:
    for raw in fields:
        raw.setdefault("versions", raw.get("taggedVersions"))
        _place(raw.get("fields", []))


def versions_of(name: str) -> list[int]:
    """Every valid version of a message."""
    return [version for version in range(100) if within(raw_schemas()[name]["validVersions"], version)]


@cache
def schema(name: str, version: int) -> Schema:
    """A message at a version, reduced to the fields that this version has."""
    raw = raw_schemas()[name]
    commons = {common["name"]: common["fields"] for common in raw.get("commonStructs", ())}
    flexible = within(raw["flexibleVersions"], version)
    return Schema(name, version, flexible, tuple(_fields(raw["fields"], version, commons)))


def _fields(raws: list[dict[str, Any]], version: int, commons: dict[str, Any]) -> Iterator[Field]:
    for raw in raws:
        if not within(raw["versions"], version):
            continue
        nested = raw.get("fields") or commons.get(raw["type"].removeprefix("[]"), [])
        fields = tuple(_fields(nested, version, commons))
        yield Field(
            name=raw["name"],
            type=raw["type"],
            nullable=within(raw.get("nullableVersions"), version),
            flexible=raw.get("flexibleVersions") is None or within(raw["flexibleVersions"], version),
            tag=raw["tag"] if within(raw.get("taggedVersions"), version) else None,
            default=default_of(raw, fields),
            fields=fields,
        )


def default_of(raw: dict[str, Any], fields: tuple[Field, ...]) -> Any:
    """The value of a field that is not set."""
    kind, text = raw["type"], raw.get("default")  # a bare JSON null is no default to Kafka's generator
    if text == "null":
        return None
    if kind.startswith("[]"):
        return []
    if kind == "bool":
        return text in (True, "true")
    if kind == "float64":
        return float(text or 0)
    if kind in NUMBERS:
        return int(text, 0) if isinstance(text, str) and text else text or 0
    if kind == "string":
        return text or ""
    if kind in ("bytes", "records"):
        return b""
    return bytes(16) if kind == "uuid" else {item.name: item.default for item in fields}
