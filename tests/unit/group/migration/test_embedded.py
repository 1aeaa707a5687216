"""What members of the classic protocol put into bytes for each other."""

from __future__ import annotations

import pytest

from coordinator_server.group.migration.embedded import NEWEST, Unreadable, read_version


@pytest.mark.parametrize("data", [b"", b"\0", b"\xff\xff", b"\x80\0"])
def test_bytes_without_a_version_are_short(data: bytes) -> None:
    """So are those with a negative one, by Kafka's exception."""
    with pytest.raises(Unreadable) as refused:
        read_version(data)

    assert refused.value.is_short


def test_a_version_that_is_not_known_yet_is_the_newest() -> None:
    assert [read_version(number.to_bytes(2)) for number in (0, NEWEST, NEWEST + 1, 32767)] == [0, NEWEST, NEWEST, NEWEST]
