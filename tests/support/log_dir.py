"""A small data directory as a killed server leaves it, with everything in it: a layer, sealed segments with marks, an active one,
a journal with frames that no segment has yet. And what was written to it."""

from __future__ import annotations

import shutil
from pathlib import Path

from coordinator_server.log.jobs import Block, LayerSummary
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.local import LocalLogStore, LogOptions
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.log.write.journal_writer import Sync
from protocol.batch_builder import BatchBuilder
from protocol.coordinator_records import CLASSIC_GROUP_SERDE, CoordinatorRecord
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from tests.support.log import ManualWorker, shard, values

COUNT = 14
LAYER_TO = 4
BEGINS = (0, 2, 4, 7)  # of the first shard's segments
IN_JOURNAL = 3
SHARDS = (shard(0), shard(1))


def record_batch(each: ShardId, offset: int) -> bytes:
    """A committed offset, in a batch of its own."""
    key = OffsetCommitKey(group=f"group-{each.partition}", topic="orders", partition=offset % 3)
    value = OffsetCommitValue(offset=offset, metadata="", commit_timestamp=1_700_000_000_000 + offset)
    record = CoordinatorRecord(key, value, 3)
    builder = BatchBuilder(offset, 1_700_000_000_000 + offset)
    builder.append(CLASSIC_GROUP_SERDE.encode_key(record), CLASSIC_GROUP_SERDE.encode_value(record))
    return builder.finish()


def expected(each: ShardId) -> list[bytes | None]:
    return values(record_batch(each, offset) for offset in range(COUNT))


def open_store(data_dir: Path) -> LocalLogStore:
    worker = ManualWorker()
    return LocalLogStore.open(
        data_dir, post=lambda call: call(), options=LogOptions(sync=Sync.INLINE, worker=worker, journal_bytes=8192)
    )


def make(data_dir: Path) -> None:
    """The directory of a process that was killed."""
    alive = data_dir.with_name("alive")
    store = open_store(alive)
    for offset in range(COUNT):
        if offset == COUNT - 5:
            store.close()
            store = open_store(alive)
        if offset == COUNT - IN_JOURNAL:
            for log in store.logs():
                log.write_and_roll()
        if offset in BEGINS:
            for log in store.logs()[:1]:
                log.seal()
        store.submit([Append(each, 0, offset, record_batch(each, offset)) for each in SHARDS], lambda _error: None)
    path = alive / str(SHARDS[0])
    with LayerAttempt(path, LAYER_TO) as attempt:
        for offset in range(LAYER_TO):
            attempt.append(offset, record_batch(SHARDS[0], offset))
        attempt.add_checkpoint([Block("group-0", b"what a state machine wrote", 1, (0, -1))], [record_batch(SHARDS[0], 3)])
        publish(attempt.finish(LayerSummary(LAYER_TO, 0, None, ""), []), path, LAYER_TO)
    shutil.copytree(alive, data_dir)
    store.close()
    shutil.rmtree(alive)
