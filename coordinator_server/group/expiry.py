"""Expiry of unused offsets, and of groups without offsets (KIP-211).

| the group | an offset expires `offsets.retention.minutes` after |
|---|---|
| has no members | the group became empty (or its own commit, if the group's record is too old to have that time) |
| is simple: no protocol type | its commit |
| is a stable consumer group | its commit, if no member is subscribed to its topic |
| anything else | never |

An offset with a pending change in an open transaction does not expire. OffsetCommit versions 2-4 may set an expiry time, which
takes precedence. A group without members is deleted with its last offset, or if it has none.

A pass checks every group of the shard, in bounded steps. Time is the wall clock, limited to the speed of the monotonic clock:
a jump of the wall clock in either direction never makes an offset expire early.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from coordinator_server.group.group_type import ExpiryRule, GroupContext
from coordinator_server.group.registry import Groups
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.machine.steady_clock import SteadyClock
from coordinator_server.machine.timeline import LATEST
from coordinator_server.offsets.delete import tombstone
from coordinator_server.offsets.store import NO_TIMESTAMP as NO_EXPIRY
from coordinator_server.offsets.store import OffsetAndMetadata, TopicPartition
from protocol.coordinator_records import CoordinatorRecord

TIMER_KEY: Final = ("expire-offsets",)
# Limits of one step of a pass: some milliseconds of the loop, and a batch of moderate size.
OFFSETS_PER_STEP: Final = 10_000
RECORDS_PER_STEP: Final = 1_000
NEXT_STEP_MS: Final = 1
_NEVER: Final = 2**63 - 1


class Due(NamedTuple):
    """The expiry time of an offset, in milliseconds since the Unix epoch."""

    topic: str
    partition: int
    at_ms: int


class _Expired(NamedTuple):
    """The expired offsets of a group: tombstones, number of offsets checked, whether all were, and whether the group is deleted."""

    records: list[CoordinatorRecord]
    looked_at: int
    is_done: bool = True
    is_ended: bool = False


class OffsetExpiry:
    """The expiry passes over one shard."""

    def __init__(self, groups: Groups, context: GroupContext) -> None:
        self._groups = groups
        self._context = context
        self._clock = SteadyClock(context.clock)
        self._left: deque[str] = deque()
        # Groups without members are skipped before the earliest possible expiry of their offsets.
        self._earliest_ms: dict[str, int] = {}

    def start(self) -> None:
        """Schedule the first pass, one interval from now. Called when the shard is loaded."""
        self._clock = SteadyClock(self._context.clock)
        self._schedule(self._context.config.offsets_retention_check_interval_ms)

    def stop(self) -> None:
        """Cancel the passes. Called when the shard is unloaded."""
        self._context.timer.cancel(TIMER_KEY)

    def forget_bound(self, group_id: str) -> None:
        """Discard the group's earliest expiry: a commit with its own expiry time may expire before it."""
        self._earliest_ms.pop(group_id, None)

    def due(self, group_id: str) -> list[Due]:
        """Return when each offset of a group expires in the present state, earliest first. Others are omitted."""
        rule = self._groups.type_of(group_id).expiry_rule(group_id)
        due = [] if rule is None else [Due(*position, at_ms) for position, at_ms in self._due(group_id, rule)]
        return sorted((each for each in due if each.at_ms != _NEVER), key=lambda each: each.at_ms)

    def _schedule(self, delay_ms: int) -> None:
        interval_ms = self._context.config.offsets_retention_check_interval_ms
        self._context.timer.schedule(TIMER_KEY, delay_ms, self._step, retry_ms=interval_ms)

    def _step(self) -> CoordinatorResult[Any]:
        """Run the next step of the pass, or start a new pass."""
        groups, left, now_ms = self._groups, self._left, self._clock.now_ms()
        if not left:
            left.extend(groups.ids())
            self._earliest_ms = {group_id: at_ms for group_id in left if (at_ms := self._earliest_ms.get(group_id))}
        records: list[CoordinatorRecord] = []
        ended: list[str] = []
        looked_at = 0
        while left and looked_at < OFFSETS_PER_STEP and len(records) < RECORDS_PER_STEP:
            group_id = left.popleft()
            looked_at += 1
            if self._earliest_ms.get(group_id, 0) > now_ms:
                continue
            bound_ms = self._bound(group_id)
            if bound_ms > now_ms:
                self._earliest_ms[group_id] = bound_ms
                continue
            expired = self._expired(group_id, now_ms, RECORDS_PER_STEP - len(records))
            records += expired.records
            looked_at += expired.looked_at
            if expired.is_ended:
                ended.append(group_id)
            if not expired.is_done:
                left.appendleft(group_id)
                break
        self._schedule(NEXT_STEP_MS if left else self._context.config.offsets_retention_check_interval_ms)
        return CoordinatorResult(None, records, groups.ending(ended), attribution=because(Reason(Why.OFFSETS_EXPIRED)))

    def _bound(self, group_id: str) -> int:
        """Return the earliest possible expiry of a checkpointed simple group, from the checkpoint's index; 0 if unknown."""
        groups = self._groups
        if not groups.classic.is_at_rest(group_id):
            return 0
        bounds = groups.offsets.resting_bounds(group_id)
        if bounds is None:
            return 0
        oldest_commit_ms, least_expire_ms = bounds
        by_age_ms = oldest_commit_ms + self._context.config.offsets_retention_minutes * 60_000
        return by_age_ms if least_expire_ms == NO_EXPIRY else min(by_age_ms, least_expire_ms)

    def _expired(self, group_id: str, now_ms: int, limit: int) -> _Expired:
        """Return at most ``limit`` tombstones for the expired offsets of a group."""
        group_type = self._groups.type_of(group_id)
        rule = group_type.expiry_rule(group_id)
        if rule is None:
            return _Expired([], 0)
        due = list(self._due(group_id, rule))
        expired = [position for position, at_ms in due if at_ms <= now_ms]
        if len(expired) >= limit:
            return _Expired([tombstone(group_id, *position) for position in expired[:limit]], len(due), is_done=False)
        records = [tombstone(group_id, *position) for position in expired]
        self._earliest_ms.pop(group_id, None)
        if not rule.is_ending or group_id in self._groups.pending:
            return _Expired(records, len(due))
        if len(expired) == len(due):
            return _Expired([*records, *group_type.tombstones(group_id)], len(due), is_ended=True)
        self._earliest_ms[group_id] = min(at_ms for _, at_ms in due if at_ms > now_ms)
        return _Expired(records, len(due))

    def _due(self, group_id: str, rule: ExpiryRule) -> Iterator[tuple[TopicPartition, int]]:
        offsets = self._groups.offsets.of_group_at(group_id, LATEST)
        if offsets is None:
            return
        retention_ms = self._context.config.offsets_retention_minutes * 60_000
        is_open = self._groups.pending.open_at(group_id, LATEST)
        for (topic, partition), committed in offsets.items():
            is_kept = rule.is_kept(topic) or (topic, partition) in is_open
            yield (topic, partition), _NEVER if is_kept else _due_ms(committed, rule.since_ms, retention_ms)


def _due_ms(committed: OffsetAndMetadata, since_ms: int | None, retention_ms: int) -> int:
    if committed.expire_timestamp_ms != NO_EXPIRY:
        return committed.expire_timestamp_ms
    return (committed.commit_timestamp_ms if since_ms is None else since_ms) + retention_ms
