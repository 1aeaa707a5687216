"""The answer of a StreamsGroupHeartbeat: the member's tasks, the end points of all members, and the status of the application."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from coordinator_server.group.assign.order import order_timeline
from coordinator_server.group.streams import status
from coordinator_server.group.streams.configured_topology import InternalTopic
from coordinator_server.group.streams.context import StreamsContext
from coordinator_server.group.streams.endpoints import partitions_of_tasks
from coordinator_server.group.streams.group import Configured, Endpoint, StreamsGroup
from coordinator_server.group.streams.member import StreamsGroupMember
from coordinator_server.machine.java import hash_map_order
from protocol.messages.streams_group_heartbeat import Endpoint as EndpointAddress
from protocol.messages.streams_group_heartbeat import (
    EndpointToPartitions,
    Status,
    StreamsGroupHeartbeatResponse,
    TaskIds,
)


class WithMissingTopics(NamedTuple):
    """An answer, and the internal topics that are to be created, by name."""

    response: StreamsGroupHeartbeatResponse
    topics: Mapping[str, InternalTopic]


def add_tasks(response: StreamsGroupHeartbeatResponse, member: StreamsGroupMember) -> None:
    """Add the tasks of the member."""
    assigned = member.tasks.assigned
    response.active_tasks = _listed(assigned.active)
    response.standby_tasks = _listed(assigned.standby)
    response.warmup_tasks = _listed(assigned.warmup)


def _listed(tasks: Mapping[str, Collection[int]]) -> list[TaskIds]:
    return [TaskIds(subtopology_id, list(tasks[subtopology_id])) for subtopology_id in hash_map_order(tasks)]


def stale_status(group: StreamsGroup, member: StreamsGroupMember) -> list[Status]:
    """Return the status of a member whose topology is older than the group's."""
    topology, epoch = group.topology, member.metadata.topology_epoch
    if topology is None or epoch >= topology.epoch:
        return []
    detail = f"The member's topology epoch {epoch} is behind the group's topology epoch {topology.epoch}."
    return [Status(status.STALE_TOPOLOGY, detail)]


def statuses(group: StreamsGroup, delay: str | None, configured: Configured) -> list[Status]:
    """Return the status of the group, in Kafka's order. ``delay``: why the next target is not computed yet."""
    found = [] if delay is None else [Status(status.ASSIGNMENT_DELAYED, delay)]
    problem = configured.outcome.problem
    if problem is not None:
        found.append(Status(problem.status_code, problem.message))
    if group.shutdown_member_id is not None:
        detail = (
            f"Streams group member {group.shutdown_member_id} encountered a fatal error and requested a shutdown for the entire "
            "application."
        )
        found.append(Status(status.SHUTDOWN_APPLICATION, detail))
    return found


def endpoints(
    streams: StreamsContext, group: StreamsGroup, member: StreamsGroupMember, configured: Configured
) -> list[EndpointToPartitions]:
    """Return the partitions of each end point, those of the member at last. It is as the request changes it.

    Raises UNKNOWN_SERVER_ERROR if there are end points before the topology is configured, as in Kafka.
    """
    others = [group.members[each] for each in order_timeline(list(group.members), group.most_members) if each != member.member_id]
    found = [_endpoint(streams, group, each, configured) for each in (*others, member)]
    return [each for each in found if each is not None]


def _endpoint(
    streams: StreamsContext, group: StreamsGroup, member: StreamsGroupMember, configured: Configured
) -> EndpointToPartitions | None:
    address = member.metadata.user_endpoint
    if address is None:
        return None
    known = group.endpoints.get(member.member_id)
    if known is not None and known.member is member and known.configured is configured:
        return known.partitions
    assigned = member.tasks.assigned
    kinds = (
        partitions_of_tasks(tasks, configured.outcome, streams.partition_count) for tasks in (assigned.active, assigned.standby)
    )
    made = EndpointToPartitions(EndpointAddress(address.host, address.port), *kinds)
    group.endpoints[member.member_id] = Endpoint(member, configured, made)
    return made
