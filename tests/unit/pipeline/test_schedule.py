"""When a schedule runs its jobs."""

from __future__ import annotations

from pathlib import Path

from coordinator_server.pipeline.schedule import Rule, Schedule, segment_sizes
from tests.support.segments import coordinator_log, write_segments

SHARD = "__consumer_offsets-0"


def test_a_round_has_to_be_worth_it() -> None:
    """The first round runs, and then those with enough new bytes; what was skipped adds up."""
    schedule = Schedule(1000, Rule(min_bytes=100), 0)
    first, later = {(SHARD, "a"): 70}, {(SHARD, "a"): 90, (SHARD, "b"): 79}

    assert schedule.is_due({}, 0)
    schedule.ran(first, 0)

    assert not schedule.is_due(first, 1000)
    assert schedule.new_bytes(later) == 99
    assert not schedule.is_due(later, 1000)
    assert schedule.is_due({**later, (SHARD, "b"): 80}, 1000)


def test_nothing_new_is_no_work_without_a_minimum_either() -> None:
    """Zero bytes are fewer than any minimum."""
    schedule = Schedule(1000, Rule(min_bytes=0), 0)
    schedule.ran({(SHARD, "a"): 5}, 0)

    assert not schedule.is_due({(SHARD, "a"): 5}, 1000)
    assert schedule.is_due({(SHARD, "a"): 6}, 1000)


def test_what_retention_removes_is_not_new() -> None:
    """Nor does it hide what is."""
    schedule = Schedule(1000, Rule(min_bytes=10), 0)
    schedule.ran({(SHARD, "a"): 1000, (SHARD, "b"): 5}, 0)

    assert schedule.new_bytes({(SHARD, "b"): 9}) == 4


def test_the_jobs_run_from_time_to_time_whatever_is_new() -> None:
    """Damage comes without new bytes."""
    schedule = Schedule(1000, Rule(longest_ms=5000), 0)
    schedule.ran({}, 100)

    assert not schedule.is_due({}, 5099)
    assert schedule.is_due({}, 5100)


def test_a_long_round_replaces_the_rounds_that_it_missed() -> None:
    """A long round takes the place of those that it has missed."""
    schedule = Schedule(1000, Rule(), 500)
    times = []
    for now_ms in (500, 1503, 2500, 5600):
        schedule.begin_round(now_ms)
        times.append(schedule.next_ms)

    assert times == [1500, 2500, 3500, 6500]


def test_sizes_of_segments(tmp_path: Path) -> None:
    """Of all shards of known kinds, without layers and other files."""
    write_segments(tmp_path / SHARD, coordinator_log(1, 20), 2)
    write_segments(tmp_path / "orders-1", coordinator_log(1, 20), 1)
    (tmp_path / SHARD / "layer-00000000000000000007").mkdir()

    sizes = segment_sizes(tmp_path)

    assert {shard for shard, _ in sizes} == {SHARD}
    assert sizes == {(SHARD, path.name): path.stat().st_size for path in (tmp_path / SHARD).glob("*.log")}
    assert sum(sizes.values()) > 0
