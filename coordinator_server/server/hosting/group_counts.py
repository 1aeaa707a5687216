"""Counts what happens to groups: rebalances by reason, expired sessions and refused commits.

The first two are passed on to the log's lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from coordinator_server.group.commit import COMMIT_REFUSED
from coordinator_server.group.why import Why
from coordinator_server.machine.shard import Report
from coordinator_server.server.hosting.refused_commits import RefusedCommits

_NO_REASON: Final = "none"
REASONS: Final = (_NO_REASON, *(why.value for why in Why if not why.startswith("offsets-")))
"""The reasons that a rebalance may have."""


class GroupCounts:
    """The counts of one loop, since its start. A rebalance with several reasons counts for each of them."""

    def __init__(self, tell: Report, wall_ms: Callable[[], int]) -> None:
        self.reasons: Counter[str] = Counter()
        self.expired = 0
        self.refused_commits = RefusedCommits()
        self._tell = tell
        self._wall_ms = wall_ms

    def tell(self, name: str, **fields: Any) -> None:
        """Count a case, and pass it on, if it has lines."""
        if name == COMMIT_REFUSED:
            # A client that is out of its group may commit a thousand times a second.
            self.refused_commits.count(self._wall_ms(), **fields)
            return
        if name == "rebalanced":
            # A reason is its name, and perhaps the member.
            self.reasons.update({each.partition(" ")[0] for each in fields["reasons"]} or {_NO_REASON})
        elif name == "session-expired":
            self.expired += 1
        self._tell(name, **fields)
