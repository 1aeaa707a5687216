"""How much there is to compact, from names and sizes."""

from __future__ import annotations

from pathlib import Path

from coordinator_server.log.jobs import Cleanable
from coordinator_server.log.layers.cleanable import cleanable


def segment(path: Path, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)


def test_what_lies_behind_the_newest_layer_is_dirty(tmp_path: Path) -> None:
    """Segments that a layer stands for, older layers, attempts and checkpoints do not count;
    nor does what is no shard of a kind that is known.
    """
    shard_dir = tmp_path / "__consumer_offsets-7"
    for base, size in ((0, 1000), (10, 300), (20, 50)):
        segment(shard_dir / f"{base:020d}.log", size)
    segment(shard_dir / f"layer-{5:020d}" / f"{0:020d}.log", 7000)
    segment(shard_dir / f"layer-{10:020d}" / f"{0:020d}.log", 100)
    segment(shard_dir / f"layer-{10:020d}" / f"{7:020d}.log", 50)
    segment(shard_dir / f"layer-{10:020d}" / "groups.data", 9000)
    segment(shard_dir / f"layer-{10:020d}" / "groups.index", 900)
    segment(shard_dir / ".layer-attempt-1" / f"{0:020d}.log", 9000)
    segment(tmp_path / "__consumer_offsets-8" / f"{0:020d}.log", 40)
    (tmp_path / "__consumer_offsets-9").mkdir()
    segment(tmp_path / "__consumer_offsets-10" / f"layer-{10:020d}" / f"{0:020d}.log", 100)
    segment(tmp_path / "__consumer_offsets-10" / f"{10:020d}.log", 5)
    segment(tmp_path / "__transaction_state-1" / f"layer-{10:020d}" / f"{0:020d}.log", 100)
    segment(tmp_path / "__cluster_metadata-0" / f"{0:020d}.log", 40)
    segment(tmp_path / "journal" / "loop-0", 40)
    segment(tmp_path / "orders-0" / f"{0:020d}.log", 40)

    assert cleanable(tmp_path) == {
        "__consumer_offsets-7": Cleanable(350, 150),
        "__consumer_offsets-8": Cleanable(40, 0),
        "__consumer_offsets-9": Cleanable(0, 0),
        "__consumer_offsets-10": Cleanable(5, 0),  # its layer has no checkpoint
        "__transaction_state-1": Cleanable(0, 100),
        "__cluster_metadata-0": Cleanable(40, 0),
    }
    assert [each.ratio for each in (Cleanable(350, 150), Cleanable(40, 0), Cleanable(0, 0), Cleanable(0, 9))] == [0.7, 1, 0, 0]


def test_what_goes_while_it_is_looked_at_does_not_count(tmp_path: Path) -> None:
    """A segment that is removed meanwhile, and what only has a shard's name."""
    shard_dir = tmp_path / "__consumer_offsets-1"
    segment(shard_dir / f"{0:020d}.log", 10)
    (shard_dir / f"{7:020d}.log").symlink_to("gone")
    (tmp_path / "__consumer_offsets-2").write_bytes(b"a file")

    assert cleanable(tmp_path) == {"__consumer_offsets-1": Cleanable(10, 0), "__consumer_offsets-2": Cleanable(0, 0)}
