"""A runtime on a store with accidents, played from a seed: what was answered is compared with what the log has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

from coordinator_server.log.shards import Append, ShardId
from coordinator_server.machine.shard import CoordinatorResult
from coordinator_server.runtime.context import ShardState
from protocol.batch_builder import BatchBuilder
from protocol.error_codes import ErrorCode
from protocol.record_batch import iter_records, read_header
from tests.support.log_subjects import Shared, submit
from tests.support.runtime import TOPIC, Outcome, ToyRuntime, toy_record
from tests.support.shared_store import Fate, SharedLog

PARTITIONS = range(3)
_FATES = [*[Fate.RUNS] * 6, *Fate]
_BY_OTHERS = "other"
_OF_AN_UNLOADED_SHARD = {ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_LEADER_OR_FOLLOWER}

Wrap = Callable[[Any], Any]


class _Asked(NamedTuple):
    partition: int
    outcome: Outcome


class SharedRuntime:
    """A node of three shards. Another node takes one of them once in a while, and this one takes it back later."""

    def __init__(self, seed: int, wrap: Wrap = lambda store: store) -> None:
        self._rng = Random(seed)
        self._shared = Shared()
        self._toy = ToyRuntime(store=wrap(self._shared.store))
        self._epochs = dict.fromkeys(PARTITIONS, 1)
        self._taken: set[int] = set()
        self._asked: dict[str, _Asked] = {}
        for partition in PARTITIONS:
            self._toy.load(partition)

    def play(self, steps: int = 60) -> list[str]:
        """Return what is wrong afterwards."""
        for number in range(steps):
            self._step(number)
        self._shared.database.fates.clear()
        for number in range(20):
            if number < 10:
                self._ask(f"last-{number}")
            self._shared.run()
            self._toy.turn()
        self._shared.database.arrive()
        return [*self._faults()]

    def _step(self, number: int) -> None:
        rng, shared, toy = self._rng, self._shared, self._toy
        shared.database.fates.append(rng.choice(_FATES))
        self._ask(str(number))
        toy.turn()
        if rng.random() < 0.05:
            shared.database.fail_over()
        if rng.random() < 0.05 and not self._taken:
            self._take(rng.choice(PARTITIONS), number)
        if shared.posted and rng.random() < 0.8:
            shared.posted.popleft()()
        for partition in list(self._taken):
            if toy.state(partition) is None:
                self._epochs[partition] += 2
                self._taken.discard(partition)
                toy.load(partition, self._epochs[partition])

    def _ask(self, name: str) -> None:
        for partition in self._rng.sample(PARTITIONS, self._rng.randint(1, 3)):
            key = f"{name}-{partition}"
            if self._toy.state(partition) is ShardState.ACTIVE and key not in self._asked:
                result = CoordinatorResult("ok", [toy_record(key, 1)])
                outcome = self._toy.write(lambda _shard, _reply, result=result: result, partition)  # type: ignore[misc]
                self._asked[key] = _Asked(partition, outcome)

    def _take(self, partition: int, number: int) -> None:
        database, other = self._shared.database, Shared()
        fates = list(database.fates)
        database.fates.clear()
        other.database = database
        other.store = SharedLog(database, other.posted.append)
        shard = ShardId(TOPIC, partition)
        end = other.store.end_offset(shard)
        builder = BatchBuilder(end, 0)
        builder.append(f"{_BY_OTHERS}-{number}".encode(), b"1")
        assert submit(other, Append(shard, self._epochs[partition] + 1, end, builder.finish())) == {}
        database.fates.extend(fates)
        self._taken.add(partition)

    def _faults(self) -> Iterator[str]:
        if self._toy.fatal:
            yield f"the process ends: {self._toy.fatal[0]}"
        for key, (_, outcome) in self._asked.items():
            if outcome.answers != 1:
                yield f"{key} has {outcome.answers} answers"
        for partition in PARTITIONS:
            if partition in self._taken and self._toy.state(partition) is not None:
                yield f"shard {partition} is served, and another node has it"
            elif partition not in self._taken and self._toy.state(partition) is not ShardState.ACTIVE:
                yield f"shard {partition} is not served, and nobody else has it"
        for partition in PARTITIONS:
            keys = [key for each in self._shared.store.read(ShardId(TOPIC, partition), 0) for key in _keys_of(each)]
            ours = [key for key in keys if not key.startswith(_BY_OTHERS)]
            outcomes = [(key, asked.outcome.error) for key, asked in self._asked.items() if asked.partition == partition]
            acknowledged = [key for key, error in outcomes if error is None]
            # Of a shard that another node has taken meanwhile nobody here can say.
            unsaid = {key for key, error in outcomes if error in _OF_AN_UNLOADED_SHARD}
            if missing := set(acknowledged) - set(ours):
                yield f"acknowledged, and not in the log: {sorted(missing)}"
            if found := set(ours) - set(acknowledged) - unsaid:
                yield f"refused, and in the log: {sorted(found)}"
            if [key for key in ours if key not in unsaid] != acknowledged:
                yield f"shard {partition} has another order than the answers"
            state = [shard for shard in self._toy.shards if shard.partition == partition][-1]
            if self._toy.state(partition) is ShardState.ACTIVE and list(state.numbers) != keys:
                yield f"the state of shard {partition} is not that of the log"


def _keys_of(data: bytes) -> list[str]:
    return [(record.key or b"").decode() for record in iter_records(data, 0, read_header(data))]
