"""The log in a directory of this machine: ``LogStore`` over one journal and the segments of many shards.

    submit ─ claim room in each shard's segment ─ one frame ─ the journal's writer ─ accept: the batches wait for their segment ─ done
    worker ─ writes segments in bulk, rolls and seals them, prepares the journal's next file

The caller's loop owns this object; what its methods do on the loop is memory work, except the writer's own (writer.py) and, seldom,
reserving room. Slow things are jobs of the worker; they come back through ``post``.

    open ──submit──► in flight ──settled──► open          one at a time; parked meanwhile if the journal's next file is not ready
    open ──a sync failed──► failed                        every submit is refused with that OutcomeUnknown from then on
    any  ──close──► closed
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from coordinator_server.config import Config
from coordinator_server.kinds import partition_counts
from coordinator_server.log.checkpoint import Checkpoint
from coordinator_server.log.directory import release, take
from coordinator_server.log.errors import Fenced, LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.frames import entry_header
from coordinator_server.log.journal import FIRST_BYTES, Found, Journal, JournalFile
from coordinator_server.log.layers import newest_valid_layer
from coordinator_server.log.meta import Meta, read_meta
from coordinator_server.log.reader import TimedOffset, latest_time, offset_for_time, open_checkpoint, read_from
from coordinator_server.log.recovery import Recovered, Share, journal_dir, recover
from coordinator_server.log.segments import ROLL_MS, Limits, SegmentState, ShardLog, end_of_batches
from coordinator_server.log.storage import LocalStorage, Lock, Storage, make_dir_durably
from coordinator_server.log.store import Append, ShardId
from coordinator_server.log.stretches import Piece, Stretch, StretchReader
from coordinator_server.log.worker import ThreadWorker, Worker
from coordinator_server.log.writer import Post, Sync, Writer, make_writer

SEGMENT_BYTES: Final = 100 * 1024 * 1024
JOURNAL_BYTES: Final = 16 * 1024 * 1024
MAX_SUBMIT_BYTES: Final = 256 * 1024 * 1024
WRITE_DELAY_S: Final = 1.0
RETRY_DELAY_S: Final = 1.0

T = TypeVar("T")
Done = Callable[[LogError | None], None]
Sealed = Callable[[dict[ShardId, int] | LogError], None]


class _Taken(NamedTuple):
    log: ShardLog
    offset: int
    data: bytes
    next_offset: int


class _Submission(NamedTuple):
    taken: list[_Taken]
    content: list[bytes]
    size: int
    done: Done


class LocalLogStore:
    """LogStore in a directory."""

    @classmethod
    def open(  # noqa: PLR0913 - the composition root's one call: every argument is a setting with a name
        cls,
        data_dir: str | Path,
        *,
        post: Post,
        loop_index: int = 0,
        node_id: int = 0,
        partitions: Mapping[str, int] | None = None,
        segment_bytes: int = SEGMENT_BYTES,
        roll_ms: int = ROLL_MS,
        journal_bytes: int = JOURNAL_BYTES,
        sync: Sync = Sync.ADAPTIVE,
        storage: Storage | None = None,
        worker: Worker | None = None,
        make_writer: Callable[[Sync, Post], Writer] = make_writer,
    ) -> LocalLogStore:
        """Lock the directory, making it if need be, and recover what is in it. ``post`` runs a callable on the caller's loop, from any thread.

        ``partitions`` by topic: what the directory is meant to have, the defaults of the configuration where None; of a directory
        that is there, topics that are not named are taken as they are.

        LockedLog: another process has the directory. DamagedLog: it cannot be recovered without loss. LogError: it was made for
        another configuration. Unavailable: the operating system refuses.
        """
        storage = storage or LocalStorage()
        data_dir = str(data_dir)
        if partitions is None:
            partitions = partition_counts(Config())
        lock, meta = take(storage, data_dir, node_id=node_id, partitions=partitions)
        journal = Journal(storage, journal_dir(data_dir, loop_index), journal_bytes, is_synced=sync is not Sync.NEVER)
        store = cls(storage, data_dir, meta, journal, Limits(segment_bytes, roll_ms))
        try:
            store._start(recover(storage, data_dir), loop_index)
        except OSError as error:
            lock.close()
            raise Unavailable(f"cannot open the log in {data_dir}: {error}") from error
        except LogError:
            lock.close()
            raise
        store._lock = lock
        store._run(post, make_writer(sync, post), worker or ThreadWorker(store._on_worker_death))
        return store

    @classmethod
    def open_share(  # noqa: PLR0913 - as for open
        cls,
        data_dir: str | Path,
        share: Share,
        *,
        post: Post,
        segment_bytes: int = SEGMENT_BYTES,
        roll_ms: int = ROLL_MS,
        journal_bytes: int = JOURNAL_BYTES,
        sync: Sync = Sync.ADAPTIVE,
        storage: Storage | None = None,
        worker: Worker | None = None,
        make_writer: Callable[[Sync, Post], Writer] = make_writer,
    ) -> LocalLogStore:
        """Open what one loop owns of a directory that its supervisor took and settled (directory.py), after recovering that.

        DamagedLog and Unavailable, as for ``open``.
        """
        storage = storage or LocalStorage()
        data_dir = str(data_dir)
        try:
            meta = read_meta(storage, data_dir)
            journal = Journal(storage, journal_dir(data_dir, share.loop), journal_bytes, is_synced=sync is not Sync.NEVER)
            store = cls(storage, data_dir, meta, journal, Limits(segment_bytes, roll_ms))
            store._owns = share.owns
            store._start(recover(storage, data_dir, share), share.loop)
        except OSError as error:
            raise Unavailable(f"cannot open the log in {data_dir}: {error}") from error
        store._run(post, make_writer(sync, post), worker or ThreadWorker(store._on_worker_death))
        return store

    def __init__(self, storage: Storage, data_dir: str, meta: Meta, journal: Journal, limits: Limits) -> None:
        self.meta = meta
        self._storage = storage
        self._data_dir = data_dir
        self._lock: Lock | None = None
        self._owns: Callable[[ShardId], bool] | None = None
        self._limits = limits
        self._journal = journal
        self._logs: dict[ShardId, ShardLog] = {}
        self._failure: OutcomeUnknown | None = None
        self._failed: Callable[[OutcomeUnknown], None] = lambda _error: None
        self._in_flight: _Submission | None = None
        self._frame_bytes = 0
        self._is_parked = False
        self._is_write_due = False
        self._is_preparing = False
        self._is_closed = False
        self._spare_bytes = 0
        self._prepared: JournalFile | LogError | None = None
        self._seals: list[Sealed] = []
        self._stretches = StretchReader(storage)

    # The seam.

    def submit(self, appends: Sequence[Append], done: Done, /) -> None:
        """Make the batches durable, all or none."""
        if self._in_flight is not None:
            raise RuntimeError("submit comes after the done of the one before")
        taken: list[_Taken] = []
        refusal = self._refusal() or self._take(appends, taken)
        if refusal is not None or not taken:
            self._withdraw(taken)
            done(refusal)
            return
        parts: list[bytes] = []
        for each in taken:
            parts += (entry_header(each.log.prefix, each.offset, len(each.data)), each.data)
        self._in_flight = _Submission(taken, parts, sum(map(len, parts)), done)
        self._write()

    def read(self, shard: ShardId, from_offset: int, /) -> Iterator[bytes]:
        """Durable record batches in offset order, newest layer first, from the one that holds ``from_offset``. Any thread may call this."""
        log = self._logs.get(shard)
        if log is None or from_offset >= log.end:
            return iter(())
        return read_from(self._storage, log, from_offset)

    def compacted_to(self, shard: ShardId, /) -> int:
        """The end of the newest layer: before this offset, ``read`` returns only what compaction has kept. 0 without a layer."""
        log = self._logs.get(shard)
        layer = None if log is None else newest_valid_layer(Path(log.directory))
        return 0 if layer is None else layer.to_offset

    def checkpoint(self, shard: ShardId, /) -> Checkpoint | None:
        """State from which the records before its ``to_offset`` need not be replayed, if there is any. DamagedLog when it is damaged."""
        log = self._logs.get(shard)
        return None if log is None else open_checkpoint(self._storage, log)

    def end_offset(self, shard: ShardId, /) -> int:
        """The offset of the next record: one after the last durable one."""
        log = self._logs.get(shard)
        return log.end if log is not None else 0

    # What a local log can do beyond the seam.

    @property
    def failure(self) -> OutcomeUnknown | None:
        """Why every submit is refused, if a sync failed."""
        return self._failure

    def shards(self) -> list[ShardId]:
        """Every shard that has a directory."""
        return sorted(self._logs)

    def offset_for_time(self, shard: ShardId, timestamp_ms: int, /) -> TimedOffset | None:
        """The first durable record whose timestamp (ms since 1970) is that or later. Any thread may call this, but not the loop: it reads."""
        log = self._logs.get(shard)
        return offset_for_time(self._storage, log, timestamp_ms) if log is not None else None

    def latest_time(self, shard: ShardId, /) -> TimedOffset | None:
        """The first of the durable records with the largest timestamp. As ``offset_for_time``."""
        log = self._logs.get(shard)
        return latest_time(self._storage, log) if log is not None else None

    def stretch(self, shard: ShardId, piece: Piece, /) -> Stretch:
        """A piece of the durable log (stretches.py). Any thread may call this, but not the loop, and one at a time."""
        log = self._logs.get(shard)
        return self._stretches.read(log, piece) if log is not None else Stretch(b"", piece.from_offset)

    def taken_bytes(self, shard: ShardId, /) -> int:
        """How many durable bytes the shard has been given since it was opened: what has come since another call is the difference."""
        log = self._logs.get(shard)
        return log.taken_bytes if log is not None else 0

    def logs(self) -> list[ShardLog]:
        """The shards' segments, for who takes care of them (retention.py)."""
        return list(self._logs.values())

    def rests_on(self, shard: ShardId) -> int:
        """The first segment of a shard that recovery needs: the journal's head says what is durable in it, and its frames go on from there."""
        end = self._journal.durable.get(shard)
        return end.segment if end is not None else 0

    def fail(self, error: OutcomeUnknown) -> None:
        """A sync of something in the directory failed: every submit is refused from now on. Any thread may call this."""
        self._failure = error
        self._post(partial(self._failed, error))

    def when_failed(self, failed: Callable[[OutcomeUnknown], None]) -> None:
        """Call back on the loop when something fails that no submit waits for."""
        self._failed = failed

    def seal(self, done: Sealed, /) -> None:
        """Begin a new segment in every shard whose active one is not empty; ``done`` gets the offsets up to which all is sealed."""
        refusal = self._refusal()
        if refusal is not None:
            self._post(partial(done, refusal))
            return
        self._seals.append(done)
        self._worker.run(partial(self._seal, done))

    def close(self) -> None:
        """Put everything into segments, and let the directory go. Raises LogError when that was not possible; nothing is lost."""
        if self._is_closed:
            return
        self._is_closed = True
        self._writer.close()
        self._worker.close()
        self._take_spare()
        self._refuse_waiting(Unavailable("the log is closed"))
        try:
            if self._failure is None:
                self._journal.finish([log.close() for log in self._logs.values()])
        except OSError as error:
            raise Unavailable(f"cannot close the log in {self._data_dir}: {error}") from error
        finally:
            for log in self._logs.values():
                log.release()
            self._journal.close()
            release(self._lock)

    # Start.

    def _start(self, recovered: Recovered, loop_index: int) -> None:
        for shard, state in recovered.shards.items():
            self._add(shard, state)
        for directory in (os.path.dirname(self._journal.directory), self._journal.directory):
            make_dir_durably(self._storage, directory)
        ends = [log.checkpoint() for log in self._logs.values()]
        self._journal.start(recovered.journals.pop(loop_index, Found()), ends)
        for other, found in recovered.journals.items():
            Journal(self._storage, journal_dir(self._data_dir, other), FIRST_BYTES).retire(found, ends)

    def _run(self, post: Post, writer: Writer, worker: Worker) -> None:
        self._post = post
        self._writer = writer
        self._worker = worker
        self._ask_spare(0)

    def _add(self, shard: ShardId, state: SegmentState) -> ShardLog:
        if self._owns is not None and not self._owns(shard):
            raise ValueError(f"{shard} belongs to another loop's journal")
        log = self._logs[shard] = ShardLog(self._storage, f"{self._data_dir}/{shard}", shard, state, self._limits)
        return log

    # Submit, step by step.

    def _refusal(self) -> LogError | None:
        return Unavailable("the log is closed") if self._is_closed else self._failure

    def _take(self, appends: Sequence[Append], taken: list[_Taken]) -> LogError | None:
        """Check the appends and claim room for them."""
        total = 0
        try:
            for shard, epoch, offset, data in appends:
                log = self._logs.get(shard) or self._add(shard, SegmentState([], 0, 0))
                if offset != log.tail:
                    raise ValueError(f"{shard} is at offset {log.tail}, not {offset}")
                if epoch < log.epoch:
                    return Fenced(f"{shard} is owned with epoch {log.epoch}, not {epoch}", (shard,))
                next_offset = end_of_batches(data, offset)
                log.epoch = epoch
                log.claim(len(data))
                log.tail = next_offset
                taken.append(_Taken(log, offset, data, next_offset))
                total += len(data)
        except OSError as error:
            return Unavailable(f"no room for {shard}: {error.strerror}")
        except ValueError:
            self._withdraw(taken)
            raise
        if total > MAX_SUBMIT_BYTES:
            return Unavailable(f"{total} bytes at once are more than the {MAX_SUBMIT_BYTES} that the journal takes")
        return None

    def _withdraw(self, taken: Sequence[_Taken]) -> None:
        for each in taken:
            each.log.withdraw(len(each.data))

    def _write(self) -> None:
        submission = self._in_flight
        assert submission is not None
        size = submission.size
        journal = self._journal
        if not journal.active.fits(size):
            if journal.spare is None or not journal.spare.fits(size):
                self._is_parked = True
                self._ask_spare(size)
                return
            journal.turn()
            self._ask_spare(0)
        frame = journal.frame(submission.content)
        self._frame_bytes = len(frame)
        self._writer.write(journal.active.file, frame, journal.active.position, self._settled)

    def _settled(self, error: LogError | None) -> None:
        submission, self._in_flight = self._in_flight, None
        assert submission is not None
        if error is None:
            self._journal.advance(self._frame_bytes)
            for log, _, data, next_offset in submission.taken:
                if log.accept(data, next_offset):
                    self._worker.run(partial(self._tend, log))
            self._write_later()
        else:
            self._withdraw(submission.taken)
            if isinstance(error, OutcomeUnknown):
                self._failure = error
        submission.done(error)

    def _refuse_parked(self, error: LogError) -> None:
        """The submission that waits for the journal's next file, if there is one, waits in vain."""
        if self._is_parked:
            self._is_parked = False
            self._settled(error)

    def _refuse_waiting(self, error: LogError) -> None:
        """Whatever waits for the worker waits in vain."""
        self._refuse_parked(error)
        while self._seals:
            self._seals.pop()(error)

    # The journal's next file.

    def _ask_spare(self, content_bytes: int) -> None:
        if not self._is_preparing and not self._is_closed:
            self._is_preparing = True
            self._spare_bytes = content_bytes
            self._worker.run(self._prepare)

    def _prepare(self) -> None:
        self._prepared = self._attempt(self._make_spare)
        self._post(self._take_spare)

    def _make_spare(self) -> JournalFile:
        return self._journal.prepare([log.checkpoint() for log in list(self._logs.values())], self._spare_bytes)

    def _take_spare(self) -> None:
        prepared, self._prepared = self._prepared, None
        if prepared is None:
            return
        self._is_preparing = False
        if isinstance(prepared, JournalFile):
            self._journal.use(prepared)
            if self._is_parked and not self._is_closed:
                self._is_parked = False
                self._write()
        else:
            self._refuse_parked(prepared)
            self._worker.run(partial(self._post, partial(self._ask_spare, 0)), delay=RETRY_DELAY_S)

    # The worker's jobs.

    def _write_later(self) -> None:
        if not self._is_write_due:
            self._is_write_due = True
            self._worker.run(self._write_waiting, delay=WRITE_DELAY_S)

    def _write_waiting(self) -> None:
        self._is_write_due = False
        for log in list(self._logs.values()):
            # What cannot be written now waits on: the journal has it.
            if log.is_waiting and self._attempt(log.write_and_roll) is not None:
                self._write_later()

    def _tend(self, log: ShardLog) -> None:
        self._attempt(log.tend)

    def _seal(self, done: Sealed) -> None:
        outcome = self._attempt(self._seal_all)
        self._post(partial(self._sealed, done, outcome))

    def _seal_all(self) -> dict[ShardId, int]:
        return {log.shard: log.seal() for log in list(self._logs.values())}

    def _sealed(self, done: Sealed, outcome: dict[ShardId, int] | LogError) -> None:
        if done in self._seals:
            self._seals.remove(done)
            done(outcome)

    def _attempt(self, work: Callable[[], T]) -> T | LogError:
        try:
            return work()
        except OutcomeUnknown as error:
            self.fail(error)
            return error
        except OSError as error:
            return Unavailable(f"cannot write to {self._data_dir}: {error}")

    def _on_worker_death(self) -> None:
        error = OutcomeUnknown("the log's worker stopped: its error came before this one")
        self.fail(error)
        self._post(partial(self._refuse_waiting, error))
