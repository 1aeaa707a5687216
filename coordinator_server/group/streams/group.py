"""A streams group: hard state (Kafka's ``StreamsGroup``), and the soft state that Kafka keeps with it.

The values of the group's records by key, and what follows from them: which processes have each task, and which subtopology reads
each topic. Only ``replay`` changes these. The group exists while one of its records does. Records may come in any order and be
incomplete, as a compacted log has them.

The group's epoch rises with each change of members, topics, standby replicas, and when the topology becomes ready or ceases to be.
The target assignment's follows, and each member's follows that, member by member (``reconciliation.py``).

Soft state is lost with a load, and with the heartbeat that creates the group: the object that it uses is not the one that the
records make. A member that needs it sends it again, or gets it with its next heartbeat.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from coordinator_server.group.assign.tasks import TaskAssignment, Tasks
from coordinator_server.group.modern.group_table import GroupTable, put_head
from coordinator_server.group.modern.groups_by_topic import GroupServices
from coordinator_server.group.modern.reconciling_group import GroupState, ReconcilingGroup
from coordinator_server.group.streams.configured_topology import ConfiguredTopology
from coordinator_server.group.streams.member import StreamsGroupMember
from coordinator_server.group.streams.reconciliation import HeldTasks
from coordinator_server.group.streams.records import RECORDS
from coordinator_server.group.streams.topology import required_topics, source_topics
from coordinator_server.machine.timeline import LATEST, SnapshotRegistry, TimelineDict, TimelineValue
from protocol.fields import Message
from protocol.messages.streams_group_heartbeat import EndpointToPartitions
from protocol.messages.streams_group_records import (
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
    StreamsGroupTopologyKey,
    StreamsGroupTopologyValue,
)

Task = tuple[str, int]
"""Subtopology id and partition."""
Processes = frozenset[str]
NO_PROCESSES: Final[Processes] = frozenset()
_NO_SOURCES: Final[Mapping[str, str]] = {}
# The objects of a subtopology and of a topic in it, beside their texts: rounded up.
_SUBTOPOLOGY_BYTES: Final = 1000
_TOPIC_BYTES: Final = 500


class Configured(NamedTuple):
    """A topology, and what it is configured to."""

    topology: StreamsGroupTopologyValue
    outcome: ConfiguredTopology


class Endpoint(NamedTuple):
    """What the partitions of a member's end point were made of."""

    member: StreamsGroupMember
    configured: Configured
    partitions: EndpointToPartitions


