"""Commits that wait for the same write, with ``offsets.commit.coalesce``: the last one is written, and everybody is answered."""

from __future__ import annotations

import random

import pytest

from coordinator_server.log.errors import Unavailable
from protocol.coordinator_records import GROUP_SERDE
from protocol.error_codes import ErrorCode
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.record_batch import iter_records, read_header
from tests.support.group_runtime import GroupRuntime
from tests.support.runtime import Outcome

Positions = dict[str, dict[int, int]]


def written(groups: GroupRuntime) -> list[tuple[str, str, int, int]]:
    """Group, topic, partition and offset of each record of a commit in the log."""
    found = []
    for batch in groups.store.logs.get(groups.shard_id, []):
        for record in iter_records(batch, 0, read_header(batch)):
            decoded = GROUP_SERDE.decode(record.key, record.value)
            assert decoded is not None
            if isinstance(decoded.key, OffsetCommitKey) and isinstance(decoded.value, OffsetCommitValue):
                found.append((decoded.key.group, decoded.key.topic, decoded.key.partition, decoded.value.offset))
    return found


def codes(outcome: Outcome) -> set[int]:
    return {one.error_code for topic in outcome.response.topics for one in topic.partitions}


def test_the_last_of_the_commits_that_wait_is_written() -> None:
    """What is being written already is not touched; what came together behind it is one record."""
    groups = GroupRuntime(coalesces=True)
    outcomes = [groups.commit_alone("g", {"t": {0: 0}})]
    groups.turn()
    outcomes += [groups.commit_alone("g", {"t": {0: offset}}) for offset in range(1, 50)]
    groups.finish()

    assert written(groups) == [("g", "t", 0, 0), ("g", "t", 0, 49)]
    assert [codes(outcome) for outcome in outcomes] == [{ErrorCode.NONE}] * 50
    assert groups.committed("g") == {("t", 0): 49}


def test_without_the_option_all_are_written() -> None:
    groups = GroupRuntime()
    for offset in range(5):
        groups.commit_alone("g", {"t": {0: offset}})
    groups.finish()

    assert written(groups) == [("g", "t", 0, offset) for offset in range(5)]


def test_commits_of_other_partitions_keep_their_order() -> None:
    """A commit is not moved before one that has some of its partitions: the log would say that the other came last."""
    groups = GroupRuntime(coalesces=True)
    for positions in ({0: 1}, {0: 2, 1: 2}, {0: 3}):
        groups.commit_alone("g", {"t": positions})
    groups.commit_alone("h", {"t": {0: 9}})
    groups.commit_alone("g", {"t": {0: 4}})
    groups.finish()

    assert written(groups) == [("g", "t", 0, 1), ("g", "t", 0, 2), ("g", "t", 1, 2), ("g", "t", 0, 4), ("h", "t", 0, 9)]
    assert groups.committed("g") == {("t", 0): 4, ("t", 1): 2}


def test_nothing_is_moved_over_a_deletion() -> None:
    """What was committed after it is there, what was committed before it is not."""
    groups = GroupRuntime(coalesces=True)
    groups.commit_alone("g", {"t": {0: 1}})
    groups.delete_offsets("g", "t", [0])
    groups.commit_alone("g", {"t": {0: 2}})
    groups.finish()

    assert written(groups) == [("g", "t", 0, 1), ("g", "t", 0, 2)]
    assert groups.committed("g") == {("t", 0): 2}


def test_a_write_that_fails_fails_for_all_who_wait() -> None:
    """And nothing of it stays; what comes afterwards is written as ever."""
    groups = GroupRuntime(coalesces=True)
    groups.commit_alone("g", {"t": {0: 1}})
    groups.finish()
    failed = [groups.commit_alone("g", {"t": {0: offset}}) for offset in range(2, 5)]
    groups.turn()
    groups.store.finish(Unavailable("full"))
    groups.turn()

    assert [outcome.error for outcome in failed] == [ErrorCode.KAFKA_STORAGE_ERROR] * 3
    assert groups.committed("g") == {("t", 0): 1}
    groups.commit_alone("g", {"t": {0: 7}})
    groups.commit_alone("g", {"t": {0: 8}})
    groups.finish()
    assert groups.committed("g") == {("t", 0): 8}


@pytest.mark.parametrize("seed", range(40))
def test_the_log_and_the_state_agree_whatever_comes_together(seed: int) -> None:
    """Random commits and deletions, turns and writes: everybody is answered, and what the log says is what each group has."""
    draw = random.Random(seed)
    groups = GroupRuntime(coalesces=True, max_batch_bytes=draw.choice([400, 2_000, 1 << 20]))
    expected: dict[str, dict[tuple[str, int], int]] = {"g": {}, "h": {}}
    outcomes = []
    for offset in range(120):
        group, topic = draw.choice("gh"), draw.choice("tu")
        partitions = draw.choice([[0], [1], [0, 1], [1, 0]])
        match draw.choice(["commit"] * 8 + ["delete", "turn", "write"]):
            case "commit":
                outcomes.append(groups.commit_alone(group, {topic: dict.fromkeys(partitions, offset)}))
                expected[group].update({(topic, partition): offset for partition in partitions})
            case "delete" if expected[group]:
                outcomes.append(groups.delete_offsets(group, topic, partitions))
                for partition in partitions:
                    expected[group].pop((topic, partition), None)
            case "turn":
                groups.turn()
            case "write" if groups.store.open is not None:
                groups.store.finish()
    groups.finish()

    assert all(outcome.is_answered and outcome.error is None for outcome in outcomes)
    for group, positions in expected.items():
        assert groups.committed(group) == positions
    assert groups.replayed() == {
        (group, *key): value for group, positions in expected.items() for key, value in positions.items()
    }
