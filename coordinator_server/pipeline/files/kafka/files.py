"""The files of a stopped Kafka broker's log, chosen by the rules of the broker's own start (``LogLoader``).

    log.dirs/meta.properties                           cluster id
    log.dirs/.lock                                     held by a running broker
    log.dirs/.kafka_cleanshutdown                      it was stopped in order: no file may be torn
    log.dirs/log-start-offset-checkpoint               records before these offsets are deleted
    log.dirs/__consumer_offsets-7/%020d.log            segments; after cleaning their offsets have gaps
                                 /%020d.log.swap       a segment that the cleaner has finished: it replaces those it covers
                                 /%020d.log.cleaned    one that it has not finished: ignored
                                 /%020d.log.deleted    superseded
                                 /*.index, *.timeindex, *.snapshot, leader-epoch-checkpoint, partition.metadata: not needed here

Directories with other names (``…-delete``, ``…-future``, ``…-stray``) do not belong to the log.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from coordinator_server.log.errors import DamagedLog, LockedLog
from coordinator_server.pipeline.errors import CannotRun
from protocol.errors import DecodeError
from protocol.record_batch import HEADER_SIZE, BatchHeader, iter_batches, read_header

CLEAN_SHUTDOWN: Final = ".kafka_cleanshutdown"
_LOCK: Final = ".lock"
_PARTITION: Final = re.compile(r"(.+)-(\d+)")
_FILE: Final = re.compile(r"(\d{20})\.(?:log|index|timeindex|txnindex)(|\.swap|\.cleaned)")
_SNAPSHOT: Final = re.compile(r"(\d{20})-(\d{10})\.checkpoint")


class KafkaBatch(NamedTuple):
    """A verified batch: ``data[position:position + header.size]`` of the file at ``path``."""

    path: Path
    data: bytes
    position: int
    header: BatchHeader

    def damage(self, why: str) -> DamagedLog:
        """Return the error for a batch that cannot be read."""
        return DamagedLog(str(self.path), self.position, why)


class Partition:
    """The directory of a partition, as a broker would load it.

    ``torn_bytes`` is set when the partition has been read to its end.
    """

    def __init__(self, directory: Path, log_start: int = 0, *, is_clean: bool = False) -> None:
        self.directory = directory
        self.log_start = log_start
        self.torn_bytes = 0
        self._is_clean = is_clean
        self.files = log_files(directory)

    @property
    def topic(self) -> str:
        return self.directory.name.rpartition("-")[0]

    @property
    def number(self) -> int:
        return int(self.directory.name.rpartition("-")[2])

    def batches(self) -> Iterator[KafkaBatch]:
        """Return every batch in offset order. Raises DamagedLog, except for a torn end of a log that was not stopped in order."""
        expected = 0
        for path in self.files:
            for batch in self._read(path):
                if batch.header.base_offset < expected:
                    raise batch.damage(f"a batch at offset {batch.header.base_offset} after offset {expected - 1}")
                expected = batch.header.next_offset
                yield batch

    def last_header(self) -> BatchHeader | None:
        """Return the header of the newest batch, which shows how far this replica of the log goes."""
        for path in reversed(self.files):
            headers = [batch.header for batch in self._read(path)]
            if headers:
                return headers[-1]
        return None

    def next_offset(self) -> int:
        """Return the offset that the broker would give to the next record."""
        newest = self.last_header()
        bases = [self.log_start, *(offset_of(path) for path in self.files[-1:])]
        return max(*bases, 0 if newest is None else newest.next_offset)

    def _read(self, path: Path) -> Iterator[KafkaBatch]:
        data = path.read_bytes()
        end = 0
        try:
            for position, header in iter_batches(data):
                end = position + header.size
                yield KafkaBatch(path, data, position, header)
        except DecodeError as error:
            if self._is_clean or path != self.files[-1] or not _is_torn(data, end):
                raise DamagedLog(str(path), end, error.reason) from error
            self.torn_bytes = len(data) - end


class KafkaDir:
    """One of a broker's ``log.dirs``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_dir():
            raise CannotRun(f"{path} is not a directory: name one of the broker's log.dirs")
        _refuse_running(path)
        self.cluster_id = _properties(path / "meta.properties").get("cluster.id", "")
        self._starts = _checkpoint(path / "log-start-offset-checkpoint")
        self._is_clean = (path / CLEAN_SHUTDOWN).exists()

    def partitions(self, topic: str) -> list[Partition]:
        """Return the partitions of a topic in this directory, by number."""
        found = []
        for entry in self.path.iterdir():
            name = _PARTITION.fullmatch(entry.name)
            if name and name[1] == topic and entry.is_dir():
                start = self._starts.get((topic, int(name[2])), 0)
                found.append(Partition(entry, start, is_clean=self._is_clean))
        return sorted(found, key=lambda partition: partition.number)


