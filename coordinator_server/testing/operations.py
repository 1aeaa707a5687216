"""The operations of a server for tests, which its channel offers: a JSON object each, with the name in ``op``.

{"op": "advance", "seconds": 45}                                      {"ok": true}
{"op": "fail-next", "api": "Heartbeat", "error": "NOT_COORDINATOR"}   {"ok": true}
{"op": "delay", "api": "JoinGroup", "seconds": 2}
{"op": "clear-faults"}
{"op": "disconnect", "client_id": "worker-1"}                         {"ok": true, "connections": 1}
{"op": "fence", "member": "worker-1-b6a3…"}                           {"ok": true, "group_id": "workers"}
{"op": "rebalance", "group": "workers"}
{"op": "create-topic", "topic": "orders", "partitions": 6}
{"op": "groups"}                                                      {"ok": true, "groups": [{"group_id": "workers", …}]}
{"op": "committed", "group": "workers"}                               {"ok": true, "offsets": [{"topic": "orders", …}]}
{"op": "restart"}
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, TypeVar

from msgspec import Struct, ValidationError, convert

from coordinator_server.runtime.callback_reply import CallbackReply
from coordinator_server.server.cluster.operations import CREATE_TOPICS
from coordinator_server.server.local_operation import Operation, Refusal
from coordinator_server.server.wire.connection import Connection
from coordinator_server.testing.ephemeral import EphemeralServer
from coordinator_server.testing.groups import committed_offsets, describe_groups, fence, rebalance
from protocol.error_codes import ErrorCode
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse

T = TypeVar("T")

Answer = Mapping[str, Any]
_DONE: Final[Answer] = {}


class _Request(Struct, forbid_unknown_fields=True):
    """The fields of a request besides ``op``. The subclasses have the names and types of each operation."""


class _Advance(_Request):
    seconds: float


class _FailNext(_Request):
    api: str
    error: str | int
    times: int = 1
    client_id: str | None = None


class _Delay(_Request):
    api: str
    seconds: float


class _Disconnect(_Request):
    client_id: str


class _Fence(_Request):
    member: str


class _OfGroup(_Request):
    group: str


class _CreateTopic(_Request):
    topic: str
    partitions: int = 1


def operations_of(server: EphemeralServer) -> dict[str, Operation]:
    """Return the operations by name."""
    return {
        "advance": partial(_advance, server),
        "fail-next": partial(_fail_next, server),
        "delay": partial(_delay, server),
        "clear-faults": partial(_clear_faults, server),
        "disconnect": partial(_disconnect, server),
        "fence": partial(_fence, server),
        "rebalance": partial(_rebalance, server),
        "create-topic": partial(_create_topic, server),
        "groups": partial(_groups, server),
        "committed": partial(_committed, server),
        "restart": partial(_restart, server),
    }


async def _advance(server: EphemeralServer, request: Answer) -> Answer:
    seconds = _fields(request, _Advance).seconds
    await server.advance(_milliseconds(seconds))
    return _DONE


async def _fail_next(server: EphemeralServer, request: Answer) -> Answer:
    wanted = _fields(request, _FailNext)
    if wanted.times < 1:
        raise Refusal(f"times={wanted.times}: at least one request fails")
    server.faults.fail_next(wanted.api, wanted.error, wanted.times, wanted.client_id)
    return _DONE


async def _delay(server: EphemeralServer, request: Answer) -> Answer:
    wanted = _fields(request, _Delay)
    server.faults.delay(wanted.api, _milliseconds(wanted.seconds))
    return _DONE


async def _clear_faults(server: EphemeralServer, request: Answer) -> Answer:
    _fields(request, _Request)
    server.faults.clear()
    return _DONE


async def _disconnect(server: EphemeralServer, request: Answer) -> Answer:
    client_id = _fields(request, _Disconnect).client_id
    connections = server.rooms.wire.listener.connections
    chosen = [connection for connection in connections if client_id in _client_ids(connection)]
    if not chosen:
        known = sorted({each for connection in connections for each in _client_ids(connection)})
        raise Refusal(f"no connection has the client id {client_id!r}; there are: {', '.join(known) or 'none'}")
    for connection in chosen:
        connection.abort()
    return {"connections": len(chosen)}


async def _fence(server: EphemeralServer, request: Answer) -> Answer:
    fenced = await fence(server.rooms.hosting.node, _fields(request, _Fence).member)
    # A static member of the consumer protocol gets UNKNOWN_MEMBER_ID, as the others.
    if fenced.group_instance_id is not None and not fenced.is_of_consumer_group:
        server.faults.fence(fenced.member_id)
    return {"group_id": fenced.group_id, "member_id": fenced.member_id}


async def _rebalance(server: EphemeralServer, request: Answer) -> Answer:
    await rebalance(server.rooms.hosting.node, _fields(request, _OfGroup).group)
    return _DONE


async def _create_topic(server: EphemeralServer, request: Answer) -> Answer:
    wanted, node = _fields(request, _CreateTopic), server.rooms.hosting.node
    topic = CreatableTopic(wanted.topic, wanted.partitions, -1)
    created: asyncio.Future[CreateTopicsResponse] = asyncio.get_running_loop().create_future()

    def refused(error: ErrorCode, message: str | None) -> None:
        created.set_exception(Refusal(f"topic {wanted.topic}: {message or error.name}"))

    reply = CallbackReply(created.set_result, refused)
    node.catalog.write(CREATE_TOPICS, node.ourselves, CreateTopicsRequest([topic]), reply)
    [result] = (await created).topics
    if result.error_code != ErrorCode.NONE:
        raise Refusal(f"topic {wanted.topic}: {result.error_message or ErrorCode(result.error_code).name}")
    return _DONE


async def _groups(server: EphemeralServer, request: Answer) -> Answer:
    _fields(request, _Request)
    return {"groups": describe_groups(server.rooms.hosting.node)}


async def _committed(server: EphemeralServer, request: Answer) -> Answer:
    return {"offsets": committed_offsets(server.rooms.hosting.node, _fields(request, _OfGroup).group)}


async def _restart(server: EphemeralServer, request: Answer) -> Answer:
    _fields(request, _Request)
    await server.restart()
    return _DONE


def _fields(request: Answer, fields: type[T]) -> T:
    """Return the fields of a request besides ``op``. Raises Refusal."""
    try:
        return convert({name: value for name, value in request.items() if name != "op"}, fields)
    except ValidationError as wrong:
        raise Refusal(f"{request['op']}: {wrong}") from None


def _milliseconds(seconds: float) -> int:
    if not math.isfinite(seconds) or seconds < 0:
        raise Refusal(f"seconds={seconds:g}: time does not go back")
    return round(seconds * 1000)


def _client_ids(connection: Connection) -> set[str]:
    return {each.context.client_id for each in connection.introduced.values()}
