"""Share groups: their members, the leaders of their share partitions, and administrators who move, delete and begin anew.

``groups_play.py`` has what befalls them; besides, leaders are replaced while they write, and the log is compacted.
``share_views.py`` says what must be true of the server's state and of its log, ``share_accounts.py`` what leaders must find.
After the calm every group settles, and exactly its initialized share partitions have states; then all members go, the groups are
deleted, and no state is left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from random import Random
from typing import Final

from coordinator_server.group.shard import GroupShard
from coordinator_server.kinds import SHARE_STATE
from coordinator_server.log.shards import ShardId
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.timeline import LATEST
from coordinator_server.server.cluster.view import CATALOG_SHARD
from coordinator_server.server.hosting.share_shards import ShareShards
from coordinator_server.share.shard import ShareShard
from protocol.error_codes import ErrorCode
from protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
)
from protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
    DeleteShareGroupOffsetsResponse,
)
from protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from tests.simulation.client import Client
from tests.simulation.group_member import GroupMember, Identity
from tests.simulation.groups_ending import DeletedGroupsPlay, ways_to_play
from tests.simulation.groups_play import LASTING, NAMES, PASSING, Seat
from tests.simulation.loops_play import STORM_S
from tests.simulation.mirror import LogRecord
from tests.simulation.ownership import Position
from tests.simulation.play import real_directory
from tests.simulation.share_accounts import Account
from tests.simulation.share_leader import ShareLeader
from tests.simulation.share_member import ShareMember
from tests.simulation.share_views import ShareView, check_share_log, check_share_state, share_view_of, unsettled_share
from tests.simulation.world import MS, SECOND

SHARE_PARTITIONS: Final = 3
MEMBERLESS: Final = "m"
"""A group that only administrators know."""
COMPACTED: Final = 0.5
COMPACTIONS: Final = 5
MOST_LEADERS: Final = 4
CALM_LEADERS_S: Final = 2
# After these an administrator's request has changed nothing, and never will.
_REFUSALS: Final = {ErrorCode.NON_EMPTY_GROUP, ErrorCode.GROUP_ID_NOT_FOUND}

States = dict[str, set[Position]]
"""The share partitions that have a state, by group."""


class SharesPlay(DeletedGroupsPlay):
    """A play whose actors are members of share groups, and leaders of share partitions."""

    name = "shares"

    def __init__(self, seed: int) -> None:
        own = Random(f"shares {seed} settings")
        session_ms = own.choice((2000, 3000, 5000))
        properties = {
            "share_coordinator_state_topic_num_partitions": SHARE_PARTITIONS,
            "share_coordinator_snapshot_update_records_per_snapshot": own.choice((0, 1, 4, 500)),
            "share_coordinator_cold_partition_snapshot_interval_ms": own.choice((1500, 300_000)),
            "group_share_session_timeout_ms": session_ms,
            "group_share_min_session_timeout_ms": 1000,
            "group_share_heartbeat_interval_ms": own.choice((300, 500)),
            "group_share_min_heartbeat_interval_ms": 100,
            "group_share_assignment_interval_ms": own.choice((0, 0, 300, 1000)),
        }
        super().__init__(seed, own, session_ms, properties)
        self.seats = [
            Seat(own.choice(self.groups), None, (own.choice(NAMES[1:5]), *NAMES[:5])) for _ in range(own.choice((1, 2, 4, 6)))
        ]
        self.groups.append(MEMBERLESS)
        self.accounts: dict[tuple[str, Position], Account] = {}
        self.is_compacted = self.loops == 1 and own.random() < COMPACTED
        self._leaders: list[ShareLeader] = []
        self._share_shard = ShareShards(SHARE_PARTITIONS)

    def run(self) -> list[str]:
        """Storm and calm, on real files if the log is compacted. Return what went wrong."""
        with real_directory(self.is_compacted) as directory:
            if directory is not None:
                self.machines[0].use(directory)
            return super().run()

    # The storm.

    def _act_more(self) -> None:
        rng, world = self.rng, self.world
        world.after(SECOND, partial(self._appoint, rng.choice((200, 500))))
        for _ in range(rng.choice((0, 6))):
            world.after(rng.randint(2 * SECOND, STORM_S * SECOND), partial(self._script, self._pretend))
        for _ in range(rng.choice((0, 0, 4, 10))):
            world.after(rng.randint(2 * SECOND, STORM_S * SECOND), partial(self._script, self._administer))
        for _ in range(rng.choice((0, 2, 4))):
            world.after(rng.randint(0, STORM_S * SECOND), partial(self._script, self._pass_a_topic))
        for _ in range(COMPACTIONS if self.is_compacted else 0):
            world.after(rng.randint(0, STORM_S * SECOND), self.machines[0].compact)

    def _new_member(self, seat: Seat) -> GroupMember:
        # The time of a rebalance means nothing to a share group.
        member = ShareMember(self.surroundings, seat.group_id, None, seat.subscriptions[0], (self.session_ms, self.session_ms))
        member.wishes = seat.subscriptions
        return member

    def _appoint(self, interval_ms: int) -> None:
        """Somebody becomes the leader of a share partition that a member has. The leader before may not know that it is none."""
        if self.surroundings.is_calm:
            return
        member = self.rng.choice(self.seats).member
        assigned = sorted(member.assigned) if isinstance(member, ShareMember) and member.is_alive else []
        if len(self._leaders) == MOST_LEADERS:
            self.rng.choice(self._leaders).end()
        if assigned and member is not None:
            self._lead(member.group_id, self.rng.choice(assigned))
        self.world.after(self.world.between(10 * MS, interval_ms * MS), partial(self._appoint, interval_ms))

    def _lead(self, group_id: str, position: Position) -> ShareLeader:
        account = self._account(group_id, position)
        for other in self._leaders:
            if other.account is account and self.rng.random() < 0.5:
                other.end()
        self._leaders = [each for each in self._leaders if each.is_alive]
        shard = ShardId(SHARE_STATE.topic, self._share_shard(group_id, *position))
        client = self._client(shard, f"leader-of-{account}")
        is_lasting = position[0] in self.surroundings.lasting.values()
        leader = ShareLeader(account, client, Random(str(self.rng.random())), self.rng.choice((100, 1000)), is_lasting=is_lasting)
        self._leaders.append(leader)
        return leader

    def _account(self, group_id: str, position: Position) -> Account:
        known = self.accounts.get((group_id, position))
        if known is None:
            known = Account(group_id, position, lambda: self.world.now_us, self.broken.append)
            self.accounts[group_id, position] = known
        return known

    async def _administer(self) -> None:
        """Move a group, or delete its offsets of a topic, or the group. Mostly it has members, and nothing happens."""
        rng = self.rng
        group_id = MEMBERLESS if rng.random() < 0.4 else rng.choice(self.groups)
        name = rng.choice(list(LASTING))
        if rng.random() < 0.7:
            await self._empty(group_id)
        topic_id = self.surroundings.lasting[name]
        count = self._counts()[name]
        client = self._client(self._shard(group_id), "administrator")
        self._perhaps_kill()
        chance = rng.random()
        if chance < 0.5:
            partitions = rng.sample(range(count), rng.randint(1, count))
            await self._move(client, group_id, name, topic_id, partitions)
        elif chance < 0.8:
            await self._delete_offsets(client, group_id, name, topic_id)
        else:
            await self._delete_group(client, group_id)
        client.close()

    async def _empty(self, group_id: str) -> None:
        """All members leave. Others may come before the administrator does."""
        for member in self._members(group_id):
            member.leave()
        client = self._client(self._shard(group_id), "administrator")
        await client.sleep(self.rng.choice((10, 100)))

    async def _move(self, client: Client, group_id: str, name: str, topic_id: bytes, partitions: Collection[int]) -> None:
        start_offset = self.rng.randint(0, 30)
        accounts = [self._account(group_id, (topic_id, partition)) for partition in partitions]
        for account in accounts:
            account.begins_anew(start_offset)
        named = [AlterShareGroupOffsetsRequestPartition(partition, start_offset) for partition in partitions]
        request = AlterShareGroupOffsetsRequest(group_id, [AlterShareGroupOffsetsRequestTopic(name, named)])
        answer = await client.ask(request, 0, AlterShareGroupOffsetsResponse, 3000)
        self._begun(accounts, None if answer is None else ErrorCode(answer.error_code), is_deleted=False)

    async def _delete_offsets(self, client: Client, group_id: str, name: str, topic_id: bytes) -> None:
        accounts = [
            each for (of_group, position), each in self.accounts.items() if (of_group, position[0]) == (group_id, topic_id)
        ]
        for account in accounts:
            account.begins_anew()
        request = DeleteShareGroupOffsetsRequest(group_id, [DeleteShareGroupOffsetsRequestTopic(name)])
        answer = await client.ask(request, 0, DeleteShareGroupOffsetsResponse, 3000)
        self._begun(accounts, None if answer is None else ErrorCode(answer.error_code), is_deleted=True)

    async def _delete_group(self, client: Client, group_id: str) -> ErrorCode | None:
        accounts = [each for (of_group, _), each in self.accounts.items() if of_group == group_id]
        for account in accounts:
            account.begins_anew()
        error = await super()._delete_group(client, group_id)
        # A member may have joined between the deletion of the states and that of the group.
        self._begun(accounts, ErrorCode.NONE if error is ErrorCode.NON_EMPTY_GROUP else error, is_deleted=True)
        return error

    def _begun(self, accounts: list[Account], error: ErrorCode | None, *, is_deleted: bool) -> None:
        has_happened = False if error in _REFUSALS else True if error is ErrorCode.NONE else None
        for account in accounts:
            account.began_anew(has_happened, is_deleted=is_deleted)

    async def _pass_a_topic(self) -> None:
        """A topic comes and goes."""
        rng, client, name = self.rng, self._client(CATALOG_SHARD, "administrator"), self.rng.choice(PASSING)
        await client.ask(CreateTopicsRequest([CreatableTopic(name, rng.randint(1, 3), 1)], 3000), 7, CreateTopicsResponse)
        await client.sleep(rng.randint(500, 3000))
        if self.loops > 1 and rng.random() < 0.5:
            # The others learn of the deletion when they start.
            self._kill_one(self.machines[rng.randrange(1, self.loops)])
        else:
            self._perhaps_kill()
        await client.ask(DeleteTopicsRequest(topic_names=[name], timeout_ms=3000), 5, DeleteTopicsResponse)
        client.close()

    def _perhaps_kill(self) -> None:
        """Have a loop die in the midst of what is about to begin, or before."""
        if self.rng.random() < 0.5:
            self.world.after(self.rng.choice((0, 5, 50)) * MS, self._kill)

    async def _pretend_as(self, client: Client, gone: Identity) -> ErrorCode | None:
        epoch = self.rng.choice((gone.epoch, gone.epoch, gone.epoch + 1, -1))
        request = ShareGroupHeartbeatRequest(gone.group_id, gone.member_id, epoch)
        answer = await client.ask(request, ShareMember.version, ShareGroupHeartbeatResponse)
        return None if answer is None else ErrorCode(answer.error_code)

    # The calm.

    def _rest_more(self) -> None:
        for leader in self._leaders:
            leader.end()

    def _go(self) -> Iterator[int]:
        yield from self._lead_on()
        yield from super()._go()

    def _lead_on(self) -> Iterator[int]:
        """Everybody whose share partitions are known to be there leads once more, and reads what was acknowledged."""
        views = {group_id: self._view(group_id) for group_id in self.groups}
        leaders = [
            self._lead(group_id, position)
            for group_id, view in views.items()
            for position in (sorted(view.initialized) if view is not None else ())
        ]
        yield CALM_LEADERS_S * SECOND
        for leader in leaders:
            if not leader.is_leading:
                self.broken.append(f"{leader.account} cannot be led on a quiet day")
            leader.end()

    def _look_for_remains(self) -> None:
        states = self._states()
        if states != {}:
            self.broken.append(f"left when all groups are deleted: {states}")

    # What is looked at.

    def _view_of(self, shard: GroupShard, offset: int, group_id: str, /) -> ShareView:
        return share_view_of(shard, offset, group_id)

    def _wrong_now(self, group_id: str, view: ShareView) -> Iterator[str]:
        if self.serving(CATALOG_SHARD) is None:
            return
        try:
            topic_ids = [topic_id for topic_id, _ in self._topics_now().values()]
        except CoordinatorError:
            return
        states = self._states()
        yield from check_share_state(group_id, view, topic_ids, None if states is None else states.get(group_id, set()))

    def _not_settled(self, group_id: str, view: ShareView, members: list[GroupMember]) -> Iterator[str]:
        states = self._states()
        of_group = None if states is None else states.get(group_id, set())
        sharing = [each for each in members if isinstance(each, ShareMember)]
        return unsettled_share(view, sharing, self._topics_now(), of_group)

    def _wrong_with_log(self, written: Iterator[LogRecord]) -> Iterator[str]:
        return check_share_log(written)

    def _states(self) -> States | None:
        """Return which share partitions have a state; None if a shard is not served at the moment."""
        found: States = {}
        for partition in range(SHARE_PARTITIONS):
            process = self.serving(ShardId(SHARE_STATE.topic, partition))
            if process is None:
                return None
            try:
                states = list(process.daemon.rooms.hosting.node.share_states.read(partition, _all_states))
            except CoordinatorError as refused:
                if refused.error is ErrorCode.NOT_COORDINATOR:
                    # Nobody has used this kind of shard yet.
                    continue
                return None
            for key, _ in states:
                found.setdefault(key.group_id, set()).add((key.topic_id, key.partition))
        return found


def _all_states(shard: ShareShard, _offset: int):  # type: ignore[no-untyped-def]
    return shard.share_partitions(LATEST)


run, told = ways_to_play(SharesPlay)
