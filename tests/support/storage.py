"""A disk in memory that does to its files what power loss does to real ones, and fails when a test says so.

What a program sees is the latest content. What a ``power_loss`` leaves is what was synced, and of everything since then a random
part: each 512-byte sector as it was at some moment after the last sync, each file of a size it had, each name made or removed or
not. Of a rename from one directory to another both halves happen, or neither, as long as both directories are there. A ``kill``
leaves what the program saw, as unsynced as it was.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from copy import copy, deepcopy
from random import Random
from typing import Any, NamedTuple, Self

from coordinator_server.log.errors import LockedLog

SECTOR = 512


class PowerCut(BaseException):
    """The machine goes down. Nothing in the program may catch this."""


class Fault(NamedTuple):
    operation: str
    error: int
    path: str


class _Link(NamedTuple):
    name: str
    inode: _Inode


class _Unlink(NamedTuple):
    name: str


class _Rename(NamedTuple):
    old: str
    new: str
    inode: _Inode


class _Move(NamedTuple):
    """A rename from one directory to another, until the second is synced."""

    source: _Inode
    old: str
    target: _Inode
    new: str
    inode: _Inode


class _Inode:
    """A file or a directory: what is seen, and what else may be found after a power loss."""

    def __init__(self, *, is_dir: bool = False) -> None:
        self.content = bytearray()
        self.sectors: dict[
            int, list[bytes]
        ] = {}  # unsynced: what each was at the last sync, and at every moment since but the last
        self.sizes: list[int] = []  # the same for the size
        self.is_dir = is_dir
        self.names: dict[str, _Inode] = {}
        self.pending: list[_Link | _Unlink | _Rename] = []
        self.durable_names: dict[str, _Inode] = {}
        self.holders = 0

    def write(self, data: bytes, position: int) -> None:
        end = position + len(data)
        self._remember(min(position, len(self.content)), end)
        self.content.extend(bytes(max(end - len(self.content), 0)))
        self.content[position:end] = data

    def truncate(self, size: int) -> None:
        self._remember(min(size, len(self.content)), max(size, len(self.content)))
        del self.content[size:]
        self.content.extend(bytes(size - len(self.content)))

    def sync(self) -> None:
        self.sectors.clear()
        self.sizes.clear()
        self.pending.clear()
        self.durable_names = dict(self.names)

    def after_power_loss(self, rng: Random) -> bytearray:
        keep = rng.choice((0.0, 0.2, 0.5, 0.8, 1.0))
        content = bytearray(self.content)
        size = rng.choice([*self.sizes, len(content)]) if self.sizes and rng.random() >= keep else len(content)
        for sector, versions in self.sectors.items():
            if rng.random() >= keep:
                start = sector * SECTOR
                content.extend(bytes(max(start + SECTOR - len(content), 0)))
                content[start : start + SECTOR] = rng.choice(versions).ljust(SECTOR, b"\0")
        content.extend(bytes(max(size - len(content), 0)))
        del content[size:]
        return content

    def names_after_power_loss(self, rng: Random) -> dict[str, _Inode]:
        count = rng.randint(0, len(self.pending))
        # Journaling file systems keep the order of names; nothing promises it.
        changes = self.pending[:count] if rng.random() < 0.5 else [each for each in self.pending if rng.random() < 0.5]
        names = dict(self.durable_names)
        for change in changes:
            _apply(change, names)
        return names

    def __deepcopy__(self, memo: dict[int, Any]) -> _Inode:
        """As ``copy`` makes it, in a fifth of the time: texts and bytes do not change."""
        twin = memo[id(self)] = _Inode(is_dir=self.is_dir)
        twin.content = self.content[:]
        twin.sectors = {sector: versions[:] for sector, versions in self.sectors.items()}
        twin.sizes = self.sizes[:]
        twin.names = {name: deepcopy(inode, memo) for name, inode in self.names.items()}
        twin.pending = [type(change)(*deepcopy([*change], memo)) for change in self.pending]
        twin.durable_names = {name: deepcopy(inode, memo) for name, inode in self.durable_names.items()}
        twin.holders = self.holders
        return twin

    def _remember(self, start: int, end: int) -> None:
        self.sizes.append(len(self.content))
        for sector in range(start // SECTOR, -(-end // SECTOR)):
            self.sectors.setdefault(sector, []).append(bytes(self.content[sector * SECTOR : (sector + 1) * SECTOR]))


class SimulatedDisk:
    """Storage in memory; see the head of this module."""

    def __init__(self, rng: Random | None = None) -> None:
        self.rng = rng or Random(0)
        self.calls: list[tuple[str, str]] = []
        self.is_write_short = False
        self.has_fallocate = True
        self._root = _Inode(is_dir=True)
        self._faults: list[Fault] = []
        self._locks: dict[str, str] = {}
        self._calls_left: int | None = None
        self.is_down = False
        self._moves: list[_Move] = []
        self.open_files: set[SimulatedFile] = set()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """All of it, without a look at each number of the generator and at each name of a call."""
        twin = memo[id(self)] = object.__new__(type(self))
        memo[id(self.calls)] = [*self.calls]
        memo[id(self.rng)] = copy(self.rng)
        twin.__dict__.update({name: deepcopy(value, memo) for name, value in self.__dict__.items()})
        return twin

    # What a test does to it.

    def fail(self, operation: str, error: int, path: str = "") -> Fault:
        """Until ``mend`` every such call on a path that contains ``path`` fails."""
        fault = Fault(operation, error, path)
        self._faults.append(fault)
        return fault

    def mend(self) -> None:
        self._faults.clear()

    def cut_power_after(self, calls: int) -> None:
        """PowerCut comes with the call after so many that change something.

        Then it is for the test to call ``power_loss`` or ``kill``.
        """
        self._calls_left = calls

    def power_loss(self, rng: Random) -> SimulatedDisk:
        """The disk as the next start finds it."""
        disk = self._successor(rng)
        seen: dict[int, _Inode] = {}
        disk._root = self._survivor(self._root, rng, seen)
        for source, old, target, new, inode in self._moves:
            before, after = seen.get(id(source)), seen.get(id(target))
            if before is not None and after is not None and old not in before.names and new not in after.names:
                after.names[new] = self._survivor(inode, rng, seen)
                after.sync()
        return disk

    def kill(self) -> None:
        """The process is gone, the machine goes on: locks are free and files closed, nothing else changes."""
        self._locks.clear()
        self.open_files.clear()
        self._calls_left = None
        self.is_down = False

    def content(self, path: str) -> bytes:
        return bytes(self._inode(path).content)

    def put(self, path: str, content: bytes) -> None:
        """Durably make or replace a file, and the directory that it is in, without its writer's knowledge."""
        directory, above = self._parent(os.path.dirname(path))
        if directory and directory not in above.names:
            above.names[directory] = above.durable_names[directory] = _Inode(is_dir=True)
        name, parent = self._parent(path)
        inode = parent.names.get(name) or _Inode()
        inode.truncate(0)
        inode.write(content, 0)
        parent.names[name] = inode
        for each in (inode, parent):
            each.sync()

    def files(self, path: str = "") -> list[str]:
        """Every file below a directory."""
        found: list[str] = []
        for name, inode in sorted(self._inode(path).names.items()):
            full = f"{path}/{name}"
            found += self.files(full) if inode.is_dir else [full]
        return found

    def _successor(self, rng: Random) -> SimulatedDisk:
        return SimulatedDisk(rng)

    def _survivor(self, inode: _Inode, rng: Random, seen: dict[int, _Inode]) -> _Inode:
        if id(inode) in seen:
            return seen[id(inode)]
        copy = seen[id(inode)] = _Inode(is_dir=inode.is_dir)
        copy.content = inode.after_power_loss(rng)
        copy.names = {name: self._survivor(child, rng, seen) for name, child in inode.names_after_power_loss(rng).items()}
        copy.sync()
        return copy

    # Storage.

    def open(self, path: str, /, *, create: bool = False) -> SimulatedFile:
        self._call("open", path, is_change=create)
        name, parent = self._parent(path)
        inode = parent.names.get(name)
        if inode is None:
            if not create:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            inode = _Inode()
            self._change(parent, _Link(name, inode))
        return SimulatedFile(self, path, inode)

    def create(self, path: str, /) -> SimulatedFile:
        if self.exists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        return self.open(path, create=True)

    def open_read_only(self, path: str, /) -> SimulatedFile:
        return self.open(path)

    def is_dir(self, path: str, /) -> bool:
        return self.exists(path) and self._inode(path).is_dir

    def exists(self, path: str, /) -> bool:
        try:
            self._inode(path)
        except FileNotFoundError:
            return False
        return True

    def size(self, path: str, /) -> int:
        self._call("size", path, is_change=False)
        return len(self._inode(path).content)

    def list(self, path: str, /) -> Sequence[str]:
        self._call("list", path, is_change=False)
        return sorted(self._inode(path).names) if self.exists(path) else []

    def make_dir(self, path: str, /) -> None:
        self._call("make_dir", path)
        inode = self._root
        for name in _parts(path):
            if name not in inode.names:
                self._change(inode, _Link(name, _Inode(is_dir=True)))
            inode = inode.names[name]

    def sync_dir(self, path: str, /) -> None:
        self._call("sync_dir", path)
        self._sync(self._inode(path))

    def rename(self, old: str, new: str, /) -> None:
        self._call("rename", old)
        name, parent = self._parent(old)
        new_name, new_parent = self._parent(new)
        inode, there = self._inode(old), new_parent.names.get(new_name)
        if there is not None and there.is_dir and there.names:
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), new)
        if parent is new_parent:
            self._change(parent, _Rename(name, new_name, inode))
            return
        self._change(new_parent, _Link(new_name, inode))
        self._change(parent, _Unlink(name))
        self._moves.append(_Move(parent, name, new_parent, new_name, inode))

    def remove(self, path: str, /) -> None:
        self._call("remove", path)
        name, parent = self._parent(path)
        if name in parent.names:
            self._change(parent, _Unlink(name))

    def lock(self, path: str, job: str = "", /) -> SimulatedLock:
        self._call("lock", path)
        if path in self._locks:
            raise LockedLog(f"{os.path.dirname(path)} is in use by process {self._locks[path]}")
        self._locks[path] = "1234"
        return SimulatedLock(self._locks, path)

    def remove_dir(self, path: str, /) -> None:
        self._call("remove_dir", path)
        name, parent = self._parent(path)
        assert not parent.names[name].names, f"{path} is not empty"
        self._change(parent, _Unlink(name))

    def share(self, path: str, /) -> SimulatedHold:
        self._call("share", path, is_change=False)
        return SimulatedHold(self._inode(path), 1)

    def unshared(self, path: str, /) -> SimulatedHold | None:
        self._call("unshared", path, is_change=False)
        inode = self._inode(path)
        return None if inode.holders else SimulatedHold(inode, 0)

    def random(self, size: int, /) -> bytes:
        return self.rng.randbytes(size)

    def _sync(self, inode: _Inode) -> None:
        inode.sync()
        self._moves = [move for move in self._moves if move.target is not inode]

    def _call(self, operation: str, path: str, *, is_change: bool = True) -> None:
        if self.is_down:
            raise PowerCut
        self.calls.append((operation, path))
        for fault in self._faults:
            if fault.operation == operation and fault.path in path:
                raise OSError(fault.error, os.strerror(fault.error), path)
        if is_change and self._calls_left is not None:
            self._calls_left -= 1
            if self._calls_left < 0:
                self.is_down = True
                raise PowerCut

    def _change(self, directory: _Inode, change: _Link | _Unlink | _Rename) -> None:
        directory.pending.append(change)
        _apply(change, directory.names)

    def _parent(self, path: str) -> tuple[str, _Inode]:
        return os.path.basename(path), self._inode(os.path.dirname(path))

    def _inode(self, path: str) -> _Inode:
        inode = self._root
        for name in _parts(path):
            if name not in inode.names:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            inode = inode.names[name]
        return inode


