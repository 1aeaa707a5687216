"""List, describe and change groups of a running server. Show why a group rebalanced, what it was at a moment,
and what it would have lived through with other rules.

list, describe, members, offsets and export ask a running server, or a Kafka cluster, over Kafka's
protocol; with --data-dir, the first four answer from the log.
reset, clone, import, delete, delete-offsets and evict change a group there: without --execute they
show what would change. As in Kafka, a group with members keeps its offsets; the refusal names them.

why, at, owners, what-if and restore answer from the log of the group's shard: the server may run or not; restore --execute
needs it. They go back as far as segments are kept: log.history.retention.ms. waiting and expiring ask the server that runs
on --data-dir.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

from coordinator_server.cli.actions import add_action, add_actions, add_common
from coordinator_server.cli.answers import add_output_argument
from coordinator_server.cli.cluster_command import add_cluster_action, add_cluster_arguments, refuse_both
from coordinator_server.cli.engines import add_log_argument
from coordinator_server.cli.local_dir import location
from coordinator_server.cli.offset_targets import add_target_arguments, topic_partitions
from coordinator_server.cli.timelines import add_timeline_arguments
from coordinator_server.cli.times import MOMENT, moment_ms, past_ms
from coordinator_server.cli.what_if_options import add_what_if

EPILOG = """\
examples:
  coordinator-server groups list
  coordinator-server groups list --state stable --type consumer -o json
  coordinator-server groups describe billing --bootstrap 127.0.0.1:9092
  coordinator-server groups members billing --verbose
  coordinator-server groups members billing --data-dir ./data       # from the log
  coordinator-server groups offsets billing -o csv
  coordinator-server groups reset billing --topic orders:0,1 --to-offset 1042              # shows what would change
  coordinator-server groups reset billing --all-topics --shift-by -10 --execute
  coordinator-server groups clone billing billing-2 --execute
  coordinator-server groups export billing >offsets.csv
  coordinator-server groups import offsets.csv --execute
  coordinator-server groups delete-offsets billing --topic orders --execute
  coordinator-server groups delete billing --execute
  coordinator-server groups evict billing --client-id worker-7 --execute
  coordinator-server groups why billing --data-dir ./data
  coordinator-server groups why billing --since 2026-11-20T10:00Z --limit 0 --data-dir ./data -o jsonl
  coordinator-server groups why billing --follow --data-dir ./data                                # the server must run
  coordinator-server groups waiting billing --data-dir ./data                                     # the server must run
  coordinator-server groups at billing 2026-11-20T10:00Z --data-dir ./data
  coordinator-server groups owners billing --topic orders:3 --since 2026-11-20T00:00Z --data-dir ./data
  coordinator-server groups what-if billing --assignor uniform --from 2026-11-01 --to now --data-dir ./data
  coordinator-server groups what-if billing --static --each --data-dir ./data
  coordinator-server groups restore billing --at 2026-11-20T10:00Z --data-dir ./data              # shows what would change
  coordinator-server groups restore billing --at 2026-11-20T10:00Z --data-dir ./data --execute    # the server must run
  coordinator-server groups lag --data-dir ./observed                                             # what 'observe' follows
  coordinator-server groups expiring billing --data-dir ./data                                    # the server must run
