"""Streams groups: members of two versions of a program, whose tasks move between processes, and administrators.

``groups_play.py`` has what befalls them; besides, internal topics are deleted and grown, the number of standby replicas changes,
groups are deleted, and a member has all others shut down. ``streams_program.py`` knows what becomes of a program,
``streams_views.py`` what must be true of a settled group, ``support/streams_views.py`` what must be at every moment. An active
task has one owner, as far as members were answered (``ownership.py``). After the calm every group settles, with all tasks and
replicas where they belong; then all members go, the groups are deleted, and nothing is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Final

from coordinator_server.group.shard import GroupShard
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.server.cluster.view import CATALOG_SHARD
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
)
from tests.simulation.client import Client, Script
from tests.simulation.group_member import GroupMember, Identity
from tests.simulation.groups_ending import DeletedGroupsPlay, ways_to_play
from tests.simulation.groups_play import Seat
from tests.simulation.impostors import commit_as
from tests.simulation.loops_play import STORM_S
from tests.simulation.mirror import LogRecord
from tests.simulation.registers import GROUP
from tests.simulation.streams_member import StreamsMember
from tests.simulation.streams_program import SECOND_READER, Program, reading, repartitioned, with_store
from tests.simulation.streams_views import check_streams_log, streams_view_of, unsettled_streams
from tests.simulation.world import SECOND
from tests.support.streams_views import StreamsView, wrong_with

REPLICAS: Final = "streams.num.standby.replicas"
MENDED_EVERY_MS: Final = 500


class StreamsSeat(Seat):
    """A place for a version of the group's program, in a process."""

    def __init__(self, group_id: str, version: int, process_id: str) -> None:
        super().__init__(group_id, None, ())
        self.version = version
        self.process_id = process_id


