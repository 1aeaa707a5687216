"""OffsetFetch of very many offsets: the offsets of a group are copied at one moment, and the answer is made of the copy in steps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from coordinator_server.offsets.fetch import answer_partition, unstable_partition
from coordinator_server.offsets.store import GroupOffsets, OffsetAndMetadata, TopicPartition
from protocol.fields import ZERO_UUID
from protocol.messages.offset_fetch import (
    OffsetFetchRequestTopics,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

OFFSETS_PER_STEP: Final = 2_000

Answer = Callable[[str, int, bytes], OffsetFetchResponsePartitions]


class OffsetsMoment(NamedTuple):
    """The offsets of one group at one moment. ``unstable`` are the positions that are refused."""

    offsets: Mapping[TopicPartition, OffsetAndMetadata]
    unstable: Collection[TopicPartition] = ()

    def answer(self, topic: str, index: int, topic_id: bytes) -> OffsetFetchResponsePartitions:
        """Return the answer for a position."""
        if (topic, index) in self.unstable:
            return unstable_partition(index)
        return answer_partition(index, self.offsets.get((topic, index)), topic_id)


def moment_of(offsets: GroupOffsets, committed_offset: int, asked: Sequence[OffsetFetchRequestTopics] | None) -> OffsetsMoment:
    """Return the requested offsets of a group as of ``committed_offset``, or all if these are many or ``asked`` is None."""
    if asked is None or sum(len(topic.partition_indexes) for topic in asked) > OFFSETS_PER_STEP:
        return OffsetsMoment(offsets.copy_at(committed_offset))
    readable = offsets.as_of(committed_offset)
    positions = [(topic.name, index) for topic in asked for index in topic.partition_indexes]
    return OffsetsMoment({position: found for position in positions if (found := readable.get(position)) is not None})


def answer_in_steps(
    moment: OffsetsMoment, asked: Sequence[OffsetFetchRequestTopics] | None
) -> Generator[None, None, list[OffsetFetchResponseTopics]]:
    """Return the requested partitions in order, or all if ``asked`` is None. Yield after each step."""
    if asked is None:
        topics: dict[str, OffsetFetchResponseTopics] = {}
        left = iter(moment.offsets)
        while positions := list(islice(left, OFFSETS_PER_STEP)):
            for name, index in positions:
                topic = topics.get(name)
                if topic is None:
                    topic = topics[name] = OffsetFetchResponseTopics(name, partitions=[])
                topic.partitions.append(moment.answer(name, index, ZERO_UUID))
            yield
        return list(topics.values())
    answered = []
    room = OFFSETS_PER_STEP
    for each in asked:
        partitions: list[OffsetFetchResponsePartitions] = []
        answered.append(OffsetFetchResponseTopics(each.name, each.topic_id, partitions))
        indexes = iter(each.partition_indexes)
        room -= 1
        while portion := list(islice(indexes, max(room, 1))):
            partitions += [moment.answer(each.name, index, each.topic_id) for index in portion]
            room -= len(portion)
            if room <= 0:
                yield
                room = OFFSETS_PER_STEP
        if room <= 0:
            yield
            room = OFFSETS_PER_STEP
    return answered
