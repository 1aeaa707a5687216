"""The groups that consume a topic, in the latest state and after a revert."""

from __future__ import annotations

import pytest

from coordinator_server.group.modern import groups_by_topic
from coordinator_server.group.modern.groups_by_topic import GroupsByTopic
from coordinator_server.machine.timeline import SnapshotRegistry, TimelineDict

TOPICS = [f"t{number}" for number in range(50)]


def test_each_change_can_be_reverted() -> None:
    registry = SnapshotRegistry()
    groups = GroupsByTopic(registry)
    steps = [
        lambda: groups.follow(["t", "u"], "a"),
        lambda: groups.follow(["t"], "b"),
        lambda: groups.follow(["t"], "c"),
        lambda: groups.unfollow(["t", "u"], "a"),
        lambda: groups.unfollow(["t"], "c"),
        lambda: groups.unfollow(["t"], "b"),
        lambda: groups.follow(["t"], "d"),
    ]

    def seen() -> tuple[list[str], list[str]]:
        return sorted(groups.get("t")), sorted(groups.get("u"))

    states = [seen()]
    for epoch, step in enumerate(steps):
        registry.snapshot(epoch)
        step()
        states.append(seen())
    expected = ["", "a", "ab", "abc", "bc", "b", "", "d"]
    assert [one for one, _ in states] == [list(each) for each in expected]
    for epoch in reversed(range(len(steps))):
        registry.revert_to(epoch)
        assert seen() == states[epoch]


@pytest.mark.interpreted
def test_the_only_group_of_many_topics_makes_no_container_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    class Counted(TimelineDict[str, None]):
        def __init__(self, registry: SnapshotRegistry) -> None:
            made.append(registry)
            super().__init__(registry)

    monkeypatch.setattr(groups_by_topic, "TimelineDict", Counted)
    groups = GroupsByTopic(SnapshotRegistry())
    groups.follow(TOPICS, "g")
    assert len(made) == 1
    groups.follow(TOPICS[:2], "h")

    assert len(made) == 3
