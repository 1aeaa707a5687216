"""Run several jobs in one Spark session, which starts once: compact, history, verify.

The jobs run in the order given. Each is the command of its name, with its options and its output
(with --json a line each). The first job that fails ends the run with its exit code.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from coordinator_server.cli import compact, history, verify
from coordinator_server.cli.engines import add_engine_arguments, add_no_wait_argument, extra_needed, spark_session
from coordinator_server.cli.output import complain
from coordinator_server.pipeline.errors import CannotRun

JOBS: Final = {"compact": compact.run, "history": history.run, "verify": verify.run}

EPILOG = """\
examples:
  coordinator-server pipeline compact history verify --data-dir ./data --out ./history
  coordinator-server pipeline compact verify --data-dir /shared/data --master spark://head:7077 --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("jobs", nargs="+", choices=tuple(JOBS), metavar="JOB", help="compact, history or verify")
    parser.add_argument("--data-dir", type=Path, required=True, metavar="DIR", help="the server's data directory")
    parser.add_argument("--out", type=Path, metavar="DIR", help="directory of the history's tables; required for history")
    add_no_wait_argument(parser)
    add_engine_arguments(parser, python="one process, and needs no Java", workers_see="both")
    compact.add_own_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print each job's result as JSON")
    parser.set_defaults(sql=None, at=None)


def run(options: argparse.Namespace) -> int:
    """Run the jobs and return the exit code."""
    try:
        if "history" in options.jobs and options.out is None:
            raise CannotRun("history needs --out DIR, the directory of its tables")
        with ExitStack() as stack:
            if options.engine == "spark":
                with extra_needed("spark engine", ", or use --engine python"):
                    stack.enter_context(spark_session(options))
            for job in options.jobs:
                if code := JOBS[job](options):
                    return code
    except CannotRun as error:
        return complain(error, 2)
    return 0
