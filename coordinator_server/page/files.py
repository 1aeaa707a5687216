"""The files of the page: what a browser gets of them, and how long it may keep it.

Documents have the viewer's choices as attributes, from cookies, so that a browser draws them right from the start. All else has an
address with a hash of all files in it, and is kept. All modules are one script (script.py).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from coordinator_server.page.script import modules_of, script_of

STATIC: Final = Path(__file__).parent / "static"
_EARLY: Final = (STATIC / "early.js").read_text()
EARLY_HASH: Final = f"sha256-{base64.b64encode(hashlib.sha256(_EARLY.encode()).digest()).decode()}"
"""The one script that is in the documents of views, and not a file of its own: what it asks is not to wait for it."""
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    # Where it is written in lower case, Chromium does not find the code that it has kept.
    ".js": "text/javascript; charset=UTF-8",
    ".png": "image/png",
    ".txt": "text/plain; charset=utf-8",
}
CHOICES: Final = {"page-theme": ("light", "dark"), "page-zone": ("utc", "local")}
"""What a viewer may have chosen, by the names of cookies (static/format.js); without a choice it is as the system has it."""
_NONE: Final = ""
_FOREVER: Final = "max-age=31536000, immutable"
_SCRIPT: Final = "page.js"
"""The script of all modules, which is no file."""

Endpoint = Callable[[Request], Awaitable[Response]]


def file_routes() -> list[Route]:
    """Return the routes of the files that everybody gets, by their names and by those of this version."""
    return [
        Route(f"{where}{name}", _endpoint(body, Path(name).suffix, cache), methods=["GET"])
        for where, cache in (("/static/", "no-cache"), (_STORED, _FOREVER))
        for name, body in _FILES.items()
    ]


def view() -> Endpoint:
    """Return the endpoint of all views: what they show is up to their address."""
    return _document((STATIC / "index.html").read_text().replace("<!-- early -->", f"<script>{_EARLY}</script>"))


def login_form() -> Endpoint:
    """Return the endpoint of the form of the login."""
    return _document((STATIC / "login.html").read_text())


def _document(text: str) -> Endpoint:
    text = text.replace('"/static/', f'"{_STORED}')
    endpoints = {}
    for chosen in product(*((_NONE, *values) for values in CHOICES.values())):
        named = zip(CHOICES, chosen, strict=True)
        attributes = "".join(f' data-{name.removeprefix("page-")}="{value}"' for name, value in named if value)
        endpoints[chosen] = _endpoint(text.replace("<html", f"<html{attributes}", 1).encode(), ".html", "no-cache")

    async def respond(request: Request) -> Response:
        asked = (request.cookies.get(name, _NONE) for name in CHOICES)
        chosen = tuple(each if each in values else _NONE for each, values in zip(asked, CHOICES.values(), strict=True))
        return await endpoints[chosen](request)

    return respond


def _endpoint(body: bytes, suffix: str, cache: str) -> Endpoint:
    """Return an endpoint that always has the same body."""
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"cache-control": cache, "etag": tag}

    async def respond(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type=_TYPES[suffix], headers=headers)

    return respond


def _files() -> dict[str, bytes]:
    modules = modules_of(STATIC, "app.js")
    paths = {str(each.relative_to(STATIC)): each for each in sorted(STATIC.rglob("*")) if each.suffix in _TYPES}
    found = {name: path.read_bytes() for name, path in paths.items() if name not in modules}
    return found | {_SCRIPT: script_of(STATIC, modules).encode()}


def _version(files: Mapping[str, bytes]) -> str:
    """Return a hash of all files."""
    found = hashlib.sha256()
    for body in files.values():
        found.update(body)
    return found.hexdigest()[:16]


_FILES: Final = _files()
_STORED: Final = f"/static/{_version(_FILES)}/"
"""Where the files of this version are: a browser that has them need not ask for them again."""
