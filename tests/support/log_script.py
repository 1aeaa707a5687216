"""A script of some sixty operations on a log, the same at every run: ``python -m tests.support.log_script DATA_DIR``.

Appends to six shards, seals, layers, retention, a close and an open in the middle; small files and rising times, so that segments
roll by size and by age and the journal turns. It says every durable append as ``partition end``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import NamedTuple

from coordinator_server.log.jobs import LayerSummary
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.local import LocalLogStore, LogOptions
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.log.store import History, RetentionRule
from coordinator_server.log.write.journal_writer import Sync
from coordinator_server.worker import Job
from protocol.record_batch import read_header
from tests.support.log_writer import SHARDS, append_values

OPERATIONS = 60


class _Collect(NamedTuple):
    """A worker whose jobs are run by who made it."""

    jobs: list[Job]

    def run(self, job: Job, /, *, delay: float = 0.0) -> None:
        self.jobs.append(job)

    def close(self) -> None:
        """Nothing runs."""


class Script:
    """One open log, and the loop that it posts to."""

    def __init__(self, data_dir: str) -> None:
        self._data_dir = data_dir
        self._rng = Random(7)
        self._posted: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._open()

    def run(self) -> None:
        for number in range(OPERATIONS):
            if number == OPERATIONS // 2:
                self._store.close()
                self._open()
            elif number % 10 == 5:
                self._wait(self._store.seal)
            elif number % 10 == 8:
                self._compact(SHARDS[number % 3])
            elif number % 10 == 9:
                self._remove_history()
            else:
                self._append()
        self._store.close()

    def _open(self) -> None:
        self._store = LocalLogStore.open(
            self._data_dir,
            post=self._posted.put,
            options=LogOptions(sync=Sync.INLINE, segment_bytes=8_000, roll_ms=300, journal_bytes=20_000),
        )

    def _compact(self, shard: ShardId) -> None:
        """A layer with everything that is sealed."""
        directory = Path(self._data_dir) / str(shard)
        log = next((each for each in self._store.logs() if each.shard == shard), None)
        to_offset = log.bases()[-1] if log is not None and log.bases() else 0
        if not to_offset:
            return
        with LayerAttempt(directory, to_offset, file_bytes=4000) as attempt:
            for data in self._store.read(shard, 0):
                header = read_header(data)
                if header.base_offset < to_offset:
                    attempt.append(header.base_offset, data)
            publish(attempt.finish(LayerSummary(to_offset, 0, None, ""), []), directory, to_offset)

    def _remove_history(self) -> None:
        jobs: list[Job] = []
        rule = RetentionRule(1, lambda _removed: None, lambda _error: None, lambda: 1 << 62, _Collect(jobs))
        retention = self._store.retention(History(0), rule)
        retention.start()
        jobs[0]()

    def _append(self) -> None:
        shards = self._rng.sample(SHARDS, self._rng.randint(1, len(SHARDS)))
        appends: list[Append] = [append_values(self._store, shard, self._rng.randint(1, 5)) for shard in shards]
        self._wait(lambda done: self._store.submit(appends, done))
        os.write(1, "".join(f"{each.shard.partition} {self._store.end_offset(each.shard)}\n" for each in appends).encode())

    def _wait(self, start: Callable[[Callable[[object], None]], None]) -> None:
        outcome: list[object] = []
        start(outcome.append)
        while not outcome:
            self._posted.get()()
        assert not isinstance(outcome[0], Exception), outcome


if __name__ == "__main__":
    Script(sys.argv[1]).run()
