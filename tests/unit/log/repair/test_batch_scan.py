"""Whole batches found in damaged bytes: each where its neighbours call for it."""

from __future__ import annotations

from coordinator_server.log.repair.batch_scan import DamagedBytes, WholeBatch, mend, scan_batches
from tests.support.log import batch

FIRST, SECOND, THIRD = batch(0, count=3), batch(3, count=2), batch(5)
_LAST_DELTA = 23


def flipped(data: bytes, position: int) -> bytes:
    return data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]


def rotten(data: bytes) -> bytes:
    """A batch whose last byte is wrong."""
    return flipped(data, len(data) - 1)


def found(data: bytes, limit: int | None = None, *, has_gaps: bool = False) -> list[tuple[str, int, int]]:
    """What is whole and what is not: position and offset of each."""
    told = []
    for each in scan_batches(data, 0, limit, has_gaps=has_gaps):
        match each:
            case WholeBatch(position, header, _):
                told.append(("whole", position, header.base_offset))
            case DamagedBytes(position, end, offset, _, is_tail):
                assert is_tail == (end == len(data))
                told.append(("damaged", position, offset))
    return told


def test_whole_batches_are_found_one_after_the_other() -> None:
    """Nothing between them is damaged."""
    at = len(FIRST)
    assert found(FIRST + SECOND + THIRD) == [("whole", 0, 0), ("whole", at, 3), ("whole", at + len(SECOND), 5)]


def test_a_batch_behind_damage_counts_if_the_damaged_one_ends_before_it() -> None:
    """Only the content of the first is wrong: its header still says how many offsets it has."""
    assert found(rotten(FIRST) + SECOND) == [("damaged", 0, 0), ("whole", len(FIRST), 3)]
    assert found(rotten(FIRST) + batch(4)) == [("damaged", 0, 0)]


def test_a_batch_behind_damage_counts_if_the_next_one_follows_it() -> None:
    """However many offsets are lost before it."""
    lost = flipped(rotten(FIRST), _LAST_DELTA + 3)
    at = len(FIRST)
    assert found(lost + SECOND + THIRD) == [("damaged", 0, 0), ("whole", at, 3), ("whole", at + len(SECOND), 5)]
    assert found(lost + SECOND + batch(6)) == [("damaged", 0, 0)]


def test_a_batch_behind_damage_counts_if_it_ends_where_the_next_file_begins() -> None:
    """The last of a sealed segment has no batch behind it."""
    lost = flipped(rotten(FIRST), _LAST_DELTA + 3)
    assert found(lost + SECOND, 5) == [("damaged", 0, 0), ("whole", len(FIRST), 3)]
    assert found(lost + SECOND, 6) == found(lost + SECOND) == [("damaged", 0, 0)]


def test_damage_between_whole_batches() -> None:
    """In the middle of a file: its offset is the one that comes next."""
    at = len(FIRST)
    assert found(FIRST + rotten(SECOND) + THIRD) == [("whole", 0, 0), ("damaged", at, 3), ("whole", at + len(SECOND), 5)]


def test_offsets_may_be_missing_in_a_layer() -> None:
    """Compaction leaves gaps, and never goes back."""
    data = batch(2) + batch(7)
    assert found(data, has_gaps=True) == [("whole", 0, 2), ("whole", len(batch(2)), 7)]
    assert found(data) == [("damaged", 0, 0)]
    assert found(batch(7) + batch(2), has_gaps=True) == [("whole", 0, 7), ("damaged", len(batch(7)), 8)]
    assert found(rotten(batch(2)) + batch(7), has_gaps=True) == [("damaged", 0, 0), ("whole", len(batch(2)), 7)]


def test_the_offset_and_the_magic_of_a_batch_are_mended() -> None:
    """No checksum covers them, and both are known from the place. Anything else stays damaged."""

    def mended(data: bytes) -> list[WholeBatch | None]:
        return [mend(data, each) for each in scan_batches(data, 0, 8) if isinstance(each, DamagedBytes)]

    for position in (*range(8), 16):
        [whole] = mended(FIRST + flipped(SECOND, position) + batch(5, count=3))[:1]
        assert whole is not None
        assert (whole.position, whole.header.base_offset, whole.data) == (len(FIRST), 3, SECOND)
    assert mended(FIRST + rotten(SECOND) + batch(5, count=3)) == [None]
    assert mended(FIRST + SECOND[:-1]) == mended(FIRST + SECOND[:20]) == mended(FIRST + SECOND[:5]) == [None]
