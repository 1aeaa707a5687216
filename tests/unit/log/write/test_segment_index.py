"""Finding an offset or a time in a shard without reading all of it."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import LayerSummary
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.local import LocalLogStore, LogOptions
from coordinator_server.log.shards import Append
from coordinator_server.log.store import ReadRange, TimedOffset
from coordinator_server.log.write.journal_writer import Sync
from coordinator_server.log.write.segment_index import SegmentIndex, decode_index, scan
from tests.support.log import DATA, OpenLog, append, batch, shard, values
from tests.support.storage import SimulatedDisk

SEGMENT = f"{DATA}/{shard(0)}/{0:020d}.log"
MARKS = f"{DATA}/{shard(0)}/{0:020d}.marks"
BIG = b"x" * 20_000


def filled(disk: SimulatedDisk, times: list[int], **settings: Any) -> OpenLog:
    """A log of one batch of 20 kB per timestamp."""
    log = OpenLog(disk, journal_bytes=1 << 20, **settings)
    for offset, ms in enumerate(times):
        log.append(Append(shard(0), 0, offset, batch(offset, BIG, at_ms=ms)))
    log.write_out()
    return log


def read_bytes(disk: SimulatedDisk, part: str) -> int:
    return sum(1 for name, path in disk.calls if name == "pread" and part in path)


@pytest.mark.parametrize("times", [list(range(100, 140)), [100 + (7 * each) % 40 for each in range(40)], [100] * 40])
def test_the_first_record_at_or_after_a_time(times: list[int]) -> None:
    """By offset, in every segment, also where clocks went back; none when nothing is that late."""
    log = filled(SimulatedDisk(), times, segment_bytes=250_000)
    assert len(log.store.logs()[0].segments().bases) > 2
    for wanted in (0, 99, 100, 101, 117, 139, 140):
        expected = next((TimedOffset(offset, ms) for offset, ms in enumerate(times) if ms >= wanted), None)

        assert log.store.offset_for_time(shard(0), wanted) == expected, wanted
    assert log.store.offset_for_time(shard(9), 0) is None


def test_a_time_inside_a_batch() -> None:
    """It is a record that is asked for, not the batch that has it."""
    log = OpenLog(SimulatedDisk())
    log.append(append(0, 0, count=3))

    assert log.store.offset_for_time(shard(0), 1_700_000_000_000) == TimedOffset(0, 1_700_000_000_000)


def test_segments_without_the_time_are_not_read() -> None:
    """What is read of them is their marks; what is read of the one that has it begins at a mark."""
    disk = SimulatedDisk()
    log = filled(disk, list(range(100)), segment_bytes=500_000)
    disk.calls.clear()

    assert log.store.offset_for_time(shard(0), 45) == TimedOffset(45, 45)
    assert read_bytes(disk, f"{0:020d}.log") == 0
    assert read_bytes(disk, f"{24:020d}.log") == 1


def test_reading_from_an_offset_begins_at_a_mark() -> None:
    """In a sealed segment and in the active one: damage far before the offset is not even seen."""
    disk = SimulatedDisk()
    log = filled(disk, list(range(60)), segment_bytes=600_000)
    for base in (0, 29):
        path = f"{DATA}/{shard(0)}/{base:020d}.log"
        disk.put(path, b"\xff" * 300_000 + disk.content(path)[300_000:])

    for offset in (25, 55):
        assert next(log.store.read(shard(0), offset)) == batch(offset, BIG, at_ms=offset)
        assert log.store.read_range(shard(0), ReadRange(offset, 1, 60)).data == batch(offset, BIG, at_ms=offset)


@pytest.mark.parametrize("damage", ["missing", "torn", "longer", "rotten", "of another size", "empty"])
def test_marks_that_are_not_the_segments_own_are_made_anew(damage: str) -> None:
    """They are a cache: an answer never depends on them."""
    disk = SimulatedDisk()
    log = filled(disk, list(range(60)), segment_bytes=600_000)
    good = disk.content(MARKS)
    match damage:
        case "missing":
            disk.remove(MARKS)
        case "torn":
            disk.put(MARKS, good[:-5])
        case "longer":
            disk.put(MARKS, good + b"\0" * 24)
        case "rotten":
            disk.put(MARKS, good[:30] + bytes([good[30] ^ 4]) + good[31:])
        case "of another size":
            disk.put(MARKS, scan(disk, SEGMENT, 0, 3 * len(batch(0, BIG))).encode())
        case _:
            disk.put(MARKS, b"")

    assert log.store.offset_for_time(shard(0), 20) == TimedOffset(20, 20)
    assert len(values(log.store.read(shard(0), 20))) == 40
    assert disk.content(MARKS) == good


def test_no_room_for_marks_is_no_harm() -> None:
    """A full disk does not stop a roll for their sake."""
    disk = SimulatedDisk()
    disk.fail("open", 28, ".marks")
    log = filled(disk, list(range(60)), segment_bytes=600_000)

    assert log.store.offset_for_time(shard(0), 20) == TimedOffset(20, 20)


def test_the_active_segment_of_an_earlier_run() -> None:
    """What was in it when it was opened is found as well as what was written since; and both are in its marks when it is sealed."""
    disk = SimulatedDisk()
    filled(disk, list(range(20))).store.close()
    log = OpenLog(disk, journal_bytes=1 << 20)
    for offset in range(20, 40):
        log.append(append(0, offset, BIG) if offset % 2 else Append(shard(0), 0, offset, batch(offset, BIG, at_ms=offset)))
    log.write_out()

    assert [log.store.offset_for_time(shard(0), ms) for ms in (7, 20, 10**9)] == [
        TimedOffset(7, 7),
        TimedOffset(20, 20),
        TimedOffset(21, 1_700_000_000_000),
    ]
    assert len(values(log.store.read(shard(0), 33))) == 7
    log.seal()
    kept = decode_index(disk.content(MARKS))
    assert kept is not None
    assert kept.encode() == scan(disk, SEGMENT, 0, len(disk.content(SEGMENT))).encode()


def test_a_damaged_header_is_told_where_it_is() -> None:
    """An index that has to be made of a segment that is not whole is not made."""
    disk = SimulatedDisk()
    filled(disk, list(range(60)), segment_bytes=600_000)
    disk.put(MARKS, b"")
    second = len(batch(0, BIG))
    disk.put(SEGMENT, disk.content(SEGMENT)[: second + 8] + b"\xff" * 8 + disk.content(SEGMENT)[second + 16 :])
    disk.kill()

    with pytest.raises(DamagedLog) as caught:
        OpenLog(disk).store.offset_for_time(shard(0), 20)
    assert (caught.value.path, caught.value.position) == (SEGMENT, second)


@pytest.mark.parametrize(
    ("content", "size", "position", "why"),
    [
        (batch(0) + batch(1), 2 * len(batch(0)) + 5, 2 * len(batch(0)), "the segment was .* bytes long"),
        (batch(0) + batch(1)[:30], len(batch(0)) + 30, len(batch(0)), "the segment ends inside a batch"),
        (batch(0) + batch(1), 2 * len(batch(0)) - 1, len(batch(0)), "the segment ends inside a batch"),
        (batch(0) + batch(2), 2 * len(batch(0)), len(batch(0)), "a batch at offset 2 where 1 comes next"),
    ],
)
def test_a_segment_that_is_not_whole_has_no_index(content: bytes, size: int, position: int, why: str) -> None:
    """It is shorter than it was, it ends inside a batch, or an offset is missing."""
    disk = SimulatedDisk()
    disk.put("/segment", content)

    with pytest.raises(DamagedLog, match=why) as caught:
        scan(disk, "/segment", 0, size)
    assert (caught.value.path, caught.value.position) == ("/segment", position)


@pytest.mark.parametrize("first", [0, 10**9])
def test_there_is_a_mark_for_each_64_kib(first: int) -> None:
    """Whatever the offsets: a reader finds each within that, and the marks stay few."""
    index = SegmentIndex(first)
    for offset in range(first, first + 64):
        index.add([(16 * 1024, offset + 1, (7 + offset - first, 70))])
    marks = [index.before_offset(offset) for offset in range(first, first + 64)]
    assert (index.first_ms, index.max_ms) == (7, 70)

    assert [mark.position if mark else None for mark in marks] == [64 * 1024 * (each // 4) for each in range(64)]


def test_a_large_segment_is_read_in_parts() -> None:
    """Its index is the one that its writer made."""
    disk = SimulatedDisk()
    log = filled(disk, list(range(120)), segment_bytes=1 << 30).store.logs()[0]
    content = disk.content(SEGMENT)
    assert len(content) > 2 << 20
    disk.put(SEGMENT, content + content[:100])
    disk.calls.clear()

    assert scan(disk, SEGMENT, 0, len(content)).encode() == log.index(0).encode()
    assert read_bytes(disk, f"{0:020d}.log") == 3


def test_an_index_made_in_two_parts_is_the_index_of_the_whole() -> None:
    """Wherever it is cut, it leads to the same places or closer ones."""
    rng = Random(4)
    batches = [(rng.randint(61, 90_000), offset + 1, (ms := rng.randint(0, 1000), ms)) for offset in range(100)]
    whole = SegmentIndex(0)
    for each in batches:
        whole.add([each])
    for cut in (0, 1, 50, 99, 100):
        first = SegmentIndex(0)
        for each in batches[:cut]:
            first.add([each])
        second = SegmentIndex(first.end, first.size)
        for each in batches[cut:]:
            second.add([each])
        joined = first + second

        assert (joined.size, joined.end, joined.first_ms, joined.max_ms) == (whole.size, 100, whole.first_ms, whole.max_ms)
        for ms in range(0, 1001, 50):
            expected = next((offset for offset, each in enumerate(batches) if each[2][1] >= ms), 100)
            for index in (whole, joined):
                mark = index.before_time(ms)
                assert (mark.offset if mark else 0) <= expected


def test_a_time_before_the_first_segment_is_looked_for_in_the_layer(tmp_path: Path) -> None:
    """Where history begins with a layer, its records are the oldest that there are."""
    path = tmp_path / str(shard(0))
    posted: list[object] = []
    store = LocalLogStore.open(tmp_path, post=posted.append, options=LogOptions(sync=Sync.INLINE))
    for offset in range(4):
        outcome: list[object] = []
        store.submit([Append(shard(0), 0, offset, batch(offset, at_ms=10 * offset))], outcome.append)
        if offset == 1:
            store.logs()[0].seal()
        store.read(shard(0), 0)
    with LayerAttempt(path, 2) as attempt:
        attempt.append(1, batch(1, at_ms=10))
        publish(attempt.finish(LayerSummary(1, 0, None, ""), []), path, 2)
    (path / f"{0:020d}.log").unlink()
    store.logs()[0].hide(0)

    assert [store.offset_for_time(shard(0), ms) for ms in (0, 11, 31)] == [TimedOffset(1, 10), TimedOffset(2, 20), None]
    assert len(values(store.read(shard(0), 0))) == 3
    store.close()
