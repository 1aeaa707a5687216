"""One group as a picture: lanes, colours, sessions, density, marks; its moments, and the difference of two."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from coordinator_server.cli.group_words import event_cause, event_sentence, reason_words
from coordinator_server.page import group as pictures
from coordinator_server.page.density import Times, add_all, density
from coordinator_server.page.group import Asked, Picture, Tools, events, parsed, picture
from coordinator_server.page.lanes import MIXED, Owners, Window, lanes
from coordinator_server.page.moments import difference, moment
from coordinator_server.page.sessions import MOST, Session, overlapping
from coordinator_server.page.summary import Words, summary
from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.index.feed import DIRECTORY
from coordinator_server.pipeline.index.period import Period
from coordinator_server.pipeline.index.snapshot import SnapshotGroup, snapshot
from coordinator_server.pipeline.input.topic_names import NO_NAMES
from coordinator_server.pipeline.replay.group_events import Client
from coordinator_server.pipeline.replay.group_owners import Ownership
from tests.support.index import CLUSTER
from tests.support.page_log import Story, client_of, indexed
from tests.support.segments import START_MS

WORDS = Words(event_sentence, event_cause, reason_words)
TOOLS = Tools(WORDS, Times(clock=lambda: 0.0))


@contextmanager
def opened(data: Path, group_id: str = "billing") -> Iterator[SnapshotGroup]:
    with snapshot(data / DIRECTORY, CLUSTER) as index:
        found = index.group(group_id, NO_NAMES)
        assert found is not None
        yield found


def story() -> Story:
    """One member commits, two more come, one of them times out, an operator sets the offsets, all leave."""
    told = Story("billing", partitions=4)
    told.join("a").commit(times=30).join("b").commit(times=20).join("c").commit(times=5)
    told.leave(1, "session-timeout").commit(times=10).reset(7).wait(1000).leave().wait(1000).leave()
    return told


@pytest.fixture(scope="module")
def told() -> Story:
    return story()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed(tmp_path_factory.mktemp("story"), [story(), Story("other").join("x").commit(times=3)], chunk_bytes=1500)


def drawn(data: Path, since_ms: int | None = None, until_ms: int | None = None, asked: Asked | None = None) -> Picture:
    with opened(data) as group:
        return picture(group, (since_ms, until_ms), 0, Asked(100) if asked is None else asked, TOOLS)


# --- lanes


def owned(partition: int, since_ms: int, until_ms: int | None, *members: str) -> Ownership:
    return Ownership("t", partition, members, since_ms, until_ms, {each: Client(each[0], "host") for each in members})


def test_a_lane_has_the_owners_of_its_partition_in_a_window() -> None:
    all_of_it = [owned(0, 0, 100, "a1"), owned(0, 100, 200), owned(0, 200, None, "b1"), owned(1, 300, None, "a1")]
    found = lanes(all_of_it, Owners(all_of_it), Window(50, 250, 10), 0, 10)

    assert [(each.partition, each.spans) for each in found] == [
        (0, [(0, 100, (0,)), (100, 200, ()), (200, None, (1,))]),
        (1, []),
    ]


def test_owners_that_change_within_a_column_are_one_span() -> None:
    """There are no more spans than columns, whatever happened."""
    many = [owned(0, at, at + 1, f"{'ab'[at % 2]}1") for at in range(1000)]
    [lane] = lanes(many, Owners(many), Window(0, 1000, 20), 0, 1)

    assert len(lane.spans) <= 21
    assert {span[2] for span in lane.spans} == {(MIXED,)}
    assert (lane.spans[0][0], lane.spans[-1][1]) == (0, 1000)


def test_a_short_span_on_its_own_has_its_owner() -> None:
    some = [owned(0, 0, 500, "a1"), owned(0, 500, 501, "b1"), owned(0, 501, None, "a1")]
    [lane] = lanes(some, Owners(some), Window(0, 1000, 10), 0, 1)

    assert [span[2] for span in lane.spans] == [(0,), (1,), (0,)]


def test_lanes_come_in_portions() -> None:
    many = [owned(number, 0, None, "a1") for number in range(10)]

    assert [each.partition for each in lanes(many, Owners(many), Window(0, 10, 10), 4, 3)] == [4, 5, 6]


def test_those_that_are_there_together_have_different_colours_and_a_client_keeps_its_own() -> None:
    some = [owned(0, 0, 50, "a1"), owned(0, 60, None, "a2"), owned(1, 0, None, "b1"), owned(2, 55, None, "c1")]
    found = {each.member: each.colour for each in Owners(some).found}

    assert found["a1"] == found["a2"]
    assert len({found[each] for each in ("a2", "b1", "c1")}) == 3


# --- pictures


def test_the_picture_of_all_that_the_index_has(data: Path, told: Story) -> None:
    found = drawn(data)

    assert (found.begins_ms, found.ends_ms) == (told.events[0][0], told.events[-1][0])
    assert (found.since_ms, found.until_ms) == (found.begins_ms, told.events[-1][0] + 1)
    assert found.lane_count == 4
    assert [each.client_id for each in found.owners] == ["a", "b", "c"]
    assert [each.kind for each in found.marks.found] == [
        *["rebalance"] * 4,
        "operator",
        *["rebalance"] * 2,
    ]
    assert "session of b-" in found.marks.found[3].cause
    assert sum(found.density) == pytest.approx(len(told.events))


def test_a_window_has_what_is_in_it(data: Path, told: Story) -> None:
    since_ms, until_ms = told.events[35][0], told.events[60][0]
    found = drawn(data, since_ms, until_ms)
    inside = [event for event in told.events if since_ms <= event[0] < until_ms]

    assert sum(found.density) == pytest.approx(len(inside))
    assert all(since_ms <= each.at_ms < until_ms for each in found.marks.found)


def test_what_goes_on_is_known_until_the_log_was_read(data: Path, told: Story) -> None:
    read_ms = told.now_ms + 60_000
    with opened(data) as group:
        found = picture(group, (None, None), read_ms, Asked(100), TOOLS)

    assert (found.known_until_ms, found.until_ms) == (read_ms, read_ms)


def test_too_many_marks_are_counted_by_column(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MOST_MARKS", 3)
    found = drawn(data)

    assert (found.marks.found, found.marks.count) == ([], 7)
    assert sum(found.marks.counts or ()) == 7


def test_of_too_many_events_only_those_of_a_small_window_are_read(
    data: Path, told: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "MOST_READ", 2)
    whole = drawn(data)
    before = drawn(data, told.now_ms + 1000, told.now_ms + 2000)

    assert (whole.marks.found, whole.sessions) == ([], [])
    assert whole.marks.left_out > 2
    assert (before.marks.left_out, before.marks.count) == (0, 0)


def test_the_size_of_a_picture_has_bounds() -> None:
    assert parsed({"columns": 10**9, "lanes": 10**9, "first_lane": -5}) == Asked(pictures.MOST_COLUMNS, 0, pictures.MOST_LANES)
    assert parsed({"columns": 0, "lanes": -1}) == Asked(1, 0, 1)


# --- density


def test_chunks_that_no_time_is_left_to_read_are_spread_evenly(data: Path, told: Story) -> None:
    """The number of events is right all the same; what was read is kept for the next answer."""
    now = [0.0]

    def clock() -> float:
        now[0] += 1
        return now[0]

    times = Times(clock)
    with opened(data) as group:
        last = group.reader().last
        window = Window(told.events[0][0], told.events[-1][0] + 1, 1000)
        rough = density("billing", group.stored, last, times, window)
        exact = density("billing", group.stored, last, Times(lambda: 0.0), window)

    assert (rough.is_exact, exact.is_exact) == (False, True)
    assert sum(rough.counts) == pytest.approx(len(told.events), abs=0.5 + len(told.events) / 100)
    assert max(exact.counts) >= 1


@pytest.mark.parametrize("columns", [1, 3, 7, 400, 5000])
@pytest.mark.parametrize(("since", "until"), [(0, 1000), (200, 310), (-500, 500), (990, 2000), (1000, 1001), (-9, 0)])
def test_times_are_counted_in_their_columns(columns: int, since: int, until: int) -> None:
    """As if one looked at each: those of an interval are in its column, and those outside of the window in none."""
    rng = Random(columns)
    times = sorted(rng.randrange(1000) for _ in range(300))
    window = Window(since, until, columns)
    looked_at, counted = [0.0] * columns, [0.0] * columns
    for each in times:
        if since <= each < until:
            looked_at[min(int((each - since) / window.column_ms), columns - 1)] += 0.5
    add_all(counted, window, times, 0.5)

    assert counted == looked_at


def test_times_of_chunks_are_kept(data: Path, told: Story) -> None:
    times = Times()
    with opened(data) as group:
        chunk = group.stored.chunks[0]
        assert times.find("billing", chunk) is None
        found = times.read("billing", group.stored, chunk)

    assert times.find("billing", chunk) == found
    assert found[0] == told.events[0][0]


# --- sessions


def test_a_session_is_from_the_join_to_the_end(data: Path, told: Story) -> None:
    found = drawn(data).sessions

    assert [(each.client_id, each.since_ms, each.until_ms) for each in found] == [
        ("a", told.events[0][0], told.events[-1][0]),
        ("b", _generation(told, 2), _generation(told, 4)),
        ("c", _generation(told, 3), _generation(told, 5)),
    ]


def _generation(told: Story, number: int) -> int:
    return [at_ms for at_ms, _, headers in told.events if dict(headers).get("op1") == b"14/5"][number - 1]


def test_sessions_of_a_window_are_those_that_overlap_it() -> None:
    found = [Session("a", "", "", None, 10), Session("b", "", "", 5, None), Session("c", "", "", 30, 40)]

    assert [each.member for each in overlapping(found, 11, 29)] == ["b"]
    assert [each.member for each in overlapping(found, 0, 30)] == ["a", "b", "c"]
    assert len(overlapping([Session("m", "", "", 0)] * (MOST + 1), 0, 1)) == MOST


# --- moments


def test_a_moment_has_members_assignments_and_offsets(data: Path, told: Story) -> None:
    at_ms = _generation(told, 2) + 1
    with opened(data) as group:
        found = moment(group, at_ms)
        later = moment(group, told.now_ms + 10**9)
        before = moment(group, told.events[0][0] - 1)

    assert (found.state, found.type, found.epoch, found.member_count, found.protocol) == ("stable", "classic", 2, 2, "roundrobin")
    assert [client_of(each.member_id) for each in found.members] == ["a", "b"]
    assert [each.assignment for each in found.members] == [{"orders": [0, 2]}, {"orders": [1, 3]}]
    assert (found.offset_count, [each.partition for each in found.offsets]) == (4, [0, 1, 2, 3])
    assert (later.state, later.member_count) == ("empty", 0)
    assert (before.state, before.members) == (None, [])


def test_offsets_of_a_moment_come_in_portions(data: Path, told: Story) -> None:
    with opened(data) as group:
        found = moment(group, told.now_ms, 3)

    assert ([each.partition for each in found.offsets], found.offset_count) == ([3], 4)


def test_the_difference_of_two_moments(data: Path, told: Story) -> None:
    before_ms, after_ms = _generation(told, 1) + 1, _generation(told, 2) + 6000
    with opened(data) as group:
        found = difference(group, before_ms, after_ms)
        nothing = difference(group, after_ms, after_ms)
        born = difference(group, told.events[0][0] - 1, before_ms)

    assert [client_of(each.member_id) for each in found.joined] == ["b"]
    assert [
        (each.partition, list(map(client_of, each.before)), list(map(client_of, each.after))) for each in found.partitions
    ] == [
        (1, ["a"], ["b"]),
        (3, ["a"], ["b"]),
    ]
    assert (found.epochs, found.states, found.gone) == ((1, 2), ("stable", "stable"), [])
    assert found.offset_count == 4
    assert (nothing.joined, nothing.partition_count, nothing.offset_count) == ([], 0, 0)
    assert (born.states, born.epochs) == ((None, "stable"), (None, 1))


def test_the_progress_is_the_sum_of_what_offsets_have_moved(data: Path, told: Story) -> None:
    reset_ms = next(at_ms for at_ms, _, headers in told.events if dict(headers).get("client") == b"adminclient-1")
    with opened(data) as group:
        before, found = moment(group, reset_ms - 1), difference(group, reset_ms - 1, reset_ms)

    assert found.progress == 4 * 7 - sum(each.offset for each in before.offsets)
    assert [each.after for each in found.offsets] == [7] * 4


# --- words, and the list


def test_events_are_words_with_their_kinds(data: Path) -> None:
    with opened(data) as group:
        found = events(group, Period(limit=3), WORDS)

    assert [each.kind for each in found.events] == ["operator", "rebalance", "rebalance"]
    assert found.events[-1].text.startswith("generation 6, empty")
    assert found.left_out > 0


def test_a_summary_says_what_the_list_shows(data: Path, told: Story) -> None:
    with opened(data) as group:
        found = summary(group, WORDS)
    with opened(data, "other") as group:
        other = summary(group, WORDS)

    assert (found.group, found.type, found.state, found.members, found.epoch) == ("billing", "classic", "empty", 0, 6)
    assert (found.rebalanced_ms, found.took_ms) == (told.events[-1][0], 40)
    assert found.cause.endswith(" left")
    assert (other.state, other.members, other.partitions, other.topics) == ("stable", 1, 6, ["orders"])
    assert (other.clients, other.hosts) == (["x"], ["10.0.0.10"])


def test_the_last_rebalance_is_found_behind_many_commits(tmp_path: Path) -> None:
    many = Story("busy", partitions=1).join("a").commit(times=300)
    data = indexed(tmp_path, [many], chunk_bytes=600)
    with opened(data, "busy") as group:
        found = summary(group, WORDS)
        assert len(group.stored.chunks) > 10

    assert (found.rebalanced_ms, found.cause) == (many.events[0][0], "its first member joined")
    assert found.committed_ms == many.events[-1][0]


def test_a_group_that_was_deleted_is_still_there(tmp_path: Path) -> None:
    data = indexed(tmp_path, [Story("gone").join("a").commit(times=3).leave().delete()])
    with opened(data, "gone") as group:
        found = summary(group, WORDS)
        last = events(group, Period(limit=1), WORDS).events[0]

    assert (found.state, found.members) == ("deleted", 0)
    assert last.text.startswith("deleted: an operator asked for it")


def test_a_moment_before_the_history_is_refused(tmp_path: Path) -> None:
    data = indexed(tmp_path, [Story("billing").join("a").commit(times=3)])
    with opened(data) as group:
        group.shard = group.shard._replace(begins_at=3)

        with pytest.raises(CannotRun, match="begins at offset 3"):
            moment(group, START_MS)
