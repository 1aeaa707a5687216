"""The catalog of a stopped server: its state machine and its log alone, under the server's lock.

Loops that follow the catalog learn at their start what was changed meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.config import Config
from coordinator_server.kinds import CATALOG
from coordinator_server.log.errors import LogError
from coordinator_server.log.store import LogStore
from coordinator_server.machine.provenance import SERVER_ORIGIN
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.runtime.clock import SystemClock
from coordinator_server.runtime.flush import Flusher
from coordinator_server.runtime.loads import LoadQueue
from coordinator_server.runtime.runtime import CoordinatorRuntime, WriteOperation
from coordinator_server.runtime.services import LoopServices
from coordinator_server.runtime.timers import TimerQueue
from coordinator_server.server.cluster.catalog import PARTITION
from coordinator_server.server.environment import Environment
from coordinator_server.server.hosting.builders import Materials, build_catalog
from protocol.error_codes import ErrorCode

Q = TypeVar("Q")
R = TypeVar("R")
S = TypeVar("S")

RunUntil = Callable[[Callable[[], bool]], None]


class Refused(Exception):
    """The catalog cannot be loaded, or refuses a change."""


class OfflineCatalog:
    """Reads and writes of the catalog. ``run_until`` runs callbacks of the log until a condition holds."""

    def __init__(self, store: LogStore, run_until: RunUntil) -> None:
        self._run_until = run_until
        self._soon: deque[Callable[[], None]] = deque()
        self._failure: LogError | None = None
        environment, clock = Environment(), SystemClock()
        flusher = Flusher(store, self._soon.append, self._fail)
        loads = LoadQueue(self._soon.append, clock)
        services = LoopServices(store, flusher, TimerQueue(), clock, loads, has_provenance=True)
        config = Config()
        build = build_catalog(Materials(config, clock, environment.new_uuid))
        self._runtime: CoordinatorRuntime[CatalogShard] = CoordinatorRuntime(
            CATALOG.topic, CATALOG.serde, build, services, max_batch_bytes=config.log.message_max_bytes
        )
        loads_ended: list[ErrorCode] = []
        self._runtime.load(PARTITION, 1, loads_ended.append)
        self._run(lambda: bool(loads_ended))
        if loads_ended[0] != ErrorCode.NONE:
            raise Refused("the catalog cannot be loaded: 'coordinator-server log verify' names the damaged file")

    def read(self, operation: Callable[..., S], *arguments: Any) -> S:
        """Run a read operation."""
        return self._runtime.read(PARTITION, operation, *arguments)

    def write(self, operation: WriteOperation[CatalogShard, Q, R], request: Q) -> R:
        """Run a change, and return its response when it is durable. Raises Refused and LogError."""
        outcome: list[R] = []
        refusals: list[str] = []

        def refused(error: ErrorCode, message: str | None) -> None:
            refusals.append(f"{error.name}: {message or 'nothing was changed'}")

        context = RequestContext("", "", -1, 0, origin=SERVER_ORIGIN)
        self._runtime.write(PARTITION, operation, context, request, CallbackReply(outcome.append, refused))
        self._run(lambda: bool(outcome or refusals))
        if refusals:
            raise Refused(refusals[0])
        return outcome[0]

    def _fail(self, failure: LogError) -> None:
        self._failure = failure

    def _run(self, is_done: Callable[[], bool]) -> None:
        def has_ended() -> bool:
            while self._soon:
                self._soon.popleft()()
            return is_done() or self._failure is not None

        self._run_until(has_ended)
        if self._failure is not None:
            raise self._failure
