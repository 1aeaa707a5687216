"""Commands that have actions: how they are declared."""

from __future__ import annotations

import argparse
from typing import Any

from coordinator_server.cli.answers import add_output_argument
from coordinator_server.cli.engines import add_log_argument
from coordinator_server.cli.local_dir import location


def add_actions(parser: argparse.ArgumentParser) -> Any:
    """Return what ``add_action`` adds the actions of a command to."""
    return parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)


def add_action(actions: Any, name: str, summary: str, epilog: str) -> argparse.ArgumentParser:
    """Return the parser of an action. Of the command's ``epilog`` it has the lines that are examples of it."""
    parser: argparse.ArgumentParser = actions.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog="\n".join(["examples:", *(line for line in epilog.splitlines() if line.split()[2:3] == [name])]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def add_common(*parsers: argparse.ArgumentParser, asks_server: bool = False, required: bool = True) -> None:
    """Declare the options that all actions have. Those that ask a server have no copy of a log to read.

    Without ``required``, the command asks a running server over Kafka's protocol where no directory is given.
    """
    for each in parsers:
        if asks_server:
            each.add_argument(
                "--data-dir",
                type=location,
                required=required,
                metavar="DIR",
                help="the data directory of the running server",
            )
        else:
            add_log_argument(each, required=required)
        add_output_argument(each)
        each.add_argument("--json", action="store_true", help="the same as -o json")
