"""Long requests: those about so many groups, topics or offsets that one step would keep the loop from everybody else.

A handler passes the work as a generator, which yields after each step. A connection has at most one long request in progress, and
a loop at most MOST_IN_PROGRESS; the others have not started, and take no memory but their own. The response is encoded beside the
loop.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from coordinator_server.server.connection import Connection
from coordinator_server.server.reply import PendingReply
from coordinator_server.server.turns import Turns

R = TypeVar("R")

MOST_IN_PROGRESS: Final = 4

Work: TypeAlias = Generator[None, None, R]
"""Yields after each step, and returns the response. May raise CoordinatorError."""


class Beside(Generic[R]):
    """What work returns in place of a response that is made in the thread, from data that nothing changes."""

    def __init__(self, make: Callable[[], R]) -> None:
        self.make = make


class _LongRequest(NamedTuple):
    reply: PendingReply[Any]
    work: Work[Any]


class Steps:
    """The long requests of a loop."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        # The long requests of each connection. The first is in progress, or its connection is in ``_ready`` or is blocked.
        self._requests: dict[Connection, deque[_LongRequest]] = {}
        self._ready: deque[Connection] = deque()
        self._in_progress: dict[Connection, None] = {}

    def run(self, reply: PendingReply[R], work: Work[R | Beside[R]] | Work[R]) -> None:
        """Answer a request with what ``work`` returns, a step a turn. It ends with its connection.

        A step takes about 2 ms, and state may change between steps. Nothing may change the response afterwards.
        """
        connection = reply.connection
        requests = self._requests.get(connection)
        if requests is not None:
            requests.append(_LongRequest(reply, work))
            return
        self._requests[connection] = deque((_LongRequest(reply, work),))
        connection.park(self, partial(self._forget, connection))
        self._ready.append(connection)
        self._start()

    def run_on(self, reply: PendingReply[Any], work: Work[None]) -> None:
        """Run work that changes state, a step a turn. It goes on when the connection that asked for it has ended.

        The work answers the request itself. If it raises, the request is refused. The request must be large or its API ALONE: a connection then has one such request in progress.
        """
        self._turns.queue(partial(self._step_on, reply, work))

    def _step_on(self, reply: PendingReply[Any], work: Work[None]) -> None:
        began_ns = time.perf_counter_ns()
        try:
            next(work)
        except StopIteration:
            pass
        except Exception as failure:  # noqa: BLE001 - a bug in a handler ends its request alone, and is logged
            reply.fail_after(failure)
        else:
            self.run_on(reply, work)
        reply.worked(time.perf_counter_ns() - began_ns)

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
        reply = request.reply
        began_ns = time.perf_counter_ns()
        try:
            next(request.work)
        except StopIteration as done:
            reply.worked(time.perf_counter_ns() - began_ns)
            self._answer(reply, partial(_encoded, reply, done.value))
        except Exception as failure:  # noqa: BLE001 - a bug in a handler ends its request alone, and is logged
            error, message = reply.error_for(failure)
            self._answer(reply, lambda: reply.encoded(reply.refusal(error, message)))
        else:
            reply.worked(time.perf_counter_ns() - began_ns)
            self._turns.queue(partial(self._step, connection, request))

    def _answer(self, reply: PendingReply[Any], encode: Callable[[], bytearray]) -> None:
        reply.settle()
        reply.connection.answer_beside(reply, encode, partial(self._answered, reply))

    def _answered(self, reply: PendingReply[Any]) -> None:
        connection = reply.connection
        if connection in self._in_progress:
            del self._in_progress[connection]
            self._requests[connection].popleft()
            connection.when_sent(reply, partial(self._go_on, connection))
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


def _encoded(reply: PendingReply[Any], response: object) -> bytearray:
    return reply.encoded(response.make() if isinstance(response, Beside) else response)
