"""A script of some sixty operations on a log, the same at every run: ``python -m tests.support.log_script DATA_DIR``.

Appends to six shards, seals, a close and an open in the middle; small files, so that segments roll and the journal turns. It says every
durable append as ``partition end``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from queue import SimpleQueue
from random import Random

from coordinator_server.log.local import LocalLogStore
from coordinator_server.log.store import Append
from coordinator_server.log.writer import Sync
from tests.support.log_writer import SHARDS, append_values

OPERATIONS = 60


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
            elif number % 20 == 15:
                self._wait(self._store.seal)
            else:
                self._append()
        self._store.close()

    def _open(self) -> None:
        self._store = LocalLogStore.open(
            self._data_dir, post=self._posted.put, sync=Sync.INLINE, segment_bytes=8_000, journal_bytes=40_000
        )

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
