"""Read and check every file of a data directory: ``log verify``. A server may run on the directory meanwhile.

    meta.properties    it parses, and its format is known
    journal/           heads, frames, entries; if no server runs, a start is tried on a copy in memory (overlay.py)
    segments           every batch: checksum, offsets without a gap, records that parse, from where history begins to the end
    layers             the manifest, every file as it says, batches in order, records that parse
    marks              they belong to the segment beside them
    names              every log belongs to a topic and a partition that the server reads (kinds.py)

What a crash leaves is noted, and is not damage: a torn end, an unfinished removal or layer, marks
that do not fit. While a server runs the end of the log moves, so what is after the durable end is
not checked.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from coordinator_server.kinds import KINDS
from coordinator_server.log.errors import DamagedLog, LogError, WrongDirectory
from coordinator_server.log.file_locks import holder
from coordinator_server.log.file_names import (
    COMPACTION_LOCK,
    JOURNALS,
    LOCK,
    journal_dir,
    layer_offsets,
    loops_of,
    segment_bases,
    shards_of,
)
from coordinator_server.log.jobs import OBSERVED_FACTS
from coordinator_server.log.login_key import NAME as LOGIN_KEY
from coordinator_server.log.login_key import read_login_key
from coordinator_server.log.meta import IMPORTED, check_counted, check_not_a_brokers, read_meta
from coordinator_server.log.meta import NAME as META
from coordinator_server.log.repair.batch_scan import DamagedBytes, scan_batches
from coordinator_server.log.repair.check_shard import ShardCheck
from coordinator_server.log.repair.findings import Inspection, Progress, Report
from coordinator_server.log.repair.journal_reader import newest_ends, read_journal
from coordinator_server.log.repair.overlay import OverlayStorage, ReadOnlyStorage
from coordinator_server.log.repair.recovery import recover
from coordinator_server.log.repair.trial_start import shards_that_do_not_load
from coordinator_server.log.shards import ShardEnd, ShardId
from coordinator_server.log.storage import LocalStorage, Storage
from coordinator_server.log.store import Meta
from coordinator_server.log.write.journal import JournalContents
from coordinator_server.log.write.segments import end_of_batches

_OTHERS: Final = frozenset({LOCK, COMPACTION_LOCK, META, IMPORTED, JOURNALS, LOGIN_KEY, OBSERVED_FACTS})
_SOCKET: Final = ".sock"
_TRIES: Final = 5
_PAUSE_S: Final = 0.2


def check(data_dir: str, progress: Progress = lambda _done, _all: None) -> Report:
    """Read everything, and return what was found.

    WrongDirectory for a directory that no server has made; OSError when something cannot be read at all.
    """
    check_not_a_brokers(LocalStorage(), data_dir)
    if not os.path.isdir(data_dir) or not ({META, JOURNALS} & set(os.listdir(data_dir)) or shards_of(LocalStorage(), data_dir)):
        raise WrongDirectory(f"{data_dir} is no data directory of coordinator-server: check --data-dir")
    while True:
        report = _Check(data_dir, progress, is_served=is_served(data_dir)).run()
        # If a server was started or stopped meanwhile, what looks like damage may be the moving end.
        if report.is_served == is_served(data_dir) or not report.damage:
            return report


def is_served(data_dir: str) -> bool:
    """Whether a process holds the directory."""
    return holder(f"{data_dir}/{LOCK}") is not None


class _Check:
    def __init__(self, data_dir: str, progress: Progress, *, is_served: bool) -> None:
        self.data_dir = data_dir
        self.report = Report(is_served)
        self.storage: Storage = ReadOnlyStorage()
        self._inspection = Inspection(self.report, self.storage, progress, sum(size for _, size in _files(data_dir)))
        self._journaled: set[ShardId] = set()

    def run(self) -> Report:
        meta = self._meta()
        ends = self._journals()
        directories = [shard for shard in shards_of(self.storage, self.data_dir) if os.path.isdir(f"{self.data_dir}/{shard}")]
        shard_check = ShardCheck(self.data_dir, self._inspection, self._journaled)
        for shard in directories:
            shard_check.run(shard, ends.get(shard))
        self._login_key()
        for shard in sorted({*directories, *ends, *self._journaled}):
            self._check_name(shard, meta, is_written=shard in ends or shard in self._journaled)
        for name in sorted(os.listdir(self.data_dir)):
            if name not in _OTHERS and not name.endswith(_SOCKET) and not os.path.isdir(f"{self.data_dir}/{name}"):
                self._inspection.note(f"{self.data_dir}/{name}", "not a file of the log")
        if not self.report.is_served:
            self._try_start()
        self._inspection.end()
        return self.report

    def _meta(self) -> Meta | None:
        path = f"{self.data_dir}/{META}"
        try:
            meta = read_meta(self.storage, self.data_dir)
            self._inspection.read(path)
            check_counted(self.storage, self.data_dir, meta)
        except WrongDirectory:
            raise
        except (LogError, OSError) as error:
            self._inspection.damaged(path, 0, str(error), "meta")
            return None
        return meta

    def _login_key(self) -> None:
        path = f"{self.data_dir}/{LOGIN_KEY}"
        if self.storage.exists(path):
            try:
                read_login_key(self.storage, self.data_dir)
                self._inspection.read(path)
            except (LogError, OSError) as error:
                self._inspection.damaged(path, 0, str(error), "login key")

    def _check_name(self, shard: ShardId, meta: Meta | None, *, is_written: bool) -> None:
        """Report a shard that this server does not read, because of its topic or its number."""
        directory = f"{self.data_dir}/{shard}"
        count = meta.partitions.get(shard.topic) if meta is not None else None
        if shard.topic not in KINDS:
            why = f"{shard.topic} is not a topic of this server"
        elif count is not None and shard.partition >= count:
            why = f"{shard.topic} has {count} partitions, 0 to {count - 1}"
        else:
            return
        if is_written or segment_bases(self.storage, directory) or layer_offsets(Path(directory), self.storage):
            self._inspection.damaged(directory, 0, why, "unread")
        else:
            self._inspection.note(directory, f"{why}; it has no log files")

    def _journals(self) -> dict[ShardId, ShardEnd]:
        """Check all journals. Return how far each shard is durable in its segments."""
        journals = [self._journal(journal_dir(self.data_dir, loop)) for loop in loops_of(self.storage, self.data_dir)]
        for found in journals:
            self._journaled |= {entry.shard for entry in found.entries}
        return newest_ends(found.head for found in journals if found.head)

    def _journal(self, directory: str) -> JournalContents:
        tries = _TRIES if self.report.is_served else 1
        for left in range(tries - 1, -1, -1):
            try:
                found = read_journal(self.storage, directory)
                for entry in found.entries:
                    end_of_batches(entry.data, entry.offset)
            except (DamagedLog, ValueError, OSError) as error:
                # A file that the server takes into use again while it is read looks damaged.
                if left:
                    time.sleep(_PAUSE_S)
                    continue
                path, position = (error.path, error.position) if isinstance(error, DamagedLog) else (directory, 0)
                self._inspection.damaged(path, position, error.why if isinstance(error, DamagedLog) else str(error), "journal")
                return JournalContents()
            for path, position in found.mended:
                self._inspection.note(
                    path,
                    f"a bit of the frame at byte {position} is not what it was; which one follows from its checksum, and it is "
                    f"put right",
                )
            for path in (*found.chain, *found.others):
                self._inspection.read(path)
            for entry in found.entries:
                self._content(entry.shard, directory, entry.data, entry.offset)
            return found
        raise AssertionError("the last try returns")

    def _content(self, shard: ShardId, path: str, data: bytes, offset: int) -> None:
        """Check the batches of a frame whose own checksum holds."""
        for found in scan_batches(data, offset):
            if isinstance(found, DamagedBytes):
                self._inspection.damaged(
                    path, 0, f"in a whole frame, of {shard} at offset {found.offset}: {found.why}", "journal"
                )
            else:
                self._inspection.records(shard, path, 0, found, 0)

    def _try_start(self) -> None:
        known = {(finding.path, finding.position) for finding in self.report.damage}
        storage = OverlayStorage()
        try:
            recovered = recover(storage, self.data_dir)
        except DamagedLog as damage:
            if (damage.path, damage.position) not in known:
                self._inspection.damaged(damage.path, damage.position, damage.why, "start")
            return
        failed = shards_that_do_not_load(storage, self.data_dir, recovered)
        for found in failed.values():
            if (found.path, found.position) not in known:
                self._inspection.damaged(found.path, found.position, found.why, "start")
        self._inspection.not_needed([f"{self.data_dir}/{shard}/" for shard in recovered.shards.keys() - failed.keys()])
        if not failed:
            self._inspection.not_needed([f"{self.data_dir}/{JOURNALS}"])


def _files(data_dir: str) -> Iterator[tuple[str, int]]:
    for directory, _, names in os.walk(data_dir):
        for name in names:
            path = f"{directory}/{name}"
            try:
                yield path, os.stat(path).st_size
            except FileNotFoundError:
                continue
