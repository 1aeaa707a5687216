"""Run several jobs in one Spark session, which starts once: compact, history, verify, index, what-if.

The jobs run in the order given. Each is the command of its name, with its options and its output
(with -o json a line each). The first job that fails ends the run with its exit code. what-if is "groups
what-if" for all groups: which of them would gain most by another rule. It writes what_if.parquet to --out.

With --every it is a daemon: it keeps the session open and runs the jobs again and again, whenever the
log has grown enough. It prints a line for each job, and notifies the running server, whose control.sock
answers {"op": "pipeline"}. It waits for a server that restarts. It ends with exit code 1 when verify
finds a difference or a file is damaged, and with 0 on SIGTERM.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import Final

from coordinator_server.cli import compact, history, index, verify, what_if
from coordinator_server.cli.answers import add_json_arguments
from coordinator_server.cli.engines import add_engine_arguments, add_no_wait_argument, extra_needed, spark_session
from coordinator_server.cli.jobs import Job, run_job
from coordinator_server.cli.local_dir import local_dir
from coordinator_server.cli.log_source import add_log_source
from coordinator_server.cli.output import complain
from coordinator_server.cli.schedule import run_on_schedule
from coordinator_server.cli.times import duration_ms
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.schedule import LONGEST_MS, MIN_BYTES

JOBS: Final[dict[str, Job]] = {
    "compact": compact.job,
    "history": history.job,
    "verify": verify.job,
    "index": index.job,
    "what-if": what_if.job,
}
_NEED_OUT: Final = ("history", "what-if")

EPILOG = """\
examples:
  coordinator-server pipeline compact history verify --data-dir ./data --out ./history
  coordinator-server pipeline compact history verify --data-dir ./data --out ./history --every 10m
  coordinator-server pipeline what-if --data-dir ./data --out ./what-if --engine python
  coordinator-server pipeline compact verify --data-dir /shared/data --master spark://head:7077 -o json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("jobs", nargs="+", choices=tuple(JOBS), metavar="JOB", help="compact, history, verify, index or what-if")
    add_log_source(parser, local_dir, "the server's data directory")
    parser.add_argument("--out", type=local_dir, metavar="DIR", help="directory of tables; required for history and what-if")
    add_no_wait_argument(parser)
    add_engine_arguments(parser, python="one process, and needs no Java", workers_see="both")
    compact.add_own_arguments(parser)
    add_json_arguments(parser)
    daemon = parser.add_argument_group("schedule", "The jobs run again and again, until SIGTERM.")
    daemon.add_argument("--every", type=duration_ms, metavar="TIME", help="the time between two rounds, such as 10m")
    daemon.add_argument(
        "--min-bytes",
        type=int,
        default=MIN_BYTES,
        metavar="N",
        help="skip a round if fewer bytes than this are new in the log (%(default)s)",
    )
    daemon.add_argument(
        "--longest",
        type=duration_ms,
        default=LONGEST_MS,
        metavar="TIME",
        help="run the jobs at least this often, whatever is new (24h)",
    )
    parser.set_defaults(sql=None, at=None)


def run(options: argparse.Namespace) -> int:
    """Run the jobs and return the exit code."""
    try:
        for name in _NEED_OUT:
            if name in options.jobs and options.out is None:
                raise CannotRun(f"{name} needs --out DIR, the directory of its tables")
        if options.every is not None:
            return run_on_schedule(options, JOBS)
        with ExitStack() as stack:
            if options.engine == "spark":
                with extra_needed("spark engine", ", or use --engine python"):
                    stack.enter_context(spark_session(options))
            for name in options.jobs:
                if code := run_job(JOBS[name], options):
                    return code
    except CannotRun as error:
        return complain(error, 2)
    return 0
