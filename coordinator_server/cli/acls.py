"""List, add and remove access control entries (ACLs) of a running server, over Kafka's protocol.

The server has an authorizer (authorizer.class.name). The first entries are added by a super user (super.users), who needs none. The
command works with a Kafka cluster, too. A change is only shown, unless --execute is given.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Final

from coordinator_server.cli.actions import add_actions
from coordinator_server.cli.answers import Answer, Row, changes
from coordinator_server.cli.cluster_command import ClusterAction, add_cluster_action, run_on_cluster
from coordinator_server.config import ConfigError
from protocol.acl_codes import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType, code_of

if TYPE_CHECKING:
    from coordinator_server.client.admin.acls import Acl
    from coordinator_server.client.admin.cluster import Cluster

EPILOG = """\
examples:
  coordinator-server acls list
  coordinator-server acls list --topic orders                               # also by prefix, and for all topics
  coordinator-server acls list --user alice -o json
  coordinator-server acls add --user alice --operation read --topic orders --group readers
  coordinator-server acls add --user alice --operation read --group app- --prefixed --execute
  coordinator-server acls add --user '*' --deny --operation all --topic secrets --execute
  coordinator-server acls remove --user alice --execute
"""

_RESOURCES: Final = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "transactional_id": ResourceType.TRANSACTIONAL_ID,
}
_OPERATIONS: Final = {each.name.lower().replace("_", "-"): each for each in Operation if each >= Operation.ALL}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    actions = add_actions(parser)
    listed = add_cluster_action(actions, "list", "the entries, or those about a principal or a resource", EPILOG)
    added = add_cluster_action(actions, "add", "add entries: every operation for every resource", EPILOG, is_change=True)
    removed = add_cluster_action(actions, "remove", "remove all entries that the options select", EPILOG, is_change=True)
    for each in (listed, added, removed):
        _add_selection(each, is_added=each is added)


def _add_selection(parser: argparse.ArgumentParser, *, is_added: bool) -> None:
    who = parser.add_mutually_exclusive_group(required=is_added)
    who.add_argument("--user", metavar="NAME", help="the principal User:NAME; '*' is everybody")
    who.add_argument("--principal", type=_principal, metavar="TYPE:NAME", help="a principal of any type")
    parser.add_argument("--topic", action="append", default=[], metavar="NAME", help="a topic; '*' is every topic")
    parser.add_argument("--group", action="append", default=[], metavar="NAME", help="a group")
    parser.add_argument("--transactional-id", action="append", default=[], metavar="NAME", help="a transactional id")
    parser.add_argument("--cluster", action="store_true", help="the cluster")
    parser.add_argument("--prefixed", action="store_true", help="the names are prefixes")
    parser.add_argument(
        "--operation", action="append", choices=tuple(_OPERATIONS), default=[], metavar="OPERATION", help=", ".join(_OPERATIONS)
    )
    parser.add_argument("--deny", action="store_true", help="entries that deny" + ("" if is_added else ", and no others"))
    parser.add_argument("--host", metavar="ADDRESS", help="the address of clients" + (" (default: any)" if is_added else ""))


def run(options: argparse.Namespace) -> int:
    """Print the answer and return the exit code."""
    return run_on_cluster(options, _ACTIONS)


def _principal(text: str) -> str:
    """Parse TYPE:NAME. For argparse."""
    if not all(text.partition(":")):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form TYPE:NAME, such as User:alice")
    return text


def _who(options: argparse.Namespace) -> str | None:
    return options.principal if options.user is None else f"User:{options.user}"


def _resources(options: argparse.Namespace) -> list[tuple[ResourceType, str]]:
    """Return the resources that the options name."""
    named = [(kind, name) for option, kind in _RESOURCES.items() for name in getattr(options, option)]
    return named + [(ResourceType.CLUSTER, CLUSTER_NAME)] * options.cluster


def _words(code: ResourceType | PatternType | Operation | Permission) -> str:
    return code.name.lower().replace("_", "-")


def _row(acl: Acl) -> Row:
    return {
        "principal": acl.principal,
        "permission": _words(code_of(Permission, acl.permission)),
        "operation": _words(code_of(Operation, acl.operation)),
        "host": acl.host,
        "resource": _words(code_of(ResourceType, acl.resource_type)),
        "name": acl.name,
        "pattern": _words(code_of(PatternType, acl.pattern_type)),
    }


async def _list(cluster: Cluster, options: argparse.Namespace) -> Answer:
    return Answer([_row(acl) for acl in await _selected(cluster, options, PatternType.MATCH)], empty="there are no ACLs")


async def _selected(cluster: Cluster, options: argparse.Namespace, unless_prefixed: PatternType) -> list[Acl]:
    """Return the entries that the options select. Names that are no prefixes are of patterns of the type ``unless_prefixed``."""
    from coordinator_server.client.admin.acls import AclFilter, describe_acls

    found: dict[Acl, None] = {}
    operations = {_OPERATIONS[each] for each in options.operation}
    named: Sequence[tuple[ResourceType, str | None]] = _resources(options) or [(ResourceType.ANY, None)]
    for kind, name in named:
        pattern_type = PatternType.PREFIXED if options.prefixed else PatternType.ANY if name is None else unless_prefixed
        permission = Permission.DENY if options.deny else Permission.ANY
        selecting = AclFilter(_who(options), kind, name, pattern_type, Operation.ANY, permission, options.host)
        found.update(dict.fromkeys(await describe_acls(cluster, selecting)))
    return [acl for acl in found if not operations or acl.operation in operations]


async def _add(cluster: Cluster, options: argparse.Namespace) -> Answer:
    from coordinator_server.client.admin.acls import create_acls

    acls = list(_asked_for(options))
    if not acls:
        raise ConfigError("no resource is named: --topic, --group, --transactional-id or --cluster")
    refused = await create_acls(cluster, acls) if options.execute else [None] * len(acls)
    return changes(_with_errors(acls, refused), "added", executed=options.execute)


def _asked_for(options: argparse.Namespace) -> Iterator[Acl]:
    from coordinator_server.client.admin.acls import Acl

    pattern_type = PatternType.PREFIXED if options.prefixed else PatternType.LITERAL
    permission = Permission.DENY if options.deny else Permission.ALLOW
    for (kind, name), operation in product(_resources(options), options.operation or ["all"]):
        is_pattern = kind is not ResourceType.CLUSTER
        yield Acl(
            _who(options) or "",
            kind,
            name,
            pattern_type if is_pattern else PatternType.LITERAL,
            _OPERATIONS[operation],
            permission,
            options.host or "*",
        )


async def _remove(cluster: Cluster, options: argparse.Namespace) -> Answer:
    from coordinator_server.client.admin.acls import delete_acls

    acls = await _selected(cluster, options, PatternType.LITERAL)
    refused = await delete_acls(cluster, acls) if options.execute and acls else [None] * len(acls)
    return changes(_with_errors(acls, refused), "removed", executed=options.execute)


def _with_errors(acls: Sequence[Acl], refused: Sequence[object]) -> list[Row]:
    return [{**_row(acl), "error": error} for acl, error in zip(acls, refused, strict=True)]


_ACTIONS: Mapping[str, ClusterAction] = {"list": _list, "add": _add, "remove": _remove}
