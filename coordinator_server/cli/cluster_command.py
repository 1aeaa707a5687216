"""Commands that ask running servers over Kafka's protocol: their options, the connection, and the exit code.

A command declares its actions with ``add_cluster_action``, and ``run_on_cluster`` runs the chosen one. An action is a coroutine: it
gets the ``Cluster`` and the options, and returns an ``Answer``. A change is previewed unless ``options.execute`` is set.

Exit code 0: success. 1: no server answers, or it refuses; the last line on stderr says why. 2: the command line or the properties
file is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from coordinator_server.cli.actions import add_action
from coordinator_server.cli.answers import Answer, add_execute_argument, add_output_argument, print_answer
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.cli.output import complain, note
from coordinator_server.client.errors import ClientError, InvalidSettings
from coordinator_server.config import ConfigError

if TYPE_CHECKING:
    from coordinator_server.client.admin.cluster import Cluster

TIMEOUT_S: Final = 30.0
_SILENCE_S: Final = 2.0

ClusterAction = Callable[["Cluster", argparse.Namespace], Awaitable[Answer]]
"""Returns the answer. May raise ClientError and ConfigError."""


def add_cluster_action(actions: Any, name: str, summary: str, epilog: str, *, is_change: bool = False) -> argparse.ArgumentParser:
    """Return the parser of an action that asks running servers, with the options that all of them have."""
    parser = add_action(actions, name, summary, epilog)
    add_cluster_arguments(parser)
    if is_change:
        add_execute_argument(parser)
    return parser


BOOTSTRAP_DEFAULT: Final = "bootstrap.servers of --command-config, else 127.0.0.1:9092"


def add_server_arguments(parser: argparse.ArgumentParser, servers: str, default: str = BOOTSTRAP_DEFAULT) -> None:
    """Declare which servers are reached, and with what properties."""
    parser.add_argument(
        "--bootstrap",
        "--bootstrap-server",
        metavar="HOST:PORT[,…]",
        help=f"some of {servers} (default: {default})",
    )
    parser.add_argument(
        "--command-config",
        type=Path,
        metavar="FILE",
        help="properties of a Kafka client: security.protocol, ssl.truststore.location, sasl.jaas.config and so on",
    )


def add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare how the command reaches the servers, and the form of its answer."""
    add_server_arguments(parser, "the servers")
    parser.add_argument(
        "--timeout", type=seconds, default=TIMEOUT_S, metavar="SECONDS", help="how long to wait for an answer (%(default)g)"
    )
    add_output_argument(parser)


def add_directory_argument(parser: argparse.ArgumentParser) -> None:
    """Let the action work in a data directory, whether its server runs or not."""
    parser.add_argument(
        "--data-dir", type=local_dir, metavar="DIR", help="the data directory of the server, in place of --bootstrap"
    )


def refuse_both(options: argparse.Namespace) -> None:
    """Refuse a command line that names a server and a directory. Raises ConfigError."""
    if options.bootstrap is not None or options.command_config is not None:
        raise ConfigError("--bootstrap and --data-dir exclude each other: a server is asked, or the log is read")


def seconds(text: str) -> float:
    """Parse a time in seconds. For argparse."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value


def run_on_cluster(options: argparse.Namespace, actions: Mapping[str, ClusterAction]) -> int:
    """Run the chosen action, print its answer, and return the exit code."""
    return run_cluster_action(options, actions[options.action])


def run_cluster_action(options: argparse.Namespace, action: ClusterAction, *, is_quick: bool = True) -> int:
    """Run an action, print its answer, and return the exit code.

    If it is quick, say after a while that it waits. Raises ConfigError.
    """
    try:
        answer = asyncio.run(_answer(options, action, is_quick=is_quick))
    except InvalidSettings as error:
        return complain(error, 2)
    except ClientError as error:
        return complain(error, 1)
    return print_answer(options.output, answer)


async def _answer(options: argparse.Namespace, action: ClusterAction, *, is_quick: bool) -> Answer:
    # Neither is needed to explain a command or to find its mistakes.
    from coordinator_server.cli.client_properties import connection_settings
    from coordinator_server.client.admin.cluster import Cluster

    settings = connection_settings(options.bootstrap, options.command_config, options.timeout)
    patience = asyncio.get_running_loop().call_later(
        _SILENCE_S, note, f"waiting up to {options.timeout:g} s for {settings.bootstrap_servers} to answer"
    )
    if not is_quick:
        patience.cancel()
    try:
        async with Cluster(settings) as cluster:
            return await action(cluster, options)
    finally:
        patience.cancel()


class Progress:
    """A line on a terminal that says how far a long command is. It prints nothing elsewhere."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._is_shown = total > 1 and sys.stderr.isatty()

    def step(self) -> None:
        """Count one more that is done."""
        self._done += 1
        if self._is_shown:
            end = "\n" if self._done >= self._total else ""
            sys.stderr.write(f"\r{self._what}: {self._done} of {self._total}{end}")
            sys.stderr.flush()
