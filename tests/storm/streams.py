"""A storm over streams groups: members of some processes come, leave, die, freeze, and come back, while their topics grow.

Members are those of the simulation (``simulation/streams_member.py``), and so are the rules: an active task has one owner at a time
(``simulation/ownership.py``), no process has a task twice. Some groups have state, with a replica of each task; their topics do not
grow, because a changelog topic cannot. Then it is quiet, and all groups must settle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from protocol.messages.metadata import MetadataRequest, MetadataResponse
from protocol.messages.streams_group_describe import (
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
    TaskIds,
)
from tests.simulation.group_member import GroupMember
from tests.simulation.streams_member import StreamsMember
from tests.simulation.streams_program import Program, reading, with_store
from tests.simulation.streams_views import unsettled_streams
from tests.storm.coordinators import Address
from tests.storm.group_weather import SESSION_MS, SIZES, GroupWeather, Seat, topic_of, topic_overrides
from tests.storm.weather import Report
from tests.support.streams_views import StreamsMemberView, StreamsView, Task, wrong_with

REBALANCE_MS: Final = 4000
REPLICAS: Final = 1
# How many members share a process.
CROWD: Final = 3


def overrides(sizes: Sequence[int]) -> dict[str, str]:
    """What a server needs to know. The assignment interval has its default; a child process computes every target."""
    return {
        **topic_overrides(sizes),
        "group.streams.session.timeout.ms": str(SESSION_MS),
        "group.streams.min.session.timeout.ms": "1000",
        "group.streams.heartbeat.interval.ms": "300",
        "group.streams.min.heartbeat.interval.ms": "100",
        "group.streams.initial.rebalance.delay.ms": "500",
        "group.streams.num.standby.replicas": str(REPLICAS),
        "group.streams.assignment.inline.max.size": "0",
    }


async def storm(
    addresses: Sequence[Address], seed: int, seconds: float, settle_within_s: float, sizes: Sequence[int] = SIZES
) -> Report:
    """Rounds of weather and quiet until ``seconds`` of weather have passed, or a rule was broken."""
    return await StreamsWeather(addresses, seed, sizes).storm(seed, seconds, settle_within_s)


class StreamsWeather(GroupWeather):
    """Seats of streams groups, of which every second one has state."""

    def __init__(self, addresses: Sequence[Address], seed: int, sizes: Sequence[int]) -> None:
        super().__init__(addresses, seed, sizes)
        stateful = set(sizes[::2])
        self._growing = [size for size in sizes if size not in stateful]
        self._programs = {size: _program(size, is_stateful=size in stateful) for size in sizes}

    async def settle(self, within_s: float) -> float:
        took_s = await super().settle(within_s)
        ledger = self._surroundings.ledger
        self.happened["tasks acquired"], self.happened["commits"] = ledger.acquired, ledger.commits
        return took_s

    def _new_member(self, seat: Seat) -> GroupMember:
        process_id, timeouts = f"process-{seat.place // CROWD}", (SESSION_MS, REBALANCE_MS)
        member = StreamsMember(self._surroundings, self._programs[seat.size], 0, process_id, timeouts)
        member.has_endpoint = seat.size in self._growing
        return member

    def _blow(self) -> None:
        """Members are all there is."""

    async def _wrong(self) -> list[str]:
        answer = await self._ask(MetadataRequest(None), 12, MetadataResponse)
        counts = {each.name or "": len(each.partitions) for each in answer.topics}
        found = []
        for size in self._sizes:
            group_id = f"storm-{size}"
            members = [each for each in self._of(group_id) if isinstance(each, StreamsMember)]
            view = await self._view(group_id)
            self.broken.extend(wrong_with(group_id, view))
            found += [f"{group_id}: {each}" for each in unsettled_streams(view, members, self._programs[size], counts, REPLICAS)]
        return found

    async def _view(self, group_id: str) -> StreamsView:
        answer = await self._ask_coordinator(group_id, StreamsGroupDescribeRequest([group_id]), 0, StreamsGroupDescribeResponse)
        group = answer.groups[0]
        members = {
            each.member_id: StreamsMemberView(
                each.member_epoch,
                each.process_id,
                each.member_epoch == group.assignment_epoch and each.assignment == each.target_assignment,
                _tasks(each.assignment.active_tasks),
                _tasks(each.assignment.standby_tasks),
            )
            for each in group.members
        }
        topology_epoch = -1 if group.topology is None else group.topology.epoch
        return StreamsView(group.group_epoch, group.assignment_epoch, topology_epoch, members)


def _program(size: int, *, is_stateful: bool) -> Program:
    topic = topic_of(size)
    return Program(f"storm-{size}", [with_store(topic, log=f"storm-{size}-log")] if is_stateful else [reading(topic)])


def _tasks(listed: Sequence[TaskIds]) -> frozenset[Task]:
    return frozenset((each.subtopology_id, partition) for each in listed for partition in each.partitions)
