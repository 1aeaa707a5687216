"""Real clients and a server that is being loaded: they ask again until their group is there."""

from __future__ import annotations

from pathlib import Path

from coordinator_server.runtime.partitioner import partition_for
from tests.interop.clients import ConfluentConsumer, MemberOptions
from tests.support.client import Client
from tests.support.eventually import eventually
from tests.support.loading import SHARDS, loading
from tests.support.server import Server
from tests.support.simple_requests import must_commit
from tests.support.strace import needs_strace

GROUP = next(f"readers-{n}" for n in range(10_000) if partition_for(f"readers-{n}", SHARDS) == SHARDS - 1)


@needs_strace
def test_a_consumer_that_comes_too_early_gets_its_group_when_it_is_there(tmp_path: Path) -> None:
    """librdkafka hears COORDINATOR_LOAD_IN_PROGRESS, stays calm, and finds every position."""
    with Server(tmp_path, {"topics": "orders:6"}) as server:
        with Client(server.address) as client:
            for number in range(400):
                must_commit(client, f"group-{number}", "orders", {0: number})
            must_commit(client, GROUP, "orders", {0: 5, 5: 7})
        assert server.stop() == 0
        server.words = ["--log-level", "debug"]

        with loading(server):
            consumer = ConfluentConsumer(server.bootstrap, GROUP, "orders", MemberOptions())

            def was_told() -> bool:
                consumer.poll()
                return any('"JoinGroup"' in line and "COORDINATOR_LOAD_IN_PROGRESS" in line for line in server.log().splitlines())

            eventually(was_told)

        def owns_all() -> bool:
            consumer.poll()
            return list(range(6)) in consumer.owned()

        eventually(owns_all)
        assert consumer.committed([0, 1, 5]) == {0: 5, 1: None, 5: 7}
        consumer.close()
