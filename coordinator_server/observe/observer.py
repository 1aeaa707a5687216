"""Follows a cluster: learns who leads its internal topics, keeps a fetcher for each leader, and writes what they fetch.

    start → follow ─┬─ a fetcher for each leader
                    ├─ learner: leaders, when a fetcher asks for it, and every 30 s; topics of clients every 30 s
                    ├─ sampler of end offsets
                    └─ writer of facts

The first error that no retry mends ends all.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

import structlog

from coordinator_server.client.admin.cluster import Cluster
from coordinator_server.client.environment import Backoff
from coordinator_server.client.errors import ClientError, Refused, RetriableError
from coordinator_server.client.settings import Address
from coordinator_server.kinds import GROUPS
from coordinator_server.log.errors import LogError
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.log.store import Meta
from coordinator_server.observe.cluster import InternalTopics, internal_topics, topics_of_clients
from coordinator_server.observe.directory import ObservedDirectory
from coordinator_server.observe.fetcher import Fetcher, Notices
from coordinator_server.observe.operations import operations
from coordinator_server.observe.partition import Followed
from coordinator_server.observe.sampler import Sampler, Sampling
from coordinator_server.observe.topics import SHARD, ObservedTopics
from coordinator_server.server.control.control_socket import ControlSocket
from protocol.fields import ZERO_UUID, uuid_text

log = structlog.get_logger(__name__)

LEARN_S: Final = 30.0
_FACTS_S: Final = 5.0
_CALM_S: Final = 10.0
"""After so long without a question for leaders the next one is not delayed."""
_NO_ID: Final = uuid_text(ZERO_UUID)
NODE_ID: Final = 1


async def open_observer(cluster: Cluster, data_dir: Path, sampling: Sampling) -> Observer:
    """Learn the cluster, open the directory, and begin to fetch. Raises ClientError, LogError."""
    seen = await internal_topics(cluster)
    if GROUPS.topic not in seen.counts:
        raise Refused(f"the cluster has no {GROUPS.topic} yet: it makes it when the first group is looked for")
    directory = ObservedDirectory(data_dir, Meta(seen.cluster_id, NODE_ID, dict(seen.counts), is_observed=True))
    directory.open()
    observer = Observer(cluster, directory, seen.cluster_id, sampling)
    try:
        await observer.start(seen)
    except BaseException:
        await observer.stop()
        raise
    return observer


class Observer:
    """One cluster, followed into one directory, until ``stop``. ``open_observer`` makes it."""

    def __init__(self, cluster: Cluster, directory: ObservedDirectory, cluster_id: str, sampling: Sampling) -> None:
        self.cluster_id = cluster_id
        self.up_to_date = asyncio.Event()
        """Set when everything has been read that was in the cluster's logs at the start."""
        self._cluster = cluster
        self._directory = directory
        self._control = ControlSocket(directory.data_dir, operations(directory, self.status))
        self._topics = ObservedTopics(cluster_id, NODE_ID)
        self._seen_topics: dict[str, int] = {}
        self._sampler = Sampler(cluster, directory, lambda: self._seen_topics, sampling)
        self._partitions: dict[ShardId, Followed] = {}
        self._behind: set[ShardId] = set()
        self._fetchers: dict[int, Fetcher] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._background: list[asyncio.Task[None]] = []
        self._learning = asyncio.Event()
        self._failed: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()

    async def start(self, seen: InternalTopics) -> None:
        """Begin to fetch, and to sample end offsets. Raises ClientError, LogError."""
        self._topics.replay(self._directory.store.read(SHARD, 0))
        await self._control.start()
        await self._adopt(seen)
        self._behind = set(self._partitions)
        await self._learn_topics()
        works = (self._keep_learning, self._keep_facts, self._sampler.run)
        self._background = [asyncio.create_task(self._guarded(work)) for work in works]

    async def failure(self) -> Exception:
        """Return the error that has ended it, when there is one."""
        return await asyncio.shield(self._failed)

    async def stop(self) -> None:
        """Stop, and close the directory. Raises LogError."""
        tasks = [*self._background, *self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._control.stop()
        await self._directory.close()

    async def sample(self) -> None:
        """Sample the ends of what groups have consumed as far as the log was read."""
        await self._sampler.sample()

    def status(self) -> Mapping[str, Any]:
        """Return how far it is, for ``control.sock``."""
        return {
            "observes": self.cluster_id,
            "shards": {
                str(shard): {
                    "next_offset": each.position,
                    "high_watermark": each.high_watermark,
                    "leader": each.leader,
                    "missing": each.facts.missing,
                    "missing_to": each.facts.missing_to,
                }
                for shard, each in sorted(self._partitions.items())
            },
            "set_aside": [
                {"shard": each.shard, "begin": each.begin, "end": each.end, "at_ms": each.at_ms, "why": each.why}
                for each in self._directory.facts.set_aside
            ],
        }

    @property
    def asked_servers(self) -> list[int]:
        """The servers that are asked for records."""
        return sorted(node_id for node_id, task in self._tasks.items() if not task.done())

    @property
    def counts(self) -> tuple[int, int, int]:
        """The numbers of partitions, of offsets that were read, and of those that the cleaner had removed before."""
        facts = [each.facts for each in self._partitions.values()]
        return len(facts), sum(each.upto for each in facts), sum(each.missing for each in facts)

    async def _adopt(self, seen: InternalTopics) -> None:
        """Follow the partitions as they are now, each at its leader. Raises LogError and Refused."""
        if seen.cluster_id != self.cluster_id:
            raise Refused(f"the servers are of the cluster {seen.cluster_id} now, and {self.cluster_id} was followed")
        for topic in seen.counts:
            await self._check_topic(topic, seen)
        for shard, leader in seen.leaders.items():
            if shard not in self._partitions:
                self._partitions[shard] = Followed(shard, self._directory.facts_of(shard))
                if self._background:
                    log.info("new-partition", shard=str(shard))
            self._partitions[shard].lead(leader.node_id if leader.node_id in seen.servers else -1, leader.epoch)
        led: dict[int, list[Followed]] = {}
        for each in self._partitions.values():
            if not each.is_waiting:
                led.setdefault(each.leader, []).append(each)
        for node_id in led.keys() - self._fetchers.keys():
            self._fetchers[node_id] = self._new_fetcher(seen.servers[node_id])
        for node_id, fetcher in self._fetchers.items():
            fetcher.address = seen.servers.get(node_id, fetcher.address)
            fetcher.partitions, fetcher.topic_ids = led.get(node_id, []), seen.ids
            # That of a server that led nothing for a while has ended.
            if fetcher.partitions and (node_id not in self._tasks or self._tasks[node_id].done()):
                self._tasks[node_id] = asyncio.create_task(self._guarded(fetcher.run))

    def _new_fetcher(self, address: Address) -> Fetcher:
        notices = Notices(self._ask_to_learn, self._check_up_to_date)
        return Fetcher(address, self._cluster.settings, self._cluster.environment, self._directory, notices)

    async def _check_topic(self, topic: str, seen: InternalTopics) -> None:
        """Set the log of a topic aside that was deleted and made again. Raises Refused if its partitions have become more."""
        count = self._directory.partitions.get(topic)
        # A cluster from before topic ids gives them to its topics when it is upgraded: from none to one is the same topic.
        known = self._directory.facts.topic_ids.get(topic, _NO_ID)
        now = uuid_text(seen.ids[topic])
        if _NO_ID not in (known, now) and now != known:
            log.warning("topic-made-again", topic=topic, was=known, now=now)
            for shard in sorted(self._of_topic(topic)):
                followed = self._partitions.get(shard)
                facts = await self._directory.cut(shard, 0, f"the topic was deleted, and made again with the id {now}")
                if followed is not None:
                    followed.was_cut(facts)
        if now not in (known, _NO_ID):
            self._directory.facts.topic_ids[topic] = now
            self._directory.write_facts()
        if count is None:
            await self._directory.add_topic(topic, seen.counts[topic])
        elif count != seen.counts[topic]:
            raise Refused(
                f"{topic} has {seen.counts[topic]} partitions now, and had {count}: its groups are in other partitions since; "
                "follow it into a new directory"
            )

    def _of_topic(self, topic: str) -> list[ShardId]:
        count = self._directory.partitions.get(topic, 0)
        shards = [ShardId(topic, number) for number in range(count)]
        return [shard for shard in shards if self._directory.store.end_offset(shard)]

    def _ask_to_learn(self, why: str) -> None:
        if not self._learning.is_set():
            log.info("leaders-asked", why=why)
            self._learning.set()

    async def _keep_learning(self) -> None:
        settings = self._cluster.settings
        backoff = Backoff(settings.retry_backoff_s, settings.retry_backoff_max_s, self._cluster.environment)
        topics_at_s = asked_at_s = time.monotonic()
        while True:
            is_asked = await self._is_asked_before(topics_at_s + LEARN_S)
            now_s = time.monotonic()
            if now_s - asked_at_s > _CALM_S:
                backoff.reset()
            try:
                await self._adopt(await internal_topics(self._cluster))
                if now_s >= topics_at_s + LEARN_S:
                    await self._learn_topics()
                    topics_at_s = time.monotonic()
            except RetriableError as error:
                log.warning("cluster-does-not-answer", why=str(error), action="it is asked again")
                self._learning.set()
            if any(each.is_waiting for each in self._partitions.values()):
                # Nobody asks for those that have no leader: there is nothing to fetch.
                self._learning.set()
            if is_asked or self._learning.is_set():
                asked_at_s = time.monotonic()
                await asyncio.sleep(backoff.next_s())

    async def _is_asked_before(self, deadline_s: float) -> bool:
        """Wait until somebody asks for leaders, or for the deadline. Return which."""
        try:
            # Not wait_for: before Python 3.12 it can swallow a cancellation, and the observer would never stop.
            async with asyncio.timeout(max(0.0, deadline_s - time.monotonic())):
                await self._learning.wait()
        except TimeoutError:
            return False
        self._learning.clear()
        return True

    async def _learn_topics(self) -> None:
        """Bring our catalog up to the cluster's topics."""
        seen = await topics_of_clients(self._cluster)
        self._seen_topics = {each.name: each.partitions for each in seen}
        offset = self._directory.store.end_offset(SHARD)
        batches = self._topics.changes(seen, offset, time.time_ns() // 1_000_000)
        if not batches:
            return
        failures = await self._directory.append([Append(SHARD, 0, offset, batches)])
        for failure in failures.values():
            log.warning("not-written", why=str(failure), action="it is tried again")
            return
        self._topics.replay(self._directory.store.read(SHARD, offset))

    async def _keep_facts(self) -> None:
        while True:
            await asyncio.sleep(_FACTS_S)
            self._directory.write_if_changed()

    def _check_up_to_date(self) -> None:
        if not self.up_to_date.is_set():
            self._behind = {shard for shard in self._behind if self._partitions[shard].is_behind}
            if not self._behind:
                self.up_to_date.set()

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except (ClientError, LogError) as error:
            self._fail(error)
        except Exception as error:
            log.exception("observe-failed")
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        if not self._failed.done():
            self._failed.set_result(error)
