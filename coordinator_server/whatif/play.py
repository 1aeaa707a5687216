"""Plays the turns of a life by a rule: what members would have had after each, and what that would have cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from coordinator_server.whatif.figures import (
    UNKNOWN,
    Certainty,
    Cost,
    Figure,
    imbalance,
    moved_between,
    needed_moves,
    stopped,
    worst,
)
from coordinator_server.whatif.life import Held, Protocol
from coordinator_server.whatif.rules import RULES, Given, Rule, Situation, Standstill
from coordinator_server.whatif.turns import Turn

_MOST_ROUNDS: Final = 5
"""A change takes two rebalances of the cooperative assignor, or a few more where members want different topics."""


class Played(Struct):
    """A turn under a rule: what members have then, and what it cost."""

    turn: Turn
    held: Given
    cost: Cost


class _Change(NamedTuple):
    """What members had, what the first rebalance of a turn gave them, what they have in the end, and after how many."""

    before: Held
    first: Held
    after: Held
    rounds: int


def play(turns: Sequence[Turn], rule: Rule | None, before: Held, certainty: Certainty = Certainty.KNOWN) -> list[Played]:
    """Play turns by a rule; with None, each by the one that was in force. Members begin with ``before``.

    No figure is more certain than ``certainty``, which is that of the turns. A turn whose own rule is unknown goes as recorded.
    """
    held: Given = {seat: tuple(partitions) for seat, partitions in before.items()}
    since = dict.fromkeys(held, 0)
    found = []
    for number, turn in enumerate(turns, 1):
        chosen = RULES.get(turn.generation.assignor) if rule is None else rule
        if chosen is None or not turn.generation.members:
            found.append(_as_recorded(turn))
        else:
            first = chosen.assign(Situation(turn.generation, held, since))
            after, rounds = _settled(turn, chosen, first, number)
            change = _Change(held, first, after, rounds)
            found.append(Played(turn, after, _cost(turn, chosen, change, certainty)))
        held = found[-1].held
        since = dict.fromkeys(held, number)
    return found


def recorded(turns: Sequence[Turn], before: Held) -> list[Played]:
    """Return the turns as they were."""
    held, found = before, []
    for turn in turns:
        rule = RULES.get(turn.generation.assignor)
        if rule is None or not turn.generation.members:
            found.append(_as_recorded(turn))
        else:
            change = _Change(held, turn.generation.assigned, turn.assigned, turn.rebalances)
            found.append(Played(turn, turn.assigned, _cost(turn, rule, change, Certainty.KNOWN)))
        held = turn.assigned
    return found


def _as_recorded(turn: Turn) -> Played:
    """Return a turn of which only the outcome is known: no member is left, or the assignor is unknown here."""
    if not turn.generation.members:
        return Played(turn, {}, Cost())
    cost = Cost(Figure(turn.rebalances), UNKNOWN, UNKNOWN, imbalance(turn.assigned, turn.generation), UNKNOWN, UNKNOWN)
    return Played(turn, turn.assigned, cost)


def _settled(turn: Turn, rule: Rule, first: Given, number: int) -> tuple[Given, int]:
    """Return what members have when nothing is withheld any longer, and after how many rebalances."""
    after, rounds = first, 1
    while rule.withholds and rounds < _MOST_ROUNDS:
        again = rule.assign(Situation(turn.generation, after, dict.fromkeys(after, number)))
        if {seat: set(each) for seat, each in again.items()} == {seat: set(each) for seat, each in after.items()}:
            break
        after, rounds = again, rounds + 1
    return after, rounds


def _cost(turn: Turn, rule: Rule, change: _Change, certainty: Certainty) -> Cost:
    generation = turn.generation
    moved, needed = moved_between(change.before, change.after, generation), needed_moves(change.before, generation)
    bound = worst(certainty, Certainty.BOUND)
    needless = Figure(moved, bound) if needed is None else Figure(max(0, moved - needed), certainty)
    balance = imbalance(change.after, generation)
    stops = stopped(change.before, change.first, generation, rule.standstill)
    # Members of the consumer protocol have no reason for some rebalances of the classic one.
    is_other = rule.protocol is not generation.protocol
    return Cost(
        Figure(change.rounds, bound if is_other else certainty),
        Figure(moved, certainty),
        needless,
        Figure(balance.value, worst(balance.certainty, certainty)),
        Figure(stops, certainty),
        _standstill(turn, rule, stops, change.rounds, certainty),
    )


def _standstill(turn: Turn, rule: Rule, stops: int, rounds: int, certainty: Certainty) -> Figure:
    """Return for how long members stood still. Under another rule a rebalance is taken to last as long as the recorded one."""
    took_ms, of_turn_ms = turn.generation.took_ms, turn.took_ms
    if not stops:
        return Figure(0, certainty)
    if took_ms is None or Protocol.CONSUMER in {rule.protocol, turn.generation.protocol}:
        # Nobody waits for all others there, and how long one member waits for another is not in the record.
        return UNKNOWN
    if rule.name == turn.generation.assignor and rounds == turn.rebalances and of_turn_ms is not None and not turn.delay_ms:
        return Figure(stops * of_turn_ms, certainty)
    lasted_ms = took_ms * (rounds if rule.standstill is Standstill.MOVED else 1) + turn.delay_ms
    return Figure(stops * lasted_ms, worst(certainty, Certainty.BOUND))
