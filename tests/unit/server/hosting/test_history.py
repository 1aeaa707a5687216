"""What a loop says of the history that it has removed."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.shards import ShardId
from coordinator_server.log.store import Removed
from coordinator_server.server.hosting.history import HistoryLines


@pytest.mark.parametrize(
    ("layers", "segments", "line"),
    [
        ([10], [], {"event": "replaced-layers-removed", "layers": [10]}),
        ([], [0, 5], {"event": "history-removed", "layers": [], "segments": [0, 5]}),
        ([10], [0], {"event": "history-removed", "layers": [10], "segments": [0]}),
    ],
)
def test_what_retention_has_removed_is_logged(layers: list[int], segments: list[int], line: dict[str, Any]) -> None:
    """History is gone only with a segment. Looks that removed nothing are not logged."""
    shard = ShardId("__consumer_offsets", 3)

    with capture_logs() as lines:
        HistoryLines().removed(Removed(shard, [], []))
        HistoryLines().removed(Removed(shard, layers, segments))

    assert lines == [{**line, "shard": "__consumer_offsets-3", "log_level": "info"}]


def test_what_has_moved_to_an_object_store_is_logged() -> None:
    with capture_logs() as lines:
        HistoryLines().removed(Removed(ShardId("__consumer_offsets", 3), [], [], moved=[0, 5]))

    assert lines == [{"event": "history-moved", "shard": "__consumer_offsets-3", "segments": [0, 5], "log_level": "info"}]


def test_what_retention_could_not_remove_is_a_warning() -> None:
    """Counted by event, and told each time: there is one at most in a check."""
    history, damage = HistoryLines(), DamagedLog("layer-5", 0, "two bytes")
    with capture_logs() as lines:
        history.failed(OSError(30, "read-only"))
        history.removed(Removed(ShardId("__consumer_offsets", 3), [], [], damage))

    assert lines == [
        {"event": "history-not-removed", "log_level": "warning", "error": "[Errno 30] read-only"},
        {"event": "history-kept", "log_level": "warning", "shard": "__consumer_offsets-3", "damage": str(damage)},
    ]
    assert history.failures == {"history-not-removed": 1, "history-kept": 1}
