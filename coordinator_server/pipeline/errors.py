"""What can stop a job. Damage and storage trouble come as ``coordinator_server.log.errors`` instead.

PipelineError
├── CannotCompact    this shard holds what this version does not rewrite: it is left alone, the others go on
├── GateClosed       the output does not say what the input said: nothing is published (our bug, or bad memory)
├── Busy             another compaction is at work on this data directory
├── CannotSeal       the running server did not seal its segments
└── CannotRun        something the job needs is not installed or not there: exit code 2
"""

from __future__ import annotations


class PipelineError(Exception):
    """A job that cannot do what it was asked; the message is one line and says what to do."""


class CannotCompact(PipelineError):
    """The shard is left as it is."""


class GateClosed(PipelineError):
    """Input and output differ."""


class Busy(PipelineError):
    """One compaction at a time."""


class CannotSeal(PipelineError):
    """A server holds the data directory and does not answer, or refuses."""


class CannotRun(PipelineError):
    """The environment is not fit for the job."""
