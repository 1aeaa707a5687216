"""The files of the page: what a browser gets of them, and how long it may keep it.

Documents have the viewer's choices as attributes, from cookies, so that a browser draws them right from the start. All else has an
address with a hash of all files in it, and is kept. A document names all modules that its view needs: a browser loads them at once.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Awaitable, Callable
from itertools import product
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

STATIC: Final = Path(__file__).parent / "static"
_EARLY: Final = (STATIC / "early.js").read_text()
EARLY_HASH: Final = f"sha256-{base64.b64encode(hashlib.sha256(_EARLY.encode()).digest()).decode()}"
"""The one script that is in the documents of views, and not a file of its own: what it asks is not to wait for it."""
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
CHOICES: Final = {"page-theme": ("light", "dark"), "page-zone": ("utc", "local")}
"""What a viewer may have chosen, by the names of cookies (static/format.js); without a choice it is as the system has it."""
_NONE: Final = ""
_FOREVER: Final = "max-age=31536000, immutable"
_IMPORTED: Final = re.compile(r'^import .* from "\./(.+)";$', re.MULTILINE)

Endpoint = Callable[[Request], Awaitable[Response]]


def file_routes() -> list[Route]:
    """Return the routes of the files that everybody gets, by their names and by those of this version."""
    return [
        Route(f"{where}{name}", _endpoint(path.read_bytes(), path.suffix, cache), methods=["GET"])
        for where, cache in (("/static/", "no-cache"), (_STORED, _FOREVER))
        for name, path in _files().items()
    ]


def view(module: str) -> Endpoint:
    """Return the endpoint of a view that a module shows."""
    needed = sorted(_modules(STATIC / "app.js") | _modules(STATIC / module))
    links = [f'<link rel="modulepreload" href="/static/{each.relative_to(STATIC)}">' for each in needed]
    text = (STATIC / "index.html").read_text().replace("<!-- modules -->", "\n".join(links))
    return _document(text.replace("<!-- early -->", f"<script>{_EARLY}</script>"))


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


def _modules(path: Path) -> set[Path]:
    """Return a module, those that it imports, and those that they import."""
    found = {path}
    for name in _IMPORTED.findall(path.read_text()):
        found |= _modules(path.parent / name)
    return found


def _files() -> dict[str, Path]:
    return {str(each.relative_to(STATIC)): each for each in sorted(STATIC.rglob("*")) if each.suffix in _TYPES}


def _version() -> str:
    """Return a hash of all files."""
    found = hashlib.sha256()
    for path in _files().values():
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


_STORED: Final = f"/static/{_version()}/"
"""Where the files of this version are: a browser that has them need not ask for them again."""
