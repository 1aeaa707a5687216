"""One connection to the database at a time, and what is known of its statements.

    answer, and no warning                       it is durable
    an error that the database answers           Unavailable: nothing was written
    a warning                                    OutcomeUnknown: somebody has cancelled the wait for a standby
    the connection is lost, or does not answer   OutcomeUnknown: it may have run, or may still run
    no standby, although one is asked for        OutcomeUnknown

After OutcomeUnknown the connection is ended. The next statement opens another one, and asks the host of the last one after the
others: a primary that was replaced, and does not know it, has no standby any more, and answers no statement that writes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

from coordinator_server.config.errors import ConfigError
from coordinator_server.log.errors import LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.postgresql.address import Address
from coordinator_server.log.statement_counts import StatementCounts

_MISSING: Final = "a store in PostgreSQL needs a package that is not installed: pip install 'coordinator-server[postgresql]'"
try:
    import asyncpg
except ModuleNotFoundError as missing:
    raise LogError(_MISSING) from missing

SCHEMA: Final = "coordinator_server"
CONNECT_S: Final = 3.0
"""How long one host may take until it has accepted a connection."""
ANSWER_S: Final = 10.0
"""How long a statement may take. After that the connection counts as lost."""
LOCK_MS: Final = 200
"""How long whoever removes rows may wait for a lock, and others behind it."""
_LEAST_DELAY_S, _MOST_DELAY_S = 0.05, 1.0
# Whatever the defaults of role, database and server are.
_SETTINGS: Final = {
    "search_path": SCHEMA,
    "synchronous_commit": "on",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "client_min_messages": "warning",
    "jit": "off",
    # Pages of rows come from an index in their order. Without statistics, sorting all rows for each page seems cheap.
    "enable_sort": "off",
}
# Only newer servers know these. A backend that waits for a row must not outlive a connection that was ended.
_NEWER_SETTINGS: Final = {"idle_session_timeout": "0", "transaction_timeout": "0", "client_connection_check_interval": "1s"}
# The last one has the error of a host that takes no writes.
_REFUSALS: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
_STANDBY: Final = ", current_setting('synchronous_standby_names')"
_WARNINGS: Final = ("WARNING",)

Rows = list[Any]
OnConnect = Callable[[Any], Awaitable[None]]
"""Looks at a new connection. Raises LogError if it must not be used."""


async def _accept(_connection: Any) -> None:
    """Use any connection."""


class _Connection(asyncpg.Connection):  # type: ignore[misc] # asyncpg has no types
    """A connection that never cancels a statement: a cancel in the wait for a standby would report success."""

    def _cancel_current_command(self, *waiters: Any) -> None:
        """End the connection, where asyncpg sends a cancel: when a task that waits for an answer is cancelled."""
        self.terminate()
        for waiter in waiters:
            if waiter is not None and not waiter.done():
                waiter.set_result(None)


class _Loop:
    """The running loop, for asyncpg. A future of a connection may end with an error when who awaited it was cancelled.

    asyncio would report that nobody has looked at it: asyncpg itself looks only at those that open a connection without TLS.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)

    def create_future(self) -> asyncio.Future[Any]:
        """Return a future whose error is looked at."""
        future = self._loop.create_future()
        future.add_done_callback(_look_at_error)
        return future


