"""A member's way to its target tasks (Kafka's ``CurrentAssignmentBuilder`` of streams groups), as a pure function.

    STABLE ──new target──► UNREVOKED_TASKS   the member stays in its epoch until it has given up the tasks that it loses
                                 │ given up
                                 ▼
                           UNRELEASED_TASKS  in the target's epoch, with what is free; the rest has other owners still
                                 │ released
                                 ▼
                               STABLE        in the target's epoch, with all of its target

A state is skipped if there is nothing to wait for. A task is free as an active task while no process has it active and this process
has it in no kind, and as a standby or warm-up task while this process has it in no kind. So a task that changes its kind within a
process is given up first, and returns with a later heartbeat.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from coordinator_server.group.assign.tasks import TaskAssignment, Tasks
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.java import text_order
from protocol.error_codes import ErrorCode

TaskEpochs = dict[str, dict[int, int]]
"""The assignment epochs of active tasks by subtopology id and partition."""


class MemberState(IntEnum):
    """How far a member is on its way, as its record says it."""

    STABLE = 1
    UNREVOKED_TASKS = 2
    UNRELEASED_TASKS = 3
    UNKNOWN = 127


class HeldTasks(NamedTuple):
    """Tasks of a member (Kafka's TasksTupleWithEpochs). Subtopologies and partitions are sorted; no collection is empty."""

    active: TaskEpochs
    standby: Tasks
    warmup: Tasks


NO_HELD_TASKS: Final = HeldTasks({}, {}, {})


class MemberTasks(NamedTuple):
    """The current assignment of a member."""

    state: MemberState
    member_epoch: int
    previous_member_epoch: int
    assigned: HeldTasks
    pending_revocation: HeldTasks


NO_MEMBER_TASKS: Final = MemberTasks(MemberState.STABLE, 0, 0, NO_HELD_TASKS, NO_HELD_TASKS)
"""That of a member that joins."""


class TaskGoal(NamedTuple):
    """What a member is reconciled with. The callables return a task's owner, given up or not, by subtopology id and partition."""

    epoch: int
    """The epoch of the target assignment."""
    target: TaskAssignment
    process_id: str
    owned: TaskAssignment | None
    """The tasks that the member says it owns; None if it does not say."""
    active_process: Callable[[str, int], str | None]
    standby_processes: Callable[[str, int], Collection[str]]
    warmup_processes: Callable[[str, int], Collection[str]]


class _Difference(NamedTuple):
    """What a member keeps, loses and gets of one kind of tasks. ``is_waiting``: it does not get all yet."""

    kept: Tasks
    lost: Tasks
    got: Tasks
    is_waiting: bool


def reconcile(member: MemberTasks, goal: TaskGoal) -> MemberTasks:
    """Return the assignment after the next step, or the same object if nothing changes. Raises FENCED_MEMBER_EPOCH."""
    match member.state:
        case MemberState.STABLE:
            if member.member_epoch == goal.epoch:
                return member
            following = _next_assignment(member, member.member_epoch, goal)
        case MemberState.UNREVOKED_TASKS:
            if _owns_any(goal.owned, member.pending_revocation):
                return member
            # Kafka counts an epoch for what is given up, which may be none that the group ever had.
            following = _next_assignment(member, member.member_epoch + 1, goal)
        case MemberState.UNRELEASED_TASKS:
            following = _next_assignment(member, member.member_epoch, goal)
        case MemberState.UNKNOWN:
            # A later version of Kafka wrote the state. The member begins anew, without tasks.
            if goal.owned is None or goal.owned.active or goal.owned.standby or goal.owned.warmup:
                raise CoordinatorError(
                    ErrorCode.FENCED_MEMBER_EPOCH,
                    "The streams group member is in a unknown state. The member must abandon all its tasks and rejoin.",
                )
            following = _next_assignment(member, goal.epoch, goal)
    return member if following == member else following


def _next_assignment(member: MemberTasks, member_epoch: int, goal: TaskGoal) -> MemberTasks:
    """Return the member on its way to the target. ``member_epoch`` is the epoch in which it gives up tasks."""

    def has_process(subtopology_id: str, partition: int) -> bool:
        process_id = goal.process_id
        return process_id in goal.standby_processes(subtopology_id, partition) or process_id in goal.warmup_processes(
            subtopology_id, partition
        )

    def is_active_held(subtopology_id: str, partition: int) -> bool:
        return goal.active_process(subtopology_id, partition) is not None or has_process(subtopology_id, partition)

    def is_held(subtopology_id: str, partition: int) -> bool:
        return goal.active_process(subtopology_id, partition) == goal.process_id or has_process(subtopology_id, partition)

    has, target = member.assigned, goal.target
    active = _compare(has.active, target.active, is_active_held)
    standby = _compare(has.standby, target.standby, is_held)
    warmup = _compare(has.warmup, target.warmup, is_held)
    lost = HeldTasks(_epochs(active.lost, has.active, goal.epoch), standby.lost, warmup.lost)
    if lost != NO_HELD_TASKS and _owns_any(goal.owned, lost):
        kept = HeldTasks(_epochs(active.kept, has.active, goal.epoch), standby.kept, warmup.kept)
        return MemberTasks(MemberState.UNREVOKED_TASKS, member_epoch, member.member_epoch, kept, lost)
    assigned = HeldTasks(_epochs(_merged(active), has.active, goal.epoch), _merged(standby), _merged(warmup))
    is_waiting = active.is_waiting or standby.is_waiting or warmup.is_waiting
    state = MemberState.UNRELEASED_TASKS if is_waiting else MemberState.STABLE
    return MemberTasks(state, goal.epoch, member.member_epoch, assigned, NO_HELD_TASKS)


def _compare(has: Mapping[str, Collection[int]], target: Tasks, is_held: Callable[[str, int], bool]) -> _Difference:
    found = _Difference({}, {}, {}, False)
    is_waiting = False
    for subtopology_id in sorted({*target, *has}, key=text_order):
        mine, wanted = set(has.get(subtopology_id, ())), set(target.get(subtopology_id, ()))
        for partition in sorted(mine | wanted):
            if partition not in mine:
                if is_held(subtopology_id, partition):
                    is_waiting = True
                    continue
                tasks = found.got
            else:
                tasks = found.kept if partition in wanted else found.lost
            tasks.setdefault(subtopology_id, []).append(partition)
    return found._replace(is_waiting=is_waiting)


def _merged(difference: _Difference) -> Tasks:
    """Return what the member has, with what it gets."""
    kept, got = difference.kept, difference.got
    return {each: sorted([*kept.get(each, ()), *got.get(each, ())]) for each in sorted({*kept, *got}, key=text_order)}


def _epochs(tasks: Tasks, before: TaskEpochs, epoch: int) -> TaskEpochs:
    """Return the tasks with the epochs in which they were assigned: ``epoch`` for those that the member did not have."""
    return {
        subtopology_id: {partition: before.get(subtopology_id, {}).get(partition, epoch) for partition in partitions}
        for subtopology_id, partitions in tasks.items()
    }


def _owns_any(owned: TaskAssignment | None, tasks: HeldTasks) -> bool:
    """Return whether the member owns one of these tasks still, in the same kind, or does not say what it owns."""
    if owned is None:
        return True
    kinds = ((owned.active, tasks.active), (owned.standby, tasks.standby), (owned.warmup, tasks.warmup))
    return any(
        not set(lost).isdisjoint(mine.get(subtopology_id, ()))
        for mine, pending in kinds
        for subtopology_id, lost in pending.items()
    )
