"""The sticky task assignor of streams groups (Kafka's StickyTaskAssignor and ProcessState of ``group.streams.assignor``).

Active tasks go, in this order, to the member that had the task active, to a member that had it as standby, and to the process with
the least load, which is its tasks divided by its members. A member that keeps tasks gets at most its share, which grows and shrinks
while other members reach theirs. Standby tasks go to the previous members likewise, never to a process that has the task.
Several rules look accidental and are Kafka's: they are marked below.
"""

from __future__ import annotations

from collections.abc import Iterable

from coordinator_server.group.assign.java_queue import JavaQueue
from coordinator_server.group.assign.order import buckets_for, buckets_of_capacity, spread_text
from coordinator_server.group.assign.spec import CannotAssign
from coordinator_server.group.assign.tasks import SubtopologyTasks, TaskAssignment, TaskGroup, Tasks

# The place of a subtopology in the group, and a partition: sorted like the names of the subtopologies.
_Task = tuple[int, int]


class _Member:
    """A member, and what it gets. Its load is the number of its tasks."""

    __slots__ = ("active", "load", "member_id", "process", "standby")

    def __init__(self, member_id: str, process: _Process) -> None:
        self.member_id = member_id
        self.process = process
        self.load = 0
        self.active: list[_Task] = []
        self.standby: list[_Task] = []


class _Process:
    """The members of one process, and the tasks that any of them gets."""

    __slots__ = ("_by_load", "_count", "_tasks", "load", "members")

    def __init__(self) -> None:
        self.members: list[_Member] = []
        self.load = 0.0
        self._count = 0
        self._tasks: set[_Task] = set()
        # In the queue while tasks are given to the least loaded member.
        self._by_load: JavaQueue[_Member] | None = None

    def __contains__(self, task: _Task) -> bool:
        return task in self._tasks

    def give(self, member: _Member, task: _Task, *, is_active: bool) -> int:
        """Give a task to a member of this process; return how many tasks it has then."""
        self._by_load = None
        return self._add(member, task, is_active)

    def give_to_least_loaded(self, task: _Task, *, is_active: bool) -> int:
        """Give a task to a member with the fewest tasks; return how many tasks it has then."""
        if len(self.members) == 1:
            return self._add(self.members[0], task, is_active)
        if self._by_load is None:
            mask = buckets_for(len(self.members)) - 1
            self._by_load = JavaQueue(sorted(self.members, key=lambda member: spread_text(member.member_id) & mask))
        member = self._by_load.poll()
        count = self._add(member, task, is_active)
        self._by_load.add(member)
        return count

    def _add(self, member: _Member, task: _Task, is_active: bool) -> int:
        self._tasks.add(task)
        (member.active if is_active else member.standby).append(task)
        member.load += 1
        self._count += 1
        self.load = self._count / len(self.members)
        return member.load


