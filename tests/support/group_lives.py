"""Random lives of a group, lived by consumers on a GroupShard: they join, leave, die, restart, want something else; topics grow.

A life is what its records say: ``MemberRecord`` by ``MemberRecord``, and the topics over time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, Final

from coordinator_server.client.consumer.assignors import Assignor
from coordinator_server.client.consumer.subscription import (
    Subscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from coordinator_server.client.offsets import TopicPartition
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.provenance import Provenance
from coordinator_server.whatif.life import Life
from coordinator_server.whatif.reader import LifeReader
from coordinator_server.whatif.records import CONSUMER_KEYS, MemberRecord
from coordinator_server.whatif.topics import TopicHistory
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.cluster_metadata import PartitionRecord, TopicRecord
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from protocol.messages.group_records import GroupMetadataKey
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.leave_group import LeaveGroupRequest
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.support.group import FakeReply, GroupLog
from tests.support.heartbeats import config_of

GROUP: Final = "g"
SESSION_MS: Final = 10_000
BEAT_MS: Final = 3_000
TOPICS: Final = ("a", "b", "orders")
MOST_MEMBERS: Final = 6


class Lives:
    """A group, its topics, and the records of both."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.records: list[MemberRecord] = []
        self.catalog: list[tuple[int, Message]] = []
        self._provenance: Provenance | None = None
        self.log = GroupLog(config_of(), self._note)
        self.wants = tuple(self.random.sample(TOPICS, self.random.randint(1, len(TOPICS))))
        for topic in TOPICS:
            self.log.topics.create(**{topic: 0})
            self.grow(topic, self.random.randint(1, 9))
        self.names = 0

    def grow(self, topic: str, partitions: int) -> None:
        """Give a topic so many partitions."""
        self.log.clock.advance(1)
        found = self.log.topics.topic(topic)
        assert found is not None
        if not found.partitions:
            self.catalog.append((self.now_ms, TopicRecord(topic, found.topic_id)))
        self.catalog += [(self.now_ms, PartitionRecord(number, found.topic_id)) for number in range(found.partitions, partitions)]
        self.log.topics.extend(topic, partitions)

    @property
    def now_ms(self) -> int:
        return self.log.clock.wall_ms()

    def life(self, begins_at: int = 0, keep: Callable[[MemberRecord], bool] = lambda _: True) -> Life:
        """What the log says of the group."""
        reader = LifeReader(TopicHistory(self.catalog))
        for record in filter(keep, self.records):
            reader.take(record)
        return reader.lives(begins_at).get(GROUP, Life(GROUP, [], []))

    def _note(self, offset: int, record: CoordinatorRecord, provenance: Provenance | None) -> None:
        self._provenance = provenance or self._provenance
        if isinstance(record.key, (GroupMetadataKey, *CONSUMER_KEYS)):
            self.records.append(MemberRecord(GROUP, offset, self.now_ms, record.key, record.value, self._provenance))


