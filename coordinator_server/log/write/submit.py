"""Make one list of batches durable: check, claim room, write one journal frame, and pass the batches on to their segments.

    open ──submit──► in flight ──written──► open    one at a time; parked while the journal's next file is not ready
    open ──a sync failed──► failed                  every later submit is refused with that OutcomeUnknown

One frame has the batches of all shards that are neither fenced nor without room. All of it runs on the caller's loop, and is
memory work except for the writer's own (journal_writer.py) and, seldom, reserving room.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final, NamedTuple

from coordinator_server.log.errors import Fenced, LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.log.store import Done, Failures
from coordinator_server.log.submit_counts import SubmitCounts
from coordinator_server.log.write.frames import entry_header
from coordinator_server.log.write.health import Health
from coordinator_server.log.write.journal import Journal
from coordinator_server.log.write.journal_writer import Writer
from coordinator_server.log.write.maintenance import Maintenance
from coordinator_server.log.write.segments import Segments, ShardLog, end_of_batches
from coordinator_server.log.write.shard_logs import ShardLogs
from coordinator_server.log.write.spare import Spare

MAX_SUBMIT_BYTES: Final = 256 * 1024 * 1024


class _Claimed(NamedTuple):
    """Batches for which room is claimed in their shard's segment."""

    log: ShardLog
    offset: int
    data: bytes
    next_offset: int


class _Submission(NamedTuple):
    claimed: list[_Claimed]
    content: list[bytes]
    size: int
    done: Done
    failures: Failures | None


class Submitter:
    """The submits of one log."""

    def __init__(
        self, logs: ShardLogs, journal: Journal, writer: Writer, spare: Spare, maintenance: Maintenance, health: Health
    ) -> None:
        self._logs = logs
        self._journal = journal
        self._writer = writer
        self._spare = spare
        self._maintenance = maintenance
        self._health = health
        self._in_flight: _Submission | None = None
        self._frame_bytes = 0
        self._began_s = 0.0
        self.counts = SubmitCounts()
        self._is_parked = False
        spare.when_ready(self._spare_is_ready)

    def submit(self, appends: Sequence[Append], done: Done, /) -> None:
        """Make the batches durable. Those of a shard that is fenced, or has no room, are left out."""
        if self._in_flight is not None:
            raise RuntimeError("submit comes after the done of the one before")
        refusal = self._health.refusal()
        if refusal is not None:
            self._refuse(appends, refusal, done)
            return
        claimed: list[_Claimed] = []
        failures = self._claim(appends, claimed)
        if not claimed:
            self._count(failures)
            done(failures)
            return
        parts: list[bytes] = []
        for each in claimed:
            parts += (entry_header(each.log.prefix, each.offset, len(each.data)), each.data)
        size = sum(map(len, parts))
        if size > MAX_SUBMIT_BYTES:
            self._withdraw(claimed)
            why = f"{size} bytes at once are more than the {MAX_SUBMIT_BYTES} that the journal takes"
            self._refuse(appends, Unavailable(why), done)
            return
        self._in_flight = _Submission(claimed, parts, size, done, failures)
        self._write()

    def resolve(self, appends: Sequence[Append], done: Done, /) -> None:
        """Report that the outcome is unknown: only a failed sync has that."""
        failure = self._health.failure
        assert failure is not None, "each outcome is known"
        done(dict.fromkeys([append.shard for append in appends], failure))

    def refuse_parked(self, error: LogError) -> None:
        """Answer the submission that waits for the journal's next file, if there is one."""
        if self._is_parked:
            self._is_parked = False
            self._written(error)

    def _refuse(self, appends: Sequence[Append], error: LogError, done: Done) -> None:
        self.counts.count_refusal(str(error), time.monotonic())
        done(dict.fromkeys([append.shard for append in appends], error))

    def _claim(self, appends: Sequence[Append], claimed: list[_Claimed]) -> dict[ShardId, LogError] | None:
        """Check the appends and claim room for them. Return why shards are left out; None if none is."""
        failures: dict[ShardId, LogError] | None = None
        for shard, epoch, offset, data in appends:
            if failures is not None and shard in failures:
                continue
            try:
                log = self._logs.by_shard.get(shard) or self._logs.add(shard, Segments([], 0, 0))
                if offset != log.tail:
                    raise ValueError(f"{shard} is at offset {log.tail}, not {offset}")
                if epoch < log.epoch:
                    raise Fenced(f"{shard} is owned with epoch {log.epoch}, not {epoch}")
                next_offset = end_of_batches(data, offset)
                log.epoch = epoch
                log.claim(len(data))
                log.tail = next_offset
                claimed.append(_Claimed(log, offset, data, next_offset))
            except (Fenced, OSError) as error:
                failures = failures or {}
                failures[shard] = self._leave_out(shard, error, claimed)
            except ValueError:
                self._withdraw(claimed)
                raise
        return failures

    def _leave_out(self, shard: ShardId, error: Fenced | OSError, claimed: list[_Claimed]) -> LogError:
        """Withdraw what a shard that cannot be written has claimed already."""
        self._withdraw([each for each in claimed if each.log.shard == shard])
        claimed[:] = [each for each in claimed if each.log.shard != shard]
        return error if isinstance(error, Fenced) else Unavailable(f"no room for {shard}: {error.strerror}")

    def _count(self, failures: Failures | None) -> None:
        for failure in (failures or {}).values():
            self.counts.count_refusal(str(failure), time.monotonic())

    def _withdraw(self, claimed: Sequence[_Claimed]) -> None:
        for each in claimed:
            each.log.withdraw(len(each.data))

    def _write(self) -> None:
        submission = self._in_flight
        assert submission is not None
        size = submission.size
        journal = self._journal
        if not journal.active.fits(size):
            if journal.spare is None or not journal.spare.fits(size):
                self._is_parked = True
                self._spare.ask(size)
                return
            journal.turn()
            self._spare.ask(0)
        frame = journal.frame(submission.content)
        self._frame_bytes = len(frame)
        self._began_s = time.perf_counter()
        self._writer.write(journal.active.file, frame, journal.active.position, self._written)

    def _written(self, error: LogError | None) -> None:
        submission, self._in_flight = self._in_flight, None
        assert submission is not None
        if error is None:
            self._journal.advance(self._frame_bytes)
            counts = self.counts
            counts.count_submit(time.perf_counter() - self._began_s)
            for log, _, data, next_offset in submission.claimed:
                counts.count_batch(len(data))
                if log.accept(data, next_offset):
                    self._maintenance.tend(log)
            self._maintenance.write_later()
            self._count(submission.failures)
            submission.done(submission.failures)
            return
        self.counts.count_refusal(str(error), time.monotonic())
        self._withdraw(submission.claimed)
        if isinstance(error, OutcomeUnknown):
            self._health.failure = error
        submission.done({**(submission.failures or {}), **dict.fromkeys([each.log.shard for each in submission.claimed], error)})

    def _spare_is_ready(self, error: LogError | None) -> None:
        if error is not None:
            self.refuse_parked(error)
        elif self._is_parked and not self._health.is_closed:
            self._is_parked = False
            self._write()
