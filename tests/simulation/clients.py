"""Programs that use the client library, against the whole server, on simulated time and network.

Programs are killed, stopped past their sessions, cut off and started again; loops of the server are killed, stopped, and lose
their power; now and then everybody is gone, and the empty groups are deleted. ``participants.py`` says what must be true.
After the calm everything is settled within ``SETTLED_WITHIN_S``; then all programs leave, and nothing of them is left.
"""

from __future__ import annotations

import json
from functools import partial
from random import Random
from typing import Final

from coordinator_server.client.settings import Address
from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.runtime.partitioner import partition_for
from protocol.error_codes import ErrorCode
from protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from protocol.messages.offset_fetch import OffsetFetchRequestGroup
from tests.simulation.client import Client, Script
from tests.simulation.loops_play import STORM_S, LoopsPlay
from tests.simulation.network import Network
from tests.simulation.participants import ELECTION, NOTING, SESSION_S, TOKENS, WORK, Ledger, Participant, unsettled
from tests.simulation.program import Clocks, Program
from tests.simulation.world import MS, SECOND

PARTITIONS: Final = 4
SETTLED_WITHIN_S: Final = 20
STEADY_S: Final = 4
LEFT_WITHIN_S: Final = 10
# How much faster or slower a program's clock is than the server's, of the 1 % that ElectionSettings.clock_drift allows for.
DRIFT: Final = 0.008
PORT: Final = 9092
NOT_DELETED: Final = {ErrorCode.NON_EMPTY_GROUP, ErrorCode.GROUP_ID_NOT_FOUND}


def run(seed: int) -> list[str]:
    """Play the whole of it; what went wrong. The same seed is the same play."""
    return ClientsPlay(seed).run()


