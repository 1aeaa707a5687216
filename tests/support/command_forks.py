"""Commands of ``coordinator-server`` in forks of a process that has everything imported.

A start of Python and the imports take half a second of processor time, more than most tests. So each test process has a template
for servers and one for tools (``python -m tests.support.command_forks KIND FD FD``), which become commands by forks: the same
``main``, with the arguments and the environment of the caller, in a process of its own. All forks of a template have one seed of
``hash``; a test for which that matters starts its processes afresh (``Server.is_fresh``).

Orders are JSON objects on the socket FD, each in a packet of its own, with the descriptors of stdout and stderr beside it. The
answer is the pid. When a command ends, the template says ``NUMBER STATUS`` on the pipe FD: the number is the order's, since pids
come again.
It ends with the test process, and kills what is left then.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import SimpleNamespace
from typing import IO, Any, Final, NoReturn, Protocol

from coordinator_server.cli import COMMANDS, main
from coordinator_server.config.load import load

_ROOT: Final = Path(__file__).resolve().parents[2]
PACKET_BYTES: Final = 1 << 17
ANSWER_S: Final = 60.0
# Of coverage, in the environment of what it measures: it begins with a process.
MEASURED: Final = frozenset({"COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG"})
# What a server imports when it starts, and nothing else; what it imports with its first requests is `_GENERATED`.
_OF_SERVER: Final = (
    "uvloop",
    "coordinator_server.cli.loop",
    "coordinator_server.cli.serve",
    "coordinator_server.server.daemon",
    "coordinator_server.server.hosting.slow_turns",
    "coordinator_server.server.http_process",
    "coordinator_server.server.supervisor.supervisor",
)
_GENERATED: Final = "protocol.generated"
_OF_TOOLS: Final = (*(f"coordinator_server.cli.{module}" for module, _ in COMMANDS.values()), "numpy", "pyarrow.parquet")


class Running(Protocol):
    """What Popen and Forked have in common."""

    pid: int

    @property
    def stdout(self) -> IO[str] | None: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int) -> None: ...
    def kill(self) -> None: ...


class Forked:
    """A command that runs in a fork of the template: the part of ``Popen`` that tests use. ``stdout`` is a pipe."""

    def __init__(self, forks: _Template, number: int, pid: int, stdout: IO[str]) -> None:
        self._forks = forks
        self._number = number
        self.pid = pid
        self.stdout = stdout
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, None while it runs; as with Popen the negative number of a signal that ended it."""
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        """The exit code. Raises TimeoutExpired."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self._look(60 if deadline is None else max(0.0, deadline - time.monotonic()))) is None:
            if deadline is not None and time.monotonic() >= deadline:
                assert timeout is not None
                raise subprocess.TimeoutExpired(["coordinator-server"], timeout)
        return code

    def send_signal(self, sig: int) -> None:
        """Nothing if it has ended and somebody knows."""
        if self.poll() is None:
            os.kill(self.pid, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def read_all(self, within_s: float) -> str:
        """All that it prints. Raises TimeoutExpired."""
        deadline, found = time.monotonic() + within_s, b""
        while select.select([self.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
            if not (some := os.read(self.stdout.fileno(), PACKET_BYTES)):
                return found.decode()
            found += some
        raise subprocess.TimeoutExpired(["coordinator-server"], within_s, found)

    def _look(self, within_s: float) -> int | None:
        if self.returncode is None:
            self.returncode = self._forks.end_of(self._number, within_s)
        return self.returncode


def fork_command(words: Sequence[str], environment: Mapping[str, str], stderr: IO[bytes]) -> Forked:
    """Start ``coordinator-server WORDS`` in a fork, from the root of the tree. It has no stdin."""
    return _template("server" if words[0] == "serve" else "tools").start(words, environment, stderr)


def run_command(
    *words: str | Path, environment: Mapping[str, str] | None = None, within_s: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end. Raises TimeoutExpired."""
    given, whole = list(map(str, words)), os.environ | dict(environment or {})
    if MEASURED & os.environ.keys():
        command = [sys.executable, "-m", "coordinator_server", *given]
        return subprocess.run(command, cwd=_ROOT, env=whole, capture_output=True, text=True, timeout=within_s, check=False)
    with tempfile.TemporaryFile() as stderr:
        forked = fork_command(given, whole, stderr)
        try:
            said = forked.read_all(within_s)
            code = forked.wait(within_s)
        finally:
            forked.kill()
            forked.stdout.close()
        stderr.seek(0)
        return subprocess.CompletedProcess(["coordinator-server", *given], code, said, stderr.read().decode())


