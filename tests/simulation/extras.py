"""Those who are no members: an administrator, who looks and deletes, and an impostor, who says what is not so any more."""

from __future__ import annotations

from random import Random

from protocol.fields import Message
from protocol.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from protocol.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from protocol.messages.offset_commit import OffsetCommitResponse
from protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from protocol.messages.offset_fetch import OffsetFetchResponse
from protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.simulation.client import Wait
from tests.simulation.member import PARTITIONS, TOPICS, commit_request, fetch_request, write_share
from tests.simulation.stage import Stage

IMPOSTOR = "impostor"


class Administrator:
    """Looks at groups, commits and deletes. ``simple`` groups have no members; ``mortal`` ones may be deleted."""

    def __init__(
        self, stage: Stage, groups: list[str], simple: list[str], mortal: list[str], instances: list[tuple[str, str]]
    ) -> None:
        self._stage = stage
        self._rng = stage.world.rng
        self._client = stage.client("administrator")
        self._groups = groups
        self._simple = simple
        self._mortal = mortal
        self._instances = instances

    async def work(self, pace_ms: int) -> None:
        """Until abandoned."""
        rng = self._rng
        await self._learn_ids()
        duties = [
            self.describe,
            self._list,
            self._fetch,
            self._commit_alone,
            self._delete_group,
            self._delete_offsets,
            self._remove,
        ]
        weights = [5, 1, 4, 4, 1.5, 2, 0.5]
        while True:
            await self._client.sleep(rng.randint(1, pace_ms))
            [duty] = rng.choices(duties, weights)
            await duty()

    async def describe(self) -> None:
        """All groups."""
        await self._client.ask(DescribeGroupsRequest(self._groups), 5, DescribeGroupsResponse)

    async def fetch_all(self) -> None:
        """What every group has committed."""
        for group_id in [*self._groups, *self._simple]:
            await self._client.ask(fetch_request(self._stage, group_id, None, 9, is_stable=True), 9, OffsetFetchResponse)

    async def _learn_ids(self) -> None:
        while not self._stage.topic_ids:
            request = MetadataRequest([MetadataRequestTopic(name=topic) for topic in TOPICS])
            answer = await self._client.ask(request, 12, MetadataResponse)
            if answer is not None:
                self._stage.topic_ids = {topic.name or "": topic.topic_id for topic in answer.topics}
            await self._client.sleep(100)

    async def _list(self) -> None:
        await self._client.ask(ListGroupsRequest(), 4, ListGroupsResponse)

    async def _fetch(self) -> None:
        group_id = self._rng.choice([*self._groups, *self._simple])
        await self._client.ask(
            fetch_request(self._stage, group_id, None, 9, is_stable=self._rng.random() < 0.5), 9, OffsetFetchResponse
        )

    async def _commit_alone(self) -> None:
        group_id = self._rng.choice([*self._simple, *self._simple, *self._groups])
        some = [(self._rng.choice(TOPICS), self._rng.randrange(PARTITIONS))]
        await self._client.ask(commit_request(self._stage, group_id, some), 7, OffsetCommitResponse)

    async def _delete_group(self) -> None:
        if self._mortal:
            request = DeleteGroupsRequest([self._rng.choice(self._mortal)])
            await self._client.ask(request, 2, DeleteGroupsResponse)

    async def _delete_offsets(self) -> None:
        topic = OffsetDeleteRequestTopic(
            self._rng.choice(TOPICS), [OffsetDeleteRequestPartition(self._rng.randrange(PARTITIONS))]
        )
        request = OffsetDeleteRequest(self._rng.choice([*self._groups, *self._simple, *self._simple]), [topic])
        await self._client.ask(request, 0, OffsetDeleteResponse)

    async def _remove(self) -> None:
        if self._instances:
            group_id, instance_id = self._rng.choice(self._instances)
            request = LeaveGroupRequest(group_id, members=[MemberIdentity("", instance_id)])
            await self._client.ask(request, 5, LeaveGroupResponse)


class Impatient:
    """Commits, reads and deletes without waiting for answers: what it reads must be what it wrote."""

    def __init__(self, stage: Stage, rng: Random) -> None:
        self._stage = stage
        self._rng = rng
        self._client = stage.client("impatient")

    async def work(self, pace_ms: int) -> None:
        """Until abandoned."""
        rng = self._rng
        while True:
            await self._client.sleep(rng.randint(1, pace_ms))
            group_id, some = rng.choice(["s0", "s1", "s2"]), [(rng.choice(TOPICS), rng.randrange(PARTITIONS))]
            duties = [self._commit, self._fetch, self._fetch, self._delete]
            waits = [self._commit(group_id, some), *(rng.choice(duties)(group_id, some) for _ in range(rng.randint(1, 4)))]
            for wait in waits:
                await wait

    def _commit(self, group_id: str, some: list[tuple[str, int]]) -> Wait:
        return self._client.send(commit_request(self._stage, group_id, some), 7)

    def _fetch(self, group_id: str, some: list[tuple[str, int]]) -> Wait:
        wanted = some if self._rng.random() < 0.7 else None
        return self._client.send(fetch_request(self._stage, group_id, wanted, 7, is_stable=self._rng.random() < 0.5), 7)

    def _delete(self, group_id: str, some: list[tuple[str, int]]) -> Wait:
        if self._rng.random() < 0.3:
            return self._client.send(DeleteGroupsRequest([group_id]), 2)
        topics = [OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(partition)]) for topic, partition in some]
        return self._client.send(OffsetDeleteRequest(group_id, topics), 0)


class Impostor:
    """Speaks for members that are gone, for generations that are over or never were. Each request has a client id of its own."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._rng = stage.world.rng
        self._client = stage.client(IMPOSTOR)

    async def work(self, pace_ms: int) -> None:
        """Until abandoned. Several requests at a time, without waiting."""
        rng = self._rng
        while True:
            await self._client.sleep(rng.randint(1, pace_ms))
            waits = [self._send() for _ in range(rng.randint(1, 3))]
            for wait in waits:
                await wait
            if rng.random() < 0.1:
                self._client.close()

    def _send(self) -> Wait:
        request, version = self._request()
        name = f"{IMPOSTOR}-{self._stage.next_value()}"
        return self._client.send(request, version, client_id=name)

    def _request(self) -> tuple[Message, int]:
        rng, known = self._rng, self._stage.known
        group_id, member_id, generation_id, instance_id = rng.choice(known) if known else ("g0", "nobody", 1, None)
        generation_id += rng.choice((0, 0, -1, 1, 2))
        if rng.random() < 0.2:
            member_id = f"nobody-{rng.randrange(10)}"
        match rng.randrange(6):
            case 0 | 1:
                request = commit_request(self._stage, group_id, [(rng.choice(TOPICS), rng.randrange(PARTITIONS))])
                request.generation_id_or_member_epoch = generation_id
                request.member_id, request.group_instance_id = member_id, instance_id
                return request, 9
            case 2:
                return HeartbeatRequest(group_id, generation_id, member_id, instance_id), 4
            case 3:
                lies = [SyncGroupRequestAssignment(each[1], write_share(self._stage.next_value(), [])) for each in known[-3:]]
                return SyncGroupRequest(group_id, generation_id, member_id, instance_id, None, None, lies), 4
            case 4 if member_id.startswith("nobody"):
                return LeaveGroupRequest(group_id, members=[MemberIdentity(member_id, instance_id)]), 5
            case _:
                protocols = [JoinGroupRequestProtocol("strange", b"")]
                return JoinGroupRequest(group_id, 5000, 5000, member_id, instance_id, "consumer", protocols), 9
