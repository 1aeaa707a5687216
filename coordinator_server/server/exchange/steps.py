"""Long requests: their groups, topics or offsets are too many for one step, which would delay all other clients.

A handler passes the work as a generator, which yields after each step. A connection has at most one long request in progress, and
a loop at most MOST_IN_PROGRESS; the others have not started, and take no memory but their own. The response is encoded beside the
loop, or a part in each step (``long_answer.py``).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar, cast

from coordinator_server.server.exchange.exchange import Beside, Exchange
from coordinator_server.server.exchange.long_answer import LongAnswer
from coordinator_server.server.wire.connection import Connection
from coordinator_server.server.wire.turns import Turns

T = TypeVar("T")
R = TypeVar("R")

MOST_IN_PROGRESS: Final = 4

Work: TypeAlias = Generator[None, None, R]
"""Yields after each step, and returns the response, a Beside of it, or its LongAnswer. May raise CoordinatorError."""


class _LongRequest(NamedTuple):
    exchange: Exchange[Any]
    work: Work[Any]


class Steps:
    """The long requests of a loop."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        # The long requests of each connection. The first is in progress, or its connection is in ``_ready`` or is blocked.
        self._requests: dict[Connection, deque[_LongRequest]] = {}
        self._ready: deque[Connection] = deque()
        self._in_progress: dict[Connection, None] = {}

    def run(self, exchange: Exchange[R], work: Work[R | Beside[R]] | Work[LongAnswer[R]] | Work[R]) -> None:
        """Answer a request with what ``work`` returns, a step a turn. It ends with its connection.

        A step takes about 2 ms, and state may change between steps. Nothing may change the response afterwards.
        """
        connection = exchange.connection
        requests = self._requests.get(connection)
        if requests is not None:
            requests.append(_LongRequest(exchange, work))
            return
        self._requests[connection] = deque((_LongRequest(exchange, work),))
        connection.park(self, partial(self._forget, connection))
        self._ready.append(connection)
        self._start()

    def run_on(self, exchange: Exchange[Any], work: Work[None]) -> None:
        """Run work that changes state, a step a turn. It goes on when the connection that asked for it has ended.

        The work answers the request itself. If it raises, the request is refused. The request must be large or its API ALONE: a
        connection then has one such request in progress.
        """
        self._turns.queue(partial(self._step_on, exchange, work))

    def _step_on(self, exchange: Exchange[Any], work: Work[None]) -> None:
        began_ns = time.perf_counter_ns()
        try:
            next(work)
        except StopIteration:
            pass
        except Exception as failure:  # noqa: BLE001 - a bug in a handler ends its request alone, and is logged
            exchange.fail_after(failure)
        else:
            self.run_on(exchange, work)
        exchange.worked(time.perf_counter_ns() - began_ns)

    def _start(self) -> None:
        while self._ready and len(self._in_progress) < MOST_IN_PROGRESS:
            connection = self._ready.popleft()
            requests = self._requests.get(connection)
            if requests is not None:
                self._in_progress[connection] = None
                self._turns.queue(partial(self._step, connection, requests[0]))

    def _step(self, connection: Connection, request: _LongRequest) -> None:
        if connection not in self._in_progress:
            return
        exchange = request.exchange
        began_ns = time.perf_counter_ns()
        try:
            next(request.work)
        except StopIteration as done:
            exchange.worked(time.perf_counter_ns() - began_ns)
            if isinstance(done.value, LongAnswer):
                done.value.complete()
                self._answered(exchange)
            else:
                exchange.complete_beside(done.value, partial(self._answered, exchange))
        except Exception as failure:  # noqa: BLE001 - a bug in a handler ends its request alone, and is logged
            error, message = exchange.error_for(failure)
            exchange.fail_beside(error, message, partial(self._answered, exchange))
        else:
            exchange.worked(time.perf_counter_ns() - began_ns)
            self._turns.queue(partial(self._step, connection, request))

    def _answered(self, exchange: Exchange[Any]) -> None:
        connection = exchange.connection
        if connection in self._in_progress:
            del self._in_progress[connection]
            self._requests[connection].popleft()
            connection.when_sent(exchange, partial(self._go_on, connection))
            self._start()

    def _go_on(self, connection: Connection) -> None:
        """Start the connection's next long request: the last response has been sent, or is not much."""
        requests = self._requests.get(connection)
        if requests:
            self._ready.append(connection)
            self._start()
        elif requests is not None:
            del self._requests[connection]
            connection.unpark(self)

    def _forget(self, connection: Connection) -> None:
        for request in self._requests.pop(connection):
            request.work.close()
        self._in_progress.pop(connection, None)
        self._start()


def in_portions(items: Iterable[T], size: int) -> Iterable[list[T]]:
    """Yield the items in lists of ``size``; the last may be shorter."""
    left = iter(items)
    while portion := list(islice(left, size)):
        yield portion


def at_once(work: Work[R]) -> R:
    """Do all steps of work that is little."""
    while True:
        try:
            next(work)
        except StopIteration as done:
            return cast(R, done.value)
