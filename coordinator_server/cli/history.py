"""Add new records of the log to Parquet tables: commits, generations, members, assignments, deletions.

Adds the records that were sealed since the last run with the same --out, each record once, even if
a run is interrupted. The server may run (the command asks it to seal its open segments) or not.
DuckDB, pandas and Spark can read the tables.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from coordinator_server.cli.engines import add_engine_arguments, add_log_argument, extra_needed, spark_session
from coordinator_server.cli.output import complain, note, say, say_json
from coordinator_server.cli.unknown import tell_unknown
from coordinator_server.log.meta import read_meta
from coordinator_server.log.storage import LocalStorage
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.input.sealing import check_data_dir, seal
from coordinator_server.pipeline.locations import local_copy, parse_location
from coordinator_server.pipeline.progress import progress_on

EPILOG = """\
examples:
  coordinator-server history --data-dir ./data --out ./history
  coordinator-server history --data-dir ./data --out ./history --engine python     # no Java, one core; the same rows
  coordinator-server history --data-dir ./data --out s3://lake/history             # credentials as for any S3 client
  python -c "import duckdb; print(duckdb.sql(\\"select * from 'history/generations/**/*.parquet'\\"))"

docs/history.md describes the tables, and has three example queries. The command needs the extra: pip install 'coordinator-server[spark]'.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_log_argument(parser)
    parser.add_argument(
        "--out",
        type=parse_location,
        required=True,
        metavar="DIR",
        help="directory or URL of the tables; created if it does not exist",
    )
    add_engine_arguments(parser, python="one process, and needs no Java", workers_see="both")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(options: argparse.Namespace) -> int:
    """Add new records and return the exit code."""
    try:
        with local_copy(options.data_dir) as data_dir:
            check_data_dir(data_dir)
            tell_unknown(data_dir)
            return _run(options, data_dir.absolute())
    except CannotRun as error:
        return complain(error, 2)
    except (PipelineError, OSError) as error:
        return complain(error, 1)


def _run(options: argparse.Namespace, data_dir: Path) -> int:
    with extra_needed("history"):
        from coordinator_server.pipeline.history import run as job
        from coordinator_server.pipeline.history.remote import open_tables
        from coordinator_server.pipeline.history.spark import runner_on, tasks_on
    started_s = time.monotonic()
    meta = read_meta(LocalStorage(), str(data_dir))
    with open_tables(options.out, meta.cluster_id) as output:
        found = job.new_records(data_dir, seal(data_dir), output.positions)
        progress = progress_on(sys.stderr)
        if options.engine == "python" or not found:
            result = job.write_history(found, output, job.run_here, progress, 1)
        else:
            with spark_session(options) as spark:
                result = job.write_history(found, output, runner_on(spark), progress, tasks_on(spark))
    for gap in result.gaps:
        lost = f"offsets {gap.from_offset} to {gap.to_offset} of {gap.shard}"
        note(f"{lost}: the history has only what compaction kept; run this more often than log.history.retention.ms")
    if options.json:
        say_json(result)
    else:
        say([_as_text(result.rows, time.monotonic() - started_s)])
    return 0


def _as_text(rows: dict[str, int], seconds: float) -> str:
    added = ", ".join(f"{count:,} {table}" for table, count in rows.items() if count)
    return f"{added} in {seconds:.1f} s" if added else "nothing new since the last run"
