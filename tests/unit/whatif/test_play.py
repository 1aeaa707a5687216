"""A life by another rule: what members would have had, what it would have cost, and for how long they would have stood still."""

from __future__ import annotations

import pytest

from coordinator_server.whatif.figures import UNKNOWN, Certainty, Cost, Figure, total
from coordinator_server.whatif.life import LifeMember
from coordinator_server.whatif.names import NAMES
from coordinator_server.whatif.play import play, recorded
from coordinator_server.whatif.rules import RULES, Situation, Standstill
from coordinator_server.whatif.turns import Turn, turns_of
from tests.support.generations import generation, held, member, turns

A, B, C = (member(each) for each in "abc")
ALONE = generation(1, [A], held(a="t0 t1 t2 t3 t4 t5"))
PAIR = generation(2, [A, B], held(a="t0 t1 t2", b="t3 t4 t5"))
ABOUT_A_THIRD = generation(3, [A, B, C], held(a="t0 t1", b="t2 t3", c="t4 t5"))
LIFE = (ALONE, PAIR, ABOUT_A_THIRD)


def test_every_name_has_its_rule() -> None:
    assert tuple(RULES) == NAMES
    assert {name for name, rule in RULES.items() if rule.standstill is Standstill.ALL} == {"range", "roundrobin", "sticky"}


def test_as_it_was() -> None:
    """With range: three of the six moved where two had to, and everybody stood still for each rebalance."""
    costs = [each.cost for each in recorded(turns(*LIFE), {})]

    assert [(cost.moved.value, cost.needless.value, cost.stopped.value) for cost in costs] == [(0, 0, 0), (3, 0, 1), (3, 1, 2)]
    assert [cost.standstill_ms for cost in costs] == [Figure(0), Figure(100), Figure(200)]
    assert total(costs).rebalances == Figure(3)


def test_the_rule_in_force_gives_the_same() -> None:
    assert play(turns(*LIFE), None, {}) == recorded(turns(*LIFE), {})


def test_the_sticky_assignor_moves_what_it_must() -> None:
    played = play(turns(*LIFE), RULES["sticky"], {})

    assert [each.cost.needless for each in played] == [Figure(0)] * 3
    assert played[-1].cost.standstill_ms == Figure(200, Certainty.BOUND)
    assert {*played[-1].held["a"], *played[-1].held["b"]} < {*PAIR.assigned["a"], *PAIR.assigned["b"]}


def test_the_cooperative_assignor_takes_two_rebalances_in_which_nobody_stops() -> None:
    played = play(turns(*LIFE), RULES["cooperative-sticky"], {})

    assert [each.cost.rebalances.value for each in played] == [1, 2, 2]
    assert [each.cost.stopped.value for each in played] == [0, 0, 0]
    assert sorted(map(len, played[-1].held.values())) == [2, 2, 2]


def test_the_consumer_protocol_says_nothing_of_how_long_members_wait() -> None:
    """Where one loses everything that it had, it waits; for how long is not in the log."""
    swapped = generation(2, [A, member("b", wants="tu")], held(a="t0", b="u0"), topics={"t": 1, "u": 1})
    first = generation(1, [member("b", wants="tu")], held(b="t0 u0"), topics={"t": 1, "u": 1})
    played = play(turns(first, swapped), RULES["uniform"], {})

    assert [each.cost.standstill_ms for each in played] == [Figure(0), Figure(0)]
    taken = generation(2, [A, B], held(a="t0", b="t1"), topics={"t": 2})
    lost = play(turns(taken), RULES["server-range"], held(a="t1", b="t0"))
    assert (lost[0].cost.stopped.value, lost[0].cost.standstill_ms) == (2, UNKNOWN)


def test_a_rebalance_of_unknown_length_stands_still_for_an_unknown_time() -> None:
    unknown = generation(2, [A, B], held(a="t0 t1 t2", b="t3 t4 t5"), took_ms=None)

    assert total(each.cost for each in recorded(turns(ALONE, unknown), {})).standstill_ms == Figure(0, Certainty.UNKNOWN)


