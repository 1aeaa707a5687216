"""Makes fetched batches a log without gaps, as our segments have it.

The batches stay as they are, byte for byte. Offsets between them, which a cleaner has removed, become empty batches with the
cleaner's mark (``BatchHeader.is_cleaned``), with the time and the leader epoch of the batch behind them. A batch that a cleaner has
left with fewer records than offsets needs nothing: its header covers them all.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from protocol.batch_builder import empty_batch
from protocol.errors import Malformed
from protocol.record_batch import DELETE_HORIZON, HEADER_SIZE, BatchHeader, iter_batches, read_header

_MOST_OFFSETS: Final = 1 << 30


class Dense(NamedTuple):
    """Whole batches, each of which begins where the one before ends, and their headers."""

    data: bytes
    headers: list[BatchHeader]

    @property
    def next_offset(self) -> int:
        return self.headers[-1].next_offset


def dense(data: bytes, position: int) -> Dense | None:
    """Return the whole batches of an answer from ``position`` on; None if it has none. Raises DecodeError.

    The last batch may be incomplete: it is left out. Batches before ``position``, which a broker sends along, are, too.
    """
    pieces: list[bytes] = []
    headers: list[BatchHeader] = []
    for start, header in iter_batches(data[: _whole(data)]):
        if header.next_offset <= position:
            continue
        if header.base_offset < position:
            raise Malformed(
                f"a batch has the offsets {header.base_offset} to {header.last_offset}, and {position} begins one",
                message="RecordBatch",
                position=start,
            )
        for filler in _fillers(position, header):
            pieces.append(filler)
            headers.append(read_header(filler))
        pieces.append(data[start : start + header.size])
        headers.append(header)
        position = header.next_offset
    return Dense(b"".join(pieces), headers) if pieces else None


def first_batch(data: bytes, position: int) -> BatchHeader | None:
    """Return the header of the first whole batch of an answer that ends after ``position``; None if there is none.

    Raises DecodeError.
    """
    batches = iter_batches(data[: _whole(data)])
    return next((header for _, header in batches if header.next_offset > position), None)


def _whole(data: bytes) -> int:
    """Return the end of the last batch that is complete. Raises DecodeError."""
    position = 0
    while len(data) - position >= HEADER_SIZE:
        end = position + read_header(data, position).size
        if end > len(data):
            break
        position = end
    return position


def _fillers(position: int, behind: BatchHeader) -> list[bytes]:
    found = []
    while position < behind.base_offset:
        offsets = min(behind.base_offset - position, _MOST_OFFSETS)
        found.append(
            empty_batch(
                position,
                offsets,
                attributes=DELETE_HORIZON,
                time_ms=behind.max_timestamp,
                leader_epoch=behind.leader_epoch,
            )
        )
        position += offsets
    return found
