"""The views of the history: what they read, and what they refuse.

What they find is compared with a server's replay in tests/property.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import duckdb
import pytest

from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.history.new_records import new_records
from coordinator_server.pipeline.history.output import open_output
from coordinator_server.pipeline.history.run import run_here, write_history
from coordinator_server.pipeline.history.tables import SCHEMAS
from coordinator_server.pipeline.history.view_sql import LAG, VIEWS, WAITS, view_sql
from coordinator_server.pipeline.history.views import current_offsets, pending_offsets
from coordinator_server.pipeline.progress import Progress
from protocol.record_batch import Record
from tests.support.segments import START_MS, Batch, offset_key, offset_value, write_meta, write_segments

CLUSTER = "AAAAAAAAAAAAAAAAAAAAAQ"
SHARD = "__consumer_offsets-3"
START = datetime.fromtimestamp(START_MS / 1000, UTC)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The history of three commits of one offset, a second apart. There are no transactions and no deletions."""
    records = [Record(number, START_MS + number * 1000, offset_key("g", "t", 0), offset_value(number)) for number in range(3)]
    write_segments(tmp_path / "data" / SHARD, [Batch((record,)) for record in records])
    write_meta(tmp_path / "data")
    sealed = max(int(path.stem) for path in (tmp_path / "data" / SHARD).glob("*.log"))
    with open_output(tmp_path / "out's", CLUSTER) as opened:
        write_history(new_records(tmp_path / "data", {SHARD: sealed}, {}), opened, run_here, Progress(), 1)
    return tmp_path / "out's"


def test_every_table_has_a_file_after_the_first_run(out: Path) -> None:
    """A query over a table that has no rows finds its columns, and no rows."""
    quoted = str(out).replace("'", "''")
    for name, schema in SCHEMAS.items():
        found = duckdb.execute(f"select * from '{quoted}/{name}/**/*.parquet'")
        assert {column[0] for column in found.description or ()} == {*schema.names, "shard_group", "day"}
        assert len(found.fetchall()) == (3 if name == "commits" else 0)


def test_a_table_gets_its_file_without_rows_once(out: Path, tmp_path: Path) -> None:
    """And not if it has files."""
    before = sorted(out.rglob("*.parquet"))
    end = max(int(path.stem) for path in (tmp_path / "data" / SHARD).glob("*.log"))
    record = Record(end, START_MS + 9000, offset_key("g", "t", 0), offset_value(9))
    (tmp_path / "data" / SHARD / f"{end:020d}.log").unlink()
    write_segments(tmp_path / "data" / SHARD, [Batch((record,))], 1)

    with open_output(out, CLUSTER) as opened:
        write_history(new_records(tmp_path / "data", {SHARD: end + 1}, opened.positions), opened, run_here, Progress(), 1)

    [added] = set(out.rglob("*.parquet")) - set(before)
    assert added.relative_to(out).parts[0] == "commits"
    assert [row["offset"] for row in current_offsets(out).to_pylist()] == [9]


@pytest.mark.parametrize(
    "at",
    [
        START + timedelta(seconds=1),
        (START + timedelta(seconds=1)).replace(tzinfo=None),
        (START + timedelta(seconds=1)).astimezone(timezone(timedelta(hours=5))),
        (START + timedelta(seconds=1)).isoformat(),
        (START + timedelta(seconds=1)).replace(tzinfo=None).isoformat(),
    ],
)
def test_a_moment_is_in_its_zone_or_in_utc(out: Path, at: datetime | str) -> None:
    """Whatever the zone of DuckDB's session is."""
    duckdb.execute("set TimeZone = 'Asia/Tokyo'")
    try:
        found = duckdb.execute(f"select c.offset from ({view_sql('current_offsets', str(out), at=at)}) as c").fetchall()
    finally:
        duckdb.execute("reset TimeZone")

    assert found == [(1,)]
    assert [row["offset"] for row in current_offsets(str(out), at).to_pylist()] == [1]


def test_offsets_as_of_a_time_before_all_records_are_empty(out: Path) -> None:
    assert current_offsets(out, START - timedelta(seconds=1)).num_rows == 0
    assert pending_offsets(out).schema == current_offsets(out).schema == SCHEMAS["commits"]


@pytest.mark.parametrize("view", sorted({*VIEWS} - {LAG, WAITS}))
def test_sql_has_the_columns_of_commits(out: Path, view: str) -> None:
    """And the names of the folders."""
    columns = [column[0] for column in duckdb.execute(view_sql(view, str(out))).description or ()]

    assert columns[:-2] == SCHEMAS["commits"].names
    assert set(columns[-2:]) == {"shard_group", "day"}


def test_a_directory_can_be_a_url(out: Path) -> None:
    assert current_offsets(out.as_uri()).num_rows == 1


def test_a_directory_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match="has no history: check the directory"):
        current_offsets(tmp_path / "other")
