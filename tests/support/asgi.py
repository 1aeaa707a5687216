"""Requests to an ASGI application, without a server."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from starlette.types import ASGIApp, Message


class Answer(NamedTuple):
    """An answer with its headers."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


async def request(app: ASGIApp, address: str, method: str = "GET", body: bytes = b"", **headers: str) -> Answer:
    """Send a request and collect the answer. Names of headers have ``_`` for ``-``."""
    path, _, query = address.partition("?")
    given = {"host": "127.0.0.1:9405"} | headers
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 9405),
    }
    await app(scope, receive, send)
    head = sent[0]
    answered = b"".join(each.get("body", b"") for each in sent[1:])
    return Answer(head["status"], {name.decode(): value.decode() for name, value in head["headers"]}, answered)
