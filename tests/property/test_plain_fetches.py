"""The answer to a plain OffsetFetch is the general one, in every state of the offsets, for as long as it is said to be."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator_server.group.fetch import LatestFetch, PlainFetch
from coordinator_server.machine.shard import Answered, Producer, RequestContext, TransactionResult
from coordinator_server.machine.timeline import SnapshotRegistry
from coordinator_server.offsets.block import CommitBlock
from coordinator_server.offsets.commit_topic import PlainTopic
from coordinator_server.offsets.fetch import OffsetsMoment
from protocol.codec import encode
from protocol.commit_rows import partitions_of
from protocol.coordinator_records import CoordinatorRecord
from protocol.fetch_rows import FetchedOffsets
from protocol.fields import ZERO_UUID
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_commit import OffsetCommitRequestPartition
from protocol.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from tests.support.commit_rows import rows_of
from tests.support.group import FakeReply, GroupLog

OLD_ID: Final = b"o" * 16
NEW_ID: Final = b"n" * 16
CONTEXT: Final = RequestContext("", "", 9, 9)
LISTS: Final = ([0], [2], [0, 1], [1, 0], [2, 0, 1], [1, 0, 1])


class Fetch:
    """A request for some partitions, and the last answer that it got the short way."""

    def __init__(self, version: int, topics: list[tuple[str, list[int]]], *, stable: bool) -> None:
        self.version = version
        topic_id = NEW_ID if version >= 10 else ZERO_UUID
        asked = [OffsetFetchRequestTopics(name, topic_id, indexes) for name, indexes in topics]
        self.general = OffsetFetchRequestGroup("g", topics=asked)
        self.plain = PlainFetch(version, self.general, asked, stable)
        self.known: Answered[FetchedOffsets] | None = None


class History:
    """A shard that replays records, of which some are not committed yet."""

    def __init__(self) -> None:
        self.registry = SnapshotRegistry()
        self.shard = GroupLog().build(self.registry)
        self.end = self.committed = 0
        self.fetches = [
            Fetch(version, [("t", indexes), *others], stable=stable)
            for version, indexes, others, stable in (
                (8, [0], [], False),
                (9, [0, 1], [], True),
                (8, [1, 0], [("u", [0])], False),
                (10, [2, 0, 1], [], True),
                (10, [0, 1], [("u", [0])], False),
            )
        ]
        self.open: set[int] = set()
        self.committed_open: set[int] = set()

    def rows(self, topic: str, indexes: list[int], offset: int, topic_id: bytes) -> None:
        """A plain commit."""
        self.registry.snapshot(self.end)
        rows = rows_of([OffsetCommitRequestPartition(index, offset + place, 3) for place, index in enumerate(indexes)])
        plain = PlainTopic("g", topic, topic_id, partitions_of(rows))
        CommitBlock(self.shard.groups.offsets, "g", 5, [plain], [rows]).replay(self.end)
        self.end += len(indexes)

    def single(self, index: int, offset: int | None, metadata: str) -> None:
        """A record of its own, or a tombstone."""
        value = None if offset is None else OffsetCommitValue(offset, 4, metadata, 5)
        self._replay(OffsetCommitKey("g", "t", index), value)

    def pend(self, producer: int, index: int) -> None:
        """An offset of an open transaction."""
        self.registry.snapshot(self.end)
        record = CoordinatorRecord(OffsetCommitKey("g", "t", index), OffsetCommitValue(77, 4, "", 5), 4)
        self.shard.replay_in_transaction(Producer(producer, 0), self.end, record)
        self.open.add(producer)
        self.end += 1

    def finish(self, producer: int, result: TransactionResult) -> None:
        self.registry.snapshot(self.end)
        self.shard.replay_end_transaction_marker(Producer(producer, 0), result)
        self.open.discard(producer)
        self.end += 1

    def durable(self) -> None:
        self.committed = self.end
        self.committed_open = set(self.open)
        self.registry.delete_up_to(self.end)

    def fail(self) -> None:
        self.end = self.committed
        self.open = set(self.committed_open)
        self.registry.revert_to(self.committed)

    def _replay(self, key: OffsetCommitKey, value: OffsetCommitValue | None) -> None:
        self.registry.snapshot(self.end)
        self.shard.replay(self.end, CoordinatorRecord(key, value, 4))
        self.end += 1

    def check(self) -> None:
        for fetch in self.fetches:
            general = self.answer(fetch)
            known = fetch.known
            if known is not None and known.again is not None and known.again(self.committed):
                assert known.answer.body == general
            fetch.known = plain = self.shard.fetch_plain(self.committed, fetch.plain)
            if plain is not None:
                assert plain.answer.body == general
                assert plain.again is None or plain.again(self.committed)

    def answer(self, fetch: Fetch) -> bytes:
        if fetch.plain.require_stable:
            wanted = LatestFetch(fetch.general, require_stable=True)
            moment = self.shard.fetch_latest_offsets(CONTEXT, wanted, FakeReply(fetch.version)).response
            assert isinstance(moment, OffsetsMoment)
            found = moment.answer()
        else:
            found = self.shard.fetch_offsets(self.committed, fetch.general).answer()
        return encode(OffsetFetchResponse(groups=[found]), fetch.version)


steps = st.one_of(
    st.tuples(
        st.just("rows"),
        st.sampled_from(["t", "t", "u"]),
        st.sampled_from(LISTS),
        st.integers(0, 9),
        st.sampled_from([ZERO_UUID, OLD_ID, NEW_ID]),
    ),
    st.tuples(st.just("single"), st.integers(0, 2), st.none() | st.integers(0, 9), st.sampled_from(["", "", "note"])),
    st.tuples(st.just("pend"), st.integers(1, 2), st.integers(0, 1)),
    st.tuples(st.just("finish"), st.integers(1, 2), st.sampled_from(list(TransactionResult))),
    st.just(("durable",)),
    st.just(("durable",)),
    st.just(("fail",)),
)


@settings(max_examples=50)
@given(st.lists(st.tuples(steps, st.booleans()), max_size=20))
def test_a_plain_answer_is_the_general_one(steps: list[tuple[tuple[Any, ...], bool]]) -> None:
    """Requests are not sent after every step: an answer may be given again after several changes."""
    history = History()
    history.check()
    for (name, *arguments), is_read in steps:
        getattr(history, name)(*arguments)
        if is_read:
            history.check()
    history.check()


def offsets_of(history: History, indexes: list[int], *, stable: bool = False) -> list[int] | None:
    """Those that the short way finds, after a comparison with the general way; None: it finds nothing."""
    fetch = Fetch(9, [("t", indexes)], stable=stable)
    found = history.shard.fetch_plain(history.committed, fetch.plain)
    if found is None:
        return None
    assert found.answer.body == history.answer(fetch)
    return [one.committed_offset for one in found.answer.decoded(9).groups[0].topics[0].partitions]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ([2], [40]),
        ([0, 1], [30, 31]),
        ([1], [31]),
        ([4, 3], [21, 20]),
        ([0, 2], [30, 40]),
        ([5, 3, 6], [10, 20, -1]),
        ([2, 5], [40, 10]),
    ],
)
def test_the_newest_commit_of_a_partition_counts(asked: list[int], expected: list[int]) -> None:
    """Nothing is read between the commits.

    One that has all partitions that are asked for is enough; or none; or several are needed.
    """
    history = History()
    for indexes, offset in (([0, 5, 2], 9), ([3, 4], 20), ([0, 1], 30), ([2], 40)):
        history.rows("t", indexes, offset, ZERO_UUID)
    history.durable()

    assert offsets_of(history, asked) == expected


def test_rows_are_read_over_offsets_with_metadata() -> None:
    """Of two partitions, one was committed again in rows, which have no metadata."""
    history = History()
    for index in (2, 6):
        history.single(index, 5, "m")
    history.rows("t", [1, 2], 40, ZERO_UUID)
    history.durable()

    assert offsets_of(history, [2, 6]) == [41, 5]


def test_a_group_that_was_deleted_and_made_again_is_another_one() -> None:
    """As many changes have been made in it."""
    history = History()
    history.single(0, 5, "")
    history.durable()
    fetch = Fetch(9, [("t", [0])], stable=False)
    first = history.shard.fetch_plain(history.committed, fetch.plain)
    assert first is not None
    assert first.again is not None
    history.single(0, None, "")
    assert offsets_of(history, [0]) is None
    assert not first.again(history.committed)
    history.durable()
    assert offsets_of(history, [0]) == [-1]

    history.single(0, 6, "")
    history.durable()

    assert not first.again(history.committed)
    assert offsets_of(history, [0]) == [6]


@pytest.mark.parametrize("result", list(TransactionResult))
def test_a_stable_fetch_waits_for_open_transactions_and_their_ends(result: TransactionResult) -> None:
    """Until the end of the transaction is durable. Others do not."""
    history = History()
    history.rows("t", [0], 5, ZERO_UUID)
    history.durable()
    fetch = Fetch(9, [("t", [0])], stable=True)
    before = history.shard.fetch_plain(history.committed, fetch.plain)
    assert before is not None
    assert before.again is not None
    assert before.again(history.committed)

    history.pend(1, 0)
    assert not before.again(history.committed)
    assert offsets_of(history, [0], stable=True) is None
    history.durable()
    assert offsets_of(history, [0], stable=True) is None
    assert offsets_of(history, [0]) == [5]
    history.finish(1, result)
    assert offsets_of(history, [0], stable=True) is None
    history.durable()

    assert offsets_of(history, [0], stable=True) == [77 if result is TransactionResult.COMMIT else 5]


def test_the_usual_states_are_read_the_short_way() -> None:
    """All is durable, without metadata, and no transaction is open: by rows of the same partitions, of others, and by records."""
    history = History()
    changes: list[tuple[Any, ...]] = [
        ("rows", "t", [0, 1], 5, NEW_ID),
        ("rows", "t", [2, 0, 1], 6, NEW_ID),
        ("rows", "u", [0], 7, ZERO_UUID),
        ("single", 1, 8, ""),
        ("single", 1, None, ""),
    ]
    for name, *arguments in changes:
        getattr(history, name)(*arguments)
        answers = [history.shard.fetch_plain(history.committed, fetch.plain) for fetch in history.fetches]
        history.durable()
        history.check()

        assert not any(answers)
        assert all(fetch.known is not None and fetch.known.again is not None for fetch in history.fetches)
