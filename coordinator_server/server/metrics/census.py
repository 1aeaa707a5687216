"""Groups by type and state, their members, the groups with the oldest commits, and transactional ids by state.

These are counted in steps, between which the loop serves others, and seldom: a count takes time proportional to the state. So a
scrape gets the last count, which may be some seconds old.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import Counter
from itertools import islice
from typing import Final

import structlog
from msgspec import Struct

from coordinator_server.config import LiveConfig
from coordinator_server.group.describe import EVERY_GROUP
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import Clock
from coordinator_server.runtime.context import ShardState
from coordinator_server.runtime.runtime import CoordinatorRuntime
from coordinator_server.transaction.shard import TransactionShard

log = structlog.get_logger(__name__)

PER_STEP: Final = 200
AT_LEAST_MS: Final = 10_000
TIMES_ITS_DURATION: Final = 100
"""A count that takes long is repeated later, so that counting takes at most this part of the loop's time."""
FIRST_WITHIN_S: Final = 1.0


class Counts(Struct):
    """A count. ``oldest_commits`` has the times of the last commits of groups with members, in ms since 1970, by group."""

    groups: Counter[tuple[str, str]]
    members: Counter[str]
    transactions: Counter[str]
    oldest_commits: dict[str, int]


class Census:
    """The counts of one loop."""

    def __init__(
        self,
        config: LiveConfig,
        groups: CoordinatorRuntime[GroupShard],
        transactions: CoordinatorRuntime[TransactionShard],
        clock: Clock,
    ) -> None:
        self._config = config
        self._groups = groups
        self._transactions = transactions
        self._clock = clock
        self._counts = Counts(Counter(), Counter(), Counter(), {})
        self._due_ms = 0
        self._task: asyncio.Task[None] | None = None

    async def counts(self) -> Counts:
        """Return the last count, and begin a new one if it is due. The first count is awaited, for a limited time."""
        is_first = self._due_ms == 0
        if self._task is None and self._clock.now_ms() >= self._due_ms:
            self._task = asyncio.get_running_loop().create_task(self._count())
        if is_first and self._task is not None:
            await asyncio.wait([self._task], timeout=FIRST_WITHIN_S)
        return self._counts

    def close(self) -> None:
        """End a count."""
        if self._task is not None:
            self._task.cancel()

    async def _count(self) -> None:
        began = self._clock.now_ms()
        try:
            counts = Counts(Counter(), Counter(), Counter(), {})
            # A heap of the oldest ones, by their negative time: the newest of them is first.
            commits: list[tuple[int, str]] = []
            for partition in _loaded(self._groups):
                await self._count_groups(partition, counts, commits)
            for partition in _loaded(self._transactions):
                await self._count_transactions(partition, counts)
            counts.oldest_commits = {group_id: -at_ms for at_ms, group_id in sorted(commits, reverse=True)}
            self._counts = counts
        except CoordinatorError:
            pass  # A shard was unloaded meanwhile: the last count stays.
        except Exception:
            log.exception("census-failed")
        now = self._clock.now_ms()
        self._due_ms = now + max(AT_LEAST_MS, TIMES_ITS_DURATION * (now - began))
        self._task = None

    async def _count_groups(self, partition: int, counts: Counts, commits: list[tuple[int, str]]) -> None:
        groups, most = self._groups, self._config.metrics_commit_age_groups_max
        candidates = groups.read(partition, GroupShard.candidates)
        while portion := list(islice(candidates, PER_STEP)):
            for listed in groups.read(partition, GroupShard.list_groups, EVERY_GROUP, portion):
                counts.groups[listed.group_type, listed.group_state] += 1
                _, members = groups.read(partition, GroupShard.generation, listed.group_id)
                counts.members[listed.group_type] += members
                if members and most:
                    newest_ms = groups.read(partition, GroupShard.newest_commit, listed.group_id)
                    if newest_ms is not None:
                        heapq.heappush(commits, (-newest_ms, listed.group_id))
                        if len(commits) > most:
                            heapq.heappop(commits)
            await asyncio.sleep(0)

    async def _count_transactions(self, partition: int, counts: Counts) -> None:
        transactions = self._transactions
        ids = iter(transactions.read(partition, TransactionShard.ids))
        while portion := list(islice(ids, PER_STEP)):
            for each in portion:
                known = transactions.read(partition, TransactionShard.transaction, each)
                if known is not None:
                    counts.transactions[known.state.label] += 1
            await asyncio.sleep(0)


def _loaded(runtime: CoordinatorRuntime[GroupShard] | CoordinatorRuntime[TransactionShard]) -> list[int]:
    return [each.shard.partition for each in runtime.progress if each.state is ShardState.ACTIVE]
