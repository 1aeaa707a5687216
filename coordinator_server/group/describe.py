"""DescribeGroups and ListGroups for groups of all types."""

from __future__ import annotations

from coordinator_server.group.registry import Groups
from protocol.messages.describe_groups import DescribedGroup
from protocol.messages.list_groups import ListedGroup


def describe_group(groups: Groups, committed_offset: int, group_id: str) -> DescribedGroup:
    """Return the DescribeGroups answer for one group. Raises GROUP_ID_NOT_FOUND, also for a group that is not classic."""
    return groups.type_at(group_id, committed_offset).described(group_id, committed_offset)


def list_groups(groups: Groups, committed_offset: int, states: list[str], types: list[str]) -> list[ListedGroup]:
    """Return all groups with one of ``states`` and one of ``types``. An empty filter matches all. Case is ignored."""
    wanted_types = {name.lower() for name in types}
    wanted = {name.lower().strip() for name in states}
    return [
        listed
        for group_type in groups.types.values()
        if not types or group_type.name in wanted_types
        for listed in group_type.listed(committed_offset)
        if not states or listed.group_state.lower() in wanted
    ]
