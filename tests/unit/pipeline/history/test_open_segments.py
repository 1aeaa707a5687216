"""History of a running server: the open segment is read up to what is durable."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import pyarrow.parquet as pq
import pytest

from coordinator_server.pipeline.history import extract, output
from coordinator_server.pipeline.history.new_records import new_records
from coordinator_server.pipeline.history.run import run_here, write_history
from coordinator_server.pipeline.input.columns import Irregular
from coordinator_server.pipeline.progress import Progress
from tests.support.segments import coordinator_log, encode, write_meta, write_segments

SHARD = "__consumer_offsets-7"


def add(data_dir: Path, out: Path, end: int) -> None:
    with output.open_output(out, "cluster") as opened:
        write_history(new_records(data_dir, {SHARD: end}, opened.positions), opened, run_here, Progress(), 1)


def commits(out: Path) -> list[Any]:
    rows = [row for path in (out / "commits").rglob("*.parquet") for row in pq.ParquetFile(path).read().to_pylist()]
    return sorted(rows, key=lambda row: row["log_offset"])


def refuse(*_: object) -> NoReturn:
    raise Irregular("as if")


@pytest.mark.parametrize("other_way", ["read_windows", "columns_of"])
def test_an_open_segment_is_read_up_to_what_is_durable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other_way: str) -> None:
    """Run by run while it grows, by columns and by records, whatever is behind that: half a batch, say. No row is there twice."""
    monkeypatch.setattr(extract, other_way, refuse)
    data_dir = tmp_path / "data"
    first = write_segments(data_dir / SHARD, coordinator_log(7, 40))
    write_meta(data_dir)
    batches = list(coordinator_log(107, 30, first_offset=first))
    data = b"".join(map(encode, batches))
    opened = data_dir / SHARD / f"{first:020d}.log"
    for number, behind in ((10, 50), (11, 0), (29, 70)):
        opened.write_bytes(data[: len(b"".join(map(encode, batches[:number]))) + behind])
        add(data_dir, tmp_path / "grown", batches[number].records[0].offset)
    opened.write_bytes(data)
    end = batches[-1].records[-1].offset + 1
    add(data_dir, tmp_path / "grown", end)
    (data_dir / SHARD / f"{end:020d}.log").touch()
    add(data_dir, tmp_path / "once", end)

    assert commits(tmp_path / "grown") == commits(tmp_path / "once")
    assert commits(tmp_path / "once")[-1]["log_offset"] > first
