"""What holds for all routes: which requests are answered, and what a browser may do with the answers."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coordinator_server.ops.hosts import Hosts
from coordinator_server.page.files import EARLY_HASH

_LONGEST_QUERY: Final = 8192
_SAME_SITE: Final = frozenset({b"same-origin", b"none"})
_HEADERS: Final = {
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_POLICY: Final = (
    f"default-src 'none'; script-src 'self' '{EARLY_HASH}'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action %s; frame-ancestors 'none'"
)
# It is never asked for without TLS again: the cookie would not be sent, and a password would be.
_ONLY_TLS: Final = {"strict-transport-security": "max-age=31536000"}


class Guarded:
    """Answers GET and HEAD for the names that are allowed, and with a login the two forms. Tells browsers what they may do."""

    def __init__(self, app: ASGIApp, hosts: Hosts, *, has_login: bool = False) -> None:
        self._app = app
        self._hosts = hosts
        self._posts = ("/login", "/logout") if has_login else ()
        headers = _HEADERS | {"content-security-policy": _POLICY % ("'self'" if has_login else "'none'")}
        headers |= _ONLY_TLS if has_login else {}
        self._headers = {name.encode(): value.encode() for name, value in headers.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message["headers"])
                names = {name for name, _ in given}
                given += [(name, value) for name, value in self._headers.items() if name not in names]
                if b"cache-control" not in names:
                    given.append((b"cache-control", b"no-store"))
                message = {**message, "headers": given}
            await send(message)

        refused = self._refusal(scope)
        await (self._app if refused is None else refused)(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = dict(scope["headers"])
        host = headers.get(b"host")
        if not self._hosts.allow(None if host is None else host.decode("latin-1")):
            return problem(403, "this name is none of page.allowed.hosts")
        if scope["method"] == "POST" and scope["path"] in self._posts:
            # Whose form it is. A browser that does not say is older than this header.
            is_ours = headers.get(b"sec-fetch-site", b"none") in _SAME_SITE
            return None if is_ours else problem(403, "this form is of another page")
        if scope["method"] not in ("GET", "HEAD"):
            return problem(405, "the page changes nothing: it answers GET and HEAD")
        if len(scope["query_string"]) > _LONGEST_QUERY:
            return problem(414, "the address is too long")
        return None


def problem(status: int, why: Any) -> Response:
    """Return an answer that says what is wrong."""
    return Response(msgspec.json.encode({"error": str(why)}), status, media_type="application/json")
