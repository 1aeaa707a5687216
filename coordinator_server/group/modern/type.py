"""What the rows of the newer group types answer alike. ``group_type.py`` documents the methods."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

from coordinator_server.group.group_type import Replay
from coordinator_server.group.modern import offsets
from coordinator_server.group.modern.background_target import BackgroundTargets, TargetRules
from coordinator_server.group.modern.context import ModernContext
from coordinator_server.group.modern.describe import UndescribedGroup
from coordinator_server.group.modern.digest import digest_items
from coordinator_server.group.modern.epoch import topics_changed
from coordinator_server.group.modern.group import ModernGroup
from coordinator_server.group.modern.group_table import GroupTable
from coordinator_server.group.modern.leave import Fence, expire_session
from coordinator_server.group.modern.revocation import REBALANCE, await_revocation
from coordinator_server.group.modern.sessions import end_all_sessions, start_all_sessions
from coordinator_server.machine.errors import CoordinatorError
from coordinator_server.machine.timeline import TimelineDict
from protocol.coordinator_records import CoordinatorRecord
from protocol.error_codes import ErrorCode
from protocol.fields import Message
from protocol.messages.describe_groups import DescribedGroup
from protocol.messages.list_groups import ListedGroup
from protocol.messages.offset_fetch import OffsetFetchRequestGroup

G = TypeVar("G", bound=ModernGroup[Any, Any])
C = TypeVar("C", bound=ModernContext[Any])


class ModernType(Generic[G, C]):
    """The groups of one type in one shard. A subclass has the methods of ``GroupType`` that are missing here.

    Reads of offsets, classic members and restores are admitted as in types whose members commit; the others refuse them.
    """

    name: ClassVar[str]

    def __init__(self, context: C, rules: TargetRules[G], fence: Fence) -> None:
        """``rules`` are those of targets that a child computes; ``fence`` removes members."""
        self.context = context
        self.groups: GroupTable[G] = context.groups
        self.replay: dict[type[Message], Replay] = self.groups.replay
        self.tables: tuple[TimelineDict[str, Any], ...] = (self.groups.by_id,)
        context.background = BackgroundTargets(self.groups, context, rules)
        context.on_session_end = partial(expire_session, context, fence)
        if REBALANCE in context.timers:
            context.on_restart = partial(await_revocation, context, fence)

    def __contains__(self, group_id: str, /) -> bool:
        return group_id in self.groups.by_id

    def admit_fetch(self, request: OffsetFetchRequestGroup, committed_offset: int) -> None:
        group = self.groups.by_id.get_at(request.group_id, committed_offset)
        if group is not None:
            offsets.admit_fetch(group, request, committed_offset)

    def admit_classic_member(self, group_id: str) -> list[CoordinatorRecord]:
        """Return the tombstones of an empty group, which a classic group of this id replaces."""
        if self.has_members(group_id):
            raise CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        return self.tombstones(group_id)

    def admit_restore(self, group_id: str) -> None:
        if self.has_members(group_id):
            raise CoordinatorError(ErrorCode.NON_EMPTY_GROUP, f"group {group_id} has members: stop them first")

    def admit_delete(self, group_id: str) -> None:
        if self.has_members(group_id):
            raise CoordinatorError(ErrorCode.NON_EMPTY_GROUP)

    def tombstones(self, group_id: str) -> list[CoordinatorRecord]:
        group = self.groups.by_id.get(group_id)
        if group is None:
            return []
        return group.records.group_tombstones(group_id, group.members, group.targets, group.other_keys())

    def outliving_records(self, group_id: str) -> list[CoordinatorRecord]:
        """Return none: the group's own records keep it."""
        return []

    def is_subscribed_to(self, group_id: str, topic: str) -> bool:
        return group_id in self.groups.subscribed_to(topic)

    def listed(self, group_id: str, committed_offset: int) -> ListedGroup | None:
        group = self.groups.by_id.get_at(group_id, committed_offset)
        if group is None:
            return None
        return ListedGroup(group_id, self.name, group.state_at(committed_offset), self.name)

    def described(self, group_id: str, committed_offset: int) -> DescribedGroup:
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a classic group.")

    def group_at(self, group_id: str, committed_offset: int) -> UndescribedGroup:
        """Return what the description of an existing group is made of."""
        raise NotImplementedError

    def digest_items(self, group_id: str, committed_offset: int) -> Mapping[str, int]:
        group = self.groups.by_id.get_at(group_id, committed_offset)
        return {} if group is None else digest_items(group, committed_offset)

    def digest_containers(self, group_id: str, committed_offset: int) -> Sequence[object]:
        group = self.groups.by_id.get_at(group_id, committed_offset)
        return () if group is None else group.record_containers

    def topics_changed(self, names: Collection[str]) -> None:
        topics_changed(self.groups, names)

    def on_loaded(self) -> None:
        self.context.await_topics()
        start_all_sessions(self.context)

    def on_unloaded(self) -> None:
        """Stop the sessions. No requests wait."""
        self.context.background.stop()
        end_all_sessions(self.context)

    def has_members(self, group_id: str) -> bool:
        """Return whether the group exists and has members."""
        group = self.groups.by_id.get(group_id)
        return group is not None and bool(group.members)
