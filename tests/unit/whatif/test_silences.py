"""Shorter sessions: what commits say of whether they would have ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason
from coordinator_server.pipeline.index.answers import GroupHistory
from coordinator_server.whatif.figures import Certainty
from coordinator_server.whatif.life import Generation, Life, Protocol, Silence
from coordinator_server.whatif.measured import MeasuredSilences
from coordinator_server.whatif.membership import Membership
from coordinator_server.whatif.reader import Batches, LifeReader
from coordinator_server.whatif.silences import Heard, commits, with_silences
from coordinator_server.whatif.topics import TopicHistory
from coordinator_server.whatif.verdict import Question, Verdict, judge, sides_of
from tests.support.generations import START_MS, generation, member, turns
from tests.support.page_log import Story, indexed, write_stories

A, B = member("a", "worker-a"), member("b", "worker-b")


def unmeasured(session_ms: int) -> MeasuredSilences:
    """Of a server that measured nothing: commits alone say something."""
    return MeasuredSilences((), "billing", "__consumer_offsets-0", session_ms)


def lived(data: Path, session_ms: int, upto: int) -> Life:
    def read(batches: Batches, begins_at: int) -> Life:
        reader = LifeReader(TopicHistory(), "billing", Heard(session_ms, unmeasured(session_ms)))
        reader.add(batches, upto)
        return reader.lives(begins_at)["billing"]

    return GroupHistory(data, "billing", pytest.fail).read(read, upto)


def judged(tmp_path: Path, story: Story, session_ms: int, **membership: bool) -> Verdict:
    """The group beside another one whose members commit all the time, and have the same ids."""
    tmp_path.mkdir(exist_ok=True)
    data, end = write_stories(tmp_path, [story, Story("other").join("a", "b").commit(ms=1000, times=60)])
    life = lived(data, session_ms, end)
    return judge(life, sides_of(life, Question(None, Membership(session_timeout_ms=session_ms, **membership))))


def story() -> Story:
    """Two members that commit every five seconds. Their sessions are 45 s."""
    return Story("billing").join("a", "b").commit(times=4)


@pytest.mark.parametrize(
    ("pause_ms", "silences", "rebalances", "certainty"),
    [
        (0, 0, 2, Certainty.KNOWN),
        # The next commits come six seconds after the last ones: first one is left, then nobody, then both come back.
        (1_000, 2, 5, Certainty.BOUND),
        # In twelve seconds, a session of six may have ended more often.
        (7_000, None, 2, Certainty.UNKNOWN),
    ],
)
def test_members_that_commit_often_enough_keep_their_sessions(
    tmp_path: Path, pause_ms: int, silences: int | None, rebalances: int, certainty: Certainty
) -> None:
    found = judged(tmp_path, story().wait(pause_ms).commit(times=2).join("c"), 6_000)

    assert (found.shortened_ms, found.silences) == (45_000, silences)
    assert (found.what_if.rebalances.value, found.what_if.rebalances.certainty) == (rebalances, certainty)
    assert (found.recorded.rebalances.value, len(found.changes)) == (2, 2)


def test_who_never_commits_may_be_silent(tmp_path: Path) -> None:
    """Of seven members one has no partition."""
    crowd = Story("billing").join(*"abcdefg").commit(times=4).join("h")

    assert judged(tmp_path / "crowd", crowd, 6_000).silences is None
    assert judged(tmp_path / "pair", story().join("c"), 6_000).silences == 0


def test_longer_sessions_are_not_asked_of_commits(tmp_path: Path) -> None:
    found = judged(tmp_path, story().wait(90_000).join("c"), 45_000)

    assert (found.shortened_ms, found.silences, found.what_if.rebalances.certainty) == (0, None, Certainty.KNOWN)


def test_other_rules_count_as_well(tmp_path: Path) -> None:
    """A static member that comes back after its shorter session has been put out."""
    restarted = story().leave(0).commit(ms=4_000).commit(ms=3_000).join("a")

    assert judged(tmp_path / "long", restarted, 8_000, static=True).what_if.rebalances.value == 1
    assert judged(tmp_path / "short", restarted, 7_000, static=True).what_if.rebalances.value == 3


def test_an_index_says_the_same(tmp_path: Path) -> None:
    told = story().wait(1_000).commit(times=2).join("c")
    for name in ("log", "index"):
        (tmp_path / name).mkdir()
    data, end = write_stories(tmp_path / "log", [told])
    found = lived(data, 6_000, end).silences

    assert found is not None
    assert len(found) == 2
    assert lived(indexed(tmp_path / "index", [told], chunk_bytes=300), 6_000, end).silences == found
    assert lived(data, 6_000, 1).silences == []


def test_commits_count_that_are_durable(tmp_path: Path) -> None:
    """Of three records of a commit, the first one says whose it is."""
    data, end = write_stories(tmp_path, [Story("billing").join("a", "b").commit()])

    def told(upto: int) -> int:
        def read(batches: Batches, _begins_at: int) -> int:
            return sum(len(list(commits(*batch, "billing", upto))) for batch in batches)

        return GroupHistory(data, "billing", pytest.fail).read(read, end)

    assert [told(upto) for upto in range(end - 3, end + 1)] == [1, 2, 2, 2]


def heard(*generations: Generation, commits: Mapping[str, Sequence[float]]) -> list[Silence]:
    """Silences of five seconds and more, by commits in seconds."""
    found = Heard(5_000, unmeasured(5_000))
    for seat, at_s in commits.items():
        for each in at_s:
            found.add(seat, START_MS + round(each * 1000))
    return found.silences(generations)


def test_silences_are_between_commits_and_generations() -> None:
    """A generation begins the session of each of its members anew; the last one goes on."""
    first, second = generation(1, [A, B], at_s=10), generation(2, [A, B], at_s=30)
    often: list[float] = [1, 14.9, 19.8, 24.7, 29.6, 34]

    assert heard(first, second, commits={"a": often, "b": [12, 17, 28]}) == [
        Silence(1, "b", START_MS + 12_000, START_MS + 17_000),
        Silence(1, "b", START_MS + 17_000, START_MS + 28_000, ended=2),
    ]
    assert heard(first, second, commits={"a": often, "b": []}) == [Silence(1, "b", START_MS + 10_000, START_MS + 30_000, ended=4)]


def test_a_commit_ends_no_silence_of_the_generation_before() -> None:
    first, second = generation(1, [A], at_s=10), generation(2, [A], at_s=30)

    assert heard(first, second, commits={"a": [12, 16, 20, 24, 28, 36]}) == [
        Silence(2, "a", START_MS + 30_000, START_MS + 36_000)
    ]


def test_a_session_that_is_not_shortened_cannot_end() -> None:
    first, second = generation(1, [replace(A, session_timeout_ms=5_000), B], at_s=10), generation(2, [A, B], at_s=30)

    assert {each.seat for each in heard(first, second, commits={})} == {"b"}


def test_who_leaves_was_there_until_then_and_who_was_put_out_was_not() -> None:
    """The rebalance took a tenth of a second."""
    first, left = generation(1, [A, B], at_s=10), generation(2, [A], at_s=20)
    expired = replace(left, reasons=(Reason(Why.SESSION_TIMEOUT, "b"),))
    commits = {"a": [14, 18], "b": [11]}

    assert heard(first, left, commits=commits) == [Silence(1, "b", START_MS + 11_000, START_MS + 19_900)]
    assert heard(first, expired, commits=commits) == []


def test_a_member_is_gone_when_its_session_ends_and_back_when_it_is_heard_of() -> None:
    first, second = generation(1, [A, B], at_s=10), generation(2, [A, B], at_s=30)
    silences = [Silence(1, "a", START_MS + 12_000, START_MS + 19_000), Silence(1, "b", START_MS + 11_000, START_MS + 18_000)]
    found = [turn.generation for turn in with_silences(turns(first, second), silences, 5_000)]

    assert [((each.at_ms - START_MS) // 1000, "".join(each.members)) for each in found] == [
        (10, "ab"),
        (16, "a"),
        (17, ""),
        (18, "b"),
        (19, "ab"),
        (30, "ab"),
    ]
    assert found[1].reasons == (Reason(Why.SESSION_TIMEOUT, "b"),)
    assert found[3].reasons == ()


def test_a_silence_of_just_a_session_ends_it() -> None:
    first = generation(1, [A, B], at_s=10)
    silence = Silence(1, "a", START_MS + 12_000, START_MS + 17_000)
    [_, gone, back] = [turn.generation for turn in with_silences(turns(first), [silence], 5_000)]

    assert (gone.reasons, list(gone.members)) == ((Reason(Why.SESSION_TIMEOUT, "a"),), ["b"])
    assert (back.reasons, list(back.members)) == ((), ["a", "b"])


def test_commits_say_nothing_of_the_consumer_protocol() -> None:
    """A commit begins no session anew there."""
    modern = replace(generation(1, [A], at_s=10), protocol=Protocol.CONSUMER, assignor="uniform")
    silences = heard(modern, commits={"a": [11, 12, 13]})
    life = Life("g", [modern], [], silences=silences)

    assert judge(life, sides_of(life, Question(None, Membership(session_timeout_ms=1_000)))).silences is None