class _Template:
    """The test process's end."""

    def __init__(self, kind: str) -> None:
        self._lock = threading.Lock()
        self._orders = 0
        # By the number of the order.
        self._ended: dict[int, int] = {}
        self._rest = b""
        self._socket, orders = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(ANSWER_S)
        self._ends, ends = os.pipe()
        with orders:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, kind, str(orders.fileno()), str(ends)],
                cwd=_ROOT,
                stdin=subprocess.DEVNULL,
                pass_fds=[orders.fileno(), ends],
            )
        os.close(ends)

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def start(self, words: Sequence[str], environment: Mapping[str, str], stderr: IO[bytes]) -> Forked:
        reader, writer = os.pipe()
        with self._lock:
            self._orders = number = self._orders + 1
            order = {"number": number, "words": list(words), "environment": dict(environment)}
            try:
                socket.send_fds(self._socket, [json.dumps(order).encode()], [writer, stderr.fileno()])
                answer = self._socket.recv(PACKET_BYTES)
            finally:
                os.close(writer)
        assert answer, f"the process that forks commands has ended with {self._process.wait()}"
        return Forked(self, number, int(answer), os.fdopen(reader))

    def end_of(self, number: int, within_s: float) -> int | None:
        """The exit code of the command of an order that has ended, or does so within this time."""
        deadline = time.monotonic() + within_s
        while True:
            with self._lock:
                if number not in self._ended:
                    # Another thread may take what this one waits for.
                    self._read(min(0.05, max(0.0, deadline - time.monotonic())))
                if number in self._ended:
                    return self._ended[number]
            if time.monotonic() >= deadline:
                return None

    def close(self) -> None:
        self._socket.close()
        self._process.wait()
        os.close(self._ends)

    def _read(self, within_s: float) -> None:
        if select.select([self._ends], [], [], within_s)[0]:
            found = os.read(self._ends, PACKET_BYTES)
            assert found, f"the process that forks commands has ended with {self._process.wait()}"
            *lines, self._rest = (self._rest + found).split(b"\n")
            for line in lines:
                number, status = map(int, line.split())
                self._ended[number] = os.waitstatus_to_exitcode(status)


_templates: Final[dict[tuple[int, str], _Template]] = {}
_lock: Final = threading.Lock()


def _template(kind: str) -> _Template:
    """This process's; a fork of a test process gets its own."""
    key = os.getpid(), kind
    with _lock:
        found = _templates.get(key)
        if found is None or not found.is_alive:
            found = _templates[key] = _Template(kind)
            atexit.register(_close, os.getpid(), found)
        return found


def _close(owner: int, found: _Template) -> None:
    if os.getpid() == owner and found.is_alive:
        found.close()


# --- the template's end


def _serve(kind: str, orders: socket.socket, ends: int) -> list[str]:
    """Fork until the test process ends. Returns in the forks, with the words of the command."""
    # ctrl-C is for the test runner, which ends its servers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _import(kind)
    wake, woken = socket.socketpair()
    wake.setblocking(False)
    woken.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno())
    # The number of the order of each process.
    running: dict[int, int] = {}
    while True:
        ready = select.select([orders, wake], [], [])[0]
        if wake in ready:
            wake.recv(PACKET_BYTES)
        _reap(running, ends)
        if orders not in ready:
            continue
        packet, descriptors, _, _ = socket.recv_fds(orders, PACKET_BYTES, 2)
        if not packet:
            for pid in running:
                os.kill(pid, signal.SIGKILL)
            sys.exit()
        order = json.loads(packet)
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            for each in (orders, wake, woken):
                each.close()
            os.close(ends)
            return _become(order, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        running[pid] = order["number"]
        orders.send(str(pid).encode())


def _import(kind: str) -> None:
    # As the command does (coordinator_server/__main__.py).
    sys.modules["rich"] = None  # type: ignore[assignment]
    # A fork has the thread that forked, and not those of a library.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for name in _OF_SERVER if kind == "server" else _OF_TOOLS:
        import_module(name)
    for each in iter_modules(import_module(_GENERATED).__path__):
        import_module(f"{_GENERATED}.{each.name}")
    # What the first use of a property computes.
    load({"topics": "any:1"})
    # What is shared with the forks stays shared: the collector does not touch it.
    gc.collect()
    gc.freeze()


def _reap(running: dict[int, int], ends: int) -> None:
    for pid in [*running]:
        with contextlib.suppress(ChildProcessError, BrokenPipeError):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                os.write(ends, b"%d %d\n" % (running.pop(pid), status))


def _become(order: dict[str, Any], stdout: int, stderr: int) -> list[str]:
    """Be as a process that was started so."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for source, target in ((stdout, 1), (stderr, 2)):
        os.dup2(source, target)
        os.close(source)
    os.environ.clear()
    os.environ.update(order["environment"])
    for directory in filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)):
        if (script := Path(directory, "sitecustomize.py")).exists():
            runpy.run_path(str(script))
    # A supervisor starts its loops in the same way.
    loop_process: Any = import_module("coordinator_server.server.supervisor.loop_process")
    loop_process.subprocess = SimpleNamespace(Popen=ForkedLoop, DEVNULL=subprocess.DEVNULL)
    words: list[str] = order["words"]
    sys.argv[1:] = words
    return words


class ForkedLoop:
    """A loop that its supervisor, which is this process, has forked: the part of ``Popen`` that it uses."""

    def __init__(self, words: Sequence[str], *, pass_fds: Sequence[int], **_: object) -> None:
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            _be_loop(words, frozenset(pass_fds))

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def _be_loop(words: Sequence[str], inherited: frozenset[int]) -> NoReturn:
    """Run the loop above the stack of the supervisor's event loop, which never goes on here."""
    code = 1
    try:
        gc.freeze()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.setpgid(0, 0)
        # The supervisor's files are closed, and their numbers stay taken: an object of its may still close one.
        nothing = os.open(os.devnull, os.O_RDWR)
        for each in {int(path.name) for path in Path("/proc/self/fd").iterdir()} - inherited - {1, 2, nothing}:
            os.dup2(nothing, each, inheritable=each == 0)
        os.dup2(2, 1)
        asyncio.events._set_running_loop(None)
        sys.argv[1:] = words[words.index("loop") + 1 :]
        code = import_module("coordinator_server.cli.loop").main()
    except BaseException:  # noqa: BLE001 - this process must not go on as the supervisor
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    sys.exit(main(_serve(sys.argv[1], socket.socket(fileno=int(sys.argv[2])), int(sys.argv[3]))))
