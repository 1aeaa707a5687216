"""Administrators who change a setting at any node, and read it at another: what was acknowledged is never read as it was before."""

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
from tests.simulation.client import Client

GROUP: Final = 32
NAME: Final = "a-group-without-members"
SETTING: Final = "consumer.session.timeout.ms"
FIRST: Final = 45_001
LAST: Final = 60_000


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
        configs = [AlterableConfig(SETTING, 0, str(value))]
        request = IncrementalAlterConfigsRequest([AlterConfigsResource(GROUP, NAME, configs)])
        answer = await client.ask(request, 1, IncrementalAlterConfigsResponse)
        if answer is not None and not answer.responses[0].error_code:
            self.acknowledged = max(self.acknowledged, value)
            self._in_doubt.discard(value)
            self.writes += 1

    async def read(self, client: Client) -> None:
        """Read it."""
        before = self.acknowledged
        request = DescribeConfigsRequest([DescribeConfigsResource(GROUP, NAME, [SETTING])])
        answer = await client.ask(request, 4, DescribeConfigsResponse)
        if answer is None or answer.results[0].error_code:
            return
        self.reads += 1
        found = int(answer.results[0].configs[0].value or 0)
        if before and found < before and found not in self._in_doubt:
            self._broken(f"{client.client_id} reads {found}, and {before} was acknowledged")


async def work(register: Register, rng: Random, client: Callable[[str], Client], number: int) -> None:
    """Write and read until abandoned. Writes that overlap may come in any order, so one writes."""
    asked = client(f"administrator-{number}")
    while True:
        await asked.sleep(rng.randint(20, 400))
        if number == 0:
            await register.write(asked)
        else:
            await register.read(asked)
