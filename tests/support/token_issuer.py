"""An issuer of tokens on loopback, as OAuth servers are: keys at /keys, and tokens for clients with a secret at /token."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs

from tests.support.certificates import Identity
from tests.support.tokens import key_set, token


class TokenIssuer:
    """Serves from ``with`` on. ``keys`` are those that are published, and ``signs_with`` is one of them."""

    def __init__(self, identity: Identity | None = None, directory: Path | None = None) -> None:
        self.keys: tuple[str, ...] = ("ES256",)
        self.signs_with = "ES256"
        self.lifetime_s = 60
        self.secrets = {"alice": "her secret"}
        # What /keys answers in place of the keys, and after which time.
        self.document: bytes | None = None
        self.delay_s = 0.0
        self.is_away = False
        self.asked: list[str] = []
        self.forms: list[dict[str, list[str]]] = []
        self._ended = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._scheme = "http"
        if identity is not None and directory is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(identity.write(directory / "issuer.pem"))
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
            self._scheme = "https"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()

    def url(self, path: str) -> str:
        return f"{self._scheme}://localhost:{self._server.server_port}/{path}"

    def token(self, user: str = "alice", name: str | None = None, **claims: Any) -> str:
        now = int(time.time())
        return token({"sub": user, "iat": now, "exp": now + self.lifetime_s, **claims}, name or self.signs_with)

    def answer(self, path: str, authorization: str, form: bytes) -> tuple[int, bytes]:
        """The status and the body for a request."""
        self.asked.append(path)
        if self.is_away:
            return 503, b"away"
        if path == "/keys":
            self._ended.wait(self.delay_s)
            return 200, key_set(*self.keys) if self.document is None else self.document
        self.forms.append(parse_qs(form.decode()))
        user, _, secret = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
        if path != "/token" or self.secrets.get(user) != secret:
            return 401, b'{"error":"invalid_client","error_description":"no such client"}'
        found = {"access_token": self.token(user), "token_type": "Bearer", "expires_in": self.lifetime_s}
        return 200, json.dumps(found).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                form = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, body = issuer.answer(self.path, self.headers.get("Authorization", ""), form)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler
