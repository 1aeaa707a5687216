"""The iteration orders of Kafka's hash tables."""

from __future__ import annotations

from coordinator_server.group.assign.order import order_members, order_names, order_union


def test_names_come_by_bucket() -> None:
    assert order_names(["b", "a", "q", "b"]) == ["a", "q", "b"]
    assert order_names(["q", "a", "b"]) == ["q", "a", "b"]


def test_a_union_begins_with_the_larger_set() -> None:
    assert order_union(["a", "b"], ["c"]) == ["a", "b", "c"]
    assert order_union(["a"], ["c"]) == ["c", "a"]
    assert order_union(["a"], ["c", "a"]) == ["c", "a"]


def test_members_come_by_bucket_and_a_new_one_last_in_its_bucket() -> None:
    """The table of a timeline yields the key first that a bucket got last."""
    assert order_members(["a", "q", "b"]) == ["q", "a", "b"]
    assert order_members(["q"], updated="a") == ["q", "a"]
    assert order_members(["a", "q"], updated="b", removed="q") == ["a", "b"]
