"""Runs of commits over many chunks, and periods that begin and end anywhere in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path

import pytest

from coordinator_server.log.opening import job_shard
from coordinator_server.pipeline.index.period import Period
from coordinator_server.pipeline.index.reader import Chunk, IndexedGroup
from protocol.record_batch import Record
from tests.support.index import SHARD, answers, assert_same, make_directory, update
from tests.support.segments import START_MS, Batch, encode, group_key, group_value, offset_key, offset_value, write_segments

GROUP = "g"
COUNT = 60
CHUNK_BYTES = 700

Pair = tuple[bytes, bytes]


def commit(number: int, client: bytes = b"a", partition: int | None = None) -> tuple[Pair, bytes]:
    at = number % 2 if partition is None else partition
    return (offset_key(GROUP, "t", at), offset_value(number)), client


def generation(number: int) -> tuple[Pair, bytes]:
    return (group_key(GROUP), group_value(number, ["m-1"])), b"m"


def written(tmp_path: Path, operations: Iterable[tuple[Pair, bytes]]) -> tuple[Path, int]:
    """A directory with the operations, one in each millisecond, that is indexed but for the last three; and its end."""
    data = make_directory(tmp_path)
    batches = [
        Batch((Record(at, START_MS + at, *pair, (("op1", b"8/9"), ("client", client), ("member", client))),))
        for at, (pair, client) in enumerate(operations)
    ]
    end = write_segments(data / SHARD, batches)
    update(data, end - 3, CHUNK_BYTES)
    return data, end


ONE_CLIENT = [commit(number) for number in range(COUNT)]
TWO_CLIENTS = [commit(number, b"ab"[number % 2 : number % 2 + 1]) for number in range(COUNT)]
IN_TURNS = [commit(number, (b"a", b"b")[number // 7 % 2]) for number in range(COUNT)]
WITH_GENERATIONS = [generation(number) if number % 25 == 10 else commit(number) for number in range(COUNT)]
ONLY_GENERATIONS = [generation(number) for number in range(COUNT)]


@pytest.mark.parametrize("operations", [ONE_CLIENT, TWO_CLIENTS, IN_TURNS, WITH_GENERATIONS, ONLY_GENERATIONS])
def test_a_period_may_begin_and_end_anywhere(tmp_path: Path, operations: list[tuple[Pair, bytes]]) -> None:
    """Runs that go on over the borders are cut there."""
    data, end = written(tmp_path, operations)
    borders = [None, *(START_MS + at for at in (9, 25, 40, 58))]
    periods = [Period(*times) for times in product(borders, borders)]
    periods += [Period(START_MS + 9, START_MS + 40, limit, each) for limit, each in ((3, False), (3, True), (0, True))]

    assert_same(data, end, [GROUP], periods)


def test_what_ends_within_a_chunk_is_not_read_from_its_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A million events are answered from what their chunks come to: only the last chunk is replayed."""
    data, end = written(tmp_path, WITH_GENERATIONS)
    read: list[int] = []
    records: Callable[..., bytes] = IndexedGroup.records

    def noted(group: IndexedGroup, chunk: Chunk) -> bytes:
        read.append(chunk.number)
        return records(group, chunk)

    monkeypatch.setattr(IndexedGroup, "records", noted)

    told: list[str] = []
    (_, _, events, left_out, _), *_ = answers(data, end, [GROUP], [Period(limit=4)], told)
    assert ([each.commits for each in events], left_out) == ([0, 24, 0, 24], 1)
    # For the events, for the state at the end, and for the owners.
    assert read == [max(read)] * 3
    assert max(read) > 5


def test_the_log_of_a_group_that_the_index_does_not_have(tmp_path: Path) -> None:
    """It was created after the index had been brought up to date."""
    data = make_directory(tmp_path)
    write_segments(data / SHARD, [Batch((Record(0, START_MS, offset_key("other", "t", 0), offset_value(1)),))])
    update(data, 1, CHUNK_BYTES)
    (data / SHARD / f"{1:020d}.log").write_bytes(
        encode(Batch((Record(1, START_MS, offset_key(GROUP, "t", 0), offset_value(1)),)))
    )

    assert_same(data, 2, [GROUP, "other", "nobody"], [Period(), Period(each=True), Period(START_MS, START_MS)])
    assert job_shard(data / SHARD).exists()
