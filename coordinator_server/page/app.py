"""The routes of the page: its files, its answers as JSON, and the status. All are GET, and none changes anything.

Peers need no login: the page listens on a loopback address only. So that no other page in a browser of this machine reads it, the
names that a request may give it are limited (``Host``), and a browser is told to give the answers to nobody else. What the answers
say comes from clients: it is text, and a browser runs nothing but the files of this package.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coordinator_server.ops.hosts import Hosts
from coordinator_server.page.answers import ANSWERS, Answers, BadRequest, NotFound, Unavailable
from coordinator_server.page.board import Board
from coordinator_server.page.updater import Updater

MOST_VIEWERS: Final = 200
"""The most browsers that follow the status."""
ALIVE_S: Final = 15.0
"""The longest time between two lines that say the status."""
_THREADS: Final = 8
_LONGEST_QUERY: Final = 8192
_STATIC: Final = Path(__file__).parent / "static"
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
VIEWS: Final = ("/", "/group", "/source")
"""The addresses of views: the browser shows what the rest of the address says."""
_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


def page_app(answers: Answers, board: Board, updater: Updater, hosts: Hosts) -> ASGIApp:
    """Return the application."""
    limiter = CapacityLimiter(_THREADS)

    def answer(name: str) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            updater.want()
            try:
                body = await to_thread.run_sync(answers.get, name, dict(request.query_params), limiter=limiter)
            except BadRequest as error:
                return _error(400, error)
            except NotFound as error:
                return _error(404, error)
            except Unavailable as error:
                return _error(503, error)
            return Response(body, media_type="application/json")

        return respond

    async def status(_: Request) -> Response:
        if board.viewers >= MOST_VIEWERS:
            return _error(503, f"{MOST_VIEWERS} viewers follow the page already: close some")
        return StreamingResponse(_status(board, updater), media_type="text/event-stream")

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        board.attach(asyncio.get_running_loop())
        updater.start()
        yield
        updater.stop()

    routes = [Route(f"/api/{name}", answer(name), methods=["GET"]) for name in ANSWERS]
    routes.append(Route("/api/status", status, methods=["GET"]))
    routes += [Route(path, _file(each), methods=["GET"]) for path, each in _files().items()]
    return Guarded(Starlette(routes=routes, lifespan=lifespan), hosts)


class Guarded:
    """Answers GET and HEAD for the names that are allowed, and tells browsers what they may do with the answers."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = dict(message["headers"])
                added = {name.encode(): value.encode() for name, value in _HEADERS.items()}
                given.setdefault(b"cache-control", b"no-store")
                message = {**message, "headers": list((given | added).items())}
            await send(message)

        host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), None)
        if not self._hosts.allow(host):
            await _error(403, "this name is none of page.allowed.hosts")(scope, receive, send_guarded)
        elif scope["method"] not in ("GET", "HEAD"):
            await _error(405, "the page changes nothing: it answers GET and HEAD")(scope, receive, send_guarded)
        elif len(scope["query_string"]) > _LONGEST_QUERY:
            await _error(414, "the address is too long")(scope, receive, send_guarded)
        else:
            await self._app(scope, receive, send_guarded)


async def _status(board: Board, updater: Updater) -> AsyncIterator[bytes]:
    """Yield the status whenever it changes, and a comment where it stays for a while."""
    board.viewers += 1
    try:
        number = 0
        # A browser that has lost the connection comes back after this time.
        yield b"retry: 2000\n\n"
        while True:
            updater.want()
            latest = await board.after(number, ALIVE_S)
            yield b": nothing new\n\n" if latest == number else board.event
            number = latest
    finally:
        board.viewers -= 1


def _files() -> dict[str, Path]:
    """Return the files of the page by path."""
    found = {f"/static/{each.relative_to(_STATIC)}": each for each in sorted(_STATIC.rglob("*")) if each.suffix in _TYPES}
    return found | dict.fromkeys(VIEWS, _STATIC / "index.html")


def _file(path: Path) -> Callable[[Request], Awaitable[Response]]:
    body = path.read_bytes()
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"cache-control": "no-cache", "etag": tag}

    async def respond(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type=_TYPES[path.suffix], headers=headers)

    return respond


def _error(status: int, why: Any) -> Response:
    return Response(msgspec.json.encode({"error": str(why)}), status, media_type="application/json")