class Consumer:
    """A consumer of the classic protocol."""

    def __init__(self, group: ClassicGroup, client_id: str, wants: tuple[str, ...], instance_id: str | None = None) -> None:
        self._group = group
        self.client_id = client_id
        self.instance_id = instance_id
        self.wants = wants
        self.member_id = ""
        self.generation = -1
        self.owned_since = -1
        self.assigned: tuple[TopicPartition, ...] = ()
        self.must_join = True
        self.leads: Mapping[str, Subscription] | None = None
        self.has_joined = False
        # Until its JoinGroup or SyncGroup is answered.
        self.is_waiting = False

    def join(self) -> None:
        assignor = self._group.assignor
        claims = self.assigned if assignor.is_cooperative else ()
        data = assignor.user_data(self.owned_since, self.assigned)
        metadata = encode_subscription(Subscription(self.wants, claims, self.owned_since, data))
        protocol = JoinGroupRequestProtocol(assignor.name, metadata)
        member = (self.member_id, self.instance_id)
        request = JoinGroupRequest(GROUP, self._group.session_ms, 60_000, *member, "consumer", [protocol])
        self.must_join, self.is_waiting = False, True
        reply = self._run(GroupShard.join_group, request, 9, self._joined)
        if reply.response is not None and reply.response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = request.member_id = reply.response.member_id
            self.is_waiting = True
            self._run(GroupShard.join_group, request, 9, self._joined)

    def sync(self) -> None:
        request = SyncGroupRequest(
            GROUP, self.generation, self.member_id, self.instance_id, "consumer", self._group.assignor.name
        )
        if self.leads is not None:
            found = self._group.assignor.assign(self._group.counts, self.leads)
            request.assignments = [SyncGroupRequestAssignment(key, encode_assignment(each)) for key, each in found.items()]
        self.has_joined, self.is_waiting = False, True
        self._run(GroupShard.sync_group, request, 5, self._synced)

    def commit(self) -> bool:
        """Commit an offset; whether the coordinator knows the member."""
        topic = OffsetCommitRequestTopic(self.wants[0], partitions=[OffsetCommitRequestPartition(0)])
        request = OffsetCommitRequest(GROUP, self.generation, self.member_id, self.instance_id, topics=[topic])
        return self._run(GroupShard.commit_offsets, request, 8).error is None

    def beat(self) -> None:
        """Send a heartbeat, unless the member is about to join, or waits for an answer."""
        if self.is_waiting or self.has_joined or self.must_join:
            return
        request = HeartbeatRequest(GROUP, self.generation, self.member_id, self.instance_id)
        reply = self._run(GroupShard.heartbeat, request, 4)
        error = reply.error or ErrorCode(reply.response.error_code)
        if error == ErrorCode.REBALANCE_IN_PROGRESS:
            self.must_join = True
        elif error != ErrorCode.NONE:
            self.member_id, self.generation, self.assigned, self.owned_since, self.must_join = "", -1, (), -1, True

    def leave(self) -> None:
        self._run(GroupShard.leave_group, LeaveGroupRequest(GROUP, self.member_id), 2)

    def _run(self, operation: Any, request: Any, version: int, on_answer: Callable[[FakeReply], None] | None = None) -> FakeReply:
        return self._group.lives.log.run(operation, request, version=version, client_id=self.client_id, on_answer=on_answer)

    def _joined(self, reply: FakeReply) -> None:
        found = reply.response
        self.is_waiting = False
        if found is None or found.error_code != ErrorCode.NONE:
            if found is None or found.error_code != ErrorCode.MEMBER_ID_REQUIRED:
                self.member_id, self.must_join = "", True
            return
        self.member_id, self.generation, self.has_joined = found.member_id, found.generation_id, True
        leads = found.leader == found.member_id and not found.skip_assignment
        listed = {each.member_id: decode_subscription(each.metadata, each.group_instance_id) for each in found.members}
        self.leads = listed if leads else None

    def _synced(self, reply: FakeReply) -> None:
        self.is_waiting = False
        if reply.response is None or reply.response.error_code != ErrorCode.NONE:
            self.must_join = True
            return
        given = decode_assignment(reply.response.assignment)
        # What a cooperative member gives up has its next owner in another rebalance.
        self.must_join |= self._group.assignor.is_cooperative and bool(set(self.assigned) - set(given))
        self.assigned, self.owned_since = given, self.generation


