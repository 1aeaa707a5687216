"""Finds the invalid field and its position in bytes that a decoder has refused.

Generated decoders do not track the current field, so that valid bytes have no extra cost. When a decoder fails, the same bytes are
walked again according to the declaration, without making values, up to the first error. This is slow, except for valid elements of
arrays, which are skipped as fast as they are decoded. So a refusal costs a few times as much as decoding the same number of bytes.
"""

from __future__ import annotations

from functools import cache

from protocol.errors import DecodeError, Malformed, Truncated
from protocol.fields import Item, Message, Primitive
from protocol.schema import FieldSpec, fields_of
from protocol.skipper import check_text, elements_skipper
from protocol.wire import MAX_STRING, read_uvarint

_FEW = 4
SIZES = {
    Primitive.BOOL: 1,
    Primitive.INT8: 1,
    Primitive.INT16: 2,
    Primitive.INT32: 4,
    Primitive.INT64: 8,
    Primitive.UINT16: 2,
    Primitive.UINT32: 4,
    Primitive.FLOAT64: 8,
    Primitive.UUID: 16,
}


def explain(message: type[Message], version: int, buf: bytes, start: int) -> DecodeError | None:
    """Return the first error in the message at ``start``, or None if it is valid."""
    walk = _Walk(message, version, buf, start)
    try:
        walk.struct(message)
    except _Wrong as wrong:
        kind, reason, position = wrong.args
        error: DecodeError = kind(
            reason, message=message.__name__, version=version, path=walk.path(), position=min(position, len(buf))
        )
        return error
    return None


class _Wrong(Exception):
    """The type of error, reason and position. The walk has the path."""


@cache
def fields_at(struct: type[Message | Item], version: int) -> tuple[list[FieldSpec], dict[int, FieldSpec]]:
    """Return the untagged fields in order, and the tagged fields by tag, of a version."""
    present = [field for field in fields_of(struct) if version in field.versions]
    tagged = {field.tag: field for field in present if version in field.tagged and field.tag is not None}
    return [field for field in present if version not in field.tagged], tagged


class _Walk:
    """The walk through one message. ``_steps`` has the names and indexes of the current path."""

    def __init__(self, message: type[Message], version: int, buf: bytes, start: int) -> None:
        self._version = version
        self._flexible = version in message.kafka.flexible
        self._buf = buf
        self._pos = start
        self._steps: list[str] = []

    def path(self) -> str:
        """Return the current path, for example ``topics[3].partitions[0].committed_metadata``."""
        return ".".join(self._steps).replace(".[", "[")

    def struct(self, struct: type[Message | Item]) -> None:
        row, tagged = fields_at(struct, self._version)
        for field in row:
            self._steps.append(field.name)
            self._field(field, is_tagged=False)
            self._steps.pop()
        if self._flexible:
            self._steps.append("tagged fields")
            self._tags(tagged)
            self._steps.pop()

    def _tags(self, known: dict[int, FieldSpec]) -> None:
        for _ in range(self._uvarint()):
            tag = self._uvarint()
            at = self._pos
            size = self._uvarint()
            end = self._pos + size
            if end > len(self._buf):
                self._refuse_size(size, at)
            field = known.get(tag)
            if field is None:
                self._pos = end
                continue
            self._steps[-1] = field.name
            self._field(field, is_tagged=True)
            if self._pos != end:
                raise _Wrong(Malformed, "a size is not that of its content", at)
            self._steps[-1] = "tagged fields"

    def _field(self, field: FieldSpec, *, is_tagged: bool) -> None:
        nullable = self._version in field.nullable
        if field.is_array:
            self._array(field, nullable)
        elif isinstance(field.type, Primitive):
            self._primitive(field, field.type, nullable)
        elif not nullable or (self._uvarint() > 0 if is_tagged else self._signed(1) >= 0):
            self.struct(field.type)

    def _array(self, field: FieldSpec, nullable: bool) -> None:
        at = self._pos
        count = self._size(field, 4, nullable)
        if count > len(self._buf) - self._pos:
            self._refuse_size(count, at)
        if isinstance(field.type, Primitive) and field.type in SIZES:
            self._skip(count * SIZES[field.type])
            return
        self._steps.append("")
        for index in range(self._step_over(field, count), count):
            self._steps[-1] = f"[{index}]"
            if isinstance(field.type, Primitive):
                self._primitive(field, field.type, nullable=False)
            else:
                self.struct(field.type)
        self._steps.pop()

    def _step_over(self, field: FieldSpec, count: int) -> int:
        """Skip the valid elements at the start of an array, and return their number."""
        if count < _FEW:
            return 0
        skip = elements_skipper(field.type, self._version, self._flexible, self._is_compact(field))
        index, self._pos = skip(self._buf, self._pos, count)
        return index

    def _primitive(self, field: FieldSpec, kind: Primitive, nullable: bool) -> None:
        if kind in SIZES:
            self._skip(SIZES[kind])
            return
        at = self._pos
        size = self._size(field, 2 if kind is Primitive.STRING else 4, nullable)
        if kind is Primitive.STRING and size > MAX_STRING:
            raise _Wrong(Malformed, f"a string of {size} bytes is longer than {MAX_STRING}", at)
        if size > len(self._buf) - self._pos:
            self._refuse_size(size, at)
        content = self._pos
        self._pos += size
        if kind is Primitive.STRING:
            try:
                check_text(self._buf, content, size)
            except UnicodeDecodeError as error:
                raise _Wrong(Malformed, "a string is not UTF-8", error.start) from None

    def _size(self, field: FieldSpec, wide: int, nullable: bool) -> int:
        """Read a size or count; 0 for an allowed null."""
        at = self._pos
        size = self._uvarint() - 1 if self._is_compact(field) else self._signed(wide)
        if size < 0 and not nullable:
            raise _Wrong(Malformed, "null is not allowed", at)
        return max(size, 0)

    def _is_compact(self, field: FieldSpec) -> bool:
        return self._flexible and (field.flexible is None or self._version in field.flexible)

    def _uvarint(self) -> int:
        at = self._pos
        try:
            value, self._pos = read_uvarint(self._buf, at)
        except IndexError:
            raise _Wrong(Truncated, "the bytes end too early", at) from None
        except ValueError as error:
            raise _Wrong(Malformed, str(error), at) from None
        return value

    def _signed(self, size: int) -> int:
        at = self._pos
        self._skip(size)
        return int.from_bytes(self._buf[at : self._pos], "big", signed=True)

    def _skip(self, size: int) -> None:
        if size > len(self._buf) - self._pos:
            raise _Wrong(Truncated, "the bytes end too early", self._pos)
        self._pos += size

    def _refuse_size(self, size: int, at: int) -> None:
        left = len(self._buf) - self._pos
        raise _Wrong(Truncated, f"{size} entries or bytes cannot be in the {left} that are left", at)
