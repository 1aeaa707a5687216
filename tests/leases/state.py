"""What the pipeline knows of a log of leases: the state that it comes to, and what a fold keeps of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from coordinator_server.machine.digest import StateDigest
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.pipeline.states.changes import LastChanges
from coordinator_server.pipeline.states.shown_group import NamesOfTopics
from coordinator_server.pipeline.states.state import NoTime
from coordinator_server.runtime.loader import BatchReplay
from protocol.coordinator_records import CoordinatorRecord
from tests.leases.records import LeaseKey, LeaseSerde, RenewalKey
from tests.leases.shard import LeaseShard, lease_record


class LeaseState:
    """Leases by name."""

    noun: Final = "leases"

    def __init__(self) -> None:
        self.shard = LeaseShard(registry=SnapshotRegistry(), clock=NoTime(), timer=NoTime())
        self._replay = BatchReplay(LeaseSerde(), self.shard).replay

    def __len__(self) -> int:
        return len(self.shard.leases(LATEST))

    def replay(self, batch: bytes, upto: int = LATEST, /) -> int:
        return self._replay(batch, upto)

    def digest(self) -> StateDigest:
        return self.shard.digest(LATEST, with_parts=True)

    def label(self, part: str, /) -> str:
        return f"lease {part}"

    def contents(self) -> dict[str, dict[str, Any]]:
        return {self.label(name): lease._asdict() for name, lease in self.shard.leases(LATEST).items()}

    def shown(self, changes: LastChanges | None, names: NamesOfTopics, /) -> dict[str, Any]:
        return {"contents": self.contents()}


class LeaseFold:
    """One record of each lease, where its last one stood; a tombstone for one that is forgotten."""

    def __init__(self, shard: LeaseShard) -> None:
        self._shard = shard
        self._offsets: dict[str, int] = {}

    def add(self, offset: int, record: CoordinatorRecord, /) -> None:
        self._shard.replay(offset, record)
        assert isinstance(record.key, LeaseKey | RenewalKey)
        self._offsets[record.key.name] = offset

    def records(self) -> Iterator[tuple[int, CoordinatorRecord]]:
        for name, offset in self._offsets.items():
            lease = self._shard.lease(LATEST, name)
            yield offset, CoordinatorRecord(LeaseKey(name), None) if lease is None else lease_record(name, lease)
