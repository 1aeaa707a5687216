"""SocketAcceptor on a loop that the test plays: how many connections it accepts, and when it rests."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable
from typing import Any, cast

import pytest

from coordinator_server.server.wire.acceptor import ACCEPTS_PER_TURN, MOST_HELD, OUT_OF_RESOURCES_S, SocketAcceptor
from coordinator_server.server.wire.incidents import Incidents


class Accepted:
    """A connection that nobody wants."""

    def __init__(self) -> None:
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


class Listening:
    """A socket with so many connections, or errors, that wait."""

    def __init__(self, *waiting: Accepted | OSError) -> None:
        self.waiting = list(waiting)

    def accept(self) -> tuple[Accepted, tuple[str, int]]:
        if not self.waiting:
            raise BlockingIOError
        found = self.waiting.pop(0)
        if isinstance(found, OSError):
            raise found
        return found, ("192.0.2.1", 7)


class Loop:
    """The readers of a loop and its timers; also what decides about connections, and what is reported."""

    def __init__(self) -> None:
        self.readers: list[object] = []
        self.later: list[tuple[float, Callable[[], None]]] = []
        self.rests_ms = self.holds_ms = 0
        self.tls = None
        self.reports: list[str] = []
        self.acceptor = SocketAcceptor(cast(asyncio.AbstractEventLoop, self), self, cast(Incidents, self))

    def add_reader(self, each: object, *_: object) -> None:
        self.readers.append(each)

    def remove_reader(self, each: object) -> None:
        self.readers.remove(each)

    def call_later(self, seconds: float, call: Callable[[], None]) -> Any:
        self.later.append((seconds, call))
        return self

    def cancel(self) -> None:
        """As a handle: do nothing."""

    def delay_ms(self) -> int:
        return self.rests_ms

    def hold_ms(self, host: str) -> int:
        assert host == "192.0.2.1"
        return self.holds_ms

    def admit(self, host: str) -> None:
        assert host == "192.0.2.1"

    def lost(self, protocol: object, why: OSError) -> None:
        raise AssertionError

    def report(self, name: str, **_: object) -> None:
        self.reports.append(name)

    def accept(self, listening: Listening) -> None:
        self.readers = [listening]
        self.acceptor._accept(cast(socket.socket, listening))


def test_a_turn_accepts_some_of_those_that_wait() -> None:
    """The others wait for the next turn. One that is refused is closed."""
    connections = [Accepted() for _ in range(ACCEPTS_PER_TURN + 3)]
    loop, listening = Loop(), Listening(*connections)

    loop.accept(listening)

    assert [each.is_closed for each in connections] == [True] * ACCEPTS_PER_TURN + [False] * 3
    loop.accept(listening)
    assert (listening.waiting, loop.later, loop.readers) == ([], [], [listening])


def test_nothing_is_accepted_while_the_policy_says_so() -> None:
    """Then the loop reads again."""
    loop, listening = Loop(), Listening(Accepted())
    loop.rests_ms = 250

    loop.accept(listening)

    [(seconds, resume)] = loop.later
    assert (seconds, len(listening.waiting), loop.readers, loop.reports) == (0.25, 1, [], [])
    resume()
    assert loop.readers == [listening]


def test_what_is_held_is_closed_later_and_too_many_at_once() -> None:
    """Also when the acceptor closes."""
    connections = [Accepted() for _ in range(MOST_HELD + 1)]
    loop, listening = Loop(), Listening(*connections)
    loop.holds_ms = 500

    while listening.waiting:
        loop.accept(listening)

    assert [each.is_closed for each in connections] == [False] * MOST_HELD + [True]
    assert {seconds for seconds, _ in loop.later} == {0.5}
    loop.later[0][1]()
    assert [each.is_closed for each in connections[:2]] == [True, False]
    loop.acceptor.close()
    assert all(each.is_closed for each in connections)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM])
def test_a_system_without_descriptors_or_memory_has_a_rest(number: int) -> None:
    """Else the loop would do nothing but fail to accept."""
    loop, listening = Loop(), Listening(OSError(number, "no more"), Accepted())

    loop.accept(listening)

    assert [seconds for seconds, _ in loop.later] == [OUT_OF_RESOURCES_S] == [1.0]
    assert (len(listening.waiting), loop.readers, loop.reports) == (1, [], ["connections-not-accepted"])


def test_a_connection_that_has_ended_by_then_is_passed_over() -> None:
    last = Accepted()
    loop, listening = Loop(), Listening(OSError(errno.ECONNABORTED, "gone"), last)

    loop.accept(listening)

    assert (last.is_closed, loop.later, loop.reports) == (True, [], [])
