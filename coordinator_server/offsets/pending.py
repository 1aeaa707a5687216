"""Offsets committed in open transactions: hard state besides the main store, invisible before the commit marker.

Each producer's open transaction has its own store. The commit marker moves its offsets to the main store. Of two records for one
position the later one in the log wins, even if its transaction was committed earlier, because compaction keeps only the order of
the log. A tombstone also removes a position from every open transaction. After Kafka's ``OffsetMetadataManager``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from coordinator_server.machine.shard import Producer, TransactionResult
from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict
from coordinator_server.offsets.store import GroupOffsets, OffsetAndMetadata, OffsetStore, TopicPartition
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue

Producers = frozenset[int]


class PendingOffsets:
    """The offsets of open transactions by producer id, and the open positions of each group."""

    __slots__ = ("_by_producer", "_open", "_registry", "_store")

    def __init__(self, registry: SnapshotRegistry, store: OffsetStore) -> None:
        self._registry = registry
        self._store = store
        self._by_producer: TimelineDict[int, OffsetStore] = TimelineDict(registry)
        self._open: TimelineDict[str, TimelineDict[TopicPartition, Producers]] = TimelineDict(registry)
        store.on_tombstone = self._drop

    def __contains__(self, group_id: str) -> bool:
        return group_id in self._open

    def has_none_since(self, group_id: str, committed_offset: int) -> bool:
        """Return whether a group has no offsets in open transactions, neither now nor as of ``committed_offset``."""
        return group_id not in self._open and self._open.get_at(group_id, committed_offset) is None

    def groups_at(self, committed_offset: int) -> list[str]:
        """Return the groups with offsets in open transactions as of ``committed_offset``."""
        return [group_id for group_id, _ in self._open.items_at(committed_offset)]

    @property
    def by_group(self) -> TimelineDict[str, TimelineDict[TopicPartition, Producers]]:
        """The producers with open offsets, by group and position. Every change of a group's open offsets changes this table."""
        return self._open

    def of_group_at(self, group_id: str, committed_offset: int) -> Iterator[tuple[int, GroupOffsets]]:
        """Yield each open transaction's offsets of a group as of ``committed_offset``. Read them at the same offset."""
        if self._open.get_at(group_id, committed_offset) is not None:
            for producer_id, store in self._by_producer.items_at(committed_offset):
                offsets = store.of_group_at(group_id, committed_offset)
                if offsets is not None:
                    yield producer_id, offsets

    def open_at(self, group_id: str, committed_offset: int) -> Collection[TopicPartition]:
        """Return the positions of a group that have offsets in open transactions."""
        positions = self._open.get_at(group_id, committed_offset)
        return () if positions is None else {position for position, _ in positions.items_at(committed_offset)}

    def open_now(self, group_id: str) -> Collection[TopicPartition]:
        """Return the same as ``open_at`` for the latest state, without a copy. It is valid until the next change."""
        return self._open.get(group_id, ())

    def of_position(self, group_id: str, position: TopicPartition) -> Iterator[OffsetAndMetadata]:
        """Yield the latest offset of a position in each open transaction that has one."""
        positions = self._open.get(group_id)
        for producer_id in () if positions is None else positions.get(position, ()):
            pending = self._by_producer[producer_id].find(group_id, position)
            if pending is not None:
                yield pending

    def replay(self, producer: Producer, record_offset: int, key: OffsetCommitKey, value: OffsetCommitValue | None) -> None:
        """Apply one OffsetCommit record of an open transaction. A tombstone takes effect at once."""
        if value is None:
            self._store.replay(record_offset, key, None)
            return
        mine = self._by_producer.get(producer.id)
        if mine is None:
            mine = self._by_producer[producer.id] = OffsetStore(self._registry)
        mine.replay(record_offset, key, value)
        positions = self._open.get(key.group)
        if positions is None:
            positions = self._open[key.group] = TimelineDict(self._registry)
        position = (key.topic, key.partition)
        positions[position] = positions.get(position, frozenset()) | {producer.id}

    def end(self, producer: Producer, result: TransactionResult) -> None:
        """End the transaction of a producer. Do nothing if it has no offsets here."""
        mine = self._by_producer.pop(producer.id, None)
        if mine is None:
            return
        for group_id, offsets in mine.by_group.items():
            for position, committed in offsets.items():
                self._close(group_id, position, producer.id)
                if result is TransactionResult.COMMIT:
                    known = self._store.find(group_id, position)
                    if known is None or known.record_offset < committed.record_offset:
                        self._store.put(group_id, *position, committed)

    def _drop(self, group_id: str, position: TopicPartition) -> None:
        positions = self._open.get(group_id)
        for producer_id in () if positions is None else positions.get(position, ()):
            self._by_producer[producer_id].remove(group_id, position)
            self._close(group_id, position, producer_id)

    def _close(self, group_id: str, position: TopicPartition, producer_id: int) -> None:
        positions = self._open[group_id]
        others = positions[position] - {producer_id}
        if others:
            positions[position] = others
            return
        del positions[position]
        if not positions:
            del self._open[group_id]
