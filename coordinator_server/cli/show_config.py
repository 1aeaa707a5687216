"""Print every property, with its default or the value of --override."""

from __future__ import annotations

import argparse

import msgspec

from coordinator_server.cli.output import say, say_json
from coordinator_server.config import load, parse_overrides

EPILOG = """\
examples:
  coordinator-server config
  coordinator-server config --json --override num.partitions=6
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--override", action="append", default=[], metavar="NAME=VALUE", help="a property; repeat for more")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Print the properties."""
    values = msgspec.to_builtins(load(parse_overrides(options.override)))
    if options.json:
        say_json(values)
    else:
        say(f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in values.items())
    return 0
