"""Streams groups under random heartbeats, time, topics, settings, failed appends and restarts.

After every step

- the live state is what the log says, and what is derived from the records is right
- an active task has one member, and no process has a task twice, in whatever kinds
- every member has a session, and a rebalance timeout while it has tasks to give up

and in the end, when nothing changes any more, every task has one member, and every stateful task its replicas.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest

from coordinator_server.group.streams.group import StreamsGroup, topology_bytes
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from protocol.error_codes import ErrorCode
from tests.support.group import FakeReply
from tests.support.streams_beats import Streaming, StreamsBeats, Tasks, config_of, topology
from tests.support.streams_views import Task, misplaced, view_of_group, wrong_with

SEEDS = range(8)
STEPS = 60
MANY = 10**9
LOST = {ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND}
TOPICS = ("t", "u", "log")


class Model:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        choose = self.random.choice
        config = config_of(
            group_streams_assignment_interval_ms=choose(["0", "0", "1000"]),
            group_streams_initial_rebalance_delay_ms=choose(["0", "0", "3000"]),
            group_streams_assignment_inline_max_size=choose(["0", "1000"]),
        )
        self.beats = StreamsBeats(config, t=3, u=2)
        self.beats.topology = topology(0, "t", "u", stores=("log",))
        self.log = self.beats.log
        self.numbers = self.replicas = 0

    @property
    def members(self) -> list[Streaming]:
        return list(self.beats.members.values())

    def step(self) -> None:
        choices = [
            (self.join, 3),
            (self.beat, 14),
            (self.leave, 1),
            (self.time, 3),
            (self.topics, 2),
            (self.settings, 1),
            (self.fail, 2),
        ]
        self.random.choices([each for each, _ in choices], [weight for _, weight in choices])[0]()
        self.log.finish_tasks()

    def join(self) -> None:
        if len(self.members) < 5:
            self.numbers += 1
            self.answered(self.beats.member(f"m{self.numbers}", self.random.choice("pqr")))

    def beat(self) -> None:
        if self.members:
            self.answered(self.random.choice(self.members))

    def answered(self, member: Streaming) -> None:
        if member.epoch <= 0:
            reply = member.join()
        else:
            reply = member.beat_with_tasks() if self.random.random() < 0.7 else member.beat()
        self.took(member, reply)

    def took(self, member: Streaming, reply: FakeReply) -> None:
        if reply.error in LOST:
            member.epoch, member.active, member.standby = 0, {}, {}
        else:
            assert reply.error in (None, ErrorCode.INVALID_REQUEST), reply.error
            # Tasks that a topic has lost: the client stops them.
            if reply.error is not None:
                member.active, member.standby = {}, {}
        for name in member.missing:
            source = self.log.topics.topic("t")
            assert source is not None
            if self.log.topics.topic(name) is None:
                self.log.topics.create(**{name: source.partitions})

    def leave(self) -> None:
        if self.members:
            member = self.random.choice(self.members)
            member.leave()
            del self.beats.members[member.member_id]

    def time(self) -> None:
        self.log.advance(self.random.choice([10, 1000, 20_000]))

    def topics(self) -> None:
        known = self.log.topics.topic("u")
        if known is None:
            self.log.topics.create(u=2)
        elif self.random.random() < 0.3:
            self.log.topics.delete("u")
        elif known.partitions < 9:
            self.log.topics.extend("u", known.partitions + 1)

    def settings(self) -> None:
        self.replicas = self.random.choice([0, 1, 2])
        self.log.own_settings["g"] = {"streams.num.standby.replicas": str(self.replicas)}

    def fail(self) -> None:
        """A request that is not written; its client asks again. Or a restart."""
        if self.random.random() < 0.4:
            self.log.restart()
        elif self.members:
            self.log.is_holding = True
            member = self.random.choice(self.members)
            before = member.epoch, dict(member.active), dict(member.standby)
            member.beat_with_tasks() if member.epoch > 0 else member.join()
            self.log.fail()
            self.log.is_holding = False
            member.epoch, member.active, member.standby = before

    def check(self) -> None:
        log = self.log
        replayed = log.build(SnapshotRegistry())
        for offset, record in enumerate(log.committed):
            replayed.replay(offset, record)
        live, again = log.shard.digest(LATEST, MANY), replayed.digest(LATEST, MANY)
        assert live is not None
        assert again is not None
        assert live.digest == again.digest
        group = log.shard.groups.streams.by_id.get("g")
        if group is None:
            return
        self.check_tasks(group)
        twin = replayed.groups.streams.by_id["g"]
        assert group.state_at() == twin.state_at()
        assert dict(group.stable_members) == dict(twin.stable_members)
        assert {name for name in TOPICS if "g" in log.shard.groups.streams.subscribed_to(name)} == set(TOPICS)
        members = group.members.values()
        size = sum(group.records.bytes_of(member.metadata) for member in members) + topology_bytes(group.topology)
        assert group.member_bytes.value == log.shard.groups.streams.member_bytes.value == size
        timers = {key for key in log.timer.keys if isinstance(key, tuple)}
        assert {("streams-session", "g", each) for each in group.members} == {
            key for key in timers if key[0] == "streams-session"
        }
        assert {("streams-rebalance", "g", each.member_id) for each in members if each.is_revoking} == {
            key for key in timers if key[0] == "streams-rebalance"
        }

    def check_tasks(self, group: StreamsGroup) -> None:
        view = view_of_group(group)
        assert not [*wrong_with("g", view)]
        owners = {task: member.process_id for member in view.members.values() for task in member.active}
        assert dict(group.active_processes) == owners
        standby: dict[Task, set[str]] = {}
        for member in view.members.values():
            for task in member.standby:
                standby.setdefault(task, set()).add(member.process_id)
        assert dict(group.standby_processes) == standby

    def finish(self) -> None:
        """Who is away is removed, and the others settle."""
        self.log.advance(120_000)
        for member in self.members:
            member.epoch, member.active, member.standby = 0, {}, {}
        if self.log.topics.topic("u") is None:
            self.log.topics.create(u=2)
        for _ in range(25):
            for member in self.members:
                if member.epoch > 0:
                    self.took(member, member.beat_with_tasks())
                else:
                    self.answered(member)
            self.log.advance(1000)
            self.log.finish_tasks()
        if not self.members:
            return
        known = self.log.topics.topic("u")
        assert known is not None
        view = view_of_group(self.log.shard.groups.streams.by_id["g"])
        assert not [*misplaced(view, {"0": 3, "1": known.partitions}, {"0": self.replicas})]
        assert {each.member_id: (each.active, each.standby) for each in self.members} == {
            member_id: (as_lists(member.active), as_lists(member.standby)) for member_id, member in view.members.items()
        }
        assert {member.status == [] for member in self.members} == {True}


def as_lists(tasks: Iterable[Task]) -> Tasks:
    """Tasks as a client knows them."""
    found: Tasks = {}
    for name, partition in sorted(tasks):
        found.setdefault(name, []).append(partition)
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_streams_groups(seed: int) -> None:
    model = Model(seed)
    for _ in range(STEPS):
        model.step()
        model.check()
    model.finish()
    model.check()
