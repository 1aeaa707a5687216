"""What target assignments of consumer groups and of streams groups cost.

    python -m bench.assignors [--rounds 5]

Milliseconds of processor time, the least of the rounds, for each group: *spec* describes it, as the loop does; *first* assigns
every partition, *leaves* assigns those of a member that has left, *grows* those that a topic has got. The last two columns are of
the loop when a child computes the targets: *asks* encodes the question, *takes* replays the records.

For streams groups, each process of one member: *leaves* is without the first one, *grows* has 10 % more tasks, and *asks* encodes
the question.
"""

from __future__ import annotations

import argparse
import random
import time
import uuid
from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

import msgspec

from coordinator_server.group.assign.assignors import ASSIGNORS
from coordinator_server.group.assign.order import order_members
from coordinator_server.group.assign.spec import GroupSpec, Member, Partitions
from coordinator_server.group.assign.streams_sticky import assign_sticky
from coordinator_server.group.assign.subscriptions import Subscriptions, Wanted
from coordinator_server.group.assign.target import change_targets
from coordinator_server.group.assign.tasks import NO_TASKS, SubtopologyTasks, TaskAssignment, TaskGroup, TaskMember
from coordinator_server.group.consumer.group import consumer_groups
from coordinator_server.group.consumer.target_task import COMPUTE_TARGETS
from coordinator_server.group.modern.target_task import ComputedTargets, DescribedMembers, DescribedTopic, TargetRequest
from coordinator_server.machine.timeline import SnapshotRegistry

T = TypeVar("T")


class Case(NamedTuple):
    """A group. Half of the members of an unlike one do not want the first topic."""

    assignor: str
    members: int
    topics: int
    partitions: int
    is_alike: bool = True


class Topic(NamedTuple):
    """A topic of the image."""

    topic_id: bytes
    partitions: int


CASES: Final = [
    Case("uniform", 100, 10, 100),
    Case("uniform", 100, 10, 100, is_alike=False),
    Case("range", 1000, 100, 100),
    Case("uniform", 1000, 1, 10_000),
    Case("uniform", 1000, 100, 100),
    Case("uniform", 1000, 1000, 10),
    Case("uniform", 1000, 100, 100, is_alike=False),
    Case("uniform", 1000, 1000, 10, is_alike=False),
]


class Group:
    """A group with targets."""

    def __init__(self, case: Case) -> None:
        rng = random.Random(1)
        self._case = case
        self.topics = {f"topic-{i}": Topic(rng.randbytes(16), case.partitions) for i in range(case.topics)}
        self.member_ids = [str(uuid.UUID(int=rng.getrandbits(128))) for _ in range(case.members)]
        self.targets: dict[str, Partitions] = {}

    def spec(self) -> GroupSpec:
        names = list(self.topics)
        subscriptions = Subscriptions(self.topics.get)
        members: list[Member] = []
        for number, member_id in enumerate(order_members(self.member_ids)):
            wanted = names if self._case.is_alike or number % 2 else names[1:] or names
            place = subscriptions.place(wanted)
            members.append(Member(member_id, None, place, self.targets.get(member_id, {}), member_id in self.targets))
        return GroupSpec(members, subscriptions.found, self._case.is_alike, subscriptions.partition_counts)

    def request(self) -> TargetRequest:
        """What a child process is asked."""
        spec, targets = self.spec(), self.targets
        ids, places = self.member_ids, [member.subscription for member in spec.members]
        described = DescribedMembers(ids, [None] * len(ids), places, [targets.get(each) for each in ids], len(ids))
        names = tuple(self.topics)
        wanted: list[Wanted] = [(names, ())] if self._case.is_alike else [(names[1:] or names, ()), (names, ())]
        topics = {name: DescribedTopic(*topic) for name, topic in self.topics.items()}
        return TargetRequest("readers", self._case.assignor, described, wanted, topics, spec.is_homogeneous)

    def assign(self) -> float:
        """Compute the targets; return the milliseconds that it took."""
        spec = self.spec()
        took, changed = timed(lambda: change_targets(ASSIGNORS[self._case.assignor], spec))
        self.targets.update(changed)
        return took


