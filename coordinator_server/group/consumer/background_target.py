"""Target assignments of large groups, which a child process computes, so that the loop goes on.

    heartbeat ──► timer, at once ──► task in the child ──► write operation with the child's records

Until the records are written, heartbeats are answered with the old target. The task gets the group as it has been replayed, not
as the heartbeat would change it, because the heartbeat may fail. The result is discarded if the group cannot use it any more;
the next heartbeat then begins again. So a child that dies, or a shard that moves, delays a target and does nothing else.

A target that cannot be computed or written is not tried again before the group's epoch changes. Members that have a target keep
it. Those that have none get an error.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Final, NamedTuple

from coordinator_server.group.consumer.context import ConsumerContext, RefusedTarget
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import ConsumerGroupMember
from coordinator_server.group.consumer.records import assignment_epoch_record
from coordinator_server.group.consumer.subscriptions import is_homogeneous
from coordinator_server.group.consumer.target_spec import assignment_size, group_spec, preferred_assignor
from coordinator_server.group.consumer.target_task import COMPUTE_TARGETS, ComputedTargets, TargetRequest
from coordinator_server.group.why import Why
from coordinator_server.machine.block import EncodedRecord, EncodedRecords
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.executor import Failed
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import CoordinatorResult
from protocol.coordinator_records import GROUP_SERDE
from protocol.error_codes import ErrorCode

_NOTHING: Final[CoordinatorResult[None]] = CoordinatorResult(None)


class _MadeFor(NamedTuple):
    """The state that a target is computed for."""

    group: ConsumerGroup
    epoch: int
    member_ids: frozenset[str]
    reverts: int


def is_in_background(
    consumer: ConsumerContext, group: ConsumerGroup, group_epoch: int, is_alike: bool, member: ConsumerGroupMember
) -> bool:
    """Return whether the group's next target is left to a child process, and have one compute it.

    Raises UNKNOWN_SERVER_ERROR if the target was refused and the member has none.
    """
    executor = consumer.executor
    if executor is None:
        return False
    refused = _refusal(consumer, group, group_epoch)
    if refused is not None:
        if not group.has_target(member):
            raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR, refused.message)
        return True
    key = _key(group.group_id)
    if _is_scheduled(consumer, key):
        return True
    if assignment_size(consumer, group, is_alike, member) <= consumer.config.group_consumer_assignment_inline_max_size:
        return False
    consumer.timer.schedule(key, 0, partial(_begin, consumer, group.group_id))
    return True


def is_left_to_child(consumer: ConsumerContext, group: ConsumerGroup) -> bool:
    """Return whether a child process is computing the group's next target, or that target was refused."""
    return _is_scheduled(consumer, _key(group.group_id)) or _refusal(consumer, group, group.group_epoch) is not None


def _is_scheduled(consumer: ConsumerContext, key: Hashable) -> bool:
    executor = consumer.executor
    return executor is not None and (executor.is_scheduled(key) or consumer.timer.is_scheduled(key))


def _refusal(consumer: ConsumerContext, group: ConsumerGroup, group_epoch: int) -> RefusedTarget | None:
    refused = consumer.refused_targets.get(group.group_id)
    return refused if refused is not None and refused.group is group and refused.epoch >= group_epoch else None


def _key(group_id: str) -> Hashable:
    return "consumer-target", group_id


def _begin(consumer: ConsumerContext, group_id: str) -> CoordinatorResult[None]:
    """Schedule the task, unless the heartbeat that asked for it failed and there is nothing to do."""
    group, executor = consumer.groups.by_id.get(group_id), consumer.executor
    assert executor is not None
    if group is not None and group.assignment_epoch < group.group_epoch:
        is_alike = is_homogeneous(group.regex_members, group.subscribed_topics, len(group.members))
        spec = group_spec(consumer, group, is_alike)
        request = TargetRequest(group_id, preferred_assignor(consumer, group), spec)
        made_for = _MadeFor(group, group.group_epoch, frozenset(group.members), consumer.groups.reverts)
        executor.schedule(_key(group_id), COMPUTE_TARGETS, request, partial(_take, consumer, made_for))
    return _NOTHING


