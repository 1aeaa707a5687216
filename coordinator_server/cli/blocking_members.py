"""The members that block a change of their group, for those who have to stop them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from coordinator_server.cli.output import counted

MOST_SHOWN: Final = 10
"""The number of members that a refusal names."""


class BlockingMember(NamedTuple):
    """A member, and where its client runs."""

    member_id: str
    client_id: str
    host: str
    instance_id: str | None


def blocking_member_lines(group_id: str, members: Sequence[BlockingMember]) -> list[str]:
    """Return a line for each member, up to MOST_SHOWN."""
    lines = [
        f"group {group_id} has member {each.member_id} of {each.client_id} at {each.host.removeprefix('/')}"
        + (f", instance {each.instance_id}" if each.instance_id else "")
        for each in members[:MOST_SHOWN]
    ]
    more = len(members) - MOST_SHOWN
    return [*lines, f"and {counted(more, 'more member')}"] if more > 0 else lines
