"""The messages between the shards of transactional ids and those of groups.

write-marker    a decided transaction ends at a group's shard
add-group       a group's shard takes part in a transaction: TxnOffsetCommit from version 5 on
find-group      whether it does, for older versions, whose clients have added it before
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from coordinator_server.kinds import GROUPS, TRANSACTIONS
from coordinator_server.machine.outbox import Effect
from coordinator_server.machine.shard import Producer, Reply, RequestContext, TransactionResult
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.producers import EndOfTransaction
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation
from coordinator_server.server.cluster.effects import Asked
from coordinator_server.server.cluster.forwarded_client import context_of
from coordinator_server.transaction.markers import WRITE_MARKER, Marker
from coordinator_server.transaction.shard import PartitionsRequest, TransactionShard

ADD_PARTITIONS: Final = WriteOperation("add-partitions-to-transaction", TransactionShard.add_partitions)
MISSING_PARTITIONS: Final = WriteOperation("missing-partitions-of-transaction", TransactionShard.missing_partitions)


class GroupInTransaction(Struct, frozen=True):
    """A partition of ``__consumer_offsets`` in a producer's transaction, and the client whose request names the group.

    ``version`` is that of the client's transactions.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    partition: int
    version: int
    client_id: str
    client_host: str
    api_key: int
    api_version: int
    principal: str

    @property
    def partitions(self) -> PartitionsRequest:
        """The request to the transactional id's shard."""
        partitions = frozenset({(GROUPS.topic, self.partition)})
        return PartitionsRequest(self.transactional_id, self.producer_id, self.producer_epoch, partitions, self.version)


ADD_GROUP: Final = Effect(TRANSACTIONS.topic, "add-group", GroupInTransaction, type(None))
FIND_GROUP: Final = Effect(TRANSACTIONS.topic, "find-group", GroupInTransaction, bool)
"""Answers whether the partition is in the transaction."""


def _write_marker(
    runtime: CoordinatorRuntime[Any], partition: int, context: RequestContext, marker: Marker, reply: Reply[bool], /
) -> None:
    result = TransactionResult.COMMIT if marker.is_commit else TransactionResult.ABORT
    end = EndOfTransaction(Producer(marker.producer_id, marker.producer_epoch), result, marker.version)
    runtime.complete_transaction(partition, end, reply)


def _add_group(
    runtime: CoordinatorRuntime[Any], partition: int, context: RequestContext, asked: GroupInTransaction, reply: Reply[None], /
) -> None:
    """Run as the client's request, so that the log has who started the transaction. Unlike that, a message waits for no load."""
    is_loaded = runtime.state(partition) is not None
    client = context_of(asked, has_provenance=context.origin is not None) if is_loaded else context
    runtime.write(partition, ADD_PARTITIONS, client, asked.partitions, reply)


def _find_group(
    runtime: CoordinatorRuntime[Any], partition: int, context: RequestContext, asked: GroupInTransaction, reply: Reply[bool], /
) -> None:
    found = CallbackReply(lambda missing: reply.complete(not missing), reply.fail)
    runtime.write(partition, MISSING_PARTITIONS, context, asked.partitions, found)


MARKERS: Final = Asked(WRITE_MARKER, _write_marker)
GROUPS_ADDED: Final = Asked(ADD_GROUP, _add_group)
GROUPS_FOUND: Final = Asked(FIND_GROUP, _find_group)
