"""The log in a directory of this machine: ``LogStore`` over one journal and the segments of many shards.

    submit ─ claim room in each shard's segment ─ one frame ─ the journal's writer ─ the batches wait for their segment ─ done
    worker ─ writes segments in bulk, rolls and seals them, prepares the journal's next file

The caller's loop owns this object. Slow things are jobs of the worker; their results come back through ``post``.

    write/submit.py         a submit, step by step
    write/maintenance.py    the worker's jobs on segments
    write/spare.py          the worker's other job: the journal's next file
    read/                   what ``read`` and its siblings do
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from coordinator_server.config import Config
from coordinator_server.kinds import partition_counts
from coordinator_server.log.directory import lock_directory, release
from coordinator_server.log.errors import LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.file_names import journal_dir, shards_of
from coordinator_server.log.handover import Handover
from coordinator_server.log.layers.layer import newest_valid_layer
from coordinator_server.log.layers.retention import Retention
from coordinator_server.log.login_key import open_login_key
from coordinator_server.log.meta import read_meta
from coordinator_server.log.read.range_reader import RangeReader
from coordinator_server.log.read.shard_reader import end_time, latest_time, no_check, offset_for_time, open_checkpoint, read_from
from coordinator_server.log.repair.recovery import Recovered, recover
from coordinator_server.log.shards import Append, LoopShards, ShardEnd, ShardId
from coordinator_server.log.storage import LocalStorage, Lock, Storage, make_dir_durably
from coordinator_server.log.store import (
    Batches,
    Check,
    Checkpoint,
    Done,
    History,
    Meta,
    OnReleased,
    OnSealed,
    OnTaken,
    ReadRange,
    RetentionRule,
    TimedOffset,
)
from coordinator_server.log.submit_counts import SubmitCounts
from coordinator_server.log.write.health import Health
from coordinator_server.log.write.journal import FIRST_BYTES, Journal, JournalContents
from coordinator_server.log.write.journal_writer import Sync, Writer, make_writer
from coordinator_server.log.write.maintenance import Maintenance
from coordinator_server.log.write.segment_index import NO_TIME
from coordinator_server.log.write.segments import RESERVE_BYTES, ROLL_MS, SEGMENT_BYTES, Limits, ShardLog
from coordinator_server.log.write.shard_logs import ShardLogs
from coordinator_server.log.write.spare import Spare
from coordinator_server.log.write.submit import Submitter
from coordinator_server.worker import Post, ThreadWorker, Worker

JOURNAL_BYTES: Final = 16 * 1024 * 1024


class LogOptions(NamedTuple):
    """How a log is written. The last three are the machine's disk and threads; tests replace them.

    ``job`` is empty for a server. Otherwise it names to others who has the directory's lock.
    """

    segment_bytes: int = SEGMENT_BYTES
    roll_ms: int = ROLL_MS
    journal_bytes: int = JOURNAL_BYTES
    reserve_bytes: int = RESERVE_BYTES
    sync: Sync = Sync.ADAPTIVE
    job: str = ""
    storage: Storage | None = None
    worker: Worker | None = None
    make_writer: Callable[[Sync, Post], Writer] = make_writer


DEFAULTS: Final = LogOptions()


class _Parts(NamedTuple):
    """A recovered directory, open for writing; ``lock`` is None in a process that has inherited it."""

    storage: Storage
    data_dir: str
    meta: Meta
    logs: ShardLogs
    journal: Journal
    lock: Lock | None


class LocalLogStore:
    """LogStore in a directory. ``submit`` and ``resolve`` are the ``Submitter``'s own: no commit pays for a call in between."""

    @classmethod
    def open(
        cls,
        data_dir: str | Path,
        *,
        post: Post,
        node_id: int = 0,
        partitions: Mapping[str, int] | None = None,
        options: LogOptions = DEFAULTS,
        loop_index: int = 0,
    ) -> LocalLogStore:
        """Lock the directory, making it if need be, and recover all of it.
        ``post`` runs a callable on the caller's loop, from any thread.

        ``partitions`` by topic: what the directory is meant to have, the defaults of the configuration where None. Topics that a
        directory has and this does not name are taken as they are.

        LockedLog: another process has the directory. DamagedLog: it cannot be recovered without loss. LogError: it was made for
        another configuration. Unavailable: the operating system refuses.
        """
        storage, directory = options.storage or LocalStorage(), str(data_dir)
        if partitions is None:
            partitions = partition_counts(Config().log)
        lock, meta = lock_directory(storage, directory, node_id=node_id, partitions=partitions, job=options.job)
        logs = ShardLogs(storage, directory, Limits(options.segment_bytes, options.roll_ms, options.reserve_bytes))
        journal = _journal(storage, directory, loop_index, options)
        try:
            _start(storage, directory, recover(storage, directory), logs, journal)
        except OSError as error:
            lock.close()
            raise Unavailable(f"cannot open the log in {directory}: {error}") from error
        except LogError:
            lock.close()
            raise
        return cls(_Parts(storage, directory, meta, logs, journal, lock), post, options)

    @classmethod
    def open_part(cls, data_dir: str | Path, part: LoopShards, *, post: Post, options: LogOptions = DEFAULTS) -> LocalLogStore:
        """Recover and open one loop's shards of a directory that its supervisor has taken and recovered (directory.py).

        DamagedLog and Unavailable, as for ``open``.
        """
        storage, directory = options.storage or LocalStorage(), str(data_dir)
        logs = ShardLogs(storage, directory, Limits(options.segment_bytes, options.roll_ms, options.reserve_bytes), part.owns)
        journal = _journal(storage, directory, part.loop, options)
        try:
            meta = read_meta(storage, directory)
            _start(storage, directory, recover(storage, directory, part), logs, journal)
        except OSError as error:
            raise Unavailable(f"cannot open the log in {directory}: {error}") from error
        return cls(_Parts(storage, directory, meta, logs, journal, None), post, options)

    def __init__(self, parts: _Parts, post: Post, options: LogOptions) -> None:
        self._storage, self._data_dir, self.meta, self._logs, self._journal, self._lock = parts
        self._post = post
        self._ranges = RangeReader(self._storage)
        self._health = health = Health(self._data_dir, post)
        self._writer = options.make_writer(options.sync, post)
        self._worker = worker = options.worker or ThreadWorker(self._on_worker_death)
        self._maintenance = Maintenance(self._logs, worker, post, health)
        self._spare = Spare(self._journal, self._logs, worker, post, health)
        self._submitter = Submitter(self._logs, self._journal, self._writer, self._spare, self._maintenance, health)
        place = self._storage, self._data_dir
        self._handover = Handover(place, self._logs, self._spare, worker, post, health)
        self.submit: Callable[[Sequence[Append], Done], None] = self._submitter.submit
        self.resolve: Callable[[Sequence[Append], Done], None] = self._submitter.resolve
        self._spare.ask(0)

    # LogStore, but for ``submit`` and ``resolve``.

    def read(self, shard: ShardId, from_offset: int, /) -> Iterator[bytes]:
        """Return the durable batches in offset order, from the one that holds ``from_offset``. Any thread may call this."""
        log = self._logs.by_shard.get(shard)
        if log is None or from_offset >= log.end:
            return iter(())
        return read_from(self._storage, log, from_offset)

    def compacted_to(self, shard: ShardId, /) -> int:
        """Return the end of the newest layer: before it, ``read`` returns only what compaction has kept. 0 without a layer."""
        log = self._logs.by_shard.get(shard)
        layer = None if log is None else newest_valid_layer(Path(log.directory), storage=self._storage)
        return 0 if layer is None else layer.to_offset

    def checkpoint(self, shard: ShardId, /) -> Checkpoint | None:
        """Return the newest layer's checkpoint; None without one. Raise DamagedLog if it is damaged."""
        log = self._logs.by_shard.get(shard)
        return None if log is None else open_checkpoint(self._storage, log)

    def end_offset(self, shard: ShardId, /) -> int:
        """Return the offset of the next record: one after the last durable record."""
        log = self._logs.by_shard.get(shard)
        return log.end if log is not None else 0

    def end_time(self, shard: ShardId, /) -> int:
        """Return the timestamp of the last durable batch; -1 if none is left."""
        log = self._logs.by_shard.get(shard)
        return end_time(self._storage, log) if log is not None else NO_TIME

    def login_key(self) -> bytes:
        """Return the secret that logins use.

        It is made at its first use; with several loops, by their supervisor. Raises LogError.
        """
        return open_login_key(self._storage, self._data_dir)

    @property
    def failure(self) -> OutcomeUnknown | None:
        """The failed sync for which every submit is refused; None if none failed."""
        return self._health.failure

    @property
    def submits(self) -> SubmitCounts:
        """The counts of what was written."""
        return self._submitter.counts

    def fail(self, error: OutcomeUnknown, /) -> None:
        """Refuse every submit from now on, because a sync in the directory failed. Any thread may call this."""
        self._health.fail(error)

    def when_failed(self, on_failure: Callable[[OutcomeUnknown], None]) -> None:
        """Set what is called on the loop after a failure that no submit waits for."""
        self._health.when_failed(on_failure)

    def shards(self) -> list[ShardId]:
        """Return every shard of this loop that has a directory."""
        return sorted(self._logs.by_shard)

    def topics(self) -> set[str]:
        """Return the topics of which a shard has a directory, of shards of other loops, too."""
        return {shard.topic for shard in shards_of(self._storage, self._data_dir)}

    def retention(self, history: History, rule: RetentionRule, /) -> Retention:
        """Return the job that removes history. It is not started."""
        return Retention(self, history, rule, self._storage)

    def logs(self) -> list[ShardLog]:
        """Return the segments of every shard, for retention (layers/retention.py)."""
        return self._logs.all()

    def offset_for_time(self, shard: ShardId, timestamp_ms: int, check: Check = no_check, /) -> TimedOffset | None:
        """Return the first durable record with this timestamp (ms since 1970) or a later one. It reads: not for the loop."""
        log = self._logs.by_shard.get(shard)
        return offset_for_time(self._storage, log, timestamp_ms, check) if log is not None else None

    def latest_time(self, shard: ShardId, check: Check = no_check, /) -> TimedOffset | None:
        """Return the first durable record with the largest timestamp. It reads: not for the loop."""
        log = self._logs.by_shard.get(shard)
        return latest_time(self._storage, log, check) if log is not None else None

    def read_range(self, shard: ShardId, wanted: ReadRange, /) -> Batches:
        """Return a range of the durable log (read/range_reader.py). It reads: not for the loop, and for one thread at a time."""
        log = self._logs.by_shard.get(shard)
        return self._ranges.read(log, wanted) if log is not None else Batches(b"", wanted.from_offset)

    def durable_bytes(self, shard: ShardId, /) -> int:
        """Return how many durable bytes the shard was given since it was opened: callers compare two values."""
        log = self._logs.by_shard.get(shard)
        return log.durable_bytes if log is not None else 0

    def first_needed_segment(self, shard: ShardId, /) -> int:
        """Return the first segment of a shard that recovery needs: the journal's head names it."""
        end = self._journal.durable.get(shard)
        return end.segment if end is not None else 0

    def seal(self, done: OnSealed, /) -> None:
        """Begin a new segment in every shard; ``done`` gets the offsets up to which all is sealed."""
        self._maintenance.seal(done)

    def write_out(self, done: OnSealed, /) -> None:
        """Write everything that is durable to the segments; ``done`` gets the offsets up to which they have it."""
        self._maintenance.write_out(done)

    def release(self, shards: Sequence[ShardId], done: OnReleased, /) -> None:
        """Take no more batches of these shards, and write and sync them; ``done`` gets how far they are durable."""
        self._handover.release(shards, done)

    def take(self, ends: Sequence[ShardEnd], done: OnTaken, /) -> None:
        """Open shards that were released at ``ends``, and state them in a new head of the journal."""
        self._handover.take(ends, done)

    def forget(self, shards: Sequence[ShardId], done: Callable[[], None], /) -> None:
        """Leave shards to another loop; ``done`` is called when nothing of them is open here."""
        self._handover.forget(shards, done)

    def close(self) -> None:
        """Write everything to segments, and unlock the directory. Raise LogError if that fails; nothing is lost then."""
        if self._health.is_closed:
            return
        self._health.is_closed = True
        self._writer.close()
        self._worker.close()
        self._spare.use_prepared()
        self._refuse_waiting(Unavailable("the log is closed"))
        logs = self._logs.journaled()
        try:
            if self._health.failure is None:
                self._journal.finish([log.close() for log in logs])
        except OSError as error:
            raise Unavailable(f"cannot close the log in {self._data_dir}: {error}") from error
        finally:
            for log in logs:
                log.release()
            self._journal.close()
            release(self._lock)

    def _refuse_waiting(self, error: LogError) -> None:
        """Answer everything that waits for the worker."""
        self._submitter.refuse_parked(error)
        self._maintenance.refuse_seals(error)
        self._handover.refuse_waiting(error)
        self._spare.refuse_renewals(error)

    def _on_worker_death(self) -> None:
        error = OutcomeUnknown("the log's worker stopped: its error came before this one")
        self.fail(error)
        self._post(partial(self._refuse_waiting, error))


def _journal(storage: Storage, data_dir: str, loop: int, options: LogOptions) -> Journal:
    return Journal(storage, journal_dir(data_dir, loop), options.journal_bytes, is_synced=options.sync is not Sync.NEVER)


def _start(storage: Storage, data_dir: str, recovered: Recovered, logs: ShardLogs, journal: Journal) -> None:
    """Open the recovered shards, begin the journal anew, and retire the journals of loops that are gone."""
    for shard, segments in recovered.shards.items():
        logs.add(shard, segments)
    for directory in (os.path.dirname(journal.directory), journal.directory):
        make_dir_durably(storage, directory)
    ends = [log.write_and_sync() for log in logs.all()]
    others = {journal_dir(data_dir, loop): found for loop, found in recovered.journals.items()}
    journal.start(others.pop(journal.directory, JournalContents()), ends)
    for directory, found in others.items():
        Journal(storage, directory, FIRST_BYTES).retire(found, ends)
