"""The bit that rotted is found, and nothing is found where more than a bit is wrong."""

from __future__ import annotations

from random import Random

from crc32c import crc32c

from coordinator_server.log.repair.bit_flip import MOST_BYTES, start_of, without_flip


def test_every_bit_is_found() -> None:
    """Whatever the data, whatever its checksum started from."""
    rng = Random(1)
    for size in (1, 2, 7, 64, 1000):
        data = rng.randbytes(size)
        for bit in range(0, size * 8, 1 if size < 100 else 97):
            flipped = bytearray(data)
            flipped[bit // 8] ^= 1 << bit % 8
            difference = crc32c(bytes(flipped), 77) ^ crc32c(data, 77)

            assert without_flip(bytes(flipped), difference) == data


def test_two_bits_are_not_one() -> None:
    """Within the reach of a frame no two bits are worth what one is."""
    rng = Random(2)
    data = rng.randbytes(2000)
    for _ in range(200):
        flipped = bytearray(data)
        for bit in rng.sample(range(16000), 2):
            flipped[bit // 8] ^= 1 << bit % 8

        assert without_flip(bytes(flipped), crc32c(bytes(flipped)) ^ crc32c(data)) is None


def test_what_is_too_long_is_not_searched() -> None:
    """A start does not wait for it."""
    of_last_bit = crc32c(b"\1") ^ crc32c(b"\0")
    assert without_flip(bytes(MOST_BYTES), of_last_bit) == bytes(MOST_BYTES - 1) + b"\1"
    assert without_flip(bytes(MOST_BYTES + 1), of_last_bit) is None
    assert without_flip(b"", 1) is None


def test_what_a_checksum_started_from() -> None:
    """Any other start would have ended elsewhere."""
    for start in (0, 1, 0xDEADBEEF):
        assert start_of(b"some data", crc32c(b"some data", start)) == start
