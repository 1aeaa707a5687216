"""Consumer groups with members of both protocols: they join, reconcile, commit, freeze, die, and come back, also in the other protocol.

Topics are created, grown and deleted; the wall clock is set back; loops are killed, stopped, and lose their power; disks are full; the
child that computes assignments dies. ``ownership.py`` says what must be true at every moment, ``group_views.py`` what must be true of
the server's state and of its log. After the calm every group settles within ``SETTLED_WITHIN_S`` and ``MOST_BEATS`` heartbeats of a
member; then all members go, and no group has any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from random import Random
from typing import Final

from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.runtime.partitioner import partition_for
from coordinator_server.server.cluster.nodes import CONTROLLER, loop_of
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from tests.simulation.classic_member import ClassicMember
from tests.simulation.client import Client, Script
from tests.simulation.group_member import COMMIT_VERSION, GroupMember, Identity, Subscription, Surroundings
from tests.simulation.group_views import IMPOSTOR, GroupView, check_log, check_state, unsettled, view_of
from tests.simulation.history import History, Op
from tests.simulation.loops_play import STORM_S, LoopsPlay
from tests.simulation.mirror import Mirror
from tests.simulation.native_member import NativeMember
from tests.simulation.world import MS, SECOND

PARTITIONS: Final = 4
LASTING: Final = {"t0": 3, "t1": 2}
PASSING: Final = ("n0", "n1")
MOST_PARTITIONS: Final = 9
SETTLED_WITHIN_S: Final = 20
STEADY_S: Final = 3
EMPTY_WITHIN_S: Final = 12
# Answered heartbeats of any member from the last change of a group's epoch until the group is settled.
MOST_BEATS: Final = 25
MOST_BEATS_WITH_REGEX: Final = 60
NAMES: Final = (
    Subscription(("t0", "t1")),
    Subscription(("t0", "t1")),
    Subscription(("t0",)),
    Subscription(("t1", "n0")),
    Subscription(("n0", "n1", "t0")),
    Subscription(()),
)
REGEXES: Final = (Subscription((), "t.*"), Subscription((), "[nt][01]"), Subscription(("t0",), "n.*"))


def run(seed: int, mutate: Callable[[ConsumersPlay], None] = lambda _: None) -> list[str]:
    """Play the whole of it; what went wrong. The same seed is the same play."""
    play = ConsumersPlay(seed)
    mutate(play)
    return play.run()


def told(seed: int) -> Iterator[str]:
    """Play it. Yield one line for each thing that happened, for people."""
    play = ConsumersPlay(seed)
    play.run()
    befallen = [f"{at_us / MS:12.3f} ---- {what}" for at_us, what in play.told]
    yield from sorted([*play.history.lines(), *befallen])


class Seat:
    """A place in a group: who sits there now."""

    def __init__(self, group_id: str, instance_id: str | None, subscriptions: tuple[Subscription, ...]) -> None:
        self.group_id = group_id
        self.instance_id = instance_id
        self.subscriptions = subscriptions
        # What a static member of the classic protocol subscribes to.
        self.as_classic: Subscription | None = None
        self.member: GroupMember | None = None

    @property
    def is_taken(self) -> bool:
        return self.member is not None and self.member.is_alive


class ConsumersPlay(LoopsPlay):
    """A play whose actors are members of consumer groups."""

    name = "consumers"
    trouble_counts = (0, 2, 8)

    def __init__(self, seed: int) -> None:
        own = Random(f"consumers {seed} settings")
        self.session_ms = own.choice((2000, 3000, 5000))
        self.policy = own.choice(("bidirectional", "bidirectional", "bidirectional", "upgrade", "downgrade", "disabled"))
        properties = {
            "offsets_topic_num_partitions": PARTITIONS,
            "group_min_session_timeout_ms": 1000,
            "group_initial_rebalance_delay_ms": own.choice((0, 0, 300)),
            "group_consumer_session_timeout_ms": self.session_ms,
            "group_consumer_min_session_timeout_ms": 1000,
            "group_consumer_heartbeat_interval_ms": own.choice((300, 500)),
            "group_consumer_min_heartbeat_interval_ms": 100,
            "group_consumer_assignment_interval_ms": own.choice((0, 0, 300, 1000)),
            "group_consumer_assignment_inline_max_size": own.choice((4000, 0)),
            "group_consumer_migration_policy": self.policy,
            "group_consumer_regex_refresh_interval_ms": 10_000,
        }
        super().__init__(seed, properties)
        self.history = History()
        self.surroundings = Surroundings(self.world, self._member_client)
        self.surroundings.counts = self._counts
        self.ledger = self.surroundings.ledger
        self.groups = [f"g{number}" for number in range(own.choice((1, 1, 2, 3)))]
        # Of each group, how many heartbeats a member sent between the last change of the group and the end of what followed from it.
        self._beats: dict[str, int] = {}
        self._own = own
        self._topics: dict[str, int] = dict(LASTING)
        self._mixed = {group_id: own.choice((0.0, 0.0, 0.5, 0.5, 1.0)) for group_id in self.groups}
        self._cooperative = {group_id: own.random() < 0.5 for group_id in self.groups}
        self.seats = [self._seat(number) for number in range(own.choice((2, 3, 3, 4, 6)))]
        self.mirrors = [self._mirror(loop) for loop in range(self.loops)]
        self._scripts: list[Script] = []
        # Members whose seats are taken by others.
        self._doubles: list[GroupMember] = []
        self._impostors = 0
        self._epochs: dict[str, int] = {}

    def _seat(self, number: int) -> Seat:
        own = self._own
        group_id = own.choice(self.groups)
        subscriptions = (own.choice(REGEXES),) if own.random() < 0.25 else (own.choice(NAMES[:2]), *NAMES)
        return Seat(group_id, f"i{number}" if own.random() < 0.4 else None, subscriptions)

    def _mirror(self, loop: int) -> Mirror:
        machine = self.machines[loop]
        mirror = Mirror(machine, self.broken.append, lambda shard: loop_of(shard, self.loops) == loop)
        machine.journaled = mirror.journaled
        return mirror

    # The storm.

    def _begin(self) -> None:
        created = Script(self._create_lasting())
        self.world.run_for(3 * SECOND)
        if not created.is_over:
            self.broken.append("topics were not created on a quiet day")
        self.surroundings.lasting = {name: topic_id for name, (topic_id, _) in self._topics_now().items() if name in LASTING}

    async def _create_lasting(self) -> None:
        client = self._client(CONTROLLER, "administrator")
        request = CreateTopicsRequest([CreatableTopic(name, count, 1) for name, count in LASTING.items()], 3000)
        answer = await client.ask(request, 7, CreateTopicsResponse)
        assert answer is not None
        assert not any(each.error_code for each in answer.topics)
        client.close()

    def _act(self) -> None:
        rng, world = self.rng, self.world
        for seat in self.seats:
            world.after(rng.randint(0, 2 * SECOND), partial(self._tend, seat))
        for _ in range(rng.choice((5, 15, 30))):
            world.after(rng.randint(SECOND, STORM_S * SECOND), self._trouble)
        for _ in range(rng.choice((0, 3, 8))):
            world.after(rng.randint(0, STORM_S * SECOND), partial(self._script, self._change_topics))
        for _ in range(rng.choice((0, 6))):
            world.after(rng.randint(2 * SECOND, STORM_S * SECOND), partial(self._script, self._pretend))
        for _ in range(rng.choice((0, 0, 2))):
            world.after(rng.randint(2 * SECOND, STORM_S * SECOND), partial(self._script, self._remove))
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
        rng = self.rng
        timeouts = self.session_ms, rng.choice((1500, 3000, 3000, 6000))
        has_regex = any(each.regex for each in seat.subscriptions)
        member: GroupMember
        if not has_regex and rng.random() < self._mixed[seat.group_id]:
            subscription = rng.choice((NAMES[0], NAMES[0], NAMES[2]))
            if seat.instance_id is not None:
                # Nobody would look at a new one: a classic group does not rebalance when a static member comes back.
                subscription = seat.as_classic = seat.as_classic or subscription
            classic = ClassicMember(self.surroundings, seat.group_id, seat.instance_id, subscription, timeouts)
            classic.is_cooperative = self._cooperative[seat.group_id]
            member = classic
        else:
            native = NativeMember(self.surroundings, seat.group_id, seat.instance_id, seat.subscriptions[0], timeouts)
            native.wishes = seat.subscriptions
            member = native
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
        if isinstance(member, NativeMember):
            member.is_coming_back = True
        if self.rng.random() < 0.7:
            member.leave()
        else:
            member.die()
        self.world.after(self.world.between(MS, SECOND), partial(self._come_back, seat))

    def _come_back(self, seat: Seat) -> None:
        if not seat.is_taken and not self.surroundings.is_calm:
            self._take(seat)

    def _set_clock(self) -> None:
        for machine in self.machines:
            machine.jump(-3_600_000)

    def _script(self, work: Callable[[], object]) -> None:
        if not self.surroundings.is_calm:
            self._scripts.append(Script(work()))  # type: ignore[arg-type]

    async def _change_topics(self) -> None:
        """Create, grow or delete a topic."""
        rng, client = self.rng, self._client(CONTROLLER, "administrator")
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

    async def _remove(self) -> None:
        """Remove a member by its id, as an administrator can."""
        member = self.rng.choice(self.seats).member
        if member is None or not member.is_alive or not member.member_id:
            return
        self._tell(-1, f"{member.name} is to be removed")
        life, request = member.life, LeaveGroupRequest(member.group_id, members=[MemberIdentity(member.member_id)])
        self.ledger.doubt(life)
        client = self._client(self._owner(member.group_id), "administrator")
        answer = await client.ask(request, 5, LeaveGroupResponse)
        client.close()
        # Without an answer it may happen as long as the server has the request.
        life.doubted_until_us = self.world.now_us + (0 if answer is not None else 20 * SECOND)

    async def _pretend(self) -> None:
        """Say in the name of a member that is gone what it might have said."""
        if not self.surroundings.gone:
            return
        gone = self.rng.choice(self.surroundings.gone)
        self._impostors += 1
        client = self._client(self._owner(gone.group_id), f"{IMPOSTOR}-{self._impostors}")
        error = await (self._pretend_to_commit if self.rng.random() < 0.5 else self._pretend_to_live)(client, gone)
        client.close()
        if error is ErrorCode.NONE:
            self.broken.append(f"{client.client_id} was taken for {gone}")

    async def _pretend_to_commit(self, client: Client, gone: Identity) -> ErrorCode | None:
        topic_id = self.surroundings.lasting["t0"]
        offset = self.surroundings.next_offset()
        self.surroundings.commits_of(gone.group_id, (topic_id, 0)).sent(offset)
        topic = OffsetCommitRequestTopic("t0", partitions=[OffsetCommitRequestPartition(0, offset)])
        request = OffsetCommitRequest(gone.group_id, gone.epoch, gone.member_id, topics=[topic])
        answer = await client.ask(request, COMMIT_VERSION, OffsetCommitResponse)
        if answer is None:
            return None
        error = ErrorCode(answer.topics[0].partitions[0].error_code)
        self.surroundings.commits_of(gone.group_id, (topic_id, 0)).answered(offset, error)
        return error

    async def _pretend_to_live(self, client: Client, gone: Identity) -> ErrorCode | None:
        epoch = self.rng.choice((gone.epoch, gone.epoch, gone.epoch + 1, -1))
        request = ConsumerGroupHeartbeatRequest(gone.group_id, gone.member_id, epoch)
        answer = await client.ask(request, 1, ConsumerGroupHeartbeatResponse)
        return None if answer is None else ErrorCode(answer.error_code)

    # The calm.

    def _calm(self) -> None:
        self._tell(-1, "calm")
        self.is_calm = self.surroundings.is_calm = True
        for script in self._scripts:
            script.abandon()
        self.neighbourhood.slow_odds = 0.0
        for machine in self.machines:
            machine.disk.mend()
            machine.resume()
            machine.child_death_odds = 0.0
        for double in self._doubles:
            double.die()
        for seat in self.seats:
            if seat.member is not None and seat.is_taken:
                seat.member.thaw()
            elif self.rng.random() < 0.7:
                self._take(seat)
        self._settle()
        self._go()
        self.broken += self.ledger.wrong
        self.broken += check_log(each for mirror in self.mirrors for each in mirror.written())

    def _settle(self) -> None:
        """Wait until every group is settled, and stays so."""
        began_us = settled_us = self.world.now_us
        what: list[str] = []
        while self.world.now_us < settled_us + STEADY_S * SECOND:
            self.world.run_for(SECOND // 10)
            what = self._unsettled()
            if what:
                settled_us = self.world.now_us
            if self.world.now_us > began_us + (SETTLED_WITHIN_S + STEADY_S) * SECOND:
                self.broken.append(f"not settled in {SETTLED_WITHIN_S} quiet seconds: {what}")
                return
        for group_id, beats in self._beats.items():
            has_regex = any(each.group_id == group_id and each.subscriptions[0].regex for each in self.seats)
            if beats > (MOST_BEATS_WITH_REGEX if has_regex else MOST_BEATS):
                self.broken.append(f"{group_id} settled after {beats} heartbeats")
        self._check()

    def _unsettled(self) -> list[str]:
        wrong = []
        if self.machines[CONTROLLER].serving is None:
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
            found = list(unsettled(view, members, self._topics_now(), self.policy))
            if found:
                wrong += [f"{group_id}: {each}" for each in found]
                self._beats[group_id] = max(self._beats.get(group_id, 0), *(member.beats for member in members), 0)
        return wrong

    def _go(self) -> None:
        """All members go, and no group has any."""
        for seat in self.seats:
            if seat.member is not None and seat.is_taken:
                seat.member.leave() if self.rng.random() < 0.5 else seat.member.die()
        self.world.run_for(EMPTY_WITHIN_S * SECOND)
        for group_id in self.groups:
            view = self._view(group_id)
            if view is None or view.members:
                self.broken.append(f"{group_id} has members after all have gone: {view}")
        self._check()

    # What is looked at.

    def _check(self) -> None:
        for group_id in self.groups:
            view = self._view(group_id)
            if view is not None:
                self.broken += check_state(group_id, view)
        for mirror in self.mirrors:
            mirror.check()

    def _members(self, group_id: str) -> list[GroupMember]:
        return [seat.member for seat in self.seats if seat.group_id == group_id and seat.member is not None and seat.is_taken]

    def _view(self, group_id: str) -> GroupView | None:
        """Return the server's state of a group; None if it is not served at the moment."""
        process = self.machines[self._owner(group_id)].serving
        if process is None:
            return None
        try:
            return process.daemon.parts.node.groups.read(partition_for(group_id, PARTITIONS), view_of, group_id)
        except CoordinatorError:
            return None

    def _topics_now(self) -> Mapping[str, tuple[bytes, int]]:
        process = self.machines[CONTROLLER].serving
        assert process is not None
        topics = process.daemon.parts.node.catalog.all_topics()
        return {topic.name: (topic.topic_id, topic.partitions) for topic in topics}

    def _counts(self) -> Mapping[str, int]:
        """Return the partitions of lasting topics, as of the last time that somebody could know."""
        process = self.machines[CONTROLLER].serving
        if process is not None:
            try:
                topics = [process.daemon.parts.node.catalog.topic(name) for name in LASTING]
                self._topics = {topic.name: topic.partitions for topic in topics if topic is not None}
            except CoordinatorError:
                pass
        return self._topics

    def _owner(self, group_id: str) -> int:
        return partition_for(group_id, PARTITIONS) % self.loops

    def _member_client(self, group_id: str, name: str, answered: Callable[[Op], None]) -> Client:
        return Client(self.machines[self._owner(group_id)].network, name, self._record, answered)

    def _client(self, loop: int, name: str) -> Client:
        return Client(self.machines[loop].network, name, self._record, lambda _: None)

    def _record(self, op: Op) -> None:
        op.number = len(self.history.ops)
        self.history.ops.append(op)
