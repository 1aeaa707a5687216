"""What a group subscribes to, as it will be after a change of members (Kafka's ``ConsumerGroup.compute…``).

Nothing here changes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from coordinator_server.group.common.counts import recount
from coordinator_server.group.consumer.group import NO_COUNT, ConsumerGroup, SubscriptionCount
from coordinator_server.group.consumer.member import ConsumerGroupMember
from protocol.messages.consumer_group_records import ConsumerGroupMemberMetadataValue as Metadata

TopicCounts = Mapping[str, SubscriptionCount]


def topics_after(group: ConsumerGroup, old: Metadata, new: Metadata) -> TopicCounts:
    """Return the subscribed topics when a member's metadata changes from ``old`` to ``new``."""
    if old is new:
        return group.subscribed_topics
    counts = dict(group.subscribed_topics)
    _count_names(counts, old.subscribed_topic_names, -1)
    _count_names(counts, new.subscribed_topic_names, 1)
    regex = old.subscribed_topic_regex
    if regex and regex != new.subscribed_topic_regex and group.regex_members.get(regex) == 1:
        _uncount_regex(group, counts, regex)
    return counts


def topics_without(group: ConsumerGroup, members: Iterable[ConsumerGroupMember], regexes: Iterable[str]) -> TopicCounts:
    """Return the subscribed topics without some members, and without the regular expressions that no other member has."""
    counts = dict(group.subscribed_topics)
    for member in members:
        _count_names(counts, member.metadata.subscribed_topic_names, -1)
    for regex in regexes:
        _uncount_regex(group, counts, regex)
    return counts


def regexes_after(group: ConsumerGroup, old: Metadata, new: Metadata) -> Mapping[str, int]:
    """Return the number of members by regular expression when a member's metadata changes."""
    before, after = old.subscribed_topic_regex, new.subscribed_topic_regex
    if (before or None) == (after or None):
        return group.regex_members
    counts = dict(group.regex_members)
    recount(counts, [before] if before else [], [after] if after else [])
    return counts


def is_homogeneous(regexes: Mapping[str, int], topics: TopicCounts, members: int) -> bool:
    """Return whether all members subscribe to the same topics: by name, or all by one regular expression and nothing else."""
    if not regexes:
        return all(count.by_name == members for count in topics.values())
    if next(iter(regexes.values())) != members:
        return False
    return all(count == (0, 1) for count in topics.values())


def count_after(group: ConsumerGroup, member: ConsumerGroupMember) -> int:
    """Return the number of members with a member that is new, replaces a static one, or is present already."""
    is_new = member.member_id not in group.members and member.instance_id not in group.static_members
    return len(group.members) + is_new


def subscribed_names(group: ConsumerGroup, member: ConsumerGroupMember) -> Collection[str]:
    """Return the topics that a member names, and those that its regular expression is known to match."""
    names = member.metadata.subscribed_topic_names
    resolved = matched_names(group, member)
    return {*names, *resolved} if resolved else names


def matched_names(group: ConsumerGroup, member: ConsumerGroupMember) -> list[str]:
    """Return the topics that a member's regular expression is known to match."""
    regex = member.metadata.subscribed_topic_regex
    resolved = group.regexes.get(regex) if regex else None
    return [] if resolved is None else resolved.topics


def _count_names(counts: dict[str, SubscriptionCount], names: Iterable[str], change: int) -> None:
    # Most subscriptions of a group are equal: few distinct counts.
    changed: dict[SubscriptionCount, SubscriptionCount] = {}
    for name in set(names):
        count = counts.get(name, NO_COUNT)
        new = changed.get(count)
        if new is None:
            new = changed[count] = SubscriptionCount(count.by_name + change, count.by_regex)
        _put(counts, name, new)


def _uncount_regex(group: ConsumerGroup, counts: dict[str, SubscriptionCount], regex: str) -> None:
    resolved = group.regexes.get(regex)
    for name in set(() if resolved is None else resolved.topics):
        count = counts.get(name, NO_COUNT)
        _put(counts, name, SubscriptionCount(count.by_name, count.by_regex - 1))


def _put(counts: dict[str, SubscriptionCount], name: str, count: SubscriptionCount) -> None:
    if count.by_name > 0 or count.by_regex > 0:
        counts[name] = count
    else:
        counts.pop(name, None)
