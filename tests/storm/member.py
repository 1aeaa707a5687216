"""One member of a storm: it joins, syncs and heartbeats as a consumer does, and says to the ledger what it is told."""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse, JoinGroupResponseMember
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from tests.storm.coordinators import RETRY_S, Coordinators, Following
from tests.storm.ledger import Assignment, Ledger
from tests.storm.wire import Wire
from tests.support.members import subscription

M = TypeVar("M", bound=Message)

JOIN_VERSION, SYNC_VERSION, HEARTBEAT_VERSION, LEAVE_VERSION, COMMIT_VERSION = 9, 5, 4, 5, 9
TOPIC = "storm"
SESSION_S = 2.0
REBALANCE_S = 4.0
HEARTBEAT_S = 0.3

REJOIN = frozenset({ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION})
_COUNT = struct.Struct(">i")


class Fenced(Exception):
    """Somebody else is this static member now."""


class _Again(Exception):
    """Join again."""


class Seat(NamedTuple):
    """A place in a group that one member at a time may take."""

    group_id: str
    name: str
    is_static: bool
    partitions: int


class StormMember:
    """Lives in the task that ``start`` makes. ``member_id`` and ``generation_id`` are those of its last answer."""

    def __init__(self, coordinators: Coordinators, ledger: Ledger, seat: Seat, number: int) -> None:
        self.seat = seat
        # A dynamic member is somebody new each time; a static one is who it was.
        self.name = seat.name if seat.is_static else f"{seat.name}#{number}"
        self.member_id = ""
        self.generation_id = -1
        self.owned: list[int] = []
        self.is_settled = False
        self.is_fenced = False
        self.doze_s = 0.0
        self._is_leaving = False
        self._coordinators, self._ledger = coordinators, ledger
        self._following = Following(coordinators)
        self._wire: Wire | None = None
        self._task: asyncio.Task[None] | None = None
        self._asked_at = time.monotonic()

    def start(self) -> None:
        self._task = asyncio.create_task(self._live())

    async def die(self) -> None:
        """Go without a word."""
        assert self._task is not None
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._hang_up()

    async def leave(self) -> None:
        """Say so on another connection, whatever waits or is asked on the first one, and go."""
        self._is_leaving = True
        member_id = self.member_id
        if member_id:
            who = MemberIdentity(member_id=member_id, group_instance_id=self.seat.name if self.seat.is_static else None)
            request = LeaveGroupRequest(self.seat.group_id, members=[who])
            while True:
                wire = await self._connect()
                answer = await wire.ask(request, LEAVE_VERSION, LeaveGroupResponse)
                if not self._coordinators.is_to_be_repeated(answer):
                    break
                wire.cut()
                await asyncio.sleep(RETRY_S)
            error = ErrorCode(answer.error_code or answer.members[0].error_code)
            if error not in {ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID}:
                self._ledger.unexpected(self.seat.group_id, self.name, f"LeaveGroup answered {error.name}")
            wire.cut()
        await self.die()

    async def _live(self) -> None:
        while True:
            try:
                await self._join()
                await self._sync()
                while True:
                    await self._rest()
                    await self._heartbeat()
                    await self._commit()
            except _Again:
                self.is_settled = False
            except Fenced:
                self.is_settled, self.is_fenced = False, True
                self._hang_up()
                return
            except (OSError, EOFError, AssertionError) as broken:
                self._ledger.unexpected(self.seat.group_id, self.name, f"{broken!r}")
                return

    async def _rest(self) -> None:
        doze_s, self.doze_s = self.doze_s, 0.0
        await asyncio.sleep(doze_s or HEARTBEAT_S)

    async def _join(self) -> None:
        answer = await self._ask_to_join()
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
            answer = await self._ask_to_join()
        self._judge("JoinGroup", answer.error_code)
        self.member_id, self.generation_id = answer.member_id, answer.generation_id
        self._protocol = answer.protocol_name or ""
        is_to_assign = answer.leader == answer.member_id and not answer.skip_assignment
        self._assignments = self._divided(answer.members) if is_to_assign else {}

    async def _ask_to_join(self) -> JoinGroupResponse:
        request = JoinGroupRequest(
            self.seat.group_id,
            int(SESSION_S * 1000),
            int(REBALANCE_S * 1000),
            self.member_id,
            self.seat.name if self.seat.is_static else None,
            "consumer",
            [JoinGroupRequestProtocol(name="range", metadata=subscription(TOPIC))],
        )
        self._asking()
        return await self._ask(request, JOIN_VERSION, JoinGroupResponse)

    def _divided(self, members: Sequence[JoinGroupResponseMember]) -> dict[str, tuple[str, list[int]]]:
        """Partitions of each member id, with the name that the ledger knows it by."""
        ids = sorted((member.group_instance_id or member.member_id, member.member_id) for member in members)
        return {
            member_id: (name, list(range(place, self.seat.partitions, len(ids)))) for place, (name, member_id) in enumerate(ids)
        }

    async def _sync(self) -> None:
        contents = {
            member_id: _content(self.generation_id, name, owned) for member_id, (name, owned) in self._assignments.items()
        }
        by_name = {name: contents[member_id] for member_id, (name, _) in self._assignments.items()}
        self._ledger.gave(self.seat.group_id, self.generation_id, by_name)
        request = SyncGroupRequest(
            self.seat.group_id,
            self.generation_id,
            self.member_id,
            self.seat.name if self.seat.is_static else None,
            "consumer",
            self._protocol,
            [SyncGroupRequestAssignment(member_id, content) for member_id, content in contents.items()],
        )
        self._asking()
        newest = self._ledger.newest(self.seat.group_id)
        answer = await self._ask(request, SYNC_VERSION, SyncGroupResponse)
        self._judge("SyncGroup", answer.error_code)
        self.owned = _owned(answer.assignment)
        name = self.seat.name if self.seat.is_static else self.member_id
        told = Assignment(self.generation_id, answer.protocol_name or "", answer.assignment, self.owned)
        self._ledger.got(self.seat.group_id, name, told, newest)
        self.is_settled = True

    async def _heartbeat(self) -> None:
        instance_id = self.seat.name if self.seat.is_static else None
        request = HeartbeatRequest(self.seat.group_id, self.generation_id, self.member_id, instance_id)
        silent_s = self._asking()
        newest = self._ledger.newest(self.seat.group_id)
        answer = await self._ask(request, HEARTBEAT_VERSION, HeartbeatResponse)
        self._judge("Heartbeat", answer.error_code, silent_s)
        self._ledger.accepted("heartbeats", self.seat.group_id, self.generation_id, self.name, newest)

    async def _commit(self) -> None:
        if not self.owned:
            return
        partition = self.owned[self.generation_id % len(self.owned)]
        offsets = [OffsetCommitRequestPartition(partition_index=partition, committed_offset=self.generation_id)]
        request = OffsetCommitRequest(
            self.seat.group_id,
            self.generation_id,
            self.member_id,
            self.seat.name if self.seat.is_static else None,
            topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=offsets)],
        )
        silent_s = self._asking()
        newest = self._ledger.newest(self.seat.group_id)
        answer = await self._ask(request, COMMIT_VERSION, OffsetCommitResponse)
        self._judge("OffsetCommit", answer.topics[0].partitions[0].error_code, silent_s)
        self._ledger.accepted("commits", self.seat.group_id, self.generation_id, self.name, newest)

    async def _connect(self) -> Wire:
        return await Wire.open(await self._coordinators.of(self.seat.group_id), self.name)

    def _hang_up(self) -> None:
        if self._wire is not None:
            self._wire.cut()
            self._wire = None

    async def _ask(self, request: Message, version: int, response: type[M]) -> M:
        """Ask the coordinator, wherever it is by now."""
        asked_s = time.monotonic()
        while True:
            self._wire = self._wire or await self._connect()
            answer = await self._wire.ask(request, version, response)
            if self._following.is_sent_elsewhere(answer, asked_s):
                self._hang_up()
            if not self._coordinators.is_to_be_repeated(answer):
                return answer
            await asyncio.sleep(RETRY_S)

    def _asking(self) -> float:
        """How long ago the last request was sent; the next one is sent now."""
        now = time.monotonic()
        silent_s, self._asked_at = now - self._asked_at, now
        return silent_s

    def _judge(self, api: str, error_code: int, silent_s: float = SESSION_S) -> None:
        """What a consumer makes of an answer."""
        error = ErrorCode(error_code)
        if error is ErrorCode.NONE:
            return
        if error in REJOIN:
            raise _Again
        if error is ErrorCode.UNKNOWN_MEMBER_ID:
            self.member_id = ""
            if not self._is_leaving:
                self._ledger.put_out(self.seat.group_id, self.name, silent_s, SESSION_S)
            raise _Again
        if error is ErrorCode.FENCED_INSTANCE_ID and self.seat.is_static:
            raise Fenced
        self._ledger.unexpected(self.seat.group_id, self.name, f"{api} answered {error.name}")
        raise _Again


def _content(generation_id: int, name: str, owned: Sequence[int]) -> bytes:
    """An assignment that says whose it is, so that no two are equal."""
    return _COUNT.pack(len(owned)) + b"".join(map(_COUNT.pack, owned)) + f"{generation_id} {name}".encode()


def _owned(content: bytes) -> list[int]:
    if not content:
        return []
    (count,) = _COUNT.unpack_from(content)
    return [_COUNT.unpack_from(content, 4 + 4 * place)[0] for place in range(count)]
