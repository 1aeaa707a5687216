"""The history of share partitions: a row for each change, with the state after it, however many runs have read the log."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from coordinator_server.log.errors import DamagedLog
from coordinator_server.machine.provenance import Provenance
from coordinator_server.pipeline.history import share_rows
from coordinator_server.pipeline.history.new_records import new_records
from coordinator_server.pipeline.history.output import open_output
from coordinator_server.pipeline.history.run import HistoryResult, run_here, write_history
from coordinator_server.pipeline.input.topic_names import CATALOG_SHARD
from coordinator_server.pipeline.progress import Progress
from coordinator_server.pipeline.states.changes import operation_name
from protocol.fields import uuid_text
from tests.support.kind_logs import share_log
from tests.support.segments import Batch, append_segments, write_segments
from tests.support.server import ROOT
from tests.support.share_logs import JOBS, SHARD, ShareLog, compact, write_properties

DOC = (ROOT / "docs/history.md").read_text()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    write_properties(tmp_path / "data")
    return tmp_path / "data"


def run(data: Path, out: Path) -> HistoryResult:
    """One run over all that is sealed."""
    with open_output(out, "AAAAAAAAAAAAAAAAAAAAAQ") as opened:
        sealed = {CATALOG_SHARD: 1} | {path.name: int(max(path.glob("*.log")).stem) for path in data.glob("__share*")}
        return write_history(new_records(data, sealed, opened.positions), opened, run_here, Progress(), 1)


def rows(out: Path) -> list[dict[str, Any]]:
    table = pq.read_table(out / "share_state")
    return sorted(table.drop(["shard_group", "day"]).to_pylist(), key=lambda row: (row["shard"], row["log_offset"]))


def stuck(data: Path) -> None:
    log = ShareLog()
    log.snapshot(0, 10)
    log.update(1, 12, [(10, 11, 2, 1), (12, 14, 0, 1), (15, 15, 4, 1)])
    log.update(2, -1, [(12, 13, 0, 2)], leader_epoch=5)
    log.update(3, -1, [(12, 13, 0, 3)], leader_epoch=5)
    log.delete(4)
    log.write(data / SHARD)


def test_the_rows_of_a_share_partition(data: Path, tmp_path: Path) -> None:
    """Numbers are of the state after the record; batches are those of the record, and who wrote it is in the row."""
    stuck(data)

    result = run(data, tmp_path / "out")

    found = rows(tmp_path / "out")
    names = ("what", "start_offset", "in_flight", "acknowledged", "archived", "most_deliveries", "leader_epoch")
    assert [tuple(row[name] for name in names) for row in found] == [
        ("initialized", 10, 0, 0, 0, 0, 0),
        ("written", 12, 3, 0, 1, 1, 0),
        ("written", 12, 3, 0, 1, 2, 5),
        ("written", 12, 3, 0, 1, 3, 5),
        ("deleted", None, None, None, None, None, None),
    ]
    assert result.rows["share_state"] == 5
    assert {(row["group_id"], row["topic"], row["partition"], row["topic_id"]) for row in found} == {
        ("workers", "jobs", 0, uuid_text(JOBS))
    }
    assert found[2]["batches"] == [{"first_offset": 12, "last_offset": 13, "state": "Available", "deliveries": 2}]
    assert (found[1]["delivery_complete"], found[1]["state_epoch"], found[1]["snapshot_epoch"]) == (2, 1, 0)
    assert (found[1]["operation"], found[1]["client_id"]) == (operation_name(Provenance("", 85, 1)), "broker-1")
    assert found[4]["operation"] is None


def test_runs_in_any_steps_add_the_same_rows(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run begins with the state that the runs before have seen; a layer beside the segments changes nothing."""
    log = share_log(7, 48)
    write_segments(data / SHARD, log[:4], 1)
    for end in range(4, len(log) + 1, 2):
        if end > 4:
            append_segments(data / SHARD, log[end - 2 : end], 1)
        if end == 8:
            compact(data / SHARD)
        run(data, tmp_path / "steps")
    monkeypatch.setattr(share_rows, "ROWS_AT_ONCE", 5)

    run(data, tmp_path / "once")

    assert rows(tmp_path / "steps") == rows(tmp_path / "once")
    assert len(rows(tmp_path / "once")) == 48


def test_of_a_gap_the_rows_say_what_was_kept(data: Path, tmp_path: Path) -> None:
    """Retention has removed segments before a run. What is known of other share partitions from before is not lost."""
    log = ShareLog()
    log.snapshot(0, 7, name="still")
    log.write(data / SHARD)
    run(data, tmp_path / "out")
    log.snapshot(1, 10)
    log.update(2, -1, [(10, 10, 0, 1)])
    log.write(data / SHARD)
    log.update(3, 8, name="still")
    log.write(data / SHARD)
    compact(data / SHARD)
    for base in (0, 1, 3):
        (data / SHARD / f"{base:020d}.log").unlink()
    log.update(4, -1, [(8, 8, 0, 1)], name="still")
    log.update(5, 11)
    log.write(data / SHARD)

    result = run(data, tmp_path / "out")

    [gap] = result.gaps
    assert (gap.from_offset, gap.to_offset) == (1, 4)
    assert [(row["group_id"], row["what"], row["start_offset"], row["in_flight"]) for row in rows(tmp_path / "out")] == [
        ("still", "initialized", 7, 0),
        ("workers", "kept", 10, 1),
        ("still", "kept", 8, 0),
        ("still", "written", 8, 1),
        ("workers", "written", 11, 0),
    ]


def test_a_record_that_cannot_be_read_stops_the_run(data: Path, tmp_path: Path) -> None:
    """With the file; nothing is added."""
    [batch] = share_log(1, 1)
    [record] = batch.records
    record.value = b"\0\7wrong"
    write_segments(data / SHARD, [Batch((record,))])

    with pytest.raises(DamagedLog, match=f"{SHARD}.*a record that cannot be read"):
        run(data, tmp_path / "out")

    assert not (tmp_path / "out" / "share_state").exists()


def test_the_queries_of_the_documentation(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they are printed there, with the same answer but for the times."""
    stuck(data)
    run(data, tmp_path / "history")
    monkeypatch.chdir(tmp_path)
    section = DOC.partition("## Questions about share groups")[2].partition("## The tables")[0]
    came_back, hourly = re.findall(r"```sql\n(.*?)```", section, re.DOTALL)

    [found] = duckdb.execute(came_back).fetchall()
    [hour] = duckdb.execute(hourly).fetchall()

    printed = section.partition("    jobs ")[2].splitlines()[0].split()
    assert [str(each) for each in found[:5]] == ["jobs", *printed[:4]]
    assert (found[6] - found[5]).total_seconds() == 1
    assert hour[1:] == ("jobs", 0, 12, 3)
