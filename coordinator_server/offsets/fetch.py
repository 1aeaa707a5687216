"""OffsetFetch: the offsets of one group at one moment, and the answer that is made of them, at once or in steps.

An unknown group or partition is no error: its offset is -1. If the requested topic id differs from that of the commit, the offset
belongs to a different topic of the same name, so the answer is -1 too. With ``require_stable``, an offset with a pending change
in an open transaction gets UNSTABLE_OFFSET_COMMIT, which clients retry (KIP-447).
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Mapping
from itertools import islice
from typing import Final, NamedTuple

from coordinator_server.offsets.group_offsets import GroupOffsets
from coordinator_server.offsets.store import OffsetAndMetadata, TopicPartition
from protocol.error_codes import ErrorCode
from protocol.fields import ZERO_UUID
from protocol.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

INVALID_OFFSET: Final = -1
OFFSETS_PER_STEP: Final = 2_000


class OffsetsMoment(NamedTuple):
    """A copy of the offsets of one group at one moment. ``unstable`` are the positions that are refused."""

    asked: OffsetFetchRequestGroup
    offsets: Mapping[TopicPartition, OffsetAndMetadata]
    unstable: Collection[TopicPartition] = ()

    def answer(self) -> OffsetFetchResponseGroup:
        """Return the requested partitions in order, or all of the group if the request's topics are None."""
        work = self.answer_in_steps()
        while True:
            try:
                next(work)
            except StopIteration as done:
                answer: OffsetFetchResponseGroup = done.value
                return answer

    def answer_in_steps(self) -> Generator[None, None, OffsetFetchResponseGroup]:
        """Do the same as ``answer``. Yield after each step."""
        asked = self.asked
        topics = (yield from self._all()) if asked.topics is None else (yield from self._some(asked.topics))
        return OffsetFetchResponseGroup(asked.group_id, topics)

    def _all(self) -> Generator[None, None, list[OffsetFetchResponseTopics]]:
        topics: dict[str, OffsetFetchResponseTopics] = {}
        left = iter(self.offsets)
        while positions := list(islice(left, OFFSETS_PER_STEP)):
            for name, index in positions:
                topic = topics.get(name)
                if topic is None:
                    topic = topics[name] = OffsetFetchResponseTopics(name, partitions=[])
                topic.partitions += self._partitions(name, (index,), ZERO_UUID)
            yield
        return list(topics.values())

    def _some(self, asked: Iterable[OffsetFetchRequestTopics]) -> Generator[None, None, list[OffsetFetchResponseTopics]]:
        answered = []
        room = OFFSETS_PER_STEP
        for each in asked:
            partitions: list[OffsetFetchResponsePartitions] = []
            answered.append(OffsetFetchResponseTopics(each.name, each.topic_id, partitions))
            indexes = iter(each.partition_indexes)
            room -= 1
            while portion := list(islice(indexes, max(room, 1))):
                partitions += self._partitions(each.name, portion, each.topic_id)
                room -= len(portion)
                if room <= 0:
                    yield
                    room = OFFSETS_PER_STEP
            if room <= 0:
                yield
                room = OFFSETS_PER_STEP
        return answered

    def _partitions(self, name: str, indexes: Iterable[int], asked_id: bytes) -> list[OffsetFetchResponsePartitions]:
        """Return the answers for partitions of one topic."""
        offsets, unstable, is_by_name = self.offsets, self.unstable, asked_id == ZERO_UUID
        answers: list[OffsetFetchResponsePartitions] = []
        for index in indexes:
            position = (name, index)
            found = offsets.get(position)
            if unstable and position in unstable:
                answers.append(OffsetFetchResponsePartitions(index, INVALID_OFFSET, error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT))
            elif found is None or not (is_by_name or found.topic_id in (asked_id, ZERO_UUID)):
                answers.append(OffsetFetchResponsePartitions(index, INVALID_OFFSET))
            else:
                answers.append(OffsetFetchResponsePartitions(index, found.committed_offset, found.leader_epoch, found.metadata))
        return answers


def moment_of(
    offsets: GroupOffsets | None,
    committed_offset: int,
    asked: OffsetFetchRequestGroup,
    unstable: Collection[TopicPartition] = (),
) -> OffsetsMoment:
    """Return the requested offsets of a group as of ``committed_offset``, or all if these are many or ``asked`` names none."""
    if offsets is None:
        return OffsetsMoment(asked, {}, unstable)
    topics = asked.topics
    if topics is None or sum(len(topic.partition_indexes) for topic in topics) > OFFSETS_PER_STEP:
        return OffsetsMoment(asked, offsets.copy_at(committed_offset), unstable)
    readable = offsets.as_of(committed_offset)
    positions = [(topic.name, index) for topic in topics for index in topic.partition_indexes]
    found = {position: one for position in positions if (one := readable.get(position)) is not None}
    return OffsetsMoment(asked, found, unstable)
