"""Blocks: the records of one operation as a single object, with fast paths into the log and the state."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final

from protocol.batch_builder import NO_HEADERS, BatchBuilder
from protocol.coordinator_records import CoordinatorRecord


class RecordBlock:
    """One or more records of one operation, with fast paths into the log (``write``) and into the state (``replay``).

    Iteration yields the records one by one. ``write`` and ``replay`` must have the same effect as writing and replaying
    each of these records.
    """

    __slots__ = ()

    def __len__(self) -> int:
        raise NotImplementedError

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[CoordinatorRecord]:
        raise NotImplementedError

    def subject(self) -> tuple[Hashable, Hashable] | None:
        """Return the owner of the records, and their keys in order.

        Two blocks with equal subjects differ only in their values. None: the block may concern any owner, so it overwrites no other
        one, and none before it is overwritten from then on.
        """
        return None

    def max_bytes(self) -> int:
        """Return an upper bound of the bytes that the records take in a batch."""
        raise NotImplementedError

    def write(self, batch: BatchBuilder, headers: bytes) -> None:
        """Append all records to a batch. The first record gets ``headers``."""
        raise NotImplementedError

    def replay(self, offset: int) -> None:
        """Apply all records to the hard state of the shard that made them. The first record is at ``offset``."""
        raise NotImplementedError


EncodedRecord = tuple[bytes, bytes | None]
"""Key and value as encoded in the log. A value of None makes it a tombstone."""
RECORD_OVERHEAD: Final = 32
"""An upper bound: a record's attributes, its deltas and lengths as varints, and the header count."""


class EncodedRecords(RecordBlock):
    """Records encoded by a task of a CoordinatorExecutor. They reach the log and the state without being decoded.

    ``keep`` takes the offset of the first record. It must have the same effect as decoding each record with ``decode`` and
    replaying it, but it may store the bytes and decode them on the first read.
    """

    __slots__ = ("_decode", "_keep", "_records")

    def __init__(
        self,
        records: Sequence[EncodedRecord],
        decode: Callable[[bytes, bytes | None], CoordinatorRecord | None],
        keep: Callable[[int], None],
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

    def max_bytes(self) -> int:
        return sum([RECORD_OVERHEAD + len(key) + len(value or b"") for key, value in self._records])

    def write(self, batch: BatchBuilder, headers: bytes) -> None:
        batch.append_all(self._records, headers)

    def replay(self, offset: int) -> None:
        self._keep(offset)


class BlockSequence(RecordBlock):
    """Blocks one after another, as one operation. There is at least one, and none is empty."""

    __slots__ = ("_blocks",)

    def __init__(self, blocks: Sequence[RecordBlock]) -> None:
        self._blocks = blocks

    def __len__(self) -> int:
        return sum([len(block) for block in self._blocks])

    def __iter__(self) -> Iterator[CoordinatorRecord]:
        for block in self._blocks:
            yield from block

    def max_bytes(self) -> int:
        return sum([block.max_bytes() for block in self._blocks])

    def write(self, batch: BatchBuilder, headers: bytes) -> None:
        for block in self._blocks:
            block.write(batch, headers)
            headers = NO_HEADERS

    def replay(self, offset: int) -> None:
        for block in self._blocks:
            block.replay(offset)
            offset += len(block)
