"""The whole log of a node on a simulated store: SharedLog, and in memory what the node has read and written of its shards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from coordinator_server.log.errors import Fenced, LogError, OutcomeUnknown
from coordinator_server.log.shards import Ownership, ShardEnd, ShardId
from coordinator_server.log.store import History, Meta, OnReleased, OnTaken, RetentionRule
from coordinator_server.log.submit_counts import SubmitCounts
from protocol.record_batch import iter_batches
from tests.support.shared_store import Database, Post, Row, Shard, SharedLog


class NoRetention:
    """History stays."""

    def keep(self, history: History) -> None: ...

    def start(self) -> None: ...

    def close(self) -> None: ...


class NodeLog(SharedLog):
    """A LogStore. A node knows of a shard what it read when it acquired it, and what it has written since."""

    failure: OutcomeUnknown | None = None

    def __init__(self, database: Database, post: Post, answer: Post, meta: Meta) -> None:
        super().__init__(database, post, answer)
        self.meta = meta
        self.submits = SubmitCounts()
        self._here: dict[ShardId, Shard] = {}

    def acquire(self, owned: Ownership, done: OnTaken, /) -> None:
        """Read a shard at the epoch of its owner."""

        def run() -> None:
            found: Shard | None = None
            error: LogError | None = None
            try:
                found = self._database.run(lambda: self._database.shard(owned.shard).copy())
                if found.epoch[0] != owned.epoch:
                    error = Fenced(f"{owned.shard} has the epoch {found.epoch}, not {owned.epoch}")
            except LogError as failed:
                error = failed
            self._answer(lambda: self._acquired(owned.shard, found, error, done))

        self._post(run)

    def prepare(self, shards: Sequence[ShardId], done: Callable[[], None], /) -> None:
        """Nothing is read twice here; it takes a statement's time."""
        self._post(lambda: self._answer(done))

    def _acquired(self, shard: ShardId, found: Shard | None, error: LogError | None, done: OnTaken) -> None:
        if error is None and found is not None:
            self._here[shard] = found
            # The number of resolutions begins anew with each epoch.
            self._resolved[shard] = found.epoch[1]
        done(error)

    def _settle(self, rows: Sequence[Row], failures: Mapping[ShardId, LogError]) -> None:
        for row in rows:
            here = self._here.get(row.shard)
            if row.shard not in failures and here is not None:
                here.end = row.end
                here.batches += [row.data[at : at + header.size] for at, header in iter_batches(row.data)]

    def _batches(self, shard: ShardId) -> Sequence[bytes]:
        return self._here[shard].batches if shard in self._here else ()

    def end_offset(self, shard: ShardId, /) -> int:
        return self._here[shard].end if shard in self._here else 0

    # What is left of LogStore.

    def release(self, shards: Sequence[ShardId], done: OnReleased, /) -> None:
        raise AssertionError("a node releases shards as a member")

    def take(self, ends: Sequence[ShardEnd], done: OnTaken, /) -> None:
        raise AssertionError("a node takes shards as a member")

    def forget(self, shards: Sequence[ShardId], done: Callable[[], None], /) -> None:
        for shard in shards:
            self._here.pop(shard, None)
        done()

    def retention(self, history: History, rule: RetentionRule, /) -> NoRetention:
        return NoRetention()

    def topics(self) -> set[str]:
        return {shard.topic for shard, kept in self._database.shards.items() if kept.batches}

    def login_key(self) -> bytes:
        return b"k" * 32

    def when_failed(self, on_failure: Callable[[OutcomeUnknown], Any], /) -> None:
        """Whatever fails has a submit that waits for it."""
