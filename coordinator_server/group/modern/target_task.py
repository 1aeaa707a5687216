"""The task of a child process that computes the target assignment of a large group, and encodes its records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from msgspec import Struct

from coordinator_server.group.assign.spec import Assignor, CannotAssign, GroupSpec, Member, Partitions
from coordinator_server.group.assign.subscriptions import Subscriptions, Wanted
from coordinator_server.group.assign.target import change_targets
from coordinator_server.group.modern.records import GroupRecords
from coordinator_server.machine.block import EncodedRecord
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord

T = TypeVar("T")


class DescribedMembers(Struct, frozen=True, array_like=True, gc=False):
    """The members of a group in columns, in the order in which they entered it.

    The child puts them into Kafka's order and reads their targets: for thousands of members, the loop has no time for it.
    """

    member_ids: list[str]
    instance_ids: list[str | None]
    subscriptions: list[int]
    targets: list[Partitions | EncodedRecord | None]
    """None: a member has no target."""
    most: int
    """The largest number of members that the group had."""


class DescribedTopic(Struct, frozen=True, array_like=True, gc=False):
    """A topic that exists."""

    topic_id: bytes
    partitions: int


class TargetRequest(Struct, frozen=True):
    """A group as it was replayed, and the name of its assignor."""

    group_id: str
    assignor: str
    members: DescribedMembers
    subscriptions: list[Wanted]
    """By place."""
    topics: dict[str, DescribedTopic]
    """Those of the subscriptions that exist."""
    is_homogeneous: bool
    assignable: dict[bytes, list[int]] | None = None
    """As in a GroupSpec."""


class ComputedTargets(Struct, frozen=True):
    """The targets that change, in order: the ids of their members, and their records. Or why there are none."""

    member_ids: list[str]
    records: list[EncodedRecord]
    failure: str = ""


Order = Callable[[Sequence[str], int], list[str]]
"""Returns the order in which an assignor gets members. Takes their ids in the order of their entry, and the largest number of them
so far."""


def compute_targets(
    assignors: Mapping[str, Assignor], order: Order, records: GroupRecords, request: TargetRequest
) -> ComputedTargets:
    """Compute the targets of a group of a type, which has these assignors and records."""
    change = partial(_change_targets, assignors[request.assignor], order, records, request)
    return encode_targets(change, partial(records.target, request.group_id))


def _group_spec(order: Order, records: GroupRecords, request: TargetRequest) -> GroupSpec:
    """Return the group as its assignor gets it."""
    described, read = request.members, records.target_form.read
    found: dict[str, Member] = {}
    for member_id, instance_id, place, target in zip(
        described.member_ids, described.instance_ids, described.subscriptions, described.targets, strict=True
    ):
        if isinstance(target, tuple):
            record: Any = GROUP_SERDE.decode(*target)
            has: Partitions = read(record.value)
        else:
            has = target or {}
        found[member_id] = Member(member_id, instance_id, place, has, target is not None)
    members = [found[member_id] for member_id in order(described.member_ids, described.most)]
    subscriptions = Subscriptions(request.topics.get)
    for names, matched in request.subscriptions:
        subscriptions.place(names, matched)
    return GroupSpec(members, subscriptions.found, request.is_homogeneous, subscriptions.partition_counts, request.assignable)


def _change_targets(
    assignor: Assignor, order: Order, records: GroupRecords, request: TargetRequest
) -> list[tuple[str, Partitions]]:
    return change_targets(assignor, _group_spec(order, records, request))


def encode_targets(
    change: Callable[[], list[tuple[str, T]]], target_record: Callable[[str, T], CoordinatorRecord]
) -> ComputedTargets:
    """Return the records of the targets that change, which ``change`` returns. It raises CannotAssign."""
    try:
        changed = change()
    except CannotAssign as failed:
        return ComputedTargets([], [], str(failed))
    found = [target_record(member_id, target) for member_id, target in changed]
    encoded: list[EncodedRecord] = [(GROUP_SERDE.encode_key(each), GROUP_SERDE.encode_value(each)) for each in found]
    return ComputedTargets([member_id for member_id, _ in changed], encoded)
