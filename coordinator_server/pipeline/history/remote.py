"""The output of the history in an object store such as S3, which has no renames and no locks.
Objects and steps are those of ``output.py``.

    OUT/_attempt-000003-…/…               objects of a run that is active, died, or lost a race
    OUT/_runs/000003.claim-…              the claim of a run that is about to write its run file
    OUT/_runs/000003.json                 what run 3 added; from then on its objects belong to the tables
    OUT/commits/shard_group=0/…           where its objects are copied afterwards, by the next run if this one dies before that

pyarrow writes an object atomically, but cannot refuse to replace one. So a run first writes a claim for its number, and then
lists the claims: of two runs at least one sees the other's claim, and gives up. The store must list what has been written before,
as all current stores do. A run that dies between its claim and its run file, a short moment, leaves a claim that the operator has
to remove; the next run names it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
from pyarrow.fs import FileSelector, FileType

from coordinator_server.pipeline.errors import Busy, CannotRun
from coordinator_server.pipeline.history.output import ATTEMPT, RUNS, Output, Run, TableFile, last_of, open_output
from coordinator_server.pipeline.locations import Location, Url, make_parents, open_url

_CLAIM: Final = ".claim-"


@contextmanager
def open_tables(where: Location, cluster_id: str) -> Iterator[Output]:
    """Open the tables in a directory or a store, and complete what an earlier run left. Raises Busy, CannotRun."""
    if isinstance(where, Path):
        with open_output(where.absolute(), cluster_id) as output:
            yield output
        return
    remote = StoreOutput(where, cluster_id)
    remote.tidy()
    try:
        yield remote
    finally:
        remote.discard()


class StoreOutput(Output):
    """The output in an object store. Several runs may race, and one of them adds its files."""

    def __init__(self, url: Url, cluster_id: str) -> None:
        self._url = url
        self._store, self._root = open_url(url)
        super().__init__(cluster_id, self._last_run(cluster_id))
        self._name = f"{ATTEMPT}{self.number:06d}-{secrets.token_hex(8)}"
        self.attempt: str = url.child(self._name).text

    def tidy(self) -> None:
        """Complete the last run, and remove the objects of runs that are over."""
        self._finish(self._last)
        for name in self._names("", FileType.Directory):
            number = name.removeprefix(ATTEMPT).partition("-")[0]
            if name.startswith(ATTEMPT) and number.isdecimal() and int(number) <= self._last.number:
                self._remove(name)

    def has_table(self, name: str) -> bool:
        return self._exists(name, FileType.Directory)

    def add(self, files: Sequence[TableFile], positions: dict[str, int]) -> None:
        run = self._run_of(self._name, files, positions)
        claim = f"{run.number:06d}{_CLAIM}{secrets.token_hex(8)}"
        self._put(f"{RUNS}/{claim}", b"")
        try:
            self._check_alone(run, claim)
            self._put(f"{RUNS}/{run.number:06d}.json", msgspec.json.encode(run))
        finally:
            self._store.delete_file(f"{self._root}/{RUNS}/{claim}")
        self._last = run
        self._finish(run)

    def discard(self) -> None:
        """Remove what is left of the attempt, at the end of the run."""
        if self._last.attempt != self._name:
            self._remove(self._name)

    def _check_alone(self, run: Run, claim: str) -> None:
        names = self._names(RUNS, FileType.File)
        others = [name for name in names if name.startswith(f"{run.number:06d}{_CLAIM}") and name != claim]
        if others:
            where = self._url.child(RUNS, others[0])
            raise Busy(f"another run adds to {self._url}; try again (if none does, it died: remove {where})")
        if f"{run.number:06d}.json" in names:
            raise Busy(f"another run has added to {self._url} meanwhile; run this again")

    def _last_run(self, cluster_id: str) -> Run:
        names = sorted(name for name in self._names(RUNS, FileType.File) if name.endswith(".json"))
        if not names:
            return Run(0, cluster_id, "", {})
        with self._store.open_input_stream(f"{self._root}/{RUNS}/{names[-1]}") as file:
            return last_of(file.read(), str(self._url.child(RUNS, names[-1])), str(self._url), cluster_id)

    def _finish(self, run: Run) -> None:
        """Copy every object of the run to its final path. Repeating it, even at the same time, changes nothing."""
        if not run.attempt or not self._exists(run.attempt, FileType.Directory):
            return
        for file in run.files:
            with suppress(FileNotFoundError):
                # An object that is no longer here has been copied before.
                make_parents(self._store, f"{self._root}/{file.path}")
                source = f"{self._root}/{run.attempt}/{file.part}/{file.path}"
                self._store.copy_file(source, f"{self._root}/{file.path}")
        missing = [file.path for file in run.files if not self._exists(file.path, FileType.File)]
        if missing:
            raise CannotRun(f"{self._url.child(missing[0])} is gone, and no attempt has it: start over in another --out")
        self._remove(run.attempt)

    def _names(self, below: str, kind: FileType) -> list[str]:
        selector = FileSelector(f"{self._root}/{below}".rstrip("/"), allow_not_found=True)
        return [found.base_name for found in self._store.get_file_info(selector) if found.type == kind]

    def _exists(self, name: str, kind: FileType) -> bool:
        return bool(self._store.get_file_info(f"{self._root}/{name}").type == kind)

    def _put(self, name: str, content: bytes) -> None:
        path = f"{self._root}/{name}"
        make_parents(self._store, path)
        with self._store.open_output_stream(path) as file:
            file.write(content)

    def _remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            self._store.delete_dir(f"{self._root}/{name}")
