"""What a shard is built with."""

from __future__ import annotations

import pytest

from coordinator_server.runtime.services import NO_EFFECTS


def test_a_shard_without_queues_cannot_use_them() -> None:
    """No outcome would be delivered. A shard may cancel what it has not scheduled."""
    with pytest.raises(AssertionError, match="no effects on others"):
        NO_EFFECTS.send("to", "what")
    with pytest.raises(AssertionError, match="no tasks"):
        NO_EFFECTS.schedule("key", "task")

    NO_EFFECTS.cancel("key")
    assert not NO_EFFECTS.is_scheduled("key")
