"""The servers of a cluster, and the one among them that coordinates a group."""

from __future__ import annotations

import asyncio
import logging
from typing import Final, TypeVar

from coordinator_server.client.connection import Connection, open_connection
from coordinator_server.client.environment import Backoff, Environment
from coordinator_server.client.errors import (
    ClientError,
    Closed,
    ConnectionFailed,
    RetriableError,
    TimedOut,
    Unavailable,
    known_code,
    refusal,
)
from coordinator_server.client.finding import KeyType, find_coordinators
from coordinator_server.client.settings import Address, ConnectionSettings
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.find_coordinator import FindCoordinatorResponse
from protocol.messages.metadata import MetadataRequest, MetadataResponse

R = TypeVar("R", bound=Message)

_log = logging.getLogger(__name__)

_UNREACHABLE: Final = (ConnectionFailed, TimedOut)


class Network:
    """Connections to any server of the cluster."""

    def __init__(self, settings: ConnectionSettings, environment: Environment) -> None:
        self.settings = settings
        self.environment = environment
        self._brokers: tuple[Address, ...] = ()
        self._connections: list[Connection] = []
        self._is_closed = False

    async def connect(self, address: Address) -> Connection:
        """Return a new connection, which ``close`` closes."""
        self._check_open()
        connection = await open_connection(address, self.settings, self.environment)
        try:
            self._check_open()
        except Closed:
            connection.close()
            raise
        self._connections = [*(each for each in self._connections if not each.is_closed), connection]
        return connection

    async def find_coordinator(self, group_id: str) -> Connection:
        """Return a connection to the coordinator of a group. Raises ClientError."""
        connection = await self._any_server()
        try:
            address = await self._ask_for_coordinator(connection, group_id)
            if address == connection.address:
                return connection
        except BaseException:
            connection.close()
            raise
        connection.close()
        return await self.connect(address)

    def _check_open(self) -> None:
        if self._is_closed:
            raise Closed("the client is closed")

    async def _ask_for_coordinator(self, connection: Connection, group_id: str) -> Address:
        timeout_s = self.settings.request_timeout_s
        brokers = await connection.request(MetadataRequest(), MetadataResponse, timeout_s)
        self._brokers = tuple(Address(each.host, each.port) for each in brokers.brokers)
        answers = await find_coordinators(connection, [group_id], KeyType.GROUP, timeout_s)
        # A server that names none names no address.
        found = answers[0][1] if answers else FindCoordinatorResponse()
        if found.error_code:
            raise refusal(f"FindCoordinator of group {group_id!r}", known_code(found.error_code))
        return Address(found.host, found.port)

    async def _any_server(self) -> Connection:
        """Return a connection to any server that can be reached: each is tried once, in random order."""
        known = list(dict.fromkeys((*self.settings.addresses, *self._brokers)))
        reasons = []
        while known:
            address = known.pop(int(self.environment.random() * len(known)) % len(known))
            try:
                return await self.connect(address)
            except RetriableError as error:
                reasons.append(str(error))
        raise ConnectionFailed("no server could be reached: " + "; ".join(reasons))

    def close(self) -> None:
        """Close every connection at once."""
        self._is_closed = True
        for connection in self._connections:
            connection.close()
        self._connections = []


class GroupLink:
    """The connection to the coordinator of one group: found again whenever it breaks, or the coordinator moves.

    The server holds back every response behind a parked one. So while JoinGroup or SyncGroup waits, other requests have a
    connection of their own, which is opened when it is first needed.
    """

    def __init__(self, network: Network, group_id: str) -> None:
        self._network = network
        self._group_id = group_id
        self._main: Connection | None = None
        self._side: Connection | None = None
        self._backoff = Backoff(network.settings.retry_backoff_s, network.settings.retry_backoff_max_s, network.environment)
        self._lock = asyncio.Lock()
        self.last_error: ClientError | None = None

    @property
    def is_unknown(self) -> bool:
        """Return whether the coordinator has to be found before the next request."""
        return self._main is None or self._main.is_closed

    async def ready(self) -> Connection:
        """Return the connection. Find the coordinator if it is unknown, until it is found; the caller bounds the time."""
        async with self._lock:
            while self._main is None or self._main.is_closed:
                try:
                    self._main = await self._network.find_coordinator(self._group_id)
                except RetriableError as error:
                    is_news = isinstance(error, _UNREACHABLE) and not isinstance(self.last_error, _UNREACHABLE)
                    self.last_error = error
                    level = logging.WARNING if is_news else logging.DEBUG
                    _log.log(level, "group %s: coordinator not found, trying again: %s", self._group_id, error)
                    await asyncio.sleep(self._backoff.next_s())
                else:
                    self.last_error = None
                    _log.info("group %s: coordinator found at %s", self._group_id, self._main.address)
            return self._main

    async def ready_within(self, timeout_s: float) -> Connection:
        """Do the same, for so long. Raises Unavailable after that."""
        try:
            async with asyncio.timeout(timeout_s):
                return await self.ready()
        except TimeoutError:
            reason = f"the coordinator of group {self._group_id!r} was not found within {timeout_s:g} s: {self.last_error}"
            raise Unavailable(reason, ErrorCode.COORDINATOR_NOT_AVAILABLE) from self.last_error

    async def call(self, message: Message, response: type[R], timeout_s: float, *, is_parked: bool = False) -> R:
        """Send a request to the coordinator and return its response. A connection that breaks makes the coordinator unknown."""
        main = await self.ready_within(self._network.settings.request_timeout_s)
        connection = await self._beside(main) if main.has_parked else main
        try:
            answer = await connection.request(message, response, timeout_s, is_parked=is_parked)
        except (ConnectionFailed, TimedOut) as error:
            self.forget(str(error), of=main)
            raise
        self._backoff.reset()
        return answer

    async def pause(self) -> None:
        """Wait before a retry, longer each time until a request succeeds."""
        await asyncio.sleep(self._backoff.next_s())

    def forget(self, cause: str, of: Connection | None = None) -> None:
        """Close the connections, so that the coordinator is looked for again; only if it is still ``of``."""
        if self._main is None or (of is not None and of is not self._main):
            return
        _log.info("group %s: coordinator %s is unknown now: %s", self._group_id, self._main.address, cause)
        for connection in (self._main, self._side):
            if connection is not None:
                connection.close()
        self._main = self._side = None

    async def _beside(self, main: Connection) -> Connection:
        async with self._lock:
            if self._side is None or self._side.is_closed:
                self._side = await self._network.connect(main.address)
                if self._main is not main:
                    # Forgotten meanwhile.
                    self._side.close()
            return self._side
