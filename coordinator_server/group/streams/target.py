"""The target assignment of a streams group: computed at the first heartbeat that finds its epoch behind the group's.

A group that gets its first member waits for others before it assigns tasks: until its timer expires, members have none.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from coordinator_server.group.assign.order import order_members
from coordinator_server.group.assign.tasks import NO_TASKS, SubtopologyTasks, TaskAssignment, TaskGroup, TaskMember
from coordinator_server.group.modern.background_target import TargetRules
from coordinator_server.group.modern.leave import NOTHING
from coordinator_server.group.modern.target import Target, changed_targets, is_due
from coordinator_server.group.streams.configuration import configure
from coordinator_server.group.streams.configured_topology import ConfiguredTopology
from coordinator_server.group.streams.context import StreamsContext, delay_key
from coordinator_server.group.streams.group import Configured, StreamsGroup
from coordinator_server.group.streams.member import StreamsGroupMember
from coordinator_server.group.streams.records import RECORDS
from coordinator_server.group.streams.target_task import COMPUTE_TARGETS, TaskTargetRequest, change_tasks
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import CoordinatorResult
from protocol.coordinator_records import CoordinatorRecord

_INITIAL_DELAY = "Assignment delayed due to the configured initial rebalance delay."
_INTERVAL = "Assignment delayed due to the configured assignment interval."
# Kafka has none: its loop computes every target.
_IN_CHILD = "Assignment delayed because it is being computed."


class TargetUpdate(NamedTuple):
    """The target of the member of a request."""

    target: Target[TaskAssignment]
    delay: str | None
    """Why the group's next target is not computed yet; None if it is."""
    records: list[CoordinatorRecord]


def update_target(
    streams: StreamsContext,
    group: StreamsGroup,
    group_epoch: int,
    member: StreamsGroupMember,
    configured: Configured,
    num_standby_replicas: int,
) -> TargetUpdate:
    """Return the target of a member, which the request may have changed. ``group_epoch`` is that with this request.

    Raises UNKNOWN_SERVER_ERROR if the assignor fails, and if the target is too large to be written.
    """
    assignment_epoch, member_id = group.assignment_epoch, member.member_id
    if streams.timer.is_scheduled(delay_key(group.group_id)):
        return TargetUpdate(Target(assignment_epoch, NO_TASKS), _INITIAL_DELAY, [])
    last = Target(assignment_epoch, group.target(member_id))
    if assignment_epoch >= group_epoch:
        return TargetUpdate(last, None, [])
    if not is_due(streams, group):
        return TargetUpdate(last, _INTERVAL, [])
    size = partial(_size, group, configured.outcome, num_standby_replicas)
    if streams.background.take(group, group_epoch, size, lambda: member_id in group.targets):
        return TargetUpdate(last, _IN_CHILD, [])
    changed, records = _computed(streams, group, group_epoch, configured, num_standby_replicas, member)
    return TargetUpdate(Target(group_epoch, changed.get(member_id, last.assigned)), None, records)


def begin_delay(streams: StreamsContext, group_id: str) -> None:
    """Start the time in which a group without members waits for more of them, unless it runs."""
    delay_ms, key = streams.own_settings(group_id).initial_rebalance_delay_ms, delay_key(group_id)
    if delay_ms and not streams.timer.is_scheduled(key):
        streams.delayed.add(group_id)
        streams.timer.schedule(key, delay_ms, partial(_end_delay, streams, group_id))


def stop_delay(streams: StreamsContext, group_id: str) -> None:
    """Stop that time: the group is deleted, or the shard is unloaded."""
    if group_id in streams.delayed:
        streams.delayed.discard(group_id)
        streams.timer.cancel(delay_key(group_id))


def _end_delay(streams: StreamsContext, group_id: str) -> CoordinatorResult[Any]:
    """Compute the first target assignment. If that is not possible now, the next heartbeat does it."""
    streams.delayed.discard(group_id)
    group = streams.groups.by_id.get(group_id)
    if group is None or not group.members or group.configured is None:
        return NOTHING
    epoch, configured = group.group_epoch, group.configured
    if epoch <= group.assignment_epoch or not is_due(streams, group):
        return NOTHING
    replicas = last_standby_replicas(group)
    if streams.background.take(group, epoch, partial(_size, group, configured.outcome, replicas), lambda: True):
        return NOTHING
    _, records = _computed(streams, group, epoch, configured, replicas)
    return CoordinatorResult(NOTHING.response, records, attribution=because(Reason(Why.ASSIGNMENT_DUE)))


def last_standby_replicas(group: StreamsGroup) -> int:
    """Return the number of standby replicas as of the group's epoch."""
    configs = {each.key: each.value for each in group.epoch_value.last_assignment_configs or ()}
    return int(configs.get("num.standby.replicas", "0"))


def _computed(
    streams: StreamsContext,
    group: StreamsGroup,
    group_epoch: int,
    configured: Configured,
    num_standby_replicas: int,
    updated: StreamsGroupMember | None = None,
) -> tuple[dict[str, TaskAssignment], list[CoordinatorRecord]]:
    """Return the targets that change, and all records. Raises UNKNOWN_SERVER_ERROR if the assignor fails."""
    spec = task_group(group, configured.outcome, num_standby_replicas, updated)
    change = partial(change_tasks, spec, configured.outcome.is_ready)
    changed, records = changed_targets(change, group_epoch, partial(RECORDS.target, group.group_id))
    return changed, [*records, RECORDS.target_epoch(group.group_id, group_epoch, streams.clock.wall_ms())]


def task_group(
    group: StreamsGroup,
    configured: ConfiguredTopology,
    num_standby_replicas: int,
    updated: StreamsGroupMember | None = None,
) -> TaskGroup:
    """Return the group, with the changed member if a request changes one, as the assignor sees it."""
    updated_id = None if updated is None else updated.member_id
    members: list[TaskMember] = []
    for member_id in order_members(list(group.members), updated_id, None, group.most_members):
        member = updated if updated is not None and member_id == updated_id else group.members[member_id]
        members.append(TaskMember(member_id, member.metadata.process_id, group.target(member_id), member_id in group.targets))
    subtopologies = [
        SubtopologyTasks(subtopology_id, each.tasks, bool(each.state_changelog_topics))
        for subtopology_id, each in (configured.subtopologies or {}).items()
    ]
    return TaskGroup(members, subtopologies, num_standby_replicas)


def target_rules(streams: StreamsContext) -> TargetRules[StreamsGroup]:
    """Return what streams groups add to targets that a child process computes."""
    inline_max_size = streams.config.streams.group_streams_assignment_inline_max_size
    return TargetRules(COMPUTE_TARGETS, inline_max_size, partial(_described, streams))


def _described(streams: StreamsContext, group: StreamsGroup) -> TaskTargetRequest:
    assert group.topology is not None
    configured = (group.configured or configure(streams, group, group.topology)).outcome
    return TaskTargetRequest(group.group_id, task_group(group, configured, last_standby_replicas(group)), configured.is_ready)


def _size(group: StreamsGroup, configured: ConfiguredTopology, num_standby_replicas: int) -> int:
    """Return what the time of an assignment is proportional to: members and tasks, with standby replicas."""
    tasks = [
        each.tasks * (1 + num_standby_replicas if each.state_changelog_topics else 1)
        for each in (configured.subtopologies or {}).values()
    ]
    return len(group.members) + sum(tasks)
