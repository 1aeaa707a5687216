"""The HTTP server of metrics and health: GET and HEAD of /metrics, /livez and /readyz."""

from __future__ import annotations

import socket
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore
from typing import Any, Final

import msgspec
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from coordinator_server.ops.metrics.exposition import metrics
from coordinator_server.ops.metrics.readiness import Verdict
from coordinator_server.ops.metrics.sources import Server

MAX_CONNECTIONS: Final = 16
"""More are closed at once: a scraper and some health checks need one each, for a moment."""
TIMEOUT_S: Final = 10.0


class MetricsServer(ThreadingHTTPServer):
    """Answers at a socket that is bound and listens."""

    daemon_threads = True

    def __init__(self, bound: socket.socket, server: Server) -> None:
        super().__init__(bound.getsockname(), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = bound
        self.asked = server
        self._free = BoundedSemaphore(MAX_CONNECTIONS)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Handle a connection in a thread of its own, unless there are too many."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Handle a connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect."""


class _Handler(BaseHTTPRequestHandler):
    server: MetricsServer
    timeout = TIMEOUT_S

    def do_GET(self) -> None:
        """Answer a request."""
        match self.path.partition("?")[0]:
            case "/metrics":
                self._answer(HTTPStatus.OK, *self._metrics())
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

    def _metrics(self) -> tuple[str, bytes]:
        began_s = time.monotonic()
        found, verdict = self.server.asked.found()
        registry = CollectorRegistry()
        registry.register(_Scrape(lambda: metrics(found, verdict, time.monotonic() - began_s)))
        encode, content_type = choose_encoder(self.headers.get("Accept", ""))
        return content_type, encode(registry)

    def _check(self, verdict: Verdict) -> None:
        status = HTTPStatus.OK if verdict.is_good else HTTPStatus.SERVICE_UNAVAILABLE
        body = {"ok": verdict.is_good, "why": verdict.why, "loops": verdict.loops}
        self._answer(status, "application/json", msgspec.json.encode(body) + b"\n")

    def _answer(self, status: HTTPStatus, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class _Scrape(Collector):
    def __init__(self, collect: Any) -> None:
        self._collect = collect

    def collect(self) -> Any:
        """Return the metrics of one scrape."""
        return self._collect()
