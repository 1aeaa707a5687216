"""List, describe and change the settings that topics, groups and servers have at run time, over Kafka's protocol.

A setting of a topic or a group overrides the property of the server, and is kept in the log. What a server
was started with is described here, too, and changed where it is started: 'coordinator-server config'
explains those properties.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from coordinator_server.cli.actions import add_actions
from coordinator_server.cli.answers import Answer, Row, changes
from coordinator_server.cli.cluster_command import ClusterAction, add_cluster_action, run_on_cluster
from coordinator_server.cli.topics import setting

if TYPE_CHECKING:
    from coordinator_server.client.admin.cluster import Cluster

EPILOG = """\
examples:
  coordinator-server configs list
  coordinator-server configs describe group billing
  coordinator-server configs describe broker 1 --all -o json
  coordinator-server configs set group billing consumer.session.timeout.ms=30000             # shows what would change
  coordinator-server configs set group billing consumer.session.timeout.ms=30000 --execute
  coordinator-server configs unset group billing consumer.session.timeout.ms --execute
"""

KINDS: Final = ("topic", "group", "broker", "client-metrics")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    actions = add_actions(parser)
    add_cluster_action(actions, "list", "what has settings, or may have", EPILOG)
    described = add_cluster_action(actions, "describe", "the settings of a topic, a group or a server", EPILOG)
    set_ = add_cluster_action(actions, "set", "set settings", EPILOG, is_change=True)
    unset = add_cluster_action(
        actions, "unset", "take settings back, so that the server's properties count", EPILOG, is_change=True
    )
    for each in (described, set_, unset):
        each.add_argument("kind", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
        each.add_argument("name", metavar="NAME", help="its name; of a broker its node id")
    described.add_argument("--all", action="store_true", help="defaults, too")
    set_.add_argument("settings", nargs="+", type=setting, metavar="NAME=VALUE", help="a setting")
    unset.add_argument("settings", nargs="+", metavar="SETTING", help="the name of a setting")


def run(options: argparse.Namespace) -> int:
    """Print the answer and return the exit code."""
    return run_on_cluster(options, _ACTIONS)


async def _list(cluster: Cluster, options: argparse.Namespace) -> Answer:
    from coordinator_server.client.admin.settings import list_resources

    rows = [{"kind": _word(kind.name), "name": name} for kind, name in await list_resources(cluster)]
    return Answer(rows)


async def _describe(cluster: Cluster, options: argparse.Namespace) -> Answer:
    from coordinator_server.client.admin.settings import ResourceType, SettingSource, describe_settings

    found = await describe_settings(cluster, ResourceType[_member(options.kind)], options.name)
    rows = [
        {
            "name": each.name,
            "value": each.value,
            "source": _word(each.source.name).removesuffix("-config"),
            "is_sensitive": each.is_sensitive,
            "is_read_only": each.is_read_only,
        }
        for each in found
        if options.all or each.source is not SettingSource.DEFAULT_CONFIG
    ]
    return Answer(rows, empty=f"{options.kind} {options.name} has no settings of its own: --all shows the defaults")


async def _set(cluster: Cluster, options: argparse.Namespace) -> Answer:
    return await _alter(cluster, options, dict(options.settings), "set")


async def _unset(cluster: Cluster, options: argparse.Namespace) -> Answer:
    return await _alter(cluster, options, dict.fromkeys(options.settings), "taken back")


async def _alter(cluster: Cluster, options: argparse.Namespace, values: Mapping[str, str | None], done: str) -> Answer:
    from coordinator_server.client.admin.settings import ResourceType, alter_settings, describe_settings

    kind = ResourceType[_member(options.kind)]
    before = {each.name: each for each in await describe_settings(cluster, kind, options.name)}
    refused = await alter_settings(cluster, kind, options.name, values, is_trial=not options.execute)
    rows: list[Row] = []
    for name, value in values.items():
        old = before[name].value if name in before and before[name].source.is_set else None
        rows.append(
            {"kind": options.kind, "name": options.name, "setting": name, "before": old, "after": value, "error": refused}
        )
    return changes(rows, done, executed=options.execute)


_ACTIONS: Final[Mapping[str, ClusterAction]] = {"list": _list, "describe": _describe, "set": _set, "unset": _unset}


def _word(name: str) -> str:
    return name.lower().replace("_", "-")


def _member(kind: str) -> str:
    return kind.upper().replace("-", "_")
