"""A layer's checkpoint as files: found by group, checked when it is read, held as long as it is open."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import msgspec
import pytest
from crc32c import crc32c

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import Block, FileEntry, LayerSummary, in_order
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.layers.checkpoint import DATA, INDEX, REST, Checkpoint
from coordinator_server.log.layers.layer import Layer, layer_with_checkpoint, open_layer
from tests.support.log import batch

SUMMARY = LayerSummary(0, 0, None, "")


def layer_with(shard_dir: Path, blocks: list[Block], rest: list[bytes] = [], to_offset: int = 10) -> Layer:  # noqa: B006
    shard_dir.mkdir(exist_ok=True)
    with LayerAttempt(shard_dir, to_offset) as attempt:
        attempt.add_checkpoint(in_order(blocks), rest)
        path = attempt.finish(SUMMARY, ())
    assert publish(path, shard_dir, to_offset)
    return open_layer(shard_dir, to_offset)


def blocks_of(count: int) -> list[Block]:
    return [Block(f"group-{n}", b"data of %d" % n, n, (1000 + n, -1 if n % 2 else n)) for n in range(count)]


def test_every_group_is_found(tmp_path: Path) -> None:
    """With its block and what the index says of it; others are not."""
    found = Checkpoint(layer_with(tmp_path / "s-0", blocks_of(300), [batch(3), batch(7)]))

    assert len(found) == 300
    assert set(found.keys()) == {f"group-{n}" for n in range(300)}
    for n in range(300):
        assert f"group-{n}" in found
        assert found.block(f"group-{n}") == b"data of %d" % n
        assert found.summary(f"group-{n}") == (n, (1000 + n, -1 if n % 2 else n))
    assert "group-300" not in found
    assert "" not in found
    assert list(found.other_batches()) == [batch(3), batch(7)]


def test_the_index_in_bytes(tmp_path: Path) -> None:
    """Checkpoints are read by servers of other versions: this is what they have always had."""
    blocks = [Block("alpha", b"one", 7, (1000, -1)), Block("beta", b"four", 2, (-2, 1 << 40))]
    layer = layer_with(tmp_path / "s-0", blocks)

    assert (layer.path / INDEX).read_bytes().hex(" ", -4) == (
        "43534749 01000000 02000000 812fd978 b9cb43f4 05000000 09000000 00000000 00000000 03000000 00000000"
        " 03000000 04000000 e9b2942a 6e3af3e8 07000000 02000000 e8030000 00000000 feffffff ffffffff"
        " ffffffff ffffffff 00000000 00010000 616c7068 61626574 61"
    )


def test_groups_whose_hashes_are_the_same_are_told_apart(tmp_path: Path) -> None:
    """A hash of 32 bits says little; the id decides."""
    # Pairs, found among 250,000 random names.
    alike = [
        "568586a445cc6e77",
        "fcca62dea4f46a12",
        "7b1fb6b856734cbf",
        "e30f1bd01e62374f",
        "82c490b18386b539",
        "846da43b98d32499",
    ]
    assert [crc32c(name.encode()) for name in alike[::2]] == [crc32c(name.encode()) for name in alike[1::2]]
    found = Checkpoint(layer_with(tmp_path / "s-0", [Block(name, name.encode(), 1, (0, -1)) for name in alike[1:]]))

    assert [found.block(name) for name in alike[1:]] == [name.encode() for name in alike[1:]]
    assert alike[0] not in found


def test_no_groups_are_a_checkpoint_too(tmp_path: Path) -> None:
    """Of a shard in which all was deleted."""
    found = Checkpoint(layer_with(tmp_path / "s-0", []))

    assert (len(found), list(found.keys()), list(found.other_batches())) == (0, [], [])
    assert "g" not in found


def test_the_order_of_the_groups_makes_no_difference(tmp_path: Path) -> None:
    """Same groups, same bytes."""
    one = layer_with(tmp_path / "s-0", blocks_of(20))
    other = layer_with(tmp_path / "s-1", blocks_of(20)[::-1])

    for name in (DATA, INDEX, REST):
        assert (one.path / name).read_bytes() == (other.path / name).read_bytes()


@pytest.mark.parametrize("name", [INDEX, REST])
def test_damage_to_what_is_always_read_is_found_at_once(tmp_path: Path, name: str) -> None:
    """With the file's name."""
    layer = layer_with(tmp_path / "s-0", blocks_of(3), [batch(1)])
    data = (layer.path / name).read_bytes()
    for position in range(0, len(data), 7):
        (layer.path / name).write_bytes(data[:position] + bytes((data[position] ^ 4,)) + data[position + 1 :])
        with pytest.raises(DamagedLog, match=name):
            Checkpoint(layer)


