"""Commands that root runs on the data directory of a different user: the server can read and replace all that they leave."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

from coordinator_server.cli.data_dir_owner import become_owner, give_to_owner
from coordinator_server.log.errors import WrongDirectory
from tests.support.segments import coordinator_log, write_meta, write_segments
from tests.support.server import ROOT

OWNER = 12_345


PROBE = f"""
import os, sys
import coordinator_server.cli.compact
os.setgroups([])
os.setuid({OWNER})
sys.exit(not all(os.access(path, os.R_OK) for path in (sys.executable, os.__file__, "coordinator_server")))
"""
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *site.getsitepackages()])}


@cache
def python_for_all() -> str | None:
    """Return a Python that every user can run, with this tree; None if there is none, or the test does not run as root."""
    if os.geteuid() != 0:
        return None
    for python in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        with suppress(OSError):
            if subprocess.run([python, "-c", PROBE], cwd=ROOT, env=ENVIRONMENT, check=False, capture_output=True).returncode == 0:
                return python
    return None


@pytest.fixture(autouse=True)
def _as_root() -> None:
    if python_for_all() is None:
        pytest.skip("only root can become a different user")


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """Of a different user, below directories that this user can pass."""
    base = Path(tempfile.mkdtemp())
    base.chmod(0o755)
    data = base / "data"
    data.mkdir(mode=0o700)
    write_meta(data)
    write_segments(data / "__consumer_offsets-7", coordinator_log(1, 9), 3)
    for path in (data, *data.rglob("*")):
        os.chown(path, OWNER, OWNER)
    yield data
    shutil.rmtree(base)


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [str(python_for_all()), "-m", "coordinator_server", *words]
    return subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False)


def owners(directory: Path) -> set[int]:
    return {path.stat().st_uid for path in (directory, *directory.rglob("*"))}


@pytest.mark.parametrize("words", [["compact", "--engine", "python"], ["replay"], ["groups", "why", "group-1"]])
def test_commands_of_root_run_as_the_owner(data_dir: Path, words: list[str]) -> None:
    """And say so."""
    done = run(*words, "--data-dir", str(data_dir))

    assert f"running as user {OWNER}, the owner of {data_dir}" in done.stderr
    assert (data_dir / ".lock").exists()
    assert owners(data_dir) == {OWNER}


def test_what_is_salvaged_belongs_to_the_owner(data_dir: Path) -> None:
    """The directory above it may be one that only root can write to."""
    saved = data_dir.with_name("saved")
    run("log", "verify", "--data-dir", str(data_dir), "--salvage", str(saved))

    assert owners(saved) == {OWNER}


def test_files_of_root_are_given_to_the_owner_of_the_directory(data_dir: Path) -> None:
    """An import or an export writes to a directory of its user. Files of a third user stay theirs."""
    ours, theirs = data_dir / "new" / "of-root", data_dir / "of-another"
    ours.parent.mkdir()
    for path in (ours, theirs):
        path.touch()
    os.chown(theirs, OWNER + 1, OWNER + 1)
    give_to_owner(data_dir, data_dir)

    assert {path.stat().st_uid for path in (ours, ours.parent)} == {OWNER}
    assert theirs.stat().st_uid == OWNER + 1


def test_an_owner_that_cannot_reach_the_directory(data_dir: Path) -> None:
    """As below /var/lib/private."""
    data_dir.parent.chmod(0o700)
    done = run("replay", "--data-dir", str(data_dir))

    assert (done.returncode, done.stdout) == (2, "")
    assert "deploy/coordinator-server.service says how" in done.stderr


def test_root_that_may_not_change_users(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container without that capability."""

    def refuse(_groups: list[int]) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "setgroups", refuse)
    with pytest.raises(
        WrongDirectory, match=f"belongs to user {OWNER}, and root cannot become that user: Operation not permitted"
    ):
        become_owner(data_dir)


def test_a_directory_of_root_is_used_by_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "setuid", pytest.fail)

    become_owner(tmp_path)
