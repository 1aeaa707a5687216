"""The producer ids of a loop: taken one by one from blocks that the catalog has given it (Kafka's ``RPCProducerIdManager``).

The next block is asked for when most of the present one is used, so that nobody waits for it. The first block is asked for by the
first producer that needs an id, whose request waits for it. If the catalog refuses it, producers must retry, with an
error that old clients retry, too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

import structlog

from coordinator_server.catalog.producer_ids import BLOCK, ids_of
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import Reply
from coordinator_server.runtime.callback_reply import CallbackReply
from protocol.error_codes import ErrorCode
from protocol.messages.cluster_metadata import ProducerIdsRecord

log = structlog.get_logger(__name__)

LEAST_LEFT: Final = BLOCK // 10
"""The next block is asked for when only so many ids are left."""
RETRY_MS: Final = 50
PATIENCE_S: Final = 1.0
"""Producers wait for so long for a block. If it is late, those that come later do not wait."""


class AskForBlock(Protocol):
    """Asks the catalog for a block. The reply may come at once, later, or never."""

    def __call__(self, request: ProducerIdsRecord, reply: Reply[ProducerIdsRecord], /) -> None: ...


class ProducerIds:
    """The blocks of one loop. ``now_ms`` is monotonic, ``call_later`` is that of the event loop."""

    def __init__(
        self,
        node_id: int,
        ask: AskForBlock,
        now_ms: Callable[[], int],
        call_later: Callable[[float, Callable[[], None]], object],
    ) -> None:
        self._node_id = node_id
        self._ask = ask
        self._now_ms = now_ms
        self._call_later = call_later
        self._ids = range(0)
        self._next = range(0)
        self._is_asked = False
        self._not_before_ms = 0
        # Called when the block that is asked for is there, refused or late.
        self._waiting: list[Callable[[], None]] = []
        self._asked_times = 0
        self._is_late = False

    def take(self) -> int:
        """Return an id that no producer has had. Raises CoordinatorError while there is none."""
        if len(self._ids) <= LEAST_LEFT and not self._next:
            # The catalog of this loop may answer at once.
            self._ask_for_block()
        if not self._ids:
            self._ids, self._next = self._next, range(0)
        if not self._ids:
            raise CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "the next block of producer ids is not there yet")
        taken, self._ids = self._ids[0], self._ids[1:]
        return taken

    def wait(self, call: Callable[[], None]) -> bool:
        """Let ``call`` try again when the block that is asked for is there, refused or late.

        Return False if nothing is to be waited for.
        """
        if not self._is_asked or self._is_late or self._ids:
            return False
        if not self._waiting:
            self._call_later(PATIENCE_S, partial(self._give_up, self._asked_times))
        self._waiting.append(call)
        return True

    def _ask_for_block(self) -> None:
        if self._is_asked or self._now_ms() < self._not_before_ms:
            return
        self._is_asked = True
        self._asked_times += 1
        self._ask(ProducerIdsRecord(self._node_id), CallbackReply(self._given, self._refused))

    def _given(self, block: ProducerIdsRecord) -> None:
        self._is_asked = self._is_late = False
        self._next = ids_of(block)
        self._tell()

    def _refused(self, error: ErrorCode, message: str | None) -> None:
        self._is_asked = self._is_late = False
        self._not_before_ms = self._now_ms() + RETRY_MS
        log.warning("producer-ids-refused", error=error.name, why=message, action="asked again when a producer needs one")
        self._tell()

    def _give_up(self, asked_times: int) -> None:
        if self._is_asked and self._asked_times == asked_times:
            self._is_late = True
            self._tell()

    def _tell(self) -> None:
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            call()
