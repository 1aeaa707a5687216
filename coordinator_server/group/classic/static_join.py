"""The return of a static member without its member id (KIP-345): a new id replaces the old one, which is fenced.

If the group is stable and its protocol does not change, no rebalance is needed: the new id is written to the log, and the join is
answered with the present generation. A leader gets ``skip_assignment`` (KIP-814). In any other state the member joins normally.
"""

from __future__ import annotations

from coordinator_server.group.classic.attempt import JoinAttempt
from coordinator_server.group.classic.context import ClassicContext
from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.member import ClassicGroupMember
from coordinator_server.group.classic.rebalance import Result, complete_if_all_joined, joined, prepare_or_complete
from coordinator_server.group.classic.records import group_metadata_record
from coordinator_server.group.classic.sessions import start_session
from coordinator_server.group.classic.state import COMPLETING_REBALANCE, STABLE
from coordinator_server.group.why import Why
from coordinator_server.machine.errors import operation_error
from coordinator_server.machine.provenance import because
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult
from protocol.error_codes import ErrorCode
from protocol.messages.join_group import JoinGroupResponse


def replace_static_member(
    classic: ClassicContext, group: ClassicGroup, old: ClassicGroupMember, member_id: str, attempt: JoinAttempt
) -> Result:
    """Replace the member ``old`` by ``member_id``, and answer the attempt now or later."""
    former_leader = group.leader_id or ""
    request = attempt.request
    member = group.replace_static_member(old, member_id)
    classic.timer.cancel(old.session_key)
    start_session(classic, group, member, member.session_timeout_ms)
    group.update(member, request.protocols, attempt.rebalance_timeout_ms, request.session_timeout_ms)
    group.await_join(member, attempt)
    reason = attempt.reason(Why.STATIC_MEMBER_RETURNED, member_id)
    if group.state is STABLE and group.select_protocol() == group.protocol_name:
        replacement = _Replacement(classic, group, old, member, former_leader, attempt.can_skip_assignment)
        assignments = {each.member_id: each.assignment for each in group.members.values()}
        record = group_metadata_record(group, assignments)
        why = because(reason)
        return CoordinatorResult(DEFERRED, [record], replacement.stored, attribution=why, on_overdue=replacement.refuse_overdue)
    if group.state in {STABLE, COMPLETING_REBALANCE}:
        # In the sync phase the leader may be computing assignments for the old id, so a rebalance is needed.
        return prepare_or_complete(classic, group, reason)
    return complete_if_all_joined(classic, group)


class _Replacement:
    """The state needed when the outcome of writing the new member id is known."""

    __slots__ = ("_can_skip_assignment", "_classic", "_former_leader", "_group", "_member", "_old")

    def __init__(
        self,
        classic: ClassicContext,
        group: ClassicGroup,
        old: ClassicGroupMember,
        member: ClassicGroupMember,
        former_leader: str,
        can_skip_assignment: bool,
    ) -> None:
        self._classic = classic
        self._group = group
        self._old = old
        self._member = member
        self._former_leader = former_leader
        self._can_skip_assignment = can_skip_assignment

    @property
    def _is_waiting(self) -> bool:
        return self._group.state is STABLE and self._group.members.get(self._member.member_id) is self._member

    def stored(self, error: ErrorCode | None) -> None:
        """Answer the join. Do nothing if a rebalance has started, which answers it and writes the new id again."""
        group, member = self._group, self._member
        if not self._is_waiting:
            return
        if error is not None:
            self._go_back(operation_error(error))
            return
        is_leader = group.leader_id == member.member_id
        is_skipping = is_leader and self._can_skip_assignment
        response = joined(group, member.member_id, group.described_members() if is_skipping else None)
        response.skip_assignment = is_skipping
        if not self._can_skip_assignment:
            # An older client that leads gets its old id as the leader, so that it does not compute assignments.
            response.leader = self._former_leader
        group.complete_join(member, response)

    def refuse_overdue(self) -> int:
        """Let the join wait no longer for the record. The replacement stays, if it is written."""
        if not self._is_waiting:
            return 0
        return int(self._group.complete_join(self._member, self._refusal(operation_error(ErrorCode.REQUEST_TIMED_OUT))))

    def _refusal(self, error: ErrorCode) -> JoinGroupResponse:
        response = joined(self._group, "")
        response.error_code = error
        response.leader = self._former_leader
        return response

    def _go_back(self, error: ErrorCode) -> None:
        classic, group, old, member = self._classic, self._group, self._old, self._member
        group.complete_join(member, self._refusal(error))
        classic.timer.cancel(member.session_key)
        again = group.replace_static_member(member, old.member_id)
        group.update(again, old.protocols, old.rebalance_timeout_ms, old.session_timeout_ms)
        start_session(classic, group, again, again.session_timeout_ms)
