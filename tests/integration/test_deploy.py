"""The files of ``deploy``: the unit's system call filter lets a server do all that it does,
and the health check sees one that hangs.
"""

from __future__ import annotations

import ctypes.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from protocol.error_codes import ErrorCode
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.ports import free_port
from tests.support.server import ROOT, Server
from tests.support.simple_requests import commit_alone, coordinator

DEPLOY = ROOT / "deploy"
FILTER = "SystemCallFilter="
# Loads a filter that answers EPERM to all other calls, as SystemCallErrorNumber= says, and becomes the command.
LAUNCH = """
import ctypes, errno, os, sys
libc, seccomp = ctypes.CDLL(None), ctypes.CDLL(sys.argv[1])
seccomp.seccomp_init.restype = ctypes.c_void_p
context = ctypes.c_void_p(seccomp.seccomp_init(0x00050000 | errno.EPERM))
for name in sys.argv[2].split():
    number = seccomp.seccomp_syscall_resolve_name(name.encode())
    if number >= 0:
        assert seccomp.seccomp_rule_add(context, 0x7FFF0000, number, 0) == 0
assert seccomp.seccomp_load(context) == 0
os.execvp(sys.argv[3], sys.argv[3:])
"""


@cache
def members(group: str) -> frozenset[str]:
    """The system calls of a group of systemd."""
    done = subprocess.run(["systemd-analyze", "syscall-filter", group], capture_output=True, text=True, check=True)
    words = [line.strip() for line in done.stdout.splitlines()[1:] if line.strip() and not line.strip().startswith("#")]
    return frozenset().union(*(members(word) if word.startswith("@") else {word} for word in words))


def allowed_calls() -> set[str]:
    """What the unit's lines allow, one after the other."""
    allowed: set[str] = set()
    for line in (DEPLOY / "coordinator-server.service").read_text().splitlines():
        if line.startswith(FILTER):
            words = line.removeprefix(FILTER)
            named = set().union(*(members(word) if word.startswith("@") else {word} for word in words.removeprefix("~").split()))
            allowed = allowed - named if words.startswith("~") else allowed | named
    return allowed


LIBRARY = ctypes.util.find_library("seccomp")
needs_filter = pytest.mark.skipif(
    LIBRARY is None or shutil.which("systemd-analyze") is None, reason="needs libseccomp and systemd-analyze"
)


@needs_filter
@pytest.mark.parametrize("loops", [1, 2])
def test_the_cleaner_works_under_the_units_filter(tmp_path: Path, loops: int) -> None:
    """So does everything else up to a clean stop, and what the filter is for is denied."""
    allowed = allowed_calls()
    assert {"read", "setpriority"} <= allowed
    assert not {"mount", "chown", "sched_setaffinity"} & allowed
    server = Server(tmp_path, {"topics": "orders:6", "log.cleaner.backoff.ms": 20, "log.cleaner.min.bytes": 1}, loops=loops)
    server.run_by = [sys.executable, "-c", LAUNCH, str(LIBRARY), " ".join(sorted(allowed))]
    with server:
        status = Path(f"/proc/{server.pid}/status").read_text()
        assert "Seccomp:\t2" in status
        with Client(server.addresses[0]) as client:
            group = next(
                name
                for name in map("group-{}".format, range(9))
                if commit_alone(client, name, "orders", {0: 1})[0] == ErrorCode.NONE
            )
            assert commit_alone(client, group, "orders", {0: 2}) == {0: ErrorCode.NONE}
        eventually(lambda: "log-cleaned" in server.log(), describe=server.log)

        assert server.stop() == 0
    assert "not-cleaned" not in server.log()


def health_check(port: int) -> int:
    """The exit code of the container's health check, for a server on this port."""
    text = (DEPLOY / "Containerfile").read_text()
    words = json.loads(text.partition("HEALTHCHECK")[2].partition("CMD ")[2].splitlines()[0])
    assert words[0] == "python3"
    command = [sys.executable, *(word.replace("9092", str(port)) for word in words[1:])]
    return subprocess.run(command, capture_output=True, check=False, timeout=60).returncode


def test_the_health_check_needs_an_answer(tmp_path: Path) -> None:
    """A server that listens and hangs is not healthy."""
    with Server(tmp_path) as server:
        assert health_check(server.ports[0]) == 0
        server.stop()
        assert health_check(server.port) == 1
    with socket.create_server(("127.0.0.1", 0)) as hanging:
        assert health_check(hanging.getsockname()[1]) == 1


class Manager:
    """A service manager's end of the notifications. It reads at once, because the kernel keeps a few only."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self._read = 0
        self.seen: list[str] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def await_line(self, wanted: str) -> None:
        """Until a line begins so, behind the last one that was awaited."""

        def has_come() -> bool:
            place = next((n for n, line in enumerate(self.seen) if n >= self._read and line.startswith(wanted)), None)
            self._read = self._read if place is None else place + 1
            return place is not None

        eventually(has_come, describe=lambda: self.seen)

    def _listen(self) -> None:
        while True:
            self.seen += self._socket.recv(4096).decode().splitlines()


@needs_filter
@pytest.mark.parametrize("loops", [1, 2])
def test_the_service_manager_is_told(tmp_path: Path, loops: int) -> None:
    """Under the unit's filter: it loads, is ready, gives signs of life, is reloaded and stops;
    the sign of a loop that hangs is missing.
    """
    manager = Manager(tmp_path / "notify")
    server = Server(tmp_path, {"topics": "orders:6"}, loops=loops)
    server.environment = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "300000"}
    server.run_by = [sys.executable, "-c", LAUNCH, str(LIBRARY), " ".join(sorted(allowed_calls()))]
    with server:
        manager.await_line("READY=1")
        assert any(line.startswith("EXTEND_TIMEOUT_USEC=") for line in manager.seen)
        manager.await_line("WATCHDOG=1")
        server.send_signal(signal.SIGHUP)
        manager.await_line("RELOADING=1")
        manager.await_line("READY=1")
        manager.await_line("STATUS=serving: 51 shards" if loops == 1 else "STATUS=2 loops: 2 serving")
        assert server.stop() == 0
        manager.await_line("STOPPING=1")


@pytest.mark.skipif(shutil.which("systemd-socket-activate") is None, reason="needs systemd-socket-activate")
def test_clients_wait_in_the_sockets_of_systemd(tmp_path: Path) -> None:
    """systemd's own tool opens the ports of two loops. A client that connects before the server exists gets its answers."""
    port = free_port()
    while free_port() != port + 1:
        port = free_port()
    server = Server(tmp_path, {"topics": "orders:6", "listeners": f"PLAINTEXT://127.0.0.1:{port}"}, loops=2)
    server.run_by = ["systemd-socket-activate", "-l", f"127.0.0.1:{port}", "-l", f"127.0.0.1:{port + 1}"]
    server.run_by += [f"--setenv={name}" for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ]
    with ExitStack() as over:
        server.launch()
        over.push(server)
        with connected(port + 1) as client:
            server.await_ready()
            assert server.ports == [port, port + 1]
            client.sendall(bytes.fromhex("0000000a0012000000000000ffff"))
            assert client.recv(4)
        for listening in server.addresses:
            with Client(listening) as each:
                assert coordinator(each, "readers") in server.addresses
        assert server.stop() == 0


def connected(port: int) -> socket.socket:
    """A connection to a port that is about to be opened."""
    found: list[socket.socket] = []

    def is_open() -> bool:
        try:
            found.append(socket.create_connection(("127.0.0.1", port), 60))
        except ConnectionRefusedError:
            return False
        return True

    eventually(is_open)
    return found[0]
