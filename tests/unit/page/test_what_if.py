"""What if, as the page has it: it is what ``groups what-if`` says, with who would have had which partition."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.cli import main
from coordinator_server.cli.group_words import event_cause, event_sentence, reason_words
from coordinator_server.page import lived
from coordinator_server.page.answers import Answers, BadRequest
from coordinator_server.page.board import Board
from coordinator_server.page.summary import Words
from coordinator_server.page.updater import Updater
from coordinator_server.pipeline.index.reader import Chunk
from coordinator_server.pipeline.index.snapshot import SnapshotGroup
from coordinator_server.server.hosting.silence_files import Cover, Measured, SilenceFiles, Silent
from coordinator_server.whatif.verdict import Judgement
from tests.support.group_lives import GROUP, TOPICS, ModernGroup
from tests.support.life_directory import write_life
from tests.support.page_log import Story, client_of, indexed, write_stories
from tests.support.segments import START_MS


def deployed() -> Story:
    """Three members; each restarts, and comes back after eight seconds. Then one comes that has nothing to do."""
    told = Story("billing", partitions=3).join("a", "b", "c")
    for _ in range(3):
        client = client_of(told.members[0])
        told.commit(times=80).leave(0).wait(8_000).join(client)
    return told.commit(times=30).join("d").commit()


def page_of(data: Path) -> Answers:
    updater = Updater(data, Board(), Words(event_sentence, event_cause, reason_words))
    updater.round()
    return Answers(data, updater)


def asked(page: Answers, **query: Any) -> Any:
    found: dict[str, Any] = {}
    while "recorded" not in found:
        found = json.loads(page.get("what-if", {"id": "billing", **{name: str(value) for name, value in query.items()}}))
    return found


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """In many chunks, most of which have commits alone."""
    return indexed(tmp_path_factory.mktemp("what-if"), [deployed(), Story("other").join("x")], chunk_bytes=1500)


@pytest.fixture(scope="module")
def page(data: Path) -> Answers:
    return page_of(data)


RULES = [
    ({"static": 1}, ["--static"]),
    ({"assignor": "cooperative-sticky"}, ["--assignor", "cooperative-sticky"]),
    ({"session": 120_000, "delay": 9_000}, ["--session-timeout", "120s", "--rebalance-delay", "9s"]),
    ({"session": 1_000}, ["--session-timeout", "1s"]),
]


@pytest.mark.parametrize(("query", "words"), RULES)
def test_the_page_says_what_the_command_says(
    data: Path, page: Answers, query: dict[str, Any], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = asked(page, **query)
    capsys.readouterr()
    assert main(["groups", "what-if", "billing", *words, "--json", "--data-dir", str(data)]) == 0
    said = json.loads(capsys.readouterr().out)

    for name in Judgement.__struct_fields__:
        assert found[name] == said["verdict"][name]
    assert found["advice"] == said["advice"]
    assert [each["generation"] for each in found["changes"]] == [each["generation"] for each in said["verdict"]["changes"]]
    assert [each["what_if"] is None for each in found["changes"]] == [
        each["what_if"] is None for each in said["verdict"]["changes"]
    ]
    assert found["recorded"]["rebalances"] == {"value": 8, "certainty": "known"}


def clients(found: Any, lane: Any) -> list[list[str]]:
    return [[found["owners"][each]["client_id"] for each in owners] for _, _, owners in lane["spans"]]


def test_lanes_have_the_owners_beside_those_that_there_would_have_been(page: Answers) -> None:
    """Members that are static keep what they have; d never gets anything."""
    found = asked(page, static=1)

    assert clients(found, found["was"][0]) == [["a"], ["b"], ["a"]]
    assert clients(found, found["would_be"][0]) == [["a"]]
    assert [clients(found, each) for each in found["would_be"]] == [[["a"]], [["b"]], [["c"]]]
    first = found["changes"][0]
    assert found["was"][0]["spans"][0][0] == found["would_be"][0]["spans"][0][0] == first["at_ms"]
    assert found["changes"][1]["cause"].startswith("a-")
    assert [each["what_if"] is None for each in found["changes"]] == [False, *[True] * 6, False]


def test_a_window_has_its_changes_and_begins_with_what_members_had(page: Answers) -> None:
    at_ms = [each["at_ms"] for each in asked(page)["changes"]]
    found = asked(page, **{"from": at_ms[3] - 1, "to": at_ms[5], "lanes": 1, "lane": 1})

    assert (found["since_ms"], found["until_ms"]) == (at_ms[3] - 1, at_ms[5])
    assert (found["played_from_ms"], found["left_out"]) == (at_ms[3] - 1, 0)
    assert [each["at_ms"] for each in found["changes"]] == at_ms[3:5]
    assert (found["lane_count"], [each["partition"] for each in found["was"]]) == (3, [1])
    assert found["was"][0]["spans"][0][0] == at_ms[2]


def test_what_would_take_long_is_left_out_the_oldest_first(page: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn of three or four members and three partitions has the size 7 or 8."""
    whole = asked(page)
    monkeypatch.setattr(lived, "MOST_SIZE", 17)
    found = asked(page, columns=99)

    assert (found["left_out"], found["change_count"]) == (6, 2)
    assert found["played_from_ms"] == whole["changes"][6]["at_ms"] == found["first_ms"]
    assert found["was"][0]["spans"][0][0] == whole["changes"][5]["at_ms"], "what members had then is known"
    monkeypatch.setattr(lived, "MOST_SIZE", 1)
    none = asked(page, columns=98)
    assert (none["left_out"], none["first_ms"], none["changes"], none["generations"]) == (8, None, [], 8)


