"""Share partitions of a group get a state in ``__share_group_state`` before they are assigned.

    heartbeat ── record: initializing ── durable ──► a message for each share partition ──► its state is initialized
    record: initialized ◄── all of them done ◄──────────────────────────────────────────────────────┘

A partition in *initializing* is an open intent: its message is delivered at least once, and sent again after a load. If a share
partition cannot have a state, because its topic is gone, it leaves *initializing*, and a later heartbeat begins anew. In Kafka all
partitions of the attempt leave, also those that have a state now. Kafka sends again after
``group.share.initialize.retry.interval.ms`` if it does not know the outcome; here the outbox does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from coordinator_server.group.assign.order import order_names
from coordinator_server.group.share.context import ShareContext
from coordinator_server.group.share.group import ShareGroup
from coordinator_server.group.share.state_messages import SharePartition, StateMessages
from coordinator_server.group.share.state_topics import (
    NamedPartitions,
    StateTopics,
    TopicsWithPartitions,
    combine,
    name_of,
    state_topics_record,
    without,
)
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import CoordinatorResult
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode

NO_START_OFFSET: Final = -1
RETRY_MS: Final = 1_000


def uninitialized(share: ShareContext, group: ShareGroup, subscribed: Iterable[str]) -> TopicsWithPartitions:
    """Return the partitions of these topics that have no state and are not about to get one."""
    topics, known = group.state_topics.value, {}
    for name in order_names(subscribed):
        topic = share.topics.topic(name)
        if topic is None:
            continue
        present: set[int] = set()
        for each in (topics.initialized, topics.initializing):
            if topic.topic_id in each:
                present.update(each[topic.topic_id].partitions)
        if len(present) < topic.partitions:
            missing = [partition for partition in range(topic.partitions) if partition not in present]
            known[topic.topic_id] = NamedPartitions(name, missing)
    return combine({}, known)


def initializing_record(share: ShareContext, group: ShareGroup, added: TopicsWithPartitions) -> CoordinatorRecord:
    """Return the record that adds partitions to those that get a state. They are not about to lose it any longer."""
    topics = group.state_topics.value
    initializing = combine(topics.initializing, added) if group.has_state_record else added
    deleting = tuple(topic_id for topic_id in topics.deleting if topic_id not in initializing)
    return state_topics_record(group.group_id, StateTopics(initializing, topics.initialized, deleting), share.topics)


def initialize(
    share: ShareContext, group_id: str, state_epoch: int, topics: TopicsWithPartitions, start_offset: int = NO_START_OFFSET
) -> None:
    """Send the messages. Called when the record with these topics in *initializing* is durable."""
    starts = {(topic_id, partition): start_offset for topic_id, topic in topics.items() for partition in topic.partitions}
    StateMessages(partial(_finish, share, group_id, topics)).initialize(share, group_id, starts, state_epoch)


def resume_initializations(share: ShareContext) -> None:
    """Send the messages of all open intents again, after a load: their outcomes are unknown.

    Partitions that had a state before keep it: an administrator was about to set their offset, and has no answer.
    """
    for group_id, group in share.groups.by_id.items():
        known = group.state_topics.value
        if not known.initializing:
            continue
        initialized = known.initialized_partitions()
        topics = without(known.initializing, initialized)
        if topics:
            initialize(share, group_id, group.group_epoch, topics)
        kept = without(known.initializing, {topic_id: topic.partitions for topic_id, topic in topics.items()})
        if kept:
            share.timer.schedule(("keep-states", group_id), 0, partial(_finish, share, group_id, kept, {}), RETRY_MS)


def _finish(
    share: ShareContext, group_id: str, topics: TopicsWithPartitions, errors: Mapping[SharePartition, ErrorCode]
) -> CoordinatorResult[Any]:
    """Close the intents with the record of their outcome."""
    group = share.groups.by_id.get(group_id)
    if group is None:
        return CoordinatorResult(None)
    known, tried = group.state_topics.value, {topic_id: topic.partitions for topic_id, topic in topics.items()}
    initializing, initialized, why = without(known.initializing, tried), known.initialized, Why.PARTITIONS_INITIALIZED
    if errors:
        if not known.initializing:
            return CoordinatorResult(None)
        share.report("share-state-refused", group_id=group_id, error=next(iter(errors.values())).name)
        why = Why.PARTITIONS_NOT_INITIALIZED
    done = {
        topic_id: NamedPartitions(name_of(share.topics, topic_id), succeeded)
        for topic_id, topic in topics.items()
        if topic_id in known.initializing
        and (succeeded := [partition for partition in topic.partitions if (topic_id, partition) not in errors])
    }
    if done or not errors:
        initialized = combine(known.initialized, done) if group.has_state_record else done
    record = state_topics_record(group_id, StateTopics(initializing, initialized, known.deleting), share.topics)
    return CoordinatorResult(None, [record], attribution=because(Reason(why)))
