"""Share groups under random heartbeats, time, topics, failed appends, restarts,
and shards of share partitions that refuse or are slow.

After every step

- the live state is what the log says, and what is derived from the records is right
- a partition is assigned only if its state has been initialized
- every member has a session, and while partitions are to get a state, a message is on its way

and in the end, when nothing changes any more, all partitions that somebody wants have a member, and all members have some if there
are enough.
"""

from __future__ import annotations

from random import Random

import pytest

from coordinator_server.machine.timeline import LATEST, SnapshotRegistry
from protocol.error_codes import ErrorCode
from tests.support.group import FakeReply, SentMessage
from tests.support.share_beats import ShareBeats, Sharing, config_of, initialized

SEEDS = range(8)
STEPS = 60
MANY = 10**9
LOST = {ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND}


class Model:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        interval = self.random.choice(["0", "0", "1000"])
        self.beats = ShareBeats(config_of(group_share_assignment_interval_ms=interval), t=3, u=2)
        self.log = self.beats.log
        self.numbers = 0

    @property
    def members(self) -> list[Sharing]:
        return list(self.beats.members.values())

    def step(self) -> None:
        choices = [
            (self.join, 3),
            (self.beat, 12),
            (self.leave, 1),
            (self.time, 2),
            (self.topics, 2),
            (self.fail, 2),
            (self.shards, 5),
        ]
        self.random.choices([each for each, _ in choices], [weight for _, weight in choices])[0]()

    def join(self) -> None:
        if len(self.members) < 5:
            self.numbers += 1
            topics = self.random.choice([["t"], ["t", "u"], ["u"], ["t", "v"]])
            self.answered(self.beats.member(f"m{self.numbers}", *topics), first=True)

    def beat(self) -> None:
        if self.members:
            self.answered(self.random.choice(self.members), first=self.random.random() < 0.1)

    def answered(self, member: Sharing, *, first: bool) -> None:
        reply = member.join() if first or member.epoch <= 0 else member.beat()
        self.took(member, reply)

    def took(self, member: Sharing, reply: FakeReply) -> None:
        if reply.error in LOST:
            member.epoch, member.assigned = 0, {}
        else:
            assert reply.error is None, reply.error

    def leave(self) -> None:
        if self.members:
            member = self.random.choice(self.members)
            member.leave()
            del self.beats.members[member.member_id]

    def time(self) -> None:
        self.log.advance(self.random.choice([10, 1000, 20_000]))

    def topics(self) -> None:
        topics = self.log.topics
        name = self.random.choice("tuv")
        topic = topics.topic(name)
        if topic is None:
            topics.create(**{name: self.random.randint(1, 4)})
        elif self.random.random() < 0.3 and name == "v":
            topics.delete(name)
        elif topic.partitions < 9:
            topics.extend(name, topic.partitions + 1)

    def fail(self) -> None:
        """A request that is not written; its client asks again. Or a restart."""
        if self.random.random() < 0.4:
            self.log.restart()
        elif self.members:
            self.log.is_holding = True
            member = self.random.choice(self.members)
            before = member.epoch, dict(member.assigned)
            member.beat() if member.epoch > 0 else member.join()
            self.log.fail()
            self.log.is_holding = False
            member.epoch, member.assigned = before

    def shards(self) -> None:
        """Outcomes of messages: done, refused, or not written here and known again later."""
        chance = self.random.random()
        if chance < 0.2:
            self.log.deliver(self.refused)
        elif chance < 0.4:
            self.log.is_holding = True
            self.log.deliver(initialized)
            self.log.fail()
            self.log.is_holding = False
        else:
            self.log.deliver(initialized)

    def refused(self, message: SentMessage) -> list[int]:
        return [self.random.choice([ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]) for _ in message.request.partitions]

    def check(self) -> None:
        log = self.log
        replayed = log.build(SnapshotRegistry())
        for offset, record in enumerate(log.committed):
            replayed.replay(offset, record)
        live, again = log.shard.digest(LATEST, MANY), replayed.digest(LATEST, MANY)
        assert live is not None
        assert again is not None
        assert live.digest == again.digest
        group = log.shard.groups.share.by_id.get("g")
        if group is None:
            return
        members = list(group.members.values())
        wanted: dict[str, int] = {}
        for member in members:
            for name in member.metadata.subscribed_topic_names:
                wanted[name] = wanted.get(name, 0) + 1
        assert dict(group.subscribed_topics.items()) == wanted
        assert {name for name in "tuv" if "g" in log.shard.groups.share.subscribed_to(name)} == set(wanted)
        assert group.member_bytes.value == sum(group.records.bytes_of(member.metadata) for member in members)
        assert {("share-session", "g", member.member_id) for member in members} == {
            key for key in log.timer.keys if isinstance(key, tuple) and key[0] == "share-session"
        }
        state = group.state_topics.value
        ready = {(topic_id, partition) for topic_id, topic in state.initialized.items() for partition in topic.partitions}
        for member in members:
            present = {key: numbers for key, numbers in member.assigned.items() if log.topics.topic_by_id(key) is not None}
            assert {(topic_id, each) for topic_id, numbers in present.items() for each in numbers} <= ready
        # The messages of an attempt that are answered already have no other trace.
        is_asked = any(message.name == "initialize-states" for message in log.outbox.messages.values())
        assert is_asked or not state.initializing

    def finish(self) -> None:
        """Who is away is removed, and the others settle."""
        self.log.advance(60_000)
        for member in self.members:
            member.epoch = 0
            self.answered(member, first=True)
        for _ in range(10):
            self.log.advance(1000)
            self.log.deliver(initialized)
            for member in self.members:
                self.answered(member, first=False)
        members = self.members
        wanted = {
            (name, partition)
            for name in {name for member in members for name in member.topics}
            if (topic := self.log.topics.topic(name)) is not None
            for partition in range(topic.partitions)
        }
        given = {(name, partition) for member in members for name, numbers in member.assigned.items() for partition in numbers}
        assert given == wanted
        for member in members:
            assert member.assigned.keys() <= set(member.topics)
            known = [topic for name in member.topics if (topic := self.log.topics.topic(name)) is not None]
            assert member.assigned or not known


@pytest.mark.parametrize("seed", SEEDS)
def test_share_groups(seed: int) -> None:
    model = Model(seed)
    for _ in range(STEPS):
        model.step()
        model.check()
    model.finish()
    model.check()
