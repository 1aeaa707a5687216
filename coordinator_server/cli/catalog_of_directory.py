"""Users and quotas in a data directory: over control.sock if a server runs, else in the log of the catalog.

The first user may be wanted before the first start: then ``users add`` makes the directory as that start would.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, NamedTuple

from coordinator_server.catalog.client_quotas import CLIENT_QUOTAS, key_of
from coordinator_server.catalog.family import RecordFamily
from coordinator_server.catalog.scram_users import SCRAM_USERS
from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.cli import configuration
from coordinator_server.cli.answers import Answer, print_answer
from coordinator_server.cli.observed_directory import refuse_observed
from coordinator_server.cli.output import complain, note
from coordinator_server.cli.process_settings import create_private_files
from coordinator_server.client.admin import quotas, users
from coordinator_server.client.admin.quotas import Quota, entity_of
from coordinator_server.client.admin.users import Credential
from coordinator_server.client.errors import ClientError
from coordinator_server.config import Config
from coordinator_server.config.properties import value_of
from coordinator_server.kinds import KINDS
from coordinator_server.log.errors import LogError
from coordinator_server.log.opening import check_unused, is_log
from coordinator_server.ops.logging import configure
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.data_dir import ask_server, check_data_dir, enter_offline_store
from coordinator_server.pipeline.input.retries import Retries
from coordinator_server.server.control.catalog_operations import CHANGE_OF_QUOTAS, CHANGE_OF_USERS, Change
from coordinator_server.server.offline_catalog import OfflineCatalog, Refused
from protocol.fields import Message

_SHARDS: Final = ["__cluster_metadata-0"]


class Subject(NamedTuple):
    """What is listed and changed. ``name`` is that of the command, and of the operation of control.sock that lists.

    ``of_answer`` makes an item of an entry of that operation, ``of_record`` of a record. ``refusal_of`` returns why a response
    refuses. ``subjects_of`` has what the audit log says of a request beside its resources.
    ``makes_directory`` is the action that may.
    """

    name: str
    family: RecordFamily
    of_answer: Callable[[Mapping[str, Any]], Any]
    of_record: Callable[[Any], Any]
    change: Change
    refusal_of: Callable[[Any], ClientError | None]
    audited: Callable[[Any], Mapping[str, str]]
    makes_directory: str = ""


def _user(request: Any) -> dict[str, str]:
    [name] = [each.name for each in (*request.deletions, *request.upsertions)]
    return {"user": name}


USERS: Final = Subject(
    "users",
    SCRAM_USERS,
    lambda entry: Credential(entry["user"], entry["mechanism"], entry["iterations"]),
    lambda record: Credential(record.name, record.mechanism, record.iterations),
    CHANGE_OF_USERS,
    users.refusal_of,
    _user,
    "add",
)
QUOTAS: Final = Subject(
    "quotas",
    CLIENT_QUOTAS,
    lambda entry: Quota(entity_of(entry["entity"]), entry["quota"], entry["value"]),
    lambda record: Quota(key_of(record).entity, record.key, record.value),
    CHANGE_OF_QUOTAS,
    quotas.refusal_of,
    lambda _request: {},
)

Act = Callable[[argparse.Namespace, Any, Any], Awaitable[Answer]]
Alter = Callable[[Any], Awaitable[ClientError | None]]


def on_directory(options: argparse.Namespace, subject: Subject, act: Act) -> int:
    """Run an action on what a directory has, print its answer, and return the exit code.

    ``act`` gets the options, and coroutines that list all items and that run a change and return why it is refused, or None.
    """
    try:
        with ExitStack() as stack:
            if options.action == subject.makes_directory and not is_log(options.data_dir):
                answer = asyncio.run(_acted_in_new(options, subject, act, stack))
            else:
                check_data_dir(options.data_dir)
                refuse_observed(options.data_dir)
                answer = asyncio.run(_acted(options, subject, act, stack))
    except CannotRun as error:
        return complain(error, 2)
    except (PipelineError, LogError, Refused, OSError) as error:
        return complain(error, 1)
    return print_answer(options.output, answer)


async def _acted(options: argparse.Namespace, subject: Subject, act: Act, stack: ExitStack) -> Answer:
    def found() -> dict[str, Any] | OfflineCatalog:
        running = ask_server(options.data_dir, {"op": subject.name, "shards": _SHARDS})
        return _catalog(options.data_dir, subject, stack) if running is None else running

    # A server that starts or stops neither answers nor lets anybody else have the log.
    catalog = Retries(options.timeout, lambda why: note(f"waiting up to {options.timeout:g} s: {why}")).run(found)
    if isinstance(catalog, OfflineCatalog):
        return await _acted_in_log(options, subject, act, catalog)
    items = sorted(map(subject.of_answer, catalog[subject.name]))
    return await act(options, _listed(items), _asked(options.data_dir, subject))


async def _acted_in_log(options: argparse.Namespace, subject: Subject, act: Act, catalog: OfflineCatalog) -> Answer:
    async def alter(request: Message) -> ClientError | None:
        return subject.refusal_of(catalog.write(subject.change.operation, request))

    items = sorted(map(subject.of_record, catalog.read(CatalogShard.records, subject.family)))
    return await act(options, _listed(items), alter)


async def _acted_in_new(options: argparse.Namespace, subject: Subject, act: Act, stack: ExitStack) -> Answer:
    """Add to a directory that is made for it, with the properties that the server will have. Raises ConfigError."""
    config = configuration.sources_of(options).read().config
    check_unused(options.data_dir)
    names = ("node.id", *(kind.partitions for kind in KINDS.values() if isinstance(kind.partitions, str)))
    made_with = ", ".join(f"{name}={value_of(config, name)}" for name in names)
    if not options.execute:
        note(f"{options.data_dir} would be made with {made_with}")
        return await act(options, _listed([]), _changes_nothing)
    create_private_files()
    catalog = _catalog(options.data_dir, subject, stack, config)
    note(f"{options.data_dir} was made with {made_with}: start the server with the same properties")
    return await _acted_in_log(options, subject, act, catalog)


def _catalog(data_dir: Path, subject: Subject, stack: ExitStack, made_with: Config | None = None) -> OfflineCatalog:
    # The state machine logs as in the server; the command's answer alone is on stdout.
    configure("warning", "auto")
    return OfflineCatalog(*enter_offline_store(stack, data_dir, subject.name, made_with))


async def _changes_nothing(request: Message) -> ClientError | None:
    raise AssertionError("a preview makes no request")


def _listed(items: list[Any]) -> Callable[[], Awaitable[list[Any]]]:
    async def listed() -> list[Any]:
        return items

    return listed


def _asked(data_dir: Path, subject: Subject) -> Alter:
    async def alter(request: Message) -> ClientError | None:
        change = subject.change
        asked = {"op": change.op, "shards": _SHARDS, "request": change.encode_request(request), **subject.audited(request)}
        answer = ask_server(data_dir, asked)
        if answer is None:
            raise Refused("the server has stopped meanwhile: try again")
        return subject.refusal_of(change.decode_response(answer["response"]))

    return alter
