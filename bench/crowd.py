"""Members of groups that join, take what they are given and stay in touch, over connections of their own or shared ones.

classic     JoinGroup, SyncGroup, Heartbeat; a member joins again whenever its group rebalances
consumer    ConsumerGroupHeartbeat (KIP-848); a member confirms an assignment at once, and then says only that it is there
"""

from __future__ import annotations

import asyncio
import struct
import time
import uuid
from typing import Final, NamedTuple, Protocol

from bench.targets import Address
from protocol.api import APIS
from protocol.codec import decode, encode
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from tests.support.client import Client, M, framed, request_header
from tests.support.members import subscription
from tests.support.simple_requests import coordinator, make_topic

RETRY_AFTER_S: Final = 0.05
CONNECTS_AT_ONCE: Final = 100
_JOIN, _SYNC, _HEARTBEAT, _CONSUMER_HEARTBEAT = 5, 3, 3, 1
_TIMEOUT_MS: Final = 60_000
_LENGTH = struct.Struct(">i")
_NOT_YET = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.REBALANCE_IN_PROGRESS,
}


class Speaker:
    """One connection, one request at a time: others wait. ``waits_s`` are the times until its answers, if it is a list."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._correlation_id = 0
        self._turn = asyncio.Lock()
        self.waits_s: list[float] | None = None

    async def ask(self, request: Message, version: int, response: type[M]) -> M:
        """Send and wait."""
        async with self._turn:
            return await self._ask(request, version, response)

    def close(self) -> None:
        self._writer.close()

    async def _ask(self, request: Message, version: int, response: type[M]) -> M:
        key = request.kafka.key
        assert key is not None
        self._correlation_id += 1
        is_flexible = APIS[key].request_header_version(version) == 2
        header = request_header(key, version, self._correlation_id, "bench", is_flexible)
        started = time.perf_counter()
        self._writer.write(framed(header + encode(request, version)))
        (size,) = _LENGTH.unpack(await self._reader.readexactly(4))
        body = await self._reader.readexactly(size)
        if self.waits_s is not None:
            self.waits_s.append(time.perf_counter() - started)
        return decode(response, version, body[4 + APIS[key].response_header_version(version) :])


class Settled(NamedTuple):
    """A member's generation or epoch, the number of its partitions, its id, and since when."""

    generation: int
    partitions: int
    member_id: str
    at: float


class Member(NamedTuple):
    """Who it is, and how often it says that it is there."""

    group_id: str
    number: int
    topic: str
    every_s: float


class Crowd:
    """The members, and what they know. A topic of a consumer group has as many partitions as the group has members."""

    def __init__(self) -> None:
        self.settled: dict[tuple[str, int], Settled] = {}
        self.newest: dict[str, int] = {}
        self.is_over = False

    def settle(self, member: Member, generation: int, partitions: int, member_id: str) -> None:
        """Take note of what a member has."""
        key = member.group_id, member.number
        before = self.settled.get(key)
        if before is None or before[:2] != (generation, partitions):
            self.settled[key] = Settled(generation, partitions, member_id, time.perf_counter())
            self.newest[member.group_id] = max(generation, self.newest.get(member.group_id, 0))

    def is_settled(self, members: int) -> bool:
        """Everybody has a partition in the newest generation of its group."""
        if len(self.settled) < members:
            return False
        return all(state.partitions == 1 and state.generation == self.newest[group] for (group, _), state in self.settled.items())


class Live(Protocol):
    """What a member does until all is over."""

    async def __call__(self, crowd: Crowd, speaker: Speaker, member: Member, /) -> None: ...


async def live_classic(crowd: Crowd, speaker: Speaker, member: Member) -> None:
    """Join, sync, stay in touch, and again whenever the group rebalances."""
    group_id, member_id = member.group_id, ""
    protocol = JoinGroupRequestProtocol(name="range", metadata=subscription(member.topic))
    while not crowd.is_over:
        join = JoinGroupRequest(
            group_id=group_id,
            session_timeout_ms=_TIMEOUT_MS,
            rebalance_timeout_ms=_TIMEOUT_MS,
            member_id=member_id,
            protocol_type="consumer",
            protocols=[protocol],
        )
        joined = await speaker.ask(join, _JOIN, JoinGroupResponse)
        member_id = joined.member_id or member_id
        if joined.error_code in _NOT_YET:
            await asyncio.sleep(RETRY_AFTER_S)
        if joined.error_code != ErrorCode.NONE:
            continue
        share = [SyncGroupRequestAssignment(member_id=one.member_id, assignment=b"share") for one in joined.members]
        sync = SyncGroupRequest(group_id=group_id, generation_id=joined.generation_id, member_id=member_id, assignments=share)
        if (await speaker.ask(sync, _SYNC, SyncGroupResponse)).error_code != ErrorCode.NONE:
            continue
        crowd.settle(member, joined.generation_id, 1, member_id)
        heartbeat = HeartbeatRequest(group_id=group_id, generation_id=joined.generation_id, member_id=member_id)
        while not crowd.is_over:
            await asyncio.sleep(member.every_s)
            if (await speaker.ask(heartbeat, _HEARTBEAT, HeartbeatResponse)).error_code != ErrorCode.NONE:
                break


