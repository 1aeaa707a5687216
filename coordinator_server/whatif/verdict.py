"""One group: its rebalances in a period as they were, and as they would have been by other rules.

The rule in force is played as well: where it gives what was recorded, the figures of other rules can be believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from coordinator_server.machine.provenance import Reason
from coordinator_server.whatif.figures import Certainty, Cost, total
from coordinator_server.whatif.life import Generation, Held, Life, Missing, Silence
from coordinator_server.whatif.membership import Altered, Membership, alter
from coordinator_server.whatif.play import Played, play, recorded
from coordinator_server.whatif.rules import RULES, recorded_situation
from coordinator_server.whatif.turns import Turn, turns_of


class Question(Struct, frozen=True):
    """What to change, and when; None for the assignor that was in force, and for no limit of time."""

    assignor: str | None = None
    membership: Membership = Membership()
    since_ms: int | None = None
    until_ms: int | None = None


class Reproduced(Struct, frozen=True):
    """Of how many generations the rule in force gives what was recorded. ``differ`` are the numbers of the others.

    In those, ``moved`` partitions have another owner; in ``as_balanced`` of them members have as many partitions as recorded,
    though not the same members. ``unknown`` counts generations by an assignor that is not known here.
    """

    generations: int
    same: int
    differ: tuple[int, ...]
    moved: int
    as_balanced: int
    unknown: int


class Compared(Struct, frozen=True):
    """A change of the group: what it cost, and what it would have cost; None if it would not have been."""

    generation: int
    at_ms: int
    members: int
    assignor: str
    reasons: tuple[Reason, ...]
    recorded: Cost
    what_if: Cost | None


class Period(NamedTuple):
    """The turns in a period, and before them the ``anchor``: the last one before it, if there is one.

    ``reproduced`` is whether the rules in force give what was recorded in it.
    """

    anchor: list[Turn]
    turns: list[Turn]
    reproduced: Reproduced

    @property
    def before(self) -> Held:
        """What members had when the period began."""
        return self.anchor[0].assigned if self.anchor else {}

    @property
    def generations(self) -> list[Generation]:
        """All generations of the turns."""
        return _generations(self.turns)


class Sides(NamedTuple):
    """A period as it was, and as it would have been by the rules of a question."""

    period: Period
    altered: Altered
    before: list[Played]
    after: list[Played]


class Judgement(Struct, frozen=True, kw_only=True):
    """The answer to a question about a group. ``assignors`` were in force, in the order in which they came.

    ``shortened_ms`` is the longest session of a member, if the question is about a shorter one, and 0 if not. ``silences`` is then
    how often one was not heard of for so long; None if it may have been silent more often than the log can say.
    """

    assignors: tuple[str, ...]
    first_ms: int | None
    last_ms: int | None
    recorded: Cost
    what_if: Cost
    reproduced: Reproduced
    missing: tuple[Missing, ...]
    unreadable: int
    shortened_ms: int
    silences: int | None


class Verdict(Judgement, frozen=True, kw_only=True):
    """The answer about a group, with each of its changes."""

    group: str
    changes: tuple[Compared, ...]

    @property
    def in_sum(self) -> dict[str, Any]:
        """The fields of the answer, for a different answer that has them."""
        return {name: getattr(self, name) for name in Judgement.__struct_fields__}


def period_of(life: Life, since_ms: int | None, until_ms: int | None) -> Period:
    """Return the turns of a life in a period."""
    turns = [turn for turn in turns_of(life.generations) if until_ms is None or turn.generation.at_ms <= until_ms]
    first = next((at for at, turn in enumerate(turns) if since_ms is None or turn.generation.at_ms >= since_ms), len(turns))
    return Period(turns[max(first - 1, 0) : first], turns[first:], reproduce(_generations(turns[first:])))


def _generations(turns: Sequence[Turn]) -> list[Generation]:
    return [each for turn in turns for each in (turn.generation, *turn.follow_ups)]


def was(period: Period) -> list[Played]:
    """Return the period as it was."""
    return recorded(period.turns, period.before)


def played(period: Period, altered: Altered, assignor: str | None) -> list[Played]:
    """Return the period by other rules, of which those of membership have altered it. No assignor: those in force.

    If these do not give what was recorded, nothing that they give is known.
    """
    if assignor is not None:
        return play(altered.turns, RULES[assignor], period.before, altered.certainty)
    certainty = Certainty.UNKNOWN if period.reproduced.differ else altered.certainty
    return play(altered.turns, None, period.before, certainty)


def sides_of(life: Life, question: Question) -> Sides:
    """Play what a question asks about a group."""
    period = period_of(life, question.since_ms, question.until_ms)
    silences = _silences_in(life, period, question)
    altered = alter(period.turns, question.membership, period.anchor, silences)
    return Sides(period, altered, was(period), played(period, altered, question.assignor))


def _silences_in(life: Life, period: Period, question: Question) -> list[Silence] | None:
    """Return the silences of a life whose members would have been put out in a period; None if they are not known."""
    if life.silences is None:
        return None
    offsets = {each.offset for turn in (*period.anchor, *period.turns) for each in (turn.generation, *turn.follow_ups)}
    since_ms = question.since_ms or 0
    session_ms = question.membership.session_timeout_ms
    return [each for each in life.silences if each.offset in offsets and each.from_ms + session_ms >= since_ms]


def judge(life: Life, sides: Sides) -> Verdict:
    """Return the answer to a question about a group."""
    period, altered, before, after = sides
    by_offset = {each.turn.generation.offset: each.cost for each in after}
    generations = period.generations
    return Verdict(
        group=life.group_id,
        assignors=assignors_of(generations),
        first_ms=generations[0].at_ms if generations else None,
        last_ms=generations[-1].at_ms if generations else None,
        recorded=total(each.cost for each in before),
        what_if=total(each.cost for each in after),
        reproduced=period.reproduced,
        missing=tuple(missing_of(life, generations)),
        unreadable=life.unreadable,
        changes=tuple(_compared(each, by_offset.get(each.turn.generation.offset)) for each in before),
        shortened_ms=altered.shortened_ms,
        silences=altered.silences,
    )


def assignors_of(generations: Sequence[Generation]) -> tuple[str, ...]:
    """Return the assignors in the order in which they came."""
    return tuple(dict.fromkeys(each.assignor for each in generations if each.assignor))


def reproduce(generations: Sequence[Generation]) -> Reproduced:
    """Let the rule in force assign each generation again, from what it has got then."""
    same = unknown = moved = as_balanced = 0
    differ = []
    for generation in generations:
        rule = RULES.get(generation.assignor)
        if not generation.members:
            continue
        if rule is None:
            unknown += 1
            continue
        given = rule.assign(recorded_situation(generation))
        other = sum(len({*given.get(seat, ())} - {*generation.assigned.get(seat, ())}) for seat in generation.members)
        lost = sum(len({*generation.assigned.get(seat, ())} - {*given.get(seat, ())}) for seat in generation.members)
        if other or lost:
            differ.append(generation.number)
            moved += max(other, lost)
            as_balanced += _sizes(given) == _sizes(generation.assigned)
        else:
            same += 1
    return Reproduced(same + len(differ), same, tuple(differ), moved, as_balanced, unknown)


def _sizes(held: Held) -> list[int]:
    return sorted(map(len, held.values()))


def missing_of(life: Life, generations: Sequence[Generation]) -> list[Missing]:
    """Return the generations without a record in a period."""
    if not generations:
        return []
    numbers = range(generations[0].number, generations[-1].number + 1)
    is_first = life.generations[0] is generations[0]
    return [each for each in life.missing if each.first in numbers or (is_first and each.last < numbers.start)]


def _compared(each: Played, cost: Cost | None) -> Compared:
    generation = each.turn.generation
    return Compared(
        generation.number,
        generation.at_ms,
        len(generation.members),
        generation.assignor,
        generation.reasons,
        each.cost,
        cost,
    )
