"""One record of a share partition, with the state after it: nothing is encoded or combined twice."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Final

from coordinator_server.machine.block import RecordBlock
from coordinator_server.share.partitions import SharePartitions
from coordinator_server.share.share_partition import SharePartition
from protocol.batch_builder import BatchBuilder
from protocol.coordinator_records import SHARE_SERDE, CoordinatorRecord

# Upper bound: attributes, deltas and lengths as varints, the header count, and the record type.
_OVERHEAD: Final = 32


class StateRecord(RecordBlock):
    """A record of the share partition ``name``, and the state after it, which is None after a tombstone."""

    __slots__ = ("_name", "_partitions", "_type", "_value", "state")

    def __init__(
        self, partitions: SharePartitions, name: bytes, type: bytes, value: bytes | None, state: SharePartition | None
    ) -> None:
        self._partitions = partitions
        self._name = name
        self._type = type
        self._value = value
        self.state = state

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[CoordinatorRecord]:
        record = SHARE_SERDE.decode(self._type + self._name, self._value)
        assert record is not None
        yield record

    def subject(self) -> tuple[Hashable, Hashable]:
        """Return a unique subject: updates add up, so that none overwrites another."""
        return self, ()

    def max_bytes(self) -> int:
        return _OVERHEAD + len(self._name) + len(self._value or b"")

    def write(self, batch: BatchBuilder, headers: bytes) -> None:
        batch.append(self._type + self._name, self._value, headers)

    def replay(self, offset: int) -> None:
        self._partitions.put(self._name, self.state)
