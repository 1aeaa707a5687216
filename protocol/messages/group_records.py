"""Records of the group coordinator's log that the classic protocol writes: committed offsets and group metadata.

Offsets: version 1 is the one with an expiry time, which old clients asked for; 3 adds the leader epoch, 4 the topic id. Groups:
version 1 adds the rebalance timeout, 2 the time of the last change of state, 3 static membership. Older ones are in old logs.
"""

from __future__ import annotations

from typing import Annotated

from protocol.fields import ZERO_UUID, Bytes, Int32, Int64, Item, Message, String, Uuid, V, record_key, record_value


class LegacyOffsetCommitKey(Message):
    kafka = record_key(0)
    group: String = ""
    topic: String = ""
    partition: Int32 = 0


class LegacyOffsetCommitValue(Message):
    kafka = record_value(0, "0")
    offset: Int64 = 0
    metadata: String = ""
    commit_timestamp: Int64 = 0


class OffsetCommitKey(Message):
    kafka = record_key(1)
    group: String = ""
    topic: String = ""
    partition: Int32 = 0


class OffsetCommitValue(Message):
    kafka = record_value(1, "0-4", flexible="4+")
    offset: Int64 = 0
    leader_epoch: Annotated[Int32, V("3+", ignorable=True)] = -1
    metadata: String = ""
    commit_timestamp: Int64 = 0
    expire_timestamp: Annotated[Int64, V("1", ignorable=True)] = -1
    topic_id: Annotated[Uuid, V("4+", ignorable=True, tag=0)] = ZERO_UUID


class GroupMetadataKey(Message):
    kafka = record_key(2)
    group: String = ""


class GroupMetadataValue(Message):
    kafka = record_value(2, "0-4", flexible="4+")
    protocol_type: String = ""
    generation: Int32 = 0
    protocol: String | None = ""
    leader: String | None = ""
    current_state_timestamp: Annotated[Int64, V("2+", ignorable=True)] = -1
    members: list[MemberMetadata] = []


class MemberMetadata(Item):
    member_id: String = ""
    group_instance_id: Annotated[String | None, V("3+", ignorable=True)] = None
    client_id: String = ""
    client_host: String = ""
    rebalance_timeout: Annotated[Int32, V("1+", ignorable=True)] = -1
    session_timeout: Int32 = 0
    subscription: Bytes = b""
    assignment: Bytes = b""
