"""Members of a consumer group that send heartbeats to a GroupShard, as clients do:
they remember their epoch and their partitions.
"""

from __future__ import annotations

from typing import Any

from coordinator_server.config import Config
from coordinator_server.config.load import load
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.shard import GroupShard
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from tests.support.group import FakeReply, GroupLog

Partitions = dict[str, list[int]]


def config_of(**properties: str) -> Config:
    """A configuration without an assignment interval, so that every change has its assignment at once."""
    names = {name.replace("_", "."): value for name, value in properties.items()}
    return load({"group.consumer.assignment.interval.ms": "0", "group.initial.rebalance.delay.ms": "0", **names})


class Beats:
    """One shard with topics, the members of group ``g``, and what was written since ``taken`` was called."""

    def __init__(self, config: Config | None = None, /, **topics: int) -> None:
        self.records: list[CoordinatorRecord] = []
        self.log = GroupLog(config or config_of(), lambda _offset, record, _why: self.records.append(record))
        self.log.topics.create(**topics)
        self.members: dict[str, Beating] = {}

    @property
    def group(self) -> ConsumerGroup:
        return self.log.shard.groups.consumer.by_id["g"]

    def member(self, name: str, **fields: Any) -> Beating:
        """A member; ``fields`` are those of its joins."""
        return self.members.setdefault(name, Beating(self, name, fields))

    def taken(self) -> list[str]:
        """The kinds of the records that were written since the last call; tombstones have a minus."""
        names = [
            ("" if record.value is not None else "-") + type(record.key).__name__[len("ConsumerGroup") : -len("Key")]
            if type(record.key).__name__.startswith("ConsumerGroup")
            else ("" if record.value is not None else "-") + type(record.key).__name__[: -len("Key")]
            for record in self.records
        ]
        self.records.clear()
        return names

    def settle(self, rounds: int = 20) -> int:
        """Let all members send heartbeats in turn, with what they own, until nothing is written. The number of rounds."""
        for number in range(rounds):
            self.records.clear()
            for member in list(self.members.values()):
                if member.epoch >= 0:
                    member.beat(owned=True)
            if not self.records:
                return number
        raise AssertionError(f"not settled in {rounds} rounds")


class Beating:
    """One member. ``epoch`` and ``assigned`` are those of its last good answer."""

    def __init__(self, beats: Beats, member_id: str, fields: dict[str, Any]) -> None:
        self._beats = beats
        self.member_id = member_id
        self.fields = {"rebalance_timeout_ms": 60_000, "subscribed_topic_names": ["t"], **fields}
        self.epoch = 0
        self.assigned: Partitions = {}

    def join(self, **fields: Any) -> FakeReply:
        """Send a heartbeat of epoch 0, with everything."""
        return self._send(
            ConsumerGroupHeartbeatRequest("g", self.member_id, 0, **{"topic_partitions": [], **self.fields, **fields})
        )

    def beat(self, *, owned: bool | Partitions = False, epoch: int | None = None, **fields: Any) -> FakeReply:
        """Send a heartbeat that says only what is given. ``owned``: what the member was given last, or other partitions."""
        static = {key: value for key, value in self.fields.items() if key == "instance_id"}
        if owned is not False:
            fields["topic_partitions"] = self._beats_partitions(self.assigned if owned is True else owned)
        at = self.epoch if epoch is None else epoch
        return self._send(ConsumerGroupHeartbeatRequest("g", self.member_id, at, **{**static, **fields}))

    def leave(self, epoch: int = -1) -> FakeReply:
        return self.beat(epoch=epoch)

    def _send(self, request: ConsumerGroupHeartbeatRequest, version: int = 1) -> FakeReply:
        reply = self._beats.log.run(GroupShard.consumer_group_heartbeat, request, version=version)
        response = reply.response
        if isinstance(response, ConsumerGroupHeartbeatResponse) and response.error_code == ErrorCode.NONE:
            self.epoch = response.member_epoch
            self.member_id = response.member_id or ""
            if response.assignment is not None:
                self.assigned = self._beats_names(response.assignment.topic_partitions)
        return reply

    def _beats_partitions(self, partitions: Partitions) -> list[TopicPartitions]:
        topics = self._beats.log.topics
        found = {name: topics.topic(name) for name in partitions}
        return [
            TopicPartitions(b"?" * 16 if (topic := found[name]) is None else topic.topic_id, numbers)
            for name, numbers in partitions.items()
        ]

    def _beats_names(self, partitions: list[TopicPartitions]) -> Partitions:
        topics = self._beats.log.topics
        named = [(topics.topic_by_id(each.topic_id), each.partitions) for each in partitions]
        return {topic.name: sorted(numbers) for topic, numbers in named if topic is not None}
