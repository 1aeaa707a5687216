"""The state of a log that follows a cluster, beside what the cluster itself says of its groups.

The cluster goes on meanwhile, so it is asked twice, before and after the moment of the log: what both answers have in common is so
at that moment, too, and an offset that went up is between them. All else is not compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from coordinator_server.pipeline.states.shown_group import Group

SETTLED: Final = frozenset({"Stable", "Empty"})
"""States of a group whose members are those of its log: while a rebalance goes on they are in the coordinator's memory alone."""

Positions = Mapping[tuple[str, int], int]
"""Offsets by topic and partition."""


class GroupThere(Struct, frozen=True):
    """A group as the cluster describes it: its offsets, and its members; None if it is not settled.

    ``epoch`` is None in a classic group.
    """

    offsets: Positions = {}
    members: tuple[str, ...] | None = None
    epoch: int | None = None


NO_GROUP: Final = GroupThere(members=())


class Asked(Struct, frozen=True):
    """The groups of a shard, by id, as the cluster described them before a moment and after it."""

    before: dict[str, GroupThere] = {}
    after: dict[str, GroupThere] = {}


class Comparison(NamedTuple):
    """How many things were compared, and what differs."""

    compared: int
    differences: list[str]


def compared(groups: Sequence[Group], asked: Asked) -> Comparison:
    """Compare the groups of a shard with the cluster's answers."""
    ours = {each.group_id: each for each in groups}
    found = [
        (group_id, each)
        for group_id in sorted({*ours, *asked.before, *asked.after})
        for each in _of_group(
            ours.get(group_id, Group(group_id)), *(of.get(group_id, NO_GROUP) for of in (asked.before, asked.after))
        )
    ]
    return Comparison(
        len(found),
        [
            f"group {group_id}: {each.what}: {each.here} in the log, {each.there} in the cluster"
            for group_id, each in found
            if not each.is_so
        ],
    )


class _Compared(NamedTuple):
    what: str
    is_so: bool
    here: object
    there: object


def _of_group(ours: Group, before: GroupThere, after: GroupThere) -> Iterator[_Compared]:
    yield from _offsets(ours, before, after)
    yield from _members(ours, before, after)


def _offsets(ours: Group, before: GroupThere, after: GroupThere) -> Iterator[_Compared]:
    here = {(each.topic, each.partition): each.offset for each in ours.offsets}
    first, last = before.offsets, after.offsets
    for where in sorted({*here, *first, *last}):
        low, high, offset = first.get(where), last.get(where), here.get(where)
        name = "{}-{}".format(*where)
        if low == high:
            yield _Compared(name, offset == low, _text(offset), _text(low))
        elif low is not None and high is not None and low < high:
            yield _Compared(name, offset is not None and low <= offset <= high, _text(offset), f"{low} to {high}")


def _members(ours: Group, before: GroupThere, after: GroupThere) -> Iterator[_Compared]:
    if before.members is None or before.members != after.members or before.epoch != after.epoch:
        return
    here = tuple(sorted(each.member_id for each in ours.members))
    yield _Compared("members", here == before.members, _text(", ".join(here)), _text(", ".join(before.members)))
    if before.epoch is not None:
        yield _Compared("epoch", ours.epoch == before.epoch, _text(ours.epoch), before.epoch)


def _text(found: object) -> object:
    return "none" if found in (None, "") else found
