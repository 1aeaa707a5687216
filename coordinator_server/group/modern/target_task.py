"""The task of a child process that computes the target assignment of a large group, and encodes its records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from msgspec import Struct

from coordinator_server.group.assign.spec import Assignor, CannotAssign, GroupSpec, Partitions
from coordinator_server.group.assign.target import change_targets
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord

T = TypeVar("T")


class TargetRequest(Struct, frozen=True):
    """A group, and the name of its assignor."""

    group_id: str
    assignor: str
    spec: GroupSpec


class EncodedTarget(Struct, frozen=True, array_like=True, gc=False):
    """The record of a member's new target."""

    member_id: str
    key: bytes
    value: bytes


class ComputedTargets(Struct, frozen=True):
    """The records of the targets that change, in order, or why there are none."""

    changed: list[EncodedTarget]
    failure: str = ""


def compute_targets(
    assignors: Mapping[str, Assignor],
    target_record: Callable[[str, str, Partitions], CoordinatorRecord],
    request: TargetRequest,
) -> ComputedTargets:
    """Compute the targets. ``target_record`` makes a record from group id, member id and target."""

    def change() -> list[tuple[str, Partitions]]:
        return change_targets(assignors[request.assignor], request.spec)

    return encode_targets(change, partial(target_record, request.group_id))


def encode_targets(
    change: Callable[[], list[tuple[str, T]]], target_record: Callable[[str, T], CoordinatorRecord]
) -> ComputedTargets:
    """Return the records of the targets that change, which ``change`` returns. It raises CannotAssign."""
    try:
        changed = change()
    except CannotAssign as failed:
        return ComputedTargets([], str(failed))
    encoded: list[EncodedTarget] = []
    for member_id, target in changed:
        record = target_record(member_id, target)
        value = GROUP_SERDE.encode_value(record)
        assert value is not None
        encoded.append(EncodedTarget(member_id, GROUP_SERDE.encode_key(record), value))
    return ComputedTargets(encoded)
