"""The rooms of a loop, opened from the bottom up as far as a test wants, on a log in memory and with time that a test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn
from uuid import uuid4

from coordinator_server.catalog.topic_changes import TopicChanges
from coordinator_server.config.listeners import listener_specs
from coordinator_server.config.load import load
from coordinator_server.log.errors import LogError
from coordinator_server.machine.shard import RequestContext
from coordinator_server.runtime.executor import ExecutorQueue
from coordinator_server.runtime.flush import Flusher
from coordinator_server.runtime.lease import Gate
from coordinator_server.runtime.loads import LoadQueue
from coordinator_server.runtime.outbox import OutboxQueue
from coordinator_server.runtime.services import LoopServices
from coordinator_server.runtime.timers import TimerQueue
from coordinator_server.server.cluster.effects import Courier
from coordinator_server.server.cluster.nodes import Place
from coordinator_server.server.cluster.open import Cluster, open_cluster
from coordinator_server.server.composition import nodes_of
from coordinator_server.server.foundation import Foundation
from coordinator_server.server.guard.open import Guard, open_guard
from coordinator_server.server.hosting.builders import Materials, build_catalog
from coordinator_server.server.hosting.open import Hosting, open_hosting
from coordinator_server.server.wire.acceptor import AcceptPolicy
from coordinator_server.server.wire.admission import Limits
from coordinator_server.server.wire.incidents import Incidents
from coordinator_server.server.wire.open import Wire, open_wire
from tests.support.clock import ManualClock
from tests.support.log import ManualWorker, OpenLog
from tests.support.sockets import MemorySockets
from tests.support.storage import SimulatedDisk

DATA_DIR = Path("/data")


class Acceptor:
    """Accepts nobody; a test asks ``policy``."""

    def __init__(self, _loop: asyncio.AbstractEventLoop, policy: AcceptPolicy, _incidents: Incidents) -> None:
        self.policy = policy


class OpenRooms:
    """Create it on a running loop. A room is opened when it is first named, with those that it needs."""

    def __init__(self, properties: Mapping[str, str] = {}, place: Place | None = None, *, has_cleaner: bool = False) -> None:
        self.config = load(properties)
        self.place = place
        self.has_cleaner = has_cleaner
        self.clock = ManualClock()
        self.log = OpenLog(SimulatedDisk())
        self.store = self.log.store
        self.changes = TopicChanges()
        self.failures: list[LogError] = []
        nodes = nodes_of(self.config, place)
        self.nodes = nodes
        self.gate = Gate(self.clock.boot_ms)
        self.courier = Courier(self.store.meta.partitions, nodes, RequestContext("", "", -1, 0), self.gate)
        loop = asyncio.get_running_loop()
        soon, queue = loop.call_soon, TimerQueue()
        services = LoopServices(
            self.store,
            Flusher(self.store, soon, self.failures.append),
            queue,
            self.clock,
            LoadQueue(soon, self.clock),
            has_provenance=False,
            outbox=OutboxQueue(self.courier, soon, queue, self.clock),
            executor=ExecutorQueue(no_child, soon, queue, self.clock),
        )
        self.base = Foundation(loop, self.config, DATA_DIR, self.store, services, self.gate, uuid4, lambda _event: ManualWorker())

    @cached_property
    def wire(self) -> Wire:
        return open_wire(
            self.base,
            specs=listener_specs(self.config),
            limits=Limits(),
            make_acceptor=Acceptor,  # type: ignore[arg-type]
        )

    @cached_property
    def cluster(self) -> Cluster:
        return open_cluster(
            self.base,
            nodes=self.nodes,
            place=self.place,
            sockets=MemorySockets(),
            courier=self.courier,
            build=build_catalog(Materials(self.config, self.clock, uuid4, topic_changes=self.changes)),
            fatal=self.failures.append,
        )

    @cached_property
    def guard(self) -> Guard:
        return open_guard(self.base, self.wire, self.cluster)

    @cached_property
    def hosting(self) -> Hosting:
        return open_hosting(
            self.base,
            self.wire,
            self.cluster,
            authorizer=self.guard.authorizer,
            audit=self.guard.audit,
            changes=self.changes,
            retention_worker=None,
            has_cleaner=self.has_cleaner,
            has_sidecar=False,
        )

    async def settle(self) -> None:
        """Let the loop turn, and the log's thread work, until nothing is left to do."""
        for _ in range(20):
            await asyncio.sleep(0)
            self.log.run()


def no_child(*_: Any) -> NoReturn:
    raise AssertionError("no task is scheduled")
