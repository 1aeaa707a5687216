"""Random lives of streams groups, for the task assignor, the reconciliation and the end points of the server.

Members come and go, give up tasks at once, later or in part, and topics grow and shrink. A step "reconcile" has a member that no
life need lead to. ``tests/golden/StreamsGroups.java`` adds to the steps what Kafka's classes do; ``OwnStreamsGroup`` does the same
here.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from typing import Any, Final

from coordinator_server.group.assign.order import order_members
from coordinator_server.group.assign.spec import CannotAssign
from coordinator_server.group.assign.streams_sticky import assign_sticky
from coordinator_server.group.assign.tasks import NO_TASKS, SubtopologyTasks, TaskAssignment, TaskGroup, TaskMember, Tasks
from coordinator_server.group.streams.configured_topology import ConfiguredSubtopology, ConfiguredTopology, InternalTopic
from coordinator_server.group.streams.endpoints import partitions_of_tasks
from coordinator_server.group.streams.reconciliation import (
    NO_MEMBER_TASKS,
    HeldTasks,
    MemberState,
    MemberTasks,
    TaskGoal,
    reconcile,
)
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.java import text_order

LIVES: Final = 80
SUBTOPOLOGIES: Final = ["0", "1", "2", "3", "9", "10", "11", "orders", "ä", "𝄞", "\uffee"]
OWNS: Final = ["all", "all", "part", "rest", "rest", "rest", "unknown"]
Step = dict[str, Any]
Life = dict[str, Any]


def random_lives(count: int = LIVES, seed: int = 19) -> Iterator[Life]:
    """Yield lives as JSON objects. Small groups are more frequent than large ones."""
    for i in range(count):
        yield {"seed": f"{seed}/{i}", "steps": _Life(random.Random(f"{seed}/{i}")).steps()}


class _Life:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._most = rng.choice([1, 2, 3, 6, 14, 14, 40, 90])
        self._processes = [self._process_id() for _ in range(rng.choice([1, 2, 3, self._most, self._most, 2 * self._most]))]
        self._replicas = rng.choice([0, 0, 1, 1, 2, 3])
        self._names = rng.sample(SUBTOPOLOGIES, rng.choice([1, 1, 2, 3, 5, len(SUBTOPOLOGIES)]))
        self._members: dict[str, str] = {}
        self._steps: list[Step] = []

    def steps(self) -> list[Step]:
        self._set_topology()
        for _ in range(self._rng.choice([3, 8, self._most, 3 * self._most])):
            self._step()
        return self._steps

    def _step(self) -> None:
        rng, chance = self._rng, self._rng.random()
        if not self._members or (chance < 0.3 and len(self._members) < self._most):
            member_id = f"{rng.choice(['consumer', 'streams'])}-{rng.getrandbits(64):x}"
            self._members[member_id] = rng.choice(self._processes)
            self._heartbeat(member_id)
        elif chance < 0.4:
            member_id = rng.choice(list(self._members))
            del self._members[member_id]
            self._steps.append({"leaves": member_id})
        elif chance < 0.45:
            self._set_topology()
        elif chance < 0.5:
            self._replicas = rng.choice([0, 1, 1, 2, 5])
        elif chance < 0.6:
            self._steps.append({"reconcile": random_member(rng)})
        else:
            self._heartbeat(rng.choice(list(self._members)))

    def _heartbeat(self, member_id: str) -> None:
        rng = self._rng
        if rng.random() < 0.02:
            self._members[member_id] = rng.choice(self._processes)
        self._steps.append(
            {
                "member": member_id,
                "process": self._members[member_id],
                "replicas": self._replicas,
                "bumps": rng.random() < 0.2,
                "owns": rng.choice(OWNS),
            }
        )

    def _set_topology(self) -> None:
        rng = self._rng
        topology = {}
        for name in self._names:
            most = rng.choice([1, rng.randint(1, 6), rng.randint(1, 40), rng.randint(1, 200)])
            topics = {f"in-{name}-{i}": rng.choice([most, rng.randint(1, most)]) for i in range(rng.choice([1, 1, 2, 3]))}
            topology[name] = {"sources": topics, "is_stateful": rng.random() < 0.6}
        self._steps.append({"topology": topology})

    def _process_id(self) -> str:
        return self._rng.choice([f"{self._rng.getrandbits(128):032x}", f"p{self._rng.randint(0, 99)}"])


def random_member(rng: random.Random) -> Step:
    """Return any member, any target, and any owners of its tasks."""
    few = [(name, partition) for name in rng.sample(SUBTOPOLOGIES, 2) for partition in range(rng.choice([1, 2, 3]))]
    epoch = rng.randint(0, 9)

    def plain(share: float) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for name, partition in few:
            if rng.random() < share:
                found.setdefault(name, []).append(partition)
        return found

    def held(share: float) -> list[Any]:
        active = {name: [[each, rng.randint(0, epoch)] for each in partitions] for name, partitions in plain(share).items()}
        return [active, plain(share / 2), plain(share / 2)]

    def owners() -> dict[str, list[str]]:
        return {f"{name}_{each}": [rng.choice("ab")] for name, partitions in plain(0.3).items() for each in partitions}

    state = rng.choice([1, 2, 2, 3, 127])
    return {
        "state": state,
        "epoch": epoch,
        "previous": rng.randint(0, epoch),
        "process": "a",
        "assigned": held(0.5),
        "pending": held(0.3) if state == 2 else [{}, {}, {}],
        "target": held(0.5),
        "target_epoch": rng.choice([epoch, epoch + 1, epoch + 3]),
        "owned": rng.choice([None, held(0.3), held(0.0)]),
        "owners": [owners(), owners(), owners()],
    }


def compare(life: Life) -> int:
    """Assert that every step of a life comes out as with Kafka's classes; return the number of targets that were computed."""
    group = OwnStreamsGroup()
    for step in life["steps"]:
        found = group.take(step)
        assert found == {key: step[key] for key in ("records", "result", "error", "endpoint") if key in step}, (
            life["seed"],
            step,
        )
    return group.targets_computed


