"""Consumer groups under random heartbeats, time, topics, failed appends and restarts. After every step

- the live state is what the log says, and what is derived from the records is right
- no partition is had by two members, as far as they have been answered
- every member has a session, and a rebalance timeout if it has partitions to give up

and in the end, when nothing changes any more, all partitions have an owner.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from coordinator_server.group.consumer.group import ConsumerGroup, SubscriptionCount
from coordinator_server.group.consumer.member import NO_ASSIGNMENT, NO_METADATA, MemberState
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from protocol.error_codes import ErrorCode
from tests.support.group import FakeReply
from tests.support.heartbeats import Beating, Beats, Partitions, config_of

SEEDS = range(8)
STEPS = 60
MANY = 10**9


Position = tuple[str, int]


def positions(partitions: Partitions) -> set[Position]:
    return {(topic, partition) for topic, numbers in partitions.items() for partition in numbers}


class Model:
    """The members of a group as their clients see them.

    A client has what it was given, and goes on having what it is to give up until it tells what it owns.
    """

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        interval = self.random.choice(["0", "0", "1000"])
        self.beats = Beats(config_of(group_consumer_assignment_interval_ms=interval), t=3, u=2)
        self.numbers = 0
        self.having: dict[str, set[Position]] = {}

    @property
    def members(self) -> list[Beating]:
        return list(self.beats.members.values())

    def step(self) -> None:
        choices = [
            (self.join, 3),
            (self.beat, 12),
            (self.leave, 1),
            (self.time, 2),
            (self.topics, 1),
            (self.log, 2),
        ]
        self.random.choices([each for each, _ in choices], [weight for _, weight in choices])[0]()

    def join(self) -> None:
        if len(self.members) >= 5:
            return
        self.numbers += 1
        instance_id = self.random.choice([None, None, "i", "j"])
        names = self.random.choice([["t"], ["t", "u"], ["u"], []])
        assignor = self.random.choice([None, "range", "uniform"])
        member = self.beats.member(
            f"m{self.numbers}", instance_id=instance_id, subscribed_topic_names=names, server_assignor=assignor
        )
        reply = member.join()
        self.answered(member, reply)
        if reply.error is not None:
            self.beats.members.pop(member.member_id, None)

    def beat(self) -> None:
        if not self.members:
            return
        member = self.random.choice(self.members)
        if member.epoch <= 0:
            self.answered(member, member.join())
            return
        changes: dict[str, Any] = (
            {"subscribed_topic_names": self.random.choice([["t"], ["t", "u"]])} if self.random.random() < 0.1 else {}
        )
        is_telling = self.random.random() < 0.7
        if is_telling:
            self.having[member.member_id] = positions(member.assigned)
        self.answered(member, member.beat(owned=is_telling, **changes))

    def answered(self, member: Beating, reply: FakeReply) -> None:
        if reply.error in {ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND}:
            # It gives up everything and joins again.
            member.epoch, member.assigned = 0, {}
            self.having[member.member_id] = set()
        elif reply.error in {ErrorCode.FENCED_INSTANCE_ID, ErrorCode.UNRELEASED_INSTANCE_ID}:
            del self.beats.members[member.member_id]
            return
        self.having.setdefault(member.member_id, set()).update(positions(member.assigned))

    def leave(self) -> None:
        if self.members:
            member = self.random.choice(self.members)
            is_static = "instance_id" in member.fields and member.fields["instance_id"] is not None
            member.leave(self.random.choice([-1, -2]) if is_static else -1)
            del self.beats.members[member.member_id]

    def time(self) -> None:
        before = {member.member_id for member in self.members}
        self.beats.log.advance(self.random.choice([10, 1000, 20_000]))
        group = self.group
        # A client whose session has ended finds out at its next heartbeat; until then it may believe what it likes.
        for member in self.members:
            if member.member_id in before and (group is None or member.member_id not in group.members):
                member.assigned = {}
                self.having[member.member_id] = set()

    def topics(self) -> None:
        topics = self.beats.log.topics
        topic = topics.topic("t")
        if topic is not None and topic.partitions < 9:
            topics.extend("t", topic.partitions + 1)

    def log(self) -> None:
        """A request that is not written; its client asks again. Or a restart."""
        log = self.beats.log
        if self.random.random() < 0.4:
            log.restart()
            return
        if not self.members:
            return
        if self.random.random() < 0.5:
            self.topics()
        log.is_holding = True
        member = self.random.choice(self.members)
        before = member.epoch, dict(member.assigned)
        self.having[member.member_id] = positions(member.assigned)
        member.beat(owned=True) if member.epoch > 0 else member.join()
        log.fail()
        log.is_holding = False
        member.epoch, member.assigned = before

    @property
    def group(self) -> ConsumerGroup | None:
        return self.beats.log.shard.groups.consumer.by_id.get("g")

    def check(self) -> None:
        log, group = self.beats.log, self.group
        replayed = log.build(SnapshotRegistry())
        for offset, record in enumerate(log.committed):
            replayed.replay(offset, record)
        live, again = log.shard.digest(LATEST, MANY), replayed.digest(LATEST, MANY)
        assert live is not None
        assert again is not None
        assert live.digest == again.digest
        if group is not None:
            _check_derived(group)
            for member_id, member in group.members.items():
                assert ("consumer-session", "g", member_id) in log.timer.keys
                # A static member that is away keeps its state, and has nothing to give up.
                is_revoking = member.state is MemberState.UNREVOKED_PARTITIONS and member.member_epoch >= 0
                assert not is_revoking or ("consumer-rebalance", "g", member_id) in log.timer.keys
        owners = Counter(position for member in self.members for position in self.having.get(member.member_id, ()))
        assert not [position for position, count in owners.items() if count > 1]

    def finish(self) -> None:
        """Whoever is away is removed, and the others settle.

        Then topics change: all partitions that somebody wants get an owner.
        """
        self.beats.log.advance(60_000)
        for member in self.members:
            member.epoch, member.assigned = 0, {}
            self.having[member.member_id] = set()
            self.answered(member, member.join())
        self.settle()
        self.topics()
        self.log()
        self.settle()
        group = self.group
        if group is None or not group.members:
            return
        wanted = {
            (name, partition)
            for name in group.subscribed_topics
            if (topic := self.beats.log.topics.topic(name)) is not None
            for partition in range(topic.partitions)
        }
        owned = [position for member in self.members for position in positions(member.assigned)]
        assert sorted(owned) == sorted(wanted)
        assert all(member.is_reconciled_to(group.group_epoch) for member in group.members.values())

    def settle(self) -> None:
        """Everybody is up, and does what it is told."""
        for _ in range(10):
            self.beats.log.advance(1000)
            for member in self.members:
                self.having[member.member_id] = positions(member.assigned)
                # A steady member does not say what it owns.
                is_telling = self.random.random() < 0.7
                self.answered(member, member.beat(owned=is_telling) if member.epoch > 0 else member.join())


def _check_derived(group: ConsumerGroup) -> None:
    members = group.members.values()
    assert all(member.metadata is not NO_METADATA and member.current is not NO_ASSIGNMENT for member in members)
    names = Counter(name for member in members for name in member.metadata.subscribed_topic_names)
    assert group.subscribed_topics == {name: SubscriptionCount(count, 0) for name, count in names.items()}
    assert group.server_assignors == Counter(
        member.metadata.server_assignor for member in members if member.metadata.server_assignor is not None
    )
    assert group.static_members == {each.instance_id: each.member_id for each in members if each.instance_id is not None}
    assert group.member_bytes.value == sum(group.records.bytes_of(member.metadata) for member in members)
    owned = [
        (topic_id, partition, member.member_epoch)
        for member in members
        for part in (member.assigned, member.pending_revocation)
        for topic_id, epochs in part.items()
        for partition in epochs
    ]
    assert sorted(owned) == sorted(
        (topic_id, partition, epoch) for topic_id, epochs in group.partition_epochs.items() for partition, epoch in epochs.items()
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_random_heartbeats(seed: int) -> None:
    model = Model(seed)
    for _ in range(STEPS):
        model.step()
        model.check()
    model.finish()
    model.check()
