"""Opens the room: the listener of a loop, and what its connections share."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from coordinator_server.config import Config
from coordinator_server.config.listeners import ListenerSpec
from coordinator_server.machine.shard import Clock, CoordinatorTimer
from coordinator_server.runtime.lease import Gate
from coordinator_server.server.wire.acceptor import MakeAcceptor
from coordinator_server.server.wire.admission import Limits, limits_of_listener
from coordinator_server.server.wire.background import Background
from coordinator_server.server.wire.certificates import Certificates, read_certificates
from coordinator_server.server.wire.episodes import Episodes
from coordinator_server.server.wire.incidents import Incidents
from coordinator_server.server.wire.listener import EntranceServices, Listener, ListenerServices
from coordinator_server.server.wire.turns import Turns
from coordinator_server.worker import Worker


class Wire(NamedTuple):
    """The room of sockets. The listener waits for its dispatcher (``Listener.serve``)."""

    incidents: Incidents
    turns: Turns
    background: Background
    listener: Listener
    certificates: Certificates

    async def listen(self) -> None:
        """Accept connections at the addresses that are bound."""
        for acceptor in self.listener.acceptors:
            await acceptor.start()
        self.certificates.begin()

    def stop_reading(self) -> None:
        """Stop accepting and reading. Requests already read are still answered."""
        self.certificates.close()
        self.listener.stop_reading()


def open_wire(  # noqa: PLR0913 - arguments with names
    *,
    loop: asyncio.AbstractEventLoop,
    config: Config,
    specs: Sequence[ListenerSpec],
    clock: Clock,
    timers: CoordinatorTimer,
    limits: Limits,
    make_acceptor: MakeAcceptor,
    worker: Worker,
    gate: Gate,
) -> Wire:
    """Create the listener of ``specs``. ``worker`` has the thread for large messages, ``gate`` the leases. Raises StartError."""
    incidents = Incidents(Episodes(clock.now_ms))
    turns, background = Turns(loop.call_soon, gate), Background(worker, loop.call_soon_threadsafe)
    tls = read_certificates(config, specs)
    entrances = [EntranceServices(each.name, tls.get(each.name), limits_of_listener(config, each.name)) for each in specs]
    services = ListenerServices(clock, timers, make_acceptor, limits, incidents, entrances)
    listener = Listener(loop, config, turns, background, services)
    return Wire(incidents, turns, background, listener, Certificates(tls, clock, timers))
