"""Which files a job reads: of the state, and of the whole history."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import InputFile, LayerSummary
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.pipeline.input.files import first_after, read_batches
from protocol.record_batch import Record, read_header
from tests.support.inputs import compacted_input, full_input, input_bytes, offset_at
from tests.support.segments import START_MS, Batch, encode

Files = list[tuple[str, int, int, bool]]


@pytest.fixture
def shard_dir(tmp_path: Path) -> Path:
    """Sealed segments that begin at 0, 10 and 20, with a batch of ten records each, and an active one at 30."""
    path = tmp_path / "__consumer_offsets-0"
    path.mkdir()
    for base in (0, 10, 20):
        (path / f"{base:020d}.log").write_bytes(ten(base))
    (path / f"{30:020d}.log").write_bytes(b"")
    return path


def ten(base: int) -> bytes:
    """A record a millisecond."""
    return encode(Batch(tuple(Record(offset, START_MS + offset, b"key", b"value") for offset in range(base, base + 10))))


def make_layer(shard_dir: Path, to_offset: int) -> None:
    with LayerAttempt(shard_dir, to_offset) as attempt:
        attempt.append(0, ten(0))
        publish(attempt.finish(LayerSummary(10, 0, None, ""), ()), shard_dir, to_offset)


def of_layer(to_offset: int) -> tuple[str, int, int, bool]:
    return f"layer-{to_offset:020d}/{0:020d}.log", 0, to_offset, False


def segment(base: int, start: int = 0) -> tuple[str, int, int, bool]:
    return f"{base:020d}.log", start, base + 10, True


def shown(shard_dir: Path, found: list[InputFile]) -> Files:
    return [(str(Path(file.path).relative_to(shard_dir)), file.from_offset, file.to_offset, file.is_dense) for file in found]


def state(shard_dir: Path, upto: int) -> Files:
    layer, found = compacted_input(shard_dir, upto)
    assert (layer is None) == all(file.is_dense for file in found)
    assert input_bytes(shard_dir, upto) == sum(Path(file.path).stat().st_size for file in found)
    return shown(shard_dir, found)


def history(shard_dir: Path, upto: int) -> Files:
    return shown(shard_dir, full_input(shard_dir, upto)[1])


def test_the_state_is_the_newest_layer_and_what_comes_after_it(shard_dir: Path) -> None:
    """A segment that begins where the state ends is not read, nor one that ends where the layer does."""
    assert state(shard_dir, 30) == [segment(0), segment(10), segment(20)]
    assert state(shard_dir, 20) == [segment(0), segment(10)]
    make_layer(shard_dir, 10)
    make_layer(shard_dir, 20)

    assert state(shard_dir, 30) == [of_layer(20), segment(20, 20)]
    assert state(shard_dir, 20) == [of_layer(20)]
    assert state(shard_dir, 19) == [of_layer(10), segment(10, 10)]
    assert state(shard_dir, 9) == [segment(0)]


def test_the_history_is_all_segments(shard_dir: Path) -> None:
    """Whatever layers there are."""
    make_layer(shard_dir, 20)

    assert full_input(shard_dir, 30)[0] is None
    assert history(shard_dir, 30) == [segment(0), segment(10), segment(20)]


def test_the_history_begins_with_the_oldest_layer_that_reaches_the_segments(shard_dir: Path) -> None:
    """Up to the offset that is asked for."""
    for to_offset in (5, 10, 20):
        make_layer(shard_dir, to_offset)
    (shard_dir / f"{0:020d}.log").unlink()

    assert history(shard_dir, 30) == [of_layer(10), segment(10, 10), segment(20, 10)]
    assert history(shard_dir, 10) == [of_layer(10)]
    (shard_dir / f"{10:020d}.log").unlink()
    assert history(shard_dir, 30) == [of_layer(20), segment(20, 20)]
    assert history(shard_dir, 20) == [of_layer(20)]
    with pytest.raises(DamagedLog, match="no layer has them"):
        full_input(shard_dir, 19)


def test_a_history_does_not_begin_with_a_damaged_layer(shard_dir: Path) -> None:
    """It is compared with its checksums first."""
    make_layer(shard_dir, 10)
    (shard_dir / f"{0:020d}.log").unlink()
    path = shard_dir / f"layer-{10:020d}" / f"{0:020d}.log"
    path.write_bytes(path.read_bytes()[:-1] + b"?")

    with pytest.raises(DamagedLog, match="the layer's manifest states"):
        full_input(shard_dir, 30)


@pytest.mark.parametrize(("at_ms", "expected"), [(-1, 0), (0, 1), (9, 10), (10, 11), (28, 29), (29, 30)])
def test_the_first_record_after_a_time(shard_dir: Path, at_ms: int, expected: int) -> None:
    """Not one of the same millisecond; ``upto`` if there is none."""
    assert offset_at(shard_dir, START_MS + at_ms, 30) == expected


@pytest.mark.parametrize(("at_ms", "expected"), [(8, 9), (9, None)])
def test_the_first_record_of_a_batch_after_a_time(at_ms: int, expected: int | None) -> None:
    """None if the batch has only earlier ones."""
    data = ten(0)

    assert first_after(data, 0, read_header(data), START_MS + at_ms) == expected


@pytest.mark.parametrize(
    ("name", "to_offset", "is_dense", "why"),
    [
        (0, 20, True, "ends at offset 10, not at 20"),
        (0, 9, True, "ends at offset 10, not at 9"),
        (0, 9, False, "ends at offset 10, not at 9"),
        (5, 20, True, "starts at offset 0, not at 5"),
    ],
)
def test_a_file_that_is_not_what_its_name_says(tmp_path: Path, name: int, to_offset: int, is_dense: bool, why: str) -> None:
    """Is damage."""
    path = tmp_path / f"{name:020d}.log"
    path.write_bytes(ten(0))

    with pytest.raises(DamagedLog, match=why):
        list(read_batches(InputFile(str(path), 0, to_offset, is_dense, name if is_dense else 0)))


def test_an_open_segment_is_read_up_to_what_is_durable(shard_dir: Path) -> None:
    """Whatever is behind that: the server goes on writing, and its last batch may be there in part."""
    (shard_dir / f"{30:020d}.log").write_bytes(ten(30) + ten(40) + ten(50)[:-7])
    assert history(shard_dir, 30) == [segment(0), segment(10), segment(20)]
    for upto in (40, 50):
        *sealed, opened = full_input(shard_dir, upto)[1]
        assert [file.is_open for file in sealed] == [False] * 3
        assert (opened.begin, opened.to_offset, opened.is_open) == (30, upto, True)
        assert [header.base_offset for _, _, header in read_batches(opened)] == list(range(30, upto, 10))

    with pytest.raises(DamagedLog, match="7 of 211 bytes are missing"):
        list(read_batches(full_input(shard_dir, 51)[1][-1]))


def test_a_layer_may_reach_into_the_open_segment_no_further_than_its_end(shard_dir: Path) -> None:
    """Only what comes after the layer is taken of it."""
    (shard_dir / f"{30:020d}.log").write_bytes(ten(30))
    make_layer(shard_dir, 30)

    assert state(shard_dir, 40) == [of_layer(30), (f"{30:020d}.log", 30, 40, True)]
    assert state(shard_dir, 30) == [of_layer(30)]


def test_a_file_of_a_layer_may_have_gaps(tmp_path: Path) -> None:
    """At its start, between batches, and at its end; batches do not overlap."""
    path = tmp_path / f"{0:020d}.log"
    path.write_bytes(ten(5) + ten(20))
    found = [header.base_offset for _, _, header in read_batches(InputFile(str(path), 0, 40, is_dense=False))]
    assert found == [5, 20]
    with pytest.raises(DamagedLog, match="starts at offset 5, not at 0"):
        list(read_batches(InputFile(str(path), 0, 40, is_dense=True)))
    path.write_bytes(ten(5) + ten(14))

    with pytest.raises(DamagedLog, match="starts at offset 14, not at 15"):
        list(read_batches(InputFile(str(path), 0, 40, is_dense=False)))
