"""The open transactions of a shard's log, and the last stable offset."""

from __future__ import annotations

from coordinator_server.machine.shard import Producer
from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict


class OpenTransactions:
    """The offset of the first record of each open transaction.

    It is what the log says, live and after a load: a state machine may drop what an open transaction wrote, and the transaction stays
    open until its marker.
    """

    __slots__ = ("_first",)

    def __init__(self, registry: SnapshotRegistry) -> None:
        self._first: TimelineDict[int, int] = TimelineDict(registry)

    def append(self, producer: Producer, base_offset: int) -> None:
        """Note a batch of a producer's transaction, which it may begin."""
        if producer.id not in self._first:
            self._first[producer.id] = base_offset

    def end(self, producer: Producer) -> None:
        """Note the marker of a producer. Do nothing if its transaction has no records here."""
        self._first.pop(producer.id, None)

    def last_stable_offset(self, high_watermark: int) -> int:
        """Return the offset before which every record is decided, as of the high watermark."""
        return min((first for _, first in self._first.items_at(high_watermark)), default=high_watermark)
