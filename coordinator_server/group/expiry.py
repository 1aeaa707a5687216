"""Expiry of unused offsets, and of groups without offsets (KIP-211).

| the group | an offset expires `offsets.retention.minutes` after |
|---|---|
| is classic and has no members | the group became empty (or its own commit, if the group's record is too old to have that time) |
| is simple: no protocol type | its commit |
| is a stable consumer group of the classic protocol | its commit, if no member is subscribed to its topic |
| is a group of the consumer protocol (KIP-848), with or without members | its commit, if no member is subscribed to its topic |
| anything else | never |

An offset with a pending change in an open transaction does not expire. OffsetCommit versions 2-4 may set an expiry time, which
takes precedence. A group without members is deleted with its last offset, or if it has none.

A pass checks every group of the shard, in bounded steps, and lets those rest that are idle (``rest.py``). A step may end within a
group: the group may change before the next one, which reads it again (``pass_step.py``). Time is the wall clock, limited to the
speed of the monotonic clock: a jump of the wall clock in either direction never makes an offset expire early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from coordinator_server.group.group_type import ExpiryRule, GroupContext
from coordinator_server.group.pass_step import OFFSETS_PER_LOOK, PassStep
from coordinator_server.group.registry import Groups
from coordinator_server.group.rest import rest_if_idle
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.machine.steady_clock import SteadyClock
from coordinator_server.machine.timeline import LATEST
from coordinator_server.offsets.cursor import OffsetCursor
from coordinator_server.offsets.store import NO_TIMESTAMP as NO_EXPIRY
from coordinator_server.offsets.store import GroupOffsets, OffsetAndMetadata, TopicPartition

TIMER_KEY: Final = ("expire-offsets",)
_NEVER: Final = 2**63 - 1

DueMs = Callable[[TopicPartition, OffsetAndMetadata], int]
"""Returns when an offset of one group expires in the present state."""


class Due(NamedTuple):
    """The expiry time of an offset, in milliseconds since the Unix epoch."""

    topic: str
    partition: int
    at_ms: int


class _Visit:
    """The group that a pass is in. It may last several steps."""

    __slots__ = ("cursor", "least_due_ms", "rule")

    def __init__(self, cursor: OffsetCursor) -> None:
        self.cursor = cursor
        # The rule at the first step.
        self.rule: ExpiryRule | None = None
        # The earliest expiry of the visited offsets. 0 if it is not a bound: offsets have expired, or the rule has changed.
        self.least_due_ms = _NEVER

    def note_rule(self, rule: ExpiryRule) -> None:
        """Note the rule of a step. A bound by a different rule is none."""
        if self.rule is None:
            self.rule = rule
        elif (rule.since_ms, rule.is_ending) != (self.rule.since_ms, self.rule.is_ending):
            self.least_due_ms = 0

    def note_due(self, at_ms: int, now_ms: int) -> bool:
        """Note the expiry of an offset. Return whether it has expired."""
        if at_ms > now_ms:
            self.least_due_ms = min(self.least_due_ms, at_ms)
            return False
        self.least_due_ms = 0
        return True


class OffsetExpiry:
    """The expiry passes over one shard."""

    def __init__(self, groups: Groups, context: GroupContext) -> None:
        self._groups = groups
        self._context = context
        self._clock = SteadyClock(context.clock)
        # The groups that the pass has not reached; None between passes.
        self._left: Iterator[str] | None = None
        self._visit: _Visit | None = None
        # Groups without members are skipped before the earliest possible expiry of their offsets. The groups of the last pass,
        # and those that the present pass has done.
        self._was_earliest_ms: dict[str, int] = {}
        self._earliest_ms: dict[str, int] = {}
        # Of the present pass, or else of the last one: SIGHUP may change the property.
        self._retention_minutes = context.config.live.offsets_retention_minutes

    def start(self) -> None:
        """Schedule the first pass, one interval from now. Called when the shard is loaded."""
        self._clock = SteadyClock(self._context.clock)
        self._schedule(self._context.config.offsets_retention_check_interval_ms, self._begin)

    def stop(self) -> None:
        """Cancel the passes. Called when the shard is unloaded."""
        self._context.timer.cancel(TIMER_KEY)

    def forget_bound(self, group_id: str) -> None:
        """Discard the group's earliest expiry: a commit with its own expiry time may expire before it."""
        self._was_earliest_ms.pop(group_id, None)
        self._earliest_ms.pop(group_id, None)
        if self._visit is not None and self._visit.cursor.group_id == group_id:
            self._visit.least_due_ms = 0

    def due(self, group_id: str) -> list[Due]:
        """Return when each offset of a group expires in the present state, earliest first. Others are omitted."""
        rule = self._groups.type_of(group_id).expiry_rule(group_id)
        offsets = self._groups.offsets.of_group_at(group_id, LATEST)
        if rule is None or offsets is None:
            return []
        due_ms = self._due_ms(group_id, rule)
        due = [Due(*position, due_ms(position, committed)) for position, committed in offsets.items()]
        return sorted((each for each in due if each.at_ms != _NEVER), key=lambda each: each.at_ms)

    def _schedule(self, delay_ms: int, operation: Callable[[], CoordinatorResult[Any]]) -> None:
        interval_ms = self._context.config.offsets_retention_check_interval_ms
        self._context.timer.schedule(TIMER_KEY, delay_ms, operation, retry_ms=interval_ms)

    def _begin(self) -> CoordinatorResult[Any]:
        """Start a new pass, or go on with one whose step has failed."""
        if self._left is None:
            self._left = self._groups.ids()
            self._was_earliest_ms, self._earliest_ms = self._bounds_of_last_pass(), {}
        delay_ms = self._context.pass_times.reserve(self._context.clock.now_ms())
        if delay_ms == 0:
            return self._step()
        self._schedule(delay_ms, self._step)
        return CoordinatorResult(None)

    def _bounds_of_last_pass(self) -> dict[str, int]:
        """Return the earliest expiry of groups, without those by a retention that has changed since that pass began."""
        before, self._retention_minutes = self._retention_minutes, self._context.config.live.offsets_retention_minutes
        return self._earliest_ms if before == self._retention_minutes else {}

    def _step(self) -> CoordinatorResult[Any]:
        """Run the next step of the pass."""
        now_ms, began_ms = self._clock.now_ms(), self._context.clock.now_ms()
        step = PassStep()
        while step.room > 0 and self._left is not None:
            if self._visit is not None:
                self._go_on(self._visit, step, now_ms)
            elif (group_id := next(self._left, None)) is not None:
                self._visit = self._enter(group_id, step, now_ms)
            else:
                self._left = None
        if self._left is None:
            self._schedule(self._context.config.offsets_retention_check_interval_ms, self._begin)
        else:
            ended_ms = self._context.clock.now_ms()
            self._schedule(self._context.pass_times.after_step(ended_ms, ended_ms - began_ms), self._step)
        on_append, why = self._groups.ending(step.ended), because(Reason(Why.OFFSETS_EXPIRED))
        return CoordinatorResult(None, step.records, on_append, attribution=why)

    def _enter(self, group_id: str, step: PassStep, now_ms: int) -> _Visit | None:
        """Let the group rest if it is idle. Return its visit, or None if it can have no expired offset."""
        interval_ms = self._context.config.offsets_retention_check_interval_ms
        step.looks -= OFFSETS_PER_LOOK + rest_if_idle(self._groups, group_id, now_ms, interval_ms)
        if self._bound(group_id) <= now_ms:
            bound_ms = self._was_earliest_ms.get(group_id, 0)
            if bound_ms <= now_ms:
                return _Visit(OffsetCursor(group_id))
            self._earliest_ms[group_id] = bound_ms
        return None

    def _go_on(self, visit: _Visit, step: PassStep, now_ms: int) -> None:
        """Check the next offsets of the group. After the last one, delete the group or note its bound."""
        groups, group_id = self._groups, visit.cursor.group_id
        if not step.is_ready(visit.cursor, groups.offsets):
            return
        group_type = groups.type_of(group_id)
        rule = group_type.expiry_rule(group_id)
        offsets = groups.offsets.of_group_at(group_id, LATEST)
        expired = 0
        if rule is not None and offsets is not None:
            visit.note_rule(rule)
            expired = step.delete(visit.cursor, self._is_expired(visit, rule, offsets, now_ms))
            if visit.cursor:
                return
        self._visit = None
        if rule is None or not rule.is_ending or group_id in groups.pending:
            return
        if expired == (0 if offsets is None else len(offsets)):
            step.records += group_type.tombstones(group_id)
            step.ended.append(group_id)
        elif visit.least_due_ms:
            self._earliest_ms[group_id] = visit.least_due_ms

    def _is_expired(
        self, visit: _Visit, rule: ExpiryRule, offsets: GroupOffsets, now_ms: int
    ) -> Callable[[TopicPartition], bool]:
        due_ms = self._due_ms(visit.cursor.group_id, rule)

        def is_expired(position: TopicPartition) -> bool:
            committed = offsets.get(position)
            return committed is not None and visit.note_due(due_ms(position, committed), now_ms)

        return is_expired

    def _bound(self, group_id: str) -> int:
        """Return the earliest possible expiry of a group's offsets, without reading them; 0 if unknown."""
        groups = self._groups
        bounds = groups.offsets.bounds(group_id)
        if bounds is None:
            return 0
        since_ms, least_expire_ms = bounds
        if not groups.classic.is_at_rest(group_id):
            rule = groups.type_of(group_id).expiry_rule(group_id)
            if rule is None:
                return _NEVER
            since_ms = since_ms if rule.since_ms is None else rule.since_ms
        by_age_ms = since_ms + self._context.config.live.offsets_retention_minutes * 60_000
        return by_age_ms if least_expire_ms == NO_EXPIRY else min(by_age_ms, least_expire_ms)

    def _due_ms(self, group_id: str, rule: ExpiryRule) -> DueMs:
        """Return the function for the offsets of a group. It is valid until the next change."""
        is_kept, since_ms = rule.is_kept, rule.since_ms
        is_open = self._groups.pending.open_now(group_id)
        retention_ms = self._context.config.live.offsets_retention_minutes * 60_000

        def due_ms(position: TopicPartition, committed: OffsetAndMetadata) -> int:
            if position in is_open or is_kept(position[0]):
                return _NEVER
            if committed.expire_timestamp_ms != NO_EXPIRY:
                return committed.expire_timestamp_ms
            return (committed.commit_timestamp_ms if since_ms is None else since_ms) + retention_ms

        return due_ms
