"""The room of sockets by itself: how connections begin at each listener."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.server.errors import WrongProperties
from coordinator_server.server.wire.connection import Connection
from tests.support.rooms import OpenRooms

TWO = {
    "listeners": "PLAINTEXT://127.0.0.1:0,USERS://127.0.0.1:0",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,USERS:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256",
}


def admit(rooms: OpenRooms, number: int) -> Connection:
    acceptor: Any = rooms.wire.listener.acceptors[number]
    connection: Connection = acceptor.policy.admit("192.0.2.1")
    return connection


async def test_a_connection_begins_as_its_listener_says() -> None:
    """With a login, or with the dispatcher of all requests."""
    rooms, begun = OpenRooms(TWO), list[Connection]()

    def dispatch(_connection: Connection, _frame: bytes, /) -> bool:
        return True

    rooms.wire.listener.serve(dispatch, {"USERS": begun.append})
    plain, user = admit(rooms, 0), admit(rooms, 1)

    assert begun == [user]
    assert [each.dispatch for each in (plain, user)] == [dispatch, dispatch]
    assert [each.listener for each in (plain, user)] == [0, 1]


async def test_a_listener_has_its_limits() -> None:
    rooms = OpenRooms({**TWO, "listener.name.users.max.connections": "1"})
    rooms.wire.listener.serve(lambda _connection, _frame: True, {})

    assert [admit(rooms, number) is not None for number in (1, 1, 0)] == [True, False, True]
    assert rooms.wire.incidents.counts == {"connection-limit-reached": 1}


async def test_a_listener_without_its_certificate_is_not_opened() -> None:
    rooms = OpenRooms({"listeners": "SSL://127.0.0.1:0"})

    with pytest.raises(WrongProperties, match=r"ssl\.keystore"):
        _ = rooms.wire
