"""The sticky task assignor balances active and standby tasks, and moves few of them."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from coordinator_server.group.assign.java_queue import JavaQueue
from coordinator_server.group.assign.spec import CannotAssign
from coordinator_server.group.assign.streams_sticky import assign_sticky
from coordinator_server.group.assign.tasks import NO_TASKS, SubtopologyTasks, TaskAssignment, TaskGroup, TaskMember

A, B = "a", "b"


def group(
    processes: dict[str, str],
    tasks: dict[str, int],
    targets: dict[str, TaskAssignment] | None = None,
    replicas: int = 0,
    stateful: str = "ab",
) -> TaskGroup:
    """A group. ``processes``: the process of each member. ``tasks``: their number by subtopology."""
    members = [TaskMember(each, process, (targets or {}).get(each, NO_TASKS)) for each, process in processes.items()]
    subtopologies = [SubtopologyTasks(each, count, each in stateful) for each, count in sorted(tasks.items())]
    return TaskGroup(members, subtopologies, replicas)


def test_tasks_go_to_the_least_loaded_process() -> None:
    """A process with two members takes two of three tasks, one for each member."""
    found = assign_sticky(group({"m1": "p", "m2": "q", "m3": "q"}, {A: 3}))

    assert sorted(len(target.active.get(A, [])) for target in found.values()) == [1, 1, 1]


def test_members_keep_their_active_tasks() -> None:
    targets = {"m1": TaskAssignment({A: [0, 3]}), "m2": TaskAssignment({A: [1, 2]})}

    assert assign_sticky(group({"m1": "p", "m2": "q"}, {A: 4}, targets)) == targets


def test_a_new_member_takes_what_exceeds_the_share() -> None:
    targets = {"m1": TaskAssignment({A: [0, 1, 2, 3]})}

    found = assign_sticky(group({"m1": "p", "m2": "q"}, {A: 4}, targets))

    assert found == {"m1": TaskAssignment({A: [0, 1]}), "m2": TaskAssignment({A: [2, 3]})}


def test_a_task_goes_to_the_member_that_has_it_as_standby() -> None:
    """So it goes on with the state that is there."""
    targets = {"m1": TaskAssignment({}, {A: [1]}), "m2": TaskAssignment({}, {A: [0]})}

    found = assign_sticky(group({"m1": "p", "m2": "q"}, {A: 2}, targets))

    assert found == {"m1": TaskAssignment({A: [1]}), "m2": TaskAssignment({A: [0]})}


def test_a_process_has_a_task_once() -> None:
    """The second member of the only process gets no standby task for what the first one has."""
    found = assign_sticky(group({"m1": "p", "m2": "p"}, {A: 1}, replicas=1))

    assert Counter(len(target.active) for target in found.values()) == {0: 1, 1: 1}
    assert all(not target.standby for target in found.values())


def test_tasks_without_state_have_no_standby() -> None:
    found = assign_sticky(group({"m1": "p", "m2": "q"}, {A: 1, B: 1}, replicas=1, stateful=B))

    assert [list(target.standby) for target in found.values() if target.standby] == [[B]]


def test_standby_tasks_stay_where_they_are() -> None:
    targets = {"m1": TaskAssignment({A: [0]}), "m2": TaskAssignment({}, {A: [0]}), "m3": NO_TASKS}

    assert assign_sticky(group({"m1": "p", "m2": "q", "m3": "r"}, {A: 1}, targets, replicas=1)) == targets


def test_a_member_that_loses_a_task_keeps_it_as_standby() -> None:
    """Its share is one active task, so the other one moves; the replica of what moved is where its state is."""
    targets = {"m1": TaskAssignment({A: [0, 1]}), "m2": NO_TASKS}

    found = assign_sticky(group({"m1": "p", "m2": "q"}, {A: 2}, targets, replicas=1))

    assert found == {"m1": TaskAssignment({A: [0]}, {A: [1]}), "m2": TaskAssignment({A: [1]}, {A: [0]})}


def test_subtopologies_that_are_gone_are_forgotten() -> None:
    targets = {"m1": TaskAssignment({"gone": [0], A: [0, 7]}, {"gone": [1]})}

    assert assign_sticky(group({"m1": "p"}, {A: 1}, targets)) == {"m1": TaskAssignment({A: [0]})}


def test_tasks_need_a_member() -> None:
    with pytest.raises(CannotAssign, match=r"No process available to assign active task b_0\."):
        assign_sticky(group({}, {A: 0, B: 2}))


def test_no_tasks_need_none() -> None:
    assert assign_sticky(group({}, {})) == {}


@pytest.mark.parametrize("seed", range(40))
def test_each_task_has_one_active_member_and_replicas_in_other_processes(seed: int) -> None:
    """Through random changes of members, tasks and replicas. With enough processes no replica is missing."""
    rng = random.Random(seed)
    processes: dict[str, str] = {}
    targets: dict[str, TaskAssignment] = {}
    for number in range(12):
        processes[f"m{number}"] = f"p{rng.randint(0, 4)}"
        for _ in range(rng.randint(0, 1)):
            gone = rng.choice(list(processes))
            if len(processes) > 1:
                del processes[gone]
                targets.pop(gone, None)
        tasks, replicas = {A: rng.randint(1, 9), B: rng.randint(0, 9)}, rng.randint(0, 2)

        targets = assign_sticky(group(processes, tasks, targets, replicas, stateful=A))

        active = [(process, task) for process, target in _by_process(processes, targets) for task in _tasks(target.active)]
        standby = [(process, task) for process, target in _by_process(processes, targets) for task in _tasks(target.standby)]
        assert sorted(task for _, task in active) == sorted((name, i) for name, count in tasks.items() for i in range(count))
        assert len({*active, *standby}) == len(active) + len(standby)
        replicated = min(replicas, len(set(processes.values())) - 1)
        assert Counter(task for _, task in standby) == Counter({(A, i): replicated for i in range(tasks[A]) if replicated})
        assert all(list(kind) == sorted(kind) for target in targets.values() for kind in (target.active, target.standby))


def test_a_first_assignment_is_balanced_by_process() -> None:
    """A process of three members gets three times as many tasks as one with one."""
    processes = {**{f"m{i}": "large" for i in range(3)}, "n": "small"}

    found = assign_sticky(group(processes, {A: 40}))

    assert Counter({each: len(target.active[A]) for each, target in found.items()}) == dict.fromkeys(processes, 10)


class Element:
    def __init__(self, name: str, load: float) -> None:
        self.name, self.load = name, load


def test_a_queue_yields_equal_elements_in_javas_order() -> None:
    """As java.util.PriorityQueue does: the last element of the heap takes the place of the first."""
    queue = JavaQueue([Element(name, load) for name, load in zip("abcdefg", [1, 1, 1, 0, 1, 0, 1], strict=True)])

    assert "".join(queue.poll().name for _ in range(7)) == "dfcebga"
    assert not queue


def _by_process(processes: dict[str, str], targets: dict[str, TaskAssignment]) -> list[tuple[str, TaskAssignment]]:
    assert targets.keys() == processes.keys()
    return [(processes[each], target) for each, target in targets.items()]


def _tasks(tasks: dict[str, list[int]]) -> list[tuple[str, int]]:
    return [(name, partition) for name, partitions in tasks.items() for partition in partitions]
