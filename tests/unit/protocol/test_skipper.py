"""Skippers of array elements: how many are valid, and where the first one begins that is not."""

from __future__ import annotations

import pytest

from protocol.codec import encode
from protocol.fields import Primitive
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.skipper import elements_skipper

# Some, and enough for those of one length to be skipped together.
COUNTS = (1, 3, 40)


def topic(version: int, partitions: int) -> bytes:
    """A topic of an OffsetCommit request, which has an array of its own."""
    rows = [OffsetCommitRequestPartition(index, 5, -1, "m") for index in range(partitions)]
    empty = encode(OffsetCommitRequest("g", topics=[]), version)
    whole = encode(OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic("name", partitions=rows)]), version)
    is_flexible = version in OffsetCommitRequest.kafka.flexible
    return whole[len(empty) - 1 : -1] if is_flexible else whole[len(empty) :]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("partitions", [0, 1, 2, 20])
@pytest.mark.parametrize("version", [2, 9])
def test_elements_before_one_that_is_cut_are_counted(version: int, partitions: int, count: int) -> None:
    """The position is that of the first element that is not whole."""
    skip = elements_skipper(OffsetCommitRequestTopic, version, version in OffsetCommitRequest.kafka.flexible, version >= 8)
    element = topic(version, partitions)
    data = element * count

    assert skip(b"before" + data, 6, count) == (count, 6 + len(data))
    for whole in range(count):
        for size in {whole * len(element), (whole + 1) * len(element) - 1}:
            assert skip(b"before" + data[:size], 6, count) == (whole, 6 + whole * len(element))


@pytest.mark.parametrize("bad", [b"\x02\xff", b"\x00"])
@pytest.mark.parametrize("count", COUNTS)
def test_elements_before_a_text_that_is_not_valid_are_counted(count: int, bad: bytes) -> None:
    """One that is not UTF-8, or null."""
    skip = elements_skipper(Primitive.STRING, 9, is_flexible=True, is_compact=True)
    good = b"\x03ab"

    for whole in range(count):
        data = good * whole + bad + good * (count - whole - 1)
        assert skip(data, 0, count) == (whole, whole * len(good))


@pytest.mark.parametrize("partitions", [1, 20])
def test_elements_before_one_with_a_bad_name_are_counted(partitions: int) -> None:
    """Also where all before it have one length, and are skipped together."""
    skip = elements_skipper(OffsetCommitRequestTopic, 9, is_flexible=True, is_compact=True)
    element = topic(9, partitions)
    bad = element.replace(b"name", b"n\xffme")

    for whole in (0, 1, 7, 8, 9, 39):
        data = element * whole + bad + element * (40 - whole - 1)
        assert skip(data, 0, 40) == (whole, whole * len(element))
