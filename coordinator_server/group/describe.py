"""DescribeGroups and ListGroups for groups of all types."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Final, NamedTuple

from coordinator_server.group.assign.spec import Partitions
from coordinator_server.group.modern.describe import UndescribedGroup
from coordinator_server.group.modern.type import ModernType
from coordinator_server.group.registry import Groups
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.describe_groups import DescribedGroup
from protocol.messages.list_groups import ListedGroup

# Kafka's filter has another name for this state.
_FILTER_NAMES: Final = {"NotReady": "not_ready"}


def describe_group(groups: Groups, committed_offset: int, group_id: str) -> DescribedGroup:
    """Return the DescribeGroups answer for one group. Raises GROUP_ID_NOT_FOUND, also for a group that is not classic."""
    return groups.type_at(group_id, committed_offset).described(group_id, committed_offset)


def modern_group_at(groups: Groups, committed_offset: int, type_name: str, group_id: str) -> UndescribedGroup:
    """Return what the description of a group of a newer protocol is made of.

    Raises GROUP_ID_NOT_FOUND, also for a group of another type.
    """
    found = groups.type_at(group_id, committed_offset)
    if isinstance(found, ModernType) and found.name == type_name:
        return found.group_at(group_id, committed_offset)
    reason = f"is not a {type_name} group" if groups.exists_at(group_id, committed_offset) else "not found"
    raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {reason}.")


def initialized_share_partitions(groups: Groups, committed_offset: int, group_id: str) -> Partitions:
    """Return the share partitions of a group that have a state; none if it is no share group."""
    group = groups.share.by_id.get_at(group_id, committed_offset)
    return {} if group is None else group.state_topics.get_at(committed_offset).initialized_partitions()


class GroupFilter(NamedTuple):
    """The filters of ListGroups. An empty filter matches all. Names are in lower case."""

    states: Set[str]
    types: Set[str]

    @classmethod
    def of(cls, states: Iterable[str], types: Iterable[str]) -> GroupFilter:
        """Return the filters of a request, where case is ignored."""
        return cls({name.lower().strip() for name in states}, {name.lower() for name in types})

    def has(self, group: ListedGroup) -> bool:
        """Return whether a group matches both filters."""
        state = _FILTER_NAMES.get(group.group_state) or group.group_state.lower()
        return (not self.types or group.group_type in self.types) and (not self.states or state in self.states)


EVERY_GROUP: Final = GroupFilter.of((), ())


def list_groups(groups: Groups, committed_offset: int, group_ids: Iterable[str], wanted: GroupFilter) -> list[ListedGroup]:
    """Return the entries of those of the groups that exist and match."""
    found = []
    for group_id in group_ids:
        listed = groups.type_at(group_id, committed_offset).listed(group_id, committed_offset)
        if listed is not None and wanted.has(listed):
            found.append(listed)
    return found


def generation(groups: Groups, group_id: str) -> tuple[int, int]:
    """Return the generation of a group, or its epoch, and the number of its members; zeros if it has none."""
    living, stored = groups.classic.living(group_id), groups.classic.stored.get(group_id)
    if living is not None:
        return living.generation_id, len(living.members)
    if stored is not None:
        return stored.value.generation, len(stored.value.members)
    newer = groups.consumer.by_id.get(group_id) or groups.share.by_id.get(group_id) or groups.streams.by_id.get(group_id)
    return (0, 0) if newer is None else (newer.group_epoch, len(newer.members))
