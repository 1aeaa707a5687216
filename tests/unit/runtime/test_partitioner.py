"""Which shard owns a key: the same arithmetic as Kafka's."""

from __future__ import annotations

import tracemalloc
from sys import getsizeof

import pytest

from coordinator_server.machine.java import java_string_hash
from coordinator_server.runtime.partitioner import LONGEST_CACHED, KeyHashes, partition_for


# Values printed by Java's String.hashCode.
@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("a", 97), ("group", 98629247), ("polygenelubricants", -(1 << 31)), ("ünï-çødé", -1756188346), ("😀", 1772899)],
)
def test_the_hash_is_javas(text: str, expected: int) -> None:
    assert java_string_hash(text) == expected


def test_the_smallest_int_has_no_absolute_value_and_belongs_to_partition_0() -> None:
    assert partition_for("polygenelubricants", 50) == 0


def test_a_negative_hash_is_made_positive() -> None:
    assert partition_for("ünï-çødé", 50) == 1756188346 % 50


def test_keys_of_any_number_and_length_take_bounded_memory() -> None:
    """The cache is emptied when it is full, and goes on."""
    hashes = KeyHashes(1 << 20)
    tracemalloc.start()
    try:
        for n in range(6_000):
            _ = hashes[f"{n}" + "\N{ELEPHANT}" * (n % (2 * LONGEST_CACHED))]
            assert len(hashes) <= 6_000
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert 0 < size < 3 << 20
    assert 0 < len(hashes) < 3_000


def test_a_full_cache_begins_anew_with_the_key_that_did_not_fit() -> None:
    """What it takes counts again from there, each time."""
    hashes = KeyHashes(10_000)
    counts = []
    for n in range(1000):
        _ = hashes[f"key-{n:04}"]
        counts.append(len(hashes))

    most = max(counts)
    assert counts == [n % most + 1 for n in range(1000)]
    assert 10_000 // 300 < most < 10_000 // 100


def test_the_hash_of_a_long_key_is_not_cached() -> None:
    hashes = KeyHashes(1 << 20)
    keys = ("x" * LONGEST_CACHED, "x" * (LONGEST_CACHED + 1), "short")

    for _ in range(2):
        assert [hashes[key] for key in keys] == [abs(java_string_hash(key)) for key in keys]
    assert list(hashes) == [keys[0], "short"]


def test_a_cache_is_emptied_when_it_exceeds_its_bytes() -> None:
    """One that is full to the last byte is not."""
    keys = [f"key-{n}" for n in range(4)]
    size = getsizeof(keys[0]) + 128
    for max_bytes, counts in ((3 * size, [1, 2, 3, 1]), (3 * size - 1, [1, 2, 1, 2])):
        hashes, found = KeyHashes(max_bytes), []
        for key in keys:
            _ = hashes[key]
            found.append(len(hashes))
        assert found == counts
