"""Where the coordinators of a storm's groups are. Members ask for theirs whenever they connect, as consumers do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from protocol.error_codes import ErrorCode
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.join_group import JoinGroupResponse
from protocol.messages.sync_group import SyncGroupResponse
from tests.storm.wire import Wire
from tests.support.response_fields import field_values

Address = tuple[str, int]

OF_GROUPS: Final = 0
OF_SHARES: Final = 2
RETRY_S: Final = 0.02
_VERSION: Final = 6
# They wait for other members: how long they take says nothing.
_PARKED: Final = (JoinGroupResponse, SyncGroupResponse)
_ELSEWHERE: Final = ErrorCode.NOT_COORDINATOR
_LATER: Final = frozenset({_ELSEWHERE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE})


class Coordinators:
    """Of a server whose loops have these addresses. With one, nobody is ever sent elsewhere.

    ``followed`` counts the answers that sent a client elsewhere, ``longest_pause_s`` is how long a client was without one that
    counts.
    """

    def __init__(self, addresses: Sequence[Address]) -> None:
        self._addresses = list(addresses)
        self.followed = 0
        self.longest_pause_s = 0.0

    async def of(self, key: str, key_type: int = OF_GROUPS) -> Address:
        """Return the address of a coordinator. Any loop knows it."""
        if len(self._addresses) == 1:
            return self._addresses[0]
        while True:
            self._addresses.append(self._addresses.pop(0))
            wire = await Wire.open(self._addresses[0], "finder")
            request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
            [found] = (await wire.ask(request, _VERSION, FindCoordinatorResponse)).coordinators
            wire.cut()
            if found.error_code == ErrorCode.NONE:
                return found.host, found.port
            await asyncio.sleep(RETRY_S)

    def is_elsewhere(self, answer: Struct) -> bool:
        """Return whether an answer sends the client to another loop."""
        return len(self._addresses) > 1 and _ELSEWHERE in field_values(answer)

    def is_to_be_repeated(self, answer: Struct) -> bool:
        """Return whether an answer says that nothing was done, because the coordinator is elsewhere, or loads."""
        return len(self._addresses) > 1 and not _LATER.isdisjoint(field_values(answer))


class Following:
    """What one client has to do with its coordinator: ``since`` when it has no answer that counts."""

    def __init__(self, coordinators: Coordinators) -> None:
        self._coordinators = coordinators
        self._since: float | None = None

    def is_sent_elsewhere(self, answer: Struct, asked_s: float) -> bool:
        """Take note of an answer to what was asked at that time. Return whether the client has to connect anew."""
        coordinators, now = self._coordinators, time.monotonic()
        if isinstance(answer, _PARKED):
            self._since = None
        elif coordinators.is_to_be_repeated(answer):
            self._since = asked_s if self._since is None else self._since
        elif self._since is not None:
            coordinators.longest_pause_s = max(coordinators.longest_pause_s, now - self._since)
            self._since = None
        is_elsewhere = coordinators.is_elsewhere(answer)
        coordinators.followed += is_elsewhere
        return is_elsewhere
