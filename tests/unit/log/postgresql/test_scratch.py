"""The directories to which jobs bring files of a store."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from coordinator_server.log.postgresql.job_log import _new_scratch

NOBODY = 1 << 22
"""More than a process id can be."""


def test_those_of_dead_processes_are_removed_by_whoever_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that another process removes meanwhile is gone when it is looked at, as a link to nothing is."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / f"coordinator-server-store-{NOBODY + 1}-a").symlink_to(tmp_path / "gone")
    left, ours = tmp_path / f"coordinator-server-store-{NOBODY + 1}-b", tmp_path / f"coordinator-server-store-{os.getpid()}-c"
    left.mkdir()
    ours.mkdir()

    scratch = _new_scratch()

    assert scratch.is_dir()
    assert (left.exists(), ours.exists()) == (False, True)
