"""Layers of a log in a real PostgreSQL, made and removed by this process, for the tests of both."""

from __future__ import annotations

from typing import Any, Final

from coordinator_server.log.errors import LogError
from coordinator_server.log.jobs import Block, LayerSummary, in_order
from coordinator_server.log.opening import job_shard
from coordinator_server.log.postgresql.job_log import JobLog, job_log
from coordinator_server.log.postgresql.objects import Objects, below, objects
from coordinator_server.log.postgresql.removal import Removal
from coordinator_server.log.shards import Append, Ownership, ShardId
from coordinator_server.log.store import History, Removed
from coordinator_server.log.store_paths import split_path
from tests.support.job_subjects import SHARD, PostgresqlDatabase
from tests.support.log import batch
from tests.support.log_subjects import submit

OTHER: Final = ShardId("__consumer_offsets", 3)
NOW: Final = 1_800_000_000_000
LATER: Final = NOW + 10**13
NONE: Final = History(0)
LONG: Final = History(10**12)


def keep_in(subject: PostgresqlDatabase, url: str) -> Objects:
    """Let new layers go there, as a node that starts does. Return the files of the cluster."""
    node = subject.node
    node.loop.run_until_complete(node.store.keep_layers_in(url))
    return objects(below(url, node.store.meta.cluster_id))


def append(subject: PostgresqlDatabase, count: int, shard: ShardId = SHARD) -> int:
    """Append records whose values are their offsets. Return the end."""
    store = subject.node.store
    for _ in range(count):
        at = store.end_offset(shard)
        assert submit(subject.node, Append(shard, 0, at, batch(at, b"%d" % at))) == {}
    return int(store.end_offset(shard))


def attempt(subject: PostgresqlDatabase, to_offset: int, shard: ShardId = SHARD, kept: bytes = b"kept") -> str:
    """Store a layer with one record and a checkpoint with one block, which is not published."""
    job = job_shard(subject.path / str(shard))
    with job.new_layer(to_offset) as made:
        made.append(0, batch(0, kept))
        made.close()
        made.add_checkpoint(in_order([Block("group", kept, 1, (0, 1))]), [])
        return str(made.finish(LayerSummary(1, 0, None, "d" * 32), []))


def publish(subject: PostgresqlDatabase, to_offset: int, shard: ShardId = SHARD, kept: bytes = b"kept") -> bool:
    return job_shard(subject.path / str(shard)).publish(attempt(subject, to_offset, shard, kept), to_offset)


def reopened(subject: PostgresqlDatabase, epoch: int, *shards: ShardId) -> Any:
    """Let another process of the node own shards. Return its log."""
    node = subject.node
    node.reopen()
    for shard in shards or (SHARD,):
        node.take(shard, epoch)
        outcome: list[LogError | None] = []
        node.store.acquire(Ownership(shard, epoch), outcome.append)
        node.run()
        if outcome != [None]:
            raise outcome[0] or AssertionError
    return node.store


def log_of(subject: PostgresqlDatabase) -> JobLog:
    return job_log(split_path(subject.path)[0])


def remove(subject: PostgresqlDatabase, history: History = NONE, now_ms: int = NOW) -> list[Removed]:
    """Do one check of retention."""
    removed: list[Removed] = []
    Removal(log_of(subject), history, now_ms).run(removed.append)
    return removed


def rows(subject: PostgresqlDatabase) -> list[tuple[int, int]]:
    """The rows of SHARD: era and offset."""
    sid = subject.node.store.sids[SHARD]
    return [tuple(row) for row in subject.node.sql("SELECT era, base_offset FROM log WHERE sid = $1 ORDER BY base_offset", sid)]


def eras(subject: PostgresqlDatabase, count: int) -> None:
    """Write two records to each shard in each of so many eras, with a layer at the end of each, and one record after them."""
    for number in range(count):
        for shard in (SHARD, OTHER):
            end = append(subject, 2, shard)
            assert publish(subject, end, shard, b"%d" % number)
        remove(subject, LONG, NOW + number)
        # The era is opened at the first look, and closed at one of the next.
        remove(subject, LONG, NOW + LONG.history_ms // 4 * (number + 1))
    for shard in (SHARD, OTHER):
        append(subject, 1, shard)
