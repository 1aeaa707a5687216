"""What may be wrong with the end of a file: cut at any length, zeros, garbage, a batch twice.

A file of a killed server loses nothing that was acknowledged, or the start is refused. A restored copy, which no journal vouches
for, is read up to its last whole batch. ``LOG_TAIL_STEP`` says how many bytes apart the cuts are (default 487,
1 is every length).
"""

from __future__ import annotations

import os
from random import Random

import pytest

from coordinator_server.log.errors import DamagedLog, LogError
from tests.support.log import DATA, OpenLog, append, batch, shard, values
from tests.support.storage import SimulatedDisk

STEP = int(os.environ.get("LOG_TAIL_STEP", "487"))
TAIL = 64 * 1024
COUNT = 90
VALUE_BYTES = 800
BATCH = len(batch(0, bytes(VALUE_BYTES)))
SEGMENT = f"{DATA}/{shard(0)}/{0:020d}.log"
META = f"{DATA}/meta.properties"
EXPECTED = [b"%08d" % offset * (VALUE_BYTES // 8) for offset in range(COUNT)]


def written() -> SimulatedDisk:
    """A killed server, a third of whose batches is durable in the segment, another third written to it,
    and the rest in the journal.
    """
    disk = SimulatedDisk()
    log = OpenLog(disk, journal_bytes=1 << 18)
    for offset, value in enumerate(EXPECTED):
        if offset == COUNT // 3:
            log.store.close()
            log = OpenLog(disk, journal_bytes=1 << 18)
            log.run()
        if offset == COUNT * 2 // 3:
            log.write_out()
        assert log.append(append(0, offset, value)) is None
    disk.kill()
    return disk


def restored() -> SimulatedDisk:
    """The segments of a copy with its identity, without any journal."""
    disk = written()
    OpenLog(disk).store.close()
    copy = SimulatedDisk()
    copy.make_dir(f"{DATA}/{shard(0)}")
    copy.put(META, disk.content(META))
    copy.put(SEGMENT, disk.content(SEGMENT))
    return copy


def found(disk: SimulatedDisk) -> list[bytes | None] | None:
    """What is read; None when it is refused, with a position in the file that it names."""
    disk.kill()
    try:
        return values(OpenLog(disk).store.read(shard(0), 0))
    except DamagedLog as damage:
        return None if 0 <= damage.position <= len(disk.content(damage.path)) else []


def lengths(size: int, align: int = 1) -> list[int]:
    """Cuts in the last 64 KiB, those at the edges of what is there among them."""
    first = max(size - TAIL, 0)
    edges = [each + by for each in range(0, size + 1, align) for by in (-1, 0, 1)] if align > 1 else []
    sampled = [*range(first, size, STEP), *edges[:: 1 if STEP == 1 else 17], size]
    return sorted({each for each in sampled if first <= each <= size})


def test_a_segment_of_a_killed_server_cut_at_any_length() -> None:
    """What was not durable in it the journal has; what was durable is missed."""
    disk = written()
    content = disk.content(SEGMENT)
    durable = (COUNT // 3) * BATCH
    for length in lengths(len(content), BATCH):
        disk = written()
        disk.put(SEGMENT, content[:length])

        assert found(disk) == (EXPECTED if length >= durable else None), length


def test_a_segment_of_a_copy_cut_at_any_length() -> None:
    """Every whole batch before the cut is there, and the log goes on in its place."""
    content = restored().content(SEGMENT)
    for length in lengths(len(content), BATCH):
        disk = restored()
        disk.put(SEGMENT, content[:length])

        assert found(disk) == EXPECTED[: length // BATCH], length
        again = OpenLog(disk.power_loss(Random(length)))
        assert again.append(append(0, length // BATCH)) is None


def test_a_journal_cut_at_any_length() -> None:
    """A file that is shorter than its head says is not a journal that ends there."""
    disk = written()
    path = max((path for path in disk.files(f"{DATA}/journal")), key=lambda path: disk.content(path).count(b"jFrm"))
    content = disk.content(path)
    used = content.rindex(b"jFrm") + 28 + BATCH + 64
    for length in [*lengths(used), len(content) - 1]:
        disk = written()
        disk.put(path, content[:length])

        assert found(disk) is None, length


@pytest.mark.parametrize("is_copy", [False, True], ids=["killed", "copy"])
@pytest.mark.parametrize("tail", ["zeros", "garbage", "a batch twice", "a later batch", "half a batch", "an old segment's end"])
def test_bytes_after_the_last_batch_are_cut_or_refused(tail: str, is_copy: bool) -> None:
    """It is no batch of this log: it goes, or, where nobody can say whether it was promised, the start is refused."""
    rng = Random(tail)
    content = (restored if is_copy else written)().content(SEGMENT)
    last = content[-BATCH:]
    for number in range(20):
        more = {
            "zeros": bytes(rng.randint(1, 5000)),
            "garbage": rng.randbytes(rng.randint(1, 5000)),
            "a batch twice": last,
            "a later batch": batch(COUNT + 1 + number),
            "half a batch": batch(len(content) // BATCH)[: rng.randint(1, 60)],
            "an old segment's end": content[BATCH * number :],
        }[tail]
        disk = (restored if is_copy else written)()
        disk.put(SEGMENT, content + more)
        result = found(disk)

        assert result == EXPECTED or (is_copy and result is None), number


@pytest.mark.parametrize("is_copy", [False, True], ids=["killed", "copy"])
def test_zeros_after_the_last_batch_are_cut(is_copy: bool) -> None:
    """What a file system makes of blocks that it never wrote."""
    content = (restored if is_copy else written)().content(SEGMENT)
    durable = (COUNT // 3) * BATCH
    for length in lengths(len(content), BATCH)[:: 1 if STEP == 1 else 5]:
        disk = (restored if is_copy else written)()
        # Batches end in a zero: without its last byte one is as whole as before.
        zeroed = content[:length].ljust(len(content), b"\0")
        kept = next((at for at in range(length, len(content)) if content[at]), len(content)) // BATCH
        disk.put(SEGMENT, zeroed)
        result = found(disk)

        if is_copy:
            assert result in (EXPECTED[:kept], None), length
        else:
            assert result == (EXPECTED if kept * BATCH >= durable else None), length


def test_a_batch_twice_in_a_frame_is_refused_when_it_is_given() -> None:
    """It never gets that far."""
    log = OpenLog(SimulatedDisk())
    with pytest.raises((ValueError, LogError)):
        log.append(append(0, 0), append(0, 0))
