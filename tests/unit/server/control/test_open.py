"""The room of local tools by itself: what it answers, and who has the socket."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from coordinator_server.kinds import CATALOG
from coordinator_server.log.shards import ShardId
from coordinator_server.server.cluster.operations import DECLARE_TOPICS
from coordinator_server.server.control.open import Control, open_control
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from tests.support.log import DATA
from tests.support.rooms import OpenRooms
from tests.support.runtime import Outcome


async def numbers(_request: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"metrics": []}


def opened(rooms: OpenRooms) -> Control:
    return open_control(rooms.base, rooms.wire, rooms.hosting, measured={"metrics": numbers}, has_socket=rooms.has_cleaner)


async def test_a_loop_offers_its_operations_to_the_supervisor() -> None:
    """The supervisor has the socket, the cleaner's reports and the places of the loops."""
    control = opened(OpenRooms())

    assert control.socket is None
    assert control.operations["metrics"] is numbers
    assert {"status", "shards", "seal", "cut", "refused-commits"} <= control.operations.keys()
    assert {"pipeline", "loops"}.isdisjoint(control.operations)


async def test_a_server_with_one_loop_has_the_socket() -> None:
    assert opened(OpenRooms(has_cleaner=True)).socket is not None


async def test_status_counts_the_connections_of_the_listener() -> None:
    rooms = OpenRooms()
    rooms.hosting.hosted.use("__cluster_metadata")
    await rooms.settle()
    rooms.wire.listener.serve(lambda _connection, _frame: True, {})
    operations = opened(rooms).operations
    rooms.wire.listener.admit("192.0.2.1")
    rooms.clock.advance(7)

    [status] = (await operations["status"]({}))["status"]

    assert (status["connections"], status["uptime_ms"], status["certificates"]) == (1, 7, [])


@pytest.mark.parametrize(("operation", "segments"), [("write-out", 1), ("seal", 2)])
async def test_only_seal_ends_the_open_segments(operation: str, segments: int) -> None:
    """What readers ask for makes durable records visible to them and leaves the segment open."""
    rooms = OpenRooms()
    hosted, node = rooms.hosting.hosted, rooms.hosting.node
    hosted.use(CATALOG.topic)
    await rooms.settle()
    node.catalog.write(DECLARE_TOPICS, node.ourselves, CreateTopicsRequest(topics=[CreatableTopic("orders", 3, -1)]), Outcome())
    await rooms.settle()
    answer = asyncio.ensure_future(opened(rooms).operations[operation]({}))
    await rooms.settle()

    assert (await answer)["shards"][f"{CATALOG.topic}-0"] == rooms.store.end_offset(ShardId(CATALOG.topic, 0)) > 0
    files = rooms.log.disk.files(f"{DATA}/{CATALOG.topic}-0")
    assert sum(path.endswith(".log") for path in files) == segments
