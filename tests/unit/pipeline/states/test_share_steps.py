"""The steps of share partitions against a naive model, record by record: what is unsettled, how often delivered, and since when."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator_server.pipeline.states.share_steps import ShareStepKind, ShareSteps, Unsettled, counts_of, unsettled_after
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.share_records import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue, StateBatch

KEY = ("g", b"0123456789abcdef", 0)

batches = st.lists(
    st.builds(
        lambda first, size, state, count: StateBatch(first, first + size, state, count),
        st.integers(0, 20),
        st.integers(0, 6),
        st.sampled_from((0, 2, 4)),
        st.integers(1, 3),
    ),
    max_size=3,
)
updates = st.builds(
    lambda start, found: CoordinatorRecord(ShareUpdateKey(*KEY), ShareUpdateValue(0, 0, start, 0, found)),
    st.integers(-1, 12),
    batches,
)
snapshots = st.builds(
    lambda epoch, start: CoordinatorRecord(ShareSnapshotKey(*KEY), ShareSnapshotValue(0, epoch, 0, start)),
    st.integers(1, 2),
    st.integers(0, 5),
)
records = st.lists(
    st.one_of(updates, updates, updates, snapshots, st.just(CoordinatorRecord(ShareSnapshotKey(*KEY), None))), max_size=20
)


@settings(max_examples=60)
@given(records)
def test_unsettled_offsets_have_deliveries_and_times(log: list[CoordinatorRecord]) -> None:
    """Offset by offset: the deliveries of the state, the time of the first step that it is in since,
    and that of its last delivery.
    """
    steps, found = ShareSteps(), list[Unsettled]()
    model: dict[int, tuple[int, int, int]] = {}
    for at, record in enumerate(log):
        step = steps.add(at, record)
        assert step is not None
        found = unsettled_after(found, step, at)

        start = -1 if step.after is None else step.after.start_offset
        states: dict[int, tuple[int, int]] = {}
        for each in () if step.after is None else step.after.state_batches:
            for offset in range(max(each.first_offset, start), each.last_offset + 1):
                states[offset] = max((each.delivery_count, each.delivery_state), states.get(offset, (0, 0)))
        before = {} if step.kind is ShareStepKind.INITIALIZED else model
        model = {}
        for offset, (count, delivery_state) in sorted(states.items()):
            if delivery_state == 0:
                known, since, last = before.get(offset, (count, at, at))
                model[offset] = (count, since, last if known == count else at)
        assert {offset: each[2:5] for each in found for offset in range(each.first_offset, each.last_offset + 1)} == model
        assert all(one.last_offset < other.first_offset for one, other in pairwise(found))
        counts = counts_of(step.after)
        assert (counts.in_flight, counts.in_flight + counts.acknowledged + counts.archived) == (len(model), len(states))
        assert counts.most_deliveries == max((deliveries for deliveries, _, _ in model.values()), default=0)


def test_kinds_of_steps() -> None:
    """A snapshot initializes if it is the first one or has a new state epoch; of a layer it is what was kept."""

    def snapshot(epoch: int) -> CoordinatorRecord:
        return CoordinatorRecord(ShareSnapshotKey(*KEY), ShareSnapshotValue(0, epoch))

    steps = ShareSteps()
    tombstone, nothing = CoordinatorRecord(ShareSnapshotKey(*KEY), None), CoordinatorRecord(ShareUpdateKey(*KEY), None)
    log = [(snapshot(1), True), (snapshot(1), False), (snapshot(2), False), (nothing, False), (tombstone, True)]
    found = [steps.add(at, record, is_kept=is_kept) for at, (record, is_kept) in enumerate(log)]

    assert [each and each.kind for each in found] == [
        ShareStepKind.KEPT,
        ShareStepKind.WRITTEN,
        ShareStepKind.INITIALIZED,
        None,
        ShareStepKind.DELETED,
    ]
