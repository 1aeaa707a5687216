"""A leader of a share partition, as a broker is: it reads the state in an epoch of its own,
and writes what is delivered and acknowledged.

After an answer that did not come it begins anew, in a new epoch: what it sent before acts then before the next read, or never.
"""

from __future__ import annotations

from random import Random
from typing import Final

from protocol.error_codes import ErrorCode
from protocol.messages.read_share_group_state import (
    PartitionData as ReadData,
)
from protocol.messages.read_share_group_state import (
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
    ReadStateData,
)
from protocol.messages.write_share_group_state import (
    PartitionData,
    StateBatch,
    WriteShareGroupStateRequest,
    WriteShareGroupStateResponse,
    WriteStateData,
)
from tests.simulation.client import Client, Script
from tests.simulation.share_accounts import NO_OFFSET, Account, Asked, Batch

RETRY_MS: Final = 200
PATIENCE_MS: Final = 2000
REACH: Final = 20
_FENCED: Final = {ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.FENCED_STATE_EPOCH}
_MISSING: Final = {ErrorCode.INVALID_REQUEST, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


class ShareLeader:
    """``is_lasting``: the topic is never deleted. ``pace_ms``: how long it waits between two requests at most."""

    def __init__(self, account: Account, client: Client, rng: Random, pace_ms: int, *, is_lasting: bool) -> None:
        self.account = account
        self.is_alive = True
        # Whether it has read the state in its epoch.
        self.is_leading = False
        self._client = client
        self._rng = rng
        self._pace_ms = pace_ms
        self._is_lasting = is_lasting
        self._epoch = self._state_epoch = 0
        self._deletions = account.deletions
        # When it asked for the state that it leads.
        self._since: Asked | None = None
        self._start_offset = NO_OFFSET
        self._script = Script(self._lead())

    def end(self) -> None:
        """It does nothing more. Nobody is told."""
        self.is_alive = self.is_leading = False
        self._script.abandon()
        self._client.vanish()

    async def _lead(self) -> None:
        while self.is_alive:
            if not self.is_leading:
                self._epoch = self.account.next_epoch()
                await self._read()
            else:
                await (self._write() if self._rng.random() < 0.85 else self._read())
            await self._client.sleep(self._rng.randint(1, self._pace_ms if self.is_leading else RETRY_MS))

    async def _read(self) -> None:
        topic_id, partition = self.account.position
        asked = self.account.asked(self._epoch, self._deletions)
        data = ReadStateData(topic_id, [ReadData(partition, self._epoch)])
        request = ReadShareGroupStateRequest(self.account.group_id, [data])
        answer = await self._client.ask(request, 0, ReadShareGroupStateResponse, PATIENCE_MS)
        found = None if answer is None else answer.results[0].partitions[0]
        if found is not None and found.error_code == ErrorCode.NONE:
            self.account.read(asked, self._epoch, found)
            self.is_leading, self._since = True, asked
            self._state_epoch, self._start_offset = found.state_epoch, found.start_offset
        else:
            self._refused(asked, None if found is None else ErrorCode(found.error_code))

    async def _write(self) -> None:
        rng, account = self._rng, self.account
        topic_id, partition = account.position
        start_offset = NO_OFFSET
        if self._start_offset == NO_OFFSET or rng.random() < 0.3:
            start_offset = max(self._start_offset, 0) + rng.choice((0, 1, 3, 7))
        batches = [self._batch(max(self._start_offset, 0)) for _ in range(rng.choice((0, 1, 1, 2, 4)))]
        account.writes_of(start_offset, batches)
        asked = account.asked(self._epoch, self._deletions)
        state = [StateBatch(first, last, state, count) for first, last, (count, state) in batches]
        data = PartitionData(partition, self._state_epoch, self._epoch, start_offset, -1, state)
        request = WriteShareGroupStateRequest(account.group_id, [WriteStateData(topic_id, [data])])
        answer = await self._client.ask(request, 1, WriteShareGroupStateResponse, PATIENCE_MS)
        error = None if answer is None else ErrorCode(answer.results[0].partitions[0].error_code)
        if error is ErrorCode.NONE:
            account.written(asked, self._epoch, start_offset, batches)
            self._start_offset = max(self._start_offset, start_offset)
        else:
            self._refused(asked, error)

    def _batch(self, start_offset: int) -> Batch:
        first = start_offset + self._rng.randint(0, REACH)
        delivery = self._rng.choice((1, 1, 2, 3)), self._rng.choice((0, 0, 2, 2, 4))
        return first, first + self._rng.choice((0, 0, 1, 4)), delivery

    def _refused(self, asked: Asked, error: ErrorCode | None) -> None:
        since = self._since if self.is_leading and self._since is not None else asked
        self.is_leading = False
        if error is ErrorCode.FENCED_LEADER_EPOCH:
            self.account.refused_for_its_epoch(self._epoch)
        elif error is ErrorCode.FENCED_STATE_EPOCH:
            self.account.not_found(since._replace(is_there=True), error.name)
        elif error in _MISSING and self._is_lasting:
            self.account.not_found(asked, error.name)
        if error in _FENCED or error in _MISSING:
            self.is_alive = False
