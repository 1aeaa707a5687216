"""Generates skippers, which skip a struct and refuse what its decoder would refuse, without making values.

``protocol.skipper`` compiles them on first use; they are not part of the generated package.
"""

from __future__ import annotations

from typing import Final

from protocol.fields import Item, Message, Primitive
from protocol.generate.decoding import LOOK_FROM
from protocol.generate.rows import RowShape, shape_of
from protocol.generate.source import FORMATS, SIZES, Layouts, SourceText
from protocol.schema import FieldSpec, fields_of

_LONG_SIZES: Final = (Primitive.BYTES, Primitive.RECORDS)


LONG_TEXT: Final = 0x1000
"""Strings from this size on are checked in parts, because decoding a whole one may take six times its size."""


class SkipWriter:
    """The generator of one skipper, for a struct or for the elements of an array."""

    def __init__(self, version: int, is_flexible: bool, layouts: Layouts) -> None:
        self._version = version
        self._flexible = is_flexible
        self._layouts = layouts
        self._source = SourceText(depth=1)
        self._ahead = 0
        self._depth = 0
        self._tells = False

    def of_struct(self, struct: type[Message | Item]) -> list[str]:
        self._struct(struct)
        return self._finish()

    def of_elements(self, kind: Primitive | type[Item], is_compact: bool) -> list[str]:
        """Return the source of a function that skips valid elements, at most ``n``.

        The function returns the number of elements before the first invalid one, and the position after them.
        """
        self._tells = True
        with self._source.block("try"):
            self._all_elements(kind, is_compact)
        with self._source.block("except DECODE_ERRORS"):
            self._source.line("pass")
        self._source.line("return index, good")
        return ["def skip(buf, pos, n):", "    index, good = 0, pos", *self._source.lines]

    def _finish(self) -> list[str]:
        self._step()
        with self._source.block("if pos > len(buf)"):
            self._source.line("raise IndexError")
        self._source.line("return pos")
        return ["def skip(buf, pos):", *self._source.lines]

    def _is_compact(self, field: FieldSpec) -> bool:
        return self._flexible and (field.flexible is None or self._version in field.flexible)

    def _step(self) -> None:
        """Write the step over the preceding fixed-size fields."""
        if self._ahead:
            self._source.line(f"pos += {self._ahead}")
            self._ahead = 0

    def _struct(self, struct: type[Message | Item]) -> None:
        present = [field for field in fields_of(struct) if self._version in field.versions]
        for field in present:
            if self._version not in field.tagged:
                self._field(field)
        if self._flexible:
            self._tags([field for field in present if self._version in field.tagged])

    def _field(self, field: FieldSpec) -> None:
        nullable = self._version in field.nullable
        if field.is_array:
            self._array(field, nullable)
        elif not isinstance(field.type, Primitive):
            self._nested(field, field.type, nullable)
        elif field.type in FORMATS:
            self._ahead += SIZES[FORMATS[field.type]]
        else:
            self._sized(field.type, self._is_compact(field), nullable)

    def _nested(self, field: FieldSpec, struct: type[Item], nullable: bool) -> None:
        if not nullable:
            self._struct(struct)
            return
        self._step()
        if self._version in field.tagged:
            self._source.line("n, pos = read_uvarint(buf, pos)")
        else:
            self._source.line("n = 1 - (buf[pos] >> 7)")
            self._source.line("pos += 1")
        with self._source.block("if n > 0"):
            self._struct(struct)
            self._step()

    def _count(self, compact: bool, wide: int, nullable: bool, read: str = "read_uvarint") -> None:
        """Write the read of a size or a count into ``n``, 0 for null."""
        self._step()
        if compact:
            self._source.line("n = buf[pos]")
            with self._source.block("if n < 0x80"):
                self._source.line("pos += 1")
            with self._source.block("else"):
                self._source.line(f"n, pos = {read}(buf, pos)")
            self._source.line("n -= 1")
        else:
            self._source.line(f"(n,) = {self._layouts.name('number', 'h' if wide == 2 else 'i')}(buf, pos)")
            self._source.line(f"pos += {wide}")
        with self._source.block("if n < 0"):
            self._source.line("n = 0" if nullable else "raise ValueError")

    def _sized(self, kind: Primitive, compact: bool, nullable: bool) -> None:
        is_string = kind is Primitive.STRING
        self._count(compact, 4 if kind in _LONG_SIZES else 2, nullable, "read_string_size" if is_string else "read_uvarint")
        with self._source.block("if n"):
            if is_string:
                with self._source.block(f"if n < {LONG_TEXT}"):
                    self._source.line("buf[pos : pos + n].decode()")
                with self._source.block("else"):
                    self._source.line("check_text(buf, pos, n)")
            self._source.line("pos += n")

    def _array(self, field: FieldSpec, nullable: bool) -> None:
        self._count(self._is_compact(field), 4, nullable)
        with self._source.block("if n > len(buf) - pos"):
            self._source.line("raise IndexError")
        if isinstance(field.type, Primitive) and field.type in FORMATS:
            self._source.line(f"pos += n * {SIZES[FORMATS[field.type]]}")
        else:
            self._all_elements(field.type, self._is_compact(field))
        with self._source.block("if pos > len(buf)"):
            self._source.line("raise IndexError")

    def _all_elements(self, kind: Primitive | type[Item], is_compact: bool) -> None:
        self._depth += 1
        if isinstance(kind, Primitive):
            self._elements(kind, is_compact, None)
        elif (size := self._fixed_size(kind)) is None:
            self._elements(kind, is_compact, shape_of(kind, self._version, self._flexible, self._is_compact, may_have_none=True))
        elif self._tells and self._depth == 1:
            self._source.line(f"index = min(n, (len(buf) - pos) // {size})")
            self._source.line(f"good = pos + index * {size}")
        else:
            self._source.line(f"pos += n * {size}")
        self._depth -= 1

    def _fixed_size(self, struct: type[Item]) -> int | None:
        """Return the size of every element in bytes if all its fields have a fixed size, otherwise None."""
        fields = [field for field in fields_of(struct) if self._version in field.versions]
        if self._flexible or any(field.is_array or field.type not in FORMATS for field in fields):
            return None
        return sum(SIZES[FORMATS[field.type]] for field in fields if isinstance(field.type, Primitive))

    def _elements(self, kind: Primitive | type[Item], is_compact: bool, shape: RowShape | None) -> None:
        left, step, count = f"left_{self._depth}", f"step_{self._depth}", f"count_{self._depth}"
        if shape is None:
            self._source.line(f"{count} = n")
            self._each(kind, is_compact, count)
            return
        self._source.line(f"{left}, {step} = n, {LOOK_FROM}")
        with self._source.block(f"while {left}"):
            self._source.line(f"{count} = min({left}, {step})")
            with self._source.block(f"if {left} >= {LOOK_FROM}"):
                self._source.line(f"run = alike({self._layouts.shape(shape.definition)}, buf, pos, {left})")
                with self._source.block("if run is not None"):
                    self._run(shape, left)
                    self._source.line("continue")
                self._source.line(f"{step} *= 2")
            self._source.line(f"{left} -= {count}")
            self._each(kind, is_compact, count)

    def _run(self, shape: RowShape, left: str) -> None:
        tells = self._tells and self._depth == 1
        self._source.line("at = pos")
        self._source.line("pos, n, rows, _, is_same = run")
        self._source.line(f"{left} -= n")
        texts = [index for index, name in enumerate(shape.names) if name in shape.strings]
        if texts:
            if tells:
                self._source.line("size = (pos - at) // n")
            with self._source.block("for row in () if is_same else rows"):
                for index in texts:
                    self._source.line(f"row[{index}].decode()")
                if tells:
                    self._source.line("index += 1")
                    self._source.line("good += size")
        if tells:
            with self._source.block("if good == at"):
                self._source.line("index += n")
                self._source.line("good = pos")

    def _each(self, kind: Primitive | type[Item], is_compact: bool, count: str) -> None:
        with self._source.block(f"for _ in range({count})"):
            if isinstance(kind, Primitive):
                self._sized(kind, is_compact, nullable=False)
            else:
                self._struct(kind)
            self._step()
            if self._tells and self._depth == 1:
                with self._source.block("if pos > len(buf)"):
                    self._source.line("break")
                self._source.line("index += 1")
                self._source.line("good = pos")

    def _tags(self, known: list[FieldSpec]) -> None:
        self._step()
        with self._source.block("if not buf[pos]"):
            self._source.line("pos += 1")
        with self._source.block("else"):
            if not known:
                self._source.line("pos = skip_tags(buf, pos)")
                return
            self._depth += 1
            count, end = f"count_{self._depth}", f"end_{self._depth}"
            self._source.line(f"{count}, pos = read_uvarint(buf, pos)")
            with self._source.block(f"for _ in range({count})"):
                self._tag(known, end)
            self._depth -= 1

    def _tag(self, known: list[FieldSpec], end: str) -> None:
        self._source.line("tag, pos = read_uvarint(buf, pos)")
        self._source.line("n, pos = read_uvarint(buf, pos)")
        self._source.line(f"{end} = pos + n")
        with self._source.block(f"if {end} > len(buf)"):
            self._source.line("raise IndexError")
        word = "if"
        for field in known:
            with self._source.block(f"{word} tag == {field.tag}"):
                self._field(field)
                self._step()
                with self._source.block(f"if pos != {end}"):
                    self._source.line("raise ValueError")
            word = "elif"
        self._source.line(f"pos = {end}")
