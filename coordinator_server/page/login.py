"""The form of the login, and what it and its end lead to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import URL
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from coordinator_server.page.door import COOKIE, LONGEST_S, Door, LoginFailed
from coordinator_server.page.guarded import problem

LOGIN: Final = URL("/login")
_LONGEST_FORM: Final = 8192


def login_routes(door: Door, form: Callable[[Request], Awaitable[Response]]) -> list[Route]:
    """Return the routes of a door. ``form`` shows the form."""

    async def login(request: Request) -> Response:
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > _LONGEST_FORM:
                return problem(413, "the form is too long")
        fields = {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True).items()}
        to = _local(fields.get("to", ""))
        try:
            token = await door.login(fields.get("user", ""), fields.get("password", ""))
        except LoginFailed as why:
            return RedirectResponse(str(LOGIN.include_query_params(why=str(why), to=to)), 303)
        answer = RedirectResponse(to, 303)
        answer.set_cookie(COOKIE, token, max_age=int(LONGEST_S), path="/", secure=True, httponly=True, samesite="lax")
        return answer

    async def logout(request: Request) -> Response:
        door.logout(request.headers.get("cookie", ""))
        answer = RedirectResponse(str(LOGIN), 303)
        answer.delete_cookie(COOKIE, path="/", secure=True, httponly=True, samesite="lax")
        return answer

    return [
        Route(LOGIN.path, form, methods=["GET"]),
        Route(LOGIN.path, login, methods=["POST"]),
        Route("/logout", logout, methods=["POST"]),
    ]


def _local(to: str) -> str:
    """Return an address of this page: nobody is sent elsewhere."""
    parts = urlsplit(to)
    is_local = not parts.scheme and not parts.netloc and to.startswith("/") and not to.startswith(("//", "/\\", "/login"))
    return to if is_local and to.isprintable() else "/"
