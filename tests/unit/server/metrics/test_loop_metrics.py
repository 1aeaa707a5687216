"""The numbers of a loop whose rooms nobody has used."""

from __future__ import annotations

from coordinator_server.server.apis.groups import HEARTBEAT_API
from coordinator_server.server.exchange.api_row import serve_row
from coordinator_server.server.metrics.loop_metrics import LoopMetrics, Observed
from tests.support.rooms import OpenRooms


async def test_counters_begin_with_zero() -> None:
    """Prometheus sees no increase in a series that begins with 1."""
    rooms = OpenRooms()
    rooms.hosting.hosted.use("__cluster_metadata")
    await rooms.settle()
    rows = [serve_row(HEARTBEAT_API, lambda _context, _request, _exchange: None)]
    slow_turns: dict[str, int] = {}
    metrics = LoopMetrics(Observed(rooms.store, rooms.wire, rooms.guard.audit, rooms.hosting, rows, slow_turns), rooms.clock)
    slow_turns["Heartbeat"] = 2
    rooms.wire.incidents.count("connection-idle")
    rooms.clock.advance(1500)

    [loop] = (await metrics.operations["metrics"]({}))["metrics"]
    samples = loop["samples"]

    assert samples["slow_turns"] == [["none", 0], ["Heartbeat", 2]]
    assert samples["access_refusals"] == [["request-denied", 0], ["authentication-failed", 0]]
    assert (["connection-idle", 1] in samples["incidents"], ["group-full", 0] in samples["incidents"]) == (True, True)
    assert (samples["connections"], samples["uptime_seconds"]) == ([[0]], [[1.5]])
    assert samples["requests"][0] == ["Heartbeat", "0", 0]
