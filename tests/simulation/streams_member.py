"""A member of a streams group (KIP-1071), as Kafka Streams is: a topology, a process, and the tasks of the last assignment.

It sends its topology when it joins, and tasks when they have changed. Statuses of the answers are what it has to bear: a topology
that waits for topics has no tasks, and an application that is to shut down does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from coordinator_server.group.streams import status
from protocol.error_codes import ErrorCode
from protocol.messages.streams_group_heartbeat import (
    Endpoint,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    TaskIds,
)
from tests.simulation.group_member import Subscription, Surroundings
from tests.simulation.heartbeat_member import JOIN, ReconcilingMember
from tests.simulation.ownership import Position
from tests.simulation.streams_program import Program
from tests.support.streams_views import Task

ACTIVE: Final = "active"
STANDBY: Final = "standby"
_WAITING: Final = {status.MISSING_INTERNAL_TOPICS, status.ASSIGNMENT_DELAYED}


class StreamsMember(ReconcilingMember[tuple[str, Task]]):
    """``topology`` is a version of its program; ``statuses`` are those of the last answer."""

    kind = "streams"
    response = StreamsGroupHeartbeatResponse
    version = 0
    # Whether it has an address where its state can be queried.
    has_endpoint = False
    # Whether it has all members shut down with its next heartbeat.
    wants_shutdown = False
    statuses: frozenset[int] = frozenset()

    _endpoint_epoch = 0

    def __init__(
        self, surroundings: Surroundings, program: Program, version: int, process_id: str, timeouts: tuple[int, int]
    ) -> None:
        self.program = program
        self.topology = program.versions[version]
        self.process_id = process_id
        topics = tuple(name for each in self.topology.subtopologies for name in each.source_topics)
        super().__init__(surroundings, program.group_id, None, Subscription(topics), timeouts)

    @property
    def is_settled(self) -> bool:
        return super().is_settled and self.statuses.isdisjoint(_WAITING)

    def _bare(self, epoch: int) -> StreamsGroupHeartbeatRequest:
        return StreamsGroupHeartbeatRequest(self.group_id, self.member_id, epoch, self._endpoint_epoch)

    def _request(self) -> StreamsGroupHeartbeatRequest:
        request, is_full = self._bare(self.epoch), self._is_to_say_all()
        if self.epoch == JOIN:
            request.topology = self.topology
        if is_full:
            request.rebalance_timeout_ms = self.life.rebalance_ms
            request.process_id = self.process_id
            if self.has_endpoint:
                request.user_endpoint = Endpoint(self.name, 1024)
        if self._is_to_tell(is_full=is_full):
            request.active_tasks, request.standby_tasks = (_listed(self.held, kind) for kind in (ACTIVE, STANDBY))
            request.warmup_tasks = []
        if self.wants_shutdown:
            request.shutdown_application = self.program.is_shut_down = True
        return request

    def _took(self, request: StreamsGroupHeartbeatRequest, answer: StreamsGroupHeartbeatResponse) -> None:
        self._endpoint_epoch = answer.endpoint_information_epoch
        self.statuses = frozenset(each.status_code for each in answer.status or ())
        if request.member_epoch == JOIN and answer.active_tasks is None:
            self._complain("has joined, and is not told what it has")
        if request.active_tasks is not None:
            self._has_been_told()
        if answer.active_tasks is not None:
            if answer.warmup_tasks:
                self._complain(f"is to warm up {answer.warmup_tasks}")
            self._was_given(frozenset([*_given(ACTIVE, answer.active_tasks), *_given(STANDBY, answer.standby_tasks or [])]))
        if status.SHUTDOWN_APPLICATION in self.statuses and not self.program.is_shut_down:
            self._complain("is to shut down, and nobody wants it")

    async def _after_answer(self) -> int:
        if status.SHUTDOWN_APPLICATION in self.statuses:
            self._end()
            await self._leave()
            return 0
        return await super()._after_answer()

    async def _refused(self, error: ErrorCode, *, was_sure: bool) -> None:
        if error is ErrorCode.INVALID_REQUEST and self.epoch == JOIN:
            # Another version of the program is there.
            self.is_refused = True
        elif error is ErrorCode.INVALID_REQUEST:
            # It has tasks that the topology has no longer. That is an error of the program, as in Kafka Streams.
            self._end()
            self.client.close()
        else:
            await super()._refused(error, was_sure=was_sure)

    def _forget(self) -> None:
        super()._forget()
        self.statuses = frozenset()

    def _owned(self, held: frozenset[tuple[str, Task]]) -> Iterator[Position]:
        lasting, counts = self.surroundings.lasting, self.surroundings.counts()
        for kind, task in held:
            if kind == ACTIVE:
                yield from self.program.positions(self.topology.epoch, task, lasting, counts)


def _listed(held: frozenset[tuple[str, Task]], kind: str) -> list[TaskIds]:
    found: dict[str, TaskIds] = {}
    for each, (name, partition) in sorted(held):
        if each == kind:
            found.setdefault(name, TaskIds(name)).partitions.append(partition)
    return list(found.values())


def _given(kind: str, listed: list[TaskIds]) -> list[tuple[str, Task]]:
    return [(kind, (each.subtopology_id, partition)) for each in listed for partition in each.partitions]
