"""The first steps of a classic group over a log in memory."""

from __future__ import annotations

from typing import Any

from coordinator_server.group.shard import GroupShard
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.support.group import FakeReply, GroupLog


def join(
    log: GroupLog, member_id: str = "", *, size: int = 10, protocols: int = 1, version: int = 3, instance_id: str | None = None
) -> FakeReply:
    offered = [JoinGroupRequestProtocol(f"p{each}", bytes(size)) for each in range(protocols)]
    request = JoinGroupRequest("group", 10_000, 60_000, member_id, instance_id, "consumer", offered)
    return log.run(GroupShard.join_group, request, version=version)


def leader(log: GroupLog, **fields: Any) -> str:
    """The id of the first member, whose generation is complete."""
    reply = join(log, **fields)
    log.advance(0)
    member_id: str = reply.response.member_id
    sync(log, member_id, reply.response.generation_id)
    return member_id


def sync(log: GroupLog, member_id: str, generation_id: int, assigned: int = 3) -> FakeReply:
    request = SyncGroupRequest("group", generation_id, member_id)
    request.assignments = [SyncGroupRequestAssignment(member_id, bytes(assigned))]
    return log.run(GroupShard.sync_group, request, version=3)
