from __future__ import annotations

import random

import pytest

from coordinator_server.pipeline.layer.record_digest import RecordDigest, digest_records

RECORDS: list[tuple[bytes, bytes | None]] = [(b"key %d" % n, None if n % 7 == 0 else b"v" * (n * 13 % 200)) for n in range(50)]


def test_a_record_digest_does_not_depend_on_order() -> None:
    """Parts may be digested in any order, apart, and merged."""
    shuffled = random.Random(1).sample(RECORDS, len(RECORDS))
    merged = digest_records(shuffled[:20])
    merged.merge(digest_records(shuffled[20:]))

    assert merged == digest_records(RECORDS)
    assert str(merged) == str(digest_records(RECORDS))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((b"a", b"b"), (b"b", b"a")),
        ((b"ab", b""), (b"a", b"b")),
        ((b"a", None), (b"a", b"")),
        ((b"a", b"\0"), (b"a", b"")),
        ((b"a", b"\0" * 8), (b"a", b"\0" * 16)),
        ((b"a", b"12345678" * 4), (b"a", b"12345678" * 3 + b"12345679")),
    ],
)
def test_a_record_digest_shows_every_difference(one: tuple[bytes, bytes | None], other: tuple[bytes, bytes | None]) -> None:
    """Another key, value, split of the two, or nothing instead of an empty value."""
    assert digest_records([one]) != digest_records([other])


def test_a_record_digest_counts_equal_records() -> None:
    """A record that is there twice is not the same as once."""
    assert digest_records([(b"a", b"b")] * 2) != digest_records([(b"a", b"b")])
    assert digest_records([]) == RecordDigest()
