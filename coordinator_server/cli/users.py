"""List, add and delete the users of SCRAM, over Kafka's protocol or in the data directory.

With --data-dir, the running server is asked over control.sock; if none runs, the log is changed. So the
first user can be made before any client is let in. Before the first start, 'add' makes the directory:
give it the properties that the server will have (--config, environment, --override). A password comes from a prompt, a file or an
environment variable, never from the command line, and is not sent: what is made of it proves it.
"""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from coordinator_server.cli import configuration
from coordinator_server.cli.actions import add_actions
from coordinator_server.cli.answers import Answer, Row, changes
from coordinator_server.cli.cluster_command import add_cluster_action, add_directory_argument, refuse_both, run_cluster_action
from coordinator_server.config import ConfigError

if TYPE_CHECKING:
    from coordinator_server.client.admin.cluster import Cluster
    from coordinator_server.client.admin.users import Credential
    from coordinator_server.client.errors import ClientError
    from protocol.messages.alter_user_scram_credentials import (
        AlterUserScramCredentialsRequest,
    )

EPILOG = """\
examples:
  coordinator-server users list --data-dir ./data
  coordinator-server users add alice --data-dir ./data --execute                       # asks for the password
  coordinator-server users add alice --data-dir ./data --config server.toml --execute  # before the first start
  coordinator-server users add alice --password-file alice.txt --execute --bootstrap 127.0.0.1:9092
  coordinator-server users delete alice --data-dir ./data                              # shows what would be deleted
  coordinator-server users delete alice --data-dir ./data --execute
"""

MECHANISMS: Final = ("SCRAM-SHA-256", "SCRAM-SHA-512")
MIN_ITERATIONS: Final = 4096
MAX_ITERATIONS: Final = 16384
ITERATIONS: Final = 8192

List = Callable[[], Awaitable[list["Credential"]]]
Alter = Callable[["AlterUserScramCredentialsRequest"], Awaitable["ClientError | None"]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    actions = add_actions(parser)
    listed = add_cluster_action(actions, "list", "users, and the mechanisms that they have passwords for", EPILOG)
    added = add_cluster_action(actions, "add", "add a user, or give one a new password", EPILOG, is_change=True)
    deleted = add_cluster_action(
        actions, "delete", "delete a user's passwords, and end the connections that use them", EPILOG, is_change=True
    )
    for each in (listed, added, deleted):
        add_directory_argument(each)
    for each in (added, deleted):
        each.add_argument("user", metavar="USER", help="the user's name")
    configuration.add_arguments(added)
    added.add_argument("--mechanism", choices=MECHANISMS, default=MECHANISMS[1], help="for which mechanism (%(default)s)")
    deleted.add_argument("--mechanism", choices=MECHANISMS, help="of one mechanism only")
    added.add_argument("--iterations", type=_iterations, default=ITERATIONS, metavar="N", help="rounds of hashing (%(default)s)")
    source = added.add_mutually_exclusive_group()
    source.add_argument("--password-file", type=Path, metavar="FILE", help="its first line is the password")
    source.add_argument("--password-env", metavar="NAME", help="an environment variable that has the password")


def _iterations(text: str) -> int:
    if not text.isdecimal() or not MIN_ITERATIONS <= int(text) <= MAX_ITERATIONS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from {MIN_ITERATIONS} to {MAX_ITERATIONS}")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Print the answer and return the exit code. Raises ConfigError."""
    options.password = _password(options) if options.action == "add" and options.execute else ""
    if options.data_dir is None:
        return run_cluster_action(options, _on_cluster)
    refuse_both(options)
    # What opens logs takes longer to import than the rest takes to answer.
    from coordinator_server.cli.catalog_of_directory import USERS, on_directory

    return on_directory(options, USERS, _answer)


async def _on_cluster(cluster: Cluster, options: argparse.Namespace) -> Answer:
    from coordinator_server.client.admin.users import alter_user, describe_users

    return await _answer(options, lambda: describe_users(cluster), lambda request: alter_user(cluster, request))


async def _answer(options: argparse.Namespace, list_all: List, alter: Alter) -> Answer:
    """Run the chosen action with whatever lists and changes users."""
    from coordinator_server.client.admin.users import Mechanism, deletions, upsertion
    from protocol.messages.alter_user_scram_credentials import AlterUserScramCredentialsRequest

    known = await list_all()
    if options.action == "list":
        rows = [{"user": each.user, "mechanism": _name(each.mechanism), "iterations": each.iterations} for each in known]
        return Answer(rows, empty="no users")
    wanted = None if options.mechanism is None else Mechanism[options.mechanism.replace("-", "_")]
    there = [each.mechanism for each in known if each.user == options.user and wanted in (None, each.mechanism)]
    if options.action == "delete":
        if not there:
            return changes([_row(options.user, options.mechanism, "has no password")], "deleted", executed=options.execute)
        return await _changed(options, [*zip(there, deletions(options.user, there), strict=True)], alter, "deleted")
    assert wanted is not None
    requests: list[tuple[int, AlterUserScramCredentialsRequest]] = []
    if options.execute:
        change = upsertion(options.user, options.password, wanted, options.iterations)
        requests.append((wanted, AlterUserScramCredentialsRequest([], [change])))
    else:
        requests.append((wanted, AlterUserScramCredentialsRequest()))
    return await _changed(options, requests, alter, "changed" if there else "added")


async def _changed(
    options: argparse.Namespace,
    requests: Sequence[tuple[int, AlterUserScramCredentialsRequest]],
    alter: Alter,
    done: str,
) -> Answer:
    rows = []
    for mechanism, request in requests:
        refused = await alter(request) if options.execute else None
        rows.append(_row(options.user, _name(mechanism), None if refused is None else str(refused)))
    return changes(rows, done, executed=options.execute)


def _row(user: str, mechanism: str | None, error: str | None) -> Row:
    return {"user": user, "mechanism": mechanism or "", "error": error}


def _name(mechanism: int) -> str:
    return MECHANISMS[mechanism - 1] if 0 < mechanism <= len(MECHANISMS) else f"unknown ({mechanism})"


def _password(options: argparse.Namespace) -> str:
    """Return the password. Raises ConfigError."""
    if options.password_env is not None:
        password = os.environ.get(options.password_env, "")
        where = f"the environment variable {options.password_env}"
    elif options.password_file is not None:
        try:
            password = options.password_file.read_text(encoding="utf-8").partition("\n")[0].removesuffix("\r")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"--password-file {options.password_file} cannot be read: {error}") from None
        where = str(options.password_file)
    elif sys.stdin.isatty():
        password, where = getpass.getpass(f"password of {options.user}: "), "the prompt"
        if getpass.getpass("again: ") != password:
            raise ConfigError("the two passwords are not the same")
    else:
        raise ConfigError("without a terminal, --password-file or --password-env is required")
    if not password:
        raise ConfigError(f"{where} has no password")
    return password
