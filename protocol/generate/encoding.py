"""Generates the bodies of encoders.

Fixed-size fields are collected in a *run* until a field of variable size follows. The size of that field joins the run, so that one
pack writes all of it. A field that this version lacks is refused if it has a value, unless it is ignorable in Kafka's schema.
"""

from __future__ import annotations

import contextlib

from msgspec import structs

from protocol.fields import NO_VERSIONS, Item, Message, Primitive
from protocol.generate.rows import row_of
from protocol.generate.source import FORMATS, SIZES, Layouts, SourceText, join, literal, local
from protocol.schema import FieldSpec, fields_of

_LONG_SIZES = (Primitive.BYTES, Primitive.RECORDS)
_PAD = "x"


class EncoderWriter:
    """The generator of one encoder's body, for one message and version."""

    def __init__(self, message: type[Message], version: int, layouts: Layouts) -> None:
        self._message = message
        self._version = version
        self._flexible = version in message.kafka.flexible
        self._layouts = layouts
        self._source = SourceText(depth=2)
        self._run: list[tuple[str, str]] = []
        self._out = "out"

    def body(self) -> list[str]:
        self._struct(self._message, "msg", "")
        self._flush()
        return self._source.lines or [" " * 8 + "pass"]

    def _struct(self, struct: type[Message | Item], owner: str, prefix: str) -> None:
        self._checks(struct, owner, prefix)
        self._content(struct, owner, prefix)

    def _checks(self, struct: type[Message | Item], owner: str, prefix: str) -> None:
        """Write the checks that refuse fields which this version lacks."""
        for field in fields_of(struct):
            if self._is_refused(field):
                with self._source.block(f"if {_has_value(field, owner)}"):
                    self._source.line(f'raise not_in_version("{join(prefix, field.name)}")')

    def _content(self, struct: type[Message | Item], owner: str, prefix: str) -> None:
        for field in fields_of(struct):
            if self._version in field.versions and self._version not in field.tagged:
                self._field(field, f"{owner}.{field.name}", join(prefix, field.name))
        if self._flexible:
            self._tags([field for field in fields_of(struct) if self._version in field.tagged], owner, prefix)

    def _is_refused(self, field: FieldSpec) -> bool:
        return self._version not in field.versions and not field.ignorable

    def _field(self, field: FieldSpec, value: str, path: str) -> None:
        nullable = self._version in field.nullable
        if field.is_array:
            self._array(field, value, path)
        elif not isinstance(field.type, Primitive):
            self._nested(field.type, value, path, self._marks(field))
        elif field.type is Primitive.UUID:
            with self._source.block(f"if len({value}) != 16"):
                self._source.line(f'raise BadField("{path}", "a UUID has 16 bytes")')
            self._run.append((FORMATS[field.type], value))
        elif field.type in FORMATS:
            self._run.append((FORMATS[field.type], value))
        else:
            if field.is_optional and not nullable:
                self._refuse_null(value, path)
            self._sized(field.type, value, self._is_compact(field), nullable)

    def _refuse_null(self, value: str, path: str) -> None:
        with self._source.block(f"if {value} is None"):
            self._source.line(f'raise BadField("{path}")')

    def _is_compact(self, field: FieldSpec) -> bool:
        return self._flexible and (field.flexible is None or self._version in field.flexible)

    def _sized(self, kind: Primitive, value: str, compact: bool, nullable: bool) -> None:
        """Write the encoding of a string or bytes."""
        extra = " + 1" if compact else ""
        name, convert = ("text", ".encode()") if kind is Primitive.STRING else ("data", "")
        if nullable:
            self._source.line(f"{name} = {value}")
            with self._source.block(f"if {name} is None"):
                self._source.line(f'n, raw = {"0" if compact else "-1"}, b""')
            with self._source.block("else"):
                self._source.line(f"raw = {name}{convert}")
                self._source.line(f"n = len(raw){extra}")
        else:
            self._source.line(f"raw = {value}{convert}")
            if compact:
                self._source.line(f"n = len(raw){extra}")
        size = "n" if compact or nullable else "len(raw)"
        self._size(size, compact, "i" if kind in _LONG_SIZES else "h")
        self._source.line(f"{self._out} += raw")

    def _size(self, size: str, compact: bool, wide: str) -> None:
        """Write the encoding of a size, together with the run before it."""
        if not compact:
            self._run.append((wide, size))
            self._flush()
            return
        run = self._run
        with self._source.block("if n < 0x80"):
            self._run = [*run, ("B", size)]
            self._flush()
        with self._source.block("else"):
            self._run = run
            self._flush()
            self._source.line(f"{self._out} += {'write_string_size' if wide == 'h' else 'write_uvarint'}(n)")

    def _flush(self) -> None:
        """Write the encoding of the run."""
        if not self._run:
            return
        self._source.line(_pack(self._run, self._out, self._layouts))
        self._run = []

    def _marks(self, field: FieldSpec) -> tuple[tuple[str, str], tuple[str, str]] | None:
        """Return the markers of a null and of a present nullable struct, or None. Tagged fields have different markers."""
        if self._version not in field.nullable:
            return None
        return (("B", "0"), ("B", "1")) if self._version in field.tagged else (("b", "-1"), ("b", "1"))

    def _nested(self, struct: type[Item], value: str, path: str, marks: tuple[tuple[str, str], tuple[str, str]] | None) -> None:
        owner = local(path)
        self._source.line(f"{owner} = {value}")
        if marks is None:
            self._struct(struct, owner, path)
            return
        run = self._run
        with self._source.block(f"if {owner} is None"):
            self._run = [*run, marks[0]]
            self._flush()
        with self._source.block("else"):
            self._run = [*run, marks[1]]
            self._struct(struct, owner, path)
            self._flush()

    def _array(self, field: FieldSpec, value: str, path: str) -> None:
        name = local(path)
        compact = self._is_compact(field)
        self._source.line(f"{name} = {value}")
        nullable = self._version in field.nullable
        if field.is_optional and not nullable:
            self._refuse_null(name, path)
        if not nullable:
            self._counted(field, name, path, compact)
            return
        run = self._run
        with self._source.block(f"if {name} is None"):
            self._run = [*run, (_PAD, "") if compact else ("i", "-1")]
            self._flush()
        with self._source.block("else"):
            self._run = run
            self._counted(field, name, path, compact)

    def _counted(self, field: FieldSpec, name: str, path: str, compact: bool) -> None:
        """Write the encoding of an array's count and its elements."""
        if compact:
            self._source.line(f"n = len({name}) + 1")
        self._size("n" if compact else f"len({name})", compact, "i")
        if not isinstance(field.type, Primitive):
            self._structs(field.type, name, path)
        elif field.type is Primitive.UUID:
            with self._source.block(f"if any(len(item) != 16 for item in {name})"):
                self._source.line(f'raise BadField("{path}", "a UUID has 16 bytes")')
            self._source.line(f'{self._out} += b"".join({name})')
        elif field.type in FORMATS:
            self._numbers(field, name)
        else:
            item = local(path + ".item")
            with self._source.block(f"for {item} in {name}"):
                self._sized(field.type, item, compact, nullable=False)

    def _structs(self, struct: type[Item], name: str, path: str) -> None:
        item = local(path + ".item")
        row = row_of(struct, self._version, self._flexible)
        is_plain = row is not None and "16s" not in row.formats
        if row is not None and is_plain and row.string is None and not any(map(self._is_refused, fields_of(struct))):
            packed = _packed(self._row_run(struct, item, ""), self._layouts)
            self._source.line(f'{self._out} += b"".join([{packed} for {item} in {name}])')
            return
        with self._source.block(f"for {item} in {name}"):
            self._checks(struct, item, path)
            if row is not None and is_plain and row.string is not None:
                self._without_string(struct, item, row.string)
            self._content(struct, item, path)
            self._flush()

    def _without_string(self, struct: type[Item], item: str, string: FieldSpec) -> None:
        """Write the encoding, with one pack, of an element whose only string is empty or null, and ``continue``."""
        empty, null = ("1", "0") if self._flexible else ("0", "-1")
        if self._version in string.nullable:
            self._source.line(f"text = {item}.{string.name}")
            condition, size = "if not text", f"{null} if text is None else {empty}"
        else:
            condition, size = f'if {item}.{string.name} == ""', empty
        with self._source.block(condition):
            self._run = self._row_run(struct, item, size)
            self._flush()
            self._source.line("continue")

    def _row_run(self, struct: type[Item], item: str, string_size: str) -> list[tuple[str, str]]:
        """Return the whole element as one run."""
        run = []
        for field in fields_of(struct):
            if self._version not in field.versions:
                continue
            if field.type is Primitive.STRING:
                run.append(("B" if self._flexible else "h", string_size))
            else:
                assert isinstance(field.type, Primitive)
                run.append((FORMATS[field.type], f"{item}.{field.name}"))
        return [*run, (_PAD, "")] if self._flexible else run

    def _tags(self, known: list[FieldSpec], owner: str, prefix: str) -> None:
        """Write the encoding of the tagged fields that have a value, after their number. Most structs know one at most."""
        if not known:
            self._run.append((_PAD, ""))
            return
        self._flush()
        if len(known) == 1:
            [field] = known
            with self._source.block(f"if {_has_value(field, owner)}"):
                self._run = [("B", "1")]
                self._tag(field, owner, join(prefix, field.name))
            with self._source.block("else"):
                self._source.line(f"{self._out}.append(0)")
            return
        outer, tagged, count = self._out, local(join(prefix, "tagged")), local(join(prefix, "tag_count"))
        self._source.line(f"{count} = 0")
        self._source.line(f"{tagged} = bytearray()")
        self._out = tagged
        for field in sorted(known, key=lambda field: field.tag or 0):
            with self._source.block(f"if {_has_value(field, owner)}"):
                self._source.line(f"{count} += 1")
                self._tag(field, owner, join(prefix, field.name))
        self._out = outer
        self._source.line(f"{outer}.append({count})")
        self._source.line(f"{outer} += {tagged}")

    def _tag(self, field: FieldSpec, owner: str, path: str) -> None:
        """Write the encoding of one tagged field after the run: tag, size and content."""
        assert field.tag is not None
        value = f"{owner}.{field.name}"
        formats = FORMATS.get(field.type) if isinstance(field.type, Primitive) else None
        self._run.append(("B", str(field.tag)))
        if formats is not None and not field.is_array:
            self._run.append(("B", str(SIZES[formats])))
            self._field(field, value, path)
            self._flush()
            return
        if formats is not None and field.type is not Primitive.UUID:
            self._numbers_tag(field, value, path, SIZES[formats])
            return
        self._flush()
        outer, content = self._out, local(path + ".content")
        self._source.line(f"{content} = bytearray()")
        self._out = content
        self._field(_not_null(field), value, path)
        self._flush()
        self._out = outer
        self._source.line(f"n = len({content})")
        self._size("n", compact=True, wide="i")
        self._source.line(f"{outer} += {content}")

    def _numbers_tag(self, field: FieldSpec, value: str, path: str, item_size: int) -> None:
        """Write size and content of an array of numbers: what it takes is known before."""
        name, run = local(path), self._run
        self._source.line(f"{name} = {value}")
        with contextlib.ExitStack() as stack:
            if self._version in _not_null(field).nullable:
                with self._source.block(f"if {name} is None"):
                    self._run = [*run, ("B", "1"), ("B", "0")]
                    self._flush()
                stack.enter_context(self._source.block("else"))
            elif field.is_optional and field.default is not None:
                self._refuse_null(name, path)
            self._source.line(f"n = len({name}) + 1")
            with self._source.block(f"if n <= {1 + 0x7E // item_size}"):
                self._run = [*run, ("B", f"{item_size} * n - {item_size - 1}" if item_size > 1 else "n"), ("B", "n")]
                self._flush()
            with self._source.block("else"):
                self._run = run
                self._flush()
                self._source.line("raw = write_uvarint(n)")
                self._source.line(f"{self._out} += write_uvarint(len(raw) + (n - 1) * {item_size})")
                self._source.line(f"{self._out} += raw")
            self._numbers(field, name)

    def _numbers(self, field: FieldSpec, name: str) -> None:
        """Write the encoding of an array's numbers. A layout of many is looked up by its text."""
        assert isinstance(field.type, Primitive)
        layout = FORMATS[field.type]
        one = self._layouts.name("pack", layout)
        self._source.line(f'{self._out} += {one}(*{name}) if len({name}) == 1 else pack(f">{{len({name})}}{layout}", *{name})')


