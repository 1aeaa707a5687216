"""Share state against naive models: of combined batches record by record, and of a folded log that is read on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from coordinator_server.share.fold import ShareFold
from coordinator_server.share.shard import ShareShard
from coordinator_server.share.state_batches import NO_START_OFFSET, StateBatch, combine
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages import share_records
from protocol.messages.share_records import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue

Numbered = tuple[int, CoordinatorRecord]

offsets = st.integers(0, 25)
state_batches = st.builds(
    lambda first, size, count, state: StateBatch(first, first + size, count, state),
    offsets,
    st.integers(0, 7),
    st.integers(1, 3),
    st.sampled_from((0, 2, 4)),
)


def per_offset(batches: Iterable[StateBatch], start_offset: int) -> dict[int, tuple[int, int]]:
    """The delivery count and state of every record: the largest of all that batches say."""
    said: dict[int, tuple[int, int]] = {}
    for first, last, count, state in batches:
        for offset in range(first, last + 1):
            if start_offset == NO_START_OFFSET or offset >= start_offset:
                said[offset] = max((count, state), said.get(offset, (0, 0)))
    return said


@given(st.lists(state_batches, max_size=12), st.one_of(st.just(NO_START_OFFSET), offsets))
def test_combined_batches_say_of_each_record_the_most_that_any_said(batches: list[StateBatch], start_offset: int) -> None:
    """In order, without an overlap; combined once more they are the same records."""
    combined = combine(batches, start_offset)

    assert per_offset(combined, NO_START_OFFSET) == per_offset(batches, start_offset)
    assert all(one.last_offset < other.first_offset for one, other in pairwise(combined))
    assert per_offset(combine(combined, start_offset), NO_START_OFFSET) == per_offset(combined, NO_START_OFFSET)
    assert combine(reversed(batches), start_offset) == combined


keys = st.tuples(st.sampled_from(("g", "h")), st.just(b"0123456789abcdef"), st.integers(0, 1))
recorded = st.lists(state_batches, max_size=3).map(
    lambda batches: [share_records.StateBatch(first, last, state, count) for first, last, count, state in batches]
)
snapshots = st.builds(
    ShareSnapshotValue,
    snapshot_epoch=st.integers(0, 3),
    state_epoch=st.integers(0, 3),
    leader_epoch=st.integers(0, 3),
    start_offset=st.integers(-1, 9),
    delivery_complete_count=st.integers(-1, 9),
    create_timestamp=st.integers(0, 9),
    write_timestamp=st.integers(0, 9),
    state_batches=recorded,
)
updates = st.builds(
    ShareUpdateValue,
    snapshot_epoch=st.integers(0, 3),
    leader_epoch=st.integers(-1, 3),
    start_offset=st.integers(-1, 15),
    delivery_complete_count=st.integers(-1, 9),
    state_batches=recorded,
)
records = st.one_of(
    st.builds(lambda key, value: CoordinatorRecord(ShareUpdateKey(*key), value), keys, updates),
    st.builds(lambda key, value: CoordinatorRecord(ShareUpdateKey(*key), value), keys, updates),
    st.builds(lambda key, value: CoordinatorRecord(ShareSnapshotKey(*key), value), keys, st.one_of(snapshots, st.none())),
)


def replayed(log: Sequence[Numbered]) -> tuple[ShareShard, list[Numbered]]:
    """The state that a log comes to, and what a fold makes of the log."""
    shard = ShareShard(registry=SnapshotRegistry())
    fold = ShareFold(shard)
    for offset, record in log:
        fold.add(offset, record)
    return shard, sorted(fold.records(), key=lambda item: item[0])


@given(st.lists(records, max_size=30), st.data())
def test_a_folded_log_comes_to_the_same_state(log: list[CoordinatorRecord], data: st.DataObject) -> None:
    """And stands at offsets of the log, each once.

    Folded in the middle and read on, it comes to what the whole log is folded to.
    """
    numbered = list(enumerate(log))
    shard, folded = replayed(numbered)

    assert replayed(folded)[0].digest(LATEST) == shard.digest(LATEST)
    assert replayed(folded)[1] == folded
    assert len({offset for offset, _ in folded}) == len(folded)
    assert {offset for offset, _ in folded} <= set(range(len(log)))

    cut = data.draw(st.integers(0, len(log)))
    layer = replayed(numbered[:cut])[1]
    assert replayed([*layer, *numbered[cut:]])[0].digest(LATEST) == shard.digest(LATEST)
    assert replayed([*layer, *numbered[cut:]])[1] == folded


def test_a_snapshot_and_two_updates_become_one_snapshot() -> None:
    """At the offset of the last; the last record of each key would have lost an update."""
    key = ("g", b"0123456789abcdef", 0)
    added = [[share_records.StateBatch(first, first + 4, 0, 1)] for first in (0, 10)]
    log = [
        CoordinatorRecord(ShareSnapshotKey(*key), ShareSnapshotValue(leader_epoch=1, start_offset=0)),
        *(CoordinatorRecord(ShareUpdateKey(*key), ShareUpdateValue(leader_epoch=1, state_batches=each)) for each in added),
    ]

    _, [(offset, record)] = replayed(list(enumerate(log)))

    assert (offset, type(record.key)) == (2, ShareSnapshotKey)
    assert isinstance(record.value, ShareSnapshotValue)
    assert record.value.state_batches == [*added[0], *added[1]]
