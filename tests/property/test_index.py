"""The index of groups says what a replay of the whole log says, whatever the log has, however much of it the index has read, and
wherever its writer was stopped. ``PIPELINE_EXAMPLES=5000`` draws more logs (``make torture``).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from coordinator_server.pipeline.index import writer as writing
from coordinator_server.pipeline.index.period import Period
from protocol.batch_builder import BatchBuilder, batch_like
from protocol.record_batch import HEADER_SIZE, iter_records, read_header
from tests.support.index import SHARD, Killed, assert_same, make_directory, update
from tests.support.random_log import SPAN_MS, end_of, logs, write_log
from tests.support.segments import START_MS

EXAMPLES: Final = int(os.environ.get("PIPELINE_EXAMPLES", "20"))
GROUPS: Final = ("g", "h", "nobody")

CLIENTS: Final = (
    (("op1", b"8/9"), ("client", b"a"), ("host", b"10.0.0.7"), ("why", b"member-joined"), ("whom", b"m-1")),
    (("op1", b"8/9"), ("client", b"b")),
    (),
)

_times = st.none() | st.integers(-1, SPAN_MS + 1).map(lambda at: START_MS + at)
_periods = st.builds(Period, _times, _times, st.sampled_from((0, 0, 1, 2, 5)), st.booleans())
_cuts = st.lists(st.integers(0, 30), min_size=1, max_size=3).map(sorted)
_orders = st.sampled_from(("as drawn", "in time"))


def in_time(batches: Sequence[bytes]) -> list[bytes]:
    """The same batches, each of one time that is not before the one before."""
    found = []
    for number, batch in enumerate(batches):
        at_ms = START_MS + SPAN_MS * number // len(batches)
        found.append(retimed(batch, at_ms))
    return found


def retimed(batch: bytes, at_ms: int) -> bytes:
    """The batch at one time, of two clients: an operation has up to three records."""
    header = read_header(batch)
    if not header.count:
        return batch
    builder = BatchBuilder(header.base_offset, at_ms)
    for record in iter_records(batch, 0, header):
        builder.append_record(replace(record, timestamp=at_ms, headers=CLIENTS[record.offset % 3]))
    return batch_like(replace(header, base_timestamp=at_ms, max_timestamp=at_ms), builder.finish()[HEADER_SIZE:], header.count)


def written(data: Path, batches: Sequence[bytes], order: str) -> list[bytes]:
    """The log in a few segments; its batches."""
    found = in_time(batches) if order == "in time" else list(batches)
    write_log(data / SHARD, found, 3)
    return found


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(logs(30), _orders, st.integers(60, 700), _cuts, st.lists(_periods, max_size=4))
def test_an_index_says_what_the_log_says(
    tmp_path: Path, batches: list[bytes], order: str, chunk_bytes: int, cuts: list[int], periods: list[Period]
) -> None:
    """It was made in several runs, the last of which need not have read all."""
    data = make_directory(tmp_path)
    found = written(data, batches, order)
    for cut in cuts:
        update(data, end_of(found[min(cut, len(found) - 1)]), chunk_bytes)

    assert_same(data, end_of(found[-1]), GROUPS, [Period(), Period(each=True), *periods])


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(logs(30), st.integers(60, 700), st.lists(st.integers(0, 60), max_size=4), st.lists(_periods, max_size=2))
def test_a_writer_that_is_killed_loses_nothing_and_repeats_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    batches: list[bytes],
    chunk_bytes: int,
    kills: list[int],
    periods: list[Period],
) -> None:
    """At any statement, in one of many transactions. The next writer goes on."""
    data = make_directory(tmp_path)
    found = written(data, batches, "in time")
    end = end_of(found[-1])
    monkeypatch.setattr(writing, "FLUSH_BYTES", 200)
    for left in kills:
        with suppress(Killed):
            update(data, end, chunk_bytes, left)
    update(data, end, chunk_bytes)

    assert_same(data, end, GROUPS, [Period(), Period(each=True), *periods])
