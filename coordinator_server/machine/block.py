"""What stands for many records of one operation."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final

from protocol.batch_builder import NO_HEADERS, BatchBuilder
from protocol.coordinator_records import CoordinatorRecord


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


EncodedRecord = tuple[bytes, bytes | None]
"""Key and value as they stand in the log. Without a value it is a tombstone."""
# A record's attributes, its deltas and lengths as varints, and the header count: never more.
_RECORD_OVERHEAD: Final = 32


class EncodedRecords(RecordBlock):
    """Records that were encoded elsewhere, by a task of a CoordinatorExecutor: nothing of them is decoded on their way into log and state.

    ``keep`` is given the bytes of each record with its offset, and comes to the same as ``replay`` with what ``decode`` makes of them: it
    may keep the bytes until somebody reads them.
    """

    __slots__ = ("_decode", "_keep", "_records")

    def __init__(
        self,
        records: Sequence[EncodedRecord],
        decode: Callable[[bytes, bytes | None], CoordinatorRecord | None],
        keep: Callable[[int, bytes, bytes | None], None],
    ) -> None:
        self._records = records
        self._decode = decode
        self._keep = keep

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[CoordinatorRecord]:
        for key, value in self._records:
            record = self._decode(key, value)
            assert record is not None, "a task wrote what its own shard cannot read"
            yield record

    def subject(self) -> tuple[Hashable, Hashable]:
        """Each block is one of a kind: none is written over another."""
        return self, ()

    def max_bytes(self) -> int:
        return sum([_RECORD_OVERHEAD + len(key) + len(value or b"") for key, value in self._records])

    def write(self, batch: BatchBuilder, headers: bytes) -> None:
        for key, value in self._records:
            batch.append(key, value, headers)
            headers = NO_HEADERS

    def replay(self, offset: int) -> None:
        for key, value in self._records:
            self._keep(offset, key, value)
            offset += 1
