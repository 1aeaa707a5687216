"""Add new records of the log to Parquet tables: commits, generations, members, assignments, deletions, transactions.

Adds the records that became durable since the last run with the same --out, each record once, even if
a run is interrupted. The server may run or not; nothing changes for it.
DuckDB, pandas and Spark can read the tables. --sql prints a query over them: the offsets that are
committed, or those of open transactions, now or at a past moment.
"""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from coordinator_server.cli.answers import add_json_arguments
from coordinator_server.cli.engines import add_engine_arguments, add_log_argument, extra_needed, retries_of, spark_session
from coordinator_server.cli.jobs import JobDone, run_job
from coordinator_server.cli.local_dir import location
from coordinator_server.cli.output import complain, counted, say
from coordinator_server.cli.times import MOMENT, past_ms
from coordinator_server.cli.unread_directories import warn_of_unread
from coordinator_server.log.opening import identity_of, input_bytes
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.history.view_sql import DIALECTS, DUCKDB, VIEWS, view_sql
from coordinator_server.pipeline.input.data_dir import check_data_dir
from coordinator_server.pipeline.locations import Url, local_copy
from coordinator_server.pipeline.progress import progress_on
from coordinator_server.pipeline.report import Counts

if TYPE_CHECKING:
    from coordinator_server.pipeline.history.new_records import Gap

EPILOG = """\
examples:
  coordinator-server history --data-dir ./data --out ./history
  coordinator-server history --data-dir ./data --out ./history --engine python     # no Java, one core; the same rows
  coordinator-server history --data-dir ./data --out s3://lake/history             # credentials as for any S3 client
  coordinator-server history --store postgresql://coordinator@db.example/coordinator --out ./history
  python -c "import duckdb; print(duckdb.sql(\\"select * from 'history/generations/**/*.parquet'\\"))"
  coordinator-server history --out ./history --sql current_offsets --at 2026-11-21T14:06:36Z    # the query of a view

docs/history.md describes the tables, and has example queries. The command needs the extra: pip install 'coordinator-server[spark]'.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_log_argument(parser, required=False)
    parser.add_argument(
        "--out",
        type=location,
        required=True,
        metavar="DIR",
        help="directory or URL of the tables; created if it does not exist",
    )
    add_engine_arguments(parser, python="one process, and needs no Java", workers_see="both")
    add_json_arguments(parser)
    view = parser.add_argument_group("views", "With --sql nothing is read or written, and --data-dir is not needed.")
    view.add_argument("--sql", choices=tuple(VIEWS), help="print the query of a view over the tables in --out")
    view.add_argument("--dialect", choices=tuple(DIALECTS), default=DUCKDB, help="who runs the query (%(default)s)")
    view.add_argument("--at", type=past_ms, metavar="TIME", help=f"the view at a past moment: {MOMENT}")


def run(options: argparse.Namespace) -> int:
    """Add new records, or print a query, and return the exit code."""
    if options.sql is None:
        return run_job(job, options)
    try:
        say(_query(options).splitlines())
    except CannotRun as error:
        return complain(error, 2)
    return 0


def job(options: argparse.Namespace) -> JobDone:
    """Add new records. Raises PipelineError, LogError and OSError."""
    if options.data_dir is None:
        raise CannotRun("history needs --data-dir DIR, the server's data directory")
    if options.at is not None:
        raise CannotRun("--at is for --sql: the tables get everything that is new")
    with local_copy(options.data_dir) as data_dir:
        check_data_dir(data_dir)
        warn_of_unread(data_dir)
        return _run(options, data_dir.absolute())


def _query(options: argparse.Namespace) -> str:
    at = None if options.at is None else datetime.fromtimestamp(options.at / 1000, UTC)
    where = options.out.text if isinstance(options.out, Url) else str(options.out)
    return view_sql(options.sql, where, options.dialect, at)


def _run(options: argparse.Namespace, data_dir: Path) -> JobDone:
    with extra_needed("history"):
        from coordinator_server.pipeline.history.end_offset_rows import new_end_offsets
        from coordinator_server.pipeline.history.new_records import durable_in_order, new_records
        from coordinator_server.pipeline.history.remote import open_tables
        from coordinator_server.pipeline.history.run import run_here, write_history
        from coordinator_server.pipeline.history.spark import runner_on, tasks_on
        from coordinator_server.pipeline.history.tables import END_OFFSETS
    started_s = time.monotonic()
    meta = identity_of(data_dir)
    with open_tables(options.out, meta.cluster_id) as output:
        found = new_records(data_dir, durable_in_order(data_dir, output.positions, retries_of(options)), output.positions)
        ends = new_end_offsets(data_dir, output.positions.get(END_OFFSETS, 0))
        size = sum(input_bytes(part.file.path) for each in found for part in each.parts)
        progress = progress_on(sys.stderr)
        if options.engine == "python" or not found:
            result = write_history(found, output, run_here, progress, 1, ends)
        else:
            with spark_session(options) as spark:
                result = write_history(found, output, runner_on(spark), progress, tasks_on(spark), ends)
    counts = Counts(shards=len(found), bytes_in=size, records=sum(result.rows.values()), files=result.files)
    line = _as_text(result.rows, time.monotonic() - started_s)
    return JobDone(0, [line], result, counts, [_lost(gap) for gap in result.gaps])


def _lost(gap: Gap) -> str:
    lost = f"offsets {gap.from_offset} to {gap.to_offset} of {gap.shard}"
    return f"{lost}: the history has only what compaction kept; run this more often than log.history.retention.ms"


def _as_text(rows: dict[str, int], seconds: float) -> str:
    added = ", ".join(counted(count, table.removesuffix("s")) for table, count in rows.items() if count)
    return f"{added} in {seconds:.1f} s" if added else "nothing new since the last run"
