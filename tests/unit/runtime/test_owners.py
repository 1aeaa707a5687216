"""Two nodes take a shard from each other, again and again, over one store: no owner answers from a state that is not the log."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from random import Random

import pytest
from structlog.testing import capture_logs

from coordinator_server.log.shards import ShardId
from coordinator_server.runtime.context import ShardState
from protocol.error_codes import ErrorCode
from protocol.record_batch import BatchHeader, iter_records, read_header
from tests.support.runtime import TOPIC, Outcome, ToyRuntime
from tests.support.shared_store import Database, Fate, SharedLog

SHARD = ShardId(TOPIC, 0)
SEEDS = 20
STEPS = 120
NAMES = "abc"

Word = Callable[[list[int], int], int | None]
"""What a node says to its runtime: of the owners so far, which node's epoch is new."""


def the_stores_word(owners: list[int], node: int) -> int:
    """The first epoch since which the node is the only owner. Epochs are counted from 1, and ``owners`` has one for each."""
    since = len(owners)
    while since > 1 and owners[since - 2] == node:
        since -= 1
    return since


class Node:
    """A process with a runtime, and its own queue of what its store has to say."""

    def __init__(self, database: Database) -> None:
        self.posted: deque[Callable[[], None]] = deque()
        self.store = SharedLog(database, self.posted.append)
        self.toy = ToyRuntime(store=self.store)  # type: ignore[arg-type]

    def act(self, rng: Random) -> None:
        """A turn of the loop; perhaps the store answers."""
        self.toy.turn()
        if self.posted and rng.random() < 0.5:
            self.posted.popleft()()

    def finish(self) -> None:
        """Until nothing is left to do."""
        for _ in range(20):
            self.toy.turn()
            while self.posted:
                self.posted.popleft()()


class World:
    """The nodes, the database, and who has owned the shard at each epoch."""

    def __init__(self, seed: int, word: Word) -> None:
        self.rng = Random(seed)
        self.database = Database()
        self.nodes = [Node(self.database) for _ in range(2)]
        self.owners: list[int] = []
        self.kept = 0
        self.wrong: list[str] = []
        self.answers: list[tuple[int, Outcome]] = []
        self._word = word

    def run(self) -> None:
        """Play, and note what is wrong."""
        with capture_logs():
            self._play()

    def _play(self) -> None:
        for number in range(STEPS):
            if not self.owners or self.rng.random() < 0.15:
                self._acquire(self.rng.randrange(2))
            # A former owner does not hear of it before it writes.
            node = self.owners[-1] if self.rng.random() < 0.8 else self.rng.randrange(2)
            if self.rng.random() < 0.3:
                self.database.fates.append(self.rng.choice([Fate.RUNS, Fate.IS_LOST, Fate.LOSES_ITS_ANSWER]))
            self.nodes[node].toy.clock.jump_wall(self.rng.randint(-20_000, 20_000))
            self.answers.append((number, self.nodes[node].toy.put(self.rng.choice(NAMES), number)))
            self.nodes[node].act(self.rng)
            self._look()
        for each in self.nodes:
            each.finish()
            if each.toy.fatal:
                self.wrong.append(f"a process ends: {each.toy.fatal}")
        self._look()

    def _acquire(self, node: int) -> None:
        """The store gives a node the next epoch."""
        self.owners.append(node)
        epoch = len(self.owners)
        self.database.shard(SHARD).epoch = epoch, 0
        toy = self.nodes[node].toy
        before = len(toy.shards)
        toy.runtime.load(0, epoch, ours_since=self._word(self.owners, node))
        self.kept += len(toy.shards) == before

    def _look(self) -> None:
        """The owner's committed state is what its log says, and that has everything that was acknowledged."""
        toy = self.nodes[self.owners[-1]].toy
        if toy.state() is not ShardState.ACTIVE:
            return
        # The high watermark: there are no transactions.
        upto = toy.runtime.last_stable_offset(0)
        known, later = self.records()[:upto], self.records()[upto:]
        found = {name: number for name in NAMES if (number := toy.number(name)) is not None}
        acknowledged = {number for number, outcome in self.answers if outcome.is_answered and outcome.error is None}
        if found != dict(known) or not acknowledged.isdisjoint(number for _, number in later):
            self.wrong.append(f"the owner of epoch {len(self.owners)} answers {found}, the log says {known}, and then {later}")

    def headers(self) -> list[BatchHeader]:
        """The headers of all batches of the log."""
        return [read_header(batch) for batch in self.nodes[0].store.read(SHARD, 0)]

    def records(self) -> list[tuple[str, int]]:
        """All records of the log."""
        return [
            ((record.key or b"").decode(), int(record.value or b"0"))
            for batch in self.nodes[0].store.read(SHARD, 0)
            for record in iter_records(batch, 0, read_header(batch))
        ]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_an_owner_knows_what_the_owners_before_it_wrote(seed: int) -> None:
    """Each request is answered once; a success is in the log, a refusal that is final is not."""
    world = World(seed, the_stores_word)
    world.run()

    assert world.wrong == []
    assert world.kept > 0
    assert {outcome.answers for _, outcome in world.answers} == {1}
    numbers = [number for _, number in world.records()]
    acknowledged = {number for number, outcome in world.answers if outcome.error is None}
    reverted = {number for number, outcome in world.answers if outcome.error is ErrorCode.KAFKA_STORAGE_ERROR}
    assert len(numbers) == len(set(numbers))
    assert acknowledged <= set(numbers)
    assert not reverted & set(numbers)
    times = [header.max_timestamp for header in world.headers()]
    assert times == sorted(times)


def test_an_owner_that_goes_on_though_another_one_wrote_is_noticed() -> None:
    """The mutant of the rule: the word "nobody else, ever"."""
    assert any(wrong_of(World(seed, lambda _owners, _node: 0)) for seed in range(SEEDS))


def wrong_of(world: World) -> list[str]:
    world.run()
    return world.wrong
