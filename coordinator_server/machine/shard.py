"""The contract between a replicated state machine and the runtime that drives it (Kafka's ``coordinator-common``).

A shard's *operations* are methods that the runtime calls one at a time. A write operation reads the present state, changes no hard
state, and returns a CoordinatorResult; the runtime then replays its records into the shard, appends them, and gives the
response to the peer once they are durable. A read operation takes the committed offset and returns its response. Either may raise
CoordinatorError, and leaves no trace when it does.

Hard state (what the log can rebuild) changes only in ``replay``, of the shard or of a RecordBlock. Soft state (timers, joins in flight) may change in operations and in
``CoordinatorResult.on_append``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from enum import Enum
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from coordinator_server.machine.block import RecordBlock
from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.provenance import ANONYMOUS, Attribution, Origin
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode

T_co = TypeVar("T_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


class RequestContext(Struct, frozen=True, gc=False):
    """Who asks, and how: what the socket and the request header say."""

    client_id: str
    client_host: str
    api_key: int
    api_version: int
    principal: str = ANONYMOUS
    # What the log is to say of all this; nothing where there is no provenance.
    origin: Origin | None = None


class Deferred(Enum):
    """The response of an operation that answers its Reply itself, now or later."""

    DEFERRED = "deferred"


DEFERRED = Deferred.DEFERRED


class Reply(Protocol[T_contra]):
    """The one answer that a request is owed. Exactly one of the two is called, exactly once."""

    def complete(self, response: T_contra, /) -> None: ...

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None: ...


class CoordinatorResult(Struct, Generic[T_co], frozen=True, gc=False):
    """What a write operation wants done, as data. A value: operations share the one that wants nothing."""

    response: T_co | Deferred
    records: Sequence[CoordinatorRecord] | RecordBlock = ()
    # Called once the records are durable (None) or were not and the state has been reverted (the error). With on_append the
    # operation's response may still be DEFERRED: then on_append answers.
    on_append: Callable[[ErrorCode | None], None] | None = None
    # Without records: the response is held until the high watermark passes this offset. None: until it passes all that is pending on
    # the shard. An answer that rests on no uncommitted state says 0 and leaves at once (heartbeats).
    depends_on: int | None = None
    # False for records that mean something each for itself (the tombstones of an expiry): they may be split over batches, and those before
    # one that fails stay.
    is_atomic: bool = True
    # Provenance of the records: what the log is to say of them besides where the operation came from.
    attribution: Attribution | None = None


class Producer(NamedTuple):
    """The transactional producer that a record or a marker speaks for."""

    id: int
    epoch: int


class TransactionResult(Enum):
    """How a transaction ended."""

    COMMIT = "commit"
    ABORT = "abort"


class PlainRecords(Protocol):
    """A shortcut through ``replay`` for the many records of a log that are alike. It changes the state exactly as ``replay`` would."""

    def replay(self, data: bytes, pos: int, end: int, base_offset: int, last_delta: int, /) -> tuple[int, int]:
        """Replay what it knows of a batch's records from ``pos`` on: the position of the first that it does not know, and how many it did.

        ``data`` up to ``end`` is of a batch that was verified, is not compressed and has no attributes.
        """


class CheckpointState(Protocol):
    """State that a checkpoint has by key, below everything that is replayed, and that is read when it is first needed."""

    def __contains__(self, key: str, /) -> bool: ...

    def __iter__(self) -> Iterator[str]:
        """All keys, in no particular order."""

    def bounds(self, key: str, /) -> tuple[int, int]:
        """Two numbers that were written down beside the block of a key, and can be had without reading it. Their meaning is the shard's."""

    def block(self, key: str, /) -> bytes | None:
        """What is written down of a key that is there; None when it cannot be read any more."""

    def records(self) -> Iterator[tuple[int, CoordinatorRecord]]:
        """The records, by offset, that all blocks were made from: slow, for what cannot be read from its block."""

    def close(self) -> None:
        """It is needed no more."""


class CoordinatorShard(Protocol):
    """One partition's replicated state machine. One that is written outside of transactions only may inherit what it need not say."""

    def on_loaded(self) -> None:
        """The log has been replayed: build soft state, arm timers."""

    def on_unloaded(self) -> None:
        """The shard is given up: answer everything in flight, drop soft state."""

    def replay(self, offset: int, record: CoordinatorRecord, /) -> None:
        """Apply one record, live, at recovery and in the pipeline alike."""

    def replay_in_transaction(self, producer: Producer, offset: int, record: CoordinatorRecord, /) -> None:
        """Apply one record whose transaction is open: nobody may see it as committed before the marker that commits it."""
        raise TypeError(f"{type(self).__name__} keeps no open transactions, and a record at offset {offset} belongs to one")

    def replay_end_transaction_marker(self, producer: Producer, result: TransactionResult, /) -> None:
        """The transaction of ``producer`` is over; nothing to do where none of its records are known."""
        return

    def last_stable_offset(self, committed_offset: int, /) -> int:
        """A read operation: the offset of the first record that an open transaction may still take back, or the end of what is durable."""
        return committed_offset

    def digest(self, committed_offset: int, max_items: int, with_parts: bool, /) -> StateDigest | None:
        """A read operation: what the hard state comes to. None when there is more to hash than about ``max_items``: ask again."""

    def rest_on(self, checkpoint: CheckpointState, /) -> bool:
        """Before anything is replayed: whether the shard takes this state as its own. If not, it gets the records."""
        return False

    def plain_records(self) -> PlainRecords | None:
        """A shortcut for whoever replays a whole log, while no snapshot is open; None where there is none."""


class CoordinatorTimer(Protocol):
    """Timers of one shard, by key. An expiry runs as a write operation; a cancelled or replaced timer never fires."""

    def schedule(
        self, key: Hashable, delay_ms: int, operation: Callable[[], CoordinatorResult[Any]], /, retry_ms: int = 0
    ) -> None:
        """Arm or re-arm the timer of ``key``. With ``retry_ms`` an expiry that fails, or is not written, comes again after that long."""

    def cancel(self, key: Hashable, /) -> None:
        """Disarm; nothing happens when there is none."""

    def is_scheduled(self, key: Hashable, /) -> bool: ...


class Clock(Protocol):
    """The two times a state machine may ask for."""

    def wall_ms(self) -> int:
        """Milliseconds since the epoch, for timestamps that people and other processes read."""

    def now_ms(self) -> int:
        """Milliseconds since some moment in the past; never goes back. Timers run on it."""
