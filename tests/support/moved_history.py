"""History of a database that has moved to an object store."""

from __future__ import annotations

from typing import Any, Final

from coordinator_server.log.opening import input_file, job_shard
from coordinator_server.log.postgresql.objects import Objects
from coordinator_server.log.postgresql.segments import segments_of
from coordinator_server.log.store import FOREVER, History
from tests.support.job_subjects import SHARD, PostgresqlDatabase
from tests.support.stored_layers import OTHER

MOVED: Final = History(FOREVER, local_ms=0)
SHARDS: Final = (SHARD, OTHER)


def whole(subject: PostgresqlDatabase, shard: Any = SHARD) -> bytes:
    """The history of a shard, as a job reads it."""
    job = job_shard(subject.path / str(shard))
    layer, found = job.whole(job.sealed_to())
    assert layer is None
    return b"".join(input_file(each.path).read_bytes() for each in found)


def folders(subject: PostgresqlDatabase, files: Objects) -> list[str]:
    return sorted(each for shard in SHARDS for each in files.folders(segments_of(subject.node.store.sids[shard])))


def segments(subject: PostgresqlDatabase, shard: Any = SHARD) -> list[tuple[int, int]]:
    sid = subject.node.store.sids[shard]
    found = subject.node.sql("SELECT base_offset, next_offset FROM segment WHERE sid = $1 ORDER BY base_offset", sid)
    return [tuple(row) for row in found]
