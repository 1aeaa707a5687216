"""Producers that move offsets of several groups in transactions, and know of each what they were told;
over simulated or real connections.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from random import Random
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

M = TypeVar("M", bound=Message)

TOPIC: Final = "t"
RETRIED: Final = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)
# How long it waits for an answer: a transaction may stay open for a shorter or a longer time.
TIMEOUT_MS: Final = 2500
TRIES: Final = 30


class Outcome(Enum):
    """What a producer was told of the end of a transaction: UNKNOWN if it asked for a commit and was told nothing,
    ABANDONED if it did not ask."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"
    ABANDONED = "abandoned"


class Moved(Struct):
    """One transaction: an offset, which no other transaction has, and the groups that it moves to it."""

    transactional_id: str
    producer: tuple[int, int]
    offset: int
    groups: list[str]
    began_us: int
    outcome: Outcome = Outcome.ABANDONED
    is_over: bool = False


class Given(Struct, frozen=True):
    """A producer id and epoch that the server has given to somebody."""

    transactional_id: str | None
    producer: tuple[int, int]
    at_us: int


class Fenced(Exception):
    """Somebody else has the transactional id, or the transaction was aborted: begin anew."""


class Connection(Protocol):
    """A client's connection to one loop, which it makes anew when it is lost."""

    @property
    def now_us(self) -> int:
        """Microseconds since the beginning."""

    async def sleep(self, ms: int) -> None:
        """Let time pass."""

    async def ask(self, request: Message, version: int, response: type[M], timeout_ms: int = 5000) -> M | None:
        """The answer; None when the connection broke first, or it took too long."""


class Surroundings(NamedTuple):
    """What producers share: connections, by loop; which loop has a key of a topic; offsets that nobody had before."""

    clients: Sequence[Connection]
    owner: Callable[[str, str], int]
    next_offset: Callable[[], int]


class Mover:
    """One process with a transactional id, which another one may have, too."""

    def __init__(self, transactional_id: str, position: int, rng: Random, around: Surroundings) -> None:
        self.transactional_id = transactional_id
        self.moved: list[Moved] = []
        self.given: list[Given] = []
        self._position = position
        self._rng = rng
        self._clients = around.clients
        self._around = around
        self._at_once = rng.choice((True, False))
        self._timeout_ms = rng.choice((1000, 5000))

    async def work(self, groups: list[str]) -> None:
        """Until abandoned."""
        rng = self._rng
        while True:
            await self._clients[0].sleep(rng.randint(1, 500))
            try:
                producer = await self._begin()
                for _ in range(rng.randint(1, 12)):
                    producer = await self._move(producer, rng.sample(groups, rng.randint(1, min(3, len(groups)))))
            except Fenced:
                continue

    async def nameless(self) -> None:
        """Take an id for a producer without transactions."""
        answer = await self._ask_once(self._clients[self._rng.randrange(len(self._clients))], None)
        if answer is not None and not answer.error_code:
            self.given.append(Given(None, (answer.producer_id, answer.producer_epoch), self._clients[0].now_us))

    async def _begin(self) -> tuple[int, int]:
        for _ in range(TRIES):
            answer = await self._ask_once(self._coordinator, self.transactional_id)
            if answer is not None and not answer.error_code:
                producer = (answer.producer_id, answer.producer_epoch)
                self.given.append(Given(self.transactional_id, producer, self._clients[0].now_us))
                return producer
            await self._pause(None if answer is None else answer.error_code)
        raise Fenced

    async def _ask_once(self, client: Connection, transactional_id: str | None) -> InitProducerIdResponse | None:
        request = InitProducerIdRequest(transactional_id, self._timeout_ms, -1, -1)
        return await client.ask(request, 4, InitProducerIdResponse, TIMEOUT_MS)

    async def _move(self, producer: tuple[int, int], groups: list[str]) -> tuple[int, int]:
        """One transaction. Return the producer with its next epoch."""
        rng = self._rng
        moved = Moved(self.transactional_id, producer, self._around.next_offset(), groups, self._clients[0].now_us)
        self.moved.append(moved)
        for group_id in groups:
            if not self._at_once:
                add = AddOffsetsToTxnRequest(self.transactional_id, *producer, group_id)
                await self._ask("__transaction_state", self.transactional_id, add, 3, AddOffsetsToTxnResponse)
            await self._clients[0].sleep(rng.choice((0, 1, 20)))
            partition = TxnOffsetCommitRequestPartition(self._position, moved.offset)
            topics = [TxnOffsetCommitRequestTopic(TOPIC, [partition])]
            commit = TxnOffsetCommitRequest(self.transactional_id, group_id, *producer, topics=topics)
            await self._ask("__consumer_offsets", group_id, commit, 5 if self._at_once else 3, TxnOffsetCommitResponse)
        # Now and then it takes too long, dies, or thinks better of it.
        await self._clients[0].sleep(rng.choices((0, 5, 100, 3000), (8, 4, 4, 1))[0])
        if rng.random() < 0.1:
            raise Fenced
        is_commit = rng.random() < 0.75
        moved.outcome = Outcome.UNKNOWN if is_commit else Outcome.ABANDONED
        end = EndTxnRequest(self.transactional_id, *producer, is_commit)
        answer = await self._ask("__transaction_state", self.transactional_id, end, 5 if self._at_once else 3, EndTxnResponse)
        moved.outcome = Outcome.COMMITTED if is_commit else Outcome.ABORTED
        moved.is_over = True
        return (answer.producer_id, answer.producer_epoch) if self._at_once else producer

    async def _ask(self, topic: str, key: str, request: Message, version: int, response: type[M]) -> M:
        """Ask until there is an answer. Raises Fenced for one that ends the transaction."""
        for _ in range(TRIES):
            client = self._clients[self._around.owner(topic, key)]
            answer = await client.ask(request, version, response, TIMEOUT_MS)
            error = None if answer is None else error_of(answer)
            if answer is not None and not error:
                return answer
            await self._pause(error)
        raise Fenced

    async def _pause(self, error: int | None) -> None:
        if error is not None and error not in RETRIED:
            raise Fenced
        await self._clients[0].sleep(self._rng.randint(5, 200))

    @property
    def _coordinator(self) -> Connection:
        return self._clients[self._around.owner("__transaction_state", self.transactional_id)]


def error_of(answer: Any) -> int:
    """The one error of an answer."""
    if isinstance(answer, TxnOffsetCommitResponse):
        return answer.topics[0].partitions[0].error_code
    return int(answer.error_code)
