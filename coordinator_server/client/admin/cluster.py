"""The servers of a cluster: one connection to each, and each request at the server that answers it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from types import TracebackType
from typing import Final, Self, TypeVar

from coordinator_server.client.admin.apis import ADMIN_APIS
from coordinator_server.client.connection import Connection, open_connection
from coordinator_server.client.environment import SYSTEM, Backoff, Environment
from coordinator_server.client.errors import ClientError, ConnectionFailed, RetriableError, Unavailable, known_code, refusal
from coordinator_server.client.finding import KeyType, find_coordinators
from coordinator_server.client.settings import Address, ConnectionSettings
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.metadata import MetadataRequest, MetadataResponse

R = TypeVar("R", bound=Message)
T = TypeVar("T")

MOST_KEYS: Final = 1000
"""The number of groups or transactional ids that one request names."""
_MOVED: Final = {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR}


class Cluster:
    """Requests to a cluster. An asynchronous context manager, whose end closes all connections.

    Servers that cannot be reached, and coordinators that load or move, are asked again for ``settings.api_timeout_s``.
    """

    def __init__(self, settings: ConnectionSettings, environment: Environment = SYSTEM) -> None:
        self.settings = settings
        self.environment = environment
        self.servers: dict[int, Address] = {}
        """By node id: those that are known so far, and after ``learn`` all of the cluster."""
        self.cluster_id: str | None = None
        self.controller_id = -1
        self._has_all = False
        self._connections: dict[Address, Connection] = {}
        # One for each server: one that hangs does not delay requests to others.
        self._locks: dict[Address, asyncio.Lock] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, _type: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        for connection in self._connections.values():
            connection.close()
        self._connections = {}

    async def learn(self) -> None:
        """Ask a bootstrap server for all servers, the cluster's id and its controller. Raises ClientError."""
        answer = await self.ask(MetadataRequest([], allow_auto_topic_creation=False), MetadataResponse)
        self.servers = {each.node_id: Address(each.host, each.port) for each in answer.brokers}
        self._has_all = True
        self.cluster_id, self.controller_id = answer.cluster_id, answer.controller_id

    async def ask(self, message: Message, response: type[R]) -> R:
        """Ask any server. Raises ClientError."""
        return await self.retried(lambda: self._ask_any(message, response))

    async def ask_controller(self, message: Message, response: type[R]) -> R:
        """Ask the server that changes topics and settings. Raises ClientError."""
        if not self._has_all:
            await self.learn()
        controller = self.controller_id if self.controller_id in self.servers else next(iter(self.servers), -1)
        return await self.ask_server(controller, message, response)

    async def ask_server(self, node_id: int, message: Message, response: type[R]) -> R:
        """Ask the server of a node id. Raises ClientError."""
        if node_id not in self.servers:
            await self.learn()
        return await self.retried(lambda: self.ask_once(node_id, message, response))

    async def ask_once(self, node_id: int, message: Message, response: type[R]) -> R:
        """Ask the server of a node id, and do not ask again. Raises ClientError."""
        if node_id not in self.servers:
            raise Unavailable(f"the cluster has no server {node_id}")
        connection = await self._connection(self.servers[node_id])
        return await connection.request(message, response, self.settings.request_timeout_s)

    async def ask_all(self, message: Message, response: type[R]) -> dict[int, R]:
        """Ask every server of the cluster. Raises ClientError if one of them does not answer."""
        await self.learn()
        answers = await asyncio.gather(*(self.ask_server(node_id, message, response) for node_id in self.servers))
        return dict(zip(self.servers, answers, strict=True))

    async def ask_coordinators(
        self,
        keys: Iterable[str],
        request_of: Callable[[list[str]], Message],
        response: type[R],
        codes_of: Callable[[R], Iterable[int]],
        key_type: KeyType = KeyType.GROUP,
    ) -> list[tuple[int, R]]:
        """Ask the coordinators of groups or transactional ids. Return each answer with the node id that gave it.

        ``request_of`` makes the request for keys that have the same coordinator. ``codes_of`` returns the error codes of an answer:
        while one of them says that a coordinator loads or moves, all are asked again. Raises ClientError.
        """
        wanted = list(dict.fromkeys(keys))

        async def ask(some: list[str]) -> list[tuple[int, R]]:
            found = await self._find(some, key_type)
            asked = [(node_id, self.ask_once(node_id, request_of(of_node), response)) for node_id, of_node in found.items()]
            answers = await asyncio.gather(*(answer for _, answer in asked))
            for answer in answers:
                for code in codes_of(answer):
                    if code in _MOVED:
                        failed = refusal("the request to the coordinator", known_code(code))
                        raise type(failed)(f"{failed}: it loads, moves, or cannot write to its log", failed.code)
            return [(node_id, answer) for (node_id, _), answer in zip(asked, answers, strict=True)]

        answers = []
        for start in range(0, len(wanted), MOST_KEYS):
            some = wanted[start : start + MOST_KEYS]
            answers += await self.retried(lambda some=some: ask(some))  # type: ignore[misc] # a default binds the value now
        return answers

    async def ask_coordinator(
        self,
        key: str,
        message: Message,
        response: type[R],
        codes_of: Callable[[R], Iterable[int]],
        key_type: KeyType = KeyType.GROUP,
    ) -> R:
        """Ask the coordinator of one group or transactional id. Raises ClientError."""
        [(_, answer)] = await self.ask_coordinators([key], lambda _: message, response, codes_of, key_type)
        return answer

    async def serves(self, request: type[Message]) -> bool:
        """Return whether a server has an API. All servers of a cluster are taken to be alike."""
        connection = await self.retried(self._any)
        return ADMIN_APIS[request].key in connection.versions

    async def version_of(self, request: type[Message]) -> int:
        """Return the version in which servers are asked, which are taken to be alike. Raises ClientError."""
        connection = await self.retried(self._any)
        return connection.version_of(request)

    async def retried(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Try until it succeeds or fails for good. After ``api_timeout_s`` the last error is raised."""
        settings = self.settings
        backoff = Backoff(settings.retry_backoff_s, settings.retry_backoff_max_s, self.environment)
        deadline_s = self.environment.now_s() + settings.api_timeout_s
        while True:
            try:
                return await attempt()
            except RetriableError as error:
                if isinstance(error, ConnectionFailed) and not self._connections:
                    # Nothing has answered yet: more likely the address is wrong.
                    raise
                wait_s = backoff.next_s()
                if self.environment.now_s() + wait_s > deadline_s:
                    raise
                await asyncio.sleep(wait_s)

    async def _find(self, keys: list[str], key_type: KeyType) -> dict[int, list[str]]:
        """Return the keys of each coordinator, by its node id."""
        found: dict[int, list[str]] = {}
        connection = await self._any()
        for key, each in await find_coordinators(connection, keys, key_type, self.settings.request_timeout_s):
            check(f"FindCoordinator of {key!r}", each.error_code, each.error_message)
            self.servers[each.node_id] = Address(each.host, each.port)
            found.setdefault(each.node_id, []).append(key)
        return found

    async def _ask_any(self, message: Message, response: type[R]) -> R:
        connection = await self._any()
        return await connection.request(message, response, self.settings.request_timeout_s)

    async def _any(self) -> Connection:
        """Return a connection to a bootstrap server, or to another server of the cluster if none of them can be reached."""
        reasons = []
        for address in dict.fromkeys((*self.settings.addresses, *self.servers.values())):
            try:
                return await self._connection(address)
            except RetriableError as error:
                reasons.append(str(error))
        raise ConnectionFailed("no server could be reached: " + "; ".join(reasons))

    async def _connection(self, address: Address) -> Connection:
        async with self._locks.setdefault(address, asyncio.Lock()):
            connection = self._connections.get(address)
            if connection is None or connection.is_closed:
                connection = await open_connection(address, self.settings, self.environment, ADMIN_APIS)
                self._connections[address] = connection
            return connection


def check(what: str, code: int, message: str | None = None) -> None:
    """Raise the error of a code of an answer, if it has one. ``what`` is the request and what it was about."""
    if error := error_of(what, code, message):
        raise error


def error_of(what: str, code: int, message: str | None = None) -> ClientError | None:
    """Return the error of a code of an answer; None without one."""
    if not code:
        return None
    known = known_code(code)
    error = refusal(what, known)
    return type(error)(f"{error}: {message}", known) if message else error
