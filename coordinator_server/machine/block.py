"""What stands for many records of one operation."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from protocol.coordinator_records import CoordinatorRecord
from protocol.record_batch import BatchBuilder


class RecordBlock:
    """The records of one operation in one piece, one at least, which knows a short way into the log and into the state.

    Whoever iterates over it gets the records, one by one; what ``write`` and ``replay`` do must come to the same.
    """

    __slots__ = ()

    def __len__(self) -> int:
        raise NotImplementedError

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[CoordinatorRecord]:
        raise NotImplementedError

    def subject(self) -> tuple[Hashable, Hashable]:
        """Whose records they are, and which keys they have, in order: two blocks that say the same of both differ in their values alone."""
        raise NotImplementedError

    def max_bytes(self) -> int:
        """No less than what the records take of a batch."""
        raise NotImplementedError

    def write(self, batch: BatchBuilder, headers: bytes) -> None:
        """Append all records to a batch; ``headers`` go to the first of them."""
        raise NotImplementedError

    def replay(self, offset: int) -> None:
        """Apply all records to the hard state of the shard they were made by; the first of them is at ``offset``."""
        raise NotImplementedError
