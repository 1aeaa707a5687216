"""Kinds that only tests have (tests/toy, tests/leases), on Spark: the driver and its workers know them by their rows alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.kind_logs import share_log
from tests.support.lease_server import assert_every_tool_agrees, lease_server
from tests.support.segments import write_segments
from tests.support.server import Server
from tests.support.toy_logs import written
from tests.toy.rows import FOLDED, KEYED, PARTITIONS

pytest.importorskip("pyspark", reason="the spark extra is not installed: make test brings it")

from tests.support.spark_driver import SparkDriver


def run(jobs: SparkDriver, *words: str) -> list[Any]:
    """A command with the toys; its lines of JSON."""
    done = jobs.run(*words, "--json")
    assert (done.code, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def layers(data_dir: Path) -> dict[str, bytes]:
    return {str(path.relative_to(data_dir)): path.read_bytes() for path in data_dir.glob("*/layer-*/*")}


def test_compact_and_verify_on_spark(jobs: SparkDriver, tmp_path: Path) -> None:
    """The bytes of the plain engine, from one task each and from many; and the states are proven."""
    data_dir = tmp_path / "plain"
    for kind in (KEYED, FOLDED):
        written(data_dir, kind)
    # A folded log of the server's own beside them.
    write_segments(data_dir / "__share_group_state-1", share_log(5, 60))
    for name in ("tasks", "many-tasks"):
        shutil.copytree(data_dir, tmp_path / name)

    [plain] = run(jobs, "compact", "--engine", "python", "--data-dir", str(data_dir))
    compacted, verdicts = run(jobs, "pipeline", "compact", "verify", "--data-dir", str(tmp_path / "tasks"))
    [giant] = run(jobs, "compact", "--task-bytes", "1", "--data-dir", str(tmp_path / "many-tasks"))

    assert len(plain["layers"]) == 2 * PARTITIONS + 1
    assert plain["layers"] == compacted["layers"] == giant["layers"]
    assert layers(tmp_path / "tasks") == layers(tmp_path / "many-tasks") == layers(data_dir)
    assert [(verdict["noun"], verdict["full"] == verdict["compacted"]) for verdict in verdicts] == [
        ("share partitions", True),
        *[("totals", True)] * 2 * PARTITIONS,
    ]


def test_a_kind_with_a_clock(jobs: SparkDriver, tmp_path: Path) -> None:
    """Beside a server of two loops; it starts from Spark's layers with one."""

    def compact_and_verify(server: Server) -> tuple[Any, Any]:
        compacted, proven = run(jobs, "pipeline", "compact", "verify", "--data-dir", str(server.data_dir))
        return compacted, proven

    with lease_server(tmp_path, 2) as server:
        assert_every_tool_agrees(server, compact_and_verify)
