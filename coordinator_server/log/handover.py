"""Hand shards over from one loop of a machine to another. Their journals share no fence, so each step is durable before the next:

    release   former owner   no batches any more; everything is in synced segments. Its journal still states the shards
    take      next owner     the segments are opened, and a new head of its journal states them, too
                             the caller writes down who owns them (log/owners.py)
    forget    former owner   its next head does not state them

At every moment one journal or both state how far a shard is durable, and no journal has frames after an end that a different
journal states: whoever recovers both takes the furthest end. A shard that returns is in a new head before its next frame, so
frames of its earlier time here are before that end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from coordinator_server.log.errors import DamagedLog, LogError
from coordinator_server.log.repair.recovery import reopen
from coordinator_server.log.shards import ShardEnd, ShardId
from coordinator_server.log.storage import Storage
from coordinator_server.log.store import OnReleased, OnTaken
from coordinator_server.log.write.health import Health
from coordinator_server.log.write.segments import Segments, ShardLog
from coordinator_server.log.write.shard_logs import ShardLogs
from coordinator_server.log.write.spare import Spare
from coordinator_server.worker import Post, Worker

T = TypeVar("T")


class Handover:
    """The handovers of one loop's log. Methods without an underscore are called on the loop."""

    def __init__(
        self, place: tuple[Storage, str], logs: ShardLogs, spare: Spare, worker: Worker, post: Post, health: Health
    ) -> None:
        self._storage, self._data_dir = place
        self._logs = logs
        self._spare = spare
        self._worker = worker
        self._post = post
        self._health = health
        self._waiting: list[Callable[[LogError], None]] = []

    def release(self, shards: Sequence[ShardId], done: OnReleased) -> None:
        """Take no more batches of these shards, and say how far they are durable in their segments."""
        logs = self._logs.release(shards)
        self._do(done, partial(_close, logs), partial(self._released, logs, done))

    def take(self, ends: Sequence[ShardEnd], done: OnTaken) -> None:
        """Open shards that another loop has released, or this one before."""
        self._do(done, partial(self._open, ends), partial(self._opened, done))

    def forget(self, shards: Sequence[ShardId], done: Callable[[], None]) -> None:
        """Leave these shards to another loop. ``done`` is called when those that were taken are closed."""
        self._worker.run(partial(self._let_go, self._logs.forget(shards), done))

    def refuse_waiting(self, error: LogError) -> None:
        """Answer everything that waits for the worker."""
        while self._waiting:
            self._waiting.pop()(error)

    def _let_go(self, logs: Sequence[ShardLog], done: Callable[[], None]) -> None:
        for log in logs:
            log.release()
        self._post(done)

    def _do(self, refuse: Callable[[LogError], None], work: Callable[[], T], then: Callable[[T | LogError], None]) -> None:
        refusal = self._health.refusal()
        if refusal is not None:
            self._post(partial(refuse, refusal))
            return
        self._waiting.append(refuse)
        self._worker.run(partial(self._work, refuse, work, then))

    def _work(self, refuse: Callable[[LogError], None], work: Callable[[], T], then: Callable[[T | LogError], None]) -> None:
        self._post(partial(self._done, refuse, then, self._attempt(work)))

    def _attempt(self, work: Callable[[], T]) -> T | LogError:
        """Return the outcome of work in the worker's thread. A damaged shard cannot be taken, and concerns no other."""

        def run() -> T | LogError:
            try:
                return work()
            except DamagedLog as damage:
                return damage

        return self._health.attempt(run)

    def _done(self, refuse: Callable[[LogError], None], then: Callable[[T | LogError], None], outcome: T | LogError) -> None:
        if refuse in self._waiting:
            self._waiting.remove(refuse)
            then(outcome)

    def _released(self, logs: Sequence[ShardLog], done: OnReleased, outcome: Sequence[ShardEnd] | LogError) -> None:
        if isinstance(outcome, LogError):
            self._logs.keep(logs)
        done(outcome)

    def _open(self, ends: Sequence[ShardEnd]) -> list[tuple[ShardId, Segments]]:
        return [(end.shard, reopen(self._storage, self._data_dir, end)) for end in ends]

    def _opened(self, done: OnTaken, outcome: list[tuple[ShardId, Segments]] | LogError) -> None:
        if isinstance(outcome, LogError):
            done(outcome)
            return
        for shard, segments in outcome:
            self._logs.put(shard, segments)
        self._spare.renew(done)


def _close(logs: Sequence[ShardLog]) -> list[ShardEnd]:
    return [log.close() for log in logs]
