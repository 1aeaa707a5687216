"""Regular expressions of subscriptions: when a member changes its own, and when those of a group are resolved again (KIP-848).

All expressions of a group are resolved together, so that new topics cause one rebalance: when one of them is not resolved, when
topics were created, and after an interval.
"""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Any, Final, NamedTuple

from coordinator_server.group.common.regexes import Resolved
from coordinator_server.group.consumer.context import ConsumerContext
from coordinator_server.group.consumer.group import NO_COUNT, ConsumerGroup, SubscriptionCount
from coordinator_server.group.consumer.records import RECORDS, regex_record, regex_tombstone
from coordinator_server.group.consumer.subscriptions import regexes_after
from coordinator_server.group.modern.reasons import result_because
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult, RequestContext
from protocol.coordinator_records import CoordinatorRecord
from protocol.messages.consumer_group_records import ConsumerGroupMemberMetadataValue as Metadata

MIN_REFRESH_INTERVAL_MS: Final = 10_000
_NOTHING: Final[CoordinatorResult[Any]] = CoordinatorResult(DEFERRED)


class RegexChange(Enum):
    """What a request does to a member's regular expression."""

    NONE = 0
    UNRESOLVED = 1  # the group's epoch waits for the result
    RESOLVED = 2  # also: the member has none any more


class RegexUpdate(NamedTuple):
    """The change, and its records."""

    change: RegexChange
    records: list[CoordinatorRecord]


UNCHANGED: Final = RegexUpdate(RegexChange.NONE, [])


def update_regex(
    consumer: ConsumerContext, group: ConsumerGroup, client: RequestContext, old: Metadata, new: Metadata
) -> RegexUpdate:
    """Change a member's expression, and have those of the group resolved if that is due. Raises INVALID_REGULAR_EXPRESSION.

    The group gets the topics that this ``client`` may describe.
    """
    before, after = old.subscribed_topic_regex, new.subscribed_topic_regex
    update, is_new = UNCHANGED, False
    if before != after:
        update = RegexUpdate(_change(group, before, after), [])
        if before and group.regex_members.get(before) == 1:
            update.records.append(regex_tombstone(group.group_id, before))
        is_new = bool(after) and after not in group.regex_members
        if is_new:
            consumer.regexes.check(after or "")
    if (is_new or group.regex_members) and not consumer.regexes.is_resolving(group.group_id):
        regexes = regexes_after(group, old, new)
        if regexes and _is_due(consumer, group, len(regexes), is_new):
            take = partial(take_resolved, consumer, group.group_id)
            consumer.regexes.resolve(client, group.group_id, regexes, take)
    return update


def _change(group: ConsumerGroup, before: str | None, after: str | None) -> RegexChange:
    if not after:
        return RegexChange.RESOLVED if before else RegexChange.UNRESOLVED
    is_known = after in group.regex_members and after in group.regexes
    return RegexChange.RESOLVED if is_known else RegexChange.UNRESOLVED


def _is_due(consumer: ConsumerContext, group: ConsumerGroup, regexes: int, is_new: bool) -> bool:
    """Return whether to resolve now: not within ten seconds of the last time."""
    last = next(iter(group.regexes.values()), None)
    if last is None:
        return True
    now = consumer.clock.wall_ms()
    # A clock that was set back must not stop it.
    if last.timestamp <= now <= last.timestamp + MIN_REFRESH_INTERVAL_MS:
        return False
    # A version of the future is that of a different cluster, from which the group was imported.
    has_new_topics = not consumer.topics.version_of_newest <= last.version <= consumer.topics.version
    is_old = not last.timestamp <= now <= last.timestamp + consumer.config.consumer.group_consumer_regex_refresh_interval_ms
    return is_new or regexes != len(group.regexes) or has_new_topics or is_old


def take_resolved(consumer: ConsumerContext, group_id: str, resolved: Resolved) -> CoordinatorResult[Any]:
    """Enter the topics of a group's expressions into its state. New ones are a new epoch of the group."""
    group = consumer.groups.by_id.get(group_id)
    if group is None:
        return _NOTHING
    counts = dict(group.subscribed_topics)
    records: list[CoordinatorRecord] = []
    is_changed = False
    for regex, topics in resolved.topics.items():
        # Nobody may have it any more.
        if regex not in group.regex_members:
            continue
        before = group.regexes.get(regex)
        old, new = set(() if before is None else before.topics), set(topics)
        is_changed = is_changed or old != new
        for names, step in ((old - new, -1), (new - old, 1)):
            # Most topics of a group have the same count.
            after: dict[SubscriptionCount, SubscriptionCount] = {}
            for name in names:
                count = counts.get(name, NO_COUNT)
                found = after.get(count)
                if found is None:
                    found = after[count] = SubscriptionCount(count.by_name, count.by_regex + step)
                counts[name] = found
        records.append(regex_record(group_id, regex, topics, resolved.version, resolved.timestamp))
    metadata_hash = consumer.hashes.of_group([name for name, count in counts.items() if count != NO_COUNT])
    if is_changed or metadata_hash != group.metadata_hash:
        epoch = group.group_epoch + 1
        records.append(RECORDS.epoch(group_id, epoch, metadata_hash))
        group.compared_epoch = epoch
    if not records:
        return _NOTHING
    return result_because(consumer, [Reason(Why.TOPICS_CHANGED)], DEFERRED, records)
