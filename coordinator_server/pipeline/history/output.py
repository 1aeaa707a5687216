"""The output of the history in a directory: Parquet files, and how far each shard has been read.

    OUT/commits/shard_group=0/day=2026-11-21/000003-0-0.parquet      run 3, task 0, file 0
    OUT/_runs/000003.json                                            the files that run 3 added, and how far it has read each shard
    OUT/_attempt-…/                                                  files of a run that is active or died: a part for each try at
                                                                     a task

A run writes its files into an attempt of its own, and then its run file, with one rename: from then on its files belong to the
tables. Afterwards it renames them to their final paths. If it dies before that, the next run does it.
So every record is added once.
"""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec
from msgspec import Struct

from coordinator_server.log.storage import LOCAL, Storage, discard_tree, make_dir_durably, read_file, replace_file
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.job_lock import job_lock

RUNS: Final = "_runs"
LOCK: Final = "_lock"
ATTEMPT: Final = "_attempt-"
# The forms of names in run files. Any other one could be outside of the output.
_ATTEMPT_NAME: Final = re.compile(r"[\w-]+")
_PART: Final = re.compile(r"[\w-]*")
_TABLE_FILE: Final = re.compile(r"[\w-]+(/[\w=-]+)*/[\w-]+\.parquet")


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

    def has_table(self, name: str) -> bool:
        """Return whether a table has its folder."""
        raise NotImplementedError

    def add(self, files: Sequence[TableFile], positions: dict[str, int]) -> None:
        """Make the files of the attempt part of the tables, all or none. Raises Busy if another run was faster."""
        raise NotImplementedError

    def _run_of(self, attempt: str, files: Sequence[TableFile], positions: dict[str, int]) -> Run:
        return Run(self.number, self._cluster_id, attempt, self.positions | positions, tuple(files))


class DirectoryOutput(Output):
    """The output in a directory, which only one run at a time can open."""

    def __init__(self, storage: Storage, directory: Path, cluster_id: str, last: Run) -> None:
        super().__init__(cluster_id, last)
        self._storage = storage
        self._directory = directory
        self.attempt: Path = directory / f"{ATTEMPT}{secrets.token_hex(8)}"

    def has_table(self, name: str) -> bool:
        return self._storage.exists(f"{self._directory}/{name}")

    def add(self, files: Sequence[TableFile], positions: dict[str, int]) -> None:
        _sync_attempt(self._storage, self.attempt, files)
        run = self._run_of(self.attempt.name, files, positions)
        replace_file(self._storage, f"{self._directory}/{RUNS}/{run.number:06d}.json", msgspec.json.encode(run))
        self._last = run
        _finish(self._storage, self._directory, run)


@contextlib.contextmanager
def open_output(directory: Path, cluster_id: str) -> Iterator[DirectoryOutput]:
    """Lock the directory, which is created if it is missing, and complete what an earlier run left. Raises Busy, CannotRun.

    For tables in an object store see ``remote.py``.
    """
    make_dir_durably(LOCAL, str(directory))
    with job_lock(directory / LOCK, f"another run writes to {directory}"), open_locked(LOCAL, directory, cluster_id) as output:
        yield output


@contextlib.contextmanager
def open_locked(storage: Storage, directory: Path, cluster_id: str) -> Iterator[DirectoryOutput]:
    """Open the output in a directory that this process has locked, and complete what an earlier run left. Raises CannotRun."""
    runs = f"{directory}/{RUNS}"
    # ``add`` syncs its name.
    storage.make_dir(runs)
    # The process that wrote the newest run file may have been killed before its name was durable.
    storage.sync_dir(runs)
    last = Run(0, cluster_id, "", {})
    names = [name for name in storage.list(runs) if name.endswith(".json")]
    if names:
        path = f"{runs}/{names[-1]}"
        last = last_of(read_file(storage, path), path, str(directory), cluster_id)
        _finish(storage, directory, last)
    for name in storage.list(str(directory)):
        if name.startswith(ATTEMPT):
            discard_tree(storage, f"{directory}/{name}")
    output = DirectoryOutput(storage, directory, cluster_id, last)
    try:
        yield output
    finally:
        discard_tree(storage, str(output.attempt))


def last_of(content: bytes, path: str, out: str, cluster_id: str) -> Run:
    """Decode the newest run file. Raises CannotRun if it is damaged, or of another cluster."""
    try:
        last = msgspec.json.decode(content, type=Run)
    except msgspec.DecodeError as error:
        raise CannotRun(f"{path} is damaged ({error}): put it back from a copy, or start over in another --out") from error
    if not _are_inside(last):
        raise CannotRun(
            f"{path} is damaged (it names files outside of {out}): put it back from a copy, or start over in another --out"
        )
    if last.cluster_id != cluster_id:
        raise CannotRun(f"{out} is the history of cluster {last.cluster_id}, not of {cluster_id}: choose another --out")
    return last


def _are_inside(run: Run) -> bool:
    """Return whether all names of a run are of the forms that runs have."""
    return (not run.attempt or _ATTEMPT_NAME.fullmatch(run.attempt) is not None) and all(
        _PART.fullmatch(file.part) is not None and _TABLE_FILE.fullmatch(file.path) is not None for file in run.files
    )


def _finish(storage: Storage, directory: Path, run: Run) -> None:
    """Move every file of the run to its final path.

    Repeating it changes nothing. Raises CannotRun if a file is in neither place.
    """
    attempt = f"{directory}/{run.attempt}"
    if not run.attempt or not storage.exists(attempt):
        return  # Everything has its place, or was removed since.
    folders = _folders(file.path for file in run.files)
    for folder in folders:
        storage.make_dir(f"{directory}/{folder}")
    # The names of all directories are synced before a file loses the name that it has in the attempt.
    for folder in _folders(folders):
        storage.sync_dir(f"{directory}/{folder}")
    for file in run.files:
        source, target = f"{attempt}/{file.part}/{file.path}", f"{directory}/{file.path}"
        if storage.exists(source):
            storage.rename(source, target)
        elif not storage.exists(target):
            raise CannotRun(f"{target} of run {run.number} is missing: put it back from a copy, or start over in another --out")
    # Also of an existing file: the run that moved it may have died before its sync.
    for folder in sorted({str(PurePosixPath(file.path).parent) for file in run.files}):
        storage.sync_dir(f"{directory}/{folder}")
    discard_tree(storage, attempt)


def _sync_attempt(storage: Storage, attempt: Path, files: Sequence[TableFile]) -> None:
    """Sync the files of an attempt, and the names of its files and directories up to its own.

    Raises PipelineError if one is missing.
    """
    paths = [f"{file.part}/{file.path}" for file in files]
    for path in paths:
        try:
            with closing(storage.open_read_only(f"{attempt}/{path}")) as found:
                found.sync()
        except FileNotFoundError as error:
            raise PipelineError(f"{attempt}/{path} is missing: nothing is added, run it again") from error
    for folder in _folders(paths):
        storage.sync_dir(f"{attempt}/{folder}")
    storage.sync_dir(str(attempt.parent))


def _folders(paths: Iterable[str]) -> list[str]:
    """Return every directory that has one of the relative paths below it, the outermost (``.``) first."""
    return sorted({str(parent) for path in paths for parent in PurePosixPath(path).parents})
