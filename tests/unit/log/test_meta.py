"""The identity of a data directory."""

from __future__ import annotations

from contextlib import suppress

import pytest

from coordinator_server.config import Config
from coordinator_server.kinds import GROUPS, KINDS, SHARE_STATE, TRANSACTIONS, Kind, partition_counts
from coordinator_server.log.errors import LogError
from coordinator_server.log.meta import open_meta, read_meta, write_meta
from coordinator_server.log.store import Meta
from protocol.coordinator_records import GROUP_SERDE
from tests.support.configs import config_with
from tests.support.storage import SimulatedDisk

PATH = "/data/meta.properties"
COUNTS = partition_counts(Config().log)
EARLIER = b"version=1\ncluster.id=x\nnode.id=1\noffsets.topic.num.partitions=50\n"


@pytest.fixture
def disk() -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_dir("/data")
    return disk


def opened(disk: SimulatedDisk, node_id: int = 1, **changed: int) -> Meta:
    """By a server with the default configuration, or another."""
    config = config_with(**changed)  # type: ignore[arg-type]
    return open_meta(disk, "/data", node_id=node_id, partitions=partition_counts(config.log))


def test_the_cluster_id_is_made_once(disk: SimulatedDisk) -> None:
    """Every later start finds the same cluster."""
    first = opened(disk)

    assert len(first.cluster_id) == 22
    assert first.partitions == COUNTS
    calls = len(disk.calls)
    assert opened(disk) == first
    assert not [call for call in disk.calls[calls:] if call[0] in ("rename", "write")]


def test_keys_are_kafkas(disk: SimulatedDisk) -> None:
    """An operator reads the file."""
    meta = opened(disk, offsets_topic_num_partitions=4, share_coordinator_state_topic_num_partitions=6)

    assert disk.content(PATH).decode().splitlines()[:-1] == [
        "version=2",
        f"cluster.id={meta.cluster_id}",
        "node.id=1",
        "offsets.topic.num.partitions=4",
        "transaction.state.log.num.partitions=50",
        "share.coordinator.state.topic.num.partitions=6",
    ]


def test_a_file_written_by_hand(disk: SimulatedDisk) -> None:
    """Nobody computes a checksum in an editor."""
    disk.put(PATH, b"# restored\n" + EARLIER)

    assert opened(disk).cluster_id == "x"


def test_every_rotten_bit_is_refused_or_harmless(disk: SimulatedDisk) -> None:
    """A directory is never taken for another one."""
    meta = opened(disk)
    content = disk.content(PATH)
    for bit in range(len(content) * 8):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        disk.put(PATH, bytes(flipped))
        with suppress(LogError):
            assert open_meta(disk, "/data", node_id=1, partitions=COUNTS) == meta


@pytest.mark.parametrize(
    ("property_name", "changed"),
    [
        ("offsets.topic.num.partitions", {"offsets_topic_num_partitions": 10}),
        ("transaction.state.log.num.partitions", {"transaction_state_log_num_partitions": 10}),
        ("share.coordinator.state.topic.num.partitions", {"share_coordinator_state_topic_num_partitions": 10}),
        ("node.id", {"node_id": 10}),
    ],
)
def test_another_configuration_is_refused(disk: SimulatedDisk, property_name: str, changed: dict[str, int]) -> None:
    """Groups would be looked for in other partitions. One line says what to do."""
    opened(disk, node_id=50)
    content = disk.content(PATH)

    with pytest.raises(LogError, match=rf"was made with {property_name}=50, not 10: start with {property_name}=50") as caught:
        opened(disk, **{"node_id": 50, **changed})
    assert "\n" not in str(caught.value)
    assert disk.content(PATH) == content


# Directories that are older than a count.


def test_an_earlier_format_gets_the_counts_of_the_configuration_once(disk: SimulatedDisk) -> None:
    """From then on they are as fixed as if the directory had been made with them."""
    disk.put(PATH, EARLIER)

    meta = opened(disk, transaction_state_log_num_partitions=7)

    assert meta == Meta("x", 1, COUNTS | {TRANSACTIONS.topic: 7})
    assert disk.content(PATH).startswith(b"version=2\n")
    assert read_meta(disk, "/data") == meta
    with pytest.raises(LogError, match=r"transaction\.state\.log\.num\.partitions=7, not 50"):
        opened(disk)