class StreamsPlay(DeletedGroupsPlay):
    """A play whose actors are members of streams groups."""

    name = "streams"

    def __init__(self, seed: int) -> None:
        own = Random(f"streams {seed} settings")
        session_ms = own.choice((2000, 3000, 5000))
        properties = {
            "group_streams_session_timeout_ms": session_ms,
            "group_streams_min_session_timeout_ms": 1000,
            "group_streams_heartbeat_interval_ms": own.choice((300, 500)),
            "group_streams_min_heartbeat_interval_ms": 100,
            "group_streams_assignment_interval_ms": own.choice((0, 0, 300, 1000)),
            "group_streams_initial_rebalance_delay_ms": own.choice((0, 0, 300, 2000)),
            "group_streams_num_standby_replicas": own.choice((0, 1, 1, 2)),
            "group_streams_assignment_inline_max_size": own.choice((4000, 0)),
        }
        super().__init__(seed, own, session_ms, properties)
        self.programs = {group_id: Program(group_id, *_versions(own, group_id)) for group_id in self.groups}
        # Whether somebody mends the internal topics in the calm that have a wrong number of partitions.
        self._is_mended = own.random() < 0.7
        has_old = own.random() < 0.4
        self.seats = [
            StreamsSeat(own.choice(self.groups), 0 if has_old and own.random() < 0.4 else 1, f"p{own.randrange(4)}")
            for _ in range(own.choice((2, 3, 3, 4, 6)))
        ]
        # While a topology waits for topics, members are refused if one of them has an end point, as in Kafka.
        self._endpoints = {seat for seat in self.seats if not self._internal(seat.group_id) and own.random() < 0.5}

    # The storm.

    def _act_more(self) -> None:
        rng, world = self.rng, self.world
        for work, counts in (
            (self._pretend, (0, 6)),
            (self._spoil_topics, (0, 0, 2, 5)),
            (self._set_replicas, (0, 2)),
            (self._delete, (0, 0, 3)),
        ):
            for _ in range(rng.choice(counts)):
                world.after(rng.randint(2 * SECOND, STORM_S * SECOND), partial(self._script, work))
        for _ in range(rng.choice((0, 0, 0, 1))):
            world.after(rng.randint(2 * SECOND, STORM_S * SECOND), self._shut_down)

    def _new_member(self, seat: Seat) -> GroupMember:
        assert isinstance(seat, StreamsSeat)
        timeouts = self.session_ms, self.rng.choice((1500, 3000, 3000, 6000))
        member = StreamsMember(self.surroundings, self.programs[seat.group_id], seat.version, seat.process_id, timeouts)
        member.has_endpoint = seat in self._endpoints
        return member

    def _shut_down(self) -> None:
        """A member has all others shut down."""
        member = self.rng.choice(self.seats).member
        if isinstance(member, StreamsMember) and member.is_alive:
            self._tell(-1, f"{member.name} wants all members of {member.group_id} to shut down")
            member.wants_shutdown = True

    async def _spoil_topics(self) -> None:
        """Delete or grow an internal topic."""
        names = self._internal(self.rng.choice(self.groups))
        if not names:
            return
        name = self.rng.choice(names)
        if self.rng.random() < 0.6:
            await self._ask_catalog(DeleteTopicsRequest(topic_names=[name], timeout_ms=3000), 5, DeleteTopicsResponse)
        else:
            grown = CreatePartitionsTopic(name, self.rng.randint(2, 9), None)
            await self._ask_catalog(CreatePartitionsRequest([grown], 3000), 3, CreatePartitionsResponse)

    async def _set_replicas(self) -> None:
        configs = [AlterableConfig(REPLICAS, 0, str(self.rng.randint(0, 2)))]
        request = IncrementalAlterConfigsRequest([AlterConfigsResource(GROUP, self.rng.choice(self.groups), configs)])
        await self._ask_catalog(request, 1, IncrementalAlterConfigsResponse)

    async def _delete(self) -> None:
        """Delete a group, if others do not come before the administrator does."""
        group_id = self.rng.choice(self.groups)
        if self.rng.random() < 0.7:
            for member in self._members(group_id):
                member.leave()
        client = self._client(self._shard(group_id), "administrator")
        await client.sleep(self.rng.choice((10, 100)))
        for (of_group, _), commits in self.surroundings.commits.items():
            commits.may_be_deleted |= of_group == group_id
        await self._delete_group(client, group_id)
        client.close()

    async def _pretend_as(self, client: Client, gone: Identity) -> ErrorCode | None:
        if self.rng.random() < 0.5:
            epoch = self.rng.choice((gone.epoch, gone.epoch, gone.epoch + 1, -1))
            request = StreamsGroupHeartbeatRequest(gone.group_id, gone.member_id, epoch)
            answer = await client.ask(request, StreamsMember.version, StreamsGroupHeartbeatResponse)
            return None if answer is None else ErrorCode(answer.error_code)
        return await commit_as(gone, self.surroundings, client)

    async def _ask_catalog(self, request: Message, version: int, response: type[Message]) -> None:
        client = self._client(CATALOG_SHARD, "administrator")
        await client.ask(request, version, response)
        client.close()

    # The calm.

    def _rest_more(self) -> None:
        if self._is_mended:
            self._scripts.append(Script(self._mend()))

    async def _mend(self) -> None:
        """Delete internal topics that have a wrong number of partitions: they are made anew."""
        client = self._client(CATALOG_SHARD, "administrator")
        while True:
            wrong = self._wrong_topics()
            if wrong:
                await client.ask(DeleteTopicsRequest(topic_names=wrong, timeout_ms=3000), 5, DeleteTopicsResponse)
            await client.sleep(MENDED_EVERY_MS)

    def _look_for_remains(self) -> None:
        left = [group_id for group_id in self.groups if self._view(group_id) != StreamsView()]
        if left:
            self.broken.append(f"left when all groups are deleted: {left}")

    # What is looked at.

    def _view_of(self, shard: GroupShard, offset: int, group_id: str, /) -> StreamsView:
        return streams_view_of(shard, offset, group_id)

    def _wrong_now(self, group_id: str, view: StreamsView) -> Iterator[str]:
        return wrong_with(group_id, view)

    def _not_settled(self, group_id: str, view: StreamsView, members: list[GroupMember]) -> Iterator[str]:
        streaming = [each for each in members if isinstance(each, StreamsMember)]
        process = self.serving(self._shard(group_id))
        assert process is not None
        replicas = process.daemon.rooms.hosting.node.group_settings(group_id).streams.num_standby_replicas
        return unsettled_streams(view, streaming, self.programs[group_id], self._all_counts(), replicas)

    def _wrong_with_log(self, written: Iterator[LogRecord]) -> Iterator[str]:
        return check_streams_log(written)

    def _all_counts(self) -> dict[str, int]:
        return {name: count for name, (_, count) in self._topics_now().items()}

    def _internal(self, group_id: str) -> list[str]:
        return sorted({name for version in (0, 1) for name in self.programs[group_id].internal_topics(version)})

    def _wrong_topics(self) -> list[str]:
        """Return the internal topics that have a wrong number of partitions, as far as anybody can know."""
        if self.serving(CATALOG_SHARD) is None:
            return []
        try:
            counts = self._all_counts()
        except CoordinatorError:
            return []
        views = {group_id: self._view(group_id) for group_id in self.groups}
        outcomes = [
            self.programs[group_id].outcome(view.topology_epoch, counts)
            for group_id, view in views.items()
            if view is not None and view.topology_epoch >= 0
        ]
        return sorted({name for outcome in outcomes for name in outcome.wrong_topics})


def _versions(own: Random, group_id: str) -> tuple[list[Subtopology], list[Subtopology]]:
    """Return the topologies of a program: the old one, and the new one, which mostly has state."""
    chance = own.random()
    if chance < 0.2:
        return [reading("t0")], [reading("t0"), reading("t1", SECOND_READER)]
    if chance < 0.5:
        return [reading("t0")], repartitioned("t0", f"{group_id}-through", f"{group_id}-counts")
    more = ("n0",) if own.random() < 0.3 else ()
    return [reading("t0")], [reading("t0"), with_store("t1", *more, log=f"{group_id}-log")]


run, told = ways_to_play(StreamsPlay)
