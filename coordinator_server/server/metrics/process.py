"""Starts the process that answers HTTP requests for metrics and health, and starts it again if it ends.

The server binds the address, so that a wrong one is found at the start, and passes the socket on. The process asks ``control.sock``
and has no other way to the server: no HTTP request takes time of a loop but for what the operations
``metrics`` and ``health`` take.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

import structlog

from coordinator_server.config import Config
from coordinator_server.config.listeners import bracketed
from coordinator_server.config.values import metrics_address
from coordinator_server.server.errors import StartError
from coordinator_server.server.hosting.interpreter import child_command
from coordinator_server.server.wire.ports import listen_problem

log = structlog.get_logger(__name__)

LOOK_S: Final = 1.0
FIRST_DELAY_S: Final = 1.0
LONGEST_DELAY_S: Final = 60.0
_BACKLOG: Final = 128


class MetricsProcess:
    """The process of one server, if the property ``metrics.listener`` asks for one."""

    def __init__(self, config: Config, data_dir: Path) -> None:
        self._wanted = metrics_address(config)
        self._hosts = ",".join(each.strip() for each in config.metrics_allowed_hosts.split(","))
        self._data_dir = data_dir
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._next_look: asyncio.TimerHandle | None = None
        self._delay_s = FIRST_DELAY_S

    def start(self) -> None:
        """Bind the address and start the process. Raises StartError."""
        if self._wanted is None:
            return
        host, port = self._wanted
        try:
            self._socket = socket.create_server(
                (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=_BACKLOG
            )
        except OSError as refused:
            raise StartError(f"metrics.listener: {listen_problem(host, port, refused)}") from None
        self._spawn()
        host, port = self._socket.getsockname()[:2]
        log.info("metrics-listening", address=f"http://{bracketed(host)}:{port}/metrics")

    def stop(self) -> None:
        """End the process."""
        if self._next_look is not None:
            self._next_look.cancel()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._socket is not None:
            self._socket.close()

    def _spawn(self) -> None:
        assert self._socket is not None
        channel = self._socket.fileno()
        self._process = subprocess.Popen(
            [*child_command("metrics"), str(channel), str(os.getpid()), str(self._data_dir), self._hosts],
            pass_fds=(channel,),
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr.fileno(),
            # Only the server gets ctrl-C.
            process_group=0,
        )
        self._next_look = asyncio.get_running_loop().call_later(LOOK_S, self._look)

    def _look(self) -> None:
        assert self._process is not None
        loop = asyncio.get_running_loop()
        code = self._process.poll()
        if code is None:
            self._delay_s = FIRST_DELAY_S
            self._next_look = loop.call_later(LOOK_S, self._look)
            return
        log.error("metrics-died", exit_code=code, action=f"it is started again in {self._delay_s:.0f} s")
        self._next_look = loop.call_later(self._delay_s, self._spawn)
        self._delay_s = min(2 * self._delay_s, LONGEST_DELAY_S)
