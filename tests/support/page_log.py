"""Logs of groups as a page shows them: members that come and go with their causes, and commits. Written by hand, from a seed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Final

from coordinator_server.client.consumer.subscription import Subscription, encode_subscription
from coordinator_server.log.opening import job_shard
from coordinator_server.pipeline.index.feed import Updated, update_shard
from protocol.codec import encode
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.messages.consumer_protocol import ConsumerProtocolAssignment
from protocol.messages.consumer_protocol import TopicPartition as Assigned
from protocol.messages.group_records import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from protocol.record_batch import Record
from tests.support.index import SHARD, index_writer, make_directory
from tests.support.segments import START_MS, Batch, offset_key, offset_value, write_segments

Event = tuple[int, list[tuple[bytes, bytes | None]], tuple[tuple[str, bytes], ...]]
"""A time, records, and the headers of the first one."""


class Story:
    """What happens to one classic group. ``now_ms`` goes on with each step; members get the partitions of one topic in turn."""

    def __init__(self, group_id: str, topic: str = "orders", partitions: int = 6, now_ms: int = START_MS, seed: int = 1) -> None:
        self.group_id = group_id
        self.topic = topic
        self.partitions = partitions
        self.now_ms = now_ms
        self.events: list[Event] = []
        self.members: list[str] = []
        self.took_ms = 40
        self.offsets = [0] * partitions
        self._generation = 0
        self._rng = Random(seed)

    def wait(self, ms: int) -> Story:
        self.now_ms += ms
        return self

    def join(self, *clients: str, why: str = "member-joined") -> Story:
        joined = [f"{client}-{self._rng.randrange(16**8):08x}" for client in clients]
        self.members += joined
        first = not self._generation
        self._generate([("group-created" if first else why, each) for each in joined])
        return self

    def leave(self, number: int = -1, why: str = "member-left") -> Story:
        gone = self.members.pop(number)
        self._generate([(why, gone)])
        return self

    def commit(self, step: int = 10, ms: int = 5000, times: int = 1) -> Story:
        """Each member commits its partitions, so many times."""
        for _ in range(times):
            for member in self.members:
                mine = self._assigned()[member]
                for number in mine:
                    self.offsets[number] += self._rng.randrange(step + 1)
                pairs: list[tuple[bytes, bytes | None]] = [
                    (offset_key(self.group_id, self.topic, each), offset_value(self.offsets[each], commit_ms=self.now_ms))
                    for each in mine
                ]
                if pairs:
                    self.events.append((self.now_ms, pairs, _headers("8/9", member)))
            self.now_ms += ms
        return self

    def reset(self, offset: int) -> Story:
        """An operator sets all offsets."""
        self.offsets = [offset] * self.partitions
        pairs: list[tuple[bytes, bytes | None]] = [
            (offset_key(self.group_id, self.topic, each), offset_value(offset, commit_ms=self.now_ms))
            for each in range(self.partitions)
        ]
        headers = (("op1", b"8/9"), ("client", b"adminclient-1"), ("host", b"10.0.0.99"))
        self.events.append((self.now_ms, pairs, headers))
        return self

    def delete(self) -> Story:
        pairs: list[tuple[bytes, bytes | None]] = [
            (offset_key(self.group_id, self.topic, each), None) for each in range(self.partitions)
        ]
        key = GROUP_SERDE.encode_key(CoordinatorRecord(GroupMetadataKey(self.group_id), None))
        headers = (("op1", b"42/2"), ("client", b"adminclient-1"), ("why", b"group-deleted"))
        self.events.append((self.now_ms, [*pairs, (key, None)], headers))
        self.members = []
        return self

    def _assigned(self) -> dict[str, list[int]]:
        return {member: list(range(at, self.partitions, len(self.members))) for at, member in enumerate(sorted(self.members))}

    def _generate(self, reasons: Sequence[tuple[str, str]]) -> None:
        self._generation += 1
        self.now_ms += self.took_ms
        members = [
            MemberMetadata(
                member,
                None,
                client_of(member),
                f"/10.0.0.{10 + at % 200}",
                300_000,
                45_000,
                encode_subscription(Subscription((self.topic,))),
                _encoded(ConsumerProtocolAssignment([Assigned(self.topic, mine)] if mine else [])),
            )
            for at, (member, mine) in enumerate(self._assigned().items())
        ]
        leader = self.members[0] if self.members else None
        protocol = "roundrobin" if self.members else None
        value = GroupMetadataValue("consumer", self._generation, protocol, leader, self.now_ms, members)
        record = CoordinatorRecord(GroupMetadataKey(self.group_id), value, 3)
        whys = tuple(each for why, whom in reasons for each in (("why", why.encode()), ("whom", whom.encode())))
        pair = (GROUP_SERDE.encode_key(record), GROUP_SERDE.encode_value(record))
        self.events.append((self.now_ms, [pair], (*_headers("14/5", leader or ""), ("took", str(self.took_ms).encode()), *whys)))


def client_of(member: str) -> str:
    return member.rpartition("-")[0]


def write_stories(tmp_path: Path, stories: Iterable[Story]) -> tuple[Path, int]:
    """Write what happens to all groups, in the order of time, into the one shard of a directory; and its end."""
    data = make_directory(tmp_path)
    events = sorted((event for story in stories for event in story.events), key=lambda event: event[0])
    offset, batches = 0, []
    for at_ms, pairs, headers in events:
        records = [Record(offset + at, at_ms, *pair, headers if not at else ()) for at, pair in enumerate(pairs)]
        batches.append(Batch(tuple(records)))
        offset += len(pairs)
    return data, write_segments(data / SHARD, batches)


def indexed(tmp_path: Path, stories: Iterable[Story], chunk_bytes: int = 4000) -> Path:
    """Do the same, with an index of all of it."""
    data, end = write_stories(tmp_path, stories)
    with index_writer(data, chunk_bytes) as writer:
        update_shard(writer, job_shard(data / SHARD), end, Updated())
        writer.flush()
    return data


def _headers(operation: str, member: str) -> tuple[tuple[str, bytes], ...]:
    found = (
        ("op1", operation.encode()),
        ("client", client_of(member).encode()),
        ("host", b"10.0.0.7"),
        ("member", member.encode()),
    )
    return found if member else found[:1]


_VERSION: Final = 1


def _encoded(assignment: ConsumerProtocolAssignment) -> bytes:
    return _VERSION.to_bytes(2) + encode(assignment, _VERSION)
