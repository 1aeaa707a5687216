"""A server for producers, and what of their transactions can be read from outside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Final

from coordinator_server.kinds import GROUPS, TRANSACTIONS
from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from protocol.messages.describe_producers import DescribeProducersRequest, DescribeProducersResponse, TopicRequest
from protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchResponse
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.ledger import Committed
from tests.support.server import Server
from tests.support.shard_mover import ShardMover
from tests.support.simple_requests import OF_TRANSACTIONS, coordinator

PARTITIONS: Final = 8
PROPERTIES: Final = {
    "offsets.topic.num.partitions": PARTITIONS,
    "transaction.state.log.num.partitions": PARTITIONS,
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500,
}


def await_coordinators(server: Server, ids: Sequence[str]) -> None:
    """Wait until there are coordinators for all transactional ids."""
    with Client(server.address) as client:
        for transactional_id in ids:
            coordinator(client, transactional_id, OF_TRANSACTIONS)


def read(server: Server, groups: Sequence[str]) -> Committed:
    """Every offset that a group has, of the transactions that are decided."""
    found: Committed = {}
    owners = owners_of(server)
    for name in groups:
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(name, topics=None)])
        with Client(server.addresses[owners[shard_of(GROUPS.topic, name)]]) as client:
            [group] = _answered(client, request).groups
        for topic in group.topics:
            for each in topic.partitions:
                found[name, each.partition_index] = each.committed_offset
    return found


def _answered(client: Client, request: OffsetFetchRequest) -> OffsetFetchResponse:
    """The answer without an error: shards may still load."""
    answers: list[OffsetFetchResponse] = []

    def is_answered() -> bool:
        answers.append(client.ask(request, 8, OffsetFetchResponse))
        return answers[-1].groups[0].error_code == ErrorCode.NONE

    eventually(is_answered)
    return answers[-1]


def left_open(server: Server) -> Sequence[object]:
    """Transactions that are not over, and logs that wait for one."""
    found: list[object] = []
    owners = owners_of(server)
    unfinished = ListTransactionsRequest(state_filters=["Ongoing", "PrepareCommit", "PrepareAbort"])
    described = DescribeProducersRequest([TopicRequest(GROUPS.topic, list(range(PARTITIONS)))])
    for loop, address in enumerate(server.addresses):
        with Client(address) as client:
            listed = client.ask(unfinished, 1, ListTransactionsResponse)
            [topic] = client.ask(described, 0, DescribeProducersResponse).topics
        found += [listed.error_code] if listed.error_code else listed.transaction_states
        for partition in topic.partitions:
            if owners[f"{GROUPS.topic}-{partition.partition_index}"] == loop:
                assert partition.error_code == ErrorCode.NONE
                found += [each for each in partition.active_producers if each.current_txn_start_offset >= 0]
    return found


def producer_ids(server: Server) -> Iterator[tuple[str, int]]:
    """Yield each transactional id with its producer id; of the loops that answer."""
    for address in server.addresses:
        with Client(address) as client:
            for each in client.ask(ListTransactionsRequest(), 1, ListTransactionsResponse).transaction_states:
                yield each.transactional_id, each.producer_id


def shard_of(topic: str, key: str) -> str:
    """The name of the shard of a group or transactional id."""
    return f"{topic}-{partition_for(key, PARTITIONS)}"


def owners_of(server: Server) -> dict[str, int]:
    """The loop of each shard."""
    return {shard: owner["loop"] for shard, owner in server.control(op="owners")["owners"].items()}


@contextmanager
def moving(server: Server, every_s: float, seed: float) -> Iterator[ShardMover]:
    """Within this, shards of groups and of transactional ids move between the loops. One loop has them all: then none does."""
    shards = [f"{topic}-{partition}" for topic in (GROUPS.topic, TRANSACTIONS.topic) for partition in range(PARTITIONS)]
    mover = ShardMover(server, every_s, shards, seed)
    with mover if server.loops > 1 else nullcontext():
        yield mover
