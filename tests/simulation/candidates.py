"""A play in which programs with the client library elect a leader, while they freeze and die, and the server has its own troubles.

Each program has an event loop of its own on simulated time, and reaches the server over the simulated network.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from random import Random
from typing import Any, Final

from msgspec import structs

from coordinator_server.client import ConnectionSettings, Election, ElectionSettings, Environment, Term
from coordinator_server.client.settings import Address
from tests.simulation.loop import SimulatedLoop
from tests.simulation.network import ClientSocket, Network
from tests.simulation.play import Play
from tests.simulation.world import MS, SECOND, Event, World

CANDIDATES: Final = 4
SESSION_S: Final = 2.0
TURN_US: Final = 20
LOOK_US: Final = 2 * MS


class Program:
    """A process with an event loop that the world runs, unless it is frozen or dead."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.loop = SimulatedLoop(lambda: world.now_us, self._wake, is_timers_first=False)  # type: ignore[abstract]
        self.is_alive = True
        self.sockets: list[ClientSocket] = []
        self._frozen_until_us = 0
        self._next: Event | None = None
        self._next_us = 0

    def run(self, main: Callable[[], Any]) -> None:
        """Start a coroutine."""
        self.loop.call_soon(lambda: self.loop.create_task(main()))

    def freeze(self, duration_us: int) -> None:
        """Do nothing for so long; what arrives waits."""
        self._frozen_until_us = max(self._frozen_until_us, self.world.now_us + duration_us)

    def die(self) -> None:
        """Do nothing any more."""
        self.is_alive = False
        self.loop.is_over = True
        for socket in self.sockets:
            socket.close()

    def _wake(self) -> None:
        due_us = self.world.now_us + TURN_US if not self.loop.is_idle else self.loop.next_due()
        if due_us is None or not self.is_alive:
            return
        if self._next is not None:
            if self._next_us <= due_us:
                return
            self._next.cancel()
        self._next_us = max(due_us, self.world.now_us + TURN_US)
        self._next = self.world.at(self._next_us, self._turn)

    def _turn(self) -> None:
        self._next = None
        if not self.is_alive:
            return
        if self.world.now_us < self._frozen_until_us:
            self._next_us = self._frozen_until_us
            self._next = self.world.at(self._next_us, self._turn)
            return
        self.loop.turn()
        self._wake()


class ClientTransport(asyncio.Transport):
    """A connection of a program, as its protocol has it."""

    def __init__(self, network: Network, program: Program, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self._program, self._protocol = program, protocol
        self._socket = ClientSocket(network, self._received, self._lost)
        program.sockets.append(self._socket)

    def write(self, data: Any) -> None:
        self._socket.send(bytes(data))

    def abort(self) -> None:
        self._socket.close()

    def _received(self, data: bytes) -> None:
        self._program.loop.call_soon(self._protocol.data_received, data)

    def _lost(self) -> None:
        self._program.loop.call_soon(self._protocol.connection_lost, ConnectionResetError("lost"))


class Candidate:
    """A program that takes part in the election, over its lives."""

    def __init__(self, play: ElectionPlay, name: str, rng: Random) -> None:
        self.name = name
        self.program: Program | None = None
        self.election: Election | None = None
        self._play, self._rng = play, rng
        # Clocks of the time of day are hours apart: the tokens rise all the same.
        self._wall_ahead_ms = 0 if play.is_expiring else rng.randint(-3_600_000, 3_600_000)

    def start(self) -> None:
        """Begin a new life, unless there is one."""
        if self.program is None or not self.program.is_alive:
            self.program = Program(self._play.world)
            self.program.run(self._live)

    def die(self) -> None:
        if self.program is not None:
            self.program.die()

    def freeze(self) -> None:
        """Up to three sessions."""
        if self.program is not None:
            self.program.freeze(self._play.world.between(10 * MS, int(3 * SESSION_S * SECOND)))

    def resign(self) -> None:
        """End as programs should, and come back."""
        if self.program is not None and self.program.is_alive and self.election is not None:
            election, program = self.election, self.program

            async def close() -> None:
                await election.close()
                program.die()

            program.run(close)

    async def _live(self) -> None:
        world, program = self._play.world, self.program
        assert program is not None

        async def connect(
            protocol: Callable[[], asyncio.BaseProtocol], _address: Address, _tls: ssl.SSLContext | None
        ) -> asyncio.BaseTransport:
            made = protocol()
            assert isinstance(made, asyncio.Protocol)
            transport = ClientTransport(self._play.network, program, made)
            made.connection_made(transport)
            return transport

        environment = Environment(
            now_s=lambda: world.now_us / SECOND,
            wall_ms=lambda: 1_700_000_000_000 + self._wall_ahead_ms + world.now_us // MS,
            random=self._rng.random,
            connect=connect,
        )
        settings = ConnectionSettings("127.0.0.1:9092", client_id=self.name, request_timeout_s=3, connect_timeout_s=2)
        election = ElectionSettings("election", candidate=self.name, session_timeout_s=SESSION_S, heartbeat_interval_s=0.3)
        self.election = Election(settings, election, environment=environment)
        # Without the block's end: who dies does not come to that.
        await self.election.__aenter__()
        async for term in self.election:
            self._play.begins(self.name, term)


class ElectionPlay(Play):
    """A play with candidates. ``wrong`` has what should not be."""

    def __init__(self, seed: int, storm_s: int) -> None:
        super().__init__(seed, storm_s)
        # A full group removes members that are alive, before their session ends: no clock can foresee that.
        self.config = self.machine.config = structs.replace(self.config, group_max_size=1000)
        self.terms: list[tuple[str, Term]] = []
        self.wrong: list[str] = []
        own = Random(f"candidates {seed}")
        self.candidates = [Candidate(self, f"c{number}", own) for number in range(CANDIDATES)]
        self._own = own

    def begins(self, name: str, term: Term) -> None:
        """A candidate learns that it leads."""
        if self.terms and term.token <= self.terms[-1][1].token:
            self.wrong.append(f"{name} has the token {term.token} after {self.terms[-1][1].token}")
        self.terms.append((name, term))
        self._look_at_leaders()

    def _look_at_leaders(self) -> None:
        """A frozen or dead leader counts, too: it could write at any moment at which its term is current."""
        leaders = [(name, term.token) for name, term in self.terms[-2 * CANDIDATES :] if term.is_current]
        if len(leaders) > 1:
            self.wrong.append(f"at {self.world.now_us} several lead: {leaders}")

    def _watch_leaders(self) -> None:
        self._look_at_leaders()
        self.world.after(LOOK_US, self._watch_leaders)

    def _storm(self) -> None:
        for candidate in self.candidates:
            self.world.after(self.world.between(0, 3 * SECOND), candidate.start)
        for _ in range(self.storm_s):
            candidate = self._own.choice(self.candidates)
            trouble = self._own.choice((candidate.freeze, candidate.freeze, candidate.die, candidate.resign))
            when_us = self._own.randint(2 * SECOND, self.storm_s * SECOND)
            self.world.after(when_us, trouble)
            self.world.after(when_us + self._own.randint(100 * MS, 4 * SECOND), candidate.start)
        self.world.after(0, self._watch_leaders)
        super()._storm()

    def _silence(self) -> None:
        """Somebody has come to lead in the calm."""
        if not any(term.is_current for _, term in self.terms):
            self.wrong.append("nobody leads in the calm")
        for candidate in self.candidates:
            candidate.die()
        super()._silence()