class StreamsGroup(ReconcilingGroup[StreamsGroupMember, TaskAssignment]):
    """One streams group."""

    records = RECORDS
    new_member = StreamsGroupMember

    __slots__ = (
        "active_processes",
        "configured",
        "endpoint_epoch",
        "endpoints",
        "shutdown_member_id",
        "source_topics",
        "standby_processes",
        "warmup_processes",
    )

    def __init__(self, group_id: str, services: GroupServices) -> None:
        super().__init__(group_id, services)
        registry = services.registry
        # Derived: the processes that have a task, those that are to give it up too.
        self.active_processes: TimelineDict[Task, str] = TimelineDict(registry)
        self.standby_processes: TimelineDict[Task, Processes] = TimelineDict(registry)
        self.warmup_processes: TimelineDict[Task, Processes] = TimelineDict(registry)
        # Derived: the subtopology that reads each source topic.
        self.source_topics: TimelineValue[Mapping[str, str]] = TimelineValue(registry, _NO_SOURCES)
        # Soft state: what the topology was configured to; None if no heartbeat of this object has done it.
        self.configured: Configured | None = None
        # Soft state: rises when the tasks of a member with an end point are sent; members are sent end points if theirs differs.
        self.endpoint_epoch = 0
        self.endpoints: dict[str, Endpoint] = {}
        # Soft state: the member that wants all members to shut down, until the group is empty.
        self.shutdown_member_id: str | None = None

    # --- reads

    @property
    def topology(self) -> StreamsGroupTopologyValue | None:
        """The topology; None before the first member has sent one."""
        found: StreamsGroupTopologyValue | None = self.head.get(StreamsGroupTopologyKey)
        return found

    @property
    def consumed_topics(self) -> Iterable[str]:
        return () if self.topology is None else required_topics(self.topology)

    @property
    def epoch_value(self) -> StreamsGroupMetadataValue:
        """The record of the group's epoch."""
        found: StreamsGroupMetadataValue = self.head.get(StreamsGroupMetadataKey, RECORDS.no_epoch)
        return found

    def state_at(self, committed_offset: int = LATEST) -> str:
        """Return the state as of ``committed_offset``: before the others it matters whether the topology is validated."""
        if self.members_at(committed_offset):
            topology = self.topology_at(committed_offset)
            value: Any = self.head.get_at(StreamsGroupMetadataKey, committed_offset, RECORDS.no_epoch)
            if topology is None or topology.epoch != value.validated_topology_epoch:
                return GroupState.NOT_READY.value
        return super().state_at(committed_offset)

    def topology_at(self, committed_offset: int) -> StreamsGroupTopologyValue | None:
        """Return the topology as of ``committed_offset``."""
        found: StreamsGroupTopologyValue | None = self.head.get_at(StreamsGroupTopologyKey, committed_offset)
        return found

    def other_keys(self) -> Sequence[Message]:
        return (StreamsGroupTopologyKey(self.group_id),)

    def active_process(self, subtopology_id: str, partition: int) -> str | None:
        """Return the process that has an active task."""
        return self.active_processes.get((subtopology_id, partition))

    def processes_on_standby(self, subtopology_id: str, partition: int) -> Collection[str]:
        """Return the processes that have a standby task."""
        return self.standby_processes.get((subtopology_id, partition), NO_PROCESSES)

    def processes_warming_up(self, subtopology_id: str, partition: int) -> Collection[str]:
        """Return the processes that have a warm-up task."""
        return self.warmup_processes.get((subtopology_id, partition), NO_PROCESSES)

    def request_shutdown(self, member_id: str) -> None:
        """Have all members shut down, unless one has asked for it before."""
        if self.shutdown_member_id is None:
            self.shutdown_member_id = member_id

    # --- replay

    def put_head(self, key_type: type[Message], value: Any) -> None:
        """Set or remove a record of which there is one."""
        before = self.topology
        super().put_head(key_type, value)
        if key_type is StreamsGroupTopologyKey:
            self._follow(before, value)
        self._forget_shutdown()

    def _follow(self, before: StreamsGroupTopologyValue | None, after: StreamsGroupTopologyValue | None) -> None:
        self._count_bytes(topology_bytes(after) - topology_bytes(before))
        self.source_topics.set(_NO_SOURCES if after is None else source_topics(after))
        old, new = (set() if each is None else set(required_topics(each)) for each in (before, after))
        self._services.by_topic.follow(new - old, self.group_id)
        self._services.by_topic.unfollow(old - new, self.group_id)

    def _put_member(self, old: StreamsGroupMember | None, member: StreamsGroupMember) -> None:
        super()._put_member(old, member)
        if not member.is_in_log:
            self.endpoints.pop(member.member_id, None)

    def _metadata_put(self, old: StreamsGroupMember | None, member: StreamsGroupMember) -> None:
        self._move_tasks(old, member)
        self._forget_shutdown()

    def _current_put(self, old: StreamsGroupMember | None, member: StreamsGroupMember) -> None:
        self._move_tasks(old, member)
        self._forget_shutdown()

    def _move_tasks(self, old: StreamsGroupMember | None, member: StreamsGroupMember) -> None:
        if old is not None and old.process_id is not None:
            for held in (old.tasks.assigned, old.tasks.pending_revocation):
                self._take(held, old.process_id)
        if member.process_id is not None:
            for held in (member.tasks.assigned, member.tasks.pending_revocation):
                self._give(held, member.process_id)

    def _take(self, held: HeldTasks, process_id: str) -> None:
        for subtopology_id, epochs in held.active.items():
            for partition in epochs:
                if self.active_processes.get((subtopology_id, partition)) == process_id:
                    del self.active_processes[subtopology_id, partition]
        for tasks, processes in ((held.standby, self.standby_processes), (held.warmup, self.warmup_processes)):
            for task in _each(tasks):
                having = processes.get(task, NO_PROCESSES)
                if process_id in having:
                    _put_processes(processes, task, having - {process_id})

    def _give(self, held: HeldTasks, process_id: str) -> None:
        self.active_processes.put_all(
            {(subtopology_id, partition): process_id for subtopology_id, epochs in held.active.items() for partition in epochs}
        )
        for tasks, processes in ((held.standby, self.standby_processes), (held.warmup, self.warmup_processes)):
            for task in _each(tasks):
                _put_processes(processes, task, processes.get(task, NO_PROCESSES) | {process_id})

    def _forget_shutdown(self) -> None:
        if not self.members:
            self.shutdown_member_id = None


def streams_groups(registry: SnapshotRegistry) -> GroupTable[StreamsGroup]:
    """Return an empty table. A group consumes the topics that its topology needs."""
    return GroupTable(registry, StreamsGroup, {StreamsGroupTopologyKey: put_head})


def topology_bytes(topology: StreamsGroupTopologyValue | None) -> int:
    """Return about what a topology takes in memory; 0 without one."""
    if topology is None:
        return 0
    size = 0
    for each in topology.subtopologies:
        names = [*each.source_topics, *each.repartition_sink_topics]
        for topic in (*each.state_changelog_topics, *each.repartition_source_topics):
            names += [topic.name, *(text for config in topic.topic_configs for text in (config.key, config.value))]
        size += _SUBTOPOLOGY_BYTES + sum([_TOPIC_BYTES + len(name) for name in names])
    return size


def _each(tasks: Tasks) -> list[Task]:
    return [(subtopology_id, partition) for subtopology_id, partitions in tasks.items() for partition in partitions]


def _put_processes(processes: TimelineDict[Task, Processes], task: Task, having: Processes) -> None:
    if having:
        processes[task] = having
    else:
        processes.pop(task, None)
