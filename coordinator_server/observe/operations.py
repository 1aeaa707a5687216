"""``control.sock`` of a directory that is followed: what commands about a directory ask of whoever has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from coordinator_server.log.store import OnSealed
from coordinator_server.observe.directory import ObservedDirectory
from coordinator_server.server.hosting.end_offsets import end_offsets
from coordinator_server.server.local_operation import Operation


def operations(directory: ObservedDirectory, status: Callable[[], Mapping[str, Any]]) -> dict[str, Operation]:
    """Return the operations by name."""

    async def answer_status(_request: Mapping[str, Any]) -> Mapping[str, Any]:
        return status()

    return {
        "status": answer_status,
        "seal": partial(_answer_ends, directory.seal),
        "write-out": partial(_answer_ends, directory.write_out),
    }


async def _answer_ends(work: Callable[[OnSealed], None], _request: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"shards": await end_offsets(work)}
