"""Timeline containers: reads as of an epoch, and the way back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict, TimelineValue


def test_a_value_can_be_read_as_of_each_open_snapshot() -> None:
    registry = SnapshotRegistry()
    state: TimelineDict[str, int] = TimelineDict(registry)
    state["a"] = 1
    registry.snapshot(10)
    state["a"] = 2
    registry.snapshot(20)
    state["a"] = 3

    assert [state.get_at("a", 10), state.get_at("a", 20), state.get_at("a", 30), state["a"]] == [1, 2, 3, 3]


def test_a_change_without_a_key_is_noted() -> None:
    """What belongs to a container may change where the container does not: whoever asks whether it has is told."""
    registry = SnapshotRegistry()
    state: TimelineDict[str, int] = TimelineDict(registry)
    told: list[object] = []
    registry.on_committed = told.extend
    state.note()
    registry.snapshot(10)
    before = state.is_as_of(10)
    state.note()
    state["a"] = 1

    assert (before, state.is_as_of(10)) == (True, False)
    assert dict(state.items_at(10)) == {}
    registry.delete_up_to(11)
    assert told == [state]


def test_a_key_that_came_later_is_absent_before() -> None:
    registry = SnapshotRegistry()
    state: TimelineDict[str, int] = TimelineDict(registry)
    registry.snapshot(10)
    state["a"] = 1

    assert state.get_at("a", 10, default=-1) == -1
    assert list(state.items_at(10)) == []


def test_a_deleted_key_is_there_before() -> None:
    registry = SnapshotRegistry()
    state: TimelineDict[str, int] = TimelineDict(registry)
    state["a"] = state["b"] = 1
    registry.snapshot(10)
    del state["a"]
    state.pop("b")

    assert dict(state) == {}
    assert dict(state.items_at(10)) == {"a": 1, "b": 1}


def test_revert_takes_back_every_container_of_the_registry() -> None:
    registry = SnapshotRegistry()
    state: TimelineDict[str, int] = TimelineDict(registry)
    count = TimelineValue(registry, 0)
    registry.snapshot(10)
    state["a"] = 1
    count.set(5)
    registry.snapshot(20)
    state["a"] = 2
    count.set(6)

    registry.revert_to(20)
    assert (dict(state), count.value) == ({"a": 1}, 5)
    registry.revert_to(10)
    assert (dict(state), count.value) == ({}, 0)
    assert registry.epochs == []


def test_deleted_snapshots_no_longer_cost_a_write() -> None:
    registry = SnapshotRegistry()
    registry.snapshot(10)
    registry.snapshot(20)

    registry.delete_up_to(20)
    assert registry.epochs == [20]
    registry.delete_up_to(21)
    assert registry.newest is None


def test_snapshots_only_go_forward() -> None:
    registry = SnapshotRegistry()
    registry.snapshot(10)
    registry.snapshot(10)

    assert registry.epochs == [10]
    with pytest.raises(ValueError, match="older than the newest"):
        registry.snapshot(9)


@pytest.mark.parametrize(
    "mutate",
    [
        lambda d: d.clear(),
        lambda d: d.update(a=1),
        lambda d: d.setdefault("a", 1),
        lambda d: d.popitem(),
        lambda d: d.__ior__({"a": 1}),
    ],
)
def test_changes_that_no_snapshot_would_note_are_refused(mutate: Any) -> None:
    with pytest.raises(TypeError):
        mutate(TimelineDict(SnapshotRegistry()))


def test_one_value_can_be_read_as_of_each_open_snapshot() -> None:
    registry = SnapshotRegistry()
    count = TimelineValue(registry, 1)
    registry.snapshot(10)
    count.set(2)
    count.set(3)
    registry.snapshot(20)
    registry.snapshot(30)
    count.set(4)

    assert [count.get_at(10), count.get_at(20), count.get_at(30), count.get_at(31)] == [1, 3, 3, 4]


def test_an_epoch_behind_every_snapshot_is_the_present() -> None:
    registry = SnapshotRegistry()
    state: TimelineDict[str, int] = TimelineDict(registry)
    count = TimelineValue(registry, 0)
    registry.snapshot(10)
    state["a"] = 1
    count.set(1)

    assert (state.get_at("a", 11), dict(state.items_at(11)), count.get_at(11)) == (1, {"a": 1}, 1)


def test_state_goes_on_from_where_it_was_reverted_to() -> None:
    registry = SnapshotRegistry()
    state: TimelineDict[str, int] = TimelineDict(registry)
    registry.snapshot(10)
    state["a"] = 1
    registry.revert_to(10)
    registry.snapshot(10)
    state["a"] = 2
    registry.snapshot(11)
    state["a"] = 3

    assert [state.get_at("a", 10), state.get_at("a", 11), state["a"]] == [None, 2, 3]
    registry.revert_to(10)
    assert dict(state) == {}


def test_a_container_inside_another_is_reverted_with_it() -> None:
    """Also one that was made, filled and dropped since the snapshot, and one that took the place of another."""
    registry = SnapshotRegistry()
    groups: TimelineDict[str, TimelineDict[str, int]] = TimelineDict(registry)
    first = groups["g"] = TimelineDict(registry)
    first["a"] = 1
    registry.snapshot(10)
    first["a"] = 2
    del groups["g"]
    groups["g"] = TimelineDict(registry)
    groups["g"]["b"] = 3
    groups["new"] = TimelineDict(registry)
    groups["new"]["c"] = 4

    before = groups.get_at("g", 10)
    assert before is first
    assert before.get_at("a", 10) == 1
    registry.revert_to(10)
    assert {name: dict(group) for name, group in groups.items()} == {"g": {"a": 1}}


def test_what_is_deleted_up_to_an_epoch_cannot_be_reverted_to_any_more() -> None:
    registry = SnapshotRegistry()
    state: TimelineDict[str, int] = TimelineDict(registry)
    registry.snapshot(10)
    state["a"] = 1
    registry.snapshot(20)
    state["a"] = 2
    registry.delete_up_to(20)
    registry.revert_to(10)

    assert dict(state) == {"a": 1}


def test_without_an_open_snapshot_nothing_is_noted() -> None:
    registry = SnapshotRegistry()
    state: TimelineDict[str, int] = TimelineDict(registry)
    state["a"] = 1
    registry.snapshot(10)
    registry.delete_up_to(11)
    state["a"] = 2
    registry.snapshot(20)
    registry.revert_to(20)

    assert dict(state) == {"a": 2}


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.integers(0, 4), st.integers()),
        st.tuples(st.just("delete"), st.integers(0, 4)),
        st.just(("snapshot",)),
        st.tuples(st.just("revert"), st.integers(0, 9)),
        st.tuples(st.just("forget"), st.integers(0, 9)),
    ),
    max_size=60,
)


@given(STEPS)
def test_equal_to_copies_of_the_whole_state(steps: list[tuple[Any, ...]]) -> None:
    registry = SnapshotRegistry()
    state: TimelineDict[int, int] = TimelineDict(registry)
    copies: dict[int, dict[int, int]] = {}
    epoch = 0
    for name, *args in steps:
        match name:
            case "set":
                state[args[0]] = args[1]
            case "delete":
                state.pop(args[0], None)
            case "snapshot":
                epoch += 1
                registry.snapshot(epoch)
                copies[epoch] = dict(state)
            case "revert" if copies:
                target = sorted(copies)[args[0] % len(copies)]
                registry.revert_to(target)
                assert dict(state) == copies[target]
                copies = {at: copy for at, copy in copies.items() if at < target}
            case "forget" if copies:
                target = sorted(copies)[args[0] % len(copies)]
                registry.delete_up_to(target)
                copies = {at: copy for at, copy in copies.items() if at >= target}
        for at, copy in copies.items():
            assert dict(state.items_at(at)) == state.copy_at(at) == copy
            assert sorted(state.keys_at(at)) == sorted(copy)
            assert all(state.get_at(key, at) == copy.get(key) for key in range(5))
            assert not state.is_as_of(at) or dict(state) == copy


def test_it_knows_whether_it_has_changed() -> None:
    """Another container's changes are none of its business."""
    registry = SnapshotRegistry()
    one: TimelineDict[str, int] = TimelineDict(registry)
    other: TimelineDict[str, int] = TimelineDict(registry)
    registry.snapshot(10)
    other["a"] = 1
    registry.snapshot(20)
    one["a"] = 1

    assert [one.is_as_of(at) for at in (10, 20, 30)] == [False, False, True]
    assert [other.is_as_of(at) for at in (10, 20, 30)] == [False, True, True]


def test_what_is_filled_in_was_there_all_the_time() -> None:
    """For every open snapshot, and after a revert."""
    registry = SnapshotRegistry()
    state: TimelineDict[str, int] = TimelineDict(registry)
    registry.snapshot(10)
    state.fill([("a", 1), ("b", 2)])
    registry.snapshot(20)
    del state["a"]

    assert dict(state.items_at(10)) == dict(state.items_at(20)) == {"a": 1, "b": 2}
    registry.revert_to(10)
    assert state == {"a": 1, "b": 2}
