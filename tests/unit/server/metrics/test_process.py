"""The process of metrics: without the property there is none."""

from __future__ import annotations

from pathlib import Path

from coordinator_server.config import Config
from coordinator_server.server.metrics.process import MetricsProcess


def test_without_a_listener_nothing_starts_and_nothing_is_stopped(tmp_path: Path) -> None:
    process = MetricsProcess(Config(), tmp_path)

    process.start()
    process.stop()

    assert process._process is None
