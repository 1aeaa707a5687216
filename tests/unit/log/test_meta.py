"""The identity of a data directory."""

from __future__ import annotations

from contextlib import suppress

import pytest

from coordinator_server.log.errors import LogError
from coordinator_server.log.meta import open_meta
from tests.support.storage import SimulatedDisk

PATH = "/data/meta.properties"


@pytest.fixture
def disk() -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_dir("/data")
    return disk


def test_made_once(disk: SimulatedDisk) -> None:
    """Every later start finds the same cluster."""
    first = open_meta(disk, "/data", node_id=1, offsets_topic_num_partitions=50)

    assert len(first.cluster_id) == 22
    assert open_meta(disk, "/data", node_id=1, offsets_topic_num_partitions=50) == first


def test_keys_are_kafkas(disk: SimulatedDisk) -> None:
    """An operator reads the file."""
    meta = open_meta(disk, "/data", node_id=1, offsets_topic_num_partitions=50)

    expected = f"version=1\ncluster.id={meta.cluster_id}\nnode.id=1\noffsets.topic.num.partitions=50\n"
    assert disk.content(PATH).decode().startswith(expected)


def test_a_file_written_by_hand(disk: SimulatedDisk) -> None:
    """Nobody computes a checksum in an editor."""
    disk.put(PATH, b"# restored\nversion=1\ncluster.id=x\nnode.id=1\noffsets.topic.num.partitions=50\n")

    assert open_meta(disk, "/data", node_id=1, offsets_topic_num_partitions=50).cluster_id == "x"


def test_every_rotten_bit_is_refused_or_harmless(disk: SimulatedDisk) -> None:
    """A directory is never taken for another one."""
    meta = open_meta(disk, "/data", node_id=1, offsets_topic_num_partitions=50)
    content = disk.content(PATH)
    for bit in range(len(content) * 8):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        disk.put(PATH, bytes(flipped))
        with suppress(LogError):
            assert open_meta(disk, "/data", node_id=1, offsets_topic_num_partitions=50) == meta


@pytest.mark.parametrize(
    ("asked", "told"),
    [((1, 10), r"offsets\.topic\.num\.partitions=50, not 10"), ((2, 50), r"node\.id=1, not 2")],
)
def test_another_configuration_is_refused(disk: SimulatedDisk, asked: tuple[int, int], told: str) -> None:
    """Groups would be looked for in other partitions. One line says what to do."""
    open_meta(disk, "/data", node_id=1, offsets_topic_num_partitions=50)

    with pytest.raises(LogError, match=told) as caught:
        open_meta(disk, "/data", node_id=asked[0], offsets_topic_num_partitions=asked[1])
    assert "\n" not in str(caught.value)


def test_another_format_is_refused(disk: SimulatedDisk) -> None:
    """A newer server wrote it."""
    disk.put(PATH, b"version=2\ncluster.id=x\nnode.id=1\noffsets.topic.num.partitions=50\n")

    with pytest.raises(LogError, match="format version 2"):
        open_meta(disk, "/data", node_id=1, offsets_topic_num_partitions=50)


@pytest.mark.parametrize("content", [b"", b"version=1\n", b"version=x\n", b"version=1\nnode=1\n", b"\xff\xfe", b"cluster.id=x\n"])
def test_a_file_that_cannot_be_read_is_refused(disk: SimulatedDisk, content: bytes) -> None:
    """Making a new identity over old data would hide the damage."""
    disk.put(PATH, content)

    with pytest.raises(LogError, match="cannot be read"):
        open_meta(disk, "/data", node_id=1, offsets_topic_num_partitions=50)