class OwnStreamsGroup:
    """A group of which only that is known which assignor, reconciliation and end points need."""

    def __init__(self) -> None:
        self.targets_computed = 0
        self._topology = ConfiguredTopology(0, {}, {}, None)
        self._counts: dict[str, int] = {}
        self._members: dict[str, MemberTasks] = {}
        self._processes: dict[str, str] = {}
        self._targets: dict[str, TaskAssignment] = {}
        self._most = 0
        self._group_epoch = 0
        self._assignment_epoch = -1
        self._owners = _Owners()

    def take(self, step: Step) -> Step:
        """Take a step; return what Kafka's classes add to it."""
        if "topology" in step:
            self._configure(step["topology"])
            self._group_epoch += 1
        elif "leaves" in step:
            member_id = step["leaves"]
            self._targets.pop(member_id, None)
            self._owners.forget(self._members.pop(member_id), self._processes.pop(member_id))
            self._group_epoch += 1
        elif "reconcile" in step:
            return _reconcile(step["reconcile"])
        else:
            return self._heartbeat(step)
        return {}

    def _configure(self, topology: Step) -> None:
        self._counts = {}
        subtopologies = {}
        for name in sorted(topology, key=text_order):
            each = topology[name]
            self._counts.update(each["sources"])
            changelogs = [InternalTopic("log", 1, 0, {})] if each["is_stateful"] else []
            tasks = max(each["sources"].values())
            subtopologies[name] = ConfiguredSubtopology(tasks, list(each["sources"]), [], [], changelogs)
        self._topology = ConfiguredTopology(0, subtopologies, {}, None)

    def _heartbeat(self, step: Step) -> Step:
        member_id, process = step["member"], step["process"]
        self._group_epoch += member_id not in self._members or step["bumps"]
        found: Step = {"records": []}
        if self._assignment_epoch < self._group_epoch:
            try:
                found["records"] = self._assign(step)
                self._assignment_epoch = self._group_epoch
            except CannotAssign as error:
                found["error"] = str(error)
        before = self._members.get(member_id, NO_MEMBER_TASKS)
        goal = TaskGoal(
            self._assignment_epoch,
            self._targets.get(member_id, NO_TASKS),
            process,
            owned(step["owns"], before),
            self._owners.active,
            self._owners.standby,
            self._owners.warmup,
        )
        after = reconcile(before, goal)
        found["result"] = _described(after)
        found["endpoint"] = [self._served(after.assigned.active), self._served(after.assigned.standby)]
        if member_id in self._members:
            # The record of its metadata comes before that of its tasks: each replaces what the member had.
            self._owners.forget(before, self._processes[member_id])
            self._owners.add(before, process)
            self._owners.forget(before, process)
        self._members[member_id], self._processes[member_id] = after, process
        self._most = max(self._most, len(self._members))
        self._owners.add(after, process)
        return found

    def _assign(self, step: Step) -> list[Any]:
        assert self._topology.subtopologies is not None
        members = [
            TaskMember(
                each,
                step["process"] if each == step["member"] else self._processes[each],
                self._targets.get(each, NO_TASKS),
                each in self._targets,
            )
            for each in order_members(list(self._members), step["member"], None, self._most)
        ]
        subtopologies = [
            SubtopologyTasks(name, each.tasks, bool(each.state_changelog_topics))
            for name, each in self._topology.subtopologies.items()
        ]
        targets = assign_sticky(TaskGroup(members, subtopologies, step["replicas"]))
        self.targets_computed += 1
        records = []
        for member in members:
            target = targets[member.member_id]
            if not member.has_target or target != member.target:
                records.append([member.member_id, target.active, target.standby, target.warmup])
                self._targets[member.member_id] = target
        return records

    def _served(self, tasks: Any) -> dict[str, list[list[int]]]:
        served: dict[str, list[list[int]]] = {}
        for each in partitions_of_tasks(tasks, self._topology, self._counts.get):
            served.setdefault(each.topic, []).append(each.partitions)
        return served


