"""The contract between a replicated state machine and the runtime that drives it (Kafka's ``coordinator-common``).

A shard's *operations* are methods that the runtime calls one at a time. A write operation reads the latest state, changes
no hard state, and returns a CoordinatorResult. The runtime then replays the records into the shard, appends them, and
sends the response to the peer once the records are durable. A read operation takes the committed offset and returns its
response. Either may raise CoordinatorError; it must then have changed nothing.

Hard state (rebuilt from the log) changes only in ``replay``, of the shard or of a RecordBlock. Soft state (timers, joins
in flight) may change in operations and in ``CoordinatorResult.on_append``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from enum import Enum
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from coordinator_server.machine.block import RecordBlock
from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.provenance import ANONYMOUS, Attribution, Origin
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode

T_co = TypeVar("T_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


class RequestContext(Struct, frozen=True, gc=False):
    """The sender and the version of a request, from the socket and the request header."""

    client_id: str
    client_host: str
    api_key: int
    api_version: int
    principal: str = ANONYMOUS
    # The same as record headers; None if provenance is off.
    origin: Origin | None = None


class Deferred(Enum):
    """The marker that an operation returns as its response when it answers its Reply itself, now or later."""

    DEFERRED = "deferred"


DEFERRED = Deferred.DEFERRED


class Reply(Protocol[T_contra]):
    """The single answer to a request. Exactly one of the two methods is called, exactly once."""

    def complete(self, response: T_contra, /) -> None: ...

    def fail(self, error: ErrorCode, message: str | None = None, /) -> None: ...


Again: TypeAlias = Callable[[int], bool]
"""Does once more what an operation did that wrote nothing, if the same client sends the same request again.

Gets the offset up to which the log is durable. Returns True if the answer is the same and depends on nothing later. Otherwise it
changes nothing and returns False, and the operation must run. It may raise CoordinatorError, which means the same.
"""


class Answered(NamedTuple, Generic[T_co]):
    """The answer of a read operation. ``again`` is a short way to the same answer; None: there is none."""

    answer: T_co
    again: Again | None


class CoordinatorResult(Struct, Generic[T_co], frozen=True, gc=False):
    """The result of a write operation, as data. Immutable: operations share the empty result."""

    response: T_co | Deferred
    records: Sequence[CoordinatorRecord] | RecordBlock = ()
    # Called once: with None when the records are durable, or with the error when the append failed and the state has been
    # reverted. If the response is DEFERRED, on_append sends the answer.
    on_append: Callable[[ErrorCode | None], None] | None = None
    # For a result without records: hold the response until the high watermark reaches this offset. None: until it reaches
    # the shard's next offset. 0: send at once, because the answer depends on no uncommitted state (heartbeats).
    depends_on: int | None = None
    # False for independent records (the tombstones of an expiry): they may be split over batches, and those before a
    # failed one stay.
    is_atomic: bool = True
    # Provenance headers of the records, in addition to the operation's origin.
    attribution: Attribution | None = None
    # Of a result without records: a short way to the same answer. None: there is none.
    again: Again | None = None
    # If on_append answers clients: refuses those of them that still wait, and returns their number. Called when the log does not
    # answer in time, perhaps more than once. on_append is called all the same, later.
    on_overdue: Callable[[], int] | None = None


class Producer(NamedTuple):
    """The transactional producer of a record or a marker."""

    id: int
    epoch: int


class TransactionResult(Enum):
    """The outcome of a transaction."""

    COMMIT = "commit"
    ABORT = "abort"


class PlainRecords(Protocol):
    """A fast replay for the most frequent type of record. It changes the state exactly as ``CoordinatorShard.replay`` does.

    Only for loads: a revert to an open snapshot may keep what it has changed.
    """

    def replay(self, data: bytes, pos: int, end: int, base_offset: int, last_delta: int, /) -> tuple[int, int]:
        """Replay a batch's records from ``pos`` until the first record of a different type.

        Return the position of that record (or ``end``) and the number of records replayed. ``data`` up to ``end`` is a
        batch that was verified, is not compressed and has no attributes.
        """


class CheckpointState(Protocol):
    """The state in a checkpoint, by key. It precedes all replayed records, and a key's state is read on first use."""

    def __contains__(self, key: str, /) -> bool: ...

    def __iter__(self) -> Iterator[str]:
        """Yield all keys, in no particular order."""

    def __len__(self) -> int: ...

    def bounds(self, key: str, /) -> tuple[int, int]:
        """Return the two numbers stored in the index for an existing key, without reading its block.

        The shard defines their meaning.
        """

    def rows(self, key: str, /) -> int:
        """Return the number of rows of an existing key, from the index."""

    def block(self, key: str, /) -> bytes | None:
        """Return the stored bytes of an existing key, or None if they are damaged."""

    def records(self) -> Iterator[tuple[int, CoordinatorRecord]]:
        """Yield the source records of all blocks, with their offsets. Slow: used when a block is damaged."""

    def close(self) -> None:
        """Release the checkpoint."""


