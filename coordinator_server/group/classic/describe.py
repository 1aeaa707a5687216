"""DescribeGroups and ListGroups for classic groups: the groups of the log at the committed offset, in their latest state."""

from __future__ import annotations

from coordinator_server.group.classic.group import ClassicGroup
from coordinator_server.group.classic.groups import ClassicGroups, restored_group
from coordinator_server.group.classic.member import ClassicGroupMember
from coordinator_server.group.classic.state import EMPTY, STABLE, ClassicGroupState
from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode
from protocol.messages.describe_groups import DescribedGroup, DescribedGroupMember
from protocol.messages.list_groups import ListedGroup

GROUP_TYPE = "classic"


def described(groups: ClassicGroups, group_id: str, committed_offset: int) -> DescribedGroup:
    """Return state and members of a group; only of a stable group protocol and subscriptions. Raises GROUP_ID_NOT_FOUND."""
    if not groups.existed_at(group_id, committed_offset):
        raise CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
    # Groups without members are built anew each time: a description of all groups must not make the state larger.
    group = groups.living(group_id) or groups.restored(group_id) or _as_it_was(groups, committed_offset, group_id)
    is_stable = group.state is STABLE
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol_name or "") if is_stable else "",
        members=[_described(group, member, is_stable) for member in group.members.values()],
    )


def listed(groups: ClassicGroups, group_id: str, committed_offset: int) -> ListedGroup | None:
    """Return the entry of a group, or None if it did not exist."""
    stored = groups.stored.get_at(group_id, committed_offset)
    if stored is None and not groups.existed_at(group_id, committed_offset):
        return None
    group = groups.living(group_id)
    if group is not None:
        return _row(group_id, group.protocol_type, group.state)
    # The group was not used since the load, so it is listed from its record without building a ClassicGroup.
    if stored is None:
        return _row(group_id, None, EMPTY)
    return _row(group_id, stored.value.protocol_type, STABLE if stored.value.members else EMPTY)


def _as_it_was(groups: ClassicGroups, committed_offset: int, group_id: str) -> ClassicGroup:
    """Return the committed state of a group whose deletion is being written."""
    stored = groups.stored.get_at(group_id, committed_offset)
    return ClassicGroup(group_id, EMPTY, -1) if stored is None else restored_group(group_id, stored.value)


def _described(group: ClassicGroup, member: ClassicGroupMember, is_stable: bool) -> DescribedGroupMember:
    return DescribedGroupMember(
        member.member_id,
        member.group_instance_id,
        member.client_id,
        member.client_host,
        member.metadata(group.protocol_name) if is_stable else b"",
        member.assignment,
    )


def _row(group_id: str, protocol_type: str | None, state: ClassicGroupState) -> ListedGroup:
    return ListedGroup(group_id, protocol_type or "", state.value, GROUP_TYPE)
