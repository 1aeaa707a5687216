"""The HTTP server of metrics and health: GET and HEAD of /metrics, /livez and /readyz.

Peers need no login, so none may keep others from an answer: a request arrives within DEADLINE_S or is not answered, and if there
are too many connections, the one that has been sending its request for longest is closed, or, if all requests are there, the one
that has been answered for longest. Scrapes that wait for each other share an answer. The names that requests may give the server
(``Host``) are limited, so that no page in a browser of this machine reads it under a name of its own (DNS rebinding).
"""

from __future__ import annotations

import contextlib
import io
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Protocol

import msgspec
from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from coordinator_server.ops.hosts import Hosts
from coordinator_server.ops.metrics.readiness import Verdict

MAX_CONNECTIONS: Final = 128
DEADLINE_S: Final = 5.0
"""The time for a request to arrive, from the connection on."""
ANSWER_S: Final = 10.0
"""The time for a peer to read its answer."""


class Asked(Protocol):
    """What answers for whoever the metrics are of."""

    def scrape(self) -> Callable[[float], Iterable[Metric]]:
        """Ask for all that there is. Return what makes metrics of it, given the time in seconds that the scrape took."""

    def liveness(self) -> Verdict:
        """Return whether it lives."""

    def readiness(self) -> Verdict:
        """Return whether it serves."""


class MetricsServer(ThreadingHTTPServer):
    """Answers at a socket that is bound and listens."""

    daemon_threads = True

    def __init__(self, bound: socket.socket, asked: Asked, allowed_hosts: Collection[str] = ()) -> None:
        """Answer requests to the address, or to ``allowed_hosts`` besides; to any name where neither is known."""
        super().__init__(bound.getsockname(), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = bound
        self.asked = asked
        self.hosts = Hosts(bound.getsockname()[0], allowed_hosts)
        self._lock = threading.Lock()
        self._connections = 0
        # The connections whose requests have not arrived, and those that are answered; in each, the oldest first.
        self._arriving: dict[socket.socket, None] = {}
        self._answered: dict[socket.socket, None] = {}
        # The last scrape: when it began, its content type and body.
        self._scraping = threading.Lock()
        self._scraped: tuple[float, str, bytes] | None = None

    def process_request(self, request: Any, client_address: Any) -> None:
        """Handle a connection in a thread of its own. If there are too many, make room."""
        with self._lock:
            if self._connections >= MAX_CONNECTIONS:
                waiting = self._arriving or self._answered
                if not waiting:  # Those that were closed for others have not ended yet.
                    self.shutdown_request(request)
                    return
                oldest = next(iter(waiting))
                del waiting[oldest]
                # Its thread ends with that, and closes it.
                _shut_down(oldest)
            self._connections += 1
            self._arriving[request] = None
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Handle a connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._connections -= 1
                self._arriving.pop(request, None)
                self._answered.pop(request, None)

    def arrived(self, request: socket.socket) -> None:
        """The request of a connection has arrived."""
        with self._lock:
            if request in self._arriving:
                del self._arriving[request]
                self._answered[request] = None

    def scrape(self, accept: str) -> tuple[str, bytes]:
        """Return content type and body of all metrics. Requests that come during a scrape share the next one."""
        asked_s = time.monotonic()
        encode, content_type = choose_encoder(accept)
        with self._scraping:
            last = self._scraped
            if last is not None and last[0] >= asked_s and last[1] == content_type:
                return content_type, last[2]
            began_s = time.monotonic()
            read = self.asked.scrape()
            registry = CollectorRegistry()
            registry.register(_Scrape(lambda: read(time.monotonic() - began_s)))
            body = encode(registry)
            self._scraped = began_s, content_type, body
            return content_type, body

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""


class _Arriving(io.RawIOBase):
    """The bytes of a request, up to a deadline."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._deadline_s = time.monotonic() + DEADLINE_S

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read the available bytes. Raises TimeoutError after the deadline."""
        left_s = self._deadline_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self._connection.settimeout(left_s)
        return self._connection.recv_into(buffer)


def _shut_down(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    server: MetricsServer

    def setup(self) -> None:
        """Read the request with a deadline."""
        super().setup()
        self.rfile = io.BufferedReader(_Arriving(self.connection))

    def parse_request(self) -> bool:
        """Return whether the request is to be answered."""
        is_request = super().parse_request()
        self.server.arrived(self.connection)
        self.connection.settimeout(ANSWER_S)
        if is_request and not self.server.hosts.allow(self.headers.get("Host")):
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", b"this name is none of metrics.allowed.hosts\n")
            return False
        return is_request

    def do_GET(self) -> None:
        """Answer a request."""
        match self.path.partition("?")[0]:
            case "/metrics":
                self._answer(HTTPStatus.OK, *self.server.scrape(self.headers.get("Accept", "")))
            case "/livez":
                self._check(self.server.asked.liveness())
            case "/readyz":
                self._check(self.server.asked.readiness())
            case _:
                self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"there are /metrics, /livez and /readyz\n")

    do_HEAD = do_GET  # noqa: N815 - the base class has these names

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: checks come every few seconds."""

    def version_string(self) -> str:
        """Say nothing of Python's version."""
        return "coordinator-server"

    def _check(self, verdict: Verdict) -> None:
        status = HTTPStatus.OK if verdict.is_good else HTTPStatus.SERVICE_UNAVAILABLE
        body = {"ok": verdict.is_good, "why": verdict.why, "loops": [_without_pid(each) for each in verdict.loops]}
        self._answer(status, "application/json", msgspec.json.encode(body) + b"\n")

    def _answer(self, status: HTTPStatus, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _without_pid(loop: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a loop reports of itself, without what is of no use outside of the machine."""
    return {name: value for name, value in loop.items() if name != "pid"}


class _Scrape(Collector):
    def __init__(self, collect: Any) -> None:
        self._collect = collect

    def collect(self) -> Any:
        """Return the metrics of one scrape."""
        return self._collect()
