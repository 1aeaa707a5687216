"""``users`` in a data directory: over control.sock if a server runs, else in the log of the catalog.

The first user may be wanted before the first start: then ``add`` makes the directory as that start would.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from coordinator_server.catalog.scram_users import SCRAM_USERS
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.cli import configuration
from coordinator_server.cli.answers import Answer, print_answer
from coordinator_server.cli.output import complain, note
from coordinator_server.cli.process_settings import create_private_files
from coordinator_server.client.admin.users import Credential, refusal_of
from coordinator_server.client.errors import ClientError
from coordinator_server.config import Config
from coordinator_server.kinds import KINDS
from coordinator_server.log.errors import LogError
from coordinator_server.log.opening import check_unused, is_log
from coordinator_server.ops.logging import configure
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.input.retries import Retries
from coordinator_server.pipeline.input.sealing import ask_server, check_data_dir, enter_offline_store
from coordinator_server.server.cluster.operations import ALTER_SCRAM_USERS
from coordinator_server.server.offline_catalog import OfflineCatalog, Refused
from coordinator_server.server.user_operations import decode_outcome, encode_change
from protocol.messages.alter_user_scram_credentials import AlterUserScramCredentialsRequest

_SHARDS: Final = ["__cluster_metadata-0"]
_JOB: Final = "users"

Act = Callable[[argparse.Namespace, Any, Any], Awaitable[Answer]]


def on_directory(options: argparse.Namespace, act: Act) -> int:
    """Run an action on the users of a directory, print its answer, and return the exit code."""
    try:
        with ExitStack() as stack:
            if options.action == "add" and not is_log(options.data_dir):
                answer = asyncio.run(_acted_in_new(options, act, stack))
            else:
                check_data_dir(options.data_dir)
                answer = asyncio.run(_acted(options, act, stack))
    except (PipelineError, LogError, Refused, OSError) as error:
        return complain(error, 1)
    return print_answer(options.output, answer)


async def _acted(options: argparse.Namespace, act: Act, stack: ExitStack) -> Answer:
    def found() -> dict[str, Any] | OfflineCatalog:
        running = ask_server(options.data_dir, {"op": "users", "shards": _SHARDS})
        return _catalog(options.data_dir, stack) if running is None else running

    # A server that starts or stops neither answers nor lets anybody else have the log.
    catalog = Retries(options.timeout, lambda why: note(f"waiting up to {options.timeout:g} s: {why}")).run(found)
    if isinstance(catalog, OfflineCatalog):
        return await act(options, _listed(lambda: _in_log(catalog)), _written(catalog))
    return await act(options, _listed(lambda: _credentials(catalog["users"])), _asked(options.data_dir))


async def _acted_in_new(options: argparse.Namespace, act: Act, stack: ExitStack) -> Answer:
    """Add a user to a directory that is made for it, with the properties that the server will have. Raises ConfigError."""
    config = configuration.sources_of(options).read().config
    check_unused(options.data_dir)
    names = ("node.id", *(kind.partitions for kind in KINDS.values() if isinstance(kind.partitions, str)))
    made_with = ", ".join(f"{name}={getattr(config, name.replace('.', '_'))}" for name in names)
    if not options.execute:
        note(f"{options.data_dir} would be made with {made_with}")
        return await act(options, _listed(list), _changes_nothing)
    create_private_files()
    catalog = _catalog(options.data_dir, stack, config)
    note(f"{options.data_dir} was made with {made_with}: start the server with the same properties")
    return await act(options, _listed(lambda: _in_log(catalog)), _written(catalog))


def _catalog(data_dir: Path, stack: ExitStack, made_with: Config | None = None) -> OfflineCatalog:
    # The state machine logs as in the server; the command's answer alone is on stdout.
    configure("warning", "auto")
    return OfflineCatalog(*enter_offline_store(stack, data_dir, _JOB, made_with))


async def _changes_nothing(request: AlterUserScramCredentialsRequest) -> ClientError | None:
    raise AssertionError("a preview makes no request")


def _listed(found: Callable[[], list[Credential]]) -> Callable[[], Awaitable[list[Credential]]]:
    async def listed() -> list[Credential]:
        return sorted(found(), key=lambda each: (each.user, each.mechanism))

    return listed


def _credentials(users: list[dict[str, Any]]) -> list[Credential]:
    return [Credential(each["user"], each["mechanism"], each["iterations"]) for each in users]


def _in_log(catalog: OfflineCatalog) -> list[Credential]:
    records = catalog.read(CatalogShard.records, SCRAM_USERS)
    return [Credential(each.name, each.mechanism, each.iterations) for each in records]


def _asked(data_dir: Path) -> Callable[[AlterUserScramCredentialsRequest], Awaitable[ClientError | None]]:
    async def alter(request: AlterUserScramCredentialsRequest) -> ClientError | None:
        names = [each.name for each in request.deletions] + [each.name for each in request.upsertions]
        asked = {"op": "alter-users", "shards": _SHARDS, "user": names[0], "request": encode_change(request)}
        answer = ask_server(data_dir, asked)
        if answer is None:
            raise Refused("the server has stopped meanwhile: try again")
        return refusal_of(decode_outcome(answer["response"]))

    return alter


def _written(catalog: OfflineCatalog) -> Callable[[AlterUserScramCredentialsRequest], Awaitable[ClientError | None]]:
    async def alter(request: AlterUserScramCredentialsRequest) -> ClientError | None:
        return refusal_of(catalog.write(ALTER_SCRAM_USERS, request))

    return alter
