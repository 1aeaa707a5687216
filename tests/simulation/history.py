"""What happened, as somebody outside the server can know it: requests and answers with their times, and what befell the machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from msgspec import Struct

from protocol.fields import Message
from tests.simulation.world import MS

M = TypeVar("M", bound=Message)


class Op(Struct):
    """A request, and its answer if one came. Times are microseconds; -1 is never."""

    number: int
    client_id: str
    connection: int
    version: int
    request: Any
    sent_us: int
    answered_us: int = -1
    response: Any = None
    # The client gave up waiting, or its connection broke.
    lost_us: int = -1
    # Who asks, as the script knows it: a member's life, for the checkers of sessions.
    life: int = -1

    @property
    def is_answered(self) -> bool:
        return self.answered_us >= 0

    @property
    def ended_us(self) -> int:
        """After this moment it has no effect that it had not before; the end of time when that is not known."""
        return self.answered_us if self.answered_us >= 0 else 2**62


class Incident(Struct):
    """Something that befell the server, or the clients."""

    at_us: int
    what: str


class Life(Struct):
    """A client that wants to be a member, from its start to its end."""

    number: int
    group_id: str
    instance_id: str | None
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    began_us: int
    ended_us: int = -1
    # How it ended: "left", "died", or not at all.
    how: str = ""
    # What it was last called by the server.
    member_id: str = ""


class History(Struct):
    """All of it, in the order in which it happened."""

    ops: list[Op] = []
    incidents: list[Incident] = []
    lives: list[Life] = []
    # When the faults ended, when the members did, and when everybody had been silent for long enough.
    # What comes then is one more start.
    calm_us: int = -1
    silent_us: int = -1
    end_us: int = -1
    # From when on everything that was committed is too old to be kept, where that comes.
    old_us: int = 2**62

    def of(self, request: type[Message]) -> Iterator[Op]:
        """The requests of one kind."""
        return (op for op in self.ops if type(op.request) is request)

    def answered(self, request: type[Message]) -> Iterator[Op]:
        """Those that were answered."""
        return (op for op in self.of(request) if op.is_answered)

    def lines(self) -> Iterator[str]:
        """One line for each thing that happened, for people, and for the comparison of two runs."""
        told = [(incident.at_us, -1, f"---- {incident.what}") for incident in self.incidents]
        for op in self.ops:
            told.append((op.sent_us, op.number, f"#{op.number} {op.client_id}/{op.connection} → v{op.version} {op.request}"))
            if op.is_answered:
                told.append((op.answered_us, op.number, f"#{op.number} {op.client_id}/{op.connection} ← {op.response}"))
            elif op.lost_us >= 0:
                told.append((op.lost_us, op.number, f"#{op.number} {op.client_id}/{op.connection} given up"))
        for life in self.lives:
            told.append((life.began_us, -1, f"++++ {life}"))
            if life.ended_us >= 0:
                told.append((life.ended_us, -1, f"++++ life {life.number} {life.how}"))
        return (f"{at_us / MS:12.3f} {text}" for at_us, _, text in sorted(told))
