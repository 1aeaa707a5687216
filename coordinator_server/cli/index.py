"""Make an index beside the log, or bring it up to date: "groups why", "at" and "owners" answer at once.

Without an index they read the whole log of the group's shard. With one they read the index, and of the log
only what is newer: they say the same, however old it is. The index also has what the page shows of all
groups: clients, transactions, share partitions, lag. It is the directory "index" in --data-dir. It
is made from the log alone, so it may be removed at any time, and is in no backup. The server may run or
not; nothing is sealed. "pipeline index --every 1m" keeps it up to date.
"""

from __future__ import annotations

import argparse
import sys
import time

from coordinator_server.cli.answers import add_json_arguments
from coordinator_server.cli.engines import add_no_wait_argument, retries_of
from coordinator_server.cli.jobs import JobDone, run_job
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.cli.output import counted
from coordinator_server.pipeline.index.feed import Updated, update
from coordinator_server.pipeline.input.data_dir import check_data_dir
from coordinator_server.pipeline.progress import progress_on
from coordinator_server.pipeline.report import Counts

EPILOG = """\
examples:
  coordinator-server index --data-dir ./data
  coordinator-server pipeline index --data-dir ./data --engine python --every 1m --min-bytes 0      # until SIGTERM
  coordinator-server groups why billing --data-dir ./data                                           # at once
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--data-dir", type=local_dir, required=True, metavar="DIR", help="the server's data directory")
    add_no_wait_argument(parser)
    add_json_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Bring the index up to date and return the exit code."""
    return run_job(job, options)


def job(options: argparse.Namespace) -> JobDone:
    """Bring the index up to date. Raises PipelineError, LogError and OSError."""
    check_data_dir(options.data_dir)
    started_s = time.monotonic()
    done = update(options.data_dir, progress_on(sys.stderr), retries_of(options))
    counts = Counts(shards=done.shards, records_in=done.records, bytes_in=done.bytes, bytes=done.size)
    return JobDone(
        0, [_as_text(done, time.monotonic() - started_s)], done, counts, [f"made again: {each}" for each in done.again]
    )


def _as_text(done: Updated, seconds: float) -> str:
    if not done.records:
        return "nothing to do: no records were written since the index was last brought up to date"
    read = f"{counted(done.records, 'record')} ({done.bytes:,} bytes) of {counted(done.shards, 'shard')}"
    return f"{read} added in {seconds:.1f} s; the index has {done.size:,} bytes"