class ClientsPlay(LoopsPlay):
    """A play whose actors are programs with the client library."""

    name = "clients"
    trouble_counts = (0, 1, 4)

    def __init__(self, seed: int) -> None:
        own = Random(f"clients {seed} settings")
        properties = {
            "offsets_topic_num_partitions": PARTITIONS,
            "transaction_state_log_num_partitions": PARTITIONS,
            "group_min_session_timeout_ms": 1000,
            "group_initial_rebalance_delay_ms": own.choice((0, 0, 300)),
        }
        super().__init__(seed, properties)
        self.ledger = Ledger(lambda: self.world.now_us)
        self.settled_s = 0.0
        self._is_deleting = own.random() < 0.5
        self._count = own.choice((2, 3, 3, 4))
        self._is_cooperative = own.random() < 0.75
        self._slots: list[Participant | None] = [None] * self._count
        self._lives = 0
        self._empty_until_us = 0

    # The storm.

    def _act(self) -> None:
        rng, world = self.rng, self.world
        for slot in range(self._count):
            world.after(rng.randint(0, SECOND), partial(self._tend, slot))
        for _ in range(rng.choice((4, 10, 25))):
            world.after(rng.randint(0, STORM_S * SECOND), self._trouble)
        if self._is_deleting:
            for _ in range(rng.choice((1, 2))):
                world.after(rng.randint(SECOND, (STORM_S - 4) * SECOND), self._empty)

    def _tend(self, slot: int) -> None:
        """Start a program again that has ended, as a supervisor does."""
        present = self._slots[slot]
        if (present is None or present.program.is_over) and self.world.now_us >= self._empty_until_us:
            self._slots[slot] = self._new_participant(slot)
        self.world.after(self.world.between(10 * MS, SECOND), partial(self._tend, slot))

    def _new_participant(self, slot: int) -> Participant:
        self._lives += 1
        # Where the offset of a token may be deleted, tokens rise by the time of day alone.
        ahead_ms = 0 if self._is_deleting else self.rng.randint(-5000, 5000)
        clocks = Clocks(1 + DRIFT * (2 * self.rng.random() - 1), ahead_ms)
        program = Program(self.world, f"p{slot}/{self._lives}", clocks, self.broken.append)
        program.network_at = self._network_at
        bootstrap = ",".join(f"127.0.0.1:{PORT + loop}" for loop in range(self.loops))
        instance = f"i{slot}" if slot % 3 == 0 else None
        participant = Participant(program, self.ledger, bootstrap, instance, is_cooperative=self._is_cooperative)
        self._tell(-1, f"{program.name} starts")
        participant.start()
        return participant

    def _network_at(self, address: Address) -> Network | None:
        loop = address.port - PORT
        return self.machines[loop].network if 0 <= loop < self.loops else None

    def _trouble(self) -> None:
        if self.is_calm:
            return
        rng = self.rng
        participant = rng.choice(self._slots)
        if participant is None:
            return
        program, session_us = participant.program, int(SESSION_S * SECOND)
        what, do = rng.choice(
            (
                ("dies", program.kill),
                ("loses power", partial(program.kill, is_silent=True)),
                ("leaves", participant.leave),
                ("blinks", partial(program.pause, rng.randint(MS, session_us))),
                ("freezes", partial(program.pause, rng.randint(session_us, 3 * session_us))),
                ("freezes", partial(program.pause, rng.randint(session_us, 2 * session_us))),
                ("is cut off", program.cut),
            )
        )
        self._tell(-1, f"{program.name} {what}")
        do()

    def _empty(self) -> None:
        """Everybody is gone for a while, and the empty groups are deleted."""
        self._tell(-1, "everybody goes")
        self._empty_until_us = self.world.now_us + int((SESSION_S + 2) * SECOND)
        for participant in self._slots:
            if participant is not None:
                participant.leave() if self.rng.random() < 0.5 else participant.program.kill()
        for tenth in range(2, 60, 4):
            self.world.after(tenth * 100 * MS, self._delete_empty)

    def _delete_empty(self) -> None:
        for group_id in (ELECTION, NOTING):
            Script(self._delete(group_id))

    async def _delete(self, group_id: str) -> None:
        if self.is_calm:
            return
        self.ledger.deletions += group_id == ELECTION
        client = Client(self._machine_of(group_id).network, "administrator", lambda _: None, lambda _: None)
        answer = await client.ask(DeleteGroupsRequest([group_id]), 2, DeleteGroupsResponse)
        self.ledger.deletions -= group_id == ELECTION
        code = answer.results[0].error_code if answer is not None else None
        client.close()
        if code == ErrorCode.NONE:
            self._tell(-1, f"{group_id} is deleted")
        if group_id == ELECTION and code not in NOT_DELETED:
            # Without an answer it may happen as long as the server has the request.
            self.ledger.forget(self.world.now_us + (0 if code == ErrorCode.NONE else 15 * SECOND))

    # The calm.

    def _rest(self) -> None:
        super()._rest()
        self._empty_until_us = 0
        for participant in self._living():
            participant.program.pause(0)

    def _finish(self) -> None:
        self._settle()
        self._check()
        self._leave()
        self.broken += self.ledger.wrong

    def _settle(self) -> None:
        """Wait until everything is settled, and stays so."""
        began_us = settled_us = self.world.now_us
        what = "nothing was looked at"
        while self.world.now_us < settled_us + STEADY_S * SECOND:
            self.world.run_for(SECOND // 4)
            living = self._living()
            what = unsettled(living) if len(living) == self._count else f"only {[each.name for each in living]} live"
            if what:
                settled_us = self.world.now_us
            if self.world.now_us > began_us + (SETTLED_WITHIN_S + STEADY_S) * SECOND:
                self.broken.append(f"not settled in {SETTLED_WITHIN_S} quiet seconds: {what}")
                break
        self.settled_s = (settled_us - began_us) / SECOND

    def _leave(self) -> None:
        # Nobody is started again.
        self._empty_until_us = 1 << 62
        for participant in self._living():
            participant.leave()
        self.world.run_for(LEFT_WITHIN_S * SECOND)
        for participant in self.ledger.participants:
            self._check_gone(participant.program)
        self.ledger.see_checkpoints(self._checkpoints())
        self.ledger.check_callbacks()

    def _check_gone(self, program: Program) -> None:
        if not program.is_over:
            self.broken.append(f"{program.name} does not end")
        if program.loop.tasks:
            self.broken.append(f"tasks of {program.name} are left: {program.loop.tasks}")
        if program.transports:
            self.broken.append(f"connections of {program.name} are left")

    def _living(self) -> list[Participant]:
        return [each for each in self._slots if each is not None and not each.program.is_over]

    # What is looked at.

    def _check(self) -> None:
        offsets = self._offsets(ELECTION, TOKENS)
        if offsets is not None:
            self.ledger.see_token(offsets.get(0, (None, ""))[0])

    def _checkpoints(self) -> dict[str, int]:
        found = {}
        for offset, text in (self._offsets(WORK, f"{WORK}-checkpoints") or {}).values():
            found[json.loads(text)[0]] = offset or 0
        return found

    def _offsets(self, group_id: str, topic: str) -> dict[int, tuple[int | None, str]] | None:
        """Return the committed offsets and texts by partition; None if the group's loop does not serve."""
        process = self._machine_of(group_id).serving
        if process is None:
            return None
        try:
            answer = process.daemon.rooms.hosting.node.groups.read(
                partition_for(group_id, PARTITIONS), GroupShard.fetch_offsets, OffsetFetchRequestGroup(group_id, topics=None)
            ).answer()
        except CoordinatorError:
            return None
        return {
            each.partition_index: (each.committed_offset, each.metadata or "")
            for found in answer.topics
            if found.name == topic
            for each in found.partitions
        }

    def _machine_of(self, group_id: str):  # type: ignore[no-untyped-def]
        return self.machines[partition_for(group_id, PARTITIONS) % self.loops]
