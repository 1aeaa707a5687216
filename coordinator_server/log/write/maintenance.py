"""What the worker does with segments beside the loop: write them in bulk, reserve room, roll and seal them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from coordinator_server.log.errors import LogError
from coordinator_server.log.shards import ShardId
from coordinator_server.log.store import OnSealed
from coordinator_server.log.write.health import Health
from coordinator_server.log.write.segments import ShardLog
from coordinator_server.log.write.shard_logs import ShardLogs
from coordinator_server.worker import Post, Worker

WRITE_DELAY_S: Final = 1.0


class Maintenance:
    """The worker's jobs on the segments of one log. Methods without an underscore are called on the loop."""

    def __init__(self, logs: ShardLogs, worker: Worker, post: Post, health: Health) -> None:
        self._logs = logs
        self._worker = worker
        self._post = post
        self._health = health
        self._is_write_due = False
        self._seals: list[OnSealed] = []

    def write_later(self) -> None:
        """Have what waits in memory written to the segments within ``WRITE_DELAY_S``. Any thread may call this."""
        if not self._is_write_due:
            self._is_write_due = True
            self._worker.run(self._write_waiting, delay=WRITE_DELAY_S)

    def tend(self, log: ShardLog) -> None:
        """Have a shard written early, or room reserved for it."""
        self._worker.run(partial(self._tend, log))

    def seal(self, done: OnSealed) -> None:
        """Begin a new segment in every shard whose active one is not empty.

        ``done`` gets the offsets up to which all is sealed.
        """
        self._begin(ShardLog.seal, done)

    def write_out(self, done: OnSealed) -> None:
        """Write everything that waits. ``done`` gets the offsets up to which the segments have all."""
        self._begin(_written_to, done)

    def _begin(self, work: Callable[[ShardLog], int], done: OnSealed) -> None:
        refusal = self._health.refusal()
        if refusal is not None:
            self._post(partial(done, refusal))
            return
        self._seals.append(done)
        self._worker.run(partial(self._do, work, done))

    def refuse_seals(self, error: LogError) -> None:
        """Answer every ``seal`` and ``write_out`` that waits for the worker."""
        while self._seals:
            self._seals.pop()(error)

    def _write_waiting(self) -> None:
        self._is_write_due = False
        for log in self._logs.all():
            # What cannot be written is tried again later: the journal has it.
            if log.is_waiting and self._health.attempt(log.write_and_roll) is not None:
                self.write_later()

    def _tend(self, log: ShardLog) -> None:
        self._health.attempt(log.tend)

    def _do(self, work: Callable[[ShardLog], int], done: OnSealed) -> None:
        outcome = self._health.attempt(lambda: {log.shard: work(log) for log in self._logs.all()})
        self._post(partial(self._sealed, done, outcome))

    def _sealed(self, done: OnSealed, outcome: Mapping[ShardId, int] | LogError) -> None:
        if done in self._seals:
            self._seals.remove(done)
            done(outcome)


def _written_to(log: ShardLog) -> int:
    return log.segments().end
