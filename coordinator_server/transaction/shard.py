"""TransactionShard: one partition of ``__transaction_state`` as a state machine (Kafka's ``TransactionCoordinator``).

Hard state is one Transaction per transactional id. Soft state:

    pending        the durable state of ids whose last transition is not durable: requests see it, and may get
                   CONCURRENT_TRANSACTIONS
    last epochs    for repeated requests; a load forgets them, as in Kafka
    open since     when each open transaction began on the monotonic clock, or when the shard was loaded: the time that a server
                   does not run, and a wall clock that jumps, let no transaction time out
    unmarked       the partitions whose markers are not durable, by id

The end of a transaction: PREPARE is durable, the client is answered, a marker is written to each partition of
``__consumer_offsets``, COMPLETE is written. PREPARE is the intent (``machine/outbox.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Final, NamedTuple, TypeVar

from coordinator_server.kinds import GROUPS
from coordinator_server.machine.digest import StateDigest, digest_text
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.outbox import Outbox, Refused
from coordinator_server.machine.shard import (
    Clock,
    CoordinatorResult,
    CoordinatorShard,
    CoordinatorTimer,
    Reply,
    RequestContext,
    TransactionResult,
)
from coordinator_server.machine.steady_clock import SteadyClock
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry, TimelineDict
from coordinator_server.transaction import transaction as steps
from coordinator_server.transaction.describe import TransactionFilter, listed
from coordinator_server.transaction.digest import transaction_digest
from coordinator_server.transaction.end import EndRequest, end_response, is_end
from coordinator_server.transaction.markers import WRITE_MARKER, Marker
from coordinator_server.transaction.state import AT_REST, PREPARED, TransactionState
from coordinator_server.transaction.transaction import (
    NO_EPOCH,
    NO_PRODUCER_ID,
    TopicPartition,
    Transaction,
    Transition,
    is_exhausted,
    record_of,
    transaction_of,
)
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from protocol.messages.list_transactions import TransactionState as ListedTransaction
from protocol.messages.transaction_records import TransactionLogKey, TransactionLogValue

R = TypeVar("R")

SERVED_VERSION: Final = 2
"""The version of transactions that the coordinator begins or ends itself: ``transaction.version`` of a 4.3.1 cluster."""
FIRST_END_WITH_EPOCH_BUMP: Final = 5
"""The first version of EndTxn that belongs to version 2 of transactions."""
IDS_PER_STEP: Final = 500
DURABLE: Final = 0
"""What an answer depends on that describes an id without a pending transition."""
RETRY_MS: Final = 1_000

_TIMEOUTS: Final = ("timeouts",)
_EXPIRY: Final = ("expiry",)


class TransactionLimits(NamedTuple):
    """The longest timeout that a client may ask for, and the time after which an unused id is forgotten, with the intervals at
    which each is checked; the most partitions of a transaction."""

    max_timeout_ms: int
    expiration_ms: int
    timeout_interval_ms: int
    expiration_interval_ms: int
    max_partitions: int


class PartitionsRequest(NamedTuple):
    """Partitions to add to a transaction, or to look for in it. ``version`` is that of the client's transactions."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    partitions: frozenset[TopicPartition]
    version: int = 0


