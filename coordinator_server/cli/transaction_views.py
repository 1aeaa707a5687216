"""The actions of ``transactions`` that ask running servers."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from typing import Final

from coordinator_server.cli.answers import Answer, changes
from coordinator_server.cli.cluster_command import ClusterAction, run_on_cluster
from coordinator_server.cli.times import shown
from coordinator_server.client.admin.cluster import Cluster
from coordinator_server.client.admin.transactions import (
    OPEN,
    DescribedTransaction,
    describe_transactions,
    fence_producers,
    list_transactions,
)
from coordinator_server.client.errors import ClientError, Refused


def run(options: argparse.Namespace) -> int:
    """Print the answer and return the exit code."""
    if options.json:
        options.output = "json"
    return run_on_cluster(options, _ACTIONS)


async def _list(cluster: Cluster, options: argparse.Namespace) -> Answer:
    listed = await list_transactions(cluster, OPEN if options.open else [])
    rows = [
        {
            "transactional_id": each.transactional_id,
            "state": each.state,
            "producer_id": each.producer_id,
            "coordinator": each.node_id,
        }
        for each in listed
    ]
    return Answer(rows, empty="there are no open transactions" if options.open else "there are no transactional ids")


async def _describe(cluster: Cluster, options: argparse.Namespace) -> Answer:
    return Answer([_row(await _found(cluster, options.transactional_id))])


async def _abort(cluster: Cluster, options: argparse.Namespace) -> Answer:
    found = await _found(cluster, options.transactional_id)
    if found.start_ms is None:
        raise Refused(f"no transaction of {options.transactional_id} is open: it is {found.state}")
    refused: ClientError | None = None
    if options.execute:
        try:
            await fence_producers(cluster, options.transactional_id)
        except Refused as error:
            refused = error
    return changes([_row(found) | {"error": refused}], "aborted", executed=options.execute)


def _row(found: DescribedTransaction) -> dict[str, object]:
    start_ms = found.start_ms
    partitions: dict[str, list[int]] = {}
    for at in found.partitions:
        partitions.setdefault(at.topic, []).append(at.partition)
    return {
        "transactional_id": found.transactional_id,
        "state": found.state,
        "producer_id": found.producer_id,
        "producer_epoch": found.producer_epoch,
        "timeout_ms": found.timeout_ms,
        "open_since": None if start_ms is None else shown(start_ms),
        "open_for_ms": None if start_ms is None else max(0, round(time.time() * 1000) - start_ms),
        "partitions": partitions,
    }


async def _found(cluster: Cluster, transactional_id: str) -> DescribedTransaction:
    found = await describe_transactions(cluster, [transactional_id])
    if transactional_id not in found:
        raise Refused(f"transactional id {transactional_id} is not known")
    return found[transactional_id]


_ACTIONS: Final[Mapping[str, ClusterAction]] = {"list": _list, "describe": _describe, "abort": _abort}
