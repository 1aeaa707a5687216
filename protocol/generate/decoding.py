"""Generates the bodies of decoders.

Fixed-size fields are collected in a *run* until a field of variable size follows. The size of that field joins the run, so that one
unpack reads all of it. Nested structs and the elements of arrays are read in place: there is one function per message and version.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Final

from protocol.fields import Item, Message, Primitive
from protocol.generate import costs
from protocol.generate.costs import REQUEST_LIMIT, ROOM, any_arrays
from protocol.generate.rows import Row, RowShape, row_of, shape_of
from protocol.generate.source import FORMATS, PYTHON_TYPES, SIZES, Layouts, SourceText, join, literal, local, python_type, size_of
from protocol.schema import FieldSpec, fields_of

LOOK_FROM: Final = 8
"""Minimum number of elements for which it is worth checking for a run of equal layout."""
_LONG_SIZES = (Primitive.BYTES, Primitive.RECORDS)


class DecoderWriter:
    """The generator of one decoder's body, for one message and version."""

    def __init__(self, message: type[Message], version: int, layouts: Layouts) -> None:
        self._message = message
        self._version = version
        self._flexible = version in message.kafka.flexible
        self._is_request = message.__name__.endswith("Request")
        self._layouts = layouts
        self._source = SourceText(depth=2)
        self._run: list[tuple[str, str]] = []

    def body(self) -> list[str]:
        if any_arrays(self._message, self._version):
            self._source.line(f"room = {ROOM - costs.of_struct(self._message, self._version)} - 2 * len(buf)")
            if self._is_request:
                self._source.line(f"limit = {REQUEST_LIMIT}")
        expression = self._struct(self._message, "")
        may_end_behind = not self._run and not self._flexible  # a final slice does not raise beyond the end
        self._flush()
        if may_end_behind:
            with self._source.block("if pos > len(buf)"):
                self._source.line("raise IndexError")
        self._source.line(f"return {expression}, pos")
        return ["    n: int", "    try:", *self._source.lines]

    def _struct(self, struct: type[Message | Item], prefix: str) -> str:
        """Write the reads of a struct's fields. Return the expression that builds it, valid when the run is flushed."""
        values = []
        for field in fields_of(struct):
            path = join(prefix, field.name)
            if self._version not in field.versions:
                values.append(literal(field.default))
            elif self._version in field.tagged:
                values.append(local(path))
            else:
                values.append(self._field(field, path))
        if self._flexible:
            self._tags([field for field in fields_of(struct) if self._version in field.tagged], prefix)
        return f"{struct.__name__}({', '.join(_without_defaults(struct, values))})"

    def _field(self, field: FieldSpec, path: str) -> str:
        """Write the read of one field. Return the expression of its value."""
        name = local(path)
        if field.is_array:
            self._array(field, path)
        elif not isinstance(field.type, Primitive):
            if self._version not in field.nullable:
                return self._struct(field.type, path)
            self._nullable_struct(field, field.type, path)
        elif field.type in FORMATS:
            self._run.append((FORMATS[field.type], name))
        else:
            is_tagged = self._version in field.tagged
            self._sized(field.type, path, self._is_compact(field), self._version in field.nullable, declared=is_tagged)
        return name

    def _sized(self, kind: Primitive, path: str, compact: bool, nullable: bool, declared: bool = False) -> None:
        """Write the read of a string or bytes. For a one-byte size, ``pos`` stays at the run until the content is read."""
        if nullable and not declared:
            self._source.line(f"{local(path)}: {PYTHON_TYPES[kind]} | None")
        self._run.append(("B" if compact else "i" if kind in _LONG_SIZES else "h", "n"))
        size = self._unpack()
        read = f"{local(path)} = buf[{{}} : (pos := {{}})]" + (".decode()" if kind is Primitive.STRING else "")
        if compact:
            self._compact_sized(kind, path, size, read, nullable)
            return
        if nullable:
            with self._source.block("if n < 0"):
                self._source.line(f"{local(path)} = None")
                self._source.line(f"pos += {size}")
        else:
            self._refuse_null("n < 0", path)
        here, behind = f"pos + {size}", f"pos + {size} + n"
        if kind is not Primitive.STRING:
            with self._source.block("else") if nullable else nullcontext():
                self._source.line(read.format(here, behind))
            return
        with self._source.block("elif n < 0x80" if nullable else "if n < 0x80"):
            self._source.line(read.format(here, behind))
        with self._source.block("else"):
            self._long(kind, path, here)

    def _compact_sized(self, kind: Primitive, path: str, size: int, read: str, nullable: bool) -> None:
        """Write the read of content after a run of ``size`` bytes whose last byte is (the first byte of) a compact size."""
        at = f"pos + {size - 1}" if size > 1 else "pos"
        if nullable:
            self._null(path, size, "if not n")
            with self._source.block("elif n == 1"):
                empty = '""' if kind is Primitive.STRING else 'b""'
                self._source.line(f"{local(path)} = {empty}")
                self._source.line(f"pos += {size}")
        with self._source.block("elif n < 0x80" if nullable else "if 0 < n < 0x80"):
            self._source.line(read.format(f"pos + {size}", f"{at} + n"))
        with self._source.block("else"):
            reader = "read_string_size" if kind is Primitive.STRING else "read_uvarint"
            self._source.line(f"n, pos = {reader}(buf, {at})")
            if not nullable:
                self._refuse_null("n == 0", path)
            if nullable:
                with self._source.block("if n"):
                    self._source.line("n -= 1")
                    self._long(kind, path, "pos")
                with self._source.block("else"):
                    self._source.line(f"{local(path)} = None")
            else:
                self._source.line("n -= 1")
                self._long(kind, path, "pos")

    def _long(self, kind: Primitive, path: str, here: str) -> None:
        """Write the read of ``n`` bytes of long content.

        It uses separate statements, because mypyc may evaluate an assignment inside a slice in a different order or twice.
        """
        self._source.line(f"here = {here}")
        self._source.line("pos = here + n")
        self._source.line(f"{local(path)} = " + ("long_text(buf, here, pos)" if kind is Primitive.STRING else "buf[here:pos]"))

    def _null(self, path: str, size: int, head: str = "else") -> None:
        with self._source.block(head):
            self._source.line(f"{local(path)} = None")
            self._source.line(f"pos += {size}")

    def _refuse_null(self, condition: str, path: str) -> None:
        with self._source.block(f"if {condition}"):
            self._source.line(f'raise BadField("{path}")')

    def _size(self, compact: bool, wide: str) -> None:
        """Write the read of a size into ``n``, together with the run before it."""
        self._run.append(("B" if compact else wide, "n"))
        self._flush()
        if compact:
            with self._source.block("if n >= 0x80"):
                self._source.line("n, pos = read_uvarint(buf, pos - 1)")

    def _is_compact(self, field: FieldSpec) -> bool:
        return self._flexible and (field.flexible is None or self._version in field.flexible)

    def _flush(self) -> None:
        """Write the read of the run, and advance ``pos``."""
        if self._run:
            self._source.line(f"pos += {self._unpack()}")

    def _unpack(self) -> int:
        """Write the read of the run. Return its size in bytes."""
        formats = [item for item, _ in self._run]
        targets = [target for _, target in self._run]
        self._run = []
        if formats == ["B"]:
            self._source.line(f"{targets[0]} = buf[pos]")
        else:
            left = ", ".join(targets) if len(targets) > 1 else f"({targets[0]},)"
            self._source.line(f"{left} = {self._layouts.name('unpack', ''.join(formats))}(buf, pos)")
        return size_of(formats)

    def _nullable_struct(self, field: FieldSpec, struct: type[Item], path: str) -> None:
        if self._version in field.tagged:  # the presence marker is 0 or 1 in tagged fields, otherwise -1 or 1
            self._source.line("n, pos = read_uvarint(buf, pos)")
            self._source.line(f"{local(path)} = None")
        else:
            self._run.append(("b", "n"))
            self._flush()
            self._source.line(f"{local(path)}: {python_type(field)} = None")
        with self._source.block("if n > 0" if self._version in field.tagged else "if n >= 0"):
            expression = self._struct(struct, path)
            self._flush()
            self._source.line(f"{local(path)} = {expression}")

    def _tags(self, known: list[FieldSpec], prefix: str) -> None:
        self._run.append(("B", "n"))
        self._flush()
        for field in known:
            self._source.line(f"{local(join(prefix, field.name))}: {python_type(field)} = {literal(field.default)}")
        with self._source.block("if n"):
            if not known:
                self._source.line("pos = skip_tags(buf, pos - 1)")
                return
            self._source.line("n, pos = read_uvarint(buf, pos - 1)")
            with self._times(join(prefix, "tag")):
                self._tag(known, prefix)

    def _times(self, path: str) -> AbstractContextManager[None]:
        """Return a block that runs ``n`` times. ``n`` itself may be overwritten inside."""
        count = local(join(path, "count"))
        self._source.line(f"{count} = n")
        return self._source.block(f"for _ in range({count})")

    def _tag(self, known: list[FieldSpec], prefix: str) -> None:
        """Write the read of one tagged field: tag, size, and the content of known fields."""
        end = local(join(prefix, "tag_end"))
        self._source.line("tag, pos = read_uvarint(buf, pos)")
        self._source.line("n, pos = read_uvarint(buf, pos)")
        self._source.line(f"{end} = pos + n")
        with self._source.block(f"if {end} > len(buf)"):
            self._source.line("raise IndexError")
        word = "if"
        for field in known:
            path = join(prefix, field.name)
            with self._source.block(f"{word} tag == {field.tag}"):
                expression = self._field(field, path)
                self._flush()
                if expression != local(path):
                    self._source.line(f"{local(path)} = {expression}")
            word = "elif"
        with self._source.block("else"):
            self._source.line(f"pos = {end}")
        with self._source.block(f"if pos != {end}"):
            self._source.line(f'raise BadField("{join(prefix, "tagged fields")}", "a size is not that of its content")')

    def _array(self, field: FieldSpec, path: str) -> None:
        compact = self._is_compact(field)
        self._size(compact, "i")
        if compact:
            self._source.line("n -= 1")
        if self._version not in field.tagged:
            self._source.line(f"{local(path)}: {python_type(field)}")
        if self._version not in field.nullable:
            self._refuse_null("n < 0", path)
            self._counted(field, path)
            return
        with self._source.block("if n < 0"):
            self._source.line(f"{local(path)} = None")
        with self._source.block("else"):
            self._counted(field, path)

    def _counted(self, field: FieldSpec, path: str) -> None:
        """Write the read of ``n`` elements. The whole message is checked first if the memory budget would be exceeded."""
        net = costs.of_element(field, self._version) - 4 * self._smallest_element(field)
        cost = f"n * {max(net, 1)}"
        verify = f"verify({self._message.__name__}, version, buf, start, pos + n"
        self._source.line(f"room -= {cost}")
        with self._source.block("if room < 0"):
            if self._is_request:
                self._source.line(f"room, limit = {verify}, limit - {cost}), 0")
            else:
                self._source.line(f"room = {verify})")
        self._elements(field, path)

    def _elements(self, field: FieldSpec, path: str) -> None:
        if isinstance(field.type, Primitive):
            self._primitive_elements(field, field.type, path)
            return
        shape = shape_of(field.type, self._version, self._flexible, self._is_compact)
        if shape is not None:
            self._runs(field.type, path, shape)
            return
        row = row_of(field.type, self._version, self._flexible)
        if row is None or row.string is not None:
            self._loop(field.type, path)
            return
        self._source.line(f"end = pos + n * {row.size}")
        if row.is_certain:
            self._rows(field.type, path, row)
            return
        with self._source.block(f"if {row.condition}"):
            self._rows(field.type, path, row)
        with self._source.block("else"):
            self._loop(field.type, path)

    def _primitive_elements(self, field: FieldSpec, kind: Primitive, path: str) -> None:
        name = local(path)
        if kind is Primitive.UUID:
            self._source.line(f"{name} = [buf[at : at + 16] for at in range(pos, pos + n * 16, 16)]")
            self._source.line("pos += n * 16")
        elif kind in FORMATS:
            self._source.line(f'{name} = list(unpack_from(f">{{n}}{FORMATS[kind]}", buf, pos))')
            self._source.line(f"pos += n * {SIZES[FORMATS[kind]]}")
        else:
            self._source.line(f"{name} = []")
            with self._times(path):
                self._sized(kind, path + ".item", self._is_compact(field), nullable=False)
                self._source.line(f"{name}.append({local(path + '.item')})")

    def _loop(self, struct: type[Item], path: str) -> None:
        self._source.line(f"{local(path)} = []")
        with self._times(path):
            self._one(struct, path)

    def _one(self, struct: type[Item], path: str) -> None:
        """Write the read of one element."""
        expression = self._struct(struct, path)
        self._flush()
        self._source.line(f"{local(path)}.append({expression})")

    def _rows(self, struct: type[Item], path: str, row: Row) -> None:
        """Write the read of an array up to ``end`` whose elements have the row's layout."""
        rows = f"{self._layouts.name('rows', row.formats)}(buf[pos:end])"
        names = tuple(field.name for field in fields_of(struct))
        if names[: len(row.names)] == row.names:
            self._source.line(f"{local(path)} = list(starmap({struct.__name__}, {rows}))")
        else:
            self._source.line(f"{local(path)} = [{self._made_of_row(struct, {})} for {_targets(row.names)} in {rows}]")
        self._source.line("pos = end")

    def _runs(self, struct: type[Item], path: str, shape: RowShape) -> None:
        """Write the read of an array by runs of elements of equal layout, and of the other elements one by one."""
        name = local(path)
        left, step, count = (local(join(path, part)) for part in ("left", "step", "count"))
        self._source.line(f"{name} = []")
        self._source.line(f"{left}, {step} = n, {LOOK_FROM}")
        with self._source.block(f"while {left}"):
            self._source.line(f"{count} = {left}")
            with self._source.block(f"if {left} >= {LOOK_FROM}" + ("" if shape.has_numbers else " and RUNS_OF_TEXT")):
                self._source.line(f"run = alike({self._layouts.shape(shape.definition)}, buf, pos, {left})")
                with self._source.block("if run is not None"):
                    self._source.line("pos, n, rows, absent, is_same = run")
                    self._source.line(f"{left} -= n")
                    self._run_of_rows(struct, path, shape)
                    self._source.line("continue")
                with self._source.block(f"if {step} < {left}"):
                    self._source.line(f"{count} = {step}")
                self._source.line(f"{step} *= 2")
            self._source.line(f"{left} -= {count}")
            with self._source.block(f"for _ in range({count})"):
                self._one(struct, path)

    def _run_of_rows(self, struct: type[Item], path: str, shape: RowShape) -> None:
        name = local(path)
        if len(shape.sized) == 1:
            (only,) = shape.sized
            if shape.numbers == tuple(field.name for field in fields_of(struct))[: len(shape.numbers)]:
                with self._source.block(f"if is_same and absent == {literal(only.default)}"):
                    self._source.line(f"{name} += starmap({struct.__name__}, rows)")
                    self._source.line("continue")
            with self._source.block("if is_same"):
                element = self._made_of_row(struct, {only.name: "absent"})
                self._source.line(f"{name} += [{element} for {_targets(shape.numbers)} in rows]")
            head, values = "else", {only.name: _content_of(only)}
            with self._source.block(head):
                self._source.line(f"{name} += [{self._made_of_row(struct, values)} for {_targets(shape.names)} in rows]")
            return
        values = {}
        for index, field in enumerate(shape.sized):
            value = _content_of(field)
            values[field.name] = (
                f"{value} if {local(field.name)} else absent[{index}]" if self._version in field.nullable else value
            )
        self._source.line(f"{name} += [{self._made_of_row(struct, values)} for {_targets(shape.names)} in rows]")

    def _made_of_row(self, struct: type[Item], given: dict[str, str]) -> str:
        """Return the constructor call with ``given`` values, and for other fields the locals with the fields' names."""
        values = []
        for field in fields_of(struct):
            present = local(field.name) if self._version in field.versions else literal(field.default)
            values.append(given.get(field.name, present))
        return f"{struct.__name__}({', '.join(_without_defaults(struct, values))})"

    def _smallest(self, field: FieldSpec) -> int:
        """Return the minimum size of the field in bytes in this version."""
        if self._version not in field.versions or self._version in field.tagged:
            return 0
        if field.is_array:
            return 1 if self._is_compact(field) else 4
        is_struct = not isinstance(field.type, Primitive)
        return 1 if is_struct and self._version in field.nullable else self._smallest_element(field)

    def _smallest_element(self, field: FieldSpec) -> int:
        if isinstance(field.type, Primitive):
            wide = 4 if field.type in _LONG_SIZES else 2
            return SIZES[FORMATS[field.type]] if field.type in FORMATS else 1 if self._is_compact(field) else wide
        return sum(map(self._smallest, fields_of(field.type))) + self._flexible


def _targets(names: tuple[str, ...]) -> str:
    return ", ".join(map(local, names)) + ("," if len(names) == 1 else "") or "_"


def _content_of(field: FieldSpec) -> str:
    """Return the expression of a string or bytes that a row has as bytes."""
    return f"{local(field.name)}.decode()" if field.type is Primitive.STRING else local(field.name)


def _without_defaults(struct: type[Message | Item], values: list[str]) -> list[str]:
    """Return the arguments of a constructor call without trailing defaults."""
    defaults = [literal(field.default) for field in fields_of(struct)]
    while values and values[-1] == defaults[len(values) - 1]:
        values = values[:-1]
    return values
