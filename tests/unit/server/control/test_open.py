"""The room of local tools by itself: what it answers, and who has the socket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator_server.server.control.open import Control, open_control
from tests.support.rooms import DATA_DIR, OpenRooms


async def numbers(_request: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"metrics": []}


def opened(rooms: OpenRooms) -> Control:
    return open_control(
        data_dir=DATA_DIR,
        store=rooms.store,
        clock=rooms.clock,
        wire=rooms.wire,
        hosting=rooms.hosting,
        measured={"metrics": numbers},
    )


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
