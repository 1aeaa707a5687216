"""The life of a group from the index: the records about its members, the newest first, as many as may be played."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from coordinator_server.page.chunk_cache import ChunkCache
from coordinator_server.pipeline.index.chunk import batches_of
from coordinator_server.pipeline.index.reader import Chunk
from coordinator_server.pipeline.index.snapshot import SnapshotGroup
from coordinator_server.whatif.life import Life
from coordinator_server.whatif.reader import LifeReader
from coordinator_server.whatif.records import may_have_member_records
from coordinator_server.whatif.topics import TopicHistory
from coordinator_server.whatif.turns import Turn, turns_of

MOST_BYTES: Final = 16 << 20
"""The most bytes of records that a life is made of."""
MOST_SIZE: Final = 40_000
"""How large turns may be together that are played: a turn has members, and partitions that they want."""


class AboutMembers(ChunkCache[bytes]):
    """The batches about members, of chunks that have ended: a million commits are read once."""

    def __init__(self) -> None:
        super().__init__(MOST_BYTES)

    def read(self, group: SnapshotGroup, chunk: Chunk) -> bytes:
        """Return those of a chunk."""
        if chunk is group.stored.chunks[-1]:
            return _about_members(group, chunk)
        return self.get(group.id, chunk, lambda: _about_members(group, chunk))


def life_of(group: SnapshotGroup, kept: AboutMembers, history: TopicHistory, removed_to: int = 0) -> Life:
    """Return the life that the index has of a group, or the last part of a very long one. Raises DecodeError.

    Records before ``removed_to`` are those that another cluster has left of more.
    """
    chunks = group.stored.chunks
    reader = LifeReader(history, group.id)
    if not chunks:
        return Life(group.id, [], [])
    found, size = [], 0
    first = chunks[-1]
    for chunk in reversed(chunks):
        if size > MOST_BYTES:
            break
        first = chunk
        found.append(kept.read(group, chunk))
        size += len(found[-1])
    for data in (group.stored.base(first), *reversed(found)):
        reader.add(batches_of(data))
    begins_at = group.shard.begins_at if first is chunks[0] else first.start_offset
    return reader.lives(max(begins_at, removed_to)).get(group.id, Life(group.id, [], []))


def _about_members(group: SnapshotGroup, chunk: Chunk) -> bytes:
    """Return the batches of a chunk that may have records about members. Those that only have commits are most of them."""
    data = group.stored.records(chunk)
    if not may_have_member_records(data, group.id):
        return b""
    return b"".join(_with_members(data, group.id))


def _with_members(data: bytes, group_id: str) -> Iterator[bytes]:
    for _, position, header in batches_of(data):
        batch = data[position : position + header.size]
        if may_have_member_records(batch, group_id):
            yield batch


def playable_from(life: Life, since_ms: int, until_ms: int) -> tuple[int, int]:
    """Return since when so much of a life may be played that it is done soon, and how many turns of a period are before that."""
    turns = [turn for turn in turns_of(life.generations) if since_ms <= turn.generation.at_ms <= until_ms]
    left_out = len(turns) - sum(size <= MOST_SIZE for size in accumulate(map(_size, reversed(turns))))
    if not left_out:
        return since_ms, 0
    return (turns[left_out].generation.at_ms if left_out < len(turns) else until_ms + 1), left_out


def _size(turn: Turn) -> int:
    generation = turn.generation
    return 1 + len(generation.members) + sum(topic.partitions for topic in generation.topics.values())
