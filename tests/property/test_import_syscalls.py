"""An import killed at the N-th system call that changes a file: what is there is nothing, unfinished,
or whole; the next import makes it whole.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coordinator_server.kinds import GROUPS, SHARE_STATE
from coordinator_server.log.errors import LogError
from coordinator_server.log.local import LocalLogStore
from coordinator_server.log.meta import NAME
from tests.property.test_log_syscalls import KILLED, ROOT
from tests.support.kafka_log import kept_log
from tests.support.kafka_partition import segment, write_partition
from tests.support.kind_logs import share_log
from tests.support.segments import encode
from tests.support.strace import program_killed_at

CALLS = ("pwrite64", "fdatasync", "fsync", "rename", "mkdir")
# What the default run kills at: the commit of each step. --every-syscall kills at all of them.
SAMPLED = (("rename", 1), ("rename", 5), ("rename", 9), ("fsync", 10), ("fdatasync", 20))


def contents(data_dir: Path) -> dict[str, bytes]:
    """Everything but the lock, and the topics, which say when they were made."""
    files = (path for path in data_dir.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(data_dir)): path.read_bytes() for path in files if "__cluster_metadata" not in str(path)}


@pytest.mark.crash
def test_a_kill_at_any_system_call_leaves_nothing_half_done_that_starts(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """Nothing is there, or no server starts on it, or the import is whole."""
    if shutil.which("strace") is None:
        pytest.skip("no strace on the PATH: it kills the import at chosen system calls")
    log = kept_log(tmp_path / "kafka")
    write_partition(log.log_dir, 0, (segment(0), [encode(batch) for batch in share_log(1, 40)]), topic=SHARE_STATE.topic)
    whole = tmp_path / "whole"
    assert run(log.log_dir, whole) == 0
    if not pytestconfig.getoption("--every-syscall"):
        assert all(is_killed(log.log_dir, tmp_path, whole, call, when) for call, when in SAMPLED)
        return
    for call in CALLS:
        kills = 0
        while is_killed(log.log_dir, tmp_path, whole, call, kills + 1):
            kills += 1
        assert kills > 5, call


def is_killed(log_dir: Path, tmp_path: Path, whole: Path, call: str, when: int) -> bool:
    """Kill an import at that call, look at what is left, and import again; False when it makes fewer such calls."""
    data_dir = tmp_path / f"{call}-{when}"
    code = run(log_dir, data_dir, program_killed_at(call, when))
    if code != 0:
        assert code in KILLED, code
        check(data_dir, whole)
        assert run(log_dir, data_dir) == 0
    assert contents(whole).items() <= contents(data_dir).items()
    shutil.rmtree(data_dir)
    return code != 0


def run(log_dir: Path, data_dir: Path, inject: list[str] | None = None) -> int:
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "coordinator_server", "import", "--from", str(log_dir), "--data-dir", str(data_dir)]
    done = subprocess.run([*(inject or []), *command], cwd=ROOT, env=environment, capture_output=True, timeout=60, check=False)
    return done.returncode


def check(data_dir: Path, whole: Path) -> None:
    if not (data_dir / NAME).exists():
        assert not data_dir.exists() or {path.name for path in data_dir.iterdir()} <= {".lock", f"{NAME}.new"}
        return
    refusal = refusal_of(data_dir)
    if refusal:
        assert "was not finished" in refusal
    else:
        assert contents(whole).items() <= contents(data_dir).items()


def refusal_of(data_dir: Path) -> str:
    """Why no server starts there; nothing when one does."""
    try:
        LocalLogStore.open(data_dir, post=lambda call: call(), node_id=1, partitions={GROUPS.topic: 5}).close()
    except LogError as refused:
        return str(refused)
    return ""
