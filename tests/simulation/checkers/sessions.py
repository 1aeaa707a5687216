"""No member that is heard of is let go, and none that is silent is kept.

Time is the server's: while it was stopped, or loaded, nobody could be heard,
and afterwards every session has its whole timeout again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from protocol.error_codes import ErrorCode
from protocol.messages.describe_groups import DescribeGroupsRequest
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest
from protocol.messages.leave_group import LeaveGroupRequest
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.sync_group import SyncGroupRequest
from tests.simulation.checkers.fencing import generation_of
from tests.simulation.checkers.reading import Reading, Span, by, error_codes
from tests.simulation.history import Op
from tests.simulation.world import MS, SECOND

# A standstill that is this long is noticed for certain: a tick, and as long again.
NOTICED_US: Final = 1100 * MS
SLACK_US: Final = 2 * SECOND
_SPEAKING: Final = (HeartbeatRequest, OffsetCommitRequest, SyncGroupRequest)


def check_living(reading: Reading) -> Iterator[str]:
    """A member that was answered, and asks again before its session is over, is still one."""
    timeouts = _timeouts(reading)
    ops = (op for op in reading.history.ops if isinstance(op.request, (*_SPEAKING, JoinGroupRequest)) and op.request.member_id)
    for (group_id, member_id), own in by(ops, lambda op: (op.request.group_id, op.request.member_id)).items():
        if (group_id, member_id) not in timeouts:
            continue
        synced: set[int] = set()
        heard: Op | None = None
        for op in own:
            if isinstance(op.request, JoinGroupRequest):
                heard = None
                continue
            if not op.is_answered:
                continue
            errors = error_codes(op.response)
            if heard is not None and ErrorCode.UNKNOWN_MEMBER_ID in errors and op.sent_us > heard.answered_us:
                if _must_live(reading, heard, op, min(timeouts[group_id, member_id])):
                    yield f"{member_id} was let go between #{heard.number} and #{op.number}, before its session was over"
                heard = None
            if isinstance(op.request, SyncGroupRequest) and not any(errors):
                synced.add(op.request.generation_id)
            # Whoever has not synced yet may be let go for that; while a group rebalances, which commits do not say, for not
            # joining; and a sync that is late is no sign of life, here as in Kafka.
            is_heartbeat = isinstance(op.request, HeartbeatRequest)
            if not any(errors) and is_heartbeat and generation_of(op.request) in synced and not _is_loading(reading, op):
                heard = op


def check_dead(reading: Reading) -> Iterator[str]:
    """A member that says nothing any more is let go."""
    timeouts = _timeouts(reading)
    ops = [op for op in reading.history.ops if isinstance(op.request, (*_SPEAKING, JoinGroupRequest))]
    spoken = by(ops, lambda op: (op.request.group_id, op.request.member_id))
    for op in reading.joins:
        if op.request.member_id != op.response.member_id:
            spoken.setdefault((op.request.group_id, op.response.member_id), []).append(op)
    longest_us = max((rebalance for _, rebalance in timeouts.values()), default=0)
    for look in reading.history.answered(DescribeGroupsRequest):
        for group in look.response.groups:
            for member in group.members:
                known = timeouts.get((group.group_id, member.member_id))
                if known is None:
                    continue
                own = [op for op in spoken.get((group.group_id, member.member_id), ()) if op.sent_us < look.answered_us]
                until = _kept_until(reading, own, look, known, longest_us)
                if until is not None and look.sent_us > until:
                    yield (
                        f"{member.member_id} of {group.group_id} is still there at #{look.number}, {(look.sent_us - until) // MS} "
                        "ms too long"
                    )


def _timeouts(reading: Reading) -> dict[tuple[str, str], tuple[int, int]]:
    """Session and rebalance timeout of each member id, microseconds; the longest ones where it has had several."""
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for op in reading.joins:
        request = op.request
        rebalance = request.rebalance_timeout_ms if op.version >= 1 else request.session_timeout_ms
        key = request.group_id, op.response.member_id
        session, longest = found.get(key, (0, 0))
        found[key] = max(session, request.session_timeout_ms * MS), max(longest, rebalance * MS)
    return found


def _must_live(reading: Reading, heard: Op, op: Op, timeout_us: int) -> bool:
    at = heard.sent_us
    for still in reading.standstills:
        if still.end < heard.sent_us or still.begin > op.answered_us:
            continue
        is_load = still in reading.loads
        if still.begin - at >= timeout_us:
            return False
        if is_load or still.end - still.begin >= NOTICED_US:
            at = max(at, still.end)
    return op.answered_us - at < timeout_us and not _is_removed(reading, heard, op)


def _is_removed(reading: Reading, heard: Op, op: Op) -> bool:
    """Whether somebody may have taken the member out, or its place."""
    group_id, member_id = op.request.group_id, op.request.member_id
    instance = reading.instances.get(member_id)
    for other in reading.history.ops:
        if other.sent_us > op.answered_us or other.ended_us < heard.sent_us:
            continue
        request = other.request
        if isinstance(request, LeaveGroupRequest) and request.group_id == group_id:
            named = [request.member_id, *(each.member_id for each in request.members)]
            if member_id in named or (instance and instance in [each.group_instance_id for each in request.members]):
                return True
        if isinstance(request, JoinGroupRequest) and request.group_id == group_id:
            is_own = request.member_id == member_id
            if is_own or (instance is not None and request.group_instance_id == instance):
                return True
    return False


def _is_loading(reading: Reading, op: Op) -> bool:
    return any(load.meets(Span(op.sent_us, op.answered_us)) for load in reading.loads)


def _kept_until(reading: Reading, own: list[Op], look: Op, known: tuple[int, int], longest_us: int) -> int | None:
    """When the member should be gone at the latest; None when that cannot be told."""
    session_us, _ = known
    heard_us = max((op.answered_us if op.is_answered else op.sent_us + SLACK_US for op in own), default=None)
    if heard_us is None:
        return None
    silent_us = max([heard_us, *(still.end for still in reading.standstills if still.begin < look.answered_us)])
    # A request that waits keeps its member, and so does each rebalance that it is part of.
    may_wait = any(
        not op.is_answered or op.answered_us > silent_us - session_us - longest_us
        for op in own
        if isinstance(op.request, JoinGroupRequest | SyncGroupRequest)
    )
    return silent_us + session_us + SLACK_US + (3 * longest_us + 2 * SECOND if may_wait else 0)
