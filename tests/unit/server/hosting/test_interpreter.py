"""Processes that the server starts have the modules that it has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SAY = "from coordinator_server.server.hosting.interpreter import interpreter; print(*interpreter()[1:])"


@pytest.mark.parametrize(("flags", "said"), [([], ""), (["-P"], "-P")])
def test_a_child_looks_into_the_current_directory_only_if_its_parent_does(tmp_path: Path, flags: list[str], said: str) -> None:
    """There may be a checkout in it that is not what is installed."""
    command = [sys.executable, *flags, "-c", SAY]
    # It says the same as -P. Whoever runs the tests may have it, and a Spark session in their process sets it.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}

    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == said
