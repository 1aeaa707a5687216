"""Members of the classic protocol that a shard under test sees: real consumers, whose subscriptions and assignments can be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator_server.group.shard import GroupShard
from protocol.codec import decode, encode
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription, TopicPartition
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.support.group import FakeReply
from tests.support.heartbeats import Beats, Partitions

VERSION_BYTES = 2
NEWEST = 3


def subscription(*topics: str, owned: Partitions | None = None, version: int = NEWEST, rack_id: str | None = None) -> bytes:
    message = ConsumerProtocolSubscription(list(topics), owned_partitions=listed(owned or {}), rack_id=rack_id)
    return version.to_bytes(VERSION_BYTES) + encode(message, version)


def assignment(partitions: Partitions, version: int = NEWEST, user_data: bytes | None = None) -> bytes:
    message = ConsumerProtocolAssignment(listed(partitions), user_data)
    return version.to_bytes(VERSION_BYTES) + encode(message, version)


def assigned(data: bytes) -> Partitions:
    """The partitions of an assignment."""
    version = int.from_bytes(data[:VERSION_BYTES])
    message = decode(ConsumerProtocolAssignment, version, data[VERSION_BYTES:])
    return {each.topic: sorted(each.partitions) for each in message.assigned_partitions}


def listed(partitions: Partitions) -> list[TopicPartition]:
    return [TopicPartition(topic, numbers) for topic, numbers in partitions.items()]


class ClassicMember:
    """One consumer. ``generation`` and ``assignment`` are those of its last good answers."""

    def __init__(self, beats: Beats, *topics: str, instance_id: str | None = None, **fields: Any) -> None:
        self._beats = beats
        self.instance_id = instance_id
        self.topics = topics or ("t",)
        self.member_id = ""
        self.generation = -1
        self.assignment = b""
        self.version = 9
        self.protocols: Mapping[str, int] = {"range": NEWEST}
        self._fields = {"session_timeout_ms": 10_000, "rebalance_timeout_ms": 20_000, "protocol_type": "consumer", **fields}

    @property
    def assigned(self) -> Partitions:
        return assigned(self.assignment) if self.assignment else {}

    def join(self, metadata: bytes | None = None, **fields: Any) -> FakeReply:
        """Send a JoinGroup with what the member owns, and a second one if it gets an id first."""
        reply = self.ask_to_join(metadata, **fields)
        if reply.response is not None and reply.response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = reply.response.member_id
            reply = self.ask_to_join(metadata, **fields)
        # The first rebalance of a group waits for a timer, if for no time.
        self._beats.log.advance(0)
        return reply

    def ask_to_join(self, metadata: bytes | None = None, **fields: Any) -> FakeReply:
        protocols = [
            JoinGroupRequestProtocol(name, metadata or subscription(*self.topics, owned=self.assigned, version=version))
            for name, version in self.protocols.items()
        ]
        given = {"member_id": self.member_id, "protocols": protocols, **self._fields, **fields}
        request = JoinGroupRequest("g", group_instance_id=self.instance_id, **given)
        return self._beats.log.run(GroupShard.join_group, request, version=self.version, on_answer=self._joined)

    def sync(self, *shares: tuple[ClassicMember, bytes], **fields: Any) -> FakeReply:
        """Send a SyncGroup: of a leader with the shares of the members."""
        given: dict[str, Any] = {"protocol_type": "consumer", "protocol_name": next(iter(self.protocols)), **fields}
        assignments = [SyncGroupRequestAssignment(member.member_id, share) for member, share in shares]
        request = SyncGroupRequest("g", self.generation, self.member_id, self.instance_id, assignments=assignments, **given)
        return self._beats.log.run(GroupShard.sync_group, request, version=5, on_answer=self._synced)

    def heartbeat(self, generation: int | None = None, member_id: str | None = None) -> ErrorCode:
        """Send a heartbeat. The error of the answer."""
        reply = self.ask_to_live(generation, member_id)
        return reply.error or ErrorCode(reply.response.error_code)

    def ask_to_live(self, generation: int | None = None, member_id: str | None = None) -> FakeReply:
        """Send a heartbeat, which may be answered later."""
        request = HeartbeatRequest(
            "g",
            self.generation if generation is None else generation,
            self.member_id if member_id is None else member_id,
            self.instance_id,
        )
        return self._beats.log.run(GroupShard.heartbeat, request, version=4)

    def leave(self) -> ErrorCode:
        """Leave, by a request of the last version that has one member."""
        request = LeaveGroupRequest("g", self.member_id)
        reply = self._beats.log.run(GroupShard.leave_group, request, version=2)
        return reply.error or ErrorCode(reply.response.error_code)

    def follow(self) -> bool:
        """Do what a consumer does: a heartbeat, and if it must, a join with what it keeps, and a sync. Whether it joined."""
        if self.heartbeat() is not ErrorCode.REBALANCE_IN_PROGRESS:
            return False
        assert self.join().response.error_code == ErrorCode.NONE
        reply = self.sync()
        assert (reply.error or reply.response.error_code) in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)
        return True

    def _joined(self, reply: FakeReply) -> None:
        if reply.response is not None and reply.response.error_code == ErrorCode.NONE:
            self.member_id, self.generation = reply.response.member_id, reply.response.generation_id

    def _synced(self, reply: FakeReply) -> None:
        if reply.response is not None and reply.response.error_code == ErrorCode.NONE:
            self.assignment = reply.response.assignment


def leave_together(beats: Beats, *identities: MemberIdentity) -> list[ErrorCode]:
    """Send a LeaveGroup with several members. The error of each."""
    reply = beats.log.run(GroupShard.leave_group, LeaveGroupRequest("g", members=list(identities)), version=5)
    return [ErrorCode(each.error_code) for each in reply.response.members]
