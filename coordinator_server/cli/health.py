"""Say of each server whether it answers, loads its groups, or cannot be reached. For scripts and probes.

Exit code 0: all servers of the cluster serve. 1: one of them does not, or none answers.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from coordinator_server.cli.answers import Answer
from coordinator_server.cli.cluster_command import add_cluster_arguments, run_cluster_action

if TYPE_CHECKING:
    from coordinator_server.client.admin.cluster import Cluster

EPILOG = """\
examples:
  coordinator-server health
  coordinator-server health --bootstrap a.example:9092 --timeout 5 -o json

'coordinator-server doctor' says what is wrong, and what to do.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_cluster_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Print the answer and return the exit code."""
    return run_cluster_action(options, _health)


async def _health(cluster: Cluster, options: argparse.Namespace) -> Answer:
    from coordinator_server.cli.diagnosis.cluster import SERVING, see_servers

    seen = await see_servers(cluster)
    rows = [
        {
            "node": each.node_id,
            "address": each.address,
            "state": each.state,
            "milliseconds": each.milliseconds,
            "is_controller": each.is_controller,
            "error": each.error,
        }
        for each in seen
    ]
    return Answer(rows, failed=any(each.state != SERVING or each.error is not None for each in seen))
