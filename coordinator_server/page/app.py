"""The routes of the page: its files, its answers as JSON, the status, and the login. None changes anything of the server.

On a loopback address there is no login: everybody on the machine may see everything. Elsewhere there is a door (door.py), and each
answer has what its viewer may see. So that no other page in a browser of this machine reads this one, the names that a request may
give it are limited (guarded.py), and a browser is told to give the answers to nobody else. What the answers say comes from clients:
it is text, and a browser runs nothing but the files of this package.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import msgspec
from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from coordinator_server.client.errors import ClientError
from coordinator_server.ops.hosts import Hosts
from coordinator_server.page.answers import ANSWERS, Answers, BadRequest, NotFound, Unavailable
from coordinator_server.page.board import Board
from coordinator_server.page.door import Door, Viewer
from coordinator_server.page.files import file_routes, login_form, view
from coordinator_server.page.guarded import Guarded, problem
from coordinator_server.page.login import LOGIN, login_routes
from coordinator_server.page.rights import EVERYTHING
from coordinator_server.page.updater import Updater

MOST_VIEWERS: Final = 200
"""The most browsers that follow the status."""
ALIVE_S: Final = 15.0
"""The longest time between two lines that say the status."""
_THREADS: Final = 8
VIEWS: Final = ("/", "/group", "/what-if", "/clients", "/topics", "/transactions", "/shares", "/log", "/doctor")
"""The addresses of views (static/app.js)."""
EVERYBODY: Final = Viewer("", EVERYTHING)


def page_app(answers: Answers, board: Board, updater: Updater, hosts: Hosts, door: Door | None = None) -> ASGIApp:
    """Return the application."""
    site = _Site(answers, board, updater, door)
    routes = [Route(f"/api/{name}", site.seen(partial(site.answer, name)), methods=["GET"]) for name in ANSWERS]
    routes += [
        Route(f"/api/{name}", site.seen(each), methods=["GET"]) for name, each in (("status", site.status), ("viewer", who))
    ]
    routes += file_routes()
    routes += [Route(path, site.view, methods=["GET"]) for path in VIEWS]
    if door is not None:
        routes += login_routes(door, login_form())
    return Guarded(Starlette(routes=routes, lifespan=site.lifespan), hosts, has_login=door is not None)


class NotLoggedIn(Exception):
    """A request comes from nobody who has logged in."""


class _Site:
    """What the routes need. Without a door everybody sees everything."""

    def __init__(self, answers: Answers, board: Board, updater: Updater, door: Door | None) -> None:
        self._answers = answers
        self._board = board
        self._updater = updater
        self._door = door
        self._limiter = CapacityLimiter(_THREADS)
        self._view = view()

    def seen(self, respond: Callable[[Request, Viewer], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """Return the endpoint of a route whose answer depends on its viewer: there is no other way to an answer."""

        async def endpoint(request: Request) -> Response:
            try:
                return await respond(request, await self._viewer(request))
            except tuple(_PROBLEMS) as error:
                return problem(next(status for kind, status in _PROBLEMS.items() if isinstance(error, kind)), error)

        return endpoint

    async def answer(self, name: str, request: Request, viewer: Viewer) -> Response:
        """Give an answer."""
        self._updater.want()
        query = dict(request.query_params)
        # It is at least of this version: what the browser has need not be asked for again when it hears of it.
        version = str(self._board.status.version)
        body = await to_thread.run_sync(self._answers.get, name, query, viewer.rights, limiter=self._limiter)
        return Response(body, media_type="application/json", headers={"page-version": version})

    async def status(self, request: Request, _viewer: Viewer) -> Response:
        """Follow the status."""
        if self._board.viewers >= MOST_VIEWERS:
            raise Unavailable(f"{MOST_VIEWERS} viewers follow the page already: close some")
        return StreamingResponse(
            status_lines(self._board, self._updater, lambda: self._viewer(request)), media_type="text/event-stream"
        )

    async def view(self, request: Request) -> Response:
        """Show a view, or the form of the login. The view itself has nothing that only some may see."""
        if self._door is not None and not self._door.knows(_cookies(request)):
            to = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            return RedirectResponse(str(LOGIN.include_query_params(to=to)), 303)
        return await self._view(request)

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Bring the answers up to date as long as the application runs."""
        self._board.attach(asyncio.get_running_loop())
        self._updater.start()
        yield
        self._updater.stop()

    async def _viewer(self, request: Request) -> Viewer:
        if self._door is None:
            return EVERYBODY
        try:
            found = await self._door.viewer(_cookies(request))
        except ClientError as error:
            raise Unavailable("the cluster does not say now what you may see") from error
        if found is None:
            raise NotLoggedIn("log in first")
        return found


_PROBLEMS: Final[dict[type[Exception], int]] = {BadRequest: 400, NotLoggedIn: 401, NotFound: 404, Unavailable: 503}


async def who(_: Request, viewer: Viewer) -> Response:
    """Say who the viewer is."""
    known = {"user": viewer.user or None, "has_cluster": viewer.rights.has_cluster}
    return Response(msgspec.json.encode(known), media_type="application/json")


async def status_lines(board: Board, updater: Updater, viewer: Callable[[], Awaitable[Viewer]]) -> AsyncIterator[bytes]:
    """Yield the status whenever it changes, and a comment where it stays for a while. It ends with the viewer's session."""
    board.viewers += 1
    try:
        number = 0
        # A browser that has lost the connection comes back after this time.
        yield b"retry: 2000\n\n"
        while True:
            updater.want()
            latest = await board.after(number, ALIVE_S)
            rights = (await viewer()).rights
            yield b": nothing new\n\n" if latest == number else board.event(rights)
            number = latest
    except (NotLoggedIn, Unavailable):
        return
    finally:
        board.viewers -= 1


def _cookies(request: Request) -> str:
    return request.headers.get("cookie", "")
