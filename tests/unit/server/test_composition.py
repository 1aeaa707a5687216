"""What the parts of a loop say in its log."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from coordinator_server.log.layers.retention import Removed
from coordinator_server.log.shards import ShardId
from coordinator_server.server import composition


@pytest.mark.parametrize(("layers", "segments"), [([10], []), ([], [0, 5]), ([10], [0])])
def test_what_retention_has_removed_is_logged(layers: list[int], segments: list[int]) -> None:
    """Looks that removed nothing are not."""
    shard = ShardId("__consumer_offsets", 3)

    with capture_logs() as lines:
        composition._say_removed(Removed(shard, [], []))
        composition._say_removed(Removed(shard, layers, segments))

    assert [(line["event"], line["shard"], line["layers"], line["segments"]) for line in lines] == [
        ("history-removed", "__consumer_offsets-3", layers, segments)
    ]
