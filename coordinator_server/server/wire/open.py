"""Opens the room: the listener of a loop, and what its connections share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from coordinator_server.config.listeners import ListenerSpec
from coordinator_server.server.foundation import Foundation
from coordinator_server.server.wire.acceptor import MakeAcceptor
from coordinator_server.server.wire.admission import Limits, limits_of_listener
from coordinator_server.server.wire.background import Background
from coordinator_server.server.wire.certificates import Certificates, read_certificates
from coordinator_server.server.wire.episodes import Episodes
from coordinator_server.server.wire.incidents import Incidents
from coordinator_server.server.wire.listener import EntranceServices, Listener, ListenerServices
from coordinator_server.server.wire.turns import Turns


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


def open_wire(base: Foundation, *, specs: Sequence[ListenerSpec], limits: Limits, make_acceptor: MakeAcceptor) -> Wire:
    """Create the listener of ``specs``. Large messages have a thread. Raises StartError."""
    loop, config, clock, timers = base.loop, base.config, base.clock, base.timers()
    incidents = Incidents(Episodes(clock.now_ms))
    turns = Turns(loop.call_soon, base.gate)
    background = Background(base.new_worker("large-messages-stopped"), loop.call_soon_threadsafe)
    tls = read_certificates(config, specs)
    entrances = [EntranceServices(each.name, tls.get(each.name), limits_of_listener(config, each.name)) for each in specs]
    services = ListenerServices(clock, timers, make_acceptor, limits, incidents, entrances)
    listener = Listener(loop, config, turns, background, services)
    return Wire(incidents, turns, background, listener, Certificates(tls, clock, timers))
