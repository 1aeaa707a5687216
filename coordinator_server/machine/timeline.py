"""Containers whose state can be read as of a committed offset, and reverted to one.

A snapshot's epoch is a log offset: the snapshot represents the state before the record at that offset. While a snapshot is
the newest, the first write to each key saves the key's previous value in it. To read a value as of an epoch, search the
snapshots from that epoch on, oldest first, and then the latest state. Without open snapshots a write costs little more than
a write to a plain dict.

    registry.snapshot(100)      # records 100… are about to be replayed
    registry.revert_to(100)     # they failed: restore the state before them
    registry.delete_up_to(110)  # they are durable up to 110: no read or revert needs an earlier state

Reads of a container (``d[key]``, ``in``, ``items()``) see the latest, possibly uncommitted state at the speed of a dict.
``get_at`` and ``items_at`` see the state of an epoch. After Kafka's ``SnapshotRegistry`` and ``TimelineHashMap``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Generic, NoReturn, Protocol, TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")

LATEST: Final = 2**63 - 1


class _Absent:
    __slots__ = ()

    def __repr__(self) -> str:
        return "<absent>"


_ABSENT: Final = _Absent()


class _Revertible(Protocol):
    def _restore(self, before: dict[Any, Any]) -> None: ...


class _Snapshot:
    __slots__ = ("before", "epoch")

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.before: dict[_Revertible, dict[Any, Any]] = {}


class SnapshotRegistry:
    """The open snapshots of one shard, oldest first, shared by all of its timeline containers."""

    __slots__ = ("_snapshots", "newest", "on_committed", "reverts")

    def __init__(self) -> None:
        self._snapshots: list[_Snapshot] = []
        self.newest: _Snapshot | None = None
        # The number of calls of ``revert_to``: whoever computes something meanwhile can tell that its state may be gone.
        self.reverts = 0
        # Called for each deleted snapshot: maps each container to the keys whose changes are final.
        self.on_committed: Callable[[Mapping[Any, Mapping[Any, Any]]], None] | None = None

    @property
    def epochs(self) -> list[int]:
        """Epochs of the open snapshots, ascending."""
        return [snapshot.epoch for snapshot in self._snapshots]

    def snapshot(self, epoch: int) -> None:
        """Open a snapshot at ``epoch``. Do nothing if the newest snapshot has this epoch; raise ValueError if it is newer."""
        if self.newest is not None:
            if self.newest.epoch == epoch:
                return
            if self.newest.epoch > epoch:
                raise ValueError(f"snapshot at {epoch} is older than the newest at {self.newest.epoch}")
        self.newest = _Snapshot(epoch)
        self._snapshots.append(self.newest)

    def revert_to(self, epoch: int) -> None:
        """Restore every container to its state at ``epoch``, and delete the snapshots from ``epoch`` on."""
        self.reverts += 1
        while self._snapshots and self._snapshots[-1].epoch >= epoch:
            for container, before in self._snapshots.pop().before.items():
                container._restore(before)
        self.newest = self._snapshots[-1] if self._snapshots else None

    def delete_up_to(self, epoch: int) -> None:
        """Delete the snapshots older than ``epoch``."""
        keep = 0
        while keep < len(self._snapshots) and self._snapshots[keep].epoch < epoch:
            keep += 1
        if keep:
            if self.on_committed is not None:
                for snapshot in self._snapshots[:keep]:
                    self.on_committed(snapshot.before)
            del self._snapshots[:keep]
            self.newest = self._snapshots[-1] if self._snapshots else None

    def since(self, epoch: int) -> list[_Snapshot]:
        """Return the snapshots whose epoch is at least ``epoch``, oldest first."""
        return [snapshot for snapshot in self._snapshots if snapshot.epoch >= epoch]


class TimelineDict(dict[K, V]):
    """A dict whose past states can be read and restored. Hashable by identity."""

    __slots__ = ("_registry",)

    def __init__(self, registry: SnapshotRegistry) -> None:
        super().__init__()
        self._registry = registry

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __setitem__(self, key: K, value: V) -> None:
        # ``_note``, inlined for speed.
        snapshot = self._registry.newest
        if snapshot is not None:
            before = snapshot.before.get(self)
            if before is None:
                snapshot.before[self] = {key: self.get(key, _ABSENT)}
            elif key not in before:
                before[key] = self.get(key, _ABSENT)
        dict.__setitem__(self, key, value)

    def __delitem__(self, key: K) -> None:
        if key in self and self._registry.newest is not None:
            self._note(key)
        dict.__delitem__(self, key)

    def put_all(self, items: Mapping[K, V]) -> None:
        """Set every item of ``items``."""
        snapshot = self._registry.newest
        if snapshot is not None:
            before = snapshot.before.get(self)
            if before is None:
                before = snapshot.before[self] = {}
            for key in items:
                if key not in before:
                    before[key] = self.get(key, _ABSENT)
        dict.update(self, items)

    def remove_all(self, keys: Iterable[K]) -> None:
        """Remove those of ``keys`` that exist."""
        snapshot = self._registry.newest
        before = None if snapshot is None else snapshot.before.setdefault(self, {})
        for key in keys:
            if key in self:
                if before is not None and key not in before:
                    before[key] = self[key]
                dict.__delitem__(self, key)

    @overload
    def pop(self, key: K, /) -> V: ...
    @overload
    def pop(self, key: K, default: V, /) -> V: ...
    @overload
    def pop(self, key: K, default: D, /) -> V | D: ...
    def pop(self, key: K, /, *default: Any) -> Any:
        if key in self and self._registry.newest is not None:
            self._note(key)
        return dict.pop(self, key, *default)

    def fill(self, items: Iterable[tuple[K, V]]) -> None:
        """Set items as if they had existed before the oldest open snapshot.

        None of the keys may have been written since that snapshot.
        """
        dict.update(self, items)

    def fill_one(self, key: K, value: V) -> None:
        """Do the same as ``fill`` for one item."""
        dict.__setitem__(self, key, value)

    def fill_below(self, items: Iterable[tuple[K, V]]) -> None:
        """Set items as if they had existed before the oldest open snapshot. Keys may have been written since, but not deleted.

        What was written stays; a snapshot that took its key for a new one learns what it replaced.
        """
        noted = [before for snapshot in self._registry.since(0) if (before := snapshot.before.get(self)) is not None]
        if not noted and not self:
            dict.update(self, items)
            return
        for key, value in items:
            for before in noted:
                if key in before:
                    if before[key] is _ABSENT:
                        before[key] = value
                    break
            else:
                dict.setdefault(self, key, value)

    def withdraw(self, key: K) -> None:
        """Take out an item that is kept elsewhere from now on, the opposite of ``fill``.

        No open snapshot may have noted the key.
        """
        assert not self.is_noted(key)
        dict.__delitem__(self, key)

    def note(self) -> None:
        """Let the newest snapshot know of a change, without one of a key: of something that belongs to this container."""
        snapshot = self._registry.newest
        if snapshot is not None:
            snapshot.before.setdefault(self, {})

    def another(self) -> TimelineDict[Any, Any]:
        """Return an empty container with the same snapshots."""
        return TimelineDict(self._registry)

    def is_noted(self, key: K) -> bool:
        """Return whether an open snapshot knows what ``key`` was before a change."""
        return any(key in snapshot.before.get(self, ()) for snapshot in self._registry.since(0))

    def is_as_of(self, epoch: int) -> bool:
        """Return whether this container has not changed since ``epoch``."""
        newest = self._registry.newest
        if newest is None or newest.epoch < epoch:
            return True
        return all(self not in snapshot.before for snapshot in self._registry.since(epoch))

    def get_at(self, key: K, epoch: int, default: V | None = None) -> V | None:
        """Return the value of ``key`` in the state of ``epoch``."""
        newest = self._registry.newest
        if newest is None or newest.epoch < epoch:
            return self.get(key, default)
        for snapshot in self._registry.since(epoch):
            before = snapshot.before.get(self)
            if before is not None and key in before:
                value: V | _Absent = before[key]
                return default if isinstance(value, _Absent) else value
        return self.get(key, default)

    def items_at(self, epoch: int) -> Iterable[tuple[K, V]]:
        """Return the items in the state of ``epoch``, in no particular order."""
        past: dict[K, Any] = {}
        for snapshot in self._registry.since(epoch):
            for key, value in snapshot.before.get(self, {}).items():
                past.setdefault(key, value)
        if not past:
            return list(self.items())
        present = [(key, value) for key, value in self.items() if key not in past]
        return present + [(key, value) for key, value in past.items() if value is not _ABSENT]

    def copy_at(self, epoch: int) -> dict[K, V]:
        """Return a copy of the state of ``epoch``."""
        past: dict[K, Any] = {}
        for snapshot in self._registry.since(epoch):
            for key, value in snapshot.before.get(self, {}).items():
                past.setdefault(key, value)
        copy = dict(self)
        for key, value in past.items():
            if value is _ABSENT:
                copy.pop(key, None)
            else:
                copy[key] = value
        return copy

    def keys_at(self, epoch: int) -> list[K]:
        """Return the keys in the state of ``epoch``, in no particular order."""
        past: dict[K, Any] = {}
        for snapshot in self._registry.since(epoch):
            for key, value in snapshot.before.get(self, {}).items():
                past.setdefault(key, value)
        if not past:
            return list(self)
        return [key for key in self if key not in past] + [key for key, value in past.items() if value is not _ABSENT]

    def _note(self, key: K) -> None:
        snapshot = self._registry.newest
        assert snapshot is not None
        before = snapshot.before.get(self)
        if before is None:
            before = snapshot.before[self] = {}
        if key not in before:
            before[key] = self.get(key, _ABSENT)

    def _restore(self, before: dict[K, Any]) -> None:
        for key, value in before.items():
            if value is _ABSENT:
                dict.pop(self, key, None)
            else:
                dict.__setitem__(self, key, value)

    # Methods of dict that would bypass ``_note``.

    def clear(self) -> NoReturn:
        self._refuse("clear")

    def popitem(self) -> NoReturn:
        self._refuse("popitem")

    def setdefault(self, *_: object) -> NoReturn:
        self._refuse("setdefault")

    def update(self, *_: object, **__: object) -> NoReturn:
        self._refuse("update")

    def __ior__(self, _: object) -> NoReturn:  # type: ignore[misc]
        self._refuse("|=")

    def _refuse(self, how: str) -> NoReturn:
        raise TypeError(f"a TimelineDict changes by d[key] = value, put_all, del and pop only, not by {how}")


class TimelineValue(Generic[V]):
    """One value whose past states can be read and restored."""

    __slots__ = ("_registry", "value")

    def __init__(self, registry: SnapshotRegistry, value: V) -> None:
        self._registry = registry
        self.value = value

    def set(self, value: V) -> None:
        """Replace the value."""
        snapshot = self._registry.newest
        if snapshot is not None:
            snapshot.before.setdefault(self, {None: self.value})
        self.value = value

    def get_at(self, epoch: int) -> V:
        """Return the value in the state of ``epoch``."""
        for snapshot in self._registry.since(epoch):
            before = snapshot.before.get(self)
            if before is not None:
                value: V = before[None]
                return value
        return self.value

    def _restore(self, before: dict[None, V]) -> None:
        self.value = before[None]
