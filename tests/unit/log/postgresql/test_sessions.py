"""Connections that are opened while their session, its task or its reader ends."""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest

from coordinator_server.log.errors import LogError, Unavailable
from coordinator_server.log.postgresql.address import Address
from coordinator_server.log.postgresql.reader import Reader
from coordinator_server.log.postgresql.session import Rows, Session
from tests.support.postgresql import PostgresqlServer


class _CancellingLoop(asyncio.SelectorEventLoop):
    """Cancels a task when a connection has a protocol, and before the caller has the connection."""

    connecting: asyncio.Task[Rows]

    async def create_connection(self, protocol_factory: Callable[[], Any], *where: Any, **how: Any) -> Any:
        def make() -> Any:
            self.call_soon(self.connecting.cancel)
            return protocol_factory()

        return await super().create_connection(make, *where, **how)


@pytest.mark.parametrize("mode", ["disable", "prefer", "require"])
def test_a_cancelled_connection_leaves_no_error_that_nobody_looks_at(mode: str) -> None:
    """asyncio would write an error to the log: at the end of a node, or when one is paused while it connects."""
    with socket.create_server(("127.0.0.1", 0)) as server, asyncio.Runner(loop_factory=_CancellingLoop) as runner:
        url = f"postgresql://nobody@127.0.0.1:{server.getsockname()[1]}/none?sslmode={mode}"
        reported: list[Any] = []

        async def connect() -> None:
            loop = asyncio.get_running_loop()
            assert isinstance(loop, _CancellingLoop)
            loop.set_exception_handler(lambda _, context: reported.append(context["message"]))
            loop.connecting = loop.create_task(Session(Address(url), "cancelled").read("SELECT 1"))
            with pytest.raises(asyncio.CancelledError):
                await loop.connecting
            # The end of the connection comes after that of the task.
            await asyncio.sleep(0)
            del loop.connecting
            gc.collect()

        runner.run(connect())

        assert reported == []


def test_a_session_that_is_closed_while_it_connects_has_no_connection(postgresql: PostgresqlServer) -> None:
    """The database would have it until the node ends."""
    url = postgresql.url("postgres")

    async def close_meanwhile() -> bool:
        async def on_connect(_connection: Any) -> None:
            session.close()

        session = Session(Address(url), "closed", on_connect)
        with pytest.raises(Unavailable):
            await session.read("SELECT 1")
        return session.is_connected

    assert not asyncio.run(close_meanwhile())


def test_a_read_that_begins_while_the_reader_is_closed(postgresql: PostgresqlServer) -> None:
    """It is refused, or comes to its end: it is not given to a loop that is closed."""
    url = postgresql.url("postgres")
    reader = Reader(lambda: Session(Address(url), "reads"))
    assert reader.read("SELECT 1")[0][0] == 1
    closing = threading.Thread(target=reader.close)

    async def read(session: Session) -> Rows:
        return await session.read("SELECT 1", waits=False)

    def begin(session: Session) -> Any:
        closing.start()
        # Closed before the read, unless it waits for the read to have begun.
        closing.join(0.2)
        return read(session)

    with pytest.raises(LogError):
        reader.run(begin)
    closing.join()
