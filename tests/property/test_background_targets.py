"""Whenever the child's results arrive: no partition has two owners or two targets,
and the group settles with all of them assigned.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from coordinator_server.group.consumer.group import consumer_groups
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.machine.timeline import SnapshotRegistry
from tests.support.heartbeats import Beating, Beats, config_of

SEEDS = 20
STEPS = 60
Results = list[Callable[[], CoordinatorResult[Any]]]


class Run:
    """One group with random members, and a child whose results come some steps later, or never."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.beats = Beats(config_of(group_consumer_assignment_inline_max_size="0"), t=self.rng.randint(1, 9))
        self._late: Results = []
        self._ids = 0

    def living(self) -> list[Beating]:
        return [each for each in self.beats.members.values() if each.epoch >= 0]

    def step(self) -> None:
        rng, log, living = self.rng, self.beats.log, self.living()
        action = rng.choice(
            ["join", "beat", "beat", "beat", "leave", "compute", "compute", "deliver", "deliver", "die", "fail", "grow"]
        )
        if action == "join" and len(living) < 6:
            self.join(rng.choice([{}, {}, {"instance_id": f"i{rng.randint(0, 2)}"}]))
        elif action == "beat" and living:
            rng.choice(living).beat(owned=True)
        elif action == "leave" and living:
            self._leave(rng.choice(living))
        elif action == "compute":
            log.advance(0)
            self._late = log.executor.computed()
        elif action == "deliver":
            log.finish_tasks(self._late)
            self._late = []
        elif action == "die":
            log.executor.clear()
            self._late = []
        elif action == "fail" and living:
            self._fail(rng.choice(living))
        elif action == "grow":
            log.topics.create(t=min(12, len(self.partitions()) + 1))

    def join(self, fields: dict[str, Any]) -> None:
        self._ids += 1
        name = f"m{self._ids}"
        if self.beats.member(name, **fields).join().error is not None:
            # Another one has the instance id.
            del self.beats.members[name]

    def _leave(self, member: Beating) -> None:
        is_static = "instance_id" in member.fields and self.rng.random() < 0.7
        member.leave(-2 if is_static else -1)
        member.epoch = -1
        del self.beats.members[member.member_id]
        if is_static and self.rng.random() < 0.8:
            self.join({"instance_id": member.fields["instance_id"]})

    def _fail(self, member: Beating) -> None:
        """What a heartbeat writes is lost, and it with the answer."""
        log = self.beats.log
        log.is_holding = True
        member.beat(owned=True, subscribed_topic_names=["t", "u"])
        log.fail()
        log.is_holding = False

    def partitions(self) -> list[int]:
        topic = self.beats.log.topics.topic("t")
        assert topic is not None
        return list(range(topic.partitions))

    def check(self) -> None:
        group = self.beats.log.shard.groups.consumer.by_id.get("g")
        if group is None:
            return
        targets = [
            (topic, each) for target in group.targets.values() for topic, numbers in target.target.items() for each in numbers
        ]
        assert len(targets) == len(set(targets))
        owned = [
            (topic, each)
            for member in group.members.values()
            for by_topic in (member.assigned, member.pending_revocation)
            for topic, numbers in by_topic.items()
            for each in numbers
        ]
        assert len(owned) == len(set(owned))
        assert group.assignment_epoch <= group.group_epoch

    def settle(self) -> None:
        for _ in range(20):
            for member in self.living():
                member.beat(owned=True)
            self.beats.log.advance(0)
            self.beats.log.finish_tasks()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_target_assignments_of_the_child_may_arrive_at_any_time(seed: int) -> None:
    run = Run(seed)
    run.join({})
    for _ in range(STEPS):
        run.step()
        run.check()
    run.join({})
    run.settle()
    run.check()

    group = run.beats.group
    assert group.assignment_epoch == group.group_epoch
    again = consumer_groups(SnapshotRegistry())
    for offset, record in enumerate(run.beats.log.committed):
        again.replay[type(record.key)](offset, record.key, record.value)
    assert {key: target.value for key, target in again.by_id["g"].targets.items()} == {
        key: target.value for key, target in group.targets.items()
    }
    assert again.by_id["g"].end_offset.value == group.end_offset.value
    given = [each for target in group.targets.values() for numbers in target.target.values() for each in numbers]
    assert sorted(given) == run.partitions()
    away = [member for member in group.members.values() if member.member_epoch == -2]
    if not away:
        assert sorted(each for member in run.living() for each in member.assigned.get("t", [])) == run.partitions()
