"""A new target assignment that a heartbeat computes itself: what the newer group types have in common of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar

from coordinator_server.group.assign.spec import CannotAssign
from coordinator_server.group.assign.subscriptions import Places
from coordinator_server.group.common.topics import TopicImage
from coordinator_server.group.modern.context import ModernContext
from coordinator_server.group.modern.group import ModernGroup
from coordinator_server.group.modern.target_task import DescribedMembers, DescribedTopic, TargetRequest
from coordinator_server.machine.errors import CoordinatorError
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode

T = TypeVar("T")


class Target(NamedTuple, Generic[T]):
    """The epoch of the group's target assignment, and the target of one member, in Kafka's order."""

    epoch: int
    assigned: T


def changed_targets(
    change: Callable[[], list[tuple[str, T]]], group_epoch: int, target_record: Callable[[str, T], CoordinatorRecord]
) -> tuple[dict[str, T], list[CoordinatorRecord]]:
    """Return the targets that change, by member id, and their records. Raises UNKNOWN_SERVER_ERROR if the assignor fails.

    ``change`` runs the assignor, and returns the targets that change in the order of their records. It raises CannotAssign.
    """
    try:
        changed = change()
    except CannotAssign as failed:
        raise CoordinatorError(
            ErrorCode.UNKNOWN_SERVER_ERROR, f"Failed to compute a new target assignment for epoch {group_epoch}: {failed}"
        ) from failed
    return dict(changed), [target_record(member_id, target) for member_id, target in changed]


def describe(
    group: ModernGroup[Any, Any],
    assignor: str,
    topics: TopicImage,
    members: Iterable[tuple[str | None, Sequence[str], Sequence[str]]],
    *,
    is_alike: bool,
    assignable: dict[bytes, list[int]] | None = None,
) -> TargetRequest:
    """Return a group for a child process. ``members`` are in the group's order: the instance id of each, and what it subscribes to.

    That are the names of topics, and those that its regular expression matches. Nothing is decoded or sorted: a group may have many
    thousands of members.
    """
    places, find = Places(), group.targets.get
    columns = [(instance_id, places.place(names, matched)) for instance_id, names, matched in members]
    targets = [None if (target := find(member_id)) is None else target.portable for member_id in group.members]
    described = DescribedMembers(
        list(group.members), [each[0] for each in columns], [each[1] for each in columns], targets, group.most_members
    )
    names = dict.fromkeys(chain.from_iterable(chain.from_iterable(places.distinct)))
    known = {
        name: DescribedTopic(topic.topic_id, topic.partitions) for name in names if (topic := topics.topic(name)) is not None
    }
    return TargetRequest(group.group_id, assignor, described, places.distinct, known, is_alike, assignable)


def is_due(context: ModernContext[Any], group: ModernGroup[Any, Any]) -> bool:
    """Return whether the group may have a new target: the next heartbeat checks it."""
    return group.is_target_due(context.settings_of(group.group_id).assignment_interval_ms, context.clock.wall_ms())
