"""What salvage takes where layers lack what compaction removed, and where the journal is damaged."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path

import pytest

from coordinator_server.log.jobs import LayerSummary
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.repair import salvage as module
from coordinator_server.log.repair.batch_scan import WholeBatch, scan_batches
from coordinator_server.log.repair.check import check
from coordinator_server.log.repair.salvage import Hole, Salvaged, salvage
from coordinator_server.log.shards import Append
from coordinator_server.log.write.frames import FRAME_MAGIC
from tests.support.log import batch, values
from tests.support.log_dir import COUNT, IN_JOURNAL, LAYER_TO, SHARDS, expected, make, open_store, record_batch

FIRST = str(SHARDS[0])
WRITTEN = COUNT - IN_JOURNAL


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a layer that has two of four records."""
    path = tmp_path_factory.mktemp("log") / "data"
    make(path)
    shutil.rmtree(path / FIRST / f"layer-{LAYER_TO:020d}")
    layer_of(path, 1, 3)
    return path


@pytest.fixture
def data(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "data"))


def layer_of(data: Path, *offsets: int, to_offset: int = LAYER_TO) -> None:
    with LayerAttempt(data / FIRST, to_offset) as attempt:
        for offset in offsets:
            attempt.append(offset, record_batch(SHARDS[0], offset))
        publish(attempt.finish(LayerSummary(len(offsets), 0, None, ""), []), data / FIRST, to_offset)


def salvaged(data: Path) -> tuple[Salvaged, list[list[bytes | None]]]:
    out = data.with_name("saved")
    report = salvage(str(data), str(out))
    assert check(str(out)).damage == []
    store = open_store(out)
    try:
        return report, [values(store.read(each, 0)) for each in SHARDS]
    finally:
        store.close()


def only(*offsets: int) -> list[bytes | None]:
    return [expected(SHARDS[0])[offset] for offset in offsets]


def test_whole_segments_are_better_than_a_layer(data: Path) -> None:
    """They have what compaction left out."""
    report, found = salvaged(data)

    assert found == [expected(each) for each in SHARDS]
    assert (report.holes, report.shards) == ([], 2)


@pytest.mark.parametrize("gone", [[0, 2], [0]])
def test_salvage_misses_no_offsets_that_a_layer_compacted(data: Path, gone: list[int]) -> None:
    """Offsets that compaction left out are not missing, and what segments have of them does not count."""
    for base in gone:
        (data / FIRST / f"{base:020d}.log").unlink()
    report, found = salvaged(data)

    assert found[0] == only(1, 3, *range(4, COUNT))
    assert report.holes == []


def test_all_whole_layers_are_kept(data: Path) -> None:
    """A start takes the newest. The older one and the segments after it have more of the history."""
    layer_of(data, 3, 6, to_offset=7)
    for base in (0, 2):
        (data / FIRST / f"{base:020d}.log").unlink()
    report, found = salvaged(data)

    assert (found[0], report.holes, report.layers) == (only(3, 6, *range(7, COUNT)), [], 2)
    assert in_segments(data.with_name("saved")) == only(*range(4, COUNT))


def in_segments(data: Path) -> list[bytes | None]:
    """What the segments of the first shard have, whatever layers there are."""
    paths = sorted((data / FIRST).glob("*.log"))
    batches = (found for path in paths for found in scan_batches(path.read_bytes(), int(path.stem)))
    return values(found.data for found in batches if isinstance(found, WholeBatch) and found.header.count)


@pytest.mark.parametrize("is_first", [True, False])
def test_history_is_kept_on_both_sides_of_damage(data: Path, is_first: bool) -> None:
    """The layer has the state; only what is damaged is missing in the segments."""
    shutil.rmtree(data / "journal")
    if not is_first:
        (data / FIRST / f"{0:020d}.log").unlink()
    path = data / FIRST / f"{0 if is_first else 2:020d}.log"
    bad = int(path.stem) + 1
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    report, found = salvaged(data)

    assert found[0] == only(1, 3, *range(4, WRITTEN))
    assert in_segments(data.with_name("saved")) == only(*(each for each in range(int(path.stem), WRITTEN) if each != bad))
    assert report.holes == [Hole(FIRST, bad, bad + 1, is_history=True)]
    assert (data.with_name("saved") / FIRST / f"{LAYER_TO:020d}.log").exists()


