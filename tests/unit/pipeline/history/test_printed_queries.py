"""The queries of docs/history.md over rows whose lists are empty: a row without elements is a row."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coordinator_server.pipeline.history.tables import SCHEMAS
from tests.support.server import ROOT

DOC = (ROOT / "docs/history.md").read_text()
NOW = datetime.now(UTC)
# Of a transaction that its timeout aborted before it had a group, and of a generation without reasons.
ROWS: dict[str, dict[str, Any]] = {
    "transactions": {"transactional_id": "payments-1", "why": "timeout", "groups": []},
    "generations": {"group_id": "billing", "reasons": []},
}


def queries() -> list[tuple[str, str]]:
    """The printed queries that look into lists of a table's rows, each with its table."""
    printed = re.findall(r"```sql\n(.*?)```", DOC, re.DOTALL)
    found = [(match[1], sql) for sql in printed if (match := re.search(r"unnest\(.*from 'history/(\w+)/", sql))]
    return [(table, sql) for table, sql in found if table in ROWS]


def write_row(out: Path, table: str) -> None:
    given: dict[str, Any] = ROWS[table] | {"time": NOW, "began": NOW}
    schema = SCHEMAS[table]
    columns = {field.name: pa.array([given.get(field.name)], field.type) for field in schema}
    (out / table).mkdir(parents=True)
    pq.write_table(pa.table(columns, schema=schema), out / table / "000001.parquet")


@pytest.mark.parametrize(("table", "sql"), queries(), ids=[table for table, _ in queries()])
def test_a_row_whose_list_is_empty_is_found(tmp_path: Path, table: str, sql: str) -> None:
    write_row(tmp_path, table)

    found = duckdb.sql(sql.replace("'history/", f"'{tmp_path}/"))

    assert found is not None
    assert len(found.fetchall()) == 1


def test_both_tables_have_such_a_query() -> None:
    assert {table for table, _ in queries()} == ROWS.keys()
