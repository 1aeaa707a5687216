"""Waits for the maintenance of the log, as a coroutine: sealing for the cleaner, and what local tools ask for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from coordinator_server.log.errors import LogError
from coordinator_server.log.shards import ShardId
from coordinator_server.log.store import OnSealed


async def end_offsets(work: Callable[[OnSealed], None]) -> Mapping[str, int]:
    """Do ``seal`` or ``write_out`` of a log. Return the end offset that each shard has then. Raises LogError."""
    outcome: asyncio.Future[dict[str, int]] = asyncio.get_running_loop().create_future()

    def done(ends: Mapping[ShardId, int] | LogError) -> None:
        if isinstance(ends, LogError):
            outcome.set_exception(ends)
        else:
            outcome.set_result({str(shard): end for shard, end in ends.items()})

    work(done)
    return await outcome
