"""Write operations that ``control.sock`` asks for."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation
from coordinator_server.server.local_operation import Refusal
from protocol.error_codes import ErrorCode

Q = TypeVar("Q")
R = TypeVar("R")


async def written(
    runtime: CoordinatorRuntime[Any],
    partition: int,
    operation: WriteOperation[Any, Q, R],
    context: RequestContext,
    request: Q,
) -> R:
    """Run a write operation and return its response when it is durable. Raises Refusal."""
    outcome: asyncio.Future[R] = asyncio.get_running_loop().create_future()

    def refused(error: ErrorCode, message: str | None) -> None:
        outcome.set_exception(Refusal(f"{error.name}: {message or 'nothing was changed'}"))

    runtime.write(partition, operation, context, request, CallbackReply(outcome.set_result, refused))
    return await outcome