def _not_null(field: FieldSpec) -> FieldSpec:
    """Return the field for a value that differs from its default, so is not null. A struct keeps its presence marker."""
    if isinstance(field.type, type) and not field.is_array:
        return field
    return structs.replace(field, nullable=NO_VERSIONS) if field.default is None else field


def _packed(run: list[tuple[str, str]], layouts: Layouts) -> str:
    """Return the expression of a run's bytes."""
    formats = "".join(item for item, _ in run)
    if set(formats) == {_PAD}:
        return 'b"' + "\\0" * len(run) + '"'
    return f"{layouts.name('pack', formats)}({', '.join(value for item, value in run if item != _PAD)})"


def _pack(run: list[tuple[str, str]], out: str, layouts: Layouts) -> str:
    """Return the statement that encodes a run."""
    if len(run) == 1 and run[0][0] in ("B", _PAD):
        return f"{out}.append({run[0][1] or '0'})"
    return f"{out} += {_packed(run, layouts)}"


def _has_value(field: FieldSpec, owner: str) -> str:
    """Return the expression that tests whether the field differs from its default."""
    value = f"{owner}.{field.name}"
    if field.default is None:
        return f"{value} is not None"
    if not field.default and not field.is_optional:
        return value
    if field.default == [] and field.is_array:
        return f"{value} is None or {value}"
    return f"{value} != {literal(field.default)}"