def log_files(directory: Path) -> list[Path]:
    """Return the segment files that a broker would load, in offset order."""
    named = [(path, name) for path in directory.iterdir() if (name := _FILE.fullmatch(path.name))]
    cleaned = min((int(name[1]) for _, name in named if name[2] == ".cleaned"), default=None)
    # A swap file after a file that was still being cleaned belongs to a split that was not completed.
    logs = {path: int(name[1]) for path, name in named if ".log" in path.name and name[2] != ".cleaned"}
    swaps = {path: base for path, base in logs.items() if path.name.endswith(".swap") and (cleaned is None or base < cleaned)}
    plain = {path: base for path, base in logs.items() if path.name.endswith(".log")}
    if swaps:
        begin, end = min(swaps.values()), max(_end_of_swap(path, base) for path, base in swaps.items())
        plain = {path: base for path, base in plain.items() if not begin <= base < end}
    found = plain | swaps
    return sorted(found, key=found.__getitem__)


def newest_snapshot(directory: Path) -> Path | None:
    """Return the newest snapshot of a KRaft metadata log. It replaces the records before its ``offset_of``."""
    names = [(match.groups(), path) for path in directory.iterdir() if (match := _SNAPSHOT.fullmatch(path.name))]
    return max(names)[1] if names else None


def offset_of(path: Path) -> int:
    """Return the offset in the name of a segment or a snapshot."""
    return int(path.name[:20])


def _end_of_swap(path: Path, base: int) -> int:
    data = path.read_bytes()
    try:
        return max((header.next_offset for _, header in iter_batches(data)), default=base)
    except DecodeError as error:
        raise DamagedLog(str(path), error.position or 0, error.reason) from error


def _is_torn(data: bytes, position: int) -> bool:
    """Return whether the bytes from ``position`` on are one incomplete batch, or were never written."""
    rest = data[position:]
    try:
        return read_header(rest).size >= len(rest)
    except DecodeError:
        return len(rest) < HEADER_SIZE or not any(rest)


@contextlib.contextmanager
def broker_lock(log_dir: Path) -> Iterator[None]:
    """Hold the lock that a broker takes at its start, so that none starts. Raises LockedLog if one is running.

    The operating system drops it when this process closes any descriptor of the file: make no KafkaDir of the directory meanwhile.
    """
    fd = os.open(log_dir / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise _locked(log_dir) from None
        yield
    finally:
        os.close(fd)


def _locked(log_dir: Path) -> LockedLog:
    return LockedLog(f"a Kafka broker runs on {log_dir}: stop it first, so that its log is whole")


def _refuse_running(path: Path) -> None:
    lock = path / _LOCK
    if not lock.exists():
        return
    with lock.open("rb") as file:
        try:
            # The JVM takes POSIX locks, which are released when the process ends.
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            raise _locked(path) from None


def _properties(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    lines = (line.strip() for line in path.read_text().splitlines())
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def _checkpoint(path: Path) -> dict[tuple[str, int], int]:
    """Read a broker's checkpoint file: version, number of entries, then a line with topic, partition and offset per entry."""
    if not path.exists():
        return {}
    try:
        lines = path.read_text().split("\n")
        rows = (line.split(" ") for line in lines[2 : 2 + int(lines[1])])
        return {(topic, int(partition)): int(offset) for topic, partition, offset in rows}
    except (ValueError, IndexError) as error:
        raise DamagedLog(str(path), 0, f"not a checkpoint file of Kafka: {error}") from error