class CoordinatorShard(Protocol):
    """One partition's replicated state machine.

    Subclasses that never take part in transactions can inherit the transaction methods.
    """

    def on_loaded(self) -> None:
        """Build soft state and arm timers. Called when the log has been replayed."""

    def on_unloaded(self) -> None:
        """Answer everything in flight and drop soft state. Called when the shard is unloaded."""

    def replay(self, offset: int, record: CoordinatorRecord, /) -> None:
        """Apply one record. The live server, recovery and the pipeline all use this method."""

    def replay_in_transaction(self, producer: Producer, offset: int, record: CoordinatorRecord, /) -> None:
        """Apply one record of an open transaction. It must not be visible as committed before the commit marker."""
        raise TypeError(f"{type(self).__name__} keeps no open transactions, and a record at offset {offset} belongs to one")

    def replay_end_transaction_marker(self, producer: Producer, result: TransactionResult, /) -> None:
        """End the transaction of ``producer``. Do nothing if the shard has no records of it."""
        return

    def digest(self, committed_offset: int, max_items: int, with_parts: bool, /) -> StateDigest | None:
        """Return the digest of the hard state, or None if more than about ``max_items`` are left to hash: call again.

        A read operation.
        """

    def use_checkpoint(self, checkpoint: CheckpointState, /) -> bool:
        """Return whether the shard adopts this checkpoint as its initial state. Called before any replay.

        If False, the shard gets the checkpoint's source records by ``replay``.
        """
        return False

    def plain_records(self) -> PlainRecords | None:
        """Return a fast replay for loading a whole log, or None. It may be used only while no snapshot is open."""


class CoordinatorTimer(Protocol):
    """The timers of one shard, by key. An expiry runs as a write operation. A cancelled or replaced timer never fires."""

    def schedule(
        self, key: Hashable, delay_ms: int, operation: Callable[[], CoordinatorResult[Any]], /, retry_ms: int = 0
    ) -> None:
        """Arm or re-arm the timer of ``key``.

        With ``retry_ms`` an expiry that fails, or whose records are not written, is repeated after that time.
        """

    def cancel(self, key: Hashable, /) -> None:
        """Disarm the timer of ``key``. Do nothing if it has none."""

    def heard(self, key: Hashable, /) -> None:
        """Note a sign of life of a client that then waits for us: it does not arm the timer of ``key`` again."""

    def is_scheduled(self, key: Hashable, /) -> bool: ...

    def left_ms(self, key: Hashable, /) -> int | None:
        """Return how long it is until the timer of ``key`` fires; None if it is not armed."""


class Report(Protocol):
    """Counts what a state machine refuses because of a limit, and logs it sparingly."""

    def __call__(self, name: str, **fields: object) -> None:
        """Report one case. ``name`` is the kind of case; the fields may have texts of clients."""


def report_nothing(name: str, **fields: object) -> None:
    """Do nothing, for state machines that serve no clients."""


class Clock(Protocol):
    """The two clocks of a state machine."""

    def wall_ms(self) -> int:
        """Return milliseconds since the Unix epoch, for timestamps that people and other processes read."""

    def now_ms(self) -> int:
        """Return monotonic milliseconds since an arbitrary start. Timers use it."""
