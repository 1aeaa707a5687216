"""One HTTP request with limits: the time of all of it, and the bytes of its answer. It blocks: run it in a thread.

The standard library's limits are those of single reads, so a server that sends a byte now and then would keep its thread for ever.
Redirects are not followed, and no proxy is used.
"""

from __future__ import annotations

import io
import socket
import ssl
import time
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

_OK: Final = (200, 201)
_EXCERPT: Final = 200
_CHUNK: Final = 1 << 16


class HttpFailed(Exception):
    """The request has no good answer. ``status`` is that of the answer, if there was one."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class HttpLimits(NamedTuple):
    """The time for connection and TLS handshake, that for all of it, and the size of the answer's body."""

    connect_s: float
    total_s: float
    body_bytes: int


def request(
    url: str, limits: HttpLimits, *, tls: ssl.SSLContext, headers: Mapping[str, str] = {}, form: bytes | None = None
) -> bytes:
    """Return the body of the answer to a GET, or to a POST of a form. Raises HttpFailed."""
    parts = urlsplit(url)
    deadline = time.monotonic() + limits.total_s
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection = _Connection(parts.hostname or "", parts.port, tls if parts.scheme == "https" else None, limits, deadline)
    try:
        connection.request("GET" if form is None else "POST", path, body=form, headers={"Accept": "application/json", **headers})
        answer = connection.getresponse()
        body = _body(answer, limits.body_bytes)
    except TimeoutError:
        raise HttpFailed(f"no answer within {limits.total_s:g} s") from None
    except OSError as refused:
        raise HttpFailed(_reason(refused)) from None
    except (HTTPException, ValueError) as bad:
        raise HttpFailed(f"the answer is not HTTP: {type(bad).__name__}") from None
    finally:
        connection.close()
    if answer.status not in _OK:
        raise HttpFailed(f"the answer has status {answer.status}{_excerpt(body)}", answer.status)
    return body


def url_problem(url: str) -> str | None:
    """Return what is wrong with a URL of the schemes http, https and file, or None."""
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return "is not a URL"
    if not url.isascii() or not url.isprintable() or " " in url:
        return "has a character that URLs do not have"
    if parts.scheme == "file":
        return (
            None if parts.path.startswith("/") and parts.netloc in ("", "localhost") else "needs an absolute path: file:///PATH"
        )
    if parts.scheme not in ("http", "https"):
        return "takes a URL that begins with https://, http:// or file:///"
    if parts.username is not None or parts.password is not None:
        return "has a name or password in the URL"
    return None if has_host else "has no host"


def _body(answer: Any, most: int) -> bytes:
    if answer.length is not None and answer.length > most:
        raise OSError(f"the answer has {answer.length} bytes, and {most} are allowed")
    body = bytearray()
    while chunk := answer.read(min(_CHUNK, most + 1 - len(body))):
        body += chunk
        if len(body) > most:
            raise OSError(f"the answer has more than {most} bytes")
    return bytes(body)


def _reason(refused: OSError) -> str:
    if isinstance(refused, ssl.SSLCertVerificationError):
        return f"the certificate is not valid: {refused.verify_message}"
    if isinstance(refused, ssl.SSLError):
        return f"TLS failed: {(refused.reason or str(refused)).lower().replace('_', ' ')}"
    return refused.strerror or str(refused) or type(refused).__name__


def _excerpt(body: bytes) -> str:
    text = body[:_EXCERPT].decode(errors="replace").strip()
    return f": {text}" if text else ""


class _Connection(HTTPConnection):
    """Each wait on its socket ends at the deadline."""

    def __init__(self, host: str, port: int | None, tls: ssl.SSLContext | None, limits: HttpLimits, deadline: float) -> None:
        super().__init__(host, port or (443 if tls else 80))
        self._tls = tls
        self._connect_s = limits.connect_s
        self._deadline = deadline

    def connect(self) -> None:
        within_s = min(self._connect_s, max(self._deadline - time.monotonic(), 0.001))
        plain = socket.create_connection((self.host, self.port), within_s)
        try:
            # The time that a socket has is that of a whole handshake.
            sock = plain if self._tls is None else self._tls.wrap_socket(plain, server_hostname=self.host)
        except BaseException:
            plain.close()
            raise
        self.sock = _TimedSocket(sock, self._deadline)


class _TimedSocket:
    """What HTTPConnection uses of a socket."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock = sock
        self._deadline = deadline

    def sendall(self, data: bytes) -> None:
        self.wait_no_longer()
        self._sock.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Received(self, self._sock.makefile("rb", buffering=0)))

    def close(self) -> None:
        self._sock.close()

    def wait_no_longer(self) -> None:
        """Limit the next wait. Raises TimeoutError."""
        left_s = self._deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self._sock.settimeout(left_s)


class _Received(io.RawIOBase):
    """What arrives. As any file of a socket, it keeps it open: HTTPConnection closes its own side as soon as it has the headers."""

    def __init__(self, sock: _TimedSocket, file: io.RawIOBase) -> None:
        self._sock = sock
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.wait_no_longer()
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()
