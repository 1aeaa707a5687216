"""The journal's bytes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.repair.frame_reader import WINDOW_BYTES, FrameReader, LooseFrame, loose_frames
from coordinator_server.log.shards import ShardEnd, ShardId
from coordinator_server.log.write.frames import (
    Entry,
    Head,
    aligned,
    decode_entries,
    decode_head,
    encode_frame,
    encode_head,
    entry_header,
    shard_prefix,
)

SHARD = ShardId("__consumer_offsets", 7)
HEAD = Head(3, 2, 100, 0xDEADBEEF, (ShardEnd(SHARD, 10, 20, 30), ShardEnd(ShardId("ümlaut", 0), 0, 0, 0)))


def reading(data: bytes) -> Callable[[int, int], bytes]:
    return lambda size, position: data[position : position + size]


def test_a_head_is_read_back() -> None:
    """With the CRC that its frames start from, and where they start."""
    raw, seed = encode_head(HEAD)

    assert decode_head(raw + b"whatever") == (HEAD, seed, aligned(len(raw)))


def test_a_damaged_journal_head_is_not_read() -> None:
    """Cut anywhere, or with any byte changed."""
    raw, _ = encode_head(HEAD)

    for position in range(len(raw)):
        assert decode_head(raw[:position]) is None
        assert decode_head(raw[:position] + bytes([raw[position] ^ 1]) + raw[position + 1 :]) is None


def test_entries_are_read_back() -> None:
    """In order, each with its shard and offset."""
    content = entry_header(shard_prefix(SHARD), 5, 3) + b"abc" + entry_header(shard_prefix(SHARD), 6, 0)

    assert list(decode_entries(content)) == [Entry(SHARD, 5, b"abc"), Entry(SHARD, 6, b"")]


def test_a_frame_counts_only_below_its_own_head() -> None:
    """Another generation or salt, and it is as good as torn."""
    _, seed = encode_head(HEAD)
    frame = encode_frame(HEAD.generation, 100, seed, [b"con", b"tent"])

    assert list(FrameReader("journal", reading(frame), HEAD, seed, 0).contents(100)) == [(100, b"content")]
    assert list(FrameReader("journal", reading(frame), HEAD, seed ^ 1, 0).contents(100)) == []
    assert list(FrameReader("journal", reading(frame), Head(4, 2, 100, 0, ()), seed, 0).contents(100)) == []


def test_a_frame_with_any_byte_changed_is_torn() -> None:
    """One CRC covers generation, sequence and content."""
    _, seed = encode_head(HEAD)
    frame = encode_frame(HEAD.generation, 100, seed, [b"con", b"tent"])

    for position in range(len(frame)):
        changed = frame[:position] + bytes([frame[position] ^ 0x40]) + frame[position + 1 :]
        assert list(FrameReader("journal", reading(changed), HEAD, seed, 0).contents(100)) == []


def test_only_frames_that_were_synced_are_mended() -> None:
    """A bad one of log.flush = os is as good as torn. Nor is there anything to mend in less than a frame."""
    _, seed = encode_head(HEAD)
    frame = encode_frame(HEAD.generation, 100, seed, [entry_header(shard_prefix(SHARD), 5, 0)])
    changed = frame[:-1] + bytes([frame[-1] ^ 1])

    def contents(data: bytes, *, is_synced: bool) -> list[tuple[int, bytes]]:
        head = replace(HEAD, is_synced=is_synced)
        return list(FrameReader("journal", reading(data), head, seed, 0).contents(100))

    assert contents(changed, is_synced=True) == contents(frame, is_synced=True) == contents(frame, is_synced=False)
    assert len(contents(frame, is_synced=True)) == 1
    assert contents(changed, is_synced=False) == []
    for size in range(len(frame)):
        assert contents(frame[:size], is_synced=True) == contents(frame[:size], is_synced=False) == []


def test_frames_over_many_windows() -> None:
    """However they lie to the windows that a file is read in: all are found, and a damaged one before whole ones is noticed."""
    _, seed = encode_head(HEAD)
    contents = [bytes([number % 251]) * (number * 7919 % 9000) for number in range(300)]
    data = bytearray()
    starts = []
    for number, content in enumerate(contents):
        starts.append(len(data))
        data += encode_frame(HEAD.generation, number, seed, [content])
        data += bytes(aligned(len(data)) - len(data))
    data += bytes(2 * WINDOW_BYTES)

    assert [content for _, content in FrameReader("journal", reading(bytes(data)), HEAD, seed, 0).contents(0)] == contents
    for damaged in (0, 100, 298):
        changed = bytes(data[: starts[damaged]]) + b"\xff" + bytes(data[starts[damaged] + 1 :])
        with pytest.raises(DamagedLog) as caught:
            list(FrameReader("journal", reading(changed), HEAD, seed, 0).contents(0))
        assert caught.value.position == starts[damaged]


def test_loose_frames_are_those_of_one_file() -> None:
    """At least two of a generation whose checksums start from the same value, at sectors, and whole."""

    def at_sectors(*frames: bytes) -> bytes:
        return b"".join(frame.ljust(aligned(len(frame)), b"\0") for frame in frames)

    _, seed = encode_head(HEAD)
    one, two, three = (encode_frame(3, number, seed, [b"content %d" % number]) for number in range(3))
    found = [LooseFrame(3, number, b"content %d" % number) for number in range(3)]

    assert loose_frames(at_sectors(one, two, three)) == found
    assert loose_frames(bytes(512) + at_sectors(one) + b"x" * 100 + two + three) == []
    assert loose_frames(at_sectors(one, two) + b"x" * 100 + three) == found[:2]
    assert loose_frames(at_sectors(one, two, encode_frame(3, 2, seed ^ 1, [b"other"]))) == found[:2]
    assert loose_frames(at_sectors(one, encode_frame(4, 1, seed, [b"other"]), three)) == [found[0], found[2]]
    assert loose_frames(at_sectors(one, two) + three[:-1]) == found[:2]
    assert loose_frames(at_sectors(one)) == loose_frames(at_sectors(one)[:20]) == loose_frames(b"") == []
