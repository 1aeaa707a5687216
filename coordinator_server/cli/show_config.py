"""Describe properties: value, where it is from, allowed values, unit, meaning, and whether they are Kafka's.

The value is the one that serve has with the same options and environment. Each property begins with a
line NAME=VALUE; --values prints these lines alone. With -o json it is one object with a field for each
property. --markdown prints the page docs/properties.md.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator
from typing import Final

import msgspec

from coordinator_server.cli import configuration
from coordinator_server.cli.answers import add_json_arguments
from coordinator_server.cli.output import note, say, say_json
from coordinator_server.config.description import Property
from coordinator_server.config.load import shown_values
from coordinator_server.config.names import check_name, description_of
from coordinator_server.config.properties import property_named, property_names
from coordinator_server.config.sources import Settings

EPILOG = """\
examples:
  coordinator-server config                                       # all properties
  coordinator-server config log.flush offsets.retention.minutes   # these
  coordinator-server config --values                              # NAME=VALUE lines, for scripts
  coordinator-server config -o json --override num.partitions=6    # all of it as data
  coordinator-server config --config server.properties            # what serve makes of this file

"""
EPILOG += configuration.EPILOG

WIDTH: Final = 100

_INTRODUCTION: Final = """\
# Properties

Every property of the server. This page is the output of `coordinator-server config --markdown`;
`make generate` writes it. `coordinator-server config` shows the values that a server has with the
same options and environment, and where each is from.

Of one property, the last of these counts:

1. the file of `--config FILE`: Java properties, as Kafka's `server.properties`, if its name ends in
   `.properties`; TOML if it ends in `.toml`. There `"log.flush" = "os"` and `flush = "os"` under
   `[log]` are the same, and a list is its items separated by commas.
2. environment variables, as Kafka's container image spells them: `KAFKA_LOG_FLUSH=os`. `__` is an
   underscore, `___` a hyphen.
3. `--override log.flush=os`, and options such as `--listen` and `--loops`.

A name that no property has is an error in `--override`. In a file or the environment, which may be
those of a Kafka broker, it is ignored, and the log has a warning with the nearest name. Values may
be in other places: `${env:NAME}`, `${file:PATH:KEY}` and `${directory:PATH:FILE}`, as in Kafka.

A property of one listener is `listener.name.NAME.PROPERTY`; those of TLS (`ssl.*`) and of SASL can be
given so.

SIGHUP reads file and environment again. What it changes is marked; other properties change when the
server is started again, and the log names them. If a value is wrong, all stay as they are.
"""
# Larger units of each unit, the largest first.
SCALES: Final[dict[str | None, dict[str, int]]] = {
    "milliseconds": {"day": 86_400_000, "hour": 3_600_000, "minute": 60_000, "second": 1000},
    "minutes": {"day": 1440, "hour": 60},
    "bytes": {"GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10},
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="a property; all without one")
    configuration.add_arguments(parser)
    parser.add_argument("--values", action="store_true", help="print names and values only")
    add_json_arguments(parser)
    parser.add_argument("--markdown", action="store_true", help="print a page with all properties and their defaults")


def run(options: argparse.Namespace) -> int:
    """Print the properties."""
    for name in options.names:
        check_name(name)
    if options.markdown:
        say(_page())
        return 0
    settings = configuration.sources_of(options).read()
    for each in settings.unknown:
        hint = f"; did you mean {each.nearest}?" if each.nearest else ""
        note(f"{each.place}: unknown property {each.name} is ignored{hint}")
    values = shown_values(settings.config)
    shown = {name: values[name] for name in options.names or values if name in values}
    if options.json:
        say_json(shown if options.values else {name: _fields(name, value, settings) for name, value in shown.items()})
    elif options.values:
        say(f"{name}={_text(value)}" for name, value in shown.items())
    else:
        say(line for name, value in shown.items() for line in _lines(name, value, settings))
    return 0


def _fields(name: str, value: object, settings: Settings) -> dict[str, object]:
    described = description_of(name)
    fields: dict[str, object] = msgspec.to_builtins(described)
    del fields["name"]
    return {"value": value, "is_default": value == described.default, "source": settings.place(name), **fields}


def _lines(name: str, value: object, settings: Settings) -> Iterator[str]:
    described = description_of(name)
    yield f"{name}={_text(value)}"
    for paragraph in (described.description, _facts(described, value, settings.place(name))):
        yield from _wrapped(paragraph, "    ")
    yield ""


def _page() -> Iterator[str]:
    """Yield the lines of docs/properties.md."""
    yield from _INTRODUCTION.splitlines()
    for name in property_names():
        described = property_named(name)
        paragraphs = _wrapped(described.description), _wrapped(_facts(described, described.default, None))
        for lines in ([f"## {name}"], [f"    {name}={_text(described.default)}"], *paragraphs):
            yield ""
            yield from lines


def _wrapped(paragraph: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        paragraph, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _facts(described: Property, value: object, place: str | None) -> str:
    reload = " SIGHUP changes it." if described.is_reloadable else ""
    return f"{_default(described, value, place)} Takes {described.accepted}.{reload}"


def _default(described: Property, value: object, place: str | None) -> str:
    larger = _larger(value, described.unit)
    if value != described.default:
        state = f"Set by {place}; the default is {_scaled(described.default, described.unit)}"
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
