"""The transactional producers of a shard's log: which have a transaction open, and whose records and markers the log takes.

It is what the log says, live and after a load: a state machine may drop what an open transaction wrote, and the transaction stays
open until its marker. The checks belong to operations; what is in the log is believed. After Kafka's ``ProducerStateManager`` and
``ProducerAppendInfo``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import CoordinatorResult, CoordinatorTimer, Producer, TransactionResult
from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict
from protocol.error_codes import ErrorCode

NO_OFFSET: Final = -1
NO_SEQUENCE: Final = -1
NO_COORDINATOR_EPOCH: Final = -1
FIRST_WITH_EPOCH_BUMP: Final = 2
"""The first version of transactions in which a marker has a higher epoch than the records of its transaction (KIP-890)."""
_LAST_EPOCH: Final = 2**15 - 1


class ProducerTimes(NamedTuple):
    """Milliseconds.

    A producer without an open transaction is forgotten after the first; the second is how often that is checked.
    """

    expiration_ms: int
    check_ms: int


KAFKAS_TIMES: Final = ProducerTimes(86_400_000, 600_000)
"""Kafka's defaults."""


_TIMER: Final = ("producers",)
"""The timer of the runtime itself in each shard with transactional producers."""


class ProducerWatch:
    """Forgets, from time to time, producers that have written nothing for long."""

    def __init__(self, times: ProducerTimes, wall_ms: Callable[[], int]) -> None:
        self._times = times
        self._wall_ms = wall_ms

    def watch(self, producers: Producers, timers: CoordinatorTimer) -> None:
        """Check the producers of a shard later, if it has some."""
        if producers and not timers.is_scheduled(_TIMER):
            timers.schedule(_TIMER, self._times.check_ms, partial(self._forget, producers, timers))

    def _forget(self, producers: Producers, timers: CoordinatorTimer) -> CoordinatorResult[None]:
        producers.forget(self._wall_ms() - self._times.expiration_ms)
        self.watch(producers, timers)
        return CoordinatorResult(None)


class ProducerState(NamedTuple):
    """What the log says of a producer. The sequence is that of the last batch with its epoch."""

    epoch: int
    last_ms: int
    last_sequence: int = NO_SEQUENCE
    coordinator_epoch: int = NO_COORDINATOR_EPOCH
    marker_offset: int = NO_OFFSET


class ActiveProducer(NamedTuple):
    """A producer, with the offset of the first record of its open transaction, or NO_OFFSET."""

    id: int
    state: ProducerState
    first_offset: int


class Claim(NamedTuple):
    """A producer's claim that its transaction is open, with what the log said when the claim was made.

    If no transaction ``is_open`` here, the transaction coordinator has to confirm the claim. A marker that comes meanwhile makes
    the answer worthless. ``marker_offset`` is the producer's last marker; None if epochs distinguish the transactions.
    """

    producer: Producer
    is_open: bool
    marker_offset: int | None


class EndOfTransaction(NamedTuple):
    """The request to write a marker. ``version`` is that of the transaction.

    ``coordinator_epoch`` is None if the sender is known to be the owner of the transaction.
    """

    producer: Producer
    result: TransactionResult
    version: int
    coordinator_epoch: int | None = None


