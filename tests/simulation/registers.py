"""Numbers that one client writes and others read, at any node: what was acknowledged is never read as it was before.

Register         a setting of the catalog, written and read at any node
OffsetRegister   an offset of a simple group, written at its owner, and read there and at nodes that may have been its owner
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResponse
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from tests.simulation.client import Client

GROUP: Final = 32
NAME: Final = "a-group-without-members"
SETTING: Final = "consumer.session.timeout.ms"
FIRST: Final = 45_001
LAST: Final = 60_000
PATIENCE_MS: Final = 1500


class Register:
    """The setting, which rises; what was sent and not acknowledged may come late. ``broken`` hears of wrong reads."""

    def __init__(self, broken: Callable[[str], None]) -> None:
        self._broken = broken
        self._next = FIRST
        self.acknowledged = 0
        self._in_doubt: set[int] = set()
        self.writes = self.reads = 0

    async def write(self, client: Client) -> None:
        """Raise it."""
        value, self._next = self._next, min(self._next + 1, LAST)
        self._in_doubt.add(value)
        if await self._write(client, value):
            self.acknowledged = max(self.acknowledged, value)
            self._in_doubt.discard(value)
            self.writes += 1

    async def read(self, client: Client) -> None:
        """Read it."""
        before = self.acknowledged
        found = await self._read(client)
        if found is None:
            return
        self.reads += 1
        if before and found < before and found not in self._in_doubt:
            self._broken(f"{client.client_id} reads {found}, and {before} was acknowledged")

    async def _write(self, client: Client, value: int) -> bool:
        configs = [AlterableConfig(SETTING, 0, str(value))]
        request = IncrementalAlterConfigsRequest([AlterConfigsResource(GROUP, NAME, configs)])
        answer = await client.ask(request, 1, IncrementalAlterConfigsResponse, PATIENCE_MS)
        return answer is not None and not answer.responses[0].error_code

    async def _read(self, client: Client) -> int | None:
        request = DescribeConfigsRequest([DescribeConfigsResource(GROUP, NAME, [SETTING])])
        answer = await client.ask(request, 4, DescribeConfigsResponse, PATIENCE_MS)
        if answer is None or answer.results[0].error_code:
            return None
        return int(answer.results[0].configs[0].value or 0)


class OffsetRegister(Register):
    """An offset of partition 0 of a topic."""

    def __init__(self, broken: Callable[[str], None], group_id: str, topic: str) -> None:
        super().__init__(broken)
        self._group_id = group_id
        self._topic = topic

    async def _write(self, client: Client, value: int) -> bool:
        topic = OffsetCommitRequestTopic(self._topic, partitions=[OffsetCommitRequestPartition(0, value)])
        answer = await client.ask(OffsetCommitRequest(self._group_id, topics=[topic]), 8, OffsetCommitResponse)
        return answer is not None and not answer.topics[0].partitions[0].error_code

    async def _read(self, client: Client) -> int | None:
        group = OffsetFetchRequestGroup(self._group_id, topics=[OffsetFetchRequestTopics(self._topic, partition_indexes=[0])])
        answer = await client.ask(OffsetFetchRequest(groups=[group]), 8, OffsetFetchResponse)
        if answer is None or answer.groups[0].error_code or answer.groups[0].topics[0].partitions[0].error_code:
            return None
        return int(answer.groups[0].topics[0].partitions[0].committed_offset)


async def work(register: Register, rng: Random, asked: Client, number: int) -> None:
    """Write and read until abandoned. Writes that overlap may come in any order, so one writes."""
    while True:
        await asked.sleep(rng.randint(20, 400))
        if number == 0:
            await register.write(asked)
        else:
            await register.read(asked)
