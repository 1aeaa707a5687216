"""The room of several loops by itself: which catalog and which links a loop has."""

from __future__ import annotations

from coordinator_server.log.shards import ShardId
from coordinator_server.machine.outbox import Effect
from coordinator_server.server.cluster.catalog import OwnCatalog
from coordinator_server.server.cluster.effects import Destinations
from coordinator_server.server.cluster.messages import Attached
from coordinator_server.server.cluster.nodes import Place
from tests.support.rooms import OpenRooms
from tests.support.runtime import Outcome
from tests.support.views import loops_view

PAIR = loops_view(2)


async def test_the_only_loop_has_the_catalog_and_no_links() -> None:
    cluster = OpenRooms().cluster

    assert (type(cluster.catalog), cluster.roles, cluster.neighbours) == (OwnCatalog, None, None)


async def test_each_of_several_loops_begins_without_the_catalog() -> None:
    """It follows until it leads."""
    cluster = OpenRooms(place=Place(1, PAIR)).cluster

    assert cluster.catalog is cluster.roles
    assert (cluster.catalog.version, cluster.catalog.is_current) == (0, False)


async def test_a_replica_that_diverges_ends_its_loop() -> None:
    """It has seen more than loop 0 has."""
    rooms = OpenRooms(place=Place(1, PAIR))
    assert rooms.cluster.roles is not None
    catalog = rooms.cluster.roles._replica
    catalog._known.next_offset = 2
    catalog.connected(lambda _message: None)

    catalog.received(Attached(1))

    [failure] = rooms.failures
    assert "ends at offset 1" in str(failure)


async def test_messages_for_another_loop_take_its_link() -> None:
    rooms = OpenRooms(place=Place(0, PAIR))
    cluster, effect = rooms.cluster, Effect("__consumer_offsets", "say", bytes, bytes)
    cluster.courier.deliver_to(Destinations({}, {}, lambda _topic: True))

    cluster.courier.carry(None, ShardId("__consumer_offsets", 1), effect, b"a", Outcome())

    assert cluster.neighbours is not None
    assert cluster.neighbours.in_flight == cluster.courier.in_flight == 1
    await cluster.neighbours.stop()
