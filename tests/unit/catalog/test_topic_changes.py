"""TopicChanges: what is noted, taken and left."""

from __future__ import annotations

from coordinator_server.catalog.topic_changes import TopicChanges


def noted(*changes: tuple[int, str, bool]) -> TopicChanges:
    made = TopicChanges()
    for offset, name, is_new in changes:
        made.note(offset, name, is_new=is_new)
    return made


def test_each_topic_is_named_once() -> None:
    changes = noted((0, "a", True), (1, "b", False), (2, "a", False))

    assert changes.take(3) == (["a", "b"], True)
    assert changes.take(3) == ([], False)


def test_topic_changes_are_taken_up_to_an_offset() -> None:
    changes = noted((4, "a", False), (5, "b", True))

    assert changes.take(5) == (["a"], False)
    assert changes.take(6) == (["b"], True)


def test_the_records_of_one_topic_are_one_change() -> None:
    """A topic of many partitions takes no more room than one of few. It is new if its first record says so."""
    changes = noted((0, "a", True), *((offset, "a", False) for offset in range(1, 100)))

    assert changes.take(99) == ([], False)
    assert changes.take(100) == (["a"], True)


def test_a_later_offset_that_came_first_keeps_back_nothing() -> None:
    """An image that was not received to its end leaves changes, and the records of the next one begin again."""
    changes = noted((9, "a", True), (3, "b", False))

    assert changes.take(4) == (["b"], False)


def test_a_first_load_leaves_nothing() -> None:
    changes = noted((0, "a", True))
    changes.loaded()

    assert changes.take(1) == ([], False)


def test_a_load_leaves_what_comes_after_all_that_was_taken() -> None:
    """A follower that becomes the controller notes everything again, and what it had not seen yet."""
    changes = noted((0, "a", True), (2, "b", True))
    changes.take(3)
    for offset, name in (0, "a"), (2, "b"), (3, "b"), (4, "c"):
        changes.note(offset, name, is_new=name == "c")
    changes.loaded()

    assert changes.take(5) == (["b", "c"], True)
