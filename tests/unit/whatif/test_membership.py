"""Which changes other rules of membership would have saved, and how certain that is."""

from __future__ import annotations

from msgspec.structs import replace

from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason
from coordinator_server.whatif.figures import Certainty
from coordinator_server.whatif.life import Generation
from coordinator_server.whatif.membership import Membership, alter, returns_in, shortened_ms
from coordinator_server.whatif.turns import Turn
from tests.support.generations import generation, member, turns

A, B, NEW_A = member("a", "worker-a"), member("b", "worker-b"), member("a2", "worker-a")
STATIC = Membership(static=True)


def numbers(altered: list) -> list[int]:
    return [turn.generation.number for turn in altered]


def restarted(away_s: float, reason: str = Why.MEMBER_LEFT, returned: object = NEW_A) -> list[Generation]:
    """A member goes, and comes back after a while."""
    gone = generation(2, [B], at_s=10, reasons=(Reason(reason, "a"),))
    return [generation(1, [A, B]), gone, generation(3, [returned, B], at_s=10 + away_s)]  # type: ignore[list-item]


def test_a_restart_of_a_static_member_is_no_change() -> None:
    altered = alter(turns(*restarted(3)), STATIC)

    assert (numbers(altered.turns), numbers(altered.saved), altered.certainty) == ([1], [2, 3], Certainty.KNOWN)
    assert {seat: member.instance_id for seat, member in altered.turns[0].generation.members.items()} == {"a": "a", "b": "b"}


def test_a_member_that_is_away_for_longer_than_its_session_is_missed() -> None:
    """Ten seconds are its session, from when it left to when it came back."""
    assert numbers(alter(turns(*restarted(10)), STATIC).turns) == [1, 2, 3]
    assert numbers(alter(turns(*restarted(10)), Membership(static=True, session_timeout_ms=11_000)).turns) == [1]


def test_one_may_come_back_beside_one_that_was_never_there() -> None:
    gone, back = generation(2, [B], at_s=10), generation(3, [member("0", "stranger"), NEW_A, B], at_s=13)
    altered = alter(turns(generation(1, [A, B]), gone, back), STATIC)

    assert [(each.seat, each.new_seat) for each in altered.returns] == [("a", "a2")]


def test_a_member_that_restarts_again_and_again_keeps_its_seat() -> None:
    third = member("a3", "worker-a")
    later = [generation(4, [B], at_s=20), generation(5, [third, B], at_s=21), generation(6, [third, B, member("c")], at_s=22)]
    altered = alter(turns(*restarted(3), *later), STATIC)

    assert numbers(altered.turns) == [1, 6]
    assert set(altered.turns[1].generation.members) == {"a", "b", "c"}


def test_a_member_that_has_come_back_may_leave_for_good() -> None:
    altered = alter(turns(*restarted(3), generation(4, [B], at_s=60)), STATIC)

    assert [(turn.generation.number, set(turn.generation.members)) for turn in altered.turns] == [(1, {"a", "b"}), (4, {"b"})]


def test_whoever_joins_meanwhile_changes_the_group_all_the_same() -> None:
    """The member that is away keeps its place in it."""
    while_away = generation(3, [B, member("c")], at_s=11)
    altered = alter(turns(*restarted(3)[:2], while_away, generation(4, [NEW_A, B, member("c")], at_s=12)), STATIC)

    assert numbers(altered.turns) == [1, 3]
    assert set(altered.turns[1].generation.members) == {"a", "b", "c"}


def test_a_client_id_that_several_members_have_is_told_apart_by_the_host() -> None:
    other = member("b", "worker-a", host="10.0.0.2")
    elsewhere, here = member("a2", "worker-a", host="10.0.0.3"), member("a2", "worker-a")
    for returned, expected in ((elsewhere, [1, 2, 3]), (here, [1])):
        life = [generation(1, [A, other]), generation(2, [other], at_s=10), generation(3, [returned, other], at_s=12)]

        altered = alter(turns(*life), STATIC)
        assert numbers(altered.turns) == expected
        assert altered.certainty is (Certainty.BOUND if expected == [1] else Certainty.KNOWN)


def test_a_group_that_restarts_as_a_whole_is_never_empty() -> None:
    """Nor does it lose the topics that only a member wants that is away."""
    both = [member("a", "worker-a"), member("b", "worker-b", wants="u")]
    again = [member("a2", "worker-a"), member("b2", "worker-b", wants="u")]
    topics = {"t": 6, "u": 2}
    life = turns(
        generation(1, both, topics=topics),
        generation(2, both[:1], at_s=10),
        generation(3, [], at_s=11, topics={}),
        generation(4, again[:1], at_s=12),
        generation(5, again, at_s=13, topics=topics),
        generation(6, [*again, member("c")], at_s=14, topics=topics),
    )
    altered = alter(life, STATIC)

    assert numbers(altered.turns) == [1, 6]
    assert set(altered.turns[1].generation.members) == {"a", "b", "c"}


