"""Files that are read a piece, or a window, at a time: the batches of the whole file, and damage at its place in the file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import InputFile
from coordinator_server.pipeline.input.files import read_batches, read_windows
from tests.support.segments import coordinator_log, write_segments

pytest.importorskip("pyarrow", reason="the spark extra is not installed: make test brings it")

from coordinator_server.pipeline.input import pieces as module
from coordinator_server.pipeline.input.columns import Irregular, read_columns
from coordinator_server.pipeline.input.pieces import map_piece, neighbours, pieces, size_of


@pytest.fixture
def file(tmp_path: Path) -> InputFile:
    end = write_segments(tmp_path / "__consumer_offsets-1", coordinator_log(3, 60), 1, sealed=False)
    return InputFile(str(tmp_path / "__consumer_offsets-1" / f"{0:020d}.log"), 0, end, is_dense=True)


def offsets(files: list[InputFile]) -> list[int]:
    return [int(each) for file in files for each in read_columns(map_piece(file), file.begin, file.to_offset).offset]


@pytest.mark.parametrize("window", [1, 700, 40_000, 1 << 30])
def test_windows_have_the_batches_of_the_file(file: InputFile, window: int) -> None:
    """Of batches that are larger than a window, too; each with its place in the file."""
    whole = Path(file.path).read_bytes()
    expected = [(whole[at : at + header.size], at) for _, at, header in read_batches(file)]

    found = [(data[at : at + header.size], place) for data, at, header, place in read_windows(file, window=window)]

    assert found == expected
    assert len(found) == 60


@pytest.mark.parametrize("piece_bytes", [1, 5_000, 1 << 30])
def test_pieces_are_the_file(file: InputFile, piece_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole batches, each once; every piece can be read by itself, by columns and batch by batch."""
    whole = offsets(pieces(file))
    monkeypatch.setattr(module, "PIECE_BYTES", piece_bytes)

    found = pieces(file)

    assert len(found) == {1: 60, 1 << 30: 1}.get(piece_bytes, len(found))
    assert offsets(found) == whole == list(range(file.to_offset))
    assert [header.base_offset for piece in found for _, _, header in read_batches(piece)] == [
        header.base_offset for _, _, header in read_batches(file)
    ]
    assert sum(map(size_of, found)) == Path(file.path).stat().st_size
    assert [piece for group in reversed(list(neighbours(found, size_of, 20_000))) for piece in group] == found


def test_damage_is_in_one_piece_and_has_its_place_in_the_file(file: InputFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others can be read."""
    monkeypatch.setattr(module, "PIECE_BYTES", 1)
    path = Path(file.path)
    places = [at for _, at, _ in read_batches(file)]
    path.write_bytes((whole := path.read_bytes())[: places[20] + 70] + b"?" + whole[places[20] + 71 :])
    found = pieces(file)

    assert offsets([*found[:20], *found[21:]])
    with pytest.raises(Irregular):
        offsets(found[20:21])
    for read in (lambda: list(read_windows(file, window=700)), lambda: list(read_batches(found[20]))):
        with pytest.raises(DamagedLog, match=re.escape(f"{file.path} at byte {places[20]}: checksum")):
            read()


def test_a_file_that_ends_in_a_batch(file: InputFile) -> None:
    """Whatever the window is."""
    path = Path(file.path)
    path.write_bytes(path.read_bytes()[:-1])

    for window in (700, 1 << 30):
        with pytest.raises(DamagedLog, match="are missing"):
            list(read_windows(file, window=window))
