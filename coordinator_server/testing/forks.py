"""The template in the test's process: started when the first server is, and ended with the test process."""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any, Final

from coordinator_server.testing.errors import FixtureError

PACKET_BYTES: Final = 1 << 16
ANSWER_WITHIN_S: Final = 60.0
_MODULE: Final = "coordinator_server.testing.template"


class Template:
    """A process that forks servers (template.py)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(ANSWER_WITHIN_S)
        with theirs:
            self._process = subprocess.Popen(
                # Not from the working directory: a project may have a module named protocol.
                [sys.executable, "-P", "-m", _MODULE, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def start(self, settings: Mapping[str, Any], channel: int, log: int) -> int:
        """Start a server and return its pid. It has the other end of ``channel``, and writes its log to ``log``."""
        pid: int = self._ask({"start": settings}, channel, log)["pid"]
        return pid

    def end(self, pid: int) -> int:
        """Wait until a server has ended that was asked to. Kill it if it does not. Return the status of its process."""
        status: int = self._ask({"end": pid})["status"]
        return status

    def kill(self, pid: int) -> None:
        """Send SIGKILL to a server, and return when it is gone."""
        self._ask({"kill": pid})

    @property
    def is_alive(self) -> bool:
        """Whether the process can start servers."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process."""
        self._socket.close()
        self._process.wait()

    def _ask(self, order: Mapping[str, Any], *descriptors: int) -> dict[str, Any]:
        with self._lock:
            try:
                socket.send_fds(self._socket, [json.dumps(order).encode()], descriptors)
                answer = self._socket.recv(PACKET_BYTES)
            except OSError as error:
                raise FixtureError(f"the process that starts servers does not answer: {error}") from error
        if not answer:
            raise FixtureError(f"the process that starts servers has ended with exit code {self._process.wait()}")
        found: dict[str, Any] = json.loads(answer)
        return found


_lock: Final = threading.Lock()
_templates: Final[dict[int, Template]] = {}


def template() -> Template:
    """Return this process's template, which is started if there is none. A fork of a test process gets one of its own."""
    with _lock:
        found = _templates.get(os.getpid())
        if found is None or not found.is_alive:
            _templates.clear()
            found = _templates[os.getpid()] = Template()
            atexit.register(_close, os.getpid(), found)
        return found


def _close(owner: int, found: Template) -> None:
    if os.getpid() == owner and found.is_alive:
        found.close()
