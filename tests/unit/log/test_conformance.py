"""The rules of log/store.py, for every store: a log in a directory, one in memory, and one that several nodes share, simulated and
in a PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from coordinator_server.log.errors import Fenced, OutcomeUnknown, Unavailable
from coordinator_server.log.shards import Append
from coordinator_server.log.store import ReadRange
from tests.support.log import append, batch, values
from tests.support.log_subjects import A, B, C, Fallible, Local, Memory, Postgresql, Shared, Subject, kinds, resolve, submit

has_accidents = pytest.mark.parametrize("subject", [Local, Shared, Postgresql], indirect=True)


@pytest.fixture(params=[Local, Memory, Shared, Postgresql])
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    if request.param is Postgresql:
        with closing(Postgresql(request.getfixturevalue("postgresql"))) as opened:
            yield opened
        return
    subject: Subject = request.param()
    subject.run()
    yield subject
    subject.store.close()


def test_a_shard_that_was_never_written_is_empty(subject: Subject) -> None:
    store = subject.store
    assert list(store.read(A, 0)) == []
    assert (store.end_offset(A), store.durable_bytes(A), store.compacted_to(A), store.checkpoint(A)) == (0, 0, 0, None)
    assert store.read_range(A, ReadRange(0, 100, 5)) == (b"", 0)
    assert (store.offset_for_time(A, 0, lambda: None), store.latest_time(A, lambda: None)) == (None, None)
    assert store.end_time(A) == -1


def test_what_is_durable_is_read_in_order_from_the_batch_that_has_the_offset(subject: Subject) -> None:
    assert submit(subject, append(0, 0, b"a", count=3), append(1, 0, b"other")) == {}
    assert submit(subject, append(0, 3, b"b", count=2)) == {}

    assert [values(subject.store.read(A, offset)) for offset in (0, 2, 3, 4, 5)] == [
        [b"a"] * 3 + [b"b"] * 2,
        [b"a"] * 3 + [b"b"] * 2,
        [b"b"] * 2,
        [b"b"] * 2,
        [],
    ]
    assert [subject.store.end_offset(each) for each in (A, B, C)] == [5, 1, 0]


def test_the_bytes_are_those_that_were_given(subject: Subject) -> None:
    """Also those of several batches in one append."""
    given = batch(0, b"a", 2) + batch(2, b"b")
    assert submit(subject, Append(A, 0, 0, given)) == {}

    assert list(subject.store.read(A, 0)) == [batch(0, b"a", 2), batch(2, b"b")]


def test_what_is_durable_survives_the_process(subject: Subject) -> None:
    for offset in range(5):
        assert submit(subject, append(0, offset, b"%d" % offset)) == {}
    subject.reopen()

    assert values(subject.store.read(A, 0)) == [b"0", b"1", b"2", b"3", b"4"]
    assert submit(subject, append(0, 5, b"5", epoch=1)) == {}
    assert subject.store.end_offset(A) == 6


def test_the_owner_before_is_fenced_and_concerns_nobody_else(subject: Subject) -> None:
    assert submit(subject, append(0, 0, b"old", epoch=4)) == {}
    assert submit(subject, append(0, 1, b"new", epoch=5)) == {}

    failures = submit(subject, append(0, 2, b"late", epoch=4), append(1, 0, b"other", epoch=4))

    assert kinds(failures) == {A: Fenced}
    assert values(subject.store.read(A, 0)) == [b"old", b"new"]
    assert values(subject.store.read(B, 0)) == [b"other"]
    assert submit(subject, append(0, 2, b"next", epoch=5)) == {}


@has_accidents
def test_what_is_refused_is_not_written_and_concerns_nobody_else(subject: Fallible) -> None:
    """The shard goes on at the same offset."""
    assert submit(subject, append(0, 0), append(1, 0)) == {}
    subject.refuse(B)
    big = append(1, 1, b"x" * 300_000)
    failures = submit(subject, append(0, 1, b"kept"), big)

    assert kinds(failures) == {B: Unavailable}
    assert (values(subject.store.read(A, 1)), subject.store.end_offset(B)) == ([b"kept"], 1)
    subject.reopen()
    assert submit(subject, append(1, 1, b"again", epoch=1)) == {}
    assert values(subject.store.read(B, 0)) == [b"value", b"again"]


@has_accidents
def test_an_unknown_outcome_is_resolved_or_nobody_can_say(subject: Fallible) -> None:
    """A local disk cannot say: then nothing more is written in this process. After a restart all of it is there, or nothing."""
    assert submit(subject, append(0, 0, b"first")) == {}
    subject.doubt()
    doubted = append(0, 1, b"doubted"), append(1, 0, b"doubted")
    assert kinds(submit(subject, *doubted)) == {A: OutcomeUnknown, B: OutcomeUnknown}

    found = resolve(subject, *doubted)

    if isinstance(subject, Local):
        assert kinds(found) == {A: OutcomeUnknown, B: OutcomeUnknown}
        assert kinds(submit(subject, append(2, 0))) == {C: OutcomeUnknown}
        assert subject.store.failure is found[A]
    else:
        assert found == {}
        assert submit(subject, append(0, 2, b"next")) == {}
    subject.reopen()
    ends = subject.store.end_offset(A), subject.store.end_offset(B)
    assert ends in ({(1, 0), (2, 1)} if isinstance(subject, Local) else {(3, 1)})


def test_ranges_are_whole_batches_within_bounds(subject: Subject) -> None:
    for offset in range(4):
        assert submit(subject, append(0, offset, b"x" * 100)) == {}
    size = len(batch(0, b"x" * 100))

    def piece(from_offset: int, most: int, upto: int, *, must_have_one: bool = True) -> tuple[int, int]:
        data, next_offset = subject.store.read_range(A, ReadRange(from_offset, most, upto, must_have_one))
        return len(data) // size, next_offset

    assert piece(0, 10 * size, 4) == (4, 4)
    assert piece(1, 2 * size, 4) == (2, 3)
    assert piece(1, 10 * size, 3) == (2, 3)
    assert piece(1, 5, 4) == (1, 2)
    assert piece(1, 5, 4, must_have_one=False) == (0, 1)


def test_records_are_found_by_their_times(subject: Subject) -> None:
    """The first one at a time or later, and the first with the largest time."""
    for offset, at_ms in enumerate((10, 30, 20, 30)):
        assert submit(subject, Append(A, 0, offset, batch(offset, at_ms=at_ms))) == {}

    found = [subject.store.offset_for_time(A, ms, lambda: None) for ms in (0, 10, 11, 25, 31)]
    assert found == [(0, 10), (0, 10), (1, 30), (1, 30), None]
    assert subject.store.latest_time(A, lambda: None) == (1, 30)


def test_the_end_has_the_time_of_the_last_batch(subject: Subject) -> None:
    """Not the largest: the clock of an older version may have gone back."""
    for offset, at_ms in enumerate((10, 30, 20)):
        assert submit(subject, Append(A, 0, offset, batch(offset, at_ms=at_ms))) == {}
        assert subject.store.end_time(A) == at_ms
    subject.reopen()
    assert subject.store.end_time(A) == 20
    sealed: list[object] = []
    subject.store.seal(sealed.append)
    subject.run()

    assert (len(sealed), subject.store.end_time(A)) == (1, 20)


def test_a_search_ends_when_nobody_waits_for_it(subject: Subject) -> None:
    assert submit(subject, append(0, 0)) == {}

    def gone() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        subject.store.offset_for_time(A, 0, gone)


@pytest.mark.parametrize("work", ["seal", "write_out"])
def test_readers_hear_how_far_they_can_read(subject: Subject, work: str) -> None:
    """Everything that is durable, and nothing is different after it."""
    assert submit(subject, append(0, 0, count=3), append(1, 0)) == {}
    ends: list[object] = []
    getattr(subject.store, work)(ends.append)
    subject.run()

    assert ends == [{A: 3, B: 1}]
    assert submit(subject, append(0, 3, b"next")) == {}
    assert values(subject.store.read(A, 3)) == [b"next"]


def test_durable_bytes_grow_with_what_is_durable(subject: Subject) -> None:
    assert submit(subject, append(0, 0)) == {}
    before = subject.store.durable_bytes(A)
    assert submit(subject, append(0, 1), append(1, 0)) == {}

    assert subject.store.durable_bytes(A) - before == len(batch(1))


def test_a_closed_log_refuses(subject: Subject) -> None:
    subject.store.close()
    subject.store.close()

    assert kinds(submit(subject, append(0, 0))) == {A: Unavailable}
