"""Commands in forks are as those that Python starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_forks import _reap, fork_command, run_command
from tests.support.eventually import eventually
from tests.support.processes import is_alive
from tests.support.server import ROOT, Server

WORDS = [
    pytest.param(["--version"], id="the version"),
    pytest.param(["config"], id="a result"),
    pytest.param(["replay", "--data-dir", "nowhere"], id="a failure"),
    pytest.param(["serve", "--listen", "nowhere"], id="wrong arguments"),
    pytest.param(["nonsense"], id="no command"),
]


@pytest.mark.parametrize("words", WORDS)
def test_a_fork_says_and_returns_what_a_process_does(words: list[str]) -> None:
    command = [sys.executable, "-m", "coordinator_server", *words]
    expected = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    forked = run_command(*words)

    assert (forked.returncode, forked.stdout, forked.stderr) == (expected.returncode, expected.stdout, expected.stderr)


def test_a_fork_has_the_environment_of_its_caller(tmp_path: Path) -> None:
    """Changed since the template began; and what Python runs first where the environment says so."""
    tmp_path.joinpath("sitecustomize.py").write_text("import os, sys; print(os.environ['CALLED_BY'], file=sys.stderr)")

    done = run_command("--version", environment={"CALLED_BY": "a test", "PYTHONPATH": str(tmp_path)})

    assert done.stderr == "a test\n"


def test_an_end_is_that_of_an_order() -> None:
    """A pid comes again: a command would seem to have ended because one before it had the same."""
    reader, writer = os.pipe()
    ended = subprocess.Popen(["false"])
    eventually(lambda: not is_alive(ended.pid))
    running = {ended.pid: 7}

    _reap(running, writer)

    os.close(writer)
    with os.fdopen(reader) as said:
        assert (said.read(), running) == ("7 256\n", {})


def test_a_server_that_a_signal_ends(tmp_path: Path) -> None:
    """The status of its process is told, as often as it is asked for."""
    words = ["serve", "--listen", "127.0.0.1:0", "--data-dir", str(tmp_path / "data")]
    with tmp_path.joinpath("stderr").open("wb") as stderr:
        forked = fork_command(words, os.environ, stderr)
    assert forked.stdout.readline().startswith("coordinator-server ready on ")
    assert forked.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        forked.wait(0.01)

    forked.kill()

    assert (forked.wait(30), forked.poll(), forked.stdout.read()) == (-signal.SIGKILL, -signal.SIGKILL, "")
    forked.stdout.close()


def test_nothing_is_left_of_a_test_process_that_dies(tmp_path: Path) -> None:
    """The template and its servers end with it."""
    program = f"""
import os, pathlib, sys
from tests.support.server import Server
with Server(pathlib.Path({str(tmp_path)!r})) as server:
    parent = next(line.split()[1] for line in open(f"/proc/{{server.pid}}/status") if line.startswith("PPid"))
    print(server.pid, parent, flush=True)
    os.kill(os.getpid(), 9)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)

    assert done.returncode == -signal.SIGKILL
    eventually(lambda: not any(is_alive(int(pid)) for pid in done.stdout.split()))


def test_a_fresh_server_is_a_python_of_its_own(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.is_fresh = True
    with server:
        words = Path(f"/proc/{server.pid}/cmdline").read_bytes().split(b"\0")

    assert words[1:4] == [b"-m", b"coordinator_server", b"serve"]
