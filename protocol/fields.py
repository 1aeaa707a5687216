"""The types and functions of message declarations.

A declaration corresponds to Kafka's schema: the class is the message, ``kafka`` has its key and versions, and each field has
Kafka's type and default, and a ``V`` if it is not present in every version:

    class HeartbeatRequest(Message):
        kafka = request(12, "0-4", flexible="4+")
        group_id: String = ""
        generation_id: Int32 = 0
        member_id: String = ""
        group_instance_id: Annotated[String | None, V("3+")] = None

``X | None`` is nullable in all versions of the field, unless ``V(nullable=...)`` restricts it. The fields of an Item exist in all
versions of the Item, unless a ``V`` restricts them. Version ranges have Kafka's form: "3", "0-4", "4+", "none".
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterator
from enum import Enum
from typing import Annotated, ClassVar, Final

from msgspec import Struct

LATEST: Final = 32767


class Versions(Struct, frozen=True, order=True, gc=False):
    """An inclusive range of versions, empty if ``low > high``."""

    low: int
    high: int

    @classmethod
    def parse(cls, text: str) -> Versions:
        if text == "none":
            return NO_VERSIONS
        low, dash, high = text.partition("-")
        if dash:
            return cls(int(low), int(high))
        return cls(int(text[:-1]), LATEST) if text.endswith("+") else cls(int(text), int(text))

    def __contains__(self, version: int) -> bool:
        return self.low <= version <= self.high

    def __and__(self, other: Versions) -> Versions:
        both = Versions(max(self.low, other.low), min(self.high, other.high))
        return both if both.low <= both.high else NO_VERSIONS

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.low, self.high + 1))


NO_VERSIONS: Final = Versions(1, 0)
ALL_VERSIONS: Final = Versions(0, LATEST)


class Kind(Enum):
    """The kind of a message. The values are Kafka's names."""

    REQUEST = "request"
    RESPONSE = "response"
    HEADER = "header"
    DATA = "data"
    RECORD_KEY = "coordinator-key"
    RECORD_VALUE = "coordinator-value"
    METADATA_RECORD = "metadata"


class Declaration(Struct, frozen=True, gc=False):
    """The schema of a message as a whole. ``key`` is the API key or the record type."""

    kind: Kind
    key: int | None
    versions: Versions
    flexible: Versions


class Message(Struct, gc=False):
    """A message, as returned by decoders and taken by encoders."""

    kafka: ClassVar[Declaration]


class Item(Struct, gc=False):
    """A struct inside a message."""


def request(key: int, versions: str, *, flexible: str) -> Declaration:
    return _declare(Kind.REQUEST, key, versions, flexible)


def response(key: int, versions: str, *, flexible: str) -> Declaration:
    return _declare(Kind.RESPONSE, key, versions, flexible)


def header(versions: str, *, flexible: str) -> Declaration:
    return _declare(Kind.HEADER, None, versions, flexible)


def data(versions: str, *, flexible: str = "none") -> Declaration:
    return _declare(Kind.DATA, None, versions, flexible)


def record_key(record_type: int) -> Declaration:
    """Declare a coordinator record's key, which always has version 0."""
    return _declare(Kind.RECORD_KEY, record_type, "0", "none")


def record_value(record_type: int, versions: str, *, flexible: str = "none") -> Declaration:
    return _declare(Kind.RECORD_VALUE, record_type, versions, flexible)


def metadata_record(record_type: int, versions: str, *, flexible: str) -> Declaration:
    return _declare(Kind.METADATA_RECORD, record_type, versions, flexible)


def _declare(kind: Kind, key: int | None, versions: str, flexible: str) -> Declaration:
    return Declaration(kind, key, Versions.parse(versions), Versions.parse(flexible))


class V:
    """The versions in which a field exists, is nullable or tagged,
    and whether versions without it drop its value (``ignorable``).
    """

    __slots__ = ("flexible", "ignorable", "nullable", "tag", "tagged", "versions")

    def __init__(
        self,
        versions: str = "0+",
        *,
        nullable: str | None = None,
        ignorable: bool = False,
        tag: int | None = None,
        tagged: str | None = None,
        flexible: str | None = None,
    ) -> None:
        self.versions = Versions.parse(versions)
        self.nullable = None if nullable is None else Versions.parse(nullable)
        self.ignorable = ignorable
        self.tag = tag
        self.tagged = NO_VERSIONS if tag is None else Versions.parse(tagged or versions)
        self.flexible = None if flexible is None else Versions.parse(flexible)


class Primitive(Enum):
    """Kafka's primitive types. The values are Kafka's names."""

    BOOL = "bool"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    UINT16 = "uint16"
    UINT32 = "uint32"
    FLOAT64 = "float64"
    UUID = "uuid"
    STRING = "string"
    BYTES = "bytes"
    RECORDS = "records"


Bool = Annotated[bool, Primitive.BOOL]
Int8 = Annotated[int, Primitive.INT8]
Int16 = Annotated[int, Primitive.INT16]
Int32 = Annotated[int, Primitive.INT32]
Int64 = Annotated[int, Primitive.INT64]
Uint16 = Annotated[int, Primitive.UINT16]
Uint32 = Annotated[int, Primitive.UINT32]
Float64 = Annotated[float, Primitive.FLOAT64]
String = Annotated[str, Primitive.STRING]
Bytes = Annotated[bytes, Primitive.BYTES]
Records = Annotated[bytes, Primitive.RECORDS]
Uuid = Annotated[bytes, Primitive.UUID]
"""Sixteen bytes, in the order of the UUID's text."""

ZERO_UUID: Final = bytes(16)


def uuid_text(value: bytes) -> str:
    """Return a UUID as Kafka's tools print it: URL-safe base64 without padding."""
    return urlsafe_b64encode(value).decode().rstrip("=")
