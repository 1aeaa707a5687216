"""Where the index of a directory goes on, and when it is made again."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from coordinator_server.log.opening import job_shard
from coordinator_server.pipeline.compact.run import compact, plans, run_python
from coordinator_server.pipeline.errors import Busy, CannotRun, PipelineError
from coordinator_server.pipeline.index import database
from coordinator_server.pipeline.index.answers import GroupHistory
from coordinator_server.pipeline.index.database import open_to_read, open_to_write
from coordinator_server.pipeline.index.feed import DIRECTORY, LogDiffers, Updated, batches_after, update, update_shard
from coordinator_server.pipeline.index.period import Period
from coordinator_server.pipeline.index.shard_row import Position
from coordinator_server.pipeline.index.tables.activity import activity, totals
from coordinator_server.pipeline.input.topic_names import NO_NAMES
from coordinator_server.pipeline.progress import Progress
from tests.support.index import CLUSTER, SHARD, assert_same, index_writer, make_directory
from tests.support.kafka_partition import plain
from tests.support.random_log import write_log
from tests.support.segments import START_MS, offset_key, offset_value

GROUP = "g"
CHUNK_BYTES = 200
PERIODS = [Period(), Period(each=True), Period(START_MS + 3, START_MS + 7)]


def commit(number: int, value: int | None = None) -> bytes:
    return plain(number, (offset_key(GROUP, "t", 0), offset_value(number if value is None else value)))


def updated(data: Path, end: int) -> Updated:
    """What an update of the index up to an offset has read."""
    done = Updated()
    with index_writer(data, CHUNK_BYTES) as writer:
        update_shard(writer, job_shard(data / SHARD), end, done)
        writer.flush()
    return done


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Ten commits in three segments, the first six of them in the index."""
    found = make_directory(tmp_path)
    write_log(found / SHARD, [commit(number) for number in range(10)], 3)
    assert updated(found, 6).records == 6
    return found


def test_an_update_of_the_index_reads_new_records_only(data: Path) -> None:
    assert [updated(data, end).records for end in (6, 7, 10, 10)] == [0, 1, 3, 0]
    assert_same(data, 10, [GROUP], PERIODS)


def test_a_log_that_has_lost_what_was_read_is_read_again(data: Path) -> None:
    """With log.flush=os a power failure may do that; other records have come since."""
    for path in (data / SHARD).glob("*.log"):
        path.unlink()
    write_log(data / SHARD, [commit(number, 100 + number) for number in range(8)], 3)
    told: list[str] = []
    said = GroupHistory(data, GROUP, told.append).events(Period(each=True), 8, NO_NAMES)

    assert [each.changes[0].after for each in said.events] == list(range(100, 108))
    assert "has another batch before offset 6" in told[0]
    done = updated(data, 8)
    assert (done.records, done.again) == (8, [SHARD])
    assert_same(data, 8, [GROUP], PERIODS)


def test_a_log_that_is_shorter_than_what_was_read_is_read_again(data: Path) -> None:
    for path in sorted((data / SHARD).glob("*.log"))[1:]:
        path.unlink()

    with pytest.raises(LogDiffers, match="ends at offset 4, and 6 was read"):
        batches_after(job_shard(data / SHARD), 4, Position(6))
    assert updated(data, 4).again == [SHARD]


def compacted(data: Path, offset: int) -> None:
    """Write a layer, and remove the segments that it replaces."""
    compact(plans(data, {SHARD: offset}), None, run_python, Progress())
    for path in (data / SHARD).glob("*.log"):
        if int(path.stem) < offset:
            path.unlink()


def test_a_history_that_begins_with_a_layer(tmp_path: Path) -> None:
    """What is in the layer has happened before the history, and is read once."""
    data = make_directory(tmp_path)
    write_log(data / SHARD, [commit(number) for number in range(4)], 1)
    compacted(data, 4)
    write_log(data / SHARD, [commit(number) for number in range(4, 10)], 1)

    assert [updated(data, end).records for end in (4, 4, 10)] == [1, 0, 6]
    assert_same(data, 10, [GROUP], [Period(), Period(each=True), Period(START_MS + 4, None)])
    with pytest.raises(CannotRun, match="begins at offset 4"):
        GroupHistory(data, GROUP, pytest.fail).at(START_MS + 1, 10, NO_NAMES)


def test_what_retention_has_removed_leaves_the_index_as_well(data: Path) -> None:
    """It says nothing of a time for which the log says nothing; what it knows of later times stays."""
    updated(data, 10)
    compacted(data, 8)
    told: list[str] = []
    history = GroupHistory(data, GROUP, told.append)
    before = history.events(Period(each=True), 10, NO_NAMES).events

    assert updated(data, 10) == Updated()
    with closing(open_to_read(data / DIRECTORY, CLUSTER)) as index:
        [(group, total)] = totals(index)
        assert (group, total.commits) == (GROUP, sum(minute.commits for minute in activity(index, GROUP)))
    after = history.events(Period(each=True), 10, NO_NAMES).events
    assert (len(before), len(after)) == (10, 2)
    assert after == before[-len(after) :]
    assert history.events(Period(), 10, NO_NAMES).left_out == 0
    with pytest.raises(CannotRun, match="begins at offset 8"):
        history.at(START_MS + 1, 10, NO_NAMES)
    found = history.at(START_MS + 8, 10, NO_NAMES).group
    assert found is not None
    assert [each.offset for each in found.offsets] == [8]
    assert not told


def test_an_index_that_lacks_what_retention_has_removed_is_made_again(data: Path) -> None:
    compacted(data, 8)

    done = updated(data, 10)
    assert (done.again, done.records) == ([SHARD], 3)


def test_a_directory_is_indexed_by_its_command(data: Path) -> None:
    """All shards of groups, up to what is durable."""
    assert (update(data, Progress()).records, update(data, Progress()).records) == (4, 0)


def test_one_process_writes(data: Path) -> None:
    with open_to_write(data / DIRECTORY, CLUSTER), pytest.raises(Busy, match="another process writes the index"):
        updated(data, 10)


@pytest.mark.parametrize(("name", "value"), [("FORMAT", 0), ("CLUSTER", "another")])
def test_an_index_of_another_format_or_another_log_is_replaced(
    data: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    """Readers leave it alone, and say so."""
    if name == "FORMAT":
        monkeypatch.setattr(database, "FORMAT", database.FORMAT + 1)
    else:
        text = (data / "meta.properties").read_text()
        (data / "meta.properties").write_text(text.replace(CLUSTER, "BBBBBBBBBBBBBBBBBBBBBQ"))
    told: list[str] = []

    said = GroupHistory(data, GROUP, told.append).events(Period(each=True), 10, NO_NAMES)
    assert (len(said.events), len(told)) == (10, 1)
    assert "is that of another log, or of another version" in told[0]
    assert update(data, Progress()).records == 10


def test_a_damaged_index_is_named(data: Path) -> None:
    """The log answers."""
    path = data / DIRECTORY / database.DATABASE
    path.write_bytes(b"no database" * 1000)
    told: list[str] = []

    said = GroupHistory(data, GROUP, told.append).events(Period(each=True), 10, NO_NAMES)
    assert (len(said.events), len(told)) == (10, 1)
    assert "cannot be read: file is not a database" in told[0]
    with pytest.raises(PipelineError, match="if it is damaged, remove the directory"):
        update(data, Progress())
