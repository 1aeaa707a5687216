"""What a round reads, what it summarises again, and what it says when it cannot."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from coordinator_server.cli.group_words import event_cause, event_sentence, reason_words
from coordinator_server.log.errors import DamagedLog
from coordinator_server.page import summaries, updater
from coordinator_server.page.board import Board
from coordinator_server.page.summary import Summary, Words, summary
from coordinator_server.page.updater import Updater
from coordinator_server.pipeline.index.database import open_to_write
from coordinator_server.pipeline.index.feed import DIRECTORY
from coordinator_server.pipeline.index.snapshot import Snapshot, SnapshotGroup
from tests.support.index import CLUSTER, SHARD, make_directory
from tests.support.index import update as indexed
from tests.support.page_log import Story, write_stories

WORDS = Words(event_sentence, event_cause, reason_words)


def new(data: Path) -> Updater:
    return Updater(data, Board(), WORDS, lambda: 1234.5)


def get(data: Path, group_id: str) -> Summary | None:
    with summaries.open_to_read(data / DIRECTORY) as found:
        assert found is not None
        return found.get(group_id)


def test_the_first_round_reads_the_log_and_summarises_all_groups(tmp_path: Path) -> None:
    data, _ = write_stories(tmp_path, [Story("a").join("x").commit(), Story("b").join("y")])
    page = new(data)
    page.round()

    found = get(data, "a")
    assert found is not None
    assert (found.state, found.members) == ("stable", 1)
    status = page.board.status
    assert (status.version, status.as_of_ms, status.is_served, status.unread, status.problem) == (1, 1_234_500, False, 0, "")
    assert sorted(status.changed or ()) == ["a", "b"]


def test_a_directory_without_a_server_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another round would lock it, and keep a server from starting."""
    data, _ = write_stories(tmp_path, [Story("a").join("x")])
    page = new(data)
    page.round()
    monkeypatch.setattr(updater, "durable", lambda _: pytest.fail("it is locked again"))
    page.round()

    assert (page.board.status.version, page.board.status.problem) == (1, "")


def test_a_round_without_records_looks_at_no_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be a million. While some wait to be summarised, it does."""
    data, _ = write_stories(tmp_path, [Story("a").join("x"), Story("b").join("y")])
    monkeypatch.setattr(updater, "WORK_S", 0.0)
    page = new(data)
    page.round()
    page.round()
    assert page.board.status.unread == 0
    monkeypatch.setattr(Snapshot, "versions", lambda *_: pytest.fail("groups were looked at"))
    page.round()

    assert page.board.status.problem == ""


def test_groups_of_a_shard_that_others_have_read_anew_are_removed(tmp_path: Path) -> None:
    data, end = write_stories(tmp_path, [Story("a").join("x"), Story("b").join("y")])
    indexed(data, end, 1 << 20)
    page = new(data)
    page._has_read = True  # the test keeps the index
    page.round()
    for file in (data / DIRECTORY).glob("index.sqlite*"):
        file.unlink()
    shutil.rmtree(data / SHARD)
    (tmp_path / "other").mkdir()
    _, end = write_stories(tmp_path / "other", [Story("b").join("y")])
    shutil.move(tmp_path / "other" / "data" / SHARD, data / SHARD)
    indexed(data, end, 1 << 20)
    page.round()

    assert (get(data, "a"), get(data, "b") is None) == (None, False)


def grown(tmp_path: Path, story: Story, before: int) -> tuple[Path, Updater, int]:
    """A page that has summarised what happened before, and then the index gets the rest."""
    data, end = write_stories(tmp_path, [story])
    indexed(data, before, 1 << 20)
    page = new(data)
    page._has_read = True  # the test keeps the index
    page.round()
    return data, page, end


def test_commits_alone_do_not_need_the_group_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Story("a", partitions=1).join("x").commit(times=10)
    data, page, end = grown(tmp_path, told, 5)
    monkeypatch.setattr(updater, "summary", lambda *_: pytest.fail("the group was replayed"))
    indexed(data, end, 1 << 20)
    page.round()

    found = get(data, "a")
    assert found is not None
    assert found.committed_ms == told.events[-1][0]
    assert (page.board.status.version, page.board.status.changed) == (2, ["a"])


@pytest.mark.parametrize("rest", ["join", "delete", "other topic", "new chunk"])
def test_whatever_else_happens_does(tmp_path: Path, rest: str) -> None:
    told = Story("a", partitions=1).join("x").commit(times=3)
    before = 4
    match rest:
        case "join":
            told.join("y")
        case "delete":
            told.leave().delete()
        case "other topic":
            told.topic = "payments"
            told.commit()
        case _:
            told.commit(times=20).join("y")
    data, page, end = grown(tmp_path, told, before)
    indexed(data, end, 500 if rest == "new chunk" else 1 << 20)
    page.round()

    found = get(data, "a")
    assert found is not None
    expected = {
        "join": ("stable", 2, ["orders"]),
        "delete": ("deleted", 0, []),
        "other topic": ("stable", 1, ["orders", "payments"]),
        "new chunk": ("stable", 2, ["orders"]),
    }
    assert (found.state, found.members, found.topics) == expected[rest]


def test_a_round_summarises_for_as_long_as_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next round goes on, and the list has the others meanwhile."""
    data, _ = write_stories(tmp_path, [Story(f"g{number}").join("x") for number in range(3)])
    monkeypatch.setattr(updater, "WORK_S", 0.0)
    page = new(data)
    left = []
    for _ in range(3):
        page.round()
        left.append(page.board.status.unread)

    assert left == [2, 1, 0]


