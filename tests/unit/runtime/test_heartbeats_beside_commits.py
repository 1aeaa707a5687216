"""Heartbeats do not queue behind commits: the whole path of a group's shard, from its runtime to a log that takes its time."""

from __future__ import annotations

from coordinator_server.group.shard import GroupShard
from coordinator_server.runtime.runtime import WriteOperation
from protocol.error_codes import ErrorCode
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic
from protocol.messages.sync_group import SyncGroupRequest
from tests.support.group_runtime import COMMIT, GroupRuntime
from tests.support.runtime import Outcome

JOIN = WriteOperation("join", GroupShard.join_group)
SYNC = WriteOperation("sync", GroupShard.sync_group)
BEAT = WriteOperation("beat", GroupShard.heartbeat)
SESSION_MS = 10_000


class Groups(GroupRuntime):
    """Members and their requests."""

    def member(self, group: str) -> str:
        """The id of the only member of a stable group."""
        join = JoinGroupRequest(group, SESSION_MS, SESSION_MS, "", None, "consumer", [JoinGroupRequestProtocol("range", b"")])
        joined = self.ask(JOIN, join, 3)
        self.pass_time(0)
        self.finish()
        member_id: str = joined.response.member_id
        self.ask(SYNC, SyncGroupRequest(group, 1, member_id), 3)
        self.finish()
        return member_id

    def beat(self, group: str, member_id: str) -> Outcome:
        return self.ask(BEAT, HeartbeatRequest(group, 1, member_id), 3)

    def commit(self, group: str, member_id: str, offset: int) -> Outcome:
        topic = OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, offset)])
        return self.ask(COMMIT, OffsetCommitRequest(group, 1, member_id, topics=[topic]), 8)


def test_heartbeats_are_answered_while_commits_wait() -> None:
    """A log that takes many session timeouts: every heartbeat is answered at once, nobody is evicted,
    and then every commit is answered.
    """
    groups = Groups()
    busy, calm = groups.member("busy"), groups.member("calm")
    commits: list[Outcome] = []
    for second in range(6 * SESSION_MS // 1000):
        commits += [groups.commit("busy", busy, 100 * second + each) for each in range(100)]
        groups.turn()
        groups.pass_time(1000)
        for name, member_id in (("busy", busy), ("calm", calm)):
            beat = groups.beat(name, member_id)
            assert beat.is_answered
            assert beat.response.error_code == ErrorCode.NONE

    assert not any(commit.is_answered for commit in commits)
    groups.finish()
    assert {commit.response.topics[0].partitions[0].error_code for commit in commits} == {ErrorCode.NONE}
    assert groups.beat("busy", busy).response.error_code == ErrorCode.NONE


def test_commits_keep_a_session_while_they_wait() -> None:
    """What counts is that the member was heard of, and not that it was answered; who is not heard of is evicted all the same."""
    groups = Groups()
    busy, silent = groups.member("busy"), groups.member("silent")
    for second in range(3 * SESSION_MS // 1000):
        groups.commit("busy", busy, second)
        groups.turn()
        groups.pass_time(1000)
    groups.finish()

    assert groups.beat("busy", busy).response.error_code == ErrorCode.NONE
    assert groups.beat("silent", silent).error == ErrorCode.UNKNOWN_MEMBER_ID


def test_an_answer_about_membership_waits_for_its_own_group_alone() -> None:
    """A generation that is not durable yet holds the heartbeats of its group, and of no other."""
    groups = Groups()
    calm = groups.member("calm")
    join = JoinGroupRequest("new", SESSION_MS, SESSION_MS, "", None, "consumer", [JoinGroupRequestProtocol("range", b"")])
    joined = groups.ask(JOIN, join, 3)
    groups.pass_time(0)
    groups.finish()
    new = joined.response.member_id
    groups.ask(SYNC, SyncGroupRequest("new", 1, new), 3)
    groups.turn()

    held, free = groups.beat("new", new), groups.beat("calm", calm)

    assert (held.is_answered, free.is_answered) == (False, True)
    groups.finish()
    assert held.response.error_code == ErrorCode.NONE
