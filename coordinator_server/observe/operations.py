"""``control.sock`` of a directory that is followed: what commands about a directory ask of whoever has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from coordinator_server.observe.directory import ObservedDirectory
from coordinator_server.server.hosting.end_offsets import end_offsets
from coordinator_server.server.local_operation import Operation


def operations(directory: ObservedDirectory, status: Callable[[], Mapping[str, Any]]) -> dict[str, Operation]:
    """Return the operations by name."""

    async def answer_status(_request: Mapping[str, Any]) -> Mapping[str, Any]:
        return status()

    async def answer_write_out(_request: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"shards": await end_offsets(directory.write_out)}

    return {"status": answer_status, "write-out": answer_write_out}
