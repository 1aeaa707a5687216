"""A checkpoint whose blocks are damaged: the layer's records replace them, and the operator is told once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from structlog.testing import capture_logs

from coordinator_server.log.errors import DamagedLog
from coordinator_server.log.jobs import Block, LayerSummary, in_order
from coordinator_server.log.layers.attempt import LayerAttempt, publish
from coordinator_server.log.layers.checkpoint import DATA, Checkpoint
from coordinator_server.log.layers.layer import open_layer
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


def test_what_the_index_states_is_read_without_blocks(tmp_path: Path) -> None:
    """Keys, rows and bounds."""
    shard_dir = tmp_path / "s-0"
    with LayerAttempt(shard_dir, 10) as attempt:
        attempt.add_checkpoint(in_order([Block("a", b"1", 7, (3, -1)), Block("b", b"22", 2, (0, 5))]), [])
        publish(attempt.finish(LayerSummary(0, 0, None, ""), ()), shard_dir, 10)
    layer = open_layer(shard_dir, 10)
    (layer.path / DATA).write_bytes(b"???")
    serde: Any = None
    found = LayerCheckpoint(Checkpoint(layer), serde)

    assert (len(found), set(found), "a" in found, "c" in found) == (2, {"a", "b"}, True, False)
    assert [(found.rows(key), found.bounds(key)) for key in "ab"] == [(7, (3, -1)), (2, (0, 5))]
    found.close()
