"""The table of sampled ends, and the view of lag over time, in SQL and in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from coordinator_server.cli import main
from coordinator_server.log.day_files import DAY_MS
from coordinator_server.observe.end_offsets import EndOffsetsWriter
from coordinator_server.pipeline.history.end_offset_rows import new_end_offsets
from coordinator_server.pipeline.history.tables import END_OFFSETS
from coordinator_server.pipeline.history.view_sql import LAG, view_sql
from coordinator_server.pipeline.history.views import lag
from tests.support.observed_metrics import observed_directory
from tests.support.page_log import Story, write_stories
from tests.support.segments import START_MS


def add_to_history(data: Path, out: Path) -> None:
    assert main(["history", "--data-dir", str(data), "--out", str(out), "--engine", "python"]) == 0


def in_duckdb(out: Path, at: str | None = None) -> list[dict[str, Any]]:
    found = duckdb.execute(view_sql(LAG, str(out), at=at))
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return observed_directory(tmp_path_factory.mktemp("observed"))


def test_the_lag_over_time_in_sql_and_in_python(observed: Path, tmp_path: Path) -> None:
    """Now, and before the last minute; at the end it is that of ``groups lag``."""
    add_to_history(observed, tmp_path)
    found = lag(tmp_path).to_pylist()
    moment = found[len(found) // 2]["time"]

    assert in_duckdb(tmp_path) == found
    assert in_duckdb(tmp_path, moment.isoformat()) == lag(tmp_path, moment).to_pylist()
    last = {(each["group_id"], each["partition"]): each for each in found}
    # 70 s of 20 and of 30 records a second.
    assert {each["end_offset"] for each in last.values()} == {1400, 2100}
    assert all(each["lag"] == each["end_offset"] - each["offset"] > 0 for each in last.values())
    assert len({each["lag"] for each in found}) > 10


def test_what_happens_to_offsets_and_ends(tmp_path: Path) -> None:
    """A commit before the first sample has no lag, one beyond the end has none either, and nothing is behind after a deletion."""
    story = Story("g", "orders", 1).join("a")
    times = []
    for step in (10, 0, 100):
        times.append(story.now_ms)
        story.commit(step=step, ms=1000)
    deleted_ms = story.wait(5000).delete().now_ms
    data, _ = write_stories(tmp_path, [story])
    writer = EndOffsetsWriter(data)
    writer.write(times[1] - 1, {"orders": [3], "others": [9]})
    writer.write(deleted_ms - 1, {"orders": [500]})
    writer.write(deleted_ms + 1, {"orders": [501]})
    add_to_history(data, tmp_path / "out")

    found = lag(tmp_path / "out").to_pylist()
    assert in_duckdb(tmp_path / "out") == found
    assert [each["end_offset"] for each in found] == [3, 3, 3, 500]
    assert [each["lag"] for each in found] == [max(0, each["end_offset"] - each["offset"]) for each in found]
    assert found[-1]["lag"] > 0


def test_samples_are_taken_once(tmp_path: Path) -> None:
    """A day begins with all ends, which are no news; a sample that is not complete is left for the next run."""
    data, _ = write_stories(tmp_path, [Story("g").join("a")])
    writer = EndOffsetsWriter(data)
    out = tmp_path / "out"
    for at_ms, end in ((START_MS, 5), (START_MS + 1000, 5), (START_MS + DAY_MS, 5), (START_MS + DAY_MS + 1000, 6)):
        writer.write(at_ms, {"orders": [end, 7]})
        add_to_history(data, out)
        add_to_history(data, out)
    [*_, newest] = sorted(data.glob("end-offsets/*/*.jsonl"))
    whole = newest.read_text()
    newest.write_text(f'{whole}{{"at_ms":{START_MS + DAY_MS + 2000},"topic":"orders","end_offsets":[9,7]}}\n')
    assert new_end_offsets(data, START_MS + DAY_MS + 1000).to_ms == 0

    rows = [row for path in sorted(out.glob(f"{END_OFFSETS}/**/*.parquet")) for row in pq.ParquetFile(path).read().to_pylist()]
    assert sorted((row["partition"], row["end_offset"]) for row in rows) == [(0, 5), (0, 6), (1, 7)]