@pytest.mark.parametrize("wants", ["t", "tu"])
def test_no_figure_is_more_certain_than_the_life(wants: str) -> None:
    """Also where members want different topics."""
    other = generation(2, [A, member("b", wants=wants)], held(a="t0 t1 t2", b="t3 t4 t5"), topics={"t": 6, "u": 2})
    [played] = play(turns(other), None, held(a="t0 t1 t2 t3 t4 t5"), Certainty.UNKNOWN)

    assert {getattr(played.cost, name).certainty for name in Cost.__struct_fields__} == {Certainty.UNKNOWN}


def test_a_delay_is_a_part_of_the_standstill() -> None:
    [played] = play([Turn(PAIR, [], 3_000)], None, held(a="t0 t1 t2 t3 t4 t5"), Certainty.BOUND)

    assert played.cost.standstill_ms == Figure(3_100, Certainty.BOUND)


def test_a_group_without_members_costs_nothing() -> None:
    [played] = play(turns(generation(2, [])), RULES["range"], held(a="t0 t1"))

    assert (played.held, played.cost) == ({}, Cost())


def test_a_second_rebalance_of_unknown_length_makes_the_standstill_a_bound() -> None:
    """It is taken to last as long as the first."""
    before = held(a="t0 t1 t2", b="t3 t4 t5")
    first = generation(1, [A, B], held(b="t3 t4 t5"), assignor="cooperative-sticky")
    second = generation(2, [A, B], held(a="t5", b="t0 t1 t2 t3 t4"), assignor="cooperative-sticky", took_ms=None)
    [played] = recorded([Turn(first, [second])], before)

    assert (played.cost.stopped, played.cost.standstill_ms) == (Figure(1), Figure(200, Certainty.BOUND))


def test_members_keep_what_they_have_where_no_assignment_can_be_made() -> None:
    """One wants a topic that the coordinator did not know."""
    stranger = generation(2, [A, member("b", wants="tx")], topics={"t": 6})
    had = held(a="t0 t1 t2", b="t3 t4 t5")

    assert {rule: RULES[rule].assign(Situation(stranger, had, {})) for rule in ("uniform", "server-range")}["server-range"] == had


def test_an_unknown_assignor_is_taken_as_it_was() -> None:
    strange = generation(2, [A, B], held(a="t0", b="t1 t2 t3 t4 t5"), assignor="mine")
    [played] = play(turns(strange), None, {})

    assert played.held == strange.assigned
    assert (played.cost.imbalance, played.cost.moved) == (Figure(4), UNKNOWN)


def test_the_second_rebalance_of_a_cooperative_group_is_no_change_of_its_own() -> None:
    """It gives what the first one has withheld. A group that rebalances although nothing is withheld does so for a reason."""
    first = generation(1, [A], held(a="t0 t1 t2 t3 t4 t5"), assignor="cooperative-sticky")
    withheld = generation(2, [A, B], held(a="t0 t1 t2"), assignor="cooperative-sticky")
    given = generation(3, [A, B], held(a="t0 t1 t2", b="t3 t4 t5"), assignor="cooperative-sticky")
    forced = generation(4, [A, B], given.assigned, assignor="cooperative-sticky")
    found = turns_of([first, withheld, given, forced])

    assert [(turn.generation.number, turn.rebalances) for turn in found] == [(1, 1), (2, 2), (4, 1)]
    assert [each.cost.rebalances.value for each in play(found, RULES["range"], {})] == [1, 1, 1]
    assert [each.cost for each in play(found, None, {})] == [each.cost for each in recorded(found, {})]


@pytest.mark.parametrize(
    ("first", "members", "then"),
    [
        ("cooperative-sticky", [A, B, C], "cooperative-sticky"),
        ("cooperative-sticky", [A, B], "range"),
        ("range", [A, B], "range"),
        ("mine", [A, B], "mine"),
    ],
)
def test_what_another_change_or_assignor_gives_is_a_change(first: str, members: list[LifeMember], then: str) -> None:
    """Somebody came before the second rebalance; or nothing was withheld, though partitions had no owner."""
    before = generation(2, [A, B], held(a="t0 t1 t2"), assignor=first)
    after = generation(3, members, held(a="t0 t1 t2", b="t3 t4 t5"), assignor=then)

    assert [turn.generation.number for turn in turns_of([before, after])] == [2, 3]
