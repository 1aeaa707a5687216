"""A process that appends to a log until it is killed: ``python -m tests.support.log_writer DATA_DIR SEED``.

It says ``opened``, and for every durable append the shard and its new end. The value at an offset follows from shard and offset.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from queue import SimpleQueue
from random import Random

from coordinator_server.log.local import LocalLogStore, LogOptions
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.log.store import Failures
from coordinator_server.log.write.journal_writer import Sync
from protocol.batch_builder import BatchBuilder

SHARDS = [ShardId("__consumer_offsets", partition) for partition in range(6)]


def value(shard: ShardId, offset: int) -> bytes:
    return b"%d:%d " % (shard.partition, offset) * (1 + offset * 7919 % 50)


def main() -> None:
    rng = Random(int(sys.argv[2]))
    posted: SimpleQueue[Callable[[], None]] = SimpleQueue()
    sync = rng.choice((Sync.INLINE, Sync.THREAD))
    store = LocalLogStore.open(
        sys.argv[1], post=posted.put, options=LogOptions(sync=sync, segment_bytes=30_000, journal_bytes=60_000)
    )
    os.write(1, b"opened\n")
    while True:
        appends = [append_values(store, shard, rng.randint(1, 5)) for shard in rng.sample(SHARDS, rng.randint(1, 6))]
        outcome: list[Failures | None] = []
        store.submit(appends, outcome.append)
        if rng.random() < 0.02:
            store.seal(lambda _ends: None)
        while not outcome:
            posted.get()()
        assert outcome == [None]
        os.write(1, "".join(f"{each.shard.partition} {store.end_offset(each.shard)}\n" for each in appends).encode())


def append_values(store: LocalLogStore, shard: ShardId, count: int) -> Append:
    """The next ``count`` records of a shard."""
    offset = store.end_offset(shard)
    builder = BatchBuilder(offset, 10 * offset)
    for each in range(offset, offset + count):
        builder.append(b"key", value(shard, each))
    return Append(shard, 0, offset, builder.finish())


if __name__ == "__main__":
    main()
