"""List, describe, create, grow and delete topics of a running server, over Kafka's protocol.

A topic of this server has no messages: it has a name, an id and a number of partitions. The command works
with a Kafka cluster, too. A change is only shown, unless --execute is given; the server says beforehand
whether it would refuse it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from coordinator_server.cli.actions import add_actions
from coordinator_server.cli.answers import Answer, changes
from coordinator_server.cli.cluster_command import ClusterAction, Progress, add_cluster_action, refuse_both, run_on_cluster
from coordinator_server.cli.engines import add_log_argument
from protocol.fields import uuid_text

if TYPE_CHECKING:
    from coordinator_server.client.admin.cluster import Cluster

EPILOG = """\
examples:
  coordinator-server topics list
  coordinator-server topics describe orders --bootstrap 127.0.0.1:9092 -o json
  coordinator-server topics create orders --partitions 6                    # shows what would be created
  coordinator-server topics create orders --partitions 6 --execute
  coordinator-server topics grow orders --partitions 12 --execute
  coordinator-server topics delete orders --execute
"""

_DEFAULT: Final = -1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    actions = add_actions(parser)
    listed = add_cluster_action(actions, "list", "all topics, with their partitions", EPILOG)
    listed.add_argument("--internal", action="store_true", help="internal topics, too")
    add_log_argument(listed, required=False)
    described = add_cluster_action(actions, "describe", "topics by partition: which server leads each", EPILOG)
    created = add_cluster_action(actions, "create", "create topics", EPILOG, is_change=True)
    created.add_argument(
        "--partitions",
        type=positive,
        default=_DEFAULT,
        metavar="N",
        help="number of partitions (default: the server's num.partitions)",
    )
    created.add_argument(
        "--replicas", type=positive, default=_DEFAULT, metavar="N", help="replication factor (default: the server's)"
    )
    created.add_argument(
        "--config", action="append", type=setting, default=[], metavar="NAME=VALUE", help="a setting; repeat for more"
    )
    grown = add_cluster_action(actions, "grow", "give topics more partitions", EPILOG, is_change=True)
    grown.add_argument("--partitions", type=positive, required=True, metavar="N", help="number of partitions afterwards")
    deleted = add_cluster_action(
        actions, "delete", "delete topics, with the offsets that groups have committed in them", EPILOG, is_change=True
    )
    for each in (described, created, grown, deleted):
        each.add_argument("topic", nargs="+", metavar="TOPIC", help="the name of a topic")


def run(options: argparse.Namespace) -> int:
    """Print the answer and return the exit code."""
    if options.action == "list" and options.data_dir is not None:
        refuse_both(options)
        from coordinator_server.cli import log_views

        return log_views.run(options, "topics")
    return run_on_cluster(options, _ACTIONS)


def positive(text: str) -> int:
    """Parse a number from 1. For argparse."""
    if not text.isdecimal() or not 0 < int(text) < 1 << 31:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 2147483647")
    return int(text)


def setting(text: str) -> tuple[str, str]:
    """Parse NAME=VALUE. For argparse."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name, value


async def _list(cluster: Cluster, options: argparse.Namespace) -> Answer:
    from coordinator_server.client.admin.topics import describe_topics

    topics = (await describe_topics(cluster)).values()
    rows = [
        {"topic": each.name, "partitions": each.partitions, "topic_id": uuid_text(each.topic_id), "is_internal": each.is_internal}
        for each in topics
        if options.internal or not each.is_internal
    ]
    return Answer(rows, empty="there are no topics")


async def _describe(cluster: Cluster, options: argparse.Namespace) -> Answer:
    from coordinator_server.client.admin.topics import describe_topic

    found = [await describe_topic(cluster, name) for name in options.topic]
    await cluster.learn()
    rows = [
        {
            "topic": each.name,
            "partition": partition,
            "leader": leader if leader >= 0 else None,
            "address": str(cluster.servers[leader]) if leader in cluster.servers else None,
            "topic_id": uuid_text(each.topic_id),
        }
        for each in found
        for partition, leader in each.leaders.items()
    ]
    return Answer(rows)


async def _create(cluster: Cluster, options: argparse.Namespace) -> Answer:
    from coordinator_server.client.admin.topics import create_topic, describe_topics

    rows: list[dict[str, object]] = []
    progress = Progress("topics", len(options.topic))
    for name in options.topic:
        refused = await create_topic(
            cluster, name, options.partitions, options.replicas, dict(options.config), is_trial=not options.execute
        )
        made = {} if refused or not options.execute else await describe_topics(cluster, [name])
        partitions = made[name].partitions if name in made else None if options.partitions == _DEFAULT else options.partitions
        rows.append({"topic": name, "partitions": partitions, "error": refused})
        progress.step()
    return changes(rows, "created", executed=options.execute)


async def _grow(cluster: Cluster, options: argparse.Namespace) -> Answer:
    from coordinator_server.client.admin.topics import describe_topics, grow_topic

    before = await describe_topics(cluster, options.topic)
    rows: list[dict[str, object]] = []
    progress = Progress("topics", len(options.topic))
    for name in options.topic:
        refused = await grow_topic(cluster, name, options.partitions, is_trial=not options.execute)
        had = before[name].partitions if name in before else None
        rows.append({"topic": name, "before": had, "after": options.partitions, "error": refused})
        progress.step()
    return changes(rows, "grown", executed=options.execute)


async def _delete(cluster: Cluster, options: argparse.Namespace) -> Answer:
    from coordinator_server.client.admin.topics import delete_topic, describe_topics

    before = await describe_topics(cluster, options.topic)
    rows: list[dict[str, object]] = []
    progress = Progress("topics", len(options.topic))
    for name in options.topic:
        refused: object = None if name in before else f"there is no topic {name}"
        if refused is None and options.execute:
            refused = await delete_topic(cluster, name)
        rows.append(
            {
                "topic": name,
                "partitions": before[name].partitions if name in before else None,
                "error": refused,
            }
        )
        progress.step()
    return changes(rows, "deleted", executed=options.execute)


_ACTIONS: Final[Mapping[str, ClusterAction]] = {
    "list": _list,
    "describe": _describe,
    "create": _create,
    "grow": _grow,
    "delete": _delete,
}
