"""The topology of a group, and the group's epoch: it rises when a member, the topics, the standby replicas or the topology change.

A topology is configured with the topics that exist: again when the metadata hash says that they have changed, and once by each
object of the group, because the outcome is soft state (``StreamsGroup.configured``).
"""

from __future__ import annotations

from typing import NamedTuple

from coordinator_server.group.modern.epoch import is_compared
from coordinator_server.group.streams.context import StreamsContext
from coordinator_server.group.streams.group import Configured, StreamsGroup
from coordinator_server.group.streams.membership import refuse_unknown_tasks
from coordinator_server.group.streams.records import epoch_record, topology_record
from coordinator_server.group.streams.topology import are_equal, required_topics, topology_value
from coordinator_server.group.streams.topology_configuration import configure_topology
from coordinator_server.group.why import Why
from coordinator_server.machine.errors import CoordinatorError
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from protocol.messages.streams_group_heartbeat import Topology as RequestedTopology
from protocol.messages.streams_group_records import StreamsGroupTopologyValue

NOT_VALIDATED = -1


class EpochUpdate(NamedTuple):
    """The group's epoch with a request, and what its topology is configured to."""

    epoch: int
    configured: Configured
    num_standby_replicas: int
    why: Why | None
    """Why there is a new epoch; None if there is none."""
    records: list[CoordinatorRecord]


def update_topology(
    group: StreamsGroup, requested: RequestedTopology | None
) -> tuple[StreamsGroupTopologyValue, list[CoordinatorRecord]]:
    """Return the topology of the group, and its record if it is new: it never changes.

    Raises INVALID_REQUEST for a different one, unless it is older.
    """
    present = group.topology
    if requested is None:
        if present is None:
            # Only a damaged log has a group without a topology.
            raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
        return present, []
    value = topology_value(requested)
    if present is None:
        return value, [topology_record(group.group_id, value)]
    if present.epoch <= value.epoch and not are_equal(present, value):
        raise CoordinatorError(ErrorCode.INVALID_REQUEST, "Topology updates are not supported yet.")
    return present, []


def update_epoch(
    streams: StreamsContext,
    group: StreamsGroup,
    request: StreamsGroupHeartbeatRequest,
    topology: StreamsGroupTopologyValue,
    *,
    has_member_changed: bool,
) -> EpochUpdate:
    """Configure the topology, if that is due. Return the group's epoch after the request. Raises CoordinatorError."""
    value, configured, why = group.epoch_value, group.configured, None
    metadata_hash = value.metadata_hash
    if group.topology is None or configured is None or not is_compared(group):
        metadata_hash = streams.hashes.of_group(required_topics(topology))
        if metadata_hash != value.metadata_hash:
            why = Why.TOPICS_CHANGED
        if group.topology is None or configured is None or why is not None:
            configured = configure(streams, group, topology)
    outcome = configured.outcome
    validated_epoch = NOT_VALIDATED
    if outcome.is_ready:
        assert outcome.subtopologies is not None
        validated_epoch = topology.epoch
        refuse_unknown_tasks(outcome.subtopologies, request)
    if validated_epoch != value.validated_topology_epoch:
        why = why or Why.TOPICS_CHANGED
    replicas = streams.own_settings(group.group_id).num_standby_replicas
    configs = {"num.standby.replicas": str(replicas)}
    if {each.key: each.value for each in value.last_assignment_configs or ()} != configs:
        why = why or Why.SETTINGS_CHANGED
    if has_member_changed:
        why = why or Why.MEMBER_REJOINED
    epoch, records = group.group_epoch, []
    if why is not None:
        epoch += 1
        records.append(epoch_record(group.group_id, epoch, metadata_hash, validated_epoch, configs))
    group.compared_epoch = epoch
    return EpochUpdate(epoch, configured, replicas, why, records)


def configure(streams: StreamsContext, group: StreamsGroup, topology: StreamsGroupTopologyValue) -> Configured:
    """Configure a topology with the present topics. Raises CoordinatorError."""
    group.configured = Configured(topology, configure_topology(topology, streams.partition_count))
    group.endpoints.clear()
    return group.configured
