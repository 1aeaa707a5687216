"""How it ends: everybody is answered, groups whose members live agree, and groups whose members are gone are empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from protocol.messages.describe_groups import DescribeGroupsRequest
from protocol.messages.offset_fetch import OffsetFetchRequest
from tests.simulation.checkers.reading import Reading
from tests.simulation.history import Life, Op
from tests.simulation.world import SECOND

# After the calm has begun, connections that were cut before may still turn out to be.
SETTLED_US: Final = 4 * SECOND


def check_answered(reading: Reading) -> Iterator[str]:
    """When nothing is in the way any more, every request is answered before its client gives up."""
    history = reading.history
    for op in history.ops:
        is_late = op.sent_us > history.calm_us + SETTLED_US
        if is_late and not op.is_answered:
            yield f"#{op.number} was never answered"


def check_converged(reading: Reading, max_size: int) -> Iterator[str]:
    """After quiet each group is stable, and its members are those who live; partitions have one owner each."""
    history = reading.history
    living: dict[str, list[Life]] = {}
    for life in history.lives:
        if life.ended_us < 0 or life.ended_us >= history.silent_us:
            living.setdefault(life.group_id, []).append(life)
    look = _look(reading, history.silent_us)
    for group in look.response.groups if look is not None else ():
        lives = living.get(group.group_id, [])
        if not lives:
            if group.group_state not in {"Empty", "Dead"}:
                yield f"{group.group_id} has no living members, and is {group.group_state}"
            continue
        found = {member.member_id for member in group.members}
        expected = {life.member_id for life in lives}
        # As in Kafka, those who rejoin may fill a group up while static members that do not rejoin in time stay in it.
        most = max_size + sum(life.instance_id is not None for life in lives)
        is_right = found == expected if len(lives) <= max_size else found <= expected and max_size <= len(found) <= most
        if group.group_state != "Stable" or not is_right:
            yield f"{group.group_id} has not converged: {group.group_state} with {sorted(found)}, alive are {sorted(expected)}"
        owners = Counter(position for member in group.members for position in _positions(member))
        if owners and set(owners.values()) != {1}:
            yield f"{group.group_id}: positions with several owners: {owners}"


def check_emptied(reading: Reading) -> Iterator[str]:
    """After silence no group has members."""
    look = _look(reading, reading.history.end_us)
    if look is None:
        yield "nobody looked"
    for group in look.response.groups if look is not None else ():
        if group.group_state not in {"Empty", "Dead"} or group.members:
            yield f"{group.group_id} is {group.group_state} after all members fell silent, with {len(group.members)} of them"


def check_expired(reading: Reading) -> Iterator[str]:
    """What is old enough is gone, and so are groups that nobody is a member of."""
    old_us = reading.history.old_us
    for op in reading.history.answered(DescribeGroupsRequest):
        for group in op.response.groups if op.sent_us >= old_us else ():
            if group.group_state != "Dead":
                yield f"{group.group_id} is {group.group_state} at #{op.number}, though nothing of it is young enough"
    for op in reading.history.answered(OffsetFetchRequest):
        if op.sent_us >= old_us and any(group.topics for group in op.response.groups):
            yield f"#{op.number} read offsets that are too old"


def _look(reading: Reading, before_us: int) -> Op | None:
    """The last time that somebody looked at all groups before that."""
    looks = [op for op in reading.history.answered(DescribeGroupsRequest) if op.answered_us <= before_us]
    return looks[-1] if looks else None


def _positions(member: Any) -> list[str]:
    return [part for part in member.member_assignment.decode().partition(":")[2].split(",") if part]