class _Share:
    """How many tasks a member may keep: the tasks divided by the members, without members that have got exactly their share.

    It never grows, so a member is left out once.
    """

    __slots__ = ("_members", "_tasks", "size")

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks = tasks
        self._members = members
        self.size = self._divide()

    def count(self, tasks: int) -> None:
        """Take notice that a member has got a task and has ``tasks`` now."""
        if tasks == self.size:
            self._members -= 1
            self._tasks -= tasks
            self.size = self._divide()

    def _divide(self) -> int:
        """Return the quotient, rounded up."""
        return -(-self._tasks // self._members) if self._members else 0


class _Plan:
    """What the members get so far."""

    def __init__(self, group: TaskGroup) -> None:
        self._subtopologies = group.subtopologies
        self._replicas = group.num_standby_replicas
        tasks = sum([each.tasks for each in group.subtopologies])
        replicas = sum([each.tasks for each in group.subtopologies if each.is_stateful]) * self._replicas
        self._active_share = _Share(tasks, len(group.members))
        self._share = _Share(tasks + replicas, len(group.members))
        places = {each.subtopology_id: place for place, each in enumerate(group.subtopologies)}
        processes: dict[str, _Process] = {}
        self._members: list[_Member] = []
        self._was_active: dict[_Task, _Member] = {}
        self._was_standby: dict[_Task, list[_Member]] = {}
        for each in group.members:
            process = processes.get(each.process_id)
            if process is None:
                process = processes[each.process_id] = _Process()
            member = _Member(each.member_id, process)
            process.members.append(member)
            self._members.append(member)
            for task in _known(each.target.active, places):
                self._was_active[task] = member
            for task in _known(each.target.standby, places):
                self._was_standby.setdefault(task, []).append(member)
        self._processes = _order_processes(processes, len(group.members))

    def assign_active(self) -> None:
        """Assign every task once."""
        rest: list[_Task] = []
        for task in sorted(_tasks_of(enumerate(self._subtopologies)), key=_by_partition):
            member = self._was_active.get(task)
            if member is None or not self._keep_active(member, task):
                rest.append(task)
        unassigned: list[_Task] = []
        for task in rest:
            members = self._was_standby.get(task)
            if members is None or not self._keep_active(_least_loaded(members), task):
                unassigned.append(task)
        by_load = JavaQueue(self._processes)
        for task in sorted(unassigned):
            if not by_load:
                name = f"{self._subtopologies[task[0]].subtopology_id}_{task[1]}"
                raise CannotAssign(f"No process available to assign active task {name}.")
            process = by_load.poll()
            count = process.give_to_least_loaded(task, is_active=True)
            self._active_share.count(count)
            self._share.count(count)
            by_load.add(process)

    def assign_standby(self) -> None:
        """Assign the standby replicas of tasks of stateful subtopologies, as many as processes allow."""
        left: list[tuple[_Task, int]] = []
        stateful = [(place, each) for place, each in enumerate(self._subtopologies) if each.is_stateful]
        for task in sorted(_tasks_of(stateful), key=_by_partition, reverse=True):
            for replica in range(self._replicas):
                if not self._keep_standby(task):
                    left.append((task, self._replicas - replica))
                    break
        by_load = JavaQueue(self._processes)
        for task, replicas in sorted(left, reverse=True):
            for _ in range(replicas):
                if not self._give_standby(by_load, task):
                    break

    def targets(self) -> dict[str, TaskAssignment]:
        """Return what every member gets."""
        return {
            member.member_id: TaskAssignment(self._by_subtopology(member.active), self._by_subtopology(member.standby))
            for member in self._members
        }

    def _keep_active(self, member: _Member, task: _Task) -> bool:
        if member.load >= self._active_share.size:
            return False
        count = member.process.give(member, task, is_active=True)
        self._active_share.count(count)
        self._share.count(count)
        return True

    def _keep_standby(self, task: _Task) -> bool:
        """Give a replica to a member that had the task, active or standby. Return False if none may have it."""
        candidates = [self._was_active.get(task), _least_loaded_without(self._was_standby.get(task), task)]
        for member in candidates:
            if member is not None and task not in member.process and member.load < self._share.size:
                self._share.count(member.process.give(member, task, is_active=False))
                return True
        return False

    def _give_standby(self, by_load: JavaQueue[_Process], task: _Task) -> bool:
        """Give a replica to the least loaded process that does not have the task. Return False if each has it."""
        polled: list[_Process] = []
        found = False
        while by_load and not found:
            process = by_load.poll()
            polled.append(process)
            if task not in process:
                self._share.count(process.give_to_least_loaded(task, is_active=False))
                found = True
        for process in reversed(polled):
            by_load.add(process)
        return found

    def _by_subtopology(self, tasks: list[_Task]) -> Tasks:
        found: Tasks = {}
        for place, partition in sorted(tasks):
            found.setdefault(self._subtopologies[place].subtopology_id, []).append(partition)
        return found


def assign_sticky(group: TaskGroup) -> dict[str, TaskAssignment]:
    """Return the target of every member. Raises CannotAssign if there are tasks and no members."""
    plan = _Plan(group)
    plan.assign_active()
    plan.assign_standby()
    return plan.targets()


def _known(tasks: Tasks, places: dict[str, int]) -> Iterable[_Task]:
    """Yield the tasks of subtopologies that exist."""
    for subtopology_id, partitions in tasks.items():
        place = places.get(subtopology_id)
        if place is not None:
            for partition in partitions:
                yield place, partition


def _tasks_of(subtopologies: Iterable[tuple[int, SubtopologyTasks]]) -> Iterable[_Task]:
    for place, subtopology in subtopologies:
        for partition in range(subtopology.tasks):
            yield place, partition


def _by_partition(task: _Task) -> _Task:
    return task[1], task[0]


def _order_processes(processes: dict[str, _Process], members: int) -> list[_Process]:
    """Return the order of the HashMap of processes, which Kafka makes for as many keys as there are members."""
    mask = buckets_for(len(processes), buckets_of_capacity(members)) - 1
    return [processes[process_id] for process_id in sorted(processes, key=lambda process_id: spread_text(process_id) & mask)]


def _least_loaded(members: list[_Member]) -> _Member:
    """Return the first member, or a later one whose process and itself both have less to do than the best one so far."""
    best = members[0]
    process_load, load = best.process.load, best.load
    for member in members[1:]:
        if member.process.load < process_load and member.load < load:
            best, process_load, load = member, member.process.load, member.load
    return best


def _least_loaded_without(members: list[_Member] | None, task: _Task) -> _Member | None:
    """Return the same among processes without the task; None if the process of the *first* member has it, as in Kafka."""
    if members is None or task in members[0].process:
        return None
    return _least_loaded([members[0], *(member for member in members[1:] if task not in member.process)])
