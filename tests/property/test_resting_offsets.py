"""A store that rests on a checkpoint behaves as one that was loaded whole: reads, writes, reverts, deletions, in any order."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.offsets.block import CommitBlock
from coordinator_server.offsets.commit_topic import DecodedTopic, PlainTopic
from coordinator_server.offsets.group_offsets import GroupOffsets
from coordinator_server.offsets.resting_block import decode_kept, decode_offsets, encode_group, encode_rows, keep
from coordinator_server.offsets.resting_groups import READ_ROWS
from coordinator_server.offsets.store import OffsetStore
from coordinator_server.offsets.values import CommittedRows, OffsetAndMetadata, TopicPartition
from protocol.commit_rows import partitions_of
from protocol.fields import ZERO_UUID
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_commit import OffsetCommitRequestPartition
from tests.support.commit_rows import rows_of
from tests.support.resting import MemoryCheckpoint, Records

GROUPS = ("a", "b", "c", "never")
POSITIONS = (("t", 0), ("t", 1), ("u", 0))
State = dict[str, dict[TopicPartition, OffsetAndMetadata]]


class Two:
    """The same history in a store that was loaded whole and in one that rests. ``last`` are commits that a start reads as rows."""

    def __init__(self, early: Records, tail: Records, damaged: set[str], last: list[tuple[str, list[int]]]) -> None:
        self.registries = [SnapshotRegistry(), SnapshotRegistry()]
        self.stores = [OffsetStore(registry) for registry in self.registries]
        self.end = len(early) + len(tail)
        self.committed = self.end
        self.stores[1].use_checkpoint(MemoryCheckpoint(early, damaged))
        for offset, key, value in early:
            self.stores[0].replay(offset, key, value)
        for offset, key, value in tail:
            for store in self.stores:
                store.replay(offset, key, value)
        for group_id, partitions in last:
            self._commit(group_id, partitions, is_plain=True)
        self.committed = self.end

    def at_once(self, most: int) -> None:
        """A group of more offsets is changed without reading them."""
        resting = self.stores[1]._resting
        assert resting is not None
        resting.at_once = most

    def apply(self, operation: tuple[Any, ...]) -> None:
        """``("write", rows)`` is ``write(rows)``."""
        getattr(self, operation[0])(*operation[1:])

    def write(self, rows: list[tuple[OffsetCommitKey, OffsetCommitValue | None]]) -> None:
        self._begin()
        for key, value in rows:
            for store in self.stores:
                store.replay(self.end, key, value)
            self.end += 1

    def commit(self, group_id: str, partitions: list[int], is_plain: bool) -> None:
        self._begin()
        self._commit(group_id, partitions, is_plain)

    def _commit(self, group_id: str, partitions: list[int], is_plain: bool) -> None:
        rows = [OffsetCommitRequestPartition(each, each) for each in partitions]
        as_bytes = rows_of(rows)
        plain = PlainTopic(group_id, "t", ZERO_UUID, partitions_of(as_bytes))
        decoded = DecodedTopic(group_id, "t", ZERO_UUID, len(rows))
        for store in self.stores:
            if is_plain:
                CommitBlock(store, group_id, 5, [plain], [as_bytes]).replay(self.end)
            else:
                CommitBlock(store, group_id, 5, [decoded], [rows]).replay(self.end)
        self.end += len(partitions)

    def durable(self) -> None:
        self.committed = self.end
        for registry in self.registries:
            registry.delete_up_to(self.end)

    def fail(self) -> None:
        self.end = self.committed
        for registry in self.registries:
            registry.revert_to(self.committed)

    def read(self, group_id: str) -> None:
        whole, resting = self.stores
        for at in (self.committed, LATEST):
            assert items(whole, group_id, at) == items(resting, group_id, at)
        assert (group_id in whole) == (group_id in resting)
        assert whole.find(group_id, ("t", 1)) == resting.find(group_id, ("t", 1))

    def prepare(self, group_id: str) -> None:
        """A part of a read in steps: no read finds anything else after it."""
        for store in self.stores:
            store.prepare(group_id, 1)

    def rest(self, group_id: str, before_ms: int) -> None:
        """No read finds anything else after it, and no failed write either."""
        self.stores[1].rest(group_id, before_ms)

    def list(self) -> None:
        whole, resting = self.stores
        for at in (self.committed, LATEST):
            assert whole_state(whole, at) == whole_state(resting, at)

    def _begin(self) -> None:
        for registry in self.registries:
            registry.snapshot(self.end)


def items(store: OffsetStore, group_id: str, at: int) -> dict[TopicPartition, OffsetAndMetadata] | None:
    offsets = store.of_group_at(group_id, at)
    if offsets is None:
        return None
    found = dict(offsets.items_at(at))
    assert offsets.copy_at(at) == found
    assert store.count(group_id) >= len(found) or at != LATEST
    return found


def whole_state(store: OffsetStore, at: int) -> State:
    """Every group, each told once."""
    groups = list(store.groups_at(at))
    assert len(groups) == len(set(groups))
    return {group_id: items(store, group_id, at) or {} for group_id in groups}


keys = st.builds(lambda group, position: OffsetCommitKey(group, *position), st.sampled_from(GROUPS), st.sampled_from(POSITIONS))
values = st.one_of(
    st.none(),
    st.builds(OffsetCommitValue, st.integers(0, 9), st.integers(-1, 2), st.sampled_from(("", "note")), st.integers(0, 3)),
)
rows = st.lists(st.tuples(keys, values), min_size=1, max_size=6)
parts = st.lists(st.integers(0, 3), min_size=1, max_size=4, unique=True)
operations = st.one_of(
    st.tuples(st.just("write"), rows),
    st.tuples(
        st.just("commit"),
        st.sampled_from(GROUPS),
        parts,
        st.booleans(),
    ),
    st.tuples(st.sampled_from(("durable", "fail", "list"))),
    st.tuples(st.sampled_from(("read", "prepare")), st.sampled_from(GROUPS)),
    st.tuples(st.just("rest"), st.sampled_from(GROUPS), st.sampled_from((3, 100))),
)


def numbered(found: list[tuple[OffsetCommitKey, OffsetCommitValue | None]], start: int) -> Records:
    return [(start + index, key, value) for index, (key, value) in enumerate(found)]


committed = st.builds(
    OffsetAndMetadata,
    st.integers(-1, 2**63 - 1),
    st.integers(-1, 2**31 - 1),
    st.text(max_size=4),
    st.integers(-1, 2**63 - 1),
    st.integers(0, 2**63 - 1),
    st.integers(-1, 2**63 - 1),
    st.sampled_from((bytes(16), bytes(range(16)))),
)
groups = st.dictionaries(st.tuples(st.text(max_size=3), st.integers(-(2**31), 2**31 - 1)), committed, min_size=1, max_size=12)

commits = st.lists(
    st.tuples(
        st.sampled_from(("t", "u")),
        st.sampled_from((ZERO_UUID, bytes(range(16)))),
        st.lists(st.integers(0, 5), min_size=1, max_size=4),
    ),
    min_size=1,
    max_size=4,
)


@given(st.one_of(st.none(), groups), commits)
def test_commits_come_to_rest_as_the_offsets_that_they_are(
    before: dict[TopicPartition, OffsetAndMetadata] | None, made: list[tuple[str, bytes, list[int]]]
) -> None:
    """Commits in rows, some over others, some of a partition twice; over offsets that rested before and are not decoded."""
    registry = SnapshotRegistry()
    stores = []
    for _ in range(2):
        unread = None if before is None else keep(encode_group(before.items(), is_kept=True))
        offsets = GroupOffsets(registry, unread, len(before or ()))
        for number, (topic, topic_id, partitions) in enumerate(made):
            rows = rows_of([OffsetCommitRequestPartition(each, number) for each in partitions])
            offsets.put_rows((topic, partitions_of(rows)), CommittedRows(100 * number, number, topic_id, rows))
        stores.append(offsets)

    found, _ = stores[0].at_rest()

    assert dict(decode_kept(keep(found))) == dict(stores[1].items())
    assert found == encode_group(stores[1].items(), is_kept=True)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=5, unique=True),
    st.lists(st.integers(0, 9), min_size=1, max_size=5, unique=True),
)
def test_only_rows_that_replace_all_offsets_come_to_rest_without_them(first: list[int], second: list[int]) -> None:
    """Whatever the order of the partitions is."""
    resting = [rows_of([OffsetCommitRequestPartition(each, 1) for each in partitions]) for partitions in (first, second)]
    kept = encode_rows([("t", CommittedRows(0, 0, ZERO_UUID, resting[0]))])
    assert kept is not None
    offsets = GroupOffsets(SnapshotRegistry(), keep(kept), kept.rows)
    offsets.put_rows(("t", partitions_of(resting[1])), CommittedRows(9, 9, ZERO_UUID, resting[1]))

    assert offsets.at_rest()[1] == (set(first) == set(second))


@settings(max_examples=400, deadline=None)
@given(
    st.tuples(
        st.one_of(st.just([]), rows),
        st.one_of(st.just([]), rows),
        st.lists(st.tuples(st.sampled_from(GROUPS), parts), max_size=3),
    ),
    st.lists(operations, max_size=25),
    st.sets(st.sampled_from(GROUPS)),
    st.booleans(),
    st.sampled_from((0, 2, 1_000)),
)
def test_resting_offsets_answer_as_loaded_ones(
    loaded: tuple[list[Any], list[Any], list[Any]],
    history: list[tuple[Any, ...]],
    damaged: set[str],
    remembers: bool,
    at_once: int,
) -> None:
    """Whatever is written, reverted, read or comes to rest first, damaged blocks or not, with and without what was read lately,
    and whether all of a group is read for a change or not.
    """
    early, tail, last = loaded
    two = Two(numbered(early, 0), numbered(tail, len(early)), damaged, last)
    two.at_once(at_once)
    if not remembers:
        resting = two.stores[1]._resting
        assert resting is not None
        resting._read = Forgetful()
    for operation in history:
        two.apply(operation)
    two.apply(("list",))


class Forgetful(dict[str, Any]):
    """Remembers nothing."""

    def __setitem__(self, key: str, value: Any) -> None:
        """Forgets."""


def test_what_was_read_is_forgotten_in_time() -> None:
    """Reading all groups one after another keeps a bounded number of them, and makes none of them part of the state."""
    early: Records = [
        (number, OffsetCommitKey(f"g{number}", "t", 0), OffsetCommitValue(number)) for number in range(2 * READ_ROWS)
    ]
    store = OffsetStore(SnapshotRegistry())
    store.use_checkpoint(MemoryCheckpoint(early, set()))

    for number in range(2 * READ_ROWS):
        assert items(store, f"g{number}", LATEST) == {("t", 0): OffsetAndMetadata(number, -1, "", 0, number)}

    assert store._resting is not None
    assert len(store._resting._read) <= READ_ROWS
    assert not store.by_group


@given(groups, st.randoms(), st.booleans())
def test_a_block_decodes_to_its_offsets(offsets: dict[TopicPartition, OffsetAndMetadata], random: Any, is_kept: bool) -> None:
    """All of it; the order makes no difference to its bytes; what is said beside it bounds when anything expires."""
    found = encode_group(offsets.items(), is_kept=is_kept)
    shuffled = list(offsets.items())
    random.shuffle(shuffled)

    assert dict(decode_offsets(found.block)) == offsets
    assert encode_group(shuffled, is_kept=is_kept) == found
    assert found.rows == len(offsets)
    assert found.bounds.oldest_commit_ms == min(value.commit_timestamp_ms for value in offsets.values())
    assert found.bounds.least_expire_ms == min((e for v in offsets.values() if (e := v.expire_timestamp_ms) != -1), default=-1)
