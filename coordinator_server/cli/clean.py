"""Compact shards in the cleaner's child process, with the plain engine.

The order is JSON on stdin, the result is JSON on stdout. The child does not ask the server to seal,
and opens no log: the server has sealed what is to be read. It ends with the server. It skips a
shard that needs more memory than allowed, and compacts the others.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from coordinator_server.cli.output import complain
from coordinator_server.cli.parent import die_with_parent
from coordinator_server.cli.process_settings import run_at_low_priority
from coordinator_server.log.errors import LogError
from coordinator_server.pipeline.compact.engine import PythonEngine, ShardResult, compact_shard
from coordinator_server.pipeline.compact.plan import ShardPlan
from coordinator_server.pipeline.compact.run import compact, compaction_lock, plans
from coordinator_server.pipeline.errors import PipelineError
from coordinator_server.pipeline.progress import Progress
from coordinator_server.server.cleaner import Clean, Cleaned


def main() -> int:
    """Run the order and return the exit code."""
    die_with_parent()
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Clean)
    if os.getppid() != order.server:
        # The server ended before die_with_parent took effect.
        return 1
    run_at_low_priority()
    # RLIMIT_DATA counts writable memory, and not the mapped code.
    resource.setrlimit(resource.RLIMIT_DATA, (order.max_memory_bytes, order.max_memory_bytes))
    try:
        sys.stdout.buffer.write(msgspec.json.encode(clean(order)))
    except (PipelineError, LogError, OSError) as failure:
        return complain(failure, 1)
    return 0


def clean(order: Clean) -> Cleaned:
    """Compact the shards of the order. If it raises PipelineError, LogError or OSError, nothing was published."""
    data_dir = Path(order.data_dir)
    with compaction_lock(data_dir):
        todo = [plan for plan in plans(data_dir, order.sealed) if plan.shard in order.sealed]
        result = compact(todo, order.cutoff_ms, partial(_run, order.max_memory_bytes), Progress())
    layers = result.layers
    return Cleaned(
        shards=[layer.shard for layer in layers],
        records_before=sum(layer.records_in for layer in layers),
        bytes_before=sum(layer.bytes_in for layer in layers),
        records=sum(layer.records for layer in layers),
        bytes=sum(layer.bytes_out for layer in layers),
        left_alone=[*result.left_alone, *(f"{layer.shard}: {layer.no_checkpoint}" for layer in layers if layer.no_checkpoint)],
    )


def _run(max_memory_bytes: int, todo: Sequence[ShardPlan], cutoff_ms: int | None, progress: Progress) -> list[ShardResult]:
    """Run the plain engine on one shard after the other, each with all of the memory."""
    return [_compacted(plan, cutoff_ms, max_memory_bytes) for plan in todo]


def _compacted(plan: ShardPlan, cutoff_ms: int | None, max_memory_bytes: int) -> ShardResult:
    with contextlib.suppress(MemoryError):
        return compact_shard(plan, cutoff_ms, PythonEngine())
    advice = "raise it, or run `coordinator-server compact` by hand, which has no limit"
    why = f"{plan.shard} takes more memory than log.cleaner.max.memory.bytes={max_memory_bytes}: {advice}"
    return ShardResult(plan.directory, plan.to_offset, left_alone=why)
