"""The cleaner's child: compacts the shards that it is told to, with the plain engine, and says what came of it.

An order comes as JSON on stdin, the result goes as JSON to stdout. It asks nobody to seal, and opens no log: the server has sealed what is to be read. When
the server ends, it ends.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Final

import msgspec

from coordinator_server.cli.complaint import complain
from coordinator_server.cli.parent import die_with_parent
from coordinator_server.log.errors import LogError
from coordinator_server.pipeline.compact import Progress, compact, compaction_lock, plans, run_python
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.server.cleaner import Clean, Cleaned

_NICE: Final = 19
# When memory is short, this process goes first.
_OOM_FILE: Final = Path("/proc/self/oom_score_adj")
_OOM_SCORE: Final = "1000"


def main() -> int:
    """Be the child; returns the exit code."""
    die_with_parent()
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Clean)
    if os.getppid() != order.server:
        # It ended before it could take us with it.
        return 1
    os.nice(_NICE)
    with contextlib.suppress(OSError):
        _OOM_FILE.write_text(_OOM_SCORE)
    try:
        sys.stdout.buffer.write(msgspec.json.encode(clean(order)))
    except (PipelineError, LogError, OSError) as failure:
        return complain(failure, 1)
    return 0


def clean(order: Clean) -> Cleaned:
    """Compact what is to be compacted. Raises PipelineError, LogError and OSError; then nothing was published."""
    data_dir = Path(order.data_dir)
    with compaction_lock(data_dir):
        todo = [plan for plan in plans(data_dir, order.sealed) if plan.shard in order.sealed]
        result = compact(todo, order.cutoff_ms, run_python, Progress())
    layers = result.layers
    return Cleaned(
        shards=[layer.shard for layer in layers],
        records_before=sum(layer.records_in for layer in layers),
        bytes_before=sum(layer.bytes_in for layer in layers),
        records=sum(layer.records for layer in layers),
        bytes=sum(layer.bytes_out for layer in layers),
        left_alone=[*result.left_alone, *(f"{layer.shard}: {layer.no_checkpoint}" for layer in layers if layer.no_checkpoint)],
    )


if __name__ == "__main__":
    sys.exit(main())
