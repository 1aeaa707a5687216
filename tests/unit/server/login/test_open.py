"""The room of logins by itself: which listeners begin with one."""

from __future__ import annotations

import pytest

from coordinator_server.config.listeners import listener_specs
from coordinator_server.server.errors import WrongProperties
from coordinator_server.server.login.open import open_login
from coordinator_server.server.login.sasl_listeners import SaslListeners
from tests.support.rooms import OpenRooms

TWO = {
    "listeners": "PLAINTEXT://127.0.0.1:0,USERS://127.0.0.1:0",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,USERS:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256",
}


def opened(rooms: OpenRooms) -> SaslListeners:
    specs = listener_specs(rooms.config)
    return open_login(rooms.base, rooms.wire, rooms.cluster, specs=specs, apis=[], failed=rooms.guard.not_known)


async def test_listeners_with_sasl_begin_with_a_login() -> None:
    rooms = OpenRooms(TWO)
    login = opened(rooms)
    rooms.wire.listener.serve(lambda _connection, _frame: True, login.entrances)

    assert list(login.entrances) == ["USERS"]


async def test_without_sasl_nothing_is_opened() -> None:
    assert opened(OpenRooms()).entrances == {}


async def test_a_mechanism_that_is_not_known_is_refused() -> None:
    with pytest.raises(WrongProperties, match="BETTER"):
        opened(OpenRooms({**TWO, "sasl.enabled.mechanisms": "BETTER"}))