async def live_consumer(crowd: Crowd, speaker: Speaker, member: Member) -> None:
    """Join, take on each assignment at once, and stay in touch."""
    group_id, member_id = member.group_id, str(uuid.uuid4())
    join = ConsumerGroupHeartbeatRequest(
        group_id,
        member_id,
        0,
        rebalance_timeout_ms=_TIMEOUT_MS,
        subscribed_topic_names=[member.topic],
        topic_partitions=[],
    )
    request, owned = join, list[TopicPartitions]()
    while not crowd.is_over:
        answer = await speaker.ask(request, _CONSUMER_HEARTBEAT, ConsumerGroupHeartbeatResponse)
        if answer.error_code in _NOT_YET:
            await asyncio.sleep(RETRY_AFTER_S)
            continue
        if answer.error_code != ErrorCode.NONE:
            request, owned = join, []
            continue
        is_new = answer.assignment is not None and answer.assignment.topic_partitions != owned
        if answer.assignment is not None:
            owned = answer.assignment.topic_partitions
        crowd.settle(member, answer.member_epoch, sum(len(each.partitions) for each in owned), member_id)
        if not is_new:
            await asyncio.sleep(member.every_s)
        told = owned if is_new else None
        request = ConsumerGroupHeartbeatRequest(group_id, member_id, answer.member_epoch, topic_partitions=told)


LIVES: Final[dict[str, Live]] = {"classic": live_classic, "consumer": live_consumer}


def heartbeat(protocol: str, group_id: str, settled: Settled) -> tuple[Message, int]:
    """Return the request, with its version, by which a settled member says that it is there."""
    if protocol == "consumer":
        return ConsumerGroupHeartbeatRequest(group_id, settled.member_id, settled.generation), _CONSUMER_HEARTBEAT
    return HeartbeatRequest(group_id, settled.generation, settled.member_id), _HEARTBEAT


class Lives:
    """The running lives of a crowd."""

    def __init__(self, crowd: Crowd, speakers: list[Speaker], tasks: list[asyncio.Task[None]]) -> None:
        self.crowd = crowd
        self.speakers = speakers
        self.began = time.perf_counter()
        self._tasks = tasks
        self._died: asyncio.Future[asyncio.Task[None]] = asyncio.get_running_loop().create_future()
        for life in tasks:
            life.add_done_callback(self._ended)

    async def settle(self, within_s: float) -> float:
        """Wait until everybody has what it keeps. Return when that was, by ``perf_counter``."""
        deadline = time.perf_counter() + within_s
        while not self.crowd.is_settled(len(self._tasks)):
            # Seldom if there are very many, because each look is at all of them.
            await self.pause(max(0.02, len(self._tasks) / 100_000))
            if time.perf_counter() > deadline:
                raise SystemExit(f"not settled within {within_s:g} s: {len(self.crowd.settled)} of {len(self._tasks)} members")
        return max(state.at for state in self.crowd.settled.values())

    async def pause(self, seconds: float) -> None:
        """Let time pass. Raises what a member has died of."""
        # Not on all tasks: that is a callback for each of them, each time.
        await asyncio.wait([self._died], timeout=seconds)
        if self._died.done():
            self._died.result().result()

    async def end(self) -> None:
        self.crowd.is_over = True
        for life in self._tasks:
            life.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for speaker in self.speakers:
            speaker.close()

    def _ended(self, life: asyncio.Task[None]) -> None:
        if not life.cancelled() and life.exception() is not None and not self._died.done():
            self._died.set_result(life)


async def connect(address: Address, groups: list[str], members: int, share: int = 1) -> list[Speaker]:
    """Return the connection of each of that many members of each group, to the group's coordinator.

    ``share`` members have one together, so these must not wait for others: not those of classic groups.
    """
    with Client(address) as client:
        homes = [coordinator(client, group_id) for group_id in groups]
    wanted = [home for home in homes for _ in range(members)]
    places: dict[Address, list[int]] = {}
    for place, home in enumerate(wanted):
        places.setdefault(home, []).append(place)
    shares = [(home, mine[start : start + share]) for home, mine in places.items() for start in range(0, len(mine), share)]
    found: dict[int, Speaker] = {}
    for start in range(0, len(shares), CONNECTS_AT_ONCE):
        some = shares[start : start + CONNECTS_AT_ONCE]
        opened = await asyncio.gather(*[asyncio.open_connection(*home) for home, _ in some])
        for (_, mine), each in zip(some, opened, strict=True):
            found |= dict.fromkeys(mine, Speaker(*each))
    return [found[place] for place in range(len(wanted))]


def begin(protocol: str, groups: list[str], speakers: list[Speaker], topic: str, every_s: float, over_s: float = 0) -> Lives:
    """Let the members live, all from now on or spread over a time."""
    crowd, members = Crowd(), len(speakers) // len(groups)

    async def live(number: int, speaker: Speaker) -> None:
        await asyncio.sleep(over_s * number / len(speakers))
        await LIVES[protocol](crowd, speaker, Member(groups[number // members], number, topic, every_s))

    return Lives(crowd, speakers, [asyncio.create_task(live(*each)) for each in enumerate(speakers)])


def make_crowd_topic(address: Address, members: int) -> str:
    """Make the topic of groups with that many members; return its name."""
    topic = f"crowd-{members}"
    with Client(address) as client:
        make_topic(client, topic, members)
    return topic
