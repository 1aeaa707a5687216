"""The members that a refusal names."""

from __future__ import annotations

from coordinator_server.cli.connected import MOST_SHOWN, Connected, connected_lines


def test_a_few_members_are_named() -> None:
    """With the instance of a static one; of many, how many more there are."""
    static = Connected("m", "worker", "/10.0.0.1", "of-rack-1")
    many = [Connected(f"m{number}", "worker", "h", None) for number in range(MOST_SHOWN + 2)]

    assert connected_lines("g", [static]) == ["group g has member m of worker at 10.0.0.1, instance of-rack-1"]
    assert connected_lines("g", many)[-2:] == ["group g has member m9 of worker at h", "and 2 more members"]
    assert connected_lines("g", []) == []
