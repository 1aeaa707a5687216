"""Targets may have partitions that their topics lack, as those of an imported group may: every assignor takes them away."""

from __future__ import annotations

import random

import pytest

from coordinator_server.group.assign.assignors import ASSIGNORS, SHARE_ASSIGNORS
from coordinator_server.group.assign.spec import GroupSpec, Member, Subscription
from coordinator_server.group.assign.streams_sticky import assign_sticky
from coordinator_server.group.assign.target import change_targets
from coordinator_server.group.assign.tasks import SubtopologyTasks, TaskAssignment, TaskGroup, TaskMember

A, B = b"a" * 16, b"b" * 16
SEEDS = range(200)


def dealt(rng: random.Random, members: int, partitions: int) -> list[list[int]]:
    """Some of the partitions, each at one of the members or at none."""
    found: list[list[int]] = [[] for _ in range(members)]
    for partition in range(partitions):
        place = rng.randrange(members + 1)
        if place < members:
            found[place].append(partition)
    return found


def group(rng: random.Random, *, is_alike: bool) -> GroupSpec:
    """Members, some of which have partitions beyond those of the topics."""
    count = rng.randint(1, 5)
    counts = {A: rng.randint(1, 6), B: rng.randint(1, 6)}
    subscriptions = (
        [Subscription((A, B), 2)] if is_alike else [Subscription((A, B), 2), Subscription((A,), 1), Subscription((B,), 1)]
    )
    has = {topic_id: dealt(rng, count, partitions + rng.randint(0, 4)) for topic_id, partitions in counts.items()}
    targets = [{topic_id: dealt_[i] for topic_id, dealt_ in has.items() if dealt_[i]} for i in range(count)]
    members = [Member(f"m{i}", None, 0 if is_alike or i == 0 else rng.randrange(3), target) for i, target in enumerate(targets)]
    return GroupSpec(members, subscriptions, is_alike, counts)


@pytest.mark.parametrize("name", [*ASSIGNORS, *SHARE_ASSIGNORS])
@pytest.mark.parametrize("is_alike", [True, False])
def test_partitions_that_do_not_exist_are_taken_away(name: str, is_alike: bool) -> None:
    """And each that exists has an owner, or more if members share partitions."""
    for seed in SEEDS:
        spec = group(random.Random(seed), is_alike=is_alike)
        targets = {member.member_id: member.target for member in spec.members}
        targets.update(change_targets((ASSIGNORS | SHARE_ASSIGNORS)[name], spec))
        assigned = sorted((topic_id, each) for target in targets.values() for topic_id, has in target.items() for each in has)
        existing = [(topic_id, each) for topic_id in (A, B) for each in range(spec.partition_counts[topic_id])]
        assert (sorted(set(assigned)) if name in SHARE_ASSIGNORS else assigned) == existing, seed


def test_tasks_that_do_not_exist_are_taken_away() -> None:
    for seed in SEEDS:
        rng = random.Random(seed)
        count, tasks = rng.randint(1, 5), rng.randint(1, 6)
        active, standby = (dealt(rng, count, tasks + 3) for _ in range(2))
        members = [TaskMember(f"m{i}", f"p{i % 3}", TaskAssignment({"0": active[i]}, {"0": standby[i]})) for i in range(count)]
        found = assign_sticky(TaskGroup(members, [SubtopologyTasks("0", tasks, True)], rng.randint(0, 2)))
        assert sorted(each for target in found.values() for each in target.active.get("0", ())) == list(range(tasks)), seed
        assert all(each < tasks for target in found.values() for each in target.standby.get("0", ())), seed
