"""What a change costs: moves that balance did not need, imbalance, members that stop; and sums of what is not certain."""

from __future__ import annotations

import pytest

from coordinator_server.whatif.figures import (
    UNKNOWN,
    Certainty,
    Cost,
    Figure,
    imbalance,
    moved_between,
    needed_moves,
    stopped,
    total,
)
from coordinator_server.whatif.rules import Standstill
from tests.support.generations import generation, held, member

A, B, C = (member(each) for each in "abc")


@pytest.mark.parametrize(
    ("before", "after", "moved", "needed"),
    [
        (held(a="t0 t1 t2", b="t3 t4 t5"), held(a="t0 t1 t2", b="t3 t4 t5"), 0, 0),
        (held(a="t0 t1 t2", b="t3 t4 t5"), held(a="t3 t4 t5", b="t0 t1 t2"), 6, 0),
        # A new member needs two, whoever gives them up.
        (held(a="t0 t1 t2", b="t3 t4 t5"), held(a="t0 t1", b="t2 t3", c="t4 t5"), 3, 2),
        # What a member had that has gone is nobody's: it has to be given to somebody.
        (held(a="t0 t1", b="t2 t3", gone="t4 t5"), held(a="t0 t1 t4", b="t2 t3 t5"), 0, 0),
        # Of two members one had everything.
        (held(a="t0 t1 t2 t3 t4 t5", b=""), held(a="t0 t1 t2", b="t3 t4 t5"), 3, 3),
        # Partitions of topics that are gone count for nothing.
        (held(a="u0 u1 t0 t1 t2", b="t3 t4 t5"), held(a="t0 t1 t2", b="t3 t4 t5"), 0, 0),
    ],
)
def test_moves_and_those_that_balance_needs(before: dict, after: dict, moved: int, needed: int) -> None:
    now = generation(2, [A, B, C] if "c" in after else [A, B])

    assert (moved_between(before, after, now), needed_moves(before, now)) == (moved, needed)


def test_a_larger_share_stays_with_who_has_most() -> None:
    """Of seven partitions one of three members keeps three."""
    now = generation(2, [A, B, C], topics={"t": 7})

    assert needed_moves(held(a="t0 t1 t2", b="t3 t4 t5 t6"), now) == 2


def test_members_that_want_different_topics_have_no_least_number() -> None:
    now = generation(2, [A, member("b", wants="tu")], topics={"t": 2, "u": 2})

    assert needed_moves(held(a="t0 t1"), now) is None
    assert imbalance(held(a="t0", b="t1 u0 u1"), now) == Figure(2, Certainty.BOUND)


def test_who_stops() -> None:
    """Everybody that had something; or who keeps nothing of it. A new member has nothing to stop."""
    now = generation(2, [A, B, C])
    before, after = held(a="t0 t1 t2", b="t3", c="", gone="t4"), held(a="t0 t1", b="t2", c="t3")

    assert stopped(before, after, now, Standstill.ALL) == 2
    assert stopped(before, after, now, Standstill.MOVED) == 1


def test_a_sum_is_as_certain_as_its_least_certain_part() -> None:
    known, bound = Figure(3), Figure(4, Certainty.BOUND)

    assert known + bound == Figure(7, Certainty.BOUND)
    assert known + UNKNOWN == UNKNOWN + known == Figure(3, Certainty.UNKNOWN)
    assert UNKNOWN + UNKNOWN == UNKNOWN
    assert total([Cost(imbalance=Figure(2)), Cost(imbalance=Figure(5)), Cost(imbalance=Figure(1))]).imbalance == Figure(5)


def test_a_sum_has_the_worst_imbalance_that_is_known() -> None:
    costs = [Cost(imbalance=UNKNOWN), Cost(imbalance=Figure(2)), Cost(imbalance=Figure(1))]

    assert total(costs).imbalance == Figure(2, Certainty.UNKNOWN)
    assert total(costs[:1]).imbalance == Figure(0, Certainty.UNKNOWN)
