"""List, set and remove quotas of clients, over Kafka's protocol or in the data directory.

A quota is of a user, a client id, both together, or an address; a default holds for all that have none of
their own. This server enforces request_percentage (of users and client ids: the part of a loop's time, 100
is all of one loop) and connection_creation_rate (of addresses: new connections per second); it stores
Kafka's others. With --data-dir, the running server is asked over control.sock; if none runs, the log is
changed. The command works with a Kafka cluster, too. A change is only shown, unless --execute is given.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final

from coordinator_server.cli.actions import add_actions
from coordinator_server.cli.answers import Answer, Row, changes
from coordinator_server.cli.cluster_command import add_cluster_action, add_directory_argument, refuse_both, run_cluster_action
from coordinator_server.config import ConfigError

if TYPE_CHECKING:
    from coordinator_server.client.admin.cluster import Cluster
    from coordinator_server.client.admin.quotas import Entity, Quota
    from coordinator_server.client.errors import ClientError
    from protocol.messages.alter_client_quotas import AlterClientQuotasRequest

EPILOG = """\
examples:
  coordinator-server quotas list
  coordinator-server quotas list --user alice -o json
  coordinator-server quotas set request_percentage=50 --user alice
  coordinator-server quotas set request_percentage=200 --default-user --client-id batch --execute
  coordinator-server quotas set connection_creation_rate=20 --default-ip --data-dir ./data --execute
  coordinator-server quotas remove request_percentage --user alice --execute
  coordinator-server quotas remove --user alice --execute                              # all of that user
"""

DEFAULT: Final = "<default>"
"""How the name of a default entity is shown."""
# The types of entities in messages, by the options and columns.
_TYPES: Final = {"user": "user", "client_id": "client-id", "ip": "ip"}
_WHOSE: Final = {"user": "of this user", "client_id": "of clients with this id", "ip": "of clients at this address"}

List = Callable[[], Awaitable[list["Quota"]]]
Alter = Callable[["AlterClientQuotasRequest"], Awaitable["ClientError | None"]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    actions = add_actions(parser)
    listed = add_cluster_action(actions, "list", "quotas, or those of a user, a client id or an address", EPILOG)
    set_ = add_cluster_action(actions, "set", "set quotas of an entity", EPILOG, is_change=True)
    removed = add_cluster_action(
        actions, "remove", "remove quotas of an entity, all unless some are named", EPILOG, is_change=True
    )
    set_.add_argument("quotas", nargs="+", type=_assignment, metavar="QUOTA=VALUE", help="such as request_percentage=50")
    removed.add_argument("quotas", nargs="*", metavar="QUOTA", help="such as request_percentage")
    for each in (listed, set_, removed):
        add_directory_argument(each)
        for option, whose in _WHOSE.items():
            name = option.replace("_", "-")
            one = each.add_mutually_exclusive_group()
            one.add_argument(f"--{name}", metavar="ADDRESS" if option == "ip" else "NAME", help=whose)
            one.add_argument(f"--default-{name}", action="store_true", help=f"the default of its kind: {name}s without one")


def _assignment(text: str) -> tuple[str, float]:
    """Parse QUOTA=VALUE. For argparse."""
    name, _, number = text.partition("=")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not name or not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form QUOTA=VALUE, such as request_percentage=50")
    return name, value


def run(options: argparse.Namespace) -> int:
    """Print the answer and return the exit code. Raises ConfigError."""
    if options.action != "list" and not _named(options):
        raise ConfigError("no user, client or address is named: --user, --client-id, --ip, or --default-user and so on")
    if options.data_dir is None:
        return run_cluster_action(options, _on_cluster)
    refuse_both(options)
    # What opens logs takes longer to import than the rest takes to answer.
    from coordinator_server.cli.catalog_of_directory import QUOTAS, on_directory

    return on_directory(options, QUOTAS, _answer)


async def _on_cluster(cluster: Cluster, options: argparse.Namespace) -> Answer:
    from coordinator_server.client.admin.quotas import alter_quotas, describe_quotas

    return await _answer(options, lambda: describe_quotas(cluster), lambda request: alter_quotas(cluster, request))


async def _answer(options: argparse.Namespace, list_all: List, alter: Alter) -> Answer:
    """Run the chosen action with whatever lists and changes quotas."""
    from coordinator_server.client.admin.quotas import alteration, entity_of

    named, known = _named(options), await list_all()
    if options.action == "list":
        found = [each for each in known if named.items() <= dict(each.entity).items()]
        return Answer([_about(each.entity, each.name) | {"value": _number(each.value)} for each in found], empty="no quotas")
    entity = entity_of(named)
    before = {each.name: each.value for each in known if each.entity == entity}
    if options.action == "set":
        after: dict[str, float | None] = dict(options.quotas)
        done = "set"
    else:
        after = dict.fromkeys(options.quotas or before)
        done = "removed"
    refused = await alter(alteration(entity, after, validate_only=not options.execute)) if after else None
    rows = [
        _about(entity, name)
        | {"before": _number(before.get(name)), "after": _number(value)}
        | {"error": _error(refused, is_missing=value is None and name not in before)}
        for name, value in after.items()
    ]
    return changes(rows, done, executed=options.execute)


def _error(refused: ClientError | None, *, is_missing: bool) -> str | None:
    if refused is not None:
        return str(refused)
    return "has no such quota" if is_missing else None


def _named(options: argparse.Namespace) -> dict[str, str | None]:
    """Return the names of the options by type; None is the name of the default."""
    found: dict[str, str | None] = {}
    for option, kind in _TYPES.items():
        name: str | None = getattr(options, option)
        if name is not None or getattr(options, f"default_{option}"):
            found[kind] = name
    return found


def _about(entity: Entity, quota: str) -> dict[str, object]:
    names: Mapping[str, str | None] = dict(entity)
    of: Row = {option: (names[kind] or DEFAULT) if kind in names else None for option, kind in _TYPES.items()}
    return {**of, "quota": quota}


def _number(value: float | None) -> float | None:
    """Return a value without a fraction that it does not have."""
    return int(value) if value is not None and value.is_integer() else value
