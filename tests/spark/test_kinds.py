"""Kinds that only tests have (tests/toy), on Spark: the driver and its workers know them by their rows alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.server import ROOT
from tests.support.toy_logs import written
from tests.toy.rows import ENVIRONMENT, FOLDED, KEYED, PARTITIONS

pytest.importorskip("pyspark", reason="the spark extra is not installed: make test brings it")


def run(*words: str) -> list[Any]:
    """A command with the toys; its lines of JSON."""
    command = [sys.executable, "-m", "coordinator_server", *words, "--json"]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def layers(data_dir: Path) -> dict[str, bytes]:
    return {str(path.relative_to(data_dir)): path.read_bytes() for path in data_dir.glob("*/layer-*/*")}


def test_compact_and_verify_on_spark(tmp_path: Path) -> None:
    """The bytes of the plain engine, from one task each and from many; and the states are proven."""
    data_dir = tmp_path / "plain"
    for kind in (KEYED, FOLDED):
        written(data_dir, kind)
    for name in ("tasks", "many-tasks"):
        shutil.copytree(data_dir, tmp_path / name)

    [plain] = run("compact", "--engine", "python", "--data-dir", str(data_dir))
    compacted, verdicts = run("pipeline", "compact", "verify", "--master", "local[2]", "--data-dir", str(tmp_path / "tasks"))
    [giant] = run("compact", "--task-bytes", "1", "--master", "local[2]", "--data-dir", str(tmp_path / "many-tasks"))

    assert len(plain["layers"]) == 2 * PARTITIONS
    assert plain["layers"] == compacted["layers"] == giant["layers"]
    assert layers(tmp_path / "tasks") == layers(tmp_path / "many-tasks") == layers(data_dir)
    assert [(verdict["noun"], verdict["full"] == verdict["compacted"]) for verdict in verdicts] == [
        ("totals", True)
    ] * 2 * PARTITIONS