class Producers:
    """The producers of one log, by id."""

    __slots__ = ("_first", "_states")

    def __init__(self, registry: SnapshotRegistry) -> None:
        self._states: TimelineDict[int, ProducerState] = TimelineDict(registry)
        # The offset of the first record of each open transaction.
        self._first: TimelineDict[int, int] = TimelineDict(registry)

    # Changes: what the log says

    def append(self, producer: Producer, base_offset: int, at_ms: int, last_sequence: int) -> None:
        """Note a batch of a producer's transaction, which it may begin."""
        known = self._states.get(producer.id)
        self._states[producer.id] = (
            ProducerState(producer.epoch, at_ms, last_sequence)
            if known is None
            else known._replace(epoch=producer.epoch, last_ms=at_ms, last_sequence=last_sequence)
        )
        if producer.id not in self._first:
            self._first[producer.id] = base_offset

    def end(self, producer: Producer, offset: int, at_ms: int, coordinator_epoch: int) -> None:
        """Note the marker of a producer, which may have no records here."""
        known = self._states.get(producer.id)
        last_sequence = known.last_sequence if known is not None and known.epoch == producer.epoch else NO_SEQUENCE
        self._states[producer.id] = ProducerState(producer.epoch, at_ms, last_sequence, coordinator_epoch, offset)
        self._first.pop(producer.id, None)

    def forget(self, before_ms: int) -> None:
        """Forget producers without an open transaction whose last batch was not later than that, as Kafka does."""
        for producer_id in [each for each, state in self._states.items() if state.last_ms <= before_ms]:
            if producer_id not in self._first:
                del self._states[producer_id]

    # Checks of operations. They raise CoordinatorError.

    def claim(self, producer: Producer, *, bumps_epoch: bool) -> Claim:
        """Return a claim on a producer's transaction. Raises INVALID_PRODUCER_EPOCH if the log has seen a newer epoch.

        ``bumps_epoch`` is whether each end of a transaction gives the producer its next epoch.
        """
        known = self._states.get(producer.id)
        self._check_epoch(producer, known)
        marker_offset = NO_OFFSET if known is None else known.marker_offset
        return Claim(producer, self._is_open(producer, known), None if bumps_epoch else marker_offset)

    def check_append(self, claim: Claim) -> None:
        """Check that the claim still holds: INVALID_PRODUCER_EPOCH or INVALID_TXN_STATE."""
        producer = claim.producer
        known = self._states.get(producer.id)
        self._check_epoch(producer, known)
        if self._is_open(producer, known):
            return
        marker_offset = NO_OFFSET if known is None else known.marker_offset
        if claim.is_open or claim.marker_offset not in (None, marker_offset):
            raise CoordinatorError(ErrorCode.INVALID_TXN_STATE, "the transaction has ended meanwhile")

    def check_marker(self, end: EndOfTransaction) -> int:
        """Check that a marker may end the producer's transaction, and return the coordinator epoch to write.

        From version 2 on its epoch is higher than that of the records, or it is the same marker as the last one. Raises
        INVALID_PRODUCER_EPOCH or TRANSACTION_COORDINATOR_FENCED.
        """
        producer, asked = end.producer, end.coordinator_epoch
        known = self._states.get(producer.id)
        if known is None:
            return asked or 0
        is_valid = producer.epoch > known.epoch
        if not is_valid and producer.epoch == known.epoch:
            is_valid = end.version < FIRST_WITH_EPOCH_BUMP or producer.id not in self._first or producer.epoch == _LAST_EPOCH
        if not is_valid:
            raise CoordinatorError(ErrorCode.INVALID_PRODUCER_EPOCH, f"the producer's epoch is {known.epoch}")
        if asked is None:
            return max(known.coordinator_epoch, 0)
        if asked < known.coordinator_epoch:
            raise CoordinatorError(ErrorCode.TRANSACTION_COORDINATOR_FENCED, f"the log knows epoch {known.coordinator_epoch}")
        return asked

    # Reads

    def __len__(self) -> int:
        return len(self._states)

    def has_open(self, producer_id: int) -> bool:
        """Return whether a producer has an open transaction."""
        return producer_id in self._first

    def active_at(self, high_watermark: int) -> Iterator[ActiveProducer]:
        """Yield every known producer as of the high watermark."""
        for producer_id, state in self._states.items_at(high_watermark):
            first = self._first.get_at(producer_id, high_watermark)
            yield ActiveProducer(producer_id, state, NO_OFFSET if first is None else first)

    def last_stable_offset(self, high_watermark: int) -> int:
        """Return the offset before which every record is decided, as of the high watermark."""
        return min((first for _, first in self._first.items_at(high_watermark)), default=high_watermark)

    def _is_open(self, producer: Producer, known: ProducerState | None) -> bool:
        return known is not None and known.epoch == producer.epoch and producer.id in self._first

    def _check_epoch(self, producer: Producer, known: ProducerState | None) -> None:
        if known is not None and producer.epoch < known.epoch:
            raise CoordinatorError(ErrorCode.INVALID_PRODUCER_EPOCH, f"the producer's epoch is {known.epoch}")
