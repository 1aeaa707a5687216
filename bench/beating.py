"""Groups with a member that stays in touch with its loop, also while that is away, and groups with offsets and no member."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Final, NamedTuple

from bench.crowd import RETRY_AFTER_S, Speaker
from bench.targets import Address
from protocol.error_codes import ErrorCode
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from tests.support.members import subscription

SESSION_MS: Final = 45_000
JOINS_AT_ONCE: Final = 50
_JOIN, _SYNC, _HEARTBEAT, _COMMIT = 5, 3, 3, 8
_LATER: Final = frozenset(
    {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR}
)


class Home(NamedTuple):
    """A group, and the address of its loop."""

    group_id: str
    address: Address


class Beating:
    """A member for each of some groups. ``waits_s`` are the times until answers, by loop; those of a loop that is away are long."""

    def __init__(self, homes: Sequence[Home], topic: str, every_s: float) -> None:
        self.waits_s: dict[Address, list[float]] = {home.address: [] for home in homes}
        self.connected_again = 0
        # Why members have lost their membership.
        self.lost: list[str] = []
        self._homes = homes
        self._topic = topic
        self._every_s = every_s
        self._joining = asyncio.Semaphore(JOINS_AT_ONCE)
        self._joined = 0
        self._all_joined = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def begin(self) -> None:
        """Let all members join. Returns when they are in their groups, and their heartbeats are spread over the interval."""
        self._tasks = [asyncio.create_task(self._live(home)) for home in self._homes]
        over = asyncio.create_task(self._all_joined.wait())
        done, _ = await asyncio.wait([over, *self._tasks], return_when=asyncio.FIRST_COMPLETED)
        if over not in done:
            over.cancel()
            next(iter(done)).result()

    def take(self) -> dict[Address, list[float]]:
        """Return the times since the last call, sorted."""
        taken, self.waits_s = self.waits_s, {address: [] for address in self.waits_s}
        return {address: sorted(waits) for address, waits in taken.items()}

    async def end(self) -> None:
        """Go without a word."""
        for each in self._tasks:
            each.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _live(self, home: Home) -> None:
        async with self._joining:
            speaker = Speaker(*await asyncio.open_connection(*home.address))
            beat = await self._join(home, speaker)
            self._joined += 1
            place = self._joined
            if place == len(self._homes):
                self._all_joined.set()
        try:
            await asyncio.sleep(self._every_s * place / len(self._homes))
            while not self.lost:
                speaker = await self._beat(home, speaker, beat)
                await asyncio.sleep(self._every_s)
        finally:
            speaker.close()

    async def _join(self, home: Home, speaker: Speaker) -> HeartbeatRequest:
        protocols = [JoinGroupRequestProtocol(name="range", metadata=subscription(self._topic))]
        member_id = ""
        while True:
            join = JoinGroupRequest(home.group_id, SESSION_MS, SESSION_MS, member_id, None, "consumer", protocols)
            joined = await speaker.ask(join, _JOIN, JoinGroupResponse)
            member_id = joined.member_id or member_id
            if joined.error_code == ErrorCode.NONE:
                break
            if joined.error_code != ErrorCode.MEMBER_ID_REQUIRED:
                await asyncio.sleep(RETRY_AFTER_S)
        share = [SyncGroupRequestAssignment(member_id, b"share")]
        sync = SyncGroupRequest(home.group_id, joined.generation_id, member_id, assignments=share)
        synced = await speaker.ask(sync, _SYNC, SyncGroupResponse)
        assert synced.error_code == ErrorCode.NONE, synced
        return HeartbeatRequest(home.group_id, joined.generation_id, member_id)

    async def _beat(self, home: Home, speaker: Speaker, beat: HeartbeatRequest) -> Speaker:
        """Send a heartbeat until it is answered. Return the connection, which may be a new one."""
        speaker.waits_s = self.waits_s[home.address]
        while True:
            try:
                error_code = (await speaker.ask(beat, _HEARTBEAT, HeartbeatResponse)).error_code
            except (OSError, asyncio.IncompleteReadError):
                speaker.close()
                self.connected_again += 1
                speaker = await _connected(home.address)
                speaker.waits_s = self.waits_s[home.address]
                continue
            if error_code in _LATER:
                await asyncio.sleep(RETRY_AFTER_S)
                continue
            if error_code != ErrorCode.NONE:
                self.lost.append(f"{home.group_id}: {ErrorCode(error_code).name}")
            return speaker


async def _connected(address: Address) -> Speaker:
    while True:
        with contextlib.suppress(OSError):
            return Speaker(*await asyncio.open_connection(*address))
        await asyncio.sleep(RETRY_AFTER_S)


async def commit_everywhere(homes: Sequence[Home], topic: str) -> None:
    """Commit an offset of each group, as a consumer does that assigns partitions to itself."""

    async def commit(mine: Sequence[Home], address: Address) -> None:
        speaker = Speaker(*await asyncio.open_connection(*address))
        for home in mine:
            rows = [OffsetCommitRequestPartition(partition_index=0, committed_offset=1000)]
            request = OffsetCommitRequest(home.group_id, topics=[OffsetCommitRequestTopic(name=topic, partitions=rows)])
            answer = await speaker.ask(request, _COMMIT, OffsetCommitResponse)
            assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE, answer
        speaker.close()

    by_address: dict[Address, list[Home]] = {}
    for home in homes:
        by_address.setdefault(home.address, []).append(home)
    await asyncio.gather(
        *(commit(mine[n::JOINS_AT_ONCE], address) for address, mine in by_address.items() for n in range(JOINS_AT_ONCE))
    )
