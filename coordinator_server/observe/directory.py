"""The log of an observed directory: one writer, which appends what was fetched and cuts what the cluster has lost.

One append or cut is made at a time. Facts are written when they have changed, and at the end: after a kill some headers are read
again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import structlog
from msgspec.structs import replace

from coordinator_server.log.errors import LogError, OutcomeUnknown, Unavailable
from coordinator_server.log.opening import open_observed, set_aside
from coordinator_server.log.shards import Append, ShardId
from coordinator_server.log.store import LogStore, Meta, OnSealed
from coordinator_server.observe.facts import Facts, SetAside, ShardFacts, read_facts, write_facts
from protocol.record_batch import read_header

log = structlog.get_logger(__name__)


class ObservedDirectory:
    """The directory, open from ``open`` to ``close``."""

    def __init__(self, data_dir: Path, identity: Meta) -> None:
        self.data_dir = data_dir
        self._identity = identity
        self.facts = Facts()
        self._store: LogStore | None = None
        self._lock = asyncio.Lock()
        self._has_changed = False

    def open(self) -> None:
        """Lock and recover the directory, which is made if it does not exist. Raises LogError."""
        self._open_store()
        self.facts = read_facts(self.data_dir)

    def _open_store(self) -> None:
        post = asyncio.get_running_loop().call_soon_threadsafe
        self._store = open_observed(self.data_dir, self._identity, post)

    @property
    def store(self) -> LogStore:
        assert self._store is not None, "the directory is not open"
        return self._store

    @property
    def partitions(self) -> Mapping[str, int]:
        """The number of partitions of each topic that is followed, and of the catalog."""
        return self.store.meta.partitions

    async def add_topic(self, topic: str, partitions: int) -> None:
        """Note that the cluster has a topic now. Raises LogError."""
        async with self._lock:
            self._identity = replace(self._identity, partitions={**self._identity.partitions, topic: partitions})
            self.store.close()
            self._open_store()

    def facts_of(self, shard: ShardId) -> ShardFacts:
        """Return the facts of a shard, up to its end. Raises DamagedLog."""
        end = self.store.end_offset(shard)
        facts = self.facts.shards.get(str(shard))
        if facts is None or facts.upto > end:
            facts = ShardFacts()
        if facts.upto < end:
            facts.add(
                header for batch in self.store.read(shard, facts.upto) if (header := read_header(batch)).base_offset >= facts.upto
            )
        self.facts.shards[str(shard)] = facts
        return facts

    async def append(self, appends: Sequence[Append]) -> Mapping[ShardId, LogError]:
        """Make batches durable, each at the end of its shard. Return why shards have none of them. Raises OutcomeUnknown.

        It goes on if the caller is cancelled.
        """
        return await asyncio.shield(self._append(appends))

    async def _append(self, appends: Sequence[Append]) -> Mapping[ShardId, LogError]:
        async with self._lock:
            # A shard may have been cut since its batches were fetched.
            left_out = [each for each in appends if each.expected_offset != self.store.end_offset(each.shard)]
            outcome: asyncio.Future[Mapping[ShardId, LogError]] = asyncio.get_running_loop().create_future()
            self.store.submit(
                [each for each in appends if each not in left_out], lambda failures: outcome.set_result(failures or {})
            )
            failures = {each.shard: Unavailable(f"{each.shard} was cut meanwhile") for each in left_out} | dict(await outcome)
        for failure in failures.values():
            if isinstance(failure, OutcomeUnknown):
                raise failure
        return failures

    def noted(self, *, is_changed: bool) -> None:
        """Remember whether the facts are to be written."""
        self._has_changed |= is_changed

    async def cut(self, shard: ShardId, from_offset: int, why: str) -> ShardFacts:
        """Set the end of a shard aside, and return its facts then. Raises LogError."""
        async with self._lock:
            end = self.store.end_offset(shard)
            at_ms = time.time_ns() // 1_000_000
            name = f"{shard}-{from_offset}-{at_ms}"
            self.store.close()
            try:
                begin = set_aside(self.data_dir, shard, from_offset, name)
            finally:
                self._open_store()
            self.facts.shards.pop(str(shard), None)
            facts = self.facts_of(shard)
            self.facts.set_aside.append(SetAside(str(shard), begin, end, name, at_ms, why))
            self.write_facts()
        log.warning(
            "records-lost-by-the-cluster",
            shard=str(shard),
            begin=begin,
            end=end,
            why=why,
            action=f"they are not in the log any more; a copy is in set-aside/{name}",
        )
        return facts

    def write_facts(self) -> None:
        """Write the facts."""
        write_facts(self.data_dir, self.facts)
        self._has_changed = False

    def write_if_changed(self) -> None:
        """Write the facts if they have changed."""
        if self._has_changed:
            self.write_facts()

    def write_out(self, done: OnSealed, /) -> None:
        """Let readers have everything that is durable."""
        self.store.write_out(done)

    async def close(self) -> None:
        """Write the facts, and let others have the directory, after what is under way. Raises LogError."""
        async with self._lock:
            if self._store is not None:
                self.write_facts()
                self._store.close()
                self._store = None
