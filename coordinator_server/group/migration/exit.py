"""How a consumer group becomes a classic one: its last native member leaves, is removed, or is replaced by a classic one.

The members that stay have to join again, because their assignments are those of a target that counted on the one that left. Only
if a static member returns as a classic one, and changes nothing else, the others are not affected.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.rebalance import prepare_rebalance
from coordinator_server.group.classic.sessions import start_restored_sessions
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.consumer.member import ConsumerGroupMember
from coordinator_server.group.migration.downgrade import Downgrade, downgrade, may_downgrade_without
from coordinator_server.group.migration.timers import resume_sessions
from coordinator_server.group.modern.sessions import end_session
from coordinator_server.group.registry import Groups, encoded_block
from coordinator_server.group.why import Why
from coordinator_server.machine.block import BlockSequence
from coordinator_server.machine.errors import operation_error
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import CoordinatorResult
from protocol.error_codes import ErrorCode


def downgrade_without(
    groups: Groups, group: ConsumerGroup, leaving: Sequence[ConsumerGroupMember], why: Why, response: Any
) -> CoordinatorResult[Any] | None:
    """Return the result of a conversion because these members leave, or None if the group stays a consumer group."""
    consumer = groups.consumer_context
    if not may_downgrade_without(consumer.config, group, leaving):
        return None
    converted = downgrade(group, leaving, None, consumer.topics, consumer.clock.wall_ms())
    reasons = [Reason(why, member.member_id) for member in leaving]
    return exited(groups, group, converted, reasons, response, is_rebalance=True)


def exited(
    groups: Groups,
    group: ConsumerGroup,
    converted: Downgrade,
    reasons: Sequence[Reason],
    response: Any,
    *,
    is_rebalance: bool,
) -> CoordinatorResult[Any]:
    """Bring the soft state of both groups in line with a conversion, and let the members join again. Return its result."""
    consumer, classic = groups.consumer_context, converted.group
    members = list(group.members)
    for member_id in members:
        end_session(consumer, group.group_id, member_id)
    group.compared_epoch = None
    groups.classic.adopt(classic)
    start_restored_sessions(groups.classic_context, classic)
    if is_rebalance:
        for reason in reasons:
            classic.note(reason)
        started = prepare_rebalance(groups.classic_context, classic)
        assert not started.records, "members have to join before a generation begins"
    block = encoded_block(converted.records, partial(_keep, groups, converted))
    return CoordinatorResult(
        response,
        BlockSequence([groups.block_of(converted.before), block]) if converted.before else block,
        partial(_settle, groups, classic, members),
        attribution=because(Reason(Why.GROUP_DOWNGRADED), *reasons),
    )


def _keep(groups: Groups, converted: Downgrade, offset: int) -> None:
    """Replay the records of a conversion."""
    record = converted.records[-1]
    groups.drop_consumer_group(converted.group.group_id)
    groups.replays[type(record.key)](offset + len(converted.records) - 1, record.key, record.value)


def _settle(groups: Groups, classic: ClassicGroup, members: Sequence[str], error: ErrorCode | None) -> None:
    consumer, group_id = groups.consumer_context, classic.group_id
    if error is None:
        consumer.tell("downgraded", group_id=group_id, generation=classic.generation_id, members=len(classic.members))
        return
    # Requests that have come to the classic group meanwhile are answered.
    groups.classic.drop(classic, operation_error(error))
    resume_sessions(groups, group_id, members)
