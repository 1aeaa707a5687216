from __future__ import annotations

import errno
from contextlib import nullcontext
from pathlib import Path

import pytest

from coordinator_server.log.errors import DamagedLog, LogError
from coordinator_server.log.file_names import layer_offsets, layer_path
from coordinator_server.log.jobs import LayerSummary
from coordinator_server.log.layers.attempt import LayerAttempt, clean_attempts, publish
from coordinator_server.log.layers.layer import Layer, layer_to_load, newest_valid_layer, open_layer
from protocol.batch_builder import BatchBuilder
from protocol.record_batch import iter_records, read_header
from tests.support.storage import SimulatedDisk


@pytest.fixture
def shard_dir(tmp_path: Path) -> Path:
    path = tmp_path / "__consumer_offsets-7"
    path.mkdir()
    return path


def batch_at(offset: int, records: int = 2) -> bytes:
    builder = BatchBuilder(offset, 1000)
    for number in range(records):
        builder.append(b"key %d" % (offset + number), b"value")
    return builder.finish()


def attempt_at(shard_dir: Path, to_offset: int, *offsets: int, file_bytes: int = 1 << 20) -> Path:
    with LayerAttempt(shard_dir, to_offset, file_bytes) as attempt:
        for offset in offsets:
            attempt.append(offset, batch_at(offset))
        return attempt.finish(LayerSummary(2 * len(offsets), 0, None, "d" * 32), [])


def layer_at(shard_dir: Path, to_offset: int, *offsets: int, file_bytes: int = 1 << 20) -> Layer:
    assert publish(attempt_at(shard_dir, to_offset, *offsets, file_bytes=file_bytes), shard_dir, to_offset)
    return open_layer(shard_dir, to_offset)


def flip_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def test_a_published_layer_reads_back(shard_dir: Path) -> None:
    """What was appended comes out in order, whole batches, whatever files it was spread over."""
    layer = layer_at(shard_dir, 40, 0, 10, 30, file_bytes=100)

    assert len(layer.files()) == 3
    assert list(layer.read()) == [batch_at(0), batch_at(10), batch_at(30)]
    assert (layer.manifest.shard, layer.manifest.from_offset, layer.to_offset) == (shard_dir.name, 0, 40)


@pytest.mark.parametrize(("from_offset", "first"), [(0, 0), (1, 0), (2, 10), (10, 10), (11, 10), (12, 30), (31, 30), (32, None)])
def test_reading_starts_at_the_batch_that_holds_the_offset(shard_dir: Path, from_offset: int, first: int | None) -> None:
    """Or at the first one behind it, where compaction has left a gap."""
    layer = layer_at(shard_dir, 40, 0, 10, 30)

    bases = [read_header(batch).base_offset for batch in layer.read(from_offset)]

    assert bases[:1] == ([] if first is None else [first])


def test_the_same_batches_make_the_same_bytes(shard_dir: Path) -> None:
    """No name, time or place of the writer is in a layer."""
    one, other = attempt_at(shard_dir, 40, 0, 10), attempt_at(shard_dir, 40, 0, 10)

    assert one != other
    assert [(path.name, path.read_bytes()) for path in sorted(one.iterdir())] == [
        (path.name, path.read_bytes()) for path in sorted(other.iterdir())
    ]


def test_an_attempt_is_no_layer(shard_dir: Path) -> None:
    """Until it is renamed nobody loads it, finished or not; and stale ones go."""
    attempt_at(shard_dir, 40, 0)
    LayerAttempt(shard_dir, 50).append(0, batch_at(0))

    assert layer_offsets(shard_dir) == []
    assert clean_attempts(shard_dir) == 2
    assert list(shard_dir.iterdir()) == []


@pytest.mark.parametrize("is_whole", [False, True])
def test_an_attempt_closes_its_files(is_whole: bool) -> None:
    """When they are full, at its end, and when it fails."""
    disk, shard_dir = SimulatedDisk(), Path("/data/__consumer_offsets-7")

    def write() -> None:
        with LayerAttempt(shard_dir, 40, 100, disk) as attempt:
            for offset in (0, 10, 30):
                attempt.append(offset, batch_at(offset))
            attempt.add_file("rest.log", [b"rest"])
            if not is_whole:
                raise KeyError
            attempt.finish(LayerSummary(6, 0, None, ""), [])

    with nullcontext() if is_whole else pytest.raises(KeyError):
        write()

    assert not disk.open_files
    assert len(disk.files("/data")) == (5 if is_whole else 0)


def test_an_attempt_that_fails_leaves_nothing(shard_dir: Path) -> None:
    """An exception inside the writer removes its directory."""

    def fail_midway() -> None:
        with LayerAttempt(shard_dir, 40) as attempt:
            attempt.append(0, batch_at(0))
            raise KeyError

    with pytest.raises(KeyError):
        fail_midway()

    assert list(shard_dir.iterdir()) == []


def test_the_first_of_two_attempts_wins(shard_dir: Path) -> None:
    """A valid layer at the same offset stays, and the later attempt goes."""
    first, second = attempt_at(shard_dir, 40, 0, 10), attempt_at(shard_dir, 40, 0)

    assert publish(first, shard_dir, 40)
    assert not publish(second, shard_dir, 40)
    assert list(open_layer(shard_dir, 40).read()) == [batch_at(0), batch_at(10)]
    assert [path.name for path in shard_dir.iterdir()] == [layer_path(shard_dir, 40).name]


