"""Version ranges, written as Kafka writes them."""

from __future__ import annotations

import pytest

from protocol.fields import ALL_VERSIONS, NO_VERSIONS, Versions
from tests.support.oracle import within


@pytest.mark.parametrize("text", ["0", "3", "0-4", "2-2", "5+", "0+", "none"])
def test_ranges_are_read_as_kafka_reads_them(text: str) -> None:
    """One version, a closed range, an open one, or none."""
    versions = Versions.parse(text)

    assert [version in versions for version in range(12)] == [within(text, version) for version in range(12)]


def test_what_two_ranges_share() -> None:
    """The overlap, or none at all."""
    assert Versions.parse("2-6") & Versions.parse("4+") == Versions(4, 6)
    assert Versions.parse("2-3") & Versions.parse("4+") == NO_VERSIONS
    assert Versions.parse("1+") & ALL_VERSIONS == Versions.parse("1+")


def test_a_range_can_be_walked() -> None:
    """In order, both ends included."""
    assert list(Versions.parse("2-4")) == [2, 3, 4]
    assert list(NO_VERSIONS) == []
