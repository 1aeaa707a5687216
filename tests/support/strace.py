"""A disk that fails under a running process: strace makes its system calls fail, from outside, for as long as it is attached."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.eventually import eventually

ATTEMPTS = 6
ATTACH_S = 10

needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="no strace on the PATH: it makes the disk fail")


@contextmanager
def failing(pid: int, calls: str, error: str, output: Path, *, when: str = "1+", path: Path | None = None) -> Iterator[None]:
    """Within this the calls (a comma between them) fail with an error, those on ``path`` only if one is given.

    ``output`` gets a line each.
    """
    where = ["-P", str(path)] if path is not None else []
    inject = ["-e", f"trace={calls}", "-e", f"inject={calls}:error={error}:when={when}"]
    strace = _attached(["strace", "-f", "-qq", "-y", "-o", str(output), *where, *inject, "-p", str(pid)], pid)
    with strace:
        try:
            yield
        finally:
            _end(strace)


@contextmanager
def killing(pid: int, call: str, number: int, output: Path) -> Iterator[None]:
    """Within this a process is killed as one of its threads makes that call for the n-th time."""
    inject = ["-e", f"trace={call}", "-e", f"inject={call}:signal=SIGKILL:when={number}"]
    strace = _attached(["strace", "-f", "-qq", "-o", str(output), *inject, "-p", str(pid)], pid)
    with strace:
        try:
            yield
        finally:
            _end(strace)


def _attached(command: list[str], pid: int) -> subprocess.Popen[bytes]:
    """Return a strace that has every thread. One that began while strace looked for them is missed: then it looks again."""
    for _ in range(ATTEMPTS):
        strace = subprocess.Popen(command)
        try:
            eventually(lambda: is_traced(pid), within_s=ATTACH_S)
        except AssertionError:
            _end(strace)
        else:
            return strace
    raise AssertionError(f"strace does not get hold of {pid}")


def slowed_by(calls: str, delay_ms: int, paths: Iterable[Path], output: Path) -> list[str]:
    """What to put before a command: its calls on these files take that much longer, until it is ``released``.
    It stays the process that was started.

    Without ``paths`` the kernel syncs no file on its own, so that the journal's syncs are calls, too.
    """
    where = [word for path in paths for word in ("-P", str(path))]
    inject = [
        "-e",
        f"trace={calls},io_setup",
        "-e",
        f"inject={calls}:delay_enter={1000 * delay_ms}",
        "-e",
        "inject=io_setup:error=ENOSYS",
    ]
    return ["strace", "-D", "-f", "-qq", "-o", str(output), *where, *inject]


def killed_at(call: str, number: int, output: Path) -> list[str]:
    """What to put before a command: it is killed as one of its threads makes that call for the n-th time."""
    inject = ["-e", f"trace={call}", "-e", f"inject={call}:signal=SIGKILL:when={number}"]
    return ["strace", "-D", "-f", "-qq", "-o", str(output), *inject]


def program_killed_at(call: str, number: int) -> list[str]:
    """The same for a program that is waited for: strace is its parent. (``--seccomp-bpf`` would be quicker,
    and misses some of the kills.)
    """
    inject = ["-e", f"trace={call}", "-e", f"inject={call}:signal=SIGKILL:when={number}"]
    return ["strace", "-f", "-qq", "-o", os.devnull, *inject]


def release(pid: int) -> None:
    """End the strace that holds a process; the process goes on."""
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("TracerPid:")]
    os.kill(int(line.split()[1]), signal.SIGTERM)


def _end(strace: subprocess.Popen[bytes]) -> None:
    """It lets go of the process and ends.

    One whose process died as it attached may wait for it for ever, and keep it from being reaped.
    """
    strace.terminate()
    try:
        strace.wait(5)
    except subprocess.TimeoutExpired:
        strace.kill()


def is_traced(pid: int) -> bool:
    """Every thread of it; one that is dead already has had its failure, and so has a process that is gone."""
    try:
        states = [(each / "status").read_bytes() for each in Path(f"/proc/{pid}/task").iterdir()]
    except FileNotFoundError:
        return not Path(f"/proc/{pid}").exists()  # Or a thread ended meanwhile: look again.
    return all(b"TracerPid:\t0\n" not in state or b"State:\tZ" in state or b"State:\tX" in state for state in states)


def failed_calls(output: Path) -> list[str]:
    """The lines of the calls that were made to fail."""
    return [line for line in output.read_text().splitlines() if "(INJECTED)" in line]
