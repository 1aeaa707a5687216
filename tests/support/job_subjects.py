"""Shards for jobs (log/jobs.py) of logs that are kept in different ways, for the rules that each of them keeps."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from coordinator_server.log.jobs import JobShard
from coordinator_server.log.layers.job_shard import LocalJobShard
from coordinator_server.log.opening import job_shard, store_upkeep
from coordinator_server.log.postgresql.job_log import job_log
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.log.store_paths import StoreName, split_path
from coordinator_server.pipeline.input.data_dir import offline_store
from coordinator_server.pipeline.input.sealing import seal
from protocol.record_batch import iter_batches
from tests.support.log_subjects import Postgresql, Shared, submit
from tests.support.postgresql import PostgresqlServer
from tests.support.segments import Batch, encode, write_meta

SHARD = ShardId("__consumer_offsets", 7)


class JobSubject(Protocol):
    """A log with one shard, which a server writes and jobs read."""

    def write(self, batches: list[Batch]) -> int:
        """Let a server write, and stop. Return the end offset."""

    def seal(self) -> None:
        """Make everything immutable."""

    def shard(self) -> JobShard:
        """Return the shard, as another process finds it."""


class LocalLog:
    """A log in a directory."""

    def __init__(self, root: Path) -> None:
        self.data_dir = root / "data"
        self.data_dir.mkdir()
        write_meta(self.data_dir)

    def write(self, batches: list[Batch]) -> int:
        with offline_store(self.data_dir, "test") as (store, run_until):
            at = store.end_offset(SHARD)
            outcomes: list[object] = []
            store.submit([Append(SHARD, 0, at, b"".join(map(encode, batches)))], outcomes.append)
            run_until(lambda: bool(outcomes))
            assert outcomes == [None]
            return store.end_offset(SHARD)

    def seal(self) -> None:
        seal(self.data_dir)

    def shard(self) -> JobShard:
        return LocalJobShard(self.data_dir / str(SHARD))


class SharedDatabase:
    """A log in a database, whose rows never change. Jobs get copies of the rows as files, and layers are objects beside them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._node = Shared()

    def write(self, batches: list[Batch]) -> int:
        at = self._node.store.end_offset(SHARD)
        for batch in batches:
            data = encode(batch)
            assert submit(self._node, Append(SHARD, 0, at, data)) == {}
            at = self._node.store.end_offset(SHARD)
        return int(at)

    def seal(self) -> None:
        """Nothing to do."""

    def shard(self) -> JobShard:
        copies = self._root / str(SHARD)
        end = 0
        for data in self._node.store.read(SHARD, 0):
            copies.mkdir(exist_ok=True)
            [(_, header)] = iter_batches(data)
            (copies / f"{header.base_offset:020d}.log").write_bytes(data)
            end = header.next_offset
        if end:
            (copies / f"{end:020d}.log").touch()
        return LocalJobShard(copies)


class PostgresqlDatabase:
    """A log in a real PostgreSQL. This process is the one that makes layers of it."""

    def __init__(self, server: PostgresqlServer) -> None:
        self.node = Postgresql(server)
        self.path = StoreName(server.url(self.node.database)).path
        self._upkeep = ExitStack()
        self._upkeep.enter_context(store_upkeep(self.path))

    def write(self, batches: list[Batch]) -> int:
        at = self.node.store.end_offset(SHARD)
        for batch in batches:
            assert submit(self.node, Append(SHARD, 0, at, encode(batch))) == {}
            at = self.node.store.end_offset(SHARD)
        return int(at)

    def seal(self) -> None:
        """Nothing to do."""

    def shard(self) -> JobShard:
        return job_shard(self.path / str(SHARD))

    def close(self) -> None:
        self._upkeep.close()
        job_log(split_path(self.path)[0]).close()
        self.node.close()
