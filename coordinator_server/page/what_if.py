"""What a group would have lived through with another rule, beside what it has: figures, owners of partitions, advice in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from coordinator_server.client.offsets import TopicPartition
from coordinator_server.machine.provenance import Reason
from coordinator_server.page.group import Asked
from coordinator_server.page.lanes import Lane, Owner, Owners, Window, lanes
from coordinator_server.page.lived import playable_from
from coordinator_server.pipeline.replay.group_events import Client
from coordinator_server.pipeline.replay.group_owners import Ownership
from coordinator_server.whatif.advice import Saving, advise
from coordinator_server.whatif.figures import Cost
from coordinator_server.whatif.life import Held, Life, LifeMember, Seat
from coordinator_server.whatif.play import Played
from coordinator_server.whatif.verdict import Compared, Judgement, Period, Question, judge, sides_of

MOST_CHANGES: Final = 400


class NotYet(Struct):
    """It is being played: ask again."""

    is_exact: bool = False


class Few(Struct):
    """Of what one change cost, what a row of a table has room for; None where it is unknown."""

    moved: int | None
    stopped: int | None
    standstill_ms: int | None


class Change(Struct):
    """A change of the group, and what it would have cost; None if it would not have been."""

    at_ms: int
    generation: int
    members: int
    cause: str
    recorded: Few
    what_if: Few | None


class WhatIf(Judgement, frozen=True, kw_only=True):
    """The answer for the window of a picture. ``played_from_ms``: what was before is too much to be played, ``left_out`` changes.

    The lanes are those of assignments: ``was`` as recorded, ``would_be`` by the rule, with the same owners. A member that the rule
    makes a static one is known by the member id that it had first. ``changes`` are the newest ones of ``change_count``.
    """

    since_ms: int
    until_ms: int
    known_until_ms: int
    played_from_ms: int
    left_out: int
    generations: int
    changes: list[Change]
    change_count: int
    advice: list[Saving]
    owners: list[Owner]
    was: list[Lane]
    would_be: list[Lane]
    lane_count: int


def what_if(
    life: Life, question: Question, window: Window, known_ms: int, asked: Asked, reason: Callable[[Reason], str]
) -> WhatIf:
    """Play the part of a life that a window shows by the rules of a question, of which the times do not count."""
    last_ms = window.until_ms - 1
    since_ms, left_out = playable_from(life, window.since_ms, last_ms)
    sides = sides_of(life, Question(question.assignor, question.membership, since_ms, last_ms))
    verdict = judge(life, sides)
    period = sides.period
    owners = Owners(_presence(period))
    was, would_be = (sorted(_owned(period, side), key=_place) for side in (sides.before, sides.after))
    positions = sorted({(each.topic, each.partition) for each in (*was, *would_be)})
    shown = positions[asked.first_lane : asked.first_lane + asked.lanes]
    return WhatIf(
        **verdict.in_sum,
        since_ms=window.since_ms,
        until_ms=window.until_ms,
        known_until_ms=known_ms,
        played_from_ms=since_ms,
        left_out=left_out,
        generations=len(life.generations),
        changes=[_change(each, reason) for each in verdict.changes[-MOST_CHANGES:]],
        change_count=len(verdict.changes),
        advice=advise(period, verdict.recorded),
        owners=owners.found,
        was=_lanes(was, shown, owners, window),
        would_be=_lanes(would_be, shown, owners, window),
        lane_count=len(positions),
    )


def _lanes(owned: Sequence[Ownership], shown: Sequence[tuple[str, int]], owners: Owners, window: Window) -> list[Lane]:
    """Return the same lanes for both sides: one may have a partition that the other one never had."""
    wanted = set(shown)
    inside = [each for each in owned if (each.topic, each.partition) in wanted]
    found = {(lane.topic, lane.partition): lane for lane in lanes(inside, owners, window, 0, len(shown))}
    return [found.get(place) or Lane(*place, []) for place in shown]


def _place(owned: Ownership) -> tuple[str, int, int]:
    return owned.topic, owned.partition, owned.since_ms


def _presence(period: Period) -> Iterator[Ownership]:
    """Yield when each member was there, as if that were something to own: who had nothing may get something by another rule."""
    there: dict[Seat, tuple[int, LifeMember]] = {}
    for turn in (*period.anchor, *period.turns):
        members, at_ms = turn.generation.members, turn.generation.at_ms
        for seat in there.keys() - members.keys():
            yield _present(seat, *there.pop(seat), at_ms)
        for seat, member in members.items():
            there.setdefault(seat, (at_ms, member))
    for seat, (since_ms, member) in there.items():
        yield _present(seat, since_ms, member, None)


def _present(seat: Seat, since_ms: int, member: LifeMember, until_ms: int | None) -> Ownership:
    return Ownership("", 0, (seat,), since_ms, until_ms, {seat: Client(member.client_id, member.client_host)})


def _owned(period: Period, side: Iterable[Played]) -> Iterator[Ownership]:
    """Yield who has each partition from when to when, and when nobody has it."""
    held: dict[TopicPartition, tuple[int, tuple[Seat, ...]]] = {}
    steps: list[tuple[int, Held]] = [(turn.generation.at_ms, turn.assigned) for turn in period.anchor]
    steps += [(each.turn.generation.at_ms, each.held) for each in side]
    for at_ms, now in steps:
        seats = {partition: (seat,) for seat, partitions in now.items() for partition in partitions}
        for partition in held.keys() | seats.keys():
            having = seats.get(partition, ())
            since_ms, had = held.get(partition, (at_ms, having))
            if had != having:
                yield Ownership(partition.topic, partition.partition, had, since_ms, at_ms)
                since_ms = at_ms
            held[partition] = since_ms, having
    for partition, (since_ms, had) in held.items():
        yield Ownership(partition.topic, partition.partition, had, since_ms, None)


def _change(change: Compared, reason: Callable[[Reason], str]) -> Change:
    cause = "; ".join(map(reason, change.reasons))
    what_if = None if change.what_if is None else _few(change.what_if)
    return Change(change.at_ms, change.generation, change.members, cause, _few(change.recorded), what_if)


def _few(cost: Cost) -> Few:
    return Few(cost.moved.value, cost.stopped.value, cost.standstill_ms.value)
