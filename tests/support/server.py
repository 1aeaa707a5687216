"""The daemon as a subprocess: started on a port of its own, stopped, killed, started again on the same port and the same data."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NoReturn, Self

from tests.support.command_forks import MEASURED, Running, fork_command, run_command
from tests.support.control import ask_control
from tests.support.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
READY = re.compile(r"^coordinator-server ready on (?P<addresses>\S+:\d+) \(cluster (?P<cluster>\S+), data (?P<data>.+)\)$")

# Groups settle at once, and a member that dies is noticed within a second or two.
QUICK = {
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 500,
}


# A disk that others use may stand still for a minute.
START_S = 120


class ServerDied(AssertionError):
    """The daemon ended, or never became ready; the message carries what it logged."""


class Server:
    """One daemon over its restarts. A context manager: leaving it kills what still runs.

    While coverage measures, leaving it stops the daemon instead: one that is killed does not write down what it ran.
    """

    def __init__(self, directory: Path, overrides: Mapping[str, object] | None = None, loops: int = 1) -> None:
        self.data_dir = directory / "data"
        self.loops = loops
        self.ports: list[int] = []
        # By listener, if there are several or the only one has TLS.
        self.listeners: dict[str, list[int]] = {}
        self.overrides = QUICK | dict(overrides or {})
        self.words: list[str] = []
        # Beside that of the tests.
        self.environment: Mapping[str, str] = {}
        # A command that runs the daemon in its own place, as the same process: nice, strace -D.
        self.run_by: list[str] = []
        # Start Python anew each time, and do not fork a process that has all imported (tests/support/command_forks.py).
        self.is_fresh = False
        # Whose server it is: that of a different version is always started anew.
        self.tree = ROOT
        self.host = "127.0.0.1"
        self.port = 0
        self.cluster_id = ""
        self._stderr = directory / "server.log"
        self._process: Running | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        if self._process is None:
            return
        if not MEASURED & os.environ.keys():
            self.kill()
            return
        with contextlib.suppress(ServerDied):
            self.stop()

    @property
    def address(self) -> tuple[str, int]:
        """Of the first loop."""
        return self.host, self.ports[0]

    @property
    def bootstrap(self) -> str:
        return ",".join(f"{self.host}:{port}" for port in self.ports)

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """Of all loops."""
        return [(self.host, port) for port in self.ports]

    @property
    def pid(self) -> int:
        return self._running().pid

    @property
    def is_running(self) -> bool:
        """Whether it was started and nothing has waited for its end."""
        return self._process is not None

    def start(self, within_s: float = START_S) -> Self:
        """Returns when the daemon says that it answers; the port of the first start is kept by the later ones,
        unless there are several.
        """
        self.launch()
        return self.await_ready(within_s)

    def launch(self) -> None:
        """Start it, and do not wait."""
        assert self._process is None, "it runs already"
        if self.loops == 1 and self.port == 0:
            self.port = free_port()
        with self._stderr.open("ab") as stderr:
            self._process = self._started(stderr)

    def _started(self, stderr: IO[bytes]) -> Running:
        if not (self.is_fresh or self.run_by or self.tree != ROOT or MEASURED & os.environ.keys()):
            return fork_command(self.arguments(), os.environ | self.environment, stderr)
        return subprocess.Popen(
            [*self.run_by, *self.command()],
            cwd=self.tree,
            env=os.environ | self.environment,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )

    def await_ready(self, within_s: float = START_S) -> Self:
        """Returns when a daemon that was launched says that it is ready."""
        line = self._first_line(within_s)
        ready = READY.match(line)
        if ready is None:
            self._fail(f"said {line!r} instead of being ready")
        self.listeners = {}
        for address in ready["addresses"].split(","):
            name, _, place = address.rpartition("://")
            self.listeners.setdefault(name, []).append(int(place.rpartition(":")[2]))
        self.ports = next(iter(self.listeners.values()))
        self.cluster_id = ready["cluster"]
        return self

    def command(self) -> list[str]:
        return [sys.executable, "-m", "coordinator_server", *self.arguments()]

    def arguments(self) -> list[str]:
        """Of ``coordinator-server``."""
        listen = [] if "listeners" in self.overrides else ["--listen", f"{self.host}:{self.port}"]
        listen += ["--data-dir", str(self.data_dir)]
        overrides = [word for name, value in self.overrides.items() for word in ("--override", f"{name}={value}")]
        loops = ["--loops", str(self.loops)] if self.loops > 1 else []
        return ["serve", *listen, *loops, *overrides, *self.words]

    def stop(self, within_s: float = 30) -> int:
        """SIGTERM; the exit code."""
        return self._end(signal.SIGTERM, within_s)

    def kill(self) -> None:
        """SIGKILL: what a power cut leaves, but for what the kernel still writes."""
        self._end(signal.SIGKILL, 30)

    def send_signal(self, number: signal.Signals) -> None:
        self._running().send_signal(number)

    def wait(self, within_s: float = 30) -> int:
        """The exit code of a daemon that ends by itself."""
        process, self._process = self._running(), None
        return process.wait(within_s)

    def run_to_end(self, within_s: float = 30) -> subprocess.CompletedProcess[str]:
        """Start another daemon with the same arguments, and wait until it ends: for starts that must fail."""
        return run_command(*self.arguments(), environment=self.environment, within_s=within_s)

    def control(self, **request: object) -> dict[str, Any]:
        """What ``control.sock`` answers."""
        answer: dict[str, Any] = ask_control(self.data_dir, **request)
        return answer

    def loop_pids(self) -> list[int]:
        """Of the loops' processes, in order."""
        return [each["pid"] for each in self.control(op="loops")["loops"]]

    def log(self) -> str:
        """Everything that it wrote to stderr so far, over all starts."""
        return self._stderr.read_text(errors="replace") if self._stderr.exists() else ""

    def _running(self) -> Running:
        assert self._process is not None, "it does not run"
        return self._process

    def _end(self, number: signal.Signals, within_s: float) -> int:
        process, self._process = self._running(), None
        process.send_signal(number)
        try:
            return process.wait(within_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise ServerDied(f"still there {within_s} s after {number.name}; its log ends\n{self._log_end()}") from None
        finally:
            _stdout(process).close()

    def _first_line(self, within_s: float) -> str:
        deadline, stdout, line = time.monotonic() + within_s, _stdout(self._running()), b""
        while not line.endswith(b"\n"):
            if not select.select([stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
                self._fail(f"not ready within {within_s} s")
            chunk = os.read(stdout.fileno(), 4096)
            if not chunk:
                self._fail(f"ended with exit code {self._running().wait()}")
            line += chunk
        return line.decode().rstrip("\n")

    def _fail(self, what: str) -> NoReturn:
        process, self._process = self._running(), None
        process.kill()
        process.wait()
        _stdout(process).close()
        raise ServerDied(f"the server {what}; its log ends\n{self._log_end()}")

    def _log_end(self) -> str:
        return "\n".join(self.log().splitlines()[-30:])


def _stdout(process: Running) -> IO[str]:
    assert process.stdout is not None
    return process.stdout
