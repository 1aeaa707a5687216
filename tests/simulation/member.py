"""A member of a classic group, as clients are: it joins, syncs, heartbeats, commits and fetches, and goes on as well as it can.

A life is from one start to the next end. What a member knows, it knows from answers; it tries again over new connections with
what it knows. A static member that comes back has forgotten its member id.
"""

from __future__ import annotations

from random import Random
from typing import Final

from msgspec import Struct

from protocol.codec import encode
from protocol.error_codes import ErrorCode
from protocol.fields import ZERO_UUID
from protocol.messages.consumer_protocol import ConsumerProtocolSubscription
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from tests.simulation.client import Client, Script
from tests.simulation.history import Life
from tests.simulation.stage import Stage

PARTITIONS: Final = 4
TOPICS: Final = ("t0", "t1")
RETRY_MS: Final = 200
# Errors after which a client is what it was, and asks again.
TRY_AGAIN: Final = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
}


class Versions(Struct, frozen=True):
    """Which version of each request a client speaks."""

    join: int = 9
    sync: int = 5
    heartbeat: int = 4
    leave: int = 5
    commit: int = 9
    fetch: int = 9

    @classmethod
    def draw(cls, rng: Random, *, is_static: bool) -> Versions:
        """Any that know of static members, if it has to be one."""
        if rng.random() < 0.5:
            return cls(commit=rng.choice((9, 10)), fetch=rng.choice((9, 10)))
        if is_static:
            least = {"join": 5, "sync": 3, "heartbeat": 3, "leave": 3, "commit": 7, "fetch": 1}
        else:
            least = {"join": 0, "sync": 0, "heartbeat": 0, "leave": 0, "commit": 2, "fetch": 1}
        newest = {"join": 9, "sync": 5, "heartbeat": 4, "leave": 5, "commit": 10, "fetch": 10}
        return cls(**{name: rng.randint(first, newest[name]) for name, first in least.items()})


class Timeouts(Struct, frozen=True):
    """A member's, milliseconds."""

    session: int
    rebalance: int


