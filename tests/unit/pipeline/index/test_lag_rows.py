"""What the index does for the lag of groups: as much as has changed, with as much memory as is not yet written."""

from __future__ import annotations

import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest

from coordinator_server.observe.end_offsets import EndOffsetsWriter
from coordinator_server.pipeline.index import writer as writing
from coordinator_server.pipeline.index.database import open_to_read, open_to_write
from coordinator_server.pipeline.index.feed import DIRECTORY, update
from coordinator_server.pipeline.index.tables.lags import indexed_group_lags
from coordinator_server.pipeline.progress import Progress
from tests.support.index import CLUSTER, SHARD, make_directory
from tests.support.kafka_partition import plain
from tests.support.random_log import write_log
from tests.support.segments import START_MS, offset_key, offset_value

PARTITIONS = 50


def commit(offset: int, group: str, partitions: int = 1, value: int = 7) -> bytes:
    """A commit of the first partitions of a topic."""
    return plain(offset, *((offset_key(group, "t", number), offset_value(value)) for number in range(partitions)))


def peak(directory: Path, groups: int) -> int:
    """The most memory (bytes) that an index of so many groups takes while it is made."""
    directory.mkdir()
    data = make_directory(directory)
    write_log(data / SHARD, [commit(PARTITIONS * number, f"group-{number}", PARTITIONS) for number in range(groups)], 1)
    tracemalloc.start()
    try:
        assert update(data, Progress(), ends={SHARD: groups * PARTITIONS}).records == groups * PARTITIONS
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_six_times_the_positions_take_little_more_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written is not kept: a cluster has a million positions. What is more is a longer piece of the log."""
    monkeypatch.setattr(writing, "FLUSH_BYTES", 5000)
    peak(tmp_path / "warm", 2)
    few, many = peak(tmp_path / "few", 10), peak(tmp_path / "many", 60)

    assert many < 2 * few, f"{few:,} and {many:,} bytes"


def lags(data: Path, end: int) -> dict[str, tuple[int, int | None]]:
    """The partitions and the lag of each group, when the index has read so much."""
    update(data, Progress(), ends={SHARD: end})
    with closing(open_to_read(data / DIRECTORY, CLUSTER)) as database:
        return {each.group: (each.partitions, each.lag) for each in indexed_group_lags(database)}


def misstate(data: Path, group: str) -> None:
    """Write a lag that is not that of a group, to see whether it is found again."""
    with open_to_write(data / DIRECTORY, CLUSTER) as database:
        chosen: sqlite3.Cursor = database.execute("SELECT group_no FROM groups WHERE id = ?", (group,))
        database.execute("UPDATE group_lags SET lag = -1 WHERE group_no = ?", chosen.fetchone())


def test_without_a_new_sample_the_lag_is_found_again_of_groups_that_have_committed(tmp_path: Path) -> None:
    data, samples = make_directory(tmp_path), EndOffsetsWriter(tmp_path / "data")
    batches = [commit(0, "busy"), commit(1, "idle"), commit(2, "busy", value=9)]
    samples.write(START_MS, {"t": [10, 10]})
    write_log(data / SHARD, batches, 1)
    assert lags(data, 2) == {"busy": (1, 3), "idle": (1, 3)}

    misstate(data, "idle")
    assert lags(data, 3) == {"busy": (1, 1), "idle": (1, -1)}

    samples.write(START_MS + 1000, {"t": [20, 20]})
    assert lags(data, 3) == {"busy": (1, 11), "idle": (1, 13)}
