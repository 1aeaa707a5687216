"""Generations of a group: one leader each, the same for all who are told of it; they rise,
and one that was given out is never another.

A generation is only written when its leader has synced, or the group is empty: one that nobody has synced may begin again after a
restart, or where the log refused the group's first record. A group that was deleted begins again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue
from tests.simulation.checkers.reading import Reading, by
from tests.simulation.history import Op


def check_leaders(reading: Reading) -> Iterator[str]:
    """At most one leader a generation, and one protocol; after a SyncGroup answer carried it, for good."""
    synced = by(reading.syncs, lambda op: (op.request.group_id, op.request.generation_id))
    for (group_id, generation), joins in by(reading.joins, _generation).items():
        for earlier, later in _pairs(reading, joins):
            if reading.is_parted(group_id, earlier.sent_us, later.answered_us):
                continue
            # A group of the same name that was deleted before has nothing to do with it.
            syncs = (op for op in synced.get((group_id, generation), ()) if not _is_parted_from(reading, group_id, op, earlier))
            first_sync = min((op.answered_us for op in syncs), default=2**62)
            is_same_life = reading.life_of(earlier) == reading.life_of(later) is not None
            may_begin_again = first_sync > later.answered_us and reading.is_refused_between(earlier.sent_us, later.answered_us)
            if (is_same_life and not may_begin_again) or (earlier.sent_us > first_sync and later.sent_us > first_sync):
                yield (
                    f"generation {generation} of {group_id} is not one: #{earlier.number} and #{later.number} were told "
                    "differently"
                )


def check_rising(reading: Reading) -> Iterator[str]:
    """Nobody is told of a generation that is older than one that was answered before they asked."""
    answers = sorted([*reading.joins, *reading.syncs], key=lambda op: op.answered_us)
    for group_id, ops in by(answers, lambda op: op.request.group_id).items():
        for op in ops:
            newest = max((each for each in ops if each.answered_us < op.sent_us), key=_number, default=None)
            if newest is None or _number(newest) <= _number(op):
                continue
            for before in (each for each in ops if each.answered_us < op.sent_us and _number(each) > _number(op)):
                if reading.is_parted(group_id, before.sent_us, op.answered_us):
                    continue
                is_soft = before in reading.joins and (
                    reading.life_of(before) != reading.life_of(op) or reading.is_refused_between(before.sent_us, op.answered_us)
                )
                if not is_soft:
                    yield f"{group_id} went back from #{before.number} to #{op.number}"
                    break


def check_used_once(reading: Reading) -> Iterator[str]:
    """Once a SyncGroup answer carried a generation, whoever is told of it later is told of the same leader."""
    joins = by(reading.joins, _generation)
    for (group_id, generation), syncs in by(reading.syncs, lambda op: (op.request.group_id, op.request.generation_id)).items():
        first = min(syncs, key=lambda op: op.answered_us)
        told = [op for op in joins.get((group_id, generation), ()) if op.answered_us <= first.answered_us]
        before = [op for op in told if reading.life_of(op) == reading.life_of(first) is not None]
        for op in joins.get((group_id, generation), ()):
            is_later = op.sent_us > first.answered_us and not reading.is_parted(group_id, first.sent_us, op.answered_us)
            if is_later and before and _told(reading, op) != _told(reading, before[-1]):
                yield f"generation {generation} of {group_id}, carried by #{first.number}, is used again for #{op.number}"


def check_records(reading: Reading) -> Iterator[str]:
    """In the log, too, generations rise, and one that is written again is the same."""
    last: dict[str, GroupMetadataValue] = {}
    for each in reading.written:
        key, value = each.record.key, each.record.value
        if not isinstance(key, GroupMetadataKey):
            continue
        before = last.pop(key.group, None)
        if not isinstance(value, GroupMetadataValue):
            continue
        last[key.group] = value
        if before is None:
            continue
        if value.generation < before.generation:
            yield f"{each.shard} at {each.offset}: {key.group} goes back from generation {before.generation} to {value.generation}"
        is_again = value.generation == before.generation and before.members
        if is_again and _shares(value, reading) != _shares(before, reading):
            yield f"{each.shard} at {each.offset}: generation {value.generation} of {key.group} is written again, and differs"


def _generation(op: Op) -> tuple[str, int]:
    return op.request.group_id, op.response.generation_id


def _number(op: Op) -> int:
    generation: int = op.response.generation_id if hasattr(op.response, "generation_id") else op.request.generation_id
    return generation


def _told(reading: Reading, op: Op) -> tuple[str, str]:
    return reading.who(op.response.leader), op.response.protocol_name or ""


def _pairs(reading: Reading, joins: list[Op]) -> Iterator[tuple[Op, Op]]:
    """Neighbours that were told differently."""
    for earlier, later in pairwise(joins):
        if _told(reading, earlier) != _told(reading, later):
            yield earlier, later


def _is_parted_from(reading: Reading, group_id: str, one: Op, other: Op) -> bool:
    return reading.is_parted(group_id, min(one.sent_us, other.sent_us), max(one.answered_us, other.answered_us))


def _shares(value: GroupMetadataValue, reading: Reading) -> tuple[str | None, dict[str, bytes]]:
    shares = {
        f"instance {member.group_instance_id}" if member.group_instance_id else member.member_id: member.assignment
        for member in value.members
    }
    return value.protocol, shares
