"""What the pipeline knows of a toy log: the state that it comes to, and what a fold keeps of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.pipeline.states.changes import LastChanges
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from coordinator_server.runtime.loader import BatchReplay
from protocol.coordinator_records import CoordinatorRecord
from tests.toy.records import AddedKey, TotalKey, ToySerde, total_record
from tests.toy.shard import ToyShard


class ToyState:
    """Totals by name."""

    noun: Final = "totals"

    def __init__(self) -> None:
        self.shard = ToyShard(registry=SnapshotRegistry(), adds=True)
        self._replay = BatchReplay(ToySerde(), self.shard).replay

    def __len__(self) -> int:
        return len(self.shard.totals(LATEST))

    def replay(self, batch: bytes, upto: int = LATEST, /) -> int:
        return self._replay(batch, upto)

    def digest(self) -> StateDigest:
        return self.shard.digest(LATEST, with_parts=True)

    def label(self, part: str, /) -> str:
        return f"name {part}"

    def contents(self) -> dict[str, dict[str, Any]]:
        return {self.label(name): {"total": total} for name, total in self.shard.totals(LATEST).items()}

    def shown(self, changes: LastChanges | None, names: NamesOfTopics, /) -> dict[str, Any]:
        return {"contents": self.contents()}


class ToyFold:
    """One total for each name, where its last record stood; a tombstone for one that is gone."""

    def __init__(self, shard: ToyShard) -> None:
        self._shard = shard
        self._offsets: dict[str, int] = {}

    def add(self, offset: int, record: CoordinatorRecord, /) -> None:
        self._shard.replay(offset, record)
        assert isinstance(record.key, TotalKey | AddedKey)
        self._offsets[record.key.name] = offset

    def records(self) -> Iterator[tuple[int, CoordinatorRecord]]:
        for name, offset in self._offsets.items():
            yield offset, total_record(name, self._shard.total(LATEST, name))
