"""A play in which programs with the client library elect a leader, while they freeze and die, and the server has its own troubles.

Each program has an event loop of its own on simulated time, and reaches the server over the simulated network.
"""

from __future__ import annotations

from random import Random
from typing import Final

from coordinator_server.client import ConnectionSettings, Election, ElectionSettings, Term
from tests.simulation.play import Play
from tests.simulation.program import Clocks, Program
from tests.simulation.world import MS, SECOND
from tests.support.configs import config_with

CANDIDATES: Final = 4
SESSION_S: Final = 2.0
LOOK_US: Final = 2 * MS


class Candidate:
    """A program that takes part in the election, over its lives."""

    def __init__(self, play: ElectionPlay, name: str, rng: Random) -> None:
        self.name = name
        self.program: Program | None = None
        self.election: Election | None = None
        self._play = play
        # Clocks of the time of day are hours apart: the tokens rise all the same.
        self._clocks = Clocks(1.0, 0 if play.is_expiring else rng.randint(-3_600_000, 3_600_000))

    def start(self) -> None:
        """Begin a new life, unless there is one."""
        if self.program is None or not self.program.is_alive:
            self.program = Program(self._play.world, self.name, self._clocks, self._play.wrong.append)
            self.program.network_at = lambda _address: self._play.network
            self.program.start(self._live)

    def die(self) -> None:
        if self.program is not None:
            self.program.kill()

    def freeze(self) -> None:
        """Up to three sessions."""
        if self.program is not None:
            self.program.pause(self._play.world.between(10 * MS, int(3 * SESSION_S * SECOND)))

    def resign(self) -> None:
        """End as programs should, and come back."""
        if self.program is not None and self.program.is_alive and self.election is not None:
            election, program = self.election, self.program

            async def close() -> None:
                await election.close()
                program.world.after(0, program.kill)

            def begin() -> None:
                program.loop.create_task(close())

            program.soon(begin)

    async def _live(self) -> None:
        assert self.program is not None
        settings = ConnectionSettings("127.0.0.1:9092", client_id=self.name, request_timeout_s=3, connect_timeout_s=2)
        election = ElectionSettings("election", candidate=self.name, session_timeout_s=SESSION_S, heartbeat_interval_s=0.3)
        self.election = Election(settings, election, environment=self.program.environment)
        # Without the block's end: who dies does not come to that.
        await self.election.__aenter__()
        async for term in self.election:
            self._play.begins(self.name, term)


class ElectionPlay(Play):
    """A play with candidates. ``wrong`` has what should not be."""

    def __init__(self, seed: int, storm_s: int) -> None:
        super().__init__(seed, storm_s)
        # A full group removes members that are alive, before their session ends: no clock can foresee that.
        self.config = self.machine.config = config_with(self.config, group_max_size=1000)
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
