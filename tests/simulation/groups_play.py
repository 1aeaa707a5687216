"""Groups with members: what the plays of consumer groups, share groups and streams groups have in common.

Members sit in seats: they join, freeze, die, and come back. Topics are created, grown and deleted; the wall clock is set back;
loops are killed, stopped, and lose their power; disks are full. After the calm every group settles;
then all members go, and no group has any.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from random import Random
from typing import Any, Final

from coordinator_server.catalog.shard import CatalogShard
from coordinator_server.group.shard import GroupShard
from coordinator_server.kinds import GROUPS
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.server.cluster.view import CATALOG_SHARD
from protocol.error_codes import ErrorCode
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from tests.simulation.client import Client, Script
from tests.simulation.epochs_log import IMPOSTOR
from tests.simulation.group_member import GroupMember, Identity, Subscription, Surroundings
from tests.simulation.history import History, Op
from tests.simulation.loops_play import STORM_S, LoopsPlay
from tests.simulation.mirror import LogRecord
from tests.simulation.world import MS, SECOND

PARTITIONS: Final = 4
LASTING: Final = {"t0": 3, "t1": 2}
PASSING: Final = ("n0", "n1")
MOST_PARTITIONS: Final = 9
SETTLED_WITHIN_S: Final = 20
STEADY_S: Final = 3
EMPTY_WITHIN_S: Final = 12
# What a loop tells another over a slow link takes up to so long.
_SLOW_LINK_S: Final = 8
_AGAIN_MS: Final = 100
NAMES: Final = (
    Subscription(("t0", "t1")),
    Subscription(("t0", "t1")),
    Subscription(("t0",)),
    Subscription(("t1", "n0")),
    Subscription(("n0", "n1", "t0")),
    Subscription(()),
)


class Seat:
    """A place in a group: who sits there now."""

    def __init__(self, group_id: str, instance_id: str | None, subscriptions: tuple[Subscription, ...]) -> None:
        self.group_id = group_id
        self.instance_id = instance_id
        self.subscriptions = subscriptions
        self.member: GroupMember | None = None

    @property
    def is_taken(self) -> bool:
        return self.member is not None and self.member.is_alive


class GroupsPlay(LoopsPlay):
    """A play whose actors are members of groups. ``own`` draws what there is, apart from what befalls it."""

    # Answered heartbeats of any member from the last change of a group's epoch until the group is settled.
    most_beats = 25
    trouble_counts = (0, 2, 8)
    # The first letter of the names of its groups.
    letter = "g"

    def __init__(self, seed: int, own: Random, session_ms: int, properties: Mapping[str, Any]) -> None:
        super().__init__(seed, {"offsets_topic_num_partitions": PARTITIONS, **properties})
        self.session_ms = session_ms
        self.history = History()
        self.surroundings = Surroundings(self.world, self._member_client)
        self.surroundings.counts = self._counts
        self.ledger = self.surroundings.ledger
        self.groups = [f"{self.letter}{number}" for number in range(own.choice((1, 1, 2, 3)))]
        # Of each group, how many heartbeats a member sent between the last change of the group and
        # the end of what followed from it.
        self._beats: dict[str, int] = {}
        self._own = own
        self._topics: dict[str, int] = dict(LASTING)
        self.seats: list[Seat] = []
        self.mirrors = self._mirrors()
        self._scripts: list[Script] = []
        # Members whose seats are taken by others.
        self._doubles: list[GroupMember] = []
        self._epochs: dict[str, int] = {}
        self._impostors = 0

    # What a play of one kind of groups adds.

    @abstractmethod
    def _new_member(self, seat: Seat) -> GroupMember:
        """Return who takes a seat."""

    @abstractmethod
    def _view_of(self, shard: GroupShard, offset: int, group_id: str, /) -> Any:
        """Return the state of a group: its ``epoch``, its ``members``, and more."""

    @abstractmethod
    def _wrong_now(self, group_id: str, view: Any) -> Iterator[str]:
        """Yield what must not be, at any moment."""

    @abstractmethod
    def _not_settled(self, group_id: str, view: Any, members: list[GroupMember]) -> Iterator[str]:
        """Yield what is not as it has to be when nothing has happened for a while."""

    def _most_beats(self, _group_id: str) -> int:
        """Return how many heartbeats of a member a group may take to settle after its epoch has changed."""
        return self.most_beats

    @abstractmethod
    async def _pretend_as(self, client: Client, gone: Identity) -> ErrorCode | None:
        """Say in the name of a member that is gone what it might have said. Return the answer, if one comes."""

    def _act_more(self) -> None:
        """Draw what else somebody does in the storm."""

    def _rest_more(self) -> None:
        """End what else there was in the storm."""

    def _end_groups(self) -> Iterator[int]:
        """Do something with groups without members, after the calm. Yield how long to wait, in us."""
        yield from ()

    @abstractmethod
    def _wrong_with_log(self, written: Iterator[LogRecord]) -> Iterator[str]:
        """Yield what is wrong with all that was written."""

    def lines(self) -> Iterator[str]:
        """Yield one line for each thing that has happened, for people."""
        yield from sorted([*self.history.lines(), *super().lines()])

    # The storm.

    def _begin(self) -> None:
        created = Script(self._create_lasting())
        self.world.run_for(3 * SECOND)
        if not created.is_over:
            # The answer waits for a loop whose link is slow.
            self.world.run_for(2 * _SLOW_LINK_S * SECOND)
        if not created.is_over:
            created.abandon()
            self.broken.append("topics were not created on a quiet day")
        self.surroundings.lasting = {name: topic_id for name, (topic_id, _) in self._topics_now().items() if name in LASTING}

    async def _create_lasting(self) -> None:
        client = self._client(CATALOG_SHARD, "administrator")
        request = CreateTopicsRequest([CreatableTopic(name, count, 1) for name, count in LASTING.items()], 3000)
        while (answer := await client.ask(request, 7, CreateTopicsResponse, 2 * _SLOW_LINK_S * 1000)) is None:
            # A node whose link to the controller is slow has no lease of the catalog, and hangs up: clients ask again.
            await client.sleep(_AGAIN_MS)
        assert {each.error_code for each in answer.topics} <= {ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS}
        client.close()

    def _act(self) -> None:
        rng, world = self.rng, self.world
        for seat in self.seats:
            world.after(rng.randint(0, 2 * SECOND), partial(self._tend, seat))
        for _ in range(rng.choice((5, 15, 30))):
            world.after(rng.randint(SECOND, STORM_S * SECOND), self._trouble)
        for _ in range(rng.choice((0, 3, 8))):
            world.after(rng.randint(0, STORM_S * SECOND), partial(self._script, self._change_topics))
        self._act_more()
        for _ in range(rng.choice((0, 0, 2))):
            world.after(rng.randint(SECOND, STORM_S * SECOND), self._set_clock)

    def _tend(self, seat: Seat) -> None:
        """Somebody comes when a seat is free."""
        if self.surroundings.is_calm:
            return
        if not seat.is_taken:
            self._take(seat)
        self.world.after(self.world.between(100 * MS, 4 * SECOND), partial(self._tend, seat))

    def _take(self, seat: Seat) -> None:
        member = self._new_member(seat)
        if seat.member is not None and seat.is_taken:
            self._doubles.append(seat.member)
        seat.member = member
        self._tell(-1, f"{member.name} sits down in {seat.group_id} as {seat.instance_id}, for {member.subscription}")
        member.start()

    def _trouble(self) -> None:
        rng, seat = self.rng, self.rng.choice(self.seats)
        member = seat.member
        if self.surroundings.is_calm or member is None or not member.is_alive:
            return
        what, do = rng.choice(
            (
                ("dies", member.die),
                ("leaves", member.leave),
                ("restarts", partial(self._restart, seat)),
                ("restarts", partial(self._restart, seat)),
                ("blinks", partial(member.freeze, rng.randint(10, 1500))),
                ("freezes", partial(member.freeze, rng.randint(self.session_ms, 3 * self.session_ms))),
                ("is cut off", member.client.cut),
                ("is cut off", member.client.cut),
                ("does not read", partial(member.client.stall, rng.randint(100, 3000))),
                ("has a double", partial(self._take, seat) if rng.random() < 0.3 else member.client.cut),
            )
        )
        self._tell(-1, f"{member.name} {what}")
        do()

    def _restart(self, seat: Seat) -> None:
        """End, and come back at once: as a client that is updated does, maybe in the other protocol."""
        member = seat.member
        assert member is not None
        member.is_coming_back = True
        if self.rng.random() < 0.7:
            member.leave()
        else:
            member.die()
        self.world.after(self.world.between(MS, SECOND), partial(self._come_back, seat))

    def _come_back(self, seat: Seat) -> None:
        if not seat.is_taken and not self.surroundings.is_calm:
            self._take(seat)

    def _script(self, work: Callable[[], object]) -> None:
        if not self.surroundings.is_calm:
            self._scripts.append(Script(work()))  # type: ignore[arg-type]

    async def _change_topics(self) -> None:
        """Create, grow or delete a topic."""
        rng, client = self.rng, self._client(CATALOG_SHARD, "administrator")
        chance = rng.random()
        if chance < 0.4:
            name = rng.choice(list(LASTING))
            count = min(self._counts()[name] + rng.choice((1, 2)), MOST_PARTITIONS)
            request = CreatePartitionsRequest([CreatePartitionsTopic(name, count, None)], 3000)
            await client.ask(request, 3, CreatePartitionsResponse)
        elif chance < 0.75:
            create = CreateTopicsRequest([CreatableTopic(rng.choice(PASSING), rng.randint(1, 3), 1)], 3000)
            await client.ask(create, 7, CreateTopicsResponse)
        else:
            await client.ask(DeleteTopicsRequest(topic_names=[rng.choice(PASSING)], timeout_ms=3000), 5, DeleteTopicsResponse)
        client.close()

    # The calm.

    def _rest(self) -> None:
        super()._rest()
        self.surroundings.is_calm = True
        for script in self._scripts:
            script.abandon()
        for double in self._doubles:
            double.die()
        for seat in self.seats:
            if seat.member is not None and seat.is_taken:
                seat.member.thaw()
            elif self.rng.random() < 0.7:
                self._take(seat)
        self._rest_more()

    def _wind_down(self) -> Iterator[int]:
        yield from self._settle()
        yield from self._go()
        yield from self._end_groups()

    def _start_again(self) -> Iterator[int]:
        """It does not; all that was written is looked at."""
        yield from ()
        self.broken += self.ledger.wrong
        self.broken += self._wrong_with_log(each for mirror in self.mirrors for each in mirror.written())

    def _settle(self) -> Iterator[int]:
        """Wait until every group is settled, and stays so."""
        began_us = settled_us = self.world.now_us
        what: list[str] = []
        while self.world.now_us < settled_us + STEADY_S * SECOND:
            yield SECOND // 10
            what = self._unsettled()
            if what:
                settled_us = self.world.now_us
            if self.world.now_us > began_us + (SETTLED_WITHIN_S + STEADY_S) * SECOND:
                self.broken.append(f"not settled in {SETTLED_WITHIN_S} quiet seconds: {what}")
                return
        for group_id, beats in self._beats.items():
            if beats > self._most_beats(group_id):
                self.broken.append(f"{group_id} settled after {beats} heartbeats")
        self._check()

    def _unsettled(self) -> list[str]:
        wrong = []
        if self.serving(CATALOG_SHARD) is None:
            return ["the controller does not serve"]
        for group_id in self.groups:
            view, members = self._view(group_id), self._members(group_id)
            if view is None:
                wrong.append(f"{group_id} is not served")
                continue
            if view.epoch != self._epochs.get(group_id):
                self._epochs[group_id] = view.epoch
                for member in members:
                    member.beats = 0
            found = list(self._not_settled(group_id, view, members))
            if found:
                wrong += [f"{group_id}: {each}" for each in found]
                self._beats[group_id] = max(self._beats.get(group_id, 0), *(member.beats for member in members), 0)
        return wrong

    def _go(self) -> Iterator[int]:
        """All members go, and no group has any."""
        for seat in self.seats:
            if seat.member is not None and seat.is_taken:
                seat.member.leave() if self.rng.random() < 0.5 else seat.member.die()
        yield EMPTY_WITHIN_S * SECOND
        for group_id in self.groups:
            view = self._view(group_id)
            if view is None or view.members:
                self.broken.append(f"{group_id} has members after all have gone: {view}")
        self._check()

    async def _pretend(self) -> None:
        """Pretend to be a member that is gone. Nobody may be taken in."""
        if not self.surroundings.gone:
            return
        gone = self.rng.choice(self.surroundings.gone)
        self._impostors += 1
        client = self._client(self._shard(gone.group_id), f"{IMPOSTOR}-{self._impostors}")
        error = await self._pretend_as(client, gone)
        client.close()
        if error is ErrorCode.NONE:
            self.broken.append(f"{client.client_id} was taken for {gone}")

    # What is looked at.

    def _check(self) -> None:
        for group_id in self.groups:
            view = self._view(group_id)
            if view is not None:
                self.broken += self._wrong_now(group_id, view)
        for mirror in self.mirrors:
            mirror.check()

    def _members(self, group_id: str) -> list[GroupMember]:
        return [seat.member for seat in self.seats if seat.group_id == group_id and seat.member is not None and seat.is_taken]

    def _view(self, group_id: str) -> Any:
        """Return the server's state of a group; None if it is not served at the moment."""
        process = self.serving(self._shard(group_id))
        if process is None:
            return None
        try:
            return process.daemon.rooms.hosting.node.groups.read(self._shard(group_id).partition, self._view_of, group_id)
        except CoordinatorError:
            return None

    def _topics_now(self) -> Mapping[str, tuple[bytes, int]]:
        process = self.serving(CATALOG_SHARD)
        assert process is not None
        topics = process.daemon.rooms.hosting.node.catalog.read(CatalogShard.all_topics)
        return {topic.name: (topic.topic_id, topic.partitions) for topic in topics}

    def _counts(self) -> Mapping[str, int]:
        """Return the partitions of lasting topics, as of the last time that somebody could know."""
        process = self.serving(CATALOG_SHARD)
        if process is not None:
            try:
                topics = [process.daemon.rooms.hosting.node.catalog.read(CatalogShard.topic, name) for name in LASTING]
                self._topics = {topic.name: topic.partitions for topic in topics if topic is not None}
            except CoordinatorError:
                pass
        return self._topics

    def _shard(self, group_id: str) -> ShardId:
        return self.shard_of(GROUPS.topic, group_id)

    def _member_client(self, group_id: str, name: str, answered: Callable[[Op], None]) -> Client:
        return self.client_of(self._shard(group_id), name, self._record, answered)

    def _client(self, shard: ShardId, name: str) -> Client:
        return self.client_of(shard, name, self._record, lambda _: None)

    def _record(self, op: Op) -> None:
        op.number = len(self.history.ops)
        self.history.ops.append(op)
