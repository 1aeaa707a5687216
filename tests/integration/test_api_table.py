"""What the rows of the API table promise, seen from outside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.server.apis.table import ROWS
from coordinator_server.server.wire.order import Order
from protocol.api import APIS
from tests.support.api_requests import request_of
from tests.support.client import Client
from tests.support.server import Server
from tests.support.simple_requests import must_commit


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path, {"topics": "t:2", "auto.create.topics.enable": False}) as server:
        yield server


def shards(server: Server) -> Any:
    """How far the log of each shard goes, and what its state comes to."""
    return server.control(op="digest")["shards"]


def test_what_is_free_or_a_read_leaves_no_record(server: Server) -> None:
    """Nothing that such a request does can be seen by a later one."""
    with Client(server.address) as client:
        must_commit(client, "g", "t", {0: 5})
        before = shards(server)
        for api in [APIS[row.request.kafka.key] for row in ROWS if row.order in (Order.FREE, Order.READ)]:
            for version in api.versions:
                client.call(request_of(api.name, version), version)

        assert shards(server) == before
        must_commit(client, "g", "t", {0: 6})
        assert shards(server) != before
