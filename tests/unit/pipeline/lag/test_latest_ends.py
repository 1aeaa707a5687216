"""The last samples of a topic say of a position what all of them say, where they are enough; otherwise older ones are read."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator_server.observe.end_offsets import EndOffsetsWriter
from coordinator_server.pipeline.index.database import open_to_write
from coordinator_server.pipeline.index.tables import end_offsets
from coordinator_server.pipeline.index.tables.end_offsets import LatestEnds, sampled_topics, take_samples
from coordinator_server.pipeline.lag.commit_keys import Position
from coordinator_server.pipeline.lag.end_offsets import UNKNOWN, EndOffsets, Sample
from coordinator_server.pipeline.lag.lags import lag_of, suffice
from coordinator_server.pipeline.lag.verdicts import Made
from tests.support.index import CLUSTER
from tests.support.segments import START_MS

STEP_MS = 30

_steps = st.sampled_from((*(0, 1, 5, 5, 20) * 8, -30, None))
"""By how much an end goes on from one sample to the next; None if it was not known."""
_samples = st.lists(st.tuples(_steps, st.sampled_from((*(2,) * 30, 1))), min_size=11, max_size=30)
_commits = st.lists(st.tuples(st.integers(0, 30), st.sampled_from((0, 1, 4, 15, 60))), min_size=1, max_size=5)
"""How many samples before the last one, and how many records were unread."""


def all_samples(steps: list[tuple[int | None, int]]) -> list[Sample]:
    """Of the last partition of a topic; some have one partition less."""
    found, end = [], 50
    for number, (step, partitions) in enumerate(steps):
        end = max(0, end + (step or 0))
        found.append(Sample(STEP_MS * (number + 1), "t", [7, UNKNOWN if step is None else end][:partitions]))
    return found


@settings(max_examples=200, deadline=None)
@given(_samples, _commits, st.integers(1, 30), st.integers(0, 1), st.integers(0, 1))
def test_what_suffices_says_what_all_say(
    steps: list[tuple[int | None, int]], commits: list[tuple[int, int]], last: int, partition: int, unfinished: int
) -> None:
    """Ends go down when a topic is made again, are unknown at times, and the last sample may not be complete."""
    samples = all_samples(steps)
    times = [each.at_ms for each in samples][: len(samples) - unfinished]
    made = []
    for ago, unread in sorted(commits, reverse=True):
        at = samples[max(0, len(samples) - 1 - ago)]
        made.append(Made(at.at_ms, max(0, (at.end_offsets or [0])[-1] - unread), at.at_ms))
    where = Position("g", "t", partition)

    some, everything = EndOffsets(samples[-last:], times), EndOffsets(samples, times)
    if suffice(some, where, made):
        assert lag_of(where, made, some) == lag_of(where, made, everything)


@pytest.mark.parametrize(("offset", "read"), [(990, 20), (400, 80), (10, 100)])
def test_no_more_is_read_than_a_position_wants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offset: int, read: int) -> None:
    """Which is from when its first unread record was written on; of who has read little, everything."""
    monkeypatch.setattr(end_offsets, "FEW", 5)
    writer = EndOffsetsWriter(tmp_path)
    for number in range(100):
        writer.write(START_MS + 1000 * number, {"t": [10 * number + 20], "u": [number]})
    made = [Made(START_MS + 98_000, offset, START_MS + 98_000)]
    asked: list[EndOffsets] = []

    def is_enough(ends: EndOffsets) -> bool:
        asked.append(ends)
        return suffice(ends, Position("g", "t", 0), made)

    with open_to_write(tmp_path / "index", CLUSTER) as database, closing(database):
        take_samples(database, tmp_path)
        assert sampled_topics(database) == ["t", "u"]
        found = LatestEnds(database, START_MS).of("t", is_enough)
        assert found.begin("t", 0) == (START_MS + 1000 * (100 - read), 10 * (100 - read) + 20)