class _Owners:
    """The processes that have tasks, as Kafka's group keeps them."""

    def __init__(self) -> None:
        self._active: dict[tuple[str, int], str] = {}
        self._standby: dict[tuple[str, int], set[str]] = {}

    def active(self, subtopology_id: str, partition: int) -> str | None:
        return self._active.get((subtopology_id, partition))

    def standby(self, subtopology_id: str, partition: int) -> Collection[str]:
        return self._standby.get((subtopology_id, partition), ())

    def warmup(self, _subtopology_id: str, _partition: int) -> Collection[str]:
        return ()

    def add(self, member: MemberTasks, process: str) -> None:
        for tasks in (member.assigned, member.pending_revocation):
            for subtopology_id, epochs in tasks.active.items():
                self._active.update(((subtopology_id, partition), process) for partition in epochs)
            for subtopology_id, partitions in tasks.standby.items():
                for partition in partitions:
                    self._standby.setdefault((subtopology_id, partition), set()).add(process)

    def forget(self, member: MemberTasks, process: str) -> None:
        for tasks in (member.assigned, member.pending_revocation):
            for subtopology_id, epochs in tasks.active.items():
                for partition in epochs:
                    if self._active.get((subtopology_id, partition)) == process:
                        del self._active[subtopology_id, partition]
            for subtopology_id, partitions in tasks.standby.items():
                for partition in partitions:
                    self._standby.get((subtopology_id, partition), set()).discard(process)


def owned(what: str, member: MemberTasks) -> TaskAssignment | None:
    """Return what a member says it owns: nothing at all, all that it has, what it may keep, or that and a part of the rest."""
    if what == "unknown":
        return None
    assigned, pending = member.assigned, member.pending_revocation
    kinds = [
        _union(mine, lost, what)
        for mine, lost in (
            (assigned.active, pending.active),
            (assigned.standby, pending.standby),
            (assigned.warmup, pending.warmup),
        )
    ]
    return TaskAssignment(*kinds)


def _union(mine: Any, lost: Any, what: str) -> Tasks:
    both = {name: list(partitions) for name, partitions in mine.items()}
    if what != "rest":
        for name, partitions in lost.items():
            both.setdefault(name, []).extend(each for each in partitions if what == "all" or each % 2 == 0)
    return both


def _reconcile(before: Step) -> Step:
    active, standby, warmup = before["owners"]
    goal = TaskGoal(
        before["target_epoch"],
        _plain(_held(before["target"])),
        before["process"],
        None if before["owned"] is None else _plain(_held(before["owned"])),
        lambda name, partition: next(iter(active.get(f"{name}_{partition}", ())), None),
        lambda name, partition: standby.get(f"{name}_{partition}", ()),
        lambda name, partition: warmup.get(f"{name}_{partition}", ()),
    )
    assigned, pending = _held(before["assigned"]), _held(before["pending"])
    member = MemberTasks(MemberState(before["state"]), before["epoch"], before["previous"], assigned, pending)
    try:
        return {"result": _described(reconcile(member, goal))}
    except CoordinatorError as error:
        return {"error": error.message}


def _held(tasks: list[Any]) -> HeldTasks:
    def in_order(kind: dict[str, Any]) -> dict[str, Any]:
        return {name: kind[name] for name in sorted(kind, key=text_order)}

    active = {name: dict(pairs) for name, pairs in in_order(tasks[0]).items()}
    return HeldTasks(active, in_order(tasks[1]), in_order(tasks[2]))


def _plain(tasks: HeldTasks) -> TaskAssignment:
    return TaskAssignment({name: list(epochs) for name, epochs in tasks.active.items()}, tasks.standby, tasks.warmup)


def _described(member: MemberTasks) -> Step:
    return {
        "state": member.state,
        "epoch": member.member_epoch,
        "previous": member.previous_member_epoch,
        "assigned": _described_tasks(member.assigned),
        "pending": _described_tasks(member.pending_revocation),
    }


def _described_tasks(tasks: HeldTasks) -> list[Any]:
    active = {name: [[partition, epoch] for partition, epoch in epochs.items()] for name, epochs in tasks.active.items()}
    return [active, tasks.standby, tasks.warmup]