class Member:
    """One that is started and ended by the workload."""

    def __init__(
        self, stage: Stage, name: str, group_id: str, protocol_type: str, timeouts: Timeouts, instance_id: str | None = None
    ) -> None:
        self.name = name
        self.group_id = group_id
        self.instance_id = instance_id
        self.member_id = ""
        self.generation_id = -1
        self.life: Life | None = None
        self._stage = stage
        self._rng = stage.world.rng
        self._protocol_type = protocol_type
        self._timeouts = timeouts
        self._versions = Versions.draw(self._rng, is_static=instance_id is not None)
        self._metadata = 0
        self._failures = 0
        self._is_leaving = False
        self._protocol_name: str | None = None
        self._assigned: list[tuple[str, int]] = []
        self._client: Client
        self._script: Script

    @property
    def is_alive(self) -> bool:
        return self.life is not None

    def start(self) -> None:
        """A life begins, unless one goes on."""
        if self.is_alive:
            return
        stage, timeouts = self._stage, self._timeouts
        self.member_id, self.generation_id, self._assigned = "", -1, []
        self._is_leaving = False
        self.life = Life(
            len(stage.history.lives),
            self.group_id,
            self.instance_id,
            timeouts.session,
            timeouts.rebalance,
            self._protocol_type,
            stage.world.now_us,
        )
        stage.history.lives.append(self.life)
        self._client = stage.client(self.name)
        self._client.life = self.life.number
        self._script = Script(self._live())

    def die(self) -> None:
        """Without a word, or with the connection's end."""
        if self.is_alive:
            self._end("died")
            self._script.abandon()
            if self._rng.random() < 0.5:
                self._client.close()
            else:
                self._client.vanish()

    def leave(self) -> None:
        """As a client that is closed does."""
        if self.is_alive and not self._is_leaving:
            self._is_leaving = True
            self._script.abandon()
            self._client.close()
            self._script = Script(self._leave())

    def trouble(self) -> None:
        """Its connection breaks, or it does not read for a while."""
        if self.is_alive:
            if self._rng.random() < 0.7:
                self._client.cut()
            else:
                self._client.stall(self._rng.randint(100, 3000))

    # Its life.

    def _end(self, how: str) -> None:
        life, self.life = self.life, None
        if life is not None:
            life.ended_us, life.how = self._stage.world.now_us, how

    async def _live(self) -> None:
        while self.is_alive:
            if await self._join() and await self._sync():
                await self._work()

    async def _leave(self) -> None:
        identity = MemberIdentity(self.member_id, self.instance_id)
        version = self._versions.leave
        request = LeaveGroupRequest(self.group_id, members=[identity] if version >= 3 else [])
        if version < 3:
            request.member_id = self.member_id
        if self.member_id:
            await self._client.ask(request, version, LeaveGroupResponse)
        self._end("left")
        self._client.close()

    async def _join(self) -> bool:
        version = self._versions.join
        request = JoinGroupRequest(
            self.group_id,
            self._timeouts.session,
            self._timeouts.rebalance if version >= 1 else -1,
            self.member_id,
            self.instance_id,
            self._protocol_type,
            self._protocols(),
        )
        answer = await self._client.ask(request, version, JoinGroupResponse, self._timeouts.rebalance + 5000)
        if answer is None or not self._goes_on(ErrorCode(answer.error_code)):
            if answer is not None and answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                self.member_id = answer.member_id
            else:
                self._failures += 1
                await self._client.sleep(self._rng.randint(20, RETRY_MS * min(self._failures, 8)))
            return False
        self._failures = 0
        self.member_id, self.generation_id = answer.member_id, answer.generation_id
        self._protocol_name = answer.protocol_name
        if self.life is not None:
            self.life.member_id = self.member_id
        self._stage.known.append((self.group_id, self.member_id, self.generation_id, self.instance_id))
        is_leader = answer.leader == answer.member_id and not answer.skip_assignment
        self._roster = [member.member_id for member in answer.members] if is_leader else []
        return True

    async def _sync(self) -> bool:
        if self._rng.random() < 0.05:
            await self._client.sleep(self._rng.randint(10, 500))
        version = self._versions.sync
        request = SyncGroupRequest(
            self.group_id,
            self.generation_id,
            self.member_id,
            self.instance_id,
            self._protocol_type if version >= 5 else None,
            self._protocol_name if version >= 5 else None,
            self._shares(),
        )
        answer = None
        while self.is_alive and (answer is None or answer.error_code in TRY_AGAIN):
            if answer is not None:
                await self._client.sleep(self._rng.randint(20, RETRY_MS))
            answer = await self._client.ask(request, version, SyncGroupResponse, self._timeouts.rebalance + 5000)
            if answer is None:
                await self._client.sleep(self._rng.randint(20, 5 * RETRY_MS))
        if answer is None or not self._goes_on(ErrorCode(answer.error_code)):
            return False
        self._assigned = read_share(answer.assignment)
        return True

    async def _work(self) -> None:
        rng, client = self._rng, self._client
        await self._fetch()
        interval_ms = 2 * self._timeouts.session // 5
        while self.is_alive:
            await client.sleep(rng.randint(interval_ms // 2, interval_ms))
            request = HeartbeatRequest(self.group_id, self.generation_id, self.member_id, self.instance_id)
            answer = await client.ask(request, self._versions.heartbeat, HeartbeatResponse, self._timeouts.session // 3)
            chance = rng.random()
            if answer is None or answer.error_code in TRY_AGAIN:
                await client.sleep(rng.randint(20, RETRY_MS))
                continue
            if answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS and chance < 0.5:
                await self._commit()
            if not self._goes_on(ErrorCode(answer.error_code)):
                return
            if chance < 0.3:
                await self._commit()
            elif chance < 0.4:
                for _ in range(2):
                    client.send(self._commit_request(), self._stage.known_by(self._versions.commit))
            elif chance < 0.5:
                await self._fetch()
            elif chance > 0.985 and not self._stage.is_calm:
                self._metadata += 1
                return

    def _goes_on(self, error: ErrorCode) -> bool:
        """Whether all is well. Takes note of what is not."""
        if error == ErrorCode.FENCED_INSTANCE_ID:
            self._end("fenced")
            self._client.close()
        if error in {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION}:
            # Kafka's clients keep their member id when only their generation is over.
            self.generation_id = -1
            if error == ErrorCode.UNKNOWN_MEMBER_ID:
                self.member_id = ""
        return error == ErrorCode.NONE

    # Its requests.

    async def _commit(self) -> None:
        version = self._stage.known_by(self._versions.commit)
        answer = await self._client.ask(self._commit_request(), version, OffsetCommitResponse)
        if answer is None:
            # Once more, perhaps beside the first one.
            await self._client.ask(self._commit_request(), version, OffsetCommitResponse)

    def _commit_request(self) -> OffsetCommitRequest:
        rng = self._rng
        some = [each for each in self._assigned if rng.random() < 0.5] or [(rng.choice(TOPICS), rng.randrange(PARTITIONS))]
        request = commit_request(self._stage, self.group_id, some)
        request.generation_id_or_member_epoch = self.generation_id
        request.member_id, request.group_instance_id = self.member_id, self.instance_id
        return request

    async def _fetch(self) -> None:
        some = self._assigned if self._rng.random() < 0.7 else None
        version = self._stage.known_by(self._versions.fetch)
        request = fetch_request(self._stage, self.group_id, some, version, is_stable=self._rng.random() < 0.5)
        await self._client.ask(request, version, OffsetFetchResponse)

    def _protocols(self) -> list[JoinGroupRequestProtocol]:
        names = ("range", "sticky") if self._metadata % 2 else ("range",)
        return [JoinGroupRequestProtocol(name, self._subscription()) for name in names]

    def _subscription(self) -> bytes:
        if self._protocol_type != "consumer":
            return b"%d" % self._metadata
        return b"\0\0" + encode(ConsumerProtocolSubscription(list(TOPICS), b"%d" % self._metadata), 0)

    def _shares(self) -> list[SyncGroupRequestAssignment]:
        """Every partition to one member; no two leaders ever say the same."""
        count, nonce = len(self._roster), self._stage.next_value()
        everything = [(topic, partition) for topic in TOPICS for partition in range(PARTITIONS)]
        return [
            SyncGroupRequestAssignment(member_id, write_share(nonce, everything[place::count]))
            for place, member_id in enumerate(self._roster)
        ]


def commit_request(stage: Stage, group_id: str, positions: list[tuple[str, int]]) -> OffsetCommitRequest:
    """Offsets that nobody else ever commits."""
    topics: dict[str, OffsetCommitRequestTopic] = {}
    for topic, partition in positions:
        offset = stage.next_value()
        metadata = f"m{offset}" if offset % 3 == 0 else ""
        each = OffsetCommitRequestPartition(partition, offset, committed_metadata=metadata)
        topic_id = stage.topic_ids.get(topic, ZERO_UUID)
        topics.setdefault(topic, OffsetCommitRequestTopic(topic, topic_id)).partitions.append(each)
    return OffsetCommitRequest(group_id, topics=list(topics.values()))


def fetch_request(
    stage: Stage, group_id: str, positions: list[tuple[str, int]] | None, version: int, *, is_stable: bool
) -> OffsetFetchRequest:
    """Some positions, or all, in the form that the version has for it."""
    wanted: dict[str, list[int]] | None = None
    if positions is not None or version < 2:
        wanted = {}
        for topic, partition in positions or [("t0", 0)]:
            wanted.setdefault(topic, []).append(partition)
    if version >= 8:
        named = None
        if wanted is not None:
            ids = stage.topic_ids
            named = [OffsetFetchRequestTopics(topic, ids.get(topic, ZERO_UUID), wanted[topic]) for topic in wanted]
        return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id, topics=named)], require_stable=is_stable)
    old = None if wanted is None else [OffsetFetchRequestTopic(topic, wanted[topic]) for topic in wanted]
    return OffsetFetchRequest(group_id, old, require_stable=is_stable and version >= 7)


def write_share(nonce: int, positions: list[tuple[str, int]]) -> bytes:
    """An assignment."""
    return f"{nonce}:{','.join(f'{topic}-{partition}' for topic, partition in positions)}".encode()


def read_share(assignment: bytes) -> list[tuple[str, int]]:
    """The positions of an assignment; none when there is none."""
    parts = assignment.decode().partition(":")[2].split(",")
    return [(topic, int(partition)) for topic, _, partition in (part.partition("-") for part in parts if part)]
