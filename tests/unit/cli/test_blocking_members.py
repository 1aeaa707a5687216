"""The members that a refusal names."""

from __future__ import annotations

from coordinator_server.cli.blocking_members import MOST_SHOWN, BlockingMember, blocking_member_lines


def test_a_few_members_are_named() -> None:
    """With the instance of a static one; of many, how many more there are."""
    static = BlockingMember("m", "worker", "/10.0.0.1", "of-rack-1")
    many = [BlockingMember(f"m{number}", "worker", "h", None) for number in range(MOST_SHOWN + 2)]

    assert blocking_member_lines("g", [static]) == ["group g has member m of worker at 10.0.0.1, instance of-rack-1"]
    assert blocking_member_lines("g", many)[-2:] == ["group g has member m9 of worker at h", "and 2 more members"]
    assert blocking_member_lines("g", []) == []
