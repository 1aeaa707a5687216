"""Sessions of members, while what removes them is not written yet."""

from __future__ import annotations

from tests.support.heartbeats import Beats

SESSION_MS = 45_000
INSTANCE = "i"


def test_the_session_of_a_member_begins_anew_when_its_replacement_is_not_written() -> None:
    """It has ended meanwhile, when the latest state had the new member alone. Otherwise the static member would stay for ever."""
    beats = Beats(t=2)
    member = beats.member("m", instance_id=INSTANCE)
    member.join()
    member.leave(-2)
    beats.log.is_holding = True
    beats.member("n", instance_id=INSTANCE).join()
    assert list(beats.group.members) == ["n"]
    beats.log.advance(SESSION_MS)
    beats.log.fail()
    beats.log.is_holding = False

    assert list(beats.group.members) == ["m"]
    beats.log.advance(SESSION_MS)
    assert not beats.group.members


def test_a_member_that_has_come_back_before_its_replacement_was_written_has_a_session() -> None:
    """Somebody else with its instance id was there in between. Otherwise it would stay for ever."""
    beats = Beats(t=2)
    member, other = (beats.member(name, instance_id=INSTANCE) for name in ("m", "n"))
    member.join()
    member.leave(-2)
    beats.log.is_holding = True
    other.join()
    other.leave(-2)
    member.join()
    beats.log.is_holding = False
    beats.log.flush()

    assert list(beats.group.members) == ["m"]
    beats.log.advance(SESSION_MS)
    assert not beats.group.members