class SimulatedFile:
    """An open file of a SimulatedDisk."""

    def __init__(self, disk: SimulatedDisk, path: str, inode: _Inode) -> None:
        self.path = path
        self._disk = disk
        self._inode = inode
        self._is_open = True
        disk.open_files.add(self)

    def size(self) -> int:
        self._use("size", is_change=False)
        return len(self._inode.content)

    def pread(self, size: int, position: int, /) -> bytes:
        self._use("pread", is_change=False)
        return bytes(self._inode.content[position : position + size])

    def pwrite(self, data: bytes | memoryview, position: int, /) -> int:
        if self._disk.is_write_short and len(data) > 1:
            data = data[: self._disk.rng.randint(1, len(data) - 1)]
        try:
            self._use("pwrite")
        except PowerCut:
            # The last write may have been on its way.
            self._inode.write(bytes(data), position)
            raise
        self._inode.write(bytes(data), position)
        return len(data)

    def truncate(self, size: int, /) -> None:
        self._use("truncate")
        self._inode.truncate(size)

    def reserve(self, position: int, length: int, /) -> None:
        assert position >= 0
        assert length > 0
        self._use("reserve")
        if not self._disk.has_fallocate:
            end = len(self._inode.content)
            self._inode.write(bytes(max(position + length - end, 0)), end)

    def sync(self) -> None:
        self._use("sync")
        self._disk._sync(self._inode)

    def close(self) -> None:
        self._is_open = False
        self._disk.open_files.discard(self)

    def _use(self, operation: str, *, is_change: bool = True) -> None:
        assert self._is_open, f"{operation} of {self.path}, which is closed"
        self._disk._call(operation, self.path, is_change=is_change)


class SimulatedLock:
    def __init__(self, locks: dict[str, str], path: str) -> None:
        self._locks = locks
        self._path = path

    def fileno(self) -> int:
        return -1

    def close(self) -> None:
        self._locks.pop(self._path, None)


class SimulatedHold:
    def __init__(self, inode: _Inode, holders: int) -> None:
        self._inode = inode
        self._holders = holders
        inode.holders += holders

    def close(self) -> None:
        self._inode.holders -= self._holders
        self._holders = 0

    def __del__(self) -> None:
        self.close()


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _apply(change: _Link | _Unlink | _Rename, names: dict[str, _Inode]) -> None:
    match change:
        case _Link(name, inode):
            names[name] = inode
        case _Unlink(name):
            names.pop(name, None)
        case _Rename(old, new, inode):
            if names.get(old) is inode:
                del names[old]
            names[new] = inode
