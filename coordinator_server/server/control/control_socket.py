"""``control.sock`` in the data directory: the interface of local tools to the running server.

Requests and answers are JSON objects, one per line: ``{"op": "seal"}`` → ``{"ok": true, "shards": {"__consumer_offsets-7":
1234}}``, or ``{"ok": false, "error": "…"}``, with ``"temporary": true`` if the same request succeeds a little later. Only the
server's user and root may connect. Operations that change something have a line in the audit log, with the process that asked.

With several loops an operation runs in each loop, and the supervisor merges the answers (supervisor/rules.py): values that
differ between loops must be in objects by shard or in lists; all other values must be equal. A request that names ``shards``
goes to their owners.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
import structlog

from coordinator_server.log.errors import Unavailable
from coordinator_server.log.jobs import CONTROL_SOCKET
from coordinator_server.server.cluster.unix import Peer, admit_peer, place_for_socket
from coordinator_server.server.control.json_pieces import json_pieces
from coordinator_server.server.guard.audit_line import write_line
from coordinator_server.server.local_operation import Operation, Refusal
from protocol.printable import printable_json

log = structlog.get_logger(__name__)

# Enough for restoring a group with tens of thousands of offsets.
MAX_LINE_BYTES = 1 << 23

# Operations that change no state. All others are audited.
READING: Final = frozenset(
    {
        "cluster",
        "digest",
        "expiring",
        "groups",
        "health",
        "holdups",
        "loops",
        "metrics",
        "owners",
        "pipeline",
        "refused-commits",
        "quotas",
        "seal",
        "shards",
        "status",
        "users",
        "write-out",
    }
)
# What a request says about whom it changes. Nothing else of it is logged: it may have a secret.
_NAMES: Final = ("group_id", "transactional_id", "user", "principal", "topic", "shard")


class ControlSocket:
    """The server of ``control.sock``, with ``operations`` by name."""

    def __init__(self, data_dir: Path, operations: Mapping[str, Operation]) -> None:
        self._path = data_dir / CONTROL_SOCKET
        self._operations = operations
        self._server: asyncio.Server | None = None
        self._sessions: set[asyncio.StreamWriter] = set()

    async def start(self) -> None:
        """Start to listen."""
        with place_for_socket(self._path) as path:
            self._server = await asyncio.start_unix_server(self._serve, path, limit=MAX_LINE_BYTES)

    async def stop(self) -> None:
        """Close all sessions and remove the socket."""
        if self._server is not None:
            self._server.close()
            for writer in list(self._sessions):
                writer.close()
            self._path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = admit_peer(writer.transport, CONTROL_SOCKET)
        if peer is None:
            writer.transport.abort()
            return
        self._sessions.add(writer)
        try:
            # The reader raises ValueError for a line beyond the limit. The loop ends when the peer disconnects.
            with contextlib.suppress(ConnectionError, ValueError):
                while line := await reader.readline():
                    await _write(writer, await self._answer(line, peer))
        finally:
            self._sessions.discard(writer)
            writer.close()

    async def _answer(self, line: bytes, peer: Peer) -> Mapping[str, Any]:
        try:
            request = msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.DecodeError as bad:
            return {"ok": False, "error": f"not a JSON object on a line: {bad}"}
        answer = await run_operation(self._operations, request)
        if request.get("op") not in READING:
            _audit(request, answer, peer)
        return answer


async def run_operation(operations: Mapping[str, Operation], request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Run the requested operation and return its answer, or the error."""
    operation = operations.get(str(request.get("op")))
    if operation is None:
        return {"ok": False, "error": f"unknown op; there are: {', '.join(sorted(operations))}"}
    try:
        return {"ok": True, **await operation(request)}
    except Refusal as refused:
        return {"ok": False, "error": str(refused)} | ({"temporary": True} if refused.is_temporary else {})
    except Unavailable as unavailable:
        # As on a full disk: the log's own line says so, and what to do.
        return {"ok": False, "error": str(unavailable)}
    except Exception as failure:
        log.exception("control-failed", op=request.get("op"))
        return {"ok": False, "error": str(failure) or type(failure).__name__}


async def _write(writer: asyncio.StreamWriter, answer: Mapping[str, Any]) -> None:
    """Write an answer as a line. The loop serves others after each piece of a large one."""
    for piece in json_pieces(dict(answer)):
        # People ask with netcat, too: no id of a client may reach their terminal as it is.
        writer.write(printable_json(piece.decode()).encode())
        await writer.drain()
        await asyncio.sleep(0)
    writer.write(b"\n")
    await writer.drain()


def _audit(request: Mapping[str, Any], answer: Mapping[str, Any], peer: Peer) -> None:
    group = request.get("group")
    parts = (request, group) if isinstance(group, Mapping) else (request,)
    named: dict[str, Any] = {name: value for part in parts for name in _NAMES if isinstance(value := part.get(name), str)}
    if "checked" in answer:
        named["validate_only"] = True
    if resources := answer.get("changed", answer.get("checked")):
        named["resources"] = resources
    outcome = "done" if answer["ok"] else str(answer["error"])
    write_line("administrative-operation", operation=str(request.get("op")), **named, pid=peer.pid, uid=peer.uid, outcome=outcome)
