"""Jobs as values: what a job of the pipeline has done, before anything of it is printed."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import NamedTuple

from coordinator_server.cli.output import complain, note, say, say_json
from coordinator_server.cli.process_settings import create_private_files
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.report import Counts


class JobDone(NamedTuple):
    """What a job has done: its exit code, its lines on stdout, the same as JSON, its notes on stderr, and its counts."""

    code: int
    lines: Sequence[str]
    value: object
    counts: Counts
    notes: Sequence[str] = ()


# Runs a job. Raises PipelineError, LogError and OSError.
Job = Callable[[argparse.Namespace], JobDone]


def run_job(job: Job, options: argparse.Namespace) -> int:
    """Run a job, print what it has done, and return the exit code. What it writes is private, as the log is."""
    create_private_files()
    try:
        done = job(options)
    except CannotRun as error:
        return complain(error, 2)
    except (PipelineError, OSError) as error:
        return complain(error, 1)
    for text in done.notes:
        note(text)
    if options.json:
        say_json(done.value)
    else:
        say(done.lines)
    return done.code
