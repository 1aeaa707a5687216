"""The lag of groups, from their commits and the sampled ends of partitions."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.observe.end_offsets import EndOffsetsWriter
from coordinator_server.observe.sampler import topics_in
from coordinator_server.pipeline.lag.commit_keys import Position, offset_of, position_of
from coordinator_server.pipeline.lag.end_offsets import DIRECTORY, EndOffsets, read_samples
from coordinator_server.pipeline.lag.lags import Commits, lag_of
from coordinator_server.pipeline.lag.verdicts import Made
from protocol.batch_builder import BatchBuilder
from protocol.codec import encoder
from protocol.control_records import ABORT, COMMIT
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.record_batch import read_header
from tests.support.segments import offset_key, offset_value

OffsetCommitKeys = st.builds(OffsetCommitKey, st.text(max_size=9), st.text(max_size=9), st.integers(0, 2**31 - 1))
DAY_MS = 86_400_000
START_MS = 20_000 * DAY_MS
AT = Position("g", "orders", 1)


def sampled(data_dir: Path, *samples: tuple[int, list[int]]) -> EndOffsets:
    """The ends of orders at so many seconds."""
    writer = EndOffsetsWriter(data_dir)
    for second, ends in samples:
        writer.write(START_MS + 1000 * second, {"orders": ends})
    return EndOffsets(read_samples(data_dir))


def test_ends_are_spread_between_two_samples(tmp_path: Path) -> None:
    """From the last sample on in which nothing had changed."""
    ends = sampled(tmp_path, (0, [7, 100]), (30, [7, 100]), (60, [7, 160]))

    found = [ends.at("orders", 1, START_MS + 1000 * second) for second in (-1, 0, 30, 45, 60, 61)]

    assert found == [None, 100, 100, 130, 160, None]
    assert ends.at("orders", 0, START_MS + 60_000) == 7
    assert ends.at("orders", 2, START_MS) is None
    assert ends.at("others", 0, START_MS) is None


def test_the_end_some_samples_ago(tmp_path: Path) -> None:
    """Samples in which it had not changed count; the first one if there are not so many."""
    ends = sampled(tmp_path, (0, [0, 1]), (30, [7, 1]), (60, [8, 1]), (90, [8, 1]))

    assert [ends.earlier("orders", 0, samples) for samples in (1, 2, 3, 4, 9)] == [8, 8, 7, 0, 0]
    assert ends.earlier("orders", 1, 2) == 1
    assert ends.earlier("others", 0, 2) is None
    EndOffsetsWriter(tmp_path).write(START_MS + 120_000, {"made": [5]})
    assert EndOffsets(read_samples(tmp_path)).earlier("made", 0, 3) == 5
    assert EndOffsets(read_samples(tmp_path / "nothing")).earlier("orders", 0, 2) is None


def test_when_a_record_was_written(tmp_path: Path) -> None:
    ends = sampled(tmp_path, (0, [100]), (30, [100]), (60, [160]))

    assert ends.written_ms("orders", 0, 130) == START_MS + 45_000
    assert ends.written_ms("orders", 0, 99) is None, "before the first sample"
    assert ends.written_ms("orders", 0, 160) is None, "not written yet"


def test_a_partition_that_was_made_again_begins_anew(tmp_path: Path) -> None:
    ends = sampled(tmp_path, (0, [100]), (30, [5]), (60, [-1]), (90, [6]))

    assert ends.at("orders", 0, START_MS) is None
    assert ends.at("orders", 0, START_MS + 30_000) == 5
    assert ends.at("orders", 0, START_MS + 90_000) == 6


def test_topics_that_are_as_before_have_no_line(tmp_path: Path) -> None:
    """Each day begins with all, in a file of its own. A sample is complete with its last line."""
    writer = EndOffsetsWriter(tmp_path)
    for at_ms in (START_MS, START_MS + 1, START_MS + DAY_MS):
        writer.write(at_ms, {"orders": [1]})

    files = sorted((tmp_path / DIRECTORY).glob("date=*/*.jsonl"))
    assert [len(path.read_bytes().splitlines()) for path in files] == [3, 2]
    assert EndOffsets(read_samples(tmp_path)).last_ms == START_MS + DAY_MS
    assert EndOffsets(read_samples(tmp_path, START_MS + DAY_MS)).at("orders", 0, START_MS) is None, "days before are not read"


def test_samples_are_kept_for_some_days(tmp_path: Path) -> None:
    """And for ever, if nobody says for how many. What is not of a day stays."""
    (tmp_path / DIRECTORY / "date=notes").mkdir(parents=True)
    for keep_days, kept in ((0, 5), (2, 3), (1, 2)):
        writer = EndOffsetsWriter(tmp_path, keep_days)
        for day in range(5) if not keep_days else (4,):
            writer.write(START_MS + day * DAY_MS, {"orders": [day]})
        assert len(list((tmp_path / DIRECTORY).glob("date=2*"))) == kept

    ends = EndOffsets(read_samples(tmp_path))
    assert (ends.at("orders", 0, START_MS + 3 * DAY_MS), ends.at("orders", 0, START_MS + 2 * DAY_MS)) == (3, None)
    assert (tmp_path / DIRECTORY / "date=notes").exists()


def test_a_torn_line_is_left_out(tmp_path: Path) -> None:
    """And the next sample does not continue it."""
    sampled(tmp_path, (0, [1]))
    [path] = (tmp_path / DIRECTORY).glob("date=*/*.jsonl")
    with path.open("ab") as file:
        file.write(b'{"at_ms":1,"topic":"ord')

    ends = sampled(tmp_path, (30, [9]))

    assert ends.at("orders", 0, START_MS + 30_000) == 9
    assert EndOffsets(read_samples(tmp_path / "nothing")).last_ms == -1


def batch(second: int, offset: int | None, producer: int = -1, group: str = "g") -> bytes:
    """A commit of orders-1."""
    given = {"producer_id": producer, "producer_epoch": 0, "attributes": 0x10} if producer >= 0 else {}
    builder = BatchBuilder(second, START_MS + 1000 * second, **given)
    builder.append(offset_key(group, "orders", 1), None if offset is None else offset_value(offset))
    return builder.finish()


def marker(producer: int, kind: int) -> bytes:
    builder = BatchBuilder(0, START_MS, producer_id=producer, producer_epoch=0, attributes=0x30)
    builder.append(b"\0\0" + kind.to_bytes(2), b"\0\0\0\0\0\0")
    return builder.finish()


def windows(*batches: bytes, groups: tuple[str, ...] = ()) -> dict[Position, list[int]]:
    """The offsets of the last commits."""
    commits = Commits(groups)
    for each in batches:
        commits.take(each, 0, read_header(each))
    return {where: [made.offset for made in window.commits] for where, window in commits.windows.items()}


def test_a_commit_has_the_lag_of_its_time(tmp_path: Path) -> None:
    """As of the sample before it: of what has come since nobody knows whether it was there."""
    ends = sampled(tmp_path, (0, [0, 100]), (60, [0, 160]))
    made = [
        Made(START_MS + 1000 * second, offset, START_MS + 1000 * second) for second, offset in ((0, 90), (30, 100), (60, 150))
    ]

    found = lag_of(AT, made, ends)
    assert (found.lag, found.lag_s, found.verdict) == (10, 10.0, "OK")
    assert found.reason == "nothing was unread at a commit of the window"
    assert lag_of(AT, made[::2], ends).reason == "the lag went from 10 to 10, and never down, in 2 commits"
    unknown = lag_of(Position("g", "others", 0), made, ends)
    assert (unknown.end_offset, unknown.lag, unknown.lag_s) == (None, None, None)
    assert ends.sampled("orders", 1, START_MS - 1) is None


def test_an_offset_that_is_deleted_has_no_lag() -> None:
    assert windows(batch(0, 90), batch(1, None)) == {AT: []}


def test_in_a_transaction_the_marker_decides() -> None:
    """And of two records the later one in the log."""
    found = windows(batch(0, 1), batch(2, 2, 7), batch(4, 3, 8), marker(8, ABORT), batch(6, 4), marker(7, COMMIT))

    assert found[AT] == [1, 4]
    later = windows(batch(0, 1), batch(2, 2), batch(4, 3, 7), marker(7, COMMIT))
    assert later[AT] == [1, 2, 3]


def test_only_chosen_groups() -> None:
    found = windows(batch(0, 1), batch(0, 1, group="h"), groups=("h",))

    assert [each.group for each in found] == ["h"]


@pytest.mark.parametrize(("data", "topics"), [(batch(0, 1), {"orders"}), (batch(0, None), set()), (marker(1, COMMIT), set())])
def test_which_topics_are_consumed(data: bytes, topics: set[str]) -> None:
    assert topics_in(data) == topics


@given(OffsetCommitKeys, st.integers(-1, 2**62), st.sampled_from([0, 1, 2, 3, 4]))
def test_keys_and_offsets_are_what_the_messages_say(key: OffsetCommitKey, offset: int, version: int) -> None:
    """Whatever the version of the value."""
    raw = GROUP_SERDE.encode_key(CoordinatorRecord(key, None))
    out = bytearray(version.to_bytes(2))
    encoder(OffsetCommitValue, version)(OffsetCommitValue(offset), out)

    assert position_of(raw) == (key.group, key.topic, key.partition)
    assert offset_of(bytes(out)) == offset


@pytest.mark.parametrize("key", [None, b"", b"\0\2\0\1g"])
def test_any_other_key_is_no_commit(key: bytes | None) -> None:
    assert position_of(key) is None
