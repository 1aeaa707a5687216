"""The views of the history against the server's own replay, over random logs with transactions: in Python, and as SQL in DuckDB."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator_server.machine.timeline import LATEST
from coordinator_server.pipeline.history.consumer_rows import name_topics
from coordinator_server.pipeline.history.extract import as_tables, no_rows
from coordinator_server.pipeline.history.rows import rows_of_batch
from coordinator_server.pipeline.history.view_sql import CURRENT_OFFSETS, PENDING_OFFSETS, view_sql
from coordinator_server.pipeline.history.views import current_offsets, pending_offsets
from coordinator_server.pipeline.input.topic_names import NO_NAMES
from protocol.record_batch import iter_records, read_header
from tests.support.random_log import logs
from tests.support.replay import replay_batches
from tests.support.segments import START_MS

FIELDS = ["group_id", "topic", "partition", "offset", "log_offset"]
COLUMNS = ", ".join(f'"{name}"' for name in FIELDS)
LATER = datetime.fromtimestamp(START_MS / 1000, UTC) + timedelta(days=1)
FUNCTIONS = {CURRENT_OFFSETS: current_offsets, PENDING_OFFSETS: pending_offsets}


def write_tables(batches: list[bytes], out: Path) -> None:
    """As a run of the history does. The two halves are of different days."""
    for number, part in enumerate((batches[: len(batches) // 2], batches[len(batches) // 2 :])):
        rows = no_rows()
        for batch in part:
            header = read_header(batch)
            rows_of_batch(3, header, iter_records(batch, 0, header), rows)
        name_topics(rows, NO_NAMES)
        for name, table in as_tables(rows).items():
            folder = out / name / "shard_group=0" / f"day=2026-11-2{number}"
            folder.mkdir(parents=True)
            pq.write_table(table, folder / "a.parquet")


def replayed(batches: list[bytes]) -> dict[str, list[tuple[Any, ...]]]:
    """The offsets of the server's own state."""
    groups = replay_batches(batches).groups
    current = [
        (group_id, *position, found.committed_offset, found.record_offset)
        for group_id in groups.offsets.groups_at(LATEST)
        for position, found in (groups.offsets.of_group_at(group_id, LATEST) or {}).items()
    ]
    pending = [
        (group_id, *position, found.committed_offset, found.record_offset)
        for group_id in groups.pending.groups_at(LATEST)
        for _, offsets in groups.pending.of_group_at(group_id, LATEST)
        for position, found in offsets.items()
    ]
    return {CURRENT_OFFSETS: sorted(current), PENDING_OFFSETS: sorted(pending)}


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(tuple(row[name] for name in FIELDS) for row in table.to_pylist())


@settings(deadline=None, max_examples=30)
@given(logs(for_columns=True), st.booleans())
def test_views_are_what_a_server_replays(batches: list[bytes], is_until_later: bool) -> None:
    """Commits, tombstones and transactions, whatever their order. A moment after all of them changes nothing."""
    expected = replayed(batches)
    at = LATER if is_until_later else None
    with tempfile.TemporaryDirectory() as directory:
        write_tables(batches, Path(directory))

        for view, function in FUNCTIONS.items():
            assert rows_of(function(directory, at)) == expected[view]
            found = duckdb.execute(f"select {COLUMNS} from ({view_sql(view, directory, at=at)})").fetchall()
            assert sorted(found) == expected[view]
