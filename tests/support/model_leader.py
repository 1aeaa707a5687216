"""The leader of one partition as Kafka's is, in memory: epochs, a cleaner, deleted records, and elections that lose records."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from coordinator_server.log.shards import ShardId
from protocol.batch_builder import BatchBuilder, batch_like
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset as EndOfEpoch,
)
from protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from protocol.record_batch import HEADER_SIZE, read_header, read_record
from tests.support.observed import in_epoch

_UNKNOWN = (-1, -1)
_AT_MS = 1_700_000_000_000


class ModelLeader:
    """A partition. It stands for a connection to its leader: ``request`` answers."""

    def __init__(self, shard: ShardId, rng: random.Random) -> None:
        self.shard = shard
        self.batches: list[bytes] = []
        self.start = self.end = 0
        # As LeaderEpochFileCache: the first offset of each epoch.
        self.epochs: list[tuple[int, int]] = [(0, 0)]
        self._rng = rng
        self._number = 0

    # What happens to it.

    def append(self) -> None:
        builder = BatchBuilder(self.end, _AT_MS + self._number)
        for _ in range(self._rng.randint(1, 4)):
            self._number += 1
            builder.append(b"key", b"%d" % self._number)
        self.batches.append(in_epoch(builder.finish(), self.epochs[-1][0]))
        self.end = builder.next_offset

    def clean(self) -> None:
        """The cleaner removes records of all batches but the last, and batches that have none left."""
        self.batches[:-1] = [kept for batch in self.batches[:-1] if (kept := self._cleaned(batch)) is not None]

    def delete_records(self) -> None:
        """As DeleteRecords, up to the beginning of a batch."""
        if self.batches:
            self.start = read_header(self._rng.choice(self.batches)).base_offset
            self.batches = [batch for batch in self.batches if read_header(batch).base_offset >= self.start]
            before = [each for each in self.epochs if each[1] <= self.start][-1:]
            self.epochs = [(epoch, self.start) for epoch, _ in before] + [each for each in self.epochs if each[1] > self.start]

    def elect(self, *, is_unclean: bool) -> None:
        """Another leader, with a later epoch. An unclean election loses the last batches."""
        lost = self._rng.randint(1, 4) if is_unclean else 0
        for batch in self.batches[max(1, len(self.batches) - lost) :] if lost else ():
            self.end = min(self.end, read_header(batch).base_offset)
        self.batches = [batch for batch in self.batches if read_header(batch).base_offset < self.end]
        epoch = self.epochs[-1][0] + self._rng.randint(1, 2)
        self.epochs = [*(each for each in self.epochs if each[1] < self.end), (epoch, self.end)]

    def move(self) -> None:
        """A replica leads that has copied the log as the cleaner has left it: it knows only the epochs that batches have."""
        known: dict[int, int] = {}
        for header in map(read_header, self.batches):
            known.setdefault(header.leader_epoch, header.base_offset)
        self.epochs = [*known.items()] or [(self.epochs[-1][0], self.end)]
        self.elect(is_unclean=False)

    def _cleaned(self, batch: bytes) -> bytes | None:
        header = read_header(batch)
        pos, records = HEADER_SIZE, []
        for _ in range(header.count):
            start = pos
            _, pos = read_record(batch, pos, header.size, header)
            records.append(batch[start:pos])
        kept = [each for each in records if self._rng.random() < 0.5]
        return batch_like(header, b"".join(kept), len(kept)) if kept else None

    # What it answers.

    async def request(self, message: Message, _response: object, _timeout_s: float, **_: Any) -> Message:
        match message:
            case FetchRequest():
                answers = [self._fetched(each) for topic in message.topics for each in topic.partitions]
                return FetchResponse(responses=[FetchableTopicResponse(self.shard.topic, partitions=answers)])
            case ListOffsetsRequest():
                [asked] = message.topics[0].partitions
                found = ListOffsetsPartitionResponse(asked.partition_index)
                found.offset = self.end if asked.timestamp == -1 else self.start
                return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(self.shard.topic, [found])])
            case OffsetForLeaderEpochRequest():
                epoch, end = self._end_of(message.topics[0].partitions[0].leader_epoch)
                answer = EndOfEpoch(0, self.shard.partition, epoch, end)
                return OffsetForLeaderEpochResponse(topics=[OffsetForLeaderTopicResult(self.shard.topic, [answer])])
        raise AssertionError(message)

    def _fetched(self, asked: FetchPartition) -> PartitionData:
        answer = PartitionData(asked.partition, high_watermark=self.end, log_start_offset=self.start)
        if asked.last_fetched_epoch >= 0:
            epoch, end = self._end_of(asked.last_fetched_epoch)
            if end < 0:
                return PartitionData(asked.partition, ErrorCode.OFFSET_OUT_OF_RANGE)
            if epoch < asked.last_fetched_epoch or end < asked.fetch_offset:
                answer.diverging_epoch = EpochEndOffset(epoch, end)
                return answer
        if not self.start <= asked.fetch_offset <= self.end:
            return PartitionData(asked.partition, ErrorCode.OFFSET_OUT_OF_RANGE)
        rest = [batch for batch in self.batches if read_header(batch).next_offset > asked.fetch_offset]
        data = b"".join(rest[: self._rng.randint(1, 3)])
        answer.records = data + (rest[-1][:30] if self._rng.random() < 0.2 and rest else b"")
        return answer

    def _end_of(self, epoch: int) -> tuple[int, int]:
        """As LeaderEpochFileCache.endOffsetFor."""
        if self.epochs and epoch == self.epochs[-1][0]:
            return epoch, self.end
        later = [each for each in self.epochs if each[0] > epoch]
        if not later:
            return _UNKNOWN
        earlier = [each for each in self.epochs if each[0] <= epoch]
        return (earlier[-1][0] if earlier else epoch), later[0][1]


def records_in(batches: Sequence[bytes]) -> dict[int, bytes | None]:
    """The values of all records, by offset."""
    found = {}
    for batch in batches:
        header = read_header(batch)
        pos = HEADER_SIZE
        for _ in range(header.count):
            record, pos = read_record(batch, pos, header.size, header)
            found[record.offset] = record.value
    return found
