"""The output of the history in a directory: Parquet files, and how far each shard has been read.

    OUT/commits/shard_group=0/day=2026-11-21/000003-0-0.parquet      run 3, task 0, file 0
    OUT/_runs/000003.json                                            the files that run 3 added, and how far it has read each shard
    OUT/_attempt-…/                                                  files of a run that is active or died: a part for each try at a task

A run writes its files into an attempt of its own, and then its run file, with one rename: from then on its files belong to the
tables. Afterwards it renames them to their final paths. If it dies before that, the next run does it. So every record is added once.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from coordinator_server.log.storage import LocalStorage, make_dir_durably
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.job_lock import job_lock

RUNS: Final = "_runs"
LOCK: Final = "_lock"
ATTEMPT: Final = "_attempt-"


class TableFile(Struct, frozen=True):
    """A Parquet file: its path below OUT, its number of rows, and the part of the attempt that it was written to."""

    table: str
    path: str
    rows: int
    part: str = ""


class Run(Struct, frozen=True):
    """What one run added. ``positions`` are the offsets up to which the shards have been read."""

    number: int
    cluster_id: str
    attempt: str
    positions: dict[str, int]
    files: tuple[TableFile, ...] = ()


class Output:
    """The tables of one cluster, and how far they reach. ``attempt`` is where the run writes its files."""

    attempt: Path | str

    def __init__(self, cluster_id: str, last: Run) -> None:
        self._cluster_id = cluster_id
        self._last = last

    @property
    def positions(self) -> dict[str, int]:
        """Return the offsets to continue at, by shard."""
        return self._last.positions

    @property
    def number(self) -> int:
        """Return the number of the current run."""
        return self._last.number + 1

    def add(self, files: Sequence[TableFile], positions: dict[str, int]) -> None:
        """Make the files of the attempt part of the tables, all or none. Raises Busy if another run was faster."""
        raise NotImplementedError

    def _run_of(self, attempt: str, files: Sequence[TableFile], positions: dict[str, int]) -> Run:
        return Run(self.number, self._cluster_id, attempt, self.positions | positions, tuple(files))


class DirectoryOutput(Output):
    """The output in a directory, which only one run at a time can open."""

    def __init__(self, directory: Path, cluster_id: str, last: Run) -> None:
        super().__init__(cluster_id, last)
        self._directory = directory
        self.attempt: Path = directory / f"{ATTEMPT}{secrets.token_hex(8)}"

    def add(self, files: Sequence[TableFile], positions: dict[str, int]) -> None:
        _sync_attempt(self.attempt, files)
        run = self._run_of(self.attempt.name, files, positions)
        _write(self._directory / RUNS / f"{run.number:06d}.json", msgspec.json.encode(run))
        self._last = run
        _finish(self._directory, run)


@contextlib.contextmanager
def open_output(directory: Path, cluster_id: str) -> Iterator[DirectoryOutput]:
    """Lock the directory, which is created if it is missing, and complete what an earlier run left. Raises Busy, CannotRun.

    For tables in an object store see ``remote.py``.
    """
    make_dir_durably(LocalStorage(), str(directory))
    with job_lock(directory / LOCK, f"another run writes to {directory}"):
        make_dir_durably(LocalStorage(), str(directory / RUNS))
        last = Run(0, cluster_id, "", {})
        runs = sorted((directory / RUNS).glob("*.json"))
        if runs:
            last = last_of(runs[-1].read_bytes(), str(runs[-1]), str(directory), cluster_id)
            _finish(directory, last)
        for stale in directory.glob(f"{ATTEMPT}*"):
            shutil.rmtree(stale, ignore_errors=True)
        output = DirectoryOutput(directory, cluster_id, last)
        try:
            yield output
        finally:
            shutil.rmtree(output.attempt, ignore_errors=True)


def last_of(content: bytes, path: str, out: str, cluster_id: str) -> Run:
    """Decode the newest run file. Raises CannotRun if it is damaged, or of another cluster."""
    try:
        last = msgspec.json.decode(content, type=Run)
    except msgspec.DecodeError as error:
        raise CannotRun(f"{path} is damaged ({error}): put it back from a copy, or start over in another --out") from error
    if last.cluster_id != cluster_id:
        raise CannotRun(f"{out} is the history of cluster {last.cluster_id}, not of {cluster_id}: choose another --out")
    return last


def _finish(directory: Path, run: Run) -> None:
    """Move every file of the run to its final path. Repeating it changes nothing. Raises CannotRun if a file is in neither place."""
    attempt = directory / run.attempt
    if not run.attempt or not attempt.exists():
        return  # Everything has its place, or was removed since.
    touched: set[Path] = set()
    for file in run.files:
        source, target = attempt / file.part / file.path, directory / file.path
        if source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)
        elif not target.exists():
            raise CannotRun(f"{target} of run {run.number} is missing: put it back from a copy, or start over in another --out")
        # Also of a file that is there: the run that moved it may have died before its sync.
        touched.update(parent for parent in target.parents if parent.is_relative_to(directory))
    for path in sorted(touched, reverse=True):
        LocalStorage().sync_dir(str(path))
    shutil.rmtree(attempt, ignore_errors=True)


def _write(path: Path, content: bytes) -> None:
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.rename(path)
    LocalStorage().sync_dir(str(path.parent))


def _sync_attempt(attempt: Path, files: Sequence[TableFile]) -> None:
    """Sync the files of an attempt, and the names of its files and directories up to its own. Raises PipelineError if one is missing."""
    missing = next((path for file in files if not (path := attempt / file.part / file.path).exists()), None)
    if missing is not None:
        raise PipelineError(f"{missing} is missing: nothing is added, run it again")
    for path in [*attempt.rglob("*"), attempt, attempt.parent] if files else ():
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
