"""A checkpoint whose blocks are damaged: the layer's records replace them, and the operator is told once."""

from __future__ import annotations

from typing import Any

from structlog.testing import capture_logs

from coordinator_server.log.errors import DamagedLog
from coordinator_server.runtime.layer_checkpoint import LayerCheckpoint


class Damaged:
    """A checkpoint of which one block can be read."""

    def block(self, key: str) -> bytes:
        if key == "whole":
            return b"block"
        raise DamagedLog("groups.data", 7, f"the block of {key} is damaged")


def test_damage_is_told_once() -> None:
    checkpoint: Any = Damaged()
    serde: Any = None
    layer = LayerCheckpoint(checkpoint, serde)
    with capture_logs() as lines:
        blocks = [layer.block(key) for key in ("whole", "a", "b", "a", "whole")]

    assert blocks == [b"block", None, None, None, b"block"]
    assert [(line["event"], line["log_level"], line["why"]) for line in lines] == [
        ("checkpoint-damaged", "error", "groups.data at byte 7: the block of a is damaged"),
    ]
