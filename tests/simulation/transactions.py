"""Several loops, and producers that move offsets of groups in transactions: all of a transaction's groups move, or none does.

``tests/support/ledger.py`` says what must be true, whatever befalls loops and links, and producers that die, fence each other, or
take too long. Beside each loop a second state machine is fed from its log alone: it comes to the same state, and to the same last
stable offset. After the calm, and after a last start, no transaction is open, none half ended, and no log waits for one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Final

from coordinator_server.group.shard import GroupShard
from coordinator_server.kinds import GROUPS, TRANSACTIONS
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.transaction.shard import TransactionShard
from coordinator_server.transaction.state import AT_REST
from protocol.error_codes import ErrorCode
from protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from tests.simulation.client import Client, Script
from tests.simulation.ended_transactions import wrong_ends
from tests.simulation.loops_play import CALM_S, STORM_S, LoopsPlay
from tests.simulation.play import real_directory
from tests.simulation.world import SECOND
from tests.support.ledger import Committed, Ledger
from tests.support.mover import TOPIC, Mover, Surroundings

IDS: Final = ["tx-a", "tx-b", "tx-c"]
ETERNAL: Final = [f"g{number}" for number in range(6)]
MORTAL: Final = "mortal"
"""A group that is deleted now and then."""
SHARED: Final = 0.3
COMPACTED: Final = 0.8
COMPACTIONS: Final = 8
PARTITIONS: Final = {GROUPS.topic: 5, TRANSACTIONS.topic: 4}


def run(seed: int, mutate: Callable[[TransactionPlay], None] = lambda _: None) -> list[str]:
    """Play the whole of it; what went wrong. The same seed is the same play."""
    play = TransactionPlay(seed)
    mutate(play)
    return play.run()


class TransactionPlay(LoopsPlay):
    """A play in which each transactional id moves a position of its own, to ever higher offsets."""

    name = "transactions"

    def __init__(self, seed: int) -> None:
        properties = {
            "topics": f"{TOPIC}:{len(IDS)}",
            "offsets_topic_num_partitions": PARTITIONS[GROUPS.topic],
            "transaction_state_log_num_partitions": PARTITIONS[TRANSACTIONS.topic],
            "transaction_abort_timed_out_transaction_cleanup_interval_ms": 1000,
            "group_initial_rebalance_delay_ms": 0,
        }
        super().__init__(seed, properties)
        self.producers: list[Mover] = []
        self.ledger = Ledger(self.producers, IDS, frozenset({MORTAL}))
        self._scripts: list[Script] = []
        self._offset = 0
        self.mirrors = self._mirrors()
        self.is_compacted = self.loops == 1 and Random(f"{seed} compacted").random() < COMPACTED
        # In some plays all producers share a connection to each loop: their requests overlap on it.
        self._is_shared = Random(f"{seed} shared").random() < SHARED
        self._shared: list[Client] = []

    def run(self) -> list[str]:
        """Storm and calm, on real files if the log is compacted. Return what went wrong."""
        with real_directory(self.is_compacted) as directory:
            if directory is not None:
                self.machines[0].use(directory)
            return super().run()

    def _begin(self) -> None:
        found = Script(self._find())
        self.world.run_for(self.restart_s * SECOND)
        if not found.is_over:
            self.broken.append("there is no coordinator of transactions, on a quiet day")

    async def _find(self) -> None:
        client = self._client(0, "finder")
        request = FindCoordinatorRequest(key_type=1, coordinator_keys=IDS)
        while True:
            answer = await client.ask(request, 4, FindCoordinatorResponse)
            if answer is not None and all(each.error_code == ErrorCode.NONE for each in answer.coordinators):
                return
            await client.sleep(100)

    def _act(self) -> None:
        rng, world = self.rng, self.world
        self._shared = [self._client(loop, "shared") for loop in range(self.loops)] if self._is_shared else []
        for position, transactional_id in enumerate(IDS):
            for number in range(rng.choice((1, 1, 2, 3))):
                producer = self._producer(transactional_id, position, number)
                groups = [*ETERNAL, MORTAL] if rng.random() < 0.5 else ETERNAL
                world.after(rng.randint(0, 3 * SECOND), partial(self._start, producer, groups))
                for _ in range(3):
                    world.after(rng.randint(0, STORM_S * SECOND), partial(self._take_one, producer))
        for _ in range(COMPACTIONS if self.is_compacted else 0):
            world.after(rng.randint(0, STORM_S * SECOND), self.machines[0].compact)
        for _ in range(rng.choice((0, 0, 5))):
            world.after(rng.randint(0, STORM_S * SECOND), lambda: self._scripts.append(Script(self._delete())))

    def _producer(self, transactional_id: str, position: int, number: int) -> Mover:
        clients = self._shared or [self._client(loop, f"{transactional_id}/{number}") for loop in range(self.loops)]
        rng = Random(f"{transactional_id} {number} {self.rng.random()}")
        producer = Mover(transactional_id, position, rng, Surroundings(clients, self._owner, self._next_offset))
        self.producers.append(producer)
        return producer

    def _start(self, producer: Mover, groups: list[str]) -> None:
        if not self.is_calm:
            self._scripts.append(Script(producer.work(groups)))

    def _take_one(self, producer: Mover) -> None:
        if not self.is_calm:
            self._scripts.append(Script(producer.nameless()))

    async def _delete(self) -> None:
        client = self._client(self._owner(GROUPS.topic, MORTAL), "administrator")
        await client.ask(DeleteGroupsRequest([MORTAL]), 2, DeleteGroupsResponse)

    def _rest(self) -> None:
        for script in self._scripts:
            script.abandon()
        super()._rest()

    def _start_again(self) -> Iterator[int]:
        for machine in self.machines:
            machine.kill()
        yield self.restart_s * SECOND
        self._check()
        self._end()
        self.broken += wrong_ends(self.ledger.moved, (log for mirror in self.mirrors for log in mirror.logs()))

    # What is looked at

    def _check(self) -> None:
        self.broken += self.ledger.wrong_now(self._committed())
        for mirror in self.mirrors:
            mirror.check()

    def _end(self) -> None:
        if any(machine.serving is None for machine in self.machines):
            self.broken.append("a loop does not serve, on a quiet day")
            return
        self.broken += self.ledger.wrong_after_all(self._committed())
        self._check_over()

    def _check_over(self) -> None:
        for partition in range(self.partitions(TRANSACTIONS.topic)):
            runtime = self._node(TRANSACTIONS.topic, partition).transactions
            for transactional_id in runtime.read(partition, TransactionShard.ids):
                state = runtime.read(partition, TransactionShard.transaction, transactional_id)
                if state is not None and state.state not in AT_REST:
                    self.broken.append(f"not over in {CALM_S} quiet seconds: {transactional_id} {state}")
        for partition in range(self.partitions(GROUPS.topic)):
            groups = self._node(GROUPS.topic, partition).groups
            opened = [each for each in groups.active_producers(partition) if each.first_offset >= 0]
            if opened:
                self.broken.append(f"open in {GROUPS.topic}-{partition} after {CALM_S} quiet seconds: {opened}")

    def _committed(self) -> Committed:
        """Every offset that can be read at the moment, by group and position."""
        found: Committed = {}
        for group_id in [*ETERNAL, MORTAL]:
            shard = self.shard_of(GROUPS.topic, group_id)
            process = self.serving(shard)
            if process is None:
                continue
            try:
                answer = process.daemon.rooms.hosting.node.groups.read(
                    shard.partition, GroupShard.fetch_offsets, OffsetFetchRequestGroup(group_id, topics=None)
                ).answer()
            except CoordinatorError:
                continue
            for topic in answer.topics:
                for each in topic.partitions:
                    found[group_id, each.partition_index] = each.committed_offset
        return found

    def _node(self, topic: str, partition: int):  # type: ignore[no-untyped-def]
        process = self.serving(ShardId(topic, partition))
        assert process is not None
        return process.daemon.rooms.hosting.node

    def _client(self, loop: int, name: str) -> Client:
        return Client(self.machines[loop].network, name, lambda _: None, lambda _: None)

    def _owner(self, topic: str, key: str) -> int:
        return self.loop_with(self.shard_of(topic, key))

    def _next_offset(self) -> int:
        self._offset += 1
        return self._offset
