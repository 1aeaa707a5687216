"""What a viewer types finds groups; what exists is told by the summaries of some."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordinator_server.page.filters import MOST_WORDS, condition
from coordinator_server.page.summaries import Asked, Progress, Summaries, open_to_write
from coordinator_server.page.summary import Summary
from coordinator_server.pipeline.index.snapshot import GroupVersion

GROUPS = [
    Summary("billing", "classic", "stable", members=3, topics=["orders"], clients=["billing-1"], hosts=["10.0.0.1"]),
    Summary("Mailer", "consumer", "empty", topics=["payments"]),
    Summary("fraud[1]*", "share", "reconciling", members=1, topics=["orders", "clicks"], clients=["Scorer"], hosts=["10.0.0.2"]),
    Summary("old", "classic", "deleted"),
]


@pytest.fixture
def summaries(tmp_path: Path) -> Iterator[Summaries]:
    with open_to_write(tmp_path, "cluster") as found:
        found.write((each, GroupVersion(number, 0, 0, 0, 0, 0)) for number, each in enumerate(GROUPS))
        yield found


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("", ["billing", "fraud[1]*", "Mailer"]),
        ("   ", ["billing", "fraud[1]*", "Mailer"]),
        ("mail", ["Mailer"]),
        ("ORDERS", ["billing", "fraud[1]*"]),
        ("orders scorer", ["fraud[1]*"]),
        ("scorer", ["fraud[1]*"]),
        ("topic:pay", ["Mailer"]),
        ("topic:billing", []),
        ("client:billing", ["billing"]),
        ("host:10.0.0.2", ["fraud[1]*"]),
        ("id:ill", ["billing"]),
        ("state:empty", ["Mailer"]),
        ("state:em", ["Mailer"]),
        ("state:", ["billing", "fraud[1]*", "Mailer"]),
        ("state:deleted", ["old"]),
        ("state:any", ["billing", "fraud[1]*", "Mailer", "old"]),
        ("-state:empty", ["billing", "fraud[1]*", "old"]),
        ("type:c", ["billing", "Mailer"]),
        ("type:*", []),
        ("-orders", ["Mailer"]),
        ("-type:classic", ["fraud[1]*", "Mailer"]),
        ("fraud[1]*", ["fraud[1]*"]),
        ("-", ["billing"]),
        ("'; DROP TABLE summaries; --", []),
        ("other:word", []),
    ],
)
def test_what_is_typed_finds_groups(summaries: Summaries, typed: str, found: list[str]) -> None:
    page = summaries.page(Asked(typed))

    assert [each["group"] for each in page.rows] == found
    assert (page.matching, page.groups) == (len(found), 3)


def test_more_words_than_count_are_left_out() -> None:
    assert condition("a " * (MOST_WORDS + 5)) == condition("a " * MOST_WORDS)


@pytest.mark.parametrize(
    ("column", "is_descending", "found"),
    [
        ("group", False, ["billing", "fraud[1]*", "Mailer"]),
        ("group", True, ["Mailer", "fraud[1]*", "billing"]),
        ("members", True, ["billing", "fraud[1]*", "Mailer"]),
        ("type", False, ["billing", "Mailer", "fraud[1]*"]),
    ],
)
def test_groups_are_sorted_by_a_column(summaries: Summaries, column: str, is_descending: bool, found: list[str]) -> None:
    assert [each["group"] for each in summaries.page(Asked("", column, is_descending)).rows] == found


def test_what_is_unknown_comes_last_in_both_directions(summaries: Summaries) -> None:
    summaries.write([(Summary("known", "classic", "stable", committed_ms=5), GroupVersion(9, 0, 0, 0, 0, 0))])

    assert [summaries.page(Asked("", "committed_ms", each)).rows[0]["group"] for each in (False, True)] == ["known", "known"]


def test_a_group_in_progress_is_in_that_state_until_it_is_not(summaries: Summaries) -> None:
    """The server says so: the log does not. What the log adds meanwhile does not end it."""
    changed = summaries.write_progress({"billing": Progress("rebalancing", "billing-2 has not joined again")})
    again = summaries.write_progress({"billing": Progress("rebalancing", "billing-2 has not joined again")})
    summaries.write([(GROUPS[0], GroupVersion(7, 0, 0, 0, 0, 0))])
    during = summaries.page(Asked("state:reb"))
    row = summaries.row("billing")
    after = summaries.write_progress({})

    assert (changed, again, after) == (["billing"], [], ["billing"])
    assert [each["waits_for"] for each in during.rows] == ["billing-2 has not joined again"]
    assert during.states == {"rebalancing": 1}
    assert row is not None
    assert row["state"] == "rebalancing"
    assert summaries.page(Asked("state:reb")).rows == []
    assert summaries.page(Asked("state:stable")).matching == 1


def test_no_other_column_sorts(summaries: Summaries) -> None:
    with pytest.raises(ValueError, match="not by hosts; DROP"):
        summaries.page(Asked("", "hosts; DROP"))


def test_an_answer_has_a_hundred_rows_and_says_of_how_many(summaries: Summaries) -> None:
    summaries.write(
        (Summary(f"many-{number:03}", "classic", "stable"), GroupVersion(number, 0, 0, 0, 0, 0)) for number in range(250)
    )
    last = summaries.page(Asked("many", first=200))

    assert (len(summaries.page(Asked("many")).rows), len(last.rows), last.matching) == (100, 50, 250)
    assert last.rows[-1]["group"] == "many-249"
    assert last.states == {"stable": 250}


def test_the_summaries_of_another_log_are_removed(tmp_path: Path) -> None:
    with open_to_write(tmp_path, "one") as found:
        found.write([(GROUPS[0], GroupVersion(1, 0, 0, 0, 0, 0))])
    with open_to_write(tmp_path, "one") as found:
        assert found.get("billing") == GROUPS[0]
        assert found.versions() == {"billing": GroupVersion(1, 0, 0, 0, 0, 0)}
    with open_to_write(tmp_path, "two") as found:
        assert found.get("billing") is None
    assert sqlite3.connect(tmp_path / "summaries.sqlite").execute("SELECT identity FROM source").fetchall() == [("two",)]