class TasksCase(NamedTuple):
    """A streams group of two subtopologies, one of them with state."""

    processes: int
    tasks: int
    replicas: int


TASKS_CASES: Final = [TasksCase(100, 1000, 0), TasksCase(100, 1000, 1), TasksCase(1000, 10_000, 1)]


def measure_tasks(case: TasksCase) -> list[float]:
    """Return the milliseconds of one round."""
    rng = random.Random(1)
    processes = {
        str(uuid.UUID(int=rng.getrandbits(128))): str(uuid.UUID(int=rng.getrandbits(128))) for _ in range(case.processes)
    }
    targets: dict[str, TaskAssignment] = {}

    def described(tasks: int) -> TaskGroup:
        members = [TaskMember(each, processes[each], targets.get(each, NO_TASKS)) for each in order_members(list(processes))]
        half = tasks // 2
        return TaskGroup(members, [SubtopologyTasks("0", half, False), SubtopologyTasks("1", tasks - half, True)], case.replicas)

    def assign(tasks: int) -> float:
        took, found = timed(lambda: assign_sticky(described(tasks)))
        targets.update(found)
        return took

    first = assign(case.tasks)
    group = described(case.tasks)
    asks, _ = timed(lambda: msgspec.msgpack.encode(group))
    gone = next(iter(processes))
    del processes[gone], targets[gone]
    return [first, assign(case.tasks), assign(case.tasks + case.tasks // 10), asks]


def timed(run: Callable[[], T]) -> tuple[float, T]:
    begun = time.process_time()
    result = run()
    return (time.process_time() - begun) * 1000, result


def measure(case: Case) -> list[float]:
    """Return the milliseconds of one round."""
    group = Group(case)
    spec_ms, _ = timed(group.spec)
    request = group.request()
    encode_ms, _ = timed(lambda: msgspec.msgpack.encode(group.request()))
    take_ms = take(msgspec.msgpack.encode(COMPUTE_TARGETS.run(request)))
    times = [spec_ms, group.assign()]
    group.targets.pop(group.member_ids.pop())
    times.append(group.assign())
    name, topic = next(iter(group.topics.items()))
    group.topics[name] = Topic(topic.topic_id, topic.partitions + 100)
    times.append(group.assign())
    return [*times, encode_ms, take_ms]


def take(computed: bytes) -> float:
    """Replay what a child has computed; return the milliseconds."""
    registry = SnapshotRegistry()
    group = consumer_groups(registry).absent("readers")
    registry.snapshot(0)

    def run() -> None:
        found = msgspec.msgpack.decode(computed, type=ComputedTargets)
        group.put_encoded_targets(len(found.records), zip(found.member_ids, found.records, strict=True))

    return timed(run)[0]


def main() -> None:
    """Print a line for each group."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print("| assignor | members | topics x partitions | subscriptions | spec | first | leaves | grows | asks | takes |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for case in CASES:
        least = [min(column) for column in zip(*(measure(case) for _ in range(rounds)), strict=True)]
        alike = "alike" if case.is_alike else "differ"
        cells = " | ".join(f"{each:.1f}" for each in least)
        print(f"| {case.assignor} | {case.members} | {case.topics} x {case.partitions} | {alike} | {cells} |", flush=True)
    print("\n| processes | tasks | replicas | first | leaves | grows | asks |")
    print("|---|---|---|---|---|---|---|")
    for tasks_case in TASKS_CASES:
        least = [min(column) for column in zip(*(measure_tasks(tasks_case) for _ in range(rounds)), strict=True)]
        print(f"| {' | '.join(map(str, tasks_case))} | {' | '.join(f'{each:.1f}' for each in least)} |", flush=True)


if __name__ == "__main__":
    main()
