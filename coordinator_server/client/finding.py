"""Where coordinators are: FindCoordinator in the versions of old and new servers."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Final

from coordinator_server.client.connection import Connection
from protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse

_BATCHED: Final = 4
"""From this version on FindCoordinator asks for a list of keys; before, for one, in a field of its own."""


class KeyType(IntEnum):
    """What a coordinator is looked for: FindCoordinator's key type."""

    GROUP = 0
    TRANSACTION = 1


async def find_coordinators(
    connection: Connection, keys: Sequence[str], key_type: KeyType, timeout_s: float
) -> list[tuple[str, Coordinator | FindCoordinatorResponse]]:
    """Return the answer for each key: all in one request, or one by one from a server that takes no more. Raises ClientError."""
    if connection.version_of(FindCoordinatorRequest) >= _BATCHED:
        request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=list(keys))
        answer = await connection.request(request, FindCoordinatorResponse, timeout_s)
        return [(each.key, each) for each in answer.coordinators]
    requests = [FindCoordinatorRequest(key, key_type) for key in keys]
    return [(each.key, await connection.request(each, FindCoordinatorResponse, timeout_s)) for each in requests]
