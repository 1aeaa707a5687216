"""A static member that returns with a new member id."""

from __future__ import annotations

from tests.support.classic_group import join, leader
from tests.support.group import GroupLog


def test_the_session_of_the_former_member_id_ends_when_a_static_member_returns() -> None:
    """Only the new id has a session: a member that restarts often leaves no timers behind."""
    log = GroupLog()
    former = leader(log, version=5, instance_id="i")
    group = log.shard.groups.classic.find("group")
    assert group is not None
    assert group.session_key(former) in log.timer.keys

    returned = join(log, version=5, instance_id="i").response.member_id

    assert returned != former
    assert log.timer.keys & {group.session_key(former), group.session_key(returned)} == {group.session_key(returned)}
