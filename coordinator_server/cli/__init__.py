"""The command line: one module per command, each with ``add_parser`` and ``run``.

Exit codes: 0 done, 1 it could not be done (the last line on stderr says why and what to do), 2 the command line is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from coordinator_server import __version__
from coordinator_server.cli import compact, replay, serve, show_config
from coordinator_server.config import ConfigError
from coordinator_server.log.errors import LogError

COMMANDS = (serve, compact, replay, show_config)

DESCRIPTION = """\
A durable group coordinator that speaks the Kafka wire protocol, without Kafka: consumer groups, assignments and
committed offsets for any stock Kafka client, in one process and one directory.
"""

EPILOG = """\
start here:
  coordinator-server serve --listen 127.0.0.1:9092 --data-dir ./data
  then point any Kafka client's bootstrap.servers at 127.0.0.1:9092

'coordinator-server COMMAND --help' explains a command.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    parser = argparse.ArgumentParser(
        "coordinator-server", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"coordinator-server {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_parser(subparsers)
    options = parser.parse_args(arguments)
    try:
        code: int = options.run(options)
    except ConfigError as wrong:
        return _complain(wrong, 2)
    except LogError as failure:
        return _complain(failure, 1)
    except KeyboardInterrupt:
        return 130
    return code


def _complain(failure: Exception, code: int) -> int:
    print(f"coordinator-server: {failure}", file=sys.stderr)
    return code