def test_a_refused_start_leaves_an_earlier_format_as_it_is(disk: SimulatedDisk) -> None:
    """The version that wrote it can still be started."""
    disk.put(PATH, EARLIER)
    with pytest.raises(LogError, match=r"offsets\.topic\.num\.partitions=50, not 10"):
        opened(disk, offsets_topic_num_partitions=10)

    assert disk.content(PATH) == EARLIER


def test_tools_take_an_earlier_format_as_it_is(disk: SimulatedDisk) -> None:
    """What has no number there has none; what needs it says so."""
    disk.put(PATH, EARLIER)

    meta = open_meta(disk, "/data", node_id=1, partitions={})

    fixed = {topic: kind.partitions for topic, kind in KINDS.items() if isinstance(kind.partitions, int)}
    assert meta == read_meta(disk, "/data") == Meta("x", 1, {GROUPS.topic: 50, **fixed})
    assert disk.content(PATH) == EARLIER
    with pytest.raises(LogError, match="does not say how many partitions __transaction_state has"):
        meta.partition_count(TRANSACTIONS.topic)


def test_a_copy_of_an_earlier_format_is_completed_by_the_next_server(disk: SimulatedDisk) -> None:
    """Salvage and import write what they know."""
    write_meta(disk, "/data", Meta("x", 1, {GROUPS.topic: 50}))

    assert opened(disk).partitions == COUNTS


def test_a_kind_that_is_newer_than_the_directory_gets_its_count(disk: SimulatedDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that adds a kind needs no new format."""
    meta = opened(disk)
    monkeypatch.setitem(KINDS, "__queue", Kind("__queue", GROUP_SERDE, "queue.num.partitions"))
    assert read_meta(disk, "/data") == meta

    again = open_meta(disk, "/data", node_id=1, partitions=COUNTS | {"__queue": 3})

    assert again == read_meta(disk, "/data") == Meta(meta.cluster_id, 1, COUNTS | {"__queue": 3})
    assert "queue.num.partitions=3\n" in disk.content(PATH).decode()


def test_a_kind_with_a_fixed_number_needs_no_line(disk: SimulatedDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no property."""
    opened(disk)
    content = disk.content(PATH)
    monkeypatch.setitem(KINDS, "__toy", Kind("__toy", GROUP_SERDE, 7))

    assert opened(disk).partition_count("__toy") == 7
    assert disk.content(PATH) == content


def test_a_count_is_not_made_up_for_a_topic_that_is_in_use(disk: SimulatedDisk) -> None:
    """Its keys would be looked for in other partitions. The line is asked for, and taken."""
    disk.put(PATH, EARLIER)
    disk.make_dir("/data/__share_group_state-3")

    with pytest.raises(LogError, match=r"add the line share\.coordinator\.state\.topic\.num\.partitions=") as caught:
        opened(disk)
    assert "\n" not in str(caught.value)
    disk.put(PATH, EARLIER + b"share.coordinator.state.topic.num.partitions=4\n")
    assert opened(disk, share_coordinator_state_topic_num_partitions=4).partitions[SHARE_STATE.topic] == 4


# What is refused.


def test_a_later_format_is_refused(disk: SimulatedDisk) -> None:
    """A newer server wrote it."""
    disk.put(PATH, b"version=3\ncluster.id=x\nnode.id=1\noffsets.topic.num.partitions=50\n")

    with pytest.raises(LogError, match="format version 3, this server knows versions 1 to 2: use the server that wrote it"):
        opened(disk)


def test_an_unknown_property_is_refused(disk: SimulatedDisk) -> None:
    """The count of a kind that only a newer server has."""
    disk.put(PATH, EARLIER + b"queue.num.partitions=3\n")

    with pytest.raises(LogError, match=r"has queue\.num\.partitions, which this server does not know: use the server"):
        opened(disk)


def test_a_line_without_a_value_is_named(disk: SimulatedDisk) -> None:
    disk.put(PATH, b"version=2\n# by hand\ncluster.id\n")

    with pytest.raises(LogError, match="line 3 is not NAME=VALUE"):
        opened(disk)


@pytest.mark.parametrize(
    "content", [b"", b"version=2\n", b"version=x\n", b"version=1\nnode.id=1\n", b"\xff\xfe", b"cluster.id=x\n"]
)
def test_a_file_that_cannot_be_read_is_refused(disk: SimulatedDisk, content: bytes) -> None:
    """Making a new identity over old data would hide the damage."""
    disk.put(PATH, content)

    with pytest.raises(LogError, match="cannot be read"):
        opened(disk)
