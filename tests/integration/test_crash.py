"""kill -9 under load, again and again: what was acknowledged is there.

Several clients commit rising offsets, a few in flight at a time, and keep a ledger: the highest offset that was acknowledged and
the highest that was sent, per group and partition. The server is killed at a random moment and started again. Then every stored
offset lies between the two: never older than what was acknowledged, never one that nobody sent.

Reproduce a failure with the seed that it prints: --seed N. More rounds: --crash-rounds N.
"""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from pathlib import Path

import pytest

from protocol.error_codes import ErrorCode
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from tests.support.client import Client
from tests.support.server import Server
from tests.support.simple_requests import committed

CLIENTS = 4
GROUPS_PER_CLIENT = 3
PARTITIONS = 4
IN_FLIGHT = 8
MAX_LOAD_S = 0.4

Key = tuple[str, int]


class Ledger:
    """What one client sent and what was acknowledged, for the groups that only it writes to. Outlives connections."""

    def __init__(self, number: int) -> None:
        self.groups = [f"client-{number}-group-{group}" for group in range(GROUPS_PER_CLIENT)]
        self.sent: dict[Key, int] = {}
        self.acked: dict[Key, int] = {}
        self.last = 0


class Committer(threading.Thread):
    """One connection's load, until it breaks."""

    def __init__(self, ledger: Ledger, address: tuple[str, int], seed: int) -> None:
        super().__init__(daemon=True)
        self.failure: str | None = None
        self._ledger = ledger
        self._client = Client(address)
        self._random = random.Random(seed)

    def run(self) -> None:
        flying: deque[dict[Key, int]] = deque()
        try:
            with self._client as client:
                while True:
                    while len(flying) < IN_FLIGHT:
                        flying.append(self._send(client))
                    self._receive(client, flying.popleft())
        except ConnectionError:
            return
        except (AssertionError, TimeoutError) as failure:
            self.failure = repr(failure)

    def _send(self, client: Client) -> dict[Key, int]:
        group = self._random.choice(self._ledger.groups)
        partitions = self._random.sample(range(PARTITIONS), self._random.randint(1, PARTITIONS))
        offsets = {}
        for partition in partitions:
            self._ledger.last += 1
            offsets[partition] = self._ledger.sent[group, partition] = self._ledger.last
        rows = [OffsetCommitRequestPartition(partition_index=one, committed_offset=offset) for one, offset in offsets.items()]
        client.send(OffsetCommitRequest(group_id=group, topics=[OffsetCommitRequestTopic(name="orders", partitions=rows)]), 9)
        return {(group, partition): offset for partition, offset in offsets.items()}

    def _receive(self, client: Client, offsets: dict[Key, int]) -> None:
        answer = client.receive()
        assert isinstance(answer, OffsetCommitResponse)
        errors = {one.error_code for topic in answer.topics for one in topic.partitions}
        assert errors == {ErrorCode.NONE}, f"a commit was refused: {errors}"
        self._ledger.acked.update(offsets)


@pytest.mark.crash
def test_no_acknowledged_offset_is_ever_lost(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """After each kill every offset is at least the acknowledged one, and at most the last one sent."""
    seed = request.config.getoption("--seed")
    seed = random.randrange(1 << 32) if seed is None else seed
    print(f"--seed {seed}")  # noqa: T201 - pytest shows it when the test fails
    chance = random.Random(seed)
    ledgers = [Ledger(number) for number in range(CLIENTS)]
    with Server(tmp_path, {"topics": f"orders:{PARTITIONS}"}) as server:
        for number in range(request.config.getoption("--crash-rounds")):
            committers = [Committer(ledger, server.address, chance.randrange(1 << 32)) for ledger in ledgers]
            load_until_killed(server, committers, chance.uniform(0.01, MAX_LOAD_S))
            server.start()
            for ledger in ledgers:
                check_ledger(server, ledger, number)
    assert all(ledger.acked for ledger in ledgers), "nothing was ever acknowledged: this test tested nothing"


def load_until_killed(server: Server, committers: list[Committer], after_s: float) -> None:
    for committer in committers:
        committer.start()
    time.sleep(after_s)
    server.kill()
    for committer in committers:
        committer.join(30)
        assert not committer.is_alive()
        assert committer.failure is None


def check_ledger(server: Server, ledger: Ledger, number: int) -> None:
    with Client(server.address) as client:
        stored = {
            (group, partition): offset for group in ledger.groups for (_, partition), offset in committed(client, group).items()
        }
    wrong = {
        key: (ledger.acked.get(key), stored.get(key), ledger.sent.get(key))
        for key in ledger.sent.keys() | stored.keys()
        if not ledger.acked.get(key, -1) <= stored.get(key, -1) <= ledger.sent.get(key, -1)
    }
    assert not wrong, f"round {number}: (acknowledged, stored, sent) of {wrong}"
