"""StreamsGroupHeartbeat: join a streams group, stay in it (KIP-1071).

    metadata ──► topology ──► the group's epoch ──► the target assignment ──► the member's tasks

Each step returns records, and the state that the next one needs. None of them changes hard state. ``leave.py`` has the way out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from coordinator_server.group.assign.tasks import TaskAssignment
from coordinator_server.group.modern.epoch import require_topics
from coordinator_server.group.modern.limits import refuse_many_topics, refuse_too_large
from coordinator_server.group.modern.membership import refuse_if_full
from coordinator_server.group.modern.reasons import result_because, why_of
from coordinator_server.group.modern.revocation import await_revocation
from coordinator_server.group.modern.sessions import refresh_session, settle_session
from coordinator_server.group.modern.steady_heartbeat import again
from coordinator_server.group.modern.target import Target
from coordinator_server.group.streams.answer import WithMissingTopics, add_tasks, endpoints, stale_status, statuses
from coordinator_server.group.streams.configuration import update_epoch, update_topology
from coordinator_server.group.streams.context import StreamsContext
from coordinator_server.group.streams.group import Configured, StreamsGroup, topology_bytes
from coordinator_server.group.streams.leave import fence
from coordinator_server.group.streams.member import NO_METADATA, NOT_GIVEN, StreamsGroupMember
from coordinator_server.group.streams.membership import find_member, has_missed_answer, owned_tasks
from coordinator_server.group.streams.reconciliation import TaskGoal, reconcile
from coordinator_server.group.streams.records import RECORDS
from coordinator_server.group.streams.target import begin_delay, update_target
from coordinator_server.group.streams.validation import JOIN_EPOCH, topics_of
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.java import text_order
from coordinator_server.machine.provenance import Reason
from coordinator_server.machine.shard import CoordinatorResult, RequestContext
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.streams_group_heartbeat import KeyValue as RequestedTag
from protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse
from protocol.messages.streams_group_records import Endpoint, KeyValue, StreamsGroupMemberMetadataValue

Response = StreamsGroupHeartbeatResponse
Result = CoordinatorResult[StreamsGroupHeartbeatResponse | WithMissingTopics]


def heartbeat(
    streams: StreamsContext,
    context: RequestContext,
    request: StreamsGroupHeartbeatRequest,
    group: StreamsGroup,
    first: Sequence[CoordinatorRecord] = (),
) -> Result:
    """Run a valid heartbeat that is not a leave. ``first`` are records to write before. Raises CoordinatorError.

    The group need not exist yet.
    """
    group_id = group.group_id
    if request.member_epoch == JOIN_EPOCH:
        # Also a member that joins again.
        refuse_if_full(group, None, streams.config.streams.group_streams_max_size)
    refuse_many_topics(streams, group_id, len(topics_of(request.topology)))
    before = find_member(group, request)
    require_topics(streams, group)
    member, records = before, list(first)
    metadata = _metadata(before.metadata, context, request)
    if metadata is not before.metadata:
        member = before.with_metadata(metadata)
        records.append(RECORDS.member(group_id, member))
    topology, of_topology = update_topology(group, request.topology)
    _refuse_too_large(streams, group, before, member, topology_bytes(topology) if of_topology else 0)
    stale = stale_status(group, member)
    epoch = update_epoch(streams, group, request, topology, has_member_changed=member is not before)
    if not group.members:
        begin_delay(streams, group_id)
    update = update_target(streams, group, epoch.epoch, member, epoch.configured, epoch.num_standby_replicas)
    after = _reconciled(group, member, update.target, request)
    records += [*of_topology, *epoch.records, *update.records]
    if after is not member:
        records.append(RECORDS.current(group_id, after))
        await_revocation(streams, fence, group_id, after)
    session, settings = refresh_session(streams, group_id, after.member_id), streams.own_settings(group_id)
    if request.shutdown_application:
        group.request_shutdown(request.member_id)
    response = Response(
        member_id=after.member_id, member_epoch=after.member_epoch, heartbeat_interval_ms=settings.heartbeat_interval_ms
    )
    _add_assignment(streams, group, request, after, epoch.configured, response)
    if first or streams.groups.by_id.get(group_id) is group:
        # A group that the request creates keeps no epoch of end points. In Kafka the answer has one if the group was a classic one.
        response.endpoint_information_epoch = group.endpoint_epoch
    response.status = [*stale, *statuses(group, update.delay, epoch.configured)]
    missing = epoch.configured.outcome.missing_topics
    answer = WithMissingTopics(response, missing) if missing else response
    if not records:
        is_steady = _is_settled(group, request, after, response) and _is_bare(request)
        short_way = again(streams, group, session, _soft_state(group)) if is_steady else None
        return CoordinatorResult(answer, depends_on=group.end_offset.value, again=short_way)
    reason = Reason(why_of(streams, before, epoch.why, bool(update.records)), after.member_id)
    on_append = partial(settle_session, streams, group_id, after.member_id, None)
    return result_because(streams, [reason], answer, records, on_append)


def _metadata(
    old: StreamsGroupMemberMetadataValue, context: RequestContext, request: StreamsGroupHeartbeatRequest
) -> StreamsGroupMemberMetadataValue:
    """Return the member's metadata with what the request gives; the same object if nothing changes. Raises CoordinatorError."""
    address = request.user_endpoint
    new = StreamsGroupMemberMetadataValue(
        old.instance_id,
        old.rack_id if request.rack_id is None else request.rack_id,
        context.client_id,
        f"/{context.client_host}",
        old.rebalance_timeout_ms if request.rebalance_timeout_ms == NOT_GIVEN else request.rebalance_timeout_ms,
        old.topology_epoch if request.topology is None else request.topology.epoch,
        old.process_id if request.process_id is None else request.process_id,
        old.user_endpoint if address is None else Endpoint(address.host, address.port),
        old.client_tags if request.client_tags is None else _tags(request.client_tags),
    )
    return old if new == old and old is not NO_METADATA else new


