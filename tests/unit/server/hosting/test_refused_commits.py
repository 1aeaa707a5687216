"""Refused commits are counted by group and error, the last ones are kept, and what is kept is bounded."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.shard import RequestContext
from coordinator_server.server.hosting.group_counts import GroupCounts
from coordinator_server.server.hosting.refused_commits import LAST_OF_GROUP, LONGEST_TEXT, MOST_GROUPS, RefusedCommits
from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from tests.support.classic_members import ClassicMember, assignment
from tests.support.heartbeats import Beats

CONTEXT = RequestContext("c" * (LONGEST_TEXT + 1), "10.0.0.7", 8, 9)


def refuse(refused: RefusedCommits, group_id: str, error: ErrorCode = ErrorCode.ILLEGAL_GENERATION, at_ms: int = 0) -> None:
    refused.count(at_ms, CONTEXT, OffsetCommitRequest(group_id, 7, "m" * (LONGEST_TEXT + 1)), error)


def test_counts_by_group_and_error_and_the_last_ones() -> None:
    refused = RefusedCommits()
    for at_ms in range(LAST_OF_GROUP + 2):
        refuse(refused, "g", at_ms=at_ms)
    refuse(refused, "h", ErrorCode.REBALANCE_IN_PROGRESS)
    refuse(refused, "g", ErrorCode.UNKNOWN_MEMBER_ID, 99)

    h, g = refused.of_groups()

    assert h.group_id == "h"
    assert g.errors == {"ILLEGAL_GENERATION": LAST_OF_GROUP + 2, "UNKNOWN_MEMBER_ID": 1}
    assert [each.at_ms for each in g.last] == [*range(3, LAST_OF_GROUP + 2), 99]
    assert (g.last[0].operation, g.last[0].client_host, g.last[0].epoch) == ("OffsetCommit v9", "10.0.0.7", 7)
    assert (len(g.last[0].client_id), len(g.last[0].member_id)) == (LONGEST_TEXT, LONGEST_TEXT)
    assert refused.of_groups(["unknown", "h"]) == [h]
    assert refused.errors == {"ILLEGAL_GENERATION": LAST_OF_GROUP + 2, "REBALANCE_IN_PROGRESS": 1, "UNKNOWN_MEMBER_ID": 1}


def test_the_group_that_has_refused_nothing_for_longest_is_forgotten() -> None:
    """Its commits still count by error."""
    refused = RefusedCommits()
    for number in range(MOST_GROUPS):
        refuse(refused, f"g-{number}")
    refuse(refused, "g-0")
    refuse(refused, "new")

    kept = [each.group_id for each in refused.of_groups()]

    assert len(kept) == MOST_GROUPS
    assert kept[0] == "g-2"
    assert kept[-2:] == ["g-0", "new"]
    assert refused.errors.total() == MOST_GROUPS + 2


@pytest.mark.parametrize(
    ("operation", "version"),
    [(GroupShard.commit_offsets, 9), (GroupShard.commit_in_transaction, 3)],
    ids=["alone", "transaction"],
)
def test_a_shard_tells_of_commits_that_it_refuses_and_of_no_others(operation: Any, version: int) -> None:
    """A line in the log would be one for each."""
    beats = Beats(t=1)
    lines: list[str] = []
    counts = GroupCounts(lambda name, **_: lines.append(name), lambda: 5)
    member = ClassicMember(beats)
    member.join()
    member.sync((member, assignment({"t": [0]})))
    beats.log.news.clear()

    def commit(generation: int) -> None:
        topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 7)])]
        beats.log.run(operation, OffsetCommitRequest("g", generation, member.member_id, topics=topics), version=version)
        for name, fields in beats.log.news:
            counts.tell(name, **fields)

    commit(member.generation)
    assert counts.refused_commits.of_groups() == []
    commit(member.generation - 1)

    [group] = counts.refused_commits.of_groups()
    assert (group.group_id, group.errors, group.last[0].at_ms) == ("g", {"ILLEGAL_GENERATION": 1}, 5)
    assert lines == []