def test_chunks_that_have_ended_are_read_once(page: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most have nothing about members: that is known of them."""
    asked(page)
    read, about = [], lived._about_members

    def counted(group: SnapshotGroup, chunk: Chunk) -> bytes:
        read.append(chunk)
        return about(group, chunk)

    monkeypatch.setattr(lived, "_about_members", counted)
    asked(page, columns=96)

    assert len(read) == 1


def test_of_a_very_long_life_the_last_part_is_read(page: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last generation before it is known, as what compaction would keep."""
    monkeypatch.setattr(lived, "MOST_BYTES", 0)
    found = asked(page, columns=97)

    assert 0 < found["generations"] < 8
    assert found["missing"][0]["first"] == 1
    assert found["missing"][0]["is_removed"]


def test_a_group_of_the_consumer_protocol_is_played_with_the_names_of_its_topics(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the index was up to date when the page began."""
    lives = ModernGroup(1, "uniform").live(15)
    write_life(tmp_path, lives)
    page_of(tmp_path)
    page = page_of(tmp_path)
    found, picture = asked(page, id=GROUP, assignor="range"), json.loads(page.get("picture", {"id": GROUP}))
    assert main(["groups", "what-if", GROUP, "--assignor", "range", "--json", "--data-dir", str(tmp_path)]) == 0

    assert found["what_if"] == json.loads(capsys.readouterr().out)["verdict"]["what_if"]
    assert {each["topic"] for each in found["was"]} == {each["topic"] for each in picture["lanes"]}
    assert {each["topic"] for each in picture["lanes"]} <= set(TOPICS)


def test_a_shorter_session_is_judged_by_what_was_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the command does, which reads commits as well: without files the page knows nothing."""
    told = Story("billing").join("a", "b").commit(ms=20_000).join("c")
    data, _ = write_stories(tmp_path, [told])
    assert asked(page_of(data), session=6000)["silences"] is None

    silent = Silent("billing", told.members[1], START_MS + 1000, START_MS + 9000)
    cover = Cover(START_MS, told.now_ms + 1000, tuple(range(50)))
    SilenceFiles(data, 0, 30).write(Measured(cover.until_ms, 6000, [cover], [silent]))
    found = asked(page_of(data), session=6000)
    assert main(["groups", "what-if", "billing", "--session-timeout", "6s", "--json", "--data-dir", str(data)]) == 0

    assert (found["silences"], found["what_if"]["rebalances"]["certainty"]) == (1, "bound")
    assert found["what_if"] == json.loads(capsys.readouterr().out)["verdict"]["what_if"]


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ({"assignor": "fair"}, "assignors are range, roundrobin"),
        ({"session": "-1"}, "at most a day"),
        ({"delay": "99999999"}, "at most a day"),
        ({"delay": "soon"}, "delay=soon is no whole number"),
    ],
)
def test_what_cannot_be_asked_is_said(page: Answers, query: dict[str, str], why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        page.get("what-if", {"id": "billing", **query})


def test_a_group_without_rebalances_has_none(tmp_path: Path) -> None:
    data, _ = write_stories(tmp_path, [Story("billing").reset(5)])
    found = asked(page_of(data))

    assert (found["first_ms"], found["generations"], found["advice"], found["was"]) == (None, 0, [], [])
