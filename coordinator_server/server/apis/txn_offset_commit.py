"""TxnOffsetCommit (28): offsets that count when a transaction commits (KIP-98, KIP-447, KIP-890).

    the group's shard: does its log take the producer? ── yes, and its transaction is open there ─────┐
                          │ yes                                                                       ▼
                          └─► the transactional id's shard: is it in the transaction? ── yes ──► the group's shard: the commit

Until version 4 clients add the group to the transaction by AddOffsetsToTxn. From version 5 on this request adds it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from operator import attrgetter
from typing import Final, NamedTuple

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.group.shard import GroupShard
from coordinator_server.kinds import TRANSACTIONS
from coordinator_server.machine.errors import CoordinatorError, operation_error
from coordinator_server.machine.shard import Producer, RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.producers import Claim
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.apis.lists import portions_in_steps
from coordinator_server.server.apis.merged import merged
from coordinator_server.server.apis.offset_commit import TOPICS_PER_STEP, refuse_unknown, refused_topic, unread_commit
from coordinator_server.server.exchange.api_row import ApiRow, ShortWay
from coordinator_server.server.exchange.exchange import Exchange
from coordinator_server.server.exchange.steps import Work
from coordinator_server.server.guard.access import ApiAccess
from coordinator_server.server.guard.needs import READ_GROUP, WRITE_TRANSACTION
from coordinator_server.server.guard.parts import Each
from coordinator_server.server.hosting.node import Node
from coordinator_server.server.hosting.transaction_messages import ADD_GROUP, FIND_GROUP, GroupInTransaction
from coordinator_server.server.wire.order import Order
from protocol.acl_codes import Operation, ResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponseTopic,
)
from protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from protocol.refused_commits import refusal_encoder

COMMIT: Final = WriteOperation("commit-in-transaction", GroupShard.commit_in_transaction)
# The first versions whose clients know COORDINATOR_LOAD_IN_PROGRESS, know TRANSACTION_ABORTABLE, and let the request add the group.
FIRST_WITH_LOADING, FIRST_WITH_ABORTABLE, FIRST_THAT_ADDS = 2, 4, 5
# The version of the transactions of clients that let the request add the group.
VERSION_THAT_ADDS: Final = 2
_TOPIC: Final = attrgetter("name")


class _Commit(NamedTuple):
    """A request on its way. ``plain`` is what is left of it; ``refused`` are the answers for partitions that do not exist."""

    node: Node
    context: RequestContext
    request: TxnOffsetCommitRequest
    plain: OffsetCommitRequest
    refused: list[OffsetCommitResponseTopic]
    reply: Exchange[TxnOffsetCommitResponse]

    def start(self) -> None:
        """Ask the group's shard, and then the transactional id's if need be."""
        request = self.request
        if not request.group_id:
            self.fail(ErrorCode.INVALID_GROUP_ID)
            return
        adds = self.context.api_version >= FIRST_THAT_ADDS
        producer = Producer(request.producer_id, request.producer_epoch)
        try:
            claim = self.node.groups.claim(self._partition, producer, bumps_epoch=adds)
        except CoordinatorError as refused:
            self.fail(refused.error)
            return
        if claim.is_open:
            self._write(claim)
        elif self.node.catalog.read(CatalogShard.topic, TRANSACTIONS.topic) is None:
            self.fail(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        else:
            self._ask_coordinator(claim, adds=adds)

    def _ask_coordinator(self, claim: Claim, *, adds: bool) -> None:
        courier, context, request = self.node.courier, self.context, self.request
        shard, sender = courier.locate(TRANSACTIONS.topic, request.transactional_id), self.node.groups.ownership(self._partition)
        group = GroupInTransaction(
            request.transactional_id,
            request.producer_id,
            request.producer_epoch,
            self._partition,
            VERSION_THAT_ADDS,
            context.client_id,
            context.client_host,
            context.api_key,
            context.api_version,
            context.principal,
        )
        if adds:
            courier.carry(sender, shard, ADD_GROUP, group, CallbackReply(partial(self._added, claim), self._refused_there))
        else:
            courier.carry(sender, shard, FIND_GROUP, group, CallbackReply(partial(self._found, claim), self._refused_there))

    def _added(self, claim: Claim, _: None) -> None:
        self._write(claim)

    def _found(self, claim: Claim, is_there: bool) -> None:
        if is_there:
            self._write(claim)
        else:
            knows = self.context.api_version >= FIRST_WITH_ABORTABLE
            self.fail(ErrorCode.TRANSACTION_ABORTABLE if knows else ErrorCode.INVALID_TXN_STATE)

    def _refused_there(self, error: ErrorCode, message: str | None) -> None:
        # Clients expect the log's name for a producer that is fenced, not the coordinator's.
        self.fail(ErrorCode.INVALID_PRODUCER_EPOCH if error == ErrorCode.PRODUCER_FENCED else error)

    def _write(self, claim: Claim) -> None:
        self.node.groups.write(self._partition, COMMIT, self.context, self.plain, CallbackReply(self._complete, self.fail), claim)

    @property
    def _partition(self) -> int:
        return self.node.partition_of(self.request.group_id)

    def _complete(self, response: OffsetCommitResponse) -> None:
        # As in Kafka, a topic that the request names twice is answered twice, unless some partitions were refused here.
        answered = merged(self.refused, response.topics, _TOPIC) if self.refused else response.topics
        self.reply.complete(TxnOffsetCommitResponse(topics=[_answer(topic) for topic in answered]))

    def fail(self, error: ErrorCode, message: str | None = None) -> None:
        """Answer an error for each partition that is left."""
        code = _code(self.context, error)
        self._complete(OffsetCommitResponse(topics=[refused_topic(topic, code) for topic in self.plain.topics]))


def txn_offset_commit(
    node: Node, context: RequestContext, request: TxnOffsetCommitRequest, reply: Exchange[TxnOffsetCommitResponse]
) -> None:
    """Refuse partitions that do not exist; the shards handle the rest."""
    plain = OffsetCommitRequest(request.group_id, request.generation_id, request.member_id, request.group_instance_id)
    if reply.is_large:
        node.steps.run_on(reply, _in_steps(node, context, request, plain, reply))
        return
    plain.topics = [_plain(topic) for topic in request.topics]
    _commit_rest(_Commit(node, context, request, plain, refuse_unknown(node, context, plain.topics), reply))


def _in_steps(
    node: Node,
    context: RequestContext,
    request: TxnOffsetCommitRequest,
    plain: OffsetCommitRequest,
    reply: Exchange[TxnOffsetCommitResponse],
) -> Work[None]:
    """Check the topics of a large request in steps; the commit is one."""

    def refused_of(topics: Iterable[TxnOffsetCommitRequestTopic]) -> list[OffsetCommitResponseTopic]:
        taken = [_plain(topic) for topic in topics]
        plain.topics += taken
        return refuse_unknown(node, context, taken)

    refused = yield from portions_in_steps(request.topics, TOPICS_PER_STEP, refused_of)
    _commit_rest(_Commit(node, context, request, plain, refused, reply))


def _commit_rest(commit: _Commit) -> None:
    """Commit what was not refused."""
    commit.plain.topics = [topic for topic in commit.plain.topics if topic.partitions]
    if commit.plain.topics:
        commit.start()
    else:
        commit.fail(ErrorCode.NONE)


def refuse_txn_offset_commit(
    context: RequestContext, request: TxnOffsetCommitRequest, error: ErrorCode, message: str | None
) -> TxnOffsetCommitResponse:
    code = _code(context, error)
    return TxnOffsetCommitResponse(topics=[_answer(refused_topic(_plain(topic), code)) for topic in request.topics])


TXN_OFFSET_COMMIT_API = ApiRow(
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    txn_offset_commit,
    refuse_txn_offset_commit,
    Order.ALONE,
    ShortWay(None, refusal_encoder),
    unread=unread_commit(TxnOffsetCommitRequest),
    touches=lambda request: frozenset((request.transactional_id, request.producer_id, request.group_id)),
    access=ApiAccess(
        (WRITE_TRANSACTION, READ_GROUP),
        Each("topics", Operation.READ, ResourceType.TOPIC, lambda _, topic: topic.name, "topics"),
    ),
)


def _code(context: RequestContext, error: ErrorCode) -> ErrorCode:
    """Return the error that the client understands."""
    code = operation_error(error)
    if code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and context.api_version < FIRST_WITH_LOADING:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return code


def _plain(topic: TxnOffsetCommitRequestTopic) -> OffsetCommitRequestTopic:
    partitions = [
        OffsetCommitRequestPartition(
            one.partition_index, one.committed_offset, one.committed_leader_epoch, one.committed_metadata
        )
        for one in topic.partitions
    ]
    return OffsetCommitRequestTopic(topic.name, partitions=partitions)


def _answer(topic: OffsetCommitResponseTopic) -> TxnOffsetCommitResponseTopic:
    partitions = [TxnOffsetCommitResponsePartition(one.partition_index, one.error_code) for one in topic.partitions]
    return TxnOffsetCommitResponseTopic(topic.name, partitions)
