"""Members of a streams group that send heartbeats to a GroupShard, as clients do: they remember their epoch and their tasks."""

from __future__ import annotations

from typing import Any

from coordinator_server.config import Config
from coordinator_server.config.load import load
from coordinator_server.group.shard import GroupShard
from coordinator_server.group.streams.answer import WithMissingTopics
from coordinator_server.group.streams.group import StreamsGroup
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
    TaskIds,
    TopicInfo,
    Topology,
)
from tests.support.group import FakeReply, GroupLog

Tasks = dict[str, list[int]]


def config_of(**properties: str) -> Config:
    """A configuration without waiting times, so that every change has its assignment at once."""
    names = {name.replace("_", "."): value for name, value in properties.items()}
    return load({"group.streams.assignment.interval.ms": "0", "group.streams.initial.rebalance.delay.ms": "0"} | names)


def topology(epoch: int = 0, *sources: str, stores: tuple[str, ...] = ()) -> Topology:
    """One subtopology for each source topic, ``t`` if none is given. The first has the stores: changelog topics."""
    subtopologies = [Subtopology(str(number), [source]) for number, source in enumerate(sources or ("t",))]
    subtopologies[0].state_changelog_topics = [TopicInfo(name) for name in stores]
    return Topology(epoch, subtopologies)


class StreamsBeats:
    """One shard with topics, the members of group ``g``, and what was written since ``taken`` was called."""

    def __init__(self, config: Config | None = None, /, **topics: int) -> None:
        self.records: list[CoordinatorRecord] = []
        self.log = GroupLog(config or config_of(), lambda _offset, record, _why: self.records.append(record))
        self.log.topics.create(**topics)
        self.topology = topology()
        self.members: dict[str, Streaming] = {}

    @property
    def group(self) -> StreamsGroup:
        return self.log.shard.groups.streams.by_id["g"]

    def member(self, name: str, process_id: str | None = None) -> Streaming:
        """A member in a process of its own, unless one is given."""
        return self.members.setdefault(name, Streaming(self, name, process_id or f"process-{name}"))

    def joined(self, *names: str) -> list[Streaming]:
        """Members that have joined, and that have their tasks."""
        members = [self.member(name) for name in names]
        for member in members:
            member.join()
        self.settle()
        return members

    def settle(self, rounds: int = 20) -> None:
        """Let all members send heartbeats in turn, until nothing is written."""
        for _ in range(rounds):
            before = self.log.end_offset
            for member in self.members.values():
                if member.epoch > 0:
                    member.beat_with_tasks()
            if self.log.end_offset == before:
                return
        raise AssertionError(f"not settled in {rounds} rounds")

    def taken(self) -> list[str]:
        """The kinds of the records that were written since the last call; tombstones have a minus."""
        names = [
            ("" if record.value is not None else "-") + type(record.key).__name__.removeprefix("StreamsGroup").removesuffix("Key")
            for record in self.records
        ]
        self.records.clear()
        return names


class Streaming:
    """One member. ``epoch`` and the tasks are those of its last good answer."""

    def __init__(self, beats: StreamsBeats, member_id: str, process_id: str) -> None:
        self._beats = beats
        self.member_id = member_id
        self.process_id = process_id
        self.epoch = 0
        self.active: Tasks = {}
        self.standby: Tasks = {}
        self.warmup: Tasks = {}
        self.status: list[int] = []
        self.missing: list[str] = []

    def join(self, **fields: Any) -> FakeReply:
        """Send a heartbeat of epoch 0, without tasks."""
        given = {"topology": self._beats.topology, "process_id": self.process_id, "rebalance_timeout_ms": 60_000}
        return self.beat(epoch=0, active_tasks=[], standby_tasks=[], warmup_tasks=[], **(given | fields))

    def beat(self, *, epoch: int | None = None, **fields: Any) -> FakeReply:
        """Send a heartbeat that says only what is given."""
        return self.send(StreamsGroupHeartbeatRequest("g", self.member_id, self.epoch if epoch is None else epoch, **fields))

    def beat_with_tasks(self, **fields: Any) -> FakeReply:
        """Send a heartbeat with the tasks that the member has."""
        owned = {
            "active_tasks": listed(self.active),
            "standby_tasks": listed(self.standby),
            "warmup_tasks": listed(self.warmup),
        }
        return self.beat(**(owned | fields))

    def leave(self, **fields: Any) -> FakeReply:
        return self.beat(epoch=-1, **fields)

    def send(self, request: StreamsGroupHeartbeatRequest) -> FakeReply:
        """Send any heartbeat, and remember its answer."""
        reply = self._beats.log.run(GroupShard.streams_group_heartbeat, request, version=0)
        response = reply.response
        self.missing = []
        if isinstance(response, WithMissingTopics):
            self.missing, response = list(response.topics), response.response
        if isinstance(response, StreamsGroupHeartbeatResponse) and response.error_code == ErrorCode.NONE:
            self.epoch = response.member_epoch
            self.status = [each.status_code for each in response.status or ()]
            if response.active_tasks is not None:
                self.active, self.standby, self.warmup = (
                    {each.subtopology_id: each.partitions for each in kind or ()}
                    for kind in (response.active_tasks, response.standby_tasks, response.warmup_tasks)
                )
        return reply


def listed(tasks: Tasks) -> list[TaskIds]:
    """Tasks as in a request."""
    return [TaskIds(*each) for each in tasks.items()]


def streams_life() -> list[list[tuple[bytes, bytes | None]]]:
    """The records of group ``g``, an operation at a time: two members with standby replicas; then the second one leaves."""
    operations: list[list[tuple[bytes, bytes | None]]] = []
    beats = StreamsBeats(config_of(group_streams_num_standby_replicas="1"), t=2, log=2)
    beats.topology = topology(0, "t", stores=("log",))

    def note() -> None:
        if beats.records:
            operations.append([(GROUP_SERDE.encode_key(each), GROUP_SERDE.encode_value(each)) for each in beats.records])
            beats.records.clear()

    first, second = beats.member("a"), beats.member("b")
    for step in (first.join, second.join, *[first.beat_with_tasks, second.beat_with_tasks] * 3, second.leave):
        step()
        note()
    return operations
