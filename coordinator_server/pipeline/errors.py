"""The errors of jobs. Damaged logs and failures of the storage are ``coordinator_server.log.errors`` instead.

PipelineError
├── CannotCompact    the shard holds records that this version does not rewrite; it is left as it is, the others are compacted
├── GateClosed       the output differs from the input, and nothing is published: a bug of ours, or bad memory
├── Busy             another job writes to the same directory
├── ServerRefused       the running server did not do what it was asked for
│   └── NotReady     it starts, stops or loads, or another job has the directory: temporary
├── ShardFailed      a Spark task failed on its shard
│   └── ShardDamaged  it has found damage, or closed the gate: the same task fails again
└── CannotRun        an option is wrong, or something that the job needs is missing: exit code 2
"""

from __future__ import annotations


class PipelineError(Exception):
    """A job failed. The message is one line and says what to do."""


class CannotCompact(PipelineError):
    """This version does not rewrite the shard's records; the shard is left as it is."""


class GateClosed(PipelineError):
    """The output of a job differs from its input."""


class Busy(PipelineError):
    """Another job holds the lock."""


class ServerRefused(PipelineError):
    """A server holds the data directory, and refuses or does not answer."""


class NotReady(ServerRefused):
    """A server that starts, stops or loads, or a job, has the data directory: the same request succeeds later."""


class ShardFailed(PipelineError):
    """A Spark task failed on its shard, or Spark itself did."""


class ShardDamaged(ShardFailed):
    """A Spark task found a damaged file, or an output that differs from its input."""


class CannotRun(PipelineError):
    """The job cannot start with these options in this environment."""