def test_a_layer_that_cannot_be_published_is_an_error() -> None:
    """Of the disk: nothing has that name."""
    disk, shard_dir = SimulatedDisk(), Path("/data/__consumer_offsets-7")
    with LayerAttempt(shard_dir, 40, storage=disk) as attempt:
        attempt.append(0, batch_at(0))
        path = attempt.finish(LayerSummary(2, 0, None, ""), [])
    disk.fail("rename", errno.EIO)
    with pytest.raises(OSError, match="Input/output error"):
        publish(path, shard_dir, 40, disk)

    assert layer_offsets(shard_dir, disk) == []


def test_a_damaged_layer_gives_way(shard_dir: Path) -> None:
    """One that nobody can load does not keep its successor at the same offset out."""
    flip_a_byte(layer_at(shard_dir, 40, 0).files()[0])

    assert publish(attempt_at(shard_dir, 40, 0, 10), shard_dir, 40)
    assert list(open_layer(shard_dir, 40).read()) == [batch_at(0), batch_at(10)]


def test_an_empty_layer_is_a_layer(shard_dir: Path) -> None:
    """When all that there was has been deleted, nothing is what it says."""
    assert list(layer_at(shard_dir, 40).read()) == []


@pytest.mark.parametrize(
    "harm", ["no manifest", "manifest cut", "file cut", "file gone", "of another shard", "name leads outside"]
)
def test_an_invalid_layer_is_not_the_newest(shard_dir: Path, harm: str) -> None:
    """A layer counts when its manifest parses, is its own, and its files have the sizes stated."""
    layer_at(shard_dir, 20, 0)
    path = layer_at(shard_dir, 40, 0, 10).path
    manifest, file = path / "manifest.json", next(path.glob("*.log"))
    match harm:
        case "no manifest":
            manifest.unlink()
        case "manifest cut":
            manifest.write_bytes(manifest.read_bytes()[:-10])
        case "file cut":
            file.write_bytes(file.read_bytes()[:-1])
        case "file gone":
            file.unlink()
        case "of another shard":
            manifest.write_text(manifest.read_text().replace(shard_dir.name, "__consumer_offsets-8"))
        case "name leads outside":
            manifest.write_text(manifest.read_text().replace(file.name, f"../{path.name}/{file.name}"))

    newest = newest_valid_layer(shard_dir)

    assert newest is not None
    assert newest.to_offset == 20


def test_a_loader_takes_the_newest(shard_dir: Path) -> None:
    """Older layers are superseded, even where the segments would serve."""
    layer_at(shard_dir, 20, 0)
    layer_at(shard_dir, 40, 0, 10)

    layer = layer_to_load(shard_dir, [0, 20, 40])

    assert layer is not None
    assert layer.to_offset == 40


def test_a_loader_checks_the_crc_and_falls_back(shard_dir: Path) -> None:
    """To an older layer after which the segments are all there."""
    layer_at(shard_dir, 20, 0)
    flip_a_byte(layer_at(shard_dir, 40, 0, 10).files()[0])

    layer = layer_to_load(shard_dir, [20, 40])

    assert layer is not None
    assert layer.to_offset == 20


def test_a_loader_falls_back_to_the_whole_log(shard_dir: Path) -> None:
    """Without an intact layer the segments serve when they start at the beginning."""
    flip_a_byte(layer_at(shard_dir, 40, 0, 10).files()[0])

    assert layer_to_load(shard_dir, [0, 40]) is None


@pytest.mark.parametrize("bases", [[30, 40], [40], []])
def test_a_loader_refuses_a_gap(shard_dir: Path, bases: list[int]) -> None:
    """An older layer does not serve when segments after it are gone: that would lose what they held. The damaged file is named."""
    layer_at(shard_dir, 20, 0)
    file = layer_at(shard_dir, 40, 0, 10).files()[0]
    flip_a_byte(file)

    with pytest.raises(DamagedLog) as caught:
        layer_to_load(shard_dir, bases)

    assert caught.value.path == str(file)


def test_segments_must_start_somewhere(shard_dir: Path) -> None:
    """Without any layer, a log that does not start at 0 has lost its head."""
    with pytest.raises(DamagedLog, match="missing"):
        layer_to_load(shard_dir, [10, 20])


def test_a_layer_alone_is_a_log(shard_dir: Path) -> None:
    """Where a restored backup has layers only, the newest is all there is."""
    layer_at(shard_dir, 40, 0, 10)

    layer = layer_to_load(shard_dir, [])

    assert layer is not None
    assert layer.to_offset == 40


def test_a_past_state_needs_an_older_layer_or_all_segments(shard_dir: Path) -> None:
    """A newer layer has forgotten it."""
    layer_at(shard_dir, 20, 0)
    layer_at(shard_dir, 40, 0, 10)

    older = layer_to_load(shard_dir, [0, 20, 40], upto=30)

    assert older is not None
    assert older.to_offset == 20
    assert layer_to_load(shard_dir, [0, 20, 40], upto=10) is None
    with pytest.raises(LogError, match="compacted only"):
        layer_to_load(shard_dir, [20, 40], upto=10)
    with pytest.raises(LogError, match="before offset 40 are kept compacted only"):
        layer_to_load(shard_dir, [40], upto=30)


def test_damage_inside_a_layer_names_file_and_position(shard_dir: Path) -> None:
    """Even when it was intact at load and is read later."""
    layer = layer_at(shard_dir, 40, 0, 10)
    flip_a_byte(layer.files()[0])

    batches = layer.read()
    assert [record.offset for record in iter_records(next(batches), 0, read_header(batch_at(0)))] == [0, 1]
    with pytest.raises(DamagedLog) as caught:
        next(batches)

    assert (caught.value.path, caught.value.position) == (str(layer.files()[0]), len(batch_at(0)))
