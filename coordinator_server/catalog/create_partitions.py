"""CreatePartitions (37): validates the requested topics and makes the records (``ReplicationControlManager``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection

from coordinator_server.catalog.create import MAX_PARTITIONS_PER_REQUEST, Room, partition_records
from coordinator_server.catalog.topics import Topic
from coordinator_server.kinds import KINDS
from coordinator_server.machine.errors import CoordinatorError
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)


def plan_growth(
    request: CreatePartitionsRequest, by_name: Callable[[str], Topic | None], nodes: Collection[int], room: Room
) -> tuple[list[CreatePartitionsTopicResult], list[CoordinatorRecord]]:
    """Return the answer for each topic, and the records of the new partitions. Raises CoordinatorError for the whole request."""
    times_asked = Counter(topic.name for topic in request.topics)
    results = [
        CreatePartitionsTopicResult(name, ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        for name, times in times_asked.items()
        if times > 1
    ]
    records: list[CoordinatorRecord] = []
    for asked in request.topics:
        if times_asked[asked.name] > 1:
            continue
        try:
            topic = _growing(asked, by_name, nodes)
            if len(records) + asked.count - topic.partitions <= MAX_PARTITIONS_PER_REQUEST:
                room.check(0, len(records) + asked.count - topic.partitions)
        except CoordinatorError as refused:
            results.append(CreatePartitionsTopicResult(asked.name, refused.error, refused.message))
            continue
        if len(records) + asked.count - topic.partitions > MAX_PARTITIONS_PER_REQUEST:
            raise CoordinatorError(
                ErrorCode.POLICY_VIOLATION, f"at most {MAX_PARTITIONS_PER_REQUEST} partitions can be made by one request"
            )
        records += partition_records(topic.topic_id, range(topic.partitions, asked.count), min(nodes))
        results.append(CreatePartitionsTopicResult(asked.name))
    return results, records


def _growing(asked: CreatePartitionsTopic, by_name: Callable[[str], Topic | None], nodes: Collection[int]) -> Topic:
    if asked.name in KINDS:
        raise CoordinatorError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{asked.name} is this server's own log")
    topic = by_name(asked.name)
    if topic is None:
        raise CoordinatorError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if asked.count == topic.partitions:
        raise CoordinatorError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {topic.partitions} partition(s).")
    if asked.count < topic.partitions:
        there = f"The topic {topic.name} currently has {topic.partitions} partition(s)"
        raise CoordinatorError(ErrorCode.INVALID_PARTITIONS, f"{there}; {asked.count} would not be an increase.")
    if asked.assignments is not None:
        _check_assignments(asked.assignments, asked.count - topic.partitions, nodes)
    return topic


def _check_assignments(assignments: list[CreatePartitionsAssignment], additional: int, nodes: Collection[int]) -> None:
    if len(assignments) != additional:
        raise CoordinatorError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {additional} additional partition(s), but only {len(assignments)} assignment(s) were specified.",
        )
    for assignment in assignments:
        problem = _assignment_problem(assignment.broker_ids, nodes)
        if problem is not None:
            raise CoordinatorError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, problem)


def _assignment_problem(replicas: list[int], nodes: Collection[int]) -> str | None:
    if not replicas:
        return "The manual partition assignment includes an empty replica list."
    previous = None
    for node in sorted(replicas):
        if node not in nodes:
            return f"The manual partition assignment includes broker {node}, but no such broker is registered."
        if node == previous:
            return f"The manual partition assignment includes the broker {node} more than once."
        previous = node
    if len(replicas) != 1:
        return (
            f"The manual partition assignment includes a partition with {len(replicas)} replica(s), but this is not consistent "
            "with previous partitions, which have 1 replica(s)."
        )
    return None
