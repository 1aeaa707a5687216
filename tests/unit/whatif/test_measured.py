"""Silences that the server has measured: what they say of shorter sessions, and what is left to commits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pytest
from msgspec.structs import replace

from coordinator_server.server.hosting.silence_files import Measured
from coordinator_server.whatif.life import Generation, Protocol, Silence
from coordinator_server.whatif.measured import MeasuredSilences, Stretch
from coordinator_server.whatif.silences import Heard
from tests.support.generations import START_MS, generation, member
from tests.support.measured import SHARD, line

A, B = member("a"), member("b", instance="b1")


def measured(*lines: Measured, group: str = "g", session_ms: int = 5000) -> MeasuredSilences:
    return MeasuredSilences(lines, group, str(SHARD), session_ms)


@pytest.mark.parametrize(
    ("covers", "between", "unmeasured"),
    [
        ([], (10, 90), [Stretch(10, 90)]),
        ([(0, 50, False), (50, 100, False)], (10, 90), []),
        ([(0, 90, False)], (10, 90), []),
        # The server was not there between, or another one; and the same in which nothing is known of its end.
        ([(0, 20, True), (60, 100, False)], (10, 90), []),
        ([(0, 20, False), (60, 100, False)], (10, 90), [Stretch(15, 60)]),
        # Two loops: one has ended, the other one was there at the same time.
        ([(0, 70, False), (30, 40, True), (70, 80, True)], (10, 75), []),
        ([(20, 30, False), (60, 70, False)], (10, 90), [Stretch(10, 20), Stretch(25, 60), Stretch(65, 90)]),
        ([(20, 30, True)], (10, 90), [Stretch(10, 20), Stretch(30, 90)]),
        ([(0, 12, False)], (10, 90), [Stretch(10, 90)]),
        ([(90, 95, False)], (10, 90), [Stretch(10, 90)]),
        ([(0, 10, False)], (10, 90), [Stretch(10, 90)]),
        # Nobody knows the end.
        ([(0, 20, False)], (10, None), [Stretch(15, None)]),
        ([(0, 90, False)], (10, None), []),
        ([(0, 20, False), (60, 100, False)], (10, None), [Stretch(15, 60)]),
    ],
)
def test_what_no_line_covers_is_not_measured(
    covers: Sequence[tuple[int, int, bool]], between: tuple[int, int | None], unmeasured: list[Stretch]
) -> None:
    """With sessions of five; what has no end may go on until 90. The order of lines does not matter."""
    for lines in ([line(*covers, least_ms=1)], [line(each, least_ms=1) for each in reversed(covers)]):
        assert list(measured(*lines, session_ms=5).unmeasured(*between, 90)) == unmeasured


def test_without_a_limit_what_comes_after_the_last_line_is_not_measured() -> None:
    found = measured(line((0, 20, True), least_ms=1), session_ms=5)

    assert list(found.unmeasured(10, None, None)) == [Stretch(20, None)]


def test_lines_count_that_have_all_silences_of_this_length_in_this_shard() -> None:
    long = line((0, 50, False), silences=[("a", 1, 9000)], least_ms=6000)
    other = replace(long, covers=[replace(long.covers[0], shards=(8, 9))])

    assert list(measured(long).unmeasured(0, 40, 40)) == [Stretch(0, 40)]
    assert len(measured(long).silences) == 1, "what is there counts"
    assert list(measured(long, session_ms=6000).unmeasured(0, 40, 40)) == []
    assert list(measured(other, session_ms=6000).unmeasured(0, 40, 40)) == [Stretch(0, 40)]
    assert measured(long, group="h").silences == []
    assert measured(long, session_ms=9000).silences == []


def heard(
    *generations: Generation,
    lines: Sequence[Measured],
    commits: Sequence[float] = (),
    static: Mapping[str, str] = MappingProxyType({}),
) -> list[Silence]:
    """Silences of five seconds and more of a group, with commits of the first member in seconds."""
    found = Heard(5000, measured(*lines))
    for at_s in commits:
        found.add("a", at(at_s))
    return found.silences(generations, static)


def at(seconds: float) -> int:
    return START_MS + round(seconds * 1000)


def minutes(*silences: tuple[str, float, float], until_s: float = 100) -> Measured:
    told = [(who, at(since_s), at(until_s)) for who, since_s, until_s in silences]
    return line((at(0), at(until_s), False), silences=told)


def test_a_measured_silence_ends_one_session_however_long_it_is() -> None:
    """That of a static member, too, whatever its member id was."""
    first, second = generation(1, [A, B], at_s=10), generation(2, [A, replace(B, member_id="c")], at_s=30)

    assert heard(first, second, lines=[minutes()]) == []
    assert heard(first, lines=[minutes(("back", 12, 18))], static={"back": "b1"}) == [Silence(1, "b1", at(12), at(18))]
    found = heard(first, second, lines=[minutes(("a", 11, 26), ("b", 12, 17), ("c", 31, 39), ("x", 12, 30), ("a", 1, 9))])
    assert found == [
        Silence(1, "a", at(11), at(26)),
        Silence(1, "b1", at(12), at(17)),
        Silence(2, "b1", at(31), at(39)),
    ]


def test_where_nothing_was_measured_commits_say_what_they_say() -> None:
    """The server was killed: between its last line, less a session, and its next start."""
    first, second = generation(1, [A], at_s=10), generation(2, [A], at_s=90)
    lines = [line((at(0), at(40), False)), line((at(60), at(100), False), silences=[("a", at(70), at(76))])]
    measured_one = Silence(1, "a", at(70), at(76))

    assert heard(first, second, lines=lines, commits=[36, 40, 44, 48, 52, 56, 59]) == [measured_one]
    assert heard(first, second, lines=lines, commits=[36, 40, 44, 50, 54, 58]) == [measured_one, Silence(1, "a", at(44), at(50))]
    assert heard(first, second, lines=lines) == [measured_one, Silence(1, "a", at(35), at(60), ended=5)]


def test_of_a_consumer_group_only_what_is_measured_is_known() -> None:
    """A silence may be longer than a generation, which needs no sign of life of its members."""
    first, second = (
        replace(each, protocol=Protocol.CONSUMER, assignor="uniform")
        for each in (generation(1, [A], at_s=10), generation(2, [A], at_s=30))
    )

    assert heard(first, second, lines=[minutes()]) == []
    assert heard(first, second, lines=[minutes(("a", 27, 40))]) == [Silence(2, "a", at(27), at(40))]
    assert heard(first, second, lines=[minutes(("a", 22, 40))]) == [Silence(1, "a", at(22), at(30))]
    assert [each.ended for each in heard(first, second, lines=[], commits=[11, 12])] == [2, 2]
    assert [each.offset for each in heard(first, second, lines=[minutes(until_s=20)])] == [1, 2]
    assert heard(first, second, lines=[minutes(until_s=40)]) == [], "what comes after the last line is not counted"
