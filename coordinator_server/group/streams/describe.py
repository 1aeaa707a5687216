"""StreamsGroupDescribe: a streams group as of the committed offset (``StreamsGroup.asDescribedGroup``).

Members may have very many tasks, so a description is made member by member, from values that do not change any longer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from coordinator_server.group.assign.tasks import NO_TASKS, TaskAssignment
from coordinator_server.group.modern.describe import UndescribedGroup
from coordinator_server.group.streams.configured_topology import ConfiguredTopology, InternalTopic
from coordinator_server.group.streams.group import StreamsGroup
from coordinator_server.group.streams.member import StreamsGroupMember
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.java import hash_map_order, text_order
from protocol.error_codes import ErrorCode
from protocol.messages.streams_group_describe import (
    Assignment,
    DescribedGroup,
    Endpoint,
    KeyValue,
    Member,
    Subtopology,
    TaskIds,
    TopicInfo,
    Topology,
)
from protocol.messages.streams_group_records import StreamsGroupTopologyValue
from protocol.messages.streams_group_records import TopicInfo as RecordedTopic


def group_at(group: StreamsGroup, committed_offset: int) -> UndescribedGroup:
    """Return the description of a group. Raises UNKNOWN_SERVER_ERROR for a group without a topology, from a damaged log."""
    epoch, assignment_epoch = group.epochs_at(committed_offset)
    topology, configured = group.topology_at(committed_offset), group.configured
    if topology is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
    is_ready = configured is not None and configured.topology is topology and configured.outcome.is_ready
    head = DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_at(committed_offset),
        group_epoch=epoch,
        assignment_epoch=assignment_epoch,
        topology=_configured(configured.outcome) if is_ready and configured is not None else _recorded(topology),
    )
    members = [
        (member, NO_TASKS if (target := group.targets.get_at(member_id, committed_offset)) is None else target.target)
        for member_id, member in group.members.items_at(committed_offset)
    ]
    return UndescribedGroup(head, members, _described, _lists)


def _configured(topology: ConfiguredTopology) -> Topology:
    """Return the topology with the numbers of partitions that its internal topics have."""
    assert topology.subtopologies is not None
    return Topology(
        topology.epoch,
        [
            Subtopology(
                subtopology_id,
                sorted(set(each.source_topics), key=text_order),
                sorted(set(each.repartition_sink_topics), key=text_order),
                _internal(each.state_changelog_topics),
                _internal(each.repartition_source_topics),
            )
            for subtopology_id, each in topology.subtopologies.items()
        ],
    )


def _internal(topics: Sequence[InternalTopic]) -> list[TopicInfo]:
    found = [
        TopicInfo(
            topic.name,
            topic.partitions,
            topic.replication_factor,
            [KeyValue(key, topic.configs[key]) for key in hash_map_order(topic.configs)],
        )
        for topic in topics
    ]
    return sorted(found, key=lambda topic: text_order(topic.name))


def _recorded(topology: StreamsGroupTopologyValue) -> Topology:
    """Return the topology as its members have sent it."""
    subtopologies = [
        Subtopology(
            each.subtopology_id,
            sorted(each.source_topics, key=text_order),
            sorted(each.repartition_sink_topics, key=text_order),
            _sent(each.state_changelog_topics),
            _sent(each.repartition_source_topics),
        )
        for each in topology.subtopologies
    ]
    return Topology(topology.epoch, sorted(subtopologies, key=lambda each: text_order(each.subtopology_id)))


def _sent(topics: Sequence[RecordedTopic]) -> list[TopicInfo]:
    found = [
        TopicInfo(
            topic.name,
            topic.partitions,
            topic.replication_factor,
            [KeyValue(config.key, config.value) for config in topic.topic_configs],
        )
        for topic in topics
    ]
    return sorted(found, key=lambda topic: text_order(topic.name))


def _described(having: tuple[StreamsGroupMember, TaskAssignment]) -> Member:
    """Return the description of a member, which comes with its target."""
    member, target = having
    metadata, assigned, address = member.metadata, member.tasks.assigned, member.metadata.user_endpoint
    tags = {each.key: each.value for each in metadata.client_tags}
    return Member(
        member_id=member.member_id,
        member_epoch=member.member_epoch,
        instance_id=metadata.instance_id,
        rack_id=metadata.rack_id,
        client_id=metadata.client_id,
        client_host=metadata.client_host,
        topology_epoch=metadata.topology_epoch,
        process_id=metadata.process_id,
        user_endpoint=None if address is None else Endpoint(address.host, address.port),
        client_tags=[KeyValue(key, tags[key]) for key in hash_map_order(tags)],
        assignment=Assignment(_listed(assigned.active), _listed(assigned.standby), _listed(assigned.warmup)),
        target_assignment=Assignment(_listed(target.active), _listed(target.standby), _listed(target.warmup)),
    )


def _listed(tasks: Mapping[str, Collection[int]]) -> list[TaskIds]:
    return [TaskIds(subtopology_id, list(partitions)) for subtopology_id, partitions in tasks.items()]


def _lists(described: Any) -> Iterator[Any]:
    for assignment in (described.assignment, described.target_assignment):
        yield from assignment.active_tasks
        yield from assignment.standby_tasks
        yield from assignment.warmup_tasks