class ClassicGroup:
    """A classic group whose members all have one assignor."""

    def __init__(self, seed: int, assignor: Assignor, *, is_alike: bool = False, with_static: bool = True) -> None:
        self.lives = Lives(seed)
        self.random = self.lives.random
        self.assignor = assignor
        self.is_alike = is_alike
        self.with_static = with_static
        self.session_ms = SESSION_MS
        self.members: list[Consumer] = []

    @property
    def counts(self) -> dict[str, int]:
        return {topic.name: topic.partitions for topic in self.lives.log.topics.all_topics()}

    def live(self, steps: int) -> Lives:
        """Live so many changes, and what they lead to."""
        for _ in range(steps):
            choices = [(self.join, 4), (self.leave, 2), (self.die, 2), (self.restart, 3), (self.grow, 1), (self.change, 1)]
            self.random.choices([each for each, _ in choices], [weight for _, weight in choices])[0]()
            if self.random.random() < 0.8:
                self.settle()
        self.settle()
        return self.lives

    def join(self) -> None:
        """Some members come, most often one."""
        for _ in range(self.random.choice([1, 1, 1, 3])):
            if len(self.members) < MOST_MEMBERS:
                self.lives.names += 1
                number = self.lives.names
                instance_id = f"i{number}" if self.with_static and self.random.random() < 0.25 else None
                self.members.append(Consumer(self, f"client-{number}", self._wants(), instance_id))

    def leave(self) -> None:
        if self.members:
            gone = self.members.pop(self.random.randrange(len(self.members)))
            if gone.member_id and gone.instance_id is None:
                gone.leave()

    def die(self) -> None:
        """A member falls silent, and its session ends."""
        if self.members:
            self.members.pop(self.random.randrange(len(self.members)))
            self.wait(SESSION_MS + BEAT_MS)

    def restart(self) -> None:
        """A member leaves and comes back soon, as the same client."""
        if self.members:
            self.restart_of(self.random.randrange(len(self.members)), away_ms=self.random.choice([0, BEAT_MS]))

    def restart_of(self, place: int, *, away_ms: int) -> None:
        """One of the members restarts. If it is away for a while, the others rebalance without it."""
        before = self.members.pop(place)
        if before.member_id and before.instance_id is None:
            before.leave()
        if away_ms:
            self.settle()
            self.wait(away_ms)
        self.members.insert(place, Consumer(self, before.client_id, before.wants, before.instance_id))

    def grow(self) -> None:
        """A topic gets partitions, and the leader notices."""
        topic = self.random.choice(TOPICS)
        self.lives.grow(topic, self.counts[topic] + self.random.randint(1, 3))
        for member in self.members:
            member.must_join |= member.leads is not None

    def change(self) -> None:
        if self.members and not self.is_alike:
            member = self.random.choice(self.members)
            member.wants, member.must_join = self._wants(), True

    def wait(self, ms: int) -> None:
        """Time passes, in which members send heartbeats."""
        for _ in range(-(-ms // BEAT_MS)):
            self.lives.log.advance(BEAT_MS)
            for member in self.members:
                member.beat()

    def settle(self) -> None:
        """Rebalance until nobody asks for it."""
        for _ in range(20):
            for member in self.members:
                member.beat()
            for member in self.members:
                if member.must_join:
                    member.join()
            self.lives.log.advance(self.random.choice([0, 5]))
            for member in sorted(self.members, key=lambda each: each.leads is None):
                if member.has_joined:
                    member.sync()
            if any(member.is_waiting for member in self.members):
                # For one that is gone, perhaps.
                self.lives.log.advance(BEAT_MS)
            elif not any(member.must_join or member.has_joined for member in self.members):
                return
        raise AssertionError("the group does not settle")

    def _wants(self) -> tuple[str, ...]:
        return self.lives.wants if self.is_alike else tuple(self.random.sample(TOPICS, self.random.randint(1, len(TOPICS))))


class Modern:
    """A member of a consumer group."""

    def __init__(self, member_id: str, client_id: str, wants: list[str], instance_id: str | None, assignor: str | None) -> None:
        self.member_id = member_id
        self.client_id = client_id
        self.wants = wants
        self.instance_id = instance_id
        self.assignor = assignor
        self.epoch = 0
        self.assigned: dict[bytes, list[int]] = {}


class ModernGroup:
    """A consumer group (KIP-848). All its members ask for one assignor, or for none."""

    def __init__(self, seed: int, assignor: str | None, *, is_alike: bool = False) -> None:
        self.lives = Lives(seed)
        self.random = self.lives.random
        self.assignor = assignor
        self.is_alike = is_alike
        self.members: list[Modern] = []

    def live(self, steps: int) -> Lives:
        """Live so many changes, and what they lead to."""
        for _ in range(steps):
            choices = [(self.join, 4), (self.leave, 2), (self.die, 1), (self.restart, 2), (self.grow, 1), (self.change, 1)]
            self.random.choices([each for each, _ in choices], [weight for _, weight in choices])[0]()
            self.lives.log.advance(self.random.choice([1, 400]))
            for _ in range(self.random.choice([0, 1, 6])):
                self.beat()
        return self.lives

    def join(self) -> None:
        if len(self.members) < MOST_MEMBERS:
            self.enter()

    def enter(self, *, is_static: bool = False) -> None:
        """A member joins, however many there are."""
        self.lives.names += 1
        number = self.lives.names
        instance_id = f"i{number}" if self.random.random() < 0.25 or is_static else None
        self._enter(Modern(f"m{self.random.getrandbits(40):x}", f"client-{number}", self._wants(), instance_id, self.assignor))

    def leave(self) -> None:
        if self.members:
            self._send(self.members.pop(self.random.randrange(len(self.members))), -1)

    def die(self) -> None:
        if self.members:
            self.members.pop(self.random.randrange(len(self.members)))
            for _ in range(18):
                self.lives.log.advance(BEAT_MS)
                self.beat()

    def restart(self) -> None:
        if self.members:
            self.restart_of(self.random.randrange(len(self.members)))

    def restart_of(self, place: int, wants: list[str] | None = None) -> None:
        """One of the members leaves and comes back at once; it may want something else then."""
        before = self.members.pop(place)
        self._send(before, -1 if before.instance_id is None else -2)
        name = f"m{self.random.getrandbits(40):x}"
        self._enter(Modern(name, before.client_id, wants or before.wants, before.instance_id, before.assignor))

    def grow(self) -> None:
        topic = self.random.choice(TOPICS)
        found = self.lives.log.topics.topic(topic)
        assert found is not None
        self.lives.grow(topic, found.partitions + self.random.randint(1, 3))

    def change(self) -> None:
        if self.members and not self.is_alike:
            member = self.random.choice(self.members)
            member.wants = self._wants()
            self._send(member, member.epoch, subscribed_topic_names=member.wants)

    def beat(self) -> None:
        for member in self.members:
            self.beat_of(member)

    def beat_of(self, member: Modern) -> None:
        """Send a heartbeat. A member that the coordinator does not know has the epoch 0 then, and joins with its next one."""
        owned = [TopicPartitions(topic_id, numbers) for topic_id, numbers in member.assigned.items()]
        self._send(member, member.epoch, topic_partitions=owned)

    def _enter(self, member: Modern) -> None:
        self.members.append(member)
        fields = {"subscribed_topic_names": member.wants, "server_assignor": member.assignor, "rebalance_timeout_ms": 60_000}
        self._send(member, 0, topic_partitions=[], **fields)

    def _send(self, member: Modern, epoch: int, **fields: Any) -> None:
        if epoch == 0:
            known = {"subscribed_topic_names": member.wants, "server_assignor": member.assignor, "rebalance_timeout_ms": 60_000}
            fields = {**known, "topic_partitions": [], **fields}
        request = ConsumerGroupHeartbeatRequest(GROUP, member.member_id, epoch, instance_id=member.instance_id, **fields)
        reply = self.lives.log.run(GroupShard.consumer_group_heartbeat, request, version=1, client_id=member.client_id)
        if reply.response is None:
            member.epoch, member.assigned = 0, {}
            return
        member.epoch = reply.response.member_epoch
        if reply.response.assignment is not None:
            member.assigned = {each.topic_id: each.partitions for each in reply.response.assignment.topic_partitions}

    def _wants(self) -> list[str]:
        return list(self.lives.wants) if self.is_alike else self.random.sample(TOPICS, self.random.randint(1, len(TOPICS)))
