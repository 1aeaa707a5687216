"""The interfaces to the log of a loop, by use. Everything above ``log/`` knows the log by these and by ``jobs.py``.

    AppendingLog    the runtime makes batches durable
    LoadingLog      the runtime replays a shard
    MovedLog        shards go from loop to loop
    FetchedLog      Fetch and ListOffsets read ranges of a shard
    MaintainedLog   sealing, and the removal of what layers replace
    InspectedLog    sizes, counts and failures
    LogStore        all of them: what ``opening.py`` opens

Duties of the caller of ``submit``:

1. ``submit`` one list of appends at a time per store, the next one after ``done`` was called.
2. ``expected_offset`` is the shard's end offset as the caller knows it; the data is whole RecordBatches that start there.
3. Each shard has an outcome of its own, and ``done`` gets those that are not durable, by shard:

       Unavailable       not written: revert the shard to its ``expected_offset``, and go on
       Fenced            not written, and another process owns the shard: unload it
       OutcomeUnknown    append nothing more to the shard, and ``resolve`` its appends. Other shards go on meanwhile
       Diverged          end the process
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from msgspec import Struct

from coordinator_server.log.errors import DamagedLog, LogError, OutcomeUnknown
from coordinator_server.log.shards import Append, ShardEnd, ShardId
from coordinator_server.log.submit_counts import SubmitCounts
from coordinator_server.worker import Worker

FOREVER: Final = -1
AS_HISTORY: Final = -2

Failures = Mapping[ShardId, LogError]
"""The outcomes of a list of appends: why shards are not durable. The other shards of the list are."""
Done = Callable[[Failures | None], None]
"""Gets the failures of a list of appends. None: all are durable."""
OnSealed = Callable[[Mapping[ShardId, int] | LogError], None]
OnReleased = Callable[[Sequence[ShardEnd] | LogError], None]
"""Gets how far each released shard is durable. Shards without records are not listed."""
OnTaken = Callable[[LogError | None], None]
Check = Callable[[], None]
"""Called before each batch of a search. An exception ends the search."""


class Meta(Struct, frozen=True):
    """The identity of a log. ``partitions`` is by topic, without kinds that are newer than the log.

    One that ``is_observed`` follows another cluster's log, and has that cluster's id.
    """

    cluster_id: str
    node_id: int
    partitions: dict[str, int]
    is_observed: bool = False

    def partition_count(self, topic: str) -> int:
        """Return the number of partitions of a topic.

        LogError if it is missing: no server that knows the topic has opened the log, or a cluster that is followed has none.
        """
        count = self.partitions.get(topic)
        if count is None and self.is_observed:
            raise LogError(
                f"the cluster {self.cluster_id} had no topic {topic} when it was last looked at: nobody has used it yet"
            )
        if count is None:
            raise LogError(f"the log does not say how many partitions {topic} has: start the server on it once")
        return count


class AppendingLog(Protocol):
    """Makes the batches of shards durable."""

    def submit(self, appends: Sequence[Append], done: Done, /) -> None:
        """Make the batches durable; of one shard all or none.

        ``done`` is called on the caller's loop. If the outcome is known before ``submit`` returns, because the write was done on
        the loop, ``done`` is called before that, too.
        """

    def resolve(self, appends: Sequence[Append], done: Done, /) -> None:
        """Find out, however long it takes, whether appends with an unknown outcome are durable. They never are later.

        ``done`` is called as that of ``submit``. It gets OutcomeUnknown if that cannot be known, now or later: end the process.
        """


class BlockSummary(NamedTuple):
    """What the index of a checkpoint states of a block."""

    rows: int
    bounds: tuple[int, int]


class Checkpoint(Protocol):
    """The state of a shard by key, which replaces the replay of all records before ``to_offset``."""

    @property
    def to_offset(self) -> int: ...

    def __len__(self) -> int: ...

    def __contains__(self, key: str, /) -> bool: ...

    def keys(self) -> Iterator[str]:
        """Yield every key."""

    def summary(self, key: str, /) -> BlockSummary:
        """Return what the index states of a key that it has."""

    def block(self, key: str, /) -> bytes:
        """Return the block of a key that the index has. DamagedLog if it differs from what the index states."""

    def other_batches(self) -> Iterator[bytes]:
        """Yield the batches to replay besides the blocks. The markers come first, the others in offset order."""

    def all_batches(self) -> Iterator[bytes]:
        """Yield the batches that the blocks were made from, in offset order. DamagedLog, before the first one, if any differs."""

    def close(self) -> None:
        """Let the log remove the checkpoint. A second call does nothing."""


class LoadingLog(Protocol):
    """Reads shards from a position to their ends."""

    def read(self, shard: ShardId, from_offset: int, /) -> Iterator[bytes]:
        """Return the durable record batches in offset order, one ``bytes`` each, from the one that holds ``from_offset``.

        The newest layer comes first, then the segments after it. Any thread may call this.
        """

    def compacted_to(self, shard: ShardId, /) -> int:
        """Return the end of the newest layer: before it, ``read`` returns only what compaction has kept. 0 without a layer."""

    def checkpoint(self, shard: ShardId, /) -> Checkpoint | None:
        """Return the newest layer's checkpoint; None without one. Raise DamagedLog if it is damaged."""

    def end_offset(self, shard: ShardId, /) -> int:
        """Return the offset of the next record: one after the last durable record."""

    def end_time(self, shard: ShardId, /) -> int:
        """Return the timestamp of the last durable batch, in ms since 1970, although compaction has removed it from ``read``.

        -1 if none is left. It reads headers, and one batch at most.
        """