def test_groups_that_the_index_has_no_more_are_removed(tmp_path: Path) -> None:
    data, _ = write_stories(tmp_path, [Story("a").join("x")])
    new(data).round()
    shutil.rmtree(data / SHARD)
    (tmp_path / "other").mkdir()
    write_stories(tmp_path / "other", [Story("b").join("y")])
    shutil.move(tmp_path / "other" / "data" / SHARD, data / SHARD)
    new(data).round()

    assert get(data, "a") is None
    assert get(data, "b") is not None


def test_an_index_that_another_process_keeps_is_read(tmp_path: Path) -> None:
    data, end = write_stories(tmp_path, [Story("a").join("x")])
    indexed(data, end, 1 << 20)
    page = new(data)
    with open_to_write(data / DIRECTORY, CLUSTER):
        page.round()

    assert (page.board.status.problem, page.board.status.changed) == ("", ["a"])


def test_two_pages_share_the_summaries(tmp_path: Path) -> None:
    data, _ = write_stories(tmp_path, [Story("a").join("x")])
    new(data).round()
    page = new(data)
    with summaries.open_to_write(data / DIRECTORY, CLUSTER):
        page.round()

    assert (page.board.status.problem, page.board.status.changed) == ("", None)


def test_what_is_wrong_becomes_status(tmp_path: Path) -> None:
    data = make_directory(tmp_path)
    (data / "index").mkdir()
    (data / "index" / "index.sqlite").write_bytes(b"this is no database, and it is long enough to be looked at" * 20)
    page = new(data)
    page.round()

    assert "cannot be used" in page.board.status.problem
    shutil.rmtree(data / "index")
    page.round()
    assert page.board.status.problem == ""


def test_a_group_that_cannot_be_read_leaves_the_others_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, _ = write_stories(tmp_path, [Story("a").join("x"), Story("b").join("y")])

    def failing(group: SnapshotGroup, words: Words) -> Summary:
        if group.id == "a":
            raise DamagedLog("shard", 0, "a record that cannot be read")
        return summary(group, words)

    monkeypatch.setattr(updater, "summary", failing)
    new(data).round()
    found, other = get(data, "a"), get(data, "b")
    assert found is not None
    assert other is not None

    assert (found.state, other.state) == ("unreadable", "stable")
    assert "a record that cannot be read" in found.cause
