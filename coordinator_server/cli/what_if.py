"""The job ``what-if`` of ``pipeline``: which groups would gain most by another rule, and by what."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Final

from coordinator_server.cli.engines import extra_needed, retries_of, spark_session
from coordinator_server.cli.jobs import JobDone
from coordinator_server.cli.observed_directory import removed_to
from coordinator_server.cli.output import counted
from coordinator_server.cli.table import columns
from coordinator_server.pipeline.input.data_dir import check_data_dir
from coordinator_server.pipeline.progress import Progress, progress_on
from coordinator_server.pipeline.report import Counts
from coordinator_server.whatif.advice import duration_text
from coordinator_server.whatif.shards import AS_IT_WAS, Row, WhatIfTask, decoded, most_to_gain, tasks_of, work

FILE: Final = "what_if.parquet"
MOST_GROUPS: Final = 20


def job(options: argparse.Namespace) -> JobDone:
    """Write the table of all groups. Raises PipelineError, LogError and OSError."""
    with extra_needed("what-if"):
        from coordinator_server.pipeline.table import write_table
    data_dir = options.data_dir.absolute()
    check_data_dir(data_dir)
    started_s = time.monotonic()
    tasks = tasks_of(data_dir, retries_of(options), removed_to(data_dir))
    progress, size = progress_on(sys.stderr), sum(task.size for task in tasks)
    progress.start(len(tasks), size)
    try:
        rows = decoded(_run(options, tasks, progress))
    finally:
        progress.stop()
    file = options.out / FILE
    write_table(rows, Row, file, {"first_ms": "first_time", "last_ms": "last_time"})
    groups = sum(row.rule == AS_IT_WAS for row in rows)
    best = most_to_gain(rows, MOST_GROUPS)
    seconds = time.monotonic() - started_s
    first = f"{counted(groups, 'group')}, {counted(len(rows), 'row')} in {file} in {seconds:.1f} s"
    counts = Counts(shards=len(tasks), bytes_in=size, records=len(rows), bytes=file.stat().st_size, files=1)
    return JobDone(0, [first, *_lines(best)], {"groups": groups, "rows": len(rows), "file": str(file), "best": best}, counts)


def _run(options: argparse.Namespace, tasks: Sequence[WhatIfTask], progress: Progress) -> list[bytes]:
    if options.engine == "python" or not tasks:
        found, records = [], 0
        for number, task in enumerate(tasks, 1):
            result, count = work(task)
            found.append(result)
            records += count
            progress.advance(number, records)
        return found
    with extra_needed("spark engine", ", or use --engine python"):
        from coordinator_server.pipeline.spark.tasks import divide, run_tasks
    with spark_session(options) as spark:
        return run_tasks(spark, divide(spark, tasks, lambda task: task.size), work, progress)


def _lines(best: Sequence[Row]) -> Iterator[str]:
    if not best:
        yield "no group would have gained anything by the rules that are tried"
        return
    heading = ("group", "rule", "standstill saved", "rebalances saved", "moves saved", "")
    yield from columns([heading, *map(_cells, best)])


def _cells(row: Row) -> tuple[str, ...]:
    standstill = "?" if row.saved_standstill_ms is None else duration_text(max(0, row.saved_standstill_ms))
    return row.group, row.rule, standstill, f"{row.saved_rebalances:,}", f"{row.saved_needless:,}", row.certainty