def test_a_damaged_checkpoint_is_left_out(tmp_path: Path) -> None:
    """The layer's records are whole."""
    data = tmp_path / "data"
    make(data)
    (data / FIRST / f"{0:020d}.log").unlink()
    for path in data.rglob("groups.data"):
        path.write_bytes(b"?" + path.read_bytes()[1:])
    report, found = salvaged(data)

    assert (found[0], report.layers) == (expected(SHARDS[0]), 1)


def test_frames_that_are_lost_are_told(data: Path) -> None:
    """By journal file, and why. What segments have is there."""
    path = next(path for path in data.rglob("*.journal") if FRAME_MAGIC in path.read_bytes())
    content = bytearray(path.read_bytes())
    at = content.find(FRAME_MAGIC)
    content[at + 40] ^= 3
    content[at + 90] ^= 3
    path.write_bytes(content)
    report, found = salvaged(data)

    assert [path.name in told for told in report.lost_frames] == [True]
    assert found[0][:WRITTEN] == expected(SHARDS[0])[:WRITTEN]


def test_many_offsets_without_records_take_several_empty_batches(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch has at most so many offsets as its header can count."""
    monkeypatch.setattr(module, "_MOST_OFFSETS", 2)
    shutil.rmtree(data / "journal")
    for base in (0, 2, 4):
        (data / FIRST / f"{base:020d}.log").unlink()
    report, found = salvaged(data)

    assert found[0] == only(1, 3, *range(7, WRITTEN))
    assert report.holes == [Hole(FIRST, 4, 7)]
    assert report.bytes == sum(path.stat().st_size for path in data.with_name("saved").rglob("*.log"))


def test_segments_of_the_new_directory_are_bounded(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of the server."""
    size = len(record_batch(SHARDS[0], 0))
    monkeypatch.setattr(module, "SEGMENT_BYTES", 3 * size)
    before = len([*Path("/proc/self/fd").iterdir()])
    assert salvaged(data)[1] == [expected(each) for each in SHARDS]
    assert len([*Path("/proc/self/fd").iterdir()]) == before
    names = sorted(path.name for path in (data.with_name("saved") / FIRST).glob("*.log"))

    assert names[:4] == [f"{base:020d}.log" for base in (0, 3, 6, 9)]


def test_a_batch_that_was_damaged_before_it_was_written(data: Path) -> None:
    """In a whole frame: what is before it is there."""
    store = open_store(data)
    end = store.end_offset(SHARDS[1])
    store.submit([Append(SHARDS[1], 0, end, batch(end) + batch(end + 1)[:-1] + b"?")], lambda _error: None)
    copy = data.with_name("copy")
    shutil.copytree(data, copy, ignore=shutil.ignore_patterns(".lock"))
    store.close()

    assert salvaged(copy)[1][1] == [*expected(SHARDS[1]), b"value"]


def test_salvage_reports_what_it_mended(data: Path) -> None:
    """By file and position. Counts are those of what was written, and nothing stays open."""
    path, size = data / FIRST / f"{4:020d}.log", len(record_batch(SHARDS[0], 0))
    content = bytearray(path.read_bytes())
    content[6] ^= 1
    content[2 * size + 16] ^= 1
    path.write_bytes(content)
    # What tests before this one have left to the collector is not counted.
    gc.collect()
    before = len([*Path("/proc/self/fd").iterdir()])
    report = salvage(str(data), str(data.with_name("saved")))

    assert len([*Path("/proc/self/fd").iterdir()]) == before
    assert report.mended == [(str(path), 0), (str(path), 2 * size)]
    assert (report.shards, report.batches, report.bytes) == (2, 2 * COUNT, 2 * COUNT * size)