def test_another_client_or_another_subscription_is_no_return() -> None:
    for returned in (member("a2", "worker-x"), member("a2", "worker-a", wants="tu")):
        assert numbers(alter(turns(*restarted(3, returned=returned)), STATIC).turns) == [1, 2, 3]


def test_a_longer_session_survives_what_came_back_in_time() -> None:
    """The session of ten seconds had ended when the member was removed; it came back three later."""
    life = turns(*restarted(3, Why.SESSION_TIMEOUT))

    [turn] = alter(life, Membership(session_timeout_ms=14_000)).turns
    assert (turn.generation.number, turn.generation.members["a"].instance_id) == (1, None)
    assert numbers(alter(life, Membership(session_timeout_ms=13_000)).turns) == [1, 2, 3]
    assert numbers(alter(life, STATIC).turns) == [1, 2, 3]


def test_without_a_rule_the_life_is_as_it_was() -> None:
    """With what a coordinator had when it assigned."""
    life = turns(*restarted(3))
    life[1].generation = replace(life[1].generation, before={"b": ()}, fresh=frozenset("b"))

    assert alter(life, Membership()).turns == life


def test_changes_within_the_delay_of_a_join_are_one() -> None:
    joins = [generation(number, [member(each) for each in "abc"[:number]], at_s=number) for number in (1, 2, 3)]
    altered = alter(turns(*joins, generation(4, [A], at_s=60)), Membership(delay_ms=3_000))

    assert (numbers(altered.turns), numbers(altered.saved), altered.certainty) == ([3, 4], [1, 2], Certainty.BOUND)
    assert [turn.delay_ms for turn in altered.turns] == [3_000, 0]


def test_a_group_that_is_empty_is_not_waited_for() -> None:
    life = turns(generation(1, [A]), generation(2, [], at_s=2), generation(3, [A], at_s=3))

    assert numbers(alter(life, Membership(delay_ms=10_000)).turns) == [1, 2, 3]


def test_the_turn_before_the_period_stays_as_it_was() -> None:
    first, *rest = turns(*restarted(3))
    altered = alter(rest, STATIC, [first])

    assert (numbers(altered.turns), numbers(altered.saved)) == ([], [2, 3])
    assert numbers(alter(rest, Membership(delay_ms=60_000), [first]).turns) == [2, 3]


def test_the_times_are_those_of_the_causes() -> None:
    """A rebalance of nine seconds ended thirteen seconds after the member had left, and it came back after four."""
    gone = generation(2, [B], at_s=10, took_ms=0)
    slow = generation(3, [NEW_A, B], at_s=23, took_ms=9_000)

    assert numbers(alter(turns(generation(1, [A, B]), gone, slow), STATIC).turns) == [1]
    unknown = alter(turns(generation(1, [A, B]), gone, generation(3, [NEW_A, B], at_s=13, took_ms=None)), STATIC)
    assert (numbers(unknown.turns), unknown.certainty) == ([1], Certainty.BOUND)


def test_what_a_shorter_session_would_have_ended_is_unknown() -> None:
    """Heartbeats leave no record. Ten seconds are the session of each."""
    for session_ms, certainty in ((0, Certainty.KNOWN), (10_000, Certainty.KNOWN), (9_999, Certainty.UNKNOWN)):
        assert alter(turns(*restarted(3)), Membership(session_timeout_ms=session_ms)).certainty is certainty
    first, *rest = turns(*restarted(3))
    assert shortened_ms([first], Membership(session_timeout_ms=1)) == 10_000
    unsaid = Turn(generation(1, [replace(A, session_timeout_ms=None)]))
    for session_ms, certainty in ((44_999, Certainty.UNKNOWN), (45_000, Certainty.KNOWN)):
        assert alter(rest[:1], Membership(session_timeout_ms=session_ms), [unsaid]).certainty is certainty


def test_the_end_of_the_session_of_another_member_is_none_of_its_own() -> None:
    """Both are gone in one generation: one has left, and comes back."""
    reasons = (Reason(Why.MEMBER_LEFT, "a"), Reason(Why.SESSION_TIMEOUT, "c"))
    gone = generation(2, [B], at_s=10, reasons=reasons)
    [found] = returns_in(turns(generation(1, [A, B, member("c")]), gone, generation(3, [NEW_A, B], at_s=13)))

    assert (found.seat, found.expired) == ("a", False)
