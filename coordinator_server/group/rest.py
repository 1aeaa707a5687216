"""When groups come to rest: a pass that visits all groups calls this for each.

The offsets of a group become bytes when nothing has been committed for a while (``offsets/resting_groups.py``), and the object of a
classic group without members is discarded. A group that commits again keeps the bytes below its commits until the next rest, so one
that commits all the time must not come to rest each time.
"""

from __future__ import annotations

from typing import Final

from coordinator_server.group.registry import Groups

IDLE_MS: Final = 60_000
"""Groups rest after this time without a commit, if passes are not more frequent."""
MOST_OFFSETS: Final = 1_000
"""Larger groups do not come to rest: it would take too long for one step. They are few where there are very many groups. An offset
counts twice if it was committed since the group rested.
"""


def rest_if_idle(groups: Groups, group_id: str, now_ms: int, interval_ms: int) -> int:
    """Let a group rest if nothing was committed for a while. Return the work of it, in offsets that a pass checks.

    ``now_ms`` is wall-clock time. A group with offsets in open transactions does not rest.
    """
    offsets = groups.offsets
    if group_id in groups.pending or offsets.count(group_id) > MOST_OFFSETS:
        return 0
    rested = offsets.rest(group_id, now_ms - min(interval_ms, IDLE_MS))
    if rested:
        groups.classic.let_rest(group_id)
    return rested
