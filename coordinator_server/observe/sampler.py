"""Samples the ends of the partitions that groups consume.

Which topics these are follows from the commits in our log, which is read as it grows, in a thread.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import structlog

from coordinator_server.client.admin.cluster import Cluster
from coordinator_server.client.admin.offsets import LATEST, topic_offsets
from coordinator_server.client.errors import ClientError
from coordinator_server.client.offsets import TopicPartition
from coordinator_server.kinds import GROUPS
from coordinator_server.log.errors import LogError
from coordinator_server.log.shards import ShardId
from coordinator_server.log.store import LogStore
from coordinator_server.observe.directory import ObservedDirectory
from coordinator_server.observe.end_offsets import EndOffsetsWriter
from coordinator_server.pipeline.lag.commit_keys import position_of
from coordinator_server.pipeline.lag.end_offsets import UNKNOWN
from protocol.record_batch import iter_records, read_header

log = structlog.get_logger(__name__)


class Sampling(NamedTuple):
    """How often samples are taken, and for how many days they are kept; 0 is for ever."""

    interval_s: float
    keep_days: int


class Sampler:
    """Takes samples. ``partitions`` returns the cluster's topics with their numbers of partitions."""

    def __init__(
        self, cluster: Cluster, directory: ObservedDirectory, partitions: Callable[[], Mapping[str, int]], sampling: Sampling
    ) -> None:
        self._cluster = cluster
        self._directory = directory
        self._partitions = partitions
        self._interval_s = sampling.interval_s
        self._writer = EndOffsetsWriter(directory.data_dir, sampling.keep_days)
        self._read_to: dict[ShardId, int] = {}
        self.topics: set[str] = set()
        """Those of which an offset was ever committed."""
        self._lock = asyncio.Lock()

    async def run(self) -> None:
        """Sample until it is cancelled."""
        while True:
            await self.sample()
            await asyncio.sleep(self._interval_s)

    async def sample(self) -> None:
        """Take one sample. One that fails is left out, and logged."""
        async with self._lock:
            try:
                await self._sample()
            except (ClientError, LogError, OSError) as error:
                log.warning("end-offsets-not-sampled", why=str(error), action="they are sampled again")

    async def _sample(self) -> None:
        counts = self._directory.partitions
        shards = [ShardId(GROUPS.topic, number) for number in range(counts.get(GROUPS.topic, 0))]
        await asyncio.to_thread(self._read, self._directory.store, shards)
        known = self._partitions()
        wanted = [TopicPartition(topic, number) for topic in self.topics if topic in known for number in range(known[topic])]
        found = await topic_offsets(self._cluster, wanted, LATEST)
        ends: dict[str, list[int]] = {}
        for each in wanted:
            ends.setdefault(each.topic, []).append(found.get(each, UNKNOWN))
        self._writer.write(time.time_ns() // 1_000_000, ends)

    def _read(self, store: LogStore, shards: Collection[ShardId]) -> None:
        for shard in shards:
            for batch in store.read(shard, self._read_to.get(shard, 0)):
                self.topics |= topics_in(batch)
                self._read_to[shard] = read_header(batch).next_offset


def topics_in(batch: bytes) -> set[str]:
    """Return the topics of which a batch commits offsets. Raises DecodeError."""
    header = read_header(batch)
    records = () if header.is_control else iter_records(batch, 0, header, with_headers=False)
    return {where.topic for record in records if record.value is not None and (where := position_of(record.key)) is not None}
