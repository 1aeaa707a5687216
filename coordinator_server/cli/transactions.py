"""Show transactions: which are open, who began each, what it moves, and why it ended. Abort one.

list, describe and abort ask a running server, or a Kafka cluster, over Kafka's protocol. With --data-dir
they answer from the log, as why and hanging do: with more about each transaction, and at any moment that
the log has. The server may run or not.
"""

from __future__ import annotations

import argparse
from typing import Final

from coordinator_server.cli.actions import add_action, add_actions, add_common
from coordinator_server.cli.answers import add_execute_argument, add_output_argument
from coordinator_server.cli.cluster_command import add_cluster_arguments, refuse_both
from coordinator_server.cli.engines import add_no_wait_argument
from coordinator_server.cli.timelines import add_timeline_arguments
from coordinator_server.cli.times import MOMENT, past_ms
from coordinator_server.config import ConfigError

EPILOG = """\
examples:
  coordinator-server transactions list --bootstrap 127.0.0.1:9092
  coordinator-server transactions list --open --at 2026-11-20T10:00Z --data-dir ./data
  coordinator-server transactions describe payments-1
  coordinator-server transactions describe payments-1 --data-dir ./data      # and which groups wait for it
  coordinator-server transactions why payments-1 --data-dir ./data
  coordinator-server transactions why payments-1 --since 2026-11-20T10:00Z --each --limit 0 --data-dir ./data
  coordinator-server transactions hanging --data-dir ./data
  coordinator-server transactions abort payments-1                           # shows what would be aborted
  coordinator-server transactions abort payments-1 --execute
"""

_OF_BOTH: Final = frozenset({"list", "describe", "abort"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    actions = add_actions(parser)
    listed = add_action(actions, "list", "all transactional ids, with their states", EPILOG)
    listed.add_argument("--open", action="store_true", help="only those with an open transaction")
    described = add_action(actions, "describe", "one transactional id, its partitions, and the groups that wait for it", EPILOG)
    for each in (listed, described):
        each.add_argument("--at", type=past_ms, metavar="TIME", help=f"with --data-dir, at a moment: {MOMENT}")
    why = add_action(actions, "why", "every transaction of an id: who began it, its groups, its end and the reason", EPILOG)
    hung = add_action(
        actions, "hanging", "transactions that are open in the log of groups, and that no transactional id will end", EPILOG
    )
    abort = add_action(actions, "abort", "abort the open transaction of an id and fence its producer", EPILOG)
    for each in (described, why, abort):
        each.add_argument("transactional_id", metavar="ID", help="the transactional id")
    add_execute_argument(abort)
    add_no_wait_argument(abort)
    add_common(listed, described, required=False)
    add_common(abort, asks_server=True, required=False)
    for each in (listed, described, abort):
        add_cluster_arguments(each)
    add_timeline_arguments(why, "each step of each transaction; without it, more than three alike that commit are one line")
    add_output_argument(why)
    add_common(why, hung)


def run(options: argparse.Namespace) -> int:
    """Print the answer and return the exit code. Raises ConfigError."""
    if options.data_dir is not None:
        if options.action in _OF_BOTH:
            refuse_both(options)
        # What reads logs takes longer to import than the rest takes to answer.
        from coordinator_server.cli import transaction_history

        return transaction_history.run(options)
    if getattr(options, "at", None) is not None:
        raise ConfigError("--at needs --data-dir: only the log has the past")
    from coordinator_server.cli import transaction_views

    return transaction_views.run(options)