class TransactionShard(CoordinatorShard):
    """The transactions of one partition. ``new_producer_id`` raises CoordinatorError while there is none."""

    def __init__(
        self,
        *,
        limits: TransactionLimits,
        registry: SnapshotRegistry,
        timer: CoordinatorTimer,
        clock: Clock,
        outbox: Outbox,
        new_producer_id: Callable[[], int],
    ) -> None:
        self._limits = limits
        self._timer = timer
        self._clock = clock
        self._steady = SteadyClock(clock)
        self._outbox = outbox
        self._new_producer_id = new_producer_id
        self._transactions: TimelineDict[str, Transaction] = TimelineDict(registry)
        self._pending: dict[str, Transaction] = {}
        self._last_epochs: dict[str, int] = {}
        self._open_since_ms: dict[str, int] = {}
        self._unmarked: dict[str, set[int]] = {}

    # Write operations

    def init_producer_id(
        self, context: RequestContext, request: InitProducerIdRequest, reply: Reply[InitProducerIdResponse]
    ) -> CoordinatorResult[InitProducerIdResponse]:
        """Give a transactional id its next epoch. An open transaction is aborted first, and the client has to ask again."""
        transactional_id, timeout_ms = request.transactional_id, request.transaction_timeout_ms
        expected_id, expected = request.producer_id, request.producer_epoch
        if not transactional_id or (expected_id == NO_PRODUCER_ID) != (expected == NO_EPOCH):
            raise CoordinatorError(ErrorCode.INVALID_REQUEST)
        if not 0 < timeout_ms <= self._limits.max_timeout_ms:
            raise CoordinatorError(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        now_ms = self._clock.wall_ms()
        known = self._durable(transactional_id)
        if known is None:
            known = steps.created(self._new_producer_id(), timeout_ms, now_ms)
        self._check_free(transactional_id, known)
        if expected != NO_EPOCH and not _is_own(known, expected_id, expected):
            raise CoordinatorError(ErrorCode.PRODUCER_FENCED)
        if known.state is TransactionState.ONGOING:
            refused = InitProducerIdResponse(
                error_code=ErrorCode.CONCURRENT_TRANSACTIONS, producer_id=NO_PRODUCER_ID, producer_epoch=NO_EPOCH
            )
            transition = self._prepared(transactional_id, known, TransactionResult.ABORT, SERVED_VERSION)
            return self._write(transactional_id, known, transition, refused)
        if known.is_exhausted and expected in (NO_EPOCH, known.producer_epoch):
            new_id = self._new_producer_id()
            transition = steps.with_new_producer_id(known, new_id, timeout_ms, now_ms, is_continued=expected != NO_EPOCH)
        else:
            last = self._last_epochs.get(transactional_id, NO_EPOCH)
            transition = steps.with_next_epoch(known, last, None if expected == NO_EPOCH else expected, timeout_ms, now_ms)
        after = transition.after
        answer = InitProducerIdResponse(producer_id=after.producer_id, producer_epoch=after.producer_epoch)
        return self._write(transactional_id, known, transition, answer)

    def add_partitions(self, context: RequestContext, request: PartitionsRequest, reply: Reply[None]) -> CoordinatorResult[None]:
        """Add partitions to a transaction, which begins if none is open."""
        transactional_id = request.transactional_id
        known = self._known(transactional_id)
        self._check_free(transactional_id, known)
        _check_producer(known, request)
        if known.state is TransactionState.ONGOING and request.partitions <= known.partitions:
            return CoordinatorResult(None, depends_on=DURABLE)
        if len(request.partitions | known.partitions) > self._limits.max_partitions:
            raise CoordinatorError(ErrorCode.POLICY_VIOLATION)
        last = self._last_epochs.get(transactional_id, NO_EPOCH)
        transition = steps.with_partitions(known, last, request.partitions, request.version, self._clock.wall_ms())
        return self._write(transactional_id, known, transition, None)

    def missing_partitions(
        self, context: RequestContext, request: PartitionsRequest, reply: Reply[frozenset[TopicPartition]]
    ) -> CoordinatorResult[frozenset[TopicPartition]]:
        """Return those of the partitions that are not in the producer's transaction, as far as that is durable.

        A transition may be pending, as in Kafka: the log takes nothing after a marker (``runtime/producers.py``).
        """
        known = self._known(request.transactional_id)
        _check_producer(known, request)
        return CoordinatorResult(request.partitions - known.partitions, depends_on=DURABLE)

    def end_transaction(
        self, context: RequestContext, request: EndTxnRequest, reply: Reply[EndTxnResponse]
    ) -> CoordinatorResult[EndTxnResponse]:
        """Decide a transaction. The client is answered when that is durable; the markers follow."""
        transactional_id = request.transactional_id
        known = self._known(transactional_id)
        result = TransactionResult.COMMIT if request.committed else TransactionResult.ABORT
        bumps = context.api_version >= FIRST_END_WITH_EPOCH_BUMP
        asked = EndRequest(request.producer_id, request.producer_epoch, result, SERVED_VERSION if bumps else 0)
        if not is_end(known, asked, is_pending=self._is_pending(transactional_id, known)):
            return CoordinatorResult(end_response(known, bumps=bumps), depends_on=DURABLE)
        transition = self._prepared(transactional_id, known, result, asked.version)
        done = steps.completed(transition.after, transition.last_epoch, self._clock.wall_ms()).after
        return self._write(transactional_id, known, transition, end_response(done, bumps=bumps))

    def abort(
        self, context: RequestContext, transactional_id: str, reply: Reply[tuple[int, int]]
    ) -> CoordinatorResult[tuple[int, int]]:
        """Abort the open transaction of an id and fence its producer, whose id and epoch are returned."""
        known = self._durable(transactional_id)
        if known is None:
            raise CoordinatorError(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, "there is no such transactional id")
        self._check_free(transactional_id, known)
        if known.state is not TransactionState.ONGOING:
            raise CoordinatorError(ErrorCode.INVALID_TXN_STATE, "no transaction is open")
        transition = self._prepared(transactional_id, known, TransactionResult.ABORT, SERVED_VERSION)
        return self._write(transactional_id, known, transition, (known.producer_id, known.producer_epoch))

    # Read operations

    def transaction(self, committed_offset: int, transactional_id: str) -> Transaction | None:
        """Return the state of an id, or None."""
        return self._transactions.get_at(transactional_id, committed_offset)

    def count(self, committed_offset: int) -> int:
        """Return about how many ids there are: those of transitions that are not durable count too."""
        return len(self._transactions)

    def ids(self, committed_offset: int) -> list[str]:
        """Return every id, in no particular order."""
        return self._transactions.keys_at(committed_offset)

    def list_transactions(
        self, committed_offset: int, wanted: TransactionFilter, transactional_ids: Iterable[str]
    ) -> list[ListedTransaction]:
        """Return the entries of those of the ids that exist and match."""
        now_ms = self._clock.wall_ms()
        found = ((each, self._transactions.get_at(each, committed_offset)) for each in transactional_ids)
        return [listed(each, known) for each, known in found if known is not None and wanted.has(known, now_ms)]

    def digest(self, committed_offset: int, max_items: int = LATEST, with_parts: bool = False) -> StateDigest:
        """Return the digest of all ids. It is never split into steps."""
        items = {each: transaction_digest(each, state) for each, state in self._transactions.items_at(committed_offset)}
        parts = {each: digest_text(item) for each, item in items.items()} if with_parts else {}
        return StateDigest(committed_offset, digest_text(sum(items.values())), parts)

    # The shard's contract

    def replay(self, offset: int, record: CoordinatorRecord, /) -> None:
        """Apply one record."""
        match record.key, record.value:
            case TransactionLogKey(transactional_id=transactional_id), None:
                self._transactions.pop(transactional_id, None)
            case TransactionLogKey(transactional_id=transactional_id), TransactionLogValue() as value:
                self._transactions[transactional_id] = transaction_of(value)

    def plain_records(self) -> None:
        """Return None: the records have different sizes, so there is no fast replay."""

    def on_loaded(self) -> None:
        """Go on with what is decided, and start to watch what is open."""
        now_ms = self._clock.now_ms()
        for transactional_id, known in self._transactions.items():
            if known.state is TransactionState.ONGOING:
                self._open_since_ms[transactional_id] = now_ms
            elif known.state in PREPARED:
                self._send_markers(transactional_id)
        self._timer.schedule(_TIMEOUTS, self._limits.timeout_interval_ms, self._look_for_overdue)
        self._timer.schedule(_EXPIRY, self._limits.expiration_interval_ms, self._forget_unused)

    def on_unloaded(self) -> None:
        """Drop soft state."""
        self._pending.clear()
        self._last_epochs.clear()
        self._open_since_ms.clear()
        self._unmarked.clear()

    # Transitions

    def _durable(self, transactional_id: str) -> Transaction | None:
        """Return the state of an id without the transition that is pending."""
        return self._pending.get(transactional_id) or self._transactions.get(transactional_id)

    def _known(self, transactional_id: str) -> Transaction:
        if not transactional_id:
            raise CoordinatorError(ErrorCode.INVALID_REQUEST)
        known = self._durable(transactional_id)
        if known is None:
            raise CoordinatorError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        return known

    def _is_pending(self, transactional_id: str, known: Transaction) -> bool:
        return transactional_id in self._pending or known.state in PREPARED

    def _check_free(self, transactional_id: str, known: Transaction) -> None:
        if self._is_pending(transactional_id, known):
            raise CoordinatorError(ErrorCode.CONCURRENT_TRANSACTIONS)

    def _prepared(self, transactional_id: str, known: Transaction, result: TransactionResult, version: int) -> Transition:
        last = self._last_epochs.get(transactional_id, NO_EPOCH)
        is_bumped_over = version >= steps.FIRST_WITH_EPOCH_BUMP and known.is_exhausted
        next_id = self._new_producer_id() if is_bumped_over else NO_PRODUCER_ID
        return steps.prepared(known, last, result, version, next_id, self._clock.wall_ms())

    def _write(self, transactional_id: str, known: Transaction, transition: Transition, response: R) -> CoordinatorResult[R]:
        self._pending[transactional_id] = known
        record = record_of(transactional_id, transition.after)
        return CoordinatorResult(response, [record], partial(self._written, transactional_id, transition))

    def _written(self, transactional_id: str, transition: Transition, error: ErrorCode | None) -> None:
        """Follow a transition with soft state, or forget one that was not written."""
        self._pending.pop(transactional_id, None)
        if error is not None:
            return
        state, self._last_epochs[transactional_id] = transition.after.state, transition.last_epoch
        if state is TransactionState.ONGOING:
            self._open_since_ms.setdefault(transactional_id, self._clock.now_ms())
            return
        self._open_since_ms.pop(transactional_id, None)
        self._unmarked.pop(transactional_id, None)
        if state in PREPARED:
            self._send_markers(transactional_id)

    # Markers

    def _send_markers(self, transactional_id: str) -> None:
        """Write a marker to each partition of the groups' log. Partitions of other topics have no records here."""
        known = self._transactions[transactional_id]
        unmarked = self._unmarked[transactional_id] = {index for topic, index in known.partitions if topic == GROUPS.topic}
        if not unmarked:
            self._timer.schedule(transactional_id, 0, partial(self._complete, transactional_id), RETRY_MS)
        is_commit = steps.result_of(known.state) is TransactionResult.COMMIT
        marker = Marker(transactional_id, known.producer_id, known.producer_epoch, is_commit, known.client_version)
        for index in sorted(unmarked):
            intent = (transactional_id, known.producer_id, known.producer_epoch, index)
            self._outbox.send(intent, WRITE_MARKER, index, marker, partial(self._marked, transactional_id, index))

    def _marked(self, transactional_id: str, index: int, outcome: bool | Refused) -> CoordinatorResult[None]:
        """Note a durable marker, or that the partition has seen a newer epoch. Raise any other error: the marker is sent again."""
        if isinstance(outcome, Refused) and outcome.error is not ErrorCode.INVALID_PRODUCER_EPOCH:
            raise CoordinatorError(outcome.error, outcome.message)
        unmarked = self._unmarked[transactional_id]
        unmarked.discard(index)
        return CoordinatorResult(None) if unmarked else self._complete(transactional_id)

    def _complete(self, transactional_id: str) -> CoordinatorResult[None]:
        known = self._transactions[transactional_id]
        last = self._last_epochs.get(transactional_id, NO_EPOCH)
        return self._write(transactional_id, known, steps.completed(known, last, self._clock.wall_ms()), None)

    # What time does

    def _look_for_overdue(self) -> CoordinatorResult[None]:
        """Abort each transaction that is open for longer than its timeout, in an operation of its own."""
        now_ms = self._clock.now_ms()
        for transactional_id, since_ms in self._open_since_ms.items():
            known = self._transactions.get(transactional_id)
            if known is not None and since_ms + known.timeout_ms < now_ms:
                self._timer.schedule(transactional_id, 0, partial(self._abort_overdue, transactional_id), RETRY_MS)
        self._timer.schedule(_TIMEOUTS, self._limits.timeout_interval_ms, self._look_for_overdue)
        return CoordinatorResult(None)

    def _abort_overdue(self, transactional_id: str) -> CoordinatorResult[None]:
        """Abort a transaction and fence its producer, unless it has ended meanwhile."""
        known = self._transactions.get(transactional_id)
        since_ms = self._open_since_ms.get(transactional_id)
        if known is None or since_ms is None or self._is_pending(transactional_id, known):
            return CoordinatorResult(None)
        if since_ms + known.timeout_ms >= self._clock.now_ms():
            return CoordinatorResult(None)
        transition = self._prepared(transactional_id, known, TransactionResult.ABORT, SERVED_VERSION)
        return self._write(transactional_id, known, transition, None)

    def _forget_unused(self) -> CoordinatorResult[None]:
        """Forget ids that have been at rest for the expiration time, in steps. A step that is not written is the last for now."""
        before_ms = self._steady.now_ms() - self._limits.expiration_ms
        unused = [
            each
            for each, known in self._transactions.items()
            if known.state in AT_REST and known.update_ms <= before_ms and each not in self._pending
        ][:IDS_PER_STEP]
        self._timer.schedule(_EXPIRY, self._limits.expiration_interval_ms, self._forget_unused)
        self._pending |= {each: self._transactions[each] for each in unused}
        records = [CoordinatorRecord(TransactionLogKey(each), None) for each in unused]
        return CoordinatorResult(None, records, partial(self._forgotten, unused), is_atomic=False)

    def _forgotten(self, unused: Collection[str], error: ErrorCode | None) -> None:
        if error is None and len(unused) == IDS_PER_STEP:
            self._timer.schedule(_EXPIRY, 0, self._forget_unused)
        for transactional_id in unused:
            self._pending.pop(transactional_id, None)
            if transactional_id not in self._transactions:
                self._last_epochs.pop(transactional_id, None)


def _is_own(known: Transaction, producer_id: int, epoch: int) -> bool:
    """Return whether a producer may go on with its id: it has the present one, or it had the one before to its last epoch."""
    if known.producer_epoch == NO_EPOCH or producer_id == known.producer_id:
        return True
    return producer_id == known.previous_producer_id and is_exhausted(epoch)


def _check_producer(known: Transaction, request: PartitionsRequest) -> None:
    if known.producer_id != request.producer_id:
        raise CoordinatorError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if known.producer_epoch != request.producer_epoch:
        raise CoordinatorError(ErrorCode.PRODUCER_FENCED)
    if known.state in PREPARED:
        raise CoordinatorError(ErrorCode.CONCURRENT_TRANSACTIONS)
