"""How fast groups consume, and how far they are behind: now, and over time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from coordinator_server.observe.end_offsets import EndOffsetsWriter
from coordinator_server.page.lanes import Window
from coordinator_server.page.paces import Pace, PartitionPace, paces, partition_paces, rate
from coordinator_server.page.trend import READ_S, Trend, Trends
from coordinator_server.pipeline.index.database import open_to_write
from coordinator_server.pipeline.index.feed import DIRECTORY
from coordinator_server.pipeline.index.snapshot import Snapshot, SnapshotGroup, snapshot
from coordinator_server.pipeline.index.tables.end_offsets import take_samples
from coordinator_server.pipeline.index.tables.lags import write_group_lags
from coordinator_server.pipeline.input.topic_names import NO_NAMES
from coordinator_server.pipeline.lag.verdicts import Made
from tests.support.index import CLUSTER
from tests.support.page_log import Story, indexed
from tests.support.segments import START_MS

TOPICS = frozenset({"orders"})


@pytest.fixture
def told() -> Story:
    """One member commits two partitions each 5 s for a long time."""
    return Story("billing", partitions=2).join("a").commit(step=20, times=60)


def sampled(data: Path, told: Story, behind: int, *later: tuple[int, int]) -> None:
    """Ends are sampled each 30 s, ahead of the last commit by so many in the end; then at so many ms after it, by so many."""
    writer = EndOffsetsWriter(data)
    ends = [each + behind for each in told.offsets]
    for second in range(0, 330, 30):
        writer.write(START_MS + 1000 * second, {"orders": [round(end * second / 300) for end in ends]})
    for after_ms, ahead in later:
        writer.write(told.now_ms + after_ms, {"orders": [each + ahead for each in told.offsets]})
    with open_to_write(data / DIRECTORY, CLUSTER) as database:
        database.execute("BEGIN")
        write_group_lags(database, is_sampled=take_samples(database, data))
        database.execute("COMMIT")


@contextmanager
def opened(data: Path) -> Iterator[tuple[SnapshotGroup, Snapshot]]:
    with snapshot(data / DIRECTORY, CLUSTER) as index:
        found = index.group("billing", NO_NAMES)
        assert found is not None
        yield found, index


def made(*commits: tuple[int, int]) -> list[Made]:
    return [Made(at_ms, offset, at_ms) for at_ms, offset in commits]


def of_now(data: Path, now_ms: int) -> tuple[Pace, list[PartitionPace]]:
    with opened(data) as (_, index):
        return paces(index.database, now_ms)["billing"], partition_paces(index.database, "billing", now_ms)


def test_the_rate_is_known_without_ends_and_lag_and_verdict_are_not(tmp_path: Path, told: Story) -> None:
    data = indexed(tmp_path, [told], 1 << 20)
    now, partitions = of_now(data, told.now_ms)
    later, _ = of_now(data, told.now_ms + 600_000)

    assert now.rate == pytest.approx(sum(each.rate or 0 for each in partitions), abs=0.01)
    assert now.rate
    assert (now.lag, now.lag_s, now.verdict) == (None, None, None)
    assert [(each.partition, each.offset, each.lag, each.verdict) for each in partitions] == [
        (number, told.offsets[number], None, None) for number in (0, 1)
    ]
    assert later.rate == 0, "it has stopped"


def test_with_ends_a_group_that_stopped_is_said_to(tmp_path: Path, told: Story) -> None:
    data = indexed(tmp_path, [told], 1 << 20)
    sampled(data, told, 50, *((after_ms, 90) for after_ms in range(30_000, 600_001, 30_000)))
    found, partitions = of_now(data, told.now_ms + 600_000)

    assert (found.lag, found.verdict) == (180, "ERR")
    assert found.worst is not None
    assert "STOP" in found.worst
    assert [(each.partition, each.lag, each.verdict, each.rate) for each in partitions] == [
        (0, 90, "STOP", 0),
        (1, 90, "STOP", 0),
    ]
    assert partitions[0].end_offset == told.offsets[0] + 90


def test_one_commit_has_no_rate_and_going_back_is_none() -> None:
    assert rate(made((0, 5)), 10) is None
    assert rate(made((0, 100), (1000, 5)), 1000) == 0
    assert rate(made((0, 100), (2000, 300)), 2500) == 100


# --- over time


def trend(data: Path, window: Window, trends: Trends | None = None, topics: frozenset[str] = TOPICS) -> Trend:
    with opened(data) as (group, index):
        return (trends or Trends(lambda: 0.0)).trend(group, index, window, topics)


@pytest.mark.parametrize("chunk_bytes", [600, 1 << 20])
def test_a_trend_adds_up_to_what_was_consumed(tmp_path: Path, told: Story, chunk_bytes: int) -> None:
    data = indexed(tmp_path, [told], chunk_bytes)
    window = Window(START_MS, told.now_ms, 30)
    found = trend(data, window)

    consumed = sum(each * window.column_ms / 1000 for each in found.rate if each is not None)
    assert found.is_exact
    assert consumed == pytest.approx(sum(told.offsets), rel=0.2)
    assert set(found.lag) == {None}


def test_a_trend_has_the_lag_where_ends_were_sampled(tmp_path: Path, told: Story) -> None:
    """After the last commit it grows with the partition."""
    data = indexed(tmp_path, [told], 600)
    sampled(data, told, 50, (300_000, 500))
    window = Window(START_MS, told.now_ms + 300_000, 60)
    found, elsewhere = trend(data, window), trend(data, window, topics=frozenset({"payments"}))

    known = [each for each in found.lag if each is not None]
    assert len(known) > 30
    assert known[-1] == 1000
    assert known[-20:] == sorted(known[-20:])
    assert found.rate[-5:] == [0.0] * 5
    assert set(elsewhere.lag) == {None}


def test_a_trend_takes_new_samples(tmp_path: Path, told: Story) -> None:
    data = indexed(tmp_path, [told], 600)
    trends, window = Trends(lambda: 0.0), Window(START_MS, told.now_ms + 300_000, 60)
    before = trend(data, window, trends)
    sampled(data, told, 50, (300_000, 500))

    assert set(before.lag) == {None}
    assert trend(data, window, trends).lag[-1] == 1000


def test_chunks_that_no_time_is_left_to_read_are_left_out_and_read_by_the_next_answer(tmp_path: Path, told: Story) -> None:
    data = indexed(tmp_path, [told], 600)
    now = [0.0]

    def clock() -> float:
        now[0] += READ_S / 3
        return now[0]

    trends = Trends(clock)
    found = [trend(data, Window(START_MS, told.now_ms, 300), trends) for _ in range(40)]

    gaps = [each.rate.count(None) for each in found]
    assert not found[0].is_exact
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[0] > gaps[-1]
    assert found[-1].is_exact
