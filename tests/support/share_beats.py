"""Members of a share group that send heartbeats to a GroupShard, as clients do: they remember their epoch and their partitions."""

from __future__ import annotations

from typing import Any

from coordinator_server.config import Config
from coordinator_server.config.load import load
from coordinator_server.group.shard import GroupShard
from coordinator_server.group.share.group import ShareGroup
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from tests.support.group import FakeReply, GroupLog, SentMessage
from tests.support.heartbeats import Partitions


def config_of(**properties: str) -> Config:
    """A configuration without an assignment interval, so that every change has its assignment at once."""
    names = {name.replace("_", "."): value for name, value in properties.items()}
    return load({"group.share.assignment.interval.ms": "0", "group.initial.rebalance.delay.ms": "0", **names})


def initialized(message: SentMessage) -> list[int]:
    """The answer of a shard that does all that it is asked."""
    return [ErrorCode.NONE] * len(message.request.partitions)


class ShareBeats:
    """One shard with topics, the members of group ``g``, and what was written since ``taken`` was called."""

    def __init__(self, config: Config | None = None, /, **topics: int) -> None:
        self.records: list[CoordinatorRecord] = []
        self.log = GroupLog(config or config_of(), lambda _offset, record, _why: self.records.append(record))
        self.log.topics.create(**topics)
        self.members: dict[str, Sharing] = {}

    @property
    def group(self) -> ShareGroup:
        return self.log.shard.groups.share.by_id["g"]

    def member(self, name: str, *topics: str) -> Sharing:
        """A member that subscribes to the topics, or to ``t``."""
        return self.members.setdefault(name, Sharing(self, name, list(topics) or ["t"]))

    def joined(self, *names: str) -> list[Sharing]:
        """Members that have joined, whose partitions are initialized, and that have them."""
        members = [self.member(name) for name in names]
        for member in members:
            member.join()
        self.initialize()
        self.settle()
        return members

    def initialize(self) -> list[SentMessage]:
        """Let the shards of share partitions do what they are asked. Return the messages."""
        return self.log.deliver(initialized)

    def settle(self, rounds: int = 20) -> None:
        """Let all members send heartbeats in turn, until nothing is written."""
        for _ in range(rounds):
            before = self.log.end_offset
            for member in self.members.values():
                if member.epoch > 0:
                    member.beat()
            if self.log.end_offset == before and not self.initialize():
                return
        raise AssertionError(f"not settled in {rounds} rounds")

    def taken(self) -> list[str]:
        """The kinds of the records that were written since the last call; tombstones have a minus."""
        names = [
            ("" if record.value is not None else "-") + type(record.key).__name__.removeprefix("ShareGroup").removesuffix("Key")
            for record in self.records
        ]
        self.records.clear()
        return names

    def state_topics(self) -> dict[str, Partitions]:
        """The group's share partitions by name of the topic: ``initializing``, ``initialized``; of those ``deleting``, all."""
        topics = self.group.state_topics.value
        return {
            "initializing": {topic.name: topic.partitions for topic in topics.initializing.values()},
            "initialized": {topic.name: topic.partitions for topic in topics.initialized.values()},
        }


class Sharing:
    """One member. ``epoch`` and ``assigned`` are those of its last good answer."""

    def __init__(self, beats: ShareBeats, member_id: str, topics: list[str]) -> None:
        self._beats = beats
        self.member_id = member_id
        self.topics = topics
        self.epoch = 0
        self.assigned: Partitions = {}

    def join(self, **fields: Any) -> FakeReply:
        """Send a heartbeat of epoch 0."""
        return self.beat(epoch=0, **{"subscribed_topic_names": self.topics, **fields})

    def beat(self, *, epoch: int | None = None, **fields: Any) -> FakeReply:
        """Send a heartbeat that says only what is given."""
        return self.send(ShareGroupHeartbeatRequest("g", self.member_id, self.epoch if epoch is None else epoch, **fields))

    def leave(self) -> FakeReply:
        return self.beat(epoch=-1)

    def send(self, request: ShareGroupHeartbeatRequest) -> FakeReply:
        """Send any heartbeat, and remember its answer."""
        reply = self._beats.log.run(GroupShard.share_group_heartbeat, request, version=1)
        response = reply.response
        if isinstance(response, ShareGroupHeartbeatResponse) and response.error_code == ErrorCode.NONE:
            self.epoch = response.member_epoch
            if response.assignment is not None:
                topics = self._beats.log.topics
                named = [(topics.topic_by_id(each.topic_id), each.partitions) for each in response.assignment.topic_partitions]
                self.assigned = {topic.name: sorted(numbers) for topic, numbers in named if topic is not None and numbers}
        return reply
