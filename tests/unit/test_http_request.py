"""One HTTP request to a server of this machine: its limits, and what is said when it fails."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from coordinator_server.http_request import HttpFailed, HttpLimits, request, url_problem
from tests.support.certificates import Authority

LIMITS = HttpLimits(connect_s=5, total_s=5, body_bytes=1000)
TLS = ssl.create_default_context()
AUTHORITY = Authority()
Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def serving(answer: Answer, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """A server that answers each request so; its URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            answer(self)

        def do_POST(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"{'https' if tls else 'http'}://localhost:{server.server_port}/keys?a=b"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def says(body: bytes, status: int = 200, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def chunked(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"3\r\nabc\r\n" * 400 + b"0\r\n\r\n")


def echoes(handler: BaseHTTPRequestHandler) -> None:
    form = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
    says(f"{handler.command} {handler.path} {handler.headers['X-Test']} {form.decode()}".encode())(handler)


def test_the_body_of_an_answer_is_returned() -> None:
    with serving(echoes) as url:
        assert request(url, LIMITS, tls=TLS, headers={"X-Test": "1"}) == b"GET /keys?a=b 1 "
        assert request(url, LIMITS, tls=TLS, headers={"X-Test": "1"}, form=b"x=y") == b"POST /keys?a=b 1 x=y"


def test_a_server_may_close_after_its_answer() -> None:
    """As those of HTTP/1.0 do."""
    with serving(says(b"x" * 1000, Connection="close")) as url:
        assert request(url, LIMITS, tls=TLS) == b"x" * 1000


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (says(b"x" * 1001), "the answer has 1001 bytes, and 1000 are allowed"),
        (chunked, "the answer has more than 1000 bytes"),
        (says(b"gone", 404), "the answer has status 404: gone"),
        (says(b"", 302, Location="http://elsewhere.example/"), "the answer has status 302"),
        (lambda handler: handler.wfile.write(b"nonsense\r\n\r\n"), "the answer is not HTTP: BadStatusLine"),
        (
            lambda handler: handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200),
            "the answer is not HTTP: HTTPException",
        ),
        (lambda handler: handler.connection.shutdown(socket.SHUT_RDWR), "closed connection without response"),
    ],
)
def test_other_answers_fail(answer: Answer, why: str) -> None:
    with serving(answer) as url, pytest.raises(HttpFailed, match=why):
        request(url, LIMITS, tls=TLS)


def test_a_server_that_sends_a_byte_now_and_then_is_too_slow() -> None:
    """The time is that of all of it, in the headers, too."""
    ended = threading.Event()

    def drips(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not ended.wait(0.01):
            handler.wfile.write(b"a")

    with serving(drips) as url:
        with pytest.raises(HttpFailed, match=r"no answer within 0.1 s"):
            request(url, LIMITS._replace(total_s=0.1), tls=TLS)
        ended.set()


def test_the_certificate_of_a_server_has_to_be_right(tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(AUTHORITY.issue("localhost").write(tmp_path / "server.pem"))

    with serving(says(b"hello"), context) as url:
        assert request(url, LIMITS, tls=ssl.create_default_context(cadata=AUTHORITY.pem)) == b"hello"
        with pytest.raises(HttpFailed, match="the certificate is not valid: "):
            request(url, LIMITS, tls=TLS)


def test_a_server_that_is_away_is_said_to_be() -> None:
    with serving(says(b"")) as url:
        pass

    with pytest.raises(HttpFailed, match="Connection refused"):
        request(url, LIMITS, tls=TLS)


@pytest.mark.parametrize("url", ["https://a.example/keys", "http://[::1]:8080", "file:///etc/keys.json", "file://localhost/k"])
def test_valid_urls_are_accepted(url: str) -> None:
    assert url_problem(url) is None


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("keys.json", "takes a URL that begins with"),
        ("ftp://a.example/", "takes a URL that begins with"),
        ("file:keys.json", "needs an absolute path"),
        ("file://host/keys", "needs an absolute path"),
        ("https://", "has no host"),
        ("https://a:b@c.example/", "has a name or password"),
        ("https://a.example:x/", "is not a URL"),
        ("https://[::1/", "is not a URL"),
        ("https://a.example/ b", "has a character"),
        ("https://a.example/\r\nHost: b", "has a character"),
        ("https://å.example/", "has a character"),
    ],
)
def test_wrong_urls(url: str, problem: str) -> None:
    assert str(url_problem(url)).startswith(problem)
