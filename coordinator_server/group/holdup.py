"""What a group waits for, as ``control.sock`` and commands show it. ``holdups.py`` finds it."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

NOT_JOINED: Final = "has not joined again"
NOT_JOINED_WITH_ID: Final = "has not joined with the id that it got"
NOT_ASSIGNED: Final = "is the leader, and has not sent the assignments"
NOT_GIVEN_UP: Final = "has not given up"
NOT_HEARD: Final = "has sent no heartbeat since epoch"
FIRST_DELAY: Final = "waits for more members to join"
NO_TARGET: Final = "waits for the target assignment of epoch"


class Holdup(Struct):
    """What a group waits for. Without ``member_id`` it is no member.

    ``since_ms`` is in ms since 1970: when the wait began, or the member's last request was; None if it is unknown. ``out_in_ms`` is
    how long until the member is put out, or the group goes on. ``partitions`` are those to give up, by topic.
    """

    group_id: str
    type: str
    state: str
    what: str
    member_id: str = ""
    client_id: str = ""
    client_host: str = ""
    group_instance_id: str | None = None
    since_ms: int | None = None
    out_in_ms: int | None = None
    partitions: dict[str, list[int]] = {}


def waits_for(each: Holdup) -> str:
    """Return what a member has not done, with the partitions that it has not given up."""
    partitions = "; ".join(f"{topic} {','.join(map(str, some))}" for topic, some in each.partitions.items())
    return f"{each.what} {partitions}".rstrip()
