"""The group protocol, open for anybody's metadata and assignments: Kafka's class AbstractCoordinator for asyncio.

A subclass says what the members of a group send each other, and what the leader makes of it. The base class finds the coordinator,
joins and rejoins, sends heartbeats, and leaves. Its owner calls ``ensure_active_group`` again and again, or ``run``; all callbacks
but ``metadata`` and those of the group's leader run inside these calls, and never two at a time:

    on_join_prepare ── metadata ── perform_assignment (leader) ── on_join_complete      each rebalance
    on_join_prepare ── metadata ── on_assignment_kept (leader) ── on_join_complete      a static leader has returned
    on_lost ── on_join_prepare ── …                                                     after the membership was lost
    on_leave_prepare                                                                    at close
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

from coordinator_server.client.environment import SYSTEM, Backoff, Environment
from coordinator_server.client.errors import ClientError, Closed, MembershipLost, RetriableError, TimedOut
from coordinator_server.client.generation import Generation, GroupMember, MemberState
from coordinator_server.client.heartbeat_timer import HeartbeatTimer
from coordinator_server.client.heartbeats import Heartbeats
from coordinator_server.client.leave import leave_group
from coordinator_server.client.member import Member
from coordinator_server.client.network import GroupLink, Network
from coordinator_server.client.offsets import Committed, Offsets, TopicPartition
from coordinator_server.client.rebalance import JoinAgain, Rebalance
from coordinator_server.client.settings import ConnectionSettings, GroupSettings
from coordinator_server.client.topics import ensure_topic, partition_counts

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Coordinator(ABC):
    """A member of a group. Use it as an async context manager, or close it.

    Methods whose return type is awaitable or plain may be overridden as plain or as async methods.
    """

    def __init__(
        self, connection: ConnectionSettings | str, group: GroupSettings | str, *, environment: Environment = SYSTEM
    ) -> None:
        self.connection = ConnectionSettings.of(connection)
        self.group = GroupSettings.of(group)
        self.environment = environment
        self._network = Network(self.connection, environment)
        self._link = GroupLink(self._network, self.group.group_id)
        self._member = Member(self.group.group_id)
        self._timer = HeartbeatTimer(self.group, self.connection, environment)
        self._heartbeats = Heartbeats(self._member, self._timer, self._link, environment)
        self._offsets = Offsets(self._member, self._timer, self._link)
        self._join: asyncio.Task[bytes] | None = None
        self._one_caller = asyncio.Lock()
        self._caller: asyncio.Task[Any] | None = None
        self._patience: asyncio.Timeout | None = None
        self._is_closed = False
        self._is_gone = False

    # What a subclass says.

    @property
    @abstractmethod
    def protocol_type(self) -> str:
        """The class of the protocols, such as "consumer" or "connect". All members of a group have the same one."""

    @abstractmethod
    def metadata(self) -> Sequence[tuple[str, bytes]] | Awaitable[Sequence[tuple[str, bytes]]]:
        """Return the protocols that this member supports, the preferred one first, and the metadata for the leader of each."""

    @abstractmethod
    def perform_assignment(
        self, leader_id: str, protocol: str, members: Sequence[GroupMember]
    ) -> Mapping[str, bytes] | Awaitable[Mapping[str, bytes]]:
        """Return each member's assignment by member id. Called at the leader only, for the protocol that the group chose."""

    @abstractmethod
    def on_join_complete(self, generation: int, member_id: str, protocol: str, assignment: bytes) -> Awaitable[None] | None:
        """Take an assignment. If this raises or is cancelled, it is called again with the same assignment before anything else."""

    def on_assignment_kept(  # noqa: B027 - nothing by default
        self, leader_id: str, protocol: str, members: Sequence[GroupMember]
    ) -> Awaitable[None] | None:
        """Lead, and assign nothing: this member is a static leader that has returned, and all keep what they have (KIP-814)."""

    def on_join_prepare(self, generation: int, member_id: str) -> Awaitable[None] | None:  # noqa: B027 - nothing by default
        """Clean up before a rebalance, of which this generation (-1 for none) is the last one. Not called again if it raises."""

    def on_lost(self, generation: int, member_id: str, reason: MembershipLost) -> Awaitable[None] | None:  # noqa: B027 - nothing by default
        """Give up what was assigned in this generation: others may have it already. Not called again if it raises."""

    def on_leave_prepare(self) -> Awaitable[None] | None:  # noqa: B027 - nothing by default
        """Clean up before this member leaves, at ``close``."""

    # What the owner asks.

    @property
    def generation(self) -> Generation:
        """The present generation, also in the middle of a rebalance."""
        return self._member.generation

    @property
    def generation_if_stable(self) -> Generation | None:
        """The present generation; None unless this member has an assignment in it."""
        return self._member.generation if self._member.state is MemberState.STABLE else None

    @property
    def member_id(self) -> str:
        """The id that the coordinator gave to this member; "" before that."""
        return self._member.generation.member_id

    @property
    def is_leader(self) -> bool:
        """Whether this member performs the assignment of the present generation."""
        return self._member.is_leader

    @property
    def surely_member_until_s(self) -> float:
        """Until when, by ``environment.now_s``, no other member can have been given what this one has.

        That holds if the clocks of this process and of the coordinator run equally fast.
        """
        return self._timer.surely_member_until_s

    @property
    def is_closing(self) -> bool:
        """Whether ``close`` was called."""
        return self._is_closed

    def request_rejoin(self, reason: str) -> None:
        """Begin a rebalance at the next ``ensure_active_group``, for instance because ``metadata`` has changed."""
        self._member.request_rejoin(reason)

    def poll(self) -> None:
        """Note that the owner is alive, without waiting for anything (``max_poll_interval_s``)."""
        self._timer.poll()

    async def ensure_active_group(self, timeout_s: float | None = None) -> None:
        """Return when this member has an assignment and its callbacks have succeeded; rejoin if that is needed.

        Raises what a callback raised, and ClientError: Refused and FencedInstance cannot be cured by calling again, and TimedOut
        says that the rebalance goes on and that the next call continues it. ``timeout_s`` bounds the waits for the coordinator,
        not the callbacks; by default it is the rebalance timeout and a request timeout.
        """
        if timeout_s is None:
            timeout_s = self.group.rebalance_s + self.connection.request_timeout_s
        until_s = self.environment.now_s() + timeout_s
        async with self._turn(timeout_s):
            self._check_open()
            self._caller = asyncio.current_task()
            self.poll()
            if (failure := self._heartbeats.take_failure()) is not None:
                await self._notify_loss()
                raise failure
            async with self._until_closed():
                await self._link.ready_within(max(0.0, until_s - self.environment.now_s()))
            self._heartbeats.start(self.group, self.connection)
            backoff = Backoff(self.connection.retry_backoff_s, self.connection.retry_backoff_max_s, self.environment)
            while self._member.is_rejoin_needed or self._join is not None:
                wait_s = await self._rebalance_once(until_s, backoff)
                async with self._until_closed():
                    await asyncio.sleep(min(wait_s, max(0.0, until_s - self.environment.now_s())))

    async def wait_for_rejoin(self, timeout_s: float | None = None) -> bool:
        """Wait until ``ensure_active_group`` is needed; False after ``timeout_s``. The owner counts as alive meanwhile."""
        until_s = None if timeout_s is None else self.environment.now_s() + timeout_s
        while not (self._member.is_rejoin_needed or self._join is not None or self._heartbeats.failure is not None):
            self._check_open()
            self.poll()
            left_s = self.group.max_poll_interval_s / 3
            if until_s is not None:
                left_s = min(left_s, until_s - self.environment.now_s())
                if left_s <= 0:
                    return False
            self._member.changed.clear()
            try:
                async with asyncio.timeout(left_s):
                    await self._member.changed.wait()
            except TimeoutError:
                continue
        return True

    async def run(self) -> None:
        """Stay in the group until this is cancelled or the coordinator is closed. Raises what no retry can cure."""
        while True:
            try:
                await self.ensure_active_group()
                await self.wait_for_rejoin()
            except (RetriableError, MembershipLost):
                # A callback may have found out that the membership is lost: the next call rejoins.
                await self._link.pause()
            except Closed:
                return

    async def commit(
        self, offsets: Mapping[TopicPartition, int | Committed], metadata: str = "", *, timeout_s: float | None = None
    ) -> None:
        """Commit offsets in the present generation: the coordinator refuses them if this member is no longer in it.

        ``metadata`` is the text for each plain number. Raises MembershipLost, RebalanceInProgress, TimedOut, Refused; after
        TimedOut the commit may have happened.
        """
        self._check_connected()
        rows = {key: each if isinstance(each, Committed) else Committed(each, metadata) for key, each in offsets.items()}
        timeout_s = self.connection.api_timeout_s if timeout_s is None else timeout_s
        await self._offsets.commit(self.group, rows, timeout_s, self.environment.now_s)

    async def committed(
        self, partitions: Iterable[TopicPartition] | None = None, *, timeout_s: float | None = None
    ) -> dict[TopicPartition, Committed]:
        """Return the group's committed offsets: of these partitions, or all. A partition without one is missing."""
        self._check_connected()
        timeout_s = self.connection.api_timeout_s if timeout_s is None else timeout_s
        return await self._offsets.committed(self.group.group_id, partitions, self.connection, timeout_s)

    async def partition_counts(self, topics: Iterable[str]) -> dict[str, int]:
        """Return the number of partitions of each of these topics that exists."""
        self._check_open()
        return await partition_counts(self._link, topics, self.connection.request_timeout_s)

    async def ensure_topic(self, name: str, partitions: int) -> int:
        """Create a topic unless it exists: brokers keep offsets of existing topics only. Return its number of partitions."""
        self._check_open()
        return await ensure_topic(self._link, name, partitions, self.connection.request_timeout_s)

    async def close(self, *, leave: bool | None = None, timeout_s: float | None = None) -> None:
        """Leave the group and close all connections. Raises what ``on_leave_prepare`` or ``on_lost`` raises, after that.

        A static member stays in the group by default, so that it can come back within its session; ``leave`` decides otherwise.
        """
        if self._is_closed:
            return
        self._is_closed = True
        self._member.changed.set()
        join, self._join = self._join, None
        if join is not None:
            join.cancel()
        self._heartbeats.cancel()
        timeout_s = self.connection.request_timeout_s if timeout_s is None else timeout_s
        try:
            if join is not None:
                # Its failure is nobody's any more.
                await asyncio.gather(join, return_exceptions=True)
            await self._heartbeats.ended()
            await self._interrupt_caller(timeout_s)
            await self._notify_loss()
            await callback_result(self.on_leave_prepare())
        finally:
            try:
                await self._leave(leave, timeout_s)
            finally:
                self._is_gone = True
                self._network.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    # One rebalance.

    async def _rebalance_once(self, until_s: float, backoff: Backoff) -> float:
        """Try one rebalance. Return how long to wait before the next try, if there is one."""
        member = self._member
        await self._notify_loss()
        if member.needs_prepare:
            # Before the call: a callback that raises is not called again.
            member.needs_prepare = False
            await callback_result(self.on_join_prepare(member.generation.generation_id, member.generation.member_id))
        if self._join is None:
            self._join = self._new_join()
        await self._wait_for(self._join, until_s)
        try:
            assignment = self._join.result()
        except Exception as error:
            self._join = None
            if not isinstance(error, JoinAgain):
                member.request_rejoin(f"rebalance failed due to {type(error).__name__}")
            if not isinstance(error, RetriableError):
                await self._notify_loss()
                raise
            return backoff.next_s(may_be_at_once=isinstance(error, JoinAgain))
        await self._complete(assignment)
        return 0

    async def _complete(self, assignment: bytes) -> None:
        member = self._member
        generation = member.generation
        if generation.is_reset or member.state is not MemberState.STABLE:
            member.reset(MembershipLost("the generation ended before its assignment was taken"))
        else:
            member.assigned = generation
            protocol = generation.protocol_name or ""
            await callback_result(self.on_join_complete(generation.generation_id, generation.member_id, protocol, assignment))
            member.needs_prepare = True
        # Not reached if the callback raised: the next call begins with the same assignment.
        self._join = None

    def _new_join(self) -> asyncio.Task[bytes]:
        callbacks = (self._metadata, self._perform_assignment, self._keep_assignment)
        rebalance = Rebalance(self._member, self._timer, self._link, self.protocol_type, callbacks)
        run = rebalance.run(self.group, self.connection, self.environment)
        return asyncio.create_task(run, name=f"join of {self.group.group_id}")

    async def _wait_for(self, join: asyncio.Task[bytes], until_s: float) -> None:
        """Wait for a join, which goes on if the caller is cancelled or runs out of time."""
        await asyncio.wait({join}, timeout=max(0.0, until_s - self.environment.now_s()))
        if self._is_closed:
            raise Closed("the coordinator was closed")
        if not join.done():
            raise TimedOut("the rebalance has not ended yet; call again to continue it")

    async def _metadata(self) -> Sequence[tuple[str, bytes]]:
        return await callback_result(self.metadata())

    async def _perform_assignment(self, leader_id: str, protocol: str, members: Sequence[GroupMember]) -> Mapping[str, bytes]:
        return await callback_result(self.perform_assignment(leader_id, protocol, members))

    async def _keep_assignment(self, leader_id: str, protocol: str, members: Sequence[GroupMember]) -> None:
        await callback_result(self.on_assignment_kept(leader_id, protocol, members))

    async def _notify_loss(self) -> None:
        if (lost := self._member.take_loss()) is not None:
            generation, reason = lost
            await callback_result(self.on_lost(generation.generation_id, generation.member_id, reason))

    async def _leave(self, leave: bool | None, timeout_s: float) -> None:
        left = self._member.leave()
        if leave is None:
            leave = self.group.group_instance_id is None
        if leave and left is not None and not self._link.is_unknown:
            try:
                await leave_group(self._link, self.group.group_id, left, "the client is being closed", timeout_s)
            except ClientError:
                # The session times out.
                return

    @asynccontextmanager
    async def _turn(self, timeout_s: float) -> AsyncIterator[None]:
        """Let one caller at a time run callbacks."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._one_caller.acquire()
        except TimeoutError:
            raise TimedOut("a different call of ensure_active_group has not returned yet") from None
        try:
            yield
        finally:
            self._one_caller.release()

    @asynccontextmanager
    async def _until_closed(self) -> AsyncIterator[None]:
        """Bound a wait for the network: ``close`` ends it."""
        try:
            async with asyncio.timeout(None) as self._patience:
                yield
        except TimeoutError:
            raise Closed("the coordinator was closed") from None
        finally:
            self._patience = None
        self._check_open()

    async def _interrupt_caller(self, timeout_s: float) -> None:
        """Wait until no callback runs in a different task; it has ``timeout_s`` to return."""
        if self._patience is not None:
            self._patience.reschedule(asyncio.get_running_loop().time())
        if not self._one_caller.locked() or self._caller is asyncio.current_task():
            return
        try:
            async with asyncio.timeout(timeout_s), self._one_caller:
                pass
        except TimeoutError:
            _log.warning("group %s: a callback has not returned within %s s", self.group.group_id, timeout_s)

    def _check_connected(self) -> None:
        """Offsets may be committed by ``on_leave_prepare``, too."""
        if self._is_gone:
            raise Closed("the coordinator is closed")

    def _check_open(self) -> None:
        if self._is_closed:
            raise Closed("the coordinator is closed")


async def callback_result(value: T | Awaitable[T]) -> T:
    """Return what a callback returned, plain or async."""
    if inspect.isawaitable(value):
        awaited: T = await value
        return awaited
    return value
