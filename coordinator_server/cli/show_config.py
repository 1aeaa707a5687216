"""``coordinator-server config``: every property, with its default or the value that overrides give it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import msgspec

from coordinator_server.config import load, parse_overrides

if TYPE_CHECKING:
    from argparse import _SubParsersAction


def add_parser(subparsers: _SubParsersAction[argparse.ArgumentParser], summary: str) -> None:
    """Declare the command."""
    parser = subparsers.add_parser("config", help=summary, description=__doc__)
    parser.add_argument("--override", action="append", default=[], metavar="NAME=VALUE", help="a property; repeat for more")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the properties."""
    values = msgspec.to_builtins(load(parse_overrides(options.override)))
    if options.json:
        print(msgspec.json.encode(values).decode())
    else:
        for name, value in values.items():
            print(f"{name}={str(value).lower() if isinstance(value, bool) else value}")
    return 0
