"""Counts what happens to groups: rebalances by reason, and expired sessions. Everything is passed on to the log's lines."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from coordinator_server.group.why import Why
from coordinator_server.machine.shard import Report

_NO_REASON: Final = "none"
REASONS: Final = (_NO_REASON, *(why.value for why in Why if not why.startswith("offsets-")))
"""The reasons that a rebalance may have."""


class GroupCounts:
    """The counts of one loop, since its start. A rebalance with several reasons counts for each of them."""

    def __init__(self, tell: Report) -> None:
        self.reasons: Counter[str] = Counter()
        self.expired = 0
        self._tell = tell

    def tell(self, name: str, **fields: Any) -> None:
        """Count a case, and pass it on."""
        if name == "rebalanced":
            # A reason is its name, and perhaps the member.
            self.reasons.update({each.partition(" ")[0] for each in fields["reasons"]} or {_NO_REASON})
        elif name == "session-expired":
            self.expired += 1
        self._tell(name, **fields)
