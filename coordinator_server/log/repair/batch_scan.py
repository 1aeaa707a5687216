"""Find the whole batches in bytes that may be damaged, and the damage between them;
mend a batch whose offset or magic alone is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from protocol.errors import DecodeError
from protocol.record_batch import BatchHeader, read_header, verify

_MAGIC_AT: Final = 16
_MAGIC: Final = b"\2"
_LAST_DELTA_AT: Final = 23
_MOST_OFFSETS: Final = 1 << 31


class WholeBatch(NamedTuple):
    """A batch with a correct checksum and the offset that its neighbours call for."""

    position: int
    header: BatchHeader
    data: bytes


class DamagedBytes(NamedTuple):
    """Bytes ``[position, end)`` that are no whole batch at ``offset``; ``is_tail`` if no whole batch comes after them."""

    position: int
    end: int
    offset: int
    why: str
    is_tail: bool


def scan_batches(
    data: bytes, offset: int, limit: int | None = None, *, has_gaps: bool = False
) -> Iterator[WholeBatch | DamagedBytes]:
    """Yield what is in ``data``, which begins at ``offset`` and ends at ``limit`` if that is known.

    With ``has_gaps`` a batch may begin at a later offset than the one before it ends. No checksum
    covers a batch's offset, so behind damage a batch counts only if a neighbour's offsets agree
    with its own.
    """
    position = 0
    while position < len(data):
        whole, why = _try(data, position, offset, has_gaps=has_gaps)
        if whole is None:
            following = _next_whole(data, position, offset, limit, has_gaps=has_gaps)
            end = len(data) if following is None else following.position
            yield DamagedBytes(position, end, offset, why, following is None)
            if following is None:
                return
            whole = following
        yield whole
        position = whole.position + whole.header.size
        offset = whole.header.next_offset


def _try(data: bytes, position: int, offset: int, *, has_gaps: bool) -> tuple[WholeBatch | None, str]:
    try:
        header = read_header(data, position)
        verify(data, position, header)
    except DecodeError as error:
        return None, error.reason
    if header.base_offset != offset and not (has_gaps and header.base_offset > offset):
        return None, f"a batch at offset {header.base_offset} where {offset} comes next"
    return WholeBatch(position, header, data[position : position + header.size]), ""


def _next_whole(data: bytes, damaged: int, offset: int, limit: int | None, *, has_gaps: bool) -> WholeBatch | None:
    """Return the first whole batch behind the position ``damaged``."""
    magic = data.find(_MAGIC, damaged + 1 + _MAGIC_AT)
    while magic >= 0:
        at = magic - _MAGIC_AT
        try:
            header = read_header(data, at)
            if offset <= header.base_offset < offset + _MOST_OFFSETS and header.size <= len(data) - at:
                verify(data, at, header)
                whole = WholeBatch(at, header, data[at : at + header.size])
                if has_gaps or _is_agreed(data, damaged, offset, whole, limit):
                    return whole
        except DecodeError:
            pass
        magic = data.find(_MAGIC, magic + 1)
    return None


def _is_agreed(data: bytes, damaged: int, offset: int, whole: WholeBatch, limit: int | None) -> bool:
    """Whether the batch before it, or the one behind it, agrees with the offset of a batch."""
    end = whole.position + whole.header.size
    behind = limit if end == len(data) else int.from_bytes(data[end : end + 8], "big")
    last_delta = int.from_bytes(data[damaged + _LAST_DELTA_AT : damaged + _LAST_DELTA_AT + 4], "big")
    return whole.header.next_offset == behind or whole.header.base_offset == offset + last_delta + 1


def mend(data: bytes, bad: DamagedBytes) -> WholeBatch | None:
    """Return the batch if only its offset or magic is wrong, which its checksum does not cover.

    Both are known from its place.
    """
    batch = (
        bad.offset.to_bytes(8, "big")
        + data[bad.position + 8 : bad.position + _MAGIC_AT]
        + _MAGIC
        + data[bad.position + 17 : bad.end]
    )
    whole, _ = _try(batch, 0, bad.offset, has_gaps=False)
    return whole._replace(position=bad.position) if whole is not None else None
