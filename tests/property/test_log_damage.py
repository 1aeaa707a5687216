"""Bytes of the log that are not what they were: found out, or harmless; never a wrong answer."""

from __future__ import annotations

from random import Random

import pytest

from coordinator_server.log.errors import DamagedLog, LogError
from tests.support.log import DATA, OpenLog, append, shard, values
from tests.support.storage import SimulatedDisk

COUNT = 12


def killed() -> SimulatedDisk:
    """A process killed with some appends in segments and some in the journal only."""
    disk = SimulatedDisk()
    log = OpenLog(disk, journal_bytes=8192, segment_bytes=1500)
    log.run()
    for offset in range(COUNT):
        if offset == COUNT - 4:
            log.write_out()
        if offset == 3:
            log.seal()
        assert log.append(append(0, offset, b"%05d" % offset * 20), append(1, offset)) is None
    disk.kill()
    return disk


EXPECTED = [b"%05d" % offset * 20 for offset in range(COUNT)]


def read(disk: SimulatedDisk) -> list[bytes | None] | None:
    """What the log says it holds; None when it says that it is damaged."""
    disk.kill()
    try:
        return values(OpenLog(disk).store.read(shard(0), 0))
    except DamagedLog as damage:
        is_somewhere = damage.path.startswith(DATA) and 0 <= damage.position <= len(disk.content(damage.path))
        return None if is_somewhere else []
    except LogError as refusal:
        # The one file that is not the log's own.
        return None if "meta.properties" in str(refusal) or "was made with" in str(refusal) else []


def last_frame(disk: SimulatedDisk) -> tuple[str, int, int]:
    """The journal file with the last frame, and where that starts and ends."""
    frames = []
    for path in disk.files(f"{DATA}/journal"):
        content = disk.content(path)
        for position in range(0, len(content), 512):
            if content[position : position + 4] == b"jFrm":
                generation, sequence = (int.from_bytes(content[position + 4 + 8 * n : position + 12 + 8 * n]) for n in (0, 1))
                length = int.from_bytes(content[position + 20 : position + 24])
                frames.append((generation, sequence, path, position, position + 28 + length))
    return max(frames)[2:]


def test_the_last_frame_cut_at_every_length() -> None:
    """A journal that ends inside its last frame is a log without that submit; with all of the frame it is the whole log."""
    disk = killed()
    path, start, end = last_frame(disk)
    content = disk.content(path)
    for length in range(start, end + 1):
        cut = killed()
        cut.put(path, content[:length].ljust(len(content), b"\0"))

        # What differs in a single bit at most is put right.
        is_whole = sum(byte.bit_count() for byte in content[length:end]) <= 1
        assert read(cut) == (EXPECTED if is_whole else EXPECTED[:-1]), length


@pytest.mark.parametrize("part", range(4))
def test_flipped_bits(part: int) -> None:
    """Anywhere in any file: detected with file and position, or everything is there."""
    rng = Random(part)
    disk = killed()
    for path in disk.files(DATA):
        content = disk.content(path)
        used = len(content.rstrip(b"\0"))
        for _ in range(40 if used else 0):
            position = rng.randrange(used)
            flipped = bytearray(content)
            flipped[position] ^= 1 << rng.randrange(8)
            damaged = killed()
            damaged.put(path, bytes(flipped))

            assert read(damaged) in [None, EXPECTED], (path, position)


def test_every_bit_of_the_last_frame() -> None:
    """A single bit that rots before the frame reached its segments is put right, wherever it is."""
    path, start, end = last_frame(killed())
    content = killed().content(path)
    for bit in range(start * 8, end * 8, 13):
        damaged = killed()
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        damaged.put(path, bytes(flipped))

        assert read(damaged) == EXPECTED, bit
