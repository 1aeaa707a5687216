"""Conversions of large classic groups, prepared in steps: what each member is in the consumer group, and the bytes of its records.

That depends on the member alone, and takes most of the time of a conversion. A heartbeat that would convert a group of more than a
few hundred members waits until all of them are prepared, and runs then. What has changed since is prepared within the conversion.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

from coordinator_server.group.migration.upgrade import PreparedMembers, refuse_upgrade
from coordinator_server.group.registry import Groups
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.shard import DEFERRED, CoordinatorResult, Deferred, Reply
from protocol.error_codes import ErrorCode

MEMBERS_AT_ONCE: Final = 200
"""A smaller group is converted without preparation: it takes some milliseconds."""
MEMBERS_PER_STEP: Final = 100

Run = Callable[[PreparedMembers], CoordinatorResult[Any]]
"""Runs the operation of a request. Raises CoordinatorError."""


class _Waiting(NamedTuple):
    run: Run
    reply: Reply[Any]


class _Preparation:
    """A preparation in progress, and the requests that wait for it."""

    __slots__ = ("left", "members", "waiting")

    def __init__(self, members: PreparedMembers, member_ids: list[str]) -> None:
        self.members = members
        self.left: Iterator[str] = iter(member_ids)
        self.waiting: deque[_Waiting] = deque()


class Conversions:
    """The preparations of one shard."""

    __slots__ = ("_by_group", "_groups")

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._by_group: dict[str, _Preparation] = {}

    def take(self, group_id: str, run: Run, reply: Reply[Any]) -> bool:
        """Return whether a request that converts the group waits until that is prepared. It is answered then."""
        found = self._by_group.get(group_id)
        if found is None:
            groups = self._groups
            classic = None if group_id in groups.others else groups.classic.find(group_id)
            if classic is None or len(classic.members) <= MEMBERS_AT_ONCE:
                return False
            try:
                refuse_upgrade(groups.consumer_context.config, classic)
            except CoordinatorError:
                # The operation is refused, and says why.
                return False
            found = self._by_group[group_id] = _Preparation(PreparedMembers(groups, classic), list(classic.members))
            self._go_on(group_id)
        found.waiting.append(_Waiting(run, reply))
        return True

    def stop(self) -> None:
        """Refuse what waits: the shard is unloaded."""
        stopped, self._by_group = self._by_group, {}
        for group_id, found in stopped.items():
            self._groups.consumer_context.timer.cancel(_key(group_id))
            for each in found.waiting:
                each.reply.fail(ErrorCode.NOT_COORDINATOR)

    def _go_on(self, group_id: str) -> None:
        self._groups.consumer_context.timer.schedule(_key(group_id), 0, lambda: self._step(group_id))

    def _step(self, group_id: str) -> CoordinatorResult[Any]:
        """Prepare some members, or run one of the requests: the first one converts the group."""
        found = self._by_group[group_id]
        portion = list(islice(found.left, MEMBERS_PER_STEP))
        if portion:
            found.members.prepare(portion)
            self._go_on(group_id)
            return CoordinatorResult(DEFERRED)
        waiting = found.waiting.popleft()
        if found.waiting:
            self._go_on(group_id)
        else:
            del self._by_group[group_id]
        try:
            result = waiting.run(found.members)
        except CoordinatorError as refused:
            waiting.reply.fail(refused.error, refused.message)
            return CoordinatorResult(DEFERRED)
        except Exception:
            waiting.reply.fail(ErrorCode.UNKNOWN_SERVER_ERROR)
            raise
        return _answering(waiting.reply, result)


def _answering(reply: Reply[Any], result: CoordinatorResult[Any]) -> CoordinatorResult[Any]:
    """Return a result that answers a request which is not that of the operation any more."""
    on_append = result.on_append

    def answer(error: ErrorCode | None) -> None:
        if on_append is not None:
            on_append(error)
        if error is not None:
            reply.fail(error)
        else:
            reply.complete(result.response)

    assert not isinstance(result.response, Deferred)
    return CoordinatorResult(DEFERRED, result.records, answer, result.depends_on, attribution=result.attribution)


def _key(group_id: str) -> tuple[str, str]:
    return "conversion", group_id
