"""The source of one generated module: the codecs of all messages of one module of declarations."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from protocol.fields import Item, Message
from protocol.generate.decoding import DecoderWriter
from protocol.generate.encoding import EncoderWriter
from protocol.generate.source import Layouts
from protocol.schema import fields_of, snake_case

_REFUSAL_NAMES: Final = ("BadField", "decode_failure", "encode_failure", "not_in_version", "verify")
_WIRE_NAMES: Final = (
    "DECODE_ERRORS",
    "ENCODE_ERRORS",
    "at_version",
    "long_text",
    "read_string_size",
    "read_uvarint",
    "skip_tags",
    "write_string_size",
    "write_uvarint",
)
_RUNTIME: Final = (
    ("native", ("int8", "int16", "int32", "int64")),
    ("refusal", _REFUSAL_NAMES),
    ("runs", ("RUNS_OF_TEXT", "Field", "Shape", "alike")),
    ("wire", _WIRE_NAMES),
)
_SIGNATURES: Final = {
    "decode": "def {function}(buf: bytes, pos: int, version: int = {version}) -> tuple[{message}, int]:",
    "encode": "def {function}(msg: {message}, out: bytearray, version: int = {version}) -> None:",
}


def generate_module(name: str, messages: tuple[type[Message], ...], shared: dict[str, str]) -> str:
    """Return the source of ``protocol/generated/<name>.py``. Add the layouts that it imports from ``layouts.py`` to ``shared``."""
    layouts = Layouts()
    functions: list[str] = []
    for message in messages:
        functions += _functions("decode", message, partial(_decoder, message, layouts))
        functions += _functions("encode", message, partial(_encoder, message, layouts))
    text = "\n".join([*layouts.definitions(), *functions, *_tables(messages)])
    shared |= layouts.native()
    return "\n".join([_head(name, messages, text, sorted(layouts.native())), text, ""])


def _functions(verb: str, message: type[Message], body: Callable[[int], list[str]]) -> list[str]:
    """Return the functions of every version. Of versions with the same layout, the first has the body and the others share it."""
    first: dict[tuple[str, ...], int] = {}
    lines: list[str] = []
    for version in message.kafka.versions:
        text = body(version)
        model = first.setdefault(tuple(text), version)
        if model == version:
            lines += [
                "",
                "",
                _SIGNATURES[verb].format(function=_function(verb, message, version), message=message.__name__, version=version),
                *text,
            ]
        else:
            lines += ["", "", f"{_function(verb, message, version)} = at_version({_function(verb, message, model)}, {version})"]
    return lines


def _decoder(message: type[Message], layouts: Layouts, version: int) -> list[str]:
    return [
        "    start = pos",
        *DecoderWriter(message, version, layouts).body(),
        "    except DECODE_ERRORS as error:",
        f"        raise decode_failure(error, {message.__name__}, version, buf, start, pos) from None",
    ]


def _encoder(message: type[Message], layouts: Layouts, version: int) -> list[str]:
    return [
        "    start = len(out)",
        "    try:",
        *EncoderWriter(message, version, layouts).body(),
        "    except ENCODE_ERRORS as error:",
        "        del out[start:]",
        f'        raise encode_failure(error, "{message.__name__}", version) from error',
    ]


def _function(verb: str, message: type[Message], version: int) -> str:
    return f"{verb}_{snake_case(message.__name__)}_v{version}"


def _tables(messages: tuple[type[Message], ...]) -> list[str]:
    lines = []
    for verb, kind in (("decode", "Decoder"), ("encode", "Encoder")):
        lines += ["", "", f"{verb.upper()}RS: dict[type[Message], dict[int, {kind}[Any]]] = {{"]
        for message in messages:
            lines.append(f"    {message.__name__}: {{")
            lines += [f"        {version}: {_function(verb, message, version)}," for version in message.kafka.versions]
            lines.append("    },")
        lines.append("}")
    return lines


def _head(name: str, messages: tuple[type[Message], ...], text: str, shared: list[str]) -> str:
    used = set(re.findall(r"\w+", text))
    standard = [
        ("itertools", _used(("starmap",), used)),
        ("struct", _used(("Struct", "pack", "unpack_from"), used)),
    ]
    structs = sorted({struct.__name__ for message in messages for struct in _structs_of(message)} & used)
    fields = ", ".join(_used(("ZERO_UUID", "Message"), used))
    return "\n".join(
        [
            f'"""Codecs of protocol/messages/{name}.py, generated from it by ``python -m protocol.generate``."""',
            "",
            "from __future__ import annotations",
            "",
            *(_import(module, names) for module, names in standard if names),
            "from typing import Any",
            "",
            "from protocol.codec import Decoder, Encoder",
            f"from protocol.fields import {fields}",
            *([_import("protocol.generated.layouts", shared)] if shared else []),
            _import(f"protocol.messages.{name}", structs),
            *(_import(f"protocol.{module}", _used(names, used)) for module, names in _RUNTIME if set(names) & used),
            "",
        ]
    )


def _used(names: tuple[str, ...], used: set[str]) -> list[str]:
    return [name for name in names if name in used]


def _import(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    return line if len(line) <= 130 else "\n".join([f"from {module} import (", *(f"    {name}," for name in names), ")"])


def _structs_of(struct: type[Message | Item]) -> set[type[Message | Item]]:
    nested = [field.type for field in fields_of(struct) if isinstance(field.type, type)]
    return {struct}.union(*map(_structs_of, nested))
