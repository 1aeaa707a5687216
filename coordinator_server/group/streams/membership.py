"""Which member a heartbeat comes from, and whether it may say what it says. Refusals have Kafka's order and messages.

| a heartbeat | member |
|---|---|
| of epoch 0 | joins, or joins again after it was fenced |
| of its epoch | is the member |
| of the previous epoch | has missed the last answer; accepted if it owns no other tasks than those that it has |
| of any other epoch | FENCED_MEMBER_EPOCH: it gives up all tasks and joins again |
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from coordinator_server.group.assign.tasks import TaskAssignment
from coordinator_server.group.modern.membership import fenced_epoch, unknown_member
from coordinator_server.group.streams.configured_topology import ConfiguredSubtopology
from coordinator_server.group.streams.group import StreamsGroup
from coordinator_server.group.streams.member import StreamsGroupMember, read_tasks
from coordinator_server.group.streams.validation import JOIN_EPOCH
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest, TaskIds

_NOTHING: Final[Collection[int]] = ()


def find_member(group: StreamsGroup, request: StreamsGroupHeartbeatRequest) -> StreamsGroupMember:
    """Return the member, which is new if it joins. Raises CoordinatorError."""
    member, epoch = group.members.get(request.member_id), request.member_epoch
    if member is None:
        if epoch != JOIN_EPOCH:
            raise unknown_member(group.group_id, request.member_id)
        return StreamsGroupMember(request.member_id)
    tasks = member.tasks
    if epoch in (JOIN_EPOCH, tasks.member_epoch):
        return member
    is_previous = epoch < tasks.member_epoch and epoch == tasks.previous_member_epoch
    assigned = tasks.assigned
    owned = (
        (request.active_tasks, assigned.active),
        (request.standby_tasks, assigned.standby),
        (request.warmup_tasks, assigned.warmup),
    )
    if not (is_previous and all(_is_subset(*each) for each in owned)):
        raise fenced_epoch(group, epoch, tasks.member_epoch)
    return member


def _is_subset(owned: Sequence[TaskIds] | None, assigned: Mapping[str, Collection[int]]) -> bool:
    """Return whether the member owns nothing else. A subtopology of which it has no task counts, even without partitions."""
    return owned is not None and all(
        each.subtopology_id in assigned and set(each.partitions).issubset(assigned[each.subtopology_id]) for each in owned
    )


def refuse_unknown_tasks(subtopologies: Mapping[str, ConfiguredSubtopology], request: StreamsGroupHeartbeatRequest) -> None:
    """Refuse tasks that the topology does not have. Raises INVALID_REQUEST."""
    for owned in (request.active_tasks, request.standby_tasks, request.warmup_tasks):
        for each in owned or ():
            subtopology = subtopologies.get(each.subtopology_id)
            if subtopology is None:
                raise _invalid(f"Subtopology {each.subtopology_id} does not exist in the topology.")
            for partition in each.partitions:
                if not 0 <= partition < subtopology.tasks:
                    raise _invalid(
                        f"Task {partition} for subtopology {each.subtopology_id} is invalid. Number of tasks for this subtopology: "
                        f"{subtopology.tasks}"
                    )


def owned_tasks(request: StreamsGroupHeartbeatRequest) -> TaskAssignment | None:
    """Return the tasks that the member says it owns; None if it does not say.

    Raises UNKNOWN_SERVER_ERROR if it names a subtopology twice, as Kafka does.
    """
    kinds = (request.active_tasks, request.standby_tasks, request.warmup_tasks)
    if any(kind is None for kind in kinds):
        return None
    for kind in kinds:
        if len({each.subtopology_id for each in kind or ()}) < len(kind or ()):
            raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return TaskAssignment(*(read_tasks(kind or ()) for kind in kinds))


def has_missed_answer(request: StreamsGroupHeartbeatRequest, member: StreamsGroupMember) -> bool:
    """Return whether the member may have missed the answer with its tasks: it has the epoch before, or says it has other tasks.

    A member with tasks to give up stays in its epoch. It may have been given them without having begun with them: whatever it says
    it has, it may not know that it lost them, and begin with them later.
    """
    if request.member_epoch < member.member_epoch:
        return True
    owned = owned_tasks(request)
    if owned is None:
        return False
    assigned = member.tasks.assigned
    kinds = ((owned.active, assigned.active), (owned.standby, assigned.standby))
    return member.is_revoking or any(_as_set(said) != _as_set(has) for said, has in kinds)


def _as_set(tasks: Mapping[str, Collection[int]]) -> set[tuple[str, int]]:
    return {(subtopology_id, partition) for subtopology_id, partitions in tasks.items() for partition in partitions}


def _invalid(message: str) -> CoordinatorError:
    return CoordinatorError(ErrorCode.INVALID_REQUEST, message)
