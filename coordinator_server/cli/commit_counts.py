"""How many commits groups make, counted in the log of groups, which a server lets clients fetch as any topic.

A commit is a request, however many offsets it moves. Of a shard that grows faster than MOST_BYTES between two counts a part is
read, and the rest is taken to be alike. Commits in transactions count when they are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from struct import pack
from typing import Final

from coordinator_server.client.admin.cluster import Cluster, check
from coordinator_server.client.admin.offsets import LATEST, topic_offsets
from coordinator_server.client.admin.topics import describe_topics
from coordinator_server.client.offsets import TopicPartition
from coordinator_server.kinds import GROUPS
from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from protocol.record_batch import iter_batches, iter_records

MOST_BYTES: Final = 1 << 20
_KEY_VERSION: Final = 1


class CommitCounts:
    """Counts from one call to the next."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._partitions = 0
        # How far each shard has been counted.
        self._positions: dict[int, int] = {}

    async def since_last(self, group_ids: Iterable[str]) -> dict[str, float]:
        """Return the commits of each group since the last call; those whose shard is new have none. Raises ClientError."""
        if not self._partitions:
            topics = await describe_topics(self._cluster, [GROUPS.topic])
            self._partitions = topics[GROUPS.topic].partitions if GROUPS.topic in topics else 0
        by_shard: dict[int, list[str]] = {}
        for group_id in group_ids if self._partitions else ():
            by_shard.setdefault(partition_for(group_id, self._partitions), []).append(group_id)
        ends = await topic_offsets(self._cluster, (TopicPartition(GROUPS.topic, shard) for shard in by_shard), LATEST)
        found: dict[str, float] = {}
        for shard, some in by_shard.items():
            end = ends.get(TopicPartition(GROUPS.topic, shard))
            start = self._positions.get(shard)
            if end is None:
                continue
            if start is not None:
                found |= await self._count(shard, some, start, end)
            self._positions[shard] = end
        # A shard that is shown again later is counted anew.
        self._positions = {shard: position for shard, position in self._positions.items() if shard in by_shard}
        return found

    async def _count(self, shard: int, group_ids: Sequence[str], start: int, end: int) -> Mapping[str, float]:
        if end <= start:
            return dict.fromkeys(group_ids, 0.0)
        partition = FetchPartition(shard, fetch_offset=start, partition_max_bytes=MOST_BYTES)
        request = FetchRequest(max_bytes=MOST_BYTES, topics=[FetchTopic(GROUPS.topic, partitions=[partition])])
        answer = await self._cluster.ask_coordinator(group_ids[0], request, FetchResponse, _codes)
        for code in _codes(answer):
            check(f"Fetch of {GROUPS.topic}-{shard}", code)
        data = answer.responses[0].partitions[0].records or b""
        counts, read_to = commits_in(data, group_ids, start, end)
        return {each: counts[each] * (end - start) / (read_to - start) if read_to > start else 0.0 for each in group_ids}


def commits_in(data: bytes, group_ids: Iterable[str], start: int, end: int) -> tuple[Counter[str], int]:
    """Return the commits of groups in batches between two offsets, and up to which offset there are batches. Raises DecodeError."""
    prefixes = {each: pack(">hh", _KEY_VERSION, len(each.encode())) + each.encode() for each in group_ids}
    counts: Counter[str] = Counter()
    read_to = start
    for position, header in iter_batches(data):
        if header.base_offset >= end:
            break
        read_to = min(header.next_offset, end)
        if header.is_control:
            continue
        firsts: Counter[str] = Counter()
        others: set[str] = set()
        for record in iter_records(data, position, header):
            if record.offset < start or record.value is None or record.key is None:
                continue
            for group_id, prefix in prefixes.items():
                if record.key.startswith(prefix):
                    # The first record of a request has headers, which say who sent it; without log.provenance none has.
                    (firsts.update if record.headers else others.update)((group_id,))
        counts += firsts
        counts.update(others - firsts.keys())
    return counts, read_to


def _codes(answer: FetchResponse) -> list[ErrorCode | int]:
    return [answer.error_code, *(each.error_code for topic in answer.responses for each in topic.partitions)]
