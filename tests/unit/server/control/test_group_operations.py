"""Groups, and what they wait for, as tools of the machine ask for it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from coordinator_server.kinds import GROUPS
from coordinator_server.log.shards import ShardId
from coordinator_server.server.control.group_operations import GROUPS_PER_STEP, answer_groups, answer_holdups
from coordinator_server.server.local_operation import Refusal
from protocol.messages.list_groups import ListedGroup

pytestmark = pytest.mark.interpreted


class Groups:
    """Partitions 0 and 2 are here. A group's partition is its first character, and those that end with "?" do not exist."""

    def __init__(self, *ids: str) -> None:
        self.ids = ids
        self.portions: list[list[str]] = []
        self.progress = [SimpleNamespace(shard=ShardId(GROUPS.topic, partition)) for partition in (2, 0)]
        self.groups = self

    def partition_of(self, group_id: str) -> int:
        return int(group_id[0])

    def read(self, partition: int, operation: Any, *arguments: Any) -> Any:
        assert all(self.partition_of(each) == partition for each in (*arguments[:1],) if isinstance(each, str))
        match operation.__name__:
            case "candidates":
                return (each for each in self.ids if self.partition_of(each) == partition)
            case "holdups":
                self.portions.append(*arguments)
                return [f"waits: {each}" for each in arguments[0]]
            case "has_group":
                return not arguments[0].endswith("?")
            case "group_count":
                return sum(self.partition_of(each) == partition for each in self.ids)
            case "list_groups":
                return [ListedGroup(each, "", "Empty", "classic") for each in arguments[1]]
            case "generation":
                return 0, 0


async def test_all_groups_of_the_loop_are_looked_at_in_portions() -> None:
    node: Any = Groups(*(f"0 {number}" for number in range(GROUPS_PER_STEP + 1)), "2", "1 elsewhere")

    answer = await answer_holdups(node, {})

    assert [len(portion) for portion in node.portions] == [GROUPS_PER_STEP, 1, 1]
    assert (len(answer["holdups"]), answer["unknown"]) == (GROUPS_PER_STEP + 2, [])


async def test_a_page_has_the_groups_of_whole_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """One shard may be more than a page. What is left is asked for by the names of the shards."""
    monkeypatch.setattr("coordinator_server.server.control.group_operations.GROUPS_PER_PAGE", 2)
    node: Any = Groups("2 a", "2 b", "2 c", "0 a", "0 b")

    first = await answer_groups(node, {})
    second = await answer_groups(node, {"shards": first["left"]})

    assert [[each["group_id"] for each in page["groups"]] for page in (first, second)] == [["2 a", "2 b", "2 c"], ["0 a", "0 b"]]
    assert (first["left"], second["left"]) == ([str(ShardId(GROUPS.topic, 0))], [])
    assert (await answer_groups(Groups("2 a", "0 a"), {}))["left"] == []  # type: ignore[arg-type]


async def test_named_groups_are_those_of_the_loop_and_the_unknown_are_named() -> None:
    node: Any = Groups("0 other")

    answer = await answer_holdups(node, {"groups": ["0 a", "1 elsewhere", "2 b?"]})

    assert answer == {"holdups": ["waits: 0 a", "waits: 2 b?"], "unknown": ["2 b?"]}


async def test_groups_that_are_no_list_of_ids_are_refused() -> None:
    node: Any = Groups()

    with pytest.raises(Refusal, match="groups is no list of group ids"):
        await answer_holdups(node, {"groups": [7]})
