"""Share state against a naive model that knows each record by itself: random operations, reverts,
and what a replay of the log comes to.

``SHARE_EXAMPLES=100000`` draws more of them (``make torture``).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator_server.machine.timeline import LATEST
from coordinator_server.share.state_batches import NO_START_OFFSET, StateBatch, combine
from coordinator_server.share.state_rows import batches_of, combine_rows, merge_rows
from protocol.error_codes import ErrorCode
from protocol.share_state_rows import rows_of
from tests.support.share_shard import KEY, ShareSite, refusal

EXAMPLES: Final = int(os.environ.get("SHARE_EXAMPLES", "60"))
"""Of the combiner; a tenth of them are sequences of operations."""

offsets = st.integers(0, 25)
# Some end before they begin.
batches = st.builds(
    lambda first, size, count, state: StateBatch(first, first + size, count, state),
    offsets,
    st.integers(-4, 7),
    st.integers(1, 3),
    st.sampled_from((0, 2, 4)),
)
some = st.lists(batches, max_size=6)
starts = st.one_of(st.just(NO_START_OFFSET), offsets)


def per_offset(found: Sequence[StateBatch], start_offset: int = NO_START_OFFSET) -> dict[int, tuple[int, int]]:
    """The delivery count and state of every record: the largest of all that batches say."""
    said: dict[int, tuple[int, int]] = {}
    for first, last, count, state in found:
        for offset in range(max(first, start_offset), last + 1):
            said[offset] = max((count, state), said.get(offset, (0, 0)))
    return said


@settings(max_examples=EXAMPLES)
@given(some, some, starts)
def test_batches_combine_as_their_records_do(known: list[StateBatch], new: list[StateBatch], start_offset: int) -> None:
    """Whatever the order. The result is in order, its records are in one batch each, and it is what a second pass makes of it."""
    first = combine(known, NO_START_OFFSET)
    combined = combine([*first, *new], start_offset)

    assert per_offset(combined) == per_offset([*known, *new], start_offset)
    assert list(combined) == sorted(combined)
    full = [each for each in combined if each.first_offset <= each.last_offset]
    assert all(one.last_offset < other.first_offset for one, other in pairwise(full))
    assert combine([*reversed(new), *reversed(first)], start_offset) == combined
    assert per_offset(combine(combined, start_offset)) == per_offset(combined)


kinds = st.lists(st.sampled_from(((1, 0), (1, 2), (1, -3), (2, 0), (2, 4))), max_size=8)


@settings(max_examples=EXAMPLES)
@given(st.integers(0, 3), kinds, kinds, st.integers(0, 3), st.one_of(st.none(), batches), starts)
def test_rows_combine_as_their_batches_do(
    gap: int,
    known: list[tuple[int, int]],
    written: list[tuple[int, int]],
    shift: int,
    other: StateBatch | None,
    start_offset: int,
) -> None:
    """What a leader writes once more, what comes after it, and anything else, in any order."""
    before, after = (
        [StateBatch(first := (place + moved) * (2 + gap), first + 1, *kind) for place, kind in enumerate(drawn)]
        for drawn, moved in ((known, 0), (written, shift))
    )
    if other is not None:
        before.insert(len(before) // 2, other)
        after.append(other._replace(first_offset=other.first_offset - 2))
    for one, new in ((before, after), (after, before), ([], before), (before, after[::-1]), (before, [])):
        assert batches_of(rows_of(one)) == tuple(one)
        assert batches_of(combine_rows(rows_of(one), start_offset)) == combine(one, start_offset)
        merged, combined = merge_rows(rows_of(one), rows_of(new), NO_START_OFFSET), combine([*one, *new], NO_START_OFFSET)
        assert batches_of(merged) == combined
        for later in (after, before):
            merged, combined = merge_rows(merged, rows_of(later), start_offset), combine([*combined, *later], start_offset)
            assert batches_of(merged) == combined


class Step(NamedTuple):
    """An operation, and whether its append fails."""

    operation: str
    batches: list[StateBatch] = []  # noqa: RUF012 - never changed
    epoch: int = 0
    start_offset: int = NO_START_OFFSET
    fails: bool = False


steps = st.one_of(
    st.builds(Step, st.just("write"), some, st.integers(-1, 3), starts, st.booleans()),
    st.builds(Step, st.just("write"), some, st.integers(-1, 1), starts),
    st.builds(Step, st.just("read"), epoch=st.integers(-1, 3), fails=st.booleans()),
    st.builds(
        Step, st.sampled_from(("initialize", "delete")), epoch=st.integers(-1, 2), start_offset=starts, fails=st.booleans()
    ),
)


class Model:
    """One share partition. Fences are the largest epochs since it began, and a write raises none."""

    def __init__(self) -> None:
        self.exists = False
        self.start_offset = NO_START_OFFSET
        self.records: dict[int, tuple[int, int]] = {}
        self.leader_fence = self.state_fence = 0

    def expected(self, step: Step) -> ErrorCode:
        """How an operation is refused."""
        if step.operation == "initialize":
            is_fenced = self.exists and step.epoch not in (-1, max(step.epoch, self.state_fence))
            return ErrorCode.FENCED_STATE_EPOCH if is_fenced else ErrorCode.NONE
        if step.operation == "delete":
            return ErrorCode.NONE
        if not self.exists:
            return ErrorCode.INVALID_REQUEST
        return ErrorCode.FENCED_LEADER_EPOCH if -1 < step.epoch < self.leader_fence or step.epoch < -1 else ErrorCode.NONE

    def take(self, step: Step) -> None:
        if step.operation == "delete":
            self.__init__()  # type: ignore[misc]
        elif step.operation == "initialize":
            fences = (self.leader_fence, self.state_fence) if self.exists else (0, step.epoch)
            self.exists, self.start_offset, self.records = True, step.start_offset, {}
            self.leader_fence, self.state_fence = fences[0], max(fences[1], step.epoch)
        elif step.operation == "read":
            self.leader_fence = max(self.leader_fence, step.epoch)
        else:
            if step.start_offset != NO_START_OFFSET:
                self.start_offset = step.start_offset
            said = per_offset(step.batches, step.start_offset)
            for offset, each in said.items():
                self.records[offset] = max(each, self.records.get(offset, (0, 0)))
            if self.start_offset != NO_START_OFFSET:
                self.records = {offset: each for offset, each in self.records.items() if offset >= self.start_offset}


def run(site: ShareSite, step: Step) -> None:
    match step.operation:
        case "initialize":
            site.initialize(step.epoch, step.start_offset)
        case "delete":
            site.delete()
        case "read":
            site.read(step.epoch)
        case _:
            site.write(*step.batches, state_epoch=-1, leader_epoch=step.epoch, start_offset=step.start_offset)


@settings(max_examples=max(10, EXAMPLES // 10))
@given(st.lists(steps, max_size=25), st.integers(0, 4))
def test_operations_act_as_on_single_records(sequence: list[Step], updates_per_snapshot: int) -> None:
    """Whatever fails leaves nothing. After each step the log comes to the state."""
    site, model = ShareSite(updates_per_snapshot), Model()
    for step in [Step("initialize"), *sequence]:
        before, logged = site.state, len(site.log)
        site.registry.snapshot(logged)
        error = refusal(lambda: run(site, step))  # noqa: B023 - run at once

        assert error is model.expected(step)
        if step.fails:
            site.registry.revert_to(logged)
            del site.log[logged:]
            assert site.state == before
            continue
        site.registry.delete_up_to(logged + 1)
        if error is ErrorCode.NONE:
            model.take(step)
        state = site.state
        assert (state is not None) is model.exists
        if state is not None:
            assert (state.start_offset, per_offset(state.state_batches)) == (model.start_offset, model.records)
            assert (state.highest_leader_epoch, state.highest_state_epoch) == (model.leader_fence, model.state_fence)
        assert site.replayed().share_partition(LATEST, KEY) == state
