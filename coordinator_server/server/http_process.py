"""Starts the processes that answer HTTP requests, metrics and the page, and starts them again if they end.

The server binds the addresses, so that a wrong one is found at the start, and passes the sockets on. The processes ask
``control.sock`` and have no other way to the server: no HTTP request takes time of a loop but for what the operations take that
they ask for.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import structlog
from msgspec import Struct

from coordinator_server.config import Config, ConfigError
from coordinator_server.config.listeners import bracketed
from coordinator_server.config.logs import Logs
from coordinator_server.config.values import is_of_this_machine, metrics_address, page_address
from coordinator_server.security.tls_settings import TlsSettings
from coordinator_server.server.errors import StartError
from coordinator_server.server.hosting.interpreter import child_command
from coordinator_server.server.wire.ports import listen_problem

log = structlog.get_logger(__name__)

LOOK_S: Final = 1.0
FIRST_DELAY_S: Final = 1.0
LONGEST_DELAY_S: Final = 60.0
_BACKLOG: Final = 128
PAGE: Final = "page"
_PAGE_PACKAGES: Final = ("starlette", "uvicorn")


class PageSetup(Struct, frozen=True):
    """What the process of the page reads from its standard input: keys do not belong in a command line. On SIGHUP it does so again.

    A page that other machines reach has TLS and a login: at the server of the directory, or at ``bootstrap``. ``command_config`` is
    the file with the properties of clients of that cluster; "" if there is none. ``logs`` are the settings of the server's log.
    """

    hosts: list[str] = []
    tls: TlsSettings | None = None
    bootstrap: str = ""
    command_config: str = ""
    logs: Logs = Logs()


class Wanted(NamedTuple):
    """A process that a property asks for: the name of its child (cli/child.py), its address, and the path that people look at.

    ``listening`` and ``died`` are the events of the server's log. ``setup`` is what the process reads from its standard input,
    ``tls`` the certificate in it.
    """

    name: str
    address: tuple[str, int]
    allowed_hosts: str
    path: str
    listening: str
    died: str
    setup: bytes = b""
    tls: TlsSettings | None = None


class HttpProcesses:
    """The processes of one server, as far as the properties ``metrics.listener`` and ``page.listener`` ask for them."""

    def __init__(self, config: Config, data_dir: Path, logs: Logs) -> None:
        self._logs = logs
        self._processes = [HttpProcess(each, data_dir) for each in _wanted(config, logs)]

    def start(self) -> None:
        """Bind the addresses and start the processes. Raises StartError."""
        for each in self._processes:
            if each.name == PAGE:
                check_page_packages("page.listener")
            each.start()

    def stop(self) -> None:
        """End the processes."""
        for each in self._processes:
            each.stop()

    def reload(self, config: Config) -> None:
        """Have the page use the certificate that properties and files have now, for connections from now on."""
        try:
            wanted = {each.name: each for each in _wanted(config, self._logs)}
        except ConfigError as wrong:
            log.error("certificate-not-reloaded", listener=PAGE, why=str(wrong), action="the old one stays in use")
            return
        for each in self._processes:
            each.reload(wanted.get(each.name))

    @property
    def page(self) -> str | None:
        """The address of the page; None if none was asked for."""
        return next((each.url for each in self._processes if each.name == PAGE), None)


class HttpProcess:
    """One process, and the socket that it gets."""

    def __init__(self, wanted: Wanted, data_dir: Path) -> None:
        self.name = wanted.name
        self.url = ""
        self._wanted = wanted
        self._hosts = ",".join(each.strip() for each in wanted.allowed_hosts.split(","))
        self._data_dir = data_dir
        self._socket: socket.socket | None = None
        self._setup = -1
        self._process: subprocess.Popen[bytes] | None = None
        self._next_look: asyncio.TimerHandle | None = None
        self._delay_s = FIRST_DELAY_S

    def start(self) -> None:
        """Bind the address and start the process. Raises StartError."""
        self._socket = listening(f"{self.name}.listener", *self._wanted.address)
        # A file that is in no directory.
        self._setup = os.memfd_create("setup")
        self._write_setup()
        self._spawn()
        self.url = f"{url_of(self._socket, 'http' if self._wanted.tls is None else 'https')}{self._wanted.path}"
        log.info(self._wanted.listening, address=self.url)

    def reload(self, wanted: Wanted | None = None) -> None:
        """Have the process read its certificate again, if it has one; ``wanted`` has other properties for it.

        If they or the files are wrong, the old one stays.
        """
        wanted = self._wanted if wanted is None else wanted
        if wanted.tls is None or self._process is None:
            return
        from coordinator_server.security.tls import ListenerTls

        try:
            certificate = ListenerTls(wanted.tls)
        except ConfigError as wrong:
            log.error("certificate-not-reloaded", listener=self.name, why=str(wrong), action="the old one stays in use")
            return
        self._wanted = wanted
        self._write_setup()
        self._process.send_signal(signal.SIGHUP)
        log.info("certificate-reloaded", listener=self.name, expires=certificate.not_after.isoformat())

    def stop(self) -> None:
        """End the process."""
        if self._next_look is not None:
            self._next_look.cancel()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._socket is not None:
            self._socket.close()
        if self._setup >= 0:
            os.close(self._setup)

    def _write_setup(self) -> None:
        os.ftruncate(self._setup, 0)
        os.pwrite(self._setup, self._wanted.setup, 0)

    def _spawn(self) -> None:
        assert self._socket is not None
        channel = self._socket.fileno()
        # A child has the mask of its parent: what is sent before the page can take it waits (cli/page.py).
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
        try:
            self._process = subprocess.Popen(
                [*child_command(self.name), str(channel), str(os.getpid()), str(self._data_dir), self._hosts],
                pass_fds=(channel,),
                stdin=self._setup,
                stdout=sys.stderr.fileno(),
                # Only the server gets ctrl-C.
                process_group=0,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self._next_look = asyncio.get_running_loop().call_later(LOOK_S, self._look)

    def _look(self) -> None:
        assert self._process is not None
        loop = asyncio.get_running_loop()
        code = self._process.poll()
        if code is None:
            self._delay_s = FIRST_DELAY_S
            self._next_look = loop.call_later(LOOK_S, self._look)
            return
        log.error(self._wanted.died, exit_code=code, action=f"it is started again in {self._delay_s:.0f} s")
        self._next_look = loop.call_later(self._delay_s, self._spawn)
        self._delay_s = min(2 * self._delay_s, LONGEST_DELAY_S)


def listening(name: str, host: str, port: int) -> socket.socket:
    """Return a socket that listens; ``name`` is the property or option that asks for it. Raises StartError."""
    try:
        found = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=_BACKLOG)
    except OSError as refused:
        raise StartError(f"{name}: {listen_problem(host, port, refused)}") from None
    # Connections inherit it. asyncio sets it for sockets of its own alone; without it a body waits 40 ms for the client's kernel.
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found


def url_of(bound: socket.socket, scheme: str = "http") -> str:
    """Return the address of a socket, as browsers have it."""
    host, port = bound.getsockname()[:2]
    return f"{scheme}://{bracketed(host)}:{port}"


def check_page_packages(name: str) -> None:
    """Raise StartError if the packages of the page are not installed; ``name`` is the property or option that asks for them."""
    missing = [each for each in _PAGE_PACKAGES if find_spec(each) is None]
    if missing:
        raise StartError(f"{name}: the page needs {' and '.join(missing)}: pip install 'coordinator-server[page]'")


def _wanted(config: Config, logs: Logs) -> Iterator[Wanted]:
    metrics = metrics_address(config)
    if metrics is not None:
        yield Wanted("metrics", metrics, config.metrics_allowed_hosts, "/metrics", "metrics-listening", "metrics-died")
    page = page_address(config)
    if page is not None:
        tls = None if is_of_this_machine(page[0]) else TlsSettings.of(config, PAGE.upper())._replace(client_auth="none")
        yield wanted_page(page, PageSetup(config.page_allowed_hosts.split(","), tls, logs=logs))


def wanted_page(address: tuple[str, int], setup: PageSetup) -> Wanted:
    """Return the process of a page."""
    return Wanted(PAGE, address, "", "/", "page-listening", "page-died", msgspec.json.encode(setup), setup.tls)
