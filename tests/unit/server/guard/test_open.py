"""The room of what may stop a request, by itself: with a catalog, and a listener that nobody connects to."""

from __future__ import annotations

from functools import partial

import pytest

from coordinator_server.catalog.client_quotas import CLIENT_QUOTAS
from coordinator_server.config.access import STANDARD_AUTHORIZER
from coordinator_server.server.apis.groups import HEARTBEAT_API
from coordinator_server.server.exchange.api_row import serve_row
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.guard.request_quotas import MeteredDispatcher
from protocol.messages.cluster_metadata import ClientQuotaRecord, EntityData
from tests.support.rooms import OpenRooms

QUOTA = ClientQuotaRecord([EntityData("user", "ann")], "request_percentage", 50.0)


async def test_without_an_authorizer_nobody_is_denied() -> None:
    assert OpenRooms().guard.authorizer is None
    assert OpenRooms({"authorizer.class.name": STANDARD_AUTHORIZER}).guard.authorizer is not None


async def test_who_is_not_known_is_counted_and_has_a_line() -> None:
    guard = OpenRooms().guard

    guard.not_known("192.0.2.1", listener="USERS", mechanism="PLAIN", user="ann", why="wrong password")

    assert (guard.incidents.counts, guard.audit.counts) == ({"authentication-failed": 1}, {"authentication-failed": 1})


@pytest.mark.interpreted  # A compiled catalog takes no fakes.
async def test_requests_are_measured_while_there_are_quotas(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = OpenRooms()
    records: list[ClientQuotaRecord] = []
    rows = [serve_row(HEARTBEAT_API, lambda _context, _request, _exchange: None)]
    new_dispatcher = partial(Dispatcher, background=rooms.wire.background)
    listener, plain = rooms.wire.listener, new_dispatcher(rows)
    listener.serve(plain, {})
    quotas = rooms.guard.quotas
    quotas.measure(new_dispatcher, rows)
    monkeypatch.setattr(rooms.cluster.catalog, "read", lambda _operation, family: {CLIENT_QUOTAS: records}[family])

    quotas.changed()
    assert listener.dispatch is plain
    records.append(QUOTA)
    quotas.changed()
    assert isinstance(listener.dispatch, MeteredDispatcher)
    records.clear()
    quotas.changed()
    assert listener.dispatch is plain
