"""``control.sock`` in the data directory: how the tools on this machine speak to the running server.

One JSON object a line, request and answer: ``{"op": "seal"}`` → ``{"ok": true, "shards": {"__consumer_offsets-7": 1234}}``, or
``{"ok": false, "error": "…"}``. The socket is readable and writable for the server's user alone.

With several loops an operation runs in each, and their answers are put together (supervision.py): what differs between loops has to be
in objects by shard, or in lists; the rest is the same everywhere. A request that names ``shards`` goes to their owners.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import structlog

from coordinator_server.log.file_names import CONTROL_SOCKET
from coordinator_server.server.unix import place_for_socket

log = structlog.get_logger(__name__)

# A group with tens of thousands of offsets to restore.
MAX_LINE_BYTES = 1 << 23

Operation = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


class Refusal(Exception):
    """An operation cannot be run now; the message says why, and what to do."""


class ControlSocket:
    """Serves ``operations`` by name."""

    def __init__(self, data_dir: Path, operations: Mapping[str, Operation]) -> None:
        self._path = data_dir / CONTROL_SOCKET
        self._operations = operations
        self._server: asyncio.Server | None = None
        self._sessions: set[asyncio.StreamWriter] = set()

    async def start(self) -> None:
        """Listen."""
        with place_for_socket(self._path) as path:
            self._server = await asyncio.start_unix_server(self._serve, path, limit=MAX_LINE_BYTES)

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
        return await run_operation(self._operations, request)


async def run_operation(operations: Mapping[str, Operation], request: Mapping[str, Any]) -> Mapping[str, Any]:
    """The answer to one request: what the operation that it names returns, or why there is nothing."""
    operation = operations.get(str(request.get("op")))
    if operation is None:
        return {"ok": False, "error": f"unknown op; there are: {', '.join(sorted(operations))}"}
    try:
        return {"ok": True, **await operation(request)}
    except Refusal as refused:
        return {"ok": False, "error": str(refused)}
    except Exception as failure:
        log.exception("control-failed", op=request.get("op"))
        return {"ok": False, "error": str(failure) or type(failure).__name__}
