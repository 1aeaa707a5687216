"""Target assignments of large groups, which a child process computes, so that the loop goes on.

    heartbeat ──► timer, at once ──► task in the child ──► write operation with the child's records

Until the records are written, heartbeats are answered with the old target. The task gets the group as it has been replayed, not
as the heartbeat would change it, because the heartbeat may fail. The result is discarded if the group cannot use it any more;
the next heartbeat then begins again. So a child that dies, or a shard that moves, delays a target and does nothing else.

A target of very many topics is decoded in a turn of its own, before its member asks for it.

A target that cannot be computed or written is not tried again before the group's epoch changes. Members that have a target keep
it. Those that have none get an error.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from coordinator_server.config import Config
from coordinator_server.group.modern.group import ModernGroup
from coordinator_server.group.modern.group_table import GroupTable
from coordinator_server.group.modern.target_task import ComputedTargets
from coordinator_server.group.why import Why
from coordinator_server.machine.block import EncodedRecord, EncodedRecords
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.executor import CoordinatorExecutor, Failed, Task
from coordinator_server.machine.provenance import Reason, because
from coordinator_server.machine.shard import Clock, CoordinatorResult, CoordinatorTimer, Report
from protocol.coordinator_records import GROUP_SERDE, CoordinatorRecord
from protocol.error_codes import ErrorCode

_NOTHING: Final[CoordinatorResult[None]] = CoordinatorResult(None)

# The size of a record, in bytes, from which its target is decoded ahead: one partition of each of 1,400 topics.
_LARGE: Final = 1 << 15

G = TypeVar("G", bound=ModernGroup[Any, Any])
G_contra = TypeVar("G_contra", bound=ModernGroup[Any, Any], contravariant=True)


class TargetServices(Protocol):
    """The services of a shard that background targets use. Without an executor, the loop computes all targets."""

    @property
    def config(self) -> Config: ...

    @property
    def timer(self) -> CoordinatorTimer: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def report(self) -> Report: ...

    @property
    def executor(self) -> CoordinatorExecutor | None: ...


class TargetRules(NamedTuple, Generic[G_contra]):
    """What a group type adds: its task, and the largest size that the loop computes.

    ``describe`` returns the argument of the task: the group as it was replayed.
    """

    task: Task[Any, ComputedTargets]
    inline_max_size: int
    describe: Callable[[G_contra], Any]


class _MadeFor(NamedTuple):
    """The state that a target is computed for."""

    group: ModernGroup[Any, Any]
    epoch: int
    member_ids: frozenset[str]
    reverts: int


class _RefusedTarget(NamedTuple):
    """A target assignment that could not be computed or written."""

    group: ModernGroup[Any, Any]
    epoch: int
    message: str


class BackgroundTargets(Generic[G]):
    """The targets of the large groups of one type in one shard."""

    def __init__(self, groups: GroupTable[G], services: TargetServices, rules: TargetRules[G]) -> None:
        self._groups = groups
        self._services = services
        self._rules = rules
        # In the keys of timers and tasks.
        self._name = f"{groups.records.type_name}-target"
        # The last one of a group, until the group's epoch rises.
        self._refused: dict[str, _RefusedTarget] = {}

    def take(self, group: G, group_epoch: int, size: Callable[[], int], has_target: Callable[[], bool]) -> bool:
        """Return whether the group's next target is left to a child process, and have one compute it.

        ``size`` returns what the time of the assignment is proportional to, and ``has_target`` whether the requesting member has a
        target. Raises UNKNOWN_SERVER_ERROR if the target was refused and the member has none.
        """
        if self._services.executor is None:
            return False
        refused = self._refusal(group, group_epoch)
        if refused is not None:
            if not has_target():
                raise CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR, refused.message)
            return True
        key = self._key(group.group_id)
        if self._is_scheduled(key):
            return True
        if size() <= self._rules.inline_max_size:
            return False
        self._services.timer.schedule(key, 0, partial(self._begin, group.group_id))
        return True

    def is_left_to_child(self, group: G) -> bool:
        """Return whether a child process is computing the group's next target, or that target was refused."""
        return self._is_scheduled(self._key(group.group_id)) or self._refusal(group, group.group_epoch) is not None

    def stop(self) -> None:
        """Forget what waits for a task: the shard is unloaded."""
        self._refused.clear()
        for group_id in self._groups.by_id:
            self._services.timer.cancel(self._key(group_id))
            self._services.timer.cancel(self._reading_key(group_id))

    def _is_scheduled(self, key: Hashable) -> bool:
        executor = self._services.executor
        return executor is not None and (executor.is_scheduled(key) or self._services.timer.is_scheduled(key))

    def _refusal(self, group: G, group_epoch: int) -> _RefusedTarget | None:
        refused = self._refused.get(group.group_id)
        return refused if refused is not None and refused.group is group and refused.epoch >= group_epoch else None

    def _key(self, group_id: str) -> Hashable:
        return self._name, group_id

    def _reading_key(self, group_id: str) -> Hashable:
        return f"{self._name}-read", group_id

    def _begin(self, group_id: str) -> CoordinatorResult[None]:
        """Schedule the task, unless the heartbeat that requested it failed and there is nothing to do."""
        group, executor = self._groups.by_id.get(group_id), self._services.executor
        assert executor is not None
        if group is not None and group.assignment_epoch < group.group_epoch:
            made_for = _MadeFor(group, group.group_epoch, frozenset(group.members), self._groups.reverts)
            request = self._rules.describe(group)
            executor.schedule(self._key(group_id), self._rules.task, request, partial(self._write, made_for))
        return _NOTHING

    def _write(self, made_for: _MadeFor, outcome: ComputedTargets | Failed) -> CoordinatorResult[None]:
        """Write what the child has computed."""
        group = made_for.group
        if not self._is_usable(made_for):
            return _NOTHING
        if isinstance(outcome, Failed) or outcome.failure:
            why = "the assignor failed" if isinstance(outcome, Failed) else outcome.failure
            self._refuse(made_for, f"Failed to compute a new target assignment for epoch {made_for.epoch}: {why}")
            return _NOTHING
        # A member that has left since has no target, and is not to get one.
        targets = list(zip(outcome.member_ids, outcome.records, strict=True))
        if not group.members.keys() >= made_for.member_ids:
            targets = [each for each in targets if each[0] in group.members]
        large = [member_id for member_id, (_, value) in targets if value is not None and len(value) >= _LARGE]
        epoch = self._groups.records.target_epoch(group.group_id, made_for.epoch, self._services.clock.wall_ms())
        of_epoch = GROUP_SERDE.encode_key(epoch), GROUP_SERDE.encode_value(epoch)
        return CoordinatorResult(
            None,
            EncodedRecords(
                [*(record for _, record in targets), of_epoch], GROUP_SERDE.decode, partial(self._keep, group, targets, epoch)
            ),
            partial(self._settle, made_for, large),
            attribution=because(Reason(Why.ASSIGNMENT_DUE)),
        )

    def _is_usable(self, made_for: _MadeFor) -> bool:
        """Return whether the group can have this target.

        A target for an earlier epoch is as good as one that was computed at that epoch, because a newer one follows. It must not
        have partitions of a member whose target was inherited since by a static member with a new id.
        """
        group = made_for.group
        if self._groups.by_id.get(group.group_id) is not group or self._groups.reverts != made_for.reverts:
            return False
        if group.assignment_epoch >= made_for.epoch:
            return False
        if made_for.epoch == group.group_epoch:
            return group.members.keys() == made_for.member_ids
        return group.targets.keys() <= made_for.member_ids

    def _keep(
        self, group: ModernGroup[Any, Any], targets: Sequence[tuple[str, EncodedRecord]], epoch: CoordinatorRecord, offset: int
    ) -> None:
        """Replay the targets, without decoding them, and the record of the epoch, which is the last one."""
        end = offset + len(targets)
        group.put_encoded_targets(end, targets)
        self._groups.replay[type(epoch.key)](end, epoch.key, epoch.value)

    def _settle(self, made_for: _MadeFor, large: list[str], error: ErrorCode | None) -> None:
        group_id = made_for.group.group_id
        if error is None:
            self._refused.pop(group_id, None)
            self._read_later(group_id, large)
        elif error is ErrorCode.MESSAGE_TOO_LARGE:
            self._refuse(
                made_for,
                f"The target assignment for epoch {made_for.epoch} of {len(made_for.member_ids)} members is larger than "
                f"message.max.bytes ({self._services.config.log.message_max_bytes}).",
            )
            # It would be offered again for ever.
            assert self._services.executor is not None
            self._services.executor.cancel(self._key(group_id))

    def _read_later(self, group_id: str, member_ids: list[str]) -> None:
        if member_ids:
            self._services.timer.schedule(self._reading_key(group_id), 0, partial(self._read_one, group_id, member_ids))

    def _read_one(self, group_id: str, member_ids: list[str]) -> CoordinatorResult[None]:
        """Decode the target of one of the members, which keeps what it says."""
        group = self._groups.by_id.get(group_id)
        if group is not None:
            group.target(member_ids.pop())
            self._read_later(group_id, member_ids)
        return _NOTHING

    def _refuse(self, made_for: _MadeFor, message: str) -> None:
        group = made_for.group
        self._refused[group.group_id] = _RefusedTarget(group, made_for.epoch, message)
        self._services.report("target-refused", group_id=group.group_id, members=len(group.members), problem=message)