@pytest.mark.parametrize("name", [DATA, INDEX, REST])
def test_a_file_that_is_missing_or_short_is_found_at_once(tmp_path: Path, name: str) -> None:
    """Of all three; the layer's records are still good."""
    layer = layer_with(tmp_path / "s-0", blocks_of(3), [batch(1)])
    (layer.path / name).write_bytes((layer.path / name).read_bytes()[:-1])
    with pytest.raises(DamagedLog, match=name):
        Checkpoint(layer)
    (layer.path / name).unlink()
    with pytest.raises(DamagedLog, match=name):
        Checkpoint(layer)
    assert open_layer(tmp_path / "s-0", 10).manifest == layer.manifest


def test_damage_to_a_block_is_found_when_it_is_read(tmp_path: Path) -> None:
    """With its position; the other groups are as good as ever."""
    layer = layer_with(tmp_path / "s-0", blocks_of(30))
    data = bytearray((layer.path / DATA).read_bytes())
    position = data.index(b"data of 17")
    data[position + 3] ^= 1
    (layer.path / DATA).write_bytes(data)
    found = Checkpoint(layer)

    with pytest.raises(DamagedLog) as damage:
        found.block("group-17")
    assert (Path(damage.value.path).name, damage.value.position) == (DATA, position)
    assert all(found.block(f"group-{n}") == b"data of %d" % n for n in range(30) if n != 17)


def with_file(layer: Layer, name: str, data: bytes) -> Layer:
    """The layer with another file of its checkpoint, and a manifest that says so."""
    (layer.path / name).write_bytes(data)
    entry = FileEntry(name, len(data), crc32c(data))
    entries = tuple(entry if each.name == name else each for each in layer.manifest.checkpoint)
    return Layer(layer.path, msgspec.structs.replace(layer.manifest, checkpoint=entries))


def test_an_index_of_a_later_version_is_not_read(tmp_path: Path) -> None:
    """Although its checksum holds. Nor is one that is too short for a head."""
    layer = layer_with(tmp_path / "s-0", blocks_of(1))
    data = bytearray((layer.path / INDEX).read_bytes())
    data[4] += 1
    for changed in (bytes(data), bytes(data[:11]), b""):
        with pytest.raises(DamagedLog, match="version"):
            Checkpoint(with_file(layer, INDEX, changed))


def test_a_manifest_that_lacks_a_file_of_the_checkpoint(tmp_path: Path) -> None:
    """It is named."""
    layer = layer_with(tmp_path / "s-0", blocks_of(1))
    some = tuple(each for each in layer.manifest.checkpoint if each.name != REST)

    with pytest.raises(DamagedLog, match=rf"manifest\.json at byte 0: it states a checkpoint without {REST}"):
        Checkpoint(Layer(layer.path, msgspec.structs.replace(layer.manifest, checkpoint=some)))


def test_an_index_that_ends_after_its_head_is_that_of_no_groups(tmp_path: Path) -> None:
    """A head is all that it needs to have."""
    layer = layer_with(tmp_path / "s-0", [])

    assert len((layer.path / INDEX).read_bytes()) == 12
    assert list(Checkpoint(layer).keys()) == []


def test_records_in_no_block_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    """Compaction wrote what was damaged in its memory, and the checksum of that."""
    layer = layer_with(tmp_path / "s-0", blocks_of(1), [batch(3), batch(7)])
    rotten = batch(3) + batch(7)[:-1] + b"?"
    found = Checkpoint(with_file(layer, REST, rotten)).other_batches()

    assert next(found) == batch(3)
    with pytest.raises(DamagedLog, match=REST):
        next(found)


def test_a_block_that_the_disk_does_not_give_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As damage, at its place."""
    found = Checkpoint(layer_with(tmp_path / "s-0", blocks_of(1)))

    def broken(_fd: int, _size: int, _position: int) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "pread", broken)
    with pytest.raises(DamagedLog, match="'group-0' cannot be read: Input/output error") as caught:
        found.block("group-0")
    assert (Path(caught.value.path).name, caught.value.position) == (DATA, 0)


def test_only_the_newest_layer_s_checkpoint_counts(tmp_path: Path) -> None:
    """And only when the segments after it are there; a layer without a checkpoint has none."""
    shard_dir = tmp_path / "s-0"
    layer_with(shard_dir, blocks_of(1), to_offset=10)
    found = layer_with_checkpoint(shard_dir, [0, 10])
    assert found is not None
    assert found.to_offset == 10
    assert layer_with_checkpoint(shard_dir, []) is not None
    assert layer_with_checkpoint(shard_dir, [10]) is not None
    assert layer_with_checkpoint(shard_dir, [11]) is None
    with LayerAttempt(shard_dir, 20) as attempt:
        publish(attempt.finish(SUMMARY, ()), shard_dir, 20)
    assert layer_with_checkpoint(shard_dir, [0, 10, 20]) is None
