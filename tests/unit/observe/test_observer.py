"""What the observer makes of a cluster whose leaders come and go, and of topic ids."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

from coordinator_server.client.admin.cluster import Cluster
from coordinator_server.client.environment import Environment
from coordinator_server.client.settings import ConnectionSettings
from coordinator_server.kinds import GROUPS
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.observe.observer import Observer, open_observer
from coordinator_server.observe.sampler import Sampling
from protocol.fields import ZERO_UUID, uuid_text
from protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from tests.support.log import batch

SHARD = ShardId(GROUPS.topic, 0)
IDS = (b"1" * 16, b"2" * 16)
SAMPLING = Sampling(3600, 0)


async def nobody_listens(*_: object) -> Any:
    raise ConnectionRefusedError


class Metadata:
    """A cluster of two servers that can be asked for metadata alone, with one partition that ``leader`` leads."""

    settings = ConnectionSettings("h:1", retry_backoff_s=0.001, retry_backoff_max_s=0.002)
    environment = Environment(connect=nobody_listens)

    def __init__(self) -> None:
        self.leader = 1
        self.topic_id = IDS[0]
        self.asked = 0

    async def ask(self, request: MetadataRequest, _response: object) -> MetadataResponse:
        self.asked += 1
        partition = MetadataResponsePartition(partition_index=0, leader_id=self.leader, leader_epoch=3)
        topic = MetadataResponseTopic(name=SHARD.topic, topic_id=self.topic_id, partitions=[partition])
        brokers = [MetadataResponseBroker(node_id, "h", node_id) for node_id in (1, 2)]
        topics = [] if request.topics is None else [topic]
        return MetadataResponse(brokers=brokers, cluster_id="cluster", topics=topics)


def playing(play: Callable[[Metadata, Observer], Awaitable[None]], data_dir: Path) -> None:
    async def run() -> None:
        metadata = Metadata()
        observer = await open_observer(cast(Cluster, metadata), data_dir, SAMPLING)
        try:
            await play(metadata, observer)
        finally:
            await observer.stop()

    asyncio.run(run())


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - what it waits for sets no event
            await asyncio.sleep(0.001)


async def told(metadata: Metadata, observer: Observer, leader: int) -> None:
    """The cluster has a new leader, and the observer knows."""
    metadata.leader = leader
    await until(lambda: observer.status()["shards"][str(SHARD)]["leader"] == leader)


def test_a_partition_without_a_leader_is_looked_for(tmp_path: Path) -> None:
    """Nothing is fetched meanwhile, so nobody asks: it would be found with the topics, every 30 s."""

    async def play(metadata: Metadata, observer: Observer) -> None:
        await told(metadata, observer, -1)
        enough = metadata.asked + 10
        await until(lambda: metadata.asked >= enough)
        await told(metadata, observer, 2)

    playing(play, tmp_path)


def test_a_server_that_leads_nothing_is_not_asked(tmp_path: Path) -> None:
    """It may be gone for good. When it leads again it is asked again."""

    async def play(metadata: Metadata, observer: Observer) -> None:
        for leader in (2, 1, 2):
            await told(metadata, observer, leader)
            await until(lambda leader=leader: observer.asked_servers == [leader])  # type: ignore[misc] # a default binds it now

    playing(play, tmp_path)


def test_a_topic_that_gets_an_id_is_the_same_topic(tmp_path: Path) -> None:
    """As in a cluster that is upgraded from before topic ids. One that gets another id is another one."""

    async def start(topic_id: bytes) -> tuple[dict[str, str], int]:
        metadata = Metadata()
        metadata.topic_id = topic_id
        observer = await open_observer(cast(Cluster, metadata), tmp_path, SAMPLING)
        directory = observer._directory
        if not directory.store.end_offset(SHARD):
            assert not await directory.append([Append(SHARD, 0, 0, batch(0))])
        found = dict(directory.facts.topic_ids), len(directory.facts.set_aside)
        await observer.stop()
        return found

    assert asyncio.run(start(ZERO_UUID)) == ({}, 0)
    for topic_id, set_aside in ((IDS[0], 0), (ZERO_UUID, 0), (IDS[0], 0), (IDS[1], 1)):
        known = uuid_text(IDS[0] if topic_id == ZERO_UUID else topic_id)
        assert asyncio.run(start(topic_id)) == ({SHARD.topic: known}, set_aside)
