"""A node for the handlers of producers' APIs: one shard of transactional ids in memory,
and the loop of another shard is elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from coordinator_server.catalog.topics import Topic
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import Reply, RequestContext
from coordinator_server.machine.timeline import LATEST
from coordinator_server.runtime.runtime import WriteOperation
from coordinator_server.server.exchange.api_row import ApiRow
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from tests.support.api_peer import ApiPeer
from tests.support.configs import config_with
from tests.support.transactions import TransactionLog

HERE, THERE, LOADING = 0, 1, 2
"""The partitions. Ids belong to the one that they begin with, or else to the first."""


class TransactionNode:
    """It has the topic ``orders`` with three partitions. ``catalog`` and so on are the node's."""

    authorizer = None

    def __init__(self) -> None:
        self.log = TransactionLog()
        self.config = config_with(transaction_max_partitions=5_000)
        self.transactions = self.producer_ids = self.image = self
        self.transaction_partitions = 2
        self.is_current = True
        self.failure: ErrorCode | None = None
        self._new_ids = count(70)
        # Whether producers may wait for their loop's ids, and those that do.
        self.is_asked = False
        self.waiting: list[Callable[[], None]] = []

    def ask(self, row: ApiRow[Any, Any], request: Message, version: int) -> Any:
        return ApiPeer(row, self).ask(request, version)

    # The node

    def topic(self, name: str) -> Topic | None:
        return Topic(name, b"i" * 16, 3) if name in ("orders", "__consumer_offsets") else None

    def check_current(self) -> None:
        if not self.is_current:
            raise CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)

    def partition_of(self, group_id: str) -> int:
        return len(group_id)

    def transaction_partition_of(self, transactional_id: str) -> int:
        return {"t": THERE, "l": LOADING}.get(transactional_id[0], HERE)

    # Its producer ids and its runtime

    def take(self) -> int:
        self._refuse(HERE)
        return next(self._new_ids)

    def wait(self, call: Callable[[], None]) -> bool:
        if self.is_asked:
            self.waiting.append(call)
        return self.is_asked

    def write(
        self, partition: int, operation: WriteOperation[Any, Any, Any], context: RequestContext, request: Any, reply: Reply[Any]
    ) -> None:
        try:
            self._refuse(partition)
        except CoordinatorError as refused:
            reply.fail(refused.error)
            return
        answer = self.log.run(lambda: operation.call(self.log.shard, context, request, reply))
        if isinstance(answer, ErrorCode):
            reply.fail(answer)
        else:
            reply.complete(answer)

    def read(self, partition: int, operation: Callable[..., Any], *arguments: Any) -> Any:
        self._refuse(partition)
        return operation(self.log.shard, LATEST, *arguments)

    def _refuse(self, partition: int) -> None:
        if self.failure is not None:
            raise CoordinatorError(self.failure)
        if partition == THERE:
            raise CoordinatorError(ErrorCode.NOT_COORDINATOR)
        if partition == LOADING:
            raise CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
