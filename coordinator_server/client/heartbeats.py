"""The task that sends heartbeats, beside the owner's calls."""

from __future__ import annotations

import asyncio
import logging

from coordinator_server.client.environment import Environment
from coordinator_server.client.errors import ClientError, MembershipLost, RetriableError, known_code, refusal
from coordinator_server.client.generation import Generation, MemberState
from coordinator_server.client.heartbeat_timer import HeartbeatTimer
from coordinator_server.client.leave import leave_group
from coordinator_server.client.member import Member
from coordinator_server.client.network import GroupLink
from coordinator_server.client.settings import ConnectionSettings, GroupSettings
from protocol.error_codes import ErrorCode
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

_log = logging.getLogger(__name__)

_FIND_AGAIN = {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR}
_LOST = {ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID}


class Heartbeats:
    """Sends heartbeats while the member is in a generation and its owner is alive.

    ``failure`` is what ended the task: the owner gets it at its next call, and the call after that starts a new task.
    """

    def __init__(self, member: Member, timer: HeartbeatTimer, link: GroupLink, environment: Environment) -> None:
        self.failure: Exception | None = None
        self._member = member
        self._timer = timer
        self._link = link
        self._now_s = environment.now_s
        self._task: asyncio.Task[None] | None = None

    def start(self, group: GroupSettings, connection: ConnectionSettings) -> None:
        """Start the task, unless it runs."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(group, connection), name=f"heartbeats of {group.group_id}")

    def take_failure(self) -> Exception | None:
        """Return what ended the task, once."""
        failure, self.failure = self.failure, None
        return failure

    def cancel(self) -> None:
        """End the task."""
        if self._task is not None:
            self._task.cancel()

    async def ended(self) -> None:
        """Wait for the end of the task."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def _run(self, group: GroupSettings, connection: ConnectionSettings) -> None:
        try:
            while True:
                await self._step(group, connection)
        except Exception as error:  # noqa: BLE001 - whatever it is, the owner gets it
            _log.warning("group %s: heartbeats have stopped: %s", group.group_id, error)
            self.failure = error
            self._member.changed.set()

    async def _step(self, group: GroupSettings, connection: ConnectionSettings) -> None:
        timer, now_s = self._timer, self._now_s()
        if not self._member.state.is_joined:
            await self._member.joined.wait()
        elif now_s >= timer.poll_by_s:
            await self._give_up_owner(group, connection)
        elif self._link.is_unknown:
            await self._find(timer.poll_by_s - now_s)
        elif now_s >= timer.session_until_s:
            self._link.forget("session timed out without receiving a heartbeat response")
        elif now_s < timer.due_s:
            await asyncio.sleep(min(timer.due_s, timer.poll_by_s) - now_s)
        else:
            await self._beat(group, min(connection.request_timeout_s, timer.session_until_s - now_s))

    async def _find(self, timeout_s: float) -> None:
        try:
            await self._link.ready_within(timeout_s)
        except RetriableError:
            return
        self._timer.extend()

    async def _beat(self, group: GroupSettings, timeout_s: float) -> None:
        sent, sent_s = self._member.generation, self._timer.sent()
        request = HeartbeatRequest(group.group_id, sent.generation_id, sent.member_id, group.group_instance_id)
        try:
            answer = await self._link.call(request, HeartbeatResponse, timeout_s)
            self._answered(known_code(answer.error_code), sent, sent_s)
        except RetriableError as error:
            _log.debug("group %s: heartbeat failed: %s", group.group_id, error)
            self._timer.failed()

    def _answered(self, code: ErrorCode, sent: Generation, sent_s: float) -> None:
        member = self._member
        if code is ErrorCode.NONE:
            self._timer.acknowledged(sent_s, is_stable=member.generation == sent and member.state is MemberState.STABLE)
        elif code is ErrorCode.REBALANCE_IN_PROGRESS:
            # The member keeps its session while it rejoins.
            self._timer.acknowledged(sent_s, is_stable=False)
            if member.state is MemberState.STABLE and member.generation == sent:
                member.request_rejoin("group is already rebalancing")
        elif code in _LOST:
            if member.generation != sent:
                _log.debug("group %s: %s for a generation that is over", member.group_id, code.name)
                return
            reason = f"encountered {code.name} from Heartbeat response"
            member.reset(MembershipLost(reason, code), keep_member_id=code is ErrorCode.ILLEGAL_GENERATION)
            if code is ErrorCode.FENCED_INSTANCE_ID:
                raise refusal("Heartbeat", code)
        else:
            if code in _FIND_AGAIN:
                self._link.forget(f"Heartbeat: {code.name}")
            raise refusal("Heartbeat", code)

    async def _give_up_owner(self, group: GroupSettings, connection: ConnectionSettings) -> None:
        """Leave the group: the owner does not call any more. A static member stays until its session ends, as in Kafka."""
        generation = self._member.generation
        reason = f"the owner has not called ensure_active_group or poll for {group.max_poll_interval_s:g} s"
        self._member.reset(MembershipLost(reason))
        if group.group_instance_id is None and generation.has_member_id and not self._link.is_unknown:
            try:
                await leave_group(self._link, group.group_id, generation, reason, connection.request_timeout_s)
            except ClientError as error:
                _log.info("group %s: LeaveGroup failed: %s", group.group_id, error)
