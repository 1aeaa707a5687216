"""``control.sock`` in the data directory: how the tools on this machine speak to the running server.

One JSON object a line, request and answer: ``{"op": "seal"}`` → ``{"ok": true, "shards": {"__consumer_offsets-7": 1234}}``, or
``{"ok": false, "error": "…"}``. The socket is readable and writable for the server's user alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import structlog

log = structlog.get_logger(__name__)

SOCKET_NAME = "control.sock"
MAX_LINE_BYTES = 1 << 16

Operation = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


class ControlSocket:
    """Serves ``operations`` by name. A Unix socket's path is short; a data directory that is too deep is reached through its descriptor."""

    def __init__(self, data_dir: Path, operations: Mapping[str, Operation]) -> None:
        self._path = data_dir / SOCKET_NAME
        self._operations = operations
        self._server: asyncio.Server | None = None
        self._sessions: set[asyncio.StreamWriter] = set()

    async def start(self) -> None:
        """Listen. The data directory's lock is held, so a socket that is there is a dead server's."""
        self._path.unlink(missing_ok=True)
        directory = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            before = os.umask(0o177)
            try:
                self._server = await asyncio.start_unix_server(
                    self._serve, f"/proc/self/fd/{directory}/{SOCKET_NAME}", limit=MAX_LINE_BYTES
                )
            finally:
                os.umask(before)
        finally:
            os.close(directory)

    async def stop(self) -> None:
        """Hang up on everybody and remove the socket."""
        if self._server is not None:
            self._server.close()
            for writer in list(self._sessions):
                writer.close()
            self._path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._sessions.add(writer)
        try:
            # A line beyond the limit is a ValueError of the reader's; a peer that hangs up ends the loop.
            with contextlib.suppress(ConnectionError, ValueError):
                while line := await reader.readline():
                    writer.write(msgspec.json.encode(await self._answer(line)) + b"\n")
                    await writer.drain()
        finally:
            self._sessions.discard(writer)
            writer.close()

    async def _answer(self, line: bytes) -> Mapping[str, Any]:
        try:
            request = msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.DecodeError as bad:
            return {"ok": False, "error": f"not a JSON object on a line: {bad}"}
        operation = self._operations.get(str(request.get("op")))
        if operation is None:
            return {"ok": False, "error": f"unknown op; there are: {', '.join(sorted(self._operations))}"}
        try:
            return {"ok": True, **await operation(request)}
        except Exception as failure:
            log.exception("control-failed", op=request.get("op"))
            return {"ok": False, "error": str(failure) or type(failure).__name__}
