"""A server that takes long to load: its disk is slow until the test lets it be quick."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.eventually import eventually
from tests.support.server import Server
from tests.support.strace import release, slowed_by

SHARDS = 50
SLOW_MS = 200


def launch_slowly(server: Server) -> None:
    """Start a server that was stopped; returns when it listens. All shards but the first two take long to load."""
    segments = [server.data_dir / f"__consumer_offsets-{shard}" / f"{0:020d}.log" for shard in range(2, SHARDS)]
    listened = server.log().count('"listening"')
    server.run_by = slowed_by("pread64", SLOW_MS, segments, server.data_dir.with_name("slow.out"))
    server.launch()
    server.run_by = []
    eventually(lambda: server.log().count('"listening"') > listened)


@contextmanager
def loading(server: Server) -> Iterator[None]:
    """The body runs while a server that was stopped is being loaded; when it is left all is there."""
    launch_slowly(server)
    try:
        yield
    finally:
        release(server.pid)
    server.await_ready()