"""

_OF_LOG: Final = frozenset({"why", "at", "restore", "expiring", "waiting", "owners", "what-if"})
_VIEWS: Final = frozenset({"list", "describe", "members", "offsets"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    actions = add_actions(parser)
    _add_views(actions)
    _add_offset_changes(actions)
    _add_changes(actions)
    _add_history(actions)


def run(options: argparse.Namespace) -> int:
    """Print the answer and return the exit code."""
    if options.action in _OF_LOG:
        # What reads logs takes longer to import than the rest takes to answer.
        from coordinator_server.cli import group_history

        return group_history.run(options)
    if options.action == "lag":
        from coordinator_server.cli import group_lag

        return group_lag.run(options)
    if options.action in _VIEWS and options.data_dir is not None:
        refuse_both(options)
        from coordinator_server.cli import log_views

        return log_views.run(options, options.action)
    if options.action in _VIEWS:
        from coordinator_server.cli import group_views

        return group_views.run(options)
    from coordinator_server.cli import group_changes

    return group_changes.run(options)


def _add_views(actions: Any) -> None:
    listed = add_cluster_action(actions, "list", "all groups, with their types and states", EPILOG)
    listed.add_argument(
        "--state",
        action="append",
        default=[],
        metavar="STATE",
        help="only groups in this state: stable, empty, …; repeat for more",
    )
    listed.add_argument(
        "--type",
        action="append",
        default=[],
        metavar="TYPE",
        help="only groups of this type: classic, consumer, share; repeat for more",
    )
    described = add_cluster_action(
        actions, "describe", "groups: state, epoch or generation's protocol, coordinator, members", EPILOG
    )
    members = add_cluster_action(actions, "members", "the members of groups, their clients and their partitions", EPILOG)
    members.add_argument(
        "--verbose", action="store_true", help="also epochs, instance ids, racks, subscriptions and target assignments"
    )
    offsets = add_cluster_action(
        actions, "offsets", "committed offsets, who has the partition, and the lag where the topic has messages", EPILOG
    )
    for each in (listed, described, members, offsets):
        add_log_argument(each, required=False)
    for each in (described, members, offsets):
        each.add_argument("group", nargs="+", metavar="GROUP", help="a group's id")


def _add_offset_changes(actions: Any) -> None:
    reset = _add_group(
        add_cluster_action(actions, "reset", "set committed offsets of a group without members", EPILOG, is_change=True)
    )
    reset.add_argument("--all-topics", action="store_true", help="all partitions of which an offset is committed")
    add_target_arguments(reset)
    clone = _add_group(
        add_cluster_action(
            actions, "clone", "copy the committed offsets of a group to a group without members", EPILOG, is_change=True
        )
    )
    clone.add_argument("to", metavar="TO", help="the id of the group that gets them; it may not exist")
    export = add_cluster_action(actions, "export", "print committed offsets as 'import' reads them", EPILOG)
    export.add_argument("group", nargs="+", metavar="GROUP", help="a group's id")
    export.set_defaults(output="csv")
    read = add_cluster_action(actions, "import", "set committed offsets to those of a file", EPILOG, is_change=True)
    read.add_argument("file", type=Path, metavar="FILE", help="CSV or JSON of 'export', or the CSV of Kafka's tool")
    read.add_argument("--group", metavar="GROUP", help="only this group; it gets the rows that name none")
    deleted = _add_group(
        add_cluster_action(actions, "delete-offsets", "delete committed offsets of a group", EPILOG, is_change=True)
    )
    for each in (reset, deleted):
        each.add_argument(
            "--topic",
            type=topic_partitions,
            action="append",
            default=[],
            required=each is deleted,
            metavar="TOPIC[:0,1,…]",
            help="a topic, or some of its partitions; repeat for more",
        )


def _add_changes(actions: Any) -> None:
    deleted = add_cluster_action(actions, "delete", "delete groups without members, with their offsets", EPILOG, is_change=True)
    deleted.add_argument("group", nargs="+", metavar="GROUP", help="a group's id")
    evict = _add_group(
        add_cluster_action(actions, "evict", "remove members from a group; they join again, if they live", EPILOG, is_change=True)
    )
    for option, dest, what in (
        ("--member", "member", "member id"),
        ("--instance", "instance", "group.instance.id"),
        ("--client-id", "client_id", "client id"),
    ):
        evict.add_argument(
            option, action="append", default=[], dest=dest, metavar="ID", help=f"members with this {what}; repeat for more"
        )
    evict.add_argument("--all", action="store_true", help="all members")
    evict.add_argument(
        "--reason",
        default="evicted by an administrator",
        metavar="TEXT",
        help="what the log says (%(default)s); of classic members only",
    )


def _add_history(actions: Any) -> None:
    why = _add_group(
        add_action(actions, "why", "what happened to the group: rebalances, commits, resets; who did it, when and why", EPILOG)
    )
    add_timeline_arguments(why, "each commit by itself; without it, more than five of one client are one line")
    why.add_argument("--follow", action="store_true", help="go on with what happens; asks the server that runs on --data-dir")
    at = _add_group(add_action(actions, "at", "the group and its offsets at a moment", EPILOG))
    at.add_argument("time", type=past_ms, metavar="TIME", help=MOMENT)
    owners = _add_group(add_action(actions, "owners", "who had a partition when, and for how long it had no owner", EPILOG))
    owners.add_argument(
        "--topic",
        type=topic_partitions,
        action="append",
        default=[],
        metavar="TOPIC[:0,1,…]",
        help="a topic, or some of its partitions; repeat for more (default: all that had an owner)",
    )
    owners.add_argument("--since", type=moment_ms, metavar="TIME", help=f"from then on (default: the first owner): {MOMENT}")
    owners.add_argument("--until", type=moment_ms, metavar="TIME", help=f"until then (default: now): {MOMENT}")
    add_log_argument(owners)
    add_output_argument(owners)
    add_what_if(actions, EPILOG)
    restore = _add_group(
        add_action(actions, "restore", "restore the offsets of a group without members to those of a moment", EPILOG)
    )
    restore.add_argument("--at", type=past_ms, required=True, metavar="TIME", dest="time", help=MOMENT)
    doing = restore.add_mutually_exclusive_group()
    doing.add_argument("--dry-run", action="store_true", help="show what would change (the default)")
    doing.add_argument("--execute", action="store_true", help="restore: one operation of the running server, recorded in the log")
    lag = add_action(
        actions, "lag", "how far groups are behind, and OK, WARN, STOP, STALL or REWIND, in a directory of observe", EPILOG
    )
    lag.add_argument("group", nargs="*", metavar="GROUP", help="a group's id, for its partitions (default: a row for each group)")
    add_common(lag)
    waiting = add_action(actions, "waiting", "who holds up a rebalance now, since when, and when the server puts it out", EPILOG)
    waiting.add_argument("group", nargs="*", metavar="GROUP", help="a group's id (default: all groups that wait)")
    waiting.add_argument(
        "--data-dir", type=location, required=True, metavar="DIR", help="the data directory of the running server"
    )
    add_output_argument(waiting)
    expiring = _add_group(add_action(actions, "expiring", "when the group's offsets expire, in its present state", EPILOG))
    add_common(why, at, restore)
    add_cluster_arguments(why)
    add_common(expiring, asks_server=True)


def _add_group(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("group", metavar="GROUP", help="the group's id")
    return parser
