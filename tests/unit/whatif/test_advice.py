"""What is recommended, in words, with what speaks for it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason
from coordinator_server.whatif.advice import Saving, duration_text
from coordinator_server.whatif.advice import advise as advise_on
from coordinator_server.whatif.figures import Certainty, total
from coordinator_server.whatif.life import Generation, Life
from coordinator_server.whatif.rules import RULES, Situation
from coordinator_server.whatif.verdict import period_of, was
from tests.support.generations import START_MS, generation, life, member

ALL = [member(f"{each}1", f"worker-{each}") for each in "abc"]


def advise(life: Life, since_ms: int | None = None) -> list[Saving]:
    period = period_of(life, since_ms, None)
    return advise_on(period, total(each.cost for each in was(period)))


def assigned(number: int, members: list, at_s: float, why: str = Why.MEMBER_LEFT, whom: str = "") -> Generation:
    found = generation(number, members, at_s=at_s, reasons=(Reason(why, whom),), took_ms=200)
    found.assigned = RULES["range"].assign(Situation(found, {}, {}))
    return found


def deployment(why: str = Why.MEMBER_LEFT) -> list[Generation]:
    """Three members; each goes and comes back three seconds later, one after the other."""
    members = list(ALL)
    found = [assigned(1, members, 1)]
    for number, gone in enumerate(ALL):
        rest = [each for each in members if each is not gone]
        found.append(assigned(2 + 2 * number, rest, 10 + 10 * number, why, gone.member_id))
        members = [*rest, member(f"{gone.member_id}-again", gone.client_id)]
        found.append(assigned(3 + 2 * number, members, 13 + 10 * number))
    return found


def test_a_deployment_speaks_for_static_members() -> None:
    best = advise(life(*deployment()))[0]

    assert (best.rule, best.rebalances, best.certainty) == ("static members", 6, Certainty.KNOWN)
    assert "6 of 7 changes were restarts: 3 times a member came back" in best.text
    assert "would have saved 6 of its rebalances" in best.text
    assert best.evidence[0] == "worker-a at 10.0.0.1 was away for 3 s from 2025-11-24T16:00:10Z"


def test_only_the_period_counts() -> None:
    """The turn before it says who was there."""
    [*_, last] = [each for each in advise(life(*deployment()), START_MS + 29_000) if each.rule == "static members"]

    assert last.rebalances == 2
    assert advise(life(*deployment()), START_MS + 60_000) == []


def test_sessions_that_ended_speak_for_longer_ones() -> None:
    found = {each.rule: each for each in advise(life(*deployment(Why.SESSION_TIMEOUT)))}

    assert found["session of 15 s"].rebalances == 6
    assert "3 times a member came back whose session had ended" in found["session of 15 s"].text
    assert "static members" not in found


@pytest.mark.parametrize(("away_s", "rule"), [(289.999, "session of 5 min"), (290, None)])
def test_no_session_of_more_than_five_minutes_is_recommended(away_s: float, rule: str | None) -> None:
    """The session of ten seconds had ended when the member went."""
    gone = assigned(2, ALL[1:], 10, Why.SESSION_TIMEOUT, ALL[0].member_id)
    back = assigned(3, [*ALL[1:], member("again", "worker-a")], 10 + away_s)
    found = [each.rule for each in advise(life(assigned(1, ALL, 1), gone, back))]

    assert [each for each in found if each.startswith("session")] == ([rule] if rule else [])


def test_one_rebalance_that_is_saved_is_worth_a_recommendation() -> None:
    """The second member came within three seconds of the first. How long they stood still is not in the log."""
    joins = [replace(assigned(number, ALL[:number], number), took_ms=None) for number in (1, 2)]
    found = {each.rule: each for each in advise(life(*joins))}

    assert (found["delay of 3 s"].gain, found["delay of 3 s"].certainty) == ((0, 1, 0), Certainty.BOUND)


def test_needless_moves_speak_for_another_assignor() -> None:
    found = {each.rule: each for each in advise(life(*deployment()))}

    assert found["cooperative-sticky"].needless > 0
    assert found["cooperative-sticky"].text.startswith("4 of 10 moves of partitions were needless, and members stopped 12 times")
    assert found["cooperative-sticky"].text.endswith(" of standstill, for 3 more rebalances")
    assert found["uniform"].text.endswith(" of standstill")


def test_what_a_rule_gives_that_does_not_give_the_record_is_not_known() -> None:
    """Another library has divided in its own way: what static members would have saved is an estimate."""
    changed = deployment()
    last = changed[-1]
    one, two, *_ = last.assigned
    last.assigned = {**last.assigned, one: last.assigned[two], two: last.assigned[one]}
    [static] = [each for each in advise(life(*changed)) if each.rule == "static members"]

    assert (static.certainty, static.standstill_ms) == (Certainty.UNKNOWN, None)
    assert "would have saved perhaps 6 of its rebalances" in static.text
    assert [each.certainty for each in advise(life(*changed)) if each.rule == "cooperative-sticky"] == [Certainty.KNOWN]


def test_a_standstill_that_stays_is_not_told() -> None:
    """Of a member that is alone nobody waits for the restart."""
    alone = [assigned(1, ALL[:1], 1), assigned(2, [], 10), assigned(3, [member("again", "worker-a")], 13)]
    [static] = [each for each in advise(life(*alone)) if each.rule == "static members"]

    assert static.text.endswith("would have saved 1 of its rebalances")


def test_a_saving_is_as_certain_as_its_standstill() -> None:
    """All partitions are gone in the end, so that everybody stops by any rule; for how long is a bound by another one."""
    last = replace(deployment()[-1], number=8, at_ms=START_MS + 60_000, topics={})
    last.assigned = dict.fromkeys(last.members, ())
    [found] = [each for each in advise(life(*deployment(), last)) if each.rule == "cooperative-sticky"]

    assert (found.cost.needless.certainty, found.certainty) == (Certainty.KNOWN, Certainty.BOUND)


def test_nothing_is_recommended_to_a_group_that_stays_as_it_is() -> None:
    assert advise(life(assigned(1, ALL, 1))) == []


def test_times_have_the_units_that_matter() -> None:
    assert [duration_text(each) for each in (0, 450, 1_000, 61_000, 7_200_000, 3_599_999)] == [
        "0 ms",
        "450 ms",
        "1 s",
        "1 min 1 s",
        "2 h",
        "59 min 59 s",
    ]
