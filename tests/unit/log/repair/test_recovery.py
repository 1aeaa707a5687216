"""What the next start finds, whatever was done to the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import LayerSummary
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.local import LocalLogStore
from coordinator_server.log.repair.recovery import recover
from coordinator_server.log.shards import ShardEnd
from coordinator_server.log.write.frames import SECTOR, Head, encode_frame, encode_head, entry_header, shard_prefix
from coordinator_server.log.write.segments import Segments
from tests.support.log import DATA, OpenLog, append, batch, shard, values
from tests.support.storage import SimulatedDisk

BATCH = len(batch(0))
SEGMENT = f"{DATA}/{shard(0)}/{0:020d}.log"


def killed(count: int = 3, *, write_out: bool = False, **settings: Any) -> SimulatedDisk:
    """The disk of a process that appended to shard 0 and was killed."""
    disk = SimulatedDisk()
    log = OpenLog(disk, **settings)
    log.run()
    for offset in range(count):
        assert log.append(append(0, offset, b"%05d" % offset)) is None
    if write_out:
        log.write_out()
    disk.kill()
    return disk


def found(disk: SimulatedDisk) -> list[bytes | None]:
    return values(OpenLog(disk).store.read(shard(0), 0))


def expected(count: int) -> list[bytes]:
    return [b"%05d" % offset for offset in range(count)]


def active_journal(disk: SimulatedDisk) -> str:
    """The journal file with frames in it."""
    return next(path for path in disk.files(f"{DATA}/journal") if b"jFrm" in disk.content(path))


def frames_of(content: bytes) -> list[int]:
    """Where frames begin."""
    return [position for position in range(0, len(content), 512) if content[position : position + 4] == b"jFrm"]


def change(disk: SimulatedDisk, path: str, position: int, data: bytes) -> None:
    content = bytearray(disk.content(path))
    content[position : position + len(data)] = data
    disk.put(path, bytes(content))


def test_a_killed_process_loses_nothing() -> None:
    """The journal has what the segments do not have yet."""
    assert found(killed(20)) == expected(20)


def test_recovering_twice_changes_nothing() -> None:
    """A start that is killed itself is started over; what is right is not written again."""
    disk = killed(20, write_out=True)
    OpenLog(disk)
    disk.kill()
    disk.calls.clear()

    assert found(disk) == expected(20)
    assert ("pwrite", SEGMENT) not in disk.calls


@pytest.mark.parametrize("kept", [0, 1, 27, 28, 40, 60, 61, 100])
def test_a_torn_last_frame_is_cut(kept: int) -> None:
    """The write that was under way was not acknowledged: what is left of it goes, and the log goes on in its place."""
    disk = killed(3)
    path = active_journal(disk)
    content = disk.content(path)
    last = frames_of(content)[-1]
    disk.put(path, content[: last + kept] + bytes(len(content) - last - kept))
    log = OpenLog(disk)

    assert values(log.store.read(shard(0), 0)) == expected(2)
    assert log.append(append(0, 2, b"00002")) is None
    disk.kill()
    assert found(disk) == expected(3)


def test_a_damaged_frame_before_others_refuses_to_start() -> None:
    """Only the last frame can be torn. The error names the file and where the frame is."""
    disk = killed(3)
    path = active_journal(disk)
    second = frames_of(disk.content(path))[1]
    change(disk, path, second + 50, b"\xff\xff")

    with pytest.raises(DamagedLog) as caught:
        OpenLog(disk)
    assert (caught.value.path, caught.value.position) == (path, second)


def test_damage_to_the_last_two_frames_refuses_to_start() -> None:
    """One that was written after another says that the other was durable, also when a bit of it has rotted."""
    disk = killed(3)
    path = active_journal(disk)
    content = bytearray(disk.content(path))
    _, second, third = frames_of(bytes(content))
    for position in (second + 50, second + 60, third + 50):
        content[position] ^= 4
    disk.put(path, bytes(content))

    with pytest.raises(DamagedLog) as caught:
        OpenLog(disk)
    assert (caught.value.path, caught.value.position) == (path, second)


def test_a_damaged_frame_whose_batches_are_in_the_segment_is_harmless() -> None:
    """Only durable batches get into segments: whole ones that continue the log are kept."""
    disk = killed(3, write_out=True)
    path = active_journal(disk)
    change(disk, path, frames_of(disk.content(path))[-1] + 50, b"\xff\xff")

    assert found(disk) == expected(3)


def test_a_stale_frame_of_the_same_size_is_no_continuation() -> None:
    """A journal file that is used again still holds frames of its earlier use, at just the places where the next ones go."""
    disk = SimulatedDisk()
    log = OpenLog(disk, journal_bytes=4096)
    log.run()
    for offset in range(40):
        log.append(append(0, offset, b"%05d" % offset))
        disk.kill()
        assert found(disk)[-1:] == expected(offset + 1)[-1:]
        disk.kill()
        log = OpenLog(disk, journal_bytes=4096)
        log.run()


def test_a_hole_in_a_segment_before_valid_batches_is_filled() -> None:
    """Pages of a segment reach the disk in any order; the journal has what is missing."""
    disk = killed(10, write_out=True)
    change(disk, SEGMENT, 2 * BATCH, bytes(3 * BATCH))

    assert found(disk) == expected(10)


def test_garbage_behind_the_end_is_cut() -> None:
    """Nothing behind the last durable batch was acknowledged."""
    for garbage in (b"\0" * 1000, b"\xff" * 1000, batch(3)[:-1], batch(7)):
        disk = killed(3, write_out=True)
        disk.put(SEGMENT, disk.content(SEGMENT) + garbage)

        assert found(disk) == expected(3)
        assert len(disk.content(SEGMENT)) == 3 * BATCH


def test_recovery_keeps_a_repeated_batch_once() -> None:
    """A batch behind the end is kept only when it continues the log."""
    disk = killed(3, write_out=True)
    disk.put(SEGMENT, disk.content(SEGMENT) + batch(2, b"00002"))

    assert found(disk) == expected(3)


def test_a_segment_shorter_than_its_durable_end_refuses_to_start() -> None:
    """Bytes that were synced are gone: the error names the file and how long it is."""
    disk = killed(3)
    OpenLog(disk).store.close()
    disk.put(SEGMENT, disk.content(SEGMENT)[: 2 * BATCH])

    with pytest.raises(DamagedLog) as caught:
        OpenLog(disk)
    assert (caught.value.path, caught.value.position) == (SEGMENT, 2 * BATCH)


def test_damage_before_the_durable_end_is_found_by_the_reader() -> None:
    """A start does not read all history."""
    disk = killed(3)
    OpenLog(disk).store.close()
    change(disk, SEGMENT, BATCH + 62, b"\xff")
    disk.calls.clear()
    log = OpenLog(disk)

    assert ("pread", SEGMENT) not in disk.calls
    with pytest.raises(DamagedLog) as caught:
        list(log.store.read(shard(0), 0))
    assert (caught.value.path, caught.value.position) == (SEGMENT, BATCH)


def test_a_journal_file_that_is_missing_is_missed() -> None:
    """Whichever it is: what it held is in the segments, or the log refuses to start."""
    outcomes = set()
    for lost in range(3):
        disk = killed(20, journal_bytes=4096)
        path = disk.files(f"{DATA}/journal")[lost]
        disk.put(path, bytes(len(disk.content(path))))
        try:
            outcomes.add(found(disk) == expected(20))
        except DamagedLog as error:
            outcomes.add(error.path.startswith(f"{DATA}/journal"))

    assert outcomes == {True}


def test_a_damaged_head_refuses_to_start() -> None:
    """Frames newer than every head were acknowledged by somebody."""
    disk = killed(3)
    path = active_journal(disk)
    change(disk, path, 20, b"\xff")

    with pytest.raises(DamagedLog):
        OpenLog(disk)


def test_a_sealed_segment_is_left_alone() -> None:
    """Somebody may be reading it at the moment."""
    disk = SimulatedDisk()
    log = OpenLog(disk)
    for offset in range(3):
        log.append(append(0, offset, b"%05d" % offset))
    log.seal()
    log.append(append(0, 3, b"00003"))
    disk.kill()
    disk.calls.clear()

    assert found(disk) == expected(4)
    assert not {("pwrite", SEGMENT), ("truncate", SEGMENT)} & set(disk.calls)


def test_segments_keep_their_bounds() -> None:
    """A segment is rebuilt to where its successor begins: somebody may have read it as sealed."""
    disk = SimulatedDisk()
    log = OpenLog(disk)
    log.run()
    log.append(append(0, 0, b"00000"))
    log.seal()
    log.append(append(0, 1, b"00001"))
    log.write_out()
    disk.kill()
    for path in (SEGMENT, SEGMENT.replace("0.log", "1.log")):
        disk.put(path, b"")

    assert found(disk) == expected(2)
    assert len(disk.content(SEGMENT)) == BATCH


@pytest.mark.parametrize("moves", [(0, 1), (1, 0), (0, 1, 0), (2, 0, 2, 1)])
def test_a_shard_may_move_to_another_loop(moves: Sequence[int]) -> None:
    """Every journal is recovered, whoever wrote it; old ones never take anything back."""
    disk = SimulatedDisk()
    offset = 0
    for loop_index in moves:
        log = OpenLog(disk, loop_index=loop_index)
        assert values(log.store.read(shard(0), 0)) == expected(offset)
        for _ in range(3):
            assert log.append(append(0, offset, b"%05d" % offset)) is None
            offset += 1
        disk.kill()

    assert found(disk) == expected(offset)


def test_a_restored_copy_without_journal_is_taken_over() -> None:
    """Segments are the log: a torn tail is cut, the rest is there."""
    disk = SimulatedDisk()
    whole = b"".join(batch(offset, b"%05d" % offset) for offset in range(3))
    OpenLog(disk).store.close()
    disk.make_dir(f"{DATA}/{shard(0)}")
    disk.put(SEGMENT, whole + batch(3)[:-5])
    log = OpenLog(disk)

    assert values(log.store.read(shard(0), 0)) == expected(3)
    assert log.append(append(0, 3, b"00003")) is None


def test_damage_in_the_middle_of_a_restored_copy_refuses_to_start() -> None:
    """A torn tail is the last thing in a file; this is not."""
    disk = SimulatedDisk()
    whole = bytearray(b"".join(batch(offset) for offset in range(3)))
    whole[BATCH + 65] ^= 0xFF
    OpenLog(disk).store.close()
    disk.make_dir(f"{DATA}/{shard(0)}")
    disk.put(SEGMENT, bytes(whole))

    with pytest.raises(DamagedLog) as caught:
        OpenLog(disk)
    assert (caught.value.path, caught.value.position) == (SEGMENT, BATCH)


def test_a_shard_of_which_only_a_layer_is_there_goes_on_behind_it(tmp_path: Path) -> None:
    """A layer stands for the offsets before it."""
    posted: list[object] = []
    LocalLogStore.open(tmp_path, post=posted.append).close()
    directory = tmp_path / str(shard(0))
    directory.mkdir(parents=True)
    with LayerAttempt(directory, 5) as attempt:
        attempt.append(0, batch(0, b"compacted"))
        publish(attempt.finish(LayerSummary(1, 0, None, ""), ()), directory, 5)
    store = LocalLogStore.open(tmp_path, post=posted.append)
    assert store.end_offset(shard(0)) == 5
    store.submit([append(0, 5, b"new")], posted.append)
    store.close()
    store = LocalLogStore.open(tmp_path, post=posted.append)

    assert values(store.read(shard(0), 0)) == [b"compacted", b"new"]
    assert values(store.read(shard(0), 5)) == [b"new"]
    assert store.end_offset(shard(0)) == 6
    store.close()


def test_an_empty_segment_that_lost_its_name_is_made_anew() -> None:
    """The log goes on at its end, not over the segment before."""
    disk = SimulatedDisk()
    log = OpenLog(disk)
    log.append(append(0, 0, b"00000"))
    log.seal()
    log.store.close()
    disk.remove(SEGMENT.replace("0.log", "1.log"))
    log = OpenLog(disk)
    assert log.append(append(0, 1, b"00001")) is None
    log.store.close()

    assert found(disk) == expected(2)
    assert len(disk.content(SEGMENT)) == BATCH


def test_what_was_found_is_synced_before_anything_rests_on_it() -> None:
    """The process may have been killed between its last write and the sync:
    a power loss would take from some shards what others keep.
    """
    disk = killed(3)
    disk.calls.clear()
    path = active_journal(disk)
    OpenLog(disk)
    changes = [(name, where) for name, where in disk.calls if name in {"pwrite", "sync", "truncate"}]

    assert changes[0] == ("sync", path)


@pytest.mark.parametrize(("offset", "is_whole"), [(2, True), (3, False)])
def test_offsets_that_neither_segments_nor_the_journal_have(offset: int, is_whole: bool) -> None:
    """Batches after a hole are not taken: the server does not start."""
    disk = SimulatedDisk()
    for directory in (f"{DATA}/{shard(0)}", f"{DATA}/journal/loop-0"):
        disk.make_dir(directory)
    disk.put(SEGMENT, batch(0) + batch(1))
    raw, seed = encode_head(Head(1, 1, 0, 7, (ShardEnd(shard(0), 0, 2 * BATCH, 2),)))
    content = [entry_header(shard_prefix(shard(0)), offset, BATCH), batch(offset)]
    frame = encode_frame(1, 0, seed, content)
    journal = f"{DATA}/journal/loop-0/{1:020d}.journal"
    disk.put(journal, raw.ljust(SECTOR, b"\0") + frame.ljust(SECTOR, b"\0"))
    if is_whole:
        assert recover(disk, DATA).shards[shard(0)].end == 3
        return

    with pytest.raises(DamagedLog, match="offsets 2 to 3 are neither here nor in the journal") as caught:
        recover(disk, DATA)
    assert (caught.value.path, caught.value.position) == (SEGMENT, 2 * BATCH)


@pytest.mark.parametrize("tail", [b"", batch(3)[:-1], bytes(500)])
def test_batches_of_a_segment_that_no_head_knows_stay(tail: bytes) -> None:
    """They were durable when they were written there: the segment goes on where the one before it ends. What is torn is cut."""
    disk = SimulatedDisk()
    for directory in (f"{DATA}/{shard(0)}", f"{DATA}/journal/loop-0"):
        disk.make_dir(directory)
    disk.put(SEGMENT, batch(0) + batch(1))
    later = SEGMENT.replace("0.log", "2.log")
    disk.put(later, batch(2) + tail)
    raw, _ = encode_head(Head(1, 1, 0, 7, (ShardEnd(shard(0), 0, 2 * BATCH, 2),)))
    disk.put(f"{DATA}/journal/loop-0/{1:020d}.journal", raw.ljust(SECTOR, b"\0"))

    assert recover(disk, DATA).shards[shard(0)] == Segments([0, 2], BATCH, 3)
    assert disk.content(later) == batch(2)
