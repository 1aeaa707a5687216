"""Describe properties: value, allowed values, unit, meaning, and whether they are Kafka's.

The value is that of --override, or the default. Each property begins with a line NAME=VALUE; --values
prints these lines alone. With --json it is one object with a field for each property.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator
from typing import Final

import msgspec

from coordinator_server.cli.output import say, say_json
from coordinator_server.config import property_named
from coordinator_server.config_references import read_overrides
from coordinator_server.config_values import check_name, load, shown_values
from coordinator_server.properties import Property

EPILOG = """\
examples:
  coordinator-server config                                       # all properties
  coordinator-server config log.flush offsets.retention.minutes   # these
  coordinator-server config --values                              # NAME=VALUE lines, for scripts
  coordinator-server config --json --override num.partitions=6    # all of it as data
"""

WIDTH: Final = 100
# Larger units of each unit, the largest first.
SCALES: Final[dict[str | None, dict[str, int]]] = {
    "milliseconds": {"day": 86_400_000, "hour": 3_600_000, "minute": 60_000, "second": 1000},
    "minutes": {"day": 1440, "hour": 60},
    "bytes": {"GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10},
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="a property; all without one")
    parser.add_argument("--override", action="append", default=[], metavar="NAME=VALUE", help="a property; repeat for more")
    parser.add_argument("--values", action="store_true", help="print names and values only")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Print the properties."""
    for name in options.names:
        check_name(name)
    values = shown_values(load(read_overrides(options.override)))
    shown = {name: values[name] for name in options.names or values}
    if options.json:
        say_json(shown if options.values else {name: _fields(property_named(name), value) for name, value in shown.items()})
    elif options.values:
        say(f"{name}={_text(value)}" for name, value in shown.items())
    else:
        say(line for name, value in shown.items() for line in _lines(property_named(name), value))
    return 0


def _fields(described: Property, value: object) -> dict[str, object]:
    fields: dict[str, object] = msgspec.to_builtins(described)
    del fields["name"]
    return {"value": value, "is_default": value == described.default, **fields}


def _lines(described: Property, value: object) -> Iterator[str]:
    yield f"{described.name}={_text(value)}"
    facts = f"{_default(described, value)} Takes {described.accepted}."
    for paragraph in (described.description, facts):
        yield from textwrap.wrap(
            paragraph, WIDTH, initial_indent="    ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
        )
    yield ""


def _default(described: Property, value: object) -> str:
    larger = _larger(value, described.unit)
    if value != described.default:
        state = f"Set; the default is {_scaled(described.default, described.unit)}"
    else:
        state = f"Default ({larger})" if larger else "Default"
    match described.origin:
        case "ours":
            return f"{state}. Not in Kafka."
        case "kafka":
            return f"{state}, as in Kafka."
        case _ if described.kafka_default is None:
            return f"{state}; Kafka has none."
        case _:
            return f"{state}; Kafka's is {_scaled(described.kafka_default, described.unit)}."


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _scaled(value: object, unit: str | None) -> str:
    """Return a value, with the same in a larger unit: ``104857600 (100 MiB)``."""
    larger = _larger(value, unit)
    return (_text(value) or "empty") + (f" ({larger})" if larger else "")


def _larger(value: object, unit: str | None) -> str | None:
    if not isinstance(value, int) or value <= 0:
        return None
    for name, size in SCALES.get(unit, {}).items():
        if value % size == 0:
            count = value // size
            return f"{count} {name}" if count == 1 or unit == "bytes" else f"{count} {name}s"
    return None
