"""Kafka's kafka-consumer-groups.sh, without Java: the same flags, and tables with the same columns.

It asks a running server, or a Kafka cluster. Scripts that read the tables of Kafka's tool work with it.
Unlike Kafka's tool, it prints errors on stderr only, ends with exit code 1 on any of them, and takes
seconds off the start. 'coordinator-server groups' has more: share groups, JSON, clones, evictions.
"""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from coordinator_server.cli.answers import Answer
from coordinator_server.cli.cluster_command import run_cluster_action
from coordinator_server.cli.offset_targets import add_target_arguments, topic_partitions
from coordinator_server.config import ConfigError

if TYPE_CHECKING:
    from coordinator_server.client.admin.cluster import Cluster

EPILOG = """\
examples:
  coordinator-server kafka-consumer-groups --bootstrap-server 127.0.0.1:9092 --list
  coordinator-server kafka-consumer-groups --bootstrap-server 127.0.0.1:9092 --describe --group billing
  coordinator-server kafka-consumer-groups --bootstrap-server 127.0.0.1:9092 --describe --all-groups --members --verbose
  coordinator-server kafka-consumer-groups --bootstrap-server 127.0.0.1:9092 --reset-offsets --group billing --all-topics \\
    --shift-by -10 --execute
"""

TIMEOUT_MS: Final = 5000
ACTIONS: Final = ("list", "describe", "delete", "reset_offsets", "delete_offsets", "validate_regex")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    # As in Kafka, a name may be shortened as long as one option begins so.
    parser.add_argument("--bootstrap-server", dest="bootstrap", metavar="HOST:PORT[,…]", help="some of the servers")
    parser.add_argument("--command-config", type=Path, metavar="FILE", help="properties of a Kafka client")
    parser.add_argument(
        "--timeout",
        dest="timeout_ms",
        type=int,
        default=TIMEOUT_MS,
        metavar="MS",
        help="how long to wait for an answer (%(default)s)",
    )
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--list", action="store_true", help="list the groups")
    action.add_argument("--describe", action="store_true", help="describe groups: offsets, or what else is asked for")
    action.add_argument("--delete", action="store_true", help="delete groups without members")
    action.add_argument("--reset-offsets", action="store_true", help="set committed offsets of groups without members")
    action.add_argument("--delete-offsets", action="store_true", help="delete committed offsets of a group")
    action.add_argument("--validate-regex", metavar="REGEX", help="say whether a regular expression can be subscribed to (RE2)")
    parser.add_argument("--group", action="append", default=[], metavar="GROUP", help="a group; repeat for more")
    parser.add_argument("--all-groups", action="store_true", help="all groups")
    parser.add_argument(
        "--topic",
        action="append",
        type=topic_partitions,
        default=[],
        metavar="TOPIC[:0,1,…]",
        help="a topic or some of its partitions; repeat for more",
    )
    parser.add_argument("--all-topics", action="store_true", help="all partitions of which the group has committed an offset")
    parser.add_argument("--offsets", action="store_true", help="describe: committed offsets (the default)")
    parser.add_argument("--members", action="store_true", help="describe: members")
    parser.add_argument(
        "--state", nargs="?", const="", metavar="STATES", help="describe: state; list: states, or only groups in these"
    )
    parser.add_argument("--type", nargs="?", const="", metavar="TYPES", help="list: types, or only groups of these")
    parser.add_argument("--verbose", action="store_true", help="describe: more columns")
    doing = parser.add_mutually_exclusive_group()
    doing.add_argument("--dry-run", action="store_true", help="reset: only show the offsets (the default)")
    doing.add_argument("--execute", action="store_true", help="reset: set the offsets")
    parser.add_argument("--export", action="store_true", help="reset: print the offsets as CSV")
    add_target_arguments(parser, required=False)


def run(options: argparse.Namespace) -> int:
    """Print what Kafka's tool prints, and return the exit code. Raises ConfigError."""
    _check(options)
    if options.validate_regex is not None:
        return _validate(options.validate_regex)
    from coordinator_server.cli import kafka_group_actions

    options.timeout, options.output = options.timeout_ms / 1000, "text"
    action: Callable[[Cluster, argparse.Namespace], Awaitable[Answer]] = kafka_group_actions.ACTIONS[
        next(name for name in ACTIONS if getattr(options, name))
    ]
    return run_cluster_action(options, action)


def _check(options: argparse.Namespace) -> None:
    """Refuse what Kafka's tool refuses. Raises ConfigError."""
    needs_group = options.describe or options.delete or options.reset_offsets
    shown = [options.offsets, options.members, options.describe and options.state is not None]
    wrong = {
        "--bootstrap-server is required": options.bootstrap is None and options.validate_regex is None,
        "--timeout takes a number of milliseconds": options.timeout_ms <= 0,
        "--group GROUP or --all-groups is required": needs_group and not options.group and not options.all_groups,
        "--group and --all-groups exclude each other": bool(options.group) and options.all_groups,
        "--delete-offsets takes one --group and --topic": options.delete_offsets
        and not (len(options.group) == 1 and options.topic),
        "--describe takes one of --offsets, --members and --state": sum(shown) > 1,
        "--describe --state takes no states": options.describe and bool(options.state),
        "--delete takes no topics: --delete-offsets does": options.delete and bool(options.topic),
        "--topic TOPIC, --all-topics or --from-file says which offsets to reset": options.reset_offsets
        and not (options.topic or options.all_topics or options.from_file),
        "--reset-offsets takes one of --to-offset, --to-earliest, --to-latest, --to-current, --shift-by, --to-datetime, "
        "--by-duration and --from-file": options.reset_offsets and not _has_target(options),
    }
    for why, is_wrong in wrong.items():
        if is_wrong:
            raise ConfigError(why)


def _has_target(options: argparse.Namespace) -> bool:
    flags = options.to_earliest or options.to_latest or options.to_current
    values = options.to_offset, options.shift_by, options.to_datetime, options.by_duration, options.from_file
    return flags or any(each is not None for each in values)


def _validate(expression: str) -> int:
    import re2

    from coordinator_server.cli.output import say

    try:
        re2.compile(expression)
    except re2.error as wrong:
        say([f"The regular expression `{expression}` is invalid: {wrong}."])
        return 1
    say([f"The regular expression `{expression}` is valid."])
    return 0
