"""The command line: one module per command, with EPILOG, ``add_arguments`` and ``run``.

Only the module of the command that runs is imported. Exit codes: 0 success; 1 failure, and the last
line on stderr says why and what to do; 2 the command line is wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from coordinator_server.cli.data_dir_owner import COMMANDS_OF_OWNER, become_owner
from coordinator_server.cli.output import ReaderGone, complain
from coordinator_server.cli.parser import CommandParser
from coordinator_server.cli.version import version
from coordinator_server.config import ConfigError
from coordinator_server.log.errors import LogError

# Name: module, and its line in the list of commands.
COMMANDS = {
    "serve": ("serve", "run the coordinator"),
    "compact": ("compact", "compact the log into layers"),
    "export": ("files.export_kafka", "export the groups to a stopped Kafka broker"),
    "import": ("files.import_kafka", "import the groups of a stopped Kafka broker"),
    "replay": ("replay", "print the state that the log holds"),
    "log": ("files.log", "check a data directory, and salvage a damaged one"),
    "verify": ("verify", "prove that full log, compacted log and server have the same state"),
    "history": ("history", "add new records to the history tables"),
    "index": ("index", "make an index of the groups, for answers at once"),
    "pipeline": ("pipeline", "run several of these jobs in one Spark session"),
    "backup": ("backup", "copy a data directory, of a running server, too"),
    "observe": ("observe", "follow a live Kafka cluster, and keep the history of its groups"),
    "promote": ("files.promote", "make a server's directory of one that follows a cluster"),
    "restore": ("files.restore", "make a data directory from a backup"),
    "store": ("files.store", "copy a log into a PostgreSQL that nodes share, or out of it"),
    "topics": ("topics", "list, describe, create, grow and delete topics"),
    "groups": ("groups", "list, describe and change groups, and show why they rebalanced"),
    "kafka-consumer-groups": ("kafka_consumer_groups", "the same with the flags and the columns of Kafka's tool"),
    "transactions": ("transactions", "show transactions and why they ended, and abort one"),
    "configs": ("configs", "list, describe and change settings of topics and groups"),
    "users": ("users", "list, add and delete users of SCRAM, of a stopped server, too"),
    "acls": ("acls", "list, add and remove access control entries"),
    "quotas": ("quotas", "list, set and remove quotas of clients, of a stopped server, too"),
    "shards": ("shards", "list the shards of a running server, and move them between its loops"),
    "share": ("share", "show the share partitions of a group, and which deliveries are stuck"),
    "page": ("page", "show groups and their past to a browser"),
    "top": ("top", "show servers and groups live"),
    "health": ("health", "say whether each server answers"),
    "doctor": ("doctor", "find what is wrong, and say what to do"),
    "completion": ("completion", "print the completions of a shell"),
    "config": ("show_config", "list all properties and their values"),
}

DESCRIPTION = """\
A durable group coordinator that speaks the Kafka wire protocol, without Kafka: consumer groups, assignments and
committed offsets for any Kafka client, in one process and one directory.
"""

EPILOG = """\
start here:
  coordinator-server serve --listen 127.0.0.1:9092 --data-dir ./data
  then point any Kafka client's bootstrap.servers at 127.0.0.1:9092

'coordinator-server COMMAND --help' explains a command.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    options = program_parser(words[0] if words else None).parse_args(words)
    try:
        if words[0] in COMMANDS_OF_OWNER:
            become_owner(getattr(options, "data_dir", None))
        code: int = options.run(options)
        sys.stdout.flush()
    except ConfigError as wrong:
        return complain(wrong, 2)
    except LogError as failure:
        return complain(failure, failure.exit_code)
    except KeyboardInterrupt:
        return 130
    except (ReaderGone, BrokenPipeError):
        # Python would print an error when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def program_parser(chosen: str | None) -> argparse.ArgumentParser:
    """Return the parser of the program, in which the chosen command alone has its arguments."""
    parser = CommandParser(
        "coordinator-server", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=version())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, (module, summary) in COMMANDS.items():
        if name == chosen:
            _add_command(commands.add_parser(name, help=summary), import_module(f"{__name__}.{module}"))
        else:
            commands.add_parser(name, help=summary)
    return parser


def _add_command(parser: argparse.ArgumentParser, command: ModuleType) -> None:
    """Use a command's module as its help: the docstring before the options, EPILOG after them."""
    parser.description = command.__doc__
    parser.epilog = command.EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_arguments(parser)
    parser.set_defaults(run=command.run)
