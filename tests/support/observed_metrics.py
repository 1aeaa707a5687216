"""A directory that follows a cluster, and scrapes of it."""

from __future__ import annotations

import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from coordinator_server.observe.end_offsets import EndOffsetsWriter
from coordinator_server.observe.exporter import Exporter
from coordinator_server.ops.metrics.http import MetricsServer
from tests.support.page_log import Story, write_stories

Samples = dict[tuple[str, ...], float]


def observed_directory(tmp_path: Path) -> Path:
    """Two groups of two partitions each: one goes on, the other has stopped, and has a member too many."""
    steady = Story("steady", "orders", 2, seed=1).join("a", "b").commit(step=10, ms=5000, times=12)
    stopped = Story("stopped", "orders", 2, seed=2).join("c", "d", "e").commit(step=1, ms=5000, times=3)
    data, _ = write_stories(tmp_path, [steady, stopped])
    writer = EndOffsetsWriter(data)
    for second in range(0, 71, 5):
        writer.write(steady.now_ms + 1000 * (second - 70), {"orders": [20 * second, 30 * second]})
    return data


@contextmanager
def served(exporter: Exporter) -> Iterator[str]:
    """Answer scrapes at an address."""
    server = MetricsServer(socket.create_server(("127.0.0.1", 0)), exporter)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"127.0.0.1:{server.socket.getsockname()[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def scrape(exporter: Exporter) -> dict[str, Samples]:
    """The samples of each metric, by the values of its labels in order of their names."""
    with served(exporter) as address, urllib.request.urlopen(f"http://{address}/metrics") as answer:
        text = answer.read().decode()
    found: dict[str, Samples] = {}
    for family in text_string_to_metric_families(text):
        for each in family.samples:
            found.setdefault(each.name, {})[tuple(each.labels[name] for name in sorted(each.labels))] = each.value
    return found
