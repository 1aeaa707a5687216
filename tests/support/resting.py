"""A checkpoint without a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.offsets.resting_block import encode_group
from coordinator_server.offsets.store import OffsetStore
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.group_records import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)

Plain = tuple[int, OffsetCommitKey, OffsetCommitValue | None]
Legacy = tuple[int, LegacyOffsetCommitKey, LegacyOffsetCommitValue | None]
Records = list[Plain]


class MemoryCheckpoint:
    """A checkpoint in memory, made by replaying records; the blocks of some groups are damaged.

    ``read`` says which were asked for.
    """

    def __init__(self, records: Sequence[Plain | Legacy], damaged: set[str]) -> None:
        whole = OffsetStore(SnapshotRegistry())
        for record in records:
            match record:
                case (offset, OffsetCommitKey() as key, (OffsetCommitValue() | None) as value):
                    whole.replay(offset, key, value)
                case (offset, LegacyOffsetCommitKey() as old, (LegacyOffsetCommitValue() | None) as was):
                    whole.replay_legacy(offset, old, was)
        self._blocks = {group_id: encode_group(offsets.items()) for group_id, offsets in whole.by_group.items()}
        self._records = records
        self._damaged = damaged
        self.read: list[str] = []

    def __contains__(self, key: str, /) -> bool:
        return key in self._blocks

    def __iter__(self) -> Iterator[str]:
        return iter(self._blocks)

    def __len__(self) -> int:
        return len(self._blocks)

    def block(self, key: str, /) -> bytes | None:
        self.read.append(key)
        return None if key in self._damaged else self._blocks[key].block

    def rows(self, key: str, /) -> int:
        return self._blocks[key].rows

    def bounds(self, key: str, /) -> tuple[int, int]:
        return self._blocks[key].bounds

    def records(self) -> Iterator[tuple[int, CoordinatorRecord]]:
        return ((offset, CoordinatorRecord(key, value)) for offset, key, value in self._records)

    def close(self) -> None:
        """Nothing is open."""
