"""How a request of one protocol enters a group of the other one.

| group | a member of the consumer protocol joins | a classic member joins |
|---|---|---|
| none | a new group | a new group |
| classic, empty | replaces it | |
| classic, with members | converts it (``upgrade.py``), if the migration policy and the members' bytes allow it | |
| consumer, empty | | replaces it (``classic/join.py``) |
| consumer, with members | | is a member of it (``join.py``), unless migration is disabled |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.records import group_tombstone
from coordinator_server.group.classic.state import EMPTY, STABLE
from coordinator_server.group.consumer.group import ConsumerGroup
from coordinator_server.group.migration.timers import refresh_classic_session, resume_sessions
from coordinator_server.group.migration.upgrade import PreparedMembers, refuse_upgrade, upgrade
from coordinator_server.group.modern.epoch import topics_unknown
from coordinator_server.group.registry import Groups
from coordinator_server.group.why import Why
from coordinator_server.machine.block import BlockSequence, RecordBlock
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import CoordinatorResult
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode

T = TypeVar("T")
OnAppend = Callable[[ErrorCode | None], None]


class Entry(NamedTuple):
    """The consumer group that a heartbeat enters: one that its records, which come first, make. ``classic`` is what it replaces."""

    group: ConsumerGroup
    records: Sequence[CoordinatorRecord] | RecordBlock = ()
    classic: ClassicGroup | None = None
    is_due: bool = False
    """Whether a rebalance of the classic group was in progress, somebody has to give something up, or a partition has no owner:
    then the consumer group needs a new epoch in any case."""


def enter(groups: Groups, group_id: str, member_epoch: int, prepared: PreparedMembers | None = None) -> Entry:
    """Return the group for a heartbeat to a group id that has no consumer group. ``prepared`` are members that it may convert.

    Raises GROUP_ID_NOT_FOUND if it may not have one.
    """
    classic = None if group_id in groups.others else groups.classic.find(group_id)
    if classic is None and group_id not in groups.others:
        if member_epoch == 0:
            return Entry(groups.consumer.absent(group_id))
        kind = "Consumer group" if member_epoch > 0 else "Group"
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"{kind} {group_id} not found.")
    if member_epoch != 0 or classic is None:
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
    if classic.state is EMPTY:
        return Entry(groups.consumer.absent(group_id), [group_tombstone(group_id)], classic)
    consumer = groups.consumer_context
    refuse_upgrade(consumer.config, classic)
    if not consumer.has_topics:
        # Its members may have partitions that are not known here yet, and a classic group has no hash that would tell.
        raise topics_unknown()
    converted = upgrade(groups, classic, prepared)
    is_due = classic.state is not STABLE or converted.is_due
    return Entry(converted.group, converted.records, classic, is_due)


def entered(groups: Groups, entry: Entry, result: CoordinatorResult[T]) -> CoordinatorResult[T]:
    """Bring the soft state of both groups in line with an entry that has made records. Return the whole result."""
    classic, members = entry.classic, list(entry.group.members.values())
    if classic is None:
        return result
    if isinstance(entry.records, RecordBlock):
        result = replace(result, records=BlockSequence([entry.records, groups.block_of(list(result.records))]))
    else:
        result = replace(result, records=[*entry.records, *result.records])
    consumer, group_id = groups.consumer_context, classic.group_id
    for member in members:
        refresh_classic_session(consumer, group_id, member)
    result = replacing_classic(groups, classic, result, [member.member_id for member in members])
    if not members:
        return result
    upgraded = because(Reason(Why.GROUP_UPGRADED))
    attribution = upgraded if result.attribution is None else upgraded.followed_by(result.attribution)
    return replace(result, attribution=attribution)


def replacing_classic(
    groups: Groups, classic: ClassicGroup, result: CoordinatorResult[T], member_ids: Sequence[str] = ()
) -> CoordinatorResult[T]:
    """Remove a classic group that a consumer group replaces, with some of its members. Return the whole result.

    Members that wait join again, in the new group.
    """
    groups.classic.drop(classic, ErrorCode.REBALANCE_IN_PROGRESS)
    return replace(result, on_append=partial(_settle, groups, classic, member_ids, result.on_append))


def _settle(
    groups: Groups, classic: ClassicGroup, member_ids: Sequence[str], on_append: OnAppend | None, error: ErrorCode | None
) -> None:
    group_id = classic.group_id
    if error is None and member_ids:
        groups.consumer_context.tell("upgraded", group_id=group_id, epoch=classic.generation_id, members=len(member_ids))
    elif error is not None:
        # A classic group that is back is as its last record has it: without the rebalance that it was in.
        resume_sessions(groups, group_id, member_ids)
    if on_append is not None:
        on_append(error)
