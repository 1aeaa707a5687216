"""A log in a database, for jobs: its identity, its ends, and the files of its shards, which are brought to where they are read.

A process has one connection to each database, and a directory for what it has brought, which goes with it. A path of a file is
``/store:URL/SHARD/NAME``: any process of any machine can bring it.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import msgspec

from coordinator_server.kinds import KINDS
from coordinator_server.log.errors import DamagedLog, LogError
from coordinator_server.log.jobs import Cleanable, SavedFile
from coordinator_server.log.layers.layer import Layer, parse_manifest
from coordinator_server.log.layers.saved_files import identity_files as saved_identity
from coordinator_server.log.meta import write_meta
from coordinator_server.log.postgresql.address import Address
from coordinator_server.log.postgresql.checks import check_connection
from coordinator_server.log.postgresql.layers import LayerCopies, StoredLayer
from coordinator_server.log.postgresql.reader import Reader
from coordinator_server.log.postgresql.rows import Read
from coordinator_server.log.postgresql.schema import FORMAT
from coordinator_server.log.postgresql.segments import SegmentCopies
from coordinator_server.log.postgresql.session import SCHEMA, Session
from coordinator_server.log.postgresql.upkeep import Upkeep
from coordinator_server.log.shards import ShardId
from coordinator_server.log.storage import LOCAL
from coordinator_server.log.store import Meta
from coordinator_server.log.store_paths import StoreName

_META: Final = "SELECT cluster_id, partitions FROM meta"
_SHARDS: Final = "SELECT topic, partition, sid FROM shard"
_ENDS: Final = "SELECT topic, partition, next_offset FROM shard WHERE next_offset > 0"
_ENDED: Final = "SELECT topic, partition, sid, next_offset FROM shard WHERE next_offset > 0"
_NEWEST: Final = """
SELECT topic, partition, to_offset, manifest FROM shard JOIN LATERAL
  (SELECT to_offset, manifest FROM layer WHERE sid = shard.sid ORDER BY to_offset DESC LIMIT 1) l ON true"""
_DIRTY: Final = "SELECT coalesce(sum(octet_length(data)), 0)::bigint FROM log WHERE sid = $1 AND base_offset >= $2"
# Shards with rows in closed eras that no layer stands for.
_UNREPLACED: Final = """
SELECT topic, partition FROM shard s WHERE EXISTS (
  SELECT FROM log WHERE era IN (SELECT era FROM era WHERE closed_ms IS NOT NULL) AND sid = s.sid
    AND next_offset > coalesce((SELECT max(to_offset) FROM layer WHERE sid = s.sid), 0))"""
_NAME: Final = "coordinator-server job"
_SCRATCH: Final = "coordinator-server-store-"


class JobLog:
    """The log of a store, in this process."""

    def __init__(self, name: StoreName) -> None:
        self.path = name.path
        self._address = Address(*name)
        self._address.check()
        self.reader = Reader(partial(Session, self._address, _NAME, self._check))
        self.upkeep = Upkeep(self.reader)
        self.scratch = _new_scratch()
        self.copies = LayerCopies(LOCAL, str(self.scratch))
        self.segments = SegmentCopies(self.copies)
        self.sids = {ShardId(topic, partition): sid for topic, partition, sid in self.reader.read(_SHARDS)}

    def close(self) -> None:
        """End the connection, and remove what was brought."""
        self.reader.close()
        shutil.rmtree(self.scratch, ignore_errors=True)

    @property
    def identity(self) -> Meta:
        """The identity of the log. Jobs are no nodes: ``node_id`` is -1."""
        [(cluster_id, partitions)] = self.reader.read(_META)
        return Meta(cluster_id, -1, msgspec.json.decode(partitions, type=dict[str, int]))

    def ends(self) -> dict[str, int]:
        """Return the ends of all shards with records, at one moment: everything before them is durable, and never changes."""
        return {str(ShardId(topic, partition)): end for topic, partition, end in self.reader.read(_ENDS)}

    def cleanable(self) -> dict[str, Cleanable]:
        """Return how much of each shard compaction would read. A shard that keeps an era from being emptied counts as dirty."""
        clean = {
            ShardId(topic, partition): (to_offset, self._records_in(ShardId(topic, partition), to_offset, manifest))
            for topic, partition, to_offset, manifest in self.reader.read(_NEWEST)
        }
        waiting = {ShardId(*found) for found in self.reader.read(_UNREPLACED)}
        found = {}
        for topic, partition, sid, end in self.reader.read(_ENDED):
            shard = ShardId(topic, partition)
            to_offset, size = clean.get(shard, (0, 0))
            dirty = self.reader.read(_DIRTY, sid, to_offset)[0][0] if end > to_offset else 0
            found[str(shard)] = Cleanable(dirty, 0 if shard in waiting else size)
        return found

    def identity_files(self) -> Iterator[SavedFile]:
        """Yield the files that a directory with this log would have for its identity."""
        write_meta(LOCAL, str(self.scratch), self.identity)
        return saved_identity(self.scratch)

    def _records_in(self, shard: ShardId, to_offset: int, manifest: bytes) -> int:
        try:
            found = parse_manifest(manifest, self.scratch / str(shard), to_offset)
        except DamagedLog:
            return 0
        # A layer of an older version lacks the checkpoint that it would have now: its bytes do not count.
        is_current = found.checkpoint or not KINDS[shard.topic].has_checkpoint
        return sum(entry.size for entry in found.files) if is_current else 0

    def copy_layer(self, shard: ShardId, stored: StoredLayer) -> Layer:
        """Return a copy of a layer, compared with its manifest. Raises DamagedLog, LogError."""
        return self.reader.run(lambda session: self.copies.copy(_reads(session), shard, stored))

    async def _check(self, connection: Any) -> None:
        await check_connection(connection, needs_standby=self._address.needs_standby)
        found = await connection.fetchval(f"SELECT to_regclass('{SCHEMA}.segment') IS NOT NULL")
        version = await connection.fetchval("SELECT format FROM meta") if found else None
        if version is None:
            raise LogError(
                f"{self._address.shown} has no log, or one of an earlier version: let a node of this version start on it"
            )
        if version > FORMAT:
            raise LogError(f"the tables have format {version}, this version knows {FORMAT}: use the version that made them")


def _reads(session: Session) -> Read:
    return partial(session.read, waits=False)


@cache
def _opened(name: StoreName, _pid: int) -> JobLog:
    return JobLog(name)


def job_log(name: StoreName) -> JobLog:
    """Return the log of a store. Raises LogError, ConfigError."""
    return _opened(name, os.getpid())


def _new_scratch() -> Path:
    """Make a directory for this process. Those of processes that are gone are removed: workers of Spark are killed."""
    root = Path(tempfile.gettempdir())
    for each in root.glob(f"{_SCRATCH}*"):
        found = re.fullmatch(rf"{_SCRATCH}(\d+)-.*", each.name)
        # Other processes remove them, too.
        with suppress(FileNotFoundError):
            if found is not None and each.stat().st_uid == os.getuid() and not Path(f"/proc/{found[1]}").exists():
                shutil.rmtree(each, ignore_errors=True)
    scratch = Path(tempfile.mkdtemp(prefix=f"{_SCRATCH}{os.getpid()}-"))
    atexit.register(_remove_scratch, scratch, os.getpid())
    return scratch


def _remove_scratch(scratch: Path, pid: int) -> None:
    if os.getpid() == pid:
        shutil.rmtree(scratch, ignore_errors=True)
