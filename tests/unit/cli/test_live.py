"""What ``top`` draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from coordinator_server.cli.diagnosis.cluster import Seen
from coordinator_server.cli.live import HOME, REST_OF_LINE, REST_OF_SCREEN, Picture, drawn, heading, rows_of
from coordinator_server.client.admin.groups import Description, Listed
from coordinator_server.pipeline.lag.lags import GroupLag
from coordinator_server.pipeline.lag.verdicts import Verdict

SERVER = Seen(1, "h:9092", "serving", 1.5, True, None)


def picture(at_s: float, commits: float | None = None, refused: Mapping[str, Mapping[str, int]] | None = None) -> Picture:
    listed = [Listed("g", "classic", "Empty", "", 1), Listed("h", "share", "Stable", "share", 1)]
    counted = {} if commits is None else {"g": commits}
    return Picture(at_s, [SERVER], listed, {"g": Description("g", "classic", "Empty", 1)}, counted, refused=refused)


def test_the_speed_is_between_two_pictures() -> None:
    """The first one has none, and neither has a group that was not counted."""
    [first] = rows_of(picture(10, 100), None)
    [later] = rows_of(picture(12, 200), picture(10))
    [unknown] = rows_of(picture(12), picture(10))

    assert (first["commits_per_s"], later["commits_per_s"], unknown["commits_per_s"]) == (None, 100.0, None)
    assert "refused" not in first


def test_refused_commits_are_shown_where_the_server_was_asked() -> None:
    [row] = rows_of(picture(1, refused={"g": {"ILLEGAL_GENERATION": 3}}), None)
    [none] = rows_of(picture(1, refused={}), None)

    assert (row["refused"], none["refused"]) == ({"ILLEGAL_GENERATION": 3}, {})


def test_lags_are_shown_of_a_directory_that_follows() -> None:
    """Of a group that has committed nothing they are unknown."""
    lag = GroupLag("g", 2, 40, 1.5, Verdict.WARN, "orders-0 WARN: …")
    [row] = rows_of(replace(picture(1), lags={"g": lag}), None)
    [none] = rows_of(replace(picture(1), lags={}), None)

    assert {name: row[name] for name in ("lag", "lag_s", "verdict")} == {"lag": 40, "lag_s": 1.5, "verdict": "WARN"}
    assert {name: none[name] for name in ("lag", "lag_s", "verdict")} == dict.fromkeys(("lag", "lag_s", "verdict"))


def test_the_heading_has_the_notes() -> None:
    assert "commits are not counted: why" in list(heading(replace(picture(1), notes=["commits are not counted: why"])))


def test_the_heading_counts_groups() -> None:
    assert list(heading(picture(1, 1))) == [
        "node 1 at h:9092: serving, answers in 1.5 ms",
        "2 groups: 1 classic, 1 share",
        "states: 1 Empty, 1 Stable",
    ]


def test_a_picture_fits_the_terminal_and_has_no_control_codes_of_clients() -> None:
    """Lines are cut, and those that have no room are left out."""
    shown = drawn(["a\x1b[2J-long-line", "b", "c"], (6, 2))

    assert shown == f"{HOME}a\\x1b[{REST_OF_LINE}\r\nb{REST_OF_LINE}{REST_OF_SCREEN}"
