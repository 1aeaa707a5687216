"""What must be true of a streams group at any moment: of its state, as the server has it or describes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from msgspec import Struct

from coordinator_server.group.streams.group import StreamsGroup
from coordinator_server.group.streams.reconciliation import HeldTasks

Task = tuple[str, int]
"""A task by the id of its subtopology, and its partition."""


class StreamsMemberView(Struct):
    """A member of a streams group, and the tasks that it has, those that it is to give up too."""

    epoch: int
    process_id: str
    is_reconciled: bool = True
    active: frozenset[Task] = frozenset()
    standby: frozenset[Task] = frozenset()


class StreamsView(Struct):
    """A streams group. A group that does not exist has epoch 0. ``topology_epoch`` is -1 without a topology."""

    epoch: int = 0
    assignment_epoch: int = 0
    topology_epoch: int = -1
    members: dict[str, StreamsMemberView] = {}


def view_of_group(group: StreamsGroup) -> StreamsView:
    """Return the state of a group, also as far as it is not durable yet."""
    members = {}
    for member_id, member in group.members.items():
        kinds = [_tasks_of(held) for held in (member.tasks.assigned, member.tasks.pending_revocation)]
        active, standby = (frozenset[Task]().union(*kind) for kind in zip(*kinds, strict=True))
        is_reconciled = member.stable_epoch == group.assignment_epoch
        members[member_id] = StreamsMemberView(member.member_epoch, member.metadata.process_id, is_reconciled, active, standby)
    topology_epoch = -1 if group.topology is None else group.topology.epoch
    return StreamsView(group.group_epoch, group.assignment_epoch, topology_epoch, members)


def wrong_with(group_id: str, view: StreamsView) -> Iterator[str]:
    """Yield what must not be: an active task of two members, a task twice in a process, in whatever kinds, epochs out of order."""
    active = Counter(task for member in view.members.values() for task in member.active)
    if max(active.values(), default=0) > 1:
        yield f"active tasks of {group_id} have several members in the state: {view}"
    of_process = Counter(
        (member.process_id, task)
        for member in view.members.values()
        for tasks in (member.active, member.standby)
        for task in tasks
    )
    if max(of_process.values(), default=0) > 1:
        yield f"a process of {group_id} has a task twice: {view}"
    if view.assignment_epoch > view.epoch:
        yield f"the assignment of {group_id} is newer than the group: {view}"
    if any(member.epoch > view.assignment_epoch for member in view.members.values()):
        yield f"a member of {group_id} is newer than its assignment: {view}"


def misplaced(view: StreamsView, tasks: Mapping[str, int], stateful: Mapping[str, int]) -> Iterator[str]:
    """Yield what is not as it has to be once all members are reconciled.

    ``tasks`` has the number of tasks of each subtopology, ``stateful`` the number of standby replicas of those that have any.
    """
    wanted = Counter((name, partition) for name, count in tasks.items() for partition in range(count))
    given = Counter(task for member in view.members.values() for task in member.active)
    if given != wanted:
        yield f"active are {sorted(given.items())}, wanted {sorted(wanted)}"
    others = len({member.process_id for member in view.members.values()}) - 1
    replicas = Counter(task for member in view.members.values() for task in member.standby)
    expected = {(name, n): min(wish, others) for name, wish in stateful.items() for n in range(tasks.get(name, 0))}
    if replicas != Counter({task: count for task, count in expected.items() if count}):
        yield f"on standby are {sorted(replicas.items())}, wanted {sorted(expected.items())}"


def _tasks_of(held: HeldTasks) -> tuple[frozenset[Task], frozenset[Task]]:
    active = frozenset((name, partition) for name, epochs in held.active.items() for partition in epochs)
    return active, frozenset((name, partition) for name, partitions in held.standby.items() for partition in partitions)