def _tags(given: Sequence[RequestedTag]) -> list[KeyValue]:
    """Return the tags of a client, sorted. Raises UNKNOWN_SERVER_ERROR if one is given twice, as Kafka does."""
    tags = {each.key: each.value for each in given}
    if len(tags) < len(given):
        raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return [KeyValue(key, tags[key]) for key in sorted(tags, key=text_order)]


def _refuse_too_large(
    streams: StreamsContext, group: StreamsGroup, before: StreamsGroupMember, member: StreamsGroupMember, topology_size: int
) -> None:
    """Refuse new metadata, and a new topology, for which there is no room. Raises CoordinatorError."""
    if member is not before or topology_size:
        refuse_too_large(streams, group, before.metadata, member.metadata, topology_size)


def _reconciled(
    group: StreamsGroup, member: StreamsGroupMember, target: Target[TaskAssignment], request: StreamsGroupHeartbeatRequest
) -> StreamsGroupMember:
    """Return the member after its next step to its target, or the same member. Raises CoordinatorError."""
    if member.stable_epoch == target.epoch:
        return member
    goal = TaskGoal(
        target.epoch,
        target.assigned,
        member.metadata.process_id,
        owned_tasks(request),
        group.active_process,
        group.processes_on_standby,
        group.processes_warming_up,
    )
    tasks = reconcile(member.tasks, goal)
    return member if tasks is member.tasks else member.with_tasks(tasks)


def _add_assignment(
    streams: StreamsContext,
    group: StreamsGroup,
    request: StreamsGroupHeartbeatRequest,
    after: StreamsGroupMember,
    configured: Configured,
    response: Response,
) -> None:
    """Add the tasks of the member if they have changed or an answer that had them was lost, and end points if it knows older ones.

    Raises CoordinatorError.
    """
    before = group.members.get(after.member_id)
    if request.member_epoch == JOIN_EPOCH or before is None or after.tasks.assigned != before.tasks.assigned:
        add_tasks(response, after)
        if after.metadata.user_endpoint is not None:
            group.endpoint_epoch += 1
    elif has_missed_answer(request, before):
        # Kafka's answer has none: what was given with a lost answer stays idle until the member's next assignment.
        add_tasks(response, after)
    if group.endpoint_epoch != request.endpoint_information_epoch:
        response.partitions_by_user_endpoint = endpoints(streams, group, after, configured)


def _is_settled(
    group: StreamsGroup, request: StreamsGroupHeartbeatRequest, member: StreamsGroupMember, response: Response
) -> bool:
    """Return whether the member has nothing to do but to go on, and nothing is the matter with the group."""
    is_in_epoch = request.member_epoch == response.member_epoch == group.group_epoch == group.assignment_epoch
    return is_in_epoch and not response.status and member.stable_epoch is not None


def _is_bare(request: StreamsGroupHeartbeatRequest) -> bool:
    """Return whether the request says only that the member is alive."""
    said = (
        request.rack_id,
        request.topology,
        request.active_tasks,
        request.standby_tasks,
        request.warmup_tasks,
        request.process_id,
        request.user_endpoint,
        request.client_tags,
    )
    return request.rebalance_timeout_ms == NOT_GIVEN and not request.shutdown_application and said == (None,) * len(said)


def _soft_state(group: StreamsGroup) -> Callable[[], bool]:
    """Return a value that differs once the soft state of the group does."""

    def is_same() -> bool:
        return group.configured is configured and group.endpoint_epoch == endpoint_epoch and group.shutdown_member_id is None

    configured, endpoint_epoch = group.configured, group.endpoint_epoch
    return is_same
