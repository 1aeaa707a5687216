"""A task of Spark compacts a shard that does not fit into its memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from protocol.record_batch import Record
from tests.support.segments import START_MS, Batch, write_segments
from tests.support.server import ROOT

pytest.importorskip("pyarrow", reason="the spark extra is not installed: make test brings it")

import numpy as np

from coordinator_server.pipeline.compact import column_digest
from coordinator_server.pipeline.compact.column_digest import portion_end, portions

LARGE, SMALL, SIZE = 1_600, 40, 100_000
# With what the engine has mapped when it has compacted something.
LIMITED = """
import os, resource, sys
from pathlib import Path
from coordinator_server.pipeline.compact.engine import compact_shard
from coordinator_server.pipeline.compact.vector_engine import VectorEngine
from tests.support.inputs import plan_shard
from tests.support.processes import memory_mb

small, large, more_mb = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
compact_shard(plan_shard(small), None, VectorEngine())
most = (int(memory_mb(os.getpid(), "VmData")) + more_mb) << 20
resource.setrlimit(resource.RLIMIT_DATA, (most, resource.getrlimit(resource.RLIMIT_DATA)[1]))
try:
    bytearray(sum(path.stat().st_size for path in large.glob("*.log")))
except MemoryError:
    print("limited")
print(compact_shard(plan_shard(large), None, VectorEngine()).records)
"""
# So that all memory is asked of the system when it is needed, and none before.
PLAIN = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1", "OMP_NUM_THREADS": "1"}


def test_a_shard_that_is_larger_than_the_memory_of_a_task(tmp_path: Path) -> None:
    """All of its records stay, 160 MB in a process that may have 96 MiB more than it has when it has done a small one."""
    for name, count in (("small", SMALL), ("large", LARGE)):
        records = (Record(n, START_MS, b"\0\x63%d" % n, b"x" * SIZE) for n in range(count))
        write_segments(tmp_path / name / "__consumer_offsets-3", (Batch((record,)) for record in records), count // 20)

    directories = [str(tmp_path / name / "__consumer_offsets-3") for name in ("small", "large")]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *directories, "96"],
        cwd=ROOT,
        env=os.environ | PLAIN,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (done.stderr, done.stdout.split()) == ("", ["limited", str(LARGE)])


def test_records_are_worked_on_by_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """And by their number; one that is too large for any portion is one of its own."""
    monkeypatch.setattr(column_digest, "WRITE_BYTES", 10)
    monkeypatch.setattr(column_digest, "WRITE_RECORDS", 4)

    def divided(*sizes: int) -> list[list[int]]:
        return [list(sizes[part]) for part in portions(np.array(sizes, np.int64))]

    assert divided() == []
    assert divided(4, 6, 1, 1, 1, 1, 1, 50, 10) == [[4, 6], [1, 1, 1, 1], [1], [50], [10]]
    assert portion_end(np.array([0, 4, 10, 11]), 0, 1) == 1