class TimedOffset(NamedTuple):
    """A record: its offset, and its timestamp in ms since 1970."""

    offset: int
    timestamp_ms: int


class ReadRange(NamedTuple):
    """A range of a shard: batches from the one that holds ``from_offset``, or the next one, that end before ``upto``.

    They have at most ``max_bytes``, but with ``must_have_one`` the first batch is read even if it is larger.
    """

    from_offset: int
    max_bytes: int
    upto: int
    must_have_one: bool = True


class Batches(NamedTuple):
    """Whole batches as one ``bytes``, and the offset after the last of them."""

    data: bytes
    next_offset: int


class FetchedLog(Protocol):
    """Reads ranges and searches by time, as Fetch and ListOffsets do. The last three read: not for the loop."""

    def end_offset(self, shard: ShardId, /) -> int:
        """Return the offset of the next record: one after the last durable record."""

    def durable_bytes(self, shard: ShardId, /) -> int:
        """Return how many durable bytes the shard was given since it was opened: callers compare two values."""

    def read_range(self, shard: ShardId, wanted: ReadRange, /) -> Batches:
        """Return a range of the durable log, which may be shorter than what was asked for. For one thread at a time."""

    def offset_for_time(self, shard: ShardId, timestamp_ms: int, check: Check, /) -> TimedOffset | None:
        """Return the first durable record with this timestamp (ms since 1970) or a later one."""

    def latest_time(self, shard: ShardId, check: Check, /) -> TimedOffset | None:
        """Return the first durable record with the largest timestamp."""


class History(NamedTuple):
    """How much history is kept at least: by age, and by the bytes of a shard. FOREVER is no limit.

    So much of it stays in the database of several nodes: what is older, or more, moves to their object store. AS_HISTORY is all.
    """

    history_ms: int
    history_bytes: int = FOREVER
    local_ms: int = AS_HISTORY
    local_bytes: int = AS_HISTORY


class Removed(NamedTuple):
    """What was removed from a shard: layers by their end, segments by their base. ``damage`` is why the rest was kept.

    The segments in ``moved`` are in an object store now.
    """

    shard: ShardId
    layers: list[int]
    segments: list[int]
    damage: DamagedLog | None = None
    moved: Sequence[int] = ()


class RetentionRule(NamedTuple):
    """How often retention looks, and what it calls. ``worker`` and ``now_ms`` are its thread and its clock.

    ``on_removed`` is called in that thread for every shard that lost something or is damaged, and ``on_failed`` when something
    could not be removed: it is tried again at the next check.
    """

    check_ms: int
    on_removed: Callable[[Removed], None]
    on_failed: Callable[[Exception], None]
    now_ms: Callable[[], int]
    worker: Worker | None = None


class Retention(Protocol):
    """The removal of history that is old enough, from ``start`` to ``close``."""

    def keep(self, history: History) -> None:
        """Keep so much history from the next check on."""

    def start(self) -> None:
        """Check from time to time, the first time after one interval."""

    def close(self) -> None:
        """Stop. Return when the running check is done."""


class MaintainedLog(Protocol):
    """What is done to the log beside appends."""

    def seal(self, done: OnSealed, /) -> None:
        """Make everything that is durable immutable; ``done`` gets the offset up to which that is so, by shard."""

    def write_out(self, done: OnSealed, /) -> None:
        """Let other processes read everything that is durable; ``done`` gets the offset up to which they can, by shard."""

    def retention(self, history: History, rule: RetentionRule, /) -> Retention:
        """Return the job that removes history. It is not started."""


class MovedLog(Protocol):
    """Hands shards over to other loops of the same machine, in the order of handover.py. Nothing of them is under way."""

    def release(self, shards: Sequence[ShardId], done: OnReleased, /) -> None:
        """Take no more batches of these shards, and make everything of them durable where the next owner finds it.

        After an error they are still this loop's.
        """

    def take(self, ends: Sequence[ShardEnd], done: OnTaken, /) -> None:
        """Open shards that were released at ``ends``, here or by another loop. After an error, ``forget`` them."""

    def forget(self, shards: Sequence[ShardId], done: Callable[[], None], /) -> None:
        """Leave shards to another loop. ``done`` is called when nothing here reads or changes their files any more."""


class InspectedLog(Protocol):
    """What there is to say of the log."""

    @property
    def failure(self) -> OutcomeUnknown | None:
        """The failure for which every submit is refused; None if there is none."""

    @property
    def submits(self) -> SubmitCounts:
        """The counts of what was written."""

    def topics(self) -> set[str]:
        """Return the topics that have records, of shards of other loops, too."""


class LogStore(AppendingLog, LoadingLog, MovedLog, FetchedLog, MaintainedLog, InspectedLog, Protocol):
    """The log of one loop: all its shards."""

    @property
    def meta(self) -> Meta:
        """The identity of the log."""

    def login_key(self) -> bytes:
        """Return the secret that logins use. Raises LogError."""

    def when_failed(self, on_failure: Callable[[OutcomeUnknown], None], /) -> None:
        """Set what is called on the loop after a failure that no submit waits for."""

    def close(self) -> None:
        """Take no more submits, and let others have the log. Raise LogError if that fails; nothing is lost then."""
