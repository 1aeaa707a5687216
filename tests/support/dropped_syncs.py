"""A disk on which the syncs of one place in the code do nothing, to see whether anybody would notice."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, NamedTuple

from tests.support.storage import SimulatedDisk, _Inode

ROOT = Path(__file__).parents[2]
# Functions whose work is to sync something for their caller. Which caller it was is a part of the place.
SYNCING = re.compile(r"sync|durably|replace_file")
_CODE = str(ROOT / "coordinator_server")
_STORAGE = "coordinator_server/log/storage.py"


class Line(NamedTuple):
    """A line of a function, in a file below the root of the repository."""

    path: str
    function: str
    number: int


# Where a sync comes from: the lines that led to it, the innermost first, up to one that is not in a function of SYNCING. Those in
# log/storage.py are a place of their own, for all their callers.
Place = tuple[Line, ...]


def shown(place: Place) -> str:
    return " < ".join(f"{Path(line.path).name}:{line.number} {line.function}" for line in place)


class Watch:
    """What all disks of a test have in common: the places that have synced, and the one whose syncs are dropped."""

    def __init__(self, dropped: Place | None = None) -> None:
        self.seen: set[Place] = set()
        self.dropped = dropped

    def __deepcopy__(self, _memo: dict[int, Any]) -> Watch:
        return self

    def disk(self, rng: Random | None = None) -> WatchedDisk:
        return WatchedDisk(self, rng)


class WatchedDisk(SimulatedDisk):
    def __init__(self, watch: Watch, rng: Random | None = None) -> None:
        super().__init__(rng)
        self._watch = watch

    def _successor(self, rng: Random) -> SimulatedDisk:
        return WatchedDisk(self._watch, rng)

    def _sync(self, inode: _Inode) -> None:
        places = set(_places(sys._getframe(1)))
        self._watch.seen |= places
        if self._watch.dropped not in places:
            super()._sync(inode)


def _places(frame: FrameType) -> Iterator[Place]:
    lines = list(_lines(frame))
    if lines and lines[0].path == _STORAGE:
        yield (lines[0],)
    callers = tuple(line for line in lines if line.path != _STORAGE)
    if callers:
        yield callers


def _lines(frame: FrameType | None) -> Iterator[Line]:
    """The lines of the code that led to a sync, without those of a test."""
    while frame is not None and not frame.f_code.co_filename.startswith(_CODE):
        frame = frame.f_back
    while frame is not None and frame.f_code.co_filename.startswith(_CODE):
        code = frame.f_code
        yield Line(code.co_filename[len(str(ROOT)) + 1 :], code.co_name, frame.f_lineno)
        if not SYNCING.search(code.co_name) and not code.co_name.startswith("<"):
            return
        frame = frame.f_back
