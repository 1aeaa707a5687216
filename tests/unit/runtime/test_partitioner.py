"""Which shard owns a key: the same arithmetic as Kafka's."""

from __future__ import annotations

import pytest

from coordinator_server.machine.java import java_string_hash
from coordinator_server.runtime.partitioner import partition_for


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
