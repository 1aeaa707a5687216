"""Show a cluster live: its servers, its groups by type and state, and those that need a look.

Groups that are not settled come first, then those that are named, or the first ones. Of each it shows who
is a member and how many commits per second it makes, counted in the log of groups (with an authorizer the
user needs READ of the topic __consumer_offsets); with --data-dir also the commits that it has refused
since the server's start, and the nodes of its store, if it is one of several; with that of a directory
that follows the cluster (observe) the lag of each group. On a terminal the screen is
drawn again every --interval; q or ctrl-C ends it. Elsewhere it prints one picture, after the first
--interval, and ends.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from coordinator_server.cli.cluster_command import add_cluster_arguments, run_cluster_action, seconds
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.cli.topics import positive

if TYPE_CHECKING:
    from coordinator_server.cli.answers import Answer
    from coordinator_server.client.admin.cluster import Cluster

EPILOG = """\
examples:
  coordinator-server top
  coordinator-server top billing payments --interval 1 --bootstrap 127.0.0.1:9092
  coordinator-server top --count 1 -o json          # one picture, for scripts
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("group", nargs="*", metavar="GROUP", help="groups to show beside those that are not settled")
    parser.add_argument(
        "--interval", type=seconds, default=2.0, metavar="SECONDS", help="time between two pictures (%(default)g)"
    )
    parser.add_argument("--groups", type=positive, default=20, metavar="N", help="the most groups to show (%(default)s)")
    parser.add_argument(
        "--count", type=positive, metavar="N", help="end after so many pictures (default: 1 unless on a terminal)"
    )
    parser.add_argument(
        "--data-dir",
        type=local_dir,
        metavar="DIR",
        help="also show the commits that the server on this directory has refused, and its cluster; or lags, if it follows one",
    )
    add_cluster_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Show pictures until it is ended, and return the exit code."""
    options.is_live = options.output == "text" and sys.stdout.isatty() and sys.stdin.isatty()
    if options.count is None and not options.is_live:
        options.count = 1
    return run_cluster_action(options, _show, is_quick=False)


async def _show(cluster: Cluster, options: argparse.Namespace) -> Answer:
    from coordinator_server.cli.live import watch

    return await watch(cluster, options)
