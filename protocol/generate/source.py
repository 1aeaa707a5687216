"""Source text in the making: indented lines, and the struct layouts that they use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from keyword import iskeyword
from typing import Final

from protocol.fields import Item, Message, Primitive
from protocol.schema import FieldSpec

FORMATS: Final = {
    Primitive.BOOL: "?",
    Primitive.INT8: "b",
    Primitive.INT16: "h",
    Primitive.INT32: "i",
    Primitive.INT64: "q",
    Primitive.UINT16: "H",
    Primitive.UINT32: "I",
    Primitive.FLOAT64: "d",
    Primitive.UUID: "16s",
}
SIZES: Final = {"?": 1, "b": 1, "h": 2, "i": 4, "q": 8, "H": 2, "I": 4, "d": 8, "16s": 16, "B": 1, "x": 1}
PYTHON_TYPES: Final = {
    Primitive.BOOL: "bool",
    Primitive.FLOAT64: "float",
    Primitive.UUID: "bytes",
    Primitive.STRING: "str",
    Primitive.BYTES: "bytes",
    Primitive.RECORDS: "bytes",
}
_TEMPORARIES: Final = frozenset(
    ("buf", "pos", "version", "n", "end", "mark", "msg", "out", "start", "raw", "text", "data", "value", "error", "tag", "at")
)


class Source:
    """Lines of a function body, indented as blocks open and close."""

    def __init__(self, depth: int = 0) -> None:
        self.lines: list[str] = []
        self._depth = depth

    def line(self, text: str) -> None:
        self.lines.append("    " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Everything written inside belongs to ``head:``."""
        self.line(head + ":")
        self._depth += 1
        yield
        self._depth -= 1


class Layouts:
    """The struct layouts that a module needs, each compiled once at import."""

    def __init__(self) -> None:
        self._used: set[tuple[str, str]] = set()

    def name(self, method: str, formats: str) -> str:
        """The module-level name of a layout's bound method."""
        self._used.add((method, formats))
        return f"{method}_{formats.replace('?', 'z').replace('16s', 'u')}"

    def definitions(self) -> list[str]:
        methods = {"unpack": "unpack_from", "pack": "pack", "rows": "iter_unpack"}
        used = sorted(self._used)
        return [f'{self.name(method, formats)} = Struct(">{formats}").{methods[method]}' for method, formats in used]


def size_of(formats: list[str]) -> int:
    return sum(SIZES[item] for item in formats)


def local(path: str) -> str:
    """The local variable for the field at ``path``."""
    name = path.replace(".", "_")
    return name + "_" if name in _TEMPORARIES or iskeyword(name) else name


def join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def python_type(field: FieldSpec) -> str:
    """The annotation of a local that holds the field."""
    element = PYTHON_TYPES.get(field.type, "int") if isinstance(field.type, Primitive) else field.type.__name__
    text = f"list[{element}]" if field.is_array else element
    return f"{text} | None" if field.is_optional else text


def literal(value: object) -> str:
    """A default as source. Structs and lists are made anew, since messages may be changed by who holds them."""
    if isinstance(value, Message | Item):
        return f"{type(value).__name__}()"
    if isinstance(value, bytes) and len(value) == 16:
        return "ZERO_UUID"
    if isinstance(value, str):
        return '"' + repr(value)[1:-1] + '"'
    return 'b""' if value == b"" and isinstance(value, bytes) else repr(value)
