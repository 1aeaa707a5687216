"""The task of a child process that computes the target assignment of a large group, and encodes its records."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from coordinator_server.group.assign.spec import Assignor, CannotAssign, GroupSpec, Partitions
from coordinator_server.group.assign.target import change_targets
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord


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
    try:
        changed = change_targets(assignors[request.assignor], request.spec)
    except CannotAssign as failed:
        return ComputedTargets([], str(failed))
    encoded: list[EncodedTarget] = []
    for member_id, partitions in changed:
        record = target_record(request.group_id, member_id, partitions)
        value = GROUP_SERDE.encode_value(record)
        assert value is not None
        encoded.append(EncodedTarget(member_id, GROUP_SERDE.encode_key(record), value))
    return ComputedTargets(encoded)