def _take(consumer: ConsumerContext, made_for: _MadeFor, outcome: ComputedTargets | Failed) -> CoordinatorResult[None]:
    """Write what the child has computed."""
    group = made_for.group
    if not _is_usable(consumer, made_for):
        return _NOTHING
    if isinstance(outcome, Failed) or outcome.failure:
        why = "the assignor failed" if isinstance(outcome, Failed) else outcome.failure
        _refuse(consumer, made_for, f"Failed to compute a new target assignment for epoch {made_for.epoch}: {why}")
        return _NOTHING
    # A member that has left since has no target, and is not to get one.
    records: list[EncodedRecord] = [(each.key, each.value) for each in outcome.changed if each.member_id in group.members]
    epoch = assignment_epoch_record(group.group_id, made_for.epoch, consumer.clock.wall_ms())
    records.append((GROUP_SERDE.encode_key(epoch), GROUP_SERDE.encode_value(epoch)))
    return CoordinatorResult(
        None,
        EncodedRecords(
            records, GROUP_SERDE.decode, partial(_keep, consumer, group, {each.key: each.member_id for each in outcome.changed})
        ),
        partial(_settle, consumer, made_for),
        attribution=because(Reason(Why.ASSIGNMENT_DUE)),
    )


def _is_usable(consumer: ConsumerContext, made_for: _MadeFor) -> bool:
    """Return whether the group can have this target.

    A target for an earlier epoch is as good as one that was computed at that epoch, because another one follows. It must not
    have partitions of a member whose target was inherited since by a static member with a new id.
    """
    group = made_for.group
    if consumer.groups.by_id.get(group.group_id) is not group or consumer.groups.reverts != made_for.reverts:
        return False
    if group.assignment_epoch >= made_for.epoch:
        return False
    if made_for.epoch == group.group_epoch:
        return group.members.keys() == made_for.member_ids
    return group.targets.keys() <= made_for.member_ids


def _keep(
    consumer: ConsumerContext, group: ConsumerGroup, member_ids: dict[bytes, str], offset: int, key: bytes, value: bytes | None
) -> None:
    """Replay a record: the targets, by key, without decoding them, and that of the epoch."""
    member_id = member_ids.get(key)
    if member_id is not None:
        group.put_encoded_target(offset, member_id, (key, value))
        return
    record = GROUP_SERDE.decode(key, value)
    assert record is not None
    consumer.groups.replay[type(record.key)](offset, record.key, record.value)


def _settle(consumer: ConsumerContext, made_for: _MadeFor, error: ErrorCode | None) -> None:
    if error is None:
        consumer.refused_targets.pop(made_for.group.group_id, None)
    elif error is ErrorCode.MESSAGE_TOO_LARGE:
        _refuse(
            consumer,
            made_for,
            f"The target assignment for epoch {made_for.epoch} of {len(made_for.member_ids)} members is larger than "
            f"message.max.bytes ({consumer.config.message_max_bytes}).",
        )
        # It would be offered again for ever.
        assert consumer.executor is not None
        consumer.executor.cancel(_key(made_for.group.group_id))


def _refuse(consumer: ConsumerContext, made_for: _MadeFor, message: str) -> None:
    group = made_for.group
    consumer.refused_targets[group.group_id] = RefusedTarget(group, made_for.epoch, message)
    consumer.report("target-refused", group_id=group.group_id, members=len(group.members), problem=message)


def stop_background_targets(consumer: ConsumerContext) -> None:
    """Forget what waits for a task: the shard is unloaded."""
    consumer.refused_targets.clear()
    for group_id in consumer.groups.by_id:
        consumer.timer.cancel(_key(group_id))
