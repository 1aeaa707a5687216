"""What ``top`` draws."""

from __future__ import annotations

from coordinator_server.cli.diagnosis.cluster import Seen
from coordinator_server.cli.live import HOME, REST_OF_LINE, REST_OF_SCREEN, Picture, drawn, heading, rows_of
from coordinator_server.client.admin.groups import Description, Listed

SERVER = Seen(1, "h:9092", "serving", 1.5, True, None)


def picture(at_s: float, committed: int) -> Picture:
    listed = [Listed("g", "classic", "Empty", "", 1), Listed("h", "share", "Stable", "share", 1)]
    return Picture(at_s, [SERVER], listed, {"g": Description("g", "classic", "Empty", 1)}, {"g": committed})


def test_the_speed_is_between_two_pictures() -> None:
    """The first one has none; a reset goes backwards."""
    [first] = rows_of(picture(10, 100), None)
    [later] = rows_of(picture(12, 200), picture(10, 100))
    [back] = rows_of(picture(11, 50), picture(10, 100))

    assert (first["committed"], first["per_second"]) == (100, None)
    assert (later["per_second"], back["per_second"]) == (50.0, -50.0)


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
