"""A thread with a connection of its own, for reads that somebody waits for: a fetch of old records, a search by time.

Anybody may call it, but the loop should not: it waits. A read that the database does not answer ends with its connection.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from coordinator_server.log.errors import LogError, Unavailable
from coordinator_server.log.postgresql.rows import ROW_WITH, ROWS_FROM, Pages, Row, checked
from coordinator_server.log.postgresql.session import Rows, Session
from coordinator_server.log.shards import ShardId

T = TypeVar("T")


class Reader:
    """Runs reads in its thread, which the first one starts."""

    def __init__(self, make_session: Callable[[], Session]) -> None:
        self._make_session = make_session
        self._session: Session | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._is_closed = False

    def read(self, statement: str, *arguments: Any) -> Rows:
        """Run a statement that changes nothing, and wait for it. Raises Unavailable."""
        try:
            return self._wait(lambda session: session.read(statement, *arguments, waits=False))
        except LogError as error:
            raise Unavailable(f"cannot read the log: {error}") from error

    def write(self, statement: str, *arguments: Any) -> Rows:
        """Run a statement that ends with RETURNING, and wait for it. What it returns is durable. Raises LogError."""
        return self._wait(lambda session: session.write(statement, *arguments, waits=False))

    def run(self, work: Callable[[Session], Coroutine[Any, Any, T]]) -> T:
        """Run something that needs several statements, and wait for it. Raises LogError."""
        return self._wait(work)

    def rows(self, shard: ShardId, sid: int, from_offset: int, upto: int) -> Iterator[Row]:
        """Yield the rows from the one that holds an offset up to ``upto``. Raises DamagedLog, Unavailable."""
        pages = Pages()
        [(found,)] = self.read(ROW_WITH, sid, from_offset)
        at = from_offset if found is None else found
        while at < upto:
            for row in checked(pages, shard, self.read(ROWS_FROM, sid, at, upto, pages.rows), at, upto):
                yield row
                at = row.next_offset

    def close(self) -> None:
        """End the connection and the thread."""
        with self._starting:
            self._is_closed = True
            thread, loop, session = self._thread, self._loop, self._session
        if thread is None or loop is None or session is None:
            return

        def stop() -> None:
            session.close()
            loop.stop()

        self._thread = None
        loop.call_soon_threadsafe(stop)
        thread.join()

    def _wait(self, work: Callable[[Session], Coroutine[Any, Any, T]]) -> T:
        with self._starting:
            if self._is_closed:
                raise Unavailable("the log is closed")
            if self._thread is None:
                self._start()
            assert self._loop is not None
            assert self._session is not None
            # Before the loop is closed.
            asked = asyncio.run_coroutine_threadsafe(work(self._session), self._loop)
        try:
            return asked.result()
        except CancelledError:
            raise Unavailable("the log is closed") from None

    def _start(self) -> None:
        self._loop = loop = asyncio.new_event_loop()
        self._session = self._make_session()

        def run() -> None:
            try:
                loop.run_forever()
                loop.run_until_complete(_end_tasks())
            finally:
                loop.close()

        self._thread = threading.Thread(target=run, name="log-reader", daemon=True)
        self._thread.start()


async def _end_tasks() -> None:
    """End the reads of this loop: whoever waits for one must hear that there is none."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    # Their callbacks come after them.
    await asyncio.sleep(0)