def _look_at_error(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()


class Session:
    """Statements run one after another, in the order in which they were asked for. ``name`` is what the database shows of it.

    ``refusal`` is why there is no connection; None while there is one. Statements are counted in ``counts``.
    """

    def __init__(
        self,
        address: Address,
        name: str,
        on_connect: OnConnect = _accept,
        *,
        answer_s: float = ANSWER_S,
        counts: StatementCounts | None = None,
    ) -> None:
        self.refusal: str | None = None
        self._address = address
        self._name = name
        self._on_connect = on_connect
        self._answer_s = answer_s
        self._counts = counts or StatementCounts()
        self._connection: Any = None
        # The number of the host that is asked first for a connection.
        self._host = 0
        self._lock = asyncio.Lock()
        self._warnings: list[str] = []
        self._is_closed = False

    @property
    def is_connected(self) -> bool:
        """Whether the next statement can be sent."""
        return self._connection is not None and not self._connection.is_closed()

    async def read(self, statement: str, *arguments: Any, waits: bool = True) -> Rows:
        """Run a statement that changes nothing. Raises LogError.

        With ``waits``, a statement waits until there is a connection; otherwise one attempt is made.
        """
        async with self._lock:
            connection = await self._connected(waits)
            return await self._run(connection, statement, arguments)

    async def write(self, statement: str, *arguments: Any, waits: bool = True) -> Rows:
        """Run a statement that ends with RETURNING. What it returns is durable. Raises LogError."""
        async with self._lock:
            connection = await self._connected(waits)
            rows = await self._run(connection, self.written(statement), arguments)
            if self._address.needs_standby and rows and not rows[0][-1]:
                self._lose()
                raise OutcomeUnknown("the database waits for no standby, and one is asked for: set synchronous_standby_names")
            return rows

    def written(self, statement: str) -> str:
        """Return the text of a statement that writes, as ``write`` sends it."""
        return statement + _STANDBY if self._address.needs_standby else statement

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Callable[..., Awaitable[Rows]]]:
        """Give a function that runs statements of one transaction, none of which waits long for a lock. Raises LogError.

        Another error of the caller takes everything back.
        """
        async with self._lock:
            connection = await self._connected(waits=False)
            await self._run(connection, "BEGIN", ())
            await self._run(connection, f"SET LOCAL lock_timeout = {LOCK_MS}", ())

            async def run(statement: str, *arguments: Any) -> Rows:
                return await self._run(connection, statement, arguments)

            try:
                yield run
                await self._run(connection, "COMMIT", ())
            except Unavailable:
                await self._run(connection, "ROLLBACK", ())
                raise
            except BaseException:
                self._drop()
                raise

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Callable[..., Awaitable[Rows]]]:
        """Give a function that reads, always the same moment; no row of the log is removed before the end. Raises LogError."""
        async with self._lock:
            connection = await self._connected(waits=False)
            await self._run(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", ())
            # Before the first read: a TRUNCATE after that would be seen, whatever the moment is.
            await self._run(connection, "LOCK TABLE log IN ACCESS SHARE MODE", ())

            async def read(statement: str, *arguments: Any) -> Rows:
                return await self._run(connection, statement, arguments)

            try:
                yield read
                await self._run(connection, "COMMIT", ())
            except BaseException:
                self._drop()
                raise

    def close(self) -> None:
        """End the connection. Whatever is under way has no outcome."""
        self._is_closed = True
        self._drop()

    async def _connected(self, waits: bool) -> Any:
        delay = _LEAST_DELAY_S
        while True:
            if self._is_closed:
                # Also one that was being opened meanwhile.
                self._drop()
                raise Unavailable("the log is closed")
            if self.is_connected:
                return self._connection
            try:
                self._connection = await self._connect()
            except LogError as refused:
                self.refusal = str(refused)
                if not waits:
                    raise
                await asyncio.sleep(delay)
                delay = min(2 * delay, _MOST_DELAY_S)
            else:
                self.refusal = None

    async def _connect(self) -> Any:
        """Return a connection with the settings of a session, to the first host that takes writes. Raises LogError."""
        refusals, urls = [], self._address.urls
        for number in range(self._host, self._host + len(urls)):
            try:
                connection = await self._connect_to(urls[number % len(urls)])
            except Unavailable as refused:
                refusals.append(refused)
            else:
                self._host = number % len(urls)
                return connection
        raise refusals[0] if len(refusals) == 1 else Unavailable("; ".join(dict.fromkeys(map(str, refusals))))

    async def _connect_to(self, url: str) -> Any:
        settings = {**_SETTINGS, "application_name": self._name}
        place = Address(url).shown
        try:
            arguments = self._address.arguments(url)
            connection = await asyncpg.connect(
                **arguments,
                loop=_Loop(asyncio.get_running_loop()),
                server_settings=settings,
                target_session_attrs="primary",
                timeout=CONNECT_S,
                connection_class=_Connection,
                max_cached_statement_lifetime=0,
            )
        except ConfigError as refused:
            raise Unavailable(str(refused)) from refused
        except (OSError, TimeoutError, *_REFUSALS) as refused:
            why = str(refused) or "no answer"
            raise Unavailable(f"no connection to {place}: {why}") from refused
        try:
            for name, value in _NEWER_SETTINGS.items():
                await connection.execute("SELECT set_config(name, $2, false) FROM pg_settings WHERE name = $1", name, value)
            connection.add_log_listener(self._heard)
            await self._on_connect(connection)
        except (OSError, *_REFUSALS) as refused:
            connection.terminate()
            raise Unavailable(f"{place}: {refused}") from refused
        except BaseException:
            connection.terminate()
            raise
        return connection

    def _heard(self, _connection: Any, message: Any) -> None:
        """Note a message of the database. asyncpg calls this before the answer of the same statement is given."""
        if message.severity_en in _WARNINGS:
            self._warnings.append(f"{message.sqlstate}: {message.message}")

    async def _run(self, connection: Any, statement: str, arguments: tuple[Any, ...]) -> Rows:
        self._warnings.clear()
        began = time.monotonic()
        # A timeout of asyncpg would cancel the statement.
        watch = asyncio.get_running_loop().call_later(self._answer_s, connection.terminate)
        try:
            rows: Rows = await connection.fetch(statement, *arguments)
        except asyncpg.PostgresError as error:
            if getattr(error, "severity_en", None) == "ERROR" and not connection.is_closed():
                self._counts.count(time.monotonic() - began)
                raise Unavailable(f"{error.sqlstate}: {error}") from error
            self._lose()
            raise OutcomeUnknown(f"the connection to the database was lost: {error}") from error
        except Exception as error:
            self._lose()
            raise OutcomeUnknown(f"the connection to the database was lost: {error!r}") from error
        finally:
            watch.cancel()
        self._counts.count(time.monotonic() - began)
        if self._warnings:
            self._lose()
            raise OutcomeUnknown(f"the database warns: {self._warnings[0]}")
        return rows

    def _lose(self) -> None:
        """End the connection after a statement whose outcome is unknown."""
        self._counts.count_doubt()
        self._host += 1
        self._drop()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and not connection.is_closed():
            connection.terminate()
