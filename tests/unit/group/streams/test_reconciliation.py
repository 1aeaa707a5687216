"""A member's steps towards its target: a table of what it has, what it should have, what it owns, and what comes of it.

The cases are those of Kafka's CurrentAssignmentBuilderTest of streams groups, and some that it has not. ``t1,2@10 s:t4``: the
active tasks 1 and 2 of subtopology t since epoch 10, and its task 4 as standby; ``w:`` is for warm-up tasks. The member is in
process p.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any, NamedTuple

import pytest

from coordinator_server.group.assign.tasks import TaskAssignment
from coordinator_server.group.streams.reconciliation import HeldTasks, MemberState, MemberTasks, TaskGoal, reconcile
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode

STABLE, UNREVOKED, UNRELEASED, UNKNOWN = MemberState
NAMES = {STABLE: "STABLE", UNREVOKED: "UNREVOKED", UNRELEASED: "UNRELEASED"}


def held(text: str) -> HeldTasks:
    kinds: dict[str, dict[str, Any]] = {"": defaultdict(dict), "s": defaultdict(list), "w": defaultdict(list)}
    for kind, name, numbers, epoch in re.findall(r"(?:([sw]):)?([tu])([\d,]+)(?:@(\d+))?", text):
        for partition in map(int, numbers.split(",")):
            if kind:
                kinds[kind][name].append(partition)
            else:
                kinds[kind][name][partition] = int(epoch or 0)
    return HeldTasks(*(dict(kind) for kind in kinds.values()))


def plain(text: str) -> TaskAssignment:
    tasks = held(text)
    return TaskAssignment({name: list(epochs) for name, epochs in tasks.active.items()}, tasks.standby, tasks.warmup)


def text_of(tasks: HeldTasks) -> str:
    parts = []
    for name, epochs in tasks.active.items():
        by_epoch: dict[int, list[int]] = defaultdict(list)
        for partition, epoch in epochs.items():
            by_epoch[epoch].append(partition)
        parts += [f"{name}{','.join(map(str, numbers))}@{epoch}" for epoch, numbers in by_epoch.items()]
    for kind, by_name in (("s", tasks.standby), ("w", tasks.warmup)):
        parts += [f"{kind}:{name}{','.join(map(str, numbers))}" for name, numbers in by_name.items()]
    return " ".join(parts)


class Case(NamedTuple):
    """``here`` and ``other``: the tasks that process p and process q have. ``owned``: what the member says; None if it does not."""

    state: MemberState
    assigned: str
    pending: str
    target: str
    after: str
    owned: str | None = None
    here: str = ""
    other: str = ""
    epoch: int = 11


CASES = {
    "stable to stable": Case(STABLE, "t1,2@5 s:u3", "", "t1,2 s:u3", "STABLE 11/10 t1,2@5 s:u3 |"),
    "stable, at its target": Case(STABLE, "t1@5", "", "t2", "STABLE 10/9 t1@5 |", epoch=10),
    "with new tasks": Case(STABLE, "t1@5", "", "t1,3 u4 s:t2 w:u9", "STABLE 11/10 t1@5 t3@11 u4@11 s:t2 w:u9 |"),
    "to unrevoked": Case(STABLE, "t1,2@5 s:u3,4", "", "t2,3 s:u4", "UNREVOKED 10/10 t2@5 s:u4 | t1@5 s:u3"),
    "to unrevoked, warm-up": Case(STABLE, "w:u3,4", "", "w:u4", "UNREVOKED 10/10 w:u4 | w:u3"),
    "given up already": Case(STABLE, "t1,2@5", "", "t2,3", "STABLE 11/10 t2@5 t3@11 |", owned="t2"),
    "given up in part": Case(STABLE, "t1,2,3@5", "", "t3", "UNREVOKED 10/10 t3@5 | t1,2@5", owned="t2,3"),
    "owned in another kind": Case(STABLE, "t1,2@5", "", "t2", "STABLE 11/10 t2@5 |", owned="t2 s:t1 w:t1"),
    "active elsewhere": Case(STABLE, "", "", "t1 u2", "UNRELEASED 11/10 t1@11 |", other="u2"),
    "active elsewhere, standby here": Case(STABLE, "", "", "s:t1", "STABLE 11/10 s:t1 |", other="t1"),
    "standby elsewhere": Case(STABLE, "", "", "t1 s:t2 w:t3", "STABLE 11/10 t1@11 s:t2 w:t3 |", other="s:t1,2,3 w:t1,2,3"),
    "active here": Case(STABLE, "", "", "t1 s:t2 w:t3", "UNRELEASED 11/10 |", here="t1,2,3"),
    "standby here": Case(STABLE, "", "", "t1 s:t2 w:t3", "UNRELEASED 11/10 |", here="s:t1,2,3"),
    "warm-up here": Case(STABLE, "", "", "t1 s:t2 w:t3", "UNRELEASED 11/10 |", here="w:t1,2,3"),
    "changes its kind": Case(STABLE, "s:t1", "", "t1", "UNREVOKED 10/10 | s:t1", here="s:t1"),
    "has changed its kind": Case(STABLE, "s:t1", "", "t1", "UNRELEASED 11/10 |", owned="", here="s:t1"),
    "unrevoked to stable": Case(UNREVOKED, "t2@5", "t1@5", "t2 u5", "STABLE 11/10 t2@5 u5@11 |", owned="t2"),
    "unrevoked, not said": Case(UNREVOKED, "t2@5", "t1@5", "t2 u5", "UNREVOKED 10/9 t2@5 | t1@5"),
    "unrevoked, still owned": Case(UNREVOKED, "t2@5", "t1@5", "t2", "UNREVOKED 10/9 t2@5 | t1@5", owned="t1,2"),
    "unrevoked, standby owned": Case(UNREVOKED, "t2@5", "s:t1", "t2", "UNREVOKED 10/9 t2@5 | s:t1", owned="t2 s:t1"),
    "unrevoked, warm-up owned": Case(UNREVOKED, "t2@5", "w:t1", "t2", "UNREVOKED 10/9 t2@5 | w:t1", owned="t2 w:t1"),
    "unrevoked, and more": Case(UNREVOKED, "t2,3@5", "t1@5", "t3", "UNREVOKED 11/10 t3@5 | t2@5", owned="t2,3"),
    "unrevoked to unreleased": Case(UNREVOKED, "t2@5", "t1@5", "t2,4", "UNRELEASED 11/10 t2@5 |", owned="t2", other="t4"),
    "unreleased to stable": Case(UNRELEASED, "t2@5", "", "t2,4", "STABLE 10/10 t2@5 t4@10 |", epoch=10),
    "unreleased to unreleased": Case(UNRELEASED, "t2@5", "", "t2,4", "UNRELEASED 11/10 t2@5 |", other="t4"),
    "unreleased to unrevoked": Case(UNRELEASED, "t2,3@5", "", "t3,4", "UNREVOKED 10/10 t3@5 | t2@5", other="t4"),
    "unknown, without tasks": Case(UNKNOWN, "t3@5", "", "t3 u5", "STABLE 11/10 t3@5 u5@11 |", owned=""),
}


def goal_of(case: Case) -> TaskGoal:
    here, other = held(case.here), held(case.other)

    def processes(kind: str) -> Any:
        owners = {"p": getattr(here, kind), "q": getattr(other, kind)}
        return lambda name, partition: [process for process, tasks in owners.items() if partition in tasks.get(name, ())]

    active = processes("active")
    owned = None if case.owned is None else plain(case.owned)
    return TaskGoal(
        case.epoch,
        plain(case.target),
        "p",
        owned,
        lambda name, partition: next(iter(active(name, partition)), None),
        processes("standby"),
        processes("warmup"),
    )


def member_of(case: Case) -> MemberTasks:
    return MemberTasks(case.state, 10, 9, held(case.assigned), held(case.pending))


@pytest.mark.parametrize("name", CASES)
def test_a_reconciliation_step_by_state_and_epochs(name: str) -> None:
    """State, epoch and previous epoch, what the member has and what it has to give up."""
    case = CASES[name]

    found = reconcile(member_of(case), goal_of(case))

    has, loses = text_of(found.assigned), text_of(found.pending_revocation)
    told = f"{NAMES[found.state]} {found.member_epoch}/{found.previous_member_epoch} {has} | {loses}"
    assert re.sub(" +", " ", told).strip() == case.after


def test_a_member_that_cannot_go_on_is_the_same_object() -> None:
    """So no record is written. A member that waits gets a record once more: its previous epoch becomes its epoch."""
    waiting = Case(UNRELEASED, "t2@5", "", "t2,4", "", other="t4", epoch=10)
    once = reconcile(member_of(waiting), goal_of(waiting))

    assert once.previous_member_epoch == 10
    assert reconcile(once, goal_of(waiting)) is once
    stays = CASES["unrevoked, still owned"]
    member = member_of(stays)
    assert reconcile(member, goal_of(stays)) is member


@pytest.mark.parametrize("owned", [None, "t1", "s:t1", "w:t1"])
def test_a_member_in_an_unknown_state_must_give_up_everything(owned: str | None) -> None:
    case = Case(UNKNOWN, "t1@5", "", "t1", "", owned=owned)

    with pytest.raises(CoordinatorError) as refused:
        reconcile(member_of(case), goal_of(case))

    assert refused.value.error is ErrorCode.FENCED_MEMBER_EPOCH
    assert refused.value.message is not None
    assert "unknown state" in refused.value.message


def test_tasks_stay_sorted() -> None:
    """Subtopologies as Java sorts strings, partitions as numbers."""
    names = ["\uffee", "𝄞"]
    goal = TaskGoal(
        11,
        TaskAssignment({name: [9, 3] for name in names}, {name: [8, 2] for name in names}),
        "p",
        None,
        lambda _name, _partition: None,
        lambda _name, _partition: (),
        lambda _name, _partition: (),
    )

    found = reconcile(
        MemberTasks(STABLE, 10, 9, HeldTasks({"𝄞": {5: 1}}, {"𝄞": [5]}, {}), HeldTasks({}, {}, {})),
        goal._replace(owned=TaskAssignment()),
    )

    assert list(found.assigned.active) == list(found.assigned.standby) == ["𝄞", "\uffee"]
    assert list(found.assigned.active["𝄞"]) == [3, 9]
    assert found.assigned.standby["𝄞"] == [2, 8]
